"""Contexts of the window systems: made current and given back without harm to other libraries.

On Linux EGL makes a context without a window or a display server; it is called through ctypes, so
that the context can ask to be told of resets. Elsewhere, and where EGL is missing, glcontext does.
A platform context is what `moderngl.create_context(context=...)` takes, and has three methods more:

    saved = platform.enter()      # current now; what was current before is remembered
    platform.let_go()             # nothing is current
    platform.leave(saved)         # what was current before is so again
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, Protocol

import glcontext
import moderngl

from pygpu.core.errors import NoSuchDevice
from pygpu.core.host import settings

Attempt = tuple[str, Callable[[], "PlatformContext"]]


class PlatformContext(Protocol):
    """An OpenGL context of a window system."""

    name: str
    flushes: bool  # whether letting it go sends all commands to the device

    def load(self, function: str) -> int: ...
    def enter(self) -> Any: ...
    def let_go(self) -> None: ...
    def leave(self, saved: Any) -> None: ...
    def release(self) -> None: ...


class PlatformError(Exception):
    """What one attempt answered."""


def integer(context: PlatformContext, name: int) -> int:
    """A number that moderngl does not ask for; 0 where there is no way to ask."""
    getter = context.load("glGetIntegerv")
    number = (ctypes.c_int * 4)()
    if getter:
        ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_void_p)(getter)(name, number)
    return number[0]


# ---------------------------------------------------------------- EGL

_EGL_ERRORS: Final = {
    0x3001: "EGL_NOT_INITIALIZED",
    0x3002: "EGL_BAD_ACCESS",
    0x3003: "EGL_BAD_ALLOC",
    0x3004: "EGL_BAD_ATTRIBUTE",
    0x3005: "EGL_BAD_CONFIG",
    0x3006: "EGL_BAD_CONTEXT",
    0x3008: "EGL_BAD_DISPLAY",
    0x3009: "EGL_BAD_MATCH",
    0x300C: "EGL_BAD_PARAMETER",
    0x300E: "EGL_CONTEXT_LOST",
}
_OPENGL_API: Final = 0x30A2
_PLATFORM_DEVICE: Final = 0x313F
_EXTENSIONS: Final = 0x3055
_NONE: Final = 0x3038
_VERSIONS: Final = ((4, 6), (4, 5), (4, 3), (4, 1), (3, 3))  # some drivers give what is asked
_NOTIFY_OF_RESETS: Final = (0x31BD, 0x31BF)  # reset notification: the context is lost
_NO_FLUSH: Final = (0x2097, 0)  # EGL_KHR_context_flush_control: none when the context is let go
_CONFIG: Final = (0x3033, 0x0001, 0x3040, 0x0008, _NONE)  # pbuffers, OpenGL

_P = ctypes.c_void_p
_SIGNATURES: Final[dict[str, tuple[Any, ...]]] = {
    "eglGetProcAddress": (_P, ctypes.c_char_p),
    "eglQueryString": (ctypes.c_char_p, _P, ctypes.c_int),
    "eglGetError": (ctypes.c_int,),
    "eglGetDisplay": (_P, _P),
    "eglInitialize": (ctypes.c_uint, _P, _P, _P),
    "eglBindAPI": (ctypes.c_uint, ctypes.c_uint),
    "eglChooseConfig": (ctypes.c_uint, _P, _P, _P, ctypes.c_int, _P),
    "eglCreateContext": (_P, _P, _P, _P, _P),
    "eglDestroyContext": (ctypes.c_uint, _P, _P),
    "eglMakeCurrent": (ctypes.c_uint, _P, _P, _P, _P),
    "eglGetCurrentContext": (_P,),
    "eglGetCurrentDisplay": (_P,),
    "eglGetCurrentSurface": (_P, ctypes.c_int),
    "eglQueryAPI": (ctypes.c_uint,),
}


class _Library:
    """libEGL's functions, with their signatures."""

    def __init__(self) -> None:
        try:
            library = ctypes.CDLL("libEGL.so.1")
        except OSError as error:
            raise PlatformError(
                f"{error} (install libegl1, and a driver: libgl1-mesa-dri)"
            ) from None
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def extension(self, name: str, result: Any, *arguments: Any) -> Any:
        address = self.eglGetProcAddress(name.encode())
        if not address:
            raise PlatformError(f"{name} is missing")
        return ctypes.CFUNCTYPE(result, *arguments)(address)

    def error(self, what: str) -> PlatformError:
        code = self.eglGetError()
        return PlatformError(f"{what}: {_EGL_ERRORS.get(code, hex(code))}")


