"""Passes over images: compiled functions of PyGPU's own, of which scans and sorts are made.

A pass is a plain function of known values, images and uniform ints, whose last parameter is the
position. It gives an image for each of its results, on the device, in the dtype that is asked for.

    doubled = Pass(_double, {"images": "object"}, "auto")
    (image,) = doubled((480, 640), ["float32"], images=(photo,))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.programs import Work
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import ImageMaker, Wanted
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.execution.programs import running
from pygpu.execution.programs.calls import Programs
from pygpu.execution.programs.checked import Where, nowhere
from pygpu.execution.programs.specialise import Specialisation, Translated
from pygpu.ssa import Constant, Function
from pygpu.types import INT, Type

Roles = Mapping[str, Any]  # of parameters: "known", "object", or the type of a uniform


class Made(NamedTuple):
    """A function in SSA, how the images that it reads are stored, these, and its uniforms."""

    function: Function
    formats: tuple[Format, ...]
    storages: tuple[Storage, ...]
    uniforms: tuple[Constant, ...]
    source: Translated


def with_last(uniforms: Sequence[Constant], numbers: Sequence[Constant]) -> Sequence[Constant]:
    """Uniforms, the last of them replaced."""
    return [*uniforms[: len(uniforms) - len(numbers)], *numbers] if numbers else uniforms


@record(eq=False)
class Ran:
    """A pass that was run: its program and what that was given besides images."""

    made: Specialisation
    uniforms: Sequence[Constant]
    shape: tuple[int, ...]

    def run(self, inputs: Sequence[Storage], numbers: Sequence[Constant] = ()) -> list[Storage]:
        """What it makes of other images of the same sizes, and other numbers for the last ones."""
        given, uniforms = [*inputs, *self.made.captured], with_last(self.uniforms, numbers)
        nowhere = [None] * len(self.made.types)
        return running.run(self.made, Work(given, uniforms, self.shape, nowhere))


class Pass:
    """A function of a pixel and its programs. `known` is the user's function that it calls, and
    `asked` what that is to the user, for errors: "scan"."""

    def __init__(
        self,
        function: Callable[..., Any],
        roles: Roles,
        target: str,
        known: Any = None,
        asked: str = "",
    ) -> None:
        given = {name: Known(known) if role == "function" else role for name, role in roles.items()}
        signature = Signature.by_roles(function, **given, p="position")
        self.names: Final = [*given, "p"]
        signature.name = asked or signature.name
        self.programs: Final = Programs(function, signature, target, inner=True)
        self.programs.places = nowhere

    def __call__(
        self, shape: tuple[int, int], dtypes: Sequence[Any] | None, **values: Any
    ) -> tuple[ImageLike, ...]:
        """The results of (H, W), of these dtypes; without dtypes in those of their types."""
        return self.run(shape, dtypes, **values)[0]

    def run(
        self,
        shape: tuple[int, int],
        dtypes: Sequence[Any] | None,
        where: Where | None = None,
        /,
        **values: Any,
    ) -> tuple[tuple[ImageLike, ...], Ran]:
        """The results, and what makes others like them. `where` says what pixels are called."""
        asked = None if dtypes is None else tuple(map(np.dtype, dtypes))
        arguments = self._arguments(values)
        found = self.programs.run(arguments, Wanted("image", "", asked), shape=shape, where=where)
        results, size = found.presented(), found.storages[0].shape
        ran = Ran(found.specialisation, tuple(arguments.uniforms), size)
        return (results if isinstance(results, tuple) else (results,)), ran

    def types(self, **values: Any) -> tuple[tuple[Type, ...], bool]:
        """The types of its results, and whether it gives a tuple."""
        return self.programs.types(self._arguments(values))

    def translated(self, **values: Any) -> Translated:
        """Its function in SSA, which is `function` of what this gives."""
        return self.programs.translated(self._arguments(values))

    def made(self, **values: Any) -> Made:
        """Its function in SSA, and what it is given: the same for calls that compile nothing."""
        arguments = self._arguments(values)
        translated = self.programs.translated(arguments)
        captured = translated.translation.captured
        formats = [given.sampler.format for given in arguments.images]
        return Made(
            translated.function,
            (*formats, *[image.format for image in captured]),
            (*[given.storage for given in arguments.images], *[each.storage for each in captured]),
            tuple(arguments.uniforms),
            translated,
        )

    def _arguments(self, values: Mapping[str, Any]) -> Any:
        listed = [values.get(name) for name in self.names]
        for place, parameter in enumerate(self.programs.signature.parameters):
            if parameter.name not in values and parameter.role == "known":
                listed[place] = parameter.default
        return flatten(self.programs.signature, listed)


@lru_cache(maxsize=256)
def _made(
    function: Callable[..., Any], roles: Any, target: str, known: Code | None, asked: str
) -> Pass:
    return Pass(function, dict(roles), target, None if known is None else known.value, asked)


def made(
    function: Callable[..., Any],
    roles: Roles,
    target: str,
    known: Callable[..., Any] | None = None,
    asked: str = "",
) -> Pass:
    """The `Pass` of a function, made once."""
    code = None if known is None else Code(known)
    return _made(function, tuple(roles.items()), target, code, asked)


def as_stored(image: ImageLike) -> ImageLike:
    """The image with its texels as they are stored: bytes are ints."""
    storage = image.storage
    return ImageMaker.make(storage, make(Format(storage.dtype, storage.channels, normalize=False)))


def host_image(texels: NDArray[Any]) -> ImageLike:
    """An image of texels (H, W, C), seen as they are stored."""
    storage = Storage.of(np.ascontiguousarray(texels))
    return ImageMaker.make(storage, make(Format(storage.dtype, storage.channels, normalize=False)))


@lru_cache(maxsize=256)
def _lasting(code: Code) -> Any:
    return code.value


def lasting(function: Callable[..., Any]) -> Any:
    """The function, or one made before of the same code that closes over equal values: so that a
    lambda made anew at each call is compiled once."""
    return _lasting(Code(function))


IMAGES: Final = "object"
NUMBERS: Final = "object"  # several that change from call to call, as a tuple
COUNT: Final = INT
