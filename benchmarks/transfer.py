"""Arrays up to the device and results back: PyGPU against moderngl alone, by the same program.

    python -m benchmarks.transfer [TARGET SIDE]

`up and down` is moderngl's write and read_into with nothing between, `pygpu's` the same by our
device; `by hand` draws the same GLSL between them; `pygpu` is `f(photo, out=out)`.
"""

from __future__ import annotations

import sys

import moderngl
import numpy as np

import pygpu
from benchmarks.large import edges
from benchmarks.measure import interleaved
from pygpu.core.storage import Storage
from pygpu.devices.opengl import context as opengl

GIB = 2**30
PYGPUS = "pygpu's"
VERTICES = """\
#version 330 core
void main() {
    vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
    gl_Position = vec4(corner, 0.0, 1.0);
}
"""


class ByHand:
    """What a person would write with moderngl."""

    def __init__(self, photo: np.ndarray, out: np.ndarray, source: str) -> None:
        self.gl = moderngl.create_context(standalone=True, backend="egl")
        height, width, channels = photo.shape
        self.photo, self.out, self.channels = photo, out, channels
        self.texture = self.gl.texture((width, height), channels, dtype="f4")
        self.target = self.gl.framebuffer([self.gl.texture((width, height), channels, dtype="f4")])
        program = self.gl.program(vertex_shader=VERTICES, fragment_shader=source)
        self.vertices = self.gl.vertex_array(program, [])

    def transfer(self) -> None:
        with self.gl:
            self.texture.write(self.photo)
            self.gl.finish()
            self.target.read_into(self.out, components=self.channels, dtype="f4")

    def call(self) -> None:
        with self.gl:
            self.texture.write(self.photo)
            self.target.use()
            self.texture.use(0)
            self.vertices.render(moderngl.TRIANGLES, 3)
            self.target.read_into(self.out, components=self.channels, dtype="f4")


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else "fragment"
    side = int(sys.argv[2]) if len(sys.argv) > 2 else 4096
    photo = np.random.default_rng(0).random((side, side, 4), dtype=np.float32)
    out, by_hand = np.empty_like(photo), np.empty_like(photo)
    sobel = pygpu.compile(edges, target=target)
    fragment = pygpu.compile(edges, target="fragment").lower(photo).source
    hand = ByHand(photo, by_hand, fragment)

    def transfer() -> None:
        with opengl.context() as gl:
            texture = gl.upload(Storage.of(photo))
            gl.gl.finish()
            gl.read(gl.framebuffer([texture]), 0, "f4", out)

    sobel(photo, out=out)
    hand.call()
    assert np.allclose(out, by_hand, atol=1e-5), "the contenders disagree"
    times = interleaved(
        {
            "up and down": hand.transfer,
            PYGPUS: transfer,
            "by hand": hand.call,
            "pygpu": lambda: sobel(photo, out=out),
        },
        rounds=9,
    )
    with opengl.context() as gl:
        print(f"{gl.description}; {target}, {side} x {side} RGBA float32")
    moved = 2 * photo.nbytes
    for name, seconds in times.items():
        print(f"{name:12} {1e3 * seconds:8.1f} ms   {moved / seconds / GIB:6.2f} GiB/s")
    print(f"transfers alone: {times['up and down'] / times[PYGPUS]:.2f} of moderngl's speed")
    print(f"the whole call: {times['by hand'] / times['pygpu']:.2f} of the speed by hand")


if __name__ == "__main__":
    main()
