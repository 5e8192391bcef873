"""Branches, loops, returns and what they do to variables."""

import math

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2, Vec3, length, normalize

program = Suite()


# ---------------------------------------------------------------- branches


@program
def if_else(im: Image, p: Position):
    if im(p) > 0:
        r = 1.0
    else:
        r = -1.0
    return r


@program
def if_without_else(im: Image, p: Position):
    v = im(p)
    if v < 0:
        v = -v
    return v


@program
def elif_chain(im: Image, p: Position):
    v = im(p)
    if v < -1:
        return 0.25
    elif v < 0:
        return 0.5
    elif v < 1:
        return 0.75
    else:
        return 1.0


@program
def nested_if(im: Image, p: Position):
    v = im(p)
    r = 0
    if v > 0:
        if p.x > 3:
            r = 1
        else:
            if p.y > 2:
                r = 2
        r = r + 10
    else:
        r = 5
    return r


@program
def branch_on_known(im: Image, p: Position, sharpen=True):
    if sharpen:
        r = 2 * im(p) - im(p + (1, 0))
    else:
        r = im(p).no_such_thing
    return r


@program
def branch_joins_int_and_float(im: Image, p: Position):
    n = 0
    if im(p) > 0:
        n = 0.5
    return n


@program
def branch_joins_bool_and_int(im: Image, p: Position):
    n = False
    if im(p) > 0:
        n = 3
    return n


@program
def branch_joins_tuples(im: Image, p: Position):
    a = (1, 2.0)
    if im(p) > 0:
        a = (3, im(p))
    return a[0] * a[1]


@program
def branch_joins_nested_tuples(im: Image, p: Position):
    a = ((1, 2), 3.0)
    if im(p) > 0:
        a = ((4, p.x), im(p))
    (i, j), v = a
    return i + 10 * j + v


@program
def branch_joins_lists(im: Image, p: Position):
    xs = [1.0, 2.0, 3.0]
    if im(p) > 0:
        xs = [im(p), 5.0, 6.0]
    return sum(xs)


@program
def branch_joins_vectors(im: Image, p: Position):
    v = Vec3(1.0, 2.0, 3.0)
    if im(p) > 0:
        v = Vec3(im(p), 0.0, 1.0)
    return v


@program
def branch_changes_list(im: Image, p: Position):
    xs = [1.0, 2.0]
    if im(p) > 0:
        xs[0] = 7.0
        xs[1] += 1
    return xs[0] - xs[1]


@program
def branch_appends_on_both_sides(im: Image, p: Position):
    xs = []
    if im(p) > 0:
        xs.append(im(p))
    else:
        xs.append(2.0)
    return xs[0]


@program
def branch_changes_dict(im: Image, p: Position):
    d = {"a": 1.0, "b": 2.0}
    if im(p) > 0:
        d["a"] = im(p)
    else:
        d["b"] = im(p)
    return d["a"] * 10 + d["b"]


@program
def branch_swaps(im: Image, p: Position):
    a, b = im(p), im(p + (1, 0))
    if a > b:
        a, b = b, a
    return b - a


@program
def branch_swaps_lists_read_only(im: Image, p: Position):
    a, b = [im(p), 1.0], [2.0, im(p)]
    if im(p) > 0:
        a, b = b, a
    return a[0] + 10 * b[1]


@program
def known_function_joined(im: Image, p: Position):
    f = abs
    if im(p) > 0:
        f = abs
    return f(im(p))


@program
def pass_in_branch(im: Image, p: Position):
    if im(p) > 0:
        pass
    else:
        return 1.0
    return 2.0


@program
def one_sided_variable_used_inside(im: Image, p: Position):
    r = 0.0
    if im(p) > 0:
        extra = im(p) * 3
        r = extra + 1
    return r


@program
def same_condition_twice(im: Image, p: Position):
    v = im(p)
    if v > 0:
        a = v
    else:
        a = 0.0
    if v > 0:
        a = a + 1
    return a


@program
def truth_of_float(im: Image, p: Position):
    if im(p):
        return 1
    return 0


