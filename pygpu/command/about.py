"""`pygpu.info()`: what is here to compute on. `pygpu.clear()`: let go of what is kept.

print(info())                          # targets, devices, drivers, and why others are not here
info().targets["compute"]["available"]
"""

from __future__ import annotations

import html
import importlib.metadata
import os
import platform
import textwrap
from typing import Any, Final

import numpy as np

from pygpu.core.errors import DeviceError
from pygpu.core.host import cache
from pygpu.core.host.records import record
from pygpu.devices import targets
from pygpu.execution.arrays import whole
from pygpu.execution.folds import folding
from pygpu.execution.programs import joined
from pygpu.image import crops, operators

PACKAGES: Final = ("pygpu", "numpy", "llvmlite", "moderngl", "PyOpenGL", "pillow")


@record
class Info:
    """What PyGPU found. `default` is the target of functions that ask for none, `reason` why.
    `targets` has, for each target, whether it is `available`, and what its device says of itself or
    `why` it is not."""

    default: str
    reason: str
    targets: dict[str, dict[str, Any]]
    versions: dict[str, str]
    machine: str
    cache: str
    environment: dict[str, str]

    def __repr__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        lines = [versions, self.machine, f"disk cache: {self.cache}"]
        lines += [f"{name}={value}" for name, value in self.environment.items()]
        lines.append(f"auto: {self.default}" + (f" ({self.reason})" if self.reason else ""))
        for name, facts in self.targets.items():
            lines.append(f"{name}: {'' if facts['available'] else 'not here'}".rstrip())
            for key, value in facts.items():
                if key != "available":
                    lines.append(textwrap.indent(f"{key}: {value}", "    "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def info() -> Info:
    """What there is to compute on: targets, devices, drivers, limits, versions. Opens them all."""
    try:
        default = targets.choose("auto").name
    except (DeviceError, ValueError) as error:
        default = f"none: {error}"
    found = {name: _facts(name) for name in targets.public() if name != "auto"}
    return Info(
        default,
        _reason(default, found),
        found,
        _versions(),
        f"Python {platform.python_version()}, {platform.platform()}, {platform.machine()}",
        cache.place() or "none",
        {name: value for name, value in sorted(os.environ.items()) if name.startswith("PYGPU_")},
    )


def _reason(default: str, found: dict[str, dict[str, Any]]) -> str:
    """Why a target is the one that is taken where none is asked for."""
    if default not in targets.DEVICES:
        return ""
    if targets.asked("auto") != "auto":
        return "PYGPU_TARGET says so"
    there = [name for name in targets.gpus() if found[name]["available"]]
    hardware = [name for name in there if targets.open_device(name).is_hardware]
    if default in hardware:
        other = [name for name in hardware if name != default]
        return f"as measured, faster here than {other[0]}" if other else "a GPU is here"
    if hardware:
        return ""
    if default in there:
        return "it runs in software here, and nothing else is left"
    if there:
        return "OpenGL runs in software here, and only where it is asked for"
    return "there is no OpenGL here"


def _facts(name: str) -> dict[str, Any]:
    try:
        device = targets.open_device(name)
    except DeviceError as error:
        return {"available": False, "why": str(error)}
    return {"available": True, **targets.description(device)}


def _versions() -> dict[str, str]:
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {"numpy": np.__version__} | versions


def clear() -> None:
    """Let go of programs of PyGPU's own, as those of images' operators and of sorts, and of memory
    that is kept for reuse. Images and compiled functions stay as they are."""
    operators.texelwise.cache_clear()
    folding.program.cache_clear()
    whole.clear()
    joined.columns.cache_clear()
    crops.program.cache_clear()
    targets.reset()
