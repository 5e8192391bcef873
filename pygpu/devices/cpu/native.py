"""LLVM: this machine, and from IR to machine code that can be called. llvmlite is used only here.

Compiled code is kept on disk under the hash of what LLVM is given.

llvmlite holds a lock of its own during each call, which a handler of a signal that raises would
leave locked for good, and which a forked child would find locked. So all that works with LLVM is
done undisturbed, freeing too, and forking waits for both locks.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import llvmlite
import llvmlite.binding as llvm

from pygpu.codegen.llvm.text import Machine
from pygpu.core.errors import DeviceError
from pygpu.core.host import cache, forks, settings
from pygpu.core.host.undisturbed import undisturbed, when_gone

# Levels of PYGPU_CPU_FEATURES: LLVM's processor, lanes, and the features that it has there.
_SSE41: Final = ("sse4.1",)
_AVX2: Final = (*_SSE41, "avx", "avx2", "fma", "f16c")
LEVELS: Final = {
    "sse2": ("x86-64", ()),
    "sse4.2": ("x86-64-v2", _SSE41),
    "avx2": ("x86-64-v3", _AVX2),
    "avx512": ("x86-64-v4", (*_AVX2, "avx512f", "avx512bw", "avx512dq", "avx512vl")),
}
_LOCK: Final = threading.RLock()  # LLVM's context is not for several threads at once


def _library_lock() -> Any:
    """The lock that llvmlite holds in each call, its finalisers' too; None where it has none."""
    wrapper = getattr(llvm.ffi.lib, "_lock", None)
    return getattr(wrapper, "_lock", None)


_LIBRARY_LOCK: Final = _library_lock()
forks.wait_for(_LOCK)
if _LIBRARY_LOCK is not None:
    forks.wait_for(_LIBRARY_LOCK)


@lru_cache(maxsize=4)
def machine(level: str) -> Machine:
    """This machine, or the part of it that a level (or a string of LLVM features) allows."""
    return undisturbed(_machine, level)


def _machine(level: str) -> Machine:
    _initialize()
    x86 = llvm.get_process_triple().split("-")[0] in ("x86_64", "amd64", "i686", "AMD64")
    cpu, features = llvm.get_host_cpu_name(), ""
    host = {name for name, on in llvm.get_host_cpu_features().items() if on}
    if level in LEVELS and x86:
        cpu, names = LEVELS[level]
        known = set(names)
        if known - host:
            raise DeviceError(f"PYGPU_CPU_FEATURES={level}: this processor has no {known - host}")
    else:
        features = llvm.get_host_cpu_features().flatten()
        more, less = _changes(level)
        if more - host:
            raise DeviceError(f"PYGPU_CPU_FEATURES={level}: this processor has no {more - host}")
        if level:
            features = ",".join([features, level]) if features else level
        known = (host | more) - less
    lanes = 16 if "avx512f" in known else 8 if "avx" in known else 4
    version = llvm.llvm_version_info[0]
    return Machine(version, cpu, features, lanes, frozenset(known), x86)


def _changes(level: str) -> tuple[set[str], set[str]]:
    """The features that PYGPU_CPU_FEATURES adds to those of the processor, and takes away."""
    parts = [part.strip() for part in level.split(",")] if level else []
    if not all(part[:1] in ("+", "-") for part in parts):
        raise DeviceError(
            f"PYGPU_CPU_FEATURES={level}: takes {', '.join(LEVELS)} or LLVM features (+name,-name)"
        )
    unknown = {part[1:] for part in parts} - set(llvm.get_host_cpu_features())
    if unknown:
        raise DeviceError(f"PYGPU_CPU_FEATURES={level}: LLVM has no feature {min(unknown)!r} here")
    more = {part[1:] for part in parts if part[0] == "+"}
    return more, {part[1:] for part in parts if part[0] == "-"}


@lru_cache(maxsize=1)
def _initialize() -> None:
    for name in ("initialize", "initialize_native_target", "initialize_native_asmprinter"):
        try:
            getattr(llvm, name)()
        except RuntimeError:  # newer versions initialise themselves
            if name != "initialize":
                raise


