"""Programs of the gallery, as readers download them, run alone: what they take from the gallery's
own helpers comes with them.

alone(text, folder)        # the text of a program with its helpers in it
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

IMPORT = re.compile(r"^(?:from|import) (_\w+)", re.MULTILINE)


def alone(text: str, folder: Path) -> str:
    """The program with the modules of `folder` that it, or they, import."""
    needed: list[str] = []
    texts = {}
    waiting = IMPORT.findall(text)
    while waiting:
        name = waiting.pop()
        path = folder / f"{name}.py"
        if name in texts or not path.exists():
            continue
        texts[name] = path.read_text("utf-8")
        needed.insert(0, name)  # before those that import it
        waiting += IMPORT.findall(texts[name])
    if not needed:
        return text
    head = "# What the gallery's programs share, so that this one runs alone.\nimport sys, types\n"
    for name in needed:
        head += (
            f"\n{name} = sys.modules[{name!r}] = types.ModuleType({name!r})\n"
            f"{name}.__file__ = __file__\n"
            f"exec({texts[name]!r}, vars({name}))\n"
        )
    end = text.index('"""', 3) + 4  # of the program's story
    return f"{text[:end]}\n{head}\n{text[end:].lstrip()}"


def write(app: Sphinx, error: Exception | None) -> None:
    folder = Path(app.srcdir).parent / "examples" / "gallery"
    for path in (Path(app.outdir) / "_downloads").glob("*/*.py"):
        if (folder / path.name).exists():
            path.write_text(alone((folder / path.name).read_text("utf-8"), folder), "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
