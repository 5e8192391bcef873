#!/usr/bin/env python3
"""All pictures of the gallery on one photograph, as one picture: `make gallery`.

tools/contact_sheet.py                                  # out/gallery.png
tools/contact_sheet.py --only kuwahara canny            # some of them
tools/contact_sheet.py --full --photo PHOTO             # one picture each, too, in full size
"""

import importlib
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
from PIL import Image as PILImage
from PIL import ImageDraw

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "examples" / "gallery"
sys.path[:0] = [str(GALLERY), str(ROOT)]

from _gallery import Parser, number_type, open_photo  # noqa: E402 (the path comes first)

CAPTION = 16


def main() -> None:
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--photo", type=Path, help="a picture file instead of the examples'")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these pictures alone")
    parser.add_argument("--columns", type=number_type(int, (1, 100)), default=10)
    parser.add_argument(
        "--cell", type=number_type(int, (8, 4096)), default=192, help="the width of each picture"
    )
    parser.add_argument("--full", action="store_true", help="each picture in full size, too")
    parser.add_argument("-o", "--out", type=Path, default=ROOT / "out" / "gallery.png")
    given = parser.parse_args()
    every = sorted(p.stem for p in GALLERY.glob("[a-z]*.py"))
    names = given.only or every
    for name in names:
        if name not in every:
            parser.error(f"no picture is called {name}")
    try:
        photo = open_photo(given.photo) if given.photo else open_photo()
    except OSError as error:
        parser.error(str(error))
    given.out.parent.mkdir(parents=True, exist_ok=True)

    pictures = []
    started = time.perf_counter()
    for name in names:
        module = importlib.import_module(name)
        began = time.perf_counter()
        picture = module.render(photo).to_pil("uint8").convert("RGB")
        print(f"{name:24} {1e3 * (time.perf_counter() - began):8.0f} ms", flush=True)
        pictures.append((title(module), picture))
        if given.full:
            picture.save(given.out.parent / f"{name}.png")
    print(f"{len(names)} pictures of {photo.width} x {photo.height}: ", end="")
    print(f"{time.perf_counter() - started:.1f} s")
    sheet(pictures, given.columns, given.cell).save(given.out)
    print(given.out)


def title(module: ModuleType) -> str:
    return (module.__doc__ or "").strip().partition("\n")[0]


def sheet(pictures: list[tuple[str, PILImage.Image]], columns: int, width: int) -> PILImage.Image:
    """The pictures, row by row, each with its title below."""
    height = max(round(width * picture.height / picture.width) for _, picture in pictures)
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    cell = np.array([width + 6, height + CAPTION + 6])
    paper = PILImage.new("RGB", (int(cell[0]) * columns + 6, int(cell[1]) * rows + 6), "white")
    draw = ImageDraw.Draw(paper)
    for index, (name, picture) in enumerate(pictures):
        x, y = (int(v) + 6 for v in cell * (index % columns, index // columns))
        small = picture.resize(
            (width, round(width * picture.height / picture.width)), PILImage.Resampling.LANCZOS
        )
        paper.paste(small, (x, y))
        draw.text((x + width / 2, y + small.height + 2), name, "black", anchor="ma")
    return paper


if __name__ == "__main__":
    main()
