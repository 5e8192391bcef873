"""Branches, matches, assertions and early returns."""

from .cases import V2, on


@on((1,), (-1,), (-9,))
def if_elif_else(a):
    if a > 0:
        b = 1
    elif a < -5:
        b = 2
    else:
        b = 3
    return b


@on((5, 3), (3, 5))
def if_without_else(a, b):
    if a > b:
        a, b = b, a
    return a - b


@on((1, 0, 1), (1, 1, 1), (1, 0, 0))
def if_and_or_not(a, b, c):
    if a > 0 and (b > 0 or c > 0) and not (a == b):
        return 1
    return 2


@on((1, 2), (0, 2))
def assigned_and(a, b):
    x = a > 0 and b > 0
    y = a or b
    if x:
        y = y + 1
    return x, y


@on((-1, 0), (1, -1), (3, 2), (1, 2))
def early_returns(a, b):
    if a < 0:
        return 0
    if b < 0:
        return 1
    else:
        if a > b:
            return 2
    return a + b


@on((0,), (1,))
def both_return(a):
    if a:
        return 1
    else:
        return 2


@on((2,))
def implicit_return(a):
    if a > 0:
        a = 3


@on((1, 1), (1, 0), (0, 1), (0, 0))
def nested_if(a, b):
    r = 0
    if a > 0:
        if b > 0:
            r = 1
        else:
            r = 2
        r += 10
    elif b > 0:
        r = 5
    return r


@on((None,), (5,), (1,))
def none_tests(a):
    if a is None:
        return 0
    if a is not None and a > 2:
        return 1
    return 2


@on((0,), (2,), ((1, 2),), (V2(1.5, 2.0),), ({"k": 3},), ([3, 4, 5],), ("q",))
def match_kinds(a):
    match a:
        case 0:
            return "zero"
        case 1 | 2:
            return "small"
        case (x, y):
            return x + y
        case V2(x=p):
            return p
        case {"k": v}:
            return v
        case [h, *t] if h > 2:
            return t
        case _:
            return "other"


@on((0,), (3,), (4,))
def match_constants(a):
    r = 0
    match a:
        case 0:
            r = 1
        case 3:
            r = 2
        case _:
            r = 9
    return r


@on((1,))
def assertions(a):
    assert a > 0, "neg"
    assert a
    return a


@on((1,))
def raises(a):
    if a < 0:
        raise ValueError("x")
    return a


@on((1, 2, 3), (1, 2, 1), (3, 2, 1))
def if_chained(a, b, c):
    if a < b < c:
        return "y"
    return "n"


@on((1, 1), (1, 0), (-9, 0), (-9, -9), (-7, -9), (3, -9))
def guarded_returns(a, b):
    r = 1
    if a > 0:
        if b > 0:
            return 0
        r += 1
    if b > -5:
        if a > -5:
            return r
        r += 2
    if a == b:
        if r > 2:
            return 7
    return r * 10


@on((1, 1, 0), (1, 0, 0), (1, 0, 3), (1, 5, 3))
def short_circuit_bodies(a, b, c):
    r = 0
    if a > 0 and b > 0 or c > 0:
        r = a
        if b > a or not c:
            r += 5
    else:
        r = b
    return r


@on((1, 2, 3), (9, 2, 3), (1, 2, 0))
def if_chained_or(a, b, c):
    if a < b < c or a == 9:
        return 1
    return 0


@on((0, 1), (0, 0), (2, 0))
def empty_branches(a, b):
    if a:
        pass
    elif b:
        a = 4
    else:
        pass
    return a


@on((0,), (1,), (2,), (3,), ("s",), (None,), (True,), (2.5,))
def match_literals(a):
    match a:
        case None:
            return "none"
        case True:
            return "true"
        case 0 | 1:
            return "bit"
        case -1 | 2.5:
            return "odd"
        case "s":
            return "string"
        case int(n) if n > 2:
            return n
        case _:
            return "rest"


@on(([],), ([1],), ([1, 2],), ([1, 2, 3],), ((4, [5, 6]),), ("ab",), ([0, 1, 2, 9],))
def match_sequences(a):
    match a:
        case []:
            return 0
        case [x]:
            return x
        case [x, [y, *z]]:
            return x, y, z
        case [0, *middle, 9]:
            return middle
        case (x, y):
            return x + y
        case [x, *_, y]:
            return x - y
    return "no"


@on(({},), ({"a": 1},), ({"a": 2, "b": 3},), ({"b": {"c": 4}},), (5,))
def match_mappings(a):
    match a:
        case {"a": 1}:
            return "one"
        case {"a": x, **rest}:
            return x, rest
        case {"b": {"c": y}}:
            return y
        case {}:
            return "empty"
        case other:
            return other


@on((V2(1.0, 2.0),), (V2(0.0, 3.0),), (V2(5.0, 5.0),), ([V2(1.0), 2],), (7,))
def match_classes(a):
    match a:
        case V2(0.0, y):
            return y
        case V2(x=1.0, y=y):
            return -y
        case V2(x, y) if x == y:
            return "same"
        case [V2() as v, int() | float() as n]:
            return v.x + n
        case int(k):
            return k


@on((1, 2), (2, 1), (0, 0))
def match_in_loop(a, b):
    out = []
    for p in [(a, b), (b, a), (a, 0)]:
        match p:
            case (0, _):
                continue
            case (x, y) if x > y:
                break
            case (x, 0 | 1):
                out.append(x)
            case _:
                out.append("other")
    else:
        out.append("end")
    return out


@on((("x", "y"),), (3,), (9,))
def match_values(a):
    match a:
        case V2.__match_args__:
            return "names"
        case 3 as n:
            return n + 1
    return 0


@on((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0))
def elif_chain(a, b, c):
    if a:
        r = 1
    elif b:
        r = 2
    elif c:
        r = 3
    else:
        r = 4
    return r * 10


@on((1, 1), (1, 0), (0, 1), (0, 0))
def nested_returns(a, b):
    if a:
        if b:
            return 1
        x = 2
    else:
        if not b:
            return 3
        x = 4
    return x


@on((None, None), (1, None), (None, 2), (1, 2))
def none_combinations(a, b):
    if a is None and b is None:
        return 0
    if a is not None is not b:
        r = 1
    if a is None or b is None:
        return a if b is None else b
    return r + a + b if a is None else a * b


@on((5,), (0,), (-5,))
def walrus_tests(a):
    if (b := a * 2) > 3 and (c := b - 1):
        return b + c
    elif not (d := b + 1):
        return d
    return b, d


@on((1, 2, 3), (3, 2, 1), (1, 3, 2))
def sorts_three(a, b, c):
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a, b, c


@on((1, 2, 3, 4), (4, 3, 2, 1), (2, 2, 2, 2))
def chained_tests(a, b, c, d):
    if a < b < c < d:
        return 1
    if not a > b > c > d:
        return 2
    elif a > b and c > d or a == d:
        return 3
    return 4


@on((5, 1), (1, 5))
def assert_messages(a, b):
    assert a != b, f"{a} and {b}"
    assert a > b or b > a
    if a > b:
        assert a
        return a
    return b


@on((1,), (0,))
def constant_branches(a):
    if 0:
        a = 9
    elif 1:
        a += 1
    else:
        a = 8
    if a or True:
        a += 1
    return a if not None else 0


@on((0,), (3,), (12,))
def deep_ladder(a):
    r = 0
    if a > 1:
        r += 1
        if a > 2:
            r += 1
            if a > 10:
                r += 1
                if a > 11:
                    return r
            r += 10
        elif a > 5:
            r += 100
    r += 1000
    return r
