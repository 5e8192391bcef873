"""Plain Python functions of images, compiled for the GPU and for all cores of the CPU.

    @pygpu.compile
    def brighten(im: Image, p: Position, gain: float = 1.5):
        return gain * im(p)

Names are imported from their modules at first use, so that a program pays for what it needs.
"""

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from pygpu.core.host.forks import IMPORTING
from pygpu.core.host.reference import describe
from pygpu.language.names import HOMES, hint_of_attribute

if TYPE_CHECKING:
    from pygpu import filters, glsl
    from pygpu.command.about import clear, info
    from pygpu.command.live.show import show
    from pygpu.core.errors import CompileError, DeviceError
    from pygpu.drawing.draw import draw
    from pygpu.drawing.mesh import Mesh
    from pygpu.drawing.shader import Shader
    from pygpu.drawing.shadertoy import shadertoy
    from pygpu.execution.arguments.rounds import each
    from pygpu.execution.arrays.histograms import histogram
    from pygpu.execution.arrays.packing import compress
    from pygpu.execution.arrays.scanning import scan
    from pygpu.execution.arrays.sorting import argsort, sort
    from pygpu.execution.folds.reduction import reduce
    from pygpu.execution.folds.scattering import scatter
    from pygpu.execution.inspection.pictures import view
    from pygpu.execution.inspection.tuning import tune
    from pygpu.execution.pipeline import pipeline
    from pygpu.execution.programs.bars import progress
    from pygpu.execution.programs.written import program
    from pygpu.execution.vectorized import vectorize
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
    from pygpu.image.files import data
    from pygpu.image.files.files import imread, imwrite
    from pygpu.image.image import Image
    from pygpu.image.levels import Cube
    from pygpu.image.motion import animate, frames
    from pygpu.image.signal import Signal
    from pygpu.image.volume import Volume
    from pygpu.language import random
    from pygpu.language.fragments import ddx, ddy, discard, fwidth
    from pygpu.language.kernels import offsets
    from pygpu.language.matrices import Mat2, Mat3, Mat4
    from pygpu.language.scalars import Bool, Complex, Float, Int, UInt
    from pygpu.language.vectors import (
        BVec2,
        BVec3,
        BVec4,
        IVec2,
        IVec3,
        IVec4,
        Position,
        UVec2,
        UVec3,
        UVec4,
        Vec2,
        Vec3,
        Vec4,
    )
    from pygpu.runtime import compile

_MODULES: Final = {
    "data": "image.files.data",
    "filters": "filters",
    "glsl": "glsl",
    "random": "language.random",
}

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _imported(_MODULES[name])
    if name not in HOMES:
        raise AttributeError(f"module 'pygpu' has no attribute {name!r}{hint_of_attribute(name)}")
    home = HOMES[name]
    value = globals()[name] = getattr(_imported(home), name)
    if home != "glsl":  # which describes its own
        describe(f"pygpu.{name}", value)
    return value


def _imported(module: str) -> ModuleType:
    """A module of the package."""
    with IMPORTING, importlib.import_module("pygpu.core.host.later").running():
        return importlib.import_module(f"pygpu.{module}")


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])


__all__ = [
    "BVec2",
    "BVec3",
    "BVec4",
    "Bool",
    "CompileError",
    "Complex",
    "Cube",
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
    "Mesh",
    "Position",
    "Shader",
    "Signal",
    "UInt",
    "UVec2",
    "UVec3",
    "UVec4",
    "Vec2",
    "Vec3",
    "Vec4",
    "Volume",
    "acos",
    "acosh",
    "animate",
    "argsort",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "clamp",
    "clear",
    "compile",
    "compress",
    "cos",
    "cosh",
    "cross",
    "data",
    "ddx",
    "ddy",
    "degrees",
    "determinant",
    "discard",
    "distance",
    "dot",
    "draw",
    "each",
    "exp",
    "exp2",
    "faceforward",
    "filters",
    "floor",
    "fract",
    "frames",
    "fwidth",
    "glsl",
    "histogram",
    "imread",
    "imwrite",
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
    "pipeline",
    "program",
    "progress",
    "radians",
    "random",
    "reduce",
    "reflect",
    "refract",
    "scan",
    "scatter",
    "shadertoy",
    "show",
    "sign",
    "sin",
    "sinh",
    "smoothstep",
    "sort",
    "sqrt",
    "step",
    "tan",
    "tanh",
    "transpose",
    "trunc",
    "tune",
    "vectorize",
    "view",
]
