"""Appends to each entry of the API pages what its parameters take, and an example.

Both are kept in docs/reference: parameters.txt says what a name means wherever it is used (under
`# *`) or in one function, examples.txt has for each entry lines as in a Python session, which the
tests run.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "reference"
FOR_ALL = "*"


def sections(name: str) -> dict[str, list[str]]:
    """The lines of a file by the headings above them."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            lines = found.setdefault(line[2:], [])
        elif line:
            lines.append(line)
    return found


def parameter_texts() -> dict[str, dict[str, str]]:
    """What parameters take, by function and name."""
    return {
        heading: dict(line.split(": ", 1) for line in lines)
        for heading, lines in sections("parameters.txt").items()
    }


def parameters_of(thing: Any) -> list[str]:
    """The names of what is given to a function or a class by those who call it."""
    try:
        names = list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):
        return []
    return [name for name in names if name not in ("self", "cls")]


TEXTS, EXAMPLES = parameter_texts(), sections("examples.txt")


def told(name: str, thing: Any) -> dict[str, str]:
    """What the parameters of an entry take, as far as it is written down."""
    known = TEXTS[FOR_ALL] | TEXTS.get(name, {})
    return {each: known[each] for each in parameters_of(thing) if each in known}


def escaped(text: str) -> str:
    """A text whose asterisks are no markup, but for those between backquotes."""
    parts = text.split("`")
    parts[::2] = [part.replace("*", r"\*") for part in parts[::2]]
    return "`".join(parts)


def append(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """The two parts, behind the docstring."""
    if name not in EXAMPLES:
        return
    # What users do not make themselves is written with empty brackets, and so has no parameters.
    made = what == "function" or (what == "class" and thing.__module__.count(".") < 2)
    given = told(name, thing) if made or name in TEXTS else {}
    if given:
        lines += ["", "Parameters", ""]
        lines += [f"- `{each}`: {escaped(text)}" for each, text in given.items()]
    lines += ["", "Example", "", *EXAMPLES[name], ""]


def setup(app: Any) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", append, priority=900)  # when all else is escaped
    return {"parallel_read_safe": True}
