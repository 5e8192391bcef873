"""Eight shader programs of a deferred renderer at a million pixels, against CPython.

python -m benchmarks.programs [--targets cpu] [--pixels 200] [--rounds 9]

They are those of PyStream's renderer: a material with normal and parallax map, the sky, occlusion,
a bilateral filter, ambient light, lamps, blur and tone, as examples/renderer has them. In CPython
the same functions run as they stand, at pixels spread over the picture; a million pixels take as
many times longer. Results of both are compared there. Pictures stay on the device; one texel is
fetched.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import pygpu
from benchmarks.measure import interleaved
from examples.renderer import geometry, materials, passes
from examples.renderer.render import Renderer, through
from pygpu import Image, Mat4, Mesh, Position, Vec2, Vec3, Vec4

SIDE: Final = 1024
EYE: Final = np.array([5.0, 3.0, 5.0])


class OnPicture(materials.Surface):
    """The material on all of the picture, seen from a little aside."""

    def vertex(self, position: Vec2, uv: Vec2):
        world = Vec3(position, 0)
        return Vec4(position, 0, 1), world, Vec3(0, 0, 1), Vec3(1, 0, 0), uv * self.repeat


@pygpu.compile
def skybox(p: Position, scene: passes.Scene, corner: Vec3, right: Vec3, down: Vec3, size: float):
    return scene.sky(corner + (p.x + 0.5) / size * right + (p.y + 0.5) / size * down)


@pygpu.compile
def ambient(colours: Image, normals: Image, open: Image, p: Position, scene: passes.Scene):
    above = normals(p) + Vec3(0, 1e-6, 0)  # a direction, too, where nothing was drawn
    return scene.ambient(above) * colours(p).rgb * open(p)


@pygpu.compile
def light(
    colours: Image, normals: Image, places: Image, p: Position, scene: passes.Scene, eye: Vec3
):
    base, n, place = colours(p), normals(p), places(p).xyz
    look = pygpu.normalize(eye - place)
    return sum(passes.shade(lamp, place, n, look, base.rgb, base.w) for lamp in scene.lamps)


@dataclass(frozen=True)
class Program:
    """A picture by a target, and a pixel of it by CPython."""

    run: Callable[[str], Any]
    pixel: Callable[[int, int], Any]


def programs() -> dict[str, Program]:
    """The eight by name."""
    renderer = Renderer(SIDE, SIDE, "cpu")
    camera = geometry.perspective(42, 1.0) @ geometry.view(EYE, (0, 1.0, 0))
    colours, normals, places, _ = renderer.surfaces(camera, EYE)
    shadows = renderer.shadows(
        np.diag([1 / 7, 1 / 7, -1 / 12, 1.0]) @ geometry.view(np.array([3.0, 5.0, 3.0]), (0, 0, 0))
    )
    sun = passes.Sun(Vec3(0.3, 0.6, 0.7), Vec3(1.5, 1.2, 0.9), Mat4(camera), shadows)
    lamps = [passes.Lamp(Vec3(*at), Vec3(*colour), 6.0) for at, colour in renderer.lamps(0)]
    scene, eye = passes.Scene([sun, *lamps], renderer.sky, renderer.ambient), Vec3(*EYE)
    names = zip(("corner", "right", "down"), through(np.linalg.inv(camera), EYE), strict=True)
    open = passes.occlusion.on("cpu")(places, normals, camera=Mat4(camera), eye=eye)
    lit = light.on("cpu")(colours, normals, places, scene=scene, eye=eye)
    return {
        "material": material(),
        "skybox": of(skybox, scene=scene, size=float(SIDE), **dict(names)),
        "ssao": of(passes.occlusion, places, normals, camera=Mat4(camera), eye=eye),
        "bilateral": of(passes.bilateral, open, places),
        "ambient": of(ambient, colours, normals, open, scene=scene),
        "light": of(light, colours, normals, places, scene=scene, eye=eye),
        "blur": of(passes.blur, lit, along=Vec2(1, 0)),
        "post": of(passes.toned, lit, lit),
    }


def of(function: Any, *images: Image, **arguments: Any) -> Program:
    """A compiled function of images, or of none."""
    shape = {} if images else {"shape": (SIDE, SIDE)}

    def pixel(x: int, y: int) -> Any:
        return function(*images, p=Position(x, y), **arguments)

    return Program(lambda target: function.on(target)(*images, **arguments, **shape), pixel)


def material() -> Program:
    """The material, drawn; without mipmaps, for one pixel in CPython has no neighbours."""
    bricks = materials.bricks(shape=(256, 256)).sampled(boundary="wrap")
    low, high = Vec3(0.2, 0.18, 0.17), Vec3(0.5, 0.22, 0.14)
    textures = {
        "colours": Image(materials.coloured(bricks, low=low, high=high), boundary="wrap"),
        "normals": Image(materials.normals_of(bricks, steep=5.0), boundary="wrap"),
        "heights": bricks,
    }
    eye = np.array([0.5, 0.3, 2.0])
    shader = OnPicture(np.eye(4), np.eye(4), eye, **textures, relief=0.06, repeat=4.0)

    def pixel(x: int, y: int) -> Any:
        u, v = (x + 0.5) / SIDE, (y + 0.5) / SIDE
        world = Vec3(2 * u - 1, 1 - 2 * v, 0)
        return shader.fragment(world, Vec3(0, 0, 1), Vec3(1, 0, 0), Vec2(4 * u, 4 * v))[0]

    def run(target: str) -> Image:
        return pygpu.draw(shader, Mesh.quad(), shape=(SIDE, SIDE), target=target)[0]

    return Program(run, pixel)


def in_cpython(program: Program, places: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
    """Seconds for a million pixels, and the values at these."""
    program.pixel(*map(int, places[0]))
    start = time.perf_counter()
    values = [program.pixel(int(x), int(y)) for x, y in places]
    took = time.perf_counter() - start
    return took / len(places) * 1e6, np.array([np.array(v, float).ravel() for v in values])


def awaited(program: Program, target: str) -> None:
    """The picture computed: one texel of it is fetched."""
    np.asarray(texel.on(target)(program.run(target), shape=(1, 1)))


@pygpu.compile
def texel(im: Image, p: Position):
    return im(p)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", nargs="+", default=["cpu"])
    parser.add_argument("--pixels", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    places = np.random.default_rng(0).integers(0, SIDE, (chosen.pixels, 2))
    ratios: dict[str, list[float]] = {target: [] for target in chosen.targets}
    print("ms for a million pixels; times as fast as CPython; pixels that differ by over 1 %")
    for name, program in programs().items():
        slow, values = in_cpython(program, places)
        runs = {target: partial(awaited, program, target) for target in chosen.targets}
        took = interleaved(runs, chosen.rounds)
        line = f"{name:10s} CPython {1e3 * slow:8.0f}"
        for target in chosen.targets:
            picture = np.asarray(program.run(target)).reshape(SIDE, SIDE, -1)
            found = picture[places[:, 1], places[:, 0]]
            far = np.abs(found - values) > 0.01 * (1 + np.abs(values))
            seconds = took[target] * 1e6 / SIDE**2
            ratios[target].append(slow / seconds)
            line += f"  {target} {1e3 * seconds:8.2f} {slow / seconds:9.0f} {far.any(1).sum():3d}"
        print(line)
    for target, each in ratios.items():
        print(f"{target}: geometric mean of the ratios {geometric_mean(each):.0f}")


if __name__ == "__main__":
    main()
