"""`pygpu.show`: scenes, and what window, page and widget do while a file is edited."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pygpu
from browser import browser_page, result
from pygpu import Bool, Float, Image, Int, Position, Vec2, Vec3, Vec4
from pygpu.command.live import widget
from pygpu.command.live.live import Live
from pygpu.command.live.scenes import Request, scene_of
from pygpu.command.live.server import Served
from pygpu.core.errors import DeviceError
from pygpu.execution.web.controls import Control, pointed

PHOTO = np.random.default_rng(1).integers(0, 256, (30, 40, 3), dtype=np.uint8)


@pygpu.compile(target="cpu")
def spot(p: Position, time: Float, mouse: Vec2, gain: Float = 0.5, blue: Bool = True):
    near = pygpu.length(p - mouse) < 3
    return Vec3(gain, pygpu.fract(time), 1 if blue else 0) if near else Vec3(0)


@pygpu.compile(target="cpu")
def brighten(im: Image, p: Position, gain: Float = 1.0, steps: Int = 2):
    return gain * im(p) * steps


def brightest(im, gain: float = 1.0):
    """Needs the texels, which a page cannot have."""
    return gain * pygpu.Image(im) / float(pygpu.Image(im).max())


def scene(function: Any, *images: Any, **more: Any) -> Any:
    asked = {name: more.pop(name) for name in ("shape", "controls", "iterate") if name in more}
    return scene_of(Request(function, images, more, **asked))


# ---------------------------------------------------------------- scenes


def test_time_and_mouse_need_not_be_given() -> None:
    made = scene(spot, shape=(20, 30), gain=0.25)
    assert [control.kind for control in made.controls] == ["time", "mouse", "range", "check"]
    frame = made.frame({"time": [2.5], "mouse": [10.0, 5.0], "blue": [0.0]})
    assert frame.shape == (20, 30, 4)
    assert frame[5, 10].tolist() == [64, 128, 0, 255]
    assert frame[0, 0].tolist() == [0, 0, 0, 255]


def test_arguments_of_a_call_by_place_and_by_name() -> None:
    made = scene(brighten, PHOTO, 0.25, steps=1)
    assert [(c.name, c.value) for c in made.controls] == [("gain", [0.25]), ("steps", [1.0])]
    expected = np.asarray(brighten(Image(PHOTO), 0.5, steps=1, dtype=np.uint8))
    np.testing.assert_allclose(made.frame({"gain": [0.5]})[..., :3], expected, atol=1)


def test_vectors_have_controls_whatever_gives_them() -> None:
    amber, here = Vec3(1, 0.5, 0), Vec2(3, 4)

    @pygpu.compile
    def tinted(p: Position, tint: Vec3 = amber, centre: Vec2 = here):
        return tint * (p.x < centre.x)

    kinds = [("colour", [1.0, 0.5, 0.0]), ("range", [3.0, 4.0])]
    for given in ({}, {"tint": [1, 0.5, 0]}, {"centre": np.array([3, 4])}):
        made = scene(tinted, shape=(4, 6), **given)
        assert [(c.kind, c.value) for c in made.controls] == kinds
        frame = made.frame({"tint": [0.0, 1.0, 0.0], "centre": [2.0, 0.0]})
        assert frame[0, 1:3].tolist() == [[0, 255, 0, 255], [0, 0, 0, 255]]
    with pytest.raises(TypeError, match="tint: takes"):
        scene(tinted, shape=(4, 6), tint="red")


def test_plain_functions_are_compiled_or_run_as_they_are() -> None:
    def half(im: Image, p: Position, gain: Float = 0.5, name="x"):
        return gain * im(p) if name == "y" else im(p)

    assert abs(int(scene(half, PHOTO, name="y").frame()[0, 0, 0]) - int(PHOTO[0, 0, 0]) / 2) <= 1
    whole = scene(brightest, PHOTO, gain=0.5)
    assert whole.frame()[..., :3].max() == 128
    assert [control.name for control in whole.controls] == ["gain"]
    assert whole.frame({"gain": [0.0]})[..., :3].max() == 0
    with pytest.raises(DeviceError):
        whole.page()


def test_frames_come_one_by_one() -> None:
    made = scene(brighten, iter([PHOTO // 4, PHOTO // 8]), steps=1)
    assert made.moves
    shown = [made.frame()[..., :3] for _ in range(3)]
    assert np.array_equal(shown[0], PHOTO // 4)
    assert np.array_equal(shown[1], PHOTO // 8)
    assert np.array_equal(shown[2], PHOTO // 8), "the last frame stays"


def test_simulations_go_on_from_the_last_picture() -> None:
    def fade(im: Image, p: Position, rate: Float = 0.5):
        return im(p) * rate

    made = scene(pygpu.compile(fade, target="cpu"), np.ones((4, 4), np.float32), iterate=2)
    assert [made.frame()[0, 0, 0] for _ in range(2)] == [64, 16]


def test_shadertoys_have_clock_and_mouse() -> None:
    @pygpu.shadertoy
    def red(fragCoord, iTime, iMouse):
        return Vec4(iTime, iMouse.x / 10, 0, 1)

    made = scene(red, shape=(8, 10))
    frame = made.frame({"time": [1.0], "mouse": [5.0, 0.0, 0.0, 0.0]})
    assert frame[0, 0].tolist() == [255, 128, 0, 255]
    assert "iMouse" in made.page().html()


@pytest.mark.parametrize(
    ("button", "now", "expected"),
    [
        ("pressed", [0, 0, 0, 0], [3, 6, 3, 6]),
        ("down", [9, 9, 5, 5], [3, 6, 5, -5]),
        ("up", [3, 6, 5, -5], [3, 6, -5, -5]),
    ],
)
def test_shadertoys_mouse(button: str, now: list[float], expected: list[float]) -> None:
    control = Control("mouse", "iMouse", [0.0] * 4)
    assert pointed(control, now, (3, 3), 10, button) == expected


def test_wrong_calls_are_told_at_once() -> None:
    with pytest.raises(TypeError, match="takes a function"):
        pygpu.show(3)
    with pytest.raises(ValueError, match="where: takes 'window', 'notebook', 'page' or None"):
        pygpu.show(spot, shape=(4, 4), where="moon")
    with pytest.raises(TypeError, match="no number is called 'gian'"):
        pygpu.show(spot, shape=(4, 4), controls={"gian": (0, 1)})
    with pytest.raises(TypeError, match="needs im"):
        pygpu.show(brighten)
    with pytest.raises(ValueError, match="iterate: takes the rounds"):
        pygpu.show(spot, shape=(4, 4), iterate=0)
    with pytest.raises(TypeError, match="pictures are shown, and it gave 3"):
        pygpu.show(lambda im: 3, PHOTO)


# ---------------------------------------------------------------- edits

FILE = """
import pygpu
from pygpu import Float, Position

