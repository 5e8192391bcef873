"""Programs that are refused: what PyGPU says of each is committed in tests/goldens/errors.

Most end in a CompileError; known code that fails raises what Python raises, with a note.
"""

import asyncio
import collections
import enum
import functools
import hashlib
import itertools
import math
import warnings
from dataclasses import dataclass

import numpy as np

import pygpu
from programs.suite import Suite
from pygpu import Image, Int, Mat2, Position, UInt, Vec2, Vec3, Vec4, filters

program = Suite()


KNOWN = (k for k in (1, 2))

LOG = []
SETTINGS = {"gain": 2.0}
WEIGHTS = np.array([1.0, 2.0, 3.0])
TOTAL = 0


@dataclass
class Gain:
    by: float = 2.0

    def apply(self, v):
        return v * self.by


OUTSIDE = Gain()


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def generator(im, p):
    yield im(p)
    yield im(p + (1, 0))


def above(im, p, limit):
    for i in range(5):
        if im(p + (i, 0)) > limit:
            yield im(p + (i, 0))


def fails_inside(v):
    return v.brightness


def calls_it(v):
    return fails_inside(v) * 2


# ---------------------------------------------------------------- statements


@program
def group_of_exceptions(im: Image, p: Position):
    try:
        v = 1 / im(p)
    except* ZeroDivisionError as group:
        v = len(group.exceptions)
    return v


@program
def attribute_of_an_exception(im: Image, p: Position):
    try:
        if im(p) > 0:
            raise ValueError(im(p))
    except ValueError as error:
        return error.args[0] + (error.__context__ is None)
    return 0.0


@program
def class_that_is_no_exception(im: Image, p: Position):
    try:
        return 1 / im(p)
    except float:
        return 0.0


@program
def exception_that_nothing_handles(im: Image, p: Position):
    try:
        raise KeyError("missing")
    finally:
        v = im(p)
    return v


@program
def exception_of_a_test(im: Image, p: Position):
    class Unsure:
        def __bool__(self):
            if im(p) > 0:
                raise ValueError("unsure")
            return True

    try:
        return 1.0 if Unsure() else 2.0
    except ValueError:
        return 3.0


@program
def context_of_a_file(im: Image, p: Position):
    with open(__file__) as file:
        return im(p) * len(file.read())


@program
def context_that_is_none(im: Image, p: Position):
    with 3.0:
        return im(p)


@program
def errors_of_numpy(im: Image, p: Position):
    with np.errstate(divide="raise"):
        return 1 / im(p)


@program
def recorded_warnings(im: Image, p: Position):
    with warnings.catch_warnings(record=True) as seen:
        return im(p) + len(seen)


@program
def module_not_there(im: Image, p: Position):
    import no_such_module_at_all

    return no_such_module_at_all.f(im(p))


@program
def name_not_in_module(im: Image, p: Position):
    from math import no_such_function

    return no_such_function(im(p))


@program
def yield_statement(im: Image, p: Position):
    yield im(p)


@program
def value_of_yield_from_a_known_generator(im: Image, p: Position):
    def twice():
        found = yield from KNOWN
        yield found * im(p)

    return sum(twice())


@program
def something_thrown_into_a_generator(im: Image, p: Position):
    def steps(x):
        while x > 0.1:
            try:
                yield x
            except ValueError:
                x = x / 4
            x = x / 2

    means = steps(im(p))
    for x in means:
        if x < 0.3:
            break
    return means.throw(ValueError)


@program
def next_after_a_loop_that_was_left_early(im: Image, p: Position):
    texels = above(im, p, 0.5)
    total = 0.0
    for v in texels:
        total += v
        if total > 1:
            break
    return total + next(texels, 0.0)


@program
def list_of_items_that_may_not_be_there(im: Image, p: Position):
    texels = list(above(im, p, 0.5))
    return sum(texels[-3:2])


@program
async def await_expression(im: Image, p: Position):
    await asyncio.sleep(0)
    return im(p)


@program
def global_write(im: Image, p: Position):
    global TOTAL
    TOTAL = im(p)
    return TOTAL


@program
def gaussian_of_a_dynamic_width(im: Image, p: Position):
    return filters.gaussian(im, p, sigma=im(p))


@program
def delete_then_use(im: Image, p: Position):
    v = im(p)
    del v
    return v


@program
def recursion_on_dynamic(counts: Image, p: Position):
    return factorial(counts(p))


@program
def string_growing_in_a_list_in_a_dynamic_loop(counts: Image, p: Position):
    n, rows = counts(p), [""]
    while n > 0:
        rows[0] = str(n % 2) + rows[0]
        n //= 2
    return len(rows[0])


@program
def numbers_without_a_bound_joined(counts: Image, p: Position):
    n, found = counts(p), []
    while n > 0:
        found.append(n)
        n //= 2
    return len(",".join(map(str, found)))