@program
def truth_of_int(ints: Image, p: Position):
    return 1.5 if ints(p) % 2 else 2.5


@program
def truth_of_container(im: Image, p: Position):
    xs = [im(p)]
    empty = []
    return 1.0 if xs and not empty else 2.0


# ---------------------------------------------------------------- conditions


@program
def chained_comparison(im: Image, p: Position):
    return 1 if -1 < im(p) <= 1 else 0


@program
def chained_comparison_of_three(im: Image, p: Position):
    return -2 < im(p) < im(p + (1, 0)) < 2


@program
def chained_comparison_evaluates_once(im: Image, p: Position):
    seen = []

    def middle():
        seen.append(1)
        return im(p)

    r = 0 < middle() < 1
    return (1.0 if r else 0.0) + len(seen)


@program
def and_returns_operand(im: Image, p: Position):
    return im(p) and im(p) + 1


@program
def or_returns_operand(im: Image, p: Position):
    return im(p) or 3.0


@program
def or_of_three(im: Image, p: Position):
    return (im(p) if im(p) > 1 else 0) or (0.5 if im(p) < -1 else 0) or 9


@program
def and_joins_bool_and_float(im: Image, p: Position):
    return im(p) > 0 and im(p)


@program
def condition_of_and_or_not(im: Image, p: Position):
    v = im(p)
    if (v > 1 or v < -1) and not p.x == 3:
        return v
    return 0.0


@program
def short_circuit_guards_division(ints: Image, p: Position):
    n = p.x - 2
    return n != 0 and ints(p) // n > 1


@program
def short_circuit_guards_known_failure(im: Image, p: Position, table=None):
    return im(p) if table is None or table[0] else 0.0


@program
def ternary(im: Image, p: Position):
    return im(p) * 2 if im(p) > 0 else im(p) - 1


@program
def ternary_nested(im: Image, p: Position):
    v = im(p)
    return 1 if v > 1 else 2 if v > 0 else 3 if v > -1 else 4


@program
def ternary_of_tuples(im: Image, p: Position):
    lo, hi = (im(p), 1.0) if im(p) < 1 else (1.0, im(p))
    return hi - lo


@program
def ternary_in_argument(im: Image, p: Position):
    return max(im(p) if p.x % 2 == 0 else -im(p), 0.25)


@program
def ternary_of_positions(im: Image, p: Position):
    return im(p + ((1, 0) if im(p) > 0 else (0, 1)))


@program
def walrus_in_condition(im: Image, p: Position):
    if (v := im(p)) > 0:
        return v * 2
    return v


@program
def walrus_in_comprehension(im: Image, p: Position):
    return sum([(last := im(p + (d, 0))) * 2 for d in range(3)]) + last


@program
def walrus_in_while(counts: Image, p: Position):
    n = counts(p)
    total = 0
    while (n := n - 1) > 0:
        total += n
    return total


@program
def not_of_float(im: Image, p: Position):
    return not im(p)


@program
def is_none_of_known(im: Image, p: Position, scale=None):
    if scale is None:
        scale = 2.0
    return scale * im(p)


@program
def conditional_assertion_on_known(im: Image, p: Position, n=3):
    assert n > 2, "too few"
    assert n % 2 == 1
    return im(p) * n


# ---------------------------------------------------------------- loops over known sequences


@program
def for_over_range(im: Image, p: Position):
    s = 0
    for i in range(3):
        s += im(p + (i, 0)) * (i + 1)
    return s


@program
def for_over_tuple_of_tuples(im: Image, p: Position):
    s = 0.0
    for w, (dx, dy) in ((0.5, (0, 0)), (0.25, (1, 0)), (0.25, (0, 1))):
        s += w * im(p + (dx, dy))
    return s


@program
def for_negative_step(im: Image, p: Position):
    s = 0
    for i in range(5, -1, -2):
        s = s * 2 + im(p + (i, 0))
    return s


@program
def for_with_break_on_dynamic(im: Image, p: Position):
    for i in range(6):
        if im(p + (i, 0)) > 1:
            break
    return i


