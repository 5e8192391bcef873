"""From a shader's methods to a drawing: the glue between mesh, vertex, fragment and images.

Attributes are bound by name, varyings by place; uniforms are what the shader's fields hold, the
same for both stages. What no stage uses is left out of the other.

    made = translate(shader, geometry, arguments_of(shader))
    made.drawing.vertex.function                 # SSA
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pygpu.core.drawing import Drawing, DrawProgram, Geometry, Stage
from pygpu.core.errors import CompileError, shown
from pygpu.core.host import log
from pygpu.core.host.records import record
from pygpu.core.sampler import of
from pygpu.core.specs import MatrixSpec, ObjectSpec, PositionSpec, UniformSpec
from pygpu.core.storage import Format, Storage
from pygpu.drawing.shader import Shader, method
from pygpu.execution.arguments.annotations import Scope, user_type
from pygpu.execution.arguments.parameters import Arguments, bindings, flatten
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.programs.specialise import dump
from pygpu.frontend import translate as frontend
from pygpu.passes.lower.fuse import fuse
from pygpu.passes.lower.neighbours import flatten_differences
from pygpu.passes.simplify import pipeline as passes
from pygpu.ssa import Function, ImageInput, Region, only, uses
from pygpu.types import Type, vector

_REST: Final = inspect.Parameter.VAR_POSITIONAL
_KEYWORDS: Final = inspect.Parameter.VAR_KEYWORD
Given = tuple[list[ImageInput], list[tuple[str, Type]]]


@record
class Made:
    """A drawing, compiled, and what it needs to know of its inputs."""

    drawing: Drawing
    program: DrawProgram
    attributes: tuple[str, ...]  # those that the vertices use, in order
    captured: tuple[list[Storage], list[Storage]]  # images that the methods read as known values
    translations: tuple[frontend.Translation, frontend.Translation]
    is_tuple: bool
    times: Mapping[str, float]
    sizes: tuple[int, ...]  # components of what is drawn, one an image

    def changed(self) -> bool:
        """Whether something that the methods read from outside is another now."""
        return any(each.dependencies.changed() for each in self.translations)


@record
class Varying:
    """What is interpolated: a number or vector, or a matrix, whose rows are."""

    rows: tuple[Type, ...]
    is_matrix: bool


def arguments_of(shader: Shader) -> Arguments:
    """The shader's fields, flattened: uniforms, images, and the key of all that is compiled in."""
    return flatten(signature_of(shader), [shader], stays=False)


def signature_of(shader: Shader) -> Signature:
    """Of a function of the shader alone."""
    cls: Any = type(shader)
    return _signature(cls)


@functools.lru_cache(maxsize=4096)
def _signature(cls: Any) -> Signature:
    return Signature(cls, [Parameter("self", "object", None)])


def translate(shader: Shader, geometry: Geometry, arguments: Arguments) -> Made:
    """Both stages in SSA, simplified. Errors name the attribute or varying that does not fit."""
    bound, images, uniforms = bindings(signature_of(shader), arguments)
    given = images, uniforms
    begun = time.perf_counter()
    vertex, names = vertex_of(shader, geometry, bound["self"], given)
    varyings = varyings_of(vertex)
    fragment = fragment_of(shader, varyings, bound["self"], given)
    for image in (*vertex.function.images, *fragment.function.images):
        if image.dims == 3:
            name = type(shader).__name__
            raise TypeError(f"{name}: {image.name!r} is a Volume; shaders read images and signals")
    times = {"translate": time.perf_counter() - begun}
    begun = time.perf_counter()
    after = passes.simplify(flatten_differences(fuse(fragment.function)))
    used = _used(after, len(uniforms))
    outputs = [0, *[1 + place for place in used]]
    before = passes.simplify(fuse(only(vertex.function, outputs)))
    there = _used(before, len(uniforms))
    times["simplify"] = time.perf_counter() - begun
    read = [made.sampler.format for made in arguments.images]
    stages = [
        Stage(with_inputs(function, len(uniforms), chosen), len(chosen), formats(read, made))
        for function, chosen, made in ((before, there, vertex), (after, used, fragment))
    ]
    for stage in stages:
        dump("ssa", str(stage.function))
    drawing = Drawing(stages[0], stages[1], fragment.discards, shared=len(images))
    return Made(
        drawing,
        _NOT_COMPILED,
        tuple([names[place] for place in there]),
        (storages(vertex), storages(fragment)),
        (vertex, fragment),
        fragment.is_tuple,
        times,
        tuple([type.size for type in drawing.colours]),
    )


