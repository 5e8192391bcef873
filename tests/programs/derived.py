"""Classes that derive from list, dict and the containers of `collections`: what is done to their
objects under a condition happens where it holds, and their classes are what they are in Python."""

import collections
import heapq
import json
import queue

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


class Numbered(dict):
    def __missing__(self, key):
        self[key] = number = len(self) + 1
        return number


class Hits(dict):
    def __init__(self, *mapping, **named):
        super().__init__(*mapping, **named)
        self.hits = 0

    def __getitem__(self, key):
        self.hits += 1
        return dict.__getitem__(self, key)

    def touch(self, key):
        self[key] = self.get(key, 0) + 1


class Tree(dict):
    def __missing__(self, key):
        value = self[key] = type(self)()
        return value


class Stack(list):
    def push(self, value):
        self.append(value)

    @property
    def top(self):
        return self[-1]


class Doubled(Stack):
    def __getitem__(self, index):
        found = super().__getitem__(index)
        return found if isinstance(index, slice) else found * 2


class Slotted(list):
    __slots__ = ("bias",)

    def __init__(self, *items):
        list.__init__(self, items)
        self.bias = 5


class Reel(collections.deque):
    def put(self, value):
        self.append(value)
        return len(self)


class Bag(collections.Counter):
    def bump(self, key):
        self[key] += 1


class Defaults(collections.defaultdict):
    def __missing__(self, key):
        return super().__missing__(key) + 1


class Plain(dict):
    pass


class Raised(Plain):
    def __setitem__(self, key, value):
        super().__setitem__(key, value + 1)


def numbered():
    return Numbered(a=3)


def changed(table):
    table["new"] = 5
    table.pop("a")
    return table


@program
def missing_under_a_condition(im: Image, p: Position):
    numbers, others, found = Numbered(), numbered(), 0
    if im(p) > 0:
        found = numbers["a"]
    while found < p.x:
        found += others["c"] + 1
    return found, len(numbers), len(others), numbers["b"]


@program
def methods_of_derived_dicts(im: Image, p: Position):
    hits, tree = Hits(a=1), Tree()
    tree["a"]["b"] = im(p)
    if p.x > 2:
        hits.touch("a")
        tree["a"]["c"] = hits["a"]
    return hits["a"], hits.hits, tree["a"]["b"] + len(tree)


@program
def derived_lists(im: Image, p: Position):
    stack, doubled, slotted = Stack([1, 2]), Doubled([3, im(p)]), Slotted(1, 2)
    stack.push(p.x)
    if p.y > 1:
        doubled[1] = 9
        stack += [7] if len(stack) == 0 else []
        slotted.bias += 1
    return stack.top, doubled.top + sum(doubled), len(doubled[1:]) + slotted.bias, max(stack)


@program
def operators_of_derived_lists(im: Image, p: Position):
    first = Stack([3, 1, 2])
    first.sort()
    copied, part, both = first.copy(), first[:], first + [p.x]
    copied.append(5)
    first.extend(part)
    first.insert(0, 9)
    first.reverse()
    first.remove(3)
    del first[0]
    return (
        first == [1, 3, 2, 1, 9],
        len(copied) * 10 + len(both),
        isinstance(both, Stack) or [1, 2, 3] != part,
        first.index(3) + first.count(1) + (2 in first) * 10 + (first < [1, 4]) * 100,
    )


@program
def operators_of_derived_dicts(im: Image, p: Position):
    table = Numbered(a=1)
    same = table
    same["b"] = im(p)
    united, copied = table | {"c": 2}, {**table, "d": 2}
    table |= {"e": 3}
    return len(united) + 10 * len(copied), table == same, table.get("no", p.x), sum(table.values())


@program
def derived_from_collections(im: Image, p: Position):
    ring, bag, defaults = Reel([1, 2]), Bag("aab"), Defaults(int)
    if im(p) > 0:
        ring.put(im(p))
        ring.popleft()
        bag.bump("a")
    if p.y > 1:
        defaults["q"] += 2
    return ring[0] + ring[-1], bag["a"] + bag["no"], len(defaults), defaults["q"]


