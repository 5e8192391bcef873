"""Of which of Python's classes a number is, where that depends on the path.

An int that meets a float is a float on the device. `Environment.widened` says of a value what it
was before, or may be. What is asked of its class goes back through the operations that made it.

    x = 1 if im(p) > 0 else 0.5
    isinstance(2 * x, int)              # an error; isinstance(2 * x, (int, float)) is True
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, Final

import numpy as np

from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.values import Dynamic, Flagged, Truth, describe
from pygpu.ssa import Value
from pygpu.types import Kind, vector, widest

CLASSES: Final = {"float": float, "int": int, "uint": int, "bool": bool}
_ONE_OF: Final = {"select": 1, "min": 0, "max": 0}  # which of two operands; where these begin
_COUNTING: Final = frozenset("add sub mul neg abs mod floordiv pow".split())  # ints, of ints alone


def same_of_all(w: Evaluator, number: Dynamic, ask: Callable[[type], Any]) -> Any:
    """What is asked of the class of a number; an error where that depends on the path."""
    if isinstance(number, Truth) and number.is_numpys:
        return ask(np.bool_)
    if isinstance(number, Flagged):
        return ask(number.cls)
    return _same(w, describe(number), _kinds(w, number.value), ask)


def _same(w: Evaluator, what: str, kinds: set[Kind], ask: Callable[[type], Any]) -> Any:
    classes = {CLASSES[kind] for kind in kinds}
    answers = {ask(cls) for cls in classes}
    if len(answers) == 1:
        return answers.pop()
    shown = sorted(cls.__name__ for cls in classes)
    raise w.error(
        f"whether {what} is of class {' or '.join(shown)} depends on the path that led "
        f"here: make it one of them on all paths, as {' or '.join(f'{name}(x)' for name in shown)}"
    )


def note(w: Evaluator, value: Value, number: Any) -> Value:
    """A value, of which is noted what number it was before it was widened."""
    kind = scalar_kind(number)
    if kind is not None and kind != value.type.kind:
        w.environment.widened[value] = (number,)
    return value


def note_either(w: Evaluator, value: Value, a: Any, b: Any) -> Value:
    """A value, of which is noted what two numbers it may be, where these may be of two classes."""
    kind = scalar_kind(a)
    if kind and (w.environment.widened or kind != scalar_kind(b)):
        w.environment.widened[value] = (a, b)
    return value


def settled(w: Evaluator, number: Any, kind: Kind) -> Any:
    """What int(x) or float(x) gives: another value where x may be of several classes."""
    if isinstance(number, Dynamic) and _kinds(w, number.value) != {kind}:
        return _again(w, number, CLASSES[kind]())
    return number


def or_nothing(w: Evaluator, number: Any, nothing: Any) -> Any:
    """A number that is counted on some paths alone; elsewhere nothing is, which is a number too."""
    kind = scalar_kind(number)
    if kind in (None, scalar_kind(nothing)) or kind == "bool":
        return number
    is_known = not isinstance(number, Dynamic)
    made = Dynamic(w.build.constant(vector(kind, 1), number)) if is_known else number
    return _again(w, made, nothing, number)


def _again(w: Evaluator, number: Dynamic, *held: Any) -> Dynamic:
    again = Dynamic(w.build.emit("neg", w.build.emit("neg", number.value)))
    w.environment.widened[again.value] = held
    return again


def of_array(w: Evaluator, elements: Iterable[Any]) -> set[Kind]:
    """The kinds that an array may be of, as the elements that are not known tell."""
    found: set[Kind] = set()
    for each in elements if w.environment.widened else ():
        if isinstance(each, Dynamic):
            own = _kinds(w, each.value)
            found = {widest(a, b) for a, b in product(found, own)} if found else own
            if found == {"float"}:  # with which all others are floats
                break
    return found


def is_float(w: Evaluator, number: Any) -> bool:
    """Whether it is a float on all paths."""
    return scalar_kind(number) == "float" and of_array(w, (number,)) <= {"float"}


def certain_array(w: Evaluator, elements: Iterable[Any]) -> None:
    """An error where the path decides of which kind an array is."""
    kinds = of_array(w, elements)
    if len(kinds) > 1:
        _same(w, "what this array holds", kinds, lambda cls: cls)


def _kinds(w: Evaluator, value: Value) -> set[Kind]:
    """The kinds that a number may have been of in Python."""
    parts: dict[Value, tuple[Any, ...]] = {}
    waiting = [value] if w.environment.widened else []
    while waiting:
        each = waiting.pop()
        if each not in parts:
            parts[each] = _made_of(w, each)
            waiting += [part for part in parts[each] if isinstance(part, Value)]
    found: dict[Any, set[Kind]] = {each: set() for each in parts}
    before = -1
    while before != (before := sum(map(len, found.values()))):
        for each, held in reversed(parts.items()):
            kinds = [found[x] if isinstance(x, Value) else {scalar_kind(x)} for x in held]
            if not held:
                found[each].add(each.type.kind)
            elif each not in w.environment.widened and each.op and each.op.code in _COUNTING:
                found[each] |= {widest("int", *some) for some in product(*kinds)}  # type: ignore[arg-type]
            else:
                found[each].update(*kinds)  # type: ignore[arg-type]
    return found.get(value) or {value.type.kind}


def _made_of(w: Evaluator, value: Value) -> tuple[Any, ...]:
    """The numbers that a value may be, or that it is counted of; none where it is of its own."""
    op, held = value.op, w.environment.widened.get(value)
    if held is not None:
        return tuple([each.value if isinstance(each, Dynamic) else each for each in held])
    if op is None or (op.regions and value not in op.results):
        return ()
    if op.regions:
        place = op.results.index(value) + (op.code == "loop")
        return tuple([region.results[place] for region in op.regions])
    if op.code in _ONE_OF or op.code in _COUNTING:
        return op.operands[_ONE_OF.get(op.code, 0) :]
    return ()
