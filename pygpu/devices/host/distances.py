"""Distances to the nearest zero of an image, on all cores (codegen/elements/distances.py).

distances = nearest_zero(image, down=1.0, across=1.0)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import distances as code
from pygpu.codegen.elements.distances import BESIDE, distance_span
from pygpu.devices.cpu.chunks import Chunks, cores, run_steps
from pygpu.devices.cpu.native import native_of
from pygpu.devices.host.regions import KINDS, SHARES, SMALL
from pygpu.devices.process.reserve import RESERVE

WIDE: Final = 16  # lanes, at most


def nearest_zero(image: NDArray[Any], down: float, across: float) -> NDArray[np.float32]:
    """For each pixel (H, W) the distance to the nearest that is zero, infinite where none is. Rows
    are `down` apart, columns `across`."""
    height, width = image.shape
    is_float = image.dtype.kind == "f"
    image = np.ascontiguousarray(image, np.float32 if is_float else None)
    kind = "float" if is_float else KINDS[image.itemsize]
    on, is_small = cores(), height * width < SMALL
    threads = 1 if is_small else on.threads
    blocks = -(-width // on.machine.lanes)
    pitch, whole = -(-width // WIDE) * WIDE + WIDE, np.dtype(np.float32)
    result = RESERVE.empty((height, width), whole)
    given = {
        code.SOURCE: image,
        code.SQUARES: RESERVE.empty((height, pitch), whole),
        code.NEAREST: np.empty((height, blocks + 1), np.int32),
        code.RESULT: result,
        code.SIZES: np.array([down / across, across], np.float32),
        code.WIDTH: width,
        code.HEIGHT: height,
        code.PITCH: pitch,
        code.TOP: 1 << (blocks - 1).bit_length() >> 1,
    }
    columns = on.machine.lanes * BESIDE

    def chunks(step: code.Step, count: int, unit: int) -> Chunks:
        share = count if threads == 1 else -(-count // (SHARES * threads * unit)) * unit
        return Chunks(native_of(distance_span, step, kind, on.machine), count, share)

    steps = [chunks("down", width, columns), chunks("across", height, 1)]
    run_steps(on, [(threads, each) for each in steps], given, is_small)
    return result
