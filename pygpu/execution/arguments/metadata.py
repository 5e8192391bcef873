"""What a picture of Pillow's says of itself besides its texels, which goes with results.

picture_info(photo)["dpi"]             # (300, 300)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

NO_INFO: Final[Mapping[str, Any]] = MappingProxyType({})
KEPT_INFO: Final = ("icc_profile", "exif", "dpi")

# Tags of a TIFF that tell of the photograph, rather than how it lies in the file.
TEXTS: Final = (270, 271, 272, 305, 306, 315, 33432)
DIRECTORIES: Final = (0x8769, 0x8825)  # of EXIF, of GPS


def picture_info(picture: Any) -> Mapping[str, Any]:
    """What a picture of Pillow's says of itself: its profile, EXIF as it came, resolution."""
    info = {name: picture.info[name] for name in KEPT_INFO if picture.info.get(name)}
    if picture.format == "TIFF" and "exif" not in info:
        picture.load()  # which turns it upright
        exif = photograph_exif(picture.getexif())
        if exif is not None:
            info["exif"] = exif
    if picture.mode.startswith("I;16"):
        info["bits"] = 16
    return info or NO_INFO


def photograph_exif(tags: Any) -> bytes | None:
    """What the tags of a TIFF, as Pillow has them, say of the photograph, as EXIF. The orientation
    is left out: the picture has been turned upright."""
    from PIL import Image as PILImage  # heavy, and needed only here

    kept = PILImage.Exif()
    for tag in TEXTS:
        if tag in tags and not (tag in (270, 305) and _is_tifffiles(tags[tag])):
            kept[tag] = tags[tag]
    for tag in DIRECTORIES:
        inner = tags.get_ifd(tag)
        if inner:
            kept.get_ifd(tag).update(inner)
            kept[tag] = dict(inner)
    return kept.tobytes() if len(kept) else None


def _is_tifffiles(text: Any) -> bool:
    """Whether a description is what tifffile writes for itself."""
    return str(text).startswith(("tifffile.py", '{"shape"'))
