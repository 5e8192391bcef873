"""Names that may be several objects: if they are the same, and what is changed through them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Position


class Holder:
    def __init__(self, xs: list[int]) -> None:
        self.xs = xs


def of_an_item(p: Position) -> Any:
    a, c = [7, 1, 2], [5, 3]
    b = [[4, 4], a, c][p.x % 3]
    return (b is c) + 2 * (b is a) + 4 * (b is not c) + 8 * (None is b)


def of_an_attribute(p: Position) -> Any:
    a, c = [7, 1], [5, 3]
    a.append(p.y)
    holders = [Holder(a), Holder([4, 4]), Holder(c)]
    b = holders[p.x % 3].xs
    return (b is c) + 2 * (b is a) + 4 * (b is holders[p.x % 3].xs)


def of_two_items(p: Position) -> Any:
    a, c = [7, 1, 2], [5, 3]
    b = [[4, 4], a, c][p.x % 3]
    d = [c, a, [4, 5]][p.y % 3]
    return (b is d) + 2 * (d is a) + 4 * (d is not b)


@pytest.mark.parametrize("function", [of_an_item, of_an_attribute, of_two_items])
def test_items_of_several_lengths_are_the_same_as_in_python(function: Callable[..., Any]) -> None:
    made = pygpu.compile(function, target="interpreter")(shape=(3, 6))
    expected = [[function(Position(x, y)) for x in range(6)] for y in range(3)]
    np.testing.assert_array_equal(made, expected)


class Node:
    def __init__(self, u: int) -> None:
        self.u, self.next = u, self


def of_two_nodes(p: Position) -> Any:
    v, w = Node(2), Node(3)
    w = v if p.x % 3 == 0 else w
    v.u += 2
    u = w.next
    u.u += 3
    return u.next.u, v.u, w.u, u.u


def of_nodes_in_a_dict(p: Position) -> Any:
    v, w = Node(2), Node(3)
    w = v if p.x % 3 == 0 else {0: v, 1: w}[p.y % 2]
    for _ in range(2):
        v.u += 2
        u = w.next
        u.u += 3
    return u.next.u, v.u, w.u, u.u


@pytest.mark.parametrize("function", [of_two_nodes, of_nodes_in_a_dict])
def test_what_changed_objects_hold_is_changed_in_both(function: Callable[..., Any]) -> None:
    """What a joined object holds, which is made anew after a change of one that it may be."""
    made = pygpu.compile(function, target="interpreter")(shape=(3, 6))
    pixels = [function(Position(x, y)) for y, x in np.ndindex(3, 6)]
    np.testing.assert_array_equal(np.stack([*map(np.asarray, made)], -1).reshape(-1, 4), pixels)


def of_one_list_thrice(p: Position) -> Any:
    a = [7, 1]
    b = [a, a, a][p.x % 3]
    a[0] = p.y
    b[1] += 2
    return a[0] + b[0], a[1], b is a


def of_a_loop(p: Position) -> Any:
    n = p.x % 3
    a, c = [7, 1], [5, 3]
    t = c
    for _ in range(p.x % 3):
        c = a
        t = {0: a, 1: a, 2: c}[n] if p.x > 0 else a
    [a, a, c][n][0] = p.y
    return a[0], t[0], c[0]


@pytest.mark.parametrize("function", [of_one_list_thrice, of_a_loop])
def test_one_object_that_is_all_items_is_itself(function: Callable[..., Any]) -> None:
    made = pygpu.compile(function, target="interpreter")(shape=(3, 6))
    pixels = [function(Position(x, y)) for y, x in np.ndindex(3, 6)]
    np.testing.assert_array_equal(np.stack([*map(np.asarray, made)], -1).reshape(-1, 3), pixels)