class Native:
    """Compiled code in memory, which goes when this object does. The IR has no attribute groups."""

    addresses: dict[str, int]  # of the functions that were asked for

    def __init__(self, text: str, made_for: Machine, names: Sequence[str] = ("span",)) -> None:
        text += attributes(made_for)
        key = _key(text, made_for)
        code = cache.get("native", key)
        if code is None:
            code = undisturbed(self._compile, text, made_for, names)
            cache.put("native", key, code)
        else:
            undisturbed(self._load, code, made_for, names)
        self.size = len(code)

    def _compile(self, text: str, made_for: Machine, names: Sequence[str]) -> bytes:
        with _LOCK:
            target = _target(made_for, _effort(text))
            code = bytes(target.emit_object(_optimized(text, made_for)))
            self._load(code, made_for, names)
        return code

    def _load(self, code: bytes, made_for: Machine, names: Sequence[str]) -> None:
        with _LOCK:
            empty = _parse("", made_for)
            engine = llvm.create_mcjit_compiler(empty, _new_target(made_for))
            engine.add_object_file(llvm.ObjectFileRef.from_data(code))
            engine.finalize_object()
            self.addresses = {name: int(engine.get_function_address(name)) for name in names}
        when_gone(self, engine.close)  # which holds the engine, so that no other thread ends it


def native_span(text: str, made_for: Machine) -> tuple[Native, int]:
    """The code of a function `span`, and where it begins."""
    native = Native(text, made_for)
    return native, native.addresses["span"]


@lru_cache(maxsize=256)
def native_of(emit: Callable[..., str], *given: Any) -> tuple[Native, int]:
    """The code that a function emits of what it is given, the machine last: see native_span. It
    must stay as long as it may run: where threads make it at once the cache keeps one's."""
    return native_span(emit(*given), given[-1])


def attributes(made_for: Machine) -> str:
    """The attribute groups that functions refer to."""
    width = made_for.lanes * 32
    wide = f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
    return (
        f"attributes #0 = {{ nounwind {wide} }}\nattributes #1 = {{ nounwind noinline {wide} }}\n"
    )


def _key(text: str, made_for: Machine) -> bytes:
    return hashlib.sha256(
        "\0".join(
            [llvmlite.__version__, str(llvm.llvm_version_info), repr(made_for.cpu),
             made_for.features, PIPELINE, text]
        ).encode()
    ).digest()  # fmt: skip


PIPELINE: Final = "2"  # changes when what is done to IR does
EFFORT: Final = 2  # how hard LLVM's code generator tries, of 3
LONG: Final = 100_000  # characters of IR, from which on it tries less hard


def _effort(text: str) -> int:
    """Large functions are not scheduled a second time after registers are allocated, which takes a
    tenth of their time, more than in proportion to a block's length, and makes them no faster."""
    return EFFORT if len(text) < LONG else EFFORT - 1


def _optimized(text: str, made_for: Machine) -> Any:
    module = _parse(text, made_for)
    if settings.flag("PYGPU_DEBUG"):
        module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    builder = llvm.create_pass_builder(_target(made_for), options)
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, builder)
    return module


@lru_cache(maxsize=8)
def _target(made_for: Machine, effort: int = EFFORT) -> Any:
    return _new_target(made_for, effort)


def _new_target(made_for: Machine, effort: int = EFFORT) -> Any:
    """A target machine; an engine keeps the one that it is given."""
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=made_for.cpu, features=made_for.features, opt=effort, jit=True
    )


@lru_cache(maxsize=1)
def _context() -> Any:
    """A context of our own. Below LLVM 16 it must be told that pointers have no types."""
    if llvm.llvm_version_info[0] < 16:
        from llvmlite.binding.context import ContextRef
        from llvmlite.binding.ffi import lib

        return ContextRef(lib.LLVMPY_ContextCreate(True))
    return llvm.create_context()


def _parse(text: str, made_for: Machine) -> Any:
    try:
        module = llvm.parse_assembly(text, _context())
    except RuntimeError as error:
        raise AssertionError(f"{error}, in\n{text}") from None
    module.triple = llvm.get_process_triple()
    module.data_layout = str(_target(made_for).target_data)
    return module