_NOT_COMPILED: Final[Any] = None


def compiled(made: Made, drawing: Drawing, program: DrawProgram, where: str, name: str) -> Made:
    """What was made of a shader's methods, with the drawing's state and its program."""
    log.info("compiled %s for %s", name, where)
    dump("source", program.source)
    times = {**made.times, "driver": program.driver_seconds}
    return replace(made, drawing=drawing, program=program, times=times)


def formats(read: list[Format], translation: frontend.Translation) -> list[Format]:
    return read + [of(image).format for image in translation.captured]


def storages(translation: frontend.Translation) -> list[Storage]:
    return [image.storage for image in translation.captured]


def _used(function: Function, count: int) -> list[int]:
    """Which of the parameters after the uniforms are used."""
    used = uses(function)
    return [place for place, value in enumerate(function.uniforms[count:]) if value in used]


def with_inputs(function: Function, count: int, chosen: Sequence[int]) -> Function:
    """The function with some of its inputs: the others are not used."""
    inputs = function.uniforms[count:]
    params = (*function.body.params[: 2 + count], *[inputs[place] for place in chosen])
    body = Region(params, function.body.ops, function.body.results)
    return Function(function.name, function.images, function.tables, body)


# ---------------------------------------------------------------- vertices


def vertex_of(
    shader: Shader, geometry: Geometry, owner: Any, given: Given, checked: bool = False
) -> tuple[frontend.Translation, list[str]]:
    """The vertex method in SSA, and the names of its attributes in the order of its inputs."""
    function, (images, uniforms) = method(shader, "vertex"), given
    name = f"{type(shader).__name__}.vertex"
    scope = Scope(function, {})
    inputs: list[tuple[str, Type]] = []
    bound: dict[str, Any] = {}
    parameters = list(inspect.signature(function).parameters.values())
    named = {p.name for p in parameters}
    for place, parameter in enumerate(parameters):
        if place == 0:
            bound[parameter.name] = owner
        elif parameter.kind is _KEYWORDS:
            rest = {key: _width(geometry, key) for key in geometry.attributes if key not in named}
            specs = {key: _input(inputs, uniforms, key, width) for key, width in rest.items()}
            bound[parameter.name] = ObjectSpec(dict, specs)
        elif parameter.kind is _REST:
            raise TypeError(f"{name}: attributes come by their names; *{parameter.name} has none")
        elif parameter.name in geometry.attributes:
            asked = scope.evaluate(parameter.annotation)
            width = _attribute_type(name, geometry, parameter.name, asked)
            bound[parameter.name] = _input(inputs, uniforms, parameter.name, width)
        elif parameter.default is inspect.Parameter.empty:
            there = ", ".join(map(repr, geometry.attributes))
            raise TypeError(
                f"{name} takes the attribute {parameter.name!r}, which the mesh does not have; "
                f"it has {there}"
            )
    translated = frontend.translate(
        function, bound,
        images=images, uniforms=[*uniforms, *inputs], checked=checked, stage="vertex",
    )  # fmt: skip
    return translated, [name for name, _ in inputs]


def _input(
    inputs: list[tuple[str, Type]], uniforms: list[tuple[str, Type]], name: str, type: Type
) -> UniformSpec:
    inputs.append((name, type))
    return UniformSpec(len(uniforms) + len(inputs) - 1, name, type)


def _width(geometry: Geometry, name: str) -> Type:
    width: int = geometry.attributes[name].shape[1]
    return vector("float", width)


def _attribute_type(name: str, geometry: Geometry, attribute: str, annotation: Any) -> Type:
    """The type of an attribute: what the annotation says, which the mesh must have."""
    there = _width(geometry, attribute)
    if annotation in (inspect.Parameter.empty, Any):
        return there
    found: Any = user_type(annotation)
    role, asked = found or ("known", there)
    if role != "uniform" or asked.kind != "float":
        shown = getattr(annotation, "__name__", repr(annotation))
        raise TypeError(
            f"{name}: the attribute {attribute!r} is annotated as {shown}; attributes are Float, "
            "Vec2, Vec3 and Vec4"
        )
    if asked is not there:
        raise TypeError(
            f"{name} takes the attribute {attribute!r} with {asked.size} components, the mesh's "
            f"has {there.size}"
        )
    return there


