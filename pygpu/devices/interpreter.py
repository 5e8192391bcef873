"""The interpreter as a device: slow, exact, and there on every machine.

program = InterpreterDevice().compile(function, [Format(np.dtype("uint8"), 3)], [...])
(result,) = program.run([storage], [1.5], (480, 640), [None])
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import interpret
from pygpu.core.storage import Format, Storage, stored, texels
from pygpu.ssa import Constant, Function


class InterpreterProgram:
    """A function and the formats of what it reads and writes."""

    def __init__(
        self, function: Function, inputs: Sequence[Format], outputs: Sequence[Format]
    ) -> None:
        self.function, self.inputs, self.outputs = function, tuple(inputs), tuple(outputs)
        self.source = str(function)

    def run(
        self,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
        out: Sequence[NDArray[Any] | None],
    ) -> list[Storage]:
        images = [
            _seen(storage, format) for storage, format in zip(inputs, self.inputs, strict=True)
        ]
        results = interpret.run(self.function, images, uniforms, shape)
        return [
            _kept(result, format, array)
            for result, format, array in zip(results, self.outputs, out, strict=True)
        ]


class InterpreterDevice:
    """Runs programs by interpreting them in NumPy."""

    name = "interpreter"

    def compile(
        self, function: Function, inputs: Sequence[Format], outputs: Sequence[Format]
    ) -> InterpreterProgram:
        return InterpreterProgram(function, inputs, outputs)


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
