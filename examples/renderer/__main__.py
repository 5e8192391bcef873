"""Renders a picture and a short animation:

python -m examples.renderer --size 960x540 --frames 24 --out out/renderer
"""

import argparse
import time
from pathlib import Path

import pygpu

from .render import Renderer, save_animation


def main():
    parser = argparse.ArgumentParser(
        prog="python -m examples.renderer",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--size", default="960x540", help="width x height of the picture")
    parser.add_argument("--frames", type=int, default=24, help="of the animation; 0: none")
    parser.add_argument("--target", default="auto", help="auto, fragment, compute or cpu")
    parser.add_argument("--out", default="out/renderer", help="files are OUT.png and OUT.gif")
    given = parser.parse_args()
    width, height = map(int, given.size.split("x"))
    path = Path(given.out)
    path.parent.mkdir(parents=True, exist_ok=True)

    renderer = Renderer(height, width, given.target)
    picture = renderer.frame()
    pygpu.Image(picture).save(path.with_suffix(".png"))
    print(f"{width} x {height}: {path.with_suffix('.png')}")
    if given.frames:
        small = Renderer(height // 3, width // 3, given.target)
        begun = time.perf_counter()
        frames = [small.frame(k / given.frames) for k in range(given.frames)]
        each = (time.perf_counter() - begun) / given.frames
        save_animation(frames, path.with_suffix(".gif"))
        print(f"{given.frames} frames, {1e3 * each:.0f} ms each: {path.with_suffix('.gif')}")


if __name__ == "__main__":
    main()
