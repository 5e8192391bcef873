"""The eight programs of a deferred renderer at a megapixel, against the same functions in CPython.

python -m benchmarks.renderer [--targets cpu fragment] [--side 1024] [--pixels 200]

The programs are those of PyStream's renderer, as examples/renderer writes them: a material with
normal and parallax map, a skybox, occlusion, a bilateral filter, ambient light, a lamp, a blur, and
what makes a picture of it. CPython runs the functions as they stand at some pixels, at random;
what it takes for all is that many times as long. A target's time is its own, of the second run on:
nothing is compiled, nothing travels. Both are the least of some rounds by turns: a machine that is
shared, or changes its clock, is slower at times by half.
"""

from __future__ import annotations

import argparse
import functools
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

import pygpu
from examples.renderer import materials, passes, sky
from pygpu import Cube, Image, Mat4, Mesh, Position, Vec2, Vec3
from pygpu.core.device import Device
from pygpu.devices import targets
from pygpu.runtime import Compiled

RUNS = 20
ROUNDS = 5


@pygpu.compile
def skybox(p: Position, around: Cube, corner: Vec3, right: Vec3, down: Vec3, side: float):
    return around(corner + (p.x + 0.5) / side * right + (p.y + 0.5) / side * down)


@pygpu.compile
def ambient(colours: Image, normals: Image, open: Image, p: Position, around: Cube):
    return around(normals(p)) * colours(p).rgb * open(p)


@pygpu.compile
def light(colours: Image, normals: Image, places: Image, p: Position, lamp: passes.Lamp, eye: Vec3):
    world, base = places(p).xyz, colours(p)
    look = pygpu.normalize(eye - world)
    return passes.shade(lamp, world, normals(p), look, base.rgb, base.w)


@dataclass(frozen=True)
class Work:
    """One program: how a whole picture of it is made on a target, and one pixel in CPython."""

    name: str
    whole: Callable[[str], Any]
    pixel: Callable[[Position], Any]


