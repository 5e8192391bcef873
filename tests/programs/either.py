"""A name that may be any of several objects: what is changed through it is changed in these."""

import math
import operator

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2, Vec3

program = Suite()


class Ball:
    def __init__(self, x, y):
        self.x = x
        self.y = y
        self.pos = Vec2(x, y)
        self.log = [x]

    def move(self, d):
        self.x += d
        self.pos.x = self.pos.x + d


@program
def attribute_of_either_is_set(im: Image, p: Position):
    a = Ball(1.0, 2.0)
    d = Ball(3.0, 4.0)
    b = a if im(p) > 0.5 else d
    b.y = 7.0
    return a.y + 10 * d.y + 100 * b.y


@program
def method_changes_either_and_what_it_holds(im: Image, p: Position):
    a = Ball(1.0, 2.0)
    d = Ball(3.0, 4.0)
    b = a if im(p) > 0.5 else d
    b.move(im(p))
    a.x += 1
    b.pos.y += 2
    b.log[0] += 5
    return (
        a.x
        + 10 * d.x
        + 100 * b.x
        + a.pos.x
        + d.pos.x * 3
        + b.pos.y * 7
        + a.pos.y * 11
        + b.log[0]
        + 13 * a.log[0]
    )


@program
def either_of_two_lists_grows(im: Image, p: Position):
    xs = [1.0, 2.0]
    ys = [3.0, 4.0]
    zs = xs if im(p) > 0.3 else ys
    zs[0] = 9.0
    zs.append(im(p))
    zs += [5.0]
    zs.sort()
    return sum(xs) + 10 * sum(ys) + 100 * sum(zs) + len(xs) + 3 * zs[1]


@program
def object_at_a_dynamic_index_is_changed(im: Image, p: Position):
    balls = [Ball(float(i), 1.0) for i in range(4)]
    k = int(abs(im(p)) * 3.99) % 4
    balls[k].x = 50.0
    b = balls[k]
    b.y += 2
    balls[1].y += 1
    return sum(q.x + q.y * 3 for q in balls) + b.y * 100


@program
def nearest_object_is_counted(im: Image, p: Position):
    balls = [Ball(float(i), 0.0) for i in range(4)]
    for i in range(6):
        best = balls[0]
        for q in balls:
            if abs(q.x - im(p + (i, 0)) * 4) < abs(best.x - im(p + (i, 0)) * 4):
                best = q
        best.y += 1
    return balls[0].y + 10 * balls[1].y + 100 * balls[2].y + 1000 * balls[3].y


@program
def one_of_forty_objects_is_changed(im: Image, p: Position):
    balls = [Ball(0.1 + im(p) * i % 1.0, float(i)) for i in range(40)]
    best = balls[0]
    for ball in balls[1:]:
        if ball.x > best.x:
            best = ball
    best.y += 100.0
    balls[int(abs(im(p)) * 39.9) % 40].y -= 7.0
    return sum(ball.y * (1 + i) for i, ball in enumerate(balls)) / 100 + best.x


@program
def either_is_changed_in_a_loop(im: Image, p: Position):
    a = Ball(1.0, 2.0)
    d = Ball(3.0, 4.0)
    b = a if im(p) > 0.5 else d
    for i in range(p.x + 1):
        b.x += i
        b = d if im(p + (i, 0)) > 0.5 else a
    return a.x * 10 + d.x + b.x * 100


@program
def which_of_two_it_is(im: Image, p: Position):
    a = Ball(1.0, 2.0)
    d = Ball(3.0, 4.0)
    b = a if im(p) > 0.5 else d
    return (1 if b is a else 0) + (2 if b is d else 0) + (4 if b is not a else 0)


@program
def either_of_two_dicts_is_updated(im: Image, p: Position):
    u = {"k": 1.0}
    v = {"k": 2.0}
    w = u if im(p) > 0.5 else v
    w["k"] += 3
    w.update(k=w["k"] * 2)
    return u["k"] + 10 * v["k"] + 100 * w["k"]


