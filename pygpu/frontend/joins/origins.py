"""Of which of Python's classes a number is, where that depends on the path.

An int that meets a float is a float on the device. `Environment.widened` says of a value what it
was before, or may be. What is asked of its class goes back through the operations that made it.

    x = 1 if im(p) > 0 else 0.5
    isinstance(2 * x, int)              # an error; isinstance(2 * x, (int, float)) is True

An int is Python's own or an `Int`, which decides whose an operator is beside NumPy's numbers:
`np.int64(1) // 0` gives 0 and a warning, `np.int64(1) // Int(0)` raises. See `int_classes`.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, product
from typing import Any, Final

import numpy as np

from pygpu.core.operations.ops import TABLE
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_numpys, may_be_numpys, scalar_kind
from pygpu.frontend.values.values import Dynamic, Flagged, Narrow, describe
from pygpu.language.scalars import Int, UInt
from pygpu.ssa import Value
from pygpu.types import INT, UINT, Kind, vector, widest

CLASSES: Final = {"float": float, "int": int, "uint": int, "bool": bool}
NUMPYS: Final = {"float": np.float64, "int": np.int64, "uint": np.uint32, "bool": np.bool_}
_WIDE: Final[dict[type, type]] = {np.float64: np.floating, np.int64: np.signedinteger}
_ONE_OF: Final = {"select": 1, "min": 0, "max": 0}  # which of two operands; where these begin
_NOBODYS: Final[frozenset[type]] = frozenset()
_PYTHONS: Final = frozenset((int,))
_WORDS: Final = frozenset((Int,))
_EITHER: Final = frozenset((int, Int))
# What makes ints: of ints, of ints but no bools of bools; of texels and positions; of anything.
_OF_INTS: Final = frozenset(
    code
    for code, row in TABLE.items()
    if row.componentwise and row.is_closed("int") and row.is_closed("uint") and code not in _ONE_OF
)
_COUNTING: Final = frozenset(code for code in _OF_INTS if not TABLE[code].is_closed("bool"))
_READ: Final = frozenset("load voxel plane swizzle element dot".split())
_MADE: Final = frozenset("constant table to_int width height depth".split())


def same_of_all(w: Evaluator, number: Dynamic, ask: Callable[[type], Any]) -> Any:
    """What is asked of the class of a number; an error where that depends on the path."""
    if isinstance(number, Flagged):
        return ask(number.cls)
    kinds = _kinds(w, number.value)
    classes = {CLASSES[kind] for kind in kinds}
    if number.type is UINT and w.environment.singles:
        found = {w.environment.singles.get(each) for each in _behind(number.value)} & {np.uint32}
        is_sure = w.environment.singles.get(number.value) is np.uint32
        classes = {np.uint32} if is_sure else classes | found  # type: ignore[operator]
    if may_be_numpys(number):
        own = {number.dtype.type} if isinstance(number, Narrow) else {NUMPYS[k] for k in kinds}
        if w.environment.singles:
            own = set().union(*[_widths(w, number, cls) for cls in own])
        classes = own if is_numpys(number) else classes | own
    return _same(w, describe(number), classes, ask)


def certain_class(w: Evaluator, number: Dynamic) -> type:
    """The class of a number; an error where that depends on the path."""
    cls: type = same_of_all(w, number, lambda cls: cls)
    if cls is not int or number.type is not INT:
        return cls
    return _same(w, describe(number), set(int_classes(w, number)), lambda cls: cls)  # type: ignore[no-any-return]


def _widths(w: Evaluator, number: Any, cls: type) -> set[type]:
    """The classes that one of NumPy's numbers may be of, which is of this one where no others are
    about: of fewer than 64 bits is what a table of such holds, and may be what is computed with
    that."""
    if cls not in _WIDE or not isinstance(number, Dynamic):
        return {cls}
    singles, family = w.environment.singles, _WIDE[cls]
    if issubclass(singles.get(number.value, object), family):
        return {singles[number.value]}
    found = [singles[each] for each in _behind(number.value) if each in singles]
    return {cls} | {each for each in found if issubclass(each, family)}


def width_of_all(w: Evaluator, what: str, numbers: Iterable[Any], kind: Kind) -> type:
    """The class of NumPy's that numbers of a kind are of together; an error where they may be of
    several."""
    classes: set[type] = {NUMPYS[kind]}
    if classes <= _WIDE.keys() and w.environment.singles:
        classes = set()
        for each in numbers:
            known = isinstance(each, np.generic) and issubclass(type(each), _WIDE[NUMPYS[kind]])
            classes |= {type(each)} if known else _widths(w, each, NUMPYS[kind])
    if len(classes) > 1:
        shown = " or ".join(sorted(f"np.{cls.__name__}" for cls in classes))
        raise w.error(f"whether {what} is of {shown} is not kept: write which, as in a.astype(int)")
    return classes.pop()


def zero_of(number: Dynamic) -> Any:
    """The zero of a number's class, the widest that it may be."""
    if not is_numpys(number):
        return CLASSES[number.type.kind](0)
    return (number.dtype.type if isinstance(number, Narrow) else NUMPYS[number.type.kind])(0)


