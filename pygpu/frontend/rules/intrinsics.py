"""Which Python callable means what on values that are not known, keyed by the callable itself.

The rules, functions of the walker and the arguments, stand in the modules that are brought together
here, those of NumPy and `statistics` when one of their functions is first called. A rule may return
NotImplemented: then the call goes the ordinary way. Rules in `ALWAYS` are taken for known arguments
too, because they make objects of the compiler's own.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import functools
import itertools
import operator
import queue
import struct
import types
from collections.abc import Callable, Mapping
from types import CellType
from typing import Any, Final

import numpy as np

from pygpu import glsl
from pygpu.core.host.later import later
from pygpu.frontend.collections import derived
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import arithmetic, operands
from pygpu.frontend.numbers.numbers import as_value
from pygpu.frontend.numbers.operands import make_vector, vector_type
from pygpu.frontend.protocols import arrays, datamodel
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.rules import complex_calls
from pygpu.frontend.rules.folds import FOLD_RULES
from pygpu.frontend.rules.iterator_calls import ITERATOR_RULES
from pygpu.frontend.rules.number_calls import NUMBER_RULES, of_library
from pygpu.frontend.rules.object_calls import CHANGING, OBJECT_RULES, REMEMBERING
from pygpu.frontend.rules.structure_calls import STRUCTURE_RULES
from pygpu.frontend.rules.walked_calls import later_from, walked_as
from pygpu.frontend.values.callables import Bound, Function
from pygpu.frontend.values.evaluator import Evaluator, Rule, usable
from pygpu.frontend.values.faults import Fault, PathEnds
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.known import realised
from pygpu.frontend.values.objects import Array, Cell, Dict, Instance, Matrix
from pygpu.frontend.values.values import (
    UNBOUND,
    Dynamic,
    Natural,
    NotKnown,
    Numpys,
    Slice,
    Tuple,
    describe,
)
from pygpu.frontend.walked import asked
from pygpu.language import fragments, kernels, matrices, vectors
from pygpu.language.fragments import Discarded
from pygpu.language.scalars import Int
from pygpu.types import INTEGERS, vector

with later():
    from pygpu.frontend.collections import members
    from pygpu.frontend.decode import liveness
    from pygpu.frontend.methods import dict_methods
    from pygpu.frontend.protocols import attributes, comparisons, indexing
    from pygpu.frontend.rules import classes, itertools_calls, numpy_calls, scipy_calls
    from pygpu.frontend.walked import iterators, library, modules, selected


def _slice(w: Evaluator, *bounds: Any) -> Any:
    if not 1 <= len(bounds) <= 3:
        raise TypeError(f"slice expected 1 to 3 arguments, got {len(bounds)}")
    return Slice((None, *bounds) if len(bounds) == 1 else bounds)


def _type(w: Evaluator, value: Any, *more: Any) -> Any:
    if not more:
        return datamodel.certain_class(w, value)
    bases, contents = more
    return classes.made_of(
        w, value, tuple(items_of(w, bases)), dict_methods.pairs_of(w, contents), {}
    )


def _transpose(w: Evaluator, x: Any, axes: Any = None) -> Any:
    made = Array(np.transpose(arrays.to_objects(w, x), axes))
    return arrays.as_vectors(w, made) if isinstance(x, Matrix) else made


def _refuse(message: str) -> Rule:
    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        raise w.error(message)

    return rule


def _hash(w: Evaluator, value: Any) -> Any:
    """hash(value)"""
    method = datamodel.find_method(w, value, "__hash__")
    try:
        return w.call(method) if method is not None else w.native(hash, (value,), {})
    except NotKnown:
        pass
    if scalar_kind(value) in INTEGERS:
        return w.choose(w.compare("==", value, -1), -2, w.binary("+", value, 0))
    members.check_hashable(value)
    raise w.error(
        f"the hash of {describe(value)} has more than 32 bits: take what is hashed itself, which "
        "may be a key or a member of a set and is compared by ==, or make a hash of numbers, as in "
        "a * 31 + b"
    )


def _known(w: Evaluator, value: Any, what: str) -> Any:
    raise w.error(f"{what} must be known at compile time, got {describe(value)}")


def _natural(w: Evaluator, number: Any) -> Any:
    if scalar_kind(number) != "int" or not isinstance(number, Dynamic):
        return number
    w.environment.places.add(number.value)
    return Natural(number.value)


def _locals(w: Evaluator) -> Any:
    """The variables of the function as they are: what is done to the dict they do not see."""
    state, code = w.frame.state, w.frame.code
    assert state is not None
    if liveness.live_at(code) is not None:  # what is not read any more was left behind
        raise w.error("call locals() by its name: under another the variables are not kept for it")
    held = {name: value for name, value in state.locals.items() if name.isidentifier()}
    cells = {name: w.peek(cell) for name, cell in held.items() if isinstance(cell, Cell)}
    real = {n: w.environment.read_cell(c, n) for n, c in held.items() if isinstance(c, CellType)}
    found = {**held, **cells, **real}
    return Dict({name: value for name, value in found.items() if value is not UNBOUND})


def _evaluation(function: Any) -> Rule:
    """eval and exec: with their own namespace they are calls like others."""

    def rule(w: Evaluator, source: Any, *namespaces: Any) -> Any:
        if namespaces:
            return NotImplemented
        raise w.error(
            f"{function.__name__}() does not see the variables of a compiled function: "
            "write the expression itself, or give it a namespace"
        )

    return rule


def _of_frame(function: Any) -> Rule:
    """vars and dir: without an argument they look into the frame."""

    def rule(w: Evaluator, *args: Any) -> Any:
        if args and function is vars and isinstance(args[0], Instance):
            return attributes.attribute(w, args[0], "__dict__")
        if args:
            return NotImplemented
        raise w.error(f"{function.__name__}() has no meaning in a compiled function: use locals()")

    return rule


def _number_constructor(w: Evaluator, cls: Any, *args: Any, **keywords: Any) -> Any:
    return derived.number(w, cls, args, keywords)


def _wrapping(cls: Any) -> Rule:
    """A class of descriptors, of functions that the function has made."""

    def rule(w: Evaluator, *functions: Any) -> Any:
        return cls(*[realised(w, f) if isinstance(f, Function) else f for f in functions])

    return rule


def _discard(w: Evaluator) -> Any:
    if w.faults.stage != "fragment":
        raise w.error("discard() drops a fragment: it is called in Shader.fragment")
    fault = Fault(Discarded, "", w.frame.place())
    if w.handled():
        raise PathEnds(w.faults.raised(fault))
    number = w.faults.number(fault)
    w.write(w.faults.cell, w.faults.first(w.build, w.state, number))
    raise PathEnds


def _derivative(code: str) -> Rule:
    def rule(w: Evaluator, x: Any) -> Any:
        if w.faults.stage == "vertex":
            raise w.error(f"{code}() is of neighbouring pixels: a vertex has none")
        w.build.place = w.frame.place()  # where a pass may have to refuse it
        result = arithmetic.elementwise(w, code, (x,), "float")
        w.build.place = None
        if result is NotImplemented:
            raise TypeError(f"{code}() takes a number or a vector, got {describe(x)}")
        return result

    return rule


# ---------------------------------------------------------------- vectors and matrices


def _vector_constructor(cls: Any) -> Rule:
    def rule(w: Evaluator, *parts: Any) -> Any:
        type, position = cls.TYPE, cls is vectors.Position
        flat: list[Any] = []
        for part in operands.without_dimensions(w, parts) or parts:
            usable(w, part)
            if scalar_kind(part):
                flat.append(part)
            else:
                if vector_type(part) and len(parts) == 1:
                    whole = _converted(w, cls, part)
                    if whole is not None:
                        return whole
                flat.extend(items_of(w, part))
        if position and len(flat) == 1 and scalar_kind(flat[0]):
            return flat[0] if scalar_kind(flat[0]) == "float" else arrays.cast(w, flat[0], "int")
        if position and len(flat) == 3:
            type = vector("int", 3)
        if len(flat) == 1 and len(parts) == 1:
            flat *= type.size
        elif len(parts) == 1 and vector_type(parts[0]) and len(flat) > type.size:
            flat = flat[: type.size]
        if len(flat) != type.size:
            raise TypeError(f"{cls.__name__} takes {type.size} components, got {len(flat)}")
        for part in flat:
            if not scalar_kind(part):
                raise TypeError(f"{cls.__name__} takes numbers and vectors, got {describe(part)}")
        if position and any(scalar_kind(part) == "float" for part in flat):
            return make_vector(w, vector("float", len(flat)), tuple(flat))
        if type.kind != "float" or Numpys in map(builtins.type, flat):  # truncates, as int() does
            flat = [arrays.cast(w, part, type.kind) for part in flat]
            flat = [origins.as_class(w, part, Int) for part in flat]
        return make_vector(w, type, tuple(flat), position)

    return rule


def _converted(w: Evaluator, cls: Any, part: Any) -> Any:
    """A vector of the same size in another class, kept whole if it is."""
    contents = operands.contents_of(w, part)
    if isinstance(contents, tuple):
        return None
    type, position = cls.TYPE, cls is vectors.Position
    if position and contents.type.size == 3:
        type = vector("int", 3)
    if contents.type.size != type.size:
        return None
    if position and contents.type.kind == "float":
        return make_vector(w, contents.type, contents)
    value = as_value(w, contents, type)
    return make_vector(w, type, value, position)


def _matrix_constructor(cls: Any) -> Rule:
    size = cls.SIZE

    def rule(w: Evaluator, *parts: Any) -> Any:
        if len(parts) == 1 and scalar_kind(parts[0]):
            places = range(size)
            rows: Any = [
                Tuple(tuple([parts[0] if i == j else 0.0 for j in places])) for i in places
            ]
        elif len(parts) == 1:
            rows = list(items_of(w, parts[0]))
            if isinstance(parts[0], (Matrix, matrices.Matrix)):
                rows = [Tuple(items_of(w, row)[:size]) for row in rows[:size]]
        else:
            rows = list(parts)
        if len(rows) != size or any(scalar_kind(row) for row in rows):
            raise TypeError(
                f"{cls.__name__} takes {size} rows of {size} numbers, or one number for the "
                f"diagonal; got {len(rows)} parts"
            )
        return arrays.make_matrix(w, cls, rows)

    return rule


# ---------------------------------------------------------------- the tables


_RULES: Final[dict[Any, Rule]] = {
    **NUMBER_RULES,
    **FOLD_RULES,
    **STRUCTURE_RULES,
    **ITERATOR_RULES,
    **OBJECT_RULES,
    np.transpose: _transpose,
    operator.getitem: lambda w, xs, index: indexing.item(w, xs, index),
    operator.contains: lambda w, xs, x: comparisons.contains(w, xs, x),
    operator.concat: lambda w, a, b: w.binary("+", a, b),
    operator.countOf: later_from(iterators, "count_of"),
    operator.indexOf: later_from(iterators, "index_of"),
    functools.partial: lambda w, /, function, *args, **more: Bound(function, args, more),
    operator.itemgetter: lambda w, *places: Bound(library.items_at, (Tuple(places),)),
    operator.methodcaller: lambda w, name, /, *args, **more: Bound(
        library.of_method, (name, Tuple(args)), more
    ),
    functools.cmp_to_key: lambda w, mycmp: Bound(library.Compared, (mycmp,), {}),
    isinstance: datamodel.is_instance,
    slice: _slice,
    type: _type,
    object.__new__: lambda w, cls, *_, **__: NotImplemented if cls is object else Instance(cls, {}),
    **{kind.__new__: _number_constructor for kind in derived.NUMBERS},
    tuple.__new__: lambda w, cls, xs=(): Tuple(items_of(w, xs), cls),
    vectors.Vector.__init__: lambda w, made, *parts: classes.of_parts(w, made, *parts),
    super: lambda w, *args: classes.super_of(w, args),
    **{cls: _wrapping(cls) for cls in (property, staticmethod, classmethod)},
    functools.cached_property: _wrapping(functools.cached_property),
    callable: datamodel.is_callable,
    id: lambda w, value: id(value),
    globals: lambda w: w.frame.globals,
    locals: _locals,
    vars: _of_frame(vars),
    dir: _of_frame(dir),
    eval: _evaluation(eval),
    exec: _evaluation(exec),
    kernels.known: _known,
    kernels.natural: _natural,
    fragments.discard: _discard,
    fragments.ddx: _derivative("ddx"),
    fragments.ddy: _derivative("ddy"),
    hash: _hash,
    **{cls: _vector_constructor(cls) for cls in (*vectors.CLASSES.values(), vectors.Position)},
    **{cls: _matrix_constructor(cls) for cls in matrices.MATRICES.values()},
    **complex_calls.RULES,
}
_INTRINSICS: Final[dict[Any, Rule]] = {**_RULES, **complex_calls.rules_of(_RULES)}


@functools.cache
def _of_statistics() -> Mapping[Any, Rule]:
    return {function: walked_as(meaning) for function, meaning in modules.MEANT.items()}


# The rules of libraries, which are asked for when one of their functions is first called.
_LIBRARIES: Final[dict[str, Callable[[], Mapping[Any, Rule]]]] = {
    "numpy": lambda: numpy_calls.NUMPY_RULES,
    "_bisect": lambda: numpy_calls.NUMPY_RULES,
    "itertools": lambda: itertools_calls.ITERTOOLS_RULES,
    "statistics": _of_statistics,
}


def _of_ufunc(ufunc: np.ufunc, name: str) -> Rule | None:
    """The rule of a ufunc's method, where the ufunc has none of its own for it."""
    meant = {"reduce": library.reduced, "at": selected.at}.get(name)
    return meant and (lambda w, *args, **named: w.call(meant, ufunc, *args, **named))


