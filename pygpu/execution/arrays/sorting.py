"""`pygpu.sort` and `pygpu.argsort`: lines of an array in order, and what lies beside them.

sort([3.0, nan, 1.0])                  # 1, 3, nan
keys, names = sort(keys, names)        # by keys, equal ones as they were
argsort(photo, axis=0, descending=True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.errors import check_flag, shortened
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.lines import Lines, Taken, all_taken, element, place, taken
from pygpu.execution.arrays.merging import merged
from pygpu.execution.arrays.passes import IMAGES, as_stored, host_image, made
from pygpu.execution.arrays.recall import Form, Plan, Plans
from pygpu.execution.arrays.turning import worked
from pygpu.execution.arrays.whole import shown_as, sorting
from pygpu.language.vectors import CLASSES
from pygpu.types import vector


def sort(
    keys: Any, *values: Any, axis: int | None = -1, descending: bool = False, target: str = "auto"
) -> Any:
    """The elements of each line in order, the least first or with `descending` the greatest; NaNs
    are last. Equal ones stay as they were, but for zeros of both signs where keys are sorted alone.

    `keys` is an array (N,), an image or anything that one is made of, and what comes back is what
    went in, of the same dtype (float64 as float32); each channel is sorted for itself. Lines run
    along NumPy's `axis`, channels not counted; None: all are one line, and results have one axis.
    `values` of the same size are put in the order of
    the keys, which have one channel then; with values the result is a tuple.
    """
    with shortened, targets.at_once():
        targets.check(target)
        check_flag("descending", descending)
        plan = None if values else _planned(keys, axis, bool(descending), target, placed=False)
        if plan is not None:
            return plan.run((keys,))
        names = ["sort: keys", *[f"sort: values[{i}]" for i in range(len(values))]]
        given, *beside = all_taken([keys, *values], names, target)
        for index, each in enumerate(beside):
            if each.size != given.size:
                raise ValueError(
                    f"sort: values[{index}] is of size {each.size}, the keys are of {given.size}"
                )
        if beside and given.image.format.channels > 1:
            raise ValueError(
                f"sort: keys of {given.image.format.channels} channels put nothing else in order: "
                "take keys of one"
            )

        def work(turned: Sequence[Taken], lines: Lines) -> list[Any]:
            if given.count == 0:
                none = [each.unfolded(each.image.storage.host()) for each in turned]
                return [array.astype(each.dtype) for array, each in zip(none, turned, strict=True)]
            if not beside:
                _plan(turned[0], (axis, lines), bool(descending), target, placed=False)
            return _sorted(turned[0], turned[1:], lines, bool(descending), target)

        results = worked(work, [given, *beside], axis, target)
        return tuple(results) if beside else results[0]


def argsort(
    keys: Any, axis: int | None = -1, *, descending: bool = False, target: str = "auto"
) -> Any:
    """Where the elements of each sorted line were on it: an array, or for an image an image, of
    ints, with a channel for each of the keys'. See `sort`."""
    with shortened, targets.at_once():
        targets.check(target)
        check_flag("descending", descending)
        plan = _planned(keys, axis, bool(descending), target, placed=True)
        if plan is not None:
            return plan.run((keys,))
        given = taken(keys, "argsort: keys", target)

        def work(turned: Sequence[Taken], lines: Lines) -> list[Any]:
            if given.count == 0:
                return [np.zeros(0, np.int32)]
            _plan(turned[0], (axis, lines), bool(descending), target, placed=True)
            found = _ordered(turned[0], lines, bool(descending), target, True)
            parts = [places for _, places in found if places is not None]
            return [turned[0].back(joined(parts, lines.shape, target))]

        return worked(work, [given], axis, target)[0]


_PLANS: Final = Plans()


def _planned(keys: Any, axis: Any, descending: bool, target: str, placed: bool) -> Plan | None:
    """What calls like this one have decided."""
    return _PLANS.find(_PLANS.key(target, (keys,), known_key(axis), descending, placed))


def _plan(
    given: Taken, along: tuple[Any, Lines], descending: bool, target: str, placed: bool
) -> None:
    """Write down what sorts all of an image at once, where something does: its keys, or `placed`
    where they were. `along`: NumPy's axis and the lines along it."""
    axis, lines = along
    if not given.is_itself or given.image.format.channels > 1:
        return
    key = _PLANS.key(target, (given.original,), known_key(axis), descending, placed)
    whole = (
        None if key is None else sorting(as_stored(given.image), lines, descending, target, placed)
    )
    if whole is None or not (placed or whole.has_words):
        return
    index = Format(np.dtype("int32"), 1, normalize=False)
    form = Form.of(given, index if placed else given.image.format)

    def run(images: Sequence[Any]) -> Any:
        found = whole.run(images[0].storage)[placed]
        assert found is not None, "asked for"
        return form.image(found, images[0])

    _PLANS.keep(key, Plan(run))


