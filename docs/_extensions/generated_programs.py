"""For the gallery: the picture an example made, the example live in the browser below it, and
below its source the GLSL of its functions.

sphinx-gallery asks for a scraper by the name of this module. It is called after a block of an
example has run, with what the block defined, and answers in reStructuredText. sphinx-gallery puts
that above the source; when Sphinx reads the page, the programs are moved below.
"""

import ast
import re
import shutil
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import live_pages
from _gallery import Parser
from sphinx.application import Sphinx
from sphinx_gallery.scrapers import figure_rst

from pygpu.execution.inspection.lowered import Lowered
from pygpu.runtime import Compiled

BEGIN, END = ".. the programs begin", ".. the programs end\n"
TIMING = ".. rst-class:: sphx-glr-timing"


def _get_sg_image_scraper() -> Any:
    return scrape


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """The pictures and programs of a block that has run."""
    defined = block_vars["example_globals"]
    name = Path(block_vars["src_file"]).stem
    written = defined["main"].__globals__["OUT"] / f"{name}.png"
    picture = Path(next(block_vars["image_path_iterator"]))
    shutil.copyfile(written, picture)
    source = Path(block_vars["src_file"]).read_text("utf-8")  # what runs has no docstring here
    title = (ast.get_docstring(ast.parse(source)) or name).partition("\n")[0]
    parts = [figure_rst([str(picture)], gallery_conf["src_dir"], title)]
    parts.append(live_pages.embedded(name, title, defined["render"]))
    shown = [folded(title, program.glsl) for title, program in programs(defined)]
    return "\n".join([*parts, BEGIN, *shown, END])


def programs(defined: dict[str, Any]) -> Iterator[tuple[str, Lowered]]:
    """All that was compiled of an example's functions, each with a title."""
    for name, function in defined.items():
        if isinstance(function, Compiled) and function.__module__ == defined["__name__"]:
            for program in function.programs:
                stats = program.stats
                figures = f"{_counted(stats['taps'], 'tap')}, {_counted(stats['ops'], 'operation')}"
                yield f"<code>{name}</code> in GLSL: {figures}", program


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def folded(title: str, glsl: str) -> str:
    """A program that opens at a click."""
    return f"""
.. raw:: html

    <details class="program"><summary>{title}</summary>

.. code-block:: glsl

{textwrap.indent(glsl.strip(), "    ")}

.. raw:: html

    </details>

"""


def move(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the programs of a page below its source."""
    found = re.search(f"{re.escape(BEGIN)}(.*?){re.escape(END)}", source[0], re.DOTALL)
    if found:
        rest = source[0][: found.start()] + source[0][found.end() :]
        source[0] = rest.replace(TIMING, f"{found[1]}\n\n{TIMING}", 1)


def fail(parser: Parser, message: str) -> NoReturn:
    """An example that cannot be run ends the build, with its reason: an exit would be silent."""
    raise RuntimeError(f"{parser.prog}: {message}")


def setup(app: Sphinx) -> dict[str, bool]:
    Parser.error = fail  # type: ignore[method-assign]
    app.connect("source-read", move)
    return {"parallel_read_safe": True}