# ---------------------------------------------------------------- strings, output


@program
def formatted_dynamic(im: Image, p: Position):
    label = f"value {im(p)}"
    return len(label)


@program
def string_of_dynamic(im: Image, p: Position):
    return len(str(im(p)))


@program
def percent_format_of_dynamic(im: Image, p: Position):
    return len("%.2f" % im(p))


@program
def text_times_dynamic(counts: Image, p: Position):
    return len("ab" * counts(p))


# ---------------------------------------------------------------- outside objects


@program
def store_into_outside_list_by_name(im: Image, p: Position):
    LOG.__setitem__(slice(0, 0), [1.0])
    return im(p)


@program
def append_to_outside_list(im: Image, p: Position):
    LOG.append(im(p))
    return im(p)


@program
def item_of_outside_dict(im: Image, p: Position):
    SETTINGS["gain"] = 3.0
    return im(p)


@program
def item_of_outside_array(im: Image, p: Position):
    WEIGHTS[0] = 5.0
    return im(p) * WEIGHTS[0]


@program
def outside_array_in_place(im: Image, p: Position):
    weights = WEIGHTS
    weights *= 2
    return im(p) * weights[0]


@program
def attribute_of_outside_object(im: Image, p: Position):
    OUTSIDE.by = 3.0
    return OUTSIDE.apply(im(p))


@program
def outside_list_sorted(im: Image, p: Position, order=[3, 1, 2]):
    order.sort()
    return im(p) * order[0]


@program
def outside_dict_popped(im: Image, p: Position):
    return im(p) * SETTINGS.pop("gain")


@program(gain=Gain(2.0))
def attribute_of_parameter(im: Image, p: Position, gain: Gain):
    gain.by = im(p)
    return gain.by


# ---------------------------------------------------------------- joins


@program
def one_sided_variable(im: Image, p: Position):
    if im(p) > 0:
        v = 1.0
    return v


@program
def one_sided_attribute(im: Image, p: Position):
    g = Gain()
    if im(p) > 0:
        g.extra = 1.0
    return g.extra


class Tuned:
    gain = 2.0


@program
def names_of_an_object_of_which_one_path_sets_some(im: Image, p: Position):
    tuned = Tuned()
    if im(p) > 0.5:
        tuned.gain = 3.0
    return len(vars(tuned))


@program
def join_of_lists_of_different_length(im: Image, p: Position):
    vs = [1.0]
    if im(p) > 0:
        vs.append(2.0)
    first, second = tuple(vs)
    return first + second


@program
def join_of_number_and_none(im: Image, p: Position):
    v = None
    if im(p) > 0:
        v = 1.0
    return v + 1


@program
def none_that_another_flag_tells_of(im: Image, p: Position):
    found, v = False, None
    if im(p) > 0:
        found = True
    if im(p) > 0.5:
        v = 1.0
    return v + 1 if found else 0.0


@program
def flag_that_is_taken_back(p: Position):
    found = False
    for i in range(3):
        if p.x == i:
            found, v = True, 2.0
        if p.y == i:
            found = not found
    return v if found else 0.0


@program
def none_again_in_a_later_round(im: Image, p: Position):
    index, v = -1, None
    for i in range(p.x + 5):
        if p.x == i:
            index, v = i, 2.0
        if p.y + 2 == i:
            v = None
    return v * 2 if index >= 0 else 0.0


@program
def change_of_what_a_generator_reads(im: Image, p: Position):
    scale = 2.0
    scaled = (scale * v for v in [im(p), 1.0])
    first = next(scaled)
    scale = 3.0
    return first + sum(scaled)


@program
def change_of_what_is_mapped(im: Image, p: Position):
    xs = [im(p), 1.0]
    absolute = map(abs, xs)
    xs[1] = 5.0
    return sum(absolute)


@program
def read_of_row_that_may_have_been_changed(im: Image, p: Position):
    a = np.zeros((2, 2))
    row = a[0]
    for i in range(p.x):
        if i % 3 == 1:
            row = a[1]
        a[0, 0] += im(p)
        row[1] += 1
    return row[0]


@program
def returns_nothing_on_one_path(im: Image, p: Position):
    if im(p) > 0:
        return 1.0


# ---------------------------------------------------------------- containers


@program
def slice_of_dynamic_length(im: Image, counts: Image, p: Position):
    vs = [im(p), 1.0, 2.0]
    return sum(vs[counts(p) : counts(p) - 2 : -1])


@program
def tuple_multiplied_by_dynamic(counts: Image, p: Position):
    return sum((1.0,) * counts(p))


@program
def dict_indexed_by_dynamic(counts: Image, p: Position):
    return {(1, 2): 0.5, (2, 2): 0.25}[Vec2(counts(p), 2)]