def _egl_displays(egl: _Library) -> Iterator[tuple[str, Callable[[], int | None]]]:
    """Displays to try, hardware first: PYGPU_DEVICE (or PYGPU_EGL_DEVICE, as it was
    called) chooses one by its number. NoSuchDevice where there is none of that number."""
    extensions = (egl.eglQueryString(None, _EXTENSIONS) or b"").split()
    chosen = os.environ.get("PYGPU_DEVICE") or os.environ.get("PYGPU_EGL_DEVICE")
    listing = (b"EGL_EXT_device_enumeration", b"EGL_EXT_device_base")  # the second is of both
    can_list = b"EGL_EXT_platform_device" in extensions and any(
        map(extensions.__contains__, listing)
    )
    if chosen and not can_list:
        raise NoSuchDevice(f"PYGPU_DEVICE={chosen!r}: EGL lists no devices here")
    if can_list:
        devices = (_P * 16)()
        count = ctypes.c_int()
        query = egl.extension("eglQueryDevicesEXT", ctypes.c_uint, ctypes.c_int, _P, _P)
        query(len(devices), devices, ctypes.byref(count))
        describe = egl.extension("eglQueryDeviceStringEXT", ctypes.c_char_p, _P, ctypes.c_int)
        get = egl.extension("eglGetPlatformDisplayEXT", _P, ctypes.c_uint, _P, _P)
        numbered = list(enumerate(devices[: count.value]))
        software = {
            number
            for number, device in numbered
            if b"software" in (describe(device, _EXTENSIONS) or b"")
        }
        if chosen:
            there = ", ".join([str(number) for number, _ in numbered])
            numbered = [pair for pair in numbered if str(pair[0]) == chosen.strip()]
            if not numbered:
                raise NoSuchDevice(f"PYGPU_DEVICE={chosen!r}: the devices here are {there}")
        for number, device in sorted(numbered, key=lambda pair: pair[0] in software):
            yield f"EGL device {number}", partial(get, _PLATFORM_DEVICE, device, None)
        if chosen:
            return
    yield "EGL display", partial(egl.eglGetDisplay, None)


class EglContext:
    """A context that no window belongs to."""

    flushes = True

    def __init__(self, egl: _Library, name: str, get: Callable[[], int | None]) -> None:
        self.egl = egl
        self.name = name
        self.display = display = get()
        if not display or not egl.eglInitialize(display, None, None):
            raise egl.error("eglInitialize")
        configs = (_P * 1)()
        count = ctypes.c_int()
        attributes = (ctypes.c_int * len(_CONFIG))(*_CONFIG)
        egl.eglChooseConfig(display, attributes, configs, 1, ctypes.byref(count))
        config = configs[0] if count.value else None
        before = egl.eglQueryAPI()
        egl.eglBindAPI(_OPENGL_API)
        try:
            self.context = self._create(config)
        finally:
            egl.eglBindAPI(before)

    def _create(self, config: int | None) -> int:
        extensions = (self.egl.eglQueryString(self.display, _EXTENSIONS) or b"").split()
        choices: list[tuple[int, ...]] = [_NOTIFY_OF_RESETS, ()]
        if b"EGL_KHR_context_flush_control" in extensions:
            choices.insert(0, (*_NOTIFY_OF_RESETS, *_NO_FLUSH))
        for more in choices:
            for major, minor in _VERSIONS:
                wishes = (0x3098, major, 0x30FB, minor, 0x30FD, 1, *more, _NONE)  # 1: core profile
                attributes = (ctypes.c_int * len(wishes))(*wishes)
                context = self.egl.eglCreateContext(self.display, config, None, attributes)
                if context:
                    self.flushes = _NO_FLUSH[0] not in more
                    return int(context)
        raise self.egl.error("eglCreateContext")

    def load(self, function: str) -> int:
        return self.egl.eglGetProcAddress(function.encode()) or 0

    def enter(self) -> Any:
        egl = self.egl
        saved: Any = None
        current = egl.eglGetCurrentContext()
        if current and current != self.context:  # ours is no other's: a section was interrupted
            saved = (
                egl.eglGetCurrentDisplay(),
                egl.eglGetCurrentSurface(0x3059),
                egl.eglGetCurrentSurface(0x305A),
                current,
            )
        if not egl.eglMakeCurrent(self.display, None, None, self.context):
            saved = _GlxCurrent.get()  # a context of GLX and one of EGL exclude each other
            if saved is None:
                raise egl.error("eglMakeCurrent")
            saved.let_go()
            if not egl.eglMakeCurrent(self.display, None, None, self.context):
                raise egl.error("eglMakeCurrent")
        return saved

    def leave(self, saved: Any) -> None:
        egl = self.egl
        if isinstance(saved, tuple):
            egl.eglMakeCurrent(*saved)
            return
        self.let_go()
        if saved is not None:
            saved.restore()

    def let_go(self) -> None:
        self.egl.eglMakeCurrent(self.display, None, None, None)

    def release(self) -> None:
        self.egl.eglDestroyContext(self.display, self.context)


class _GlxCurrent:
    """What was current in GLX, where some library uses that."""

    def __init__(self, glx: ctypes.CDLL) -> None:
        for name in ("Display", "Context", "Drawable"):
            getter = getattr(glx, f"glXGetCurrent{name}")
            getter.restype = ctypes.c_ulong if name == "Drawable" else _P
        self.make_current = glx.glXMakeCurrent
        self.make_current.argtypes = (_P, ctypes.c_ulong, _P)
        self.display = glx.glXGetCurrentDisplay()
        self.drawable = glx.glXGetCurrentDrawable()
        self.context = glx.glXGetCurrentContext()

    @classmethod
    def get(cls) -> _GlxCurrent | None:
        """What is current now, if anything is."""
        try:
            current = cls(ctypes.CDLL("libGLX.so.0", mode=os.RTLD_NOLOAD))
        except (OSError, AttributeError):
            return None
        return current if current.context else None

    def let_go(self) -> None:
        self.make_current(self.display, 0, None)

    def restore(self) -> None:
        self.make_current(self.display, self.drawable, self.context)


