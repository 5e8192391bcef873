"""The commands of the pages, each as typed, and what the page on lenses says of OpenCV."""

import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from pygpu.command.cli import main

DOCS = Path(__file__).parents[2] / "docs"
LINE = re.compile(r"^python -m pygpu (\w+ .*)$", re.MULTILINE)
COMMANDS = sorted(
    {
        line
        for page in [*DOCS.glob("*.md"), *DOCS.glob("howto/*.md")]
        for line in LINE.findall(page.read_text(encoding="utf-8"))
        if not line.startswith("live")  # which ends by Ctrl-C, as --watch does
    }
)
EDGES = """
from pygpu import Float, Image, Position, filters

def edges(im: Image, p: Position, gain: Float = 1.0):
    return gain * filters.sobel(im, p)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the commands name: pictures, films, a camera, and two files of functions."""
    pytest.importorskip("imageio_ffmpeg")
    tifffile = pytest.importorskip("tifffile")
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    monkeypatch.chdir(tmp_path)
    source = "testsrc=size=64x48:rate=30"
    monkeypatch.setattr("pygpu.image.camera.DEVICES", {sys.platform: ("lavfi", source)})
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    monkeypatch.setattr(sys, "path", sys.path[:])
    for name in ("edges", "waves"):  # as two of the gallery's modules are called, for other tests
        monkeypatch.setitem(sys.modules, name, sys)
        del sys.modules[name]
    photo = pygpu.data.astronaut()[::8, ::8]
    film = [np.roll(photo, n, axis=1) for n in range(4)]
    (tmp_path / "trip").mkdir()
    (tmp_path / "holiday").mkdir()
    for name in ("photo.jpg", "holiday/a.jpg", "holiday/b.jpg"):
        PILImage.fromarray(photo).save(name)
    for name in ("clip.mp4", "trip/a.mp4", "trip/b.mp4"):
        pygpu.animate(None, film, name)
    tifffile.imwrite("stack.tif", np.stack(film)[..., 0], photometric="minisblack")
    (tmp_path / "edges.py").write_text(EDGES)
    page = (DOCS / "motion.md").read_text(encoding="utf-8")
    waves = re.search(r"^@pygpu.compile\ndef waves.*?\n\n", page, re.MULTILINE | re.DOTALL)
    imports = "import pygpu\nfrom pygpu import Float, Position, Vec2, Vec3\n\n"
    (tmp_path / "waves.py").write_text(imports + waves[0])
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_pages_write_what_they_say(command: str, folder: Path) -> None:
    words = shlex.split(command)
    shorter = {"--seconds": "0.2"}  # and pages of a watch or a browser are not waited for
    words = [shorter.get(before, word) for before, word in zip(["", *words], words, strict=False)]
    words = [word for word in words if word not in ("--watch", "--open")]
    given: list[str] = []
    for word in words:
        paths = sorted(folder.glob(word)) if "*" in word else []
        given += [str(path.relative_to(folder)) for path in paths] or [word]
    assert main(given) == 0
    if "-o" in words:
        written = folder / words[words.index("-o") + 1]
        names = [Path(name).name for name in given if name not in words]
        for path in [written / name for name in names] or [written]:
            assert path.stat().st_size > 0


def test_the_page_on_lenses_agrees_with_opencv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cv2 = pytest.importorskip("cv2")
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "howto" / "lens.md").read_text(encoding="utf-8")
    page: dict[str, object] = {"__name__": "page"}
    for block in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(block, page)
    f, k1, k2 = 480.0, -0.25, 0.06
    photo = np.float32(page["photo"]) / 255
    matrix = np.array([[f, 0, 255.5], [0, f, 255.5], [0, 0, 1]])
    expected = cv2.undistort(photo, matrix, np.array([k1, k2, 0, 0]))
    steps = [np.abs(np.diff(photo, axis=axis)).max() for axis in (0, 1)]
    actual = page["straight"](photo, f, k1, k2)
    assert np.abs(actual - expected).max() <= sum(steps) / 64
    assert np.abs(actual - expected).mean() < 5e-4
    # A picture of its own coordinates says where it is read.
    y, x = np.mgrid[:512, :512].astype(np.float32)
    size, kind = (512, 512), cv2.CV_32FC1
    maps = cv2.initUndistortRectifyMap(matrix, np.array([k1, k2, 0, 0]), None, matrix, size, kind)
    for coordinate, place in zip((x, y), maps, strict=True):
        inside = (maps[0] > 0) & (maps[0] < 511) & (maps[1] > 0) & (maps[1] < 511)
        read = page["straight"](coordinate, f, k1, k2)
        np.testing.assert_allclose(read[inside], place[inside], atol=2e-4)
    # What a lens has darkened comes back.
    r2 = ((x - 255.5) ** 2 + (y - 255.5) ** 2)[..., None] / f**2
    dark = pygpu.filters.srgb_to_linear(photo) * (1 - 0.9 * r2 + 0.5 * r2**2)
    seen = pygpu.filters.linear_to_srgb(np.float32(dark))
    np.testing.assert_allclose(page["evened"](seen, f, a=-0.9, b=0.5), photo, atol=1e-5)
