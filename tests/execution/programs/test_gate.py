"""Calls like the last one go to its program at once, and give what any call gives."""

from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Position, Vec3
from pygpu.execution.arguments import parameters

AMOUNT = 2.0


def blur(im: Image, p: Position):
    return (im(p - (1, 0)) + im(p) + im(p + (1, 0))) / 3


def blend(im: Image, other: Image, p: Position, weight: Float = 0.5):
    return im(p) * weight + other(p) * (1 - weight)


def scaled(im: Image, p: Position):
    return im(p) * AMOUNT


def photo(shape=(7, 9), dtype=np.float32, seed=0):
    values = np.random.default_rng(seed).random(shape)
    return (values * 255).astype(dtype) if np.dtype(dtype).kind in "ui" else values.astype(dtype)


@pytest.fixture
def sorted_calls(monkeypatch):
    """How many calls had their arguments sorted."""
    import pygpu.runtime

    calls = []

    def flatten(*given):
        calls.append(given)
        return parameters.flatten(*given)

    monkeypatch.setattr(pygpu.runtime, "flatten", flatten)
    return calls


def test_a_call_like_the_last_one_is_not_sorted(sorted_calls):
    f = pygpu.compile(blur, target="cpu")
    for seed in range(4):
        image = photo(seed=seed)
        np.testing.assert_array_equal(f(image), pygpu.compile(blur, target="cpu")(image))
    assert len(sorted_calls) == 1 + 4


@pytest.mark.parametrize(
    "other",
    [
        photo((9, 7)),
        photo((7, 9, 3)),
        photo((7, 9), np.uint8),
        photo((7, 9), np.float64),
        photo((7, 9), np.int64),
        photo((14, 18))[::2, ::2],
        np.asfortranarray(photo()),
        photo().astype(">f4"),
        photo().tolist(),
        Image(photo()),
        Image(photo(), boundary="wrap"),
        Image(photo(), boundary="constant", cval=4.0),
    ],
    ids=str,
)
def test_other_arguments_after_it_give_what_they_give_alone(other):
    f = pygpu.compile(blur, target="cpu")
    f(photo())
    for _ in range(3):
        np.testing.assert_array_equal(
            np.asarray(f(other)), np.asarray(pygpu.compile(blur, target="cpu")(other))
        )
        assert type(f(other)) is type(pygpu.compile(blur, target="cpu")(other))
        f(photo())


def test_numbers_may_change(sorted_calls):
    f = pygpu.compile(blend, target="cpu")
    a, b = photo(seed=1), photo(seed=2)
    for weight in (0.25, 0.75, 1.0, -3.0):
        expected = a * np.float32(weight) + b * np.float32(1 - weight)
        np.testing.assert_allclose(f(a, b, weight), expected, rtol=1e-5, atol=1e-6)
    assert len(sorted_calls) == 1
    np.testing.assert_allclose(f(a, b), (a + b) / 2, rtol=1e-5)
    with pytest.raises(OverflowError, match="weight"):
        f(a, b, 1e300)
    with pytest.raises(TypeError, match="weight"):
        f(a, b, "half")
    with pytest.raises(TypeError, match="other"):
        f(a)


def test_images_keep_what_is_said_of_them(sorted_calls):
    f = pygpu.compile(blur, target="cpu")
    for dpi in (72, 300):
        made = f(Image(photo(), boundary="wrap", info={"dpi": (dpi, dpi)}))
        assert made.info == {"dpi": (dpi, dpi)}
        assert made.boundary == "wrap"
    assert len(sorted_calls) == 1


def test_a_global_that_has_changed_is_seen(monkeypatch):
    f = pygpu.compile(scaled, target="cpu")
    image = photo()
    f(image), f(image)
    monkeypatch.setitem(globals(), "AMOUNT", 3.0)
    np.testing.assert_allclose(f(image), image * 3, rtol=1e-6)


def test_a_target_that_the_environment_asks_for_is_taken(monkeypatch):
    monkeypatch.setenv("PYGPU_TARGET", "cpu")
    f = pygpu.compile(blur)
    image = photo()
    expected = f(image), f(image)
    assert f.target == "cpu"
    monkeypatch.setenv("PYGPU_TARGET", "interpreter")
    np.testing.assert_allclose(f(image), expected[1], rtol=1e-6)
    assert [made.target for made in f.programs] == ["cpu", "interpreter"]


