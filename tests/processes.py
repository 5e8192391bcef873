"""Python processes of the tests' own. A crash there is a failure, and a hang one after a while.

assert run("print(1 + 1)") == "2\\n"      # and ends well, and without noise
"""

import os
import subprocess
import sys
import textwrap

import pytest

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

HEAD = """
import os, sys
import numpy as np
import pygpu
from pygpu import Image, Position
PHOTO = np.arange(12, dtype=np.float32).reshape(3, 4)
def double(im: Image, p: Position):
    return 2 * im(p)
"""


def start(text, **environment):
    """A Python process that runs this text."""
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", HEAD + textwrap.dedent(text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "PYGPU_TARGET"}
        | {"PYTHONPATH": os.pathsep.join(sys.path)}
        | environment,
    )


def run(text, **environment):
    """What a Python process prints that runs this text, and ends well and without noise."""
    child = start(text, **environment)
    out, err = child.communicate(timeout=200)
    assert (child.returncode, err) == (0, "")
    return out
