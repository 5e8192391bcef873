"""The gallery's files as modules, and a small photograph for them.

gallery.load("kuwahara").render(gallery.photo())
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

import pygpu

HERE = Path(__file__).parent.parent / "examples" / "gallery"
NAMES = sorted(path.stem for path in HERE.glob("[a-z]*.py"))


def load(name: str) -> ModuleType:
    """A file of the gallery: its own folder is where it looks for what all share."""
    sys.path.insert(0, str(HERE))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(HERE))


def photo(height: int = 48, width: int = 64) -> pygpu.Image:
    """A piece of the examples' photograph: a face before a bright wall."""
    whole = load("_gallery").open_photo()
    return pygpu.Image(np.asarray(whole)[60 : 60 + height, 190 : 190 + width])


def floats(height: int = 48, width: int = 64) -> np.ndarray:
    """The same as float64, exact in float32 and without ties."""
    texels = np.asarray(photo(height, width)) / 255
    noise = np.random.default_rng(0).uniform(-1e-3, 1e-3, texels.shape)
    return np.clip(texels + noise, 0, 1).astype(np.float32).astype(np.float64)
