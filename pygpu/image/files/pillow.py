"""Files that Pillow reads and writes, and the PNG of 16 bits, of which it keeps the upper 8 alone.

Pillow's decoders hand a value of 16 bits on by its upper byte. Told that the bytes of each value
lie the other way round, they hand on the lower one: two readings give all 16 bits, at the speed of
Pillow's C. Such a PNG is written with zlib alone.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import UnsupportedOperation
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.execution.arguments.convert import PIL_CONVERSIONS, PIL_MODES, array_of, pil_of
from pygpu.image.files import ahead
from pygpu.image.files.formats import (
    FORMATS,
    ORIENTATION,
    FileFormat,
    Picture,
    Which,
    exif_of,
    named,
    refused,
    turned,
    upright_exif,
)

SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
ODD: Final = (struct.error, zlib.error, AttributeError)  # what options of wrong values raise, too
COLOUR_TYPES: Final = {1: 0, 2: 4, 3: 2, 4: 6}  # of PNG, by channels
DOTS: Final = (0x011A, 0x011B)  # tags of EXIF: how many a unit, along x and y
UNIT: Final = 0x0128  # and which unit: 2 for inches, 3 for centimetres
INCHES: Final = 0.0254  # in metres
ICONS: Final = ("ICO", "ICNS")  # which Pillow scales to sizes that icons have
LARGEST_ICON: Final = 256  # of an ICO
HEIC: Final = (b"heic", b"heix", b"heim", b"heis", b"mif1")  # brands of files that hold them

# How Pillow reads 16 bits of a value: the raw modes that give the upper and the lower bytes. Of two
# channels no raw mode gives the lower bytes, but all four bytes are a texel of RGBA.
DEEP: Final = {
    "LA;16B": ("RGBA",),
    "RGB;16B": ("RGB;16B", "RGB;16L"),
    "RGBA;16B": ("RGBA;16B", "RGBA;16L"),
    "RGB;16N": ("RGB;16B", "RGB;16L"),
    "RGBA;16N": ("RGBA;16B", "RGBA;16L"),
}
NATIVE: Final = np.little_endian  # the order in which libtiff hands values on


def read(source: Any, which: Which) -> list[Picture]:
    """Pages of a file, of a moving picture its frames."""
    decoded = ahead.taken(source)
    if decoded is not None:
        return [_upright(source, decoded) for _ in which(1)]
    with opened(source) as file:
        # The further pictures of an MPO, as cameras and phones write them, are previews.
        count = 1 if file.format == "MPO" else getattr(file, "n_frames", 1)
        pages = which(count)
    return [page(source, number) for number in pages]


def page(source: Any, number: int) -> Picture:
    """One page of a file, upright."""
    with opened(source, number) as file:
        raw = _raw_mode(file)
        if raw in DEEP:
            return _deep(source, number, file, raw)
        _check_depth(source, file)
        file.load()
        return _upright(source, file)


def _upright(source: Any, file: Any) -> Picture:
    """A decoded picture, turned as its EXIF says."""
    from PIL import ImageOps  # heavy, and needed only here

    ImageOps.exif_transpose(file, in_place=True)  # not a copy, which costs a third of decoding
    upright: Any = file
    if "transparency" in upright.info and upright.mode in ("1", "L", "RGB"):
        upright = upright.convert("RGBA" if upright.mode == "RGB" else "LA")
    if upright.mode not in PIL_MODES:
        better = PIL_CONVERSIONS.get(upright.mode, "RGB")
        raise refused(
            source,
            f"a PIL image of mode {upright.mode!r} is not taken; convert it: "
            f"pygpu.Image(PIL.Image.open({named(source)!r}).convert({better!r}))",
        )
    return Picture(array_of(upright), info_of(upright))


@contextmanager
def opened(source: Any, number: int = 0) -> Iterator[Any]:
    """The file, as Pillow has it, at a page. What goes wrong is told with the file's name."""
    from PIL import Image as PILImage  # heavy, and needed only here
    from PIL import UnidentifiedImageError

    if hasattr(source, "seek"):
        source.seek(0)
    try:
        with PILImage.open(source) as file:
            if number:
                file.seek(number)
            yield file
    except UnidentifiedImageError:
        if _is_heic(source):
            help = "a HEIC photograph: pillow-heif lets Pillow read it (pip install pillow-heif)"
            raise refused(source, help) from None
        known = ", ".join(FORMATS)
        raise refused(source, f"no picture, or of an unknown format; {known} are read") from None
    except (OSError, SyntaxError, EOFError, struct.error, zlib.error) as error:
        if getattr(error, "filename", None) is not None or str(error).startswith(named(source)):
            raise
        raise OSError(
            f"{named(source)}: {error}; the file is damaged or was not written to its end"
        ) from None


