"""Pages in a headless browser's software WebGL beside the fragment target in software.

    python -m benchmarks.pages                # Sobel, 768 x 1024: floats, bytes, colours
    python -m benchmarks.pages --rounds 5

Needs Debian's chromium and Playwright. A page's programs run several times over, each time until
one pixel of the result has been read (a driver may leave out what is drawn over). What showing the
picture takes stands beside that.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

import pygpu
from benchmarks.kernels import sobel
from pygpu.devices.opengl import context as opengl

SHAPE: Final = (768, 1024)
RUNS: Final = 10  # of a program in a measurement
BROWSERS: Final = {
    "SwiftShader": ("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    "ANGLE over llvmpipe": ("--use-angle=gl-egl",),
}
OPTIONS: Final = ("--use-gl=angle", "--ignore-gpu-blocklist", "--no-sandbox")
TIMED: Final = """([runs, shows]) => {
    const engine = pygpu.engine(), gl = engine.gl, pixel = new Uint8Array(4);
    const one = () => {  // of the result
        const slot = engine.slot(engine.shown(0)), letter = slot.made.letter;
        gl.bindFramebuffer(gl.FRAMEBUFFER, engine.frame([slot]));
        if (letter === "") gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.FLOAT, new Float32Array(4));
        else gl.readPixels(0, 0, 1, 1, gl.RGBA_INTEGER, gl.UNSIGNED_INT, new Uint32Array(4));
    };
    const wait = () => {
        if (shows) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
        else one();
    };
    const run = () => { engine.run(); if (shows) engine.show(0); };
    run(); wait();
    const begun = performance.now();
    for (let i = 0; i < runs; i++) { run(); wait(); }
    return (performance.now() - begun) / runs;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    noise = np.random.default_rng(1).random((*SHAPE, 3), np.float32)
    images = {
        "floats": noise[..., 0],
        "bytes": (noise[..., 0] * 255).astype(np.uint8),
        "colours": (noise * 255).astype(np.uint8),
    }
    print(
        f"| Sobel {SHAPE[1]} x {SHAPE[0]}, ms | fragment |", *[f"{b} | shown |" for b in BROWSERS]
    )
    for name, image in images.items():
        times = _times(pygpu.compile(sobel), np.ascontiguousarray(image), rounds)
        ours = times["fragment"]
        print(
            f"| {name} | {ours:.2f} |",
            *[f"{t:.2f} ({t / ours:.1f}) |" for t in list(times.values())[1:]],
        )


def _times(f: Any, image: Any, rounds: int) -> dict[str, float]:
    """Milliseconds: of `fragment`, then of each browser without and with the picture shown."""
    with tempfile.TemporaryDirectory() as folder:
        file = f.export(Path(folder) / "page.html", image)
        found: dict[str, list[float]] = {"fragment": []}
        on_fragment = _fragment(f, image)
        for browser, options in BROWSERS.items():
            with _page(options) as page:
                page.goto(file.as_uri())
                page.evaluate("pygpu.ready")
                for _ in range(rounds):
                    found["fragment"].append(on_fragment())
                    for shows in (False, True):
                        key = f"{browser} {shows}"
                        found.setdefault(key, []).append(page.evaluate(TIMED, [RUNS, shows]))
    return {key: median(values) for key, values in found.items()}


def _fragment(f: Any, image: Any) -> Callable[[], float]:
    """What measures `fragment`: the image is on the device, and the results stay there."""
    there, on = pygpu.Image(image), f.on("fragment")
    on(there)

    def measured() -> float:
        begun = time.perf_counter()
        for _ in range(RUNS):
            on(there)
            with opengl.context() as gl:
                gl.gl.finish()
        return (time.perf_counter() - begun) / RUNS * 1e3

    return measured


@contextmanager
def _page(options: tuple[str, ...]) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("google-chrome")
    environment = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=[*OPTIONS, *options], env=environment
        )
        yield chromium.new_page()
        chromium.close()


if __name__ == "__main__":
    main()
