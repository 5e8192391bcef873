"""`Grid`: what signals, images and volumes have in common: texels, how they are read.

    im = Image(array, boundary="wrap")     # a snapshot; anything that holds numbers
    im((x, y)) == array[y, x]              # a pixel, in plain Python with the device's meaning
    np.asarray(im)                         # the array again

What they are functions of differs: `dims` is the number of coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import asked, guarded, shortened, shown
from pygpu.core.sampler import Sampler
from pygpu.core.storage import STORED, Format, Storage, presented, stored, texels
from pygpu.execution.arguments.convert import array_of, storage_of
from pygpu.execution.arguments.metadata import NO_INFO
from pygpu.image.operators import ArrayMethods, texelwise
from pygpu.language.scalars import Int, UInt, number
from pygpu.language.vectors import CLASSES

FEW: Final = 1 << 16  # values, for which NumPy is faster than compiling a program


class Grid(ArrayMethods):
    """Texels on the device at whole coordinates, of 1 to 4 channels. See pygpu.Image."""

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

    @guarded
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
        if isinstance(data, Grid):
            if data.dims != self.dims:
                raise TypeError(
                    f"a pygpu.{type(self).__name__} of a pygpu.{type(data).__name__}: make it of "
                    "an array, np.asarray(...), of the axes that are meant"
                )
            said: Mapping[str, Any] = data.info
            storage, dtype, old = data.storage, data._dtype, sampler.of(data)
            if normalize is None:
                normalize = data.format.normalize
        else:
            said = self._said(data)
            noun = type(self).__name__.lower()
            array = array_of(data, noun, self.dims)
            storage, old = storage_of(array, noun, self.dims, copy=True), None
            dtype = presented(array.dtype)
        format = Format(storage.dtype, storage.channels, normalize is None or bool(normalize))
        self._set(storage, sampler.adjusted(format, old, boundary, cval, interpolation), dtype)
        self.info = said if info is None else info

    @staticmethod
    def _said(data: Any) -> Mapping[str, Any]:
        """What the data says of itself beside its texels."""
        return NO_INFO

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
    ) -> Self:
        """One of texels that may be on a device already: how results are made."""
        image = cls.__new__(cls)
        image._set(storage, reading, storage.dtype if dtype is None else dtype)
        image.info = info
        return image

    @classmethod
    def _owning(
        cls,
        array: NDArray[Any],
        info: Mapping[str, Any],
        *,
        boundary: str | None = None,
        cval: Any = None,
        interpolation: str | None = None,
        normalize: bool | None = None,
    ) -> Self:
        """One of an array that nobody else holds: it is not copied."""
        storage = storage_of(array, cls.__name__.lower(), cls.dims)
        format = Format(storage.dtype, storage.channels, normalize is None or bool(normalize))
        reading = sampler.adjusted(format, None, boundary, cval, interpolation)
        return cls._of(storage, reading, presented(array.dtype), info)

    @guarded
    def sampled(
        self, boundary: str | None = None, cval: Any = None, interpolation: str | None = None
    ) -> Self:
        """The image seen with another boundary or interpolation. Nothing is copied."""
        reading = sampler.adjusted(self.format, sampler.of(self), boundary, cval, interpolation)
        return self._of(self.storage, reading, self._dtype, self.info)

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The axes of coordinates, x last, and where there are several channels an axis of them."""
        storage = self.storage
        return storage.shape if storage.channels == 1 else (*storage.shape, storage.channels)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of `numpy.asarray(image)`."""
        return self._dtype

    @property
    def width(self) -> int:
        return self.storage.width

    @property
    def channels(self) -> int:
        return self.storage.channels

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of values: texels times channels."""
        return math.prod(self.shape)

    @property
    def device(self) -> str:
        """Where the texels are now: the names of devices, "host" where they are on none."""
        return ", ".join(sorted(self.storage.devices)) or "host"

    def __len__(self) -> int:
        return self.storage.shape[0]

    def __repr__(self) -> str:
        reading = [] if self.boundary == "nearest" else [f"boundary={self.boundary!r}"]
        if self.interpolation != "nearest":
            reading.append(f"interpolation={self.interpolation!r}")
        parts = [f"shape={self.shape}", f"dtype={self.dtype}", *reading, f"device={self.device!r}"]
        return f"{type(self).__name__}({', '.join(parts)})"

    # ---- pixels in plain Python

    @guarded
    def __call__(self, *position: Any) -> Any:
        """The texel at a position, `im(p)`, `im((x, y))` or `im(x, y)`: a float, an Int, a UInt or
        a bool, or a vector where there is more than one channel. Fractions are interpolated."""
        place = self._coordinates(position)
        if self.interpolation == "linear" and any(isinstance(x, float) for x in place):
            values = self._linear([float(x) for x in place])
        else:
            values = self._texel([_nearest(x) for x in place])
        type = self.format.type
        if type.is_scalar:
            return _INTEGERS[type.kind](values[0]) if type.kind in _INTEGERS else values[0]
        return CLASSES[type](*values)

    def _coordinates(self, position: tuple[Any, ...]) -> list[int | float]:
        """The x, y, z of `im(p)` or `im(x, y)`, as many as there are coordinates."""
        is_number = self.dims == 1 and number(position[0] if position else None) is not None
        parts = position[0] if len(position) == 1 and not is_number else position
        try:
            place = [_coordinate(part) for part in parts]
        except TypeError:
            place = []
        if len(place) != self.dims:
            kind = type(self).__name__
            article = "an" if kind == "Image" else "a"
            raise TypeError(
                f"{article} {kind.lower()} takes a position {_PLACES[self.dims]}, "
                f"got {', '.join(map(shown, position)) or 'none'}"
            )
        return place

    def _texel(self, place: Sequence[int]) -> list[Any]:
        """The components of one texel, as functions see them."""
        found = sampler.index(self.boundary, place, self.storage.shape[::-1])
        if found is None:
            return list(self.cval)
        shape = (*self.storage.shape, self.channels)
        values: list[Any] = self.storage.host().reshape(shape)[found[::-1]].tolist()
        if self.format.dtype.kind == "u" and self.format.normalize:
            limit = np.iinfo(self.format.dtype).max
            return [value / limit for value in values]
        return values

    def _linear(self, place: Sequence[float]) -> list[float]:
        """The components between the texels around. A weight of zero counts out what it weighs."""
        firsts = [_saturated(x) for x in place]
        weights = [x % 1.0 if math.isfinite(x) else 0.0 for x in place]

        def mean(axis: int, outer: tuple[int, ...]) -> list[float]:
            """The mean between texels along axes 0 to `axis`, at coordinates `outer` beyond."""
            if axis < 0:
                return self._texel(outer)
            first, weight = firsts[axis], weights[axis]
            values = mean(axis - 1, (first, *outer))
            return _mixed(values, mean(axis - 1, (first + 1, *outer)), weight) if weight else values

        return mean(self.dims - 1, ())

    # ---- as other things

    def numpy(self) -> NDArray[Any]:
        """An array of its own, of this shape."""
        return self.__array__(copy=True)

    def view(self, dtype: Any) -> NDArray[Any]:
        """The array's bytes read as another dtype, as `numpy.ndarray.view` does; not to be written
        to. napari asks masks for it."""
        with shortened:
            seen: NDArray[Any] = asked(self.__array__().view, dtype)
        return seen

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = self.storage.seen()
        wanted = self._dtype if dtype is None else np.dtype(dtype)
        if array.dtype != wanted:
            if copy is False:
                raise ValueError(
                    f"{_a(type(self))} of {array.dtype} can only be copied to {wanted}"
                )
            return array.astype(wanted)
        if copy:
            return array.copy()
        view = array.view()
        view.flags.writeable = False  # it is what the device has, too
        return view

    def _texels(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The texels in another dtype, as results are stored in it."""
        if dtype == self.storage.dtype or self.size <= FEW or dtype not in STORED:
            array = self.storage.seen()
            return array if dtype == array.dtype else stored(texels(array, self.format), dtype)
        # The device's program is many times as fast as NumPy, whose steps each pass over memory.
        return np.asarray(texelwise(_itself)(self, dtype=dtype))

    def __reduce__(self) -> tuple[Any, ...]:
        host, shape = self.storage.host(), self.storage.shape
        return _unpickled, (type(self), host, shape, sampler.of(self), self._dtype, dict(self.info))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


def _itself(texel: Any) -> Any:
    return texel


def _unpickled(
    cls: type[Grid],
    host: NDArray[Any],
    shape: tuple[int, ...],
    reading: Sampler,
    dtype: np.dtype[Any],
    info: Mapping[str, Any],
) -> Grid:
    return cls._of(Storage.of(host, shape), reading, dtype, info)


def _a(cls: type) -> str:
    return f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}"


def _coordinate(value: Any) -> int | float:
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (np.integer, np.bool_)):
        return int(value)
    if isinstance(value, np.floating) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return _coordinate(value.item())
    raise TypeError(f"a coordinate is a number, got {shown(value)}")


def _nearest(value: int | float) -> int:
    return _saturated(value + 0.5) if isinstance(value, float) else int(value)


def _saturated(value: float) -> int:
    """The floor as a device has it: within 32 bits, 0 of NaN."""
    if not -(2.0**31) <= value < 2.0**31:
        return 0 if value != value else 2**31 - 1 if value > 0 else -(2**31)
    return math.floor(value)


def _mixed(a: list[float], b: list[float], t: float) -> list[float]:
    return [x * (1.0 - t) + y * t for x, y in zip(a, b, strict=True)]


_PLACES: Final = {1: "x", 2: "(x, y)", 3: "(x, y, z)"}
_INTEGERS: Final[dict[str, Any]] = {"int": Int, "uint": UInt}
