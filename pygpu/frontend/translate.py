"""The front end's door: from a Python function and what its parameters are to SSA.

translation = translate(function, {"im": ImageSpec(...), "p": PositionSpec(), "gain": 2.0},
                        images=[ImageInput("im", FLOAT)], uniforms=[])
translation.function                # an ssa.Function, not yet simplified
"""

from __future__ import annotations

import functools
import math
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from typing import Any, Final

import numpy as np

from pygpu.core.builder import Builder
from pygpu.core.errors import CompileError, Place
from pygpu.core.host.collector import paused
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.specs import (
    ComplexSpec,
    ImageSpec,
    MatrixSpec,
    NumberSpec,
    ObjectSpec,
    PositionSpec,
    UniformSpec,
)
from pygpu.core.storage import ImageLike
from pygpu.frontend.calls.calls import call, call_function
from pygpu.frontend.flow import excluded
from pygpu.frontend.numbers import operands
from pygpu.frontend.numbers.numbers import as_value, convert
from pygpu.frontend.protocols.arrays import opened
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values import callables
from pygpu.frontend.values.dependencies import Dependencies
from pygpu.frontend.values.faults import Fault, PathEnds, Stage, is_set
from pygpu.frontend.values.kinds import Complex, Text, held_kind, is_complex
from pygpu.frontend.values.lazy import Row
from pygpu.frontend.values.objects import (
    Array,
    Dict,
    Instance,
    Iterator,
    List,
    Matrix,
    Object,
    Vector,
)
from pygpu.frontend.values.values import (
    Choice,
    Conflict,
    Dynamic,
    Natural,
    Picture,
    Tuple,
    describe,
)
from pygpu.frontend.walk.walker import Walker
from pygpu.language import matrices, vectors
from pygpu.language.fragments import Discarded
from pygpu.ssa import Function, ImageInput, Value
from pygpu.types import INT, Type, vector

with later():
    from pygpu.frontend.collections import words
    from pygpu.frontend.numbers import complex_numbers


@record
class Translation:
    """What came of a function."""

    function: Function  # its images are those that were given, then the captured ones
    captured: tuple[ImageLike, ...]  # images that were read as known values: further inputs
    is_tuple: bool  # whether the function returned a tuple
    dependencies: Dependencies
    faults: tuple[Fault, ...] = ()  # of a checked program, whose last output numbers them from 1
    discards: bool = False  # whether the last output says where a fragment is dropped
    sizes: tuple[int, ...] = ()  # of a stage: of how many outputs each result is
    statistics: dict[str, int] = field(default_factory=dict)
    memo: dict[Any, Any] = field(default_factory=dict)  # what Python gave for known calls


def translate(
    function: Callable[..., Any],
    bindings: Mapping[str, Any],
    *,
    images: Sequence[ImageInput],
    uniforms: Sequence[tuple[str, Type]],
    checked: bool = False,
    stage: Stage = "",
    like: Translation | None = None,
) -> Translation:
    """Walk the function with its parameters bound to known objects and specs. In a `checked`
    program what goes wrong at run time is one more output. Results of a shader's `stage` are
    floats. What Python has executed for a translation that this is `like` is not executed again.

    CompileError for what cannot be translated; what known code raises comes through with a note.
    """
    build = Builder(_name(function), images, uniforms)
    walker = Walker(build, checked, stage)
    if like is not None:
        walker.environment.memo = like.memo
    try:
        with _deep_recursion(), paused():
            result = _Root(walker).call(function, bindings)
            result = excluded.returned(walker, result, _place(walker, function, result))
            sizes: tuple[int, ...] = ()
            if stage:
                outputs, is_tuple, sizes = _stage_outputs(walker, function, result)
            else:
                outputs, is_tuple = _outputs(walker, function, result)
            dropped = _dropped(walker)
            faults = _with_faults(walker, outputs)
            outputs += dropped
    except CompileError as error:
        raise error.with_traceback(None) from None  # one frame, one caret: the user's
    except PathEnds:
        last = (walker.faults.sites or [Fault(None, "", None)])[-1]
        does = "drops every fragment" if last.error is Discarded else "raises at every position"
        raise CompileError(f"{_name(function)} {does}, whatever its values", last.place) from None
    environment = walker.environment
    given = len(images)
    captured = tuple(
        {environment.pictures[id(i)].index: i for i in reversed(environment.captured)}[index]
        for index in range(given, len(build.images))
    )
    statistics = {
        "unrolled": walker.unrolled,
        "inlined": walker.inlined,
        "emitted": build.count,
        "walked": walker.steps,
    }
    return Translation(
        build.finish(outputs),
        captured,
        is_tuple,
        environment.dependencies,
        faults,
        bool(dropped),
        sizes,
        statistics,
        environment.memo if checked else {},
    )