@program
def for_with_continue(im: Image, p: Position):
    s = 0.0
    for i in range(4):
        v = im(p + (i, 0))
        if v < 0:
            continue
        s += v
    return s


@program
def for_else(im: Image, p: Position):
    for i in range(4):
        if im(p + (i, 0)) > 1.5:
            r = i
            break
    else:
        r = -1
    return r


@program
def for_else_without_break(im: Image, p: Position):
    s = 0.0
    for i in range(3):
        s += im(p + (0, i))
    else:
        s *= 2
    return s


@program
def return_inside_loop(im: Image, p: Position):
    for i in range(5):
        if im(p + (i, 0)) > 1:
            return i
    return 100


@program
def nested_loops_inner_break(im: Image, p: Position):
    n = 0
    for j in range(3):
        for i in range(3):
            if im(p + (i, j)) < 0:
                break
            n += 1
    return n


@program
def nested_loops_outer_flag(im: Image, p: Position):
    found = False
    for j in range(3):
        for i in range(3):
            if im(p + (i, j)) > 1.5:
                found = True
                break
        if found:
            break
    return i + 10 * j if found else -1


@program
def loop_variable_after_loop(im: Image, p: Position):
    for i in range(4):
        v = im(p + (i, 0))
    return v + i


@program
def empty_loop(im: Image, p: Position, items=()):
    s = im(p)
    for x in items:
        s += x
    return s


@program
def loop_changes_known_until_branch(im: Image, p: Position):
    step = 1
    s = 0.0
    for i in range(4):
        s += im(p + (step, 0))
        step = step * 2
    return s + step


@program
def loop_collects_list(im: Image, p: Position):
    xs = []
    for i in range(4):
        xs.append(im(p + (i, 0)))
    return xs[0] + xs[-1] * len(xs)


@program
def loop_shifts_registers(im: Image, p: Position):
    a, b, c = 0.0, 1.0, 2.0
    for i in range(4):
        a, b, c = b, c, a + im(p + (i, 0))
    return a + 2 * b + 4 * c


@program
def long_known_loop(im: Image, p: Position):
    s = 0
    for i in range(2000):
        s += (i % 7) * (1 if im(p) > 0 else 2)
    return s


# ---------------------------------------------------------------- loops on the device


@program
def while_dynamic(counts: Image, p: Position):
    n = counts(p)
    s = 0
    while n > 0:
        s += n
        n -= 1
    return s


@program
def while_true_break(im: Image, p: Position):
    v = abs(im(p)) + 0.5
    n = 0
    while True:
        v = v * 2
        n += 1
        if v > 20:
            break
    return n


@program
def while_true_return(im: Image, p: Position):
    v, n = abs(im(p)) + 0.5, 0
    while True:
        if v > 20:
            return n
        v, n = v * 2, n + 1


@program
def while_continue(counts: Image, p: Position):
    n, s = counts(p) * 3, 0
    while n > 0:
        n -= 1
        if n % 3 == 0:
            continue
        s += n
    return s


@program
def while_else(counts: Image, p: Position):
    n = counts(p)
    while n > 0:
        if n == 4:
            r = 1
            break
        n -= 1
    else:
        r = 2
    return r


@program
def while_with_and(im: Image, p: Position):
    i = 0
    while i < 6 and im(p + (i, 0)) < 1:
        i += 1
    return i


@program
def while_with_or(counts: Image, p: Position):
    a, b = counts(p), 4
    while a > 0 or b > 2:
        a, b = a - 1, b - 1
    return a * 10 + b


@program
def range_dynamic_stop(im: Image, counts: Image, p: Position):
    s = 0.0
    for i in range(counts(p)):
        s += im(p + (i, 0))
    return s


@program
def range_dynamic_start_stop_step(counts: Image, p: Position):
    s = 0
    for i in range(counts(p), 20, 3):
        s = s * 2 + i
    return s


@program
def dynamic_range_behind_several_tests(counts: Image, p: Position):
    total = 0
    if (p.x > 1 and p.y > 0) or counts(p) > 4:
        for i in range(counts(p), counts(p) + p.y):
            total += i
    return total


