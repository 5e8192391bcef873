"""Runs the Python of a page of documentation, block after block, as a reader would type it.

python tools/tour.py README.md docs/howto.md      # in any directory: files go to a new one
"""

import os
import re
import sys
import tempfile
from pathlib import Path

# Plain blocks, and those whose results the built pages show.
BLOCK = re.compile(r"^```(?:python|\{code-cell\} python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
RAISES = ":tags: [raises-exception]"


def run(block: str, name: str, session: dict[str, object]) -> None:
    """Execute a block; one that shows an error must raise."""
    source = "\n".join(line for line in block.splitlines() if not line.startswith(":tags:"))
    try:
        exec(compile(source, name, "exec"), session)
    except Exception:
        if RAISES not in block:
            raise
    else:
        assert RAISES not in block, f"{name} raises nothing"


def main(pages: list[str]) -> None:
    texts = {page: Path(page).read_text(encoding="utf-8") for page in pages}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = os.getcwd()
        os.chdir(folder)
        for page, text in texts.items():
            blocks = BLOCK.findall(text)
            session: dict[str, object] = {"__name__": "page"}
            for number, block in enumerate(blocks, 1):
                run(block, f"{page}, block {number}", session)
            print(f"{page}: {len(blocks)} blocks")
        os.chdir(home)


if __name__ == "__main__":
    main(sys.argv[1:])