@pygpu.compile(target="cpu")
def level(p: Position, gain: Float = 0.5, time: Float = 0.0):
    return 0.5 * gain + 0 * p.x
"""
CALL = "\nif __name__ == '__main__':\n    pygpu.show(level, shape=(30, 40), where='{}')\n"


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    os.utime(file, (time.time(), time.time() + 5))  # some clocks count in seconds


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Live]]:
    """A function of a module, shown while its file is edited."""
    file = tmp_path / "edited_levels.py"
    file.write_text(FILE)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = __import__("edited_levels")
    yield file, Live(Request(module.level, (), {}, shape=(30, 40)))
    sys.modules.pop("edited_levels", None)


def test_an_edit_is_taken_up(edited: tuple[Path, Live]) -> None:
    file, live = edited
    assert not live.look()
    assert live.scene.frame()[0, 0, 0] == 64
    edit(file, "0.5 * gain", "1.0 * gain")
    assert live.look()
    assert live.scene.frame()[0, 0, 0] == 128
    assert "1.0 * gain" in live.scene.python


@pytest.mark.parametrize(
    ("new", "said"),
    [("gain )", "SyntaxError"), ("gian", "NameError"), ("gain.nothing", "AttributeError")],
)
def test_a_wrong_edit_is_told_and_the_last_function_stays(
    edited: tuple[Path, Live], new: str, said: str
) -> None:
    file, live = edited
    edit(file, "0.5 * gain", new)
    assert live.look()
    assert said in live.wrong
    assert live.scene.frame()[0, 0, 0] == 64
    edit(file, new, "0.25 * gain")
    assert live.look()
    assert live.wrong == ""
    assert live.scene.frame()[0, 0, 0] == 32


def test_a_function_that_is_gone_is_told(edited: tuple[Path, Live]) -> None:
    file, live = edited
    edit(file, "def level", "def other")
    assert live.look()
    assert "has no function level any more" in live.wrong


def test_a_script_is_executed_again_up_to_its_show(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    text = FILE + "\nlive = Live(Request(level, (), {}, shape=(3, 4)))\n"
    file.write_text(text.replace("import pygpu\n", IMPORTS) + CHECKS)
    found = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert found.stdout == "begun\nbegun\n(5, 6) 255\n", found.stderr


IMPORTS = """
import os, sys, time
import pygpu
from pygpu.command.live.live import Live
from pygpu.command.live.scenes import Request
print("begun")
"""
# Executed again, it comes to this call of show: nothing after it runs then.
CHECKS = """
if "SEEN" in os.environ:
    pygpu.show(level, shape=(5, 6), gain=1.0)
