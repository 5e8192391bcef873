"""Pages that run live: results take the place of the first images, round after round.

    dtypes = held([image.format for image in states], results)
    states = [as_held(image, dtype) ...]       # and results of these dtypes are asked for

Images keep one dtype through all rounds: that in which both what is given and what is made can be
held, floats where either is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.sampler import Sampler, of
from pygpu.core.storage import Format, ImageLike, Storage, texels
from pygpu.execution.arguments.results import ImageMaker
from pygpu.types import widest


def rounds_of(iterate: int | None) -> int:
    """The rounds for each picture shown; 0 of pages that stand still."""
    if iterate is None:
        return 0
    if isinstance(iterate, bool) or not isinstance(iterate, int | np.integer) or iterate < 1:
        raise ValueError(
            f"iterate: takes the rounds that are made for each picture shown, 1 or more; "
            f"got {shown(iterate)}"
        )
    return int(iterate)


def check_count(name: str, made: int, given: int) -> None:
    """TypeError where a function makes more images than it is given."""
    if given < made:
        raise TypeError(
            f"iterate: {name}() returns {made} images and takes {given}: as many must come out "
            "as go in"
        )


def state_of(storage: Storage, sampler: Sampler) -> ImageLike:
    """An image as functions see its texels: not rounded to bytes."""
    return _read_as(texels(storage.host(), sampler.format), sampler)


def held(given: Sequence[Format], made: Sequence[Format]) -> tuple[np.dtype[Any], ...]:
    """The dtype in which each image of the state is held."""
    return tuple(
        [
            np.dtype(NUMPY_TYPE[widest(old.kind, new.kind)])
            for old, new in zip(given, made, strict=True)
        ]
    )


def as_held(image: ImageLike, dtype: np.dtype[Any]) -> ImageLike:
    """An image that rounds hand on, in the dtype that `held` gives."""
    if image.storage.dtype == dtype:
        return image
    return _read_as(image.storage.host().astype(dtype), of(image))


def _read_as(array: NDArray[Any], sampler: Sampler) -> ImageLike:
    """An array as an image that is read as another one is."""
    return ImageMaker.wrap(
        array, boundary=sampler.boundary, cval=sampler.cval, interpolation=sampler.interpolation
    )
