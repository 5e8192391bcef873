"""A camera as an iterator of frames: the newest each time, so that slow readers do not lag behind.

    camera = Camera(0)
    next(camera)                            # (H, W, 3) of uint8, in RGB
    camera.close()

FFmpeg reads it, by the package imageio-ffmpeg, and OpenCV where that is not there or cannot.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import guarded
from pygpu.core.host.optional import optional

# What FFmpeg calls cameras, by sys.platform: the format, and the name of the n-th. On Windows it
# takes names that only the user knows.
DEVICES: Final = {"linux": ("v4l2", "/dev/video{}"), "darwin": ("avfoundation", "{}:none")}
FPS: Final = 30.0  # where a camera does not say
# AVFoundation is asked for 29.97 frames a second unless told, which most cameras refuse.
RATES: Final = {"avfoundation": ("-framerate", "30")}


class Camera:
    """The n-th camera of this machine, opened when the first frame is asked for. OSError where
    there is none, ImportError where nothing that reads cameras is installed."""

    def __init__(self, number: int = 0) -> None:
        self.name = f"camera {number}"
        self.fps = FPS
        self._number = number
        self._frames: Iterator[NDArray[np.uint8]] | None = None
        self._newest: NDArray[np.uint8] | None = None
        self._error: BaseException | None = None
        self._is_closed = False
        self._there = threading.Condition()

    def open(self) -> Self:
        """Open it now, if it is not open; `fps` is the camera's then."""
        if self._frames is None and not self._is_closed:
            self._frames, self.fps = _opened(self._number, self.name)
            threading.Thread(target=self._read, daemon=True).start()
        return self

    def __iter__(self) -> Self:
        return self

    @guarded
    def __next__(self) -> NDArray[np.uint8]:
        self.open()
        with self._there:
            self._there.wait_for(
                lambda: self._newest is not None or self._error is not None or self._is_closed
            )
            frame, self._newest = self._newest, None
        if frame is not None:
            return frame
        if isinstance(self._error, Exception):
            raise OSError(f"{self.name}: {self._error}")
        raise StopIteration

    def close(self) -> None:
        """Let go of it: no frame comes any more."""
        with self._there:
            self._is_closed = True
            self._there.notify_all()

    def _read(self) -> None:
        """Keep the newest frame, until the camera is closed or has none."""
        frames: Any = self._frames
        try:
            for frame in frames:
                with self._there:
                    if self._is_closed:
                        break
                    self._newest = frame
                    self._there.notify_all()
        except Exception as error:
            self._error = error
        finally:
            frames.close()
            self.close()


def _opened(number: int, name: str) -> tuple[Iterator[NDArray[np.uint8]], float]:
    """The frames of a camera, and how many come in a second."""
    device, failed = DEVICES.get(sys.platform), None
    for package, read in (("imageio_ffmpeg", _by_ffmpeg), ("cv2", _by_opencv)):
        if package == "imageio_ffmpeg" and device is None:
            continue
        module = optional(package)
        if module is None:
            continue
        try:
            return read(module, number, name)
        except FileNotFoundError:
            raise
        except OSError as error:
            failed = failed or error
    if failed is not None:
        raise failed
    wanted = "pip install opencv-python" if device is None else "pip install 'pygpu[video]'"
    raise ImportError(f"{name}: cameras need a package that reads them: {wanted}")


def _by_ffmpeg(ffmpeg: Any, number: int, name: str) -> tuple[Iterator[NDArray[np.uint8]], float]:
    form, pattern = DEVICES[sys.platform]
    device = pattern.format(number)
    if device.startswith("/dev/") and not Path(device).exists():
        raise FileNotFoundError(f"{name}: there is no {device}")
    given = ["-f", form, *RATES.get(form, ())]
    reader = ffmpeg.read_frames(device, pix_fmt="rgb24", input_params=given)
    try:
        facts = next(reader)
    except (OSError, StopIteration) as error:
        reason = str(error).strip().splitlines()[-1:] or ["it gives no frames"]
        raise OSError(f"{name}: FFmpeg cannot read it: {reason[0]}") from None
    width, height = facts["size"]

    def frames() -> Iterator[NDArray[np.uint8]]:
        try:
            for data in reader:
                yield np.frombuffer(data, np.uint8).reshape(height, width, 3)
        finally:
            reader.close()

    return frames(), float(facts.get("fps") or FPS)


def _by_opencv(cv2: Any, number: int, name: str) -> tuple[Iterator[NDArray[np.uint8]], float]:
    capture = cv2.VideoCapture(number)
    if not capture.isOpened():
        raise OSError(f"{name}: OpenCV finds none of this number")

    def frames() -> Iterator[NDArray[np.uint8]]:
        try:
            while True:
                is_there, frame = capture.read()
                if not is_there:
                    return
                yield np.ascontiguousarray(frame[..., ::-1])  # it has blue first
        finally:
            capture.release()

    return frames(), float(capture.get(cv2.CAP_PROP_FPS) or FPS)
