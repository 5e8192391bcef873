"""Appends to those entries of the API pages that do not describe themselves what their parameters
take, and an example: classes that users are handed (pygpu/core/host/reference.py)."""

from __future__ import annotations

from typing import Any

from pygpu.core.host.reference import description, sections


def escaped(line: str) -> str:
    """A line whose asterisks are no markup, but for those between backquotes."""
    parts = line.split("`")
    parts[::2] = [part.replace("*", r"\*") for part in parts[::2]]
    return "`".join(parts)


def append(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """The parts behind the docstring, where it has none."""
    if name not in sections("examples.txt") or "Example" in lines:
        return
    parts = description(name, thing)
    example = parts.index("Example")
    lines += [*map(escaped, parts[:example]), *parts[example:], ""]


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", append, priority=900)  # when all else is escaped
    return {"parallel_read_safe": True}
