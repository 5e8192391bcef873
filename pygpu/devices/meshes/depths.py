"""Textures of depths as float32. Those that moderngl makes have 24 bits, to which depths that come
from an image would be rounded: what they hold is declared anew.

    texture = depth_texture(gl, (1280, 720), samples=0)
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from pygpu.core.errors import DeviceError
from pygpu.devices.opengl.driver.context import Context

_INT, _UINT, _POINTER = ctypes.c_int, ctypes.c_uint, ctypes.c_void_p
_FUNCTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "glBindTexture": (_UINT, _UINT),
    "glTexImage2D": (_UINT, _INT, _INT, _INT, _INT, _INT, _UINT, _UINT, _POINTER),
    "glTexImage2DMultisample": (_UINT, _INT, _UINT, _INT, _INT, ctypes.c_ubyte),
}
_PLAIN: Final = 0x0DE1  # GL_TEXTURE_2D
_SAMPLED: Final = 0x9100  # GL_TEXTURE_2D_MULTISAMPLE
_DEPTHS: Final = 0x1902  # GL_DEPTH_COMPONENT
_FLOATS: Final = 0x8CAC  # GL_DEPTH_COMPONENT32F
_FLOAT: Final = 0x1406  # GL_FLOAT
_ERROR: Final = "GL_NO_ERROR"


def depth_texture(gl: Context, size: tuple[int, int], samples: int) -> Any:
    """A texture of moderngl's, undefined, to be drawn with and, of one sample, to be read."""
    texture = gl.gl.depth_texture(size, samples=samples, alignment=4)
    kind = _SAMPLED if samples else _PLAIN
    _call(gl, "glBindTexture", kind, texture.glo)
    if samples:
        _call(gl, "glTexImage2DMultisample", kind, samples, _FLOATS, *size, 1)
    else:
        _call(gl, "glTexImage2D", kind, 0, _FLOATS, *size, 0, _DEPTHS, _FLOAT, None)
    _call(gl, "glBindTexture", kind, 0)
    if gl.gl.error != _ERROR:
        raise DeviceError(f"{gl.renderer} makes no depths of float32")
    if not samples:
        texture.filter = (gl.gl.NEAREST, gl.gl.NEAREST)
        texture.compare_func = ""  # read as numbers
    return texture


def _call(gl: Context, name: str, *arguments: Any) -> None:
    function = ctypes.CFUNCTYPE(None, *_FUNCTIONS[name])(gl.platform.load(name))
    function(*arguments)
