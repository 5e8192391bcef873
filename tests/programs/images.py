"""Images: reading them, their sizes, boundaries, interpolation; images as functions."""

import math
from collections.abc import Callable

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Signal, Vec2, Vec3, Volume, offsets

program = Suite()


def blur(f, p):
    return sum(f(p + d) for d in offsets(np.ones((3, 3)))) / 9


# ---------------------------------------------------------------- reading


@program
def read_at_position(im: Image, p: Position):
    return im(p)


@program
def read_at_tuple(im: Image, p: Position):
    return im((p.x + 1, p.y))


@program
def read_at_known_place(im: Image, p: Position):
    return im(p) - im((2, 1))


@program
def read_at_list_and_vector(im: Image, p: Position):
    return im([p.x, p.y]) + im(Vec2(p))


@program
def read_mirrored(im: Image, p: Position):
    return im((im.width - 1 - p.x, im.height - 1 - p.y))


@program
def read_transposed(im: Image, p: Position):
    return im((p.y, p.x))


@program
def read_at_multiple(im: Image, p: Position):
    return im(p * 2) + im((p.x // 2, p.y // 2))


@program
def read_far_outside(im: Image, p: Position):
    return im(p + (100, -100)) + im(p - (1000, 0))


@program
def read_at_texel(im: Image, pairs: Image, p: Position):
    return im(p + pairs(p))


@program
def read_at_rounded_texel(im: Image, flow: Image, p: Position):
    d = flow(p)
    return im(p + (int(d.x), int(d.y)))


@program
def read_inside_condition(im: Image, other: Image, p: Position):
    return im(p + (1, 0)) if im(p) > 0 else other(p + (0, 1))


@program
def read_8_bit(rgb: Image, p: Position):
    return rgb(p)


@program
def read_8_bit_component(rgb: Image, p: Position):
    return rgb(p).g * 255


@program
def read_ints_and_bools(ints: Image, mask: Image, p: Position):
    return ints(p + (1, 0)) + mask(p + (0, 1))


@program
def read_vectors_of_bools(masks: Image, p: Position):
    return masks(p), any(masks(p))


@program
def read_vectors_of_ints(pairs: Image, p: Position):
    return pairs(p) + pairs(p + (1, 1))


@program
def read_alpha(rgba: Image, p: Position):
    c = rgba(p)
    return c.rgb * c.a


@program
def nearest_at_fractions(im: Image, p: Position):
    return im(p * 0.5), im(p + (0.25, 0.75)), im((p.x - 0.5, p.y + 0.5))


@program
def nearest_at_negative_fractions(im: Image, p: Position):
    return im((p.x - 2.5, p.y - 1.75))


# ---------------------------------------------------------------- several images


@program
def two_images(im: Image, other: Image, p: Position):
    return im(p) * 0.5 + other(p) * 0.5


@program
def image_of_other_size(im: Image, small: Image, p: Position):
    return im(p) + small(p)


@program
def image_scaled_by_sizes(im: Image, small: Image, p: Position):
    return small((p.x * small.width // im.width, p.y * small.height // im.height))


@program
def image_chosen_by_known(im: Image, other: Image, p: Position, use_other=True):
    source = other if use_other else im
    return source(p)


@program
def images_in_list(im: Image, other: Image, small: Image, p: Position):
    return sum(w * f(p) for w, f in zip((1, 2, 4), [im, other, small]))


@program
def images_in_dict(im: Image, other: Image, p: Position):
    named = {"a": im, "b": other}
    return named["a"](p) - named["b"](p)


@program
def image_in_object(im: Image, p: Position):
    class Source:
        def __init__(self, image, shift):
            self.image, self.shift = image, shift

        def __call__(self, q):
            return self.image(q + self.shift)

    return blur(Source(im, (1, 0)), p)


@program
def image_identity(im: Image, other: Image, p: Position):
    return (im is im) + 2 * (im is other) + im(p)


# ---------------------------------------------------------------- sizes


@program
def image_size(im: Image, small: Image, p: Position):
    return im.width + 10 * im.height + 100 * small.width + 1000 * small.height


@program
def image_shape(im: Image, vecs: Image, p: Position):
    return im.shape[0] * 10 + im.shape[1] + len(im.shape) + vecs.shape[1]


@program
def image_channels(im: Image, vecs: Image, rgba: Image, p: Position):
    return im.channels + 10 * vecs.channels + 100 * rgba.channels


@program
def image_border_test(im: Image, p: Position):
    inside = 0 < p.x < im.width - 1 and 0 < p.y < im.height - 1
    return im(p) if inside else 0.0


@program
def image_vignette(im: Image, p: Position):
    centre = Vec2(im.width - 1, im.height - 1) / 2
    d = (p - centre) / centre
    return im(p) * (1 - 0.5 * (d.x * d.x + d.y * d.y))


@program
def image_column_sum(im: Image, p: Position):
    s = 0.0
    for y in range(im.height):
        s += im((p.x, y))
    return s


@program
def image_row_maximum(im: Image, p: Position):
    best = im((0, p.y))
    for x in range(1, im.width):
        best = max(best, im((x, p.y)))
    return best


@program
def image_normalised_position(im: Image, p: Position):
    return p.x / im.width, p.y / (im.height - 1)


# ---------------------------------------------------------------- boundaries


@program
def boundary_nearest(im: Image, p: Position):
    f = im.sampled(boundary="nearest")
    return f(p - (4, 3)) + 2 * f(p + (9, 8))


@program
def boundary_reflect(im: Image, p: Position):
    f = im.sampled(boundary="reflect")
    return f(p - (4, 3)) + 2 * f(p + (9, 8)) + 4 * f(p - (20, 17))


@program
def boundary_mirror(im: Image, p: Position):
    f = im.sampled(boundary="mirror")
    return f(p - (4, 3)) + 2 * f(p + (9, 8)) + 4 * f(p - (20, 17))


@program
def boundary_wrap(im: Image, p: Position):
    f = im.sampled(boundary="wrap")
    return f(p - (4, 3)) + 2 * f(p + (9, 8)) + 4 * f(p - (20, 17))


@program
def boundary_constant(im: Image, p: Position):
    f = im.sampled(boundary="constant", cval=0.75)
    return f(p - (4, 3)) + 2 * f(p + (2, 0))


@program
def boundary_constant_by_default_zero(im: Image, p: Position):
    return im.sampled(boundary="constant")(p + (0, -1))


@program
def boundary_constant_of_channels(vecs: Image, p: Position):
    return vecs.sampled(boundary="constant", cval=(1.0, 2.0, 3.0))(p + (2, 2))


@program
def boundary_constant_of_ints(ints: Image, p: Position):
    return ints.sampled(boundary="constant", cval=-1)(p + (2, 2))


@program
def boundary_grid_names(im: Image, p: Position):
    a = im.sampled(boundary="grid-wrap")(p - (3, 3))
    b = im.sampled(boundary="grid-mirror")(p - (3, 3))
    c = im.sampled(boundary="grid-constant", cval=2.0)(p - (3, 3))
    return a + 2 * b + 4 * c


@program
def boundary_numpy_names(im: Image, p: Position):
    return im.sampled(boundary="edge")(p - (3, 3)) + im.sampled(boundary="symmetric")(p - (3, 3))


@program
def boundaries_mixed(im: Image, p: Position):
    a, b = im.sampled(boundary="wrap"), im.sampled(boundary="constant", cval=9.0)
    return a(p + (3, 0)) - b(p + (3, 0)) + im(p + (3, 0))


@program
def boundary_of_small_image_far_away(small: Image, im: Image, p: Position):
    return small.sampled(boundary="mirror")(p * 5) + small.sampled(boundary="wrap")(p * -7)


# ---------------------------------------------------------------- interpolation


@program
def linear_at_halves(im: Image, p: Position):
    return im.sampled(interpolation="linear")(p + (0.5, 0.5))


@program
def places_of_floats_around_the_pixel(im: Image, rgb: Image, p: Position):
    linear = im.sampled(interpolation="linear", boundary="mirror")
    total = im(p + Vec2(1, -2)) + im((p.x - 3.0, p.y + 0.5)) + im(Vec2(p.x * 2, p.y) - 0.75)
    for offset, weight in ((1.3846153846, 0.3162162162), (3.2307692308, 0.0702702703)):
        total += (linear(p + Vec2(offset, 0)) + linear(p - Vec2(0, offset))) * weight
    return total, rgb((p.y + 40.0, p.x - 40.0)).g, (p.x + 0.3) - math.floor(p.x + 0.3)


@program
def linear_at_fractions(im: Image, p: Position):
    return im.sampled(interpolation="linear")(p * 0.375 + 0.125)


@program
def linear_at_whole_positions_is_exact(im: Image, p: Position):
    return im.sampled(interpolation="linear")(p) - im(p)


@program
def linear_beside_what_is_not_finite(im: Image, p: Position):
    holes = lambda q: im.sampled(interpolation="linear")(q)
    far = math.inf if p.x % 2 else -3e38 * (p.y + 1)
    x, y = im(p) * 0 + p.x, im(p) * 0 + 1.0
    return holes((far, y)), holes((x, far)), holes((x + 1e20, 0.5)), holes((x + y, y))


@program
def linear_of_vectors(vecs: Image, p: Position):
    return vecs.sampled(interpolation="linear")((p.x + 0.25, p.y - 0.75))


@program
def linear_of_8_bit(rgb: Image, p: Position):
    return rgb.sampled(interpolation="linear")(p + (0.5, 0.25))


@program
def linear_across_wrap(im: Image, p: Position):
    return im.sampled(interpolation="linear", boundary="wrap")(p + (6.25, 4.5))


@program
def linear_across_constant(im: Image, p: Position):
    return im.sampled(interpolation="linear", boundary="constant", cval=1.0)(p - (0.5, 0.75))


@program
def linear_across_mirror(im: Image, p: Position):
    return im.sampled(interpolation="linear", boundary="mirror")(p - (3.25, 2.5))


@program
def linear_at_dynamic_displacement(im: Image, flow: Image, p: Position):
    return im.sampled(interpolation="linear")(p + flow(p))


@program
def linear_rotation(im: Image, p: Position):
    x, y = p - (3, 2)
    return im.sampled(interpolation="linear")((3 + 0.8 * x - 0.6 * y, 2 + 0.6 * x + 0.8 * y))


@program
def sampled_twice(im: Image, p: Position):
    f = im.sampled(boundary="wrap").sampled(interpolation="linear")
    return f(p + (5.5, 0))


# ---------------------------------------------------------------- images as functions


@program
def fused_by_lambda(im: Image, p: Position):
    return blur(lambda q: 2 * im(q), p)


@program
def fused_twice(im: Image, p: Position):
    return blur(lambda q: blur(im, q), p)


@program
def fused_difference(im: Image, other: Image, p: Position):
    return blur(lambda q: im(q) - other(q), p)


@program
def fused_shift(im: Image, p: Position):
    def shifted(f, d):
        return lambda q: f(q + d)

    return shifted(shifted(im, (1, 0)), (0, 1))(p)


@program
def fused_colour_to_grey(rgb: Image, p: Position):
    def grey(q):
        c = rgb(q)
        return 0.25 * c.r + 0.5 * c.g + 0.25 * c.b

    return blur(grey, p)


@program
def fused_warp(im: Image, p: Position):
    def warped(q):
        return im(q + (q.y % 2, 0))

    return blur(warped, p)


@program
def fused_threshold_with_branch(im: Image, p: Position):
    def step(q):
        if im(q) > 0:
            return 1.0
        return 0.0

    return blur(step, p)


@program
def fused_constant_function(im: Image, p: Position):
    return blur(lambda q: 2.0, p) + im(p)


@program
def fused_function_of_position(im: Image, p: Position):
    return blur(lambda q: q.x * 0.5, p) + im(p)


@program
def gradient_of_function(im: Image, p: Position):
    def dx(f):
        return lambda q: 0.5 * (f(q + (1, 0)) - f(q - (1, 0)))

    return dx(dx(im))(p)


@program
def shared_taps(im: Image, p: Position):
    a = im(p + (1, 0)) + im(p - (1, 0))
    b = im(p + (1, 0)) - im(p - (1, 0))
    return a * b


@program
def image_of_vectors_from_three(im: Image, other: Image, small: Image, p: Position):
    return Vec3(im(p), other(p), small(p))


# ---------------------------------------------------------------- normalised coordinates


@program
def at_normalised_coordinates(im: Image, p: Position):
    return im.at(((p.x + 0.25) / im.width, (p.y + 0.75) / im.height))


@program
def at_the_nearest_beyond_the_edges(im: Image, p: Position):
    seen = im.sampled(boundary="wrap")
    return seen.at(Vec2(p.x + 3.4, p.y - 2.6) / Vec2(im.width, im.height), interpolation="nearest")


# ---------------------------------------------------------------- of which class they are


@program
def classes_of_images(im: Image, p: Position):
    asked = [
        isinstance(im, Image),
        isinstance(im, (Signal, Volume)),
        type(im) is Image,
        im.__class__ in (Signal, Volume),
        issubclass(type(im), Image),
        type(im).__name__ == "Image",
        hasattr(im, "depth"),
        hasattr(im, "width") and hasattr(im, "sampled"),
        getattr(im, "depth", 1) == 1,
        isinstance(im, Callable),
        im(p).__class__ is float,
        Vec2(im(p), 1).__class__ is Vec2,
    ]
    match im:
        case Signal():
            place = p.x
        case Image(boundary="nearest"):
            place = p + (1, 0)
        case _:
            place = p
    return sum([2**place for place, holds in enumerate(asked) if holds]), im(place)


@program
def options_of_sampled_by_place(im: Image, p: Position):
    seen = im.sampled("constant", 0.5)
    return seen(p + (3, 0)), im.sampled("wrap", None)(p - (2, 1)), seen.cval[0], len(im.cval)