@contextmanager
def _deep_recursion() -> Any:
    """Room for calls inlined in calls: each takes several Python frames."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 20_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def _dropped(w: Walker) -> list[Value]:
    """The bool that says where a fragment is dropped, as an output; none where none may be. The
    numbers of its faults are not told apart any more."""
    held = w.state.get(w.faults.cell)
    numbers = [n for n, fault in enumerate(w.faults.sites, 1) if fault.error is Discarded]
    if not isinstance(held, Dynamic) or not numbers:
        return []
    emit, constant = w.build.emit, w.build.constant
    masks = [emit("eq", held.value, constant(INT, number)) for number in numbers]
    return [functools.reduce(partial(emit, "bit_or"), masks)]


def _with_faults(w: Walker, outputs: list[Value]) -> tuple[Fault, ...]:
    """What may go wrong in a checked program, with the output that says it. Where a program is not
    checked, the results of a pixel whose path has raised are NaN, 0 or False, and that output tells
    of those faults alone which are raised in any program."""
    held = w.state.get(w.faults.cell)
    is_met = isinstance(held, Dynamic) or held
    if not is_met or all(f.error is Discarded for f in w.faults.sites):
        return ()
    number = w.faults.value(w.build, w.state)
    if w.faults.checked:
        outputs.append(number)
        return tuple(w.faults.sites)
    raised = is_set(w.build, number)
    for index, output in enumerate(outputs):
        lost = _LOST[output.type.kind]
        parts = lost if output.type.is_scalar else (lost,) * output.type.size
        nothing = w.build.constant(output.type, parts)
        outputs[index] = w.build.emit("select", raised, nothing, output)
    always = [n for n, fault in enumerate(w.faults.sites, 1) if fault.always]
    if not always:
        return ()
    if w.faults.stage:
        fault = w.faults.sites[always[0] - 1]
        raise CompileError(f"in a shader nobody can be told that {fault.message}", fault.place)
    told = [w.build.emit("eq", number, w.build.constant(INT, each)) for each in always]
    among = functools.reduce(partial(w.build.emit, "bit_or"), told)
    outputs.append(w.build.emit("select", among, number, w.build.constant(INT, 0)))
    return tuple(w.faults.sites)


_LOST: Final = {"float": math.nan, "int": 0, "uint": 0, "bool": False}  # what no path has returned


def _name(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "".join(c if c.isalnum() and c.isascii() else "_" for c in name).strip("_") or "function"


class _Root:
    """Binds the parameters of the outermost function."""

    def __init__(self, walker: Walker) -> None:
        self.w = walker
        self.objects: dict[int, Object] = {}  # shared objects stay shared

    def call(self, function: Any, bindings: Mapping[str, Any]) -> Any:
        values = {name: self.bound(value) for name, value in bindings.items()}
        if isinstance(function, types.MethodType):
            code = function.__func__.__code__
            values.setdefault(code.co_varnames[0], function.__self__)
            function = function.__func__
        if not isinstance(function, types.FunctionType) or hasattr(function, "__pygpu_plain__"):
            return call(self.w, function, (), values)
        code = function.__code__
        place = code.co_argcount + code.co_kwonlyargcount
        args: list[Any] = [values.pop(n) for n in code.co_varnames[: code.co_posonlyargcount]]
        if code.co_flags & 4 and code.co_varnames[place] in values:
            args += [values.pop(n) for n in code.co_varnames[len(args) : code.co_argcount]]
            args += items_of(self.w, values.pop(code.co_varnames[place]))
            place += 1
        if code.co_flags & 8 and code.co_varnames[place] in values:
            more = values.pop(code.co_varnames[place])
            values |= self.w.read(more) if isinstance(more, Dict) else more
        return call_function(self.w, callables.Function.of(function), tuple(args), values)

    def bound(self, spec: Any) -> Any:
        """The value of a parameter."""
        build = self.w.build
        match spec:
            case UniformSpec():
                return _given(build.uniforms[spec.index])
            case NumberSpec():
                first = build.constant(INT, 0)
                texel = build.load(spec.index, first, first)
                return _given(convert(self.w, texel, spec.type.kind))
            case MatrixSpec():
                rows = build.uniforms[spec.index : spec.index + spec.size]
                made = [Vector(vectors.CLASSES[r.type], r.type, r, outside=True) for r in rows]
                return Matrix(matrices.MATRICES[spec.size], tuple(made), outside=True)
            case ComplexSpec():
                value = build.uniforms[spec.index]
                parts = [build.emit("swizzle", value, data=(place,)) for place in (0, 1)]
                return Complex(*map(Dynamic, parts))
            case ImageSpec():
                return Picture(
                    spec.index,
                    spec.name,
                    spec.type,
                    spec.boundary,
                    spec.cval,
                    spec.interpolation,
                    spec.dims,
                )
            case PositionSpec():
                build.dims = spec.dims
                if spec.dims == 1:
                    return Natural(build.x)
                place: tuple[Value, ...] = (build.x, build.y)
                if spec.dims == 3:
                    place = (*place, build.emit("plane"))
                type = vector("int", spec.dims)
                whole = tuple(map(Natural, place))
                return Vector(vectors.POSITIONS[type], type, whole, outside=True)
            case ObjectSpec():
                return self.object(spec)
        return spec

    def object(self, spec: ObjectSpec) -> Any:
        """The object of a spec; shared and cyclic ones are made once."""
        if id(spec) in self.objects:
            return self.objects[id(spec)]
        if issubclass(spec.cls, tuple):
            items = tuple([self.bound(part) for part in spec.fields.values()])
            return Tuple(items, spec.cls)
        if issubclass(spec.cls, list):
            made: Object = List((), outside=True)
        elif issubclass(spec.cls, dict):
            made = Dict({}, outside=True)
        else:
            made = Instance(spec.cls, {}, outside=True)
        self.objects[id(spec)] = made
        fields = {name: self.bound(part) for name, part in spec.fields.items()}
        made.initial = tuple(fields.values()) if isinstance(made, List) else fields
        return made


def _given(value: Value) -> Any:
    """A number, or a vector, of the caller's."""
    if value.type.is_scalar:
        return Dynamic(value)
    return Vector(vectors.CLASSES[value.type], value.type, value, outside=True)