# ---------------------------------------------------------------- glcontext


class GlcontextContext:
    """A context of the window system's own: X11 on Linux, WGL on Windows, CGL on macOS. It is made
    current by being made, and glcontext restores nothing then; so it is done here."""

    flushes = True

    def __init__(self) -> None:
        self.name = f"the window system's ({sys.platform})"
        try:
            self.current = _window_system()
            before = self.current.get()
            self.context = glcontext.default_backend()(mode="standalone", glversion=330)
            self.ours = self.current.get()
        except Exception as error:  # each backend raises what it likes
            raise PlatformError(str(error)) from None
        self.current.set(before)

    def load(self, function: str) -> int:
        return int(self.context.load(function))

    def enter(self) -> Any:
        saved = self.current.get()
        self.context.__enter__()
        return self.current.nothing if saved == self.ours else saved

    def let_go(self) -> None:
        self.current.set(self.current.nothing)

    def leave(self, saved: Any) -> None:
        self.current.set(saved)

    def release(self) -> None:
        before = self.current.get()
        self.context.__enter__()
        ours = self.current.get()
        self.context.release()
        if before != ours:
            self.current.set(before)


class _Current(Protocol):
    """What is current in this thread, by the functions of a window system."""

    nothing: tuple[Any, ...]

    def get(self) -> tuple[Any, ...]: ...
    def set(self, saved: tuple[Any, ...]) -> None: ...


def _window_system() -> _Current:
    if sys.platform == "win32":
        return _WglCurrent()
    return _CglCurrent() if sys.platform == "darwin" else _GlxThread()


class _WglCurrent:
    nothing = (None, None)

    def __init__(self) -> None:
        library = ctypes.CDLL("opengl32")  # 64-bit Windows has one calling convention
        self.contexts, self.windows = library.wglGetCurrentContext, library.wglGetCurrentDC
        self.make_current = library.wglMakeCurrent
        self.contexts.restype = self.windows.restype = _P
        self.make_current.argtypes = (_P, _P)

    def get(self) -> tuple[Any, ...]:
        return self.windows(), self.contexts()

    def set(self, saved: tuple[Any, ...]) -> None:
        self.make_current(*saved)


class _CglCurrent:
    nothing = (None,)

    def __init__(self) -> None:
        library = ctypes.CDLL("/System/Library/Frameworks/OpenGL.framework/OpenGL")
        self.contexts, self.make_current = (
            library.CGLGetCurrentContext,
            library.CGLSetCurrentContext,
        )
        self.contexts.restype = _P
        self.make_current.argtypes = (_P,)

    def get(self) -> tuple[Any, ...]:
        return (self.contexts(),)

    def set(self, saved: tuple[Any, ...]) -> None:
        self.make_current(*saved)


class _GlxThread:
    """GLX, and EGL beside it: a thread has a context of one of them at most."""

    nothing = ()

    def __init__(self) -> None:
        name = ctypes.util.find_library("GL")
        self.glx = ctypes.CDLL(name) if name else None  # as glcontext does it

    def get(self) -> tuple[Any, ...]:
        current = None if self.glx is None else _GlxCurrent(self.glx)
        if current is None or not current.context:
            return ()
        return current.display, current.drawable, current.context

    def set(self, saved: tuple[Any, ...]) -> None:
        if self.glx is None:
            return
        current = _GlxCurrent(self.glx)
        if saved:
            current.make_current(*saved)
        elif current.context:
            current.let_go()


def attached(platform: PlatformContext) -> Any:
    """moderngl's view of the context, which does not become its default one."""
    store = getattr(moderngl, "_store", None)
    before = getattr(store, "default_context", None)
    settings: dict[str, Any] = {"context": platform}
    try:
        return moderngl.create_context(**settings)
    finally:
        if store is not None:
            store.default_context = before


def attempts() -> Iterator[Attempt]:
    """Ways to get a context, the best first. PYGPU_GL_BACKEND, "egl" or "native", leaves one."""
    backend = settings.backend()
    is_linux = sys.platform.startswith("linux")
    if backend == "egl" or (not backend and is_linux):
        yield from _egl_attempts()
    if backend != "egl" and (backend or not is_linux or os.environ.get("DISPLAY")):
        yield "the window system", GlcontextContext


def _egl_attempts() -> Iterator[Attempt]:
    try:
        egl = _Library()
        for name, display in _egl_displays(egl):
            yield name, partial(EglContext, egl, name, display)
    except PlatformError as error:
        yield "EGL", partial(_fail, error)


def _fail(error: PlatformError) -> PlatformContext:
    raise error
