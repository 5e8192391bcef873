"""Filters, blends, colour conversions and samplers, as functions like those that users write.

    filters.sobel(photo)                    # of a whole image, from outside
    filters.sobel(im, p)                    # of a pixel, in a function: im may be any function of p
    filters.rgb2lab(im(p)).x                # of a colour
    compile(filters.convolve, kernel=k)     # parameters may be known, as always

Names and meanings are those of SciPy (`correlate`, `convolve`) and scikit-image (all others that it
has); images outside their border are read as their `boundary` says.
"""

from types import ModuleType

from pygpu.core.host.reference import describe_all
from pygpu.filters.adaptive import *
from pygpu.filters.blending import *
from pygpu.filters.colours import *
from pygpu.filters.denoise import *
from pygpu.filters.edges import *
from pygpu.filters.exposure import *
from pygpu.filters.features import *
from pygpu.filters.linear import *
from pygpu.filters.morphology import *
from pygpu.filters.noise import *
from pygpu.filters.rank import *
from pygpu.filters.restoration import *
from pygpu.filters.sampling import *
from pygpu.filters.transform import *
from pygpu.language.kernels import offsets as offsets

_ROOM = [each for each in globals().values() if isinstance(each, ModuleType)]
__all__ = sorted({"offsets", *(name for each in _ROOM for name in getattr(each, "__all__", ()))})

describe_all("pygpu.filters", globals(), __all__)


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
