"""Arrays whose lines run along any axis, as arrays whose lines passes know.

Passes know lines along rows and columns of an image. Lines along the first or second axis of a
volume become rows of another image, by a pass, and results go the same way back. On the host
each plane is one row of an image instead, whose columns are the lines along the first axis: that
takes no copy.
All elements in raster order, axis None, are one line. A volume of more lines than a device holds
rows is worked on slab by slab.

    (scanned,) = worked(lambda each, lines: [...], [given], 0, "auto")     # given: lines.Taken
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pygpu.core import sampler
from pygpu.core.sampler import make
from pygpu.core.storage import ImageLike, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.convert import is_pil
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.lines import Lines, Taken, rows_of
from pygpu.execution.arrays.passes import COUNT, IMAGES, as_stored, made

Work = Callable[[Sequence[Taken], Lines], list[Any]]  # results in the form that was given


def worked(work: Work, given: Sequence[Taken], axis: Any, target: str) -> list[Any]:
    """What is made of arrays of one size whose lines run along an axis of NumPy's, channels not
    counted; None: all elements are one line."""
    first = given[0]
    index = None if axis is None else first.axis(axis)
    across = 1 if index == 0 else 0  # the axis that slabs are cut along
    slabs = [] if index is None else list(_slabs(first, index, across, target))
    if len(slabs) < 2:
        return _worked(work, given, index, target)
    parts = [_worked(work, [_slab(g, across, s) for g in given], index, target) for s in slabs]
    return [_together(each, across) for each in zip(*parts, strict=True)]


def _worked(work: Work, given: Sequence[Taken], axis: int | None, target: str) -> list[Any]:
    turned = [_along(each, axis, target) for each in given]
    return work([each for each, _ in turned], turned[0][1])


def _slabs(given: Taken, axis: int, across: int, target: str) -> Iterator[slice]:
    """Parts of a volume whose rows, before and after turning, a device holds."""
    limits = targets.limits(targets.choose(target))
    if limits is None or len(given.size) < 3:
        return
    count, others = given.size[across], [n for k, n in enumerate(given.size) if k != across]
    thick = max(limits.side // max(others), 1)
    for start in range(0, count, thick):
        yield slice(start, min(start + thick, count))


def _slab(given: Taken, across: int, part: slice) -> Taken:
    texels = given.image.storage.host().reshape(*given.size, -1)
    cut = np.ascontiguousarray(texels[part] if across == 0 else texels[:, part])
    storage = Storage.of(cut.reshape(-1, *cut.shape[2:]))
    return replace(given, image=_read_as(given.image, storage), size=cut.shape[:3])


def _together(parts: Sequence[ImageLike], across: int) -> ImageLike:
    """The volume whose slabs these are."""
    first = parts[0]
    texels = np.concatenate([part.storage.seen() for part in parts], across)
    size = texels.shape[:3]
    rows = texels.reshape(size[0] * size[1], size[2], -1)
    return ImageMaker.make(Storage.of(rows, size), sampler.of(first), info=first.info)


def _along(given: Taken, index: int | None, target: str) -> tuple[Taken, Lines]:
    """What was given, with its lines as lines of its image."""
    if index is None:
        flat = given if given.count is not None else _flat(given, target)
        return flat, flat.along(-1)
    if len(given.size) < 3 or index == 2:
        return given, given.along(index)
    depth, height, width = given.size
    storage = given.image.storage
    if index == 0 and targets.is_on_host(targets.choose(target)):
        planes = Storage.of(storage.host().reshape(depth, height * width, -1))
        turned = _read_as(given.image, planes)
        return replace(given, image=turned, undo=_rows(storage)), Lines(
            ("y", 0), height * width, depth
        )
    shape = (height * width, depth) if index == 0 else (depth * width, height)
    sizes = {"height": height, "width": width}
    image = _turned(given.image, index == 0, True, shape, sizes, target)

    def undo(result: ImageLike) -> ImageLike:
        return _turned(result, index == 0, False, (depth * height, width), sizes, target)

    return replace(given, image=image, undo=undo), Lines(("x", 0), *shape)


def _rows(storage: Storage) -> Any:
    """From an image with a row a plane to one of all rows."""

    def undo(result: ImageLike) -> ImageLike:
        texels = result.storage.host()
        rows = texels.reshape(storage.height, storage.width, texels.shape[2])
        return _read_as(result, Storage.of(np.ascontiguousarray(rows)))

    return undo


def _flat(given: Taken, target: str) -> Taken:
    """All elements of an image or a volume as those of a signal; of a picture as an array."""
    storage, count = given.image.storage, int(np.prod(given.size))
    shape = rows_of(count, target)
    original = given.array().reshape(count, -1) if is_pil(given.original) else given.original
    device = targets.choose(target)
    limits = targets.limits(device)
    if targets.is_on_host(device):
        image = _read_as(given.image, Storage.of(storage.host().reshape(1, count, -1)))
    elif limits is not None and max(storage.height, storage.width) > limits.side:
        texels = np.zeros((shape[0] * shape[1], storage.channels), storage.dtype)
        texels[:count] = storage.host().reshape(count, -1)
        image = _read_as(given.image, Storage.of(texels.reshape(*shape, -1)))
    else:
        stored = as_stored(given.image)
        run = made(_flattened, {"images": IMAGES, "row": COUNT, "width": COUNT}, target)
        dtypes = [stored.format.dtype]
        (found,) = run(shape, dtypes, images=(stored,), row=shape[1], width=storage.width)
        image = _read_as(given.image, found.storage)
    return Taken(image, original, given.dtype, (count,), shape[1] if shape[0] > 1 else 0)


def _turned(
    image: ImageLike,
    is_first: bool,
    forth: bool,
    shape: tuple[int, int],
    sizes: dict[str, int],
    target: str,
) -> ImageLike:
    """The rows of a volume's lines along its first or second axis, or those of its planes again."""
    stored = as_stored(image)
    roles: dict[str, Any] = {"how": "known", "images": IMAGES, "height": COUNT, "width": COUNT}
    run = made(_turn, roles, target)
    how = is_first, forth
    (found,) = run(shape, [stored.format.dtype], how=how, images=(stored,), **sizes)
    return _read_as(image, found.storage)


def _turn(how: Any, images: Any, height: Any, width: Any, p: Any) -> Any:
    is_first, forth = how
    image = images[0]
    if not is_first:  # rows and columns of each plane change places
        rows, columns = (height, width) if forth else (width, height)
        return image((p.y % columns, p.y // columns * rows + p.x))
    if forth:
        return image((p.y % width, p.x * height + p.y // width))
    return image((p.y // height, p.y % height * width + p.x))


def _flattened(images: Any, row: Any, width: Any, p: Any) -> Any:
    i = p.y * row + p.x
    return images[0]((i % width, i // width))


def _read_as(image: ImageLike, storage: Storage) -> ImageLike:
    """A storage of the same texels as an image's, elsewhere."""
    return ImageMaker.make(storage, make(image.format))