os.environ["SEEN"] = "1"
text = open(__file__).read()
open(__file__, "w").write(text.replace("0.5 * gain", "2 * gain", 1))
os.utime(__file__, (time.time(), time.time() + 5))
assert live.look() and not live.wrong, live.wrong
frame = live.scene.frame()
print(frame.shape[:2], frame[0, 0, 0])
"""


# ---------------------------------------------------------------- page, window, notebook


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page() as page:
        yield page


def test_page_follows_mouse_time_and_edits(page: Any, edited: tuple[Path, Live]) -> None:
    file, live = edited
    with Served(live) as served:
        page.goto(served.url)
        page.evaluate("pygpu.ready")
        assert result(page)[0, 0, 0] == pytest.approx(0.25)
        page.wait_for_function("values.get('time')[0] > 0.05")
        page.evaluate("pygpu.set('gain', [1.0]); pygpu.run()")
        assert result(page)[0, 0, 0] == pytest.approx(0.5)
        edit(file, "0.5 * gain", "0.75 * gain")
        assert live.look()
        page.wait_for_function(
            "window.pygpu && pygpu.engine() && Math.abs(pygpu.read(0).texels[0] - 0.75) < 1e-3"
        )
        edit(file, "0.75 * gain", "gian")
        assert live.look()
        page.wait_for_selector("#message.wrong >> text=NameError")
    with Served(Live(Request(spot, (), {}, shape=(30, 40)))) as served:
        page.goto(served.url)
        page.evaluate("pygpu.ready")
        box = page.locator("#picture").bounding_box()
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_function("pygpu.read(0).texels[4 * (15 * 40 + 20)] === 0.5")


def test_page_asks_for_pictures_that_no_browser_makes(page: Any) -> None:
    with Served(Live(Request(brightest, (PHOTO,), {}))) as served:
        page.goto(served.url)
        page.evaluate("pygpu.ready")
        expected = scene(brightest, PHOTO).frame() / 255
        np.testing.assert_allclose(result(page), expected, atol=1e-6)
        page.evaluate("pygpu.set('gain', [0.0]); pygpu.run()")
        page.wait_for_function("pygpu.read(0).texels[0] === 0")
        refused = page.request.get(served.url, headers={"Host": "elsewhere.example"})
        assert refused.status == 403


def test_notebook_has_the_page_in_a_frame(page: Any) -> None:
    shown = widget.view(scene(spot, shape=(30, 40)))
    page.set_content(shown._repr_html_())
    frame = page.frames[1]
    frame.wait_for_function("window.pygpu")
    frame.evaluate("pygpu.ready")
    assert result(frame).shape == (30, 40, 3)


def test_notebook_has_widgets_for_what_no_browser_makes() -> None:
    pytest.importorskip("ipywidgets")
    shown = widget.view(scene(brightest, PHOTO))
    picture = shown.children[0].children[0]
    (slider,) = shown.children[1].children
    before = picture.value
    slider.value = 0.25
    assert before[:4] == b"\x89PNG"
    assert picture.value != before


@pytest.fixture(scope="module")
def screen() -> Iterator[dict[str, str]]:
    """A display of its own."""
    if shutil.which("Xvfb") is None:
        if os.environ.get("PYGPU_REQUIRE_BROWSER", "0") != "0":
            pytest.fail("no Xvfb: install Debian's xvfb", pytrace=False)
        pytest.skip("no Xvfb: install Debian's xvfb")
    pytest.importorskip("tkinter")
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "800x600x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as told:
        number = told.readline().strip()
    yield os.environ | {"DISPLAY": f":{number}"}
    server.terminate()
    server.wait()


WINDOW = """
import sys
import tkinter
from PIL import Image as PILImage
from pygpu.command.live import window
from pygpu.command.live.live import Live
from pygpu.command.live.scenes import Request
import window_levels

