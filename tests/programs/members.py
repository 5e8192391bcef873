"""Sets and dicts whose members only the device knows."""

import collections
import itertools

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


def window(counts, p):
    return [counts(p + (i, j)) for j in range(-1, 2) for i in range(-1, 2)]


@program
def how_many_are_different(counts: Image, p: Position):
    return len(set(window(counts, p))), len({counts(p), 3, counts(p + (1, 0))})


@program
def cycle_of_a_sequence(counts: Image, p: Position):
    n, seen = counts(p) + 5 * p.x, {}
    for i in range(40):
        if n in seen:
            return i - seen[n]
        seen[n] = i
        n = (n * n + p.y) % 31
    return -1


@program
def set_that_grows_in_a_loop_of_the_device(counts: Image, p: Position):
    n, seen = abs(counts(p)), set()
    for _ in range(64):
        if n in seen:
            break
        seen.add(n)
        n = (n * 5 + 1) % 97
    return len(seen), 1 in seen


@program
def cells_that_a_walk_visits(counts: Image, p: Position):
    x, y, seen = 0, 0, {(0, 0)}
    for c in window(counts, p):
        if c % 3 == 0:
            x += 1
        elif c % 3 == 1:
            y -= 1
        else:
            x -= 1
        seen.add((x, y))
    return len(seen), (1, 0) in seen


@program
def most_common_of_a_window(counts: Image, p: Position):
    counted = collections.Counter([c % 4 for c in window(counts, p)])
    value, times = counted.most_common(1)[0]
    return value, times, len(counted), counted[2], counted.total()


@program
def mode_by_a_dict(counts: Image, p: Position):
    times = {}
    for c in window(counts, p):
        times[c % 5] = times.get(c % 5, 0) + 1
    best = max(times, key=times.get)
    return best, times[best], min(times.values())


@program
def counts_by_default(counts: Image, p: Position):
    times = collections.defaultdict(int)
    for c in window(counts, p):
        times[c % 3] += 1
    return times[0], sum(times.values()), max(times)


@program
def groups_of_lists(counts: Image, p: Position):
    groups = collections.defaultdict(list)
    for c in window(counts, p):
        groups[c % 2].append(c)
    return len(groups), len(groups[0]), sum(groups[1])


@program
def two_that_add_up(counts: Image, p: Position):
    seen = {}
    for i, c in enumerate(window(counts, p)):
        if 4 - c in seen:
            return seen[4 - c] * 10 + i
        seen[c] = i
    return -1


@program
def operators_of_sets(counts: Image, p: Position):
    a = {counts(p) % 4, p.y % 4, 2}
    b = {counts(p + (1, 0)) % 3, 7, (p.x + p.y) % 4}
    sizes = len(a & b) + 10 * len(a | b) + 100 * len(a - b) + 1000 * len(a ^ b)
    tests = (a <= b) + 2 * a.isdisjoint(b) + 4 * (a == b) + 8 * ({2} < a) + 16 * a.issuperset([2])
    c = a.copy()
    c &= {2, 3}
    c.update(b, [5])
    return sizes, tests, sum(a | b), len(c)


@program
def members_that_go(counts: Image, p: Position):
    s = set(range(6))
    s.discard(counts(p))
    s.discard(p.y + 1)
    s.add(2)
    s -= {p.x}
    return len(s) * 100 + sum(s), 3 in s, max(s, default=-1)


@program
def popped_by_a_dynamic_key(counts: Image, p: Position):
    d = {1: 10, 2: 20, 3: 30, 4: 40}
    v = d.pop(counts(p), 0) + d.pop(p.y, 0)
    d[p.x] = 5
    return v + len(d) * 1000, list(d)[-1], list(d.values())[0], d.popitem()[1]


@program
def deleted_by_a_dynamic_key(counts: Image, p: Position):
    d = {counts(p): 1, p.y: 2, 99: 3}
    del d[p.y]
    if 5 in d:
        d[5] += 4
    return len(d) * 10 + sum(d.values()), sum(d)


@program
def key_that_a_dict_had_not(counts: Image, p: Position):
    d = {0: 1, 1: 2, 2: 5}
    d[counts(p)] = 7
    return len(d), sum(d.values()), sum(d)


