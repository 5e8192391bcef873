"""The command line: run a function of a file on pictures, show its program, say what is here.

    python -m pygpu run edges.py:edgeDetect photo.jpg -o edges.png --set sigma=1.5
    python -m pygpu run edges.py:edgeDetect holiday/*.jpg -o out/
    python -m pygpu run edges.py:edgeDetect clip.mp4 -o edges.mp4
    python -m pygpu run waves.py:waves --shape 240 320 -o waves.mp4 --seconds 4
    python -m pygpu live edges.py:edgeDetect --camera
    python -m pygpu show edges.py:edgeDetect photo.jpg --glsl
    python -m pygpu web edges.py:edgeDetect photo.jpg -o edges.html
    python -m pygpu info

What the user got wrong is told in a line, with exit status 2; --traceback shows where it arose.
"""

import argparse
import math
import os
import re
import sys
import time
import traceback
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pygpu
from pygpu.command import stacks
from pygpu.command.batches import again, each_of, is_animation, is_folder, is_video, timed
from pygpu.command.given import (
    ANIMATED,
    UsageError,
    check_names,
    check_others,
    colours,
    compiled_of,
    dtype_of,
    example,
    examples,
    function_of,
    numbers,
    of_file,
    opened,
    picture,
    shape_of,
)
from pygpu.command.parser import Command, parsed
from pygpu.command.stacks import is_stack
from pygpu.command.whole import Whole, is_whole, needs_image
from pygpu.core.errors import CompileError
from pygpu.execution.arguments.signatures import Signature
from pygpu.execution.pipeline import Pipeline
from pygpu.execution.vectorized import Vectorized
from pygpu.image import motion
from pygpu.image.camera import Camera


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; the exit status."""
    options = parsed(COMMANDS, arguments)
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


# ---------------------------------------------------------------- commands


def _run(options: argparse.Namespace) -> None:
    if options.watch:
        watched = [options.function[0], *options.images]
        again(watched, lambda: _run_once(options), _tell)
        return
    _run_once(options)


def _run_once(options: argparse.Namespace) -> None:
    output = options.output[0]
    if options.camera is not None:
        _run_camera(options)
    elif options.seconds is not None:
        _run_times(options)
    elif is_video(output) or any(map(is_video, options.images)) or _is_moving(options):
        _run_videos(options)
    elif is_folder(output):
        _run_folder(options)
    elif _is_stack(options):
        _run_stack(options)
    else:
        _run_pictures(options)


def _is_moving(options: argparse.Namespace) -> bool:
    """Whether an animation is made of one. A PNG is taken for a single picture."""
    goes = options.output[0].suffix.lower() in ANIMATED
    return len(options.images) == 1 and goes and is_animation(options.images[0])


def _is_stack(options: argparse.Namespace) -> bool:
    """Whether a TIFF of several pages is made of one."""
    return (
        len(options.images) == 1
        and all(map(stacks.goes, options.output))
        and is_stack(options.images[0])
    )


def _run_videos(options: argparse.Namespace) -> None:
    """Frame by frame; several go into a folder, as pictures do."""
    output, paths = options.output[0], options.images
    compiled, values = compiled_of(options)
    if not any(is_video(path) or is_animation(path) for path in paths) and _is_of_time(compiled):
        raise UsageError(f"{output}: say how long it is, as in --seconds 4")
    into_folder = is_folder(output) and all(map(is_video, paths))
    if len(options.output) != 1 or (len(paths) != 1 and not into_folder):
        raise UsageError(
            "a video is made of one video: give one, and -o OUT once; several videos, and nothing "
            "else, go into a folder"
        )
    if into_folder:
        check_names(paths, output)
        output.mkdir(parents=True, exist_ok=True)
    failed = 0
    for path in paths:
        try:
            print(
                _video_made(compiled, values, path, output / path.name if into_folder else output)
            )
        except UsageError as error:
            if len(paths) == 1:
                raise
            failed += 1
            _tell(error)
    if failed:
        raise UsageError(f"{failed} of {len(paths)} videos could not be made")


def _video_made(compiled: Any, values: dict[str, Any], path: Path, output: Path) -> str:
    started = time.perf_counter()
    check_others([path], [output])
    try:
        if not path.is_file():
            raise FileNotFoundError
        told: dict[str, Any] = {"fps": motion.rate(path)}
        if is_video(output) and is_video(path):
            told["sound"] = path
        pygpu.animate(compiled, pygpu.frames(path), output, **told, **values)
    except (OSError, ImportError) as error:
        raise UsageError(of_file(path, error)) from None
    return f"{output}: {compiled.target}, {time.perf_counter() - started:.1f} s"


def _is_of_time(compiled: Any) -> bool:
    return motion.takes_time(compiled.function if isinstance(compiled, Whole) else compiled)


def _run_times(options: argparse.Namespace) -> None:
    """An animation of so many seconds of a function of time."""
    output, *others = options.output
    if others or not (is_video(output) or output.suffix.lower() in motion.STILL):
        told = ", ".join([*motion.MOVING, *motion.STILL])
        raise UsageError(f"--seconds: takes -o once, a video or an animation ({told})")
    if not 0 < options.seconds < math.inf:
        raise UsageError(f"--seconds: takes a number above 0, got {options.seconds:g}")
    compiled, values = compiled_of(options)
    name = options.function[1]
    if not _is_of_time(compiled):
        raise UsageError(f"--seconds: {name} has no parameter `time`, of which a film is made")
    images, more = opened(compiled, options), values | shape_of(options)
    started = time.perf_counter()

    def at(time: float) -> Any:
        result = compiled(*images, time=time, **more)
        if isinstance(result, tuple):
            raise UsageError(f"{name} has {len(result)} results, a film one{colours(result)}")
        return result

    count = max(round(options.seconds * motion.RATE), 1)
    try:
        pygpu.animate(at, count, output)
    except (OSError, ImportError) as error:
        raise UsageError(of_file(output, error)) from None
    print(f"{output}: {count} frames, {compiled.target}, {time.perf_counter() - started:.1f} s")


def _run_camera(options: argparse.Namespace) -> None:
    """A video of what a camera sees, until Ctrl-C or as long as was asked."""
    if options.images or len(options.output) != 1 or not is_video(options.output[0]):
        raise UsageError(
            f"--camera: takes no pictures, and -o once, a video ({', '.join(motion.MOVING)})"
        )
    compiled, values = compiled_of(options)
    camera, output = Camera(options.camera), options.output[0]
    try:
        camera.open()
        frames = timed(camera, options.seconds)
        pygpu.animate(compiled, frames, output, fps=camera.fps, **values)
    except KeyboardInterrupt:
        pass  # the end that was meant: the video is closed by now
    except (OSError, ImportError) as error:
        raise UsageError(str(error)) from None
    finally:
        camera.close()
    print(f"{output}: {compiled.target}")


def _live(options: argparse.Namespace) -> None:
    """Show a function at work."""
    function, values = function_of(options), dict(options.values)
    if options.target != "auto":
        function, values = compiled_of(options)
    needed = len(getattr(function, "channels", ())) or len(examples(_as_compiled(function)))
    images: list[Any] = [picture(path) for path in options.images]
    if options.camera is not None:
        images.append(_camera(options.camera))
    images += [example() for _ in range(needed - len(images))]
    asked = {"controls": dict(options.controls), "iterate": options.iterate} | shape_of(options)
    pygpu.show(function, *images, where=options.where, **asked, **values)


def _camera(number: int) -> Camera:
    try:
        return Camera(number).open()
    except (OSError, ImportError) as error:
        raise UsageError(str(error)) from None


def _as_compiled(function: Any) -> Any:
    """The function with a signature, to see which images it takes."""
    if isinstance(function, types.FunctionType) and Signature.of(function, {}).has_image:
        return types.SimpleNamespace(signature=Signature.of(function, {}))
    return function


def _run_folder(options: argparse.Namespace) -> None:
    """Each picture by itself, into a folder."""
    if len(options.output) != 1:
        raise UsageError("for a folder give -o once")
    compiled, values = compiled_of(options)
    folder = options.output[0]
    if not options.images:
        raise UsageError(f"{folder}: no pictures to fill it with")
    check_names(options.images, folder)
    folder.mkdir(parents=True, exist_ok=True)

    def one(path: Path) -> str:
        if is_stack(path):
            return _stack_saved(compiled, options, values, path, [folder / path.name])
        if path.suffix.lower() in ANIMATED and is_animation(path):
            return _video_made(compiled, values, path, folder / path.name)
        image = picture(path)
        result = compiled(image, **values, **shape_of(options), **dtype_of(options, [image]))
        if isinstance(result, tuple):
            more = colours(result)
            raise UsageError(
                f"{path}: {len(result)} results; a folder takes one of each picture{more}"
            )
        return _saved(result, folder / path.name)

    failed = each_of(options.images, one, _tell if len(options.images) > 1 else _raise)
    if failed:
        raise UsageError(f"{failed} of {len(options.images)} pictures could not be made")


def _run_stack(options: argparse.Namespace) -> None:
    """Each page of a TIFF by itself, into a TIFF."""
    compiled, values = compiled_of(options)
    started = time.perf_counter()
    said = _stack_saved(compiled, options, values, options.images[0], options.output)
    print(f"{said}, {compiled.target}, {1e3 * (time.perf_counter() - started):.0f} ms")


def _stack_saved(
    compiled: Any,
    options: argparse.Namespace,
    values: dict[str, Any],
    path: Path,
    outputs: list[Path],
) -> str:
    try:
        return stacks.write(compiled, path, outputs, values | shape_of(options), options.dtype)
    except OSError as error:
        raise UsageError(of_file(path, error)) from None


def _saved(image: Any, path: Path) -> str:
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        raise UsageError(of_file(path, error)) from None
    return f"{path}: {image.width} x {image.height}"


def _run_pictures(options: argparse.Namespace) -> None:
    check_others(options.images, options.output)
    compiled, values = compiled_of(options)
    images = opened(compiled, options)
    more = dtype_of(options, images)
    started = time.perf_counter()
    result = compiled(*images, **values, **shape_of(options), **more)
    results = result if isinstance(result, tuple) else (result,)
    took = time.perf_counter() - started
    if len(results) != len(options.output):
        raise UsageError(
            f"{options.function[1]} has {len(results)} results: give -o OUT once for each, "
            f"not {len(options.output)} times{colours(results)}"
        )
    for image, path in zip(results, options.output, strict=True):
        print(f"{_saved(image, path)}, {compiled.target}, {1e3 * took:.0f} ms")


def _show(options: argparse.Namespace) -> None:
    compiled, values = compiled_of(options)
    images = opened(compiled, options) or examples(compiled)
    values |= numbers(compiled, values)
    lowered = compiled.lower(*images, **values, **shape_of(options))
    if isinstance(compiled, Whole):
        if options.ssa or options.glsl:
            raise UsageError(f"{options.function[1]} is of whole images: --source prints all texts")
        print(lowered.source if options.source else lowered)
        return
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
    function, controls = function_of(options), dict(options.controls)
    output = options.output or Path(f"{options.function[1]}.html")
    try:
        if isinstance(function, Pipeline) or is_whole(function, {}):
            page = _recorded_page(function, options, controls, output)
        else:
            compiled, values = compiled_of(options)
            if isinstance(compiled, Vectorized):
                raise UsageError(
                    f"{options.function[1]} is a function of arrays: a page shows images"
                )
            images = opened(compiled, options) or examples(compiled)
            asked = {"controls": controls, "iterate": options.iterate} | shape_of(options)
            page = compiled.export(output, *images, **values, **asked)
    except OSError as error:
        raise UsageError(of_file(output, error)) from None
    print(f"{page}: {page.stat().st_size / 1024:.0f} KiB")
    if options.open:
        import webbrowser  # heavy, and needed only here

        webbrowser.open(page.resolve().as_uri())


def _recorded_page(
    function: Any, options: argparse.Namespace, controls: dict[str, Any], output: Path
) -> Path:
    if options.shape:
        raise UsageError(f"--shape: {function.__name__} makes images of sizes of its own")
    values, images = dict(options.values), [picture(path) for path in options.images]
    pipeline = function if isinstance(function, Pipeline) else pygpu.pipeline(function)
    if not images and needs_image(pipeline, values):
        images = [example()]
    asked: dict[str, Any] = {"controls": controls, "iterate": options.iterate}
    return pipeline.export(output, *images, **asked, **values)


def _info(options: argparse.Namespace) -> None:
    print(pygpu.info())


COMMANDS: Final[Mapping[str, Command]] = {
    "run": _run,
    "live": _live,
    "show": _show,
    "web": _web,
    "info": _info,
}

# ---------------------------------------------------------------- what went wrong


def _raise(error: Exception) -> None:
    raise error


def _tell(error: Exception) -> None:
    print(_explained(error), file=sys.stderr)


def _explained(error: Exception) -> str:
    """An error in as few lines as say it: a CompileError with its place and caret."""
    if isinstance(error, UsageError):
        return f"pygpu: {error}"
    lines = traceback.format_exception_only(error)
    if isinstance(error, CompileError | SyntaxError):
        return "".join(lines).rstrip()
    told = "".join(lines).rstrip()
    missing = re.search(r"\(\) needs (\w+): (?:float|u?int|bool|[biu]?vec\d)", told)
    told += f"; a value is given with --set {missing[1]}=VALUE" if missing else ""
    return "pygpu: " + told.replace("shape=(height, width)", "--shape HEIGHT WIDTH")
