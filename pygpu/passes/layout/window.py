"""Makes a function compute a window of a larger result, from parts of larger images.

Positions and sizes stay those of the whole: where the window lies and how large the images are
becomes uniforms. Of each image a *view* is read, which holds the window and a margin around it, and
what lies outside of the image is put there by whoever makes the view. What no margin covers is read
of the whole image.

    load im[x + 1, y] wrap  ->  load im_wrap[x + 2, y + 1] nearest      (margins of 1)
    width im                ->  im_width, a uniform
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.passes.lower.boundary import chosen
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, ImageInput, Load, Op, Value, walk
from pygpu.types import INT

with later():
    from pygpu.passes.analysis import footprint, fractional

# How views are filled outside of an image for loads that never take what stands there.
FILL: Final = {"constant": "nearest", "inside": "nearest"}


@record
class View:
    """What is read of an image: what lies outside, and how far around the window; None: the whole
    image, as it is."""

    image: int
    boundary: str
    margin: footprint.Footprint | None
    between: bool = False  # whether places between pixels are read: see analysis/fractional.py


@record(eq=False)
class Windowed:
    """The function of a window. Its images are the views. Its uniforms are those of the whole, then
    the x and y of the window's first pixel, then the width and height of each of `sized`."""

    function: Function
    views: tuple[View, ...]
    sized: tuple[int, ...]


def window(function: Function, between: bool = False) -> Windowed:
    """The function of any window of a result. `between`: whether what is read between pixels has a
    margin, too; the caller then looks how large images are."""
    keys: dict[tuple[int, str], int] = {}
    sized: set[int] = set()
    for op in walk(function.body):
        if op.code == "load":
            keys.setdefault(_key(op.data), len(keys))
        if op.code in ("width", "height"):
            sized.add(op.data)
        elif op.code == "load" and op.data.boundary == "constant":
            sized.add(op.data.image)
    order = tuple(sorted(sized))
    images = [
        ImageInput(f"{function.images[i].name}_{how}", function.images[i].type) for i, how in keys
    ]
    split = _Split(function, images, keys, order).run()
    exact = footprint.footprint(split)
    margins = exact
    if between:
        margins = footprint.footprint(split, ranges=fractional.Followed(split))
    views = tuple(
        [
            View(*key, margin, margin is not None and whole is None)
            for key, margin, whole in zip(keys, margins, exact, strict=True)
        ]
    )
    return Windowed(apply(CLEAN, _Move(split, views, order).run()), views, order)


@record(eq=False)
class Placed:
    """The function of a part of a result, of the same part of each image, beyond which boundaries
    hold. Its uniforms are those of the whole, then the x and y of the part's first pixel, then the
    width and height of each of `sized`."""

    function: Function
    sized: tuple[int, ...]


def placed(function: Function) -> Placed:
    """The function of parts. Next to edges which are not those of the whole, as far as it looks
    around a pixel, the results are not those of the whole."""
    loads = [op.data for op in walk(function.body) if op.code == "load"]
    sized = {op.data for op in walk(function.body) if op.code in ("width", "height")}
    keys = {_key(data): data.image for data in loads}
    order = tuple(sorted(sized))
    split = _Split(function, function.images, keys, order).run()
    return Placed(apply(CLEAN, _Place(split, order).run()), order)


def _key(data: Load) -> tuple[int, str]:
    return data.image, FILL.get(data.boundary, data.boundary)


class _Split(Rewriter):
    """Other images for those read, by their boundaries; sizes and window as uniforms."""

    def __init__(
        self,
        function: Function,
        images: Sequence[ImageInput],
        keys: Mapping[tuple[int, str], int],
        sized: tuple[int, ...],
    ) -> None:
        names = ["left", "top", *names_of_sizes(function, sized, ("width", "height"))]
        super().__init__(function, images=images, numbers=names)
        self.keys = keys
        self.sizes = pairs(sized, self.numbers[2:])

    def each(self, op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...] | None:
        if op.code in ("width", "height"):
            return (self.sizes[op.data][op.code == "height"],)
        if op.code == "load":
            data = replace(op.data, image=self.keys[_key(op.data)])
            return (self.build.emit("load", *operands, data=data),)
        return None


class _Place(Rewriter):
    """Positions become those of the whole, and places that are read those of the part."""

    def __init__(self, function: Function, sized: tuple[int, ...]) -> None:
        super().__init__(function)
        build = self.build
        self.own = function.body.params[:2]
        self.window = build.uniforms[-2 - 2 * len(sized) :][:2]
        self.sizes = pairs(sized, build.uniforms[len(build.uniforms) - 2 * len(sized) :])
        for old, new, start in zip(self.own, (build.x, build.y), self.window, strict=True):
            self.new[old] = build.emit("add", new, start, name=old.name)

    def each(self, op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...] | None:
        if op.code != "load":
            return None
        return (self.build.emit("load", *self.near(op, operands), data=op.data),)

    def near(self, op: Op, operands: tuple[Value, ...]) -> list[Value]:
        """The place that is read, counted from the window's corner."""
        build = self.build
        return [
            own if old is whole else build.emit("sub", place, start)
            for own, old, whole, place, start in zip(
                (build.x, build.y), op.operands, self.own, operands, self.window, strict=True
            )
        ]


class _Move(_Place):
    """Loads near the pixel become loads of the views, too."""

    def __init__(self, function: Function, views: Sequence[View], sized: tuple[int, ...]) -> None:
        super().__init__(function, sized)
        self.views = views

    def each(self, op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...] | None:
        if op.code != "load":
            return None
        data: Load = op.data
        view = self.views[data.image]
        margin, build = view.margin, self.build
        if margin is None:
            return None
        dx, dy = data.dx + margin.left, data.dy + margin.up
        near_load = replace(data, dx=dx, dy=dy, boundary="nearest", cval=())
        texel = build.emit("load", *self.near(op, operands), data=near_load)
        if data.boundary != "constant":
            return (texel,)
        tests = self.inside(operands, (data.dx, data.dy), self.sizes[view.image])
        return (chosen(build, data, texel, tests),)

    def inside(
        self, places: tuple[Value, ...], offsets: tuple[int, int], size: tuple[Value, Value]
    ) -> Sequence[Value]:
        """The tests that hold where a place of the whole lies in an image."""
        emit, constant = self.build.emit, self.build.constant
        tests = []
        for place, offset, limit in zip(places, offsets, size, strict=True):
            at = emit("add", place, constant(INT, offset))
            tests.append(emit("ge", at, constant(INT, 0)))
            tests.append(emit("lt", at, limit))
        return tests


def names_of_sizes(function: Function, images: Sequence[int], sides: Sequence[str]) -> list[str]:
    """The names of uniforms that are the sides of images."""
    return [f"{function.images[image].name}_{side}" for image in images for side in sides]


def pairs(sized: Sequence[int], values: Sequence[Value]) -> dict[int, tuple[Value, Value]]:
    """Both sides of each image, from such uniforms."""
    return dict(zip(sized, zip(values[::2], values[1::2], strict=True), strict=True))
