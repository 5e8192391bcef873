"""Pictures as notebooks show them: side by side, with their ranges, larger at a click, stacks with
a slider.

    pygpu.view(photo, edges(photo), titles=["before", "after"], range="own")
    shown([photo]).html()

What is shown is 8 bits: bytes as they are, floats from 0 to 1, or the range that is asked for.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown as worded
from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.convert import array_of, is_lazy, is_picture, is_pil
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.inspection import html

BUDGET: Final = 6_000_000  # pixels of all that is shown: notebooks keep it
FRAMES: Final = 96  # of a stack, at most: of longer ones every second, third or so
_RANGES: Final = "'own', 'common', (least, greatest) or None"


@record(eq=False)
class Shown:
    """One picture or stack: frames (N, H, W, C) of any dtype, what it is, and what `full` means:
    the value that is white where no range is asked for."""

    frames: NDArray[Any]
    name: str
    full: float
    is_stack: bool

    @property
    def extent(self) -> tuple[float, float]:
        """The least and the greatest value that is finite; (0, 0) where there is none."""
        values = self.frames
        if not self._is_finite:
            values = values[np.isfinite(values)]
        return (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)

    @property
    def _is_finite(self) -> bool:
        """Whether all values are: NaN and infinity show in the least and the greatest."""
        return math.isfinite(float(self.frames.min())) and math.isfinite(float(self.frames.max()))

    def said(self, window: tuple[float, float]) -> str:
        """The range of its values, and where that matters what is shown of it."""
        low, high = self.extent
        text = f"{_number(low)} to {_number(high)}"
        if not self._is_finite:
            nans, infinite = np.isnan(self.frames).sum(), np.isinf(self.frames).sum()
            text += f", {nans} NaN" if nans else ""
            text += f", {infinite} infinite" if infinite else ""
        if window != (0.0, self.full) or low < 0 or high > self.full:
            text += f"; shown from {_number(window[0])} to {_number(window[1])}"
        return text


class View:
    """Pictures side by side, as a notebook shows them. Made by `pygpu.view`."""

    def __init__(
        self,
        pictures: Sequence[Shown],
        titles: Sequence[str],
        windows: Sequence[tuple[float, float]],
    ) -> None:
        self._pictures, self._titles, self._windows = pictures, titles, windows

    def __repr__(self) -> str:
        lines = zip(self._titles, self._pictures, self._windows, strict=True)
        return "\n".join(
            f"{title}{': ' * bool(title)}{picture.name}, {picture.said(window)}"
            for title, picture, window in lines
        )

    def _repr_html_(self) -> str:
        share = BUDGET // len(self._pictures)
        figures = []
        for title, picture, window in zip(self._titles, self._pictures, self._windows, strict=True):
            count, height, width = picture.frames.shape[:3]
            step = math.ceil(count / FRAMES)
            chosen = range(0, count, step)
            side = min(html.LARGEST, math.isqrt(share // len(chosen)))
            pngs = [_png(picture.frames[k], window, side) for k in chosen]
            caption = f"{picture.name}, {picture.said(window)}"
            every = f"; every {step}. of {count}" if step > 1 else ""
            figures.append(html.Figure(title, caption + every, pngs, width, height))
        return html.gallery(figures)


def view(*pictures: Any, titles: Sequence[str] | None = None, range: Any = None) -> View:
    """Pictures side by side in a notebook, each with the range of its values below: a click zooms
    all of them, and stacks and volumes get a slider.

    A picture is an image, an array (H, W[, C]) or a PIL image; a stack is a `pygpu.Volume` or an
    array (T, H, W[, C]). `titles` has one a picture. Without `range` bytes are shown as they are
    and floats from 0 to 1; `range="own"` goes from each picture's least value to its greatest,
    "common" from the least of all to the greatest (bytes being 0 to 1), (least, greatest) is in the
    units of the arrays.
    """
    if not pictures:
        raise TypeError("view: takes at least one picture")
    taken = [_shown(value) for value in pictures]
    if titles is not None and (isinstance(titles, str) or not hasattr(titles, "__iter__")):
        raise TypeError(f"view: titles takes a title for each picture, got {worded(titles)}")
    names = [""] * len(taken) if titles is None else [str(title) for title in titles]
    if len(names) != len(taken):
        raise ValueError(f"view: {len(names)} titles for {len(taken)} pictures")
    return View(taken, names, _windows(taken, range))


def of_image(image: ImageLike) -> View:
    """One image or volume as it stands."""
    picture = _of_image(image)
    return View([picture], [""], [(0.0, picture.full)])


def _windows(pictures: Sequence[Shown], asked: Any) -> list[tuple[float, float]]:
    """What is black and what is white in each."""
    if asked is None:
        return [(0.0, picture.full) for picture in pictures]
    if isinstance(asked, str) and asked in ("own", "common"):
        extents = [picture.extent for picture in pictures]
        if asked == "own":
            return extents
        fulls = [picture.full for picture in pictures]
        low = min(low / full for (low, _), full in zip(extents, fulls, strict=True))
        high = max(high / full for (_, high), full in zip(extents, fulls, strict=True))
        return [(low * full, high * full) for full in fulls]
    try:
        low, high = map(float, asked)
    except (TypeError, ValueError):
        raise TypeError(f"view: range takes {_RANGES}; got {worded(asked)}") from None
    if not low < high:
        raise ValueError(f"view: range takes least below greatest; got {worded(asked)}")
    return [(low, high)] * len(pictures)


def _shown(value: Any) -> Shown:
    """What is to be shown of an image, a volume, an array or a PIL image."""
    if isinstance(value, ImageLike):
        return _of_image(value)
    if is_pil(value):
        return _of_image(ImageMaker.wrap(value))
    if is_lazy(value):
        array_of(value, "view")  # which says that nothing computes one
    array = value if is_picture(value) else None
    if isinstance(value, np.ndarray):
        array = value
    if array is None:
        raise TypeError(f"view: takes pictures and stacks of them, got {worded(value)}")
    array = np.asarray(array)
    is_stack = array.ndim == 4 or (array.ndim == 3 and array.shape[2] > 4)
    if array.ndim not in (2, 3, 4) or (array.ndim == 4 and array.shape[3] > 4) or not array.size:
        raise ValueError(
            "view: takes arrays (H, W[, C]) and stacks (T, H, W[, C]) of up to 4 channels; got "
            f"one of shape {array.shape}"
        )
    if array.dtype.kind not in "biuf":
        raise TypeError(f"view: takes numbers, got an array of {array.dtype}")
    frames = array if is_stack else array[None]
    frames = frames if frames.ndim == 4 else frames[..., None]
    return Shown(frames, f"{array.shape} {array.dtype}", _full(array.dtype), is_stack)


def _of_image(image: ImageLike) -> Shown:
    storage = image.storage
    if storage.dims == 1:
        raise TypeError("view: takes pictures and stacks of them; a notebook shows a Signal itself")
    shape = storage.shape if storage.dims == 3 else (1, *storage.shape)
    frames = storage.host().reshape(*shape, storage.channels)
    return Shown(frames, repr(image), _full(storage.dtype), storage.dims == 3)


def _full(dtype: np.dtype[Any]) -> float:
    """What is white: 1 of floats and bools, the most that uint16 holds, else what 8 bits hold."""
    if dtype.kind in "fb":
        return 1.0
    return 65535.0 if dtype == np.uint16 else 255.0


def _png(frame: NDArray[Any], window: tuple[float, float], side: int) -> bytes:
    """A frame (H, W, C) as a picture file, no side longer than `side`."""
    low, high = window
    step = max(1, min(frame.shape[:2]) // (2 * side))  # what is left is made smaller by its means
    frame = frame[::step, ::step]
    scale = 255 / (high - low) if high > low else 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        levels = np.nan_to_num((frame.astype(np.float32) - np.float32(low)) * np.float32(scale))
    data = np.rint(np.clip(levels, 0, 255)).astype(np.uint8)
    if frame.shape[2] in (2, 4) and window != (0.0, 1.0) and frame.dtype.kind == "f":
        data[..., -1] = np.rint(255 * np.clip(np.nan_to_num(frame[..., -1]), 0, 1))
    from PIL import Image as PILImage  # heavy, and needed only here

    picture = PILImage.fromarray(data[..., 0] if data.shape[2] == 1 else data)
    picture.thumbnail((side, side))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e6 else f"{value:.4g}"
