"""What the environment asks for, looked at before anything is computed: a wrong value is an error
on every target, also on those that would never ask for it.

    check()                                    # ValueError: "PYGPU_THREADS='many': ..."
"""

from __future__ import annotations

from contextlib import suppress

from pygpu.core.host import settings
from pygpu.core.host.later import later

with later():
    from pygpu.devices.cpu import chunks


def check() -> None:
    """A ValueError or DeviceError for the first variable whose value means nothing."""
    settings.check()
    if settings.read("PYGPU_CPU_FEATURES").strip():
        with suppress(ImportError):  # without LLVM nothing is made for the processor
            chunks.host()
