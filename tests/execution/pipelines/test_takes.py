"""Steady pipelines are not asked twice what they do; all others run at every call."""

import math
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image as PILImage

import pygpu
from conftest import require
from pygpu import Float, Image, Position, filters
from pygpu.execution.pipeline import Pipeline

RNG = np.random.default_rng(8)
CALLS = 4  # met, rehearsed, played twice


@pygpu.compile
def box(im: Image, p: Position):
    return sum(im(p + (dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)) / 9


@pygpu.compile
def slopes(im: Image, p: Position):
    return im(p + (1, 0)) - im(p - (1, 0)), im(p + (0, 1)) - im(p - (0, 1))


@pygpu.compile
def scaled(im: Image, p: Position, gain: Float = 2.0):
    return gain * im(p)


@pygpu.compile
def negated(im: Image, p: Position, gain: Float = 2.0):
    return -gain * im(p)


@pygpu.compile(kernel=np.zeros((3, 3)))
def filtered(im: Image, p: Position, kernel):
    return sum(w * im(p + d) for d, w in pygpu.offsets(kernel))


@pytest.fixture(autouse=True, params=("cpu", "fragment", "compute"))
def here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    target: str = request.param
    require(target)
    monkeypatch.setenv("PYGPU_TARGET", target)
    return target


def image(*shape: int, **options: Any) -> Image:
    return Image(RNG.random(shape or (6, 9), np.float32), **options)


def is_known(piped: Pipeline) -> bool:
    """Whether some call is done again without asking the function."""
    return any(take is not None for take in piped._takes._of.values())


def same(function: Callable[..., Any], *kinds: Callable[[], tuple[Any, ...]]) -> Pipeline:
    """A pipeline gives at each call, by turns of these arguments, what the function gives."""
    piped = pygpu.pipeline(function)
    for _ in range(CALLS):
        for kind in kinds:
            args = kind()
            agrees(piped(*args), function(*args))
    return piped


def agrees(have: Any, want: Any) -> None:
    assert type(have) is type(want)
    if isinstance(want, dict):
        have, want = [*have.items()], [*want.items()]
    if isinstance(want, (tuple, list)):
        assert len(have) == len(want)
        for a, b in zip(have, want, strict=True):
            agrees(a, b)
    elif isinstance(want, (Image, np.ndarray)):
        assert np.asarray(have).dtype == np.asarray(want).dtype
        most = 1e-6 * max(1, np.max(np.abs(np.asarray(want, float)), initial=0))  # sums may err so
        np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=1e-5, atol=most)
        if isinstance(want, Image):
            assert (have.boundary, have.interpolation) == (want.boundary, want.interpolation)
            assert dict(have.info) == dict(want.info)
    else:
        assert have == want


def rounded(im: Any, gain: float = 1.5) -> Any:
    gx, gy = slopes(im)
    return scaled(np.maximum(box(gx), 0.1), gain) + box(gy) * 0.5


def smoother(im: Any) -> Any:
    return filters.gaussian(im, 1.2)


def test_steady_functions_give_the_same_for_other_images() -> None:
    def named(im):
        a, b = [box(each) for each in slopes(im)]
        return {"a": a, "both": (a, b), "count": 2}

    def listed(im, other):
        return [box(im) - other, scaled(other, gain=3)]

    assert is_known(same(rounded, lambda: (image(),)))
    assert is_known(same(rounded, lambda: (image(), 0.5), lambda: (image(), -0.0)))
    assert is_known(same(named, lambda: (image(),)))
    assert is_known(same(listed, lambda: (image(), image())))
    assert is_known(same(lambda im: box(rounded(im)), lambda: (image(),)))
    assert is_known(same(smoother, lambda: (image(),)))


def test_calls_by_turns_of_other_kinds_and_numbers() -> None:
    same(
        rounded,
        lambda: (image(),),
        lambda: (image(7, 9),),
        lambda: (image(boundary="wrap"),),
        lambda: (image(boundary="constant", cval=0.5),),
        lambda: (image(boundary="constant", cval=0.25),),
        lambda: (image(9, 8, 3),),
        lambda: (Image(RNG.integers(0, 256, (9, 8), dtype=np.uint8)),),
        lambda: (Image(RNG.integers(0, 256, (9, 8), dtype=np.uint8), normalize=False),),
        lambda: (image(), 0.0),
        lambda: (image(), 1),
        lambda: (image(), float(RNG.random())),
    )


