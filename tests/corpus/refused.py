"""Programs that are refused, each with the one that what is said of it leads to.

The advice is followed literally: a word of what is said stands in `advice`, and the second function
is the first with that done to it, and nothing else. In plain Python both give the same, but where
what is advised draws other random numbers.
"""

from __future__ import annotations

import enum
import functools
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import pygpu
from pygpu import Image, Position


@dataclass(frozen=True)
class Pair:
    """A program that is refused, what is said of it, and the program that this leads to."""

    refused: Callable[..., Any]
    advised: Callable[..., Any]
    advice: str
    alike: bool = True  # in plain Python both give the same


PAIRS: list[Pair] = []


def pair(advice: str, refused: Callable[..., Any], alike: bool = True) -> Callable[..., Any]:
    """Registers the function below it as what is advised in place of another."""

    def register(advised: Callable[..., Any]) -> Callable[..., Any]:
        PAIRS.append(Pair(refused, advised, advice, alike))
        return advised

    return register


def truth_of_a_vector(rgb: Image, p: Position):
    return 1.0 if rgb(p) == rgb(p) else 0.0


@pair("use all(v == w)", truth_of_a_vector)
def truth_of_all(rgb: Image, p: Position):
    return 1.0 if all(rgb(p) == rgb(p)) else 0.0


def greater_of_vectors(rgb: Image, p: Position):
    return max(rgb(p), rgb(p + (1, 0)))


@pair("np.maximum", greater_of_vectors)
def maximum_of_vectors(rgb: Image, p: Position):
    return np.maximum(rgb(p), rgb(p + (1, 0)))


def number_by_its_digits(im: Image, p: Position):
    return 1.0 if f"{im(p)}" == "0.5" else 0.0


@pair("use the number itself", number_by_its_digits)
def number_by_itself(im: Image, p: Position):
    return 1.0 if im(p) == 0.5 else 0.0


def on_one_path(im: Image, p: Position):
    if im(p) > 0:
        x = 1.0
    return x if im(p + (1, 0)) > 1 else 0.0


@pair("give it a value on the other path too, or before", on_one_path)
def on_both_paths(im: Image, p: Position):
    x = 0.0
    if im(p) > 0:
        x = 1.0
    return x if im(p + (1, 0)) > 1 else 0.0


def popped_from_a_set(counts: Image, p: Position):
    s = {counts(p), counts(p + (1, 0)), 2}
    return s.pop() + len(s)


@pair("take min(s), or sorted(s)[0], and discard it", popped_from_a_set)
def least_of_a_set(counts: Image, p: Position):
    s = {counts(p), counts(p + (1, 0)), 2}
    least = min(s)
    s.discard(least)
    return least + len(s)


def exponent_of_any_sign(counts: Image, p: Position):
    return 2 ** (counts(p) - 1)


@pair("max(n, 0)", exponent_of_any_sign)
def exponent_of_one_sign(counts: Image, p: Position):
    return 2 ** max(counts(p) - 1, 0)


def recursion(counts: Image, p: Position):
    def factorial(n):
        return 1 if n < 2 else n * factorial(n - 1)

    return factorial(counts(p))


@pair("write a while loop", recursion)
def loop(counts: Image, p: Position):
    def factorial(n):
        result = 1
        while n > 1:
            result *= n
            n -= 1
        return result

    return factorial(counts(p))


def narrow(unit: Image, p: Position):
    level = np.uint8(200) if unit(p) > 0.5 else 100
    return level + 100


@pair("make it np.uint8(x)", narrow)
def narrow_on_both(unit: Image, p: Position):
    level = np.uint8(200) if unit(p) > 0.5 else np.uint8(100)
    return level + 100


WEIGHTS = [1.0, 2.0]


def kept_outside(im: Image, p: Position):
    WEIGHTS[0] = im(p)
    return sum(WEIGHTS)


@pair("make a copy and change that", kept_outside)
def kept_in_a_copy(im: Image, p: Position):
    weights = list(WEIGHTS)
    weights[0] = im(p)
    return sum(weights)


COUNT = 0


def counted_globally(im: Image, p: Position):
    global COUNT
    COUNT = 1
    return im(p) + COUNT


@pair("return the value instead", counted_globally)
def counted_locally(im: Image, p: Position):
    count = 1
    return im(p) + count


def opened(im: Image, p: Position):
    with open(__file__) as file:
        first = len(file.read(1))
    return im(p) + first


FIRST = 1