@program
def either_of_two_arrays_is_changed(im: Image, p: Position):
    a = np.array([im(p), 1.0])
    d = np.array([2.0, im(p)])
    b = a if im(p) > 0.5 else d
    b[0] = 5
    b += 1
    return float(a.sum() + 10 * d.sum() + 100 * b.sum())


@program
def either_of_two_vectors_is_changed(im: Image, p: Position):
    a = Vec2(1, 2)
    d = Vec2(3, 4)
    b = a if im(p) > 0.5 else d
    b.x = 9
    b[1] = 7
    return a.x + 10 * d.x + 100 * b.x + a.y + 10 * d.y


def swap(h):
    h.x, h.y = h.y, h.x


@program
def one_of_three_is_changed_by_a_function(im: Image, p: Position):
    a = Ball(1.0, 2.0)
    d = Ball(3.0, 4.0)
    c = Ball(5.0, 6.0)
    b = a if im(p) > 0.6 else d if im(p) > 0.3 else c
    swap(b)
    a.move(1)
    e = b if im(p + (1, 0)) > 0.5 else a
    e.x += 20
    return a.x + 10 * d.x + 100 * c.x + 1000 * b.x + e.x


@program
def object_or_none_is_changed(im: Image, p: Position):
    a = Ball(1.0, 2.0)
    h = None
    if im(p) > 0.5:
        h = a
    if h is not None:
        h.y += im(p)
    return a.y + (h.y if h is not None else 0)


class Shape2(Ball):
    def move(self, d):
        self.x -= d


@program
def either_of_two_classes_is_changed(im: Image, p: Position):
    a = Ball(1.0, 2.0)
    d = Shape2(3.0, 4.0)
    b = a if im(p) > 0.5 else d
    b.move(2)
    b.y = 1
    return a.x + 10 * d.x + 100 * b.x + 1000 * a.y + b.y + d.y * 3


@program
def item_at_a_dynamic_index_is_changed(im: Image, p: Position):
    vs = [Vec2(1.0, im(p)), Vec2(2.0, 3.0)]
    v = vs[p.x % 2]
    v.x = 9.0
    return vs[0] + vs[1]


@program
def one_that_a_loop_has_left_behind(im: Image, p: Position):
    a, b = Ball(1.0, 2.0), Ball(3.0, im(p))
    c, balls = a, [a, b, Ball(im(p), 7.0)]
    balls[p.x % 3].move(im(p + (3, 3)))
    for _ in range(p.x % 3):
        c = balls[2]
    total = balls[0].x + b.pos.x * 3 + balls[p.x % 3].log[0]
    c = balls[0] if im(p + (1, 1)) > 0.25 else a
    total += c.x + b.pos.x * 3
    a.pos.y += im(p + (1, 2))
    c = balls[2]
    b.pos = Vec2(im(p + (1, 3)), total)
    c.x = im(p + (1, 2))
    return total + c.x, a.x + a.pos.y * 3, sum(ball.x + ball.pos.y for ball in balls)


@program
def vector_or_one_made_on_a_path(im: Image, p: Position):
    v = Vec3(im(p), 2.0, 3.0)
    r = v if im(p) > 0.5 else v.zyx
    r[p.x % 3] += 1
    r.y = p.y
    return r + 10 * v


@program
def list_or_one_made_on_a_path(im: Image, p: Position):
    xs = [1.0, im(p), 3.0]
    ys = xs if im(p) > 0.5 else [im(p), 5.0, 6.0]
    ys[1] += 1
    ys[p.x % 3] = 9.0
    xs[0] += 100
    return ys[0] + 10 * ys[1] + 100 * ys[2] + 1000 * xs[0] + xs[1]


@program
def object_or_one_made_on_a_path(im: Image, p: Position):
    a = Ball(1.0, im(p))
    b = a if im(p) > 0.5 else Ball(im(p), 4.0)
    b.move(im(p))
    b.pos.y += 2
    b.log.append(3)
    a.x += 1
    return a.x + 10 * b.x + 100 * a.pos.y + 1000 * b.pos.y + len(b.log) + 5 * len(a.log)