def test_forms_and_infos_are_those_of_the_arguments() -> None:
    same(rounded, lambda: (image(info={"dpi": tuple(RNG.integers(1, 99, 2))}),))
    piped = pygpu.pipeline(rounded)
    for _ in range(CALLS):
        array = RNG.random((9, 12), np.float32)
        agrees(piped(array), rounded(array))
        picture = PILImage.fromarray(RNG.integers(0, 256, (9, 12), dtype=np.uint8))
        assert np.array_equal(np.asarray(piped(picture)), np.asarray(piped(picture)))
        assert isinstance(piped(picture), PILImage.Image)
    assert is_known(piped)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_arrays_may_lie_anyhow(here: str, dtype: str) -> None:
    """Parts of rows, every second row, and memory that begins at any byte, by turns."""
    piped, wide = pygpu.pipeline(rounded), np.empty(2000, np.uint8)
    for k in range(3 * CALLS):
        whole = (RNG.random((24, 40)) * 200).astype(dtype)
        size = np.dtype(dtype).itemsize * 9 * 12
        aside = wide[k : k + size].view(dtype).reshape(9, 12)
        aside[:] = whole[:9, :12]
        for array in (whole[3:12, k % 5 : k % 5 + 12], whole[: 2 * 9 : 2, :12], aside):
            agrees(piped(array), rounded(array.copy()))


def test_arrays_are_the_callers_own() -> None:
    """What is given is read where it is, what is made is handed over: neither changes the other,
    nor what earlier calls gave."""

    def several(im, other):
        twice = scaled(im)
        return twice, twice, box(twice) + other

    piped, before = pygpu.pipeline(several), []
    for _ in range(CALLS):
        given = RNG.random((6, 9), np.float32), RNG.random((6, 9), np.float32)
        want = [np.array(each) for each in several(*map(Image, given))]
        have = piped(*given)
        for array in given:
            array[:] = -1
        before.append((have, want))
        for results, wanted in before:
            agrees([*results], wanted)
        have[0][:] = want[0][:] = 7
        for array in have:
            assert array.flags.writeable
    assert is_known(piped)


def test_arguments_that_are_one_image() -> None:
    def apart(a, b):
        return box(a) if a is b else box(a) - scaled(b)

    piped = pygpu.pipeline(apart)
    for _ in range(CALLS):
        one, other = image(), image()
        for args in ((one, other), (one, one), (one, one.sampled("wrap"))):
            agrees(piped(*args), apart(*args))


def test_what_functions_look_at_decides_at_every_call() -> None:
    def by_brightness(im):
        return box(im) if float(im.max()) > 0.5 else scaled(im)

    def by_texels(im):
        return box(im) if im.numpy()[0, 0] > 0.5 else scaled(im)

    def by_first(im):
        return box(im) if im((0, 0)) > 0.5 else scaled(im)

    def by_order(im):
        return box(im) * max(im.max(), 0.5)

    def by_root(im):
        return box(im) * math.sqrt(im.mean())

    for function in (by_brightness, by_texels, by_first, by_order, by_root):
        piped = pygpu.pipeline(function)
        for level in (0.2, 0.9, 0.2, 0.9, 0.3, 0.8):
            im = Image(np.full((7, 9), level, np.float32))
            agrees(piped(im), function(im))
        assert not is_known(piped)


def test_floats_may_be_others_where_functions_do_not_look_at_them() -> None:
    def weighed(im, gain, level=0.25):
        return scaled(box(im), 2 * gain) + np.sqrt(level) * im - (1 - gain) / level

    piped = pygpu.pipeline(weighed)
    for gain in (0.5, 1.5, -0.0, 2.5, 1e-3, 7.25):
        for level in (gain * gain + 0.1, 0.3):
            im = image()
            agrees(piped(im, gain, level), weighed(im, gain, level=level))
            agrees(piped(im, gain, level=level), weighed(im, gain, level=level))
    assert len(piped._takes._of) == 2  # by place and by name
    assert is_known(piped)


def test_functions_that_look_at_floats_are_known_for_equal_ones() -> None:
    def chosen(im, gain):
        return box(im) if gain > 1 else scaled(im, gain)

    def powers(im, gain):
        return im**gain

    for function in (chosen, powers):
        piped = pygpu.pipeline(function)
        for gain in (0.5, 2.0, 0.5, 2.0, 0.5, 2.0, 0.5, 0.75, 3.0):
            im = image()
            agrees(piped(im, gain), function(im, gain))
        assert is_known(piped)


def test_calls_with_floats_that_give_errors_raise_as_they_do() -> None:
    def weighed(im, gain):
        return scaled(im, 1 / gain) * im.max() ** gain

    piped = pygpu.pipeline(weighed)
    im = image()
    for _ in range(CALLS):
        agrees(piped(im, 0.5), weighed(im, 0.5))
        with pytest.raises(ZeroDivisionError) as found:
            piped(im, 0.0)
        assert "weighed" in [entry.name for entry in found.traceback]
        with pytest.raises(OverflowError, match="gain"):
            piped(im, 1e-50)