@program
def comprehension_over_a_long_range_behind_several_tests(im: Image, p: Position):
    total = 0.0
    if (p.x > 1 and p.y > 0) or im(p) > 0:
        scale = im(p) * 2
        total = sum([scale for i in range(p.y * 10, p.y * 10 + 40)])
    return total


@program
def range_dynamic_down(counts: Image, p: Position):
    s = 0
    for i in range(counts(p), 0, -1):
        s = s * 3 + i
    return s


@program
def range_dynamic_step(counts: Image, p: Position):
    s = 0
    for i in range(0, 20, counts(p)):
        s += i
    return s


@program
def range_dynamic_break_else(im: Image, counts: Image, p: Position):
    r = 0
    for i in range(counts(p)):
        if im(p + (i, 0)) > 1:
            r = i
            break
    else:
        r = -5
    return r


@program
def range_dynamic_return(im: Image, counts: Image, p: Position):
    for i in range(counts(p)):
        if im(p + (i, 0)) < -1:
            return i
    return -1


@program
def range_dynamic_continue(im: Image, counts: Image, p: Position):
    n = 0
    for i in range(counts(p)):
        if im(p + (i, 0)) < 0:
            continue
        n += 1
    return n


@program
def loop_counter_survives(counts: Image, p: Position):
    i = -1
    for i in range(counts(p) - 1):
        pass
    return i


@program
def nested_dynamic_loops(counts: Image, p: Position):
    n, s = counts(p), 0
    for j in range(n):
        for i in range(j):
            s += i * j
    return s


@program
def dynamic_loop_in_known_loop(im: Image, counts: Image, p: Position):
    s = 0.0
    for j in range(2):
        i = 0
        while i < counts(p + (j, 0)):
            s += im(p + (i, j))
            i += 1
    return s


@program
def known_loop_in_dynamic_loop(im: Image, counts: Image, p: Position):
    s, n = 0.0, counts(p)
    while n > 0:
        for d in (0, 1, 2):
            s += im(p + (d, n))
        n -= 2
    return s


@program
def break_from_both_loops(counts: Image, p: Position):
    total = 0
    for j in range(counts(p)):
        for i in range(counts(p)):
            if i * j > 5:
                break
            total += 1
        if total > 12:
            break
    return total


@program
def return_from_nested_dynamic_loops(counts: Image, p: Position):
    n = counts(p)
    for j in range(n):
        for i in range(n):
            if i + j == 5:
                return 10 * i + j
    return -1


@program
def loop_carries_int_to_float(counts: Image, p: Position):
    s, n = 0, counts(p)
    while n > 0:
        s = s + 0.5
        n -= 1
    return s


@program
def loop_carries_bool(im: Image, counts: Image, p: Position):
    seen, n = False, counts(p)
    while n > 0:
        seen = seen or im(p + (n, 0)) > 1
        n -= 1
    return seen


@program
def loop_carries_tuple(counts: Image, p: Position):
    pair, n = (0, 1), counts(p)
    while n > 0:
        pair = (pair[1], pair[0] + pair[1])
        n -= 1
    return pair[0]


@program
def loop_swaps(counts: Image, p: Position):
    a, b, n = 1, 2, counts(p)
    while n > 0:
        a, b = b, a
        n -= 1
    return a


@program
def loop_carries_vector(counts: Image, p: Position):
    v, n = Vec2(1.0, 0.0), counts(p)
    while n > 0:
        v = Vec2(v.y + 1, v.x * 0.5)
        n -= 1
    return v


@program
def loop_carries_position(im: Image, counts: Image, p: Position):
    q, n = p, counts(p)
    while n > 0:
        q = q + (1, 0)
        n -= 1
    return im(q)


@program
def loop_changes_list(counts: Image, p: Position):
    xs, n = [0, 1, 2], counts(p)
    while n > 0:
        xs[0] += n
        xs[2] = xs[0] - xs[1]
        n -= 1
    return xs[2]


@program
def loop_known_stays_known(im: Image, counts: Image, p: Position):
    offsets, n, s = [(0, 0), (1, 0)], counts(p), 0.0
    while n > 0:
        for d in offsets:
            s += im(p + d)
        n -= 1
    return s