@pair("open what is needed outside and pass the values", opened)
def opened_before(im: Image, p: Position):
    return im(p) + FIRST


def order_of_a_set(counts: Image, p: Position):
    t = 0
    for v in {counts(p), counts(p + (1, 0))}:
        t = t * 3 + v
    return t


@pair("take sorted(s)", order_of_a_set)
def order_of_sorted_members(counts: Image, p: Position):
    t = 0
    for v in sorted({counts(p), counts(p + (1, 0))}):
        t = t * 3 + v
    return t


def positions_in_a_set(counts: Image, p: Position):
    return len({p + (counts(p), 0), p})


def expression_in_a_string(im: Image, p: Position):
    return eval("im(p) * 2")


@pair("write the expression itself", expression_in_a_string)
def expression_itself(im: Image, p: Position):
    return im(p) * 2


def variables_by_vars(im: Image, p: Position):
    return vars()["im"](p)


@pair("use locals()", variables_by_vars)
def variables_by_locals(im: Image, p: Position):
    return locals()["im"](p)


def tuple_of_a_selection(unit: Image, p: Position):
    vs = tuple([v for v in [unit(p), 0.5, 0.25, 0.75] if v > 0])
    return vs[0] + vs[1]


@pair("indexed", tuple_of_a_selection)
def indexed_selection(unit: Image, p: Position):
    vs = [v for v in [unit(p), 0.5, 0.25, 0.75] if v > 0]
    return vs[0] + vs[1]


def scaled_by_a_large_integer(counts: Image, p: Position):
    return int(counts(p)) * 2**40


@pair(
    "where a result in 32-bit floats will do, write float(1099511627776)", scaled_by_a_large_integer
)
def scaled_by_a_large_float(counts: Image, p: Position):
    return int(counts(p)) * float(1099511627776)


def hash_by_a_large_integer(counts: Image, p: Position):
    return (int(counts(p)) * 0x9E3779B97F4A7C15) & 0xFFFFFFFF


@pair("(11400714819323198485 & 0xFFFFFFFF)", hash_by_a_large_integer)
def hash_by_its_lower_bits(counts: Image, p: Position):
    return (int(counts(p)) * (11400714819323198485 & 0xFFFFFFFF)) & 0xFFFFFFFF


def array_of_any_length(counts: Image, p: Position):
    return np.ones(counts(p)).sum()


@pair("np.zeros(16)[:n]", array_of_any_length)
def first_of_an_array(counts: Image, p: Position):
    return np.ones(16)[: counts(p)].sum()


def generator_of_dynamic_seed(counts: Image, p: Position):
    return random.Random(counts(p)).random() < 2


@pair("pygpu.random.uniform(p, seed)", generator_of_dynamic_seed, alike=False)
def drawn_by_position(counts: Image, p: Position):
    return pygpu.random.uniform(p, counts(p)) < 2


def looked_into_group(unit: Image, p: Position):
    x = 1.0
    try:
        if unit(p) > 0.5:
            raise ValueError
        if unit(p) > 0.25:
            raise KeyError
    except* ValueError as group:
        x = 2.0 * len(group.exceptions)
    except* KeyError:
        x = 3.0
    return x


@pair("handle each class by an 'except' of its own", looked_into_group)
def handled_alone(unit: Image, p: Position):
    x = 1.0
    try:
        if unit(p) > 0.5:
            raise ValueError
        if unit(p) > 0.25:
            raise KeyError
    except ValueError:
        x = 2.0
    except KeyError:
        x = 3.0
    return x


def group_raised_again(unit: Image, p: Position):
    x = 1.0
    try:
        try:
            if unit(p) > 0.5:
                raise ValueError
        except* ValueError:
            x = 4.0
            raise
    except* ValueError:
        x += 2.0
    return x


@pair("handle each class by an 'except' of its own", group_raised_again)
def exception_raised_again(unit: Image, p: Position):
    x = 1.0
    try:
        try:
            if unit(p) > 0.5:
                raise ValueError
        except ValueError:
            x = 4.0
            raise
    except ValueError:
        x += 2.0
    return x


def several_raised_as_a_group(unit: Image, p: Position):
    x = 1.0
    try:
        errors = []
        if unit(p) > 0.5:
            errors.append(ValueError("large"))
        if unit(p) > 0.25:
            errors.append(KeyError("not small"))
        if errors:
            raise ExceptionGroup("several", errors)
    except* ValueError:
        x += 2.0
    except* KeyError:
        x += 4.0
    return x