@program
def sorted_vectors(vecs: Image, p: Position):
    return sorted([vecs(p), vecs(p + (1, 0))])[0]


@program
def filtered_by_dynamic(im: Image, p: Position):
    vs = tuple(v for v in (im(p), im(p + (1, 0))) if v > 0)
    return len(vs)


# ---------------------------------------------------------------- types


@program
def truth_of_vector(vecs: Image, p: Position):
    return 1.0 if vecs(p) > 0 else 0.0


@program
def truth_of_vector_equality(im: Image, p: Position):
    if p == (1, 2):
        return 1.0
    return im(p)


@program
def max_of_vectors(vecs: Image, p: Position):
    return max(vecs(p), vecs(p + (1, 0)))


@program
def attribute_of_number(im: Image, p: Position):
    return im(p).brightness


@program
def attribute_of_number_in_called_function(im: Image, p: Position):
    return calls_it(im(p))


@program
def swizzle_of_missing_component(flow: Image, p: Position):
    return flow(p).z


@program
def swizzle_of_mixed_sets(vecs: Image, p: Position):
    return vecs(p).xg


@program
def colour_with_alpha_times_colour(vecs: Image, p: Position):
    return Vec4(vecs(p), 1.0) * vecs(p)


@program
def colour_with_alpha_times_three(rgba: Image, p: Position):
    return rgba(p) * Vec3(1, 0.5, 0)


@program
def components_chosen_by_a_mask(vecs: Image, p: Position):
    vec = Vec3(vecs(p))
    vec[vec > 0.5] += 1
    return vec


@program
def vectors_of_different_size(flow: Image, vecs: Image, p: Position):
    return flow(p) + vecs(p)


@program
def vector_with_too_few_components(im: Image, p: Position):
    return Vec3(im(p), 1.0)


@program
def vector_and_tuple_of_other_length(vecs: Image, p: Position):
    return vecs(p) * (1.0, 2.0)


@program
def matrix_times_wrong_vector(vecs: Image, p: Position):
    return Mat2([[1, 2], [3, 4]]) @ vecs(p)


@program
def call_of_number(im: Image, p: Position):
    return im(p)(2)


@program
def index_of_number(im: Image, p: Position):
    return im(p)[0]


@program
def dynamic_index_of_number(im: Image, p: Position):
    return im(p)[p.x % 2]


@program
def dynamic_index_of_set(im: Image, p: Position):
    numbers = {1, 2}
    return im(p) * numbers[p.x % 2]


@program
def function_indexed_by_dynamic(im: Image, p: Position):
    return im(p) * calls_it[p.x]


@program
def colours_over_each_other(vecs: Image, p: Position):
    return filters.over(vecs(p), Vec4(vecs(p), 0.5), p)


@program
def colour_of_one_channel(im: Image, p: Position):
    return im(p).r


@program
def colours_of_one_channel_unpacked(im: Image, p: Position):
    r, g, b = im(p)
    return 0.2 * r + 0.7 * g + 0.1 * b


@program
def iteration_over_number(im: Image, p: Position):
    return sum(v for v in im(p))


@program
def length_of_number(im: Image, p: Position):
    return len(im(p))


@program
def range_of_float(im: Image, p: Position):
    s = 0
    for i in range(im(p)):
        s += i
    return s


@program
def bits_of_float(im: Image, p: Position):
    return im(p) & 1


@program
def shift_of_float(im: Image, p: Position):
    return im(p) << 2


@program
def index_by_float(im: Image, p: Position):
    return WEIGHTS[im(p)]


@program
def number_plus_string(im: Image, p: Position):
    return im(p) + "1"


@program
def number_plus_none(im: Image, p: Position):
    return im(p) + None


@program
def number_plus_list(im: Image, p: Position):
    return im(p) + [1, 2]


@program
def integer_too_large(ints: Image, p: Position):
    return ints(p) + 2**40


@program
def objects_without_operator(im: Image, p: Position):
    return Gain(im(p)) + Gain(2.0)


@program
def comparison_of_number_and_string(im: Image, p: Position):
    return im(p) < "a"


# ---------------------------------------------------------------- images


@program
def image_called_with_number(im: Image, p: Position):
    return im(p.x)


@program
def image_called_with_three(im: Image, p: Position):
    return im((p.x, p.y, 0))


@program
def image_indexed(im: Image, p: Position):
    return im[p.y, p.x]


@program
def image_in_arithmetic(im: Image, p: Position):
    return im + 1


@program
def truth_of_image(im: Image, other: Image, p: Position):
    return 1.0 if im else 0.0


@program
def image_attribute_unknown(im: Image, p: Position):
    return im.size * 2


@program
def image_saved(im: Image, p: Position):
    im.save("picture.png")
    return im(p)


@program
def image_with_unknown_boundary(im: Image, p: Position):
    return im.sampled(boundary="repeat")(p)


