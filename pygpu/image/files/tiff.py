"""TIFF files: whole numbers and floats of any depth, one page or many.

tifffile reads and writes them. What it needs a codec for (LZW and JPEG, above all) Pillow reads
where it can without narrowing, and so are colours that are no RGB.
"""

from __future__ import annotations

import importlib
import logging
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.optional import optional
from pygpu.execution.arguments.metadata import DIRECTORIES, TEXTS, photograph_exif
from pygpu.image.files import pillow
from pygpu.image.files.formats import ORIENTATION, Picture, Which, exif_of, named, refused, turned

# tifffile tells by logging what it finds in damaged files; where nobody listens that is printed.
logging.getLogger("tifffile").addHandler(logging.NullHandler())

MAGIC: Final = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE = 0, 1, 2, 3
LONG: Final = 4  # the type of a whole number of 32 bits
SMALLER: Final = 0b101  # bits of a page's kind: a copy of less resolution, a mask
RAW: Final = (32803, 34892)  # colour filter arrays, and linear raw
RESOLUTION: Final = (282, 283, 296)
PROFILE: Final = 34675
INCHES: Final = {2: 1.0, 3: 2.54}  # what a unit of resolution takes to dots an inch


CODECS: Final = "imagecodecs"  # the package that tifffile takes them from


def read(source: Any, which: Which) -> list[Picture]:
    """Pages of a file; smaller copies and masks of pages are left out."""
    try:
        return _read(source, which)
    except OSError as error:
        if CODECS in str(error) and _has_new_codecs():
            return _read(source, which)
        raise


def _has_new_codecs() -> bool:
    """Whether codecs were installed since tifffile, which looks for them then, was imported."""
    inner = sys.modules["tifffile.tifffile"]
    if getattr(inner, CODECS).__name__ == CODECS or optional(CODECS) is None:
        return False
    importlib.reload(inner)
    importlib.reload(sys.modules["tifffile"])
    return True


def _read(source: Any, which: Which) -> list[Picture]:
    import tifffile  # heavy, and needed only here

    if hasattr(source, "seek"):
        source.seek(0)
    with _whole_file(source):
        file = tifffile.TiffFile(source)
    with file:
        with _whole_file(source):
            every: list[Any] = list(file.pages)
            _check_last(file, every)
            pages = [p for p in every if not int(p.subfiletype) & SMALLER] or every
            series = file.series[0] if len(every) == 1 else None
            count = len(pages)
            # ImageJ writes stacks with one directory
            if series is not None and series.size > pages[0].size:
                count = series.size // pages[0].size
        if not count:
            raise OSError(f"{named(source)}: the TIFF is damaged: it holds no page")
        numbers = which(count)
        with _whole_file(source):
            if count == len(pages):
                return [_picture(source, pages[number]) for number in numbers]
            assert series is not None
            stack = series.asarray().reshape(-1, *pages[0].shape)
            info = _info(source, pages[0])
            return [Picture(stack[number], info) for number in numbers]


def _check_last(file: Any, pages: list[Any]) -> None:
    """Raise where a page is said to follow the last one, but lies beyond the file's end: tifffile
    leaves the pages out that a file cut off has lost."""
    if not pages:
        return
    format, handle, at = file.tiff, file.filehandle, pages[-1].offset
    handle.seek(at)
    (tags,) = struct.unpack(format.tagnoformat, handle.read(format.tagnosize))
    handle.seek(at + format.tagnosize + tags * format.tagsize)
    (following,) = struct.unpack(format.offsetformat, handle.read(format.offsetsize))
    if following >= handle.size:
        raise ValueError(f"the pages after the first {len(pages)} are missing")


