"""Meshes by `pygpu.draw` on OpenGL, and the same by hand: moderngl, GLSL, buffers and textures made
once.

python -m benchmarks.drawing_by_hand [--target fragment] [--rounds 15]

The scenes are those of `benchmarks.drawing`: a torus of ever smaller triangles, lit and textured,
and squares that cover the picture. By hand one framebuffer is drawn into again and again; `draw`
gives a new picture each time. Pictures stay on the device: what is timed are sixteen draws and the
wait for the last, in medians of interleaved rounds. Both pictures are compared first.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import pygpu
from benchmarks.drawing import SHAPE, Lit, Textured, camera, squares, torus
from benchmarks.measure import interleaved
from pygpu import Image, Mesh
from pygpu.devices.opengl import context as opengl

DRAWS: Final = 16
VERTEX: Final = """
#version 330 core
uniform mat4 camera;
in vec3 position;
in vec3 normal;
in vec2 uv;
out vec3 n;
out vec2 t;
void main() {
    gl_Position = camera * vec4(position, 1.0);
    gl_Position.y = -gl_Position.y;  // row 0 on top, as PyGPU has it
    n = normal;
    t = uv;
}
"""
LIT: Final = """
#version 330 core
uniform vec3 light;
in vec3 n;
in vec2 t;
out vec4 colour;
void main() {
    float bright = max(dot(normalize(n), light), 0.1);
    colour = vec4(bright * t.x, bright * t.y, 0.5 * bright, 1.0);
}
"""
# Linear by hand, with weights of float32 as PyGPU has them: a sampler's have 8 bits.
TEXTURED: Final = """
#version 330 core
uniform sampler2D photo;
in vec2 t;
out vec4 colour;
void main() {
    ivec2 last = textureSize(photo, 0) - 1;
    vec2 at = t * vec2(last + 1) - 0.5;
    vec2 low = floor(at), part = at - low;
    ivec2 a = clamp(ivec2(low), ivec2(0), last), b = clamp(ivec2(low) + 1, ivec2(0), last);
    vec3 top = mix(texelFetch(photo, a, 0).rgb, texelFetch(photo, ivec2(b.x, a.y), 0).rgb, part.x);
    vec3 low_row = mix(
        texelFetch(photo, ivec2(a.x, b.y), 0).rgb, texelFetch(photo, b, 0).rgb, part.x);
    colour = vec4(mix(top, low_row, part.y), 1.0);
}
"""


class ByHand:
    """A scene in the same private context, so that both have the same driver and device."""

    def __init__(
        self, gl: Any, mesh: Mesh, text: str, seen: NDArray[Any], photo: NDArray[Any], cull: bool
    ) -> None:
        self.gl, self.cull = gl, cull
        self.program = gl.program(vertex_shader=VERTEX, fragment_shader=text)
        self.program["camera"].write(seen.T.astype("f4").tobytes())
        if "light" in self.program:
            self.program["light"].value = (0.3, 0.2, 0.9)
        self.photo = gl.texture(photo.shape[1::-1], 3, photo.tobytes(), dtype="f4")
        if "photo" in self.program:
            self.program["photo"].value = 0
        held = [
            (gl.buffer(values.tobytes()), f"{values.shape[1]}f", name)
            for name, values in mesh.geometry.attributes.items()
            if name in self.program
        ]
        index = gl.buffer(mesh.geometry.triangles.tobytes())
        self.vertices = gl.vertex_array(self.program, held, index_buffer=index)
        size = SHAPE[::-1]
        self.picture = gl.texture(size, 4, dtype="f4")
        self.framebuffer = gl.framebuffer([self.picture], gl.depth_texture(size))

    def draw(self) -> None:
        gl = self.gl
        self.framebuffer.use()
        self.framebuffer.clear(depth=1.0)
        flags = gl.DEPTH_TEST | (gl.CULL_FACE if self.cull else 0)
        gl.front_face, gl.depth_func = "cw", "<"
        gl.enable_only(flags)
        self.photo.use(0)
        self.vertices.render()
        gl.enable_only(0)

    def pixels(self) -> NDArray[np.float32]:
        self.draw()
        data = self.framebuffer.read(components=4, dtype="f4")
        return np.frombuffer(data, np.float32).reshape(*SHAPE, 4)


def finished(draw: Callable[[], object]) -> None:
    """So many draws, and the wait for the last."""
    with opengl.context() as gl:
        for _ in range(DRAWS):
            draw()
        gl.gl.finish()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="fragment")
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    photo = np.random.default_rng(0).random((512, 512, 3), np.float32)
    light, image = (0.3, 0.2, 0.9), Image(photo)
    meshes = {
        f"{n} triangles": (m, n) for m, n in (torus(64, 32), torus(512, 256), torus(1024, 512))
    }
    meshes["a square"] = squares(1), 2
    meshes["16 squares"] = squares(16), 32
    print(f"{SHAPE[1]} x {SHAPE[0]}; ms a draw, million triangles and pixels a second\n")
    print("| scene | PyGPU | by hand | ratio |\n| --- | --- | --- | --- |")
    ratios = []
    for name, (mesh, count) in meshes.items():
        is_torus = count > 32
        seen = camera() if is_torus else np.eye(4)
        cull = "back" if is_torus else None
        for text, shader in ((LIT, Lit(seen, light)), (TEXTURED, Textured(seen, image))):

            def ours(shader: Any = shader, mesh: Mesh = mesh, cull: Any = cull) -> Any:
                return pygpu.draw(shader, mesh, shape=SHAPE, cull=cull, target=chosen.target)

            with opengl.context() as gl:
                hand = ByHand(gl.gl, mesh, text, seen, photo, is_torus)
                theirs = hand.pixels()
            apart = np.abs(np.asarray(ours()) - theirs).max(-1) > 1e-3
            assert apart.mean() < 2e-3, f"{name}: {apart.mean():.2%} of the pixels differ"
            took = interleaved(
                {"ours": lambda: finished(ours), "hand": lambda: finished(hand.draw)},  # noqa: B023
                chosen.rounds,
            )
            a, b = took["ours"] / DRAWS, took["hand"] / DRAWS
            ratios.append(a / b)
            pixels = (
                int((theirs[..., 3] > 0).sum()) if is_torus else count // 2 * SHAPE[0] * SHAPE[1]
            )
            rates = [
                f"{1e3 * t:.3f} ({count / t / 1e6:.4g}, {pixels / t / 1e6:.4g})" for t in (a, b)
            ]
            kind = "textured" if text is TEXTURED else "lit"
            print(f"| {name}, {kind} | {rates[0]} | {rates[1]} | {a / b:.2f} |", flush=True)
    print(f"\ngeometric mean of the ratios {np.exp(np.mean(np.log(ratios))):.2f}")


if __name__ == "__main__":
    main()
