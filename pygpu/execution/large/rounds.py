"""Rounds of a function that are done for a chunk before the next chunk.

Where the device does rounds by one job, that job gets the chunk with all that the rounds read
around it, and treats its edges as those of images. Edges which are not the whole's spoil what is
next to them, in each round as far as it looks around a pixel; what is left after the last is the
chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.programs import Work
from pygpu.core.storage import Storage, stored
from pygpu.devices import targets
from pygpu.devices.process.reserve import RESERVE
from pygpu.execution.arguments.convert import texels_of, without_channel_axis
from pygpu.execution.large.plans import Part, Plan, Ready, Rounds
from pygpu.execution.large.regions import Assembly, Reach, clipped, grown
from pygpu.execution.programs.tiles import Tile, fit
from pygpu.passes.layout.window import View

Results = list[NDArray[Any]]
Pieces = Sequence[NDArray[Any]]
# What a part reads of a view: how that is put together, and of which pieces; no assembly and no
# pieces of an image that the plan holds.
Given = tuple[View, Assembly | None, Pieces]
Compute = Callable[[Part, Sequence[Given]], Results]
_Key = tuple[int, bool]
NEARBY: Final = ("nearest", "reflect", "mirror", "constant", "inside")  # not across the image


@record
class _Region:
    """The texels of a part of an image."""

    texels: NDArray[Any]
    left: int
    top: int

    def parts(self, each: View, tile: Tile, size: tuple[int, int]) -> tuple[Assembly, Results]:
        """How what a tile reads of an image of (width, height) is put together, of which pieces."""
        if each.margin is None:
            ends = [Reach.inside(0, length) for length in self.texels.shape[:2]]
            return Assembly(tuple(ends), (tuple([slice(0, e.count) for e in ends]),)), [self.texels]
        wide = grown(tile, each.margin, 1)
        down = Reach.of(each.boundary, wide.top, wide.top + wide.height, size[1])
        across = Reach.of(each.boundary, wide.left, wide.left + wide.width, size[0])
        pieces, places = [], []
        for (top, bottom), rows in down.held():
            for (left, right), columns in across.held():
                mine = slice(left - self.left, right - self.left)
                pieces.append(self.texels[top - self.top : bottom - self.top, mine])
                places.append((rows, columns))
        return Assembly((down, across), tuple(places)), pieces


def _key(view: View) -> _Key:
    """Which image a view is of, and whether the image is read near the pixel."""
    return view.image, view.margin is not None


def rounds_of(part: Part, given: Sequence[Given], compute: Compute) -> Results:
    """The results of all rounds of a plan for a tile."""
    rounds = part.plan.rounds
    assert rounds is not None
    wide = grown(part.tile, rounds.reach, rounds.count)
    seen: dict[_Key, _Region] = {}  # views of one image near the pixel are of the same texels here
    for each, assembly, pieces in given:
        if assembly is not None and _key(each) not in seen:
            region = clipped(wide, part.plan.sizes[each.image])
            texels = texels_of(assembly.of(pieces))
            seen[_key(each)] = _Region(texels, region.left, region.top)
    results = _at_once(part, rounds, seen)
    if results is None:
        results = _one_by_one(part, rounds, seen, compute)
    return results if rounds.dtype is None else [stored(each, rounds.dtype) for each in results]


def _one_by_one(
    part: Part, rounds: Rounds, seen: Mapping[_Key, _Region], compute: Compute
) -> Results:
    """Each round computes what the rounds after it still read."""
    ready, plan = part.ready, part.plan
    there: dict[int, _Region] = {}
    results: Results = []
    size = plan.sizes[rounds.state[0]]
    for left in reversed(range(rounds.count)):
        window = clipped(grown(part.tile, rounds.reach, left), size)
        regions = [
            there.get(each.image) or seen.get(_key(each)) or _whole(ready, each.image)
            for each in ready.views.views
        ]
        found = [
            (each, *region.parts(each, window, plan.sizes[each.image]))
            for each, region in zip(ready.views.views, regions, strict=True)
        ]
        results = compute(part.of(window), found)
        for image, result in zip(rounds.state, results, strict=True):
            there[image] = _Region(texels_of(result), window.left, window.top)
    return results


def _whole(ready: Ready, image: int) -> _Region:
    """An image that the plan holds."""
    storage = ready.whole[image]
    assert storage is not None
    return _Region(storage.host(), 0, 0)


def _at_once(part: Part, rounds: Rounds, seen: Mapping[_Key, _Region]) -> Results | None:
    """All rounds by one job. None where the device does not do that, or results are not read as
    what went in, or an image is read elsewhere than near the pixel."""
    ready, plan, tile = part.ready, part.plan, part.tile
    formats, state = ready.formats, rounds.state
    if ready.faults or any(
        ready.images[place] != format or format.dtype != dtype
        for place, format, dtype in zip(state, formats, ready.dtypes, strict=True)
    ):
        return None
    area = clipped(grown(tile, rounds.reach, rounds.count), plan.sizes[state[0]])
    inputs = _inputs(ready, plan, state, area, seen)
    if inputs is None:
        return None
    limits = targets.limits(ready.device)
    sizes = [each.shape[:2] for each in inputs] + [area.shape] * len(formats)
    if limits is not None and not fit(limits, sizes, (*ready.images, *formats)):
        return None
    program, sized = ready.of_parts()
    sides = [side for image in sized for side in plan.sizes[image]]
    numbers = [*plan.uniforms(ready.arguments), area.left, area.top, *sides]
    work = Work(list(map(Storage.of, inputs)), numbers, area.shape, [None] * len(state))
    made = program.run_rounds(work, [numbers] * rounds.count, state)
    if made is None:
        return None
    inside = Tile(tile.left - area.left, tile.top - area.top, tile.width, tile.height)
    return [without_channel_axis(_kept(inside.of(each.host()))) for each in made]


def _kept(part: NDArray[Any]) -> NDArray[Any]:
    """A copy of a part, in the memory of results."""
    made = RESERVE.empty(part.shape, part.dtype)
    np.copyto(made, part)
    return made


def _inputs(
    ready: Ready, plan: Plan, state: Sequence[int], area: Tile, seen: Mapping[_Key, _Region]
) -> Results | None:
    """An area of each image; of one that is not read, a texel."""
    views = ready.views.views
    read = {view.image for view in views}
    if not read.issuperset(state) or len({plan.sizes[image] for image in read}) > 1:
        return None
    if any(view.margin is None or view.boundary not in NEARBY for view in views):
        return None
    inputs = []
    for image, format in enumerate(ready.images):
        if (image, True) in seen:
            texels = seen[image, True].texels
        elif image in read:
            texels = area.of(_whole(ready, image).texels)
        else:
            texels = np.zeros((1, 1, format.channels), format.dtype)
        inputs.append(np.ascontiguousarray(texels))
    return inputs
