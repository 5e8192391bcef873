"""Which device runs a program: the target asked for, or the best that is here.

    device = choose("auto")                # PYGPU_TARGET is read here, at each use
    open_device("fragment")                # or a DeviceError that says why not

`auto` is GPU hardware through OpenGL, fragment or compute as measured on this machine; else cpu;
software OpenGL only where nothing else is left. Devices are opened once and kept.
"""

from __future__ import annotations

import glob
import importlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any, Final, cast

import numpy as np

from pygpu.core.builder import Builder
from pygpu.core.device import Device, Limits
from pygpu.core.errors import DeviceError, NoSuchDevice, TooOld, shown
from pygpu.core.host import cache, forks, log, settings
from pygpu.core.host.later import later, running
from pygpu.core.host.records import record
from pygpu.core.host.undisturbed import undisturbed
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices import environment
from pygpu.ssa import ImageInput
from pygpu.types import FLOAT

with later():
    from pygpu.core import arrays as whole_arrays
    from pygpu.core import drawing as drawings


@record
class Target:
    """Where a device is, and what must be known of it before it is opened: it is imported then, for
    drivers are heavy."""

    place: str  # "module:class"
    packages: str = ""  # what to install where the module cannot be imported
    is_gpu: bool = False  # may be hardware: asked first, and never in a forked child
    is_public: bool = True  # whether users are told of it, and "auto" may be it
    meshes: str = ""  # "module:class" of what draws meshes there, if not the device's own method
    written: str = ""  # "module:class" of what runs GLSL written by hand, where that is possible
    arrays: str = ""  # "module:class" of what scans, folds and sorts whole storages, if any does


_MESHES: Final = "pygpu.devices.meshes.opengl:OpenGLDrawing"
_WRITTEN: Final = "pygpu.devices.written.opengl:OpenGLWritten"

# To add a target is to add its line here, or to call `register`.
DEVICES: Final = {
    "fragment": Target(
        "pygpu.devices.opengl.fragment:FragmentDevice",
        "moderngl",
        is_gpu=True,
        meshes=_MESHES,
        written=_WRITTEN,
    ),
    "compute": Target(
        "pygpu.devices.opengl.compute:ComputeDevice",
        "moderngl PyOpenGL",
        is_gpu=True,
        meshes=_MESHES,
        written=_WRITTEN,
        arrays="pygpu.devices.arrays.device:ComputeArrays",
    ),
    "cpu": Target("pygpu.devices.cpu.device:CpuDevice", "llvmlite"),
    "interpreter": Target("pygpu.devices.interpreter:InterpreterDevice", is_public=False),
}
METHOD: Final = "3 x 3 float32, device time"  # what `measure` measures: changed with it

FORKED: Final = (
    "this process was forked from one that has used OpenGL, whose driver may hang here; use "
    "target='cpu', or start processes by multiprocessing.get_context('spawn')"
)


def register(name: str, target: Target) -> None:
    """Add a target, which calls may then ask for by its name."""
    if name == "auto" or name in DEVICES:
        raise ValueError(f"there is a target {name!r}")
    DEVICES[name] = target


def public() -> tuple[str, ...]:
    """What users may ask for."""
    return ("auto", *[name for name, target in DEVICES.items() if target.is_public])


def gpus() -> tuple[str, ...]:
    """The targets that may be hardware."""
    return tuple([name for name, target in DEVICES.items() if target.is_gpu])


def hosts() -> tuple[str, ...]:
    """The targets that compute in the host's own memory."""
    return tuple([name for name, each in DEVICES.items() if each.is_public and not each.is_gpu])


class _State:
    """The devices of this process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.opened: dict[str, Device] = {}
        self.instead: dict[str, Device] = {}  # of targets that the driver is too old for
        self.automatic: Device | None = None
        self.arrays: dict[str, tuple[Device, whole_arrays.ArrayDevice]] = {}
        self.forked = False  # from a process that has used OpenGL

    def after_fork(self) -> None:
        """In a child: OpenGL is out of bounds if the parent has used it."""
        self.lock = threading.RLock()
        if any(name in self.opened for name in gpus()):
            self.forked = True
            self.automatic = None
            self.instead.clear()
            for name in gpus():
                self.opened.pop(name, None)


_STATE: Final = _State()
_DIVERTED: Final[ContextVar[Device | None]] = ContextVar("diverted", default=None)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_STATE.after_fork)


def check(target: str) -> str:
    """The target itself, or a ValueError that lists those there are."""
    if isinstance(target, str) and (target == "auto" or target in DEVICES):
        return target
    raise ValueError(f"target={shown(target)}: takes {', '.join(map(repr, public()))}")


def asked(target: str) -> str:
    """The target that counts: what was asked for in the program, else in the environment."""
    if target != "auto":
        return target
    chosen = settings.read("PYGPU_TARGET")
    if not chosen:
        return "auto"
    if chosen not in DEVICES and chosen != "auto":
        raise ValueError(f"PYGPU_TARGET={chosen!r}: takes {', '.join(map(repr, public()))}")
    return chosen


def choose(target: str) -> Device:
    """The device for a target; for "auto" the best that is here. For "compute" it is fragment's
    where the driver is too old for its programs. Calls that are diverted to a device which has
    another one compute may ask for that one by its name."""
    diverted = _DIVERTED.get()
    if diverted is not None and target in ("auto", diverted.computes.name):
        return diverted
    name = target if target != "auto" else asked(target)
    if name != "auto":
        return _STATE.opened.get(name) or _STATE.instead.get(name) or _demanded(name)
    return _STATE.automatic or _choose_automatically()


def host() -> Device:
    """The device for what is computed in the host's memory, whatever target was asked for."""
    return choose(hosts()[0])


