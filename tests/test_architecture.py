"""The house stays in order: which way imports point, how large its rooms are, who may import what.

Every import counts: at the top of a module, inside functions, and under `TYPE_CHECKING`.
"""

import ast
import contextlib
import functools
import importlib
import inspect
import re
import sys
import types
from collections.abc import Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard

import pytest

import pygpu
from pygpu.runtime import Compiled

ROOT = Path(__file__).parent.parent

# The rooms from the ground up: a module imports from its own room and those before it.
ORDER = """
    core/host core/operations core
    language
    frontend/decode frontend/values frontend/joins frontend/walked frontend/collections
    frontend/numbers frontend/protocols frontend/methods
    frontend/rules frontend/effects frontend/flow frontend/calls frontend/walk frontend
    passes/analysis passes/simplify passes/lower passes/layout passes/stages passes/blocks passes
    codegen/glsl/expressions codegen/glsl codegen/arrays codegen/llvm codegen/narrow codegen/jobs
    codegen/elements codegen/raster codegen
    devices/process devices/opengl/driver devices/opengl devices/arrays devices/cpu devices/host
    devices/meshes devices/written devices
    execution/arguments execution/programs execution/large execution/arrays execution/folds
    execution/web
    execution/pipelines execution/inspection execution
    image/files image/functions image drawing filters command/live command
""".split()

# The five modules that are read first, and others at the top: each is the door of a room.
AT_TOP = {
    "types": "core/operations",
    "ssa": "core",
    "glsl": "language",
    "bytecode": "frontend/decode",
    "codegen_glsl": "codegen",
    "runtime": "execution",
    "__main__": "command",
    "": "command",  # pygpu itself
}

LARGEST_ROOM = 15  # modules
LONGEST = 449  # lines of a module
LINES = 60  # of a function, its docstring not counted
PARAMETERS = 7
ENTRIES = 20  # of pygpu/

# Lines of all modules: the number that stands, rounded up to 500. Nobody reads a larger house, and
# additions of some lines each are not seen one by one: who needs more looks first for what can go,
# raises the number in a commit that says for what, and lowers it where lines went.
LINES_OF_ALL = 118_000

# Heavy or delicate libraries, and the one place where each is let in.
CONFINED = {
    "moderngl": "devices/opengl/",
    "glcontext": "devices/opengl/",
    "OpenGL": "devices/opengl/",
    "llvmlite": "devices/cpu/native",
    "dis": "bytecode",
}

# Libraries that functions may import: what is slow to import, may be missing, or is of some Pythons
# alone. Modules of PyGPU's own stand in a block `with later():`.
IN_FUNCTIONS = set(
    """
    PIL annotationlib cloudpickle dask llvmlite logging platformdirs scipy tempfile tifffile tqdm
    webbrowser
    """.split()
)
# Of modules that are imported for types alone: names for checkers, which `__getattr__` finds.
FOR_TYPES = {
    "__init__": {"pygpu"},
    "image/image": {"PIL"},
    "execution/arguments/convert": {"PIL"},
}

Sources = Mapping[str, str]  # the text of each module by its path below pygpu/, without .py


def sources() -> dict[str, str]:
    home = ROOT / "pygpu"
    return {
        str(path.relative_to(home).with_suffix("")): path.read_text(encoding="utf-8")
        for path in sorted(home.rglob("*.py"))
    }


SOURCES = sources()


def dotted(path: str) -> str:
    """The name under which a module is imported."""
    name = "pygpu." + path.replace("/", ".")
    return name.removesuffix(".__init__")


@functools.cache
def tree(text: str) -> ast.Module:
    """A module's text as most tests here ask for it: all together take 2 s to read."""
    return ast.parse(text)


@pytest.fixture(scope="module", autouse=True)
def _trees_go() -> Iterator[None]:
    """They take 200 MB."""
    yield
    tree.cache_clear()


@functools.cache
def statements(text: str) -> list[tuple[str, list[str]]]:
    """What a module imports, anywhere in it: names, and what is taken from each."""
    return statements_of(tree(text))


