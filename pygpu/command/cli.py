"""The command line: run a function of a file on pictures, show its program, say what is here.

    python -m pygpu run edges.py:edgeDetect photo.jpg -o edges.png --set sigma=1.5
    python -m pygpu run edges.py:edgeDetect holiday/*.jpg -o out/
    python -m pygpu run edges.py:edgeDetect clip.mp4 -o edges.mp4
    python -m pygpu show edges.py:edgeDetect photo.jpg --glsl
    python -m pygpu web edges.py:edgeDetect photo.jpg -o edges.html
    python -m pygpu info

What the user got wrong is told in a line, with exit status 2; --traceback shows where it arose.
"""

import argparse
import ast
import importlib.util
import os
import re
import sys
import time
import traceback
import types
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pygpu
from pygpu.command.batches import again, each_of, is_folder, is_video
from pygpu.core.errors import CompileError
from pygpu.devices import targets
from pygpu.execution.arguments.signatures import MISSING, Signature
from pygpu.execution.vectorized import Vectorized
from pygpu.execution.web.export import export_recorded
from pygpu.image import motion
from pygpu.runtime import BoundMethod, Compiled


class UsageError(Exception):
    """What the user got wrong, in one line."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        options.command(options)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # who reads has read enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # the user's function may raise anything
        if options.traceback:
            raise
        _tell(error)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pygpu", description="Run Python functions on whole images.")
    parser.add_argument("--version", action="version", version=f"pygpu {pygpu.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    function = argparse.ArgumentParser(add_help=False)
    function.add_argument("function", metavar="FILE:FUNCTION", type=_function_name)
    function.add_argument("images", metavar="IMAGE", nargs="*", type=Path)
    function.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="values",
        type=_assignment,
        action="append",
        default=[],
        help="give a parameter a value: a Python literal, or else a string",
    )
    function.add_argument("--target", choices=targets.public(), default="auto")
    function.add_argument(
        "--shape",
        metavar=("HEIGHT", "WIDTH"),
        nargs=2,
        type=int,
        help="the size of the result; for functions without images it must be given",
    )

    run = commands.add_parser("run", parents=[function], help="run a function, save the result")
    run.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        action="append",
        required=True,
        help="where to save; once for each result",
    )
    run.add_argument("--dtype", help="of the result; that of the first picture if not given")
    run.add_argument(
        "--watch", action="store_true", help="run again whenever the function or a picture changes"
    )
    run.set_defaults(command=_run)

    show = commands.add_parser("show", parents=[function], help="print a function's program")
    show.add_argument("--ssa", action="store_true", help="the representation alone")
    show.add_argument("--glsl", action="store_true", help="as a GLSL fragment program alone")
    show.add_argument("--source", action="store_true", help="the target's program alone")
    show.set_defaults(command=_show)

    web = commands.add_parser(
        "web", parents=[function], help="make a page that runs a function in the browser"
    )
    web.add_argument("-o", "--output", metavar="OUT", type=Path, help="the page (FUNCTION.html)")
    web.add_argument(
        "--control",
        metavar="NAME=RANGE",
        dest="controls",
        type=_assignment,
        action="append",
        default=[],
        help="what changes a number: LEAST,GREATEST or LEAST,GREATEST,STEP, colour, time, False",
    )
    web.add_argument(
        "--iterate", metavar="N", type=int, help="run live, N rounds for each picture shown"
    )
    web.add_argument("--open", action="store_true", help="open the page in the browser")
    web.set_defaults(command=_web)

    info = commands.add_parser("info", help="print what targets are here, and why others are not")
    info.set_defaults(command=_info)
    for command in (run, show, web, info):
        command.add_argument("--traceback", action="store_true", help="show where an error arose")
    return parser


# ---------------------------------------------------------------- commands


def _run(options: argparse.Namespace) -> None:
    if options.watch:
        watched = [options.function[0], *options.images]
        again(watched, lambda: _run_once(options), _tell)
        return
    _run_once(options)


def _run_once(options: argparse.Namespace) -> None:
    output = options.output[0]
    if is_video(output) or any(map(is_video, options.images)):
        _run_video(options)
    elif is_folder(output):
        _run_folder(options)
    else:
        _run_pictures(options)


def _run_video(options: argparse.Namespace) -> None:
    """Frame by frame."""
    if len(options.images) != 1 or len(options.output) != 1:
        raise UsageError("a video is made of one video: give one, and -o OUT once")
    compiled, values = _compiled(options)
    (path,), (output,) = options.images, options.output
    started = time.perf_counter()
    try:
        rate = motion.rate(path)
        pygpu.animate(compiled, pygpu.frames(path), output, fps=rate, **values)
    except (OSError, ImportError) as error:
        raise UsageError(_of_file(path, error)) from None
    print(f"{output}: {compiled.target}, {time.perf_counter() - started:.1f} s")


def _run_folder(options: argparse.Namespace) -> None:
    """Each picture by itself, into a folder."""
    if len(options.output) != 1:
        raise UsageError("for a folder give -o once")
    compiled, values = _compiled(options)
    folder = options.output[0]
    if not options.images:
        raise UsageError(f"{folder}: no pictures to fill it with")
    folder.mkdir(parents=True, exist_ok=True)

    def one(path: Path) -> str:
        picture = _picture(path)
        result = compiled(picture, **values, **_shape(options), **_dtype(options, [picture]))
        return _saved(result, folder / path.name)

    failed = each_of(options.images, one, _tell)
    if failed:
        raise UsageError(f"{failed} of {len(options.images)} pictures could not be made")


def _saved(image: Any, path: Path) -> str:
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        raise UsageError(_of_file(path, error)) from None
    return f"{path}: {image.width} x {image.height}"


def _run_pictures(options: argparse.Namespace) -> None:
    compiled, values = _compiled(options)
    images = _opened(compiled, options)
    more = _dtype(options, images)
    started = time.perf_counter()
    result = compiled(*images, **values, **_shape(options), **more)
    results = result if isinstance(result, tuple) else (result,)
    took = time.perf_counter() - started
    if len(results) != len(options.output):
        raise UsageError(
            f"{options.function[1]} has {len(results)} results: give -o OUT once for each, "
            f"not {len(options.output)} times"
        )
    for image, path in zip(results, options.output, strict=True):
        print(f"{_saved(image, path)}, {compiled.target}, {1e3 * took:.0f} ms")


def _show(options: argparse.Namespace) -> None:
    compiled, values = _compiled(options)
    images = _opened(compiled, options)
    lowered = compiled.lower(*images, **values, **_shape(options))
    asked = [
        text
        for text, is_asked in (
            (lowered.ssa.partition("\n\n# after\n")[2], options.ssa),
            (lowered.glsl, options.glsl),
            (lowered.source, options.source),
        )
        if is_asked
    ]
    if asked:
        print("\n\n".join(text.rstrip() for text in asked))
    else:
        print(lowered)
        print("--ssa, --glsl and --source print its texts")


def _web(options: argparse.Namespace) -> None:
    function, controls = _loaded(*options.function), dict(options.controls)
    output = options.output or Path(f"{options.function[1]}.html")
    try:
        if _is_over_images(function):
            page = _recorded_page(function, options, controls, output)
        else:
            compiled, values = _compiled(options)
            images = _opened(compiled, options) or _examples(compiled)
            asked = {"controls": controls, "iterate": options.iterate} | _shape(options)
            page = compiled.export(output, *images, **values, **asked)
    except OSError as error:
        raise UsageError(_of_file(output, error)) from None
    print(f"{page}: {page.stat().st_size / 1024:.0f} KiB")
    if options.open:
        webbrowser.open(page.resolve().as_uri())


def _is_over_images(function: Any) -> bool:
    """Whether a function is plain Python over whole images: of an image, and no position."""
    if not isinstance(function, types.FunctionType):
        return False
    signature = Signature.of(function, {})
    return signature.has_image and signature.position is None


def _recorded_page(
    function: Any, options: argparse.Namespace, controls: dict[str, Any], output: Path
) -> Path:
    if options.iterate is not None:
        raise UsageError(
            f"--iterate: rounds are of a function of a position, {function.__name__} has none"
        )
    images = [_picture(path) for path in options.images] or [_example()]
    return export_recorded(function, output, images, dict(options.values), controls)


def _examples(compiled: Any) -> list[pygpu.Image]:
    """A picture for each image that a function must be given."""
    signature = getattr(compiled, "signature", None)
    if signature is None:
        return []
    needed = [p for p in signature.parameters if p.role == "image" and p.default is MISSING]
    return [_example() for _ in needed]


def _example() -> pygpu.Image:
    return pygpu.Image(pygpu.data.astronaut())


def _info(options: argparse.Namespace) -> None:
    print(pygpu.info())


# ---------------------------------------------------------------- arguments


def _function_name(text: str) -> tuple[Path, str]:
    file, colon, name = text.rpartition(":")
    if not colon or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"takes FILE:FUNCTION, got {text!r}")
    return Path(file), name


def _assignment(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"takes NAME=VALUE, got {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _dtype(options: argparse.Namespace, images: Sequence[Any]) -> dict[str, Any]:
    """The dtype of the results: what is asked for, else that of the first picture."""
    if options.dtype:
        return {"dtype": options.dtype}
    return {"dtype": images[0].dtype} if images and images[0].dtype.kind != "b" else {}


def _shape(options: argparse.Namespace) -> dict[str, tuple[int, int]]:
    return {"shape": tuple(options.shape)} if options.shape else {}


def _compiled(options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The function, compiled with the values of untyped parameters, and the others. What the file
    has compiled itself stays as it is, but for the target that is asked for."""
    function = _loaded(*options.function)
    values = dict(options.values)
    if isinstance(function, (Compiled, BoundMethod, Vectorized)):
        return function if options.target == "auto" else function.on(options.target), values
    parameters = Signature.of(function, values).parameters
    at_call = {p.name for p in parameters if p.name in values and p.dynamic is not None}
    known = {name: value for name, value in values.items() if name not in at_call}
    compiled = pygpu.compile(function, target=options.target, **known)
    return compiled, {name: values[name] for name in at_call}