@program
def image_of_ints_interpolated(ints: Image, p: Position):
    return ints.sampled(interpolation="linear")(p * 0.5)


@program
def image_given_to_numpy(im: Image, p: Position):
    return np.mean(im)


# ---------------------------------------------------------------- calls


@program
def library_function_of_dynamic(im: Image, p: Position):
    return np.linalg.eigvals([[im(p), 1.0], [2.0, 0.5]])[0]


@program
def builtin_of_dynamic(im: Image, p: Position):
    return hash(im(p))


@program
def math_function_without_translation(im: Image, p: Position):
    return math.ulp(im(p))


@program
def method_of_known_object_with_dynamic(counts: Image, p: Position):
    return "abc".find(counts(p))


@program
def known_array_method_with_dynamic(im: Image, p: Position):
    return WEIGHTS.choose([im(p), 1])


@program
def int_of_text_base(counts: Image, p: Position):
    return int("11", counts(p))


@program
def conversion_of_vector_to_float(vecs: Image, p: Position):
    return float(vecs(p))


@program
def too_many_arguments(im: Image, p: Position):
    return calls_it(im(p), 2)


@program
def missing_argument(im: Image, p: Position):
    return calls_it()


# ---------------------------------------------------------------- results


@program
def result_none(im: Image, p: Position):
    im(p)


@program
def result_list(im: Image, p: Position):
    return [im(p), 1.0, 2.0, 3.0, 4.0]


@program
def result_array(im: Image, p: Position):
    return np.array([im(p), 1.0, 2.0, 3.0, 4.0])


@program
def result_string(im: Image, p: Position):
    return "red"


@program
def result_object(im: Image, p: Position):
    return Gain(im(p))


@program
def result_function(im: Image, p: Position):
    return lambda: im(p)


@program
def result_image(im: Image, p: Position):
    return im


@program
def result_nested_tuple(im: Image, p: Position):
    return im(p), (1.0, 2.0)


# ---------------------------------------------------------------- known code that fails


@program
def name_of_glsl(im: Image, p: Position):
    return vec3(im(p))  # noqa: F821


@program
def name_not_imported(im: Image, p: Position):
    return smoothstep(0.0, 1.0, im(p))  # noqa: F821


@program
def name_of_math_not_imported(im: Image, p: Position):
    return atan2(im(p), 1.0)  # noqa: F821


@program
def builtin_of_pygpu(im: Image, p: Position):
    return pygpu.abs(im(p))


@program
def function_of_math_of_pygpu(im: Image, p: Position):
    return pygpu.atan2(im(p), 1.0)


@program
def name_unknown(im: Image, p: Position):
    return im(p) * gian


@program
def key_missing(im: Image, p: Position):
    return im(p) * SETTINGS["contrast"]


@program
def key_missing_under_a_condition(im: Image, p: Position):
    n, i, key = int(im(p)), 0, "none"
    while i < n:
        key = "contrast"
        i += 1
    return im(p) * {"contrast": 2.0}[key]


@program
def key_missing_in_a_branch(im: Image, p: Position):
    if im(p) > 0.5:
        return SETTINGS["contrast"]
    return 0.0


@program
def key_missing_in_own_dict(im: Image, p: Position):
    d = {"a": im(p)}
    return d["b"]


@program
def known_division_by_zero(im: Image, p: Position, n=0):
    return im(p) * (1 / n)


@program
def index_out_of_range(im: Image, p: Position):
    return [im(p), 2.0][2]


@program
def unpacking_of_wrong_length(im: Image, p: Position):
    a, b, c = im(p), 1.0
    return a


@program
def known_attribute_missing(im: Image, p: Position):
    return im(p) * OUTSIDE.gain


@program
def own_attribute_missing(im: Image, p: Position):
    return Gain(im(p)).gain


@program
def known_call_fails(im: Image, p: Position):
    return im(p) * np.linalg.inv(np.zeros((2, 2)))[0, 0]


@program
def known_assertion_fails(im: Image, p: Position, n=2):
    assert n > 3, f"n is {n}"
    return im(p)


@program
def known_raise(im: Image, p: Position, mode="sharp"):
    if mode not in ("soft", "hard"):
        raise ValueError(f"mode={mode!r}")
    return im(p)


@program
def endless_iterator_summed(im: Image, p: Position):
    return sum(itertools.count()) * im(p)


@program
def iterator_taken_on_one_path(im: Image, p: Position):
    it = iter([im(p), 1.0, 2.0])
    if im(p) > 0:
        next(it)
    return next(it)


@program
def takewhile_by_dynamic(im: Image, p: Position):
    first, second = itertools.takewhile(lambda v: v < 1, [im(p), 2.0])
    return first + second


@program
def attribute_of_outside_set_by_name(im: Image, p: Position):
    setattr(OUTSIDE, "by", 3.0)
    return im(p)


