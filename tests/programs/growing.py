"""Lists, sets and dicts that grow in loops of which nobody knows how long they go on."""

import heapq
import math
from collections import deque

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()

GRAPH = {0: [1, 2], 1: [3], 2: [3, 4], 3: [5], 4: [5], 5: []}
ROADS = {0: [(1, 4), (2, 1)], 1: [(3, 1)], 2: [(1, 2), (3, 5)], 3: []}


@program
def list_grows_in_dynamic_loop(counts: Image, p: Position):
    vs, n = [], counts(p)
    while n > 0:
        vs.append(n)
        n -= 1
    return sum(vs)


@program
def list_that_grows_tested_by_its_loop(im: Image, p: Position):
    xs = []
    while 4 * im(p) > len(xs):
        xs.append(im(p))
    return sum(xs)


@program
def list_that_grows_by_a_dynamic_range(im: Image, counts: Image, p: Position):
    xs = [-1.0]
    for i in range(counts(p)):
        if im(p + (i, 0)) > 0.5:
            xs.append(im(p + (i, 0)))
            xs += [i]
    return max(xs), xs[-1], len(xs)


@program
def set_in_a_loop_without_a_bound(counts: Image, p: Position):
    seen, n = set(), counts(p)
    while n not in seen:
        seen.add(n)
        n = (n * n + 1) % 50
    return n, len(seen)


@program
def dict_of_rounds_in_a_loop_without_a_bound(counts: Image, p: Position):
    when, n, t = {}, counts(p), 0
    while n not in when:
        when[n] = t
        n = (7 * n + 3) % 20
        t += 1
    return t - when[n]


@program
def breadth_first_search(counts: Image, p: Position):
    start = counts(p) % 6
    distance = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in GRAPH[node]:
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance.get(5, -1), len(distance)


@program
def flood_by_a_stack(im: Image, p: Position):
    open = [[im(p + (i, j)) > 0.4 for i in range(-1, 2)] for j in range(-1, 2)]
    stack, seen = [(1, 1)], set()
    while stack:
        x, y = stack.pop()
        if (x, y) in seen or not (0 <= x < 3 and 0 <= y < 3) or not open[y][x]:
            continue
        seen.add((x, y))
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            stack.append((x + dx, y + dy))
    return len(seen)


@program
def shortest_way_by_a_heap(counts: Image, p: Position):
    distance = dict.fromkeys(ROADS, math.inf)
    distance[0] = counts(p)
    heap = [(counts(p), 0)]
    while heap:
        d, node = heapq.heappop(heap)
        if d > distance[node]:
            continue
        for other, length in ROADS[node]:
            if d + length < distance[other]:
                distance[other] = d + length
                heapq.heappush(heap, (d + length, other))
    return distance[3] + 0.5


@program
def prime_factors(counts: Image, p: Position):
    n, factors, d = counts(p) * 7 + p.x + 2, [], 2
    while d * d <= n:
        while n % d == 0:
            factors.append(d)
            n //= d
        d += 1
    if n > 1:
        factors.append(n)
    return len(factors), max(factors), sum(factors)


@program
def binary_digits(counts: Image, p: Position):
    n, bits = counts(p), []
    while n > 0:
        bits.insert(0, n & 1)
        n >>= 1
    value = 0
    for bit in bits:
        value = 2 * value + bit
    return value, len(bits)


@program
def queue_that_is_full_for_a_while(counts: Image, p: Position):
    recent, n, total = deque(maxlen=3), counts(p) + 1, 0
    while n > 0:
        recent.append(n % 5)
        total += max(recent) * len(recent)
        n //= 2
    return total


@program
def list_turned_round_and_copied_as_it_grows(counts: Image, p: Position):
    n, vs, first = counts(p), [0, 0, 1], 0
    while n > 0:
        vs.insert(0, 1)
        vs = vs[::-1] if n % 3 == 0 else list(vs)
        vs[0] += n
        first += vs[0] + vs[-1]
        n -= 1
    return first, len(vs), sum(k * v for k, v in enumerate(vs[:]))


def merged(left, right):
    made, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            made.append(left[i])
            i += 1
        else:
            made.append(right[j])
            j += 1
    return made + left[i:] + right[j:]


def halves(xs):
    if len(xs) < 2:
        return xs
    middle = len(xs) // 2
    return merged(halves(xs[:middle]), halves(xs[middle:]))


@program
def sorted_by_merging(im: Image, p: Position):
    xs = halves([im(p + (i, 0)) for i in range(5)])
    return tuple(xs[i] for i in range(4))


@program
def rounds_that_steps_of_several_sizes_count(ints: Image, p: Position):
    n, steps = abs(ints(p)) % 20, []
    while n > 0:
        if n % 3 == 0:
            n -= 3
            steps.append(3)
        else:
            n -= 1
            steps.append(n)
    return len(steps), sum((i + 1) * v for i, v in enumerate(steps))


@program
def rounds_that_a_list_counts_which_grows_and_shrinks(ints: Image, p: Position):
    stack, met = [abs(ints(p)) % 5], []
    while stack:
        n = stack.pop()
        met.append(n)
        if n > 2:
            stack.append(n - 1)
        if n > 3:
            stack.append(n - 2)
    return len(met), sum((i + 1) * v for i, v in enumerate(met))


@program
def rounds_left_in_the_middle(counts: Image, p: Position):
    i, met = 0, []
    while True:
        met.append(i * i)
        i += 1
        if i >= counts(p) % 4 + 2:
            break
        met.append(-i)
    return len(met), sum((k + 1) * v for k, v in enumerate(met))


@program
def ways_through_a_graph_of_names(counts: Image, p: Position):
    ways = {"a": "bc", "b": "cd", "c": "ad", "d": "a"}
    here, met = "abcd"[counts(p) % 4], set()
    while here not in met:
        met.add(here)
        here = ways[here][len(met) % len(ways[here])]
    return len(met), "a" in met, here == "c"


@program
def copies_of_lists_that_loops_made_longer_grow_in_turn(im: Image, p: Position):
    first = [7 + p.y, 1]
    for i in range(p.x % 3):
        first.append(i + 5)
    second = list(first)
    third = first.copy()
    if p.y % 2 == 0:
        first = list(first)
    for i in range(p.x % 3):
        second.append(i + 11)
        first.append(i)
    for i in range(p.y % 4):
        third.append(i + 3)
    return (
        *(len(first), sum(first), len(second), sum(second), second[-1]),
        *(len(third), sum(third), third[-1]),
    )
