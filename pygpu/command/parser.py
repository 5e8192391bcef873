"""What a command line may say: commands, and what each takes.

parser = parser_of({"run": run, ...})
options = parser.parse_args(["run", "edges.py:sobel", "photo.jpg", "-o", "out.png"])
options.command(options)
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import pygpu
from pygpu.command.given import assignment, function_name, output
from pygpu.devices import targets
from pygpu.execution.web.controls import PLACES

Command = Callable[[argparse.Namespace], None]


class _Parser(argparse.ArgumentParser):
    """Tells in one line what cannot be parsed, without all that could be."""

    def error(self, message: str) -> NoReturn:
        option = re.match("unrecognized arguments: --?([A-Za-z_]\\w*)", message)
        if option:
            message += f"; a parameter of the function is given with --set {option[1]}=VALUE"
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help says more)\n")


def parsed(commands: Mapping[str, Command], arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of a command line. Pictures may be given after options, too."""
    parser = parser_of(commands)
    options, rest = parser.parse_known_args(arguments)
    if any(each.startswith("-") for each in rest) or (rest and not hasattr(options, "images")):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if rest:
        options.images += map(Path, rest)
    return options


def parser_of(does: Mapping[str, Command]) -> argparse.ArgumentParser:
    """The parser, which is given what each command does."""
    parser = _Parser("pygpu", description="Run Python functions on whole images.")
    parser.add_argument("--version", action="version", version=f"pygpu {pygpu.__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")

    function = _of_function()
    parser.set_defaults(command=lambda options: _nothing_asked(parser))
    run = commands.add_parser("run", parents=[function], help="run a function, save the result")
    _add_running(run)
    run.set_defaults(command=does["run"])

    live = commands.add_parser(
        "live", parents=[function], help="show a function at work, while its file is edited"
    )
    _add_camera(live)
    _add_controls(live)
    live.add_argument("--where", choices=PLACES, help="a window where there is a screen, else page")
    live.set_defaults(command=does["live"])

    show = commands.add_parser("show", parents=[function], help="print a function's program")
    show.add_argument("--ssa", action="store_true", help="the representation alone")
    show.add_argument("--glsl", action="store_true", help="as a GLSL fragment program alone")
    show.add_argument("--source", action="store_true", help="the target's program alone")
    show.set_defaults(command=does["show"])

    web = commands.add_parser(
        "web", parents=[function], help="make a page that runs a function in the browser"
    )
    web.add_argument("-o", "--output", metavar="OUT", type=Path, help="the page (FUNCTION.html)")
    _add_controls(web)
    web.add_argument("--open", action="store_true", help="open the page in the browser")
    web.set_defaults(command=does["web"])

    info = commands.add_parser("info", help="print what targets are here, and why others are not")
    info.set_defaults(command=does["info"])
    for command in (run, live, show, web, info):
        command.add_argument("--traceback", action="store_true", help="show where an error arose")
    return parser


def _nothing_asked(parser: argparse.ArgumentParser) -> None:
    parser.print_help(sys.stderr)
    parser.exit(2)


def _of_function() -> _Parser:
    """The arguments of commands that are about a function."""
    function = _Parser(add_help=False)
    function.add_argument(
        "function",
        metavar="FILE:FUNCTION",
        type=function_name,
        help="a file of Python, or a module, and a function of it; the file alone for its only one",
    )
    function.add_argument("images", metavar="IMAGE", nargs="*", type=Path, default=[])
    function.add_argument(
        "--set",
        metavar="NAME=VALUE",
        dest="values",
        type=assignment,
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
    return function


def _add_running(parser: argparse.ArgumentParser) -> None:
    """The arguments of commands that run a function: what results are made of, where they go."""
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=output,
        action="append",
        required=True,
        help="where to save; once for each result",
    )
    parser.add_argument("--dtype", help="of the result; that of the first picture if not given")
    parser.add_argument(
        "--watch", action="store_true", help="run again whenever the function or a picture changes"
    )
    _add_camera(parser)
    parser.add_argument(
        "--seconds",
        type=float,
        help="how long a film of a function of `time` is, or of a camera; that of a camera goes on "
        "until Ctrl-C if not given",
    )


def _add_camera(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--camera",
        metavar="NUMBER",
        type=int,
        nargs="?",
        const=0,
        help="take the pictures of a camera, 0 for the first",
    )


def _add_controls(parser: argparse.ArgumentParser) -> None:
    """What changes numbers on a page or beside a picture."""
    parser.add_argument(
        "--control",
        metavar="NAME=RANGE",
        dest="controls",
        type=assignment,
        action="append",
        default=[],
        help="what changes a number: LEAST,GREATEST or LEAST,GREATEST,STEP, colour, time, mouse, "
        "False",
    )
    parser.add_argument(
        "--iterate", metavar="N", type=int, help="a simulation: N rounds for each picture shown"
    )
