"""Containers of the library: collections, copies, namespaces, what dataclasses are taken apart to."""

import array
import collections
import copy
import dataclasses
import operator
import struct
import types

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec3

program = Suite()


@dataclasses.dataclass
class Ray:
    origin: float
    parts: list = dataclasses.field(default_factory=list)


@program
def namespace(im: Image, p: Position):
    o = types.SimpleNamespace(a=1, b=im(p))
    o.a += 2
    o.c = o.b * 2
    if im(p) > 0:
        o.a = 7
    return o.a + o.b + o.c


@program
def deque_of_bounded_length(im: Image, p: Position):
    d = collections.deque(maxlen=3)
    for i in range(5):
        if im(p + (i, 0)) > 0:
            d.append(im(p + (i, 0)))
        else:
            d.append(0.0)
    d.rotate(-1)
    d[0] += 1
    return sum(d) * d[0] + max(d) + len(d) + d.pop() + d.popleft()


@program
def deque_at_both_ends(im: Image, p: Position):
    d = collections.deque([1, im(p)])
    d.appendleft(3)
    d.extendleft([4, 5])
    d.remove(3)
    place = d.index(4)
    d.rotate()
    return list(d)[0] * 100 + d[1] * 10 + d[-1] + (4 in d) + place


@program
def defaultdict_of_lists(im: Image, p: Position):
    d = collections.defaultdict(lambda: [0.0, 1])
    for i, name in enumerate("abab"):
        d[name][0] += im(p + (i, 0))
        d[name][1] *= 2
    e, f = dict(d), {**d}
    return d["a"][0] * d["b"][1] + len(e) + f["b"][0] + sum(x for x, _ in d.values()) + ("q" in d)


@program
def counter(im: Image, p: Position):
    c = collections.Counter(a=1)
    c.update("ab")
    c["z"] += im(p)
    if im(p) > 0:
        c["a"] += 5
    known = collections.Counter("abracadabra").most_common(1)[0][1]
    return c["a"] + c["b"] * 10 + c["z"] + c["none"] + c.total() + len(c) + known


@program
def ordered_dict(im: Image, p: Position):
    d = collections.OrderedDict()
    d["x"] = im(p)
    d["y"] = 2
    d.move_to_end("x")
    key, value = d.popitem()
    return value + len(d) + (key == "x")


@program
def shallow_and_deep_copies(im: Image, p: Position):
    a = [im(p), [1, 2]]
    b, c = copy.copy(a), copy.deepcopy(a)
    b[0] = 5.0
    b[1].append(3)
    c[1].append(4)
    v = Vec3(im(p))
    w = copy.copy(v)
    w.x = 9
    return a[0] + len(a[1]) + 10 * len(c[1]) + b[0] + v.x + w.x


@program
def deep_copy_of_a_graph(im: Image, p: Position):
    ray = Ray(im(p), [1.0])
    ray.parts.append(ray)
    other = copy.deepcopy(ray)
    other.origin = 4.0
    other.parts[0] = 2.0
    return ray.origin + ray.parts[0] * 10 + other.parts[1].origin * 100


@program
def dataclasses_taken_apart(im: Image, p: Position):
    ray = Ray(im(p), [Ray(2.0), 3.0])
    origin, parts = dataclasses.astuple(ray)
    named = dataclasses.asdict(ray)
    named["parts"].append(1)
    names = [field.name for field in dataclasses.fields(ray)]
    other = dataclasses.replace(ray, origin=im(p + (1, 0)))
    return origin + parts[0][0] + named["parts"][0]["origin"] + len(names) + other.origin


@program
def methods_of_classes(im: Image, p: Position):
    xs = [im(p), 2.0]
    list.append(xs, 3.0)
    operator.setitem(xs, 0, 4.0)
    xs = operator.iadd(xs, [im(p)])
    return sum(xs) + len(xs) + dict.get({"a": im(p)}, "a")


@program
def sets_and_dicts(im: Image, p: Position):
    s = {1, 2, 3}
    d = {"a": im(p), "b": 2}
    key, value = d.popitem()
    return (
        len(s.union([7], [8])) * im(p) + s.issuperset({2}) + len(s.symmetric_difference({1, 9}))
        + value + len(d) + (key == "b") + len(s - {1}) + len(s.intersection([2, 5]))
    )  # fmt: skip


@program
def text_of_known_objects(im: Image, p: Position):
    return len(str([1, 2])) * im(p) + len(repr({"a": 1})) + len(f"{[1]!r:>9}")


@program
def groups_by_a_dynamic_key_in_a_list_of_pairs(im: Image, p: Position):
    runs = []
    for k in range(5):
        v = im(p + (k, 0))
        key = v > 0.25
        if runs and runs[-1][0] == key:
            runs[-1] = (key, runs[-1][1] + v)
        else:
            runs.append((key, v))
    return len(runs), runs[0][1], max(total for _, total in runs)


def _filled(size):
    table = bytearray(size)
    for i in range(size):
        table[i] = i * 7 & 255
    return table


@program
def bytes_of_dynamic_ints(counts: Image, p: Position):
    n = counts(p) - 2
    table = _filled(16)
    table[3] = counts(p) & 255
    table += n.to_bytes(2, "little", signed=True)
    packed = bytearray(4)
    struct.pack_into("<f", packed, 0, 1.0)
    bits = struct.unpack_from("<I", packed)[0] + len(packed.hex())
    pair = bytes([counts(p) & 255, 3])
    signed = int.from_bytes(table[16:], "little", signed=True)
    return table[p.x + p.y], sum(table), signed, bits + int.from_bytes(pair)


@program
def arrays_of_one_kind_of_number(counts: Image, p: Position):
    a = array.array("i", range(6))
    a[counts(p) % 6] += 5
    b = a[1:4]
    b.reverse()
    a[0:2] = array.array("i", [7, 8])
    weights = array.array("d", [0.5, 1.5])
    weights.append(counts(p))
    kinds = isinstance(b, array.array) + 2 * isinstance(a, list)
    return b[0] + b[1] * 10, sum(a), kinds, a.itemsize, float(np.mean(weights))


@program
def one_nan_is_itself_in_containers(im: Image, p: Position):
    x = float("nan") if im(p) > 0 else 1.0
    y = x + 0
    return [x].count(x), [x] == [x], (x,) < (x, 1), {1: x} == {1: x}, x in [x], [x] == [y], x == x
