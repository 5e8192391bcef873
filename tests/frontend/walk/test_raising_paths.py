"""Paths on which Python raises, where others go on: a pixel there is NaN, 0 or False, and checked
programs say where it is. So is what only NaN leaves without a value."""

import numpy as np
import pytest

import pygpu
from pygpu import CompileError, Image, Position

TEXELS = np.array([[0.0, np.nan, 0.75, 0.25]], np.float32)


def half(im: Image, p: Position):
    x = im(p)
    if x < 0.5:
        a = 1.0
    elif x >= 0.5:
        a = 2 * x
    return a + 1


def number(im: Image, p: Position):
    x, y, z = im(p), im(p + (1, 0)), im(p + (2, 0))
    most = max(x, y, z)
    if x == most:
        k = 1
    elif y == most:
        k = 2
    elif z == most:
        k = 3
    return k


def without_end(im: Image, p: Position):
    if im(p) < 0.5:
        return 1.0, im(p)
    elif im(p) >= 0.5:
        return 2.0, im(p)


def best(im: Image, p: Position):
    found = None
    if im(p) < 0.5:
        found = pygpu.Vec3(im(p))
    elif im(p) > 0.5 or im(p) == 0.5:
        found = pygpu.Vec3(im(p), 1, 2)
    return found.z


PROGRAMS = {
    half: UnboundLocalError,
    number: UnboundLocalError,
    without_end: TypeError,
    best: AttributeError,
}


def in_python(function, x):
    """What Python gives; None where it raises."""
    try:
        return function(pygpu.Image(TEXELS), Position(x, 0))
    except (UnboundLocalError, AttributeError):
        return None


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_nan_alone_has_no_value(target, function):
    found = pygpu.compile(function, target=target)(TEXELS)
    results = found if isinstance(found, tuple) else (found,)
    for x in range(TEXELS.shape[1]):
        expected = in_python(function, x)
        for place, result in enumerate(results):
            empty = np.nan if result.dtype.kind == "f" else 0
            one = expected[place] if isinstance(expected, tuple) else expected
            np.testing.assert_equal(result[0, x], empty if expected is None else one)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_checked_programs_say_where(target, function):
    checked = pygpu.compile(function, target=target, check=True)
    with pytest.raises(PROGRAMS[function]) as caught:
        checked(TEXELS)
    assert "position" in "".join(caught.value.__notes__)
    checked(np.nan_to_num(TEXELS))


def last(im: Image, p: Position):
    x = im(p)
    while x > 0.5:
        last = x
        x -= 0.125
    return last


def test_a_variable_of_a_loop_of_no_round_has_no_value(target):
    expected = [[np.nan, np.nan, 0.625, np.nan]]
    np.testing.assert_equal(pygpu.compile(last, target=target)(TEXELS), expected)
    checked = pygpu.compile(last, target=target, check=True)
    with pytest.raises(UnboundLocalError, match="variable 'last' where it is not associated"):
        checked(TEXELS)
    assert np.array_equal(checked(np.full_like(TEXELS, 0.75)), np.full_like(TEXELS, 0.625))


def test_a_handler_is_reached(target):
    def handled(im: Image, p: Position):
        try:
            if im(p) < 0.5:
                a = 1.0
            elif im(p) >= 0.5:
                a = 2.0
            return a
        except UnboundLocalError:
            return -1.0

    found = pygpu.compile(handled, target=target)(TEXELS)
    assert np.array_equal(found, [[1, -1, 2, 1]])


def test_a_handler_raises_another_exception(target):
    def inverse(v):
        try:
            return 1 / v
        except ZeroDivisionError:
            raise ValueError("must not be zero")  # noqa: B904

    def of_numbers(im: Image, p: Position):
        return inverse(im(p)) + 1

    def of_a_raise(im: Image, p: Position):
        try:
            if im(p) > 0.5:
                raise ValueError("too large")
            m = 5.0
        except ValueError:
            message = f"{im(p)} is too large"
            raise KeyError(message)  # noqa: B904
        return m

    texels = np.array([[0.0, 0.25, 1.0]], np.float32)
    found = pygpu.compile(of_numbers, target=target)(texels)
    assert np.array_equal(found, [[np.nan, 5, 2]], equal_nan=True)
    found = pygpu.compile(of_a_raise, target=target)(texels)
    assert np.array_equal(found, [[5, 5, np.nan]], equal_nan=True)
    for function, error in ((of_numbers, ValueError), (of_a_raise, KeyError)):
        with pytest.raises(error):
            pygpu.compile(function, target=target, check=True)(texels)


def test_other_pixels_without_a_value_are_refused(target):
    def at_zero(im: Image, p: Position):
        if im(p) < 0:
            a = -1.0
        if im(p) > 0:
            a = 1.0
        return a

    def of_two(im: Image, p: Position):
        most = max(im(p), im(p + (1, 0)), 0.5)
        if im(p) == most:
            a = 1.0
        elif im(p + (1, 0)) == most:
            a = 2.0
        return a

    for function in (at_zero, of_two):
        with pytest.raises(CompileError, match="'a' is assigned"):
            pygpu.compile(function, target=target)(TEXELS)
