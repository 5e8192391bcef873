"""Foreign pictures and arrays as texels, and texels as arrays and PIL images.

Texels are (H, W, C) arrays of a stored dtype, C-contiguous and in native byte order. Anything that
holds numbers is taken: ndarrays, PIL images, `__array_interface__`, `__array__`, DLPack, lists.

    array = array_of(picture)              # (H, W) or (H, W, C), as it came, not copied if possible
    texels = texels_of(array)              # checked, narrowed to what devices store
    storage_of(array, dims=3)              # the same of a volume (D, H, W) or (D, H, W, C)
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.storage import STORED, Storage, in_rows, narrowed, rows_of
from pygpu.devices import targets
from pygpu.devices.process.reserve import RESERVE

if TYPE_CHECKING:
    from PIL import Image as PILImage

TAKEN: Final = {  # by the coordinates of a texel
    1: "a signal is an array (N,) or (N, C) with 1 to 4 channels or a pygpu.Signal",
    2: "an image is an array (H, W) or (H, W, C) with 1 to 4 channels, a PIL image or a "
    "pygpu.Image",
    3: "a volume is an array (D, H, W) or (D, H, W, C) with 1 to 4 channels or a pygpu.Volume",
}
BAND: Final = 1 << 20  # pixels of a part of a large picture
KINDS: Final = {1: "Signal", 2: "Image", 3: "Volume"}  # the classes that users write

MANY: Final = 1 << 18  # elements, below which compiling what copies them takes longer than is won
LONGEST: Final = 2**31 - 1  # pixels along an axis: positions are 32 bits wide

# PIL modes as arrays: those not here are converted by the user, who knows what is meant.
PIL_MODES: Final = frozenset(
    ("1", "L", "LA", "RGB", "RGBA", "P", "I;16", "I;16L", "I;16B", "I;16N", "I", "F")
)
PIL_CONVERSIONS: Final = {"PA": "RGBA", "La": "LA", "RGBa": "RGBA", "RGBX": "RGB"}

# Modes that a one-channel result keeps, by the mode of the input: the dtype of its texels.
KEPT_MODES: Final[dict[str, np.dtype[Any]]] = {
    "F": np.dtype("float32"),
    "I": np.dtype("int32"),
    "I;16": np.dtype("uint16"),
    "I;16L": np.dtype("uint16"),
    "I;16B": np.dtype("uint16"),
    "I;16N": np.dtype("uint16"),
}

# What PIL has a mode for: (dtype, channels).
PIL_STORES: Final = frozenset(
    [(np.dtype("uint8"), channels) for channels in (1, 2, 3, 4)]
    + [(np.dtype(name), 1) for name in ("uint16", "int32", "float32", "bool")]
)

MOVES: Final = tuple(  # NumPy's functions that only move texels
    getattr(np, name)
    for name in """
        append atleast_1d atleast_2d atleast_3d block broadcast_to column_stack concatenate
        delete diag diagflat diagonal dstack expand_dims fliplr flipud flip hstack insert
        matrix_transpose moveaxis pad permute_dims ravel repeat reshape resize roll rollaxis rot90
        squeeze stack swapaxes take take_along_axis tile transpose tril triu trim_zeros vstack
        array_split dsplit hsplit split vsplit unstack extract compress
    """.split()
    if hasattr(np, name)
)  # fmt: skip


def is_pil(value: object) -> bool:
    """Whether it is a PIL image. PIL is not imported for the question."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def is_lazy(value: object) -> bool:
    """Whether it is a collection of Dask's, or holds one as a DataArray may: not computed yet."""
    graph = None if isinstance(value, type) else getattr(value, "__dask_graph__", None)
    return graph is not None and graph() is not None


def is_picture(value: object) -> bool:
    """Whether it can only be meant as an image: an array of 2 or 3 axes or something like one."""
    if isinstance(value, (np.ndarray, memoryview)) or is_pil(value):
        return True
    protocols = ("__array_interface__", "__array__", "__dlpack__")
    return not isinstance(value, type) and any(hasattr(value, name) for name in protocols)