def test_checks_that_the_environment_asks_for_are_made(monkeypatch):
    def low(im: Image, p: Position):
        assert im(p) < 0.5
        return im(p)

    f = pygpu.compile(low, target="cpu")
    image = np.ones((4, 4), np.float32)
    f(image), f(image)
    monkeypatch.setenv("PYGPU_CHECK", "1")
    with pytest.raises(AssertionError):
        f(image)


def test_what_is_forgotten_is_compiled_anew(sorted_calls):
    scale = {"amount": 2.0}

    def times(im: Image, p: Position):
        return im(p) * scale["amount"]

    f = pygpu.compile(times, target="cpu")
    image = photo()
    f(image), f(image)
    scale["amount"] = 5.0
    f.recompile()
    np.testing.assert_allclose(f(image), image * 5, rtol=1e-6)


def test_results_are_arrays_of_their_own():
    f = pygpu.compile(blur, target="cpu")
    first, second = f(photo(seed=1)), f(photo(seed=2))
    third = f(photo(seed=3))
    assert not np.may_share_memory(first, second)
    assert not np.may_share_memory(second, third)
    assert second.flags.writeable
    np.testing.assert_array_equal(first, f(photo(seed=1)))


def test_a_default_image_given_in_its_place_is_no_other():
    flat = photo((3, 4))

    def over(im: Image, p: Position, texture: Image = flat):
        return im(p) + texture(p)

    f = pygpu.compile(over, target="cpu")
    f(photo(), photo((3, 4), seed=2))
    np.testing.assert_array_equal(f(photo(), flat), f(photo()))
    assert f(photo(), flat).shape == (7, 9)