def works(side: int) -> list[Work]:
    """The programs, over pictures of what a camera might see."""
    y, x = np.mgrid[:side, :side] / side
    flat = np.stack([8 * x - 4, 0.3 * np.sin(9 * x) * np.cos(7 * y), 4 - 8 * y], -1)
    eye = Vec3(0, 3, 6)
    distance = np.linalg.norm(flat - (0, 3, 6), axis=-1)
    rng = np.random.default_rng(0)
    normal = rng.normal(0, 0.2, flat.shape) + (0, 1, 0)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    places = Image(np.float32(np.concatenate([flat, distance[..., None]], -1)))
    normals = Image(np.float32(normal))
    colours = Image(rng.random((side, side, 4), np.float32))
    open = Image(rng.random((side, side), np.float32))
    lit = Image(rng.random((side, side, 3), np.float32) * 2)
    glow = Image(rng.random((side // 4, side // 4, 3), np.float32))
    camera = Mat4(np.diag([0.25, 0.25, -0.1, 1.0]))
    around = sky.cube(64)
    shape = (side, side)
    box = {"corner": Vec3(-1, 1, -1), "right": Vec3(2, 0, 0), "down": Vec3(0, -2, 0)}
    lamp = passes.Lamp(Vec3(1, 2, 1), Vec3(3, 2, 1), 6.0)
    made = [
        _material(side),
        _images("skybox", skybox, around=around, **box, side=float(side), shape=shape),
        _images("ssao", passes.occlusion, places, normals, camera=camera, eye=eye),
        _images("bilateral", passes.bilateral, open, places),
        _images("ambient", ambient, colours, normals, open, around=around),
        _images("light", light, colours, normals, places, lamp=lamp, eye=eye),
        _images("blur", passes.blur, lit, along=Vec2(1, 0)),
        _images("post", passes.toned, lit, glow),
    ]
    return made


def _images(name: str, function: Compiled, *images: Image, **given: Any) -> Work:
    """A function of images."""
    on = functools.cache(function.on)
    at = {key: value for key, value in given.items() if key != "shape"}
    position = function.signature.parameters[function.signature.position or 0].name
    return Work(
        name,
        lambda target: on(target)(*images, **given),
        lambda p: function(*images, **at, **{position: p}),
    )


def _material(side: int) -> Work:
    """What is drawn, over the whole picture."""
    heights = materials.bricks(shape=(256, 256))
    low, high = Vec3(0.2), Vec3(0.5)
    textures = {
        "heights": Image(heights, boundary="wrap"),
        "colours": Image(materials.coloured(heights, low=low, high=high), boundary="wrap"),
        "normals": Image(materials.normals_of(heights), boundary="wrap"),
    }
    shader = materials.Surface(np.eye(4), np.eye(4), (0.3, 0.2, 3.0), **textures, repeat=4.0)
    corners = [(-1, 1, 0), (1, 1, 0), (-1, -1, 0), (1, -1, 0)]
    mesh = Mesh(
        [(0, 2, 1), (1, 2, 3)],
        position=corners,
        normal=[(0, 0, 1)] * 4,
        tangent=[(1, 0, 0)] * 4,
        uv=[(0, 0), (1, 0), (0, 1), (1, 1)],
    )

    def pixel(p: Position) -> Any:
        u, v = (p.x + 0.5) / side, (p.y + 0.5) / side
        world = Vec3(2 * u - 1, 1 - 2 * v, 0)
        return shader.fragment(world, Vec3(0, 0, 1), Vec3(1, 0, 0), Vec2(4 * u, 4 * v))

    def whole(target: str) -> Any:
        return pygpu.draw(shader, mesh, shape=(side, side), depth=False, target=target)

    return Work("material", whole, pixel)


def in_python(work: Work, side: int, pixels: int) -> float:
    """Seconds that CPython takes for the whole picture, as some of its pixels tell."""
    drawn = random.Random(0)
    places = [Position(drawn.randrange(side), drawn.randrange(side)) for _ in range(pixels)]
    work.pixel(places[0])
    begun = time.perf_counter()
    for p in places:
        work.pixel(p)
    return (time.perf_counter() - begun) / pixels * side * side


def on_device(work: Work, device: Device) -> float:
    """Seconds that a target takes: the median of some runs of its own clock."""
    for _ in range(2):
        _finished(work.whole(device.name))
    return median(device.seconds([lambda: work.whole(device.name)] * RUNS))


def _finished(result: Any) -> None:
    for image in result if isinstance(result, tuple) else (result,):
        image.numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--targets", nargs="+", default=["cpu"])
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--pixels", type=int, default=200)
    given = parser.parse_args()
    devices = [targets.open_device(name) for name in given.targets]
    for device in devices:
        print(f"{device.name}: {device.describe().get('device', '')}")
    head = " | ".join(f"{device.name}, ms | times" for device in devices)
    print(f"| program | CPython, s | {head} |\n| --- | --- |{' --- | --- |' * len(devices)}")
    ratios: list[list[float]] = [[] for _ in devices]
    for work in works(given.side):
        runs = [partial(in_python, work, given.side, given.pixels)]
        runs += [partial(on_device, work, device) for device in devices]
        python, *seconds = np.min([[run() for run in runs] for _ in range(ROUNDS)], axis=0)
        cells = [work.name, f"{python:.0f}"]
        for took, found in zip(seconds, ratios, strict=True):
            found.append(python / took)
            cells += [f"{1e3 * took:.3f}", f"{python / took:,.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)
    means = [math.exp(sum(map(math.log, found)) / len(found)) for found in ratios]
    shown = " | ".join(f" | {mean:,.0f}" for mean in means)
    print(f"| geometric mean | | {shown.lstrip(' |') if len(means) == 1 else shown} |")


if __name__ == "__main__":
    main()
