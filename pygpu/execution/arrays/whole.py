"""What a device does to whole arrays by programs of its own: where it does, and which it has made.

found = scanning(np.add, False, (image,), (FLOAT,), lines, "compute", False)   # None: by passes
found.run((image.storage,))                                # storages
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from pygpu.core.arrays import (
    ArrayDevice,
    CompressProgram,
    CompressTask,
    Elements,
    GroupProgram,
    GroupTask,
    Layout,
    ScanProgram,
    SortProgram,
    SortTask,
)
from pygpu.core.arrays import Lines as Run
from pygpu.core.builder import Builder
from pygpu.core.host.records import record
from pygpu.core.programs import BOTH, FoldTask
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.results import ImageMaker, natural_dtype
from pygpu.execution.arrays import recall
from pygpu.execution.arrays.lines import Lines
from pygpu.execution.arrays.passes import IMAGES, Made, made, with_last
from pygpu.execution.arrays.values import HOWS, folded, identity, value_of
from pygpu.execution.programs.options import is_checked_here
from pygpu.execution.programs.specialise import Translated
from pygpu.ssa import Constant, Function, ImageInput
from pygpu.types import INTEGERS, Type

WORD: Final = 4  # bytes of a component of what is kept meanwhile


def arrays_of(target: str, images: Sequence[ImageLike], words: int) -> ArrayDevice | None:
    """What does it to these images and results of so many words an element; None where nothing
    does, or the device does not hold them at once. Checked programs are passes."""
    device = targets.choose(target)
    limits = targets.limits(device)
    arrays = None if limits is None or is_checked_here() else targets.arrays(device)
    if arrays is None or limits is None:
        return None
    texels = max([image.storage.height * (image.storage.width + 3) for image in images])
    each = max([words, *[image.storage.channels for image in images]])
    total = texels * WORD * (words + sum([image.storage.channels for image in images]))
    is_held = texels * WORD * each <= limits.nbytes and total <= limits.memory
    return arrays if is_held and texels < 1 << 31 else None


def joining(
    function: Callable[..., Any], is_tuple: bool, types: Sequence[Type], target: str
) -> Translated | None:
    """The fold of two values, whose parts are its uniforms; None where it gives others."""
    join = made(_joined, _JOINING, target, function)
    samples = [tuple([value_of([0] * type.size, type) for type in types]) for _ in "ab"]
    found = join.translated(is_tuple=is_tuple, a=samples[0], b=samples[1])
    values = [value.type for value in found.function.outputs]
    if values != list(types) or found.function.images:
        return None
    return found


_JOINING: Final = {"function": "function", "is_tuple": "known", "a": IMAGES, "b": IMAGES}


def _joined(function: Any, is_tuple: Any, a: Any, b: Any, p: Any) -> Any:
    """The fold of two values, each a tuple of its parts."""
    return folded(function, is_tuple, a, b)


def shown_as(storage: Storage) -> ImageLike:
    """An image of words, seen as they are stored."""
    return ImageMaker.make(storage, make(Format(storage.dtype, storage.channels, normalize=False)))


# ---------------------------------------------------------------- scans


@record(eq=False)
class Scanning:
    """The program of a scan, its lines, and the function of two values of which it was made."""

    program: ScanProgram
    lines: Run
    join: Translated

    def run(self, state: Sequence[Storage]) -> list[Storage]:
        """The running folds of values, a storage for each part."""
        return self.program.run(state, (), self.lines)


def scanning(
    function: Callable[..., Any],
    is_tuple: bool,
    state: tuple[ImageLike, ...],
    types: Sequence[Type],
    lines: Lines,
    target: str,
    reverse: bool,
) -> Scanning | None:
    """What scans values, an image for each part; None where passes are to do it."""
    arrays = arrays_of(target, state, max([type.size for type in types]))
    if arrays is None or lines.short:
        return None
    join = joining(function, is_tuple, types, target)
    if join is None:
        return None
    formats = tuple([image.format for image in state])
    program = _scan(arrays, join.function, formats, tuple(types), lines.layout[0])
    if program is None:
        return None
    return Scanning(program, Run(lines.layout[0], lines.lines, lines.count, reverse), join)


@lru_cache(maxsize=128)
def _scan(
    arrays: ArrayDevice,
    join: Function,
    formats: tuple[Format, ...],
    types: tuple[Type, ...],
    layout: Layout,
) -> ScanProgram | None:
    """The program of a scan, made once."""
    texels = texel_of(formats)
    return arrays.scan(FoldTask(texels, join, formats, len(formats), types, BOTH), layout)


# ---------------------------------------------------------------- groups


@record
class Fold:
    """By what values are folded: a function of two, and what groups without elements have."""

    function: Callable[..., Any]
    is_tuple: bool
    types: tuple[Type, ...]
    neutral: tuple[Any, ...]

    @property
    def has_identity(self) -> bool:
        """Whether the function is known to leave others as they are with it."""
        known = None if self.is_tuple else identity(self.function, self.types[0])
        return known is not None and list(np.ravel(known)) == list(np.ravel(self.neutral[0]))

    @property
    def words(self) -> tuple[int, ...]:
        """What groups without elements have, as words."""
        found: list[int] = []
        for value, type in zip(self.neutral, self.types, strict=True):
            parts = [value] if type.is_scalar else list(value)
            found += np.array(parts, natural_dtype(type)).view(np.uint32).tolist()
        return tuple(found)


@record(eq=False)
class Grouped:
    """The program of a fold by group, what it is given besides images, and its functions."""

    program: GroupProgram
    beside: tuple[Storage, ...]
    uniforms: tuple[Constant, ...]
    count: int
    shape: tuple[int, int]
    sources: tuple[Translated, ...]

    def run(self, images: Sequence[Storage], numbers: Sequence[Constant] = ()) -> list[Storage]:
        """The folds, a storage for each part of a value with groups row after row; `numbers` are
        given in place of the last of the uniforms."""
        uniforms = with_last(self.uniforms, numbers)
        given = Elements([*images, *self.beside], uniforms, self.count)
        return self.program.run(given, self.shape)


def grouped(
    fold: Fold,
    pixel: Callable[[], Made],
    images: Sequence[ImageLike],
    count: int,
    shape: tuple[int, int],
    groups: int,
    target: str,
) -> Grouped | None:
    """What folds the first `count` texels of images, into storages of this shape. `pixel` gives the
    function of a pixel that gives the parts of a value and the group's number; the images are the
    first that it reads. None where other programs are to do it."""
    widest = max([type.size for type in fold.types])
    arrays = arrays_of(target, images, widest)
    limits = targets.limits(targets.choose(target))
    if arrays is None or limits is None or any(type.kind == "bool" for type in fold.types):
        return None
    if WORD * widest * shape[0] * (shape[1] + 3) > limits.nbytes:
        return None
    join = joining(fold.function, fold.is_tuple, fold.types, target)
    made = pixel()
    assert len(made.formats) >= len(images), "the texels are the first of what is read"
    if made.source.translation.faults:  # the last output is theirs, which is to be read
        return None
    group = made.function.outputs[-1].type
    if join is None or not group.is_scalar or group.kind not in (*INTEGERS, "bool"):
        return None
    how = "" if fold.is_tuple else HOWS.get(fold.function, "")
    key = made.function, join.function, made.formats, len(images), fold.types, groups, how
    program = _groups(arrays, *key, fold.words, fold.has_identity)
    if program is None:
        return None
    beside = made.storages[len(images) :]
    return Grouped(program, beside, made.uniforms, count, shape, (join, made.source))


@lru_cache(maxsize=128)
def _groups(arrays: ArrayDevice, *task: Any) -> GroupProgram | None:
    """The program of a fold by group, made once."""
    return arrays.fold_groups(GroupTask(*task))


def parts_of(storages: Sequence[Storage], types: Sequence[Type], groups: int) -> list[Any]:
    """Rows of groups as arrays (groups,) or (groups, C)."""
    found = []
    for storage, type in zip(storages, types, strict=True):
        values = storage.host().reshape(-1, storage.channels)[:groups]
        found.append(values[:, 0] if type.is_scalar else values)
    return found


# ---------------------------------------------------------------- sorts


@record(eq=False)
class Sorting:
    """The program of a sort and its lines. `has_words`: it gives sorted keys, too."""

    program: SortProgram
    lines: Run
    bound: int
    has_words: bool

    def run(self, keys: Storage) -> tuple[Storage | None, Storage | None]:
        """Sorted keys and where they were, each None where it is not made."""
        words, places = self.program.run(keys, self.lines, self.bound)
        return words if self.has_words else None, places


def sorting(
    keys: ImageLike, lines: Lines, descending: bool, target: str, placed: bool, bound: int = 0
) -> Sorting | None:
    """What puts keys of one channel, seen as they are stored, in order along lines. With `bound`
    keys are ints from 0 on, those from it on equal to it. None where passes are to do it."""
    arrays = arrays_of(target, (keys,), 4)
    if arrays is None or lines.short or lines.lines * lines.count >= 1 << 30:
        return None
    is_placed = placed or lines.lines > 1 or keys.format.dtype.itemsize != WORD
    program = _sort(arrays, keys.format, lines.layout[0], descending, is_placed, bound > 0)
    if program is None:
        return None
    run = Run(lines.layout[0], lines.lines, lines.count)
    # Zeros of both signs are one key where places go along.
    is_exact = not (is_placed and keys.format.kind == "float")
    return Sorting(program, run, bound, is_exact and keys.format.dtype.itemsize == WORD)


@lru_cache(maxsize=128)
def _sort(
    arrays: ArrayDevice,
    format: Format,
    layout: Layout,
    descending: bool,
    is_placed: bool,
    is_bounded: bool,
) -> SortProgram | None:
    """The program of a sort, made once."""
    bits = {"f": 32, "b": 8}.get(format.dtype.kind, 8 * format.dtype.itemsize)
    signed = format.dtype.kind == "i"
    how = bits, signed, descending, is_placed, is_bounded
    return arrays.sort(SortTask(texel_of((format,)), (format,), layout, format.type, *how))


# ---------------------------------------------------------------- elements picked out


def compressing(
    pixel: Callable[[], Made], images: Sequence[ImageLike], target: str
) -> CompressProgram | None:
    """What picks elements of images out: `pixel` gives the function of a pixel of these images
    alone, whose first part says which, and whose others are kept. None where passes are to do
    it."""
    arrays = arrays_of(target, images, max([image.format.channels for image in images]))
    if arrays is None:
        return None
    made = pixel()
    types = tuple([value.type for value in made.function.outputs])
    return _compress(arrays, made.function, made.formats, len(images), types)


@lru_cache(maxsize=128)
def _compress(arrays: ArrayDevice, *task: Any) -> CompressProgram | None:
    """The program that picks out, made once."""
    return arrays.compress(CompressTask(*task))


def texel_of(formats: Sequence[Format]) -> Function:
    """The function of a pixel that gives a texel of each image."""
    build = Builder("value", [ImageInput(f"image{k}", f.type) for k, f in enumerate(formats)])
    return build.finish([build.load(k, build.x, build.y) for k, _ in enumerate(formats)])


def clear() -> None:
    """Forget all programs."""
    _scan.cache_clear()
    _groups.cache_clear()
    _sort.cache_clear()
    _compress.cache_clear()
    recall.clear()
