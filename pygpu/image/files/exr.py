"""OpenEXR files, of 16 and 32 bit floats, by the library of that name, which is optional.

Channels are Y, or R, G and B, each with A or without: what a pygpu.Image holds. Of a file whose
picture covers a part of its display window, the picture alone is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.optional import optional
from pygpu.image.files.formats import Picture, Which, refused

MAGIC: Final = b"\x76\x2f\x31\x01"
HEADER: Final = 1 << 20  # bytes in which the header and the table are looked for
MULTIPART: Final = 0x10  # of the second byte of the version
NAMES: Final = {1: ("Y",), 2: ("Y", "A"), 3: ("R", "G", "B"), 4: ("R", "G", "B", "A")}


def _library(file: Any) -> Any:
    library = optional("OpenEXR")
    if library is None:
        raise refused(file, "EXR needs the package OpenEXR: pip install OpenEXR")
    return library


def _path(file: Any) -> str:
    if not isinstance(file, str | os.PathLike):
        raise refused(file, "EXR takes a path, no open file")
    return os.fspath(file)


def read(source: Any, which: Which) -> list[Picture]:
    """Pages of a file: what EXR calls parts."""
    library = _library(source)
    path = _path(source)
    damaged = OSError(f"{path}: the EXR is damaged or was not written to its end")
    if _ends_too_soon(path):  # which the library would tell on the standard error output
        raise damaged
    try:
        file = library.File(path, separate_channels=True)
    except RuntimeError:
        raise damaged from None
    if not file.parts:  # the library leaves parts out that it cannot read
        raise damaged
    with file:
        return [_part(path, file.parts[number].channels) for number in which(len(file.parts))]


def _ends_too_soon(path: str) -> bool:
    """Whether a file of one part is shorter than its table says, which has where each chunk of rows
    begins and stands between the header and the first chunk."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(min(size, HEADER))
    at = 8  # behind the magic number and the version
    if len(start) < at or start[5] & MULTIPART:
        return False
    while at < len(start) and start[at]:  # attributes: name, type, size, value
        behind = start.find(b"\0", start.find(b"\0", at) + 1) + 1
        if behind < at or behind + 4 > len(start):
            return len(start) == size
        at = behind + 4 + int.from_bytes(start[behind : behind + 4], "little")
    at += 1
    if at + 8 > len(start):
        return len(start) == size
    count = (int.from_bytes(start[at : at + 8], "little") - at) // 8
    if not 0 < count <= (len(start) - at) // 8:
        return False  # rows from below, or a long table: the library looks
    return bool(np.frombuffer(start, "<u8", count, at).max() >= size)


def _part(path: str, channels: Mapping[str, Any]) -> Picture:
    for names in sorted(NAMES.values(), key=len):
        if set(names) == set(channels):
            layers = [np.asarray(channels[name].pixels) for name in names]
            texels = layers[0] if len(layers) == 1 else np.stack(layers, axis=-1)
            return Picture(texels, {"bits": 8 * texels.dtype.itemsize})
    raise refused(
        path,
        f"its channels are {', '.join(sorted(channels))}; an image has Y, or R, G and B, "
        "with A or without: OpenEXR.File(path).channels() gives the others",
    )


def write(
    target: Any, texels: NDArray[Any], info: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    """Write a picture. `options` go into the file's header."""
    library = _library(target)
    path = _path(target)
    if not Path(path).absolute().parent.is_dir():
        raise FileNotFoundError(2, "No such directory", str(Path(path).parent))
    layers = texels.reshape(*texels.shape[:2], -1)
    channels = {
        name: np.ascontiguousarray(layers[:, :, index])
        for index, name in enumerate(NAMES[layers.shape[2]])
    }
    header = {"compression": library.ZIP_COMPRESSION, "type": library.scanlineimage}
    try:
        with library.File({**header, **options}, channels) as file:
            file.write(path)
    except (RuntimeError, TypeError, ValueError) as error:  # a place, or what a header cannot hold
        raise refused(target, f"EXR: {error}") from None
