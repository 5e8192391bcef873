"""`Image`: what users hold. A picture: texels at x, y, with Pillow's forms and files.

im = Image(array, boundary="wrap")     # a snapshot; anything that holds numbers
Image.open("photo.jpg").save("photo.png")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import guarded, shown
from pygpu.core.host.later import later
from pygpu.execution.arguments.convert import is_pil, pil_takes_words, result_dtype
from pygpu.execution.arguments.metadata import NO_INFO, picture_info
from pygpu.execution.arguments.results import picture_of
from pygpu.image.grid import FEW, Grid
from pygpu.image.operators import texelwise
from pygpu.language.elementwise import check
from pygpu.language.vectors import Vec4, Vector

with later():
    from pygpu.execution.inspection import html, pictures
    from pygpu.image import levels
    from pygpu.image.files import files
    from pygpu.language import textures

if TYPE_CHECKING:
    from PIL import Image as PILImage


class Image(Grid):
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

    __slots__ = ()

    @staticmethod
    def _said(data: Any) -> Mapping[str, Any]:
        return picture_info(data) if is_pil(data) else NO_INFO

    @classmethod
    @guarded
    def open(
        cls,
        path: Any,
        *,
        page: int | None = None,
        boundary: str | None = None,
        cval: Any = None,
        interpolation: str | None = None,
        normalize: bool | None = None,
    ) -> Image:
        """The picture in a file, upright (EXIF), at the depth it has: 8 and 16 bits, and floats.

        Of a file of several pages or frames `page` says which, from 0; `pygpu.imread` gives all.
        The other arguments are those of `Image`. OSError for what is no picture or is damaged.
        """
        texels, info = files.read(path, page)
        files.check_texels(path, texels)
        return cls._owning(
            texels,
            info,
            boundary=boundary,
            cval=cval,
            interpolation=interpolation,
            normalize=normalize,
        )

    @overload
    def sampled(
        self,
        boundary: str | None = None,
        cval: Any = None,
        interpolation: str | None = None,
        mipmap: Literal[False] = False,
    ) -> Self: ...

    @overload
    def sampled(
        self,
        boundary: str | None = None,
        cval: Any = None,
        interpolation: str | None = None,
        *,
        mipmap: Literal[True],
    ) -> textures.Mipmaps: ...

    @guarded
    def sampled(
        self,
        boundary: str | None = None,
        cval: Any = None,
        interpolation: str | None = None,
        mipmap: bool = False,
    ) -> Self | textures.Mipmaps:
        """The same image seen with another boundary or interpolation. Nothing is copied.

        With `mipmap` it has levels besides, each half as large as the one before, for `at(uv)` of a
        function that sees it small: see `pygpu.language.textures.Mipmaps`."""
        seen = super().sampled(boundary, cval, interpolation)
        if not mipmap:
            return seen
        return levels.mipmaps(seen)

    @guarded
    def at(
        self, uv: Any, *, lod: Any = None, bias: Any = 0.0, interpolation: str | None = None
    ) -> Any:
        """The image at normalised coordinates, (0, 0) on top left and (1, 1) on bottom right:
        ((x + 0.5) / width, (y + 0.5) / height) is the pixel (x, y). Linear between pixels unless
        `interpolation` says otherwise. `lod` and `bias` are for images with levels."""
        if not isinstance(uv, (Vector, tuple, list, np.ndarray)) or len(uv) != 2:
            raise TypeError(f"at: takes coordinates (u, v), got {shown(uv)}")
        check("at", tuple(uv))
        kind = "linear" if self.format.kind == "float" else "nearest"
        return textures.at(self.sampled(interpolation=interpolation or kind), uv, lod, bias)

    @property
    def height(self) -> int:
        return self.storage.height

    @guarded
    def to_pil(self, dtype: Any = None) -> PILImage.Image:
        """A PIL image, with the profile, EXIF and resolution of `info`. Floats, and colours of 16
        bits, which PIL does not have, become 8 bits, saturated and rounded, unless `dtype` says
        otherwise: "uint8", and for one channel "uint16", "int32", "float32" and "bool"."""
        if dtype is None:
            keep = self.format.dtype.kind != "f" and self.channels == 1
            dtype = self.format.dtype if keep else np.dtype("uint8")
            if dtype.kind == "i" or dtype == np.uint32:
                dtype = np.dtype("int32")
        words = self._words(result_dtype(dtype))
        texels = self._texels(result_dtype(dtype)) if words is None else words
        picture: PILImage.Image = picture_of(texels, self.info, words is not None)
        return picture

    def _words(self, dtype: np.dtype[Any]) -> NDArray[Any] | None:
        """Colours of 8 bits with a fourth byte each, as Pillow has them in memory; None where they
        are few, or asked for otherwise."""
        if dtype != np.uint8 or self.channels != 3 or self.size <= FEW or self.format.kind == "int":
            return None
        if not pil_takes_words():
            return None
        return np.asarray(texelwise(_opaque)(self, dtype=dtype))

    @guarded
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
        # What bytes would gain as words is less than the program that makes these takes.
        words = None if self.dtype == np.uint8 else self._words
        content = files.Content(self._dtype, self.channels, self._texels, self.info, words=words)
        files.write(path, content, quality, dtype, options)

    def _repr_png_(self) -> bytes:
        """What a notebook shows: of a large image a smaller picture."""
        return html.png(self.to_pil("uint8"))

    def _repr_html_(self) -> str:
        return pictures.of_image(self)._repr_html_()


def _opaque(texel: Any) -> Any:
    return Vec4(*texel, 1.0)