def is_dataset(value: Any) -> bool:
    """Whether it is xarray's, of several arrays. xarray is not imported for the question."""
    module = sys.modules.get("xarray")
    return module is not None and isinstance(value, module.Dataset)


def array_of(data: Any, what: str = "image", dims: int = 2) -> NDArray[Any]:
    """An ndarray of what was given, not copied where that can be. `what` names it in errors."""
    taken = TAKEN[dims]
    if isinstance(data, np.ndarray):
        return unmasked(data, what)
    if is_pil(data):
        return _pil_array(data, what)
    if is_dataset(data):
        name = next(iter(data.data_vars), "name")
        raise TypeError(
            f"{what}: takes an xarray.DataArray, got a Dataset, which holds several: give it one, "
            f"dataset[{name!r}], or each by itself: dataset.map(function)"
        )
    if is_lazy(data):
        raise TypeError(
            f"{what}: a Dask array would have to be in memory as a whole here: give its "
            ".compute(), or that of a part. Compiled functions, pipelines, map, iterate, reduce "
            "and filters take it as it is"
        )
    if not isinstance(data, (list, tuple)) and not is_picture(data):
        is_path = isinstance(data, (str, os.PathLike))
        more = "; pygpu.Image.open(path) reads a file" if is_path else ""
        raise TypeError(f"{what}: got {shown(data)} of type {type(data).__name__}; {taken}{more}")
    if isinstance(data, (list, tuple)):
        try:
            return np.asarray(data)
        except ValueError as error:
            raise ValueError(f"{what}: {error}; {taken}") from None
    if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        return np.from_dlpack(data)
    return np.asarray(data)


def unmasked(array: NDArray[Any], what: str) -> NDArray[Any]:
    """The array, which must not be a masked one with elements left out: those would be read."""
    if array.__class__ is not np.ndarray and np.ma.is_masked(array):
        raise TypeError(
            f"{what}: a masked array with elements left out, which would be read as they are: give "
            "its .filled(value), or its .data and its .mask as two images"
        )
    return array


def check_written(array: NDArray[Any]) -> None:
    """TypeError for a masked array with elements left out: results would go there or not."""
    if array.__class__ is not np.ndarray and np.ma.is_masked(array):
        raise TypeError("out: a masked array with elements left out: give its .data to write all")


def _pil_array(image: PILImage.Image, what: str) -> NDArray[Any]:
    mode = image.mode
    if mode not in PIL_MODES:
        better = PIL_CONVERSIONS.get(mode, "RGB")
        raise TypeError(
            f"{what}: a PIL image of mode {mode!r} is not taken; convert it: "
            f"image.convert({better!r})"
        )
    if mode == "P":
        alpha = "transparency" in image.info or (
            image.palette is not None and image.palette.mode.endswith("A")
        )
        image = image.convert("RGBA" if alpha else "RGB")
    is_large = image.mode == "RGB" and image.width * image.height >= MANY
    packed = _packed(image) if is_large else None
    return np.asarray(image) if packed is None else packed


class _Arrow(ctypes.Structure):
    """Arrow's C data interface: the part of an array that says where its memory is."""

    _fields_: ClassVar = [
        *((name, ctypes.c_int64) for name in ("length", "nulls", "offset", "buffers", "count")),
        ("places", ctypes.POINTER(ctypes.c_void_p)),
        ("children", ctypes.POINTER(ctypes.c_void_p)),
    ]