@contextmanager
def _whole_file(source: Any) -> Iterator[None]:
    """Whatever tifffile raises about a damaged file, and that is any error, is told as one."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(
            f"{named(source)}: {error}; the TIFF is damaged or was not written to its end"
        ) from None


def _picture(source: Any, page: Any) -> Picture:
    if int(page.photometric) in RAW:
        raise refused(source, "a raw photograph: rawpy develops it (pip install rawpy)")
    if int(page.photometric) not in (WHITE_IS_ZERO, BLACK_IS_ZERO, RGB, PALETTE):
        return pillow.page(source, page.index)
    try:
        texels = _whole(source, page)
    except (ValueError, ImportError) as error:
        needed = isinstance(error, ImportError) or "imagecodecs" in str(error)
        if not needed:
            raise
        return _by_pillow(source, page)
    if page.axes.startswith("S"):
        texels = np.moveaxis(texels, 0, -1)
    if texels.ndim not in (2, 3):
        raise refused(source, f"a page of shape {texels.shape} is no image; tifffile reads it")
    if int(page.photometric) == PALETTE:
        texels = _coloured(texels, page.colormap)
    if int(page.photometric) == WHITE_IS_ZERO:
        texels = ~texels if texels.dtype.kind == "b" else np.iinfo(texels.dtype).max - texels
    orientation = page.tags.valueof(ORIENTATION)
    return Picture(turned(texels, orientation), _info(source, page))


def _coloured(numbers: NDArray[Any], palette: NDArray[np.uint16]) -> NDArray[Any]:
    """The colours (H, W, 3) of numbers in a palette (3, N) of 16 bits; of 8 where it holds no more,
    which files say by equal bytes, or by lower ones of 0."""
    low, high = palette & 0xFF, palette >> 8
    if not low.any() or np.array_equal(low, high):
        palette = high.astype(np.uint8)
    colours: NDArray[Any] = np.ascontiguousarray(palette.T)[numbers]
    return colours


def _whole(source: Any, page: Any) -> NDArray[Any]:
    """A page's texels. Of a file that ends too soon tifffile would make zeros."""
    handle = page.parent.filehandle
    ends = [at + n for at, n in zip(page.dataoffsets, page.databytecounts, strict=False)]
    if ends and max(ends) > handle.size:
        raise ValueError(f"{max(ends) - handle.size} bytes are missing")
    texels: NDArray[Any] = page.asarray()
    return texels


def _by_pillow(source: Any, page: Any) -> Picture:
    """A page in a compression for which tifffile lacks the codec."""
    bits = page.bitspersample
    plain = page.planarconfig == 1 or page.samplesperpixel == 1
    if plain and (bits in (1, 8) or (bits == 16 and page.samplesperpixel in (1, 3, 4))):
        try:
            return pillow.page(source, page.index)
        except OSError as error:
            if "unknown format" not in str(error):
                raise
    name = page.compression.name
    raise refused(source, f"the compression {name} needs a codec: pip install imagecodecs")


def _info(source: Any, page: Any) -> dict[str, Any]:
    """What the file says of a page beside its texels."""
    info: dict[str, Any] = {}
    if page.bitspersample > 8:
        info["bits"] = page.bitspersample
    if page.tags.valueof(PROFILE):
        info["icc_profile"] = page.tags.valueof(PROFILE)
    x, y, unit = (page.tags.valueof(code) for code in RESOLUTION)
    unit = 2 if unit is None else int(unit)  # no unit is 1, and false
    if x and y and unit in INCHES:
        dots = (INCHES[unit] * (n / d if d else 0.0) for n, d in (x, y))
        info["dpi"] = tuple(dots)
    exif = _exif(source)
    if exif is not None:
        info["exif"] = exif
    return info


def _exif(source: Any) -> bytes | None:
    """What tags say of the photograph, as EXIF; the orientation is left out."""
    from PIL import Image as PILImage  # heavy, and needed only here

    found = PILImage.Exif()
    file = source if hasattr(source, "seek") else open(source, "rb")  # noqa: SIM115  closed below
    try:
        file.seek(0)
        found.load_from_fp(file)
        return photograph_exif(found)
    except (SyntaxError, OSError, KeyError, struct.error):  # BigTIFF: some Pillows read it
        return None
    finally:
        if file is not source:
            file.close()


# ---------------------------------------------------------------- writing


