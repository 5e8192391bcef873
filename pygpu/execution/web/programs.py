"""Tasks as programs of browsers: fragment programs in GLSL ES 3.00, for WebGL 2.

    for part in passes(task):
        part.inner.text                  # "#version 300 es ...", of the results at `part.indices`

They are those of the fragment target, four pixels of one channel a fragment too; only what heads
the texts differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.codegen.glsl.writer import Dialect
from pygpu.codegen_glsl import FragmentProgram
from pygpu.core.errors import DeviceError
from pygpu.core.programs import Task
from pygpu.devices.opengl.drawn import Drawn, drawn
from pygpu.ssa import Value

BROWSER: Final = Dialect(version=300, embedded=True)
OUTPUTS: Final = 4  # textures drawn into at once, which WebGL 2 grants
TEXTURES: Final = 16  # read by a program, which it grants, too
COMPONENTS: Final = 896  # of uniforms: 224 vectors


def passes(task: Task) -> list[Drawn]:
    """The programs of a task, four results each. DeviceError where one reads too much."""
    parts = drawn(task, BROWSER, OUTPUTS, images=0)
    for part in parts:
        for program in part.texts:
            _check(program, task)
    return parts


def _check(program: FragmentProgram, task: Task) -> None:
    """DeviceError where more is read than every browser takes."""
    images = sum(name is not None for name in program.images)
    tables = sum(not table.is_block for table in program.tables)
    if images + tables > TEXTURES:
        raise DeviceError(
            f"the function reads {images} images and {tables} large tables at once; browsers take "
            f"{TEXTURES}"
        )
    check_numbers(task.function.uniforms)


def check_numbers(uniforms: Sequence[Value]) -> None:
    """DeviceError where there are more numbers than every browser takes."""
    count = sum(4 if u.type.size == 3 else u.type.size for u in uniforms)
    if count > COMPONENTS:
        raise DeviceError(
            f"the function takes {count} numbers besides its images; browsers take {COMPONENTS}"
        )
