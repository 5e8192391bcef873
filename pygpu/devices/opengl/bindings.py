"""What every kind of OpenGL program is given besides images: uniforms, numbers that were computed
ahead, and tables of constants.

bindings = Bindings(gl, held, text, first_unit=2)     # two textures are bound already
bindings.bind([1.5, (0, 1)])                              # before each run, which reads
bindings.buffers                                          # these besides its images
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.glsl.writer import AHEAD, TABLE_WIDTH, GlslProgram
from pygpu.core.errors import DeviceError
from pygpu.core.programs import Work
from pygpu.core.storage import Storage
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Buffer, Program, Texture
from pygpu.passes.stages.ahead import place_of
from pygpu.ssa import Constant, Function


class Bindings:
    """The uniforms and tables of one program of the driver's."""

    def __init__(self, gl: Context, held: Program, text: GlslProgram, first_unit: int) -> None:
        program, self.held = held.glo, held
        self.blocks: list[tuple[Buffer, int]] = []
        self.textures: list[tuple[Texture, int]] = []
        for table in text.tables:
            if table.name not in program:
                continue
            if table.is_block:
                program[table.name].binding = len(self.blocks)
                self.blocks.append((gl.constants(table.values), len(self.blocks)))
            else:
                unit = first_unit + len(self.textures)
                program[table.name].value = unit
                self.textures.append((_texture(gl, table.values), unit))
        self.buffers = [buffer.glo for buffer, _ in self.blocks]
        self.has_ahead = AHEAD in program
        if self.has_ahead:
            program[AHEAD].binding = len(self.blocks)
        self.uniforms = [
            (index, name, program[name])
            for index, name in enumerate(text.uniforms)
            if name is not None and name in program
        ]
        self.has_any = bool(self.blocks or self.textures or self.uniforms or self.has_ahead)

    @staticmethod
    def check_textures(gl: Context, text: GlslProgram, images: int) -> None:
        """DeviceError where a program reads more textures, tables too, than the driver takes."""
        count = images + sum(not table.is_block for table in text.tables)
        if count > gl.limits.textures:
            raise DeviceError(
                f"the function reads {count} images and tables at once; this driver takes "
                f"{gl.limits.textures} ({gl.renderer})"
            )

    @staticmethod
    def check(function: Function, limit: int) -> None:
        """DeviceError where the driver has no room for the function's scalars and vectors."""
        types = [value.type for value in function.uniforms if place_of(value.name) is None]
        count = sum(4 if type.size == 3 else type.size for type in types)
        if count > limit:
            raise DeviceError(
                f"the function takes {count} numbers besides its images; this driver takes {limit}"
            )

    def ahead(self, work: Work) -> list[Storage]:
        """The numbers computed ahead that a run reads, where `has_ahead`."""
        if not self.has_ahead:
            return []
        assert work.ahead is not None, "the program is one of two"
        return [work.ahead]

    def bind(self, uniforms: Sequence[Constant], ahead: Sequence[Buffer] = ()) -> None:
        """Uniforms are set where they are not so already: a device begins later for each. What is
        written like another is the same to the last bit. `ahead` is the buffer of numbers computed
        ahead, where `has_ahead`."""
        if not self.has_any:
            return
        for texture, unit in self.textures:
            texture.glo.use(unit)
        for buffer, binding in self.blocks:
            buffer.glo.bind_to_uniform_block(binding)
        for buffer in ahead:
            buffer.glo.bind_to_uniform_block(len(self.blocks))
        given = [(name, repr(uniforms[index])) for index, name, _ in self.uniforms]
        if given != self.held.uniforms:
            self.held.uniforms = None
            for index, _, uniform in self.uniforms:
                uniform.value = uniforms[index]
            self.held.uniforms = given


class Ready:
    """A compute program of the driver's. Its uniforms are set where they are not so already."""

    def __init__(self, gl: Context, text: str, given: GlslProgram) -> None:
        self.held = gl.program(text, is_compute=True)
        self.bindings = Bindings(gl, self.held, given, 0)
        glo = self.held.glo
        self.uniforms = {name: glo[name] for name in glo}

    def bind_to(self, *buffers: Buffer) -> None:
        """Bind buffers in their order."""
        for binding, buffer in enumerate(buffers):
            buffer.glo.bind_to_storage_buffer(binding)

    def set(self, **sizes: Any) -> None:
        """Set uniforms, of which the program may lack some."""
        before = self.held.sizes
        if sizes == before:
            return
        self.held.sizes = None
        for name, value in sizes.items():
            if name in self.uniforms and (before is None or before.get(name) != value):
                self.uniforms[name].value = value
        self.held.sizes = sizes

    def dispatch(self, gl: Context, groups: int, uniforms: Sequence[Constant] = ()) -> None:
        """Run so many groups, or some more: as many as fill a rectangle."""
        self.bindings.bind(uniforms)
        down = -(-groups // gl.limits.groups)
        self.held.glo.run(-(-groups // down), down, 1)


def _texture(gl: Context, values: NDArray[Any]) -> Texture:
    """Rows of four as texels."""
    height = -(-len(values) // TABLE_WIDTH)
    texels = np.zeros((height * TABLE_WIDTH, 4), values.dtype)
    texels[: len(values)] = values
    texture = gl.texture(TABLE_WIDTH, height, 4, values.dtype)
    texture.glo.write(texels, alignment=1)
    return texture
