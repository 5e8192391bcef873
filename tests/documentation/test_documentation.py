"""The Python in README.md and docs/ runs, block after block, as a reader would paste it."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.signal

import pygpu
from programs import filters
from programs.filters import SOBEL

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))]


def ramp(p: pygpu.Position):
    return p.x / 100


def blocks(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


@pytest.fixture
def surroundings() -> dict[str, object]:
    """What the pages take for granted: imports, a photograph, names of earlier pages."""
    photo = np.random.default_rng(0).random((24, 32, 3)).astype(np.float32)
    return {
        "__name__": "page",
        "dataclass": dataclass,
        "np": np,
        "scipy": scipy,
        "pygpu": pygpu,
        **{name: getattr(pygpu, name) for name in ("Image", "Position", "Vec2", "Vec3", "Vec4")},
        "offsets": pygpu.offsets,
        "photo": photo,
        "sobel": SOBEL,
        "edgeDetect": filters.edgeDetect,
        "edges": pygpu.compile(filters.edgeDetect, kernel=SOBEL),
        "mandelbrot": pygpu.compile(ramp),
        "buffer": np.empty_like(photo),
    }


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)])
def test_code_of_page_runs(
    page: str, surroundings: dict[str, object], monkeypatch, tmp_path
) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "interpreter")
    monkeypatch.chdir(tmp_path)
    for number, block in enumerate(blocks(page), 1):
        exec(compile(block, f"{page}, block {number}", "exec"), surroundings)


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
