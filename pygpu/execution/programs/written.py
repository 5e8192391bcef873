"""`pygpu.program`: GLSL written by hand, called like a compiled function.

edge = program("result = texelFetch(im, p, 0) * gain;", inputs={"im": Image},
               outputs={"result": Vec4}, uniforms={"gain": Float})
edge(photo, gain=2.0)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core import sampler
from pygpu.core.errors import DeviceError, shortened, shown, whole
from pygpu.core.storage import Format, Storage, rows_of, stored
from pygpu.devices import targets
from pygpu.devices.written.text import GIVEN, Uniform, Written, kind_of
from pygpu.execution.arguments.annotations import user_type
from pygpu.execution.arguments.convert import result_dtype
from pygpu.execution.arguments.metadata import NO_INFO
from pygpu.execution.arguments.parameters import Arguments, flatten
from pygpu.execution.arguments.results import (
    Out,
    Wanted,
    form_of,
    info_of,
    natural_dtype,
    output_dtype,
    present,
)
from pygpu.execution.arguments.signatures import RESERVED, Parameter, Signature
from pygpu.types import Type, vector

_NAME: Final = re.compile(r"(?!gl_|pg_)[A-Za-z_]\w*\Z")


class WrittenProgram:
    """A GLSL program by hand. Made by `program`; its keywords at a call are those of compiled
    functions."""

    def __init__(
        self, text: str, parameters: Sequence[Parameter], outputs: Mapping[str, Type], kind: Any
    ) -> None:
        self.text, self.kind = text, kind
        self.outputs = dict(outputs)
        self.signature = Signature(_called, parameters)
        self.signature.name = "program"
        self._programs: dict[Any, Any] = {}

    def __call__(
        self, *args: Any, out: Any = None, shape: Any = None, dtype: Any = None, **kwargs: Any
    ) -> Any:
        with shortened:
            arguments = flatten(self.signature, self.signature.collect(args, kwargs), stays=False)
            return self._call(arguments, out, shape, dtype)

    def source(self, *args: Any, **kwargs: Any) -> str:
        """The whole program for such arguments, declarations and all."""
        arguments = flatten(self.signature, self.signature.collect(args, kwargs), stays=False)
        return self._written(arguments).source

    def _call(self, arguments: Arguments, out: Any, shape: Any, dtype: Any) -> Any:
        written = self._written(arguments)
        program = self._programs.get(written)
        if program is None:
            device = targets.open_device(self.kind)
            program = self._programs[written] = targets.written(device, written)
        size = _size(arguments, shape)
        inputs = [given.storage.as_image() for given in arguments.images]
        formats = [given.sampler.format for given in arguments.images]
        uniforms = self._uniforms(arguments)
        arrays = program.run(inputs, formats, uniforms, rows_of(size))
        types = list(self.outputs.values())
        targeted = None if out is None else Out.of(out)
        if targeted is not None:
            targeted.check(types, len(types) > 1, size)
        asked = None if dtype is None else result_dtype(dtype)
        wanted = Wanted(*form_of(arguments.deciding), asked)
        results = []
        for index, (array, type) in enumerate(zip(arrays, types, strict=True)):
            found = Storage.of(array.astype(natural_dtype(type), copy=False), size)
            if targeted is not None and targeted.fill(index, found, None):
                results.append(targeted.arrays[index])
            else:
                results.append(_presented(arguments, wanted, index, found, type))
        return tuple(results) if len(results) > 1 else results[0]

    def _written(self, arguments: Arguments) -> Written:
        """The program for images of these types."""
        images = [p.name for p in self.signature.parameters if p.role == "image"]
        types = [given.sampler.type for given in arguments.images]
        for name, given in zip(images, arguments.images, strict=True):
            if given.storage.dims == 3:
                raise TypeError(f"program: {name}: takes images and signals, got a volume")
        return Written(
            self.kind,
            self.text,
            tuple(zip(images, types, strict=True)),
            tuple(self.outputs.items()),
            tuple(
                (p.name, Uniform(vector("float", p.type), p.type) if p.role == "matrix"
                 else Uniform(p.type))
                for p in self.signature.parameters
                if p.role != "image"
            ),
        )  # fmt: skip

    def _uniforms(self, arguments: Arguments) -> list[Any]:
        """The values of uniforms, matrices by columns."""
        rest: list[Any] = list(arguments.uniforms)
        values: list[Any] = []
        for parameter in self.signature.parameters:
            if parameter.role == "image":
                continue
            if parameter.role == "matrix":
                rows = [rest.pop(0) for _ in range(parameter.type)]
                values.append(tuple(np.array(rows, np.float64).T.ravel().tolist()))
            else:
                values.append(rest.pop(0))
        return values

    def __repr__(self) -> str:
        takes = ", ".join(map(str, self.signature.parameters))
        gives = ", ".join(f"{name}: {type}" for name, type in self.outputs.items())
        return f"<GLSL {self.kind} program ({takes}) -> ({gives})>"


def _called() -> None:
    """What the signature of a program is of."""


def _size(arguments: Arguments, shape: Any) -> tuple[int, ...]:
    """The size of the results: asked for, or that of the first image."""
    if shape is None:
        if not arguments.images:
            raise TypeError("program: is given no image, so it needs shape=(height, width)")
        return arguments.images[arguments.first].storage.shape
    size = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if len(size) not in (1, 2) or None in map(whole, size):
        raise TypeError(f"shape: takes (height, width) or (n,), got {shown(shape)}")
    if min(size) < 1:
        raise ValueError(f"shape={shown(shape)}: each is at least 1")
    return tuple(map(int, size))


def _presented(arguments: Arguments, wanted: Wanted, index: int, found: Storage, type: Type) -> Any:
    """A result in the form of what went in."""
    dtype = output_dtype(wanted, index, type)
    if dtype != found.dtype and wanted.form == "pil":
        found = Storage.of(np.ascontiguousarray(stored(found.host(), dtype)), found.shape)
    format = Format(found.dtype, type.size)
    if arguments.images:
        reading = sampler.inherited(arguments.images[arguments.first].sampler, format)
    else:
        reading = sampler.make(format)
    info = NO_INFO if wanted.form == "array" else info_of(arguments.deciding)
    return present(wanted.form, found, dtype, reading, info)


# ---------------------------------------------------------------- making one


def program(
    text: str,
    *,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any],
    uniforms: Mapping[str, Any] | None = None,
    target: str = "auto",
) -> WrittenProgram:
    """A GLSL program written by hand, called like a compiled function with its inputs and uniforms
    in their order or by name; OpenGL's targets run it.

    `inputs` are images and signals by name, `outputs` and `uniforms` types. A text without a
    `main` is the body of one. In a fragment program inputs are samplers of texels as functions see
    them, results `out` variables, and `p` (an ivec2) the position, gl_FragCoord's; in a compute
    program inputs are readonly buffers and results buffers, 0 at first, of elements in raster
    order, `i` is the number of the element at `p`, and `NAME_size` an input's width and height.
    `size` is that of the result. It is a compute program where it writes elements of its results
    or uses what only these have, or where `target` says so: "fragment" or "compute". CompileError,
    with lines counted in the text, where the driver refuses it.
    """
    with shortened:
        if not isinstance(text, str):
            raise TypeError(f"program: text takes GLSL, got {shown(text)}")
        inputs, uniforms = ({} if each is None else each for each in (inputs, uniforms))
        given = {"inputs": inputs, "outputs": outputs, "uniforms": uniforms}
        _check_names(given)
        parameters = [_input(*each) for each in inputs.items()]
        results = {name: _result(name, each) for name, each in outputs.items()}
        parameters += [_uniform(*each) for each in uniforms.items()]
        if targets.check(target) not in ("auto", "fragment", "compute"):
            raise DeviceError(f"program: GLSL runs on OpenGL, not on target {target!r}")
        kind = kind_of(text, results) if target == "auto" else target
        return WrittenProgram(text, parameters, results, kind)


def _check_names(given: Mapping[str, Mapping[str, Any]]) -> None:
    """TypeError or ValueError for what is no name of GLSL's, or PyGPU's own."""
    seen: set[str] = set()
    for what, names in given.items():
        if not isinstance(names, Mapping):
            raise TypeError(f"program: {what} takes a dict of names, got {shown(names)}")
        for name in names:
            if not isinstance(name, str) or not _NAME.match(name) or "__" in name:
                raise ValueError(f"program: {what}: {shown(name)} is no name in GLSL")
            if name in GIVEN or name in RESERVED:
                raise ValueError(f"program: {what}: {name!r} is a name that PyGPU gives; rename it")
            if name in seen:
                raise ValueError(f"program: {what}: {name!r} twice")
            seen.add(name)
    if not given["outputs"]:
        raise ValueError("program: outputs takes a result or more")


def _input(name: str, given: Any) -> Parameter:
    found = user_type(given)
    if found is None or found[0] != "image":
        raise TypeError(f"program: inputs: {name} takes Image or Signal, got {shown(given)}")
    return Parameter(name, "image", found[1])


def _uniform(name: str, given: Any) -> Parameter:
    found = user_type(given)
    if found is None or found[0] not in ("uniform", "matrix"):
        raise TypeError(
            f"program: uniforms: {name} takes a type of numbers, vectors or matrices, got "
            f"{shown(given)}"
        )
    return Parameter(name, found[0], found[1])


def _result(name: str, given: Any) -> Type:
    found = user_type(given)
    if found is None or found[0] != "uniform":
        raise TypeError(
            f"program: outputs: {name} takes a type of numbers or vectors, got {shown(given)}"
        )
    type: Type = found[1]
    return type