@program
def classes_of_derived(im: Image, p: Position):
    raised = Raised()
    raised["a"] = p.x
    raised.update(c=2)
    return (
        raised["a"] + raised["c"] * 10,
        isinstance(raised, Plain) and isinstance(raised, dict) and type(raised) is Raised,
        isinstance(collections.deque([p.x]), collections.deque),
        isinstance(collections.defaultdict(int), dict)
        and type(collections.Counter([1])) is collections.Counter
        and isinstance(collections.OrderedDict(), collections.abc.Mapping),
    )


@program
def derived_in_python(im: Image, p: Position):
    table, stack = Numbered(a=1, b=2), Stack([3, 1, 2])
    ordered = collections.OrderedDict(b=1, a=2)
    texts = json.dumps(table), str(collections.deque([1, 2])), f"{collections.Counter('aab')}"
    other = changed(table)
    ordered.move_to_end("b")
    if p.x > 1:
        other["b"] = 9
    return (
        sum(map(len, texts)) + len(repr(ordered)),
        table["b"] + table["new"] * 10 + (other is table) * 100 + len(table) * 1000,
        np.cumsum(stack)[-1] + stack[0] + p.x,
        list(ordered) == ["a", "b"],
    )


@program
def a_derived_class_in_the_function(im: Image, p: Position):
    class Summed(list):
        def total(self):
            return sum(self) + im(p)

    summed = Summed([1, 2])
    if p.x > 2:
        summed[0] = p.y
    return summed.total()


class Twice(list):
    def __getitem__(self, index):
        return list.__getitem__(self, index) * 2


@program
def what_is_written_in_c_asks_no_overriding_method(im: Image, p: Position):
    heap = Twice([3.0, im(p), 2.0])
    array = np.asarray(heap) * 2
    heapq.heapify(heap)
    heapq.heappush(heap, 0.25)
    least = heapq.heappop(heap), heapq.heappushpop(heap, 0.5), heapq.heapreplace(heap, 1.5)
    last = collections.deque([1.0, im(p), 2.0], maxlen=2)
    return *least, np.sum(heap), array[0] + array.sum(), np.mean(last), heap[0]


class Board(list):
    def __init__(self, size):
        super().__init__([0] * size)
        self.data = size  # a name that other classes have for what they hold

    def __len__(self):
        return self.data * 10


class Window(collections.deque):
    def __init__(self, size):
        super().__init__(maxlen=size)
        self.items = "abc"


@program
def fields_of_any_name(counts: Image, p: Position):
    ring, window = Board(3), Window(2)
    ring[1] = counts(p)
    for c in (1, counts(p), 3):
        window.append(c)
    return sum(ring) + ring.data, len(ring), len(window.items) * 10 + window[0]


@program
def counters_are_added_and_compared(counts: Image, p: Position):
    here = collections.Counter([counts(p), counts(p + (1, 0)), counts(p + (0, 1))])
    there = collections.Counter({1: 2, 3: 1, 9: -2})
    same, both = here, here + there
    left = here - there
    here |= collections.Counter([4, 4])
    inside = collections.Counter([4]) < same, same <= there, here >= there, here > both
    return both.total(), left.total(), (here & there).total(), (-there)[9] + len(+there), *inside


@program
def words_are_anagrams(counts: Image, p: Position):
    word = "listen" if counts(p) > 2 else "silence"
    missing = collections.Counter("silent") - collections.Counter(word)
    stock = collections.Counter(apples=counts(p), pears=2)
    stock += collections.Counter(apples=-3, plums=1)
    return len(missing), stock["apples"] * 10 + stock["plums"] + len(stock) * 100


class Missing(collections.Counter):
    def __missing__(self, key):
        return 5


class Capped(collections.Counter):
    def __setitem__(self, key, count):
        super().__setitem__(key, min(count, 2))


class Doubling(collections.deque):
    def append(self, value):
        super().append(2 * value)


class SetDoubled(collections.OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, 2 * value)


class OneMore(dict):
    def __getitem__(self, key):
        return super().__getitem__(key) + 1


class Logged(collections.defaultdict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value + 1)


@program
def counters_ask_what_is_missing(counts: Image, p: Position):
    seen = Missing([1, 1, counts(p)])
    return seen[9], seen[counts(p)], Missing([1, 1])[counts(p)]


