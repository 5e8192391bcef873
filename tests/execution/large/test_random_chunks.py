"""Random functions of Dask arrays give, to the bit, what one call in memory gives: footprints,
chunks (empty ones and those of one row among them), boundaries, dtypes, rounds and folds by chance.

PYGPU_EXAMPLES=20 runs twenty times as many, other ones each time.
"""

import os
import random
from typing import Any, Final

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Position, Signal, Volume
from pygpu.ssa import BOUNDARIES

dask = pytest.importorskip("dask", reason="no dask")
da = pytest.importorskip("dask.array", reason="no dask")

MORE: Final = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNTS: Final = {"cpu": 60, "fragment": 6, "compute": 6}
DTYPES: Final = ("uint8", "uint16", "int16", "int32", "bool", "float16", "float32", "float64")
KINDS: Final = {1: Signal, 2: Image, 3: Volume}
MOST: Final = {1: 40, 2: 17, 3: 8}  # texels along an axis
SEEN: Final = ("main", "other")


class Written:
    """A function of two arrays, as text and compiled: some texels around the position, near and
    beyond the edges, with positions and sizes of the whole."""

    def __init__(self, source: random.Random, dims: int, target: str) -> None:
        self.source, self.dims = source, dims
        terms = [self.read(name) for name in ("main", *source.choices(SEEN, k=source.randrange(5)))]
        terms += source.sample(["p.x * 0.25", "main.width", "g"], source.randrange(3))
        results = [" + ".join(terms), f"np.maximum({self.read('main')}, {self.read('other')})"]
        results = results[: source.choice((1, 1, 2))]
        rules = source.choices(BOUNDARIES, k=2)
        lines = [
            "def f(main, other, p, g):",
            *[
                f"    {name} = {name}.sampled(boundary={rule!r}, cval={source.choice((0, 1))})"
                for name, rule in zip(SEEN, rules, strict=True)
            ],
            f"    return {', '.join(results)}",
        ]
        self.text = "\n".join(lines)
        names: dict[str, Any] = {"np": np}
        exec(self.text, names)
        types = {"main": KINDS[dims], "other": KINDS[dims], "p": Position, "g": Float}
        self.call = pygpu.compile(names["f"], target=target, **types)
        self.is_single = len(results) == 1

    def read(self, name: str) -> str:
        far = self.source.choice((0, 1, 2, 5, 11))
        steps = [self.source.randint(-far, far) for _ in range(self.dims)]
        moved = str(steps[0]) if self.dims == 1 else str(tuple(steps))
        return f"{name}(p + {moved})"


def cut(source: random.Random, size: int) -> tuple[int, ...]:
    """Chunks along an axis: one, equal ones, single texels, or any, with empty ones."""
    how = source.randrange(4)
    if how == 0:
        return (size,)
    if how == 1:
        each = source.randint(1, size)
        return (*[each] * (size // each), *([size % each] if size % each else []))
    if how == 2:
        return (1,) * size
    ends = sorted(source.choices(range(size + 1), k=source.randrange(1, 5)))
    return tuple(np.diff([0, *ends, size]).tolist())


def texels(source: random.Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    values = np.random.default_rng(source.randrange(10**9)).integers(0, 200, shape)
    return values % 2 > 0 if dtype == "bool" else (values / 8).astype(dtype)


def lazily(source: random.Random, array: np.ndarray, dims: int) -> Any:
    chunks = [*[cut(source, size) for size in array.shape[:dims]], *array.shape[dims:]]
    made = da.from_array(array, chunks=tuple(chunks))
    if source.random() < 0.5:  # chunks that are no parts of one array
        made = made.map_blocks(np.copy, dtype=array.dtype)
    return made


def compare(lazy: Any, whole: Any, told: str) -> None:
    """Both are equal in dtype, shape and bits, and what Dask was told is so."""
    for one, other in zip(
        *[x if isinstance(x, tuple) else (x,) for x in (lazy, whole)], strict=True
    ):
        assert one.dtype == one._meta.dtype == other.dtype, told
        assert one.shape == other.shape, told
        for each in (one.compute(), *dask.compute(one)):  # written where it belongs, and by Dask
            assert each.dtype == other.dtype, told
            np.testing.assert_array_equal(each, other, told)


@pytest.mark.timeout(180 * MORE)
@pytest.mark.parametrize("on", COUNTS)
def test_random_chunks_give_what_the_whole_gives(on: str) -> None:
    require(on)
    for number in range(COUNTS[on] * MORE):
        seed = number if MORE == 1 else random.randrange(10**9)
        source = random.Random(seed)
        dims = source.choice((1, 2, 2, 2, 3))
        function = Written(source, dims, on)
        shape = tuple([source.randint(1, MOST[dims]) for _ in range(dims)])
        channels = (3,) if dims == 2 and source.random() < 0.25 else ()
        main, other = [texels(source, (*shape, *channels), source.choice(DTYPES)) for _ in range(2)]
        chunked = lazily(source, main, dims)
        beside = lazily(source, other, dims) if source.random() < 0.7 else other
        told = f"seed {seed}: {main.dtype} {chunked.chunks} {other.dtype} {function.text}"
        dtype = source.choice((None, None, "uint8", "float32", "int16"))
        with dask.config.set(scheduler=source.choice(("synchronous", "threads"))):
            lazy = function.call(chunked, beside, 0.75, dtype=dtype)
            compare(lazy, function.call(main, other, 0.75, dtype=dtype), told)
            if function.is_single:
                count = source.randrange(1, 6)
                rounds = function.call.iterate(chunked, count, beside, 0.5, dtype=dtype)
                whole = function.call.iterate(main, count, other, 0.5, dtype=dtype)
                compare(rounds, whole, f"{count} rounds, {told}")
            if dims == 3:
                continue
            most = pygpu.reduce(np.maximum, chunked).compute()
            np.testing.assert_array_equal(most, pygpu.reduce(np.maximum, main), told)
