"""Pictures to try things on, that come with PyGPU: `pygpu.data`.

photo = pygpu.data.astronaut()         # an array (512, 512, 3) of uint8
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.reference import describe
from pygpu.image.files.files import imread


def astronaut() -> NDArray[np.uint8]:
    """Eileen Collins, an astronaut: an array (512, 512, 3) of uint8, in sRGB.

    A photograph by NASA (1999), in the public domain, as in scikit-image; here compressed to 60
    kB, so single texels differ from `skimage.data.astronaut()`.
    """
    photo: NDArray[Any] = imread(Path(__file__).with_name("astronaut.jpg"))
    return photo


describe("pygpu.image.files.data.astronaut", astronaut)
