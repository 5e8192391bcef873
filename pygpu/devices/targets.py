"""Which device runs a program: the target asked for, or the best that is here.

    device = choose("auto")                # PYGPU_TARGET is read here, at each use
    open_device("fragment")                # or a DeviceError that says why not

`auto` is GPU hardware through OpenGL, fragment or compute as measured on this machine; else cpu;
software OpenGL only where nothing else is left. Devices are opened once and kept.
"""

from __future__ import annotations

import glob
import importlib
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from statistics import median
from typing import Any, Final, cast

import numpy as np

from pygpu.core import cache
from pygpu.core.errors import DeviceError, TooOld
from pygpu.core.storage import Device, Format, Storage
from pygpu.ssa import Builder, ImageInput
from pygpu.types import FLOAT

# Where each target's device is. They are imported when first asked for: drivers are heavy.
DEVICES: Final = {
    "fragment": ("pygpu.devices.opengl.fragment", "FragmentDevice"),
    "compute": ("pygpu.devices.opengl.compute", "ComputeDevice"),
    "cpu": ("pygpu.devices.cpu.device", "CpuDevice"),
    "interpreter": ("pygpu.devices.interpreter", "InterpreterDevice"),
}
TARGETS: Final = ("auto", "fragment", "compute", "cpu")
OPENGL: Final = ("fragment", "compute")
METHOD: Final = "3 x 3 float32, device time"  # what `measure` measures: changed with it
LOG: Final = logging.getLogger("pygpu")

FORKED: Final = (
    "this process was forked from one that has used OpenGL, whose driver may hang here; use "
    "target='cpu', or start processes by multiprocessing.get_context('spawn')"
)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a device takes: texels along an axis of an image, bytes of one, and bytes of all that a
    call brings there."""

    side: int
    nbytes: int
    memory: int


class _State:
    """The devices of this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.opened: dict[str, Device] = {}
        self.instead: dict[str, Device] = {}  # of targets that the driver is too old for
        self.limits: dict[str, Limits] = {}
        self.automatic: Device | None = None
        self.forked = False  # from a process that has used OpenGL

    def after_fork(self) -> None:
        """In a child: OpenGL is out of bounds if the parent has used it."""
        self.lock = threading.RLock()
        if any(name in self.opened for name in OPENGL):
            self.forked = True
            self.automatic = None
            self.instead.clear()
            for name in OPENGL:
                self.opened.pop(name, None)


_STATE: Final = _State()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_STATE.after_fork)


def check(target: str) -> str:
    """The target itself, or a ValueError that lists those there are."""
    if target in TARGETS or target in DEVICES:
        return target
    raise ValueError(f"target={target!r}: takes {', '.join(map(repr, TARGETS))}")


def asked(target: str) -> str:
    """The target that counts: what was asked for in the program, else in the environment."""
    if target != "auto":
        return target
    chosen = os.environ.get("PYGPU_TARGET")
    if not chosen:
        return "auto"
    if chosen not in DEVICES and chosen != "auto":
        raise ValueError(f"PYGPU_TARGET={chosen!r}: takes {', '.join(map(repr, TARGETS))}")
    return chosen


def choose(target: str) -> Device:
    """The device for a target; for "auto" the best that is here. For "compute" it is fragment's
    where the driver is too old for its programs."""
    name = asked(target)
    if name != "auto":
        return _STATE.opened.get(name) or _STATE.instead.get(name) or _demanded(name)
    return _STATE.automatic or _choose_automatically()


def _demanded(name: str) -> Device:
    """The device of a target, or fragment's in its place, of which a line in the log tells."""
    with _STATE.lock:
        try:
            return open_device(name)
        except TooOld as error:
            device = _STATE.instead[name] = open_device("fragment")
            LOG.warning("%s; running on %s", error, device.name)
            return device


def instead_of(device: Device, target: str) -> Device | None:
    """What does the work that an OpenGL device refuses, where the target was left to us."""
    if asked(target) != "auto" or device.name not in OPENGL:
        return None
    try:
        return open_device("cpu")
    except DeviceError:
        return None


