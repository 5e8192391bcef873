"""Rules: every callable that has one is found, though its library's are imported late."""

import bisect
import math
import statistics

import numpy as np
import pytest

from processes import run
from pygpu.frontend.rules.intrinsics import rule_of


@pytest.mark.parametrize(
    "function",
    [abs, math.sin, zip, np.sqrt, np.clip, np.add.reduce, bisect.bisect, statistics.mean],
)
def test_callable_has_a_rule(function: object) -> None:
    assert rule_of(function) is not None


@pytest.mark.parametrize("function", [print, np.ones(3).sum, statistics.NormalDist, len.__call__])
def test_callable_has_none(function: object) -> None:
    assert rule_of(function) is None


def test_rules_of_numpy_are_imported_when_a_function_calls_it() -> None:
    run(
        """
import sys
import types
import numpy as np
import pygpu
from pygpu import Image, Position
texels = np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3)
pygpu.compile(lambda im=Image, p=Position: abs(im(p) - 0.5), target="interpreter")(texels)
rules = sys.modules["pygpu.frontend.rules.numpy_calls"]
assert type(rules) is not types.ModuleType  # it is to be run later
f = pygpu.compile(lambda im=Image, p=Position: np.clip(im(p), 0.25, 0.5), target="interpreter")
assert np.array_equal(f(texels), np.clip(texels, np.float32(0.25), np.float32(0.5)))
assert type(rules) is types.ModuleType
"""
    )