@program
def order_of_insertion(counts: Image, p: Position):
    d = {}
    for i, c in enumerate(window(counts, p)):
        d[c % 4] = i
    d.pop(1, None)
    d[1] = 100
    t = 0
    for k, v in d.items():
        t = (t * 3 + k * v) % 1000
    for k in d:
        t = (t * 5 + k) % 1000
    return t, list(dict.fromkeys(window(counts, p)))[0]


@program
def default_where_there_is_none(counts: Image, p: Position):
    d, t = {}, 0
    for i, c in enumerate(window(counts, p)):
        t += d.setdefault(c % 4, i)
    return t, d.get(3, -1), d.get(counts(p) % 4, -2)


@program
def key_of_one_path(im: Image, p: Position):
    d = {"a": 1}
    if im(p) > 0.5:
        d["b"] = p.y
    if p.y > 2:
        d["c"] = 4
    return d.get("b", -1), len(d), sum(d.values()), "c" in d


@program
def set_of_one_path(im: Image, p: Position):
    s = {1, 2}
    if im(p) > 0.5:
        s.add(5)
    return len(s), sum(s), 5 in s


@program
def words_that_are_counted(counts: Image, p: Position):
    words, times = ["a", "b", "a", "c"], {}
    for c in window(counts, p):
        word = words[c % 4]
        times[word] = times.get(word, 0) + 1
    return times.get("a", 0), len(times), max(times.values())


@program
def dicts_of_pairs(counts: Image, p: Position):
    d = dict(zip([counts(p), p.y, 3], [1, 2, 3], strict=True))
    e = {k: v * 2 for k, v in zip((p.x % 2, 1), (5, 6), strict=True)}
    return d[3], len(d), e[1], len({**d, 7: 1} | e), d == {3: 3, 1: 1, 0: 2}


@program
def sorted_members(counts: Image, p: Position):
    t = 0
    for v in sorted({c % 7 for c in window(counts, p)}):
        t = (t * 7 + v) % 1000
    return t, sum(v * v for v in sorted({p.x, p.y}))


@program
def histogram_in_a_dynamic_loop(counts: Image, p: Position):
    d = {i: 0 for i in range(4)}
    for j in range(p.x + p.y):
        d[(counts(p) + j * j) % 4] += 1
    return d[0], d[1], d[2]


@program
def errors_of_members(counts: Image, p: Position):
    d, s, t = {counts(p): 1, p.y: 5}, {p.x, p.y}, 0
    try:
        t += d[3]
    except KeyError:
        t += 10
    try:
        s.remove(3)
    except KeyError:
        t += 100
    try:
        del d[p.x]
    except KeyError:
        t += 1000
    try:
        d.pop(p.y + 1)
    except KeyError:
        t += 10000
    return t, len(d), len(s)


class Memo:
    def __init__(self):
        self.made = {}
        self.asked = set()

    def square(self, n):
        if n in self.made:
            return self.made[n]
        self.made[n] = n * n % 7
        self.asked.add(n % 2)
        return self.made[n]


@program
def memo_of_an_object(counts: Image, p: Position):
    memo = Memo()
    t = sum(memo.square(c % 5) for c in window(counts, p))
    return t, len(memo.made), len(memo.asked)


@program
def one_of_several_sets(counts: Image, p: Position):
    sets = [set() for _ in range(3)]
    sets[counts(p) % 2].add(p.y)
    sets[p.y % 3].add(p.x)
    dicts = {0: {}, 1: {}}
    dicts[p.x % 2][counts(p)] = 4
    return len(sets[0]), len(sets[1]), len(dicts[0])


@program
def equal_counts(counts: Image, p: Position):
    a = collections.Counter([c % 3 for c in window(counts, p)])
    b = collections.Counter([c % 3 for c in window(counts, p + (1, 0))])
    d = collections.OrderedDict()
    for c in window(counts, p)[:4]:
        d[c % 3] = c
        d.move_to_end(c % 3)
    x, y = collections.deque([p.x, 1]), collections.deque([p.y, 1])
    return a == b, set(a) == set(b), list(d)[-1], x == y


@program
def keys_by_what_is_counted(counts: Image, p: Position):
    seen, found = collections.defaultdict(int), collections.Counter(window(counts, p)[:4])
    for n in window(counts, p)[:4]:
        seen[n] += 1
    return (
        max(seen, key=seen.get),
        sorted(found, key=found.get)[0],
        min(found, key=lambda n: -found[n]),
    )


