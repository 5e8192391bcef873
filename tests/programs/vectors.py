"""Positions, vectors, swizzles."""

import numpy as np

from programs.suite import Suite
from pygpu import BVec3, Image, IVec2, IVec3, Position, Vec2, Vec3, Vec4

program = Suite()


# ---------------------------------------------------------------- positions


@program
def position_components(im: Image, p: Position):
    return p.x + 10 * p.y


@program
def position_unpacked(im: Image, p: Position):
    x, y = p
    return x - y


@program
def position_indexed(im: Image, p: Position):
    return p[0] * 2 + p[1] + p[-1] + len(p)


@program
def position_returned(im: Image, p: Position):
    return p


@program
def position_arithmetic(im: Image, p: Position):
    q = (p + (1, 2)) * 2 - (3, 1)
    return q.x * 100 + q.y


@program
def position_floor_division_and_modulo(im: Image, p: Position):
    q, r = (p - (3, 3)) // 2, (p - (3, 3)) % 2
    return q.x + 10 * q.y + 100 * r.x + 1000 * r.y


@program
def position_negated(im: Image, p: Position):
    return (-p).x + (5 - p).y


@program
def position_times_float(im: Image, p: Position):
    return p * 0.5 + 0.25


@program
def position_true_division(im: Image, p: Position):
    return p / 2


@program
def position_plus_list_and_array(im: Image, p: Position):
    return im(p + [1, 0]) + im(p + np.array([0, 1])) + im((1, 1) + p)


@program
def position_plus_vector(flow: Image, p: Position):
    return p + flow(p)


@program
def position_difference(im: Image, p: Position):
    d = p - Position(2, 3)
    return d.x * d.x + d.y * d.y


@program
def position_equality(im: Image, p: Position):
    return all(p == (2, 3)), any(p == Position(2, 3)), p.x == p.y


@program
def position_made(im: Image, p: Position):
    return im(Position(p.y, p.x))


@program
def position_swizzled(im: Image, p: Position):
    return im(p.yx) + p.xx.y


@program
def position_as_vector(im: Image, p: Position):
    v = Vec2(p) / 4
    return v.x * v.y


@program
def position_distance(im: Image, p: Position):
    x, y = p - (3.0, 2.0)
    return (x * x + y * y) ** 0.5


@program
def position_hash(im: Image, p: Position):
    q = p * IVec2(73856093, 19349663)
    return (q.x ^ q.y) & 255


# ---------------------------------------------------------------- making vectors


@program
def vector_from_scalars(im: Image, p: Position):
    return Vec3(im(p), 1, p.x)


@program
def vector_from_mix(vecs: Image, flow: Image, p: Position):
    return Vec4(vecs(p), 1.0) + Vec4(flow(p), flow(p + (1, 0))) + Vec4(0, flow(p), 2)


@program
def vector_from_one_scalar(im: Image, p: Position):
    return Vec3(im(p))


@program
def vector_from_sequence(im: Image, p: Position):
    return Vec3([im(p), 2.0, 3.0]) + Vec3(*(1.0, im(p), 0.0))


@program
def vector_from_generator_of_arguments(vecs: Image, p: Position):
    return Vec3(*[c * c for c in vecs(p)])


@program
def integer_vectors(ints: Image, p: Position):
    v = IVec3(ints(p), 7, p.x)
    return v * 2 + v // 3 - v % 4


@program
def bool_vectors(im: Image, mask: Image, p: Position):
    v = BVec3(im(p) > 0, mask(p), True)
    return any(v), all(v), v


@program
def vector_conversion(vecs: Image, p: Position):
    return IVec3(vecs(p) * 4), Vec3(IVec3(1, 2, 3)) / 2


# ---------------------------------------------------------------- arithmetic


@program
def vector_arithmetic(vecs: Image, p: Position):
    v, w = vecs(p), vecs(p + (1, 0))
    return v + w * 2 - v / 4 - v * w


@program
def vector_and_scalar(im: Image, vecs: Image, p: Position):
    return 1 - im(p) * vecs(p) + vecs(p) * 2


@program
def scalar_divided_by_vector(vecs: Image, p: Position):
    return 1 / (vecs(p) + 3)


@program
def vector_and_tuple(vecs: Image, p: Position):
    return vecs(p) * (1, 2, 3) + [0.5, 0.25, 0] - (1, 1, 1)


@program
def vector_and_known_array(vecs: Image, p: Position):
    return vecs(p) * np.array([1.0, 2.0, 3.0]) + np.array([1, 2, 3]) * vecs(p)


@program
def vector_powers(vecs: Image, p: Position):
    return vecs(p) ** 2 + abs(vecs(p)) ** 0.5


@program
def vector_floor_division_and_modulo(vecs: Image, p: Position):
    return vecs(p) // 0.75 + vecs(p) % 0.75


@program
def vector_unary(vecs: Image, p: Position):
    return -vecs(p) + abs(vecs(p)) * +vecs(p)


@program
def integer_vector_meets_float(pairs: Image, p: Position):
    return pairs(p) * 0.5, pairs(p) / 2, pairs(p) // 2


