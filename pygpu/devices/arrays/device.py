"""What the compute target does to whole storages: see core/arrays.ArrayDevice."""

from __future__ import annotations

from pygpu.core.arrays import (
    ArrayDevice,
    CompressProgram,
    CompressTask,
    GroupProgram,
    GroupTask,
    Layout,
    ScanProgram,
    SortProgram,
    SortTask,
)
from pygpu.core.device import Device
from pygpu.core.programs import FoldTask
from pygpu.devices.arrays.compress import compress
from pygpu.devices.arrays.groups import fold_groups
from pygpu.devices.arrays.scan import scan
from pygpu.devices.arrays.sort import sort


class ComputeArrays(ArrayDevice):
    """Programs of codegen/arrays over the buffers of a compute device."""

    def __init__(self, device: Device) -> None:
        self.device = device

    def scan(self, task: FoldTask, layout: Layout) -> ScanProgram | None:
        return scan(task, layout)

    def fold_groups(self, task: GroupTask) -> GroupProgram | None:
        return fold_groups(task)

    def sort(self, task: SortTask) -> SortProgram | None:
        return sort(task)

    def compress(self, task: CompressTask) -> CompressProgram | None:
        return compress(task)
