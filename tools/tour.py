"""Runs the Python of a page of documentation, block after block, as a reader would type it.

python tools/tour.py README.md docs/howto.md      # in any directory: files go to a new one
"""

import os
import re
import sys
import tempfile
from pathlib import Path


def main(pages: list[str]) -> None:
    texts = {page: Path(page).read_text(encoding="utf-8") for page in pages}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = os.getcwd()
        os.chdir(folder)
        for page, text in texts.items():
            blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
            session: dict[str, object] = {"__name__": "page"}
            for number, block in enumerate(blocks, 1):
                exec(compile(block, f"{page}, block {number}", "exec"), session)
            print(f"{page}: {len(blocks)} blocks")
        os.chdir(home)


if __name__ == "__main__":
    main(sys.argv[1:])