# ---------------------------------------------------------------- fragments


def varyings_of(vertex: frontend.Translation) -> list[Varying]:
    """What the vertices hand on, after their positions."""
    types, made, at = [value.type for value in vertex.function.outputs], [], 1
    for size in vertex.sizes[1:]:
        made.append(Varying(tuple(types[at : at + size]), size > 1))
        at += size
    return made


def fragment_of(
    shader: Shader, varyings: list[Varying], owner: Any, given: Given, checked: bool = False
) -> frontend.Translation:
    """The fragment method in SSA."""
    function, (images, uniforms) = method(shader, "fragment"), given
    name = f"{type(shader).__name__}.fragment"
    scope = Scope(function, {})
    inputs: list[tuple[str, Type]] = []
    left, bound = list(varyings), {}
    for place, parameter in enumerate(inspect.signature(function).parameters.values()):
        if place == 0:
            bound[parameter.name] = owner
            continue
        asked = scope.evaluate(parameter.annotation)
        kind = user_type(asked) or user_type(parameter.default)
        if kind is not None and kind[0] == "position":
            bound[parameter.name] = PositionSpec()
        elif parameter.kind is _REST:
            specs = {
                i: _varying(inputs, uniforms, f"{parameter.name}_{i}", each)
                for i, each in enumerate(left)
            }
            bound[parameter.name], left = ObjectSpec(tuple, specs), []
        elif parameter.kind in (_KEYWORDS, inspect.Parameter.KEYWORD_ONLY):
            if parameter.default is inspect.Parameter.empty:
                raise TypeError(f"{name}: varyings come by place; {parameter.name!r} has none")
        elif left:
            varying = left.pop(0)
            _check_varying(name, parameter.name, kind, varying)
            bound[parameter.name] = _varying(inputs, uniforms, parameter.name, varying)
        elif parameter.default is inspect.Parameter.empty:
            raise TypeError(
                f"{name} takes {parameter.name!r}, and {type(shader).__name__}.vertex gives "
                f"{_counted(len(varyings))} after the position"
            )
    if left:
        raise TypeError(
            f"{type(shader).__name__}.vertex gives {_counted(len(varyings))} after the position, "
            f"{name} takes {len(varyings) - len(left)}"
        )
    translated = frontend.translate(
        function, bound,
        images=images, uniforms=[*uniforms, *inputs], checked=checked, stage="fragment",
    )  # fmt: skip
    if any(value.type.size > 4 for value in translated.function.outputs):
        raise CompileError(f"{name}: a colour has 1 to 4 components")
    return translated


def _counted(count: int) -> str:
    return f"{count} value{'s' * (count != 1)}" if count else "nothing"


def _varying(
    inputs: list[tuple[str, Type]], uniforms: list[tuple[str, Type]], name: str, varying: Varying
) -> Any:
    if not varying.is_matrix:
        return _input(inputs, uniforms, name, varying.rows[0])
    index = len(uniforms) + len(inputs)
    inputs += [(f"{name}_{row}", type) for row, type in enumerate(varying.rows)]
    return MatrixSpec(index, name, len(varying.rows))


def _check_varying(name: str, parameter: str, kind: Any, varying: Varying) -> None:
    """TypeError where an annotation says something else than what the vertices give."""
    if kind is None:
        return
    role, type = kind
    if role == "matrix":
        fits = varying.is_matrix and len(varying.rows) == type
    else:
        fits = role == "uniform" and not varying.is_matrix and type is varying.rows[0]
    if not fits:
        given = f"mat{len(varying.rows)}" if varying.is_matrix else str(varying.rows[0])
        raise TypeError(f"{name}: {parameter!r} is given a {given}; its annotation says otherwise")


def converted(values: Any, width: int, name: str) -> tuple[float, ...]:
    """A number, or one for each component, as so many floats. TypeError where it is neither."""
    if type(values) is float or type(values) is int:
        return (float(np.float32(values)),) * width
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "fiub" or numbers.shape not in ((), (width,)):
        raise TypeError(
            f"{name}: takes a number, or {width} for the components of a colour; got "
            f"{shown(values)}"
        )
    made: list[float] = np.broadcast_to(numbers, (width,)).astype(np.float32).tolist()
    return tuple(made)