def _is_heic(source: Any) -> bool:
    """Whether a file begins as phones write their photographs (ISO 23008-12)."""
    if hasattr(source, "seek"):
        source.seek(0)
        start = source.read(12)
    else:
        with open(source, "rb") as file:
            start = file.read(12)
    return bytes(start[4:8]) == b"ftyp" and bytes(start[8:12]) in HEIC


def info_of(picture: Any) -> dict[str, Any]:
    """What a picture of Pillow's says of itself beside its texels."""
    names = ("icc_profile", "exif", "dpi")
    info = {name: picture.info[name] for name in names if picture.info.get(name)}
    if picture.format == "WEBP" and (dots := _dots_of(picture.getexif())):
        info["dpi"] = dots
    return info


def _dots_of(exif: Any) -> tuple[float, float] | None:
    """The dots an inch that EXIF tells, where it tells two numbers."""
    try:
        per_unit = [float(exif[tag]) for tag in DOTS if tag in exif]
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    inches = {2: 1.0, 3: 2.54}.get(exif.get(UNIT, 2))
    if len(per_unit) < 2 or inches is None or not all(0 < n < math.inf for n in per_unit):
        return None
    return per_unit[0] * inches, per_unit[1] * inches


def _with_dots(exif: Any, dots: Any) -> bytes:
    """EXIF, as bytes or as Pillow has it, that tells the dots an inch."""
    told = exif_of(exif if isinstance(exif, bytes) else exif.tobytes())
    told.update(zip((*DOTS, UNIT), (*map(float, dots), 2), strict=True))
    return bytes(told.tobytes())


def _raw_mode(file: Any) -> str:
    """How the bytes of a texel lie in the file."""
    args = file.tile[0][3] if file.tile else ""
    return str(args[0] if isinstance(args, tuple) and args else args)


def _check_depth(source: Any, file: Any) -> None:
    """Refuse what Pillow would narrow to 8 bits."""
    args = file.tile[0][3] if file.tile else ()
    deep = file.format == "PPM" and isinstance(args, tuple) and args[-1] not in (0, 255, "P")
    deep = deep or ";16" in _raw_mode(file)
    if deep and file.mode[0] not in "IF":
        raise refused(
            source, f"{file.format} of more than 8 bits is not read whole; make it a PNG or TIFF"
        )


def _deep(source: Any, number: int, file: Any, raw: str) -> Picture:
    """A picture of 16 bits of more than one channel."""
    order = "little" if raw.endswith("N") and NATIVE else "big"
    parts = [_read_as(source, number, part) for part in DEEP[raw]]
    values: NDArray[Any]
    if len(parts) == 1:
        values = parts[0].view(">u2").astype(np.uint16)
    else:
        upper, lower = parts if order == "big" else parts[::-1]
        values = upper.astype(np.uint16) << 8 | lower
    values = _with_alpha(values, file.info.get("transparency"))
    exif = file.getexif()
    orientation = exif.get(ORIENTATION)
    info = info_of(file) | {"bits": 16}
    if orientation is not None:
        info["exif"] = upright_exif(exif)
    return Picture(turned(values, orientation), {k: v for k, v in info.items() if v is not None})


def _read_as(source: Any, number: int, raw: str) -> NDArray[np.uint8]:
    """The bytes that Pillow makes of a picture whose texels are said to lie otherwise."""
    with opened(source, number) as file:
        if raw == "RGBA":
            file._mode = "RGBA"  # of two channels the mode differs between Pillow's versions
        file.tile = [_tile(tile, raw) for tile in file.tile]
        file.info.pop("transparency", None)
        return np.asarray(file)


def _tile(tile: Any, raw: str) -> Any:
    """A tile, which Pillow decodes by itself, with its texels said to lie otherwise."""
    codec, extents, offset, args = tile
    parts = (codec, extents, offset, (raw, *args[1:]) if isinstance(args, tuple) else raw)
    return type(tile)(*parts) if hasattr(tile, "_fields") else parts  # Pillow 10 has plain tuples


def _with_alpha(values: NDArray[Any], key: Any) -> NDArray[Any]:
    """Colours with alpha where one of them is said to be transparent."""
    if key is None or values.shape[2] != 3:
        return values
    opaque = (values != np.asarray(key, np.uint16)).any(axis=2, keepdims=True)
    return np.concatenate([values, np.where(opaque, np.uint16(0xFFFF), np.uint16(0))], axis=2)


# ---------------------------------------------------------------- writing


def write(
    target: Any,
    texels: NDArray[Any],
    format: FileFormat,
    info: Mapping[str, Any],
    options: Mapping[str, Any],
    in_words: bool = False,
) -> None:
    """Write a picture, maybe of colours in words (`pil_of`). `options` are those of Pillow's
    `save`."""
    try:
        if format.name == "PNG" and texels.dtype == np.uint16 and texels.ndim == 3:
            _write_png(target, texels, dict(info) | dict(options))
        else:
            _write_by_pillow(target, pil_of(texels, in_words), format, info, options)
    except UnsupportedOperation as error:
        if str(error).startswith(f"{named(target)}: "):
            raise
        raise refused(target, f"{format.name}: the file is not open for writing") from None
    except (OSError, KeyError, TypeError, ValueError, OverflowError, *ODD) as error:
        if getattr(error, "filename", None) is not None:
            raise
        raise refused(target, f"{format.name}: {error}") from None