def statements_of(block: ast.AST) -> list[tuple[str, list[str]]]:
    """What a block of a module imports."""
    found: list[tuple[str, list[str]]] = []
    for node in ast.walk(block):
        match node:
            case ast.Import(names=aliases):
                found += [(alias.name, []) for alias in aliases]
            case ast.ImportFrom(module=str(module), names=aliases):
                found.append((module, [alias.name for alias in aliases]))
    return found


def imported(text: str, names: set[str]) -> set[str]:
    """Which of the modules of these names a module imports."""
    found: set[str] = set()
    for module, taken in statements(text):
        found |= {f"{module}.{name}" for name in taken} & names or {module} & names
    return found


def imports(modules: Sources) -> dict[str, set[str]]:
    """What each module imports: paths, packages without modules of their own left out."""
    paths = {dotted(path): path for path in modules}
    return {
        path: {paths[name] for name in imported(text, set(paths))} for path, text in modules.items()
    }


def room(path: str) -> str:
    """The room that a module stands in, or that it is the door of."""
    folder, _, name = path.removesuffix("__init__").rstrip("/").rpartition("/")
    if path.endswith("/__init__"):
        return path.removesuffix("/__init__")
    return folder or AT_TOP[name]


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Circles of imports, each without those of the circles before it."""
    left = {path: set(others) for path, others in graph.items()}
    while True:
        try:
            return TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = error.args[1][::-1]
            yield circle
            for path, other in pairwise(circle):
                left[path].discard(other)


def complaints(modules: Sources) -> list[str]:
    """What is not in order."""
    found = []
    lines = sum(text.count("\n") for text in modules.values())
    if lines > LINES_OF_ALL:
        found.append(f"grown: {lines} lines, at most {LINES_OF_ALL}: see there what to do")
    graph = imports(modules)
    outer = {path: others - {"__init__"} for path, others in graph.items() if path != "__init__"}
    found += [f"a circle: {' imports '.join(circle)}" for circle in circles(outer)]
    for path, others in outer.items():
        for other in sorted(others):
            if ORDER.index(room(other)) > ORDER.index(room(path)):
                found.append(f"upwards: {path} imports {other}")
    for name in ORDER:
        own = [path for path in modules if path.rpartition("/")[0] == name]
        own = [path for path in own if not path.endswith("/__init__")]
        if len(own) > LARGEST_ROOM:
            found.append(f"crowded: {name} holds {len(own)} modules")
    for path, text in modules.items():
        is_room = path.endswith("/__init__") and room(path) != "filters"
        if is_room and len(tree(text).body) > 1:
            found.append(f"furnished: {path} holds more than what it is")
        found += [f"astray: {path}" for _ in "x" if room(path) not in ORDER]
        if text.count("\n") > LONGEST:
            found.append(f"long: {path} has {text.count(chr(10))} lines")
    return found


def functions(text: str) -> Iterator[ast.FunctionDef]:
    """All functions of a module, those within others too."""
    for node in ast.walk(tree(text)):
        if isinstance(node, ast.FunctionDef):
            yield node


def lines_of(function: ast.FunctionDef) -> int:
    """How long a function is, without its docstring."""
    first = function.body[0]
    is_said = ast.get_docstring(function) is not None
    said = (first.end_lineno or 0) - first.lineno + 1 if is_said else 0
    return (function.end_lineno or 0) - function.lineno + 1 - said


def parameters_of(function: ast.FunctionDef, is_public: bool) -> list[str]:
    """What a function takes. What users need not give to a public function is not counted."""
    given = function.args
    listed = [*given.posonlyargs, *given.args]
    options = given.defaults if is_public else []
    named = zip(given.kwonlyargs, given.kw_defaults, strict=True)
    must = [each for each, default in named if default is None or not is_public]
    rest = [each for each in (given.vararg, given.kwarg) if each is not None]
    taken = [each.arg for each in (*listed[: len(listed) - len(options)], *must, *rest)]
    return [name for name in taken if name not in ("self", "cls")]


def large_functions(text: str, public: Collection[str] = ()) -> list[str]:
    """Complaints of functions of a module; `public` are the names that users call."""
    found = []
    for function in functions(text):
        taken = len(parameters_of(function, function.name in public))
        if lines_of(function) > LINES:
            found.append(f"long: {function.name} has {lines_of(function)} lines")
        if taken > PARAMETERS:
            found.append(f"wide: {function.name} takes {taken} parameters")
    return found


def public_names() -> dict[str, set[str]]:
    """The functions, and methods of classes, that users find in pygpu and pygpu.filters or are
    given by them, by their modules."""
    found: dict[str, set[str]] = {}
    listed = [getattr(room, name) for room in (pygpu, pygpu.filters) for name in dir(room)]
    for each in (*listed, Compiled):
        inner = vars(each) if isinstance(each, type) else {getattr(each, "__name__", ""): each}
        for name in (name for name in inner if name and not name.startswith("_")):
            found.setdefault(getattr(each, "__module__", ""), set()).add(name)
    return found


def private_imports(text: str) -> list[str]:
    """The names with an underscore that a module takes from others of ours."""
    return [
        f"{module}.{name}"
        for module, names in statements(text)
        for name in names
        if module.partition(".")[0] == "pygpu" and re.match("_[^_]", name)
    ]


def test_no_module_takes_what_is_another_ones_own() -> None:
    found = {path: private_imports(text) for path, text in SOURCES.items()}
    assert {path: names for path, names in found.items() if names} == {}
    assert private_imports("from pygpu.ssa import Op, _own") == ["pygpu.ssa._own"]


def test_functions_fit_a_screen() -> None:
    public = public_names()
    found = {
        path: large_functions(text, public.get(dotted(path), ())) for path, text in SOURCES.items()
    }
    assert {path: large for path, large in found.items() if large} == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("def f():\n" + "    pass\n" * LINES, "long: f"),
        ("def f():\n" + "    pass\n" * (LINES - 1), None),
        ('def f():\n    """Said\n' + "\n" * LINES + '    """\n    pass\n', None),
        ("def f(a, b, c, d, e, g, h, i): ...", "wide: f takes 8"),
        ("def f(self, a, b, c, d, e, g, h): ...", None),
        ("def f(a, b, *, c=0, d=0, e=0, g=0, h=0, i=0): ...", "wide: f takes 8"),
        ("def public(a, b, c=0, *, d=0, e=0, g=0, h=0, i=0): ...", None),
        ("def public(a, b, *, c, d, e, g, h, i): ...", "wide: public takes 8"),
        ("class C:\n    def f(self, a, b, c, d, e, g, *h, **i): ...", "wide: f takes 8"),
    ],
)
def test_large_function_is_seen(text: str, complaint: str | None) -> None:
    found = large_functions(text, {"public"})
    assert found == [] if complaint is None else any(each.startswith(complaint) for each in found)


def test_house_is_in_order() -> None:
    assert complaints(SOURCES) == []


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("core/storage", "import pygpu.core.host.cache", None),
        ("core/errors", "from pygpu import ssa", "a circle: "),
        ("core/errors", "def f():\n    from pygpu import ssa", "a circle: "),
        (
            "core/errors",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pygpu.ssa",
            "a circle: ",
        ),
        ("types", "import pygpu.types", "a circle: types imports types"),
        (
            "core/host/cache",
            "from pygpu.language import kernels",
            "upwards: core/host/cache imports",
        ),
        ("frontend/rules/folds", "import pygpu.frontend.walk.steps", "upwards: "),
        ("execution/programs/bars", "def f():\n    import pygpu.image.image", "upwards: "),
        ("core/__init__", '"""A room."""\nimport os', "furnished: "),
    ],
)
def test_disorder_is_seen(path: str, text: str, complaint: str | None) -> None:
    found = complaints({**SOURCES, path: SOURCES[path] + "\n" + text})
    more = [each for each in found if each not in complaints(SOURCES)]
    assert (more == []) if complaint is None else any(f.startswith(complaint) for f in more)


def test_crowded_room_is_seen() -> None:
    more = {f"language/one{i}": '"""One more."""' for i in range(LARGEST_ROOM)}
    assert any(f.startswith("crowded: language") for f in complaints({**SOURCES, **more}))


def test_long_module_is_seen() -> None:
    path = "types"
    longer = SOURCES[path] + "\n" * LONGEST
    assert any(f.startswith("long: types") for f in complaints({**SOURCES, path: longer}))


def test_growth_is_seen() -> None:
    lines = sum(text.count("\n") for text in SOURCES.values())
    assert LINES_OF_ALL % 500 == 0
    for more, is_seen in ((LINES_OF_ALL - lines, False), (LINES_OF_ALL - lines + 1, True)):
        found = complaints({**SOURCES, "types": SOURCES["types"] + "\n" * more})
        assert any(f.startswith("grown: ") for f in found) == is_seen


def test_top_is_understood_in_a_minute() -> None:
    entries = {path.partition("/")[0] for path in SOURCES} | {"py.typed"}
    assert len(entries) <= ENTRIES


def libraries(text: str) -> set[str]:
    """The libraries that a module imports, anywhere in it."""
    return first_names(statements(text))


def first_names(imports: Iterable[tuple[str, list[str]]]) -> set[str]:
    return {module.partition(".")[0] for module, _ in imports}


@pytest.mark.parametrize("library", CONFINED)
def test_library_is_imported_in_its_place_alone(library: str) -> None:
    users = {path for path, text in SOURCES.items() if library in libraries(text)}
    assert {user for user in users if not user.startswith(CONFINED[library])} == set()


def imported_in(blocks: Iterable[ast.AST]) -> set[str]:
    """The libraries that are imported in blocks of a module."""
    return {name for block in blocks for name in first_names(statements_of(block))}


def test_functions_import_libraries_alone() -> None:
    found = {path: imported_in(functions(text)) for path, text in SOURCES.items()}
    assert {
        path: names - IN_FUNCTIONS for path, names in found.items() if names - IN_FUNCTIONS
    } == {}
    assert set().union(*found.values()) == IN_FUNCTIONS
    assert imported_in(functions("def f():\n    from pygpu import ssa")) == {"pygpu"}


def for_types(text: str) -> Iterator[ast.If]:
    """The blocks of a module that checkers of types alone read."""
    for node in ast.walk(tree(text)):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield node


def test_nothing_of_ours_is_imported_for_types_alone() -> None:
    found = {path: imported_in(for_types(text)) for path, text in SOURCES.items()}
    assert {path: names for path, names in found.items() if names} == FOR_TYPES


def taken_at_once(text: str, names: set[str]) -> set[str]:
    """What blocks `with later():` of a module take from modules of these names: it runs them."""
    blocks = [
        node
        for node in ast.walk(tree(text))
        if isinstance(node, ast.With) and ast.unparse(node.items[0]) == "later()"
    ]
    found = {
        f"{module}.{name}"
        for block in blocks
        for module, taken in statements_of(block)
        for name in taken
    }
    return found - names


def test_modules_that_are_run_later_are_named_as_modules() -> None:
    names = set(map(dotted, SOURCES))
    found = {path: taken_at_once(text, names) for path, text in SOURCES.items()}
    assert {path: taken for path, taken in found.items() if taken} == {}
    text = "with later():\n    from pygpu import ssa\n    from pygpu.ssa import Op"
    assert taken_at_once(text, names) == {"pygpu.ssa.Op"}


@pytest.mark.parametrize("path", SOURCES)
def test_module_says_what_it_is(path: str) -> None:
    assert ast.get_docstring(tree(SOURCES[path]))


def test_architecture_lists_every_room_once_in_their_order_and_names_the_doors() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## The rooms")[2]
    section = text.partition("\n## ")[0]
    assert re.findall(r"^\| `([\w/]+)` \|", section, re.MULTILINE) == ORDER
    doors = {name for name in AT_TOP if name and not name.startswith("_")}
    assert doors - set(re.findall(r"`([\w/]+?)(?:\.py|/)?`", section)) == set()


def said(text: str) -> Iterator[str]:
    """The docstrings of a module and of what it defines."""
    for node in ast.walk(tree(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            yield ast.get_docstring(node) or ""


def astray(text: str, homes: Collection[Path]) -> set[str]:
    """The modules that a text names and that are in none of these folders. What is named with a
    room in front, or in parentheses, is one of ours; other names are of examples."""
    named = set(re.findall(r"(?<![\w/.])((?:\w+/)+\w+\.py)\b", text))
    named |= set(re.findall(r"\((\w+\.py)\)", text))
    return {name for name in named if not any((home / name).exists() for home in homes)}


def test_modules_that_texts_name_are_there() -> None:
    ours = ROOT / "pygpu"
    found = {}
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        homes = ROOT, ours, ROOT / "tests"
        found[name] = astray((ROOT / name).read_text(encoding="utf-8"), homes)
    for path, text in SOURCES.items():
        home = (ours / path).parent
        found[path] = astray("\n".join(said(text)), (ROOT, ours, home, home.parent))
    assert {path: names for path, names in found.items() if names} == {}
    assert astray("see core/nothing.py and (gone.py)", (ours,)) == {"core/nothing.py", "gone.py"}


def examples(text: str) -> Iterator[ast.Call]:
    """The calls in the lines of a module's docstring that are code."""
    for line in (ast.get_docstring(tree(text)) or "").splitlines():
        with contextlib.suppress(SyntaxError):
            yield from (each for each in ast.walk(ast.parse(line.strip())) if is_call(each))


