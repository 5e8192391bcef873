"""What formats of picture files hold: suffixes, dtypes, channels; and what is said of the others.

FORMATS["PNG"].dtypes                  # ("uint8", "uint16", "bool")
of_suffix("photo.tif").name            # "TIFF"
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from io import UnsupportedOperation
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.host.records import record

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
ORIENTATION: Final = 0x0112  # the tag of TIFF and of EXIF

# A function of how many pages a file has, which gives the numbers of those to read, or raises.
Which = Callable[[int], range]


class Picture(NamedTuple):
    """A picture of a file, upright: (H, W[, C]), and what the file says beside it: "icc_profile"
    and "exif" (bytes), "dpi" (two numbers), and the "bits" of a value where these are not 8."""

    texels: NDArray[Any]
    info: Mapping[str, Any]


@record
class FileFormat:
    """What a format holds. `lossy`: it takes a `quality` from 0 to 100. `options`: Pillow's that
    it takes besides, as Pillow passes over what it does not know; None where its writer refuses."""

    name: str
    suffixes: tuple[str, ...]
    dtypes: tuple[str, ...] = ("uint8",)
    channels: tuple[int, ...] = (1, 2, 3, 4)
    lossy: bool = False
    stacks: bool = False
    options: tuple[str, ...] | None = None


OF_PNG: Final = (
    *("optimize", "compress_level", "compress_type", "dictionary"),
    *("pnginfo", "bits", "transparency", "xmp"),
)
OF_JPEG: Final = (
    *("optimize", "progressive", "subsampling", "smooth", "keep_rgb", "comment", "xmp", "extra"),
    *("qtables", "streamtype", "restart_marker_blocks", "restart_marker_rows"),
)
OF_WEBP: Final = ("lossless", "alpha_quality", "method", "exact", "xmp")
FORMATS: Final = {
    format.name: format
    for format in (
        FileFormat("PNG", (".png",), ("uint8", "uint16", "bool"), options=OF_PNG),
        FileFormat(
            "TIFF",
            (".tif", ".tiff"),
            (
                *("uint8", "uint16", "uint32", "int8", "int16", "int32"),
                *("float16", "float32", "float64", "bool"),
            ),
            stacks=True,
        ),
        FileFormat("EXR", (".exr",), ("float32", "float16")),
        FileFormat(
            "JPEG", (".jpg", ".jpeg", ".jpe", ".jfif"), channels=(1, 3), lossy=True, options=OF_JPEG
        ),
        FileFormat("WebP", (".webp",), lossy=True, options=OF_WEBP),
    )
}


def named(file: Any) -> str:
    """A file as errors name it."""
    if isinstance(file, str | os.PathLike):
        return os.fspath(file) if isinstance(os.fspath(file), str) else repr(file)
    if not hasattr(file, "write") and not hasattr(file, "read"):
        raise TypeError(f"takes a path or an open file, got {shown(file)}")
    return str(getattr(file, "name", type(file).__name__))


def refused(file: Any, why: str) -> UnsupportedOperation:
    """The error for what a file cannot hold, or PyGPU cannot read: an OSError and a ValueError."""
    return UnsupportedOperation(f"{named(file)}: {why}")


def of_suffix(file: Any, name: str | None = None) -> FileFormat:
    """The format that is written to a file: by its `name`, as Pillow has these, or by the suffix.
    Formats that are not in the table are Pillow's, of 8 bits."""
    suffix = "" if name else os.path.splitext(named(file))[1].lower()
    for format in FORMATS.values():
        if suffix in format.suffixes or (name or "").upper() == format.name.upper():
            return format
    from PIL import Image as PILImage  # heavy, and needed only here

    PILImage.init()
    found = name or PILImage.registered_extensions().get(suffix)
    if found is None or found.upper() not in PILImage.SAVE:
        taken = ", ".join(format.suffixes[0] for format in FORMATS.values())
        kind = f"the suffix {suffix!r} is no" if suffix else "without a suffix it has no"
        kind = f"format={name!r} is no" if name else kind
        raise refused(file, f"{kind} format of pictures that PyGPU writes: {taken} are")
    return FileFormat(found.upper(), (suffix,), ("uint8",))


def turned(texels: NDArray[Any], orientation: Any) -> NDArray[Any]:
    """Texels upright, given EXIF's orientation, 1 to 8."""
    if orientation in (5, 6, 7, 8):
        texels = texels.swapaxes(0, 1)
    down = slice(None, None, -1 if orientation in (3, 4, 7, 8) else 1)
    across = slice(None, None, -1 if orientation in (2, 3, 6, 7) else 1)
    return np.ascontiguousarray(texels[down, across])


def exif_of(data: bytes) -> Any:
    """EXIF as Pillow has it, of the bytes in which it lies in files."""
    from PIL import Image as PILImage  # heavy, and needed only here

    exif = PILImage.Exif()
    exif.load(data)
    return exif


def upright_exif(exif: Any) -> bytes | None:
    """The bytes of EXIF for a picture that has been turned upright; None where nothing is left."""
    if ORIENTATION in exif:
        del exif[ORIENTATION]
    return exif.tobytes() if len(exif) else None