@program
def loop_body_never_runs(im: Image, counts: Image, p: Position):
    s = im(p)
    for i in range(counts(p) - 100):
        s += 1000.0
    return s


@program
def variable_set_in_while_and_read_there(counts: Image, p: Position):
    n, s = counts(p), 0
    while n > 0:
        square = n * n
        s += square
        n -= 1
    return s


@program
def newton_iteration(unit: Image, p: Position):
    v = unit(p)
    x = v
    while abs(x * x - v) > 0.001:
        x = 0.5 * (x + v / x)
    return x


@program
def collatz(ints: Image, p: Position):
    n, steps = abs(ints(p)), 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program
def gcd_loop(ints: Image, counts: Image, p: Position):
    a, b = abs(ints(p)), counts(p)
    while b:
        a, b = b, a % b
    return a


@program(n=4)
def loop_over_uniform(im: Image, p: Position, n: int):
    s = 0.0
    for i in range(n):
        s += im(p + (i, 0))
    return s


# ---------------------------------------------------------------- returns


@program
def early_return(im: Image, p: Position):
    if im(p) > 1:
        return 1.0
    if im(p) < -1:
        return -1.0
    return im(p)


@program
def early_return_of_int_and_float(im: Image, p: Position):
    if im(p) > 0:
        return 1
    return 0.5


@program
def early_return_in_called_function(im: Image, p: Position):
    def clamp(v, lo, hi):
        if v < lo:
            return lo
        if v > hi:
            return hi
        return v

    return clamp(im(p), -1.0, 0.5) + clamp(im(p + (1, 0)), 0, 1)


@program
def early_return_of_tuples(im: Image, p: Position):
    def split(v):
        if v > 0:
            return 1, v
        return -1, -v

    sign, size = split(im(p))
    return sign * 10 + size


@program
def return_from_deep_inside(im: Image, p: Position):
    for j in range(2):
        if im(p + (0, j)) > 0:
            for i in range(3):
                if im(p + (i, j)) < 0:
                    if i == 2:
                        return 7
                    return i
        else:
            continue
    return 9


@program
def code_after_return_is_ignored(im: Image, p: Position):
    return im(p)
    return im(p).nothing


@program
def tuple_result(im: Image, p: Position):
    return im(p), -im(p), p.x


@program
def tuple_result_of_mixed_types(im: Image, rgb: Image, p: Position):
    return im(p) > 0, rgb(p), p.y


@program
def constant_result(im: Image, p: Position):
    return 0.25


@program
def constant_tuple_result(im: Image, p: Position):
    return 1, True, 0.5


@program
def delete_variable(im: Image, p: Position):
    v = im(p)
    w = v + 1
    del v
    return w


@program
def delete_list_element(im: Image, p: Position):
    xs = [1.0, im(p), 3.0]
    del xs[0]
    return xs[0]


@program
def augmented_assignments(im: Image, p: Position):
    v = im(p)
    v += 1
    v -= 0.25
    v *= 3
    v /= 2
    v **= 2
    return v


@program
def augmented_integer_assignments(ints: Image, p: Position):
    n = ints(p)
    n //= 2
    n %= 17
    n <<= 2
    n |= 1
    n &= 0xFD
    n ^= 5
    n >>= 1
    return n


@program
def assignment_to_several_names(im: Image, p: Position):
    a = b = im(p)
    a += 1
    return a * b


@program
def starred_assignment(im: Image, p: Position):
    first, *rest, last = [im(p + (d, 0)) for d in range(5)]
    return first + 2 * sum(rest) + 4 * last


@program
def annotated_assignment(im: Image, p: Position):
    v: float = im(p)
    n: int
    n = 3
    return v * n


# ---------------------------------------------------------------- match


@program
def match_known_string(im: Image, p: Position, mode="double"):
    match mode:
        case "single":
            return im(p)
        case "double" | "twice":
            return 2 * im(p)
        case _:
            return 0.0


@program
def match_sequence(im: Image, p: Position):
    match [im(p), 2.0, 3.0]:
        case [a, b]:
            return a + b
        case [a, *rest]:
            return a * sum(rest)


