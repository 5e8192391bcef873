"""Pages in a real browser: what they compute, and what their readers do with them."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage
from scipy import ndimage

import gallery
import pygpu
from browser import MESA, browser_page, opened, result
from pygpu import Bool, Float, Image, Int, Position, Vec2, Vec3, Vec4, filters
from pygpu.execution.web.recorded import export_recorded

# Of meshes with many small triangles, or several samples a pixel.
FINE = {"environment_map", "height_field", "normal_map", "shadow_map"}
RNG = np.random.default_rng(3)
PHOTO = RNG.integers(0, 256, (40, 52, 3), dtype=np.uint8)
# NumPy counts its bins, between programs: a page cannot repeat that.
STAYING = {"histogram_equalisation"}


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    with browser_page(viewport={"width": 1000, "height": 800}) as page:
        yield page


@pygpu.compile
def edges(
    im: Image, p: Position, gain: Float = 1.0, tint: Vec3 = (1, 0.5, 0), invert: Bool = False
):
    """Differences, in a colour.

    Not on the page."""
    across = im(p + (1, 0)) - im(p - (1, 0))
    found = gain * pygpu.length(across) * tint
    return 1 - found if invert else found


def check(page: Any, file: Path, *expected: Any) -> None:
    opened(page, file)
    for index, want in enumerate(expected):
        want = np.asarray(want)
        have = result(page, index)
        np.testing.assert_allclose(
            have, want.reshape(*want.shape[:2], -1).astype(float), rtol=1e-4, atol=1e-5
        )


def test_function_gives_what_it_gives_on_the_cpu(page: Any, tmp_path: Path) -> None:
    file = edges.export(tmp_path / "edges.html", PHOTO, gain=2.0)
    check(page, file, edges.on("cpu")(PHOTO, gain=2.0, dtype=np.float32))
    assert page.title() == "edges"
    assert page.inner_text("header p") == "Differences, in a colour."
    assert "def edges(" in page.text_content("details >> nth=0")
    assert "#version 300 es" in page.text_content("details >> nth=1")


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "uint16", "int8", "int16", "int32", "float16", "float32"]
)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_images_of_all_kinds(page: Any, tmp_path: Path, dtype: str, channels: int) -> None:
    def beside(im: Image, p: Position):
        return im(p - (1, 0))

    texels = RNG.integers(0, 100, (5, 6, channels)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        texels = texels / texels.dtype.type(7)
    f = pygpu.compile(beside, target="cpu")
    check(page, f.export(tmp_path / "page.html", texels), pygpu.Image(np.asarray(f(Image(texels)))))


def test_ints_tables_and_several_results(page: Any, tmp_path: Path) -> None:
    large, small = RNG.random(20000).astype(np.float32), np.arange(300) * 3

    def looked(im: Image, p: Position, n: Int = 7):
        k = Int(im(p) * 255)
        return large[k * n], small[k], k > 100, Vec3(p.x, p.y, n), k + 0.5

    f = pygpu.compile(looked, target="cpu")
    grey = PHOTO[..., 0]
    check(page, f.export(tmp_path / "page.html", grey, n=9), *f(grey, n=9, dtype=np.float32))


def test_image_from_nothing_has_a_clock(page: Any, tmp_path: Path) -> None:
    def wave(p: Position, time: Float = 0.0):
        return 0.5 + 0.5 * np.sin(p.x * 0.3 + time)

    f = pygpu.compile(wave, target="cpu")
    file = f.export(tmp_path / "wave.html", time=1.0, shape=(20, 30))
    check(page, file, f(time=1.0, shape=(20, 30)))
    before = result(page)
    page.click("text=Play")
    page.wait_for_function(f"pygpu.read(0).texels[0] !== {before.flat[0]}")
    page.click("text=Pause")


def test_the_clock_and_the_pointer_need_not_be_given(page: Any, tmp_path: Path) -> None:
    @pygpu.compile(target="cpu")
    def wave(p: Position, time: Float, mouse: Vec2):
        return 0.5 + 0.5 * np.sin((p.x - mouse.x) * 0.3 + time)

    def film(time):
        return pygpu.Image(PHOTO) * (1 + time)

    expected = wave(time=0.0, mouse=(0, 0), shape=(20, 30))
    check(page, wave.export(tmp_path / "wave.html", shape=(20, 30)), expected)
    assert page.locator("text=Play").count() == 1
    check(page, pygpu.pipeline(film).export(tmp_path / "film.html"), film(0.0))
    assert page.locator("text=Play").count() == 1


def test_a_page_counts_the_pictures_of_its_clock(page: Any, tmp_path: Path) -> None:
    @pygpu.shadertoy
    def counting(f, iFrame):
        return Vec3(iFrame)

    opened(page, counting.export(tmp_path / "count.html", shape=(2, 3)))
    assert result(page).max() == 0
    assert page.locator("#controls input[name=frame]").count() == 0
    page.click("text=Play")
    page.wait_for_function("pygpu.read(0).texels[0] > 3")
    page.click("text=Pause")
    assert result(page).max() == int(result(page).max())
    page.click("text=Reset")
    page.wait_for_function("pygpu.read(0).texels[0] === 0")


def test_simulation_makes_the_rounds_of_iterate(page: Any, tmp_path: Path) -> None:
    def spread(u: Image, v: Image, p: Position, rate: Float = 0.1):
        near = u(p + (1, 0)) + u(p - (1, 0)) + u(p + (0, 1)) + u(p - (0, 1)) - 4 * u(p)
        return u(p) + rate * near, v(p) + u(p)

    f = pygpu.compile(spread, target="cpu")
    u, v = PHOTO[..., 0], RNG.random((40, 52)).astype(np.float32)
    file = f.export(tmp_path / "page.html", u, v, rate=0.2, iterate=2)
    opened(page, file)
    page.click("text=Pause")
    page.click("text=Start again")
    page.wait_for_function("true")
    page.reload()
    page.evaluate("pygpu.ready")
    page.click("text=Pause")
    rounds = page.evaluate("pygpu.rounds()")
    want = f.iterate((u, v), rounds, rate=0.2, dtype=np.float32)
    for index in range(2):
        np.testing.assert_allclose(result(page, index)[..., 0], want[index], rtol=1e-4, atol=1e-4)
    page.click("text=Step")
    assert page.evaluate("pygpu.rounds()") == rounds + 1


def alive(u: Image, p: Position):
    """A cell of Conway's game, of whatever kind of images."""
    around = [Float(u(p + (x, y)) > 0.5) for y in (-1, 0, 1) for x in (-1, 0, 1)]
    count = sum(around) - around[4]
    return count == 3 or (count == 2 and u(p) > 0.5)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float32"])
