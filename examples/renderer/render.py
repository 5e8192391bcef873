"""The frame: the order in which meshes are drawn and passes run."""

import numpy as np

import pygpu
from pygpu import Image, Mat4, Shader, Vec3, Vec4

from . import geometry, materials, passes, sky

SHADOW = 1024  # pixels of a side of what the sun sees


class Depth(Shader):
    """Nothing but depths: what the sun sees."""

    camera: Mat4
    model: Mat4

    def vertex(self, position: Vec3):
        return self.camera @ (self.model @ Vec4(position, 1))

    def fragment(self):
        return 1.0


class Glowing(Shader):
    """A lamp as it is seen: drawn over the light, tested against the depths of the scene."""

    camera: Mat4
    place: Vec3
    size: float
    colour: Vec3

    def vertex(self, position: Vec3, normal: Vec3):
        return self.camera @ Vec4(self.place + self.size * position, 1), normal

    def fragment(self, normal):
        return self.colour


class Renderer:
    """A small scene: a ring of stone and balls on sand, lamps that go around."""

    def __init__(self, height, width, target="auto"):
        self.shape, self.target = (height, width), target
        self.compiled = {}
        self.sky, self.ambient = sky.cube(), sky.light_cube()
        stone, sand = materials.stone(), materials.sand()
        gold, blue = materials.smooth((0.9, 0.6, 0.2)), materials.smooth((0.15, 0.25, 0.6))
        ring, ball = geometry.torus(1.5, 0.55), geometry.ball(1.0)
        placed = geometry.moved
        self.things = [  # mesh, class, place, textures, fields
            (geometry.floor(80), materials.Ground, placed(0, 0, 0), sand,
             {"gloss": 0.05, "relief": 0.04, "repeat": 20.0}),
            (ring, materials.Surface, placed(0, 1.5, 0, 0.5, 1.2), stone,
             {"gloss": 0.2, "relief": 0.06, "repeat": 2.0}),
            (ball, materials.Surface, placed(0, 0.75, 0) @ np.diag([0.75, 0.75, 0.75, 1]), gold,
             {"gloss": 0.9}),
            (ball, materials.Surface, placed(-2.6, 0.6, 1.2) @ np.diag([0.6, 0.6, 0.6, 1]), blue,
             {"gloss": 0.7}),
            (ball, materials.Surface, placed(2.3, 0.9, -1.6) @ np.diag([0.9, 0.9, 0.9, 1]), stone,
             {"gloss": 0.15, "relief": 0.03, "repeat": 2.0}),
        ]  # fmt: skip
        self.ball = geometry.ball(1.0, 16, 8)

    def lamps(self, time):
        """Lamps that go around the middle: place, colour."""
        for k, colour in enumerate([(1, 0.35, 0.1), (0.2, 0.9, 0.4), (0.3, 0.5, 1)]):
            a = 2 * np.pi * (time + k / 3)
            yield np.array([3 * np.cos(a), 0.5 + 0.3 * np.sin(3 * a), 3 * np.sin(a)]), colour

    def draw_all(self, draw_one):
        """One draw for each thing, each onto what the one before gave."""
        results = None
        for mesh, cls, model, textures, fields in self.things:
            results = draw_one(results, mesh, cls, model, textures, fields)
        return results

    def surfaces(self, camera, eye):
        """Colours, normals, places and depths of what is seen."""

        def draw_one(before, mesh, cls, model, textures, fields):
            shader = cls(camera, model, eye, **textures, **fields)
            onto = {"shape": self.shape, "clear": [0.0, 0.0, (0, 0, 0, passes.FAR)]}
            if before is not None:
                onto = {"onto": before[:3], "depth": before[3]}
            return pygpu.draw(
                shader, mesh, cull="back", keep_depth=True, target=self.target, **onto
            )

        return self.draw_all(draw_one)

    def shadows(self, camera):
        """The depths that the sun sees."""

        def draw_one(before, mesh, cls, model, textures, fields):
            onto = {"shape": (SHADOW, SHADOW)} if before is None else {
                "onto": before[0], "depth": before[1]}  # fmt: skip
            return pygpu.draw(
                Depth(camera, model), mesh, keep_depth=True, target=self.target, **onto
            )

        return self.draw_all(draw_one)[1]

    def frame(self, time=0.0):
        """The picture at a time, 0 to 1 once around: uint8 (H, W, 3)."""
        height, width = self.shape
        turn = 2 * np.pi * (0.08 * np.sin(2 * np.pi * time) + 0.12)
        eye = np.array([7.4 * np.sin(turn), 3.0, 7.4 * np.cos(turn)])
        looking = geometry.view(eye, (0, 1.0, 0))
        camera = geometry.perspective(42, width / height) @ looking
        colours, normals, places, depths = self.surfaces(camera, eye)

        to_sun = np.array(list(sky.SUN)) / np.linalg.norm(list(sky.SUN))
        seen = np.diag([1 / 7, 1 / 7, -1 / 12, 1.0]) @ geometry.view(to_sun * 10, (0, 0, 0))
        seen[2, 3] -= 10 / 12
        sun = passes.Sun(Vec3(*to_sun), Vec3(1.5, 1.25, 0.95), Mat4(seen), self.shadows(seen))
        lamps = [
            passes.Lamp(Vec3(*place), Vec3(*colour) * 2.5, 6.0)
            for place, colour in self.lamps(time)
        ]
        scene = passes.Scene([sun, *lamps], self.sky, self.ambient)

        run = {"camera": Mat4(camera), "eye": Vec3(*eye)}
        open = self.on(passes.occlusion)(places, normals, **run)
        open = self.on(passes.bilateral)(open, places)
        back = np.linalg.inv(camera)
        corner, right, down = through(back, eye)
        light = self.on(passes.lit)(
            colours, normals, places, open, scene=scene, eye=Vec3(*eye),
            corner=corner, right=right, down=down,
        )  # fmt: skip
        for place, colour in self.lamps(time):
            shader = Glowing(camera, place, 0.09, Vec3(*colour) * 4)
            light, depths = pygpu.draw(
                shader, self.ball, onto=light, depth=depths, keep_depth=True, target=self.target
            )
        small = (-(-height // 4), -(-width // 4))
        glow = self.on(passes.bright)(light, shape=small)
        for along in ((1, 0), (0, 1)):
            glow = self.on(passes.blur)(glow, along=along)
        return np.asarray(self.on(passes.toned)(light, glow, dtype=np.uint8))

    def on(self, function):
        """The function on the renderer's target, compiled once."""
        if self.target == "auto":
            return function
        if function not in self.compiled:
            self.compiled[function] = function.on(self.target)
        return self.compiled[function]


def through(back, eye):
    """The directions to the picture's corner on top left, and along its sides."""

    def at(x, y):
        point = back @ np.array([x, y, 1.0, 1.0])
        return point[:3] / point[3] - eye

    corner = at(-1, 1)
    return Vec3(*corner), Vec3(*(at(1, 1) - corner)), Vec3(*(at(-1, -1) - corner))


def save_animation(frames, path, seconds=0.08):
    """Frames as a GIF that goes around."""
    first, *rest = [Image(frame).to_pil() for frame in frames]
    first.save(path, save_all=True, append_images=rest, duration=int(1000 * seconds), loop=0)