def write(
    target: Any,
    texels: NDArray[Any],
    info: Mapping[str, Any],
    options: Mapping[str, Any],
    stack: bool,
) -> None:
    """Write a picture, or a stack (N, H, W[, C]). `options` are those of `tifffile.imwrite`."""
    import tifffile  # heavy, and needed only here

    said = dict(info) | dict(options)
    exif, dpi, profile = (said.pop(name, None) for name in ("exif", "dpi", "icc_profile"))
    said.pop("bits", None)
    has_channels = texels.ndim == 3 + stack
    channels = texels.shape[-1] if has_channels else 1
    settings: dict[str, Any] = {
        "photometric": "rgb" if channels >= 3 else "minisblack",
        "planarconfig": "contig" if has_channels else None,
        "extrasamples": ["unassalpha"] if channels in (2, 4) else None,
        "metadata": None,
        "byteorder": "<",
        "software": False,
        "iccprofile": profile,
        "extratags": [],
    }
    if dpi:
        settings |= {"resolution": tuple(map(float, dpi)), "resolutionunit": 2}
    directories = {}
    if exif:
        try:
            directories = _tagged(exif_of(exif) if isinstance(exif, bytes) else exif, settings)
        except SyntaxError as error:
            raise refused(
                target, f"the EXIF is damaged ({error}); exif=None leaves it out"
            ) from None
    is_new = isinstance(target, str | os.PathLike) and not os.path.exists(target)
    try:
        tifffile.imwrite(target, texels, **(settings | said))
    except (KeyError, ValueError, TypeError, ImportError) as error:  # an option, a missing codec
        if is_new and os.path.exists(target):
            os.remove(target)  # what was written before it failed
        why, help = error.args[0] if isinstance(error, KeyError) else str(error), ""
        if isinstance(error, ImportError) or CODECS in why:
            if _has_new_codecs():
                write(target, texels, info, options, stack)
                return
            why, help = f"{said.get('compression')} needs a codec", f": pip install {CODECS}"
        raise refused(target, f"TIFF: {why}{help}") from None
    if directories:
        _append(target, directories)


def _tagged(exif: Any, settings: dict[str, Any]) -> dict[int, Any]:
    """Add EXIF's texts to the tags; its directories, which tifffile does not write, come back."""
    for tag in TEXTS:
        if exif.get(tag):
            settings["extratags"].append((tag, "s", 0, str(exif[tag]), True))
    if exif.get(ORIENTATION):
        settings["extratags"].append((ORIENTATION, "H", 1, int(exif[ORIENTATION]), True))
    directories = {tag: exif.get_ifd(tag) for tag in DIRECTORIES}
    return {tag: inner for tag, inner in directories.items() if inner}


def _append(target: Any, directories: Mapping[int, Any]) -> None:
    """Put directories at the end of a file, and a first directory of the file that names them."""
    from PIL import TiffImagePlugin  # heavy, and needed only here

    if not isinstance(target, str | os.PathLike):
        raise refused(target, "EXIF is written to a TIFF that has a path; exif=None leaves it out")
    with open(target, "r+b") as file:
        magic, first = struct.unpack("<4sI", file.read(8))
        if magic != MAGIC[0]:
            raise refused(target, "EXIF is written to a TIFF below 4 GiB; exif=None leaves it out")
        file.seek(first)
        (count,) = struct.unpack("<H", file.read(2))
        entries = [file.read(12) for _ in range(count)]
        following = file.read(4)
        for tag, values in directories.items():
            inner = TiffImagePlugin.ImageFileDirectory_v2(prefix=b"II")
            for key, value in values.items():
                inner[key] = value
            at = _even_end(file)
            file.write(inner.tobytes(at))
            entries.append(struct.pack("<HHII", tag, LONG, 1, at))
        entries.sort(key=lambda entry: struct.unpack_from("<H", entry))
        at = _even_end(file)
        file.write(struct.pack("<H", len(entries)) + b"".join(entries) + following)
        file.seek(4)
        file.write(struct.pack("<I", at))


def _even_end(file: Any) -> int:
    """The end of a file, where a directory may begin: at an even offset."""
    at: int = file.seek(0, os.SEEK_END)
    at += file.write(b"\0" * (at % 2))
    return at