def test_state_is_held_as_what_is_given_and_made(page: Any, tmp_path: Path, dtype: str) -> None:
    cells = RNG.random((20, 30)) > 0.6
    given = cells * 255 if dtype == "uint8" else cells
    f = pygpu.compile(lambda u, p: alive(u, p), u=Image, p=Position, target="cpu")
    opened(page, f.export(tmp_path / "page.html", given.astype(dtype), iterate=2))
    page.click("text=Pause")
    rounds = page.evaluate("pygpu.rounds()")
    want = f.iterate(Image(given.astype(dtype)), rounds)
    np.testing.assert_array_equal(result(page)[..., 0], want)


def test_image_that_is_given_twice_is_state_once(page: Any, tmp_path: Path) -> None:
    f = pygpu.compile(
        lambda u, k, p: 0.5 * u(p) + k(p + (1, 0)), u=Image, k=Image, p=Position, target="cpu"
    )
    texels = RNG.random((20, 30)).astype(np.float32)
    for given in (texels, Image(texels)):
        opened(page, f.export(tmp_path / "page.html", given, given, iterate=2))
        page.click("text=Pause")
        want = f.iterate(Image(texels), page.evaluate("pygpu.rounds()"), Image(texels))
        np.testing.assert_allclose(result(page)[..., 0], want, rtol=1e-5)


def test_state_that_changes_its_kind_is_refused(page: Any, tmp_path: Path) -> None:
    f = pygpu.compile(lambda u, p: pygpu.length(u(p)), u=Image, p=Position)
    with pytest.raises(TypeError, match=r"\(40, 52, 1\) of float32 of one \(40, 52, 3\)"):
        f.export(tmp_path / "page.html", PHOTO, iterate=1)

    def cropped(u: Image):
        return u[1:]

    with pytest.raises(TypeError, match=r"cropped\(\) makes an image \(39, 52, 3\) of float32"):
        pygpu.pipeline(cropped).export(tmp_path / "page.html", PHOTO, iterate=1)


@pygpu.compile
def near(u: Image, p: Position):
    return (u(p + (1, 0)) + u(p - (1, 0)) + u(p + (0, 1)) + u(p - (0, 1))) / 4


@pygpu.pipeline
def waving(u: Image, before: Image, speed=0.5):
    return 2 * u - before + speed**2 * (near(u) - u), u


@pygpu.pipeline
def mixed(u: Image, v: Image):
    return near(u) > u.mean(), near(near(v))


