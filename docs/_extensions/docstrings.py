"""Docstrings are prose with code between backquotes, not reStructuredText: what that takes for
markup outside the quotes, as in |a - b|, is escaped. What stands below "Example" is code."""

from typing import Any

from sphinx.application import Sphinx


def escape(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    prose = lines[: lines.index("Example")] if "Example" in lines else lines
    for place, line in enumerate(prose):
        parts = line.split("`")
        parts[::2] = [part.replace("|", r"\|").replace("*", r"\*") for part in parts[::2]]
        lines[place] = "`".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", escape)
    return {"parallel_read_safe": True}
