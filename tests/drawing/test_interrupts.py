"""Draws without end leave when they are interrupted, and the next is as good as the first."""

import sys

import pytest

from processes import run

ENDLESS = """
import signal
from pygpu import Mesh, Shader, Vec2

class Spin(Shader):
    limit: float

    def vertex(self, position: Vec2, uv: Vec2):
        return pygpu.Vec4(position, 0, 1), uv

    def fragment(self, uv):
        x = uv.x
        while x < self.limit:
            x = x * 0.5
        return x

class Enough(Exception):
    pass

def enough(*_):
    raise Enough

few = pygpu.draw(Spin(-1.0), Mesh.quad(), shape=(70, 90), target="cpu")
signal.signal(signal.SIGALRM, enough)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    pygpu.draw(Spin(5.0), Mesh.quad(), shape=(70, 90), target="cpu")
except Enough:
    again = pygpu.draw(Spin(-1.0), Mesh.quad(), shape=(70, 90), target="cpu")
    assert np.array_equal(few, again)
    print("left")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers of signals")
def test_fragments_without_end_can_be_interrupted():
    assert "left" in run(ENDLESS)