@program
def array_or_one_made_on_a_path(im: Image, p: Position):
    xs = np.array([1.0, im(p), 3.0])
    ys = xs if im(p) > 0.5 else xs * 2
    ys[p.y % 3] += 1
    ys += 1
    return ys[0] + 10 * ys[1] + 100 * ys[2] + 1000 * xs.sum()


@program
def two_names_of_one_made_on_a_path(im: Image, p: Position):
    v, w = Vec2(1.0, im(p)), Vec2(5.0, 6.0)
    r, s = v, w
    if im(p) > 0.5:
        r = v.yx
        s = r
    r.x += 1
    s.y += 10
    return r + 100 * s + 1000 * v + 10000 * w


@program
def nested_choices_of_made_ones(im: Image, p: Position):
    v = Vec2(1.0, im(p))
    if im(p) > 0.3:
        r = v.yx if im(p) > 0.6 else v
        r.x += 3
    else:
        r = v + 1 if p.x % 2 else v
    r.y += 1
    q = r if p.y % 2 else v
    q.x = 9.0
    return r + 10 * v + 100 * q


@program
def made_on_a_path_of_a_loop(im: Image, p: Position):
    v = Vec2(1.0, im(p))
    r = v
    for i in range(p.x % 4):
        r = v if i % 2 else v.yx
        r.x += i
        v.y += 1
    return r + 10 * v


@program
def made_one_in_a_list_too(im: Image, p: Position):
    v = Vec2(1.0, im(p))
    kept = [v, v]
    r = v
    if im(p) > 0.5:
        r = v.yx
        kept[0] = r
    kept[0].y += 2
    return r + 10 * kept[0] + 100 * v


def _counter():
    count, total = 0, 0.0

    def add(v):
        nonlocal count, total
        count += 1
        total += v
        return total * count

    return add


@program
def one_of_two_closures_counts(im: Image, counts: Image, p: Position):
    a, b = _counter(), _counter()
    for i in range(3):
        (a if im(p + (i, 0)) > 0.5 else b)(im(p + (i, 0)))
    for i in range(counts(p)):
        (a if (i + p.x) % 3 else b)(im(p) + i)
    return a(1.0), b(0.0)


@program
def lists_by_key_that_two_paths_begin(im: Image, p: Position):
    rows = {}
    if im(p) > 0:
        rows["a"] = [0]
    if p.x > 2:
        if "a" not in rows:
            rows["a"] = [0]
        row = rows["a"]
    else:
        if "b" not in rows:
            rows["b"] = [0]
        row = rows["b"]
    row[0] = 2
    row.append(1)
    return sum(rows.get("a", [])), sum(rows.get("b", [])), len(row)


@program
def lists_that_change_places(im: Image, p: Position):
    a, b, c = [im(p)], [2], [3]
    if p.y > 1:
        c = a
        if p.y > 2:
            b.append(1)
    else:
        a, b = b, a
    c.append(1)
    return len(a), len(b), len(c)


@program
def object_of_one_path_that_holds_either(im: Image, p: Position):
    u = Ball(1.0, 2.0)
    v = Ball(im(p), 3.0)
    a, b = u.log, v.log
    w = u
    if p.x % 2 == 0:
        w = Ball(p.x, 1.0)
        w.log = b if im(p + (1, 0)) > 0 else u.log
    w.y = 5.0
    b.append(p.x)
    return w.y + sum(w.log) * 3, u.y, v.y, sum(a), sum(b)


@program
def list_made_on_a_path_and_kept(im: Image, p: Position):
    kept = []
    if im(p) > 0:
        w = [0]
        kept.append(w)
    else:
        w = [5]
    w[0] = 2
    return (kept[0][0] if kept else -1), len(kept), w[0]


@program
def change_of_one_that_may_be_another_after_rounds(im: Image, p: Position):
    u, v, w = Vec2(1.0, 2.0), Vec2(3.0, 4.0), Vec2(5.0, 6.0)
    for _ in range(p.x):
        u = v
        v = w
    u.x += 10.0
    return u + w


@program
def read_of_one_that_may_have_been_changed(im: Image, p: Position):
    u, v, w = Vec2(1.0, 2.0), Vec2(3.0, 4.0), Vec2(5.0, 6.0)
    for _ in range(p.x):
        u = v
        v = w
    w.x += 10.0
    return u + w


