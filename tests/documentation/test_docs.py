"""The documentation: its cells run in order, its pages are complete and reachable, its tables of
names agree with the sources. Sphinx itself is run by `make docs`."""

import inspect
import os
import re
import runpy
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

import pygpu
from pygpu.execution.inspection.lowered import Lowered
from pygpu.runtime import Compiled

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CELL = re.compile(r"^```\{code-cell\} python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("howto/*.md"), *DOCS.glob("*.rst")])
WITH_CELLS = [page for page in PAGES if CELL.search(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_CELLS, ids=lambda page: page.stem)
def test_cells_of_page_run_in_order(page, monkeypatch):
    monkeypatch.chdir(DOCS)
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    session = {"__name__": "page"}
    for number, cell in enumerate(CELL.findall(page.read_text(encoding="utf-8")), 1):
        raises = ":tags: [raises-exception]" in cell
        source = "\n".join(line for line in cell.splitlines() if not line.startswith(":tags:"))
        code = compile(source, f"{page.name}, cell {number}", "exec")
        if raises:
            with pytest.raises(pygpu.CompileError):
                exec(code, session)
        else:
            exec(code, session)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_is_reachable(page):
    if page.stem == "index":
        return
    texts = [other.read_text(encoding="utf-8") for other in PAGES if other.parent == DOCS]
    trees = re.findall(r":::\{toctree\}\n(.*?):::", "\n".join(texts), re.DOTALL)
    entries = re.findall(r"(?:^|<)([\w/]+)>?$", "\n".join(trees), re.MULTILINE)
    assert page.relative_to(DOCS).with_suffix("").as_posix() in entries


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "api.rst").read_text(encoding="utf-8")
    named = set(re.findall(r"pygpu\.(\w+)", text)) | set(re.findall(r"``(\w+)``", text))
    grouped = {f"{kind}Vec{n}" for kind in "IBU" for n in (2, 3, 4)}  # told as IVec2 to IVec4
    plain = {name for name in pygpu.__all__ if not hasattr(pygpu.glsl, name)}
    assert plain - named - grouped == set()
    assert set(pygpu.filters.__all__) - {"offsets"} <= set(re.findall(r"filters\.(\w+)", text))


def test_every_public_callable_has_a_docstring():
    silent = [
        name
        for name in pygpu.__all__
        if callable(getattr(pygpu, name)) and not inspect.getdoc(getattr(pygpu, name))
    ]
    assert silent == []


def test_documented_members_are_there():
    text = (DOCS / "api.rst").read_text(encoding="utf-8")
    for cls, path in (
        (Compiled, "pygpu.runtime.Compiled"),
        (Lowered, "pygpu.execution.inspection.lowered.Lowered"),
    ):
        members = re.search(rf"{re.escape(path)}\(\)\n   :members: (.*)", text)[1]
        assert [name for name in members.split(", ") if not hasattr(cls, name)] == []


def test_environment_variables_of_the_page_are_those_that_are_read():
    page = (DOCS / "installation.md").read_text(encoding="utf-8")
    sources = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "pygpu").rglob("*.py"))
    told = set(re.findall(r"`(PYGPU_\w+)`", page))
    assert told == set(re.findall(r"PYGPU_[A-Z_]+", sources))


def test_figures_of_the_page_are_those_of_lower():
    page = (DOCS / "debugging.md").read_text(encoding="utf-8")
    table = page.partition("| figure |")[2].partition("\n\n")[0]
    photo = np.zeros((4, 4), np.float32)
    stats = pygpu.compile(lambda im, p: im(p), im=pygpu.Image, p=pygpu.Position).lower(photo).stats
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(stats)


def test_every_picture_of_a_page_is_there():
    for page in PAGES:
        for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
            with PIL.Image.open(os.path.join(DOCS, target)) as picture:
                picture.verify()


def test_links_that_lead_nowhere_are_found(tmp_path):
    check = runpy.run_path(str(ROOT / "tools" / "check_links.py"))
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        '<a href="sub/b.html#there">1</a> <a href="#here">2</a> <h1 id="here">h</h1>'
        '<a href="https://example.org/x">3</a> <a href="sub/">4</a> <img src="no%20picture.png">'
        '<a href="sub/b.html#gone">5</a> <a href="missing.html">6</a>'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="there">b</p><a href="../a.html#here">7</a>')
    (tmp_path / "sub" / "index.html").write_text("")
    assert check["broken"](tmp_path) == [
        "a.html: missing.html",
        "a.html: no%20picture.png",
        "a.html: sub/b.html#gone",
    ]


def test_every_example_is_in_one_section_of_the_gallery_with_its_tags():
    gallery = ROOT / "examples" / "gallery"
    header = (gallery / "GALLERY_HEADER.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^:doc:`(\w+)`(?: \(([^)]*)\))?[,.]$", header, re.MULTILINE)
    programs = {path.stem: path.read_text(encoding="utf-8") for path in gallery.glob("[a-z]*.py")}
    assert sorted(name for name, _ in listed) == sorted(programs)
    for name, tags in listed:
        text = programs[name]
        shown = {
            "rounds": ".iterate(" in text,
            "between pixels": 'interpolation="linear"' in text,
            "passes": text.count("@pygpu.compile") > 1,
        }
        for tag, holds in shown.items():
            assert (tag in tags.split(", ")) == holds, f"{name}: {tag}"


@pytest.mark.parametrize("name", ["unsharp_mask", "wireframe"])
def test_downloaded_programs_of_the_gallery_run_alone(name, tmp_path):
    sys.modules.setdefault("sphinx.application", types.SimpleNamespace(Sphinx=None))
    made = runpy.run_path(str(DOCS / "_extensions" / "downloads.py"))["alone"]
    gallery = ROOT / "examples" / "gallery"
    text = made((gallery / f"{name}.py").read_text("utf-8"), gallery)
    (tmp_path / "it.py").write_text(text, "utf-8")
    small = PIL.Image.fromarray(pygpu.data.astronaut()).resize((64, 64))
    small.save(tmp_path / "photo.png")
    environ = os.environ | {"PYGPU_TARGET": "cpu"}
    command = [sys.executable, "it.py", "photo.png", "-o", "out.png"]
    subprocess.run(command, cwd=tmp_path, env=environ, check=True, capture_output=True)
    assert PIL.Image.open(tmp_path / "out.png").size[0] >= 64
