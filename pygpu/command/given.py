"""What a command line gives: functions of files, pictures, values, and what is said of them.

function, name = loaded(Path("edges.py"), "edgeDetect")
compiled, values = compiled_of(options)          # of parsed options
"""

import argparse
import ast
import difflib
import importlib.util
import inspect
import math
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pygpu
from pygpu.command.stacks import is_stack
from pygpu.command.whole import whole_of
from pygpu.execution.arguments.signatures import MISSING, Parameter, Signature
from pygpu.execution.bound import BoundMethod
from pygpu.execution.vectorized import Vectorized
from pygpu.image import motion
from pygpu.runtime import Compiled

ANIMATED: Final = tuple(suffix for suffix in motion.STILL if suffix != ".png")


class UsageError(Exception):
    """What the user got wrong, in one line."""


def examples(compiled: Any) -> list[pygpu.Image]:
    """A picture for each image that a function must be given."""
    signature = getattr(compiled, "signature", None)
    if signature is None:
        return []
    needed = [p for p in signature.parameters if p.role == "image" and p.default is MISSING]
    return [example() for _ in needed]


def numbers(compiled: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    """Zero for each number that a function must be given and is not: for its program, which is the
    same for any."""
    parameters = getattr(getattr(compiled, "signature", None), "parameters", ())
    missing = [p for p in parameters if p.default is MISSING and p.name not in values]
    return {p.name: _zero(p) for p in missing if p.role in ("uniform", "matrix", "complex")}


def _zero(parameter: Parameter) -> Any:
    if parameter.role == "complex":
        return 0j
    many = parameter.vector_class()
    if many is not None:  # a matrix of one number has it in its diagonal
        return many(0) if parameter.role == "matrix" else many(*[0] * parameter.type.size)
    return False if parameter.type.kind == "bool" else 0


def example() -> pygpu.Image:
    return pygpu.Image(pygpu.data.astronaut())


def function_name(text: str) -> tuple[Path, str]:
    """A file and the name of a function in it, "" where only a file of Python is named."""
    file, colon, name = text.rpartition(":")
    if text.endswith(".py"):
        return Path(text), ""
    if not colon or not name.isidentifier():
        name = text.rstrip(":")
        perhaps = f"; is pygpu.filters:{name} meant?" if name in dir(pygpu.filters) else ""
        raise argparse.ArgumentTypeError(f"takes FILE:FUNCTION, got {text!r}{perhaps}")
    return Path(file), name


def output(text: str) -> Path:
    """Where a result goes."""
    if text == "-":
        raise argparse.ArgumentTypeError("results are files, they are not printed: takes a path")
    return Path(text)


# What is no literal of Python's.
_NUMBERS: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SPELLED: Final = {"true": True, "false": False, **_NUMBERS}


def assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"takes NAME=VALUE, got {text!r}")
    if value.lower() in _SPELLED:
        return name, _SPELLED[value.lower()]
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def dtype_of(options: argparse.Namespace, images: Sequence[Any]) -> dict[str, Any]:
    """The dtype of the results: what is asked for, else that of the first picture."""
    if options.dtype:
        return {"dtype": options.dtype}
    return {"dtype": images[0].dtype} if images and images[0].dtype.kind != "b" else {}


def shape_of(options: argparse.Namespace) -> dict[str, tuple[int, int]]:
    return {"shape": tuple(options.shape)} if options.shape else {}


