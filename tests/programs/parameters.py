"""Parameters of every kind."""

from dataclasses import dataclass, field

import numpy as np

from programs.suite import Suite
from pygpu import Bool, Float, Image, Int, Mat2, Position, Vec2, Vec3

program = Suite()


@dataclass
class Light:
    colour: Vec3
    strength: float = 1.0
    on: bool = True
    name: str = "lamp"


@dataclass
class Scene:
    lights: list
    tint: Vec3
    options: dict = field(default_factory=dict)


class Lens:
    def distort(self, q):
        return q


class Barrel(Lens):
    def __init__(self, k):
        self.k = k

    def distort(self, q):
        return q * (1 + self.k)


@program
def old_spelling(im=Image, p=Position):
    return im(p) * 2


@program(gain=1.5)
def old_spelling_of_scalar(im=Image, p=Position, gain=Float):
    return im(p) * gain


@program
def default_of_dynamic(im: Image, p: Position, gain: Float = 2.0):
    return im(p) * gain


@program
def default_of_plain_float(im: Image, p: Position, gain: float = 2.5, n: int = 3, on: bool = False):
    return im(p) * gain + n if on else im(p) * n


@program
def known_default(im: Image, p: Position, taps=(1.0, 2.0)):
    return sum(w * im(p + (i, 0)) for i, w in enumerate(taps))


@program(gain=2.0, n=3, on=True)
def every_scalar_type(im: Image, p: Position, gain: Float, n: Int, on: Bool):
    return im(p) * gain + n if on else 0.0


@program(shift=Vec2(0.5, 0.25), turn=Mat2([[0, -1], [1, 0]]))
def vector_and_matrix(flow: Image, p: Position, shift: Vec2, turn: Mat2):
    return turn @ flow(p) + shift


@program
def position_first(p: Position, im: Image):
    return im(p + (1, 1))


@program
def position_of_another_name(pos: Position, im: Image):
    return im(pos)


@program(kernel=np.array([[1.0, -1.0]]))
def known_array(im: Image, p: Position, kernel):
    return kernel[0, 0] * im(p) + kernel[0, 1] * im(p + (1, 0))


@program(f=abs)
def known_function(im: Image, p: Position, f):
    return f(im(p))


@program(mode="max")
def known_string(im: Image, p: Position, mode):
    return {"min": min, "max": max}[mode](im(p), 0)


@program(lamp=Light(Vec3(1.0, 0.5, 0.25), 2.0))
def dataclass_parameter(im: Image, p: Position, lamp: Light):
    return lamp.colour * lamp.strength * im(p) if lamp.on else Vec3(0.0)


@program(lamp=Light(Vec3(1.0, 0.5, 0.25), 2.0, False))
def strings_in_objects_are_known(im: Image, p: Position, lamp: Light):
    return im(p) + len(lamp.name) + lamp.on


@program(scene=Scene([Light(Vec3(1.0), 0.5), Light(Vec3(0, 1, 2))], Vec3(0.5), {"gamma": 2.0}))
def nested_object(im: Image, p: Position, scene: Scene):
    total = Vec3(0.0)
    for lamp in scene.lights:
        total = total + lamp.colour * lamp.strength
    return total * scene.tint * im(p) + scene.options["gamma"]


@program(lens=Barrel(0.25))
def polymorphic_object(im: Image, p: Position, lens: Lens):
    return im(lens.distort(p))


@program(a=1.5, b=2)
def scalars_shadowed_by_locals(im: Image, p: Position, a: float, b: int):
    b = b * a
    a = a + b
    return im(p) * a + b


@program(gain=2)
def int_given_for_float(im: Image, p: Position, gain: float):
    return im(p) / gain
