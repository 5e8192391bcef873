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
    from pygpu import filters as filters
    from pygpu import glsl as glsl
    from pygpu.command.about import clear as clear
    from pygpu.command.about import info as info
    from pygpu.command.live.show import show as show
    from pygpu.core.errors import CompileError as CompileError
    from pygpu.core.errors import DeviceError as DeviceError
    from pygpu.drawing.draw import draw as draw
    from pygpu.drawing.mesh import Mesh as Mesh
    from pygpu.drawing.shader import Shader as Shader
    from pygpu.drawing.shadertoy import shadertoy as shadertoy
    from pygpu.execution.arguments.rounds import each as each
    from pygpu.execution.arrays.histograms import histogram as histogram
    from pygpu.execution.arrays.packing import compress as compress
    from pygpu.execution.arrays.scanning import scan as scan
    from pygpu.execution.arrays.sorting import argsort as argsort
    from pygpu.execution.arrays.sorting import sort as sort
    from pygpu.execution.folds.reduction import reduce as reduce
    from pygpu.execution.folds.scattering import scatter as scatter
    from pygpu.execution.inspection.pictures import view as view
    from pygpu.execution.inspection.tuning import tune as tune
    from pygpu.execution.pipeline import pipeline as pipeline
    from pygpu.execution.programs.bars import progress as progress
    from pygpu.execution.programs.written import program as program
    from pygpu.execution.vectorized import vectorize as vectorize
    from pygpu.glsl import acos as acos
    from pygpu.glsl import acosh as acosh
    from pygpu.glsl import asin as asin
    from pygpu.glsl import asinh as asinh
    from pygpu.glsl import atan as atan
    from pygpu.glsl import atanh as atanh
    from pygpu.glsl import ceil as ceil
    from pygpu.glsl import clamp as clamp
    from pygpu.glsl import cos as cos
    from pygpu.glsl import cosh as cosh
    from pygpu.glsl import cross as cross
    from pygpu.glsl import degrees as degrees
    from pygpu.glsl import determinant as determinant
    from pygpu.glsl import distance as distance
    from pygpu.glsl import dot as dot
    from pygpu.glsl import exp as exp
    from pygpu.glsl import exp2 as exp2
    from pygpu.glsl import faceforward as faceforward
    from pygpu.glsl import floor as floor
    from pygpu.glsl import fract as fract
    from pygpu.glsl import inverse as inverse
    from pygpu.glsl import inversesqrt as inversesqrt
    from pygpu.glsl import isinf as isinf
    from pygpu.glsl import isnan as isnan
    from pygpu.glsl import length as length
    from pygpu.glsl import log as log
    from pygpu.glsl import log2 as log2
    from pygpu.glsl import mix as mix
    from pygpu.glsl import mod as mod
    from pygpu.glsl import normalize as normalize
    from pygpu.glsl import radians as radians
    from pygpu.glsl import reflect as reflect
    from pygpu.glsl import refract as refract
    from pygpu.glsl import sign as sign
    from pygpu.glsl import sin as sin
    from pygpu.glsl import sinh as sinh
    from pygpu.glsl import smoothstep as smoothstep
    from pygpu.glsl import sqrt as sqrt
    from pygpu.glsl import step as step
    from pygpu.glsl import tan as tan
    from pygpu.glsl import tanh as tanh
    from pygpu.glsl import transpose as transpose
    from pygpu.glsl import trunc as trunc
    from pygpu.image.files import data as data
    from pygpu.image.files.files import imread as imread
    from pygpu.image.files.files import imwrite as imwrite
    from pygpu.image.image import Image as Image
    from pygpu.image.levels import Cube as Cube
    from pygpu.image.motion import animate as animate
    from pygpu.image.motion import frames as frames
    from pygpu.image.signal import Signal as Signal
    from pygpu.image.volume import Volume as Volume
    from pygpu.language import random as random
    from pygpu.language.fragments import ddx as ddx
    from pygpu.language.fragments import ddy as ddy
    from pygpu.language.fragments import discard as discard
    from pygpu.language.fragments import fwidth as fwidth
    from pygpu.language.kernels import offsets as offsets
    from pygpu.language.matrices import Mat2 as Mat2
    from pygpu.language.matrices import Mat3 as Mat3
    from pygpu.language.matrices import Mat4 as Mat4
    from pygpu.language.scalars import Bool as Bool
    from pygpu.language.scalars import Complex as Complex
    from pygpu.language.scalars import Float as Float
    from pygpu.language.scalars import Int as Int
    from pygpu.language.scalars import UInt as UInt
    from pygpu.language.vectors import BVec2 as BVec2
    from pygpu.language.vectors import BVec3 as BVec3
    from pygpu.language.vectors import BVec4 as BVec4
    from pygpu.language.vectors import IVec2 as IVec2
    from pygpu.language.vectors import IVec3 as IVec3
    from pygpu.language.vectors import IVec4 as IVec4
    from pygpu.language.vectors import Position as Position
    from pygpu.language.vectors import UVec2 as UVec2
    from pygpu.language.vectors import UVec3 as UVec3
    from pygpu.language.vectors import UVec4 as UVec4
    from pygpu.language.vectors import Vec2 as Vec2
    from pygpu.language.vectors import Vec3 as Vec3
    from pygpu.language.vectors import Vec4 as Vec4
    from pygpu.runtime import compile as compile

_MODULES: Final = {
    "data": "image.files.data",
    "filters": "filters",
    "glsl": "glsl",
    "random": "language.random",
}

__all__ = sorted([*HOMES, *_MODULES])
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        module = globals()[name] = _imported(_MODULES[name])
        return module
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