class Box:
    """All that its objects hold is known where they are made of numbers."""

    def __init__(self, v):
        self.v = v
        self.vec = Vec2(v, v)
        self.arr = np.array([v, v * 2.0])
        self.xs = [v]
        self.named = {"a": v}

    def set(self, v):
        self.v = v


def told(*boxes):
    total = 0.0
    for place, box in enumerate(boxes):
        own = box.v + box.vec.x * 2 + box.vec.y * 3 + box.arr[0] * 5 + box.arr[1] * 7
        total += (own + sum(box.xs) * 11 + len(box.xs) * 13 + box.named["a"] * 17) * (place + 1)
    return total


@program
def what_known_objects_hold_is_changed_by_index(counts: Image, p: Position):
    n = int(counts(p)) % 4
    a, b = Box(1.0), Box(2.0)
    boxes = [a, b, Box(3.0), a]
    box = boxes[n]
    other = boxes[(n + 1) % 4]
    box.vec.x = 9
    other.vec.x *= 3
    box.arr[0] = 4
    other.arr += 1
    box.xs.append(5.0)
    box.named["a"] = 6.0
    setattr(other, "v", n)
    row = box.arr
    a.arr[1] = 50
    row[0] += row[1]
    return told(a, b, boxes[2]), box.arr[0], other.vec.x


@program
def what_known_objects_hold_is_seen_by_index(counts: Image, p: Position):
    n = int(counts(p)) % 4
    a = Box(1.0)
    boxes = [a, Box(2.0), Box(3.0), a]
    box = boxes[n]
    row, xs, named, held = box.arr, box.xs, box.named, [box.vec]
    a.vec.x = 100
    a.arr[1] = 20
    a.xs.append(3.0)
    a.named["a"] = 7.0
    return box.vec.x, row[1], len(xs), named["a"], held[0].x


@program
def functions_chosen_by_index_change_what_they_see(counts: Image, p: Position):
    n = int(counts(p)) % 3
    c = [0, 0, 0]

    def first(k):
        c[0] += k

    def second(k):
        c[1] += k

    def third(k):
        c[2] += k

    {0: first, 1: second, 2: third}[n](4)
    [third, first, second][n](2)
    name, function = [("x", first), ("y", second), ("z", third)][n]
    function(1)
    boxes = [Box(1.0), Box(2.0), Box(3.0)]
    [box.set for box in boxes][n](5)
    [box.xs.append for box in boxes][n](6)
    [lambda v, box=box: box.set(v) for box in boxes][n - 1](8)
    return c[0] + 10 * c[1] + 100 * c[2], told(*boxes), name == "y"


@program
def arrays_in_a_list_are_changed_by_index(counts: Image, p: Position):
    n = int(counts(p)) % 2
    x = np.zeros(3)
    rows = [x, np.ones(3)]
    rows[n] += 1
    rows[n][2] = 9
    row = rows[n]
    row *= 2
    rows[0][1] += 0.5
    return x.sum(), rows[1].sum(), row[1], rows[n][2]


@program
def rows_of_an_array_are_views_by_index(counts: Image, p: Position):
    n = int(counts(p)) % 8
    a = np.zeros((8, 2))
    a[n, 0] = 1
    a[n] *= 2
    row = a[n]
    a[n, 1] = 5
    row[0] += 3
    known = np.arange(12.0).reshape(4, 3)
    part = known[n % 4]
    part += 1
    known[n % 4][1] = 30
    return a.sum(), row[1], a[n, 0], known.sum(), part[1]


@program
def vectors_stored_by_index_keep_their_names(counts: Image, p: Position):
    n = int(counts(p)) % 4
    v = Vec2(1, 2)
    vectors = [Vec2(i, i) for i in range(4)]
    first = vectors[0]
    vectors[n] = v
    vectors[n].x = 70
    v.y = 5
    first.x += 3
    vectors[(n + 1) % 4] = Vec2(8, 9)
    return v.x, vectors[n].y, vectors[0].x, first.x, sum(u.x + 10 * u.y for u in vectors)


