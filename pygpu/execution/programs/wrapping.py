"""Images that are read anywhere and are longer than a device takes, wrapped into shorter rows.

A signal of 100,000 elements is a row too long for a texture, of which 16,384 are taken: it is given
to the device as 13 rows of 8,192. What is read near the position needs none of this: that is cut
into tiles.

    made, inputs, uniforms = fitted(limits, made, inputs, uniforms)
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final, Protocol, TypeVar

import numpy as np

from pygpu.core.device import Device, Limits
from pygpu.core.host.later import later
from pygpu.core.programs import Task
from pygpu.core.storage import Storage
from pygpu.execution.programs.specialise import COMPILING
from pygpu.passes.layout.wrapped import WIDTH, wrapped
from pygpu.ssa import Constant

with later():
    from pygpu.passes.analysis import footprint

COUNTED: Final = 2**31  # texels that an int counts


class Made(Protocol):
    """A task for a device, and its function of a window and of wrapped images, if any are."""

    task: Task
    cut: Any
    wrapped: dict[tuple[int, ...], Any]

    @property
    def device(self) -> Device: ...


_M = TypeVar("_M", bound=Made)


def fitted(
    limits: Limits, made: _M, inputs: Sequence[Storage], uniforms: Sequence[Constant]
) -> tuple[_M, Sequence[Storage], Sequence[Constant]]:
    """The program to run, and what it is given. Images that are longer than the device takes, and
    read anywhere, are wrapped into more rows; without such all is as it was given."""
    if limits.side < WIDTH:
        return made, inputs, uniforms
    far = [margin is None for margin in footprint.footprint(made.task.function)]
    long = tuple(
        [
            index
            for index, (storage, is_far) in enumerate(zip(inputs, far, strict=True))
            if is_far
            and max(storage.height, storage.width) > limits.side
            and storage.height * storage.width < min(COUNTED, limits.side * WIDTH)
        ]
    )
    if not long:
        return made, inputs, uniforms
    sizes = [side for index in long for side in (inputs[index].width, inputs[index].height)]
    given = [_wrapped(each) if index in long else each for index, each in enumerate(inputs)]
    return _made(made, long), given, [*uniforms, *sizes]


def _made(made: _M, long: tuple[int, ...]) -> _M:
    """What is made for images of which those in `long` are wrapped. Its program, that of tiles, is
    compiled when it is run."""
    with COMPILING.lock:
        if long not in made.wrapped:
            other = copy(made)
            other.task = replace(made.task, function=wrapped(made.task.function, long))
            other.cut, other.wrapped = None, {}
            made.wrapped[long] = other
    return made.wrapped[long]  # type: ignore[no-any-return]


def _wrapped(storage: Storage) -> Storage:
    texels = storage.host().reshape(-1, storage.channels)
    rows = -(-len(texels) // WIDTH)
    if len(texels) < rows * WIDTH:
        fill = np.zeros((rows * WIDTH - len(texels), storage.channels), texels.dtype)
        texels = np.concatenate([texels, fill])
    return Storage.of(np.ascontiguousarray(texels).reshape(rows, WIDTH, -1))
