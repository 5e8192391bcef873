"""Pages whose browser takes the graphics device away, or whose program is refused: each says so in
a sentence, and goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from browser import browser_page, opened, result
from pygpu import Float, Image, Position

PHOTO = np.random.default_rng(3).integers(0, 256, (40, 52, 3), np.uint8)
LOSE = "pygpu.lose = pygpu.engine().gl.getExtension('WEBGL_lose_context'); pygpu.lose.loseContext()"
RESTORE = "pygpu.lose.restoreContext()"
SAID = "document.getElementById('message').textContent"


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page() as page:
        yield page


@pygpu.compile
def gained(im: Image, p: Position, gain: Float = 0.5):
    return gain * im(p)


def waits(page: Any, words: str) -> None:
    page.wait_for_function(f"{SAID}.includes({words!r})", timeout=60000)


def goes_on(page: Any) -> None:
    """Wait until nothing is said any more, and what was asked for is drawn."""
    page.wait_for_function(f"{SAID} === ''", timeout=60000)
    page.evaluate("pygpu.ready")


def test_page_whose_context_is_lost_says_so_and_comes_back(page: Any, tmp_path: Path) -> None:
    opened(page, gained.export(tmp_path / "page.html", PHOTO))
    PILImage.fromarray(255 - PHOTO).save(tmp_path / "other.png")
    page.set_input_files("input[type=file]", str(tmp_path / "other.png"))
    page.evaluate("pygpu.set('gain', [0.25])")
    for _ in range(2):
        page.evaluate(LOSE)
        waits(page, "taken the graphics device away; the picture comes back with it.")
        page.evaluate("pygpu.run()")  # as a control that is moved meanwhile
        waits(page, "taken the graphics device away")
        page.evaluate(RESTORE)
        goes_on(page)
        np.testing.assert_allclose(result(page) * 4, (255 - PHOTO) / 255, atol=1e-6)


def test_simulation_begins_again_after_a_loss(page: Any, tmp_path: Path) -> None:
    opened(page, gained.export(tmp_path / "page.html", PHOTO, gain=0.75, iterate=1))
    page.evaluate(LOSE)
    waits(page, "taken the graphics device away")
    page.evaluate(RESTORE)
    goes_on(page)
    page.click("text=Pause")
    rounds = page.evaluate("pygpu.rounds()")
    np.testing.assert_allclose(result(page), PHOTO / 255 * 0.75**rounds, rtol=1e-4, atol=1e-6)


def test_program_that_the_driver_refuses_is_told(page: Any, tmp_path: Path) -> None:
    file = gained.export(tmp_path / "page.html", PHOTO)
    page.goto(file.as_uri())
    page.evaluate("pygpu.ready")
    page.evaluate("DATA.programs[0].text = '#version 300 es\\nvoid main() { nonsense }'")
    page.evaluate("engine.programs = []")
    page.evaluate("wanted()")
    waits(page, "The browser's driver refused a program")


def test_what_cannot_be_drawn_is_told(page: Any, tmp_path: Path) -> None:
    page.goto(gained.export(tmp_path / "page.html", PHOTO).as_uri())
    page.evaluate("pygpu.ready")
    page.evaluate("engine.frames.clear(); engine.frame = () => engine.gl.createFramebuffer()")
    page.evaluate("engine.fresh = true; wanted()")
    waits(page, "could not draw this")
