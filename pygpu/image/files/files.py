"""Picture files: read and written at their depth, upright, with what they say of themselves.

A file's content says what it is when it is read, its suffix when it is written. Nothing is narrowed
in silence: a depth that a format does not hold is refused, and the error says what to give.

    texels, info = read("photo.png")       # (H, W[, C]) in the file's dtype
    imread("stack.tif").shape              # (pages, H, W[, C])
    imwrite("out.tif", stack)
"""

from __future__ import annotations

import io
import math
import numbers
import operator
import os
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import guarded, shown, whole
from pygpu.core.host.records import record
from pygpu.core.storage import Format, stored, texels
from pygpu.execution.arguments.convert import array_of, result_dtype
from pygpu.image.files import exr, pillow, tiff
from pygpu.image.files.formats import (
    FORMATS,
    NOTHING,
    FileFormat,
    Picture,
    Which,
    exif_of,
    named,
    of_suffix,
    refused,
)

INTS: Final = np.iinfo(np.int32)

# ---------------------------------------------------------------- reading


def read(source: Any, page: int | None = None) -> Picture:
    """The picture in a file, or one of its pages. A file of several is refused without `page`."""

    def one(count: int) -> range:
        if page is not None:
            return _numbered(source, page, count)
        if count > 1:
            raise refused(
                source,
                f"it holds {count} pictures: page=0 takes the first, "
                "pygpu.imread(path) all of them as an array",
            )
        return range(1)

    return _pictures(source, one)[0]


def check_texels(source: Any, texels: NDArray[Any]) -> None:
    """An OSError for a file whose numbers are no texels of an image."""
    dtype, why = texels.dtype, None
    if dtype.kind not in "fiub":
        why = f"it holds {dtype}, an image floats, ints or bools"
    elif texels.ndim == 3 and texels.shape[2] > 4:
        why = f"it has {texels.shape[2]} channels, an image up to 4"
    elif (
        dtype.kind in "iu"
        and not np.can_cast(dtype, np.int32)
        and (texels.max() > INTS.max or texels.min() < INTS.min)
    ):
        why = f"it holds ints of more than 32 bits (a pygpu.Int is {INTS.min} to {INTS.max})"
    if why:
        raise refused(source, f"{why}; imread gives an array")


@guarded
def imread(path: Any, page: int | None = None) -> NDArray[Any]:
    """The picture in a file as an array (H, W) or (H, W, C) of the file's own dtype, upright.

    Of a file of several pages or frames all are read, as (N, H, W[, C]), or the one numbered
    `page`. What is damaged or unknown raises an OSError that says so.
    """
    if page is not None:
        return _writable(read(path, page).texels)
    pages = [picture.texels for picture in _pictures(path, range)]
    if len(pages) == 1:
        return _writable(pages[0])
    shapes = {texels.shape for texels in pages}
    if len(shapes) > 1:
        raise refused(
            path,
            f"its {len(pages)} pictures are of shapes {', '.join(map(str, sorted(shapes)))}: "
            "page=0 takes the first",
        )
    dtypes = {texels.dtype for texels in pages}
    if len(dtypes) > 1 and {dtype.kind for dtype in dtypes} != {"f"}:  # white is not the same
        raise refused(
            path,
            f"its {len(pages)} pictures are of dtypes {', '.join(sorted(map(str, dtypes)))}: "
            "page=0 takes the first",
        )
    return np.stack(pages)


def _writable(array: NDArray[Any]) -> NDArray[Any]:
    """The array, or a copy of what Pillow holds."""
    return array if array.flags.writeable else array.copy()


def _numbered(source: Any, page: Any, count: int) -> range:
    try:
        number = operator.index(page)
    except TypeError:
        raise TypeError(f"page: takes a whole number, got {shown(page)}") from None
    if not -count <= number < count:
        held = f"it holds {count} picture{'s' * (count > 1)}"
        raise IndexError(f"{named(source)}: {held}, there is no page {number}")
    return range(count)[number % count :][:1]


def page_count(path: Any) -> int:
    """How many pictures are in a file; none is decoded."""
    counts: list[int] = []

    def none(count: int) -> range:
        counts.append(count)
        return range(0)

    _pictures(path, none)
    return counts[0]


