"""The ready filters on `cpu`, against scikit-image and SciPy: arrays in, arrays out.

    python -m benchmarks.filters --report benchmarks/RESULTS_FILTERS.md
    python -m benchmarks.filters canny label --rounds 3

Results are compared before they are timed: most of the pixels are equal to rounding. (Where peers
differ in what they round or how they treat edges, tests of the filters say what agrees.)
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import geometric_mean
from typing import Any, Final

import numpy as np
import scipy.ndimage as ndi
import skimage
from skimage import color, exposure, feature, filters, measure, morphology, restoration, transform
from skimage.morphology import disk

import pygpu
from benchmarks.cpu import machine
from benchmarks.measure import interleaved
from pygpu import filters as ours

# A photograph of 1024 x 1024: one of half the side, and its mirror images.
RGB: Final = np.pad(pygpu.data.astronaut(), ((0, 512), (0, 512), (0, 0)), "symmetric")
GREY: Final = np.float32(color.rgb2gray(RGB))
FLOATS: Final = np.float32(RGB / 255)
BYTES: Final = np.uint8(np.rint(255 * GREY))
NEGATIVE: Final = 255 - RGB
DARK: Final = GREY**2
MASK: Final = GREY > 0.5
SEVEN: Final = np.ones((7, 7), bool)
HOLE: Final = np.zeros((96, 96), bool)
HOLE[40:50, 30:60] = True
WARPED: Final = np.array([[0.9, -0.2, 60], [0.2, 0.9, -20], [0, 0, 1]])
BLUR: Final = np.ones((5, 5), np.float32) / 25


@dataclass(frozen=True)
class Pair:
    """Ours and the peer's, called without arguments; how many of the values must agree, and how
    near. Where the peer counts from 0 to 255, ours is `scale` times less."""

    ours: Callable[[], Any]
    peer: Callable[[], Any]
    share: float = 0.99
    close: float = 2e-3
    scale: float = 1


def _layers(steps: Any) -> Any:
    return np.concatenate([np.asarray(layer).ravel() for layer in steps])


PAIRS: Final[Mapping[str, Pair]] = {
    "gaussian, sigma 2": Pair(
        lambda: ours.gaussian(GREY, sigma=2), lambda: filters.gaussian(GREY, 2, mode="nearest")
    ),
    "sobel": Pair(
        lambda: ours.sobel(pygpu.Image(GREY, boundary="reflect")), lambda: filters.sobel(GREY)
    ),
    "laplace": Pair(lambda: ours.laplace(GREY), lambda: filters.laplace(GREY), 0.98),
    "unsharp_mask": Pair(
        lambda: ours.unsharp_mask(GREY, radius=2),
        lambda: filters.unsharp_mask(GREY, radius=2),
    ),
    "median 5x5": Pair(
        lambda: ours.median(GREY, size=5), lambda: filters.median(GREY, np.ones((5, 5)))
    ),
    "rank: percentile 7x7": Pair(
        lambda: ours.percentile_filter(GREY, percentile=30, size=7),
        lambda: ndi.percentile_filter(GREY, 30, size=7),
    ),
    "rank.mean, disk 5": Pair(
        lambda: ours.rank.mean(BYTES, disk(5)),
        lambda: filters.rank.mean(BYTES, disk(5)),
        close=1 / 127,  # it rounds down
        scale=255,
    ),
    "uniform_filter 9": Pair(
        lambda: ours.uniform_filter(GREY, size=9), lambda: ndi.uniform_filter(GREY, 9)
    ),
    "erosion 7x7": Pair(lambda: ours.erosion(GREY, SEVEN), lambda: morphology.erosion(GREY, SEVEN)),
    "dilation, disk 5": Pair(
        lambda: ours.dilation(GREY, disk(5)), lambda: morphology.dilation(GREY, disk(5))
    ),
    "opening 7x7, bytes": Pair(
        lambda: ours.opening(BYTES, SEVEN, dtype=np.uint8), lambda: morphology.opening(BYTES, SEVEN)
    ),
    "white_tophat 7x7": Pair(
        lambda: ours.white_tophat(GREY, SEVEN), lambda: morphology.white_tophat(GREY, SEVEN)
    ),
    "label": Pair(lambda: ours.label(MASK), lambda: measure.label(MASK)),
    "label, bytes": Pair(lambda: ours.label(BYTES // 32), lambda: measure.label(BYTES // 32)),
    "distance_transform_edt": Pair(
        lambda: ours.distance_transform_edt(MASK), lambda: ndi.distance_transform_edt(MASK)
    ),
    "resize, half": Pair(
        lambda: ours.resize(FLOATS, (512, 512)), lambda: transform.resize(FLOATS, (512, 512))
    ),
    "resize, 1.5 times": Pair(
        lambda: ours.resize(FLOATS, (1536, 1536)), lambda: transform.resize(FLOATS, (1536, 1536))
    ),
    "resize, cubic": Pair(
        lambda: ours.resize(GREY, (1536, 1536), order=3),
        lambda: transform.resize(GREY, (1536, 1536), order=3),
    ),
    "rescale 0.3, bytes": Pair(
        lambda: ours.rescale(RGB, 0.3, anti_aliasing=True),
        lambda: transform.rescale(RGB, 0.3, channel_axis=2, anti_aliasing=True),
        0.99,
        5e-3,
    ),
    "rotate 30": Pair(lambda: ours.rotate(FLOATS, 30), lambda: transform.rotate(FLOATS, 30)),
    "warp": Pair(
        lambda: ours.warp(GREY, WARPED),
        lambda: transform.warp(GREY, WARPED),
    ),
    "pyramid_reduce": Pair(
        lambda: ours.pyramid_reduce(FLOATS),
        lambda: transform.pyramid_reduce(FLOATS, channel_axis=2),
    ),
    "pyramid_gaussian": Pair(
        lambda: _layers(ours.pyramid_gaussian(GREY)),
        lambda: _layers(transform.pyramid_gaussian(GREY)),
    ),
    "pyramid_laplacian": Pair(
        lambda: _layers(ours.pyramid_laplacian(GREY)),
        lambda: _layers(transform.pyramid_laplacian(GREY)),
    ),
    "equalize_hist, bytes": Pair(
        lambda: ours.equalize_hist(RGB, dtype=np.float32), lambda: exposure.equalize_hist(RGB)
    ),
    "equalize_hist": Pair(
        lambda: ours.equalize_hist(GREY), lambda: exposure.equalize_hist(GREY), 0.99, 5e-3
    ),
    "equalize_adapthist": Pair(
        lambda: ours.equalize_adapthist(FLOATS), lambda: exposure.equalize_adapthist(FLOATS), 0.98
    ),
    "match_histograms, bytes": Pair(
        lambda: ours.match_histograms(RGB, NEGATIVE),
        lambda: exposure.match_histograms(RGB, NEGATIVE, channel_axis=2),
        close=1 / 127,  # it rounds down
        scale=255,
    ),
    "match_histograms": Pair(
        lambda: ours.match_histograms(GREY, DARK),
        lambda: exposure.match_histograms(GREY, DARK),
    ),
    "threshold_otsu": Pair(lambda: ours.threshold_otsu(GREY), lambda: filters.threshold_otsu(GREY)),
    "threshold_otsu, bytes": Pair(
        lambda: ours.threshold_otsu(BYTES), lambda: filters.threshold_otsu(BYTES), scale=255
    ),
    "threshold_local 35": Pair(
        lambda: ours.threshold_local(GREY, 35), lambda: filters.threshold_local(GREY, 35)
    ),
    "denoise_bilateral": Pair(  # where nearness, which the peer reads elsewhere, matters little
        lambda: ours.denoise_bilateral(GREY, 5, 0.1, 1e3, "edge"),
        lambda: restoration.denoise_bilateral(GREY, 5, 0.1, 1e3, mode="edge"),
    ),
    "denoise_nl_means": Pair(
        lambda: ours.denoise_nl_means(GREY, 5, 6, 0.1),
        lambda: restoration.denoise_nl_means(GREY, 5, 6, 0.1),
        0.98,
        4e-3,
    ),
    "denoise_tv_chambolle": Pair(
        lambda: ours.denoise_tv_chambolle(GREY, max_num_iter=50, eps=0),
        lambda: restoration.denoise_tv_chambolle(GREY, max_num_iter=50, eps=0),
    ),
    "richardson_lucy, 10": Pair(
        lambda: ours.richardson_lucy(GREY, BLUR, 10),
        lambda: restoration.richardson_lucy(GREY, BLUR, 10),
        0.9,
        2e-2,
    ),
    "inpaint_biharmonic": Pair(
        lambda: ours.inpaint_biharmonic(GREY[:96, :96], HOLE),
        lambda: restoration.inpaint_biharmonic(GREY[:96, :96], HOLE),
    ),
    "canny": Pair(lambda: ours.canny(GREY, sigma=2), lambda: feature.canny(GREY, sigma=2), 0.998),
    "corner_harris": Pair(
        lambda: ours.corner_harris(GREY), lambda: feature.corner_harris(GREY), 0.99, 1e-2
    ),
    "hog": Pair(lambda: ours.hog(GREY), lambda: feature.hog(GREY)),
    "local_binary_pattern": Pair(
        lambda: ours.local_binary_pattern(BYTES, 8, 1, "uniform"),
        lambda: feature.local_binary_pattern(BYTES, 8, 1, "uniform"),
        0.95,  # ties of bytes
    ),
    "rgb2lab": Pair(lambda: ours.rgb2lab(FLOATS), lambda: color.rgb2lab(FLOATS), 0.99, 2e-2),
    "rgb2hsv": Pair(lambda: ours.rgb2hsv(FLOATS), lambda: color.rgb2hsv(FLOATS)),
    "rgb2gray, bytes": Pair(
        lambda: ours.rgb2gray(RGB, dtype=np.float32), lambda: color.rgb2gray(RGB)
    ),
}


def check(name: str, pair: Pair) -> None:
    """AssertionError where too few values agree."""
    have, want = (np.asarray(run(), np.float64) for run in (pair.ours, pair.peer))
    have = pair.scale * have
    assert have.shape == want.shape, f"{name}: {have.shape}, the peer's {want.shape}"
    agreeing = float(np.mean(np.abs(have - want) <= pair.close * max(1, np.abs(want).max() / 2)))
    assert agreeing >= pair.share, f"{name}: {agreeing:.4f} of the values agree"


def report(measured: Mapping[str, Mapping[str, float]], rounds: int) -> str:
    """The table, those that gain least first."""
    gains = {name: times["peer"] / times["PyGPU"] for name, times in measured.items()}
    lines = [
        f"| {name} | {1e3 * measured[name]['PyGPU']:.2f} | {1e3 * measured[name]['peer']:.2f} | "
        f"{gain:.1f} |"
        for name, gain in sorted(gains.items(), key=lambda item: item[1])
    ]
    few = [name for name, gain in gains.items() if gain < 5]
    return (
        f"# Ready filters, on `cpu`\n\n{machine()}, {datetime.date.today()}, scikit-image "
        f"{skimage.__version__}, SciPy {version('scipy')}\n\nMilliseconds for a photograph of 1024 "
        f"x 1024, medians of {rounds} interleaved runs, arrays in and out. Grey ones are float32 "
        "where nothing else is said.\n\n"
        "| filter | PyGPU | scikit-image or SciPy | times as fast |\n|-|-|-|-|\n"
        + "\n".join(lines)
        + f"\n\nGeometric mean: {geometric_mean(gains.values()):.1f} times as fast; below 5: "
        + (", ".join(few) or "none")
        + ".\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="filter")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--report", type=Path, help="a file for the table")
    parser.add_argument("--json", type=Path, help="a file that keeps what was measured before")
    options = parser.parse_args()
    os.environ.setdefault("PYGPU_TARGET", "cpu")
    chosen = {
        name: pair
        for name, pair in PAIRS.items()
        if not options.rows or any(name.startswith(row) for row in options.rows)
    }
    measured = {}
    if options.json and options.json.exists():
        measured = json.loads(options.json.read_text())
    for name, pair in chosen.items():
        check(name, pair)
        times = interleaved({"PyGPU": pair.ours, "peer": pair.peer}, options.rounds)
        measured[name] = times
        print(f"{name}: { {k: round(v * 1e3, 2) for k, v in times.items()} }", flush=True)
        if options.json:
            options.json.write_text(json.dumps(measured))
    text = report(measured, options.rounds)
    print(text)
    if options.report:
        options.report.write_text(text)


if __name__ == "__main__":
    main()