@pygpu.pipeline
def turned(u: Image, v: Image):
    return v, v


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_filters_that_pipelines_put_off_are_made_on_the_page(
    page: Any, tmp_path: Path, dtype: str
) -> None:
    @pygpu.pipeline
    def parts(im: Image, amount: float = 0.5):
        smooth = filters.gaussian(im, sigma=2)
        filters.gaussian(im, sigma=5)  # of which nothing is seen
        held = im if dtype == "float32" else filters.unsharp_mask(im, radius=1)
        return smooth, held + amount * (im - smooth)

    texels = np.random.default_rng(0).integers(0, 256, (70, 90, 3)).astype(np.uint8)
    image = Image(texels if dtype == "uint8" else np.float32(texels / 255))
    check(page, parts.export(tmp_path / "page.html", image), *parts.on("cpu")(image))


def test_many_texels_that_are_chosen_in_a_loop_are_drawn(page: Any, tmp_path: Path) -> None:
    """At the edges four pixels are computed in a loop, of 49 texels each that may lie outside."""
    grey = np.float32(PHOTO[..., 0] / 255)
    smooth = pygpu.pipeline(lambda im: filters.denoise_bilateral(im, sigma_color=0.1))
    check(page, smooth.export(tmp_path / "page.html", grey), smooth.on("cpu")(Image(grey)))


@pytest.mark.parametrize("pipeline", [waving, mixed, turned])
def test_pipelines_go_on(page: Any, tmp_path: Path, pipeline: Any) -> None:
    u, v = PHOTO[..., 0], RNG.random((40, 52)).astype(np.float32)
    opened(page, pipeline.export(tmp_path / "page.html", u, v, iterate=2))
    page.click("text=Pause")
    state = (Image(u), Image(v))
    for _ in range(page.evaluate("pygpu.rounds()")):
        state = pipeline.on("cpu")(*state)
    for index in range(2):
        want = np.asarray(state[index], float)
        np.testing.assert_allclose(result(page, index)[..., 0], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", sorted(set(gallery.NAMES) - STAYING - FINE))
def test_gallery_program_gives_what_it_gives_on_the_cpu(
    page: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = gallery.load(name).render
    file = export_recorded(render, tmp_path / f"{name}.html", [gallery.photo()])
    opened(page, file)
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    close = are_close(result(page), render(gallery.photo()))
    assert close.mean() > 0.995, f"{(~close).sum()} of {close.size}"


def levels(im: Image, *, gamma=0.8):
    low, high = im.min(), im.max()
    return ((im - low) / (high - low)) ** gamma


def normal(im: Image):
    return edges(im, 1 / im.std()) * im.mean() + 0.1 * (im > im.mean()).any()


def split(im: Image, *, rounds=6):
    """By the threshold halfway between the means of what it parts (Ridler and Calvard 1978)."""
    threshold = im.mean()
    for _ in range(rounds):
        light, count = pygpu.reduce(
            lambda a, b: (a[0] + b[0], a[1] + b[1]),
            im,
            map=lambda v, at: (v * (v > at), pygpu.Float(v > at)),
            at=threshold,
        )
        dark = im.sum() - light
        threshold = 0.5 * (light / count + dark / (im.width * im.height - count))
    return im > threshold


def stretched(im: Image):
    low, high = np.percentile(im, [5, 95])
    return np.clip((im - low) / (high - low) * np.median(im), 0, 1)


def tiled(im: Image):
    beside = np.concatenate([im, np.full((2, im.width, 3), 9, np.uint8)])
    return np.tile(beside, (1, 2, 1)), np.swapaxes(im, 0, 1) * 0.5


def test_moves_of_texels_are_repeated(page: Any, tmp_path: Path) -> None:
    file = export_recorded(tiled, tmp_path / "tiled.html", [PHOTO])
    check(page, file, *map(np.asarray, tiled(Image(PHOTO))))
    with pytest.raises(pygpu.DeviceError, match=r"test_pages.py:\d+ .*np\.tril needs texels"):
        export_recorded(lambda im: np.tril(im), tmp_path / "lower.html", [PHOTO])


@pytest.mark.parametrize("function", [levels, normal, split, stretched])
def test_folds_are_repeated_for_the_picture_that_is_opened(
    page: Any, tmp_path: Path, function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = [
        RNG.integers(low, high, (40, 52), np.uint8) for low, high in ((40, 90), (9, 250))
    ]
    second[:, :9] //= 2
    file = pygpu.pipeline(function).export(tmp_path / "page.html", first)
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    opened(page, file)
    assert are_close(result(page), function(Image(first))).all()
    PILImage.fromarray(second).save(tmp_path / "second.png")
    before = result(page)
    page.set_input_files("input[type=file]", str(tmp_path / "second.png"))
    page.wait_for_function(f"pygpu.read(0).texels.join() !== '{','.join(map(str, before.flat))}'")
    assert are_close(result(page), function(Image(second))).all()


def are_close(have: np.ndarray, want: Any) -> np.ndarray:
    """Which components of a shown result are those of an image, to 1/255."""
    want = np.asarray(pygpu.Image(np.asarray(want)))
    scale = {"b": 1, "u": 255}.get(want.dtype.kind, 1)
    want = np.clip(want.reshape(have.shape) / scale, 0, 1)
    return np.abs(np.clip(have, 0, 1) - want) <= 1 / 255


def test_fine_meshes_of_the_gallery_are_drawn_as_by_the_fragment_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with browser_page(MESA) as mesa:
        for name in sorted(FINE):
            render = gallery.load(name).render
            opened(mesa, export_recorded(render, tmp_path / f"{name}.html", [gallery.photo()]))
            monkeypatch.setenv("PYGPU_TARGET", "fragment")
            close = are_close(result(mesa), render(gallery.photo()))
            monkeypatch.delenv("PYGPU_TARGET")
            assert close.mean() > 0.999, f"{name}: {(~close).sum()} of {close.size}"


@pytest.mark.parametrize("name", sorted(STAYING))
def test_gallery_program_that_cannot_go_there_is_refused_by_name(name: str, tmp_path: Path) -> None:
    why = r"\S+ needs texels while the page is made"
    with pytest.raises(pygpu.DeviceError, match=rf"render, {name}\.py:\d+ \(`.*`\): {why}"):
        export_recorded(gallery.load(name).render, tmp_path / "page.html", [gallery.photo()])
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda im: pygpu.scan(np.add, im), r"pygpu\.scan"),
        (lambda im: pygpu.compress(im > 0.5, im), r"pygpu\.compress"),
        (lambda im: np.cumsum(im, axis=1), r"np\.cumsum"),
        (lambda im: im * float(im.max()), r"float\(\)"),
        (lambda im: im * im.max().item(), r"\.item\(\)"),
        (lambda im: im if im.max() > 1 else im * 2, "a test of a number"),
        (lambda im: Image(np.asarray(im)), "NumPy"),
    ],
)
def test_what_asks_for_texels_is_refused_by_name(function: Any, named: str, tmp_path: Path) -> None:
    with pytest.raises(pygpu.DeviceError, match=rf"`\): {named} needs texels .*one more picture"):
        export_recorded(function, tmp_path / "p.html", [PHOTO[..., 0]])