@program
def item_of_outside_deleted(im: Image, p: Position):
    del SETTINGS["gain"]
    return im(p)


@program
def outside_changed_by_method_of_class(im: Image, p: Position):
    list.append(LOG, 1)
    return im(p)


@program
def image_compared(im: Image, p: Position):
    return im(p) == im


@program
def too_many_arguments_for_method(im: Image, p: Position):
    xs = []
    xs.append(im(p), 2)
    return xs[0]


@program
def too_many_arguments_for_builtin(im: Image, p: Position):
    return abs(im(p), 2)


@program
def base_for_dynamic(im: Image, p: Position):
    return int(im(p), 2)


@program
def digits_that_are_a_float(im: Image, p: Position):
    return round(im(p), 2.0)


@program
def default_beside_several(im: Image, p: Position):
    return max(im(p), 1, default=3)


@program
def keyword_that_a_rule_does_not_take(im: Image, p: Position):
    return np.clip([im(p), 1.0], 0, 1, casting="unsafe")


@program
def array_repeated_dynamically(counts: Image, p: Position):
    return np.array([1.0, 2.0]).repeat(counts(p))[1]


@program
def class_attribute_deleted(im: Image, p: Position):
    class Settings:
        gain = 2.0

    del Settings.gain
    return Settings.gain * im(p)


@program
def class_attribute_of_outside(im: Image, p: Position):
    Gain.by = 3.0
    return im(p)


@program
def enumeration_of_dynamic(im: Image, p: Position):
    class Level(enum.Enum):
        LOW = im(p)

    return Level.LOW.value


@program
def class_body_that_differs(im: Image, p: Position):
    class Settings:
        if im(p) > 0:
            gain = 2.0

    return Settings.gain


@program
def context_that_fails(im: Image, p: Position):
    with open("/no/such/file") as file:
        return im(p) * float(file.read())


@program
def evaluated_text(im: Image, p: Position):
    return eval("im(p)")


@program
def power_that_may_be_negative(im: Image, p: Position):
    return im(p) * 2 ** (3 - p.x)


@program
def int_or_uint_by_path(im: Image, p: Position):
    if p.y > 2:
        h = p.x - 3
    else:
        h = UInt(p.x)
    # Long, so that no Python returns on each path by itself.
    return h * h + h - p.y


@program
def int_or_uint_chosen(im: Image, p: Position):
    return np.where(p.y > 2, p.x - 3, UInt(p.x))


@program
def lesser_of_int_and_uint(im: Image, p: Position):
    return min(p.x - 3, UInt(p.y))


@program
def uint_divided_by_a_negative(im: Image, p: Position):
    return UInt(p.x) // -2


@program
def large_integer_divided(im: Image, p: Position):
    return 4000000000 // (p.x + 1)


@program
def remainder_by_more_than_32_bits(im: Image, p: Position):
    return p.x % (2**40 + 1)


@program
def table_of_large_and_negative_integers(im: Image, p: Position):
    return [-1, 4000000000, 3, 4][p.x % 4]


@program
def complex_numbers_in_order(im: Image, p: Position):
    return im(p) * 1j < 2


@program
def greatest_complex_number(im: Image, p: Position):
    return max(im(p) * 1j, 2)


@program
def greater_of_complex_numbers(im: Image, p: Position):
    return np.maximum(1j * im(p), im(p))


@program
def root_of_a_complex_number(im: Image, p: Position):
    return math.sqrt(1j * im(p))


@program
def float_of_a_complex_number(im: Image, p: Position):
    return float(complex(im(p), 1))


@program
def whole_quotient_of_a_complex_number(im: Image, p: Position):
    return (im(p) + 1j) // 2


@program
def complex_number_of_a_vector(im: Image, p: Position):
    return complex(Vec2(im(p), 1))


@program
def complex_number_and_vector(im: Image, p: Position):
    return 1j * im(p) + Vec2(1, 2)


@program
def attribute_that_complex_numbers_lack(im: Image, p: Position):
    return (1j * im(p)).x


@program
def complex_number_in_an_array_of_floats(im: Image, p: Position):
    xs = np.zeros(3)
    xs[0] = 1j * im(p)
    return xs[0]


@program
def position_of_a_complex_number(im: Image, p: Position):
    return im(1j * im(p))


@program
def negative_integer_where_uints_meet(im: Image, p: Position):
    best = -1
    if p.x > 2:
        best = UInt(p.x)
    return best


BYTES = np.array([200, 100, 3, 255], np.uint8)


@program
def narrow_element_or_number(im: Image, p: Position):
    return p.x * p.y + 3 + ((BYTES[p.x % 4] if p.y > 1 else 0) - 5) * p.x


@program
def quantile_of_a_method_that_is_not_there(im: Image, p: Position):
    return np.quantile([im(p), 1.0, 2.0], 0.3, method="hazen")


