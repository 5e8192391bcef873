"""What the compute target does to whole storages: see core/arrays.ArrayDevice."""

from __future__ import annotations

from pygpu.core.arrays import ArrayDevice
from pygpu.core.device import Device
from pygpu.devices.arrays.compress import compress
from pygpu.devices.arrays.groups import fold_groups
from pygpu.devices.arrays.scan import scan
from pygpu.devices.arrays.sort import sort


class ComputeArrays(ArrayDevice):
    """Programs of codegen/arrays over the buffers of a compute device."""

    def __init__(self, device: Device) -> None:
        self.device = device

    scan = staticmethod(scan)
    fold_groups = staticmethod(fold_groups)
    sort = staticmethod(sort)
    compress = staticmethod(compress)
