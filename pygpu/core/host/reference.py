"""What help() says of public functions: behind the docstring what each parameter takes, what is
raised, and an example.

These texts are kept in three files in core/reference. Each has parts below lines `# name`, that of
an entry of the API pages; what stands below `# *` is said of every function that has a parameter of
the name. Of the examples, lines as in a Python session, the tests run each.

    describe("pygpu.imread", imread)
    describe_all("pygpu.filters", globals(), __all__)
"""

from __future__ import annotations

import inspect
import os.path
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(__file__)), "reference")
FOR_ALL: Final = "*"
FORMULAS: Final = "pygpu.glsl."  # functions whose docstrings are formulas of their parameters
WIDTH: Final = 96  # of a line
_RESTS: Final = 4, 8  # of code.co_flags: *args, **kwargs


@cache
def sections(name: str) -> Mapping[str, str]:
    """The text of a file by the headings above its parts."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        parts = ("\n" + file.read()).split("\n# ")[1:]
    return {heading: text.strip("\n") for heading, _, text in (p.partition("\n") for p in parts)}


def told(file: str, name: str) -> Mapping[str, str]:
    """What a file says of an entry: of each of its parameters, or of each error."""
    found = {}
    for heading in (FOR_ALL, name):
        for line in sections(file).get(heading, "").splitlines():
            word, _, text = line.partition(": ")
            found[word] = text
    return found


def parameters_of(thing: Any) -> list[str]:
    """The names of what is given to a function or a class by those who call it."""
    function = thing
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code = getattr(function, "__code__", None)
    if code is None or inspect.isclass(thing):
        try:
            names = list(inspect.signature(thing).parameters)
        except (TypeError, ValueError):
            return []
    else:  # ten times as fast as `signature`: importing filters describes some two hundred
        count = code.co_argcount + code.co_kwonlyargcount
        count += sum(bool(code.co_flags & rest) for rest in _RESTS)
        names = list(code.co_varnames[:count])
    names = [name for name in names if name not in ("self", "cls")]
    return [*names, "out", "dtype"] if getattr(thing, "__pygpu_takes_out__", False) else names


def description(name: str, thing: Any) -> list[str]:
    """What stands behind the docstring of an entry, in lines."""
    lines: list[str] = []
    texts = {} if name.startswith(FORMULAS) else told("parameters.txt", name)
    taken = [each for each in parameters_of(thing) if each in texts] if texts else []
    if taken:
        lines += ["", "Parameters", "", *_list({each: texts[each] for each in taken})]
        lines += ["", "Raises", "", *_list(told("errors.txt", name))]
    return [*lines, "", "Example", "", *sections("examples.txt")[name].splitlines()]


def _list(texts: Mapping[str, str]) -> list[str]:
    lines = []
    for word, text in texts.items():
        line = f"- `{word}`:"
        for part in text.split(" "):
            if len(line) + len(part) >= WIDTH:
                lines.append(line)
                line = " "
            line += f" {part}"
        lines.append(line)
    return lines


def describe(name: str, thing: Any) -> None:
    """Have help() say all of an entry; nothing of what has none, or is described already."""
    said = getattr(thing, "__doc__", None)
    if not said or name not in sections("examples.txt") or "\nExample\n" in said:
        return
    whole = "\n".join([inspect.cleandoc(said), *description(name, thing)]) + "\n"
    try:
        thing.__doc__ = whole
    except AttributeError:  # of a class that cannot be changed
        return


def describe_all(module: str, things: Mapping[str, Any], names: Iterable[str]) -> None:
    """Have help() say all of a module's entries."""
    for name in names:
        describe(f"{module}.{name}", things[name])
