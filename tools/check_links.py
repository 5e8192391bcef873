"""Checks that every link of built pages leads to a file and an anchor that are there.

python tools/check_links.py docs/_build/html      # without network: other sites are left alone
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "iframe": "src"}


class Page(HTMLParser):
    """The links of a page, and what may be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        link = given.get(LINKS.get(tag, ""))
        if link:
            self.links.add(link)


def broken(root: Path) -> list[str]:
    """What is wrong, as lines: PAGE: LINK."""
    pages = {path.resolve(): Page(path.read_text("utf-8")) for path in root.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            aim = aim / "index.html" if aim.is_dir() else aim
            anchor = unquote(parts.fragment)
            is_there = aim.exists() and (aim not in pages or anchor in {"", *pages[aim].anchors})
            if not is_there:
                found.append(f"{path.relative_to(root.resolve())}: {link}")
    return found


def main(folder: str) -> int:
    root = Path(folder)
    wrong = broken(root)
    print("\n".join(wrong) or f"{folder}: all links lead somewhere")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
