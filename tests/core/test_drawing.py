"""What devices are asked to draw."""

import numpy as np

from pygpu.core import interpret
from pygpu.core.builder import Builder
from pygpu.core.drawing import Drawing, Geometry, Stage, over_images
from pygpu.core.storage import Format
from pygpu.ssa import ImageInput
from pygpu.types import BOOL, FLOAT, vector

FLOATS = Format(np.dtype("float32"), 1)
VEC2 = vector("float", 2)


def stage() -> Stage:
    """gain * texel + position.x, of an attribute."""
    build = Builder("lit", [ImageInput("im", FLOAT)], [("gain", FLOAT), ("position", VEC2)])
    gain, position = build.uniforms
    texel = build.emit("mul", gain, build.load(0, build.x, build.y))
    x = build.emit("swizzle", position, data=(0,))
    return Stage(build.finish([build.emit("add", texel, x)]), 1, (FLOATS,))


def test_last_parameters_are_inputs() -> None:
    made = stage()
    assert [value.name for value in made.uniforms] == ["gain"]
    assert [value.name for value in made.inputs] == ["position"]


def test_inputs_are_texels_of_further_images() -> None:
    made = over_images(stage())
    assert [image.name for image in made.images] == ["im", "position"]
    assert [value.name for value in made.uniforms] == ["gain"]
    texels = np.float32([[1, 2, 3]])
    positions = np.float32([[[10, 0], [20, 0], [30, 0]]])
    (result,) = interpret.run(made, [texels, positions], [2.0], (1, 3))
    np.testing.assert_array_equal(result, [[12, 24, 36]])


def test_mask_of_dropped_fragments_is_no_colour() -> None:
    build = Builder("f", [], [("v0", VEC2)])
    colour = build.uniforms[0]
    dropped = build.constant(BOOL, False)
    fragment = Stage(build.finish([colour, dropped]), 1, ())
    assert Drawing(stage(), fragment, discards=True).colours == (VEC2,)


def test_geometry_counts_vertices() -> None:
    made = Geometry({"position": np.zeros((4, 2), np.float32)}, np.uint32([[0, 1, 2]]))
    assert made.count == 4