@program
def counters_set_by_their_class(counts: Image, p: Position):
    seen = Capped([1, 1, 1, counts(p) % 2])
    seen.update([1])
    seen.subtract([0])
    return seen[1], seen[0], type(seen.copy()) is Capped


@program
def deques_do_not_ask_append(im: Image, p: Position):
    some = Doubling([im(p)])
    some.append(1.0)
    some.extend([im(p)])
    some += [im(p)]
    return some[0], some[1], some[2], some[3], (some + some)[1]


@program
def ordered_dicts_ask_how_to_set(im: Image, p: Position):
    some = SetDoubled(a=im(p))
    some.update(b=2)
    some["c"] = 3
    return some["a"], some["b"], some["c"], dict(some)["c"]


@program
def dicts_of_dicts_ask_nobody(im: Image, p: Position):
    some = OneMore(a=im(p), b=3)
    return sum(dict(some).values()), some["a"], some.get("a"), sum(some.values()), some.pop("b")


@program
def what_is_missing_is_set_by_the_class(im: Image, p: Position):
    some = Logged(int)
    some["a"] += im(p)
    return some["a"], some["b"], len(some)


@program
def dicts_of_what_has_dynamic_keys(counts: Image, p: Position):
    seen = collections.defaultdict(int)
    for i in range(6):
        seen[counts(p + (i, 0)) % 3] += 1
    made = dict(seen)
    made.update(collections.Counter([counts(p) % 3]))
    return len(made), sum(made.values()), made.get(1, 9)


class Attributes(dict):
    """Its items by name, as many have it."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name)  # noqa: B904

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        del self[name]


class Dotted(collections.defaultdict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


class Kept(list):
    def __setattr__(self, name, value):
        super().__setattr__(name, 2 * value)


class Sealed(collections.deque):
    def __setattr__(self, name, value):
        raise AttributeError(name)


@program
def items_are_attributes(im: Image, p: Position):
    some = Attributes(y=2, inner=Attributes(c=im(p)))
    some.x = im(p)
    some.x += 1
    del some.y
    return some["x"], len(some), some.inner.c, hasattr(some, "q"), getattr(some, "q", 5)


@program
def setters_of_builtin_classes(im: Image, p: Position):
    some = Dotted(int, a=1)
    some.x = im(p)
    some["y"] += 2
    del some.a
    return some["x"], some.y, len(some)


@program
def setters_do_not_see_what_is_held(im: Image, p: Position):
    some, last = Kept([im(p), 1]), Sealed([im(p)], maxlen=2)
    some.append(3)
    some.name = 4
    some *= 2
    last.append(1)
    last.append(2)
    return len(some), some.name, len(last), last[0], last.maxlen


class OrderedWithMissing(collections.OrderedDict):
    def __missing__(self, key):
        return 5


@program
def ordered_dicts_ask_what_is_missing(counts: Image, p: Position):
    some = OrderedWithMissing(a=counts(p))
    return some["a"], some["b"], OrderedWithMissing({1: 2, 3: 4})[counts(p)]


@program
def queues(ints: Image, counts: Image, p: Position):
    q, stack, least = queue.Queue(), queue.LifoQueue(), queue.PriorityQueue()
    for k in range(4):
        if ints(p + (k, 0)) > 0:
            q.put(ints(p + (k, 0)))
            least.put((ints(p + (k, 0)) % 7, k))
        stack.put(k * counts(p))
    total = 0
    while not q.empty():
        total = total * 3 + q.get()
    first = least.get()[1] if least.qsize() else -1
    try:
        total += q.get_nowait()
    except queue.Empty:
        total += 1000
    return total, first, stack.get(), stack.qsize(), q.qsize(), least.empty()


@program
def breadth_first_by_a_queue(counts: Image, p: Position):
    q = queue.SimpleQueue()
    q.put((counts(p) % 5, 0))
    seen, far = set(), 0
    for _ in range(12):
        if q.empty():
            break
        node, depth = q.get()
        if node in seen:
            continue
        seen.add(node)
        far = depth
        for other in ((node * 2) % 7, (node + 3) % 7):
            q.put((other, depth + 1))
    return far, len(seen)
