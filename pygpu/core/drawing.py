"""What devices are asked to draw: two stages in SSA, the state around them, what a draw is given.

A *drawing* is known before any data is: it is compiled once and kept. A *draw* brings vertices,
triangles, uniforms and images, and gets whole images. The stages are functions like any others,
whose last parameters are not uniforms but change from vertex to vertex, or from pixel to pixel:

    function vertex(camera_0: vec4, ..., position: vec3, uv: vec2) {...}       2 inputs
    function fragment(camera_0: vec4, ..., v0: vec2) {...}                     1 input

What is drawn is fixed to the last rule, so that targets agree but for rounding at edges:

- Pixel centres lie at half integers, row 0 is on top. Clip space is OpenGL's: x to the right, y up,
  what is drawn has -w <= z <= w. Triangles are cut at the near plane (z >= -w, w > 0) and at the
  far one (z <= w).
- A pixel belongs to a triangle if its centre lies inside, or on an edge that is a top or a left one
  of the picture as it is shown. Corners are rounded to 1/256 of a pixel (half to even).
- Counter-clockwise, as seen with y up, is the front. A triangle with a corner that is not finite
  is dropped, and so is one without area.
- Depth is (z/w + 1)/2; it begins at 1, and what is less passes. With several samples a pixel is
  covered where any sample is; the fragment is computed once, for its centre.
- Varyings are perspective-correct. `ddx` and `ddy` are differences within blocks of 2 x 2 pixels
  whose first row and column are even; `ddy` is downwards, as positions are.
- Colours are drawn as float32, triangle after triangle, and converted once at the end.
  "alpha": c*a + old*(1 - a), a being the fourth component; "add": c + old; "multiply": c * old;
  all components are treated alike, alpha too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.core.storage import Format, Storage
from pygpu.ssa import Constant, Function, ImageInput, Region, Value
from pygpu.types import Type

Cull = Literal["", "back", "front"]
Blend = Literal["", "alpha", "add", "multiply"]
CULLED: Final[tuple[Cull, ...]] = ("", "back", "front")
BLENDED: Final[tuple[Blend, ...]] = ("", "alpha", "add", "multiply")


@record(eq=False)
class Stage:
    """One stage: a simplified function, the number of its last parameters that are inputs (each of
    1 to 4 floats: attributes of a vertex, varyings of a fragment), and how the images that it reads
    are stored. Both stages of a drawing have the same uniforms, and the same images first; each may
    have images of its own after those (known to the function: see Draw.images)."""

    function: Function
    count: int
    images: Sequence[Format]

    @property
    def uniforms(self) -> tuple[Value, ...]:
        parameters = self.function.uniforms
        return parameters[: len(parameters) - self.count]

    @property
    def inputs(self) -> tuple[Value, ...]:
        parameters = self.function.uniforms
        return parameters[len(parameters) - self.count :]


@record(eq=False)
class Drawing:
    """What is compiled.

    `vertex` has the outputs: clip position (vec4), then the varyings, which are the inputs of
    `fragment`, in order. `fragment` has a colour (1 to 4 floats) for each image that is drawn into;
    where `discards`, one more output, a bool: where it holds the fragment is dropped. The
    parameters x, y of a fragment are the pixel's column and row; those of a vertex are not used.
    """

    vertex: Stage
    fragment: Stage
    discards: bool = False
    depth: bool = True  # whether fragments are tested, and their depths kept
    cull: Cull = ""
    blend: Blend = ""
    samples: int = 1
    shared: int = 0  # images that both stages have: their first ones

    @property
    def colours(self) -> tuple[Type, ...]:
        """The types of what is drawn, one an image."""
        outputs = self.fragment.function.outputs
        return tuple([value.type for value in outputs[: len(outputs) - self.discards]])


@record(eq=False, frozen=False, weak=True)
class Geometry:
    """Vertices and triangles. It never changes once it is made: `copies` belongs to the devices,
    each of which keeps its own form there under its own name."""

    attributes: Mapping[str, NDArray[np.float32]]  # (N, 1) to (N, 4), C-contiguous
    triangles: NDArray[np.uint32]  # (M, 3), each less than N
    copies: dict[str, Any] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of vertices."""
        return min((len(values) for values in self.attributes.values()), default=0)


@record(eq=False)
class Draw:
    """What one draw is given. `attributes` are the vertex stage's inputs, in order, by their names
    in the geometry; `images` those of the vertex stage and those of the fragment stage."""

    geometry: Geometry
    attributes: Sequence[str]
    uniforms: Sequence[Constant]
    images: tuple[Sequence[Storage], Sequence[Storage]]
    shape: tuple[int, int]
    clear: Sequence[tuple[float, ...]]  # a colour for each image, where `onto` has none
    onto: Sequence[Storage] | None = None  # float32: what is drawn over, and stays as it is
    depths: Storage | None = None  # (H, W, 1) float32: what is there already; it stays as it is
    keep_depth: bool = False  # whether the depths are one more result


class DrawProgram(Protocol):
    """A drawing, compiled."""

    source: str
    driver_seconds: float = 0.0

    def draw(self, draw: Draw) -> list[Storage]:
        """What was drawn: float32 (H, W, C), one a colour; then the depths, if they are kept."""


def over_images(stage: Stage) -> Function:
    """The stage's function with its inputs as texels of further images, at x, y: for devices that
    run it over rows of vertices, or of fragments."""
    function, uniforms = stage.function, stage.uniforms

    def keep(rewriter: Rewriter, op: Any, operands: Any) -> None:
        return None

    rewriter = Rewriter(function, keep)
    build = rewriter.build
    given = build.body.params[: 2 + len(uniforms)]
    build.body = build.region = Region(given)
    build.uniforms = given[2:]
    for value in stage.inputs:
        build.images.append(ImageInput(value.name or "input", value.type))
        rewriter.new[value] = build.load(len(build.images) - 1, build.x, build.y)
    return rewriter.run()
