"""Compiled functions, images and functions from elsewhere, put together."""

import functools
import types
from dataclasses import dataclass

import numpy as np

import pygpu
from programs.suite import IMAGES, Suite
from pygpu import Image, Position, Vec2, glsl

program = Suite()

BACKGROUND = Image(IMAGES["other"], boundary="wrap")
LAYERS = [Image(IMAGES["im"]), Image(IMAGES["small"], interpolation="linear")]
NAMED = {"sky": Image(IMAGES["vecs"])}
SPACE = types.SimpleNamespace(texture=Image(IMAGES["unit"]), gain=2.0)


@pygpu.compile
def brighter(im: Image, p: Position, gain: float = 1.5):
    return gain * im(p)


@pygpu.compile(weights=(0.25, 0.5, 0.25))
def smoothed(im: Image, p: Position, weights):
    return sum(w * im(p + (i - 1, 0)) for i, w in enumerate(weights))


@dataclass
class Painter:
    brush: Image
    opacity: float

    @pygpu.compile
    def painted(self, im: Image, p: Position):
        return im(p) * (1 - self.opacity) + self.brush(p) * self.opacity

    def stroke(self, q):
        return self.brush(q) * self.opacity


def outside(q, f=BACKGROUND):
    return f(q) * 2


def counter():
    count = 3.0

    def read():
        return count

    return read


COUNTED = counter()


@program
def global_image(im: Image, p: Position):
    return im(p) + BACKGROUND(p + (5, 3))


@program
def global_images_in_list(im: Image, p: Position):
    return sum(layer(p) * k for k, layer in enumerate(LAYERS, 1)) + im(p)


@program
def global_image_interpolated(im: Image, p: Position):
    return LAYERS[1](p * 0.5 + 0.25) + im(p)


@program
def global_image_in_dict(im: Image, p: Position):
    return NAMED["sky"](p) * im(p)


@program
def global_image_in_namespace(im: Image, p: Position):
    return SPACE.texture(p) * SPACE.gain + im(p)


@program
def image_as_default_of_called_function(im: Image, p: Position):
    return outside(p) + outside(p, im)


@program
def global_image_sizes(im: Image, p: Position):
    return BACKGROUND.width + LAYERS[1].height * 10 + NAMED["sky"].channels * 100 + im(p)


@program
def global_image_sampled_otherwise(im: Image, p: Position):
    return BACKGROUND.sampled(boundary="constant", cval=3.0)(p - (2, 2)) + im(p)


@program
def same_image_twice(im: Image, p: Position):
    def difference(a, b):
        return a(p) - b(p + (1, 0))

    return difference(im, im) + difference(BACKGROUND, BACKGROUND)


@program
def compiled_function_called(im: Image, p: Position):
    return brighter(im, p) + brighter(im, p + (1, 0), gain=2.0)


@program
def compiled_function_with_known_values_called(im: Image, p: Position):
    return smoothed(im, p) - im(p)


@program
def compiled_function_as_image(im: Image, p: Position):
    f = functools.partial(brighter, im)
    return sum(f(p + d) for d in ((0, 0), (1, 0), (0, 1)))


@program
def compiled_function_of_function(im: Image, p: Position):
    return smoothed(lambda q: brighter(im, q), p)


@program
def plain_function_behind_compiled(im: Image, p: Position):
    return brighter.__wrapped__(im, p, 3.0)


@program(painter=Painter(Image(IMAGES["other"]), 0.25))
def image_in_object_parameter(im: Image, p: Position, painter: Painter):
    return painter.stroke(p) + im(p)


@program(painter=Painter(Image(IMAGES["other"]), 0.25))
def compiled_method_called(im: Image, p: Position, painter: Painter):
    return painter.painted(im, p)


@program(texture=Image(IMAGES["small"], boundary="mirror"))
def image_as_known_parameter(im: Image, p: Position, texture):
    return texture(p) + im(p)


@program
def closure_of_outside_function(im: Image, p: Position):
    return COUNTED() * im(p)


@program
def functions_of_several_modules(im: Image, p: Position):
    return glsl.mix(np.sin(im(p)), pygpu.cos(im(p)), 0.25) + pygpu.fract(im(p))


@program
def numpy_array_of_functions(im: Image, p: Position):
    fs = np.array([abs, np.sin], dtype=object)
    return sum(f(im(p)) for f in fs)


@program
def functions_made_by_exec(im: Image, p: Position):
    names = {}
    exec("def f(v, k=2):\n    return [v * k if v > 0 else -v, k][0]", names)
    return names["f"](im(p)) + names["f"](im(p), 3)


@program
def warp_by_flow_field(im: Image, flow: Image, p: Position):
    at = Vec2(p)
    for _ in range(3):
        at = at + flow(at) * 0.25
    return im.sampled(interpolation="linear")(at)


@program
def pyramid_level(im: Image, p: Position):
    def half(f):
        return lambda q: sum(f(q * 2 + d) for d in ((0, 0), (1, 0), (0, 1), (1, 1))) / 4

    return half(half(im))(p)


@program
def gradient_magnitude_of_any_function(im: Image, p: Position):
    def gradient(f):
        return lambda q: Vec2(f(q + (1, 0)) - f(q - (1, 0)), f(q + (0, 1)) - f(q - (0, 1))) / 2

    def magnitude(f):
        return lambda q: glsl.length(f(q))

    return magnitude(gradient(lambda q: im(q) ** 2))(p)
