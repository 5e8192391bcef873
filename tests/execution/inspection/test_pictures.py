"""Pictures in notebooks: their ranges, side by side, zoomed, stacks with a slider."""

import base64
import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from browser import browser_page

RAMP = np.linspace(0, 1, 60, dtype=np.float32).reshape(6, 10)


def pictures(shown: Any) -> list[np.ndarray]:
    """The pictures in what a notebook is given."""
    found = re.findall(r"base64,([^\"]+)", shown._repr_html_())
    return [np.asarray(PILImage.open(io.BytesIO(base64.b64decode(data)))) for data in found]


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.array([[3, 200]], np.uint8), "3 to 200"),
        (np.array([[3, 40000]], np.uint16), "3 to 40000"),
        (np.array([[0.25, 0.5]], np.float32), "0.25 to 0.5"),
        (np.array([[-0.5, 7]], np.float32), "-0.5 to 7; shown from 0 to 1"),
        (np.array([[0.5, np.nan, 1]], np.float32), "0.5 to 1, 1 NaN"),
        (np.array([[np.inf, np.nan, np.nan]], np.float32), "0 to 0, 2 NaN, 1 infinite"),
        (np.array([[True, False]]), "0 to 1"),
    ],
)
def test_captions_have_the_range(array: np.ndarray, said: str) -> None:
    assert re.search(rf", {re.escape(said)}</code>", pygpu.Image(array)._repr_html_())
    assert repr(pygpu.view(array)).endswith(said)


@pytest.mark.parametrize(
    ("asked", "greatest"),
    [(None, [64, 128]), ("own", [255, 255]), ("common", [128, 255]), ((0, 0.75), [85, 170])],
)
def test_ranges_that_are_asked_for(asked: Any, greatest: list[int]) -> None:
    shown = pictures(pygpu.view(RAMP / 4, RAMP / 2, range=asked))
    assert [picture.max() for picture in shown] == greatest
    assert all(picture.min() == 0 for picture in shown)


def test_bytes_and_floats_have_one_common_range() -> None:
    shown = pictures(pygpu.view(np.uint8([[0, 51]]), np.float32([[0, 0.4]]), range="common"))
    assert [picture.max() for picture in shown] == [128, 255]


def test_alpha_is_not_stretched() -> None:
    array = np.full((2, 2, 4), 0.5, np.float32)
    array[0, 0, :3] = 0.25
    (shown,) = pictures(pygpu.view(array, range=(0.25, 0.5)))
    assert shown[0, 0].tolist() == [0, 0, 0, 128]
    assert shown[1, 1].tolist() == [255, 255, 255, 128]


@pytest.mark.parametrize("channels", [(), (1,), (2,), (3,), (4,)])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "bool", "float16", "float32"])
def test_pictures_and_stacks_of_all_kinds(channels: tuple[int, ...], dtype: str) -> None:
    frame, stack = np.ones((5, 6, *channels), dtype), np.zeros((7, 5, 6, *channels), dtype)
    assert len(pictures(pygpu.view(frame, stack))) == 8
    if dtype != "float16":
        assert len(pictures(pygpu.view(pygpu.Image(frame), pygpu.Volume(stack)))) == 8


def test_long_stacks_and_large_pictures_are_shown_in_part() -> None:
    shown = pygpu.view(np.zeros((1000, 8, 8), np.uint8))
    assert len(pictures(shown)) == 91
    assert "every 11. of 1000" in shown._repr_html_()
    (large,) = pictures(pygpu.view(np.tile(np.uint8([[0, 255]]), (5000, 2500))))
    assert large.shape == (1024, 1024)


def test_titles_are_escaped() -> None:
    shown = pygpu.view(RAMP, titles=["<b>"])
    assert "&lt;b&gt;" in shown._repr_html_()
    assert repr(shown) == "<b>: (6, 10) float32, 0 to 1"


def test_what_is_no_picture_is_refused() -> None:
    with pytest.raises(TypeError, match="at least one picture"):
        pygpu.view()
    with pytest.raises(TypeError, match="takes pictures and stacks of them, got 'photo'"):
        pygpu.view("photo")
    with pytest.raises(ValueError, match="2 titles for 1 picture"):
        pygpu.view(RAMP, titles=["a", "b"])
    with pytest.raises(TypeError, match="range takes 'own', 'common'"):
        pygpu.view(RAMP, range="all")
    with pytest.raises(ValueError, match="least below greatest"):
        pygpu.view(RAMP, range=(1, 0))
    with pytest.raises(ValueError, match=r"got one of shape \(2, 3, 4, 5\)"):
        pygpu.view(np.zeros((2, 3, 4, 5)))
    with pytest.raises(TypeError, match="takes numbers, got an array of complex64"):
        pygpu.view(np.zeros((2, 3), np.complex64))
    with pytest.raises(TypeError, match="a notebook shows a Signal itself"):
        pygpu.view(pygpu.Signal(np.zeros(5)))


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page(viewport={"width": 900, "height": 700}) as page:
        yield page


def test_pictures_stand_side_by_side_and_zoom_together(page: Any) -> None:
    photo = pygpu.data.astronaut()
    page.set_content(pygpu.view(photo, photo // 2)._repr_html_())
    left, right = (page.locator("img").nth(k).bounding_box() for k in range(2))
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    page.locator("img").nth(1).click()
    assert page.locator("img").nth(0).bounding_box()["width"] == 4 * 512
    stages = page.locator(".pygpu-stage")
    stages.nth(0).evaluate("e => { e.scrollTop = 300; e.scrollLeft = 200 }")
    page.wait_for_function(
        "document.querySelectorAll('.pygpu-stage')[1].scrollTop === 300 &&"
        "document.querySelectorAll('.pygpu-stage')[1].scrollLeft === 200"
    )
    page.locator("img").nth(0).click()
    assert page.locator("img").nth(1).bounding_box()["width"] < 512


def test_a_slider_goes_through_a_stack(page: Any) -> None:
    stack = np.arange(5, dtype=np.uint8)[:, None, None] * np.full((5, 20, 20), 10, np.uint8)
    page.set_content(pygpu.view(stack, stack[0])._repr_html_())
    shown = page.locator("figure").nth(0).locator("img:visible")
    middle = shown.get_attribute("src")
    page.locator("input[type=range]").fill("4")
    assert shown.count() == 1
    assert shown.get_attribute("src") != middle
    assert page.locator("output").inner_text() == "4"
    assert page.locator("figure").nth(1).locator("img:visible").count() == 1
