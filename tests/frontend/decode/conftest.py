"""The front end needs Python alone: where NumPy, which PyGPU itself needs, is missing, stand in."""

import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]

try:
    import pygpu  # noqa: F401
except ImportError:
    package = ModuleType("pygpu")
    package.__path__ = [str(ROOT / "pygpu")]
    sys.modules["pygpu"] = package
