"""`Signal`: texels along x alone. Sound, time series, tables, particles.

x = Signal(samples, boundary="constant")   # (N,) or (N, C), a snapshot
x(5) == samples[5]                         # in plain Python with the device's meaning
"""

from __future__ import annotations

import itertools
from typing import Any, ClassVar

import numpy as np
from PIL import Image as PILImage
from PIL import ImageDraw

from pygpu.execution.inspection import html
from pygpu.image.functions.texels import seen
from pygpu.image.grid import Grid

WIDTH, HEIGHT = 512, 128  # of the picture that a notebook shows
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#7f7f7f")


class Signal(Grid):
    """A signal on the device: a function of one coordinate, N texels of 1 to 4 channels.

    `data` is an array (N,) or (N, C), a pygpu.Signal, or anything NumPy reads; it is copied. In a
    compiled function it is read by a position or a number: `x(p)`, `x(i)`. All else is as with
    `pygpu.Image`: dtypes, `boundary`, `cval`, `interpolation`, operators, reductions.

    In an annotation (`x: Signal`) it stands for a signal given at each call. A function of signals
    has positions that are numbers (`p.x` is the same).
    """

    __slots__ = ()
    dims: ClassVar[int] = 1

    def _repr_png_(self) -> bytes:
        """What a notebook shows: a line for each channel, between the least and the greatest value
        that fall on a column of the picture."""
        values = seen(self).astype(np.float64).reshape(self.width, -1)
        picture = PILImage.new("RGB", (WIDTH, HEIGHT), "white")
        draw = ImageDraw.Draw(picture)
        finite = values[np.isfinite(values)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        scale = (HEIGHT - 5) / (high - low) if high > low else 0.0
        rows = np.where(np.isfinite(values), (HEIGHT - 3) - (values - low) * scale, np.nan)
        if not scale:
            rows = np.where(np.isfinite(values), HEIGHT / 2, np.nan)
        for channel, colour in zip(rows.T, COLOURS, strict=False):
            _line(draw, channel, colour)
        return html.png(picture)

    def _repr_html_(self) -> str:
        return html.picture(self._repr_png_(), WIDTH, HEIGHT, repr(self))


def _line(draw: Any, rows: Any, colour: str) -> None:
    """The line through the rows at which elements lie. Elements that are not finite leave gaps."""
    count = len(rows)
    if count <= WIDTH:
        xs = np.linspace(1, WIDTH - 2, count) if count > 1 else np.array([WIDTH / 2])
        points = list(zip(xs.tolist(), rows.tolist(), strict=True))
    else:  # of the elements on a column the ends, one after the other
        cuts = np.linspace(0, count, WIDTH + 1).astype(int)
        parts = [rows[start:stop] for start, stop in itertools.pairwise(cuts)]
        points = []
        for x, part in enumerate(parts):
            there = part[np.isfinite(part)]
            ends = (there.min(), there.max()) if there.size else (np.nan, np.nan)
            points += [(float(x), float(end)) for end in ends]
    for start, end in itertools.pairwise(points):
        if start[1] == start[1] and end[1] == end[1]:
            draw.line([start, end], fill=colour)
    for x, y in points if count <= WIDTH // 8 else ():
        if y == y:
            draw.ellipse([x - 1, y - 1, x + 1, y + 1], fill=colour)