def test_keywords_and_defaults_are_no_reason_to_sort(sorted_calls):
    f = pygpu.compile(blend, target="cpu")
    a, b = photo(seed=1), photo(seed=2)
    for weight in (0.25, 0.75, np.float32(0.5)):
        expected = a * np.float32(weight) + b * np.float32(1 - weight)
        np.testing.assert_allclose(f(a, b, weight=weight), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(f(other=b, im=a), (a + b) / 2, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(f(b, other=a), (a + b) / 2, rtol=1e-5, atol=1e-6)
    assert len(sorted_calls) == 4  # np.float32 is another class
    with pytest.raises(TypeError, match="wieght"):
        f(a, b, wieght=0.5)
    with pytest.raises(TypeError, match="weight"):
        f(a, b, weight="half")


@pytest.mark.parametrize("device", ["cpu", "compute", "fragment"])
def test_results_go_into_the_callers_array(sorted_calls, device):
    f = pygpu.compile(blur, target=device)
    for seed in range(3):
        image, out = photo(seed=seed), np.empty((7, 9), np.float32)
        assert f(image, out=out) is out
        np.testing.assert_allclose(out, f(image), rtol=1e-6)
    assert len(sorted_calls) == 2
    for wrong in (np.empty((9, 7), np.float32), photo().astype(int).tolist(), image.T):
        with pytest.raises((TypeError, ValueError), match="out"):
            f(image, out=wrong)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(image, out=out)


@pytest.mark.parametrize("device", ["cpu", "compute", "fragment"])
def test_results_go_into_the_callers_arrays(sorted_calls, device):
    def both(im: Image, p: Position):
        return im(p) * 2, im(p + (1, 0))

    f = pygpu.compile(both, target=device)
    for seed in range(4):
        image = photo(seed=seed)
        outs = np.empty((7, 9), np.float32), np.empty((7, 9), np.float32)
        results = f(image, out=outs)
        assert type(results) is tuple
        assert all(one is other for one, other in zip(results, outs, strict=True))
        for one, other in zip(outs, f(image), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    assert len(sorted_calls) == 2
    outs = f(Image(image), out=outs)
    assert all(type(each) is np.ndarray for each in outs)
    again = image.copy()
    for one, other in zip(f(again, out=(again, outs[1])), f(image), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    f(image, out=(outs[0], None))
    for wrong in ((outs[0], outs[0]), (outs[0],), outs[0], (*outs, outs[0]), (outs[0], image.T)):
        with pytest.raises((TypeError, ValueError), match="out"):
            f(image, out=wrong)


@pytest.mark.parametrize("device", ["cpu", "compute"])
def test_a_result_may_go_where_the_image_is(device):
    f = pygpu.compile(blur, target=device)
    image, out = photo(), np.empty((7, 9), np.float32)
    expected = f(image, out=out).copy()
    again = image.copy()
    f(again, out=again)
    np.testing.assert_allclose(again, expected, rtol=1e-6)
    whole = np.zeros(100, np.float32)
    whole[5:68] = image.ravel()
    f(whole[5:68].reshape(7, 9), out=whole[4:67].reshape(7, 9))
    np.testing.assert_allclose(whole[4:67].reshape(7, 9), expected, rtol=1e-6)


def test_results_of_another_dtype_and_strides_are_converted():
    f = pygpu.compile(blur, target="cpu")
    image = photo()
    expected = f(image)
    f(image, out=np.empty((7, 9), np.float32))
    wide, strided = np.empty((7, 9)), np.empty((14, 18), np.float32)[::2, ::2]
    np.testing.assert_array_equal(f(image, out=wide), expected.astype(float))
    np.testing.assert_array_equal(f(image, out=strided), expected)


def test_a_few_sizes_by_turns_each_have_a_gate(sorted_calls):
    f = pygpu.compile(blur, target="cpu")
    images = [photo((n, n)) for n in (4, 5, 6)]
    for _ in range(3):
        for image in images:
            assert f(image).shape == image.shape
    assert len(sorted_calls) == 3


def test_the_sizes_of_a_pyramid_by_turns_have_gates_each(sorted_calls):
    f = pygpu.compile(blur, target="cpu")
    images = [Image(photo((n, n))) for n in range(3, 14)]
    for _ in range(3):
        for image in images:
            assert f(image).shape == image.shape
    assert len(sorted_calls) == len(images)


def shifted(im: Image, p: Position, by: pygpu.Vec2, axis=0, weights=(1.0, 2.0), table=None):
    step = (1, 0) if axis == 1 else (0, 1)
    total = im(p) * weights[0] + im(p + step) * weights[1] + by.x + 10 * by.y
    return total if table is None else total + table[1]


KNOWN = [
    {"axis": 1},
    {"axis": True},
    {"weights": (1.0, 2)},
    {"weights": (-0.0, 2.0)},
    {"weights": (0.0, 2.0)},
    {"table": np.array([1.0, 4.0])},
    {"table": np.array([1.0, 5.0])},
    {"by": pygpu.Vec2(7.0, 8.0)},
    {},
]


def test_known_values_and_vectors_are_no_reason_to_sort(sorted_calls):
    f, image = pygpu.compile(shifted, target="cpu"), photo()
    for k in range(4):
        expected = image + 2 * image[:, [*range(1, 9), 8]] + k + 20
        result = f(image, by=pygpu.Vec2(float(k), 2.0), axis=1, weights=(1.0, 2.0))
        np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert len(sorted_calls) == 1


@pytest.mark.parametrize("first", KNOWN)
def test_other_known_values_after_it_are_seen(first):
    f, image = pygpu.compile(shifted, target="cpu"), photo()
    usual = {"by": pygpu.Vec2(1.0, 2.0), "axis": 0, "weights": (1.0, 2.0)}
    for other in (first, *KNOWN):
        alone = pygpu.compile(shifted, target="cpu")
        given = usual | other
        np.testing.assert_array_equal(f(image, **given), alone(image, **given))


def test_an_array_that_is_changed_in_place_is_another_known_value():
    f, image, table = pygpu.compile(shifted, target="cpu"), photo(), np.array([1.0, 2.0])
    by = pygpu.Vec2(0.0, 0.0)
    for k in range(3):
        table[1] = k
        alone = pygpu.compile(shifted, target="cpu")
        np.testing.assert_array_equal(
            f(image, by=by, table=table), alone(image, by=by, table=table)
        )


@pytest.mark.parametrize("shift", [1, 2, 3])
def test_texels_that_begin_between_words_are_read_as_well(shift):
    f = pygpu.compile(blur, target="cpu", dtype=np.uint8)
    memory = np.random.default_rng(3).integers(0, 256, 300, np.uint8)
    f(memory[:117].reshape(9, 13))
    there = memory[shift : shift + 117].reshape(9, 13)
    np.testing.assert_array_equal(f(there), f(there.copy()))
    out = np.zeros(200, np.uint8)[shift : shift + 117].reshape(9, 13)
    np.testing.assert_array_equal(f(there, out=out), f(there.copy()))


def test_arrays_that_are_not_to_be_written_are_read(sorted_calls):
    f = pygpu.compile(blur, target="cpu")
    image = photo()
    expected = f(image)
    image.flags.writeable = False
    np.testing.assert_array_equal(f(image), expected)
    assert len(sorted_calls) == 1


def test_calls_with_a_dtype_are_not_sorted_either(sorted_calls):
    f = pygpu.compile(blur, target="cpu")
    image = photo((6, 8), np.uint8)
    expected = f(image, dtype=np.uint8)
    assert expected.dtype == np.uint8
    np.testing.assert_array_equal(f(image, dtype=np.uint8), expected)
    assert len(sorted_calls) == 1
    assert f(image).dtype == np.float32
    assert f(image, dtype=np.uint8).dtype == np.uint8
    assert len(sorted_calls) == 2


@pytest.mark.parametrize("device", ["fragment", "compute"])
def test_device_images_go_straight_to_their_program(device, sorted_calls):
    require(device)
    f, plain = pygpu.compile(blend, target=device), pygpu.compile(blend, target="cpu")
    a, b = Image(photo(), boundary="wrap"), Image(photo(seed=1))
    expected = plain(a, b, 0.25)
    for _ in range(3):
        made = f(a, b, 0.25)
        np.testing.assert_allclose(np.asarray(made), np.asarray(expected), rtol=1e-6)
        assert made.boundary == "wrap"
    assert len(sorted_calls) == 1 + 1
    chained = f(f(a, b, 0.5), b, 0.5)
    np.testing.assert_allclose(np.asarray(chained), photo() / 4 + photo(seed=1) * 0.75, rtol=1e-6)
    assert len(sorted_calls) == 2


@pytest.mark.parametrize("device", ["fragment", "compute"])
def test_limits_set_between_two_calls_are_heeded(device, monkeypatch, caplog):
    require(device)
    f = pygpu.compile(blur, target=device)
    image = Image(photo((40, 64)))
    expected = np.asarray(f(image))
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "32")
    with caplog.at_level("INFO", logger="pygpu"):
        np.testing.assert_array_equal(np.asarray(f(image)), expected)
    assert "tiles" in caplog.text


def rings(p: Position, step: Float):
    return (p.x * p.x + p.y * p.y) * step


@pytest.mark.parametrize("device", ["cpu", "compute"])
def test_calls_for_results_of_a_shape_are_not_sorted_either(device, sorted_calls):
    require(device)
    f, g = pygpu.compile(blur, target=device), pygpu.compile(rings, target=device)
    image, alone = photo(), pygpu.compile(blur, target="cpu")
    for round in range(3):
        for shape in ((4, 5), (9, 20), None):
            expected = alone(image, shape=shape)
            np.testing.assert_allclose(np.asarray(f(image, shape=shape)), expected, rtol=1e-6)
        made = np.asarray(g(0.5 + round, shape=(3, 4)))
        y, x = np.indices((3, 4))
        np.testing.assert_array_equal(made, ((x * x + y * y) * (0.5 + round)).astype(np.float32))
    assert len([1 for called, *_ in sorted_calls if called.has_image]) == 3 + 3
    assert len([1 for called, *_ in sorted_calls if not called.has_image]) == 1


def test_results_of_a_shape_go_into_the_callers_array(sorted_calls):
    f = pygpu.compile(blur, target="cpu")
    out = np.zeros((4, 5), np.float32)
    for seed in range(3):
        image = photo(seed=seed)
        assert f(image, shape=(4, 5), out=out) is out
        np.testing.assert_array_equal(out, f(image)[:4, :5])
    assert len(sorted_calls) == 2
    with pytest.raises(ValueError, match="shape"):
        f(image, shape=(5, 4), out=out)


@pytest.mark.parametrize("shape", [(4.0, 5), (True, 5), "45", np.array([4, 5]), [4, 5]])
def test_what_is_equal_to_a_shape_is_looked_at(shape):
    first, later = pygpu.compile(blur, target="cpu"), pygpu.compile(blur, target="cpu")
    image = photo()
    later(image, shape=(4, 5)), later(image, shape=(1, 5))

    def outcome(f):
        try:
            return np.asarray(f(image, shape=shape)).shape
        except Exception as error:
            return type(error), str(error)

    assert outcome(first) == outcome(later)


# ---------------------------------------------------------------- functions of texels


def _given(kind: Any, dtype: str) -> Any:
    shape = {pygpu.Signal: (9000,), pygpu.Image: (40, 50), pygpu.Volume: (5, 30, 20)}[kind]
    values = np.random.default_rng(0).integers(0, 250, shape).astype(dtype)
    return kind(values, boundary="wrap")


@pytest.mark.parametrize("kind", [pygpu.Signal, pygpu.Image, pygpu.Volume])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "int32"])
def test_operators_called_again_give_the_same(kind: Any, dtype: str, target: str) -> None:
    mix = pygpu.vectorize(lambda a, b, k: a * k - b, target=target)
    first, second = _given(kind, dtype), _given(kind, dtype)
    for number in (2.0, 3.5, 3, -1, True, False, 2.0):
        found = mix(first, second, number)
        expected = mix.on(target)(first, second, number)
        assert (type(found), found.boundary) == (kind, "wrap")
        assert found.format == expected.format
        assert found.storage.shape == first.storage.shape
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    assert np.asarray(mix(first, second, 2.0, dtype="float16")).dtype == np.float16
    assert np.asarray(mix(first, second, 2.0)).dtype == np.float32


def test_operators_called_again_see_other_readings_sizes_and_numbers() -> None:
    ramp = np.arange(12, dtype=np.float32).reshape(3, 4)
    image, other = pygpu.Image(ramp), pygpu.Image(ramp, boundary="mirror")
    for _ in range(3):
        assert (image + 1).boundary == "nearest"
        assert (other + 1).boundary == "mirror"
        assert (image[:2] + 1).storage.shape == (2, 4)
        np.testing.assert_array_equal(np.asarray(image + pygpu.Image(ramp[:1])), ramp + ramp[:1])
        np.testing.assert_array_equal(np.asarray(image + ramp), 2 * ramp)
        np.testing.assert_array_equal(np.asarray(pygpu.Image(ramp.astype("i4")) * 3), 3 * ramp)
        with pytest.raises(OverflowError, match="32 bits"):
            pygpu.Image(ramp.astype("i4")) + 2**40


@pytest.fixture
def bound(monkeypatch):
    """How many calls of functions of texels had their arguments sorted."""
    from pygpu.execution import vectorized

    calls = []
    original = vectorized.Bound.of
    monkeypatch.setattr(
        vectorized.Bound, "of", lambda *given: calls.append(given) or original(*given)
    )
    return calls


@pytest.mark.parametrize("dtype", [None, "uint8", np.uint16])
def test_pictures_of_floats_are_made_by_the_last_program(bound, dtype) -> None:
    image = Image(photo((256, 300)))  # so many that NumPy does not convert them
    expected = np.asarray(image.to_pil(dtype))
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(image.to_pil(dtype)), expected)
    assert len(bound) <= 1


