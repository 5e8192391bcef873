"""Values that are one of several: None or a number, functions, strings, numbers that meet vectors."""

import colorsys
import enum
import math
import re
from dataclasses import dataclass

from programs.suite import Suite
from pygpu import Image, Int, Position, Vec2, Vec3

program = Suite()


@program
def join_of_number_and_vector(im: Image, p: Position):
    v = im(p)
    if v > 0:
        v = Vec2(v, v)
    return Vec2(1, 1) * v * 2


@program
def join_of_functions(im: Image, p: Position):
    f = math.sin
    if im(p) > 0:
        f = math.cos
    return f(im(p))


@program
def join_of_strings(im: Image, p: Position):
    mode = "low"
    if im(p) > 0:
        mode = "high"
    return len(mode)


def _vector_or_zero(value):
    if value > 0:
        return Vec2(1.0, 2.0)
    return 0.0


@program
def returns_of_a_vector_or_a_number(im: Image, p: Position):
    return _vector_or_zero(im(p)) + Vec2(0.5, 0.25)


@program
def list_of_functions_indexed_by_dynamic(im: Image, counts: Image, p: Position):
    fs = [math.sin, math.cos]
    return fs[counts(p) % 2](im(p))


@program
def image_chosen_by_dynamic(im: Image, other: Image, p: Position):
    f = im if im(p) > 0 else other
    return f(p)


# ---------------------------------------------------------------- None


def _first_above(im, p, limit):
    hit = None
    for i in range(5):
        value = im(p + (i, 0))
        if value > limit and hit is None:
            hit = value
    return hit


@program
def none_that_is_tested_before_use(im: Image, p: Position):
    hit = _first_above(im, p, 0.5)
    if hit is None:
        return -1.0
    return hit * 2


@program
def none_in_a_conditional_expression(im: Image, p: Position):
    hit = _first_above(im, p, 0.5)
    return hit if hit is not None else -2.0


@program
def best_of_a_device_loop(im: Image, p: Position):
    best = None
    for i in range(p.x + 1):
        value = im((i, p.y))
        if best is None or value > best:
            best = value
    return best if best is not None else 0.0


@program
def hit_of_a_while_loop_is_unpacked(im: Image, p: Position):
    hit = None
    n = 0
    while n < 10:
        value = im((n % 4, p.y))
        if value > 0.6:
            hit = (n, value)
            break
        n += 1
    if hit is not None:
        index, value = hit
        return index + value
    return -1.0


def _intersection(t):
    if t < 0.3:
        return None
    return t, Vec2(t, 1)


@program
def truth_of_a_tuple_or_none(im: Image, p: Position):
    hit = _intersection(im(p))
    if hit:
        t, normal = hit
        return t + normal.y
    return 0.0


@program
def truth_of_a_number_or_none(im: Image, p: Position):
    step = None
    if im(p) > 0:
        step = p.x
    if step:
        return step * 10
    return -1


@program
def none_that_is_handed_on(im: Image, p: Position):
    def scaled(value, by=None):
        return value if by is None else value * by

    factor = 2.0 if im(p) > 0 else None
    return scaled(im(p), factor) + scaled(1.0, by=factor)


class _Sphere:
    def __init__(self, radius):
        self.radius = radius
        self.last = None

    def hit(self, x):
        if abs(x) > self.radius:
            return None
        self.last = x
        return self.radius - abs(x)


@program
def attribute_that_is_none_or_a_number(im: Image, p: Position):
    sphere = _Sphere(0.5)
    depth = sphere.hit(im(p))
    total = 0.0 if depth is None else depth
    return total + (sphere.last if sphere.last is not None else 10.0)


@program
def end_of_a_function_that_no_path_reaches(im: Image, p: Position):
    r, g, b = colorsys.hsv_to_rgb(abs(im(p)) % 1.0, 0.5, 0.7)
    h, s, v = colorsys.rgb_to_hsv(r, g, b)
    return Vec3(h, s, v)


# ---------------------------------------------------------------- choices among known things