def as_word(w: Evaluator, number: Any, dtype: Any) -> Any:
    """A number that is of a dtype of NumPy's: noted, where that has 32 bits."""
    if isinstance(number, Dynamic) and np.dtype(dtype).itemsize == 4:
        w.environment.words.add(number.value)
    return number


def may_be_word(w: Evaluator, number: Dynamic) -> bool:
    """Whether a number may be one of NumPy's of 32 bits: it is, or is counted of one."""
    return number.type is UINT or any(each in w.environment.words for each in _behind(number.value))


def _behind(value: Value) -> Iterator[Value]:
    """A value, and what it is made of."""
    waiting, seen = [value], {value}
    while waiting:
        each = waiting.pop()
        yield each
        if each.op is not None:
            inner = [result for region in each.op.regions for result in region.results]
            more = [part for part in (*each.op.operands, *inner) if part not in seen]
            seen.update(more)
            waiting += more


def as_wide(w: Evaluator, number: Any, cls: type) -> Any:
    """A float or int that is of a class of NumPy's: another value where some of fewer bits are
    about."""
    if not isinstance(number, Dynamic) or (cls in _WIDE and not w.environment.singles):
        return number
    again = _another(w, number)
    w.environment.singles[again.value] = cls
    return again


def _same(w: Evaluator, what: str, classes: set[Any], ask: Callable[[type], Any]) -> Any:
    answers = {ask(cls) for cls in classes}
    if len(answers) == 1:
        return answers.pop()
    shown = sorted(
        f"np.{cls.__name__}" * issubclass(cls, np.generic) or cls.__name__ for cls in classes
    )
    raise w.error(
        f"whether {what} is of class {' or '.join(shown)} depends on the path that led "
        f"here: make it one of them on all paths, as {' or '.join(f'{name}(x)' for name in shown)}"
    )


def note(w: Evaluator, value: Value, number: Any) -> Value:
    """A value, of which is noted what number it was before it was widened."""
    kind = scalar_kind(number)
    if kind is not None and kind != value.type.kind:
        w.environment.widened[value] = (number,)
    elif number.__class__ is Int:
        w.environment.ints[value] = _WORDS
    return value


def note_either(w: Evaluator, value: Value, a: Any, b: Any) -> Value:
    """A value, of which is noted what two numbers it may be, where these may be of two classes."""
    kind = scalar_kind(a)
    if kind and (w.environment.widened or kind != scalar_kind(b)):
        w.environment.widened[value] = (a, b)
    carries(w, value, a, b)
    return value


def carries(w: Evaluator, param: Value, *held: Any) -> bool:
    """Note what an int that a loop carries may be; whether `int_classes` has told otherwise."""
    if param.type is not INT:
        return False
    w.environment.carried.setdefault(param, []).extend(held)
    told = w.environment.asked.get(param)
    if told is None or told == _EITHER:
        return False
    classes = told.union(*[int_classes(w, each) for each in held])
    if classes == told:
        return False
    w.environment.asked[param] = classes
    w.environment.loops_ints.clear()
    return True


def truths(w: Evaluator, number: Any) -> list[Any]:
    """The bools that a number may have been on some paths."""
    found, waiting, seen = [], [number], set()
    while waiting:
        each = waiting.pop()
        if scalar_kind(each) == "bool":
            found.append(each)
        elif isinstance(each, Dynamic) and each.value not in seen:
            seen.add(each.value)
            op = each.value.op
            is_counted = op is not None and op.code in _COUNTING
            parts = w.environment.widened.get(each.value)
            if parts is None and not is_counted:
                parts = _made_of(w, each.value)
            waiting += [Dynamic(part) if isinstance(part, Value) else part for part in parts or ()]
    return found