@program
def match_mapping(im: Image, p: Position):
    match {"kind": "gain", "by": im(p)}:
        case {"kind": "offset", "by": d}:
            return d + 1
        case {"kind": "gain", "by": g}:
            return g * 2


@program
def match_with_guard(im: Image, p: Position):
    match (im(p), p.x):
        case (v, x) if v > 0 and x > 2:
            return v * x
        case (v, _):
            return v - 1


@program
def match_on_dynamic_number(counts: Image, p: Position):
    match counts(p):
        case 1:
            return 10
        case 2 | 3:
            return 20
        case n if n > 4:
            return n
        case _:
            return 0


@program
def match_as(im: Image, p: Position):
    match (1, (2, im(p))):
        case (1, (2, _) as pair):
            return pair[1] * pair[0]


@program
def object_on_two_ways_out_of_a_branch(im: Image, p: Position):
    n = 0
    while True:
        if p.x > 3:
            break
        found = {"k": im(p), "n": n}
        if im(p) > 0 and im((p.x + found["n"], 0)) < 1:
            break
        found["k"] = found["k"] + 1
        n += 1
        if n > 2:
            return found["k"]
    return n


@program
def vectors_of_two_sizes_meet_unused(im: Image, p: Position):
    v = Vec3(1.0, 2.0, im(p))
    if im(p) > 0:
        v = Vec2(im(p), 1.0)
        r = v.x
    else:
        r = v.z
    return r


@program
def changed_object_replaced_and_changed(im: Image, p: Position):
    xs = [1.0, 2.0]
    xs[1] = im(p)
    if im(p) > 0:
        xs = [im(p), 3.0]
    xs[0] += 1.0
    return xs[0] * 10 + xs[1]


@program
def object_handed_down_a_loop(im: Image, counts: Image, p: Position):
    v = Vec2(1.0, 2.0)
    w = Vec2(3.0, 4.0)
    for _ in range(counts(p)):
        w = v
        v = Vec2(5.0, im(p))
        w.x += 1.0
    return w + v


@program
def empty_branch_before_a_long_loop(im: Image, ints: Image, p: Position):
    xs = [ints(p), 0, ints(p)]
    if ints(p) == -1:
        pass
    if im(p) > 0:
        xs[2] = ints(p) * 2
    for k in range(17, 0, -1):
        ys = [k, xs[ints(p) % 3], min([im(p) for _, x in enumerate(xs)])]
    return xs[2] + ys[1] + ys[2]


@program
def iterators_of_two_paths(im: Image, ints: Image, p: Position):
    xs = [ints(p), 0, im(p)]
    if im(p) < 1:
        total = sum(i * x for i, x in enumerate(xs))
        xs[1] = 2 * total
    else:
        total = 0.0
        xs[0] = im(p + (1, 0))
        for i, x in enumerate(xs):
            xs[2] = total
            total += i * x
    return total + xs[0] + xs[1]


def _positive_root(x):
    if x < 0:
        raise ValueError(f"{x!r} is negative")
    if x > 100:
        message = "too large" if x < 1000 else f"{x} is far too large"
        raise OverflowError(message)
    return x**0.5


@program
def validation_that_nothing_fails(im: Image, ints: Image, p: Position):
    value = im(p)
    assert value == value and value < 1e6, f"{value} is no texel"  # noqa: PT018
    total = 0.0
    for i in range(ints(p) % 4 + 1):
        if i > 10:
            raise IndexError
        total += _positive_root(abs(value) + i)
    if total < 0:
        raise RuntimeError("impossible")
    return total


@program
def a_function_that_always_raises_on_one_side(im: Image, p: Position):
    def refuse(x):
        raise KeyError(x)

    return refuse(im(p)) if p.x < -5 else im(p) * 2


# A loop may run no round: what follows it may then be walked with the values from before, on a path
# that is not taken. What Python would raise there is no error.


@program
def division_by_a_count_of_rounds(im: Image, counts: Image, p: Position):
    n, i, weight, total = counts(p), 0, 0, 0.0
    while i < n:
        weight += 1
        total += im(p + (i, 0))
        i += 1
    return total / weight


