"""Denoises, thresholds and counts the cells of a slide, from a Zarr store to a Zarr store:

python -m examples.large                    # 40,000 x 40,000, threads of this process
python -m examples.large --cluster 2        # the same, by two processes of dask.distributed

Asks for `pip install 'pygpu[large]' distributed zarr`.
"""

import argparse
import contextlib
import re
import resource
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
from dask.diagnostics import ProgressBar

import pygpu

from . import cells


def main():
    parser = argparse.ArgumentParser(
        prog="python -m examples.large",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--size", type=sides, default="40000x40000", help="width x height of the slide, or one side"
    )
    parser.add_argument(
        "--chunk", type=from_on(1), default=4096, help="rows and columns of a chunk"
    )
    parser.add_argument(
        "--cluster", type=from_on(0), default=0, help="worker processes; 0: threads"
    )
    parser.add_argument(
        "--out", default="out/large", help="a folder, for slide.zarr and cells.zarr"
    )
    given = parser.parse_args()
    width, height = given.size
    folder = Path(given.out)
    folder.mkdir(parents=True, exist_ok=True)
    slide, found = folder / "slide.zarr", folder / "cells.zarr"
    with cluster(given.cluster) as client:
        timed("made", client, lambda: make(slide, height, width, given.chunk, client))
        threshold, number = timed("counted", client, lambda: count(slide, found, client))
    whole = height % cells.CELL == width % cells.CELL == 0
    of = f" of {cells.cells_in(height, width)}" if whole else ""
    print(f"threshold {threshold:.3f}: {number}{of} cells; {found}")


def sides(text: str) -> tuple[int, int]:
    """The width and height that "640x480" or "640" says."""
    found = re.fullmatch(r"([1-9]\d*)(?:x([1-9]\d*))?", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"takes 40000x30000 or 40000, got {text!r}")
    width, height = found.groups()
    return int(width), int(height or width)


def from_on(least: int):
    """What reads a whole number from `least` on."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"takes a whole number from {least} on, got {text!r}")
        return int(text)

    return read


def make(path: Path, height: int, width: int, chunk: int, client):
    """Write a slide of 16 bits, chunk by chunk."""
    unlit = da.zeros((height, width), chunks=chunk, dtype=np.uint8)
    slide = cells.slide(unlit, dtype=np.uint16)
    computed(client, slide.to_zarr(path, overwrite=True, compute=False))


def count(slide: Path, found: Path, client) -> tuple[float, int]:
    """The threshold, and how many cells are above it, which are written."""
    smooth = cells.denoise(da.from_zarr(slide))
    (counts,) = computed(client, cells.histogram(smooth))
    threshold = cells.between(counts)
    mask = cells.above(smooth, threshold, dtype=np.uint8)
    framed = da.pad(mask, 1)  # so that cells at a border end there
    quads = pygpu.reduce(np.add, cells.corners(framed, dtype=np.int32))
    written = mask.to_zarr(found, overwrite=True, compute=False)
    return threshold, int(computed(client, quads, written)[0]) // 4


# ---------------------------------------------------------------- where it runs


@contextlib.contextmanager
def cluster(workers: int):
    """Threads of this process, or a cluster on this machine whose client is given."""
    if not workers:
        yield None
        return
    from dask.distributed import Client

    with Client(n_workers=workers, threads_per_worker=1) as client:
        print(f"{workers} workers; {client.dashboard_link} shows what they do")
        yield client


def computed(client, *parts):
    """What Dask's parts are, with a bar of how far that is."""
    if client is None:
        with ProgressBar(dt=0.5):
            return dask.compute(*parts)
    from dask.distributed import progress

    futures = client.compute(parts)
    progress(futures)
    print()
    return client.gather(futures)


def timed(what: str, client, work):
    """What `work` gives, with its seconds and the most memory that a process has had."""
    begun = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - begun
    peaks = client.run(peak).values() if client else [peak()]
    print(f"{what} in {seconds:.1f} s, at most {max(peaks) / 2**30:.2f} GiB a process")
    return result


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