def _outputs(w: Walker, function: Any, result: Any) -> tuple[list[Value], bool]:
    """The function's results as SSA values, and whether they came in a tuple."""
    is_tuple = isinstance(result, (Tuple, tuple))
    parts = items_of(w, result) if is_tuple else (result,)
    if not parts:
        raise _refused(w, function, result, "an empty tuple", "")
    return [_output(w, function, part) for part in parts], is_tuple


def _stage_outputs(
    w: Walker, function: Any, result: Any
) -> tuple[list[Value], bool, tuple[int, ...]]:
    """A stage's results as floats, whether they came in a tuple, and of how many values each is:
    of a vertex matrices too, which are rows."""
    is_vertex, is_tuple = w.faults.stage == "vertex", isinstance(result, (Tuple, tuple))
    parts = items_of(w, result) if is_tuple else (result,)
    made: list[list[Value]] = []
    for part in parts if is_vertex else ():
        rows = w.items(part) if isinstance(part, (Matrix, matrices.Matrix)) else (part,)
        made.append([_output(w, function, row) for row in rows])
    if not is_vertex:
        made = [[output] for output in _outputs(w, function, result)[0]]
    elif not made or made[0][0].type.size != 4 or len(made[0]) != 1:
        first = describe(parts[0]) if parts else "nothing"
        raise CompileError(
            f"{_name(function)} returns no position: its result, or the first of them, is a Vec4 "
            f"in clip space, got {first}",
            _place(w, function, result),
        )
    outputs = [convert(w, output, "float") for rows in made for output in rows]
    return outputs, is_tuple, tuple(map(len, made))