@program
def whole_division_by_a_count_of_rounds(counts: Image, p: Position):
    n, i, w = counts(p), 0, 0
    while i < n:
        w += 1
        i += 1
    return 7 // w


@program
def remainder_by_a_count_of_rounds(counts: Image, p: Position):
    n, i, b = counts(p), 0, 0
    while i < n:
        b += 2
        i += 1
    return 12 % b


@program
def logarithm_of_a_count_of_rounds(counts: Image, p: Position):
    n, i, w = counts(p), 0, 0
    while i < n:
        w += 1
        i += 1
    return math.log(w)


@program
def root_of_a_count_of_rounds(counts: Image, p: Position):
    n, i, w = counts(p), 0, -1
    while i < n:
        w += 1
        i += 1
    return math.sqrt(w) + 2.0 ** (9000 * (w < 0))


POWERS = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]


@program
def table_at_the_last_round(counts: Image, p: Position):
    n, i, k = counts(p), 0, -9
    while i < n:
        k = i
        i += 1
    return POWERS[k]


@program
def list_at_the_last_round(im: Image, counts: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(7)]
    n, i, k = counts(p), 0, 99
    while i < n:
        k = i
        i += 1
    return xs[k]


@program
def literals_at_the_last_round(counts: Image, p: Position):
    n, i, k, weight, s = counts(p), 0, 99, 0, 3
    tab, pairs, made = [1.0, 2.0, 4.0], ((1, 2), (3, 4), (5, 6)), np.array([7, 8, 9])
    while i < n and i < 3:
        k = i
        weight += 2
        i += 1
    return tab[k] + s / weight, pairs[k][1], made[k] % weight, "abc"[k] == "b", tab[-k] // weight


@program
def stored_at_the_last_round(im: Image, counts: Image, p: Position):
    xs = [0.0] * 7
    n, i, k = counts(p), 0, 99
    while i < n:
        k = i
        i += 1
    if n > 0:
        xs[k] = im(p)
    return sum(xs)


def mean_of(total, count):
    return total / count


@program
def call_after_a_loop(im: Image, counts: Image, p: Position):
    n, i, total = counts(p), 0, 0
    while i < n:
        total += i
        i += 1
    return mean_of(total, i) + mean_of(1, i)


@program
def division_under_a_condition(im: Image, p: Position):
    scale = 0
    if im(p) > -1e9:
        scale = 2
    if scale == 0:
        return 1 / scale
    return im(p) / scale


@program
def division_where_a_condition_never_holds(im: Image, p: Position):
    if im(p) > 1e9:
        return 1 / 0 + 5 % 0 + math.log(-1.0) + POWERS[99]
    return im(p)


@program
def first_of_a_row_dependent_count(im: Image, p: Position):
    # Rows end apart, pixels leave apart: on cpu the counter is one number for all vectors of a row.
    for k in range(2 + p.y):
        if im(p + (k, 0)) > 1:
            return k
    return -5


# ---------------------------------------------------------------- tests that may leave, known ends


