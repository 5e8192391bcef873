"""What notebooks show: errors at the user's cell, programs beside their source, pictures; and the
notebooks of examples/notebooks, which run."""

import io
import json
import re
import traceback
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from pygpu import Image, Position, Vec3

PHOTO = np.random.default_rng(3).random((6, 8, 3), dtype=np.float32)


@pygpu.compile
def scale(im: Image, p: Position, gain: float = 2.0, shift=(1, 0)):
    return gain * im(p + shift)


def larger(v):
    return max(v, Vec3(0, 0, 0))


@pygpu.compile
def refused(im: Image, p: Position):
    return larger(im(p))


@pygpu.compile
def failing(im: Image, p: Position):
    return im(p) * {"one": 1}["two"]


# ---------------------------------------------------------------- programs


def test_a_program_is_shown_beside_its_python_and_glsl():
    html = scale.lower(PHOTO)._repr_html_()
    assert html.index("<b>Python</b>") < html.index("<b>SSA</b>") < html.index("<b>GLSL</b>")
    assert "return gain * im(p + shift)" in html
    assert "load im[x + 1, y] nearest" in html
    assert "#version 330 core" in html
    assert "1 tap, " in html


def test_glsl_is_made_without_a_driver():
    lowered = pygpu.compile(scale.__wrapped__, target="interpreter").lower(PHOTO)
    assert lowered.target == "interpreter"
    assert "texelFetch(im" in lowered.glsl
    assert "uniform float gain" in lowered.glsl


def test_a_program_without_source_is_shown_all_the_same():
    namespace = {"Image": Image, "Position": Position}
    exec("def unseen(im: Image, p: Position): return im(p)", namespace)
    lowered = pygpu.compile(namespace["unseen"]).lower(PHOTO)
    assert lowered.python == ""
    assert "<b>Python</b>" not in lowered._repr_html_()


def test_a_compiled_function_says_which_parameters_are_known():
    assert repr(scale) == (
        "<compiled scale(im: image, p: position, gain: float; known shift=(1, 0)), target 'auto'>"
    )
    cells = re.findall(r"<td[^>]*>(.*?)</td>", scale._repr_html_())
    assert dict(zip(cells[::2], cells[1::2], strict=True)) == {
        "<code>im</code>": "dynamic: image",
        "<code>p</code>": "the position being computed, supplied by PyGPU",
        "<code>gain</code>": "dynamic: float, 2.0 where none is given",
        "<code>shift</code>": "known: (1, 0)",
    }


def test_programs_lists_what_was_compiled():
    f = pygpu.compile(scale.__wrapped__)
    assert f.programs == []
    for gain in (1.0, 2.0, 3.0):
        f(PHOTO, gain=gain)
    assert len(f.programs) == 1
    f(PHOTO, shift=(0, 1))
    assert [each.stats["taps"] for each in f.programs] == [1, 1]


def test_html_escapes_what_the_user_wrote():
    shown = pygpu.compile(lambda im, p, k: im(p) + len(k), im=Image, p=Position, k="<b>")
    assert "&lt;b&gt;" in shown._repr_html_()


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("use", ["call", "lower", "iterate"])
@pytest.mark.parametrize("function", [refused, failing])
def test_tracebacks_show_the_users_frames_alone(function, use):
    uses = {
        "call": lambda: function(PHOTO),
        "lower": lambda: function.lower(PHOTO),
        "iterate": lambda: function.iterate(PHOTO, 2),
    }
    with pytest.raises((pygpu.CompileError, KeyError)) as caught:
        uses[use]()
    files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
    assert files == {__file__}


@pytest.mark.parametrize("index", ["a", 7])
def test_wrong_indices_of_vectors_show_the_users_frames_alone(index):
    vector = pygpu.Vec2(1, 2)
    for use in (vector.__getitem__, lambda index: vector.__setitem__(index, 1)):
        with pytest.raises((TypeError, IndexError), match="Vec2") as caught:
            use(index)
        files = {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)}
        assert files == {__file__}


def test_what_libraries_raise_keeps_their_frames():
    @pygpu.compile
    def singular(im: Image, p: Position):
        return im(p) * np.linalg.inv(np.zeros((2, 2)))[0, 0]

    with pytest.raises(np.linalg.LinAlgError, match="Singular") as caught:
        singular(PHOTO)
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert "linalg" in files[-1]
    assert not any("walker" in file for file in files)


# ---------------------------------------------------------------- pictures


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 2), (5, 7, 3), (5, 7, 4)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "float32", "bool"])
def test_an_image_is_shown_as_a_picture_with_its_size_and_type(shape, dtype):
    html = Image(np.ones(shape, dtype))._repr_html_()
    assert "data:image/png;base64," in html
    assert str(shape) in html
    assert dtype in html


def test_a_large_image_is_shown_smaller_and_a_small_one_larger():
    large = Image(np.zeros((300, 2048), np.uint8))
    assert PILImage.open(io.BytesIO(large._repr_png_())).size == (1024, 150)
    assert "(300, 2048)" in large._repr_html_()
    assert 'width="1024"' in large._repr_html_()
    small = Image(np.zeros((5, 10), np.uint8))
    assert PILImage.open(io.BytesIO(small._repr_png_())).size == (10, 5)
    assert 'width="120"' in small._repr_html_()
    assert "pixelated" in small._repr_html_()


# ---------------------------------------------------------------- the notebooks

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_committed_without_outputs(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["outputs"] for cell in code] == [[]] * len(code)
    assert {cell["execution_count"] for cell in code} == {None}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path, monkeypatch):
    for package in ("ipykernel", "ipywidgets", "nbclient"):
        pytest.importorskip(package, reason="make notebooks installs what notebooks need")
    import nbclient  # optional, and slow to import
    import nbformat

    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    monkeypatch.setenv("PYTHONPATH", str(path.parents[2]))
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=60, resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    raised = [
        "raises-exception" in cell.metadata.get("tags", [])
        for cell in notebook.cells
        if any(output.output_type == "error" for output in cell.get("outputs", []))
    ]
    assert all(raised)


def test_there_are_notebooks():
    assert {
        "first_steps",
        "building_a_filter",
        "known_or_dynamic",
        "live_slider",
        "turning_a_mesh",
    } <= {path.stem for path in NOTEBOOKS}
