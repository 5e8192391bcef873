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
# Where links of those pages to each other lead from here.
HERE = {file: f"{page}.md" for page, file in PAGES.items()}


def moved(link: re.Match[str]) -> str:
    """A link of a page at the root, as it leads from here."""
    target = HERE.get(link[1], link[1])
    return f"]({target.removeprefix('docs/') if target.endswith('.md') else target}"


def show(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the root's page in the place of its stand-in."""
    if page in PAGES:
        text = (ROOT / PAGES[page]).read_text(encoding="utf-8")
        source[0] = re.sub(r"\]\(([^)#]+)", moved, text)


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