def is_call(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether it is a call of which all arguments are there to be counted."""
    return isinstance(node, ast.Call) and not (
        any(isinstance(each, ast.Starred) or ast.unparse(each) == "..." for each in node.args)
        or any(each.arg is None for each in node.keywords)
    )


def fits(call: ast.Call, function: Any, *before: Any) -> bool:
    """Whether a function takes what a call gives, after what is given `before`."""
    try:
        named = {each.arg: each for each in call.keywords}
        inspect.signature(function).bind(*before, *call.args, **named)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def misfits(calls: Iterable[ast.Call], module: Any) -> list[str]:
    """The calls of a module's own functions, classes and their methods that these do not take."""
    there = list(vars(module).items())  # some are run when they are looked at
    own = {n: v for n, v in there if getattr(v, "__module__", "") == module.__name__}
    classes = [value for value in own.values() if isinstance(value, type)]
    found = []
    for call in calls:
        match call.func:
            case ast.Name(name) if isinstance(own.get(name), (type, types.FunctionType)):
                taken = fits(call, own[name])
            case ast.Attribute(attr=name) if any(callable(vars(c).get(name)) for c in classes):
                methods = [vars(c)[name] for c in classes if callable(vars(c).get(name))]
                taken = any(fits(call, each, None) for each in methods)
            case _:
                continue
        found += [] if taken else [ast.unparse(call)]
    return found


def test_examples_of_modules_fit_what_they_call() -> None:
    found: dict[str, list[str]] = {}
    for path, text in SOURCES.items():
        if path.startswith("filters") or path == "__main__":  # decorators take other arguments
            continue
        with contextlib.suppress(ImportError):  # of a library that is not here
            found[path] = misfits(examples(text), importlib.import_module(dotted(path)))
    assert {path: calls for path, calls in found.items() if calls} == {}
    text = '"""\n    lines_of(function)   # so many\n    lines_of(1, 2), misfits(...)\n"""'
    assert misfits(examples(text), sys.modules[__name__]) == ["lines_of(1, 2)"]


def test_names_that_texts_use_are_there() -> None:
    folders = [ROOT / name for name in ("pygpu", "tests", "tools", ".ci", ".github")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    texts = [path.read_text(encoding="utf-8") for path in files if path.suffix == ".py"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    paths = [str(path.relative_to(ROOT)) for path in files]
    known = set(re.findall(r"\w+", " ".join([*texts, makefile, *paths])))
    for name in ("ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        used = {word for code in re.findall(r"`([^`\n]+)`", text) for word in words(code)}
        assert used - known == set(), name


def words(code: str) -> list[str]:
    """The names in a piece of code or a path: of a pattern of files, none."""
    return [] if "*" in code else re.findall(r"[A-Za-z_]\w{2,}", code)


def test_public_names_are_there() -> None:
    assert {name for name in pygpu.__all__ if not hasattr(pygpu, name)} == set()
    assert sorted(pygpu.__all__) == pygpu.__all__
    for room in (pygpu, pygpu.filters):
        public = {name for name in dir(room) if not name.startswith("_")}
        assert public == set(room.__all__)
