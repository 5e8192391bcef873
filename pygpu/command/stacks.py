"""TIFFs of several pages: each is computed by itself, and the results are pages of a TIFF.

if is_stack(path): write(function, path, [Path("out.tif")], values, None)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from pygpu.image.files.files import imread, imwrite, page_count
from pygpu.image.image import Image

SUFFIXES: Final = (".tif", ".tiff")


def goes(path: Path) -> bool:
    """Whether a file of this name holds pages."""
    return path.suffix.lower() in SUFFIXES


def is_stack(path: Path) -> bool:
    """Whether it is a TIFF of several pages."""
    if not goes(path) or not path.is_file():
        return False
    try:
        return page_count(path) > 1
    except (OSError, ValueError):  # which is told where it is read
        return False


def write(
    function: Callable[..., Any],
    path: Path,
    outputs: Sequence[Path],
    values: Mapping[str, Any],
    dtype: Any,
) -> str:
    """Compute all pages and write the results, in the file's dtype unless said; what to say."""
    stack = imread(path)
    more = {} if stack.dtype.kind == "b" else {"dtype": dtype or stack.dtype}
    results = [function(Image(page), **values, **more) for page in stack]
    rows = [each if isinstance(each, tuple) else (each,) for each in results]
    if len(rows[0]) != len(outputs):
        raise ValueError(f"{len(rows[0])} results: give -o OUT once for each")
    said = []
    for output, pages in zip(outputs, zip(*rows, strict=True), strict=True):
        made = np.stack([np.asarray(page) for page in pages])
        imwrite(output, made)
        said.append(f"{output}: {len(made)} of {made.shape[2]} x {made.shape[1]}")
    return "\n".join(said)
