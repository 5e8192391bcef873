"""`draw`: a mesh by a shader, into images.

colour, normals = draw(Lit(camera, lamps, wood), mesh, shape=(720, 1280))
colour = draw(Glow(camera), lamps, onto=colour, depth=depths, blend="add")
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pygpu.core import sampler
from pygpu.core.device import Device
from pygpu.core.drawing import BLENDED, CULLED, Draw
from pygpu.core.errors import check_flag, is_among, shortened, shown
from pygpu.core.storage import STORED, ImageLike, Storage
from pygpu.devices import targets
from pygpu.drawing.drawings import converted
from pygpu.drawing.mesh import Mesh
from pygpu.drawing.programs import State, check_draw, found
from pygpu.drawing.shader import Shader
from pygpu.execution.arguments.convert import is_picture
from pygpu.execution.programs.calls import checked_shape
from pygpu.execution.programs.options import is_checked_here
from pygpu.image.image import Image
from pygpu.language.vectors import Position
from pygpu.runtime import Compiled, compile

_WORDS: Final = (type(None), str)
FLOATS: Final = np.dtype("float32")
DTYPES: Final = tuple([dtype for dtype in STORED if dtype.name in ("uint8", "float16", "float32")])


def draw(
    shader: Shader,
    mesh: Mesh,
    *,
    shape: tuple[int, int] | None = None,
    onto: Any = None,
    depth: Any = True,
    cull: str | None = None,
    blend: str | None = None,
    clear: Any = 0.0,
    samples: int = 1,
    dtype: Any = None,
    keep_depth: bool = False,
    check: bool = False,
    target: str = "auto",
) -> Any:
    """Draw a mesh into new images: one for each result of `shader.fragment`, (H, W) or (H, W, C).

    `shape` is (H, W); `clear` the colour where nothing is drawn, a number, or one for each
    component, or a list of such, one an image. `onto`, an image or as many as there are results, is
    what is drawn over instead: it stays as it is, what comes back has both. `depth=False` draws
    each triangle over those before it; an image of depths (H, W) goes on with these, and
    `keep_depth=True` gives them as a last result. `cull` is "back" or "front": counter-clockwise is
    the front. `blend` is "alpha", "add" or "multiply", of all components alike. With `samples`
    edges are averages of so many. `dtype` is float32, float16 or uint8; that of `onto`
    where there is one. With `check` (or PYGPU_CHECK=1) what goes wrong in the shader's methods is
    raised, as Python would raise it, before anything is drawn.

    TypeError, ValueError and CompileError name what does not fit, before anything is drawn.
    """
    with shortened:
        check_flag("keep_depth", keep_depth)
        check_flag("check", check)
        _check_kinds(shader, mesh)
        state = _state(depth, cull, blend, samples)
        wanted = None if dtype is None else _dtype(dtype)
        under = None if onto is None else _images(onto)
        size = _size(shape, under)
        depths = _depths(depth, size, samples, keep_depth)
        device = targets.choose(targets.check(target)).for_meshes()
        made, uniforms, inputs = found(shader, mesh, state, device)
        _check_onto(under, made.sizes, size)
        if check or is_checked_here():
            check_draw(shader, mesh, state, device, size)
        work = Draw(
            mesh.geometry,
            made.attributes,
            uniforms,
            (inputs + made.captured[0], inputs + made.captured[1]),
            size,
            _clear(clear, made.sizes),
            None if under is None else [_as_floats(image, device) for image in under],
            None if depths is None else _as_floats(depths, device),
            keep_depth,
        )
        drawn = made.program.draw(work)
        del work  # images of floats that were made for this draw are drawn into as they are
        results = _presented(drawn, under, wanted, len(made.sizes), device)
        return results if made.is_tuple or len(results) > 1 else results[0]


def _check_kinds(shader: Any, mesh: Any) -> None:
    if not isinstance(shader, Shader):
        raise TypeError(f"draw: shader takes an instance of a pygpu.Shader, got {shown(shader)}")
    if not isinstance(mesh, Mesh):
        raise TypeError(
            f"draw: mesh takes a pygpu.Mesh, got {shown(mesh)}; Mesh.of takes what has "
            "vertices and faces"
        )


# ---------------------------------------------------------------- how it is drawn


def _state(depth: Any, cull: Any, blend: Any, samples: Any) -> State:
    if type(cull) in _WORDS and type(blend) in _WORDS and type(samples) is int:
        return _usual_state(depth is not False, cull, blend, samples)
    return _checked_state(depth is not False, cull, blend, samples)


def _checked_state(is_deep: bool, cull: Any, blend: Any, samples: Any) -> State:
    if not is_among(cull, (None, *CULLED[1:])):
        raise ValueError(f"cull={shown(cull)}: takes None, {_listed(CULLED[1:])}")
    if not is_among(blend, (None, *BLENDED[1:])):
        raise ValueError(f"blend={shown(blend)}: takes None, {_listed(BLENDED[1:])}")
    if not isinstance(samples, (int, np.integer)) or samples not in (1, 2, 4, 8, 16):
        raise ValueError(f"samples={shown(samples)}: takes 1, 2, 4, 8 or 16")
    return State(is_deep, cull or "", blend or "", int(samples))


_usual_state: Final = functools.lru_cache(maxsize=64)(_checked_state)


def _listed(names: Sequence[str]) -> str:
    return " or ".join(map(repr, names))


# ---------------------------------------------------------------- what is drawn into


def _dtype(dtype: Any) -> np.dtype[Any]:
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"dtype={shown(dtype)}: {error}") from None
    if found not in DTYPES:
        raise TypeError(f"dtype={found}: what is drawn is float32, float16 or uint8")
    return found


def _images(onto: Any) -> list[Image]:
    given = list(onto) if isinstance(onto, (list, tuple)) else [onto]
    for each in given:
        if not is_picture(each) and not isinstance(each, Image):
            raise TypeError(f"onto: takes an image, or one for each result, got {shown(each)}")
    return [image if isinstance(image, Image) else Image(image) for image in given]


def _size(shape: Any, under: list[Image] | None) -> tuple[int, int]:
    if shape is not None:
        size = checked_shape(shape)
        if under and size != under[0].shape[:2]:
            raise ValueError(f"shape={size}: what is drawn onto has shape {under[0].shape[:2]}")
        return size
    if not under:
        raise TypeError("draw: needs the size of the picture: shape=(height, width)")
    return under[0].shape[:2]  # type: ignore[return-value]


def _depths(depth: Any, size: tuple[int, int], samples: int, keep: bool) -> Image | None:
    if keep and depth is False:
        raise ValueError("keep_depth=True: there are no depths with depth=False")
    if samples > 1 and (keep or not isinstance(depth, (bool, np.bool_))):
        raise ValueError(
            f"samples={samples}: a pixel has several depths, so none are kept or given"
        )
    if isinstance(depth, (bool, np.bool_)):
        return None
    if not isinstance(depth, (ImageLike, np.ndarray)):
        raise TypeError(f"depth={shown(depth)}: takes True, False or an image of depths")
    image = depth if isinstance(depth, Image) else Image(depth)
    if image.shape != size or image.format.kind != "float":
        raise ValueError(
            f"depth: an image of depths is (H, W) of floats, here {size}; got {image.shape} of "
            f"{image.dtype}"
        )
    return image


def _check_onto(under: list[Image] | None, sizes: Sequence[int], size: tuple[int, int]) -> None:
    if under is None:
        return
    if len(under) != len(sizes):
        raise ValueError(
            f"onto: the shader draws into {len(sizes)} image{'s' * (len(sizes) != 1)}, "
            f"got {len(under)}"
        )
    for image, channels in zip(under, sizes, strict=True):
        if image.shape[:2] != size or image.channels != channels:
            wanted = size if channels == 1 else (*size, channels)
            raise ValueError(f"onto: the picture has shape {wanted}, got {image.shape}")
        if image.format.kind != "float":
            raise TypeError(f"onto: what is drawn onto holds floats or bytes, got {image.dtype}")


def _clear(clear: Any, sizes: Sequence[int]) -> list[tuple[float, ...]]:
    """A colour for each image."""
    if isinstance(clear, list) and len(clear) != len(sizes):
        raise ValueError(f"clear: {len(clear)} colours for {len(sizes)} images")
    colours = clear if isinstance(clear, list) else [clear] * len(sizes)
    return [converted(each, size, "clear") for each, size in zip(colours, sizes, strict=True)]


# ---------------------------------------------------------------- dtypes


def _texel(im: Image, p: Position):  # type: ignore[no-untyped-def]
    return im(p)


@functools.lru_cache(maxsize=8)
def _copy(target: str) -> Compiled:
    """What makes an image of another dtype on a target."""
    made: Compiled = compile(_texel, target=target)
    return made


def _named(device: Device) -> str:
    """The device as a target: one that this thread's calls are diverted to has no name there."""
    return device.name if device.name in targets.DEVICES else "auto"


def _as_floats(image: Image, device: Device) -> Storage:
    """The image as float32."""
    if image.storage.dtype == FLOATS:
        return image.storage
    found: Image = _copy(_named(device))(image, dtype=FLOATS)
    return found.storage


def _presented(
    storages: list[Storage],
    under: list[Image] | None,
    wanted: np.dtype[Any] | None,
    count: int,
    device: Device,
) -> tuple[Image, ...]:
    """What was drawn, as images of the dtype that was asked for; depths are float32."""
    made = []
    for index, storage in enumerate(storages):
        reading = sampler.default(FLOATS, storage.channels)
        dtype = wanted or FLOATS
        if under is not None and index < count:
            reading = sampler.inherited(sampler.of(under[index]), reading.format)
            dtype = wanted or under[index].storage.dtype
        image = Image._of(storage, reading)
        if index < count and dtype != FLOATS:
            image = _copy(_named(device))(image, dtype=dtype)
        made.append(image)
    return tuple(made)
