"""A list that grows in a loop without a known end has room for so many items: the call that needs
more raises, whatever kind of call it is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import dask.array
import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import DeviceError, Image, Position

FEW: Final = np.arange(6, dtype=np.float32).reshape(2, 3)
MANY: Final = np.where(FEW == 4, 26, FEW).astype(np.float32)  # 27 takes 111 steps to come to 1


@pytest.fixture(params=["cpu", "fragment", "compute", "interpreter"], autouse=True)
def on(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    require(request.param)
    monkeypatch.setenv("PYGPU_TARGET", request.param)


def steps(n):
    way = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        way.append(n)
    return len(way)


def steps_of(v):
    return steps(int(v) + 1)


@pygpu.compile
def longest(im: Image, p: Position):
    return steps_of(im(p)) * 1.0


@pygpu.pipeline
def stages(im):
    return longest(im + 0) + 1


def joined(a, b):
    return max(a, b) + 0 * steps_of(max(a, b))


def group(v):
    return steps_of(v) % 2


CALLS: Final[dict[str, Callable[[Any], Any]]] = {
    "call": longest,
    "map": lambda im: longest.map(np.stack([im, im])),
    "iterate": lambda im: longest.iterate(im, 1),
    "vectorize": lambda im: pygpu.vectorize(steps_of)(im),
    "pipeline": stages,
    "reduce by a map": lambda im: pygpu.reduce(np.add, im, map=steps_of),
    "reduce by a function": lambda im: pygpu.reduce(joined, im),
    "reduce by group": lambda im: pygpu.reduce(np.add, im, by=group, groups=2),
    "scan": lambda im: pygpu.scan(joined, im),
    "scatter": lambda im: pygpu.scatter(im, lambda v, p: (group(v), 0), (1, 2)),
    "chunks": lambda im: longest(dask.array.from_array(im, chunks=(1, 3))).compute(),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_raises_that_needs_more_room(call: str) -> None:
    few = CALLS[call](FEW)
    assert np.shape(few) == np.shape(CALLS[call](FEW))  # the second call is the quicker one
    for _ in range(2):
        with pytest.raises(MemoryError, match="more than 64 items: loop a known number of times"):
            CALLS[call](MANY)


def test_the_error_says_where() -> None:
    with pytest.raises(MemoryError) as caught:
        longest(MANY)
    notes = "\n".join(caught.value.__notes__)
    assert "way.append(n)" in notes or "in steps" in notes
    assert "position (1, 1)" in notes


def test_a_loop_of_known_length_gives_more_room_as_advised() -> None:
    @pygpu.compile
    def advised(im: Image, p: Position):
        n = int(im(p)) + 1
        way = [n]
        for _ in range(200):
            if n == 1:
                break
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            way.append(n)
        return len(way)

    expected = [[steps_of(v) for v in row] for row in MANY]
    np.testing.assert_array_equal(advised(MANY), expected)


def test_what_is_raised_is_not_for_handlers() -> None:
    @pygpu.compile
    def handled(im: Image, p: Position):
        try:
            return steps_of(im(p))
        except MemoryError:
            return -1

    with pytest.raises(MemoryError):
        handled(MANY)


def test_a_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="a page cannot raise what a call may"):
        longest.export(tmp_path / "page.html", FEW)