_SEQUENCES: Final = (Array, List, Row, list, np.ndarray)


def _output(w: Walker, function: Any, result: Any) -> Value:
    if isinstance(result, Choice):
        numbers = tuple([operands.number_in(w, option) for option in result.options])
        result = words.as_number(w, Choice(result.which, numbers, result.why))
    result = operands.number_in(w, result)
    if isinstance(result, _SEQUENCES):
        whole = opened(w, result) if isinstance(result, Row) else result
        items = operands.sequence_of_scalars(w, whole)
        if items is not None and 2 <= len(items) <= 4:  # as a vector, which has no name here
            result = operands.make_vector(
                w, vector(operands.operand_kind(items), len(items)), items
            )
    kind, type = held_kind(result), operands.vector_type(result)
    try:
        if kind:
            return as_value(w, result, vector(kind, 1))
        if is_complex(result):
            return as_value(w, complex_numbers.parts_of(w, result), vector("float", 2))
        if type:
            return as_value(w, operands.contents_of(w, result), type)
    except CompileError as error:
        raise CompileError(error.msg, _place(w, function, result)) from None
    if isinstance(result, Text):
        raise CompileError(result.message, _place(w, function, result))
    if isinstance(result, Conflict):
        message = f"{_name(function)} returns different things: {result.message}"
        raise CompileError(message, _place(w, function, result))
    raise _refused(w, function, result, describe(result), _hint(w, result))


def _hint(w: Walker, result: Any) -> str:
    if result is None:
        return ": is a return missing?"
    if isinstance(result, Iterator):
        return ": take from it, as with sum() or next()"
    if isinstance(result, Choice) and any(option is None for option in result.options):
        return ", as one path ends without a value: return one there too"
    if isinstance(result, (Tuple, tuple)) and len(items_of(w, result)):
        return " within a tuple: one tuple holds the results of all images, as in (*pair, x)"
    if isinstance(result, _SEQUENCES):
        return ": two to four numbers in a list or array make a vector, a tuple several images"
    if isinstance(result, (Picture, ImageLike)):
        noun = result.noun if isinstance(result, Picture) else "image"
        return f": call the {noun} with a position, as im(p)"
    return ""


def _refused(w: Walker, function: Any, result: Any, what: str, hint: str) -> CompileError:
    taken = _TAKEN[w.faults.stage]
    return CompileError(
        f"{_name(function)} returns {what}{hint}; {taken}", _place(w, function, result)
    )


_TAKEN: Final[dict[Stage, str]] = {
    "": "the result of a pixel is a number, a vector, or a tuple of them",
    "vertex": "a vertex gives its position, a Vec4 in clip space, and after it numbers, vectors "
    "and matrices, which are interpolated",
    "fragment": "a fragment gives a colour, a number or a vector, or a tuple of them, one an image",
}


def _place(w: Walker, function: Any, result: Any) -> Place | None:
    """Where a result was returned, or the last one, or else where the function is defined."""
    places = [
        place
        for value, place in w.returns
        if value is result or (isinstance(value, tuple) and any(part is result for part in value))
    ]
    places = places or [place for _, place in w.returns]
    if places:
        return places[-1]
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return code and Place(code.co_filename, code.co_qualname, code.co_firstlineno)