def _pictures(source: Any, which: Which) -> list[Picture]:
    """The pages of a file that are wanted."""
    start = _start(source)
    if start.startswith(exr.MAGIC):
        return exr.read(source, which)
    if start.startswith(tiff.MAGIC):
        return tiff.read(source, which)
    return pillow.read(source, which)


def _start(source: Any) -> bytes:
    """The first bytes of a file."""
    if hasattr(source, "read"):
        if isinstance(source, io.TextIOBase):
            raise TypeError(f"{named(source)}: open it for bytes, open(path, 'rb')")
        source.seek(0)
        start: bytes = source.read(16)
        return start
    if not isinstance(source, str | bytes | os.PathLike):
        raise TypeError(f"Image.open: takes the path of a picture, got {shown(source)}")
    if os.path.isdir(source):
        raise IsADirectoryError(f"{named(source)}: a directory; a picture is a file in it")
    with open(source, "rb") as file:
        start = file.read(16)
    if not start:
        raise OSError(f"{named(source)}: the file is empty")
    return start


# ---------------------------------------------------------------- writing


@record
class Content:
    """What is written: `texels` gives it in the dtype that the file has, `words` colours as Pillow
    has them in memory, or None."""

    dtype: np.dtype[Any]
    channels: int
    texels: Callable[[np.dtype[Any]], NDArray[Any]]
    info: Mapping[str, Any]
    is_stack: bool = False
    words: Callable[[np.dtype[Any]], NDArray[Any] | None] | None = None


@guarded
def imwrite(
    path: Any, array: Any, *, quality: int | None = None, dtype: Any = None, **options: Any
) -> None:
    """Write an array to a file: a picture (H, W) or (H, W, C) with up to four channels, else a
    stack (N, H, W[, C]), which a TIFF holds as pages. The other arguments are those of
    `pygpu.Image.save`, and so are the rules: a dtype that the format does not hold is refused.
    """
    values = array_of(array)
    values = values.astype(values.dtype.newbyteorder("="), copy=False)
    is_stack = values.ndim == 4 or (values.ndim == 3 and values.shape[2] > 4)
    has_channels = values.ndim == 3 + is_stack
    fits = has_channels or values.ndim == 2 + is_stack
    if not fits or 0 in values.shape or (has_channels and values.shape[-1] > 4):
        raise ValueError(
            "imwrite takes a picture (H, W) or (H, W, C) with 1 to 4 channels, or a stack of such, "
            f"got an array of shape {values.shape}"
        )
    if has_channels and values.shape[-1] == 1:
        values, has_channels = values[..., 0], False

    def as_dtype(wanted: np.dtype[Any]) -> NDArray[Any]:
        if values.dtype == wanted or (values.dtype.kind == wanted.kind == "f"):
            return values.astype(wanted, copy=False)
        return stored(texels(values, Format(values.dtype, 1)), wanted)

    channels = values.shape[-1] if has_channels else 1
    content = Content(values.dtype, channels, as_dtype, NOTHING, is_stack)
    write(path, content, quality, dtype, options)


def write(
    target: Any, content: Content, quality: int | None, dtype: Any, options: Mapping[str, Any]
) -> None:
    """Write to a path, or to an open file where `options` have its `format`."""
    more = dict(options)
    name = more.pop("format", None)
    if not isinstance(name, str | None):
        raise TypeError(f"format: takes a name as 'PNG', got {shown(name)}")
    format = of_suffix(target, name)
    _check_options(target, format, more)
    if quality is not None:
        if not format.lossy:
            lossy = " and ".join(f.name for f in FORMATS.values() if f.lossy)
            raise TypeError(f"{named(target)}: {format.name} takes no quality; {lossy} do")
        more["quality"] = _quality(quality)
    if content.is_stack and not format.stacks:
        moving = "pygpu.animate(None, stack, path) writes a moving picture"
        told = f"{format.name} is of one picture; a TIFF holds a stack of them, and {moving}"
        raise refused(target, told)
    if content.channels not in format.channels:
        raise refused(
            target,
            f"{format.name} has no alpha: leave it out, image[..., :{content.channels - 1}]; "
            "PNG, TIFF and WebP hold it",
        )
    depth = result_dtype(dtype) if dtype is not None else _depth(target, content, format)
    if depth.name not in format.dtypes:
        raise refused(target, f"{_holds(format)}, not {depth.name}{_instead(format, depth)}")
    if depth.kind == "b" and content.channels > 1:
        raise refused(target, "bools are written of one channel; dtype='uint8' gives 0 and 255")
    if format.name == "TIFF":
        tiff.write(target, content.texels(depth), content.info, more, content.is_stack)
    elif format.name == "EXR":
        exr.write(target, content.texels(depth), content.info, more)
    else:
        words = content.words(depth) if content.words else None
        texels = content.texels(depth) if words is None else words
        pillow.write(target, texels, format, content.info, more, words is not None)


