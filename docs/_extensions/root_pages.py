"""Pages that live at the root of the repository, shown in place of the pages here that name them,
and the notebooks, which Sphinx wants below its own directory.

`docs/architecture.md` holds a link to `../ARCHITECTURE.md` for those who read it in the repository;
the documentation has the page itself.
"""

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
PAGES = {
    "architecture": "ARCHITECTURE.md",
    "contributing": "CONTRIBUTING.md",
    "changes": "CHANGELOG.md",
}
# Links of those pages, and of pages here to files that are no pages: where they lead from here.
HERE = {f"{file}": f"{page}.md" for page, file in PAGES.items()} | {
    "docs/language.md": "language.md"
}


def show(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the root's page in the place of its stand-in."""
    if page in PAGES:
        text = (ROOT / PAGES[page]).read_text(encoding="utf-8")
        source[0] = re.sub(r"\]\(([^)#]+)", lambda m: f"]({HERE.get(m[1], m[1])}", text)


def bring_notebooks(app: Sphinx) -> None:
    """Copy the notebooks that have changed, and the photograph that they open."""
    here = Path(app.srcdir)
    (here / "notebooks").mkdir(exist_ok=True)
    copies = {ROOT / "examples" / "astronaut.jpg": here / "astronaut.jpg"}
    for notebook in sorted((ROOT / "examples" / "notebooks").glob("*.ipynb")):
        copies[notebook] = here / "notebooks" / notebook.name
    for source, target in copies.items():
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", bring_notebooks)
    app.connect("source-read", show)
    return {"parallel_read_safe": True}
