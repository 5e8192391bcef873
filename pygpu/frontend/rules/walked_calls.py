"""Functions and classes of libraries for which Python of pygpu/frontend/walked is walked.

walked_as(meaning)               # a rule that walks it
later_from(containers, "Deque")  # the same; the module is read when the rule is first used
in_python(meaning)               # of numbers: for vectors and arrays element by element
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols import arrays
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.objects import Instance
from pygpu.frontend.values.values import Tuple

with later():
    from pygpu.frontend.walked import special


def walked_as(meaning: Any) -> Rule:
    """What a class or function of a library means, which is walked in place of it."""
    return lambda w, /, *args, **keywords: w.call(meaning, *args, **keywords)


def later_from(module: ModuleType, name: str) -> Rule:
    """What a function of a library means, which is walked in place of it: the one of this name in a
    module that is run when it is first asked for."""
    return lambda w, /, *args, **keywords: w.call(getattr(module, name), *args, **keywords)


def in_python(function: Any) -> Rule:
    """A function of numbers that is walked: for numbers, or component by component."""

    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        if all(map(scalar_kind, args)):
            return w.call(function, *args, **keywords)
        if any(isinstance(arg, (Instance, str)) or arg is None for arg in args):
            return NotImplemented
        rows, shape = arrays.spread(w, args)
        results = [w.call(function, *row, **keywords) for row in rows]
        position = next((arg for arg in args if vector_type(arg)), None)

        def gathered(parts: list[Any]) -> Any:
            if position is not None and len(shape) == 1 and 2 <= len(parts) <= 4:
                return arrays.vector_like(w, parts, position)
            return arrays.array_of(parts, shape)

        if isinstance(results[0], (tuple, Tuple)):
            columns = zip(*[items_of(w, result) for result in results], strict=True)
            return Tuple(tuple([gathered(list(column)) for column in columns]))
        return gathered(results)

    return rule


def _special(name: str) -> Rule:
    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        return in_python(getattr(special, name))(w, *args, **keywords)

    return rule


# Functions of numbers that have the same names in frontend/walked/special.py. Newer versions alone
# have the last of each.
_IN_MATH: Final = (
    "modf frexp ldexp remainder isclose gcd lcm isqrt factorial perm comb nextafter fma"
)
_IN_NUMPY: Final = (
    "modf frexp ldexp gcd lcm heaviside logaddexp logaddexp2 conjugate nextafter bitwise_count"
)
SPECIAL_RULES: Final[dict[Any, Rule]] = {
    getattr(module, name): _special(name)
    for module, names in ((math, _IN_MATH), (np, _IN_NUMPY))
    for name in names.split()
    if hasattr(module, name)
}
