"""Python's modules `statistics`, `heapq`, `queue` and `struct`, as functions and classes that are
walked: averages of floats, where Python's own count in fractions; items of a heap move as in
CPython's own, so it has them in the same places.

    statistics.variance(window)         # of a list of texels
    heapq.heappush(queue, (cost, node))
"""

import collections
import math
import queue
import re
import statistics
import struct
import sys
from typing import Any, Final

import numpy as np

from pygpu.frontend.walked import asked
from pygpu.frontend.walked.containers import plain
from pygpu.frontend.walked.special import bytes_of, from_bytes
from pygpu.frontend.walked.written import STEPS, Bytes


def numbers(data: Any, least: Any, name: Any) -> Any:
    """The data as a list, which has as many numbers as are needed."""
    xs = list(data)
    if len(xs) < least:
        raise statistics.StatisticsError(f"{name} requires at least {least} data point(s)")
    return xs


def mean(data: Any) -> Any:
    xs = numbers(data, 1, "mean")
    return sum([x * 1.0 for x in xs]) / len(xs)


def fmean(data: Any, weights: Any = None) -> Any:
    xs = numbers(data, 1, "fmean")
    if weights is None:
        return sum([x * 1.0 for x in xs]) / len(xs)
    return sum([x * 1.0 * w for x, w in zip(xs, weights, strict=True)]) / sum(weights)


def geometric_mean(data: Any) -> Any:
    xs = numbers(data, 1, "geometric_mean")
    message = "geometric mean requires a non-empty dataset containing positive numbers"
    asked.holds(not any(x <= 0 for x in xs), statistics.StatisticsError, message)
    return math.exp(mean([math.log(x) for x in xs]))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    xs = numbers(data, 1, "harmonic_mean")
    ws = [1] * len(xs) if weights is None else list(weights)
    return sum(ws) / sum([w / x for x, w in zip(xs, ws, strict=True)])


def median(data: Any) -> Any:
    xs = sorted(numbers(data, 1, "median"))
    middle = len(xs) // 2
    return xs[middle] if len(xs) % 2 else (xs[middle - 1] + xs[middle]) / 2


