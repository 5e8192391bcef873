"""What notebooks show of pictures, programs and compiled functions: HTML without files.

    panes([("Python", source), ("SSA", ssa), ("GLSL", glsl)])     # side by side where there is room

Colours are those of the surrounding page, so that dark ones stay dark.
"""

from __future__ import annotations

import base64
import io
import uuid
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from pygpu.core.host.records import record

LARGEST: Final = 1024  # pixels of a picture's longer side: notebooks keep what they show
ZOOM: Final = 4  # pixels of the screen for one of a picture that is zoomed into
SMALLEST: Final = 128  # pixels smaller pictures are enlarged to, or a little less

STYLE: Final = """\
<style>
.pygpu-panes { display: flex; flex-wrap: wrap; gap: 0.8em; text-align: left }
.pygpu-panes > div { flex: 1 1 14em; min-width: 0 }
.pygpu pre { overflow: auto; max-height: 30em; margin: 0.3em 0; padding: 0.6em; font-size: 80%;
  line-height: 1.35; font-family: monospace; white-space: pre;
  border: 1px solid #8886; border-radius: 4px }
.pygpu summary { cursor: pointer }
</style>"""


# Notebooks that are not trusted leave these out: then the middle frame is shown, and each picture
# scrolls for itself.
_FRAME: Final = (
    "const k = Number(this.value); this.nextElementSibling.value = k; "
    "for (const label of this.closest('.pygpu-view').querySelectorAll('label')) "
    "[...label.children].forEach((image, i, all) => "
    "{ image.hidden = i !== Math.min(k, all.length - 1); });"
)
_SCROLL: Final = (
    "for (const other of this.closest('.pygpu-view').querySelectorAll('.pygpu-stage')) "
    "if (other !== this) { other.scrollTop = this.scrollTop; other.scrollLeft = this.scrollLeft; }"
)
GALLERY_STYLE: Final = """\
<style>
.pygpu-view > div:first-child:not(.pygpu-row) { display: flex; gap: 0.5em; max-width: 30em }
.pygpu-view input[type=range] { flex: 1 }
.pygpu-view > input { position: absolute; opacity: 0; width: 1px }
.pygpu-row { display: flex; flex-wrap: wrap; gap: 0.8em; text-align: left }
.pygpu-row figure { margin: 0; flex: 0 1 auto; min-width: 0;
  max-width: max(14em, calc((100% + 0.8em) / var(--count) - 0.8em)) }
.pygpu-stage { overflow: auto; max-height: 48em }
.pygpu-stage img { display: block; max-width: 100%; height: auto; margin: 0; cursor: zoom-in }
.pygpu-stage img[hidden] { display: none }
.pygpu-view > input:focus-visible ~ .pygpu-row .pygpu-stage { outline: 2px solid #2a6fdb }
.pygpu-view > input:checked ~ .pygpu-row figure { flex: 1 1 20em }
.pygpu-view > input:checked ~ .pygpu-row img { width: var(--zoom); max-width: none;
  image-rendering: pixelated; cursor: zoom-out }
</style>"""


def framed(*parts: str) -> str:
    """One picture of several parts."""
    return f'{STYLE}<div class="pygpu">{"".join(parts)}</div>'


def heading(name: str, rest: str) -> str:
    return f"<p><b>{escape(name)}</b> {escape(rest)}</p>"


def panes(texts: Iterable[tuple[str, str]]) -> str:
    """Titled texts side by side; those that are empty are left out."""
    shown = [
        f"<div><b>{escape(title)}</b><pre>{escape(text.strip())}</pre></div>"
        for title, text in texts
        if text
    ]
    return f'<div class="pygpu-panes">{"".join(shown)}</div>'


def folded(title: str, text: str) -> str:
    """A text that opens at a click."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text.strip())}</pre></details>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts, the first column in the type of code."""
    # In each cell, since notebooks have a style of their own for tables.
    left = 'style="text-align: left; padding: 0.2em 1.5em 0.2em 0"'
    lines = ["".join(f"<th {left}>{escape(title)}</th>" for title in head)]
    for first, *rest in rows:
        cells = "".join(f"<td {left}>{escape(cell)}</td>" for cell in rest)
        lines.append(f"<td {left}><code>{escape(first)}</code></td>{cells}")
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


@record
class Figure:
    """A picture, or the frames of one, with what is said above and below: `width` and `height` are
    those of the image, of which the files may be smaller pictures."""

    title: str
    caption: str
    pngs: Sequence[bytes]
    width: int
    height: int

    def html(self, zoom: str) -> str:
        """The figure; a click on it ticks the box called `zoom`."""
        larger = max(1, SMALLEST // max(self.width, self.height))
        shown = round(min(1.0, LARGEST / max(self.width, self.height)) * self.width * larger)
        zoomed = max(ZOOM * shown // larger, 2 * shown if larger > 1 else 0)
        middle = len(self.pngs) // 2
        images = [
            f'<img src="data:image/png;base64,{base64.b64encode(png).decode("ascii")}" '
            f'width="{shown}" style="--zoom: {zoomed}px'
            f'{"; image-rendering: pixelated" if larger > 1 else ""}"'
            f'{"" if place == middle else " hidden"} alt=""/>'
            for place, png in enumerate(self.pngs)
        ]
        title = f"<b>{escape(self.title)}</b>" if self.title else ""
        return (
            f'<figure>{title}<div class="pygpu-stage" onscroll="{_SCROLL}"><label for="{zoom}">'
            f"{''.join(images)}</label></div>"
            f"<figcaption><code>{escape(self.caption)}</code></figcaption></figure>"
        )


def gallery(figures: Sequence[Figure]) -> str:
    """Figures side by side where there is room. A click zooms into all; frames have a slider."""
    zoom = f"pygpu-{uuid.uuid4().hex}"
    count = max(len(figure.pngs) for figure in figures)
    slider = ""
    if count > 1:
        slider = (
            f'<div><input type="range" min="0" max="{count - 1}" value="{count // 2}" '
            f'aria-label="frame" oninput="{_FRAME}"/><output>{count // 2}</output></div>'
        )
    shown = "".join(figure.html(zoom) for figure in figures)
    return (
        f'{GALLERY_STYLE}<div class="pygpu-view">{slider}'
        f'<input type="checkbox" id="{zoom}" aria-label="zoom"/>'
        f'<div class="pygpu-row" style="--count: {len(figures)}">{shown}</div></div>'
    )


def picture(png: bytes, width: int, height: int, caption: str) -> str:
    """A picture of an image of so many pixels, with what it is below."""
    larger = max(1, SMALLEST // max(width, height))
    shown = min(1.0, LARGEST / max(width, height)) * width * larger
    style = "display: block; max-width: 100%"
    if larger > 1:
        style += "; image-rendering: pixelated"
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<img width="{round(shown)}" style="{style}" src="data:image/png;base64,{data}"/>'
        f"<code>{escape(caption)}</code>"
    )


def png(picture: Any) -> bytes:
    """A PNG file of a picture of Pillow's, made smaller where it is larger than is kept."""
    picture.thumbnail((LARGEST, LARGEST))
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()
