"""Images that are read anywhere and are longer than a device takes, wrapped into shorter rows.

A signal of 100,000 elements is a row too long for a texture, of which 16,384 are taken: it is given
to the device as 13 rows of 8,192. What is read near the position needs none of this: that is cut
into tiles.

    made, inputs, uniforms = fitted(limits, made, inputs, uniforms)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pygpu.core.device import Limits
from pygpu.core.storage import Storage
from pygpu.execution.programs.specialise import COMPILING, Specialisation
from pygpu.passes.analysis.footprint import footprint
from pygpu.passes.lower.wrapped import WIDTH, wrapped
from pygpu.ssa import Constant

COUNTED: Final = 2**31  # texels that an int counts


def fitted(
    limits: Limits,
    made: Specialisation,
    inputs: Sequence[Storage],
    uniforms: Sequence[Constant],
) -> tuple[Specialisation, Sequence[Storage], Sequence[Constant]]:
    """The same program and what it is given, with images that are too long wrapped where that is
    what it takes."""
    if limits.side < WIDTH:
        return made, inputs, uniforms
    far = [margin is None for margin in footprint(made.task.function)]
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


def _made(made: Specialisation, long: tuple[int, ...]) -> Specialisation:
    """The specialisation of wrapped images: its program is that of tiles, made when it is run."""
    with COMPILING.lock:
        if long not in made.wrapped:
            task = replace(made.task, function=wrapped(made.task.function, long))
            made.wrapped[long] = replace(made, task=task, cut=None, wrapped={})
    return made.wrapped[long]


def _wrapped(storage: Storage) -> Storage:
    texels = storage.host().reshape(-1, storage.channels)
    rows = -(-len(texels) // WIDTH)
    if len(texels) < rows * WIDTH:
        fill = np.zeros((rows * WIDTH - len(texels), storage.channels), texels.dtype)
        texels = np.concatenate([texels, fill])
    return Storage.of(np.ascontiguousarray(texels).reshape(rows, WIDTH, -1))


__all__ = ["fitted"]