@contextmanager
def diverted(device: Device) -> Iterator[None]:
    """Within the block, this thread's calls that leave the target to PyGPU go to a device, and
    those that ask for the one which computes what it notes."""
    token = _DIVERTED.set(device)
    try:
        yield
    finally:
        _DIVERTED.reset(token)


@contextmanager
def at_once() -> Iterator[None]:
    """Within the block, this thread's calls that leave the target to PyGPU go to the device that
    computes, where another notes them for it: what works on whole arrays is no function of a
    pixel."""
    device = _DIVERTED.get()
    if device is None or device.computes is device:
        yield
        return
    with diverted(device.computes):
        yield


def _demanded(name: str) -> Device:
    """The device of a target, or fragment's in its place, of which a line in the log tells."""
    with _STATE.lock:
        try:
            return open_device(name)
        except TooOld as error:
            device = _STATE.instead[name] = open_device("fragment")
            log.warning("%s; running on %s", error, device.name)
            return device


def instead_of(device: Device, target: str) -> Device | None:
    """What does the work that a device refuses, where the target was left to us."""
    if asked(target) != "auto" or device.name in hosts():
        return None
    return next(iter(_open_all(hosts(), {})), None)


def limits(device: Device) -> Limits | None:
    """How large images may be on a device; None where only memory counts. PYGPU_MEMORY and
    PYGPU_TEXTURE_SIZE may lower it."""
    found = device.limits()
    if found is None:
        return None
    memory, side = settings.size("PYGPU_MEMORY"), settings.size("PYGPU_TEXTURE_SIZE")
    if memory:
        found = replace(found, memory=memory)
    if side:
        found = replace(found, side=min(found.side, side))
    return found


def is_on_host(device: Device) -> bool:
    """Whether images of a device are arrays of the host, which anybody may read at once."""
    return limits(device) is None and not device.keeps


def is_limited() -> bool:
    """Whether the environment says how large images may be."""
    return bool(settings.read("PYGPU_MEMORY") or settings.read("PYGPU_TEXTURE_SIZE"))


def open_device(name: str) -> Device:
    """The device of a target, opened once. DeviceError says what was tried."""
    with _STATE.lock:
        device = _STATE.opened.get(name)
        if device is not None:
            return device
        check_environment()
        target = DEVICES[name]
        if _STATE.forked and target.is_gpu:
            raise DeviceError(f"no target {name!r}: {FORKED}")
        module, _, cls = target.place.partition(":")
        try:
            imported = undisturbed(_imported, module)
            device = cast(Device, getattr(imported, cls)())
        except ImportError as error:
            hint = f"; pip install {target.packages}" if target.packages else ""
            raise DeviceError(f"no target {name!r}: {error}{hint}") from error
        _STATE.opened[name] = device
        log.info("opened %s", name)
        return device


def check_environment() -> None:
    """An error where a variable of the environment says what means nothing, on every target."""
    asked("auto")
    environment.check()


def _imported(module: str) -> Any:
    """A module of a device. No handler of a signal comes between its lines: one that used the
    device, or forked, would find half of it."""
    with forks.IMPORTING, running():
        return importlib.import_module(module)


def drawing(device: Device, drawing: drawings.Drawing) -> drawings.DrawProgram:
    """What draws meshes on a device. DeviceError where nothing does."""
    target = DEVICES.get(device.name)
    if target is None or not target.meshes:
        return device.drawing(drawing)
    module, _, cls = target.meshes.partition(":")
    imported = undisturbed(_imported, module)
    return cast(drawings.DrawProgram, getattr(imported, cls)(device, drawing))