def test_a_number_is_no_picture(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="a page shows images, and it returned a number"):
        export_recorded(lambda im: (im * 2, im.max()), tmp_path / "p.html", [PHOTO])


def test_a_shape_says_how_many_coordinates_there_are(page: Any, tmp_path: Path) -> None:
    outer = pygpu.compile(lambda v, p: v(p.x) * v(p.y), v=pygpu.Signal, p=Position)
    numbers = np.linspace(0, 1, 11, dtype=np.float32)
    file = outer.export(tmp_path / "outer.html", numbers, shape=(5, 7))
    check(page, file, outer(numbers, shape=(5, 7)))


@pytest.mark.parametrize("name", ["threshold_otsu", "label", "equalize_hist"])
def test_filter_that_measures_is_refused_by_name(name: str, tmp_path: Path) -> None:
    why = rf"<lambda>, test_pages\.py:\d+ \(`.*`\): filters\.{name} needs texels .*parameter"
    with pytest.raises(pygpu.DeviceError, match=why):
        export_recorded(lambda im: getattr(filters, name)(im), tmp_path / "p.html", [PHOTO[..., 0]])


def test_binary_patterns_differ_where_points_tie_with_the_pixel(page: Any, tmp_path: Path) -> None:
    """Rounding decides there, and processors round sums of products differently."""
    grey = RNG.integers(0, 8, (40, 52), dtype=np.uint8)
    ours = filters.local_binary_pattern
    opened(page, export_recorded(lambda im: ours(im, 8, 1), tmp_path / "page.html", [grey]))
    other = result(page)[..., 0].astype(int) ^ ours(grey, 8, 1)
    rows, columns = np.mgrid[:40, :52]
    for bit in range(8):
        down, across = np.round([-math.sin(bit * math.pi / 4), math.cos(bit * math.pi / 4)], 5)
        at = rows + down, columns + across
        points = ndimage.map_coordinates(grey.astype(float), at, order=1, mode="grid-constant")
        assert (abs(points - grey)[other >> bit & 1 == 1] < 1e-9).all()


