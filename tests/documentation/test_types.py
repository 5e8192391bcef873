"""What type checkers say of programs that use PyGPU."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pygpu
from pygpu import Float, Image, Mesh, Position, Shader, Vec2, Vec3, Vec4, filters


@dataclass
class Lens:
    centre: Vec2
    strength: float

    def bend(self, p: Position) -> Any:
        v = p - self.centre
        return self.centre + v * (1 + self.strength * pygpu.dot(v, v))


@pygpu.compile
def undistort(im: Image, p: Position, lens: Lens) -> Any:
    return im.sampled(interpolation="linear")(lens.bend(p))


@pygpu.compile(target="cpu")
def waves(p: Position, time: Float = 0.0) -> Any:
    return Vec3(p.x * 0.5, p.y, time)


def convolve(kernel: NDArray[Any], im: Image, p: Position) -> Any:
    return sum(w * im(p + d) for w, d in zip(np.ravel(kernel), pygpu.offsets(kernel), strict=True))


@pygpu.vectorize
def twice(x: float) -> float:
    return 2 * x


@pygpu.pipeline(target="cpu")
def both(im: Image, strength: float = 1e-6) -> Any:
    return undistort(blur(im), lens=Lens(Vec2(1, 2), strength))


class Lit(Shader):
    light: Vec3

    def vertex(self, position: Vec2) -> Any:
        return Vec4(position, 0, 1)

    def fragment(self) -> Vec3:
        return self.light


blur = pygpu.compile(convolve, kernel=np.ones((3, 3)) / 9)
photo = pygpu.data.astronaut()
result = both(photo, strength=2e-6)
taps: int = blur.lower(photo).stats["taps"]
rounds = blur.iterate(photo, 3, out=np.empty(photo.shape, np.float32))
stack = waves.map([0.0, 1.0], shape=(10, 20))
total = pygpu.reduce(np.add, photo)
edges = filters.canny(filters.rgb2gray(photo), sigma=2)
picture = pygpu.draw(Lit(Vec3(1, 0, 0)), Mesh.quad(), shape=(4, 4))
Image(photo)[1:, 2:].save("crop.png", dtype=np.uint8)
reveal_type(blur)
reveal_type(waves)
reveal_type(twice)
reveal_type(both)
"""


def test_a_strict_program_has_no_errors(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="no mypy")
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "pygpu").symlink_to(ROOT / "pygpu")
    # As PyGPU itself is checked, whose cache then has what is known of its modules.
    options = "--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache"
    command = [
        *(sys.executable, "-m", "mypy", "--strict", "--no-error-summary"), *options, "program.py"
    ]  # fmt: skip
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    lines = [line for line in said.splitlines() if line.startswith("program.py")]
    classes = "runtime.Compiled", "runtime.Compiled", "execution.vectorized.Vectorized"
    expected = [*classes, "execution.pipeline.Pipeline"]
    assert len(lines) == len(expected), said
    for line, name in zip(lines, expected, strict=True):
        assert line.endswith(f'note: Revealed type is "pygpu.{name}"')
