"""The pictures of the gallery: all are made, by compiled code and by plain Python alike, and their
command line says what is wrong in one line."""

import ast
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PILImage

import gallery
import pygpu
from conftest import require
from pygpu import Position

ON_FRAGMENT = [
    "bloom",
    "distance_transform",
    "edges",
    "film_grain",
    "kuwahara",
    "life",
    "median",
    "ordered_dither",
    "polar",
    "ray_marching",
    "shadow_map",
]

FRACTALS = ["julia", "mandelbrot", "newton_fractal"]  # which make much of the smallest difference


@pytest.fixture
def photo() -> pygpu.Image:
    return gallery.photo()


# ---------------------------------------------------------------- pictures


class Recorder:
    """A compiled function that remembers its calls. Of `iterate` it remembers the first round."""

    def __init__(self, compiled, log):
        self.compiled, self.log = compiled, log

    def __call__(self, *args, **kwargs):
        result = self.compiled(*args, **kwargs)
        kwargs.pop("shape", None)
        self.log.append((self.compiled, args, kwargs, result))
        return result

    def iterate(self, state, n, *args, **kwargs):
        first = state if isinstance(state, tuple) else (state,)
        rounds = {"until", "every", "out", "dtype"}
        self(*first, *args, **{name: v for name, v in kwargs.items() if name not in rounds})
        return self.compiled.iterate(state, n, *args, **kwargs)


def recorded(name: str, photo: pygpu.Image, monkeypatch) -> tuple[pygpu.Image, list]:
    """The picture and all calls of compiled functions that made it."""
    module, log = gallery.load(name), []
    for attribute, value in list(vars(module).items()):
        if hasattr(value, "iterate"):
            monkeypatch.setattr(module, attribute, Recorder(value, log))
    return module.render(photo), log


@pytest.mark.parametrize("name", gallery.NAMES)
def test_picture_is_what_plain_python_says(name, photo, monkeypatch) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    picture, calls = recorded(name, photo, monkeypatch)
    assert picture.shape[:2] == photo.shape[:2]
    texels = np.asarray(picture).astype(float)
    assert np.isfinite(texels).all()
    assert np.ptp(texels) > 0
    checked = agreed = 0
    seen = set()
    for compiled, args, kwargs, result in calls:
        if seen >= {compiled.__wrapped__}:
            continue
        seen.add(compiled.__wrapped__)
        for expected, actual in pixels(compiled, args, kwargs, result):
            checked += 1
            agreed += np.allclose(expected, actual, rtol=1e-3, atol=1e-4)
    # A value may lie on the edge of a decision: a comparison, a floor, a nearest pixel.
    assert agreed >= (0.5 if name in FRACTALS else 0.9) * checked > 0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", gallery.NAMES)
def test_picture_has_the_size_of_any_photograph(name, monkeypatch) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    for height, width in [(1, 1), (1, 7), (5, 1), (13, 17)]:
        picture = gallery.load(name).render(gallery.photo(height, width))
        assert picture.shape[:2] == (height, width)
        assert np.isfinite(np.asarray(picture).astype(float)).all()