@program
def keys_and_items_as_sets(counts: Image, p: Position):
    d = {counts(p + (i, 0)) % 3: i for i in range(4)}
    e = {1: p.x, 2: 5}
    return (
        *(len(d.keys() & {1, 2}), sum(d.keys() | {7, 1}), sum(d.keys() - {0})),
        *(sum(d.keys() ^ {0, 9}), len({1, 2} & d.keys()), sum({1, 5} - d.keys())),
        *(d.keys() >= {1}, d.keys() == {0, 1}, d.keys() < {0, 1, 2, 3}, len(d.keys() & [1, 2])),
        *(d.keys().isdisjoint({1}), d.keys() == e.keys(), len(d.items() & {(1, 2), (0, 3)})),
        *(len(d.items() - e.items()), len(e.items() & {(1, 2), (2, 5)}), e.items() <= {(1, 2)}),
        *({2: 5, 1: p.x}.items() == e.items(), len(e.keys() & [1, 1]), e.keys().isdisjoint([p.x])),
    )


@program
def keys_of_a_chosen_dict(counts: Image, p: Position):
    roads = {0: {1: 4, 2: 1}, 1: {3: 1}, 2: {1: 2, 3: 5}, 3: {}}
    road = roads[counts(p) % 4]
    return sum(road.keys()), len(road.keys() & {1, 3}), sum(k * v for k, v in road.items())


@program
def dicts_backwards(counts: Image, p: Position):
    d = {counts(p + (i, 0)) % 3: i for i in range(4)}
    numbered = sum(k * i for i, k in enumerate(reversed(d)))
    last = next(reversed(d)), next(reversed(d.values())), *list(reversed(d.items()))[0]
    return *last, numbered, list(reversed(d))[0], list(reversed(d.keys()))[-1], next(reversed(d))


@program
def folds_of_what_is_made_of_members(counts: Image, p: Position):
    s = {(counts(p + (i, 0)) % 3, i) for i in range(4)}
    t = {counts(p + (i, 0)) for i in range(5)}
    return (
        *(any(y == 3 for _, y in s), all(a < 2 for a, _ in s), max(a + b for a, b in s)),
        *(min(a * b for a, b in s), len({(b, a) for a, b in s}), sum(1 for t in s if t[0] == 2)),
        *(
            sum(a for a, _ in s),
            sorted(v * 2 % 5 for v in t)[-1],
            max((v for v in t if v > 9), default=0),
        ),
        *(len(set(v // 2 for v in t)), {v % 2 for v in t} == {0, 1}, sum(v % 2 == 0 for v in t)),
    )


@program
def neighbours_of_living_cells(counts: Image, p: Position):
    live = {(counts(p + (i, 0)) % 3, i % 2) for i in range(4)}
    near = {(x + dx, y) for x, y in live for dx in (-1, 1)}
    grown = {cell for cell in near if sum((cell[0] + d, cell[1]) in live for d in (-1, 1)) == 2}
    return len(near), len(live | grown), sum((x + 1, y) in live for d in (0, 1) for x, y in live)


@program
def pairs_after_an_entry_by_a_choice_of_keys(counts: Image, p: Position):
    a, b, entries, result = counts(p) % 5, [0, p.y], {0: 1, 2: counts(p)}, 0
    if a < p.x <= b[a % 2] + 2:
        pass
    else:
        entries[(counts(p + (1, 0)) if 1 < a <= p.x else p.y) % 4] = a * entries.get(p.x % 4, 1)
    try:
        pass
    except ValueError:
        pass
    for key, value in entries.items():
        result = result * 2 + key + value
    return result


@program
def members_mapped_and_filtered(counts: Image, p: Position):
    s = {counts(p + (i, 0)) for i in range(5)}
    return (
        *(sum(map(lambda v: v * 2, s)), max(map(abs, s)), any(map(lambda v: v > 5, s))),
        *(len(set(map(lambda v: v // 2, s))), sorted(map(lambda v: -v, s))[0]),
        *(
            sum(filter(lambda v: v > 2, s)),
            max(itertools.filterfalse(lambda v: v % 2, s), default=0),
        ),
        5 in (v + 1 for v in s),
        *(sum(v * 3 for v in map(lambda v: v + 1, s)), len({*s}), len({*map(abs, s), 9})),
    )