def limits(device: Device) -> Limits | None:
    """How large images may be on a device; None where only memory counts. PYGPU_MEMORY and
    PYGPU_TEXTURE_SIZE may lower it."""
    if device.name not in OPENGL:
        return None
    found = _STATE.limits.get(device.name)
    if found is None:
        found = _STATE.limits[device.name] = _limits(device)
    memory, side = os.environ.get("PYGPU_MEMORY"), os.environ.get("PYGPU_TEXTURE_SIZE")
    if memory:
        found = replace(found, memory=_bytes("PYGPU_MEMORY", memory))
    if side:
        found = replace(found, side=min(found.side, _bytes("PYGPU_TEXTURE_SIZE", side)))
    return found


def _limits(device: Device) -> Limits:
    with importlib.import_module("pygpu.devices.opengl.context").context() as gl:
        granted = gl.limits
        memory = granted.memory // 2 or _shared_memory() // 4
        if device.name == "compute":
            return Limits(64 * granted.groups, granted.storage_size, memory)
        return Limits(granted.texture_size, sys.maxsize, memory)


def _shared_memory() -> int:
    """Bytes of the machine's memory, as far as the system tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 8 << 30


def _bytes(name: str, text: str) -> int:
    """A number of bytes, as 4096, 512M or 2G."""
    found = re.fullmatch(r"(\d+)\s*([KMG]?)(?:i?B)?", text.strip(), re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise ValueError(f"{name}={text!r}: takes a number, as 65536, 512M or 2G")
    return int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[found[2].upper()]


def open_device(name: str) -> Device:
    """The device of a target, opened once. DeviceError says what was tried."""
    with _STATE.lock:
        device = _STATE.opened.get(name)
        if device is not None:
            return device
        if _STATE.forked and name in OPENGL:
            raise DeviceError(f"no target {name!r}: {FORKED}")
        module, cls = DEVICES[name]
        try:
            device = cast(Device, getattr(importlib.import_module(module), cls)())
        except ImportError as error:
            raise DeviceError(f"no target {name!r}: {error}{_install(name)}") from error
        _STATE.opened[name] = device
        LOG.info("opened %s", name)
        return device


def _install(name: str) -> str:
    packages = {"cpu": "llvmlite", "fragment": "moderngl", "compute": "moderngl PyOpenGL"}
    return f"; pip install {packages[name]}" if name in packages else ""


# ---------------------------------------------------------------- auto


def _choose_automatically() -> Device:
    with _STATE.lock:
        if _STATE.automatic is None:
            _STATE.automatic = _best()
            LOG.info("target 'auto' is %s", _STATE.automatic.name)
        return _STATE.automatic


def _best() -> Device:
    """The fastest device of this machine, as far as is known."""
    answers: dict[str, str] = {}
    if _may_have_hardware() and not _STATE.forked:
        found = _open_all(OPENGL, answers)
        hardware = [device for device in found if is_hardware(device)]
        fastest = hardware[0] if len(hardware) == 1 else _faster(hardware)
        if fastest is not None:
            return fastest
    for name in ("cpu", *OPENGL):
        found = _open_all((name,), answers)
        if found:
            return found[0]
    tried = "".join(f"\n  {name}: {answer}" for name, answer in answers.items())
    raise DeviceError(f"no device found; tried{tried}")


def _open_all(names: tuple[str, ...], answers: dict[str, str]) -> list[Device]:
    """The devices of these targets that open; what the others answered goes to `answers`."""
    opened = []
    for name in names:
        try:
            opened.append(open_device(name))
        except DeviceError as error:
            LOG.info("no target %s: %s", name, error)
            answers[name] = str(error)
    return opened


def _may_have_hardware() -> bool:
    """Whether looking for a GPU is worth the time: on Linux its device files tell."""
    if not sys.platform.startswith("linux"):
        return True
    files = ("/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/dxg")  # the last one is WSL's
    return any(map(glob.glob, files))


def is_hardware(device: Device) -> bool:
    """Whether a device is a GPU, and no imitation of one in software."""
    if device.name not in OPENGL:
        return False
    with importlib.import_module("pygpu.devices.opengl.context").context() as gl:
        return not gl.is_software


def description(device: Device) -> dict[str, str]:
    """What a device says of itself: renderer, driver, limits."""
    if device.name in OPENGL:
        with importlib.import_module("pygpu.devices.opengl.context").context() as gl:
            kind = "software" if gl.is_software else "hardware"
            granted = limits(device)
            assert granted is not None
            is_compute = device.name == "compute"
            size = _shown(granted.nbytes) if is_compute else f"{granted.side} pixels a side"
            return {
                "device": f"{gl.description} ({kind})",
                "at once": f"images up to {size}, {_shown(granted.memory)} a call; more in tiles",
                "limits": ", ".join(f"{name} {value}" for name, value in _facts(gl.limits)),
            }
    if device.name == "cpu":
        machine = importlib.import_module("pygpu.devices.cpu.device").host()
        threads = importlib.import_module("pygpu.devices.cpu.threads").thread_count()
        return {"device": f"{machine.cpu}, {machine.lanes} lanes, {threads} threads"}
    return {}


def _shown(count: int) -> str:
    """Bytes for people to read."""
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"


def _facts(record: Any) -> list[tuple[str, Any]]:
    """The fields of a dataclass, as words and values."""
    return [(f.name.replace("_", " "), getattr(record, f.name)) for f in fields(record)]


def _faster(devices: list[Device]) -> Device | None:
    """The fastest of these, measured once for a machine and driver; None where none works."""
    if not devices:
        return None
    key = repr((METHOD, [(device.name, description(device)["device"]) for device in devices]))
    known = (cache.get("target", key) or b"").decode("ascii", "replace")
    for device in devices:
        if device.name == known:
            return device
    times = {device.name: measure(device) for device in devices}
    LOG.info("measured %s", times)
    best = min(devices, key=lambda device: times[device.name])
    if times[best.name] == float("inf"):
        return None
    cache.put("target", key, best.name.encode("ascii"))
    return best


def measure(device: Device, size: int = 2048) -> float:
    """Seconds of device time that a sum of 3 x 3 float32 texels of a square image takes; infinity
    where it fails."""
    build = Builder("measure", [ImageInput("image", FLOAT)])
    total = build.load(0, build.x, build.y, dx=-1, dy=-1)
    for place in range(1, 9):
        dx, dy = place % 3 - 1, place // 3 - 1
        total = build.emit("add", total, build.load(0, build.x, build.y, dx=dx, dy=dy))
    floats = Format(np.dtype("float32"), 1)
    texels = np.random.default_rng(0).random((size, size), dtype=np.float32)
    try:
        program = device.compile(build.finish([total]), [floats], [floats])
        image = Storage.of(texels)
        program.run([image], [], (size, size), [None])[0].host()  # compiles, uploads, proves it
        runs = [lambda: program.run([image], [], (size, size), [None])] * 8
        return median(seconds(device, runs)[1:])
    except Exception as error:  # a driver may answer with anything
        LOG.info("measuring %s failed: %s", device.name, error)
        return float("inf")


def seconds(device: Device, runs: Sequence[Callable[[], object]]) -> list[float]:
    """The seconds that a device takes for each of these, run one after the other: of its own time
    where it has timers, else by the clock."""
    if device.name in OPENGL:
        with importlib.import_module("pygpu.devices.opengl.context").context() as gl:
            times: list[float] = gl.clock.seconds(runs)
            return times
    times = []
    for run in runs:
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return times


def copies(nbytes: int, count: int) -> list[float]:
    """The seconds that each of some copies of so many bytes takes within the GPU's memory."""
    with importlib.import_module("pygpu.devices.opengl.context").context() as gl:
        times: list[float] = gl.clock.copies(nbytes, count)
        return times


def reset() -> None:
    """Let go of memory that devices keep for reuse, and choose anew at the next use."""
    with _STATE.lock:
        opengl = sys.modules.get("pygpu.devices.opengl.context")
        if opengl is not None and opengl.context().held is not None and not _STATE.forked:
            with opengl.context() as gl:
                gl.clear()
        _STATE.automatic = None


__all__ = [
    "DEVICES",
    "TARGETS",
    "Limits",
    "asked",
    "check",
    "choose",
    "copies",
    "description",
    "instead_of",
    "is_hardware",
    "limits",
    "measure",
    "open_device",
    "reset",
    "seconds",
]