def _loaded(file: Path, name: str) -> Callable[..., Any]:
    """A function of a Python file, which is executed as a module."""
    if not file.is_file():
        raise UsageError(f"{file}: no such file")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise UsageError(f"{file}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses and pickling look there
    sys.path.insert(0, str(file.parent))
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if not callable(found):
        names = sorted(
            n for n, v in vars(module).items() if callable(v) and v.__module__ == file.stem
        )
        raise UsageError(f"{file} has no function {name!r}; it has {', '.join(names) or 'none'}")
    return found  # type: ignore[no-any-return]


def _opened(compiled: Any, options: argparse.Namespace) -> list[Any]:
    """The pictures, upright and at their depth, which results are saved with."""
    _check_count(compiled, options)
    return [_picture(path) for path in options.images]


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


def _picture(path: Path) -> pygpu.Image:
    try:
        return pygpu.Image.open(path)
    except (OSError, ValueError) as error:
        raise UsageError(_of_file(path, error)) from None


def _of_file(path: Path, error: Exception) -> str:
    """What is said of a file that cannot be read or written, in terms of the command line."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: no such {'file' if path.parent.is_dir() else 'directory'}"
    said = re.sub(r"dtype='(\w+)'", r"--dtype \1", str(error))
    return said if said.startswith(str(path)) else f"{path}: {error}"


def _tell(error: Exception) -> None:
    print(_explained(error), file=sys.stderr)


def _explained(error: Exception) -> str:
    """An error in as few lines as say it: a CompileError with its place and caret."""
    if isinstance(error, UsageError):
        return f"pygpu: {error}"
    lines = traceback.format_exception_only(error)
    if isinstance(error, CompileError | SyntaxError):
        return "".join(lines).rstrip()
    return "pygpu: " + "".join(lines).rstrip()


__all__ = ["main"]
