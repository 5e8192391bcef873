"""Random functions of signals and volumes give on every target what they give in plain Python."""

import itertools
import random

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Int, Position, Signal, Volume
from pygpu.ssa import BOUNDARIES

SEEDS = range(12)
KINDS = {1: Signal, 2: Image, 3: Volume}
AXES = "xyz"


class Writer:
    """Writes the body of a function of `main`, of so many dimensions, `other` of one to three and
    the numbers n and g. Values are of eighths, which float32 holds exactly."""

    def __init__(self, seed, dims):
        self.random = random.Random(seed)
        self.dims, self.other = dims, self.random.choice((1, 2, 3))

    def offset(self):
        steps = [self.random.randint(-3, 3) for _ in range(self.dims)]
        return str(steps[0]) if self.dims == 1 else str(tuple(steps))

    def whole(self, depth=2):
        """An integer, near a coordinate or far."""
        pick = self.random.randrange(6 if depth else 3)
        axis = f"p.{self.random.choice(AXES[: self.dims])}"
        if pick == 0:
            return axis
        if pick == 1:
            return str(self.random.randint(-5, 9))
        if pick == 2:
            return "n"
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        return f"({a} {self.random.choice(('+', '-', '*'))} {b})" if pick < 5 else f"({a} // 2)"

    def read(self):
        pick = self.random.randrange(5)
        if pick < 3:
            return f"main(p + {self.offset()})"
        name, dims = ("main", self.dims) if pick == 3 else ("other", self.other)
        places = [self.whole() for _ in range(dims)]
        return f"{name}({places[0]})" if dims == 1 else f"{name}(({', '.join(places)}))"

    def value(self, depth=3):
        pick = self.random.randrange(7) if depth else self.random.randrange(2)
        if pick < 2:
            return self.read()
        if pick == 2:
            return (
                f"({self.value(depth - 1)} if {self.whole()} > {self.whole()} else {self.read()})"
            )
        if pick == 3:
            return f"min({self.value(depth - 1)}, {self.value(depth - 1)})"
        symbol = self.random.choice(("+", "-"))
        return f"({self.value(depth - 1)} {symbol} {self.value(depth - 1)})"

    def function(self):
        name = "p.x" if self.dims == 1 else "p"
        loop = f"main({name} + k)" if self.dims == 1 else f"main(({', '.join(self.moved())}))"
        text = "\n".join(
            [
                "def f(main, other, p, n, g):",
                f"    s = {self.value()}",
                "    for k in range(n):",
                f"        s = s + {loop} * 0.5 + {self.read()}",
                f"    return s + g, {self.whole()}, {self.read()} > 0.5",
            ]
        )
        scope = {}
        exec(text, scope)
        return scope["f"], text

    def moved(self):
        along = self.random.randrange(self.dims)
        return [f"p.{a} + k" if i == along else f"p.{a}" for i, a in enumerate(AXES[: self.dims])]


def eighths(rng, shape):
    return (rng.integers(0, 9, shape) / 8).astype(np.float32)


def size_of(rng, dims):
    most = {1: 40, 2: 12, 3: 6}[dims]
    return tuple(int(n) for n in rng.integers(1, most, dims))


@pytest.mark.parametrize("dims", [1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_functions_give_what_python_gives(target, dims, seed):
    writer, rng = Writer(seed * 7 + dims, dims), np.random.default_rng(seed)
    f, text = writer.function()
    rules = rng.choice(BOUNDARIES, 2)
    main = KINDS[dims](eighths(rng, size_of(rng, dims)), boundary=rules[0], cval=0.25)
    other = KINDS[writer.other](
        eighths(rng, size_of(rng, writer.other)), boundary=rules[1], cval=0.75
    )
    types = {"main": KINDS[dims], "other": KINDS[writer.other], "p": Position, "n": Int, "g": Float}
    compiled = pygpu.compile(f, target=target, **types)
    results = compiled(main, other, 2, 0.5)
    shape = main.storage.shape
    places = itertools.product(*[range(n) for n in shape])
    expected = [f(main, other, Position(*place[::-1]), 2, 0.5) for place in places]
    for result, values in zip(results, zip(*expected, strict=True), strict=True):
        wanted = np.array([float(value) for value in values]).reshape(shape)
        assert np.array_equal(np.asarray(result).astype(float), wanted), text