def as_class(w: Evaluator, number: Any, cls: type) -> Any:
    """A dynamic int, which is of a class. It is the same value that it was before: where that is of
    the other class, it may be either."""
    if isinstance(number, Dynamic) and number.type is INT:
        classes = int_classes(w, number)
        if classes != {cls}:
            w.environment.ints[number.value] = classes | {cls}
            w.environment.loops_ints.clear()
    return number


def int_classes(w: Evaluator, number: Any) -> frozenset[type]:
    """Which of `int` and `Int` an integer that is not NumPy's may be in plain Python."""
    if not isinstance(number, Dynamic):
        return _WORDS if isinstance(number, (Int, UInt)) else _PYTHONS
    settled, of_loops, found = w.environment.ints, w.environment.loops_ints, {}
    order: list[Value] = []  # what a value is made of comes before it
    asked: list[Any] = [number.value]
    while asked:
        each = asked.pop()
        if each is None:
            order.append(asked.pop())
        elif each not in settled and each not in of_loops and each not in found:
            found[each] = parts = _ints_of(w, each)
            asked += (each, None, *[part for part in parts if isinstance(part, Value)])
    if not found:
        return settled.get(number.value) or of_loops[number.value]
    classes: dict[Value, frozenset[type]] = dict.fromkeys(found, _NOBODYS)
    carried = w.environment.carried.keys() & found.keys()
    is_settled = not carried and of_loops.keys().isdisjoint(chain(*found.values()))
    users: dict[Value, list[Value]] = {}
    for each, parts in found.items() if carried else ():
        for part in set(parts):
            users.setdefault(part, []).append(each)  # type: ignore[arg-type]
    waiting, queued = deque(order), set(order)
    while waiting:
        each = waiting.popleft()
        queued.remove(each)
        held = [
            part
            if isinstance(part, frozenset)
            else settled.get(part) or of_loops.get(part) or classes[part]
            for part in found[each]
        ]
        is_counted = each.op is not None and each.op.code in _OF_INTS
        made = _counted(tuple(held)) if is_counted else _NOBODYS.union(*held)
        if not made <= classes[each]:
            classes[each] |= made
            again = [user for user in users.get(each, ()) if user not in queued]
            waiting += again
            queued.update(again)
    w.environment.asked.update({each: classes[each] for each in carried})
    (settled if is_settled else of_loops).update(classes)
    return classes[number.value]


@functools.cache
def _counted(held: tuple[frozenset[type], ...]) -> frozenset[type]:
    """What an operator gives: an Int, where one of its operands is one."""
    rows = [set(row) for row in product(*held)]
    return frozenset(Int if Int in row else int for row in rows)


def _ints_of(w: Evaluator, value: Value) -> Sequence[Value | frozenset[type]]:
    """What an int is one of, or counted of: values, or the classes that it may be of."""
    op, build = value.op, w.build
    if value in w.environment.carried:
        leaves = w.environment.carried[value]
        values = [leaf.value if isinstance(leaf, Dynamic) else leaf for leaf in leaves]
        return [v if isinstance(v, Value) else int_classes(w, v) for v in values]
    if value.type.kind != "int" or op is None:
        is_given = value.type.kind == "bool" or value in build.uniforms
        return [_PYTHONS if is_given else _WORDS if value in (build.x, build.y) else _EITHER]
    if op.regions and value in op.results:
        place = op.results.index(value) + (op.code == "loop")
        return [region.results[place] for region in op.regions]
    if op.code in _ONE_OF or op.code in _OF_INTS:
        return op.operands[_ONE_OF.get(op.code, 0) :]
    if op.code in _READ:
        return [_WORDS]
    return [_PYTHONS if op.code in _MADE else _EITHER]


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
    again = _another(w, number)
    w.environment.widened[again.value] = held
    return again


def _another(w: Evaluator, number: Dynamic) -> Dynamic:
    """The same number as another value."""
    return Dynamic(w.build.emit("neg", w.build.emit("neg", number.value)))


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
        _same(w, "what this array holds", {CLASSES[kind] for kind in kinds}, lambda cls: cls)


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
