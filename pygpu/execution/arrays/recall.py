"""What calls over whole arrays have decided, for calls that are given the same kinds of things.

Which program scans, sorts or folds an image depends on its size, on how its texels are stored and
read, and on the function, but not on the texels. So a call writes down a *plan*: the program, and
what is to be done around it. The next call that is given the same kinds follows the plan, without
its arguments being looked at one by one.

    plans = Plans()
    key = plans.key("auto", (image,), Code(function), axis)    # None: such calls have no plans
    plan = plans.find(key)
    return plan.run((image,)) if plan else ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from weakref import WeakSet

from pygpu.core.host import settings
from pygpu.core.host.records import record
from pygpu.core.sampler import Sampler, inherited, of
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.lines import Taken
from pygpu.execution.programs.specialise import Translated

KEPT: Final = 64  # plans of a function
# The settings by which a device may take an image in parts, or check what it computes.
SETTINGS: Final = ("PYGPU_CHECK", "PYGPU_MEMORY", "PYGPU_TEXTURE_SIZE")


@record(eq=False)
class Plan:
    """`run` gives a call's result for its images, and where a function says so for what else it was
    given. It must not hold texels of the images by which it
    was made. It counts until a function among `sources` reads a global that has changed."""

    run: Callable[..., Any]
    sources: tuple[Translated, ...] = ()


_ALL: Final[WeakSet[Any]] = WeakSet()  # of Plans


class Plans:
    """The plans of a function, by the kinds of what it is given."""

    def __init__(self, everywhere: bool = False) -> None:
        """`everywhere`: also on devices that have no programs for whole arrays."""
        self.everywhere: Final = everywhere
        self._kept: dict[Any, Plan] = {}
        _ALL.add(self)

    def key(self, target: str, images: Sequence[Any], *rest: Any) -> Any:
        """What stands for the kinds of a call's arguments: those of images, and `rest`, which is
        compared as it is. None where there are no plans: for arrays of the host, on devices that
        have no programs for whole arrays, and where settings ask for something else."""
        device = targets.choose(target)
        is_without = targets.arrays(device) is None and not self.everywhere
        if is_without or any(map(settings.read, SETTINGS)):
            return None
        kinds: list[Any] = [device, device.computes]
        for image in images:
            if not isinstance(image, ImageLike):
                return None
            storage = image.storage
            kinds.append((image.__class__, storage.shape, image.format, image.boundary, image.cval))
            kinds.append(image.interpolation)
        return (*kinds, *rest)

    def find(self, key: Any) -> Plan | None:
        """The plan of calls of these kinds, if one was written down that still counts."""
        plan = None if key is None else self._kept.get(key)
        if plan is None or any(source.changed() for source in plan.sources):
            return None
        return plan

    def keep(self, key: Any, plan: Plan) -> None:
        """Write a plan down."""
        if len(self._kept) >= KEPT:
            for oldest in list(self._kept)[:1]:  # other threads write theirs down meanwhile
                self._kept.pop(oldest, None)
        self._kept[key] = plan

    def clear(self) -> None:
        self._kept.clear()


@record(eq=False)
class Form:
    """How a result of the size of an image becomes what its caller gets."""

    shape: tuple[int, ...]
    sampler: Sampler

    @classmethod
    def of(cls, given: Taken, format: Format) -> Form:
        """The form of results of what was given, an image of the caller's."""
        return cls(given.size, inherited(of(given.original), format))

    def image(self, storage: Storage, parent: ImageLike) -> ImageLike:
        """A storage just made as an image, signal or volume."""
        return ImageMaker.make(storage.shaped(self.shape), self.sampler, info=parent.info)


def clear() -> None:
    """Forget all plans."""
    for plans in list(_ALL):
        plans.clear()