@program
def string_that_is_compared(im: Image, p: Position):
    mode = "soft" if im(p) > 0.5 else "hard"
    if mode == "soft":
        return im(p)
    return 10.0 if mode == "hard" else -5.0


@program
def lambdas_and_their_captures(im: Image, p: Position):
    scale = im(p)
    f = (lambda x: x * scale) if p.x > 1 else (lambda x: x + 100)
    return f(2.0)


@program
def one_of_three(im: Image, p: Position):
    kind = "a"
    if p.x == 1:
        kind = "b"
    elif p.x > 2:
        kind = None
    return 0 if kind is None else {"a": 1, "b": 2}[kind]


def first_above(im, p, limit):
    for i in range(3):
        if im(p + (i, 0)) > limit:
            return i
    return None


@program
def value_or_another(im: Image, p: Position, n: Int = 3):
    found = first_above(im, p, 0.6)
    offset = None
    if im(p) > 0.5:
        offset = n
    return (found or 7) + 10 * max(-2, min(2, (offset or -1)))


@program
def none_replaced_by_a_value(im: Image, p: Position):
    found = first_above(im, p, 0.5)
    if found is None:
        found = p.x + 10
    best = None
    for i in range(3):
        v = im(p + (0, i))
        best = v if best is None else max(best, v)
    return found * 2 + best


@program
def choices_of_other_options_meet(im: Image, p: Position):
    word = "a" if im(p) > 0.5 else "bb"
    if p.x > 1:
        word = "ccc" if im(p) > 0.3 else "a"
    hit = None if im(p) > 0.6 else p.x
    if p.y > 0:
        hit = im(p) if p.x > 1 else None
    return len(word) + (hit or 8) * 10


@program
def choice_that_turns_in_a_loop(im: Image, p: Position, n: Int = 5):
    state = None
    for i in range(n):
        if state == "on":
            state = "late"
        elif state is None:
            state = "on" if im(p + (i, 0)) > 0.2 else "off"
        else:
            state = None if im(p) > 0.6 else "on"
    return (state == "on") + 2 * (state is None) + 4 * (state == "off")


def raised_by(n):
    return lambda x: x + n


@program
def functions_made_before_with_captures(im: Image, p: Position):
    f = raised_by(-1) if im(p) > 0.5 else raised_by(2)
    if p.x > 1:
        f = abs if p.y else raised_by(30)
    return f(im(p))


# ---------------------------------------------------------------- numbers that meet vectors


@program
def sum_of_vectors_from_zero(im: Image, rgb: Image, p: Position, n: Int = 3):
    total = 0.0
    for i in range(p.x + 1):
        total += rgb((i, p.y))
    return total


@program
def zero_or_a_vector(rgb: Image, p: Position):
    colour = 0
    if rgb(p).x > 0.5:
        colour = rgb(p)
    return colour + Vec3(1, 2, 3)


# ---------------------------------------------------------------- all that is left


@program
def tests_that_leave_nothing(im: Image, p: Position):
    mode = "soft" if im(p) > 0 else "hard" if p.x == 0 else "none"
    if mode in ("soft", "hard"):
        return 1.0
    if mode not in ("hard", "none"):
        return 7.0
    if mode == "none":
        return 2.0


@program
def cases_that_leave_nothing(im: Image, p: Position):
    mode = "soft" if im(p) > 0 else "hard" if p.x == 0 else "none"
    match mode:
        case "soft":
            return 1.0
        case "hard" | "none":
            return 2.0


@program
def two_choices_compared(im: Image, p: Position):
    mode = "soft" if im(p) > 0 else "hard" if p.x == 0 else "none"
    other = "none" if p.y % 2 == 0 else "soft"
    return (mode == other) + 2 * (mode != other) + 4 * (mode is other) + 8 * (mode is not other)


@program
def match_of_a_chosen_string(counts: Image, p: Position):
    word = ("a12", "b7", "x", "c300")[counts(p) % 4]
    found = re.match(r"(\w)(\d+)", word)
    return int(found.group(2)) if found else -1


