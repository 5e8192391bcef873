"""Many pictures, and the same again: folders, videos, files that are watched.

each_of(paths, one, failed)          # decoding, computing and encoding overlap
again([file], run, failed)           # until Ctrl-C
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from PIL import Image as PILImage

from pygpu.devices.cpu.threads import POOL, thread_count
from pygpu.image.motion import MOVING, STILL

PAUSE: Final = 0.2  # seconds between looks at files
KEPT: Final = 4  # blocks of 16 MB that Pillow keeps for each thread's next pictures


def is_video(path: Path) -> bool:
    return path.suffix.lower() in MOVING


def is_animation(path: Path) -> bool:
    """Whether a picture file holds several, one after the other in time."""
    if path.suffix.lower() not in STILL or not path.is_file():
        return False
    try:
        with PILImage.open(path) as picture:
            return getattr(picture, "n_frames", 1) > 1
    except OSError:  # which is told where it is read
        return False


def is_folder(path: Path) -> bool:
    """Whether results go into a folder: it is one, or has no suffix to tell a format by."""
    return path.is_dir() or (not path.suffix and not path.exists())


def each_of(
    paths: Sequence[Path], one: Callable[[Path], str], failed: Callable[[Exception], None]
) -> int:
    """Do one thing with each file, several at once; what it says is printed in their order. How
    many failed: the others are done.

    As many are done at once as there are processors, so each is computed by one thread: helpers
    would take processors from those that decode and encode."""
    count, threads = 0, thread_count()
    _keep_memory(KEPT * threads)
    share = POOL.share if len(paths) >= threads else None
    with ThreadPoolExecutor(threads, initializer=share) as pool:
        futures = [pool.submit(one, path) for path in paths]
        try:
            for future in futures:
                try:
                    print(future.result())
                except Exception as error:  # of the user's function, too
                    count += 1
                    failed(error)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise
    return count


def _keep_memory(blocks: int) -> None:
    """Let Pillow keep memory of pictures for the next ones: by itself it gives all back, and pages
    that are touched for the first time cost as much as a third of decoding."""
    if "PILLOW_BLOCKS_MAX" not in os.environ:
        core: Any = PILImage.core  # type: ignore[attr-defined]
        core.set_blocks_max(max(blocks, core.get_blocks_max()))


def timed(frames: Iterable[Any], seconds: float | None) -> Iterator[Any]:
    """Frames until so many seconds are over; None for all."""
    end = None if seconds is None else time.perf_counter() + seconds
    for frame in frames:
        if end is not None and time.perf_counter() > end:
            return
        yield frame


def again(
    watched: Sequence[Path], run: Callable[[], None], failed: Callable[[Exception], None]
) -> None:
    """Run now, and whenever one of the files changes. An error is told; a change runs it again."""
    seen = None
    while True:
        now = [_changed(path) for path in watched]
        if now != seen:
            seen = now
            try:
                run()
            except Exception as error:  # the user's file may say anything while it is edited
                failed(error)
        time.sleep(PAUSE)


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
