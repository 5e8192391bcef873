"""Tasks as programs of browsers: fragment programs in GLSL ES 3.00, for WebGL 2.

    for program, indices in passes(task):
        program.text                     # "#version 300 es ...", of the results at `indices`

The printer is that of the fragment target; only what heads the text differs. A fragment is a pixel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pygpu.codegen.glsl.writer import Dialect
from pygpu.codegen_glsl import FragmentProgram, fragment_program
from pygpu.core.device import Task
from pygpu.core.errors import DeviceError
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import only

BROWSER: Final = Dialect(version=300, embedded=True)
OUTPUTS: Final = 4  # textures drawn into at once, which WebGL 2 grants
TEXTURES: Final = 16  # read by a program, which it grants, too
COMPONENTS: Final = 896  # of uniforms: 224 vectors


def passes(task: Task) -> list[tuple[FragmentProgram, list[int]]]:
    """The programs of a task: one for each four results. DeviceError where a browser need not have
    room for what one reads."""
    found = []
    function = without_nans(task.function, task.inputs)
    for first in range(0, len(task.outputs), OUTPUTS):
        indices = list(range(first, min(first + OUTPUTS, len(task.outputs))))
        some = apply(CLEAN, lower_boundary(only(function, indices)))
        outputs = [task.outputs[index] for index in indices]
        program = fragment_program(replace(task, function=some, outputs=outputs), BROWSER)
        _check(program, task)
        found.append((program, indices))
    return found


def _check(program: FragmentProgram, task: Task) -> None:
    """DeviceError where more is read than every browser takes."""
    images = sum(name is not None for name in program.images)
    tables = sum(not table.is_block for table in program.tables)
    if images + tables > TEXTURES:
        raise DeviceError(
            f"the function reads {images} images and {tables} large tables at once; browsers take "
            f"{TEXTURES}"
        )
    count = sum(4 if u.type.size == 3 else u.type.size for u in task.function.uniforms)
    if count > COMPONENTS:
        raise DeviceError(
            f"the function takes {count} numbers besides its images; browsers take {COMPONENTS}"
        )


__all__ = ["BROWSER", "passes"]
