"""Plain Python functions of images, compiled for the GPU and for all cores of the CPU.

    @pygpu.compile
    def brighten(im: Image, p: Position, gain: float = 1.5):
        return gain * im(p)

Names are imported from their modules at first use, so that a program pays for what it needs.
"""

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pygpu import filters, glsl
    from pygpu.about import clear, info
    from pygpu.bars import progress
    from pygpu.errors import CompileError, DeviceError
    from pygpu.glsl import (
        acos,
        acosh,
        asin,
        asinh,
        atan,
        atanh,
        ceil,
        clamp,
        cos,
        cosh,
        cross,
        degrees,
        determinant,
        distance,
        dot,
        exp,
        exp2,
        faceforward,
        floor,
        fract,
        inverse,
        inversesqrt,
        isinf,
        isnan,
        length,
        log,
        log2,
        mix,
        mod,
        normalize,
        radians,
        reflect,
        refract,
        sign,
        sin,
        sinh,
        smoothstep,
        sqrt,
        step,
        tan,
        tanh,
        transpose,
        trunc,
    )
    from pygpu.image import Image
    from pygpu.kernels import offsets
    from pygpu.matrices import Mat2, Mat3, Mat4
    from pygpu.reduction import reduce
    from pygpu.runtime import compile
    from pygpu.scalars import Bool, Float, Int
    from pygpu.tuning import tune
    from pygpu.vectorized import vectorize
    from pygpu.vectors import (
        BVec2,
        BVec3,
        BVec4,
        IVec2,
        IVec3,
        IVec4,
        Position,
        Vec2,
        Vec3,
        Vec4,
    )

# Where each name lives. The functions of GLSL that would hide a builtin are in pygpu.glsl alone.
_NAMES: Final = {
    "about": "clear info",
    "bars": "progress",
    "errors": "CompileError DeviceError",
    "glsl": """
        acos acosh asin asinh atan atanh ceil clamp cos cosh cross degrees determinant distance dot
        exp exp2 faceforward floor fract inverse inversesqrt isinf isnan length log log2 mix mod
        normalize radians reflect refract sign sin sinh smoothstep sqrt step tan tanh transpose
        trunc
    """,
    "image": "Image",
    "kernels": "offsets",
    "matrices": "Mat2 Mat3 Mat4",
    "reduction": "reduce",
    "runtime": "compile",
    "scalars": "Bool Float Int",
    "tuning": "tune",
    "vectorized": "vectorize",
    "vectors": "BVec2 BVec3 BVec4 IVec2 IVec3 IVec4 Position Vec2 Vec3 Vec4",
}
_MODULES: Final = ("filters", "glsl")
_RUNNING: Final = ("reduction", "runtime", "tuning", "vectorized")
_HOMES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"pygpu.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'pygpu' has no attribute {name!r}")
    if _HOMES[name] in _RUNNING:
        importlib.import_module("pygpu.image")  # what runs programs makes images of the results
    value = globals()[name] = getattr(importlib.import_module(f"pygpu.{_HOMES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "BVec2",
    "BVec3",
    "BVec4",
    "Bool",
    "CompileError",
    "DeviceError",
    "Float",
    "IVec2",
    "IVec3",
    "IVec4",
    "Image",
    "Int",
    "Mat2",
    "Mat3",
    "Mat4",
    "Position",
    "Vec2",
    "Vec3",
    "Vec4",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "clamp",
    "clear",
    "compile",
    "cos",
    "cosh",
    "cross",
    "degrees",
    "determinant",
    "distance",
    "dot",
    "exp",
    "exp2",
    "faceforward",
    "filters",
    "floor",
    "fract",
    "glsl",
    "info",
    "inverse",
    "inversesqrt",
    "isinf",
    "isnan",
    "length",
    "log",
    "log2",
    "mix",
    "mod",
    "normalize",
    "offsets",
    "progress",
    "radians",
    "reduce",
    "reflect",
    "refract",
    "sign",
    "sin",
    "sinh",
    "smoothstep",
    "sqrt",
    "step",
    "tan",
    "tanh",
    "transpose",
    "trunc",
    "tune",
    "vectorize",
]
