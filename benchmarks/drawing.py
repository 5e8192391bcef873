"""Meshes: triangles and pixels a second on `cpu` and by OpenGL, and what a draw costs in Python.

python -m benchmarks.drawing [--targets cpu fragment] [--rounds 9]

A scene is a torus of ever smaller triangles, lit and textured; squares that cover the picture, one
over the other; what the example of a renderer draws for its camera (five meshes, three images) and
for its sun. Times are medians of interleaved draws, the pictures in host memory at the end; in
brackets the processors' time, which other programs on the machine change less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Final

import numpy as np
from numpy.typing import NDArray

import pygpu
from benchmarks.measure import interleaved
from examples.renderer import geometry
from examples.renderer.render import Renderer
from pygpu import Image, Mat4, Mesh, Vec2, Vec3, Vec4

SHAPE: Final = (720, 1280)


class Lit(pygpu.Shader):
    """A surface with a colour of its own, by one lamp."""

    camera: Mat4
    light: Vec3

    def vertex(self, position: Vec3, normal: Vec3, uv: Vec2):
        return self.camera @ Vec4(position, 1), normal, uv

    def fragment(self, normal, uv):
        bright = max(pygpu.dot(pygpu.normalize(normal), self.light), 0.1)
        return Vec4(bright * uv.x, bright * uv.y, 0.5 * bright, 1)


class Textured(pygpu.Shader):
    """A surface with a photograph on it."""

    camera: Mat4
    photo: Image

    def vertex(self, position: Vec3, normal: Vec3, uv: Vec2):
        return self.camera @ Vec4(position, 1), uv

    def fragment(self, uv):
        return Vec4(self.photo.at(uv), 1)


@dataclass(frozen=True)
class Scene:
    """What is drawn onto a target, of how many triangles, covering about how many pixels."""

    draw: Callable[[str], object]
    triangles: int
    pixels: int


def torus(around: int, across: int) -> tuple[Mesh, int]:
    """A torus, and how many triangles it has."""
    u, v = np.meshgrid(
        np.linspace(0, 2 * np.pi, around + 1), np.linspace(0, 2 * np.pi, across + 1), indexing="ij"
    )
    ring = np.stack([np.cos(u), np.sin(u), np.zeros_like(u)], -1)
    normal = np.stack([np.cos(v) * np.cos(u), np.cos(v) * np.sin(u), np.sin(v)], -1)
    index = np.arange((around + 1) * (across + 1)).reshape(around + 1, across + 1)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[:-1, 1:], index[1:, 1:]
    triangles = np.concatenate([_rows(np.stack(t, -1)) for t in ((a, b, c), (c, b, d))])
    uv = np.stack([u, v], -1) / (2 * np.pi)
    made = Mesh(triangles, position=_rows(ring + 0.4 * normal), normal=_rows(normal), uv=_rows(uv))
    return made, len(triangles)


def squares(count: int) -> Mesh:
    """Squares that cover the picture, the last the nearest."""
    corners = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)], np.float32)
    depths = np.repeat(np.linspace(0.5, -0.5, count), 4)[:, None]
    position = np.concatenate([np.tile(corners, (count, 1)), depths], -1)
    normal = np.tile(np.float32([0, 0, 1]), (4 * count, 1))
    uv = np.tile(corners * 0.5 + 0.5, (count, 1))
    first = 4 * np.arange(count)[:, None, None]
    triangles = (first + np.array([[0, 1, 2], [2, 1, 3]])).reshape(-1, 3)
    return Mesh(triangles, position=position, normal=normal, uv=uv)


def _rows(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return values.reshape(-1, values.shape[-1])


def camera() -> NDArray[np.float64]:
    """A torus seen from above and in front of it."""
    near, far, tilt, zoom = 0.1, 10.0, 0.9, 1.6
    project = np.diag([zoom * SHAPE[0] / SHAPE[1], zoom, -(far + near) / (far - near), 0])
    project[2, 3], project[3, 2] = -2 * far * near / (far - near), -1
    turn = np.eye(4)
    turn[1:3, 1:3] = [[np.cos(tilt), -np.sin(tilt)], [np.sin(tilt), np.cos(tilt)]]
    move = np.eye(4)
    move[2, 3] = -2.6
    return project @ move @ turn


def drawn(
    shader: pygpu.Shader, mesh: Mesh, target: str, shape: tuple[int, int] = SHAPE, **state: object
) -> NDArray[np.float32]:
    """The picture, in host memory."""
    return np.asarray(pygpu.draw(shader, mesh, shape=shape, target=target, **state))


def scenes() -> dict[str, Scene]:
    """The scenes by name."""
    light, seen, still = (0.3, 0.2, 0.9), camera(), np.eye(4)
    photo = Image(np.random.default_rng(0).random((512, 512, 3), np.float32))
    made = {}
    for around, across in ((64, 32), (512, 256), (1024, 512)):
        mesh, count = torus(around, across)
        picture = drawn(Lit(seen, light), mesh, "cpu")
        pixels = int((picture[..., 3] > 0).sum())
        shaders = {"": Lit(seen, light), ", textured": Textured(seen, photo)}
        for kind, shader in shaders.items():
            draw = partial(drawn, shader, mesh, cull="back")
            made[f"torus, {count} triangles{kind}"] = Scene(draw, count, pixels)
    size = SHAPE[0] * SHAPE[1]
    lit, textured = Lit(still, light), Textured(still, photo)
    made["a square"] = Scene(partial(drawn, lit, squares(1)), 2, size)
    made["a square, textured"] = Scene(partial(drawn, textured, squares(1)), 2, size)
    blended = partial(drawn, lit, squares(16), blend="alpha", depth=False)
    made["16 squares, blended"] = Scene(blended, 32, 16 * size)
    sampled = partial(drawn, lit, squares(16), samples=4)
    made["16 squares, 4 samples"] = Scene(sampled, 32, 16 * size)
    return made | rendered()


def rendered() -> dict[str, Scene]:
    """What the example of a renderer draws."""
    height, width = SHAPE
    eye, lamp = np.array([5.0, 3.0, 5.0]), np.array([3.0, 5.0, 3.0])
    project = geometry.perspective(42, width / height)
    seen = project @ geometry.view(eye, (0, 1.0, 0))
    lit = np.diag([1 / 7, 1 / 7, -1 / 12, 1.0]) @ geometry.view(lamp, (0, 0, 0))
    renderers = {target: Renderer(height, width, target) for target in ("cpu", "fragment")}
    some = renderers["cpu"]
    triangles = sum(len(mesh.geometry.triangles) for mesh, *_ in some.things)

    def surfaces(target: str) -> list[NDArray[np.float32]]:
        return [np.asarray(image) for image in renderers[target].surfaces(seen, eye)]

    def shadows(target: str) -> NDArray[np.float32]:
        return np.asarray(renderers[target].shadows(lit))

    places = surfaces("cpu")[3], shadows("cpu")
    covered = [int((depths < 1).sum()) for depths in places]
    return {
        "renderer, camera": Scene(surfaces, triangles, covered[0]),
        "renderer, sun": Scene(shadows, triangles, covered[1]),
    }


def processors(run: Callable[[], object], rounds: int) -> float:
    """The seconds that all threads of this process work in a run."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", nargs="+", default=["cpu", "fragment"])
    parser.add_argument("--rounds", type=int, default=9)
    chosen = parser.parse_args()
    print(f"{SHAPE[1]} x {SHAPE[0]} pixels; ms by the clock (of processors)\n")
    for name, scene in scenes().items():
        runs = {target: partial(scene.draw, target) for target in chosen.targets}
        took = interleaved(runs, chosen.rounds)
        print(name)
        for target, run in runs.items():
            seconds = took[target]
            print(
                f"  {target:9s}{1000 * seconds:8.2f} ({1000 * processors(run, 3):.2f})"
                f"{scene.triangles / seconds / 1e6:9.2f} Mtriangles/s"
                f"{scene.pixels / seconds / 1e6:9.1f} Mpixels/s"
            )
    shader, mesh = Lit(np.eye(4), (0, 0, 1)), squares(1)
    for target in chosen.targets:
        took = interleaved({target: partial(drawn, shader, mesh, target, (1, 1))}, 21)
        print(f"one pixel on {target}: {1e6 * took[target]:.0f} us")


if __name__ == "__main__":
    main()
