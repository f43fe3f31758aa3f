"""Environment: everything outside the case that a verdict may depend on."""

import msgspec


class Environment(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Versions and settings of one worker, recorded with every campaign and corpus entry."""

    tridiff: str = ""
    python: str = ""
    triton: str = ""
    torch: str = ""
    numpy: str = ""
    backend: str = ""
    device: str = ""
    """Name of the GPU, or of the ahead-of-time architecture."""
    capability: str = ""
    driver: str = ""
    ptxas: str = ""
    interpreter_repairs: tuple[str, ...] = ()
    knobs: dict[str, str] = {}
    """TRITON_*, DISABLE_*, MLIR_* and PTXAS_* variables that were set."""