def _write_by_pillow(
    target: Any,
    picture: Any,
    format: FileFormat,
    info: Mapping[str, Any],
    options: Mapping[str, Any],
) -> None:
    said = {name: info[name] for name in ("icc_profile", "exif", "dpi") if name in info}
    said |= options
    channels = len(picture.getbands())
    if format.name == "WebP" and "dpi" in said:  # which has no other place for it
        said["exif"] = _with_dots(said.get("exif", b""), said.pop("dpi"))
    if format.name == "WebP" and said.get("lossless"):
        said.setdefault("exact", True)  # colours where alpha is 0 would be replaced else
    if format.name in ICONS and "sizes" not in said:
        if format.name != "ICO" or max(picture.size) > LARGEST_ICON:
            raise refused(
                target, f"{format.name} scales pictures to sizes of its own; a PNG does not"
            )
        said["sizes"] = [picture.size]
    if channels not in (2, 4) or format.name in FORMATS or _keeps_alpha(picture, format, said):
        picture.save(target, format=format.name, **said)
    else:
        colours = f"image[..., :{channels - 1}]"
        raise refused(
            target,
            f"{format.name} would lose the alpha: leave it out, {colours}; PNG, TIFF and WebP "
            "hold it",
        )


def _keeps_alpha(picture: Any, format: FileFormat, said: Mapping[str, Any]) -> bool:
    """Whether a file tells the picture's alpha: Pillow leaves it out of some formats (PPM, BMP)
    without a word, of others (GIF) all but whether there is any, and refuses others (grey with
    alpha) by its name of the mode. What Pillow cannot read again is taken to."""
    from PIL import Image as PILImage  # heavy, and needed only here
    from PIL import UnidentifiedImageError

    file = io.BytesIO()
    try:
        picture.save(file, format=format.name, **said)
    except OSError as error:
        if str(error).startswith("cannot write mode"):
            return False
        raise
    file.seek(0)
    try:
        with PILImage.open(file) as written:
            if not written.has_transparency_data:
                return False
            return is_cut(picture) or not is_cut(written)
    except UnidentifiedImageError:
        return True


def is_cut(picture: Any) -> bool:
    """Whether all pixels are opaque or clear, none something between."""
    alpha = np.asarray(picture.convert("RGBA").getchannel("A"))
    return bool(((alpha == 0) | (alpha == 255)).all())


def _write_png(target: Any, texels: NDArray[Any], said: Mapping[str, Any]) -> None:
    """A PNG of 16 bits and several channels, which Pillow does not write."""
    unknown = said.keys() - {"icc_profile", "exif", "dpi", "bits", "compress_level", "optimize"}
    if unknown:
        raise TypeError(f"of 16 bits it takes no {', '.join(sorted(unknown))}")
    height, width, channels = texels.shape
    header = struct.pack(">IIBBBBB", width, height, 16, COLOUR_TYPES[channels], 0, 0, 0)
    chunks = [(b"IHDR", header)]
    if said.get("icc_profile"):
        chunks.append((b"iCCP", b"ICC Profile\0\0" + zlib.compress(said["icc_profile"])))
    if said.get("dpi"):
        x, y = (round(float(dots) / INCHES) for dots in said["dpi"])
        chunks.append((b"pHYs", struct.pack(">IIB", x, y, 1)))
    if said.get("exif"):
        exif = said["exif"]
        data = exif if isinstance(exif, bytes) else exif.tobytes()
        chunks.append((b"eXIf", data.removeprefix(b"Exif\0\0")))
    level = 9 if said.get("optimize") else said.get("compress_level", 6)
    chunks += [(b"IDAT", zlib.compress(_filtered(texels).data, level)), (b"IEND", b"")]
    content = SIGNATURE + b"".join(_chunk(kind, data) for kind, data in chunks)
    if hasattr(target, "write"):
        target.write(content)
    else:
        with open(target, "wb") as file:
            file.write(content)


def _filtered(texels: NDArray[Any]) -> NDArray[np.uint8]:
    """Rows of bytes as PNG has them, each as what it adds to the row above (filter 2, "up")."""
    height = texels.shape[0]
    values = texels.astype(">u2").view(np.uint8).reshape(height, -1)
    rows = np.empty((height, values.shape[1] + 1), np.uint8)
    rows[:, 0] = 2
    rows[0, 1:] = values[0]
    np.subtract(values[1:], values[:-1], out=rows[1:, 1:])
    return rows


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