def nine(im, p):
    return [im(p + (i % 3 - 1, i // 3 - 1)) for i in range(9)]


@program
def sorted_by_insertion(im: Image, p: Position):
    v = nine(im, p)
    for i in range(1, len(v)):
        x, j = v[i], i - 1
        while j >= 0 and v[j] > x:
            v[j + 1] = v[j]
            j -= 1
        v[j + 1] = x
    return v[0], v[4], v[8]


@program
def sorted_until_nothing_is_swapped(im: Image, p: Position):
    v, n, swapped, rounds = nine(im, p), 9, True, 0
    while swapped:
        swapped = False
        for i in range(1, n):
            if v[i - 1] > v[i]:
                v[i - 1], v[i], swapped = v[i], v[i - 1], True
        n -= 1
        rounds += 1
    return v[3], v[4], rounds


@program
def test_of_the_item_before_the_end(im: Image, p: Position):
    v, k = nine(im, p), 8
    while v[k] < 0.5 and k > 0:
        k -= 1
    return k, v[k]


@program
def sentinel_beyond_which_there_is_nothing(im: Image, p: Position):
    v, k = [*nine(im, p), 1e9], 0
    while v[k] < 0.5:
        k += 1
    return k, v[k]


@program
def list_that_is_emptied(im: Image, p: Position):
    rest, taken = nine(im, p), 0.0
    while rest and taken < 2:
        taken += abs(rest.pop())
    else:
        taken += 10 if not rest else 0
    return taken, len(rest)


@program
def end_that_is_far(im: Image, p: Position):
    k, s, x = 0, 0.0, im(p)
    while k < 60 and s < 4:
        s += abs(x) * 0.25 + 0.01
        k += 1
    return k, s


@program
def known_end_in_a_function_that_returns_early(im: Image, p: Position):
    def first(items, least):
        k = 0
        while k < len(items):
            if items[k] > least:
                return k
            k += 1
        return -1

    v = nine(im, p)
    return first(v, 0.5), first(v[:3], im(p)), first([], 1)


@program
def known_ends_in_known_ends(im: Image, p: Position):
    s, a = 0.0, 3
    while a and s < 3:
        b = a
        while b > 0 and s < 2.5:
            s += abs(im(p + (a, b))) + 0.1
            b -= 1
        a -= 1
    return s, a


@program
def known_end_within_rounds_of_the_pixel(im: Image, counts: Image, p: Position):
    s = 0.0
    for i in range(counts(p)):
        k = 4
        while k > 0 and s < i + 2:
            s += abs(im(p + (k, i))) + 0.05
            k -= 1
        s += k
    return s


@program
def variable_of_a_loop_that_has_a_round_for_sure(im: Image, ints: Image, p: Position):
    for k in range(ints(p) % 5, -1, -2):
        if im(p + (k, 0)) > 1:
            break
    else:
        for _ in range(p.x):
            k += 1
    for last in range(p.x + 1):
        if im(p) > last:
            break
    for first in range(ints(p) % 5, -1, -2):
        break
    else:
        first -= 7
    return k, last, first


@program
def vector_set_first_in_a_long_loop(im: Image, p: Position):
    origin = Vec3(0.0)
    ray = normalize(Vec3((p.x - 2.6) / 3, (2.2 - p.y) / 3, 1))
    t = 0.0
    for i in range(64):
        at = origin + ray * t
        distance = length(at - Vec3(0, 0, 3)) - 1
        told = (i, (distance, im(p)))
        if distance < 0.001 or i > 20:
            break
        t += distance
    return min(at.z, 9.0), told[0], told[1][1]


@program
def variables_of_loops_read_after_them(ints: Image, counts: Image, p: Position):
    for i in range(counts(p)):
        if i * i > 5:
            break
    total, k = 0, abs(ints(p))
    for j in range(1, counts(p) + 1):
        for inner in range(j):
            total += inner
        total += inner
    while k > 0:
        digit = k % 10
        k //= 10
    none = i if counts(p) > 9 else -1
    return i, total, digit, none


@program
def variables_of_the_round_before(ints: Image, counts: Image, p: Position):
    total, first = 0, True
    for i in range(counts(p)):
        if i > 0:
            total += before * i  # noqa: F821
        if not first:
            total -= other  # noqa: F821
        if i % 3 == 0:
            third = i
        total += 2 * third
        before = (ints(p + (i, 0)) * 7) % 5
        other, first = before + i, False
    return total


@program
def variable_that_a_long_loop_sets_in_some_rounds(ints: Image, counts: Image, p: Position):
    for i in range(10 * counts(p)):
        if ints(p + (i, i % 3)) % 3 != 1:
            found = i, ints(p + (i, 0))
    return found[0], found[1]


@program
def error_when_the_loop_is_left(unit: Image, counts: Image, p: Position):
    x = 1.0 + unit(p)
    for rounds in range(3 * counts(p)):
        change = (x * x - 2) / (2 * x)
        x -= change
        if abs(change) < 0.01:
            break
    return x, rounds, abs(change) < 0.5
