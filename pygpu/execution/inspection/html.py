"""What notebooks show of programs and compiled functions: HTML without scripts or files.

    panes([("Python", source), ("SSA", ssa), ("GLSL", glsl)])     # side by side where there is room

Colours are those of the surrounding page, so that dark ones stay dark.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

LARGEST: Final = 1024  # pixels of a picture's longer side: notebooks keep what they show
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