def test_operators_on_the_sizes_of_a_pyramid_by_turns_have_gates_each(bound) -> None:
    difference = pygpu.vectorize(lambda a, b: a - b, target="cpu")
    images = [Image(photo((n, n))) for n in range(3, 14)]
    for _ in range(3):
        for image in images:
            np.testing.assert_array_equal(np.asarray(difference(image, image)), 0)
    assert len(bound) == len(images)


def test_functions_of_texels_that_read_globals_see_them_change() -> None:
    space = {"gain": 2.0}
    exec("def scaled(v): return v * gain", space)
    scaled = pygpu.vectorize(space["scaled"])
    image = pygpu.Image(np.ones((3, 3), np.float32))
    for gain in (2.0, 2.0, 5.0, 5.0):
        space["gain"] = gain
        np.testing.assert_array_equal(np.asarray(scaled(image)), np.full((3, 3), gain))


@pytest.mark.parametrize("make", [Vec3, tuple, list, np.array])
def test_vectors_come_in_as_any_sequence_of_numbers(make: Any) -> None:
    @pygpu.compile(target="cpu")
    def tinted(im: Image, p: Position, tint: Vec3) -> Any:
        return im(p) * tint

    def given(*numbers: float) -> Any:
        return Vec3(*numbers) if make is Vec3 else make(numbers)

    texels = np.ones((4, 5, 3), np.float32)
    for numbers in ((1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (1, 2, 0.5)):
        assert (tinted(texels, tint=given(*numbers))[1, 2] == numbers).all()
    if make is not Vec3:
        for wrong in ((1.0, 2.0), (1.0, 2.0, "3")):
            with pytest.raises((TypeError, ValueError), match="tint: takes"):
                tinted(texels, tint=make(wrong))


# ---------------------------------------------------------------- arrays that are copied

COPIED: Any = {
    "float64": lambda a: a.astype(np.float64),
    "int64": lambda a: (a * 100).astype(np.int64),
    "uint32": lambda a: (a * 100).astype(np.uint32),
    "big-endian": lambda a: a.astype(">f4"),
    "columns": np.asfortranarray,
    "a channel": lambda a: np.stack([a, a + 1], axis=-1)[..., 1],
}


@pytest.mark.parametrize("make", COPIED.values(), ids=COPIED)
def test_arrays_that_are_copied_go_to_the_last_program(sorted_calls, make: Any) -> None:
    f = pygpu.compile(blur, target="cpu")
    for seed in range(4):
        given = make(photo(seed=seed))
        before = given.copy()
        expected = pygpu.compile(blur, target="cpu")(np.ascontiguousarray(given))
        np.testing.assert_array_equal(f(given), expected)
        np.testing.assert_array_equal(given, before)
        into = np.zeros((7, 9), np.float32)
        into[...] = given
        np.testing.assert_array_equal(f(given, out=into), expected)
    assert len(sorted_calls) == 4 + 2


def test_values_that_do_not_fit_are_refused_after_ones_that_do() -> None:
    f = pygpu.compile(blur, target="cpu")
    wide = np.ones((7, 9), np.int64)
    for _ in range(2):
        np.testing.assert_array_equal(f(wide), 1)
        with pytest.raises(OverflowError, match="im: the value 1099511627776 does not fit"):
            f(wide << 40)
        with pytest.raises(OverflowError, match="im: a value does not fit in float32"):
            f(np.full((7, 9), 1e300))
        np.testing.assert_array_equal(f(np.full((7, 9), 2.0)), 2)


# ---------------------------------------------------------------- objects


class Lamp:
    def __init__(self, gain: float, name: str = "plain", beside: Any = None) -> None:
        self.gain, self.name, self.beside = gain, name, beside

    def lit(self, value: Any) -> Any:
        return value * self.gain + (100 if self.name == "bright" else 0)


class Blue(Lamp):
    def lit(self, value: Any) -> Any:
        return -value


def shone(im: Image, p: Position, lamp: Lamp, other: Lamp) -> Any:
    beside = 0 if lamp.beside is None else lamp.beside(p + (1, 0))
    return lamp.lit(im(p)) + beside + (1000 if lamp is other else 0)


def test_objects_go_to_the_last_program_and_are_seen_to_change(sorted_calls) -> None:
    image, other = np.ones((4, 5), np.float32), Lamp(1.0)
    f, lamp = pygpu.compile(shone, target="cpu"), Lamp(2.0)

    def value(first: Lamp, second: Lamp = other) -> float:
        return float(f(image, first, second)[2, 2])

    assert [value(lamp), value(lamp), value(Lamp(3.0))] == [2, 2, 3]
    assert len(sorted_calls) == 1
    lamp.gain = 5.0
    assert value(lamp) == 5
    assert len(sorted_calls) == 1
    lamp.name = "bright"
    assert [value(lamp), value(Lamp(5.0)), value(Blue(5.0)), value(lamp)] == [105, 5, -1, 105]
    assert value(other, other) == 1001
    assert value(other, Lamp(1.0)) == 1
    for ramp in (np.arange(20.0).reshape(4, 5), np.arange(42.0).reshape(6, 7)):
        lamp.beside = Image(ramp)
        assert [value(lamp), value(lamp)] == [105 + ramp[2, 3]] * 2
    lamp.beside = Image(ramp, boundary="wrap")
    assert f(image, lamp, other)[0, 4] == 105 + ramp[0, 5]
    lamp.gain = "none"
    with pytest.raises(Exception, match=r"str|none"):
        value(lamp)
    lamp.gain, lamp.beside, lamp.name = 7, None, "plain"
    assert [value(lamp), value(lamp)] == [7, 7]


def test_methods_go_to_the_last_program(sorted_calls) -> None:
    class Paint:
        def __init__(self, gain: float) -> None:
            self.gain, self.parts = gain, [1.0]

        @pygpu.compile(target="cpu")
        def over(self, im: Image, p: Position) -> Any:
            return im(p) * self.gain + sum(self.parts)

    paint, image = Paint(2.0), np.ones((3, 4), np.float32)
    for gain in (2.0, 3.0, 4.0):
        paint.gain = gain
        np.testing.assert_array_equal(paint.over(image), gain + 1)
    assert len(sorted_calls) == 1
    paint.parts.append(5.0)
    np.testing.assert_array_equal(paint.over(image), 4 + 6)


# ---------------------------------------------------------------- functions of numbers


def mixed(a: Any, b: Any, k: Any) -> Any:
    return a * k - b


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8", "int64", "bool", ">f4"])
@pytest.mark.parametrize("shape", [(1,), (5,), (5000,), (1, 1), (3, 4), (2, 3, 4), (2, 1, 2, 3, 2)])
def test_arrays_of_numbers_go_to_the_last_program(bound, shape: Any, dtype: str) -> None:
    mix = pygpu.vectorize(mixed, target="cpu")
    rng = np.random.default_rng(1)
    for number in (2.0, 3.0, -1.5):
        a, b = ((rng.random(shape) * 9).astype(dtype) for _ in range(2))
        found = mix(a, b, number)
        expected = a.astype(np.float64) * number - b
        assert (found.shape, found.dtype) == (shape, np.float32)
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)
        turned = a.T if a.ndim > 1 else a[::-1]
        np.testing.assert_allclose(mix(turned, turned, 2.0), turned.astype(float), atol=1e-5)
    assert a.nbytes < 4 or len(bound) <= 1 + 3