@program
def objects_in_a_ring(counts: Image, p: Position):
    n = int(counts(p)) % 5
    boxes = [Box(float(i)) for i in range(5)]
    for i in range(5):
        boxes[i].next = boxes[(i * 2 + 1) % 5]
    box = boxes[n]
    for _ in range(n):
        box.v += 1
        box = box.next
    return sum(b.v * 3**i for i, b in enumerate(boxes))


@program
def stored_in_a_loop_and_changed_elsewhere(counts: Image, p: Position):
    n = int(counts(p)) % 5
    boxes = [Box(1.0), Box(2.0), Box(3.0)]
    lists = [[1], [2], [3]]
    last, other = boxes[2], lists[2]
    for _ in range(n):
        boxes[0] = boxes[n % 3]
        lists[0] = lists[n % 3]
        boxes[1] = boxes[2]
    last.v = 77.0
    other[0] = 78
    boxes[0].v += 5
    return boxes[0].v, boxes[1].v, boxes[2].v, lists[0][0]


@program
def vectors_stored_where_exceptions_meet(counts: Image, p: Position):
    n = int(counts(p))
    first, reached = Vec2(1, 2), 0
    all_of_them = [first, Vec2(3, 4), Vec2(5, 6)]
    all_of_them[n % 3].x = 7
    try:
        if n % 3 == 1:
            raise ValueError
        all_of_them[n % 3] = first
    except ValueError:
        try:
            if n % 4 != 2:
                raise ValueError
            first += Vec2(1, 3)
        except ValueError:
            reached = 1
    return all_of_them[0].x, all_of_them[1].x, first.x, reached


@program
def vector_that_the_list_holds_is_stored_by_index(counts: Image, p: Position):
    n = int(counts(p)) % 2
    held = [Vec2(1, 2), Vec2(3, 4)]
    held[n] = held[0]
    held[0][1] = 100
    held[n].x += 3
    return held[0].x, held[1].x, held[n].y


@program
def rows_stored_by_index_are_views(counts: Image, p: Position):
    n = int(counts(p)) % 2
    whole = np.array([[1.0, 2.0], [4.0, 5.0]])
    rows = [np.zeros(2), np.zeros(2)]
    boxes = [Box(1.0), Box(2.0)]
    rows[n] = whole[0]
    boxes[n].arr = whole[1]
    whole[0, 1] = 77
    whole[1, 0] = 78
    boxes[n].arr[1] = 79
    return rows[n][1], rows[1 - n][1], boxes[n].arr[0], whole[1, 1]


@program
def rows_of_a_long_array_with_methods(counts: Image, p: Position):
    n, k = int(counts(p)), 1
    for row in np.arange(1500).reshape(500, 3):
        k = (k * 3 + row[1] * n + row.sum()) % 10007
    for a, b, c in np.arange(1500).reshape(500, 3):
        k = (k * 3 + n * b + a + c) % 10007
    return k


@program
def functions_of_points_and_items(im: Image, p: Position):
    v = im(p)
    one = np.array([v]).item()
    whole = np.array([int(p.x), 3, 5])
    same = whole.astype(int, copy=False)
    same[0] = 7
    middle = np.nanmedian(np.array([1.0, v, float("inf")]))
    apart = math.dist([v], [1.0]), math.dist((v, 1, 2, 3, 4), (0, 1, 2, 3, 5))
    return one, whole[0], middle, *apart


@program
def long_rows_are_changed_by_index(counts: Image, p: Position):
    n = int(counts(p)) % 4
    whole = np.arange(400.0).reshape(4, 100)
    whole[n] *= 2
    whole[n] += whole[(n + 1) % 4]
    row = whole[n]
    return row[3], whole[0, 7], whole[n][99]


@program
def views_of_one_of_two_arrays(im: Image, counts: Image, p: Position):
    n = counts(p)
    x, y = np.zeros((2, 3)) + im(p), np.ones((2, 3))
    z = x if n % 2 else y
    z[0, :2] += 5
    z.reshape(6)[3] += 1
    z.T[2] = -2
    row = z[1]
    x[1, 0], y[1, 1] = 50, 60
    row += 1
    np.add(z[0], 1, out=z[0])
    operator.iadd(row, 2)
    z[0, 1:].sort()
    x[:, 2].fill(n)
    for i in range(n):
        one = x if i % 2 else y
        one[0, :2] += i
    return x @ [1, 10, 100], y @ [1, 10, 100], row @ [1, 10, 100]