@pair("raise each of its exceptions alone, in a 'try' of its own", several_raised_as_a_group)
def each_raised_alone(unit: Image, p: Position):
    x = 1.0
    try:
        if unit(p) > 0.5:
            raise ValueError("large")
    except ValueError:
        x += 2.0
    try:
        if unit(p) > 0.25:
            raise KeyError("not small")
    except KeyError:
        x += 4.0
    return x


def word_of_a_list_that_grows(ints: Image, p: Position):
    n, words = abs(ints(p)) % 5, [""]
    while n >= 1:
        words[0] += "X"
        n -= 1
    return len(words[0])


@pair("loop a known number of times", word_of_a_list_that_grows)
def word_that_grows_a_known_number_of_times(ints: Image, p: Position):
    n, word = abs(ints(p)) % 5, ""
    for _ in range(16):
        if n < 1:
            break
        word += "X"
        n -= 1
    return len(word)


def joined_letters_parted(p: Position):
    letters = ["ab"[(p.x >> i) & 1] for i in range(8)]
    return len("".join(letters).split("b"))


@pair("loop over them", joined_letters_parted)
def joined_letters_counted(p: Position):
    letters = ["ab"[(p.x >> i) & 1] for i in range(8)]
    parts = 1
    for letter in "".join(letters):
        if letter == "b":
            parts += 1
    return parts


def string_that_grows_in_a_list(p: Position):
    n, words = p.x + 4 * p.y, [""]
    while n > 0:
        words[0] += "ab"[n % 2]
        n //= 2
    return len(words[0]) + 10 * (words[0] == "ba")


@pair("put its letters in a list", string_that_grows_in_a_list)
def letters_that_grow(p: Position):
    n, letters = p.x + 4 * p.y, []
    while n > 0:
        letters.append("ab"[n % 2])
        n //= 2
    return len(letters) + 10 * ("".join(letters) == "ba")


def order_of_roots(im: Image, p: Position):
    return np.roots([1.0, im(p) + 3.0, 1.0])[0]


@pair("(-b - d) / (2*a)", order_of_roots)
def roots_by_their_formula(im: Image, p: Position):
    a, b, c = 1.0, im(p) + 3.0, 1.0
    d = math.sqrt(b * b - 4 * a * c)
    return (-b - d) / (2 * a)


def calls_that_a_cache_counts(counts: Image, p: Position):
    double = functools.cache(lambda n: n * 2)
    double(counts(p))
    return double(3) + double.cache_info().currsize


@pair("count them where it is called", calls_that_a_cache_counts, alike=False)
def calls_that_a_variable_counts(counts: Image, p: Position):
    double, calls = functools.cache(lambda n: n * 2), 0
    double(counts(p))
    calls += 1
    return double(3) + calls


def greatest_of_a_set_by_a_key(counts: Image, p: Position):
    s = {counts(p), 3, 7}
    return max(s, key=lambda v: v * 5 % 11)


@pair("take sorted(s)", greatest_of_a_set_by_a_key, alike=False)
def greatest_of_sorted_members_by_a_key(counts: Image, p: Position):
    s = {counts(p), 3, 7}
    return max(sorted(s), key=lambda v: v * 5 % 11)


def words_of_a_part(p: Position):
    known, word = {"a", "b", "c"}, ""
    for letter in "abababcabab"[: 4 + p.x + p.y]:
        if word + letter in known:
            word += letter
        else:
            known.add(word + letter)
            word = letter
    return len(known)


@pair("'for k in range(11): if k >= n: break', and take xs[k]", words_of_a_part)
def words_of_a_part_advised(p: Position):
    known, word = {"a", "b", "c"}, ""
    n = 4 + p.x + p.y
    for k in range(11):
        if k >= n:
            break
        letter = "abababcabab"[k]
        if word + letter in known:
            word += letter
        else:
            known.add(word + letter)
            word = letter
    return len(known)


def strokes(p: Position):
    return len("ab" * p.x)


@pair("as in 'ab' * min(n, 9)", strokes)
def strokes_advised(p: Position):
    return len("ab" * min(p.x, 9))


class Wall(enum.Flag):
    NORTH = 1
    EAST = 2


class IntWall(enum.IntFlag):
    NORTH = 1
    EAST = 2


def walls(p: Position):
    here = Wall((p.x + p.y) % 4)
    return Wall.EAST in here, here.value


@pair("derive it from enum.IntFlag", walls)
def walls_advised(p: Position):
    here = IntWall((p.x + p.y) % 4)
    return IntWall.EAST in here, here.value