def test_arrays_that_broadcast_go_to_the_last_program(bound) -> None:
    mix = pygpu.vectorize(mixed, target="cpu")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        a, b, k = rng.random((4, 1, 3)), rng.random((5, 1)), rng.random(1)
        np.testing.assert_allclose(mix(a, b, k), a * k - b, rtol=1e-5, atol=1e-6)
    assert len(bound) == 1
    with pytest.raises(ValueError, match="broadcast"):
        mix(rng.random((4, 1, 3)), rng.random((5, 2)), k)


def test_numbers_alone_go_to_the_last_program(bound) -> None:
    mix = pygpu.vectorize(mixed, target="cpu")
    for number in (1.0, 2.0, 3.0):
        assert mix(number, 1.0, 2.0) == 2 * number - 1
        assert isinstance(mix(number, 1.0, 2.0), float)
    assert len(bound) == 1
    assert mix(3, 1, 2) == 5
    assert isinstance(mix(3, 1, 2), int)
    assert mix(np.ones((1, 1)), 1.0, 2.0).shape == (1, 1)
    both = pygpu.vectorize(lambda a: (a + 1, Vec3(a, a, a)), target="cpu")
    for _ in range(2):
        assert both(2.0)[0] == 3
        assert tuple(both(2.0)[1]) == (2, 2, 2)
        assert both(np.zeros(4))[1].shape == (4, 3)
    with pytest.raises(OverflowError):
        mix(2**40, 1, 2)


