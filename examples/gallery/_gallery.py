"""The command line of every picture here, made from the options of its `render`.

    def render(photo: Image, *, radius=3) -> Image: ...

    if __name__ == "__main__":
        main(render, radius=(1, 12))   # python kuwahara.py [IMAGE] [-o OUT] [--radius 5]

What is wrong with the image or an option is said in one line, with exit code 2.
"""

import argparse
import os
import sys
import time
import typing
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any, Literal, NoReturn

from PIL import Image as PILImage
from PIL import ImageOps

import pygpu
from pygpu import DeviceError, Image

HERE = Path(__file__).resolve().parent
IS_ALONE = not (HERE / "_gallery.py").exists()  # a program that was downloaded, this within it
PHOTO = Path(pygpu.__file__).parent / "image" / "files" / "astronaut.jpg"
OUT = HERE if IS_ALONE else HERE.parent.parent / "out" / "gallery"
TARGETS = ("auto", "fragment", "compute", "cpu")


def open_photo(path: str | Path = PHOTO) -> Image:
    """A picture file as a photograph: three channels, whatever it had. OSError if there is none."""
    with PILImage.open(path) as file:
        return Image(ImageOps.exif_transpose(file).convert("RGB"))


def main(render: Callable[..., Image], **ranges: tuple[float, float]) -> None:
    """Make the picture that the command line asks for. `ranges` are the numbers that options take:
    (least, greatest)."""
    file = Path(render.__code__.co_filename)
    parser = _parser(render, file, ranges)
    options = vars(parser.parse_args())
    source, out, target = (options.pop(name) for name in ("IMAGE", "out", "target"))
    if target:
        os.environ["PYGPU_TARGET"] = target
    try:
        photo = open_photo(source)
        picture, first, again = _timed(render, photo, options)
        out.parent.mkdir(parents=True, exist_ok=True)
        picture.save(out)
    except (OSError, ValueError, DeviceError) as error:
        parser.error(str(error).partition("\n")[0])
    print(
        f"{file.stem}: {picture.width} x {picture.height} on {_target(render)}, "
        f"first {1e3 * first:.0f} ms, then {1e3 * again:.1f} ms: {_short(out)}"
    )


def _timed(
    render: Callable[..., Image], photo: Image, options: dict[str, Any]
) -> tuple[Image, float, float]:
    """The picture, the seconds of the first time, and those of the second."""
    times = []
    for _ in range(2):
        started = time.perf_counter()
        picture = render(photo, **options)
        times.append(time.perf_counter() - started)
    return picture, times[0], times[1]


def _target(render: Callable[..., Image]) -> str:
    """What computed: any compiled function of the file can tell."""
    return next(f.target for f in render.__globals__.values() if hasattr(f, "iterate"))


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage."""
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(2)


def _parser(
    render: Callable[..., Image], file: Path, ranges: dict[str, tuple[float, float]]
) -> Parser:
    form = argparse.RawDescriptionHelpFormatter
    story = render.__globals__["__doc__"]
    parser = Parser(prog=file.name, description=story, formatter_class=form)
    parser.add_argument("IMAGE", nargs="?", default=PHOTO, help="a picture file (a photograph)")
    parser.add_argument(
        "-o", "--out", type=Path, default=OUT / f"{file.stem}.png", help="where the result goes"
    )
    parser.add_argument("--target", choices=TARGETS, help="what computes (the best there is)")
    for name, parameter in list(signature(render).parameters.items())[1:]:
        _add_option(parser, name, parameter.default, parameter.annotation, ranges.get(name))
    return parser


def _add_option(
    parser: Parser, name: str, default: Any, annotation: Any, limits: tuple[float, float] | None
) -> None:
    flag = f"--{name.replace('_', '-')}"
    if isinstance(default, bool):
        parser.add_argument(flag, action=argparse.BooleanOptionalAction, default=default)
        return
    told = {"default": default, "help": f"(%(default)s{_told(limits)})"}
    if typing.get_origin(annotation) is Literal:
        parser.add_argument(flag, choices=typing.get_args(annotation), **told)
    else:
        parser.add_argument(flag, type=number_type(type(default), limits), **told, metavar="N")


def _told(limits: tuple[float, float] | None) -> str:
    return f"; {limits[0]} to {limits[1]}" if limits else ""


def number_type(type: type, limits: tuple[float, float] | None) -> Callable[[str], Any]:
    """What makes a number of an option's text, refused outside the limits."""

    def number(text: str) -> Any:
        value = type(text)
        if limits and not limits[0] <= value <= limits[1]:
            raise argparse.ArgumentTypeError(f"takes {limits[0]} to {limits[1]}, got {text}")
        return value

    number.__name__ = type.__name__  # argparse names it where the text is no number
    return number


def _short(path: Path) -> Path:
    """The path as seen from here, or from the top of the repository, where it lies below."""
    for top in (Path.cwd(), HERE.parent.parent):
        if path.is_relative_to(top):
            return path.relative_to(top)
    return path