@program
def integer_vector_bits(pairs: Image, p: Position):
    return (pairs(p) & 3) | (pairs(p) << 2), ~pairs(p) ^ 1, pairs(p) >> 1


# ---------------------------------------------------------------- comparison


@program
def vector_comparison(vecs: Image, p: Position):
    return vecs(p) > 0


@program
def vector_comparison_folded(vecs: Image, p: Position):
    v, w = vecs(p), vecs(p + (1, 0))
    return all(v < w), any(v < w), all(v == v), any(v != v)


@program
def vector_comparison_with_tuple(pairs: Image, p: Position):
    return all(pairs(p) >= (0, -3))


@program
def vector_of_bools_as_numbers(vecs: Image, p: Position):
    return sum(vecs(p) > 0) + (vecs(p) > 0) * 2


@program
def vector_of_bools_combined(vecs: Image, p: Position):
    a, b = vecs(p) > 0, vecs(p) < 1
    return (a & b), (a | b), (a ^ b), ~a


@program
def numpy_maximum_of_vectors(vecs: Image, p: Position):
    return np.maximum(vecs(p), vecs(p + (1, 0))) + np.minimum(vecs(p), 0.5)


@program
def numpy_where_on_vectors(vecs: Image, p: Position):
    return np.where(vecs(p) > 0, vecs(p), 0.5)


@program
def numpy_functions_of_vectors(vecs: Image, p: Position):
    v = vecs(p)
    return np.sqrt(np.abs(v)) + np.floor(v) + np.sin(v) + np.clip(v, -0.5, 0.5)


# ---------------------------------------------------------------- components


@program
def swizzles_read(rgba: Image, p: Position):
    c = rgba(p)
    return c.rgb + c.zyx - c.stp, c.a + c.w - c.q


@program
def swizzle_repeats(flow: Image, p: Position):
    return flow(p).xyxy, flow(p).xx


@program
def swizzle_written(rgba: Image, p: Position):
    c = Vec4(rgba(p))
    c.rgb = (1.0, 2.0, 3.0)
    c.a *= 0.5
    return c


@program
def swizzle_swapped(vecs: Image, p: Position):
    v = Vec3(vecs(p))
    v.xy = v.yx
    v.bg = v.xy
    return v


@program
def swizzle_augmented(vecs: Image, p: Position):
    v = Vec3(vecs(p))
    v.xz += 1
    v.y -= v.x
    return v


@program
def component_written_under_condition(vecs: Image, im: Image, p: Position):
    v = Vec3(vecs(p))
    if im(p) > 0:
        v.x = 9.0
    else:
        v.yz = v.zy
    return v


@program
def vector_indexed(vecs: Image, p: Position):
    v = vecs(p)
    return v[0] + 2 * v[1] + 4 * v[-1]


@program
def vector_item_assigned(vecs: Image, p: Position):
    v = Vec3(vecs(p))
    v[0] = 5.0
    v[-1] += 1
    return v


@program
def vector_indexed_by_dynamic(vecs: Image, p: Position):
    return vecs(p)[p.x % 3]


@program
def vector_item_assigned_at_dynamic_index(vecs: Image, p: Position):
    v = Vec3(vecs(p))
    v[p.x % 3] = 9.0
    return v


@program
def vector_unpacked(vecs: Image, p: Position):
    r, g, b = vecs(p)
    first, *rest = vecs(p)
    return r + 2 * g + 4 * b + first + sum(rest)


@program
def vector_iterated(vecs: Image, p: Position):
    s = 0.0
    for i, c in enumerate(vecs(p)):
        s += i * c
    return s + len(vecs(p)) + sum(vecs(p)) + max(vecs(p))


@program
def vector_to_tuple(vecs: Image, p: Position):
    return sum(a * b for a, b in zip(tuple(vecs(p)), list(vecs(p + (1, 0)))))


# ---------------------------------------------------------------- references


@program
def vector_alias_sees_writes(vecs: Image, p: Position):
    a = Vec3(vecs(p))
    b = a
    a.x = 1.0
    return b


@program
def vector_in_place_operator_rebinds(vecs: Image, p: Position):
    a = Vec3(vecs(p))
    b = a
    a += 1
    return b, a


@program
def vector_copy_is_separate(vecs: Image, p: Position):
    a = Vec3(vecs(p))
    b = Vec3(a)
    a.x = 1.0
    return b


@program
def texels_are_fresh(vecs: Image, p: Position):
    v = vecs(p)
    v.x = 5.0
    return v + vecs(p)


@program
def vector_argument_is_reference(vecs: Image, p: Position):
    def clear(v):
        v.x = 0.0

    a = Vec3(vecs(p))
    clear(a)
    return a


@program
def vector_alias_in_list(vecs: Image, p: Position):
    a = Vec3(vecs(p))
    vs = [a, a]
    vs[0].y = 7.0
    return vs[1]


@program
def vector_joined_at_branch(vecs: Image, im: Image, p: Position):
    a = vecs(p)
    if im(p) > 0:
        a = Vec3(0, 1, 2)
    return a * 2