def test_results_of_another_dtype_come_as_they_are_asked_for() -> None:
    mix = pygpu.vectorize(mixed, target="cpu")
    a = np.arange(6.0).reshape(2, 3)
    for _ in range(2):
        for dtype in ("float64", "uint8", None, np.float16):
            found = mix(a, 0.0, 0.1, dtype=dtype)
            assert found.dtype == np.dtype(dtype or "float32")
            into = np.zeros((2, 3), dtype or "float32")
            assert mix(a, 0.0, 0.1, out=into) is into
            np.testing.assert_array_equal(into, found)


def test_a_call_during_which_programs_are_forgotten_leaves_none_behind(monkeypatch):
    from pygpu.execution.programs import running

    table = {"amount": 2.0}
    f = pygpu.compile(lambda im=Image, p=Position: im(p) * table["amount"], target="cpu")
    run = running.run

    def changed_meanwhile(*given):
        found = run(*given)
        table["amount"] = 3.0
        f.recompile()
        return found

    with monkeypatch.context() as patch:
        patch.setattr(running, "run", changed_meanwhile)
        np.testing.assert_array_equal(f(photo()), 2 * photo())
    np.testing.assert_array_equal(f(photo()), 3 * photo())


def turned(im: Image, p: Position, turn: pygpu.Mat2, z: complex, mask: Image = None):
    x, y = turn @ p
    return im(p) * x + y * z.real + z.imag + (0.0 if mask is None else mask(p))


