"""The interpreter as a device: slow, exact, and there on every machine.

program = InterpreterDevice().compile(Task(function, [Format(np.dtype("uint8"), 3)], [...]))
(result,) = program.run(Work([storage], [1.5], (480, 640), [None]))
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import interpret
from pygpu.core.device import Device
from pygpu.core.programs import Program, Shape, Task, Work
from pygpu.core.storage import Format, Storage, stored, texels


class InterpreterProgram(Program):
    """A task, which is done as it stands."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.source = str(task.function)

    def run(self, work: Work) -> list[Storage]:
        images = [
            _seen(storage, format)
            for storage, format in zip(work.inputs, self.task.inputs, strict=True)
        ]
        results = interpret.run(self.task.function, images, work.uniforms, work.size)
        return [
            _kept(result, format, array)
            for result, format, array in zip(results, self.task.outputs, work.out, strict=True)
        ]


class InterpreterDevice(Device):
    """Runs programs by interpreting them in NumPy."""

    name = "interpreter"
    language = "SSA"

    def compile(self, task: Task, shape: Shape | None = None) -> InterpreterProgram:
        return InterpreterProgram(task)


def _seen(storage: Storage, format: Format) -> NDArray[Any]:
    """The texels as the function sees them; one channel has no axis of its own."""
    array = texels(storage.host(), format)
    return array[..., 0] if format.channels == 1 else array


def _kept(result: NDArray[Any], format: Format, out: NDArray[Any] | None) -> Storage:
    """The result as it is stored, in `out` where there is one."""
    array = stored(result.reshape(*result.shape[:2], -1), format.dtype)
    if out is None:
        return Storage.of(np.ascontiguousarray(array))
    out[...] = array
    return Storage.of(out)