@program
def norm_of_a_matrix(im: Image, p: Position):
    return np.linalg.norm(np.array([[im(p), 1.0], [2.0, 3.0]]), "nuc")


@program(rounds=3)
def int_that_is_masked_in_a_loop(im: Image, p: Position, rounds: Int):
    h = p.x - 3
    for _ in range(rounds):
        h = (h * 31) & 0xFFFFFFFF
    return h


@program
def slice_longer_than_its_list(counts: Image, p: Position):
    k = counts(p)
    return sum([1.0, 2.0][k : k + 3])


@program
def part_that_is_too_large(counts: Image, p: Position):
    return np.zeros((9, 5000))[counts(p), 1:].sum()


@program
def list_of_indices_beside_a_new_axis(counts: Image, p: Position):
    return np.zeros((3, 3, 3))[[counts(p), 1], None].sum()


@program
def selected_rows_that_are_sorted(im: Image, p: Position):
    xs = np.array([[im(p), 1.0], [2.0, 3.0]])
    return np.sort(xs[xs[:, 0] > 0])[0, 0]


@program
def selections_by_two_masks(im: Image, p: Position):
    xs = np.array([im(p), 1.0])
    return (xs[xs > 0] + xs[xs < 1]).sum()


@program
def selection_beside_an_array(im: Image, p: Position):
    xs = np.array([im(p), 1.0])
    return (xs[xs > 0] + xs).sum()


@program
def different_rows(im: Image, p: Position):
    return np.unique(np.array([[im(p), 1.0], [2.0, 3.0]]), axis=0)[0, 0]


@program
def selection_stored_by_another_mask(im: Image, p: Position):
    xs = np.array([im(p), 1.0])
    xs[xs > 0] = xs[xs < 0]
    return xs.sum()


@program
def colours_over_each_other_without_a_position(vecs: Image, p: Position):
    return filters.over(vecs(p), vecs(p))


@program
def filter_without_a_position(im: Image, p: Position):
    return filters.sobel(im)


@program
def filter_of_a_colour(im: Image, p: Position):
    return filters.gaussian(im(p))


@program
def filter_of_whole_images(im: Image, p: Position):
    return filters.opening(im)(p)


@program
def number_stored_into(im: Image, p: Position):
    i = im(p)
    i[0] = 1
    return i


@program
def component_of_a_number_set(im: Image, p: Position):
    i = im(p)
    i.r = 1
    return i


@program
def mean_of_an_image(im: Image, p: Position):
    return im(p) - im.mean()


@program
def long_loop_over_objects_that_it_changes(im: Image, p: Position):
    gains = [[1.0, 2.0] for _ in range(30000)]
    total = 0.0
    for gain in gains:
        gains[5][0] = total
        total += gain[0] * im(p)
    return total


@program
def slice_of_a_tuple_compared(im: Image, p: Position):
    return (1.0, 2.0, 3.0)[: p.x] == (1.0,)


@program
def slice_by_a_step_that_may_be_none(im: Image, ints: Image, p: Position):
    return sum([1.0, 2.0, 3.0][:: ints(p)])


@program
def slice_as_a_tuple(im: Image, p: Position):
    return tuple([1.0, 2.0, im(p)][: p.x])[0]


# ---------------------------------------------------------------- drawing


@program
def discard_of_a_pixel(im: Image, p: Position):
    if im(p) < 0.5:
        pygpu.discard()
    return im(p)


@program
def difference_of_what_a_loop_carries(im: Image, p: Position):
    total = im(p)
    for _ in range(p.x):
        total += pygpu.ddx(total)
    return total


@program
def levels_of_an_image_without_any(im: Image, p: Position):
    return im.at((0.5, 0.5), lod=2.0)


@program
def levels_made_in_a_function(im: Image, p: Position):
    return im.sampled(mipmap=True)(p)


@program
def order_of_a_set(counts: Image, p: Position):
    t = 0
    for v in {counts(p), p.y}:
        t = t * 3 + v
    return t


@program
def some_member_of_a_set(counts: Image, p: Position):
    return {counts(p), p.y}.pop()


@program
def position_in_a_set(counts: Image, p: Position):
    return len({p, p + (1, 0)})


@program
def set_of_too_many(counts: Image, p: Position):
    seen = set()
    for i in range(300):
        seen.add(counts(p) * i)
    return len(seen)


@program
def items_of_a_dict_that_changes(counts: Image, p: Position):
    d, t = {counts(p): 1, p.y: 2}, 0
    for k, v in d.items():
        d[k] = v + 1
        t += v
    return t


@program
def keywords_that_only_the_device_knows(im: Image, p: Position):
    named = {"a": 1}
    if im(p) > 0.5:
        named["b"] = 3
    return (lambda **more: sum(more.values()))(**named)