@program
def star_call_with_a_chosen_sequence(im: Image, p: Position):
    colours = {"red": b"\xff\x10\x00", "blue": b"\x00\x20\xff"}
    size = (p.x, 3) if p.x > 1 else (p.y,)
    return Vec3(*colours["red" if p.y > 1 else "blue"]) / 255 * (lambda a, b=10: a * b)(*size)


@program
def star_call_of_a_chosen_function(im: Image, p: Position):
    f = (lambda a, b: a - b) if p.x > 1 else (lambda a, b: a * b)
    args = (p.x, p.y)
    return f(*args)


@program
def text_of_choices_read_again(im: Image, p: Position):
    mode = "soft" if p.x > 1 else "hard"
    side = "left" if p.y > 0 else "right"
    table = {"soft_left": 1, "soft_right": 2, "hard_left": 3, "hard_right": 4}
    return table[f"{mode}_{side}"] * 100 + len(f"{mode:>6}|{mode!r}{None if p.y else side}")


@program
def attribute_named_by_a_choice(im: Image, p: Position):
    class Operations:
        def do_add(self, a, b):
            return a + b

        def do_multiply(self, a, b):
            return a * b

    name = "add" if p.x > 1 else "multiply"
    return getattr(Operations(), f"do_{name}")(p.x, 3)


@program
def joined_choices(im: Image, p: Position):
    letters = ["a" if (p.x >> i) & 1 else "b" for i in range(3)]
    parts = ["x" if p.x > 1 else "yy", "end"]
    return ("".join(letters) == "aba") * 100 + len("--".join(parts))


@program
def joined_letters_of_a_list_of_dynamic_length(im: Image, p: Position):
    out = []
    for i in range(4):
        if i < p.x:
            out.append("a" if (p.y >> i) & 1 else "b")
    return len("".join(out)) * 10 + ("".join(out) == "ba")


@program
def message_of_too_many_choices_that_nobody_reads(im: Image, p: Position):
    names = ["ab"[(p.x >> i) & 1] for i in range(9)]
    message = f"bad: {names[0]}"

    def small():
        if p.x > 50:
            raise ValueError(message + ",".join(names))
        return p.x

    return small()


@program
def containers_of_choices_compared(im: Image, p: Position):
    words = ["pear" if p.x > 1 else "apple", "fig" if p.y > 1 else "kiwi"]
    pair = (None if p.x & 1 else p.y, 3)
    named = {"k": words[0], "n": p.y}
    return Vec3(
        (words == ["pear", "kiwi"]) + 2 * (words != ["apple", "fig"]) + 4 * ("pear" in words),
        (pair == (None, 3)) + 2 * (pair == (1, 3)) + 4 * words.count("fig"),
        (named == {"k": "apple", "n": 1}) + 2 * (named != {"n": 2}) + 4 * (words < ["b", "a"]),
    )


@program
def chosen_words_in_order(im: Image, p: Position):
    words = ["pear" if p.x > 1 else "apple", "fig" if p.y > 1 else "kiwi", "date"]
    return len(sorted(words)[0]) * 100 + len(min(words)) * 10 + words.index("date")


@program
def states_of_a_machine(ints: Image, p: Position):
    s, k = "a", 0
    while k < abs(ints(p)) % 7:
        s = "b" if s == "a" else "c" if s == "b" else "d" if s == "c" else "a"
        k += 1
    return ord(s)


@program
def states_that_begin_with_none(ints: Image, p: Position):
    s, k = None, 0
    while k < abs(ints(p)) % 7:
        if s is None:
            s = "x"
        elif s == "x":
            s = "y"
        elif s == "y":
            s = "z"
        k += 1
    return 0 if s is None else ord(s)


@program
def functions_by_turns(ints: Image, p: Position):
    first, second, third = (lambda x: x + 1), (lambda x: x * 2), (lambda x: x - 3)
    now, k, v = first, 0, 1
    while k < abs(ints(p)) % 7:
        v = now(v)
        now = second if now is first else third if now is second else first
        k += 1
    return v


class Stop:
    def __init__(self, number):
        self.number = number
        self.following = None


