"""Deep nests, many early returns, chains of calls and long ladders stay cheap to compile.

What is counted is operations and instructions walked, not seconds: a walk that forks at each test
would show as a power.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pygpu
from programs import control, growing, lengths
from pygpu import Image, Position
from pygpu.frontend.walk import walker
from pygpu.passes.simplify import nesting

IMAGE = (np.random.default_rng(3).integers(-24, 41, (4, 5)) / 8).astype(np.float32)
HEADER = "from pygpu import Image, Position\n\n\ndef main(im: Image, p: Position):\n    v = im(p)\n"


def function(source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"__name__": __name__}
    exec(source, names)
    return names["main"]  # type: ignore[no-any-return]


def returns(count: int) -> str:
    """Tests in a row that each may return."""
    lines = ["    s = 0.0"]
    for k in range(count):
        lines += [f"    if v > {count - k}:", f"        return s + {k}", f"    s += v * {k}"]
    return HEADER + "\n".join([*lines, "    return s"])


def jumps(count: int) -> str:
    """Tests in a row, in a loop, that each go on or leave it."""
    lines = ["    s = 0.0", "    for i in range(p.x):"]
    for k in range(count):
        word = ("break", "continue", f"return s + {k}")[k % 3]
        lines += [
            f"        if v > {count - k} + i:",
            f"            {word}",
            f"        s += v * {k}",
        ]
    return HEADER + "\n".join([*lines, "    return s"])


def loops(depth: int, bound: str) -> str:
    """Loops in loops, each with ways out at its start and end."""
    lines = ["    s = 0.0"]
    for level in range(depth):
        start = "    " * (level + 1)
        word = ("continue", "break", f"return s + {level}")[level % 3]
        lines += [
            f"{start}for i{level} in range({bound}):",
            f"{start}    if im(p + ({level}, i{level})) > 3.0 - i{level}:",
            f"{start}        {word}",
        ]
    lines.append("    " * (depth + 1) + "s += v")
    for level in range(depth, 0, -1):
        lines += ["    " * (level + 1) + "if s > 40:", "    " * (level + 2) + "break"]
    return HEADER + "\n".join([*lines, "    return s"])


def nest(depth: int) -> str:
    """Short loops in loops: each alone would be unrolled."""
    lines = ["    s = 0.0"]
    lines += ["    " * level + f"for i{level} in range(4):" for level in range(1, depth + 1)]
    places = " - ".join(f"i{level}" for level in range(1, depth + 1))
    lines.append("    " * (depth + 1) + f"s += v * ({places})")
    return HEADER + "\n".join([*lines, "    return s / 4096"])


def appends(count: int) -> str:
    """A list that each test may add an item to."""
    lines = ["    found = []"]
    for k in range(count):
        lines += [f"    if v > {k / count - 0.5}:", f"        found.append(v * {k})"]
    return HEADER + "\n".join([*lines, "    return sum(found) / 100 + len(found)"])


def ladder(count: int) -> str:
    lines = ["    a = b = c = 0.0", "    if v > 100:", "        a = 1.0"]
    for k in range(count):
        one, other = "abc"[k % 3], "bca"[k % 3]
        lines += [
            f"    elif v > {count / 2 - k}:",
            f"        {one} = {k} + v",
            f"        {other} += 1",
        ]
    return HEADER + "\n".join([*lines, "    return a + b * 2 + c * 3"])


def calls(depth: int) -> str:
    """A chain of calls, each with an early return."""
    lines = ["def f0(x):", "    return x"]
    for k in range(1, depth + 1):
        lines += [
            f"def f{k}(x):",
            f"    if x > {k}:",
            "        return x",
            f"    return f{k - 1}(x + 1) / 2",
        ]
    return "\n".join([*lines, HEADER + f"    return f{depth}(v)"])


def empty_branches(count: int) -> str:
    """Tests in a row after which nothing is done."""
    lines = [f"    if v > {k}:\n        pass" for k in range(count)]
    return HEADER + "\n".join([*lines, "    return v"])


def straight(count: int) -> str:
    """Lines without a branch, each of which changes a variable."""
    lines = ["    a, b, c = v, p.x * 0.5, 1.0"]
    lines += [f"    {'abc'[k % 3]} = {'bca'[k % 3]} * 0.{k % 89 + 10} + v" for k in range(count)]
    return HEADER + "\n".join([*lines, "    return a + b + c"])


INSERTING = (
    HEADER
    + """\
    n, vs, s = p.x + p.y, [1, 1], 0
    while n > 0:
        vs.insert(0, 1)
        vs = list(vs)
        s += vs[-1]
        vs[0] += n
        n -= 1
    return v + s * len(vs)"""
)

NEAREST_FIRST = (
    "import heapq\n"
    + HEADER
    + """\
    queue, seen = [(p.x, 0, (p.x, p.y))], 0
    while queue and seen < 9:
        rank, n, (x, y) = heapq.heappop(queue)
        seen += 1
        if n < 3:
            heapq.heappush(queue, (rank + 1, n + 1, (x + 1, y)))
            heapq.heappush(queue, (rank + 2, n + 1, (x, y + 1)))
    return v + rank * 100 + x * 10 + y"""
)


# operations that are emitted, instructions that are walked
EFFORTS = {
    "3,000 straight lines": (straight(3000), 10000, 25000),
    "40 empty branches": (empty_branches(40), 100, 400),
    "50 returns": (returns(50), 300, 1300),
    "50 jumps in a loop": (jumps(50), 500, 2300),
    "4 loops in loops": (loops(4, "p.x"), 120, 1600),
    "4 known loops in loops": (loops(4, "3"), 1300, 7000),
    "7 short loops in loops": (nest(7), 15000, 400000),
    "100 appends": (appends(100), 700, 1700),
    "items that move from slot to slot": (INSERTING, 3500, 400),
    "a heap of tuples in tuples": (NEAREST_FIRST, 2000, 9000),
    "ladder of 100": (ladder(100), 300, 2400),
    "10 calls deep": (calls(10), 60, 330),
    "40 calls deep": (calls(40), 180, 1200),
}


@pytest.mark.parametrize("name", EFFORTS)
def test_effort_is_in_proportion(name: str) -> None:
    source, operations, instructions = EFFORTS[name]
    plain = function(source)
    compiled = pygpu.compile(plain, target="interpreter")
    image = pygpu.Image(IMAGE)
    stats = compiled.lower(image).stats
    assert stats["emitted"] <= operations
    assert stats["walked"] <= instructions
    expected = [[plain(image, Position(x, y)) for x in range(5)] for y in range(4)]
    np.testing.assert_allclose(np.asarray(compiled(image)), expected, rtol=1e-5)


def rounds(first: str, last: str, count: int) -> str:
    """A loop that can only be unrolled, as no table holds functions: `count` lines an iteration."""
    lines = ["STEPS = [lambda v, k=k: v + k for k in range(20)]", HEADER]
    lines += ["    for i in range(20):", f"        {first}"]
    lines += [f"        v = v * 0.9{k % 7} + i * v" for k in range(count)]
    lines += [f"        {last}", "        if v > 1e6:", "            break", "    return v"]
    return "\n".join(lines)


@pytest.mark.parametrize("count", [32, 39])  # emits 1961 and 2381 operations of the 2400 allowed
def test_budget_is_for_what_remains(count: int) -> None:
    """A loop of the device is tried, and refused where a function is called: before anything has
    been emitted, or at the end of an iteration."""
    image = pygpu.Image(IMAGE)
    emitted = [
        pygpu.compile(function(rounds(*order, count))).lower(image).stats["emitted"]
        for order in [("v = STEPS[i](v)", "pass"), ("pass", "v = STEPS[i](v)")]
    ]
    assert emitted == [60 * count + 41] * 2


def test_emitted_is_what_remains_of_a_loop() -> None:
    """A loop whose first iterations were unrolled before it became one of the device."""
    unrolled, looped = [
        pygpu.compile(function(HEADER + f"    return sum(v * i + i for i in range({count}))"))
        .lower(pygpu.Image(IMAGE))
        .stats
        for count in (10, 5000)
    ]
    assert unrolled["emitted"] > 3 * looped["emitted"]
    assert looped["unrolled"] == 0


def taps(size: int) -> str:
    """A window of known weights: each round reads another texel."""
    lines = [f"    places = [(i % {size}, i // {size}) for i in range({size * size})]"]
    return HEADER + "\n".join(
        [*lines, "    return sum(0.1 * k * im(p + d) for k, d in enumerate(places))"]
    )


WINDOWS = """
    near = [(i % 5 - 2, i // 5 - 2) for i in range(25)]
    means = [sum(im(p + d + e) for e in near) / 25 for d in near]
    return sum(m * m for m in means) - sum(means) ** 2
"""
PATCHES = """
    near = [(i % 3 - 1, i // 3 - 1) for i in range(9)]
    total = weights = 0.0
    for d in [(i % 7 - 3, i // 7 - 3) for i in range(49)]:
        far = sum((im(p + d + e) - im(p + e)) ** 2 for e in near)
        w = 1 / (1 + far)
        total += w * im(p + d)
        weights += w
    return total / weights
"""


@pytest.mark.parametrize("body", [WINDOWS, PATCHES])
def test_windows_within_windows_share_what_they_read(body: str, target: str) -> None:
    """Above the budget they are unrolled all the same, for most of it is there already."""
    source = HEADER + body.strip("\n")
    compiled = pygpu.compile(function(source), target=target)
    stats = compiled.lower(pygpu.Image(IMAGE)).stats
    assert stats["loops"] == 0
    assert stats["taps"] == 81
    assert stats["ops"] < 2400 < stats["emitted"]
    plain = np.array(
        [[compiled(pygpu.Image(IMAGE), Position(x, y)) for x in range(5)] for y in range(4)]
    )
    np.testing.assert_allclose(np.asarray(compiled(IMAGE)), plain, rtol=1e-4, atol=1e-4)


def test_while_loops_that_a_test_may_leave_are_unrolled_up_to_an_end_that_is_near() -> None:
    for function in (control.sorted_by_insertion, control.sorted_until_nothing_is_swapped):
        stats = pygpu.compile(function).lower(pygpu.Image(IMAGE)).stats
        assert stats["loops"] == 0
        assert stats["emitted"] < 400
    far = pygpu.compile(control.end_that_is_far).lower(pygpu.Image(IMAGE)).stats
    assert far["loops"] == 1
    assert far["walked"] < 150  # it is not walked to see that


def test_endless_generators_are_not_asked_for_ever_for_one_item() -> None:
    """That an item is the one looked for only the device knows: a loop of the device looks on."""

    @pygpu.compile(target="cpu")
    def above(im: pygpu.Image, p: Position):
        def squares():
            i = 0
            while True:
                yield i * i
                i += 1

        return next(v for v in squares() if v > im(p) * 3)

    stats = above.lower(pygpu.Image(IMAGE)).stats
    assert stats["loops"] == 1
    assert stats["walked"] < 6000
    wanted = [[above(pygpu.Image(IMAGE), Position(x, y)) for x in range(5)] for y in range(4)]
    np.testing.assert_array_equal(above(IMAGE), wanted)


def test_windows_that_share_nothing_keep_to_the_budget() -> None:
    few, many = [
        pygpu.compile(function(taps(size))).lower(pygpu.Image(IMAGE)).stats for size in (12, 29)
    ]
    assert (few["loops"], few["taps"]) == (0, 143)
    assert many["loops"] == 1


def test_counts_in_windows_are_numbered_in_linear_time() -> None:
    """Each count is chosen of the last: written out, what a round computes doubles each time. This
    did not end."""

    @pygpu.compile(target="cpu")
    def oil(im: pygpu.Image, p: Position, radius=3, levels=8):
        count, total = [0] * levels, [pygpu.Vec3(0)] * levels
        for dy in range(-radius, radius + 1):
            for dx in range(-radius, radius + 1):
                c = im(p + (dx, dy))
                k = int(pygpu.dot(c, pygpu.Vec3(0.3, 0.6, 0.1)) * (levels - 0.01))
                count[k] += 1
                total[k] += c
        best = max(range(levels), key=lambda k: count[k])
        return total[best] / count[best]

    image = pygpu.Image(np.random.default_rng(5).integers(0, 256, (9, 8, 3), dtype=np.uint8))
    found = np.asarray(oil(image))
    for x, y in ((0, 0), (4, 5), (7, 8)):
        np.testing.assert_allclose(found[y, x], np.array(oil(image, Position(x, y))), rtol=1e-5)


def test_lists_that_change_names_in_a_loop_settle() -> None:
    """One was given room to grow, which the other took over; more each round, for 200 rounds."""
    program = pygpu.compile(lengths.lists_of_two_lengths_change_names_in_a_loop)
    stats = program.lower(pygpu.Image(np.arange(20, dtype=np.int32).reshape(4, 5))).stats
    assert stats["walked"] < 500


def test_endless_generators_of_python_are_not_taken_to_an_end() -> None:
    taken = []

    def numbers() -> Iterator[int]:
        while True:
            taken.append(1)
            yield len(taken)

    made = numbers()

    @pygpu.compile
    def first(im: pygpu.Image, p: Position, made=made):
        for number in made:
            if number > im(p):
                break
        return number

    with pytest.raises(pygpu.CompileError, match="write the generator inside"):
        first.lower(pygpu.Image(IMAGE))
    assert len(taken) < 100


def quickest(xs):
    if len(xs) < 2:
        return xs
    head, rest = xs[0], xs[1:]
    return (
        quickest([x for x in rest if x < head]) + [head] + quickest([x for x in rest if x >= head])
    )


def third_of_five(n: pygpu.Image, p: Position):
    return quickest([n(p + (i, 0)) for i in range(5)])[2]


def test_operations_emitted_are_bounded_those_taken_back_too(monkeypatch) -> None:
    """What is emitted for one program counts, not what is left of it."""
    image = pygpu.Image(np.arange(6, dtype=np.int32).reshape(2, 3))
    program = pygpu.compile(third_of_five, target="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(walker, "EMIT_LIMIT", 200)
        with pytest.raises(pygpu.CompileError, match="more than 200 operations at compile time"):
            program.lower(image)
    np.testing.assert_array_equal(program(image)[0, 0], third_of_five(image, Position(0, 0)))


def test_what_is_nested_too_deep_to_flatten_is_refused(monkeypatch) -> None:
    def fail(self):
        raise RecursionError

    image = pygpu.Image(np.arange(6, dtype=np.int32).reshape(2, 3))
    program = pygpu.compile(third_of_five, target="cpu")
    with monkeypatch.context() as patch:
        patch.setattr(nesting, "DEEPEST", 1)
        patch.setattr(nesting._Flat, "run", fail)
        with pytest.raises(pygpu.CompileError, match="loops and branches are nested too deep"):
            program.lower(image)
    np.testing.assert_array_equal(program(image)[0, 0], third_of_five(image, Position(0, 0)))


def test_texts_shuffled_by_the_device_are_stored_without_calls_in_calls() -> None:
    """A loop over a list's places stores where only the device knows: in that loop, by itself."""

    def shuffled(n: pygpu.Image, p: Position):
        letters, k = list("abcdefghijklmnopqrst"), n(p)
        for i in range(len(letters) - 1, 0, -1):
            j = (k * i + 7) % i
            letters[i], letters[j] = letters[j], letters[i]
        return sum((i + 1) * ord(each) for i, each in enumerate(letters))

    image = pygpu.Image(np.arange(6, dtype=np.int32).reshape(2, 3))
    program = pygpu.compile(shuffled, target="cpu")
    assert program.lower(image).stats["inlined"] < 100
    found = np.asarray(program(image))
    for x, y in ((0, 0), (1, 0), (2, 1)):
        assert found[y, x] == shuffled(image, Position(x, y))


def emitted(kernel: Callable[..., Any]) -> int:
    return pygpu.compile(kernel, target="interpreter").lower(IMAGE).stats["emitted"]  # type: ignore[no-any-return]


def taken_first(left: list[Any], right: list[Any]) -> list[Any]:
    made = []
    while left and right:
        made.append((left if left[0] <= right[0] else right).pop(0))
    return made + left + right


def halves(xs: list[Any], merge: Callable[..., Any]) -> list[Any]:
    if len(xs) < 2:
        return xs
    middle = len(xs) // 2
    return merge(halves(xs[:middle], merge), halves(xs[middle:], merge))  # type: ignore[no-any-return]


@pytest.mark.parametrize("merge", [growing.merged, taken_first])
def test_lists_have_room_for_what_loops_count(merge: Callable[..., Any]) -> None:
    def smallest(im: Image, p: Position) -> Any:
        xs = halves([im(p + (i, 0)) for i in range(4)], merge)
        return xs[0], xs[3]

    assert emitted(smallest) < 900  # nearly 30,000 where each has room for 64


def test_lists_of_ints_have_room_for_what_loops_count() -> None:
    def digits(im: Image, p: Position) -> Any:
        made, n, m, i = [], p.x * 7 + p.y, p.x * 7 + p.y, 0
        while i < m % 5:
            made.append(n % 10)
            n //= 10
            i += 1 + (n > 50)
        return len(made), sum([v * k for k, v in enumerate(made)])

    assert emitted(digits) < 80  # 537 with room for 64


def test_sets_of_words_have_room_for_the_words() -> None:
    def apart(im: Image, p: Position) -> Any:
        k = 0
        met = {"abcd"[p.x % 4]}
        while (letter := "abcd"[int(abs(im(p + (k, 0))) * 8) % 4]) not in met:
            met.add(letter)
            k += 1
        return len(met)

    assert emitted(apart) < 250  # 2800 with room for 64