def _packed(image: PILImage.Image) -> NDArray[Any] | None:
    """The texels of a picture of colours, which PIL has in words, packed by native code: PIL's way
    to NumPy lets no other thread work. A picture in several parts of memory is cut into bands. None
    where PIL does not say where words are."""
    width, height = image.size
    words = _words(image)
    if words is not None:
        return contiguous(words[..., :3])
    made = RESERVE.empty((height, width, 3), np.dtype(np.uint8))
    rows = max(1, BAND // width)
    for top in range(0, height, rows):
        band = image.crop((0, top, width, min(top + rows, height)))
        words = _words(band)
        if words is None:
            return None
        made[top : top + rows] = contiguous(words[..., :3])
    return made


def _words(image: PILImage.Image) -> NDArray[Any] | None:
    """The words of a picture, as long as that lives."""
    try:
        _, capsule = image.__arrow_c_array__()
    except (AttributeError, ValueError):  # before 11.2, or in several parts
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    array = _Arrow.from_address(pointer(capsule, b"arrow_array"))
    nbytes = 4 * image.width * image.height
    if array.count != 1:
        return None
    texels = _Arrow.from_address(array.children[0])
    if (texels.length, texels.offset) != (nbytes, 0):
        return None
    memory = (ctypes.c_uint8 * nbytes).from_address(texels.places[1])
    return np.ctypeslib.as_array(memory).reshape(image.height, image.width, 4)


def storage_of(
    array: NDArray[Any], what: str = "image", dims: int = 2, copy: bool = False
) -> Storage:
    """The array's texels as a storage of a signal, an image or a volume: see texels_of. What lies
    in rows that do not follow each other, as a crop does, is left as it is if `copy` is False."""
    return Storage.of(texels_of(array, what, copy, dims, not copy), array.shape[:dims])


def texels_of(
    array: NDArray[Any], what: str = "image", copy: bool = False, dims: int = 2, apart: bool = False
) -> NDArray[Any]:
    """The array's texels (rows, W, C), narrowed to a stored dtype, C-contiguous; `apart`: or in
    rows as storage.in_rows says. Copied where it is asked for or where that takes a copy. `dims` is
    how many coordinates a texel has.

    TypeError for dtypes that are no numbers, ValueError for shapes that are no image,
    OverflowError where a value does not fit.
    """
    taken, shape = TAKEN[dims], array.shape
    if array.ndim not in (dims, dims + 1):
        more = _elsewhere(array, dims)
        raise ValueError(f"{what}: {_described(array)} has {array.ndim} axes; {taken}{more}")
    if array.ndim > dims and not 1 <= shape[dims] <= 4:
        more = _elsewhere(array, dims)
        raise ValueError(f"{what}: {_described(array)} has {shape[dims]} channels; {taken}{more}")
    if 0 in shape[:dims]:
        raise ValueError(f"{what}: {_described(array)} is empty; {taken}")
    rows, width = rows_of(shape[:dims])
    if max(rows, width) > LONGEST:
        longest = "an axis has" if dims < 3 else "its planes have together"
        unit = "pixels" if dims < 3 else "rows, and a row pixels"
        raise ValueError(f"{what}: {_described(array)}: {longest} at most {LONGEST} {unit}")
    narrowed = np.asarray(narrow(array, what))
    narrowed = narrowed.reshape(rows, width, -1)
    if not (apart and in_rows(narrowed)):
        narrowed = contiguous(narrowed)
    if copy and np.may_share_memory(narrowed, array):
        narrowed = narrowed.copy()
    return narrowed


def contiguous(array: NDArray[Any]) -> NDArray[Any]:
    """As np.ascontiguousarray; images are copied by all cores, for NumPy goes from channel to
    channel and from row to row where that takes long."""
    if array.flags.c_contiguous or array.size < MANY or array.ndim not in (2, 3):
        return np.ascontiguousarray(array)
    texels = array if array.ndim == 3 else array[:, :, None]
    if texels.shape[2] > 4:
        return np.ascontiguousarray(array)
    return targets.host().contiguous(texels).reshape(array.shape)


def _elsewhere(array: NDArray[Any], dims: int) -> str:
    """What is there for an array that has too few axes, or too many."""
    if array.ndim < dims:
        fitting = [KINDS[array.ndim]] if array.ndim else []
        if array.ndim == dims - 1 == 1 and array.size <= 4:
            return "; a colour alone is none"
        return "".join(f"; a parameter annotated {name} takes it" for name in fitting)
    kinds = [KINDS[n] for n in KINDS if n > dims and array.ndim in (n, n + 1)]
    other = f", a parameter annotated {' or '.join(kinds)} takes all axes" if kinds else ""
    return f"; f.map(stack) maps over leading axes{other}"


def _described(array: NDArray[Any]) -> str:
    return f"an array of shape {array.shape} and dtype {array.dtype}"


@lru_cache(maxsize=256)
def stored_dtype(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The dtype in which devices hold given values of this one (uint32 is that of results, and of
    no input: its values must be those of an int); None where they are no numbers."""
    native = dtype.newbyteorder("=")
    if native in STORED and native != np.uint32:
        return STORED[STORED.index(native)]
    return {"f": np.dtype("float32"), "i": np.dtype("int32"), "u": np.dtype("int32")}.get(
        dtype.kind
    )


def narrow(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Values in a dtype that is stored: float64 as float32, wide ints as int32 where all fit."""
    dtype = stored_dtype(unmasked(array, what).dtype)
    if dtype is None:
        raise TypeError(f"{what}: {_described(array)} holds no texels; floats, ints and bools do")
    if array.dtype == dtype:
        return array
    if array.dtype.itemsize > dtype.itemsize:
        if dtype.kind == "i":
            check_fits(array, what)
        else:
            try:
                return _narrowed(array)
            except OverflowError:
                raise OverflowError(
                    f"{what}: a value does not fit in float32 in {_described(array)}"
                ) from None
    elif dtype.kind == "i" and array.dtype.kind == "u":
        check_fits(array, what)
    return array.astype(dtype)


def _narrowed(array: NDArray[Any]) -> NDArray[np.float32]:
    """Wide floats as float32, by all cores. OverflowError where a finite one is too large."""
    if array.dtype == np.float64 and array.size >= MANY:
        return targets.host().narrowed(contiguous(array))
    return narrowed(array)


def check_fits(array: NDArray[Any], what: str) -> None:
    """OverflowError where an integer needs more than an int32."""
    if array.size == 0:
        return
    low, high = int(array.min()), int(array.max())
    if low < -(2**31) or high >= 2**31:
        worst = high if high >= 2**31 else low
        raise OverflowError(
            f"{what}: the value {worst} does not fit in 32 bits (an Int is -2**31 to 2**31 - 1) "
            f"in {_described(array)}"
        )


def without_channel_axis(texels: NDArray[Any]) -> NDArray[Any]:
    """Texels as users see them: one channel has no axis of its own."""
    return texels[:, :, 0] if texels.shape[2] == 1 else texels


def pil_takes_words() -> bool:
    """Whether PIL makes images of colours that lie in words, without a copy: from its 11.2.1 on."""
    from PIL import Image as PILImage  # heavy, and needed only by those who use PIL

    return hasattr(PILImage, "fromarrow")


def pil_of(array: NDArray[Any], in_words: bool = False) -> PILImage.Image:
    """A PIL image of an array (H, W) or (H, W, C) of a dtype for which PIL has a mode. `in_words`:
    colours (H, W, 4) whose last byte is none of theirs, as PIL has them in memory; an image of its
    own then holds on to the array, and copies it where it is drawn on."""
    from PIL import Image as PILImage  # heavy, and needed only by those who use PIL

    if in_words:
        size = array.shape[1], array.shape[0]
        mapped = PILImage.frombuffer("RGBX", size, array, "raw", "RGBX", 0, 1)
        with suppress(ValueError):  # such an image is not taken here
            return PILImage.fromarrow(mapped, "RGB", size)
        array = array[..., :3]
    channels = 1 if array.ndim == 2 else array.shape[2]
    if (array.dtype, channels) not in PIL_STORES:
        raise TypeError(
            f"PIL has no mode for {channels} channel{'s' * (channels > 1)} of {array.dtype}; "
            "it has uint8 with 1 to 4, and one of uint16, int32, float32 and bool"
        )
    return PILImage.fromarray(np.ascontiguousarray(array))


def result_dtype(dtype: Any) -> np.dtype[Any]:
    """The dtype asked for results, in native byte order. TypeError for what holds no numbers."""
    try:
        if isinstance(dtype, (dict, list)):
            raise TypeError("takes one dtype, not fields")
        asked: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"dtype={shown(dtype)}: {error}") from None
    if asked.kind not in "fiub":
        raise TypeError(f"dtype={asked} holds no texels; floats, ints and bools do")
    # Programs are found again by the dtype object: a native one of NumPy's is always the same.
    return asked if asked.isnative else asked.newbyteorder("=")