def test_method_is_exported_with_what_its_object_holds(page: Any, tmp_path: Path) -> None:
    class Lens:
        def __init__(self, gain: float) -> None:
            self.gain = gain

        @pygpu.compile
        def look(self, im: Image, p: Position):
            return self.gain * im(p)

    lens = Lens(0.25)
    file = lens.look.export(tmp_path / "page.html", PHOTO)
    check(page, file, lens.look.on("cpu")(PHOTO, dtype=np.float32))
    assert page.locator("input[type=range]").get_attribute("name") == "self_gain"


@pygpu.compile
def scaled(im: Image, p: Position, gain: Vec3):
    return gain * im(p)


def render(photo: Image, *, gain=0.5, power=2.0, tint=(1.0, 0.5, 0.25), on=True, radius=3, top=1.5):
    photo = scaled(photo, gain=tint) * gain
    photo = photo * gain**power * (2 - 0.5 * on)
    return photo * sum(range(radius)) if gain is None or top > 1 else photo


def test_numbers_that_python_computes_with_have_controls(page: Any, tmp_path: Path) -> None:
    file = export_recorded(render, tmp_path / "page.html", [PHOTO], {"gain": 0.7}, {"gain": (0, 3)})
    opened(page, file)
    controls = {c["name"]: c for c in page.evaluate("pygpu.data.controls")}
    assert {name: c["kind"] for name, c in controls.items()} == {
        "gain": "range", "power": "range", "tint": "colour", "on": "check",
    }  # fmt: skip
    assert controls["gain"]["high"] == 3
    values = {"gain": 0.7, "power": 2.0, "tint": (1.0, 0.5, 0.25), "on": True}
    for change in ({}, {"gain": 1.25, "power": 3.0}, {"tint": (0.0, 1.0, 0.5), "on": False}):
        values |= change
        for name, value in values.items():
            numbers = np.ravel(np.array(value, float)).tolist()
            page.evaluate(f"pygpu.set('{name}', {json.dumps(numbers)})")
        page.evaluate("pygpu.run()")
        want = np.asarray(pygpu.pipeline(render).on("cpu")(Image(PHOTO), **values))
        np.testing.assert_allclose(result(page), want, rtol=1e-5, atol=1e-6)


def test_control_of_a_number_that_decides_the_steps_is_refused(tmp_path: Path) -> None:
    for name in ("radius", "top"):
        with pytest.raises(pygpu.DeviceError, match=rf"render: controls\['{name}'\]: by this num"):
            export_recorded(render, tmp_path / "page.html", [PHOTO], {}, {name: (0, 3)})
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("controls", "error", "words"),
    [
        ({"gian": (0, 1)}, TypeError, "no number is called 'gian'; the function is given gain, ti"),
        ({"gain": 3}, TypeError, r"controls\['gain'\]: takes \(least, greatest\)"),
        ({"gain": (2, 1)}, ValueError, "least is below greatest"),
        ({"gain": (0, float("nan"))}, TypeError, "takes"),
        ({"gain": "colour"}, TypeError, "a colour has three floats or four, not float"),
        ({"tint": "time"}, TypeError, "the time is a number, not vec3"),
    ],
)
def test_controls_that_do_not_fit_are_refused(
    tmp_path: Path, controls: dict[str, Any], error: type, words: str
) -> None:
    with pytest.raises(error, match=words):
        edges.export(tmp_path / "page.html", PHOTO, controls=controls)


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ({"on": (0, 1)}, r"controls\['on'\]: a Bool is a check box, got \(0, 1\)"),
        ({"on": "time"}, "a Bool is a check box, got 'time'"),
        ({"n": (0.5, 3)}, r"controls\['n'\]: an int goes by whole numbers, got \(0.5, 3\)"),
        ({"n": (0, 3, 0.5)}, "an int goes by whole numbers"),
    ],
)
def test_controls_are_of_the_kind_of_the_number(
    tmp_path: Path, controls: dict[str, Any], words: str
) -> None:
    @pygpu.compile
    def moved(im: Image, p: Position, n: pygpu.Int = 1, on: pygpu.Bool = True):
        return im(p + (n, 0)) if on else im(p)

    with pytest.raises(TypeError, match=words):
        moved.export(tmp_path / "page.html", PHOTO, controls=controls)


@pytest.mark.parametrize("iterate", [0, -1, 1.5, True, "2"])
def test_rounds_that_are_none_are_refused(tmp_path: Path, iterate: Any) -> None:
    with pytest.raises(ValueError, match="1 or more; got"):
        edges.export(tmp_path / "page.html", PHOTO, iterate=iterate)


