"""Checked programs raise what Python would raise; unchecked ones give NaN where a path raises."""

import traceback
from typing import Any, Final

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pygpu
from conftest import require
from pygpu import Image, Int, Position, Vec2, Vec3, filters

RAMP: Final = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
TABLE: Final = np.arange(5.0)


@pytest.fixture(params=["cpu", "fragment", "compute", "interpreter"], autouse=True)
def on(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    require(request.param)
    monkeypatch.setenv("PYGPU_TARGET", request.param)


def root(x):
    if x < 0.5:
        raise ValueError(f"low: {x:.2f}")
    return x**0.5


def fails(function: Any, *args: Any, **kwargs: Any) -> BaseException:
    with pytest.raises(BaseException) as caught:  # noqa: PT011 - the caller looks which it is
        function(*args, **kwargs)
    return caught.value


def test_a_path_that_raises_gives_nan_zero_or_false() -> None:
    @pygpu.compile
    def f(im: Image, p: Position):
        v = im(p)
        if v < 0:
            raise ValueError("negative")
        return v, p.x, v > 0.5, Vec2(v, 1)

    negative = RAMP < 0
    v, x, large, both = f(RAMP)
    assert_array_equal(np.isnan(v), negative)
    assert_array_equal(x, np.where(negative, 0, np.arange(4)))
    assert_array_equal(large, RAMP > 0.5)
    assert_array_equal(np.isnan(both), np.dstack([negative, negative]))


def test_raising_in_calls_and_loops_ends_the_path() -> None:
    @pygpu.compile
    def f(im: Image, p: Position):
        n, v = 0, im(p)
        while v < 10:  # would never end where root() raises
            v += root(im(p) + 1)
            n += 1
        return n

    counts = f(RAMP)
    for (y, x), value in np.ndenumerate(RAMP):
        expected = 0 if value + 1 < 0.5 else int(np.ceil((10 - value) / np.sqrt(value + 1)))
        assert counts[y, x] == expected


def test_assertions_cost_nothing_unless_checked() -> None:
    def plain(im: Image, p: Position):
        v = im(p)
        return v * 2

    def asserting(im: Image, p: Position):
        v = im(p)
        assert v > 0 and v < 0.5, f"{v} is out of range"  # noqa: PT018
        return v * 2

    sources = [pygpu.compile(f).lower(RAMP).source for f in (plain, asserting)]
    assert sources[0].replace("plain", "") == sources[1].replace("asserting", "")
    assert_array_equal(pygpu.compile(asserting)(RAMP), RAMP * 2)


def test_what_python_raises_is_raised_at_the_users_line() -> None:
    @pygpu.compile(check=True)
    def f(im: Image, p: Position):
        return root(im(p) + 1)

    error = fails(f, RAMP)
    assert type(error) is ValueError
    assert str(error) == "low: 0.00"
    assert error.__notes__ == [
        "at run time, f at the position (0, 0), the first of 3 such positions"
    ]
    lines = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    assert lines[-2:] == ["f", "root"]
    f(RAMP + 2)


@pytest.mark.parametrize("environment", [False, True])
def test_checks_are_asked_for_by_an_argument_or_the_environment(
    environment: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def f(im: Image, p: Position):
        assert im(p) < 0.9, "too large"
        return im(p)

    compiled = pygpu.compile(f, check=not environment)
    if environment:
        assert_array_equal(compiled(RAMP), RAMP)
        monkeypatch.setenv("PYGPU_CHECK", "1")
    error = fails(compiled, RAMP)
    assert type(error) is AssertionError
    assert error.__notes__[-1].endswith("(3, 2), the only such position")


def indexed(im: Image, p: Position):
    return TABLE[p.x * 2 - 2] + [1, 2, 3, 4][p.x]


def row_indexed(im: Image, p: Position):
    return TABLE.reshape(1, 5)[p.y // 2, p.x]


def sliced_over_an_end(im: Image, p: Position):
    return TABLE[p.x : p.x + 4].sum()


def key_that_is_not_there(im: Image, p: Position):
    return {0: 1.0, 1: 2.0}[p.x]


def divided(im: Image, p: Position):
    return 10 // (p.x - 2)


def letter_of_an_empty_string(im: Image, p: Position):
    word = "" if p.x == 2 and p.y == 1 else "abc"
    return 1 if word[p.y] == "b" else 2


def number_of_an_empty_string(im: Image, p: Position):
    ones = ""
    for _ in range(p.x + p.y):
        ones += "1"
    return int(ones, 2)


def shifted(im: Image, p: Position):
    return (1 << (2 - p.x)) + (p >> (p.y + 1)).x


def shifted_vector(im: Image, p: Position):
    return (p << (p.y - 1)).x


def modulo(im: Image, p: Position):
    return Int(7) % (p.y - 1)


def modulo_by_nothing(im: Image, p: Position):
    k = p.x % (2 - 2)  # at every position
    return im(p) + (5 if k > 1 else 6)


def divided_by_nothing(im: Image, p: Position):
    return (2 if im(p) > 0.5 else 3) // 0


def converted(im: Image, p: Position):
    return int(1 / (im(p) - im((2, 1))) if p.y == 1 and p.x == 2 else 3e9 * im(p))


@pytest.mark.parametrize(
    ("function", "kind", "position"),
    [
        (row_indexed, IndexError, "(0, 2)"),
        (letter_of_an_empty_string, IndexError, "(2, 1)"),
        (number_of_an_empty_string, ValueError, "(0, 0)"),
        (sliced_over_an_end, IndexError, "(2, 0)"),
        (key_that_is_not_there, KeyError, "(2, 0)"),
        (divided, ZeroDivisionError, "(2, 0)"),
        (shifted, ValueError, "(3, 0)"),
        (shifted_vector, ValueError, "(0, 0)"),
        (modulo, ZeroDivisionError, "(0, 1)"),
        (modulo_by_nothing, ZeroDivisionError, "(0, 0)"),
        (divided_by_nothing, ZeroDivisionError, "(0, 0)"),
        (converted, (OverflowError, ZeroDivisionError), "(0, 0)"),
    ],
)
def test_other_faults_are_found(function: Any, kind: Any, position: str) -> None:
    pygpu.compile(function)(RAMP)  # nothing is said unless asked
    error = fails(pygpu.compile(function, check=True), RAMP)
    assert isinstance(error, kind)
    assert f"at the position {position}" in error.__notes__[-1]


def test_indices_in_range_from_both_ends_are_right() -> None:
    wide = np.zeros((2, 4), np.float32)
    assert_array_equal(pygpu.compile(indexed, check=True)(wide), [[4, 2, 5, 8]] * 2)
    error = fails(pygpu.compile(indexed, check=True), np.zeros((1, 5), np.float32))
    assert isinstance(error, IndexError)
    assert "(4, 0)" in error.__notes__[-1]


def one_element(im: Image, p: Position):
    return [1.0][p.x - 2] + im(p)


def computed_items(im: Image, p: Position):
    return [im(p), im(p) + 1, 2.0][p.x]


def component(im: Image, p: Position):
    return Vec3(im(p), 1, 2)[p.x]


def equal_elements(im: Image, p: Position):
    return (1.0, 1.0, 1.0)[p.x]


def stored_in_a_list(im: Image, p: Position):
    items = [im(p), 1.0, 2.0]
    items[p.x] = 5.0
    return sum(items)


def stored_in_an_array(im: Image, p: Position):
    items = np.zeros((3, 4))
    items[p.x, p.y] = 5
    return items.sum()


def stored_in_a_vector(im: Image, p: Position):
    v = Vec3(1, 2, im(p))
    v[p.x] = 4
    return v


def of_a_range(im: Image, p: Position):
    return range(p.y + 3)[p.x]


def counted_over_an_end(im: Image, p: Position):
    items = [im(p), 1, 2]
    for i in range(p.x + 1):
        items[i] += 1
    return items[0]


@pytest.mark.parametrize(
    "function",
    [
        computed_items,
        component,
        equal_elements,
        stored_in_a_list,
        stored_in_an_array,
        stored_in_a_vector,
        of_a_range,
        counted_over_an_end,
    ],
)
def test_every_index_is_checked(function: Any) -> None:
    checked = pygpu.compile(function, check=True)
    error = fails(checked, RAMP)
    assert type(error) is IndexError
    assert "at the position (3, 0)" in error.__notes__[-1]
    assert_array_equal(checked(RAMP[:, :3]), pygpu.compile(function)(RAMP[:, :3]))


def test_a_table_of_one_element_has_two_indices() -> None:
    error = fails(pygpu.compile(one_element, check=True), RAMP)
    assert "at the position (0, 0), the first of 6" in error.__notes__[-1]


def test_the_first_fault_of_a_pixel_counts_and_nothing_is_returned() -> None:
    @pygpu.compile(check=True)
    def f(im: Image, p: Position):
        total = 0
        for i in range(p.x + 1):
            assert i < 3, f"round {i}"
            total += 12 // (i - 3)
        return total

    out = np.full(RAMP.shape, 77, np.int32)
    error = fails(f, RAMP, out=out)
    assert str(error).startswith("round 3")
    assert_array_equal(f(RAMP[:, :3]), pygpu.compile(f.__wrapped__)(RAMP[:, :3]))


def test_images_that_are_smaller_than_the_result_are_refused_when_checked(target: str) -> None:
    def f(a: Image, b: Image, p: Position):
        return a(p) + b(p)

    assert pygpu.compile(f, target=target)(RAMP, RAMP[:2]).shape == RAMP.shape
    checked = pygpu.compile(f, target=target, check=True)
    with pytest.raises(ValueError, match=r"b: an image of 2 x 4 pixels .* result has 3 x 4"):
        checked(RAMP, RAMP[:2])
    with pytest.raises(ValueError, match=r"a: an image of 3 x 4 pixels .* result has 4 x 4"):
        checked(RAMP, RAMP, shape=(4, 4))
    assert_array_equal(checked(RAMP[:2], RAMP), 2 * RAMP[:2])  # nothing lies outside
    with pytest.raises(ValueError, match=r"b: an image of 2 x 4 pixels .* result has 3 x 4"):
        checked.map(np.stack([RAMP, RAMP]), RAMP[:2])
    assert_array_equal(checked.map(np.stack([RAMP, RAMP]), RAMP)[1], 2 * RAMP)


def test_tables_and_what_is_read_far_may_be_smaller_when_checked(target: str) -> None:
    def f(im: Image, table: Image, p: Position):
        return table((int(im(p)) % 3, 0)) + table(p / 2)

    image = RAMP[:, :4]
    result = pygpu.compile(f, target=target, check=True)(image, RAMP[:2])
    assert_array_equal(result, pygpu.compile(f, target=target)(image, RAMP[:2]))


def test_rounds_and_tuples_are_checked() -> None:
    @pygpu.compile(check=True)
    def f(im: Image, p: Position):
        assert im(p) < 3
        return im(p) + 1

    assert_array_equal(f.iterate(RAMP, 2), RAMP + 2)
    assert type(fails(f.iterate, RAMP, 5)) is AssertionError

    @pygpu.compile(check=True)
    def pair(im: Image, p: Position):
        assert p.x < 4
        return im(p), p.y

    assert len(pair(RAMP)) == 2


def test_division_by_a_known_zero_on_a_path_is_found() -> None:
    def f(im: Image, p: Position, limit: pygpu.Float):
        if im(p) > limit:
            return 7 // 0
        return 1

    checked = pygpu.compile(f, check=True)
    assert_array_equal(checked(RAMP, 2.0), np.ones_like(RAMP))
    assert_array_equal(pygpu.compile(f)(RAMP, 0.9)[2], [1, 1, 1, 0])
    assert isinstance(fails(checked, RAMP, 0.9), ZeroDivisionError)


def handled(im: Image, p: Position):
    try:
        return 1 / im(p)
    except ZeroDivisionError:
        return TABLE_OF_TWO[int(im(p + (1, 0)))]


TABLE_OF_TWO = [0.5, 0.25]


def test_what_is_handled_raises_nothing_and_what_is_not_does() -> None:
    checked = pygpu.compile(handled, target="interpreter", check=True)
    fine = np.array([[0, 1, 2], [4, 0, 0]], np.float32)
    np.testing.assert_allclose(checked(fine), [[0.25, 1, 0.5], [0.25, 0.5, 0.5]])
    with pytest.raises(IndexError) as caught:
        checked(np.array([[1, 0, -3]], np.float32))
    assert "position (1, 0)" in "".join(caught.value.__notes__)


@pytest.fixture
def asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_CHECK", "1")


@pytest.mark.usefixtures("asked_for")
def test_what_is_of_pygpus_own_reads_images_of_other_sizes() -> None:
    image = Image(np.linspace(0, 1, 480, dtype=np.float32).reshape(20, 24))
    assert filters.resize(image, (5, 7)).shape == (5, 7)
    assert 0 < filters.threshold_otsu(image) < 1
    assert np.isclose(pygpu.reduce(lambda a, b: a + b, image), 240)
    assert np.allclose(image.sum(axis=0), np.asarray(image).sum(0))
    assert len(pygpu.histogram(image)[0]) == 256


@pytest.mark.usefixtures("asked_for")
def test_folds_are_checked() -> None:
    image = Image(RAMP)
    error = fails(pygpu.reduce, np.add, image, map=lambda v, p: TABLE[p.x * 2])
    assert type(error) is IndexError
    assert "reduce: map at the position (3, 0), the first of 3" in error.__notes__[-1]
    error = fails(pygpu.reduce, lambda a, b: a // b, Image(np.zeros((4, 4), np.int32)))
    assert type(error) is ZeroDivisionError
    assert error.__notes__[-1] == "at run time, reduce"
    assert pygpu.reduce(np.maximum, image, map=lambda v: int(v * 4) // 1) == 4


def _placed(v, p):
    return int(TABLE[p.x * 2])


@pytest.mark.usefixtures("asked_for")
@pytest.mark.parametrize(
    ("fold", "name"),
    [
        (lambda x: pygpu.reduce(np.add, x, by=_placed, groups=9), "reduce: by or map"),
        (
            lambda x: pygpu.reduce(np.add, x, by=lambda v: 1, map=_placed, groups=2),
            "reduce: by or map",
        ),
        (lambda x: pygpu.scatter(x, _placed, (9,)), "scatter: to"),
    ],
)
def test_folds_by_group_say_what_was_called_where(fold: Any, name: str) -> None:
    error = fails(fold, Image(RAMP))
    assert type(error) is IndexError
    assert error.__notes__[-1] == (
        f"at run time, {name} at the position (3, 0), the first of 3 such positions"
    )


@pytest.mark.usefixtures("asked_for")
def test_scans_are_checked() -> None:
    error = fails(pygpu.scan, lambda a, b: a // b, np.zeros(5, np.int32))
    assert type(error) is ZeroDivisionError
    assert error.__notes__[-1] == "at run time, scan"


@pytest.mark.usefixtures("asked_for")
def test_folds_of_more_parts_than_a_program_reads_images_are_checked() -> None:
    image = Image(np.arange(30, dtype=np.float32).reshape(3, 10))
    limit = 870.0

    def values(v):
        return (v, *[Vec2(v + i, i) for i in range(17)])

    def join(a, b):
        assert a[0] + b[0] < limit
        return tuple(x + y for x, y in zip(a, b, strict=True))

    total, *vectors = pygpu.reduce(join, image, map=values)
    assert total == 435
    assert_array_equal(vectors, [[435 + 30 * i, 30 * i] for i in range(17)])
    limit = 400.0
    assert isinstance(fails(pygpu.reduce, join, image, map=values), AssertionError)


@pytest.mark.usefixtures("asked_for")
def test_elements_of_arrays_are_told_by_their_indices() -> None:
    divide = pygpu.vectorize(lambda a, b: a // b)
    array = np.arange(24).reshape(2, 3, 4)
    assert "at the index (1, 1, 3), the only" in fails(divide, 7, array - 19).__notes__[-1]
    assert "at the index 5, the only" in fails(divide, 7, np.arange(9) - 5).__notes__[-1]
    assert fails(divide, 7, 0).__notes__[-1].endswith("<lambda>")


def test_of_several_exceptions_that_which_is_reached_is_raised() -> None:
    def fail(v):
        if v > 0.7:
            raise KeyError
        else:
            raise IndexError

    @pygpu.compile(check=True)
    def f(im: Image, p: Position, above: float = 0.6):
        if im(p) > above:
            fail(im(p))
        return im(p)

    assert type(fails(f, RAMP)) is IndexError
    assert type(fails(f, RAMP, above=0.75)) is KeyError


def test_a_generator_that_raises_after_its_items_gives_them_first() -> None:
    def items(v):
        yield v
        if v > 0.5:
            yield 2 * v
        raise ValueError("no more")

    @pygpu.compile(check=True)
    def f(im: Image, p: Position):
        given = items(im(p))
        return next(given) + (next(given) if im(p) > 0.5 else 0)

    assert_array_equal(f(RAMP), np.where(RAMP > 0.5, 3 * RAMP, RAMP))


def test_several_exceptions_that_nobody_handles_are_told_apart() -> None:
    def root(v):
        if v < -0.5:
            raise KeyError
        return np.sqrt(v) if v > 0 else 1 // int(v + 0.9)

    @pygpu.compile(check=True)
    def f(im: Image, p: Position, lower: float = 0.0):
        try:
            first = root(im(p) + 2)
        except IndexError:
            first = 0.0
        try:
            return first + root(im(p) - lower)
        except IndexError:
            return first

    assert type(fails(f, RAMP)) is KeyError
    assert type(fails(f, RAMP + 1, lower=0.5)) is ZeroDivisionError


def test_lists_that_may_outgrow_their_room_add_no_result() -> None:
    def f(p: Position, n: Int):
        items = []
        for k in range(n):
            items.append(k * p.x)
        return len(items), items[-1] if items else -1

    results = pygpu.compile(f, check=True)(3, shape=(2, 4))
    assert len(results) == 2
    for got, plain in zip(results, pygpu.compile(f)(3, shape=(2, 4)), strict=True):
        assert_array_equal(got, plain)
    assert_array_equal(results[1], np.tile(2 * np.arange(4), (2, 1)))


def test_items_of_sums_are_checked_where_they_are_too_many_to_be_taken_one_by_one() -> None:
    def f(p: Position, n: Int):
        return sum(TABLE[k + p.x] for k in range(n))

    assert pygpu.compile(f)(2, shape=(1, 3))[0, 0] == 1
    count = len(TABLE) - 2
    plain, checked = pygpu.compile(f), pygpu.compile(f, check=True)
    assert_array_equal(checked(count, shape=(1, 3)), plain(count, shape=(1, 3)))
    with pytest.raises(IndexError, match="out of bounds"):
        checked(count + 1, shape=(1, 3))
