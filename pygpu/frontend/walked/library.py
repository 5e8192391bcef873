"""Python's folding functions as Python functions: walked like the user's own where a sequence is
too long to be unrolled, so that they become loops of the device."""

from typing import Any

import numpy as np


def there(x: Any) -> Any:
    """Whether an item, which a filter may leave out, is there: the walker knows."""
    return True


def value(x: Any) -> Any:
    """The item, zero where it is not there: the walker knows."""
    return x


def sum_of(xs: Any, start: Any) -> Any:
    total = start
    for x in xs:
        total = total + value(x)
    return total


def sum_of_groups(groups: Any, start: Any) -> Any:
    total = start
    for group in groups:
        total = sum(group, total)
    return total


def min_of(xs: Any) -> Any:
    best, found = value(xs[0]), there(xs[0])
    for x in xs:
        if there(x):
            best = min(best, value(x)) if found else value(x)
            found = True
    return best


def max_of(xs: Any) -> Any:
    best, found = value(xs[0]), there(xs[0])
    for x in xs:
        if there(x):
            best = max(best, value(x)) if found else value(x)
            found = True
    return best


def min_or(xs: Any, default: Any) -> Any:
    best, found = default, False
    for x in xs:
        if there(x):
            best = min(best, value(x)) if found else value(x)
            found = True
    return best


def max_or(xs: Any, default: Any) -> Any:
    best, found = default, False
    for x in xs:
        if there(x):
            best = max(best, value(x)) if found else value(x)
            found = True
    return best


def min_of_groups(groups: Any) -> Any:
    best = groups[0][0]
    for group in groups:
        for x in group:
            best = min(best, x)
    return best


def max_of_groups(groups: Any) -> Any:
    best = groups[0][0]
    for group in groups:
        for x in group:
            best = max(best, x)
    return best


def any_of(xs: Any) -> Any:
    found = False
    for x in xs:
        if there(x) and value(x):
            found = True
            break
    return found


def all_of(xs: Any) -> Any:
    for x in xs:
        if there(x) and not value(x):
            return False
    return True


def any_in_turn(xs: Any) -> Any:
    """any of an iterator, of which no more is taken than is needed; so are those below."""
    for x in xs:
        if x:
            return True
    return False


def all_in_turn(xs: Any) -> Any:
    for x in xs:
        if not x:
            return False
    return True


def any_of_groups(groups: Any) -> Any:
    return any_of([any(group) for group in groups])


def all_of_groups(groups: Any) -> Any:
    return all_of([all(group) for group in groups])


def reduce_of_groups(function: Any, groups: Any, initial: Any) -> Any:
    result = initial
    for group in groups:
        for x in group:
            result = function(result, x)
    return result


def np_sum_of(xs: Any) -> Any:
    """np.sum of a long sequence, whose items may be sequences; so are the others below."""
    total = 0
    for x in xs:
        total = total + np.sum(x)
    return total


def np_mean_of(xs: Any) -> Any:
    return np_sum_of(xs) / (len(xs) * np.size(xs[0]))


def np_min_of(xs: Any) -> Any:
    best = np.min(xs[0])
    for x in xs:
        best = np.minimum(best, np.min(x))
    return best


def np_max_of(xs: Any) -> Any:
    best = np.max(xs[0])
    for x in xs:
        best = np.maximum(best, np.max(x))
    return best


def np_any_of(xs: Any) -> Any:
    found: Any = False
    for x in xs:
        found = found or np.any(x)
    return found


def np_all_of(xs: Any) -> Any:
    found: Any = True
    for x in xs:
        found = found and np.all(x)
    return found


def np_prod_of(xs: Any) -> Any:
    total = 1
    for x in xs:
        total = total * np.prod(x)
    return total


def reduce_of(function: Any, xs: Any, initial: Any) -> Any:
    result = initial
    for x in xs:
        result = function(result, x)
    return result


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """np.interp: a line through known points, flat outside them."""
    result = fp[0]
    for k in range(len(xp) - 1):
        part = (x - xp[k]) / (xp[k + 1] - xp[k])
        result = result + (fp[k + 1] - fp[k]) * min(max(part, 0.0), 1.0)
    return result


def polyval(p: Any, x: Any) -> Any:
    """np.polyval, by Horner's rule."""
    result = 0.0
    for factor in p:
        result = result * x + factor
    return result


def searchsorted(a: Any, v: Any, side: Any = "left") -> Any:
    """np.searchsorted in a sequence that is sorted: how many elements come before."""
    place = 0
    for x in a:
        place = place + (x < v if side == "left" else x <= v)
    return place


def bisect_left(a: Any, x: Any) -> Any:
    return searchsorted(a, x, "left")


def bisect_right(a: Any, x: Any) -> Any:
    return searchsorted(a, x, "right")


def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    """np.digitize, for bins that rise or fall."""
    side = "left" if right else "right"
    if bins[0] > bins[-1]:
        return len(bins) - searchsorted(bins[::-1], x, side)
    return searchsorted(bins, x, side)


def take(a: Any, indices: Any) -> Any:
    """np.take without an axis."""
    return np.ravel(a)[indices]


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08) -> Any:
    return abs(a - b) <= atol + rtol * abs(b)


def ptp(a: Any) -> Any:
    return max(a) - min(a)


def chosen(test: Any, a: Any, b: Any) -> Any:
    return a if test else b