def test_text_cannot_end_the_page(page: Any, tmp_path: Path) -> None:
    @pygpu.compile
    def odd(im: Image, p: Position):
        """</script><b>& <!--DATA-->"""
        return im(p)

    opened(page, odd.export(tmp_path / "page.html", PHOTO))
    assert page.inner_text("header p") == "</script><b>& <!--DATA-->"


# ---------------------------------------------------------------- meshes


class Tinted(pygpu.Shader):
    tint: Vec4
    photo: Image

    def vertex(self, position: Vec3, uv: pygpu.Vec2):
        return Vec4(position, 1.0), uv, self.photo((0, 0)).r

    def fragment(self, uv, first):
        colour = Vec4(self.photo.at(uv), 0.5) * self.tint
        return colour, first + uv.x, pygpu.Vec2(uv)


# Two triangles, the nearer one first.
CORNERS = np.array(
    [[-1, -1, 0], [0.9, -1, 0], [-1, 0.8, 0], [1, 1, 0.5], [-1, 1, 0.5], [1, -1, 0.5]]
)
TRIANGLES = pygpu.Mesh(
    position=CORNERS, uv=CORNERS[:, :2] / 2 + 0.5, indices=np.arange(6).reshape(2, 3)
)


@pytest.mark.parametrize("options", [
    {}, {"cull": "back"}, {"cull": "front"}, {"blend": "add"},
    {"blend": "multiply", "clear": 0.25}, {"depth": False}, {"clear": [0.1, 0.2, (0.3, 0.4)]},
    {"keep_depth": True}, {"samples": 4},
])  # fmt: skip
def test_meshes_are_drawn_by_all_rules(
    page: Any, tmp_path: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    def render(photo: Image, red=0.5):
        shader = Tinted((red, 1.0, 0.75, 1.0), photo)
        return pygpu.draw(shader, TRIANGLES, shape=(30, 41), **options)

    opened(page, export_recorded(render, tmp_path / "page.html", [PHOTO]))
    monkeypatch.setenv("PYGPU_TARGET", "fragment")
    for index, want in enumerate(render(Image(PHOTO))):
        close = np.isclose(result(page, index), np.asarray(want).reshape(30, 41, -1), atol=4e-3)
        assert close.mean() > 0.98


class Glass(Tinted):
    def fragment(self, uv, first):
        return Vec4(self.photo.at(uv), 0.25 + 0.5 * uv.x)


def test_meshes_are_drawn_over_images_and_depths(
    page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flat = np.linspace(0, 1, 30 * 41, dtype=np.float32).reshape(30, 41)
    doubled = pygpu.compile(lambda im, p: 2 * im(p), im=Image, p=Position)

    def render(photo: Image, under: Image, depths: Image):
        shader = Glass(Vec4(1.0), photo)
        depths, onto = doubled(depths), doubled(under)
        return pygpu.draw(shader, TRIANGLES, onto=onto, depth=depths, blend="alpha")

    given = [PHOTO, (np.dstack([flat] * 4) * 100).astype(np.uint8), flat]
    opened(page, export_recorded(render, tmp_path / "page.html", given))
    monkeypatch.setenv("PYGPU_TARGET", "fragment")
    want = np.asarray(render(*map(Image, given))) / 255
    assert np.isclose(result(page) / 255, want, atol=1.01 / 255).mean() > 0.99


# ---------------------------------------------------------------- readers


def test_slider_moved_by_the_mouse_changes_the_picture(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO, controls={"gain": (0, 4)}))
    slider = page.locator("input[name=gain]")
    assert [slider.get_attribute(name) for name in ("min", "max")] == ["0", "4"]
    box = slider.bounding_box()
    before = result(page)
    page.mouse.click(box["x"] + box["width"] * 0.75, box["y"] + box["height"] / 2)
    gain = float(slider.input_value())
    assert gain == pytest.approx(3, abs=0.2)
    page.evaluate("new Promise(requestAnimationFrame)")
    np.testing.assert_allclose(result(page), before * gain, rtol=1e-3, atol=1e-5)


@pygpu.compile
def limited(
    im: Image, p: Position, top: Float = math.inf, none: Float = math.nan, n: Int = 2**31 - 1
):
    known = 0.25 if math.isnan(none) and n > 5 else 0.0
    return np.minimum(im(p) + known, top)


def test_numbers_that_are_not_finite_reach_the_page(page: Any, tmp_path: Path) -> None:
    opened(page, limited.export(tmp_path / "page.html", PHOTO))
    np.testing.assert_allclose(result(page), limited(PHOTO), rtol=1e-5)
    names = page.evaluate("[...document.querySelectorAll('input[type=range]')].map(i => i.name)")
    assert names == ["n"]  # no slider goes to the others
    assert page.get_attribute("input[name=n]", "max") == str(2**31 - 1)
    opened(page, limited.export(tmp_path / "page.html", PHOTO, controls={"top": (0, 1)}))
    np.testing.assert_allclose(result(page), limited(PHOTO), rtol=1e-5)
    opened(page, limited.export(tmp_path / "page.html", PHOTO, top=-math.inf))
    assert (result(page) == -math.inf).all()


def test_keys_check_boxes_and_colours(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO))
    page.focus("input[name=gain]")
    page.keyboard.press("ArrowLeft")
    page.focus("input[name=invert]")
    page.keyboard.press("Space")
    page.fill("input[name=tint]", "#00ff00")
    page.evaluate("new Promise(requestAnimationFrame)")
    gain = float(page.input_value("input[name=gain]"))
    assert gain < 1
    want = edges.on("cpu")(PHOTO, gain, (0, 1, 0), True, dtype=np.float32)
    np.testing.assert_allclose(result(page), want, rtol=1e-4, atol=1e-5)
    page.click("text=Reset")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert float(page.input_value("input[name=gain]")) == 1