@program
def vector_carried_by_loop(vecs: Image, counts: Image, p: Position):
    a, n = Vec3(vecs(p)), counts(p)
    while n > 0:
        a.x += a.y * 0.5
        a.yz = a.zy
        n -= 1
    return a


@program
def vector_alias_carried_by_loop(vecs: Image, counts: Image, p: Position):
    a, n = Vec3(vecs(p)), counts(p)
    b = a
    while n > 0:
        a.x += 1
        n -= 1
    return b


@program(tint=Vec3(0.5, 2.0, 1.0), shift=Vec2(1.0, 0.0))
def vector_uniforms(vecs: Image, p: Position, tint: Vec3, shift: Vec2):
    return vecs(p) * tint + shift.x


@program(tint=Vec3(0.5, 2.0, 1.0))
def vector_known(vecs: Image, p: Position, tint):
    return vecs(p) * tint


@program
def known_vector_arithmetic(im: Image, p: Position):
    a = Vec3(1, 2, 3) * 2 + (1, 0, 0)
    return im(p) * a.zyx + len(a)


@program
def float_position_components_are_floats(im: Image, p: Position):
    q = p + (0.5, 0.5)
    return q.x / 2, q.y // 2


@program
def type_of_vector(vecs: Image, p: Position):
    return isinstance(vecs(p), Vec3), isinstance(p, Position)


@program
def methods_that_fold_components(im: Image, p: Position):
    v, w = Vec3(im(p), 2.0, p.x), IVec3(p.x, p.y, 3)
    b = v > 1
    floats = v.sum(), v.min(), v.max(), v.xy.mean(), v.dot(w), v.bgr.prod()
    ints = w.sum(), w.max(), w.prod(), p.min(), (w * 2**30).sum()
    return (*floats, *ints, b.any(), b.all(), b.sum(), b.max(), np.minimum(b, v < 2).any())


@program
def products_of_two_vectors(vecs: Image, rgb: Image, p: Position):
    v, c = vecs(p), rgb(p)
    return v @ v, c @ c.zyx, (1, 2, 3) @ c, c @ [0.5, 1, 2], Vec2(1, 2) @ p


@program
def vectors_in_what_is_compared(im: Image, p: Position):
    v = Vec2(im(p), 1.0)
    pair, items = (v, 2.0), [v, v]
    equal = pair == pair, (v, 1) == (v, 1), [v] == [v], {"a": v} != {"a": v}
    return *equal, items.count(v), items.index(v), v in items


@program
def arrays_of_a_vectors_components(rgb: Image, p: Position):
    c = rgb(p)
    d = c.copy()
    d[0] += 1
    d.y = 0.5 * c.copy().zyx.y
    levels = (c * 4).astype(int)
    least, most = c.argmin(), c.argmax()
    middle = c.clip(0.25, 0.5).cumsum()
    return c.sum() + c.r, d.sum(), levels.max(), least + 3 * most, middle[1] + c.T.tolist()[2]


@program
def known_components_divided_by_zero(im: Image, p: Position):
    way, up = Vec3(0, 1, 2), Vec2(abs(im(p)) + 2, 0)
    odd = np.isnan(way // 0), np.isnan(way % Vec3(0, 1, 2)), np.isnan(Vec2(-4, 4) ** 0.5)
    return *odd, 2 / way, Vec2(im(p), 1) / up, up**-1


@program
def results_of_known_vectors_are_changed(im: Image, counts: Image, p: Position):
    v = Vec3(1, 2, 3)
    v = v * 0.5
    v.z = im(p)
    i = IVec3(1, 2, 3) // 2
    i.x += counts(p)
    u = 2 * Vec2(1, 2) + 1
    u[0] = im(p)
    for k in range(counts(p)):
        t = Vec2(1, 2) * 2
        t.x = k
        u += t
    return v.x + v.y + v.z, i.x + 10 * i.y + 100 * i.z, u


@program
def what_gives_a_number_anew_gives_a_vector_anew(im: Image, p: Position):
    v = Vec3(im(p), 2, 3)
    made = [+v, np.positive(v), sum([v]), sum(each for each in [v]), v * 1]
    for place, each in enumerate(made):
        each.y = 10 * place
    return v, made[0], sum(made)


@program
def whole_functions_of_vectors(counts: Image, p: Position):
    v = IVec3(counts(p) - 3, 703040484 - p.x, -counts(p))
    m = v > p.y
    both = [np.add(m, m), np.multiply(m, True), np.abs(m), np.fmax(m, m), np.fmin(m, True)]
    as_words = [sum(np.where(each, IVec3(1, 2, 4), 0)) for each in both]
    shared = np.lcm(v, 3 + p.x), np.lcm(IVec2(2000000011 - p.x, 8), 5)
    return np.fmod(v, 3), np.fmod(m, v + 7), np.fmod(-4, v * 2 + 1), *shared, *as_words


@program
def rounding_of_whole_vectors(counts: Image, p: Position):
    v = IVec3(counts(p) + 703040480, 16777217 + p.x, -counts(p))
    kept, made = np.round(v), np.nan_to_num(v)
    kept.x, made.y = 1, 2
    return v, kept, made, np.around(v, -1), np.round(v, 2)
