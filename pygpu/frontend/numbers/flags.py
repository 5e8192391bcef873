"""Whose a dynamic truth value would be in plain Python: NumPy's or Python's.

They differ in ~ alone: of NumPy's it is the opposite, of Python's -2 or -1. A comparison may give
either (`np.sqrt(v) > 1` NumPy's, `v > 1` Python's), so that only what is listed here is sure:
`Environment.flags` says of a bool whether it is NumPy's.
"""

from __future__ import annotations

from typing import Any

from pygpu.frontend.numbers.numbers import as_value, dynamic
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.values import Dynamic
from pygpu.types import INT


def complement(w: Evaluator, a: Dynamic) -> Any:
    """~a of a bool. One that may be NumPy's or Python's is refused."""
    flags = w.environment.flags
    if a.value not in flags:
        raise w.error(
            "~ of a truth value is -2 or -1 in Python, which are both true: write 'not x', or "
            "np.logical_not(x)"
        )
    if not flags[a.value]:
        return dynamic(w, "bit_not", as_value(w, a, INT))
    return marked(w, dynamic(w, "not", a.value), True)


def marked(w: Evaluator, result: Any, is_numpys: bool) -> Any:
    """A bool that has just been made, noted as NumPy's or Python's."""
    if isinstance(result, Dynamic):
        w.environment.flags[result.value] = is_numpys
    return result


def remade(w: Evaluator, a: Any, is_numpys: bool) -> Any:
    """A bool as another value: what is noted of it is not said of the one that it was."""
    if not isinstance(a, Dynamic):
        return a
    return marked(w, dynamic(w, "not", w.build.emit("not", a.value)), is_numpys)


def inherit(w: Evaluator, result: Dynamic, a: Any, b: Any) -> None:
    """Note whose `a & b` and the like are: NumPy's, where one of them is."""
    flags = w.environment.flags
    if not flags:
        return
    found = [flags.get(v.value) for v in (a, b) if isinstance(v, Dynamic)]
    if True in found:
        flags[result.value] = True
    elif None not in found and not any(hasattr(v, "dtype") for v in (a, b)):
        flags[result.value] = False
