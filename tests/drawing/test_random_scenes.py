"""Small random scenes: plain Python = cpu = OpenGL, but for pixels where rounding decides."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawing_reference import reference
from pygpu import Mesh, Shader, Vec4, draw

NUMBERS = st.sampled_from([-1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.125, 0.3, 0.5, 0.8, 1.0, 2.0])
CORNER = st.tuples(NUMBERS, NUMBERS, NUMBERS, st.sampled_from([0.5, 1.0, 1.0, 2.0, 0.0, -0.5]))
TRIANGLE = st.tuples(CORNER, CORNER, CORNER)


class Coloured(Shader):
    def vertex(self, position, colour):
        return position, colour

    def fragment(self, colour):
        return Vec4(colour.xyz * colour.w, colour.w)


@pytest.mark.parametrize("on", ["cpu", "fragment"])
@given(
    st.lists(TRIANGLE, min_size=1, max_size=4),
    st.tuples(st.integers(1, 12), st.integers(1, 12)),
    st.sampled_from([None, "back", "front"]),
    st.sampled_from([None, "add", "multiply", "alpha"]),
    st.booleans(),
)
@settings(max_examples=60)
def test_a_scene_is_that_of_plain_python(on, triangles, shape, cull, blend, depth):
    position = np.array(triangles, float).reshape(-1, 4)
    colour = np.random.default_rng(len(triangles)).uniform(0, 1, position.shape)
    mesh = Mesh(position=position, colour=colour)
    how = {"cull": cull, "blend": blend, "depth": depth, "clear": 0.5}
    expected = reference(Coloured(), mesh, shape, names=("position", "colour"), **how)
    actual = np.asarray(draw(Coloured(), mesh, shape=shape, target=on, **how))
    # Where two triangles are equally deep rounding decides which is nearer.
    sure = ~expected.unsure & ((expected.covered < 2) | (not depth))
    np.testing.assert_allclose(actual[sure], expected.colours[0][sure], rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("on", ["cpu", "fragment"])
def test_a_million_triangles_are_drawn(on):
    n = 708
    side = np.linspace(-1, 1, n, dtype=np.float32)
    grid = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
    at = np.arange(n * n, dtype=np.uint32).reshape(n, n)
    a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]
    indices = np.stack([a, b, c, b, d, c], -1).reshape(-1, 3)[:1_000_000]

    class Plain(Shader):
        def vertex(self, position):
            return Vec4(position, 0, 1)

        def fragment(self):
            return 1.0

    mesh = Mesh(indices, position=grid)
    drawn = draw(Plain(), mesh, shape=(256, 256), blend="add", depth=False, target=on)
    assert np.unique(np.asarray(drawn)).tolist() == [1.0]