@program
def array_that_is_a_row_or_another(counts: Image, p: Position):
    n = counts(p)
    rows, other = np.arange(6).reshape(2, 3) * 1, np.array([7, 8, 9]) * 1
    row = rows[0] if n % 2 else other
    rows[0, 1] = 77
    row[2] += 4
    row *= 2
    other[0] = 5
    if n % 3 == 0:
        part = rows[0]
    elif n % 3 == 1:
        part = rows[1]
    else:
        part = rows[1, ::-1]
    part[0] += 100
    part[1:] = n
    return row @ [1, 10, 1000], rows @ [1, 10, 1000], other @ [1, 10, 1000], part.sum()


@program
def vector_that_a_loop_makes_anew_is_changed(im: Image, p: Position):
    a = Vec3(im(p), 2, 3)
    b = a
    while b.x > 0.25:
        b = b * 0.5
    b.y = 9
    return a.y, b.x, b.y


@program
def list_before_a_loop_that_makes_another_is_changed(im: Image, p: Position):
    a, b = [p.x, 2], [1, p.y]
    both = [a, b]
    for i in range(p.x % 4):
        b = [i, 5]
    both[1][0] = 7
    b[1] += 1
    return b[0], b[1], both[1][0], both[1][1]


@program
def object_that_some_rounds_make_anew_is_changed_in_others(im: Image, p: Position):
    a = Ball(p.x, 2)
    b = a
    for i in range(p.x):
        b.move(1)
        b.log[0] += 1
        if i == 2:
            b = Ball(50, i)
    a.y = 9
    b.pos.y += 4
    return b.x, a.x, b.y, a.pos.x, b.pos.y, a.log[0] + 10 * b.log[0]


def _halved(v):
    while v.x > 1:
        v = v * 0.5
    v.y = 9
    return v


@program
def helper_changes_its_argument_or_what_it_made(im: Image, p: Position):
    a = Vec2(p.x, 3)
    b = _halved(a)
    b.x += 1
    return a.x, a.y, b.x, b.y


@program
def names_that_rounds_make_one_are_changed_through_either(im: Image, p: Position):
    a = np.array([p.x, 1])
    b = c = d = a
    for i in range(p.x):
        if i % 2:
            c = b
        if i % 3:
            b = b * 2
        if i % 5:
            d = c
        c[1] += 1
    b[0] = 9
    c[0] += 8
    d[0] += 7
    return b[0], c[0], d[0], a[0], b[1] + 10 * c[1] + 100 * d[1]


@program
def object_of_a_loop_that_is_left_is_changed(im: Image, p: Position):
    a = b = [p.x, [p.y]]
    for i in range(500):
        b = [b[0] - 1, [i]]
        if b[0] < 1:
            break
    b[1][0] += 5
    return a[0], a[1][0], b[0], b[1][0]


@program
def list_that_a_loop_takes_up(im: Image, p: Position):
    a, b = [im(p)], [2]
    c = a
    for _ in range(p.x % 3):
        c = [7] if p.y > 1 else b
    b.append(5)
    a.append(6)
    return sum(c) + 100 * len(c)


class Linked:
    def __init__(self, v, xs):
        self.v, self.xs, self.next = v, xs, self


@program
def object_that_another_path_may_have_made(im: Image, p: Position):
    a, c = [im(p)], [3, 4]
    u, v = Linked(1, a), Linked(im(p), [7])
    w = u
    if p.x % 2 == 1:
        w.next = v.next if p.x > 3 else Linked(1, [2])
        c.append(len(a))
    elif p.x % 3 == 0:
        a.append(im(p))
    else:
        w = Linked(p.x, a if im(p + (1, 0)) > -0.5 else a)
    w.next = v if p.x > 2 else Linked(1, [2])
    return u.v + len(a)
