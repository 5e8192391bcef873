"""The API pages: each entry says what its parameters take and has an example that runs."""

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, filters, glsl
from pygpu.core.host import reference

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("on_cpu")

EXAMPLES = reference.sections("examples.txt")
ENTRY = re.compile(r"auto(function|class|exception):: ([\w.]+)(\(\))?\n((?:   :.*\n)*)")


def found(name):
    """What an entry is about."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            thing = getattr(thing, part)
        return thing
    raise AssertionError(f"there is no {name}")


def entries():
    """The names of the pages, whether users call them, and the members that are shown."""
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    for kind, name, closed, options in ENTRY.findall(text):
        members = re.search(r":members:([^\n]*)", options)
        if members and members[1].strip():
            shown = [each.strip() for each in members[1].split(",")]
        elif members:
            left_out = re.search(r":exclude-members:([^\n]*)", options)
            without = left_out[1].replace(",", " ").split() if left_out else []
            shown = [m for m in dir(found(name)) if m[0] != "_" and m not in without]
        else:
            shown = []
        yield name, kind != "exception" and not closed, shown
    for name in public_functions_of_glsl():
        yield f"pygpu.glsl.{name}", False, []  # their docstrings are formulas


def public_functions_of_glsl():
    return [
        name
        for name, thing in vars(glsl).items()
        if name[0] != "_" and inspect.isfunction(thing) and thing.__module__ == "pygpu.glsl"
    ]


ENTRIES = list(entries())


@pytest.mark.parametrize(("name", "called", "members"), ENTRIES, ids=[e[0] for e in ENTRIES])
def test_entry_has_parameters_and_an_example(name, called, members):
    assert name in EXAMPLES, f"core/reference/examples.txt has no `# {name}`"
    assert [m for m in members if not re.search(rf"\b{m}\b", EXAMPLES[name])] == []
    if called:
        untold = set(parameters_of(found(name))) - set(reference.told("parameters.txt", name))
        assert untold == set(), f"core/reference/parameters.txt says nothing of them in {name}"


def parameters_of(thing):
    """The names of all that a call may give."""
    try:
        return [n for n in inspect.signature(thing).parameters if n not in ("self", "cls")]
    except (TypeError, ValueError):
        return []


def test_texts_are_of_entries_and_parameters_that_are_there():
    names = {name for name, _, _ in ENTRIES}
    assert set(EXAMPLES) - names == set()
    assert set(reference.sections("errors.txt")) - names == {reference.FOR_ALL}
    for name, text in reference.sections("parameters.txt").items():
        if name != reference.FOR_ALL:
            assert name in names
            told = {line.partition(": ")[0] for line in text.splitlines()}
            assert told - set(reference.parameters_of(found(name))) == set()


@pytest.mark.parametrize(("name", "called"), [e[:2] for e in ENTRIES], ids=[e[0] for e in ENTRIES])
def test_help_tells_parameters_errors_and_an_example(name, called):
    thing, short = found(name), name.split(".")[-1]
    homes = pygpu, filters, glsl, pygpu.random, pygpu.data
    if not any(short in dir(home) and getattr(home, short) is thing for home in homes):
        return  # what users are handed: only its page has these parts
    said = inspect.getdoc(thing)
    assert said.endswith("\n\nExample\n\n" + EXAMPLES[name])
    assert said.startswith(said.split("\n\nParameters")[0].strip())
    if called and parameters_of(thing):
        shown = said.split("\nParameters\n")[1].split("\nRaises\n")[0]
        assert re.findall(r"^- `(\w+)`:", shown, re.M) == reference.parameters_of(thing)
        assert re.search(r"\nRaises\n\n- `\w+`: ", said)


PHOTO = pygpu.data.astronaut()
GREY = filters.rgb2gray(PHOTO, dtype=np.float32)


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_runs_as_shown(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"np": np, "math": importlib.import_module("math"), "pygpu": pygpu, "glsl": glsl}
    names |= {"Image": Image, "Position": Position, "filters": filters}
    names |= {"photo": PHOTO, "grey": GREY}
    text = EXAMPLES[name] + "\n"
    example = doctest.DocTestParser().get_doctest(text, names, name, "examples.txt", 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(example, out=said.append)
    assert "".join(said) == ""


# ---------------------------------------------------------------- wrong calls

WRONG = ["x", -1, object(), float("nan"), (1, 2, 3), None]

# What compiled functions call with values of a pixel, whose arithmetic says what is wrong; `path`,
# which a message says as it is.
OF_PIXELS = re.compile(r"pygpu\.(language\.random|glsl|filters\.\w+\.[abv]|\w+\.path)\b")


def example_call(name):
    """The first call of an entry in its example: what is called, its arguments by name."""
    names = {"np": np, "math": importlib.import_module("math"), "pygpu": pygpu, "glsl": glsl}
    names |= {"Image": Image, "Position": Position, "filters": filters}
    names |= {"photo": PHOTO[:64, :64], "grey": GREY[:64, :64]}
    text = EXAMPLES[name] + "\n"
    for example in doctest.DocTestParser().get_examples(text):
        for node in ast.walk(ast.parse(example.source)):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(name.split(".")[-1]):
                try:
                    function = eval(ast.unparse(node.func), names)
                    args = [eval(ast.unparse(arg), names) for arg in node.args]
                    keywords = {k.arg: eval(ast.unparse(k.value), names) for k in node.keywords}
                    for each in ("out", "dtype"):
                        if each not in inspect.signature(function).parameters:
                            keywords.pop(each, None)
                    return function, inspect.signature(function).bind_partial(*args, **keywords)
                except (NameError, AttributeError, TypeError, SyntaxError):
                    continue
        exec(example.source, names)
    return None


CALLED = [
    name
    for name, called, _ in ENTRIES
    if called and name not in ("pygpu.show", "pygpu.progress", "pygpu.clear", "pygpu.tune")
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLED)
def test_wrong_arguments_are_named(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = example_call(name)
    if found is None:
        return  # a class, or of values that only a program has
    function, given = found
    for parameter, one in inspect.signature(function).parameters.items():
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        for wrong in WRONG:
            try:
                given.arguments[parameter], right = wrong, given.arguments.get(parameter, one)
                result = function(*given.args, **given.kwargs)
                if inspect.isgenerator(result):
                    list(result)
            except (TypeError, ValueError) as error:
                said, where = str(error), f"{name}.{parameter}"
                named = rf"\b({parameter}|{name.split('.')[-1]})\b"
                assert re.search(named, said) or OF_PIXELS.match(where), f"{where}={wrong}: {said}"
            except OSError:
                assert parameter == "path"
            finally:
                if right is one:
                    del given.arguments[parameter]
                else:
                    given.arguments[parameter] = right
