"""Images as a page holds them: as PNG where that is the same to the last bit, else their texels.

described(storage, format, "photo")     # {"png": "data:image/png;base64,...", ...}
"""

from __future__ import annotations

import base64
import io
import zlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PILImage

from pygpu.core.storage import Format, Storage

PNG_CHANNELS: Final = (1, 3, 4)


def texture(format: Format) -> dict[str, Any]:
    """The texture of an image: what its texels are."""
    return {"dtype": str(format.dtype), "channels": format.channels, "scaled": format.is_scaled}


def described(storage: Storage, format: Format, name: str) -> dict[str, Any]:
    """An image with its texels."""
    texels = storage.host()
    facts = {"name": name, "size": [storage.width, storage.height], **texture(format)}
    data = _bytes_of(texels)
    if data is not None and storage.channels in PNG_CHANNELS:
        return facts | {"png": _png(data)}
    packed = zlib.compress(np.ascontiguousarray(texels).tobytes(), 9)
    return facts | {"zlib": base64.b64encode(packed).decode("ascii")}


def _bytes_of(texels: NDArray[Any]) -> NDArray[np.uint8] | None:
    """The bytes from which a browser makes exactly these texels; None where no bytes do."""
    if texels.dtype == np.uint8:
        return texels
    if texels.dtype == np.float32:
        data = np.nan_to_num(np.rint(np.clip(texels, 0, 1) * np.float32(255))).astype(np.uint8)
        return data if np.array_equal(data / np.float32(255), texels) else None
    return None


def _png(data: NDArray[np.uint8]) -> str:
    file = io.BytesIO()
    PILImage.fromarray(data[..., 0] if data.shape[2] == 1 else data).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")
