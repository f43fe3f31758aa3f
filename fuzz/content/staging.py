"""Small cases travel to the GPU and back in one copy each way.

Generating and judging a few thousand elements takes the CPU about a millisecond, whereas every
synchronisation with a GPU that sixteen workers share waits for a time slice. So small cases are placed and
judged on the host, and only their bytes (arrays, guards, poison) are moved. Large ones live on the device.
"""

from collections.abc import Mapping

import torch

from tridiff.fuzz.content.place import GUARD, Buffer
from tridiff.fuzz.content.small import STAGED_ELEMENTS
from tridiff.oracles.dtypes import torch_dtype

_ALIGNMENT = 512
_BYTES_EACH = 8
_GUARDS = 64 * 3 * GUARD
"""Elements of the guards of so many arrays, with what rounding up costs."""


class Staging:
    """A pinned host block and a device block of the same size, used again for every case. elements: of all arrays; for
    each STAGED_ELEMENTS of them there is room for as many arrays as one case may have."""

    def __init__(self, device: torch.device, *, elements: int = STAGED_ELEMENTS) -> None:
        room = (elements + elements // STAGED_ELEMENTS * _GUARDS) * _BYTES_EACH
        self._host = torch.empty(room, dtype=torch.uint8, pin_memory=True)
        self._device = torch.empty(room, dtype=torch.uint8, device=device)

    def upload(self, buffers: Mapping[str, Buffer]) -> dict[str, torch.Tensor]:
        """Copy all storages to the device; returns the kernel's pointers by array name."""
        pointers: dict[str, torch.Tensor] = {}
        position = 0
        for name, buffer in buffers.items():
            storage = buffer.storage.view(torch.uint8)
            end = position + storage.numel()
            self._host[position:end] = storage
            start = position + (GUARD + buffer.spec.layout.offset) * buffer.storage.element_size()
            dtype = torch.int8 if buffer.spec.dtype == "i1" else torch_dtype(buffer.spec.dtype)
            pointers[name] = self._device[start:end].view(dtype)
            position = -(-end // _ALIGNMENT) * _ALIGNMENT
        self._device[:position].copy_(self._host[:position], non_blocking=True)
        return pointers

    def download(self, buffers: Mapping[str, Buffer]) -> None:
        """Copy all storages back, after everything launched has finished."""
        total = sum(-(-buffer.storage.nbytes // _ALIGNMENT) * _ALIGNMENT for buffer in buffers.values())
        self._host[:total].copy_(self._device[:total])
        position = 0
        for buffer in buffers.values():
            storage = buffer.storage.view(torch.uint8)
            storage.copy_(self._host[position:position + storage.numel()])
            position += -(-storage.numel() // _ALIGNMENT) * _ALIGNMENT
