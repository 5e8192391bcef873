"""Which variables are read after a block, and what that saves."""

import numpy as np

import pygpu
from pygpu import Image, Position, bytecode
from pygpu.frontend.decode.liveness import live_at


def live_in_loop(function):
    code = bytecode.decode(function.__code__)
    (header,) = code.graph.loops
    live = live_at(code)
    return live and set(live[header])


def test_a_variable_assigned_before_it_is_read_is_not_live():
    def summed(xs):
        total = 0
        for x in xs:
            square = x * x
            total += square
        return total

    assert {"total"} == live_in_loop(summed)


def test_a_variable_read_after_the_loop_or_in_a_handler_is_live():
    def last(xs, y, z):
        found = None
        for x in xs:
            try:
                found = x / y
                y = 1
            except ZeroDivisionError:
                found = y
        return found, z

    assert {"found", "y", "z"} <= live_in_loop(last)


def test_a_variable_of_a_closure_is_live_where_the_closure_reads_it():
    def closed(xs):
        total = 0

        def add(x):
            nonlocal total
            total += x

        for x in xs:
            add(x)
        return total

    assert {"add", "total"} <= live_in_loop(closed)


def test_all_variables_are_live_where_locals_are_asked_for():
    def named(xs):
        for x in xs:
            y = x
        return locals()

    assert live_in_loop(named) is None


def test_locals_under_another_name_are_refused():
    mine = locals

    def named(im: Image, p: Position):
        a = im(p)
        if a > 0.5:
            a = 0.0
        return mine()["a"]

    with np.testing.assert_raises_regex(pygpu.CompileError, "call locals\\(\\) by its name"):
        pygpu.compile(named, target="cpu")(np.zeros((2, 2), np.float32))


def test_a_loop_carries_what_is_read_again():
    def steps(im: Image, p: Position):
        x, n = im(p), 0
        while x < 10:
            root = x * x + 1
            half = root / 2
            x = half + root
            n += 1
        return n

    text = pygpu.compile(steps, target="cpu").lower(np.zeros((2, 2), np.float32)).ssa
    carried = text.partition("loop (")[2].partition(")")[0]
    assert [part.split(" = ")[0] for part in carried.split(", ")] == ["n", "x_3"]