@program
def objects_in_a_ring(ints: Image, p: Position):
    a, b, c, d = Stop(1), Stop(2), Stop(3), Stop(4)
    a.following, b.following, c.following, d.following = b, c, d, a
    here, k = a, 0
    while k < abs(ints(p)) % 7:
        here = here.following
        k += 1
    return here.number


@program
def objects_by_turns_that_change(ints: Image, p: Position):
    a, b, c, d = Stop(1), Stop(2), Stop(3), Stop(4)
    here, k = a, 0
    while k < abs(ints(p)) % 7:
        here = b if here is a else c if here is b else d if here is c else a
        here.number += 10
        k += 1
    return here.number, a.number, d.number


@program
def words_put_together(im: Image, p: Position):
    kind = "warm" if im(p) > 0.25 else "cold"
    tone = "dark" if p.y > 0 else "light"
    name = kind + "-" + tone
    ranks = {"warm-dark": 1, "warm-light": 2, "cold-dark": 3, "cold-light": 4}
    digits = ("1" if p.x > 1 else "0") + ["2", "3", "4"][p.y % 3]
    return ranks[name], len(name), name.startswith("warm"), int(digits)


class _Metres:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return _Metres(self.v + other.metres())

    def metres(self):
        return self.v


class _Feet(_Metres):
    def __add__(self, other):
        return _Feet(self.v + other.metres() / 0.25)

    def metres(self):
        return self.v * 0.25


@program
def operators_of_two_objects_that_are_chosen(im: Image, p: Position):
    a = _Metres(im(p)) if p.x > 1 else _Feet(3.0)
    b = _Feet(2.0) if p.y > 0 else _Metres(im(p + (1, 0)))
    return (a + b).v, (a + b).metres(), max(a.metres(), b.metres())


@program
def codes_of_bits_by_a_dict(counts: Image, p: Position):
    codes = {"0": 5, "10": 3, "110": 1, "111": 7}
    word, found = "", []
    for bit in f"{counts(p) * 7 & 63:06b}":
        word += bit
        if word in codes:
            found.append(codes[word])
            word = ""
    return len(found), sum(found), len(word)


_ROWS = [
    ("push", 3),
    ("load", "x"),
    ("multiply", None),
    ("load", "y"),
    ("add", None),
    ("decrease", None),
    ("again", 5),
    ("halt", None),
]
_NUMBERS = {name: number for number, name in enumerate(dict(_ROWS))}
_NUMBERED = [(_NUMBERS[name], operand) for name, operand in _ROWS]


@program
def operands_are_what_rows_of_an_operation_hold(im: Image, p: Position):
    names = {"x": im(p), "y": im(p + (1, 0))}
    stack = [0.0] * 4
    top = place = 0
    for _ in range(60):
        operation, operand = _ROWS[place]
        place += 1
        if operation in ("push", "load"):
            stack[top] = operand if operation == "push" else names[operand]
            top += 1
        elif operation == "multiply" or operation == "add":
            top -= 1
            a, b = stack[top - 1], stack[top]
            stack[top - 1] = a * b if operation == "multiply" else a + b
        elif operation == "decrease":
            stack[top - 1] -= 1
        elif operation == "again":
            if stack[top - 1] > 0:
                place = operand
        else:
            break
    return stack[0], place


@program
def operands_are_what_rows_of_a_number_hold(im: Image, p: Position):
    names = {"x": im(p), "y": im(p + (1, 0))}
    total, place = 0.0, 0
    for _ in range(60):
        match _NUMBERED[place]:
            case (0, number):
                total += number
            case (1, name):
                total += names[name]
            case (4, _):
                total -= 1
            case (5, target) if total > 0:
                place = target
                continue
            case (6, _):
                break
        place += 1
    return total, place


@program
def comparisons_that_leave_no_number(ints: Image, counts: Image, p: Position):
    n, m = ints(p), counts(p)
    if n < 3:
        a = 1
    elif n == 3:
        a = 2
    elif n > 3:
        a = 3
    if n % 3 == 0:
        b = 1
    elif n % 3 == 1:
        b = 2
    elif 2 == n % 3:
        b = 3
    if n < m:
        c = 1
    elif n == m:
        c = 2
    elif m < n:
        c = 3
    v = n * 0.25
    if v < 0.5:
        d = 1
    elif 0.5 <= v < 2.0:
        d = 2
    elif v >= 2.0:
        d = 3
    total = 0
    for i in range(m):
        if i % 4 < 2:
            e = a
        elif i % 4 >= 2:
            e = b
        total += e
    return total, c, d