def test_picture_that_is_opened_or_dropped_is_processed(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO))
    other = RNG.integers(0, 256, (30, 45, 3), dtype=np.uint8)
    PILImage.fromarray(other).save(tmp_path / "other.png")
    page.set_input_files("input[type=file]", str(tmp_path / "other.png"))
    page.wait_for_function("pygpu.read(0).width === 45")
    want = edges.on("cpu")(other, dtype=np.float32)
    np.testing.assert_allclose(result(page), want, rtol=1e-4, atol=1e-5)
    third = np.ascontiguousarray(other[:20])
    PILImage.fromarray(third).save(tmp_path / "third.png")
    drop(page, tmp_path / "third.png")
    page.wait_for_function("pygpu.read(0).height === 20")
    want = edges.on("cpu")(third, dtype=np.float32)
    np.testing.assert_allclose(result(page), want, rtol=1e-4, atol=1e-5)


def drop(page: Any, path: Path) -> None:
    """Drop a file on the picture."""
    transfer = page.evaluate_handle(
        """([bytes, name]) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], name));
            return data;
        }""",
        [list(path.read_bytes()), path.name],
    )
    page.dispatch_event("#stage", "drop", {"dataTransfer": transfer})


def test_file_that_is_no_picture_is_told_and_the_page_goes_on(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO))
    (tmp_path / "notes.txt").write_text("no picture")
    before = result(page)
    drop(page, tmp_path / "notes.txt")
    page.wait_for_selector("#message.wrong")
    text = page.inner_text("#message")
    assert text == "notes.txt is not a picture that this browser can read."
    np.testing.assert_array_equal(result(page), before)


def test_lost_context_comes_back(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO))
    before = result(page)
    lose = "window.lost = pygpu.engine().gl.getExtension('WEBGL_lose_context'); lost.loseContext()"
    page.evaluate(lose)
    page.wait_for_selector("#message.wrong")
    assert "comes back" in page.inner_text("#message")
    page.evaluate("lost.restoreContext()")
    page.wait_for_function("document.getElementById('message').textContent === ''")
    page.evaluate("pygpu.ready")
    np.testing.assert_array_equal(result(page), before)


def test_browser_without_webgl2_says_so(page: Any, tmp_path: Path) -> None:
    file = edges.export(tmp_path / "page.html", PHOTO)
    text = file.read_text()
    without = "HTMLCanvasElement.prototype.getContext = () => null;"
    file.write_text(text.replace("<script>", f"<script>{without}"))
    page.goto(file.as_uri())
    page.wait_for_selector("#message.wrong")
    assert "needs WebGL 2" in page.inner_text("#message")
    assert page.evaluate("['controls', 'actions'].every((id) => document.getElementById(id).inert)")