def test_folds_on_the_host_are_done_again(here: str) -> None:
    def by_largest(im, share=0.5):
        r = box(im)
        return r > share * r.max()

    def normalised(im):
        low, high = im.min(), im.max()
        return (im - low) / (high - low), np.sqrt(box(im).mean())

    def spread(im):
        even = scaled(im, 1 / im.mean())
        return even, even - even.sum() * 1e-3

    same(by_largest, lambda: (image(),), lambda: (image(9, 9, 3),), lambda: (image(), 0.25))

    def standard(im):
        return (im - im.mean()) / im.std()

    for function in (by_largest, spread, standard, lambda im: normalised(im)[0]):
        piped = same(function, lambda: (image(),), lambda: (image(7, 8),))
        assert is_known(piped) is (here != "compute")
    if here == "cpu":
        same(normalised, lambda: (image(),))  # a number among the results
    for level in (0.2, 0.9):
        flat = Image(np.full((5, 6), level, np.float32))
        agrees(pygpu.pipeline(by_largest)(flat), by_largest(flat))


def test_rounds_take_floats_that_change() -> None:
    def drifted(im, gain):
        return scaled.iterate(im, 3, gain)

    piped = pygpu.pipeline(drifted)
    for gain in (0.5, 0.75, 1.25, 0.5):
        im = image()
        agrees(piped(im, gain), drifted(im, gain))


LEVELS = [0.5]
WEIGHT = 2.0
KERNEL = np.ones((3, 3))


class Setting:
    level = 1.0


def test_what_functions_do_besides_is_done_at_every_call(capsys: pytest.CaptureFixture) -> None:
    seen: list[float] = []
    count = 0

    def prints(im):
        print("here")
        return box(im)

    def appends(im):
        seen.append(1.0)
        return box(im)

    def counts(im):
        nonlocal count
        count += 1
        return scaled(im, float(count))

    def reads_a_list(im):
        return scaled(im, LEVELS[0])

    def reads_a_class(im):
        return scaled(im, Setting.level)

    def draws(im):
        return scaled(im, float(np.random.default_rng().random()))

    def asks_the_time(im):
        return scaled(im, time.perf_counter())

    def tries(im):
        try:
            return box(im)
        finally:
            seen.append(2.0)

    def imports(im):
        import json

        return scaled(im, float(json.loads("2")))

    functions = (prints, appends, counts, reads_a_list, reads_a_class, draws, asks_the_time)
    for function in (*functions, tries, imports):
        piped = pygpu.pipeline(function)
        results = []
        for n in range(CALLS):
            LEVELS[0] = Setting.level = 1.0 + n
            results.append(np.asarray(piped(image())))
        assert not is_known(piped), function.__name__
    assert capsys.readouterr().out == "here\n" * CALLS
    assert count == CALLS
    assert seen == [1.0] * CALLS + [2.0] * CALLS


def test_what_is_rebound_or_changed_counts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def weighed(im, gain=WEIGHT):
        return scaled(filtered(im, kernel=KERNEL), WEIGHT * gain)

    module = sys.modules[__name__]
    piped = pygpu.pipeline(weighed)
    im = image()

    def check() -> None:
        for _ in range(CALLS):
            agrees(piped(im), weighed(im))
        assert is_known(piped)

    check()
    monkeypatch.setattr(module, "WEIGHT", 3.0)
    check()
    monkeypatch.setattr(module, "KERNEL", KERNEL.copy())
    check()
    KERNEL[0] = 5.0  # in place
    check()
    monkeypatch.setattr(module, "scaled", negated)
    check()
    weighed.__defaults__ = (0.25,)
    check()
    KERNEL[0] = 1.0


FACTOR = [3.0]


def test_what_a_compiled_function_reads_counts_by_its_own_rules() -> None:
    @pygpu.compile
    def times(im: Image, p: Position):
        return FACTOR[0] * im(p)

    piped = pygpu.pipeline(lambda im: box(times(im)))
    im = image()
    for factor in (3.0, 4.0):
        FACTOR[0] = factor
        times.recompile()
        for _ in range(CALLS):
            agrees(piped(im), box(times(im)))
    assert is_known(piped)


def test_debuggers_see_functions_run() -> None:
    piped = pygpu.pipeline(rounded)
    im = image()
    for _ in range(CALLS):
        piped(im)
    assert is_known(piped)
    names: list[str] = []
    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: names.append(frame.f_code.co_name))
    try:
        piped(im)
    finally:
        sys.settrace(before)
    assert "rounded" in names


def test_threads_do_again_what_one_found_out() -> None:
    piped = pygpu.pipeline(rounded)
    images = [image() for _ in range(6)]
    want = [np.asarray(rounded(im)) for im in images]
    have: dict[int, Any] = {}

    def work(place: int) -> None:
        for _ in range(5):
            have[place] = np.asarray(piped(images[place]))

    threads = [threading.Thread(target=work, args=(place,)) for place in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place, each in enumerate(want):
        np.testing.assert_allclose(have[place], each, rtol=1e-5, atol=1e-6)