@dataclass(frozen=True)
class _Colour:
    red: float
    green: float


@dataclass
class _Paint:
    colour: _Colour


_FLOOR = _Paint(_Colour(1, 2)), _Paint(_Colour(3, 4))


@program
def one_of_two_outside_objects_or_nothing(unit: Image, p: Position):
    def hit():
        t = unit(p) - 0.125
        if unit(p) > 0.875 or t < 0.125:
            return None
        return t, _FLOOR[0] if p.x % 2 else _FLOOR[1]

    found = hit()
    if found is None:
        return 0.0
    return found[1].colour.green + found[0]


class _State(enum.Enum):
    IDLE = 1
    PAID = 2
    OUT = 3


_NEXT = {
    (_State.IDLE, "coin"): _State.PAID,
    (_State.PAID, "push"): _State.IDLE,
    (_State.PAID, "coin"): _State.PAID,
    (_State.IDLE, "kick"): _State.OUT,
}


@program
def rounds_of_a_state_and_named_events(counts: Image, p: Position):
    state = other = _State.IDLE
    for i in range(4):
        then = _NEXT.get((state, ["coin", "push", "kick"][counts(p + (i, 0)) % 3]))
        if then is None:
            continue
        state = then
    for i in range(counts(p)):
        then = _NEXT.get((other, ["coin", "push", "kick"][counts(p + (0, i)) % 3]))
        if then is not None:
            other = then
    return state.value, other.value


NODES = [("add", 1, 2), ("neg", 3), ("lit",), ("name", "end"), ("scale", 2.5)]


@program
def tuples_of_several_lengths(counts: Image, p: Position):
    node = NODES[counts(p) % 5]
    if node[0] == "add":
        return node[1] + node[2] + 0.5
    if node[0] == "neg" or node[0] == "scale":
        return -node[1] * 2.0
    if len(node) > 1:
        return 7.5 if node[1] == "end" else 8.5
    return len(node) * 9.5


@program
def lengths_tell_which_tuple_it_is(counts: Image, p: Position):
    found = [("A", 1), ("S", "T", 2), ()][counts(p) % 3]
    if not found:
        return -1
    first, *rest = found
    if len(found) == 3:
        return found[2] + 10 * len(rest)
    return found[-1] + (5 if first == "A" else 6)


@program
def tuples_that_are_too_short_are_handled(counts: Image, p: Position):
    pair = [(1, 2), (3, 4, 5), ()][counts(p) % 3]
    try:
        return pair[2]
    except IndexError:
        return -len(pair)


@program
def instructions_of_a_stack(counts: Image, p: Position):
    stack = []
    for op in [("push", counts(p)), ("push", 4), [("add",), ("mul",), ("dup", 2)][counts(p) % 3]]:
        if op[0] == "push":
            stack.append(op[1])
        elif op[0] == "dup":
            stack += [stack[-1]] * op[1]
        else:
            a, b = stack.pop(), stack.pop()
            stack.append(a + b if op[0] == "add" else a * b)
    return sum(stack)


@program
def tuples_are_matched(counts: Image, p: Position):
    match NODES[counts(p) % 5]:
        case ("add", a, b):
            return a * 10 + b
        case ("neg", a):
            return -a
        case (_,):
            return 9
        case _:
            return 8


@program
def letters_of_a_word_that_may_be_empty(counts: Image, p: Position):
    values = {"I": 1, "V": 5, "X": 10}
    word = ("", "I", "XV", "IXI")[counts(p) % 4]
    total = 0
    for i in range(len(word)):
        total += values[word[i]]
    place = 0
    while place < len(word):
        if place + 1 < len(word) and values[word[place]] < values[word[place + 1]]:
            total -= 2 * values[word[place]]
        place += 1
    return total, values[word[0]] if word else -1
