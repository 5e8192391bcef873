"""Meshes: triangles and pixels a second on `cpu` and by OpenGL, and what a draw costs in Python.

python -m benchmarks.drawing [--targets cpu fragment] [--rounds 9]

A scene is a torus of ever smaller triangles, lit and textured, or squares that cover the picture,
one over the other. Times are medians of interleaved draws, the picture in host memory at the end;
under them the processors' time, which other programs on the machine change less.
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
from pygpu import Image, Mat4, Mesh, Vec2, Vec3, Vec4

SHAPE: Final = (720, 1280)
SIDE: Final = 512  # of the photograph


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
        return Vec4(self.photo(uv * SIDE - 0.5), 1)


@dataclass(frozen=True)
class Scene:
    """What is drawn: a shader and a mesh, how, and about how many pixels are computed."""

    shader: pygpu.Shader
    mesh: Mesh
    triangles: int
    pixels: int
    state: dict[str, object]


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


def scenes() -> dict[str, Scene]:
    """The scenes by name."""
    light, seen, still = (0.3, 0.2, 0.9), camera(), np.eye(4)
    texels = np.random.default_rng(0).random((SIDE, SIDE, 3), np.float32)
    photo = Image(texels, interpolation="linear")
    made = {}
    for around, across in ((64, 32), (512, 256), (1024, 512)):
        mesh, count = torus(around, across)
        covered = pygpu.draw(Lit(seen, light), mesh, shape=SHAPE, target="cpu")
        pixels = int((np.asarray(covered)[..., 3] > 0).sum())
        name = f"torus, {count} triangles"
        made[name] = Scene(Lit(seen, light), mesh, count, pixels, {"cull": "back"})
        if around == 512:
            shader = Textured(seen, photo)
            made[f"{name}, textured"] = Scene(shader, mesh, count, pixels, {"cull": "back"})
    size = SHAPE[0] * SHAPE[1]
    made["a square"] = Scene(Lit(still, light), squares(1), 2, size, {})
    made["a square, textured"] = Scene(Textured(still, photo), squares(1), 2, size, {})
    blended = {"blend": "alpha", "depth": False}
    made["16 squares, blended"] = Scene(Lit(still, light), squares(16), 32, 16 * size, blended)
    made["16 squares, 4 samples"] = Scene(
        Lit(still, light), squares(16), 32, 16 * size, {"samples": 4}
    )
    return made


def drawn(scene: Scene, target: str, shape: tuple[int, int] = SHAPE) -> NDArray[np.float32]:
    """The picture, in host memory."""
    picture = pygpu.draw(scene.shader, scene.mesh, shape=shape, target=target, **scene.state)
    return np.asarray(picture)


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
        runs = {target: partial(drawn, scene, target) for target in chosen.targets}
        took = interleaved(runs, chosen.rounds)
        print(name)
        for target, run in runs.items():
            seconds = took[target]
            print(
                f"  {target:9s}{1000 * seconds:8.2f} ({1000 * processors(run, 3):.2f})"
                f"{scene.triangles / seconds / 1e6:9.2f} Mtriangles/s"
                f"{scene.pixels / seconds / 1e6:9.1f} Mpixels/s"
            )
    small = Scene(scene.shader, squares(1), 2, 1, {})
    for target in chosen.targets:
        took = interleaved({target: partial(drawn, small, target, (1, 1))}, 21)
        print(f"one pixel on {target}: {1e6 * took[target]:.0f} us")


if __name__ == "__main__":
    main()
