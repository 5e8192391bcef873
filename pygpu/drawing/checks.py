"""Checked draws: what goes wrong in a shader's methods, raised as Python would raise it.

Before anything is drawn the vertex method is run for all vertices, then the fragment method for all
fragments of all triangles, also for those that others hide: what is drawn are the numbers of their
faults. For the first vertex, or the first pixel, with such a number the plain method is called,
with what was interpolated there.

With several samples a pixel holds averages of what its samples were given: a number that is not 0
says that there is a fault, and then each fault is drawn alone, as 1, to see which it is.

    draw(shader, mesh, shape=(720, 1280), check=True)        # or PYGPU_CHECK=1
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.builder import Builder
from pygpu.core.device import Device
from pygpu.core.drawing import Cull, Draw, Drawing, DrawProgram, Stage, over_images
from pygpu.core.host.records import record
from pygpu.core.programs import Task, Work
from pygpu.core.rewriter import Rewriter
from pygpu.core.storage import Format, Storage
from pygpu.devices import targets
from pygpu.drawing.drawings import (
    Varying,
    formats,
    fragment_of,
    signature_of,
    storages,
    varyings_of,
    vertex_of,
    with_inputs,
)
from pygpu.drawing.mesh import Mesh
from pygpu.drawing.shader import Shader, method
from pygpu.execution.arguments.annotations import Scope, user_type
from pygpu.execution.arguments.parameters import Arguments, bindings
from pygpu.execution.programs.checked import counted, told
from pygpu.execution.programs.specialise import FAULTS
from pygpu.frontend.translate import Translation
from pygpu.language.fragments import Discarded
from pygpu.language.matrices import MATRICES
from pygpu.language.vectors import CLASSES, Position
from pygpu.passes.lower.fuse import fuse
from pygpu.passes.lower.neighbours import flatten_differences
from pygpu.passes.simplify import pipeline as passes
from pygpu.ssa import Function, Value, only
from pygpu.types import FLOAT, INT, Type, vector

Given = Callable[[Builder, Value, Sequence[Value]], list[Value]]
_AT_ONCE: Final = 4  # results of one draw
_FLOATS: Final = np.dtype(np.float32)


@record
class Checks:
    """The programs that check draws of a shader on a device."""

    vertex: Translation
    fragment: Translation
    names: Sequence[str]  # of the attributes that vertices take
    varyings: Sequence[Varying]
    device: Device
    cull: Cull
    samples: int
    count: int  # of uniforms
    formats: Sequence[Format]  # of the shader's images

    def changed(self) -> bool:
        """Whether something that the methods read from outside is another now."""
        return self.vertex.dependencies.changed() or self.fragment.dependencies.changed()


def checks_of(
    shader: Shader, mesh: Mesh, arguments: Arguments, device: Device, cull: Cull, samples: int
) -> Checks:
    """Both methods, translated so that they tell what goes wrong."""
    bound, images, uniforms = bindings(signature_of(shader), arguments)
    given = images, uniforms
    vertex, names = vertex_of(shader, mesh.geometry, bound["self"], given, checked=True)
    varyings = varyings_of(vertex)
    fragment = fragment_of(shader, varyings, bound["self"], given, checked=True)
    read = [made.sampler.format for made in arguments.images]
    return Checks(vertex, fragment, names, varyings, device, cull, samples, len(uniforms), read)


def check(
    checks: Checks, shader: Shader, mesh: Mesh, arguments: Arguments, size: tuple[int, int]
) -> None:
    """Raise what goes wrong at the first vertex, else at the first pixel."""
    if checks.vertex.faults:
        _check_vertices(checks, shader, mesh, arguments)
    if checks.fragment.faults and mesh.geometry.count:
        _check_fragments(checks, shader, mesh, arguments, size)


# ---------------------------------------------------------------- vertices


def _check_vertices(checks: Checks, shader: Shader, mesh: Mesh, arguments: Arguments) -> None:
    """The vertex method for each vertex, on the cpu: it takes rows of any length."""
    made, attributes = checks.vertex, mesh.geometry.attributes
    count = mesh.geometry.count
    if not count:
        return
    faults = only(made.function, [len(made.function.outputs) - 1])
    stage = _stage(checks, faults, made, len(checks.names))
    inputs = [*stage.images, *[Format(_FLOATS, value.type.size) for value in stage.inputs]]
    program = targets.host().compile(Task(over_images(stage), inputs, (FAULTS,)))
    read = [given.storage for given in arguments.images] + storages(made)
    rows = [Storage.of(attributes[name][:count][None]) for name in checks.names]
    (found,) = program.run(Work([*read, *rows], arguments.uniforms, (1, count), [None]))
    numbers = found.host().reshape(-1)
    places = np.flatnonzero(numbers)
    if not places.size:
        return
    first = int(places[0])
    values = {
        name: _value(attributes[name][first], (_type(attributes[name].shape[1]),))
        for name in checks.names
    }
    error = _in_python(lambda: method(shader, "vertex")(shader, **values))
    where = f"{type(shader).__name__}.vertex at vertex {first}, {counted(len(places), 'vertex')}"
    raise told(made.faults[int(numbers[first]) - 1], error, where)


# ---------------------------------------------------------------- fragments


def _check_fragments(
    checks: Checks, shader: Shader, mesh: Mesh, arguments: Arguments, size: tuple[int, int]
) -> None:
    def drawn(*given: Any) -> list[NDArray[Any]]:
        found = _drawn(checks, _faulty(checks, *given), mesh, arguments, size)
        return [storage.host() for storage in found]

    (found,) = drawn(_number)
    places = np.flatnonzero(found)
    if not places.size:
        return
    y, x = divmod(int(places[0]), size[1])
    number = round(float(found[y, x, 0]))
    if checks.samples > 1:
        ones = (drawn(_one, each)[0] for each in range(1, len(checks.fragment.faults) + 1))
        number = next(k for k, one in enumerate(ones, 1) if one[y, x, 0])
    parts: list[Any] = []
    for first in range(0, sum(len(each.rows) for each in checks.varyings), _AT_ONCE - 1):
        weight, *some = drawn(_varyings(first, first + _AT_ONCE - 1), number)
        parts += [array[y, x] / weight[y, x] for array in some]
    values, at = [], 0
    for varying in checks.varyings:
        rows = varying.rows
        values.append(_value(np.stack(parts[at : at + len(rows)]), rows, varying.is_matrix))
        at += len(rows)
    error = _in_python(lambda: _fragment_at(shader, values, Position(x, y)))
    count = counted(len(places), "position")
    where = f"{type(shader).__name__}.fragment at the position ({x}, {y}), {count}"
    raise told(checks.fragment.faults[number - 1], error, where)


def _number(build: Builder, fault: Value, varyings: Sequence[Value]) -> list[Value]:
    return [build.emit("to_float", fault)]


def _one(build: Builder, fault: Value, varyings: Sequence[Value]) -> list[Value]:
    return [build.constant(FLOAT, 1.0)]


def _varyings(first: int, end: int) -> Given:
    """1, and some of what was interpolated."""
    return lambda build, fault, varyings: [build.constant(FLOAT, 1.0), *varyings[first:end]]


def _faulty(checks: Checks, given: Given, number: int = 0) -> Function:
    """What a fragment gives in place of its colours, as `given` says, and that it is dropped where
    it has no fault, or not that of this number, or is dropped anyway."""
    made, count = checks.fragment, checks.count
    function = passes.simplify(flatten_differences(fuse(made.function)))
    place = len(function.outputs) - 1 - made.discards
    rewriter = Rewriter(function)
    rewriter.inline(function.body)
    build = rewriter.build
    fault = rewriter.new[function.outputs[place]]
    dropped = build.emit("ne" if number else "eq", fault, build.constant(INT, number))
    if made.discards:
        dropped = build.emit("bit_or", dropped, rewriter.new[function.outputs[-1]])
    varyings = [rewriter.new[value] for value in function.uniforms[count:]]
    return build.finish([*given(build, fault, varyings), dropped])


def _drawn(
    checks: Checks, function: Function, mesh: Mesh, arguments: Arguments, size: tuple[int, int]
) -> list[Storage]:
    """What fragments give, of all triangles: the last one's where several lie over one another;
    with several samples the mean of these, each 0 where nothing is."""
    count = sum(len(varying.rows) for varying in checks.varyings)
    vertex = only(checks.vertex.function, list(range(1 + count)))
    stages = (
        _stage(checks, vertex, checks.vertex, len(checks.names)),
        _stage(checks, function, checks.fragment, count),
    )
    shared = len(checks.formats)
    drawing = Drawing(
        *stages,
        discards=True, depth=False, cull=checks.cull, samples=checks.samples, shared=shared,
    )  # fmt: skip
    program: DrawProgram = targets.drawing(checks.device, drawing)
    read = [given.storage for given in arguments.images]
    images = read + storages(checks.vertex), read + storages(checks.fragment)
    clear = [(0.0,) * type.size for type in drawing.colours]
    names = tuple(checks.names)
    return program.draw(Draw(mesh.geometry, names, arguments.uniforms, images, size, clear))


def _fragment_at(shader: Shader, varyings: list[Any], position: Position) -> Any:
    """The plain method, given what was interpolated, and the position where it takes that."""
    function = method(shader, "fragment")
    scope, left, args = Scope(function, {}), list(varyings), []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        asked = scope.evaluate(parameter.annotation)
        kind = user_type(asked) or user_type(parameter.default)
        if kind is not None and kind[0] == "position":
            args.append(position)
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            args += left
            break
        elif left and parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            args.append(left.pop(0))
        else:
            break
    return function(shader, *args)


# ---------------------------------------------------------------- both


def _stage(checks: Checks, function: Function, made: Translation, inputs: int) -> Stage:
    """A function as a stage, simplified, all of its inputs kept."""
    simple = passes.simplify(fuse(function))
    whole = with_inputs(simple, checks.count, range(inputs))
    return Stage(whole, inputs, formats(list(checks.formats), made))


def _type(size: int) -> Type:
    return vector("float", size)


def _value(numbers: Any, rows: Sequence[Type], is_matrix: bool = False) -> Any:
    """Numbers as a method is given them: a float, a vector, a matrix."""
    if is_matrix:
        return MATRICES[len(rows)](*[list(map(float, row)) for row in numbers])
    parts = list(map(float, np.ravel(numbers)))
    return parts[0] if rows[0].is_scalar else CLASSES[rows[0]](*parts)


def _in_python(call: Callable[[], Any]) -> BaseException | None:
    """What plain Python raises. Differences of pixels and dropped fragments are none of it."""
    try:
        call()
    except Discarded:
        return None
    except Exception as error:
        is_difference = isinstance(error, RuntimeError) and hasattr(error, "__pygpu_refused__")
        return None if is_difference else error
    return None