def _of_struct(owner: struct.Struct, name: str) -> Rule | None:
    """The rule of a method of struct.Struct: that of the function of its name."""
    meant = STRUCTURE_RULES.get(getattr(struct, name))
    return meant and (lambda w, *args, **named: meant(w, owner.format, *args, **named))


def rule_of(function: Any) -> Rule | None:
    """What a callable means on values that are not known; None where it has no rule."""
    rule = _INTRINSICS.get(function)
    if rule is None:
        owner = getattr(function, "__self__", None)  # np.add.reduce is a method of np.add
        named = type(owner) if isinstance(owner, np.ufunc) else function
        # Methods of classes, as chain.from_iterable, name no module: their classes do.
        module = getattr(named, "__module__", "") or getattr(owner, "__module__", "")
        rules_of = _LIBRARIES.get((module or "").partition(".")[0])
        rule = None if rules_of is None else rules_of().get(function)
        if rule is None and isinstance(owner, np.ufunc):
            rule = _of_ufunc(owner, function.__name__)
        if rule is None and isinstance(owner, struct.Struct):
            rule = _of_struct(owner, function.__name__)
    rule = rule or of_library(function)
    if rule is None and (isinstance(function, np.ufunc) or _by_name(function)):
        rule = scipy_calls.named_rule(function)
    return rule


def _by_name(function: Any) -> bool:
    """Whether a function may be one that is known by its name."""
    module = getattr(function, "__module__", None)
    return type(module) is str and module.startswith(("scipy.", "numpy.fft", "_statistics"))


ALWAYS: Final = frozenset(
    [*vectors.CLASSES.values(), vectors.Position, *matrices.MATRICES.values()]
    + [itertools.count, itertools.cycle, zip, enumerate, reversed, map, filter, iter]
    + [super, getattr, hasattr, globals, locals, vars, dir, eval, exec]
    + [list, dict, set, object.__new__, *[kind.__new__ for kind in derived.NUMBERS]]
    + [types.SimpleNamespace, contextlib.ExitStack]
    + [collections.deque, collections.defaultdict, collections.OrderedDict, collections.Counter]
    + [queue.Queue, queue.SimpleQueue, queue.LifoQueue, queue.PriorityQueue]
    + [asked.refuse, asked.refuse_method, fragments.discard, fragments.ddx, fragments.ddy]
    + [*CHANGING, *REMEMBERING]
)

# Functions of numbers, which Python computes where all numbers are known.
OF_NUMBERS: Final = frozenset([*glsl.PRIMITIVES, abs, round, divmod, pow, min, max])
