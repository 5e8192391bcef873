"""The names of pygpu: where each lives, and where names live that are looked for in vain.

HOMES["Vec3"]               # "language.vectors"
hint_of_name("vec3")        # ": 'from pygpu import Vec3' defines Vec3"
hint_of_attribute("atan2")  # ": math.atan2 works in compiled functions"
"""

import math
from typing import Final

# Where each name lives. The functions of GLSL that would hide a builtin are in pygpu.glsl alone.
_NAMES: Final = {
    "command.about": "clear info",
    "command.live.show": "show",
    "drawing.draw": "draw",
    "drawing.mesh": "Mesh",
    "drawing.shader": "Shader",
    "drawing.shadertoy": "shadertoy",
    "execution.pipeline": "pipeline",
    "execution.programs.bars": "progress",
    "core.errors": "CompileError DeviceError",
    "glsl": """
        acos acosh asin asinh atan atanh ceil clamp cos cosh cross degrees determinant distance dot
        exp exp2 faceforward floor fract inverse inversesqrt isinf isnan length log log2 mix mod
        normalize radians reflect refract sign sin sinh smoothstep sqrt step tan tanh transpose
        trunc
    """,
    "image.files.files": "imread imwrite",
    "image.image": "Image",
    "image.motion": "animate frames",
    "image.levels": "Cube",
    "image.signal": "Signal",
    "image.volume": "Volume",
    "language.fragments": "ddx ddy discard fwidth",
    "language.kernels": "offsets",
    "language.matrices": "Mat2 Mat3 Mat4",
    "execution.arrays.histograms": "histogram",
    "execution.arrays.packing": "compress",
    "execution.arrays.scanning": "scan",
    "execution.arrays.sorting": "argsort sort",
    "execution.folds.reduction": "reduce",
    "execution.arguments.rounds": "each",
    "execution.folds.scattering": "scatter",
    "runtime": "compile",
    "language.scalars": "Bool Complex Float Int UInt",
    "execution.inspection.pictures": "view",
    "execution.inspection.tuning": "tune",
    "execution.vectorized": "vectorize",
    "execution.programs.written": "program",
    "language.vectors": """
        BVec2 BVec3 BVec4 IVec2 IVec3 IVec4 Position UVec2 UVec3 UVec4 Vec2 Vec3 Vec4
    """,
}
HOMES: Final = {name: module for module, names in _NAMES.items() for name in names.split()}

# What pygpu.glsl alone has.
GLSL_ALONE: Final = frozenset("abs all any divide max min pow round select".split())

# Python's own functions of numbers, that are looked for beside the others.
_BUILTINS: Final = "abs all any bool complex divmod float int len max min pow round sum".split()

# Vectors and matrices by the names that GLSL gives them.
_SPELLED: Final = {name.lower(): name for name in HOMES if name[-1].isdigit()}


def hint_of_name(name: str) -> str:
    """What is said after "name 'vec3' is not defined"; "" of names that nobody knows."""
    found = _SPELLED.get(name, name)
    if found in HOMES:
        home = "pygpu"
    elif name in GLSL_ALONE:
        home = "pygpu.glsl"
    elif _is_of_math(name):
        home = "math"
    else:
        return ""
    return f": 'from {home} import {found}' defines {found}"


def hint_of_attribute(name: str) -> str:
    """What is said after "module 'pygpu' has no attribute 'abs'"; "" of names nobody knows."""
    if name in _SPELLED:
        return f": it is pygpu.{_SPELLED[name]}"
    glsl = f"pygpu.glsl.{name}" if name in GLSL_ALONE else ""
    if name in _BUILTINS:
        more = f", as {glsl} does" if glsl else ""
        return f": the builtin {name}() works in compiled functions{more}"
    if glsl:
        return f": it is {glsl}"
    return f": math.{name} works in compiled functions" if _is_of_math(name) else ""


def _is_of_math(name: str) -> bool:
    return not name.startswith("_") and callable(getattr(math, name, None))