@pytest.mark.parametrize("device", ["cpu", "compute", "fragment"])
def test_matrices_complex_numbers_and_none_are_no_reason_to_sort(sorted_calls, device) -> None:
    require(device)
    f, calls = pygpu.compile(turned, target=device), []
    image = photo()
    for k in range(3):
        for turn in (pygpu.Mat2([[1, k], [0, 2]]), np.eye(2) * k, [[k, 1], [2, 3.5]]):
            for given in ({}, {"mask": None}, {"mask": photo(seed=k)}):
                calls.append((turn, 1 + k * 1j, given))
    for turn, z, given in calls:
        found = f(image, turn, z, **given)
        alone = pygpu.compile(turned, target=device)(image, turn, z, **given)
        np.testing.assert_array_equal(found, alone)
    several = len(sorted_calls)
    for k in range(4):
        f(image, pygpu.Mat2(k), 1j * k, mask=None)
    assert len(sorted_calls) <= several + 1
    for wrong in (pygpu.Mat3(1), np.eye(3), [[1, 2], [3]], "ab"):
        with pytest.raises((TypeError, ValueError), match="turn"):
            f(image, wrong, 1j, mask=None)
    with pytest.raises(TypeError, match="z: takes a complex number"):
        f(image, pygpu.Mat2(1), "1j", mask=None)