@pytest.mark.parametrize(
    ("without", "words", "error"),
    [
        (["EXT_color_buffer_float"], "draws floats of 16 bits alone", 2e-3),
        (
            ["EXT_color_buffer_float", "EXT_color_buffer_half_float"],
            "cannot draw floats: between steps, numbers are rounded to bytes",
            2.01 / 255,
        ),
    ],
)
def test_browser_without_floats_rounds_and_says_so(
    tmp_path: Path, without: list[str], words: str, error: float
) -> None:
    hidden = """(names) => {
        const had = WebGL2RenderingContext.prototype.getExtension;
        WebGL2RenderingContext.prototype.getExtension = function (name) {
            return names.includes(name) ? null : had.call(this, name);
        };
    }"""
    grey = PHOTO[..., 0].copy()

    def softened(im: Image, amount=0.25):
        return (1 - amount) * im + amount * near(im)

    pipeline = pygpu.pipeline(softened).on("cpu")
    with browser_page() as bare:
        bare.add_init_script(f"({hidden})({json.dumps(without)})")
        for texels in (grey, PHOTO):
            opened(bare, pipeline.export(tmp_path / "page.html", texels))
            assert words in bare.inner_text("#message")
            want = np.asarray(pipeline(Image(texels))).reshape(*texels.shape[:2], -1)
            np.testing.assert_allclose(result(bare), want, atol=error)
        opened(bare, faded.export(tmp_path / "page.html", PHOTO, iterate=2))  # pictures drawn into
        bare.wait_for_function("pygpu.rounds() >= 6")
        bare.click("text=Pause")
        rounds = bare.evaluate("pygpu.rounds()")
        want = 1 - (1 - PHOTO / 255) * 0.75**rounds
        np.testing.assert_allclose(result(bare), want, atol=4 * error)


@pygpu.compile
def faded(im: Image, p: Position):
    return im(p) + 0.25 * (1 - im(p))


def test_each_control_has_a_label_of_its_own(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO))
    asked = page.get_by_label("gain")
    assert asked.get_attribute("type") == "range"
    for name in ("gain", "tint", "invert"):
        assert page.get_by_label(name).get_attribute("name") == name
    page.locator("label", has_text="gain").click(position={"x": 2, "y": 2})
    assert page.evaluate("document.activeElement.name") == "gain"


def test_camera_is_processed(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO))
    page.context.grant_permissions(["camera"])
    page.click("text=Camera")
    page.wait_for_function("pygpu.read(0).width > 100", timeout=20_000)
    page.click("text=Stop the camera")


def test_page_fits_a_phone_and_fetches_nothing(page: Any, tmp_path: Path) -> None:
    file = edges.export(tmp_path / "page.html", PHOTO)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.set_viewport_size({"width": 360, "height": 640})
    opened(page, file)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    around = "stage.getBoundingClientRect().width - picture.getBoundingClientRect().width"
    assert page.evaluate(around) == 2  # its border: nothing is empty beside the picture
    assert {url.partition(":")[0] for url in asked} <= {"file", "data", "blob"}
    assert sum(url.startswith("file:") for url in asked) == 1
    page.set_viewport_size({"width": 1000, "height": 800})
    assert page.evaluate(around) == 2
    assert len(file.read_bytes()) < 100 * 1024


def test_small_pictures_keep_their_shape(page: Any, tmp_path: Path) -> None:
    for height, width in ((64, 64), (40, 200), (90, 20), (600, 900)):
        texels = np.zeros((height, width), np.uint8)
        opened(page, near.export(tmp_path / "page.html", texels))
        for size in ({"width": 360, "height": 640}, {"width": 1000, "height": 800}):
            page.set_viewport_size(size)
            box = page.locator("#picture").bounding_box()
            assert box["width"] / box["height"] == pytest.approx(width / height, rel=0.02)
            assert box["height"] <= 0.72 * size["height"] + 1


def test_colour_of_four_has_its_opacity(page: Any, tmp_path: Path) -> None:
    f = pygpu.compile(lambda im, p, tint: im(p).x * tint, im=Image, p=Position, tint=Vec4)
    opened(page, f.export(tmp_path / "page.html", PHOTO, tint=(1, 0.5, 0.25, 0.5)))
    page.locator("input[type=range]").fill("0.25")
    page.evaluate("new Promise(requestAnimationFrame)")
    want = f.on("cpu")(PHOTO, tint=(1, 0.5, 0.25, 0.25), dtype=np.float32)
    np.testing.assert_allclose(result(page), want, rtol=1e-4, atol=1e-5)


def test_page_of_many_rounds_stays_small(page: Any, tmp_path: Path) -> None:
    @pygpu.pipeline
    def calm(u: Image):
        return near.iterate(u, 1000)

    file = calm.export(tmp_path / "page.html", PHOTO)
    check(page, file, calm.on("cpu")(Image(PHOTO)))
    assert len(file.read_bytes()) < 60 * 1024


def test_downloaded_picture_is_the_result(page: Any, tmp_path: Path) -> None:
    opened(page, edges.export(tmp_path / "page.html", PHOTO))
    with page.expect_download() as download:
        page.click("text=Download")
    assert download.value.suggested_filename == "edges.png"
    download.value.save_as(tmp_path / "got.png")
    got = np.asarray(PILImage.open(tmp_path / "got.png"))[..., :3]
    want = edges.on("cpu")(PHOTO, dtype=np.uint8)
    assert np.abs(got.astype(int) - want).max() <= 1