def _sorted(
    given: Taken, beside: Sequence[Taken], lines: Lines, descending: bool, target: str
) -> list[Any]:
    found = _ordered(given, lines, descending, target, bool(beside))
    keys = joined([keys for keys, _ in found], lines.shape, target)
    results = [given.back(_read_as(given, keys), given.dtype)]
    for each in beside:
        places = found[0][1]
        assert places is not None, "asked for"
        moved = picked(each.image, places, lines, target)
        results.append(each.back(_read_as(each, moved), each.dtype))
    return results


def _ordered(
    given: Taken, lines: Lines, descending: bool, target: str, placed: bool
) -> list[tuple[ImageLike, ImageLike | None]]:
    """Of each channel the sorted keys, and where they were."""
    return [
        ordered(channel(given.image, c, lines.shape, target), lines, descending, target, placed)
        for c in range(given.image.format.channels)
    ]


def ordered(
    keys: ImageLike, lines: Lines, descending: bool, target: str, placed: bool = True
) -> tuple[ImageLike, ImageLike | None]:
    """Keys of one channel in order along lines, as they are stored, and where they were. Where
    nobody asks for places, zeros of both signs may change theirs."""
    device, is_y = targets.choose(target), lines.layout[0] == "y"
    if targets.is_on_host(device):
        texels = keys.storage.host()[..., 0]
        found = device.sorted_lines(
            np.ascontiguousarray(texels.T if is_y else texels), descending, placed
        )
        if found is not None:
            parts = [None if part is None else (part.T if is_y else part) for part in found]
            images = [None if part is None else host_image(part[..., None]) for part in parts]
            assert images[0] is not None
            return images[0], images[1]
    stored = as_stored(keys)
    whole = sorting(stored, lines, descending, target, placed)
    if whole is None:
        return merged(stored, lines, descending, target)
    words, where = [None if each is None else shown_as(each) for each in whole.run(stored.storage)]
    if words is None:
        assert where is not None, "what keys are picked by"
        words = picked(stored, where, lines, target)
    return words, where


# ---------------------------------------------------------------- channels and places


def channel(image: ImageLike, index: int, shape: tuple[int, int], target: str) -> ImageLike:
    """One channel of an image, as it is stored."""
    stored = as_stored(image)
    if stored.format.channels == 1:
        return stored
    run = made(_channel, {"index": "known", "image": IMAGES}, target)
    return run(shape, [stored.format.dtype], index=index, image=(stored,))[0]


def _channel(index: Any, image: Any, p: Any) -> Any:
    return image[0](p)[index]


def joined(parts: list[ImageLike], shape: tuple[int, int], target: str) -> ImageLike:
    """An image with a channel for each of these images of one."""
    if len(parts) == 1:
        return parts[0]
    dtype = parts[0].format.dtype
    if not targets.is_on_host(targets.choose(target)):
        run = made(_side_by_side, {"kind": "known", "images": IMAGES}, target)
        stored = tuple(map(as_stored, parts))
        return run(shape, [dtype], kind=stored[0].format.kind, images=stored)[0]
    texels = [part.storage.host() for part in parts]
    storage = Storage.of(np.ascontiguousarray(np.concatenate(texels, axis=2)))
    return ImageMaker.make(storage, make(Format(dtype, len(parts), normalize=False)))


def _side_by_side(kind: Any, images: Any, p: Any) -> Any:
    return CLASSES[vector(kind, len(images))](*[image(p) for image in images])


def picked(image: ImageLike, places: ImageLike, lines: Lines, target: str) -> ImageLike:
    """The elements of lines at places on them, as they are stored."""
    stored = as_stored(image)
    run = made(_picked, {"layout": "known", "images": IMAGES}, target)
    images = (stored, places)
    return run(lines.shape, [stored.format.dtype], layout=lines.layout, images=images)[0]


def _picked(layout: Any, images: Any, p: Any) -> Any:
    line, _ = element(layout, p)
    return images[0](place(layout, line, images[1](p)))


def _read_as(given: Taken, result: ImageLike) -> ImageLike:
    """A result with the texels of what was given: its bytes are seen as those are."""
    return ImageMaker.make(result.storage, make(given.image.format))