assert window.is_here()
root = tkinter.Tk()
live = Live(Request(window_levels.level, (), {}, shape=(30, 40)))
view = window.Window(live, root, tkinter)
seen = []

def later():
    root.update_idletasks()
    seen.append(int(view.frame[0, 0, 0]))
    if len(seen) == 1:
        assert view.values["time"][0] > 0
        assert view.scale == 6
        view._vars["gain"][0].set(1.0)
        view._set("gain", 0, 1.0)
        view._point(60, 60, "up")
        root.after(300, later)
    elif len(seen) == 2:
        file = window_levels.__file__
        text = open(file).read()
        open(file, "w").write(text.replace("0.5 * gain", "0.25 * gain  # of all"))
        root.after(1500, later)
    else:
        view.save()
        view.close()

root.after(500, later)
root.mainloop()
assert view.failed is None, view.failed
print(seen, PILImage.open("level.png").getpixel((0, 0)))
"""


def test_window_shows_controls_and_edits(screen: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "window_levels.py").write_text(FILE)
    environment = screen | {"PYTHONPATH": f"{Path(pygpu.__file__).parents[1]}:{tmp_path}"}
    found = subprocess.run(
        [sys.executable, "-c", WINDOW],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert found.stdout == "[64, 128, 64] (64, 64, 64, 255)\n", found.stderr


def test_without_a_screen_there_is_the_page(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(FILE + CALL.format("window").replace("where='window'", ""))
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment["BROWSER"] = "echo opened %s"
    process = subprocess.Popen(
        [sys.executable, str(file)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    process.terminate()
    process.wait()
    assert line.startswith("level: http://127.0.0.1:")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("window", "OSError: where='window' needs a screen"),
        ("notebook", "OSError: where='notebook': no notebook runs this program"),
    ],
)
def test_a_place_that_is_not_here_is_one_error_at_the_call(
    place: str, message: str, tmp_path: Path
) -> None:
    if place == "window":
        pytest.importorskip("tkinter")
    file = tmp_path / "script.py"
    file.write_text(FILE + CALL.format(place))
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, str(file)]
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1].startswith(message)
    assert found.stderr.count("  File ") == 1


def test_notebook_tells_what_is_wrong_once(monkeypatch, capsys) -> None:
    class Edited:
        """Wrong at the first look, as it was at the next, and then mended."""

        scene, number, wrong = "scene", 0, ""
        looks = iter(["wrong", None, None, "mended"])

        def look(self) -> bool:
            match next(self.looks):
                case None:
                    return False
                case "wrong":
                    self.wrong = "SyntaxError: invalid syntax"
                case "mended":
                    self.wrong, self.number = "", 1
            return True

    updates: list[Any] = []
    monkeypatch.setattr(widget, "LOOK", 0)
    monkeypatch.setattr(widget, "view", lambda scene: scene)
    handle = SimpleNamespace(update=updates.append)
    with pytest.raises(StopIteration):
        widget._watch(Edited(), handle)
    assert capsys.readouterr().out == "SyntaxError: invalid syntax\n"
    assert updates == ["scene"]
