"""Rounds on pages that end by what their images are reduced to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pygpu
from browser import browser_page, opened, result
from pygpu import Float, Image, Position
from pygpu.devices.recording import recorded
from pygpu.execution.web.recorded import export_recorded

PHOTO = np.random.default_rng(5).integers(0, 256, (21, 30), dtype=np.uint8)


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page() as page:
        yield page


@pygpu.compile
def more(u: Image, p: Position, step: Float = 1.0):
    return u(p) + step


@pygpu.compile
def spread(u: Image, v: Image, p: Position):
    near = u(p + (1, 0)) + u(p - (1, 0)) + u(p + (0, 1)) + u(p - (0, 1)) - 4 * u(p)
    return u(p) + 0.2 * near, v(p) + 1


def shown(page: Any, tmp_path: Path, function: Any, **values: Any) -> np.ndarray:
    """What the page of a function of one picture shows, having been opened."""
    opened(page, export_recorded(function, tmp_path / "page.html", [PHOTO], values))
    return result(page)[..., 0]


@pytest.mark.parametrize(
    ("rounds", "every"), [(1, 1), (2, 1), (30, 1), (30, 3), (30, 4), (7, 4), (8, 4), (30, 16)]
)
def test_rounds_end_as_on_the_cpu(page: Any, tmp_path: Path, rounds: int, every: int) -> None:
    def grown(im, on="auto"):
        f = more if on == "auto" else more.on(on)
        return f.iterate(im, rounds, until=lambda u: u.min() > 9.5, every=every) * 0.5

    actual = shown(page, tmp_path, grown)
    np.testing.assert_allclose(actual, np.asarray(grown(Image(PHOTO), "cpu")), rtol=1e-6)
    made = 10 - (PHOTO.min() / 255 > 0.5)
    assert actual.min() * 2 == pytest.approx(min(rounds, -(-made // every) * every), abs=1)


def test_several_images_and_what_stands_before_and_after(page: Any, tmp_path: Path) -> None:
    def calmed(im, on="auto"):
        target = {"auto": lambda f: f}.get(on, lambda f: f.on(on))
        first, second = target(more), target(spread)
        lit = first(im)
        zero = lit * 0.0
        u, count = second.iterate(
            (lit, zero), 200, until=lambda u, v: u.max() - u.min() < 0.1, every=2
        )
        again = first.iterate(u, 50, until=lambda v: v.max() > 6.0, every=1)
        return u + 10 * count + 0.1 * again + lit + im

    actual = shown(page, tmp_path, calmed)
    expected = np.asarray(calmed(Image(PHOTO), "cpu"))
    np.testing.assert_allclose(actual, expected, rtol=2e-5)
    assert actual.min() > 40
    page.evaluate("pygpu.run()")  # once more, with what the first run has left in textures
    np.testing.assert_allclose(result(page)[..., 0], expected, rtol=2e-5)


def test_a_slider_decides_how_many_rounds_there_are(page: Any, tmp_path: Path) -> None:
    def grown(im, most=4.0):
        return more.iterate(im, 100, until=lambda u: u.min() > most, every=1)

    first = shown(page, tmp_path, grown, most=4.0)
    page.evaluate("pygpu.set('most', [7])")
    page.evaluate("pygpu.run()")
    np.testing.assert_allclose(result(page)[..., 0], first + 3, rtol=1e-6)


def test_canny_goes_on_until_nothing_grows(page: Any, tmp_path: Path) -> None:
    """A long weak edge with a strong end takes more rounds than are made at once."""

    @pygpu.compile
    def along(u: Image, p: Position):
        return max(u(p), u(p - (1, 0)))

    @pygpu.compile
    def waiting(u: Image, p: Position):
        return u(p - (1, 0)) > u(p)

    line = np.zeros((2, 90), np.uint8)
    line[:, 0] = 255

    def reached(im):
        return along.iterate(im, 1000, until=lambda u: waiting(u).sum() == 0)

    opened(page, export_recorded(reached, tmp_path / "page.html", [line]))
    assert (result(page)[..., 0] == 1).all()


def no_number(im):
    return more.iterate(im, 9, until=lambda u: False)


def each_round(im):
    return more.iterate(im, 9, pygpu.each([1.0] * 9), until=lambda u: u.max() > 4)


def of_bytes(im):
    return more.iterate(im, 9, until=lambda u: u.max() > 4, dtype=np.uint8)


def nested(im):
    def until(u):
        return more.iterate(u, 9, until=lambda v: v.max() > 1).max() > 4

    return more.iterate(im, 9, until=until)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (no_number, "until gives False; what is written down is a number"),
        (each_round, r"until= with each\(...\), out= or dtype= is not written down"),
        (of_bytes, r"until= with each\(...\), out= or dtype= is not written down"),
        (nested, "until= within what is asked is not written down"),
    ],
)
def test_rounds_that_cannot_be_repeated_there_are_refused(
    function: Any, why: str, tmp_path: Path
) -> None:
    with pytest.raises(pygpu.DeviceError, match=rf"{function.__name__}, test_loops.py.*{why}"):
        export_recorded(function, tmp_path / "page.html", [PHOTO])
    assert not (tmp_path / "page.html").exists()


def test_a_round_is_written_down_once() -> None:
    with recorded() as recording:
        more.iterate(Image(PHOTO), 1000, until=lambda u: u.max() > 4)
    (loop,) = recording.loops
    assert (loop.ask - loop.first, loop.done, loop.count, loop.every) == (1, 1, 1000, 16)
    assert len(recording.steps) < 20