def compiled_of(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The function, compiled with the values of untyped parameters, and the others. What the file
    has compiled itself stays as it is, but for the target that is asked for."""
    function, values = function_of(options), dict(options.values)
    whole = whole_of(function, options.target, values)
    if whole is not None:
        return whole, values
    if isinstance(function, (Compiled, BoundMethod, Vectorized)):
        return function if options.target == "auto" else function.on(options.target), values
    parameters = Signature.of(function, values).parameters
    at_call = {p.name for p in parameters if p.name in values and p.dynamic is not None}
    known = {name: value for name, value in values.items() if name not in at_call}
    compiled = pygpu.compile(function, target=options.target, **known)
    return compiled, {name: values[name] for name in at_call}


def function_of(options: argparse.Namespace) -> Callable[..., Any]:
    """The function that is asked for, whose name `options` have from then on."""
    function, name = loaded(*options.function)
    options.function = options.function[0], name
    return function


def loaded(file: Path, name: str) -> tuple[Callable[..., Any], str]:
    """A function of a Python file, which is executed as a module, or of a module by its name; and
    that name. Of a file "" is the only function."""
    if not file.is_file():
        module = _module(str(file))
        if hasattr(module, name):
            return getattr(module, name), name
        if module is not None:
            raise UsageError(f"{file} has no function {name!r}{_alike(name, dir(module))}")
        there = file.with_name(f"{file.name}.py")
        raise UsageError(f"{file}: no such file" + f"; {there} is there" * there.is_file())
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses and pickling look there
    sys.path.insert(0, str(file.parent))
    spec.loader.exec_module(module)
    name = name or _only(file, module)
    found = getattr(module, name, None)
    if not callable(found):
        names = ", ".join(sorted(_own(module))) or "none"
        raise UsageError(f"{file} has no function {name!r}; it has {names}")
    return found, name


def _own(module: types.ModuleType) -> dict[str, Any]:
    """What a file has made that can be called: functions, compiled ones and classes."""
    own = module.__name__
    return {n: v for n, v in vars(module).items() if callable(v) and v.__module__ == own}


def _only(file: Path, module: types.ModuleType) -> str:
    """The name of the only function of a file that none of its others uses; `main` and names that
    begin with _ are not asked for."""
    own = {n: v for n, v in _own(module).items() if n != "main" and not isinstance(v, type)}
    used = {name for key, value in own.items() for name in _used(value) - {key}}
    inner = {id(value.__wrapped__) for value in own.values() if hasattr(value, "__wrapped__")}
    own = {name: value for name, value in own.items() if not name.startswith("_")}
    names = [name for name, v in own.items() if name not in used and id(v) not in inner]
    if len(names) == 1:
        return names[0]
    told = f"it has {', '.join(sorted(own))}: which is meant?" if own else "it has no function"
    raise UsageError(f"{file}: takes FILE:FUNCTION; {told}")


def _used(function: Any) -> set[str]:
    """The names of globals that a function's code reads, also in functions within it."""
    names: set[str] = set()
    codes: list[Any] = [getattr(inspect.unwrap(function), "__code__", None)]
    while codes:
        code = codes.pop()
        if isinstance(code, types.CodeType):
            names.update(code.co_names)
            codes += code.co_consts
    return names


def _alike(name: str, names: Sequence[str]) -> str:
    """The names like one that is not there."""
    alike = difflib.get_close_matches(name, names)
    return f"; it has {', '.join(alike)}" if alike else ""


def _module(name: str) -> Any:
    """A module of a package, as pygpu.filters; None where the name is none of these."""
    parts = name.split(".")
    if len(parts) < 2 or parts[-1] == "py" or not all(part.isidentifier() for part in parts):
        return None
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def opened(compiled: Any, options: argparse.Namespace) -> list[Any]:
    """The pictures, upright and at their depth, which results are saved with."""
    _check_count(compiled, options)
    return [picture(path) for path in options.images]


def _check_count(compiled: Any, options: argparse.Namespace) -> None:
    """UsageError for more pictures than the function has images."""
    is_method = isinstance(compiled, BoundMethod)
    signature = getattr(compiled.__func__ if is_method else compiled, "signature", None)
    if signature is None or signature.rest is not None:
        return
    taken = [signature.parameters[index] for index in signature.positional[is_method:]]
    if any(parameter.role == "object" for parameter in taken):
        return  # it may be an image
    names = [parameter.name for parameter in taken if parameter.role == "image"]
    if len(options.images) > len(names):
        many = f"{len(names)} image{'s' * (len(names) != 1)}" if names else "no image"
        shown = f" ({', '.join(names)})" if names else ""
        extra = " ".join(str(path) for path in options.images[len(names) :])
        others = [parameter.name for parameter in taken if parameter.role != "image"]
        more = "".join(f"; a value is given with --set {name}=VALUE" for name in others[:1])
        raise UsageError(
            f"{options.function[1]} takes {many}{shown}, got {len(options.images)}: "
            f"leave out {extra}{more}"
        )


def check_names(paths: Sequence[Path], folder: Path) -> None:
    """UsageError for two files that would become one of a folder, or one that would be lost."""
    names = [path.name for path in paths]
    for number, name in enumerate(names):
        if paths[number].resolve() == (folder / name).resolve():
            raise UsageError(f"{paths[number]}: it would be overwritten; give another folder")
        if name in names[:number]:
            raise UsageError(
                f"{folder / name}: {paths[names.index(name)]} and {paths[number]} would both "
                "become it; run them into two folders"
            )


def check_others(paths: Sequence[Path], outputs: Sequence[Path]) -> None:
    """UsageError for a file that would be lost by what is made of it."""
    for path in paths:
        if path.resolve() in [output.resolve() for output in outputs]:
            raise UsageError(f"{path}: it would be overwritten; give another -o OUT")


def picture(path: Path) -> pygpu.Image:
    try:
        return pygpu.Image.open(path)
    except IsADirectoryError:
        raise UsageError(f"{path}: a directory; {path / '*'} are the files in it") from None
    except (OSError, ValueError) as error:
        raise UsageError(of_file(path, error)) from None


def of_file(path: Path, error: Exception) -> str:
    """What is said of a file that cannot be read or written, in terms of the command line."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: no such {'file' if path.parent.is_dir() else 'directory'}"
    said = re.sub(r"dtype='(\w+)'", r"--dtype \1", str(error))
    goes = (
        "a stack goes to .tif" if is_stack(path) else f"an animation goes to {', '.join(ANIMATED)}"
    )
    said = re.sub("page=0 takes .*", goes, said)
    said = re.sub(r"convert it: .*\.convert\('(\w+)'\)\)", r"save it as \1", said)
    return said if said.startswith(str(path)) else f"{path}: {error}"


def colours(results: Sequence[Any]) -> str:
    """What is said of several results that may be meant as a colour."""
    alone = len(results) in (3, 4) and all(getattr(each, "channels", 0) == 1 for each in results)
    return f"; a colour is one result: return Vec{len(results)}(...)" if alone else ""