def pixels(compiled, args, kwargs, result):
    """What plain Python and the compiled program say at some places."""
    results = result if isinstance(result, tuple) else (result,)
    height, width = results[0].shape[:2]
    bound = compiled.signature.collect(args, kwargs)
    names = [parameter.name for parameter in compiled.signature.parameters]
    for x, y in [(width // 2, height // 3), (0, height - 1), (width - 1, height // 2)]:
        given = dict(zip(names, bound, strict=True))
        given[compiled.signature.parameters[compiled.signature.position].name] = Position(x, y)
        expected = compiled(**given)
        actual = [np.asarray(r)[y, x] for r in results]
        yield from zip(expected if isinstance(result, tuple) else (expected,), actual, strict=True)


@pytest.mark.parametrize("name", ON_FRAGMENT)
def test_picture_is_the_same_on_fragment(name, photo, monkeypatch) -> None:
    require("fragment")
    module = gallery.load(name)
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    expected = np.asarray(module.render(photo))
    monkeypatch.setenv("PYGPU_TARGET", "fragment")
    actual = np.asarray(module.render(photo))
    different = ~np.isclose(expected, actual, rtol=1e-3, atol=1e-3)
    assert different.mean() <= 0.01


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("name", gallery.NAMES)
def test_file_tells_its_story(name) -> None:
    text = (gallery.HERE / f"{name}.py").read_text(encoding="utf-8")
    lines = ast.get_docstring(ast.parse(text)).splitlines()
    assert lines[1] == "=" * len(lines[0])
    assert lines[2] == ""
    assert len(lines) > 3


def test_titles_differ() -> None:
    titles = [gallery.load(name).__doc__.splitlines()[1] for name in gallery.NAMES]
    assert len(set(titles)) == len(titles)


# ---------------------------------------------------------------- the command line


ROOT = gallery.HERE.parent.parent
SHEET = ROOT / "tools" / "contact_sheet.py"


def run(program: str | Path, *args: object, **env: str) -> subprocess.CompletedProcess[str]:
    """A picture of this name, or any program."""
    file = program if isinstance(program, Path) else gallery.HERE / f"{program}.py"
    return subprocess.run(
        [sys.executable, str(file), *map(str, args)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYGPU_TARGET": "cpu"} | env,
    )


def test_file_run_alone_writes_a_picture(tmp_path) -> None:
    source, out = tmp_path / "in.png", tmp_path / "new" / "out.png"
    gallery.photo().save(source)
    done = run("kuwahara", source, "-o", out, "--radius", 2)
    assert done.returncode == 0, done.stderr
    assert PILImage.open(out).size == (64, 48)
    pattern = r"kuwahara: 64 x 48 on cpu, first \d+ ms, then [\d.]+ ms: .*out\.png\n"
    assert re.fullmatch(pattern, done.stdout)


def test_option_overrules_the_environment(tmp_path) -> None:
    done = run("vignette", "-o", tmp_path / "o.png", "--target", "cpu", PYGPU_TARGET="none")
    assert " on cpu, " in done.stdout


def test_help_is_the_story() -> None:
    done = run("kuwahara", "--help")
    assert done.returncode == 0
    assert "Kuwahara\n========" in done.stdout
    assert "--radius N" in done.stdout


@pytest.mark.parametrize("mode", ["1", "L", "LA", "RGBA", "P", "CMYK"])
def test_any_picture_is_a_photograph(mode, tmp_path) -> None:
    source = tmp_path / "in.tiff"
    PILImage.effect_noise((16, 12), 50).convert(mode).save(source)
    assert gallery.load("_gallery").open_photo(source).shape == (12, 16, 3)


def test_sheet_holds_the_pictures(tmp_path) -> None:
    gallery.photo().save(tmp_path / "in.png")
    args = ["--only", "sepia", "vignette", "--photo", tmp_path / "in.png", "--cell", "64"]
    done = run(SHEET, *args, "-o", tmp_path / "out.png")
    assert done.returncode == 0, done.stderr
    assert "2 pictures of 64 x 48" in done.stdout
    with PILImage.open(tmp_path / "out.png") as out:
        assert out.width == 2 * (64 + 6) + 6


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--photo", "missing.png"], "No such file or directory: 'missing.png'"),
        (["--only", "nothing"], "no picture is called nothing"),
        (["--columns", "0"], "argument --columns: takes 1 to 100, got 0"),
    ],
)
def test_sheet_says_in_one_line_what_is_wrong(args, message) -> None:
    done = run(SHEET, *args)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


WRONG = [
    (["missing.png"], "No such file or directory: 'missing.png'"),
    ([__file__], "cannot identify image file"),
    ([str(gallery.HERE)], "Is a directory"),
    (["-o", "out.nonsense"], "the suffix '.nonsense' is no format of pictures"),
    (["--radius", "0"], "argument --radius: takes 1 to 12, got 0"),
    (["--radius", "few"], "argument --radius: invalid int value: 'few'"),
    (["--size"], "unrecognized arguments: --size"),
    (["--target", "gpu"], "argument --target: invalid choice: 'gpu'"),
]


@pytest.mark.parametrize(("args", "message"), WRONG, ids=[args[-1] for args, _ in WRONG])
def test_what_is_wrong_is_said_in_one_line(args, message, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["kuwahara.py", *args])
    assert code_of("kuwahara", monkeypatch) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.startswith("kuwahara.py: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize("name", gallery.NAMES)
def test_every_number_has_its_range(name, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["x.py", "--help"])
    assert code_of(name, monkeypatch) == 0
    options = re.findall(r"^  (--[\w-]+) N$|^  (--[\w-]+) N ", capsys.readouterr().out, re.M)
    for option in map("".join, options):
        monkeypatch.setattr(sys, "argv", ["x.py", option, "1000000000"])
        assert code_of(name, monkeypatch) == 2
        assert f"argument {option}: takes " in capsys.readouterr().err


def code_of(name: str, monkeypatch) -> int:
    """The exit code of a file run as a program."""
    monkeypatch.syspath_prepend(str(gallery.HERE))
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(gallery.HERE / f"{name}.py"), run_name="__main__")
    return int(caught.value.code or 0)
