"""The image copied in the device's memory: what no program that reads and writes it can beat."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from benchmarks.gpu_peers import Case, Job, best, by_turns, gl_buffers, ours
from benchmarks.gpu_peers.gl_buffers import empty, read, uploaded
from pygpu.devices.opengl import context as opengl

NAME: Final = "copy"
COPY: Final = """\
#version 430 core
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer source_block { uvec4 source[]; };
layout(std430, binding = 1) writeonly buffer target_block { uvec4 target[]; };
void main() {
    uint at = gl_WorkGroupID.y * gl_NumWorkGroups.x * 256u + gl_GlobalInvocationID.x;
    if (at < uint(source.length())) target[at] = source[at];
}
"""

seconds = ours.seconds
version = ours.version
clear = gl_buffers.clear


def make(case: Case) -> Job | None:
    """By the driver or by a program of 16 bytes a thread, whichever is faster."""
    texels = case.image
    if case.kernel == "mandelbrot":
        return None  # it reads no image
    with opengl.context() as gl:
        source = uploaded(texels)
        targets = [empty(texels.nbytes) for _ in range(case.turns)]
        program = gl.gl.compute_shader(COPY)
        groups = -(-texels.nbytes // (16 * 256))
        across = min(groups, 4096)

        def by_program(target: Any) -> None:
            source.bind_to_storage_buffer(0)
            target.bind_to_storage_buffer(1)
            program.run(across, -(-groups // across), 1)

        def by_driver(target: Any) -> None:
            gl.gl.copy_buffer(target, source)

        def result() -> Any:
            return read(targets[0], texels.shape, texels.dtype)

        ways = {"driver": by_driver, "program": by_program}
        return best(
            {
                name: by_turns([Job(partial(way, target), result) for target in targets])
                for name, way in ways.items()
            },
            seconds,
        )