def median_low(data: Any) -> Any:
    xs = sorted(numbers(data, 1, "median_low"))
    return xs[(len(xs) - 1) // 2]


def median_high(data: Any) -> Any:
    xs = sorted(numbers(data, 1, "median_high"))
    return xs[len(xs) // 2]


def quantiles(data: Any, *, n: Any = 4, method: Any = "exclusive") -> Any:
    xs = sorted(numbers(data, 2, "quantiles"))
    if method == "inclusive":
        places = [divmod(i * (len(xs) - 1), n) for i in range(1, n)]
        return [(xs[at] * (n - part) + xs[at + 1] * part) / n for at, part in places]
    count, made = len(xs) + 1, []
    for i in range(1, n):
        at = min(max(i * count // n, 1), len(xs) - 1)
        part = i * count - at * n
        made.append((xs[at - 1] * (n - part) + xs[at] * part) / n)
    return made


def squares(xs: Any, centre: Any) -> Any:
    """The sum of squares about a centre, the mean where none is given."""
    c = mean(xs) if centre is None else centre
    return sum([(x - c) ** 2 for x in xs])


def variance(data: Any, xbar: Any = None) -> Any:
    xs = numbers(data, 2, "variance")
    return squares(xs, xbar) / (len(xs) - 1)


def pvariance(data: Any, mu: Any = None) -> Any:
    xs = numbers(data, 1, "pvariance")
    return squares(xs, mu) / len(xs)


def stdev(data: Any, xbar: Any = None) -> Any:
    return math.sqrt(variance(data, xbar))


def pstdev(data: Any, mu: Any = None) -> Any:
    return math.sqrt(pvariance(data, mu))


def products(x: Any, y: Any) -> Any:
    """The sum of products of deviations from the means."""
    a, b = mean(x), mean(y)
    return sum([(p - a) * (q - b) for p, q in zip(x, y, strict=True)])


def covariance(x: Any, y: Any, /) -> Any:
    xs, ys = numbers(x, 2, "covariance"), list(y)
    return products(xs, ys) / (len(xs) - 1)


def correlation(x: Any, y: Any, /) -> Any:
    xs, ys = numbers(x, 2, "correlation"), list(y)
    return products(xs, ys) / math.sqrt(squares(xs, None) * squares(ys, None))


def linear_regression(x: Any, y: Any, /, *, proportional: Any = False) -> Any:
    xs, ys = numbers(x, 2, "linear_regression"), list(y)
    if proportional:
        slope = sum([p * q for p, q in zip(xs, ys, strict=True)]) / sum([p * p for p in xs])
        return statistics.LinearRegression(slope=slope, intercept=0.0)
    slope = products(xs, ys) / squares(xs, None)
    return statistics.LinearRegression(slope=slope, intercept=mean(ys) - slope * mean(xs))


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    getattr(statistics, made.__name__): made
    for made in (
        *(mean, fmean, geometric_mean, harmonic_mean, median, median_low, median_high),
        *(quantiles, variance, pvariance, stdev, pstdev, covariance, correlation),
        linear_regression,
    )
}


def sift_down(heap: Any, start: Any, pos: Any) -> None:
    """Move the item at `pos` towards the root while it is less than its parent."""
    item = heap[pos]
    while pos > start:
        parent = (pos - 1) >> 1
        if not item < heap[parent]:
            break
        heap[pos] = heap[parent]
        pos = parent
    heap[pos] = item


def sift_up(heap: Any, pos: Any) -> None:
    """Move the smaller child up until a leaf is free, then the item down from there."""
    end, start, item = len(heap), pos, heap[pos]
    child = 2 * pos + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[pos] = heap[child]
        pos = child
        child = 2 * pos + 1
    heap[pos] = item
    sift_down(heap, start, pos)


def heappush(heap: Any, item: Any) -> None:
    heap = plain(heap)
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    heap = plain(heap)
    last = heap.pop()
    if len(heap) == 0:
        return last
    least = heap[0]
    heap[0] = last
    sift_up(heap, 0)
    return least


def heapreplace(heap: Any, item: Any) -> Any:
    heap = plain(heap)
    least = heap[0]
    heap[0] = item
    sift_up(heap, 0)
    return least


def heappushpop(heap: Any, item: Any) -> Any:
    heap = plain(heap)
    if len(heap) > 0 and heap[0] < item:
        return heapreplace(heap, item)
    return item


def heapify(heap: Any) -> None:
    heap = plain(heap)
    for pos in reversed(range(len(heap) // 2)):
        sift_up(heap, pos)


def nsmallest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key)[:n]


def nlargest(n: Any, iterable: Any, key: Any = None) -> Any:
    return sorted(iterable, key=key, reverse=True)[:n]


def merge(*iterables: Any, key: Any = None, reverse: Any = False) -> Any:
    merged: Any = []
    for xs in iterables:
        merged = _merged(merged, [(x if key is None else key(x), x) for x in xs], reverse)
    return [x for _, x in merged]


def _merged(left: Any, right: Any, reverse: Any) -> Any:
    """Of two lists of keys and items, which need not be in order, always the lesser first item."""
    merged, i, j = [], 0, 0
    for _ in range(len(left) + len(right)):
        if j == len(right) or (i < len(left) and not _goes_first(right[j], left[i], reverse)):
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged


def _goes_first(a: Any, b: Any, reverse: Any) -> Any:
    return b[0] < a[0] if reverse else a[0] < b[0]


# ---------------------------------------------------------------- queue


class Queue:
    """queue.Queue: nobody waits for an item here, where there is none it raises."""

    stands_for: Any = queue.Queue

    def __init__(self, maxsize: Any = 0) -> None:
        self.maxsize, self.queue = maxsize, self.made()

    made: Any = staticmethod(lambda: collections.deque())
    add: Any = staticmethod(lambda held, item: held.append(item))
    take: Any = staticmethod(lambda held: held.popleft())

    def put(self, item: Any, block: Any = True, timeout: Any = None) -> None:
        if self.full():
            raise queue.Full
        self.add(self.queue, item)

    def get(self, block: Any = True, timeout: Any = None) -> Any:
        if not self.queue:
            raise queue.Empty
        return self.take(self.queue)

    put_nowait, get_nowait = put, get

    def qsize(self) -> Any:
        return len(self.queue)

    def empty(self) -> Any:
        return not self.queue

    def full(self) -> Any:
        return len(self.queue) >= self.maxsize if self.maxsize > 0 else False

    def task_done(self) -> None:
        pass


class SimpleQueue(Queue):
    stands_for: Any = queue.SimpleQueue


class LifoQueue(Queue):
    stands_for: Any = queue.LifoQueue
    made: Any = staticmethod(lambda: [])
    take: Any = staticmethod(lambda held: held.pop())


class PriorityQueue(LifoQueue):
    stands_for: Any = queue.PriorityQueue
    add: Any = staticmethod(heappush)
    take: Any = staticmethod(heappop)


# ---------------------------------------------------------------- struct


def fields(form: Any) -> Any:
    """Of each value of a struct its code and where its bytes begin and end; how many there are in
    all, and in which order."""
    form = form.decode() if isinstance(form, bytes) else form
    mark = form[:1] if form[:1] in ("@", "=", "<", ">", "!") else ""
    codes, ends = "", []
    for count, code in re.findall(r"(\d*)(\D)", "".join(form[len(mark) :].split())):
        for _ in range(int(count or 1)):
            codes += code
            ends.append((code, struct.calcsize(mark + codes)))
    made = [(code, end - struct.calcsize("=" + code if mark in ("=", "<", ">", "!") else code), end)
            for code, end in ends if code != "x"]  # fmt: skip
    order = {"<": "little", ">": "big", "!": "big"}.get(mark, sys.byteorder)
    return made, struct.calcsize(form), order


TAKEN: Final = "bBhHiIlLqQnNf?c"  # codes of values


def pack(form: Any, *values: Any) -> Any:
    """struct.pack()"""
    places, size, order = fields(form)
    if len(places) != len(values):
        message = f"pack expected {len(places)} items for packing (got {len(values)})"
        raise struct.error(message)
    made = [0] * size
    for (code, start, stop), value in zip(places, values, strict=True):
        made[start:stop] = _packed(value, code, stop - start)[:: STEPS[order]]
    return Bytes(made)


def _packed(value: Any, code: Any, size: Any) -> Any:
    """The bytes of a value, the lowest first."""
    if code not in TAKEN:
        asked.refuse(f"struct.pack of '{code}'", "integers and floats of 32 bits ('f')")
    if code == "c":
        return list(value)
    if code == "f":
        value = int(np.float32(value).view(np.int32))
    elif code == "?":
        value = 1 if value else 0
    else:
        low = -(1 << 8 * size - 1) if code.islower() else 0
        inside = low <= value < low + (1 << 8 * size)
        asked.holds(inside, struct.error, f"'{code}' format requires a number that it can hold")
    return bytes_of(value, size)


def unpack(form: Any, buffer: Any) -> Any:
    """struct.unpack()"""
    places, size, order = fields(form)
    if len(buffer) != size:
        message = f"unpack requires a buffer of {size} bytes"
        raise struct.error(message)
    return tuple([_unpacked(buffer[start:stop], code, order) for code, start, stop in places])


def unpack_from(form: Any, buffer: Any, offset: Any = 0) -> Any:
    return unpack(form, buffer[offset : offset + struct.calcsize(form)])


def iter_unpack(form: Any, buffer: Any) -> Any:
    size = struct.calcsize(form)
    if len(buffer) % size:
        message = f"iterative unpacking requires a buffer of a multiple of {size} bytes"
        raise struct.error(message)
    return iter([unpack_from(form, buffer, at) for at in range(0, len(buffer), size)])


def pack_into(form: Any, buffer: Any, offset: Any, *values: Any) -> None:
    packed = pack(form, *values)
    if offset < 0 or offset + len(packed) > len(buffer):
        message = f"pack_into requires a buffer of at least {offset + len(packed)} bytes"
        raise struct.error(message)
    for place, byte in enumerate(packed):
        buffer[offset + place] = byte


def _unpacked(part: Any, code: Any, order: Any) -> Any:
    if code not in TAKEN:
        asked.refuse(f"struct.unpack of '{code}'", "integers and floats of 32 bits ('f')")
    if code == "f":
        return float(np.int32(from_bytes(part, order, signed=True)).view(np.float32))
    if code in "?c":
        return part[0] != 0 if code == "?" else part
    return from_bytes(part, order, signed=code.islower())
