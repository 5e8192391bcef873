"""How long the device takes for what is submitted.

clock = Clock(context)
clock.seconds([run, run, other])      # [0.00013, 0.00013, 0.0021]
clock.copies(1 << 28, 9)              # so many copies of so many bytes
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.held import Program

AWAKE: Final = 0.6  # seconds of work after which the clocks of a device are up
TOLERANCE: Final = 1.1  # of the pace that was seen to be the device's best

# A chain of operations, each of which waits for the one before: its time tells the clock.
_PACE: Final = """\
#version 330 core

layout(location = 0) out vec4 colour;

void main() {
    float x = gl_FragCoord.x;
    for (int i = 0; i < 65536; i++)
        x = x * 0.999 + 0.5;
    colour = vec4(x);
}
"""

_COPY: Final = """\
#version 430 core

layout(local_size_x = 256) in;

layout(std430, binding = 0) readonly buffer source_block { vec4 source_data[]; };
layout(std430, binding = 1) writeonly buffer target_block { vec4 target_data[]; };

void main() {
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 256u
        + gl_LocalInvocationID.x;
    if (i < uint(target_data.length()))
        target_data[i] = source_data[i];
}
"""


class Clock:
    """Of one context. Only to be used inside the door."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.queries: list[Any] = []  # reused
        self.best = 0.0  # the shortest time of _PACE, in seconds

    def seconds(self, runs: Sequence[Callable[[], object]]) -> list[float]:
        """The seconds that the device takes for what each of these submits, submitted one after the
        other: by timer queries, or by the clock where the driver's tell nothing, as those of
        software do. A run may wait for the device, but not call this."""
        door = opengl.context()
        door.is_visited = True
        try:
            return self._seconds(runs)
        finally:
            door.is_visited = False

    def _seconds(self, runs: Sequence[Callable[[], object]]) -> list[float]:
        context = self.context
        context.gl.finish()
        if not context.is_software:
            queries = self._some(len(runs))
            if runs:
                self._wake(runs[0])
            started = time.perf_counter()
            for run, query in zip(runs, queries, strict=True):
                context.order.settle()
                with query:
                    run()
                context.drain()  # what a run has let go is there for the next one
            times = [1e-9 * query.elapsed for query in queries]
            passed = time.perf_counter() - started
            context.check()
            if min(times, default=1.0) > 0 and sum(times) <= passed:
                return times
        return [self._clocked(run) for run in runs]

    def copies(self, nbytes: int, count: int) -> list[float]:
        """The seconds of each of some copies of so many bytes, from a buffer into another."""
        context = self.context
        source, target = context.memory(nbytes), context.memory(nbytes)
        noise = np.random.default_rng(0).integers(0, 256, min(nbytes, 1 << 24), np.uint8)
        for start in range(0, nbytes, len(noise)):  # memory never written may be no memory
            for buffer in (source, target):
                context.write(buffer, noise[: nbytes - start], start)
        if context.limits.version < 430:
            return self.seconds([lambda: context.gl.copy_buffer(target.glo, source.glo)] * count)
        # The driver's own copy may take ten times as long.
        program = context.program(_COPY, is_compute=True)
        groups = -(-nbytes // (16 * 256))

        def copy() -> None:
            context.order.before([source.glo], [target.glo])
            source.glo.bind_to_storage_buffer(0)
            target.glo.bind_to_storage_buffer(1)
            program.glo.run(min(groups, 1024), -(-groups // 1024), 1)

        return self.seconds([copy] * count)

    def _some(self, count: int) -> list[Any]:
        while len(self.queries) < count:
            self.queries.append(self.context.gl.query(time=True))
        return self.queries[:count]

    def _wake(self, run: Callable[[], object]) -> None:
        """Keep the device busy until its clocks are up. They fall as soon as it rests, by up to six
        times, and rise in steps, only after work."""
        program = self.context.program(_PACE)
        began, pace = time.perf_counter(), self._paced(program)
        least = pace
        while pace > TOLERANCE * self.best and time.perf_counter() - began < AWAKE:
            for _ in range(8):
                run()
                self.context.drain()
            self.context.gl.finish()
            pace = self._paced(program)
            if pace < 0.97 * least:  # they still rise; of noise alone there would be no end
                began = max(began, time.perf_counter() - AWAKE / 2)
            least = min(least, pace)
        self.best = min(self.best or least, least)

    def _paced(self, program: Program) -> float:
        """The seconds of the chain of operations."""
        (query,) = self._some(1)
        with query:
            self.context.idle.use()
            program.vertices.render(vertices=3)
        return float(1e-9 * query.elapsed)

    def _clocked(self, run: Callable[[], object]) -> float:
        started = time.perf_counter()
        run()
        self.context.gl.finish()
        passed = time.perf_counter() - started
        self.context.drain()
        return passed
