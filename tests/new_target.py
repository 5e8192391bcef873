"""A target of another package, as short as one can be: the interpreter, with images kept elsewhere.

targets.register("new", Target("new_target:NewDevice"))
"""

import numpy as np

from pygpu.core import interpret
from pygpu.core.device import Device
from pygpu.core.programs import Program
from pygpu.core.storage import Storage, stored, texels

COPY = "new"  # the name of a storage's copy


class NewDevice(Device):
    """Keeps images by columns, and forgets what the host had of its results."""

    name, language, copy = "new", "SSA", COPY

    def compile(self, task, shape=None):
        return NewProgram(task)

    def describe(self):
        return {"device": "an imitation"}


class NewProgram(Program):
    def __init__(self, task):
        self.task, self.source = task, str(task.function)

    def run(self, work):
        seen = [texels(columns(s), f) for s, f in zip(work.inputs, self.task.inputs, strict=True)]
        images = [each[..., 0] if each.shape[2] == 1 else each for each in seen]
        results = interpret.run(self.task.function, images, work.uniforms, work.size)
        formats = self.task.outputs
        return [kept(*each) for each in zip(results, formats, work.out, strict=True)]


def columns(storage):
    """The texels of a storage in this device's form, which stays with it."""
    if COPY not in storage.copies:
        storage.copies[COPY] = np.asfortranarray(storage.host())
    return storage.copies[COPY]


def kept(result, format, out):
    """A result: here alone until somebody asks for it, or in `out`."""
    array = stored(result.reshape(*result.shape[:2], -1), format.dtype)
    if out is not None:
        out[...] = array
        return Storage.of(out)
    storage = Storage(*array.shape, format.dtype, None, lambda: np.ascontiguousarray(array))
    storage.copies[COPY] = np.asfortranarray(array)
    return storage