def _check_options(target: Any, format: FileFormat, options: Mapping[str, Any]) -> None:
    """An error for an option that would be passed over, or of a value that no format takes."""
    for name, value in options.items():
        if name in SAID:
            words, is_fit = SAID[name]
            if value is not None and not is_fit(value):
                raise TypeError(f"{name}: takes {words}, got {shown(value)}")
        elif format.options is not None and name not in format.options:
            taken = ", ".join([*SAID, *format.options])
            raise TypeError(f"{named(target)}: {format.name} takes no {name}; it takes {taken}")


def _is_resolution(value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and all(isinstance(n, numbers.Real) and 0 < float(n) < math.inf for n in value)


def _is_exif(value: Any) -> bool:
    if isinstance(value, bytes) and value:
        try:
            exif_of(value)
        except (SyntaxError, struct.error):
            return False
    return isinstance(value, bytes) or hasattr(value, "tobytes")


# What callers may say of a picture whatever the format.
SAID: Final[Mapping[str, tuple[str, Callable[[Any], bool]]]] = {
    "icc_profile": ("the bytes of a profile", lambda value: isinstance(value, bytes)),
    "exif": ("the bytes of EXIF, or Pillow's Exif", _is_exif),
    "dpi": ("two numbers above 0, across and down", _is_resolution),
}


def _quality(quality: Any) -> int:
    number = whole(quality)
    if number is None or not 0 <= number <= 100:
        raise ValueError(f"quality: takes a whole number from 0 to 100, got {shown(quality)}")
    return number


def _depth(target: Any, content: Content, format: FileFormat) -> np.dtype[Any]:
    """The dtype of a file where none is asked for: the image's own where the format has it. Floats
    are written as 8 bits else, or as 16 where the picture that they come of had as many."""
    dtype = content.dtype
    if dtype.name in format.dtypes and (dtype.kind != "b" or content.channels == 1):
        return dtype
    bits = content.info.get("bits", 8)
    narrow = dtype.kind == "b" or (dtype.kind == "f" and bits <= 8)
    if narrow and "uint8" in format.dtypes:
        return np.dtype("uint8")
    if dtype.kind == "f" and bits <= 16 and "uint16" in format.dtypes:
        return np.dtype("uint16")
    origin = f", of a picture of {bits} bits" if dtype.kind == "f" and not narrow else ""
    raise refused(target, f"{_holds(format)}, not {dtype.name}{origin}{_instead(format, dtype)}")


def _holds(format: FileFormat) -> str:
    return f"{format.name} holds {', '.join(format.dtypes)}"


def _instead(format: FileFormat, dtype: np.dtype[Any]) -> str:
    """What to do about a dtype that a format does not hold."""
    others = [f.name for f in FORMATS.values() if dtype.name in f.dtypes]
    there = f"; {' and '.join(others)} hold{'s' * (len(others) == 1)} it" if others else ""
    alike = [name for name in format.dtypes if np.dtype(name).kind == dtype.kind]
    widest = max(alike, key=lambda name: np.dtype(name).itemsize, default=format.dtypes[0])
    convert = "" if dtype.kind == "c" else f": dtype={widest!r} converts"
    return f"{convert}{there}"
