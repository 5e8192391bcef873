"""`Image`: what users hold. Texels on a device, and how they are read.

im = Image(array, boundary="wrap")     # a snapshot; anything that holds numbers
im((x, y)) == array[y, x]              # a pixel, in plain Python with the device's meaning
np.asarray(im)                         # the array again
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shown
from pygpu.core.sampler import Sampler
from pygpu.core.storage import STORED, Format, Storage, stored, texels
from pygpu.execution import html
from pygpu.execution.arguments.convert import (
    array_of,
    is_pil,
    texels_of,
    without_channel_axis,
)
from pygpu.execution.arguments.results import NO_INFO, picture_info, picture_of
from pygpu.image import files
from pygpu.image.operators import ArrayMethods, texelwise
from pygpu.language.scalars import Int, UInt
from pygpu.language.vectors import CLASSES

if TYPE_CHECKING:
    from PIL import Image as PILImage

FEW: Final = 1 << 16  # values, for which NumPy is faster than compiling a program


class Image(ArrayMethods):
    """An image on the device: height, width and 1 to 4 channels, row 0 at the top.

    `data` is an array (H, W) or (H, W, C), a PIL image, a pygpu.Image, or anything NumPy reads;
    it is copied. uint8 and uint16 are seen by functions as floats in [0, 1], or as they are with
    `normalize=False`. `boundary` says what lies outside: "nearest", "reflect" (d c b a | a b c d),
    "mirror" (d c b | a b c d), "wrap", or "constant" with `cval`, in texel units, one number or
    one a channel. `interpolation`, "nearest" or "linear", says what lies between pixels.

    `info` is what a file says beside its texels, and what `save` writes: "icc_profile", "exif",
    "dpi", and the "bits" of a value where these are not 8. Results inherit it with the rest from
    the first image.

    In an annotation (`im: Image`) it stands for an image given at each call.
    """

    __slots__ = (
        "__weakref__",
        "_dtype",
        "boundary",
        "cval",
        "format",
        "info",
        "interpolation",
        "storage",
    )

    def __init__(
        self,
        data: Any,
        *,
        boundary: str | None = None,
        cval: Any = None,
        interpolation: str | None = None,
        normalize: bool | None = None,
        info: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(data, Image):
            said: Mapping[str, Any] = data.info
            storage, dtype, old = data.storage, data._dtype, sampler.of(data)
            if normalize is None:
                normalize = data.format.normalize
        else:
            said = picture_info(data) if is_pil(data) else NO_INFO
            array = array_of(data)
            storage, old = Storage.of(texels_of(array, copy=True)), None
            dtype = _presented(array.dtype)
        format = Format(storage.dtype, storage.channels, normalize is not False)
        self._set(storage, _adjusted(format, old, boundary, cval, interpolation), dtype)
        self.info = said if info is None else info

    def _set(self, storage: Storage, reading: Sampler, dtype: np.dtype[Any]) -> None:
        self.storage = storage
        self.format = reading.format
        self.boundary = reading.boundary
        self.cval = reading.cval
        self.interpolation = reading.interpolation
        self._dtype = dtype

    @classmethod
    def _of(
        cls,
        storage: Storage,
        reading: Sampler,
        dtype: np.dtype[Any] | None = None,
        info: Mapping[str, Any] = NO_INFO,
    ) -> Image:
        """An image of texels that may be on a device already: how results are made."""
        image = cls.__new__(cls)
        image._set(storage, reading, storage.dtype if dtype is None else dtype)
        image.info = info
        return image

    @classmethod
    def open(cls, path: Any, *, page: int | None = None, **options: Any) -> Image:
        """The picture in a file, upright (EXIF), at the depth it has: 8 and 16 bits, and floats.

        Of a file of several pages or frames `page` says which, from 0; `pygpu.imread` gives all.
        `options` are those of `Image`. OSError for what is no picture or is damaged.
        """
        texels, info = files.read(path, page)
        return cls(texels, info=info, **options)

    def sampled(
        self,
        boundary: str | None = None,
        cval: Any = None,
        interpolation: str | None = None,
    ) -> Image:
        """The same image seen with another boundary or interpolation. Nothing is copied."""
        reading = _adjusted(self.format, sampler.of(self), boundary, cval, interpolation)
        return Image._of(self.storage, reading, self._dtype, self.info)

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """(H, W), or (H, W, C) where there is more than one channel."""
        storage = self.storage
        if storage.channels == 1:
            return storage.height, storage.width
        return storage.height, storage.width, storage.channels

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of `numpy.asarray(image)`."""
        return self._dtype

    @property
    def width(self) -> int:
        return self.storage.width

    @property
    def height(self) -> int:
        return self.storage.height

    @property
    def channels(self) -> int:
        return self.storage.channels

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values: height times width times channels."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """Where the texels are now: the names of devices, "host" where they are on none."""
        return ", ".join(sorted(self.storage.copies)) or "host"

    def __len__(self) -> int:
        return self.storage.height

    def __repr__(self) -> str:
        reading = [] if self.boundary == "nearest" else [f"boundary={self.boundary!r}"]
        if self.interpolation != "nearest":
            reading.append(f"interpolation={self.interpolation!r}")
        parts = [f"shape={self.shape}", f"dtype={self.dtype}", *reading, f"device={self.device!r}"]
        return f"Image({', '.join(parts)})"

    # ---- pixels in plain Python

    def __call__(self, *position: Any) -> Any:
        """The pixel at a position, `im(p)`, `im((x, y))` or `im(x, y)`: a float, an Int, a UInt
        or a bool,
        or a vector where there is more than one channel. Fractions are interpolated."""
        x, y = _coordinates(position)
        if self.interpolation == "linear" and (isinstance(x, float) or isinstance(y, float)):
            values = self._linear(float(x), float(y))
        else:
            values = self._texel(_nearest(x), _nearest(y))
        type = self.format.type
        if type.is_scalar:
            return _INTEGERS[type.kind](values[0]) if type.kind in _INTEGERS else values[0]
        return CLASSES[type](*values)

    def _texel(self, x: int, y: int) -> list[Any]:
        """The components of one texel, as functions see them."""
        storage = self.storage
        place = sampler.index(self.boundary, x, y, storage.width, storage.height)
        if place is None:
            return list(self.cval)
        values: list[Any] = storage.host()[place[1], place[0]].tolist()
        if self.format.dtype.kind == "u" and self.format.normalize:
            limit = np.iinfo(self.format.dtype).max
            return [value / limit for value in values]
        return values

    def _linear(self, x: float, y: float) -> list[float]:
        """The components between four texels. A weight of zero counts out what it weighs."""
        left, top = _saturated(x), _saturated(y)
        along = x - left if math.isfinite(x) else 0.0
        down = y - top if math.isfinite(y) else 0.0
        rows = []
        for row in (top, top + 1) if down else (top,):
            values = self._texel(left, row)
            if along:
                values = _mixed(values, self._texel(left + 1, row), along)
            rows.append(values)
        return rows[0] if len(rows) == 1 else _mixed(rows[0], rows[1], down)

    # ---- as other things

    def numpy(self) -> NDArray[Any]:
        """An array of its own, (H, W) or (H, W, C)."""
        return self.__array__(copy=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = without_channel_axis(self.storage.host())
        wanted = self._dtype if dtype is None else np.dtype(dtype)
        if array.dtype != wanted:
            if copy is False:
                raise ValueError(f"an Image of {array.dtype} can only be copied to {wanted}")
            return array.astype(wanted)
        if copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False  # it is what the device has, too
        return view

    def to_pil(self, dtype: Any = None) -> PILImage.Image:
        """A PIL image, with the profile, EXIF and resolution of `info`. Floats become 8 bits,
        saturated and rounded, unless `dtype` says otherwise: "uint8", and for one channel
        "uint16", "int32", "float32" and "bool"."""
        if dtype is None:
            keep = self.format.dtype.kind != "f" and self.channels == 1
            dtype = self.format.dtype if keep else np.dtype("uint8")
            if dtype.kind == "i" or dtype == np.uint32:
                dtype = np.dtype("int32")
        picture: PILImage.Image = picture_of(self._texels(np.dtype(dtype)), self.info)
        return picture

    def _texels(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The texels in another dtype, as results are stored in it."""
        if dtype == self.storage.dtype or self.size <= FEW or dtype not in STORED:
            array = without_channel_axis(self.storage.host())
            return array if dtype == array.dtype else stored(texels(array, self.format), dtype)
        # The device's program is many times as fast as NumPy, whose steps each pass over memory.
        return np.asarray(texelwise(_itself)(self, dtype=dtype))

    def save(
        self, path: Any, dtype: Any = None, *, quality: int | None = None, **options: Any
    ) -> None:
        """Write a picture file, its format by the name: PNG, TIFF, EXR, JPEG, WebP, and in 8 bits
        what else Pillow writes.

        The file has the image's dtype, and its profile, EXIF and resolution. Floats go into
        formats of whole numbers as 8 bits of [0, 1], or 16 where the picture was read with 16.
        `dtype` asks for another depth; an OSError names what the format holds where bits would be
        lost. `quality`, 0 to 100, is for JPEG and WebP; `options` are those of Pillow's `save`,
        for a TIFF those of `tifffile.imwrite`.
        """
        content = files.Content(self._dtype, self.channels, self._texels, self.info)
        files.write(path, content, quality, dtype, options)

    def _repr_png_(self) -> bytes:
        """What a notebook shows: of a large image a smaller picture."""
        picture = self.to_pil("uint8")
        picture.thumbnail((html.LARGEST, html.LARGEST))
        buffer = io.BytesIO()
        picture.save(buffer, "PNG")
        return buffer.getvalue()

    def _repr_html_(self) -> str:
        return html.picture(self._repr_png_(), self.width, self.height, repr(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.storage.host(), sampler.of(self), self._dtype, dict(self.info))

    def __copy__(self) -> Image:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Image:
        return self


def _itself(texel: Any) -> Any:
    return texel


def _unpickled(
    host: NDArray[Any], reading: Sampler, dtype: np.dtype[Any], info: Mapping[str, Any] = NO_INFO
) -> Image:
    return Image._of(Storage.of(host), reading, dtype, info)


def _presented(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which an image of such an array gives it back."""
    native = dtype.newbyteorder("=")
    return np.dtype("float32") if native.kind == "f" and native.itemsize > 4 else native


def _adjusted(
    format: Format, old: Sampler | None, boundary: str | None, cval: Any, interpolation: str | None
) -> Sampler:
    """A sampler of what is given, and for the rest of what it was."""
    if old is not None:
        boundary = old.boundary if boundary is None else boundary
        interpolation = old.interpolation if interpolation is None else interpolation
        if cval is None:
            cval = sampler.inherited(old, format).cval
    return sampler.make(
        format,
        "nearest" if boundary is None else boundary,
        0.0 if cval is None else cval,
        "nearest" if interpolation is None else interpolation,
    )


def _coordinates(position: tuple[Any, ...]) -> tuple[Any, Any]:
    """The x and y of `im(p)` or `im(x, y)`, each an int or a float."""
    parts = position[0] if len(position) == 1 else position
    try:
        x, y = parts
    except (TypeError, ValueError):
        raise TypeError(
            f"an image takes a position (x, y), got {', '.join(map(shown, position))}"
        ) from None
    return _coordinate(x), _coordinate(y)


def _coordinate(value: Any) -> int | float:
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    if isinstance(value, np.floating) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return _coordinate(value.item())
    raise TypeError(f"an image takes a position of two numbers, got {shown(value)}")


def _nearest(value: int | float) -> int:
    return _saturated(value + 0.5) if isinstance(value, float) else int(value)


def _saturated(value: float) -> int:
    """The floor as a device has it: within 32 bits, 0 of NaN."""
    if not -(2.0**31) <= value < 2.0**31:
        return 0 if value != value else 2**31 - 1 if value > 0 else -(2**31)
    return math.floor(value)


def _mixed(a: list[float], b: list[float], t: float) -> list[float]:
    return [x * (1.0 - t) + y * t for x, y in zip(a, b, strict=True)]


_INTEGERS: Final[dict[str, Any]] = {"int": Int, "uint": UInt}
