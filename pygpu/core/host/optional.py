"""Packages that PyGPU uses where they are installed.

    OpenEXR = optional("OpenEXR")        # None where it is not there

A package that is installed while the process runs, as in a notebook, is there at the next call.
"""

import importlib
from types import ModuleType


def optional(name: str) -> ModuleType | None:
    """A package's module, or None where it is not installed, or lacks a library of its own."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        importlib.invalidate_caches()  # which tell what there is in the folders of packages
    except ImportError:
        return None
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
