"""The Python in README.md and docs/ runs, block after block, as a reader would paste it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FILES = [*DOCS.glob("*.md"), *DOCS.glob("howto/*.md")]
PAGES = ["README.md", *sorted(str(path.relative_to(ROOT)) for path in FILES)]


def blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_code_of_page_runs(page: str, monkeypatch, tmp_path) -> None:
    """As typed into a new session, in any directory: a page defines what its blocks use."""
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    monkeypatch.chdir(tmp_path)
    session: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page}, block {number}", "exec"), session)


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", *PAGES])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    missing = [
        link
        for link in links
        if not link.startswith(("http", "gallery/"))  # the gallery is generated
        and not (ROOT / page).parent.joinpath(link).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("page", ["README.md", "docs/debugging.md"])
def test_quoted_messages_are_what_is_said(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    quoted = re.findall(r"^pygpu\.CompileError: (.*?)(?=\n```|\n\w+ was called)", text, re.M | re.S)
    golden = [
        file.read_text(encoding="utf-8") for file in (ROOT / "tests/goldens/errors").iterdir()
    ]
    assert quoted
    for message in quoted:
        assert any(message.replace("\n", " ") in said for said in golden)