def arrays(device: Device) -> whole_arrays.ArrayDevice | None:
    """What does to whole storages what no function of a pixel can, on a device that has such."""
    found = _STATE.arrays.get(device.name)
    if found is None or found[0] is not device:
        target = DEVICES.get(device.name)
        if target is None or not target.arrays:
            return None
        module, _, cls = target.arrays.partition(":")
        made = getattr(undisturbed(_imported, module), cls)(device)
        found = _STATE.arrays[device.name] = device, made
    return found[1]


def written(device: Device, program: Any) -> Any:
    """What runs GLSL written by hand (devices/written/text.py) on a device. DeviceError where
    nothing does."""
    target = DEVICES.get(device.name)
    if target is None or not target.written:
        raise DeviceError(
            f"program: GLSL written by hand runs on OpenGL, target 'fragment' or 'compute', not "
            f"on {device.name!r}"
        )
    module, _, cls = target.written.partition(":")
    imported = undisturbed(_imported, module)
    return getattr(imported, cls)(device, program)


# ---------------------------------------------------------------- auto


def _choose_automatically() -> Device:
    with _STATE.lock:
        if _STATE.automatic is None:
            _STATE.automatic = _best()
            log.info("target 'auto' is %s", _STATE.automatic.name)
        return _STATE.automatic


def _best() -> Device:
    """The fastest device of this machine, as far as is known."""
    answers: dict[str, str] = {}
    chosen = settings.read("PYGPU_DEVICE") or settings.read("PYGPU_EGL_DEVICE")
    if (chosen or _may_have_hardware()) and not _STATE.forked:
        hardware = [device for device in _open_all(gpus(), answers) if device.is_hardware]
        fastest = hardware[0] if len(hardware) == 1 else _faster(hardware)
        if fastest is not None:
            return fastest
        if chosen:
            why = "; ".join(answers.values()) or "that is no GPU, or one whose programs fail"
            log.warning("PYGPU_DEVICE=%r is not taken: %s", chosen, why)
    public = [name for name, target in DEVICES.items() if target.is_public]
    for name in sorted(public, key=lambda name: DEVICES[name].is_gpu):  # GPUs in software last
        found = _open_all((name,), answers)
        if found:
            return found[0]
    tried = "".join(f"\n  {name}: {answer}" for name, answer in answers.items())
    raise DeviceError(f"no device found; tried{tried}")


def _open_all(names: Iterable[str], answers: dict[str, str]) -> list[Device]:
    """The devices of these targets that open; what the others answered goes to `answers`. An error
    where the environment names a device that is not there."""
    opened = []
    for name in names:
        try:
            opened.append(open_device(name))
        except NoSuchDevice:
            raise
        except DeviceError as error:
            log.info("no target %s: %s", name, error)
            answers[name] = str(error)
    return opened


def _may_have_hardware() -> bool:
    """Whether looking for a GPU is worth the time: on Linux its device files tell."""
    if not sys.platform.startswith("linux"):
        return True
    files = ("/dev/dri/renderD*", "/dev/nvidia[0-9]*", "/dev/dxg")  # the last one is WSL's
    return any(map(glob.glob, files))


def description(device: Device) -> dict[str, str]:
    """What a device says of itself, and how large images may be there."""
    granted, facts = limits(device), device.describe()
    if granted is not None:
        whole = granted.nbytes < sys.maxsize
        size = _shown(granted.nbytes) if whole else f"{granted.side} pixels a side"
        facts["at once"] = f"images up to {size}, {_shown(granted.memory)} a call; more in tiles"
    return facts


def _shown(count: int) -> str:
    """Bytes for people to read."""
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"


def _faster(devices: list[Device]) -> Device | None:
    """The fastest of these, measured once for a machine and driver; None where none works."""
    if not devices:
        return None
    key = repr((METHOD, [(device.name, device.driver) for device in devices]))
    known = (cache.get("target", key) or b"").decode("ascii", "replace")
    for device in devices:
        if device.name == known:
            return device
    times = {device.name: measure(device) for device in devices}
    log.info("measured %s", times)
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
        program = device.compile(Task(build.finish([total]), [floats], [floats]))
        work = Work([Storage.of(texels)], [], (size, size), [None])
        program.run(work)[0].host()  # compiles, uploads, proves it
        runs = [partial(program.run, work)] * 8
        return float(np.median(device.seconds(runs)[1:]))
    except Exception as error:  # a driver may answer with anything
        log.info("measuring %s failed: %s", device.name, error)
        return float("inf")


def reset() -> None:
    """Let go of memory that devices keep for reuse, and choose anew at the next use."""
    with _STATE.lock:
        for device in _STATE.opened.values():
            device.clear()
        _STATE.automatic = None
