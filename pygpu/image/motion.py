"""Moving pictures: functions of time as animations, videos read and written frame by frame.

    pygpu.animate(wave, 48, "wave.gif", fps=24, shape=(240, 320))
    pygpu.animate(edges, pygpu.frames("holiday.mp4"), "edges.mp4")

GIF, WebP and PNG are Pillow's, all else FFmpeg's, by the package imageio-ffmpeg, which brings it.
A frame is in memory while it is made, and no longer.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PILImage

from pygpu.core.errors import guarded, shown
from pygpu.core.host.optional import optional
from pygpu.execution.arguments.convert import is_picture, is_pil
from pygpu.execution.programs.bars import counted
from pygpu.image.camera import Camera
from pygpu.image.files.files import imread, page_count
from pygpu.image.files.formats import FORMATS
from pygpu.image.files.pillow import is_cut, opened
from pygpu.image.image import Image
from pygpu.language.vectors import Position

WIDEST: Final = 2**16 - 1  # sides of a GIF, in pixels
SLOWEST: Final = 0.01  # frames a second
FASTEST: Final = 1000  # of formats that count milliseconds
FASTEST_GIF: Final = 100  # which counts hundredths of a second
SAMPLED: Final = 1 << 14  # pixels, about, that the colours of a GIF's frame are found of
STILL: Final = {".gif": "GIF", ".webp": "WEBP", ".png": "PNG", ".apng": "PNG"}  # Pillow's formats
RATE: Final = 25.0  # frames a second, where none is asked for
PICTURES: Final = {*STILL, *(suffix for format in FORMATS.values() for suffix in format.suffixes)}
MOVING: Final = (".mp4", ".mov", ".mkv", ".webm", ".avi", ".m4v")
FREE: Final = (".webm",)  # that hold VP9
PIXELS: Final = {1: "gray", 3: "rgb24", 4: "rgba"}


@guarded
def animate(
    function: Callable[..., Any] | None,
    frames: int | Iterable[Any],
    path: str | os.PathLike[str],
    *,
    fps: float = RATE,
    quality: int | None = None,
    sound: str | os.PathLike[str] | None = None,
    **arguments: Any,
) -> Path:
    """Write an animation (GIF, WebP, PNG) or a video (MP4, WebM, MKV, MOV, AVI): the path.

    `frames` is a number of frames, or what each is made of: times in seconds, or pictures. A number
    means the times 0, 1/fps, 2/fps and so on. `function` is called with each, and `arguments`: a
    time goes to a parameter called `time` if there is one, else, as pictures do, to the first that
    `arguments` do not name. With None the frames are pictures as they are. Floats are shown from 0
    to 1. `quality`, of WebP and videos, is from 1 to 100; a GIF has at most 100 frames a second.
    A video has the `sound` of a file, of a video too, as long as its frames last; where that has
    none, so has the video.
    The first frame gives the size; a ValueError says which frame has another.
    `pygpu.progress(True)` shows a bar. The file appears when all frames are made: until then, and
    after an error, it is what it was before.
    """
    if function is not None and not callable(function):
        raise TypeError(f"function: takes a function or None, got {shown(function)}")
    if isinstance(frames, (str, os.PathLike)):
        raise TypeError(f"frames: pygpu.frames({shown(frames)}) reads a file")
    file = _path(path)
    suffix = file.suffix.lower()
    fastest = FASTEST_GIF if suffix == ".gif" else FASTEST
    if not SLOWEST <= fps <= fastest:
        told = f"from {SLOWEST} to {fastest}{' in a GIF' * (suffix == '.gif')}"
        raise ValueError(f"fps: takes frames a second, {told}; got {shown(fps)}")
    if quality is not None and not 1 <= operator.index(quality) <= 100:
        raise ValueError(f"quality: takes 1 to 100, got {shown(quality)}")
    if quality is not None and suffix in STILL and suffix != ".webp":
        raise TypeError(f"{file}: {STILL[suffix]} takes no quality; WebP and videos do")
    if suffix not in (*STILL, *MOVING):
        raise ValueError(
            f"{file}: an animation is one of {', '.join(STILL)}, a video one of {', '.join(MOVING)}"
        )
    heard = None if sound is None else _heard(_path(sound, "sound: "), file)
    if not file.parent.is_dir():
        raise FileNotFoundError(f"{file}: there is no directory {file.parent}")
    if function is None and not isinstance(frames, Iterable):
        raise TypeError("function: takes a function of times; without one, frames are pictures")
    if function is None and arguments:
        raise TypeError(f"{min(arguments)}: no such option, and no function to be given it")
    made = _made(function, _items(frames, fps), arguments)
    with _replaced(file) as new:
        if suffix in STILL:
            _write_still(file, new, made, fps, quality)
        else:
            _write_video(file, new, made, fps, quality, heard)
    return file


@contextmanager
def _replaced(file: Path) -> Iterator[Path]:
    """A file beside another, which it becomes when it is whole, or when Ctrl-C ends it: the frames
    may be read from the one that is written."""
    target = file.resolve()
    if target.is_dir():
        raise IsADirectoryError(f"{file}: a directory")
    new = target.with_name(f".{target.stem}.part{target.suffix}")
    try:
        new.touch()  # FFmpeg prints where nothing can be written, and raises nothing
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(file)) from None
    try:
        yield new
        os.replace(new, target)
    except KeyboardInterrupt:
        if new.stat().st_size:
            os.replace(new, target)
        raise
    finally:
        new.unlink(missing_ok=True)


@guarded
def frames(path: str | os.PathLike[str] | int) -> Iterator[NDArray[np.uint8]]:
    """The frames of a video file, one by one: arrays (H, W, 3) of uint8, in RGB, upright. Animated
    GIF, WebP and PNG are read, too, (H, W, 4) where they have alpha. A number is that of a camera,
    0 for the first, of which the newest frame comes each time; it has `close()`. A picture is one
    frame, a TIFF has as many as pages. OSError for what cannot be read."""
    if isinstance(path, int):
        return Camera(path)
    file = _path(path)
    if file.is_dir() or not file.exists():
        raise FileNotFoundError(f"{file}: {'a directory' if file.is_dir() else 'no such file'}")
    return _read_still(file) if file.suffix.lower() in PICTURES else _read_video(file)


def _path(path: Any, name: str = "") -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name}takes the path of a file, got {shown(path)}")
    return Path(path)


def rate(path: str | os.PathLike[str]) -> float:
    """The frames a second of a video or an animation."""
    file = Path(path)
    if file.suffix.lower() in STILL:
        with PILImage.open(file) as picture:
            return 1000 / (picture.info.get("duration") or 40)
    reader = _ffmpeg(file).read_frames(str(file))
    try:
        return float(next(reader)["fps"])
    except (OSError, StopIteration):
        raise OSError(f"{file}: FFmpeg cannot read it") from None
    finally:
        reader.close()


# ---------------------------------------------------------------- what frames are made of


def _items(frames: Any, fps: float) -> Iterable[Any]:
    """What each frame is made of; times for a number."""
    if isinstance(frames, Iterable) and not isinstance(frames, np.generic):
        return frames
    try:
        count = operator.index(frames)
    except TypeError:
        raise TypeError(
            f"frames: takes a number of frames, times or pictures; got {shown(frames)}"
        ) from None
    if count < 1:
        raise ValueError(f"frames: takes at least 1, got {count}")
    return [number / fps for number in range(count)]


def _made(
    function: Callable[..., Any] | None, items: Iterable[Any], arguments: dict[str, Any]
) -> Iterator[NDArray[np.uint8]]:
    """The frames as bytes, all of one size."""
    by_name = function is not None and takes_time(function)
    counts = getattr(function, "counts_frames", False) and "frame" not in arguments
    free = None if function is None else _free(function, arguments)
    first: tuple[int, ...] | None = None
    for number, item in enumerate(counted(items, "frame")):
        arguments = {**arguments, "frame": number} if counts else arguments
        if function is None:
            result = item
        elif by_name and isinstance(item, int | float | np.number):
            result = function(time=float(item), **arguments)
        elif free is not None:
            result = function(**{free: item}, **arguments)
        else:
            result = function(item, **arguments)
        frame = _bytes_of(result, number)
        first = first or frame.shape
        if frame.shape != first:
            raise ValueError(
                f"frame {number} is of shape {frame.shape}, the first of {first}: all frames of an "
                "animation are of one size"
            )
        yield frame


def takes_time(function: Callable[..., Any]) -> bool:
    """Whether a function has a parameter called `time`."""
    return any(each.name == "time" for each in _parameters(function))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _free(function: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """The first parameter that is not among the arguments, where those before it are."""
    parameters = _parameters(function)
    if not parameters or parameters[0].name not in arguments:
        return None
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    free = (p.name for p in parameters if p.kind in named and p.annotation is not Position)
    return next((name for name in free if name not in arguments), None)


def _bytes_of(result: Any, number: int) -> NDArray[np.uint8]:
    """A picture as bytes (H, W, C) of 1, 3 or 4 channels."""
    if is_pil(result) or is_picture(result):
        result = Image(result)
    if not isinstance(result, Image):
        raise TypeError(
            f"frame {number}: takes a picture, got {shown(result)} ({type(result).__name__})"
        )
    array = np.asarray(result.to_pil(np.uint8))
    array = array[..., None] if array.ndim == 2 else array
    return np.ascontiguousarray(array[..., [0, 0, 0, 1]] if array.shape[2] == 2 else array)


# ---------------------------------------------------------------- Pillow's


def _write_still(
    file: Path, new: Path, made: Iterator[NDArray[np.uint8]], fps: float, quality: int | None
) -> None:
    pictures: Iterator[PILImage.Image] = (
        PILImage.fromarray(f[..., 0] if f.shape[2] == 1 else f) for f in made
    )
    if file.suffix.lower() == ".gif":
        pictures = (_of_few_colours(_of_gif(file, picture)) for picture in pictures)
    first = next(pictures, None)
    if first is None:
        raise ValueError("frames: takes at least 1, got 0")
    options: dict[str, Any] = {"duration": 1000 / fps, "loop": 0}
    if file.suffix.lower() == ".webp":
        options |= {"quality": 90 if quality is None else quality, "method": 2}
    if file.suffix.lower() == ".gif":
        if max(first.size) > WIDEST:
            got = "{} x {}".format(*first.size)
            raise ValueError(f"{file}: a GIF's sides have at most {WIDEST} pixels, got {got}")
        options["duration"] = round(100 / fps) * 10
        options["disposal"] = 2 if first.mode == "RGBA" else 0
    form = STILL[file.suffix.lower()]
    rest = [*pictures] if form == "PNG" else pictures  # which Pillow goes through twice
    first.save(new, form, save_all=True, append_images=rest, **options)


def _of_gif(file: Path, picture: PILImage.Image) -> PILImage.Image:
    """The picture; refused where it is half transparent, which a GIF cannot be."""
    if picture.mode == "RGBA" and not is_cut(picture):
        raise ValueError(
            f"{file}: a pixel of a GIF is opaque or clear, these are between: WebP and PNG hold "
            "that; without alpha, give pictures of three channels"
        )
    return picture


def _of_few_colours(picture: PILImage.Image) -> PILImage.Image:
    """A large picture of many colours with 256, found of a sample of its pixels and bettered by
    k-means. Pillow would find them of all pixels, which takes longer, and leave them as they are:
    these are nearer."""
    width, height = picture.size
    step = round((width * height / SAMPLED) ** 0.5)
    if picture.mode != "RGB" or step < 2 or picture.getcolors(256) is not None:
        return picture
    size = max(width // step, 1), max(height // step, 1)
    sample = picture.resize(size, PILImage.Resampling.NEAREST)
    colours = sample.quantize(256, kmeans=2)
    return picture.quantize(palette=colours, dither=PILImage.Dither.NONE)


def _read_still(file: Path) -> Iterator[NDArray[np.uint8]]:
    """Of a moving picture its frames, of others what `imread` makes of their pages, as 8 bits."""
    count = page_count(file)
    if count == 1 or file.suffix.lower() not in STILL:
        for number in range(count):
            frame = _bytes_of(imread(file, page=number), number)
            yield frame if frame.shape[2] > 2 else frame.repeat(3, axis=2)
        return
    with opened(file) as picture:  # once: each frame is made of the one before
        mode = "RGBA" if picture.has_transparency_data else "RGB"
        for number in range(count):
            picture.seek(number)
            yield np.asarray(picture.convert(mode))


# ---------------------------------------------------------------- FFmpeg's


def _ffmpeg(file: Path) -> Any:
    library = optional("imageio_ffmpeg")
    if library is None:
        raise ImportError(
            f"{file}: videos need imageio-ffmpeg: pip install 'pygpu[video]' "
            f"({', '.join(STILL)} need nothing)"
        )
    return library


def _heard(sound: Path, file: Path) -> Path | None:
    """The file whose sound a video gets; None where it has none."""
    if file.suffix.lower() in STILL:
        raise TypeError(f"{file}: {STILL[file.suffix.lower()]} takes no sound; videos do")
    if not sound.is_file():
        raise FileNotFoundError(f"{sound}: no such file")
    run = [_ffmpeg(file).get_ffmpeg_exe(), "-i", str(sound)]
    said = subprocess.run(run, capture_output=True, stdin=subprocess.DEVNULL, check=False).stderr
    return sound if re.search(rb"Stream #\d.*: Audio:", said) else None


def _write_video(
    file: Path,
    new: Path,
    made: Iterator[NDArray[np.uint8]],
    fps: float,
    quality: int | None,
    heard: Path | None,
) -> None:
    ffmpeg = _ffmpeg(file)
    first = next(made, None)
    if first is None:
        raise ValueError("frames: takes at least 1, got 0")
    height, width, channels = first.shape
    writer = ffmpeg.write_frames(
        str(new),
        (width + width % 2, height + height % 2),  # codecs halve the colours' size
        pix_fmt_in=PIXELS[channels],
        fps=fps,
        quality=None,
        codec="libvpx-vp9" if file.suffix.lower() in FREE else "libx264",
        macro_block_size=2,
        output_params=["-crf", str(round(51 - 0.51 * (70 if quality is None else quality)))]
        + (["-b:v", "0"] if file.suffix.lower() in FREE else [])
        + (["-af", "apad", "-shortest"] if heard is not None else []),
        audio_path=None if heard is None else str(heard),
        ffmpeg_log_level="error",
    )
    writer.send(None)
    try:
        for frame in itertools.chain([first], made):
            even = ((0, height % 2), (0, width % 2), (0, 0))
            writer.send(np.ascontiguousarray(np.pad(frame, even, "edge")))
    finally:
        writer.close()
    if not new.stat().st_size:
        raise OSError(f"{file}: FFmpeg cannot write it")


def _read_video(file: Path) -> Iterator[NDArray[np.uint8]]:
    reader = _ffmpeg(file).read_frames(str(file), pix_fmt="rgb24")
    try:
        try:
            facts = next(reader)
        except (OSError, StopIteration) as error:
            reason = str(error).strip().splitlines()[-1:] or ["it holds no frames"]
            raise OSError(f"{file}: FFmpeg cannot read it: {reason[0]}") from None
        width, height = facts["size"]
        for data in reader:
            yield np.frombuffer(data, np.uint8).reshape(height, width, 3)
    finally:
        reader.close()