@program
def generator_that_any_has_taken_from(im: Image, p: Position):
    bright = (im(p + (i, 0)) > 0.5 for i in range(4))
    return any(bright) + sum(bright)


@program
def iterator_found_in_and_summed(ints: Image, p: Position):
    doubles = (i * 2 for i in range(4))
    return (ints(p) in doubles) + sum(doubles)


@program
def generator_looped_over_on_one_path(im: Image, counts: Image, p: Position):
    def items():
        for i in range(counts(p)):
            if im(p + (i, 0)) > 0:
                yield i

    it, s = items(), 0
    if im(p) > 0.2:
        for v in it:
            s += v
    return s + sum(it)


@program
def strict_zip_of_a_named_iterator(counts: Image, p: Position):
    it = iter(range(counts(p)))
    return sum(a * b for a, b in zip(it, range(3), strict=True)) + sum(it)


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])


@program
def element_that_a_masked_array_leaves_out(im: Image, p: Position):
    return im(p) * MASKED[0] + MASKED.sum() + im(p) * MASKED[1]


@program
def masked_array_times_a_texel(im: Image, p: Position):
    return (MASKED * im(p)).sum()


@program
def masked_kernel(im: Image, p: Position):
    return sum(w * im(p + (d, 0)) for d, w in enumerate(MASKED))


ADVANCE = iter([1.0, 2.0, 3.0]).__next__


@program
def iterator_from_outside_by_its_method(im: Image, p: Position):
    if im(p) > 0.5:
        ADVANCE()
    return ADVANCE()


@program
def tuples_that_hold_other_vectors(im: Image, p: Position):
    v, w = Vec2(im(p), 1.0), Vec2(im(p), 1.0)
    return (v, 1) == (w, 1)


@program
def choice_of_two_classes_by_where(im: Image, p: Position):
    return np.where(im(p) > 0, Vec2, float)(1.0)


@program
def raises_on_every_path(im: Image, p: Position):
    if im(p) > 0.5:
        raise ValueError("large")
    raise KeyError("small")


@program
def hash_changed_under_a_condition(im: Image, p: Position):
    known = hashlib.md5()
    if im(p) > 0:
        known.update(b"x")
    return known.digest()[0]


@program
def dict_that_grows_while_it_is_iterated(im: Image, p: Position):
    costs = {1: im(p), 2: 3.0}
    for k, cost in costs.items():
        costs[k + 10] = cost
    return costs[1]


@program
def dict_that_shrinks_at_its_last_item(im: Image, p: Position):
    costs = {1: im(p), 2: 3.0}
    for k in costs:
        if k == 2:
            del costs[k]
    return costs[1]


@program
def set_that_grows_while_it_is_iterated(im: Image, p: Position):
    seen = {1, 2}
    for k in seen:
        if im(p) > 0.5:
            seen.add(k + 10)
    return im(p)


@program
def deque_that_grows_while_it_is_iterated(im: Image, p: Position):
    waiting = collections.deque([im(p), 2.0])
    for v in waiting:
        if len(waiting) < 5:
            waiting.append(v)
    return waiting[0]


@program
def deque_that_turns_while_it_is_iterated(im: Image, p: Position):
    waiting = collections.deque([im(p), 2.0])
    total = 0
    for v in waiting:
        waiting.rotate()
        total += v
    return total


@program
def deque_that_is_cleared_while_it_is_iterated(im: Image, p: Position):
    waiting = collections.deque([im(p), 2.0])
    total = 0
    for v in waiting:
        waiting.clear()
        total += v
    return total


@program
def slice_of_a_deque(im: Image, p: Position):
    return collections.deque([im(p), 2.0])[0:1]


@program
def method_that_deques_have_not(im: Image, p: Position):
    return collections.deque([im(p), 2.0]).push(3)


@program
def items_counted_that_two_loops_give(counts: Image, p: Position):
    return sum(1 for _ in (i for i in range(counts(p)) for _ in range(3)))


@program
def length_of_a_filtered_comprehension_of_many_items(counts: Image, p: Position):
    return len([k for k in range(3000) if k % 7 == counts(p)])


@program
def truth_of_a_matrix(flow: Image, p: Position):
    return 1 if Mat2(flow(p), (1, 2)) else 0


@program
def rows_of_a_matrix_stored_together(flow: Image, p: Position):
    m = Mat2(flow(p), (1, 2))
    m[:, 0] = flow(p)
    return m[0]


@program
def number_beside_a_text_of_dynamic(im: Image, p: Position):
    return im(p) + f"{im(p)}"


@program
def columns_by_a_dynamic_mask(im: Image, p: Position):
    a = np.arange(12.0).reshape(3, 4) * im(p)
    return a[:, a[0] > 0.5].sum()


@program
def class_that_the_path_decides(im: Image, p: Position):
    x = 1 if im(p) > 0 else 0.5
    return 1.0 if isinstance(2 * x, int) else 0.0


