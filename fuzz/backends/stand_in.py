"""A driver for machines without a GPU: Triton asks it what to compile for, and nothing is launched."""

from typing import Any

import torch


class StandInDriver:
    """What Triton's driver answers, for a named target: the device is the CPU."""

    def __init__(self, backend: str = "cuda", arch: int | str = 90, warp_size: int = 32) -> None:
        from triton.backends.compiler import GPUTarget

        self._target = GPUTarget(backend, arch, warp_size)

    @staticmethod
    def is_active() -> bool:
        return True

    def get_current_target(self) -> Any:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int | None = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cpu")