def mean_of_all(*images: Image, p: Position, gain: Float = 1.0):
    return gain * sum(image(p) for image in images) / len(images)


def summed(im: Image, p: Position, *weights: Float):
    return im(p) * sum(weights)


def test_arguments_that_a_parameter_takes_the_rest_of_are_no_reason_to_sort(sorted_calls) -> None:
    f, g = (pygpu.compile(function, target="cpu") for function in (mean_of_all, summed))
    pictures = [photo(seed=seed) for seed in range(4)]
    for gain in (1.0, 2.0, 3.0):
        for count in (2, 4, 3):
            found = f(*pictures[:count], gain=gain)
            np.testing.assert_allclose(found, gain * np.mean(pictures[:count], 0), rtol=1e-6)
    assert len(sorted_calls) == 3
    for weights in ((1.0,), (2.0,), (1.0, 2.0), (3.0, 4.0), (1.0,)):
        np.testing.assert_allclose(g(pictures[0], *weights), pictures[0] * sum(weights), rtol=1e-6)
    assert len(sorted_calls) == 3 + 2
    with pytest.raises(TypeError, match=r"weights\[1\]"):
        g(pictures[0], 1.0, "2")
    with pytest.raises(TypeError, match=r"images\[1\]"):
        f(pictures[0], "a", gain=1.0)
    np.testing.assert_array_equal(f(pictures[0], photo((7, 9), np.uint8)).shape, (7, 9))