@program
def dtype_that_the_path_decides(im: Image, p: Position):
    a = np.array([1 if im(p) > 0 else 0.5, p.x])
    return 1.0 if a.dtype == np.float64 else 2.0


@program
def fraction_stored_where_the_path_decides_the_dtype(im: Image, p: Position):
    a = np.array([1 if im(p) > 0 else 0.5, 2])
    a[1] = 2.7
    return a[1]


@program
def class_of_a_sum_of_perhaps_nothing(im: Image, p: Position):
    return 1 if isinstance(sum(v for v in (im(p), im(p + (1, 0))) if v > 0.5), int) else 2


@program
def pattern_of_a_class_that_the_path_decides(im: Image, p: Position):
    x = 0
    for i in range(p.x):
        x += im(p + (i, 0))
    match x:
        case int():
            return 1.0
        case float():
            return 2.0


@program
def method_of_floats_of_what_may_be_an_int(im: Image, p: Position):
    return max(1, im(p)).hex()


@program
def truth_value_that_may_be_a_number(im: Image, p: Position):
    x = im(p) > 0 and p.x
    return 1.0 if x is False else 0.0


@program
def remembering_function_that_counts_its_calls(im: Image, p: Position):
    calls = 0

    @functools.cache
    def twice(v):
        nonlocal calls
        calls += 1
        return v * 2

    return twice(im(p)) + twice(im(p + (1, 0))) + calls


@program
def remembering_method_that_counts_its_calls(im: Image, p: Position):
    class Scale:
        calls = 0

        @functools.lru_cache(maxsize=None)
        def twice(self, v):
            Scale.calls += 1
            return v * 2

    scale = Scale()
    total = scale.twice(im(p)) if im(p) > 0 else 0.0
    return total + scale.twice(im(p)) + Scale.calls


def _perhaps(value):
    if value > 0.5:
        return value


@program
def none_in_a_tuple_that_is_added(im: Image, p: Position):
    return im(p + (_perhaps(im(p)), 0))


@program
def none_in_a_list_that_is_summed(im: Image, p: Position):
    return np.sum([_perhaps(im(p)), 1.0])


@program
def none_by_default_of_next(im: Image, p: Position):
    return next((v for v in (im(p), im(p + (1, 0))) if v > 0.5), None) + 1.0


@program
def class_of_a_float_that_may_be_of_32_bits(im: Image, p: Position):
    return 1.0 if isinstance(np.float32([0.5, 1.5])[p.x % 2] * im(p), float) else 2.0


@program
def view_of_an_array_from_outside_is_changed(im: Image, p: Position):
    part = WEIGHTS[1:]
    part[0] = im(p)
    return WEIGHTS[1]


TABLE = np.arange(6.0).reshape(3, 2)


@program
def row_of_an_array_from_outside_is_changed(counts: Image, p: Position):
    row = TABLE[counts(p)]
    row[0] = 7
    return TABLE[0, 0]


@program
def row_of_an_array_from_outside_is_added_to(counts: Image, p: Position):
    row = TABLE[counts(p)]
    row += 1
    return row[0] + TABLE[0, 0]


def _doubling():
    number = 1
    while True:
        yield number
        number *= 2


@program
def endless_items_beyond_32_bits(ints: Image, p: Position):
    for number in _doubling():
        if number > ints(p):
            return number


@program
def view_of_what_another_path_copied(im: Image, p: Position):
    a, z = np.array([im(p), 1.0, 2.0]), np.array([1.0, 2.0, 3.0])
    for _ in range(p.x % 3):
        z = a[:]
    if im(p) > 0.5:
        a = a.copy()
    a[1] += 0.5
    return a.sum() + z.sum()


@program
def slice_that_has_two_names_is_changed(ints: Image, p: Position):
    xs = [ints(p), 1, 2]
    rest = all_of = xs[ints(p) :]
    rest.append(3)
    return len(all_of)


@program
def slice_in_a_list_is_changed(ints: Image, p: Position):
    pair = [[ints(p), 1, 2][ints(p) :], 4]
    pair[0].append(3)
    return len(pair[0])


@program
def slice_that_has_two_names_is_added_to(ints: Image, p: Position):
    xs = ys = [ints(p), 1, 2][ints(p) :]
    xs += [3]
    return len(xs) + len(ys)


@program
def sort_of_a_whole_image(im: Image, p: Position):
    return pygpu.sort(im)(p)


@program
def pipeline_of_a_whole_image(im: Image, p: Position):
    return _PIPELINE(im)(p)


@program
def rounds_of_a_whole_image(im: Image, p: Position):
    return _COMPILED.iterate(im, 2)(p)


_COMPILED = pygpu.compile(sort_of_a_whole_image)
_PIPELINE = pygpu.pipeline(lambda im: im * 2)
