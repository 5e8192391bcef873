"""The house stays in order: which way imports point, and who may import what."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pygpu

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "pygpu").rglob("*.py"))
}

# Heavy or delicate libraries, and the one place where each is let in.
CONFINED = {
    "moderngl": "pygpu.devices.",
    "glcontext": "pygpu.devices.",
    "OpenGL": "pygpu.devices.",
    "llvmlite": "pygpu.devices.native",
    "dis": "pygpu.bytecode",
}


def imported(name: str) -> set[str]:
    """What a module imports when it is imported: not in functions, not for type checkers."""
    found: set[str] = set()
    pending: list[ast.stmt] = list(ast.parse(MODULES[name].read_text(encoding="utf-8")).body)
    while pending:
        match pending.pop():
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module), names=names):
                inner = {f"{module}.{alias.name}" for alias in names} & MODULES.keys()
                found |= inner or {module}
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pass
            case ast.If(body=body, orelse=otherwise) | ast.Try(body=body, orelse=otherwise):
                pending += body + otherwise
    return found


def test_imports_have_no_cycle() -> None:
    graph = {name: imported(name) & MODULES.keys() - {"pygpu"} for name in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])), pytrace=False)


def roots(node: ast.AST) -> set[str]:
    """The libraries that a statement imports from."""
    match node:
        case ast.Import(names=names):
            return {alias.name.partition(".")[0] for alias in names}
        case ast.ImportFrom(module=str(module)):
            return {module.partition(".")[0]}
    return set()


@pytest.mark.parametrize("library", CONFINED)
def test_library_is_imported_in_its_place_alone(library: str) -> None:
    users = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if library in roots(node)
    }
    assert {user for user in users if not user.startswith(CONFINED[library])} == set()


@pytest.mark.parametrize("name", MODULES)
def test_module_says_what_it_is(name: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8")))


def floors() -> dict[str, int]:
    """The floor of each module, from the table of ARCHITECTURE.md, where floors have bold rows."""
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## The floors")[2]
    found: dict[str, int] = {}
    floor = -1
    for line in table.partition("\n## ")[0].splitlines():
        floor += line.startswith("| **")
        if line.startswith("| `"):
            for path in re.findall(r"`([\w/]+)\.py`", line.split("|")[1]):
                found.setdefault("pygpu." + path.replace("/", "."), floor)
    return found


def test_architecture_names_every_module() -> None:
    modules = {name for name, path in MODULES.items() if path.name != "__init__.py"}
    assert modules == floors().keys()


def test_imports_never_point_down() -> None:
    at = floors()
    wrong = [
        f"{name} imports {other}"
        for name in at
        for other in imported(name) & at.keys()
        if at[other] > at[name]
    ]
    assert wrong == []


def test_public_names_are_there() -> None:
    assert {name for name in pygpu.__all__ if not hasattr(pygpu, name)} == set()
    assert sorted(pygpu.__all__) == pygpu.__all__
    assert set(pygpu.__all__) <= set(dir(pygpu))
