"""Environment: everything outside the case that a verdict may depend on."""

import msgspec

from tridiff.fuzz.versions import release
from tridiff.kernels import lines
from tridiff.kernels.record import Record


class Environment(Record, kw_only=True):
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
    repairs_off: tuple[str, ...] = ()
    """Repairs of the interpreter (`tridiff.fuzz.interpreter.Repairs`) that were not in force."""
    repairs_missing: tuple[str, ...] = ()
    """Repairs that were asked for and found nothing to repair, each as "repair: what is gone": this Triton is new, and
    what they say about it does not hold."""
    knobs: dict[str, str] = {}
    """TRITON_*, DISABLE_*, MLIR_* and PTXAS_* variables that were set from outside."""

    @property
    def line(self) -> str:
        """All that is set, as `python 3.12.3, triton 3.9.0, backend cuda`, or the name of that among `NAMED`, where
        `of_line` reads it back; "" where it does not, as of repairs or knobs."""
        text = _AND.join(f"{name} {value}" for name in _WORDS if (value := getattr(self, name)))
        return lines.written(self, _NAME_OF.get(text, text), Environment.of_line)

    @staticmethod
    def of_line(line: str) -> "Environment":
        """The environment that a line says; ValueError if it says none."""
        parts = [part.partition(" ") for part in NAMED.get(line, line).split(_AND)]
        told = {name: value for name, _, value in parts if name in _WORDS and value}
        if len(told) < len(parts):
            raise ValueError(f"{line[:80]!r} is no line of versions")
        return msgspec.convert(told, Environment)

    @property
    def architecture(self) -> str:
        """What kernels are compiled for, as `compile:ARCH` names it ("sm_90", "gfx942"); "" for the interpreter."""
        if self.backend.startswith(("compile:", "evaluated:")):
            return self.backend.partition(":")[2]
        return f"sm_{self.capability.replace('.', '')}" if self.capability else ""

    @property
    def triton_release(self) -> tuple[int, ...]:
        """Major and minor number of Triton, to compare; () if unknown."""
        return release(self.triton)


_AND = ", "
_WORDS = tuple(one.name for one in msgspec.structs.fields(Environment) if one.type is str)

_DEVICE = ("python 3.12.3, triton {}, torch 2.11.0+cu130, numpy 2.5.2, backend cuda, device NVIDIA {}, capability 9.0, "
           "driver 580.159.04, ptxas {}")
_HOST = "python 3.11.7, triton {}, torch {}, numpy 2.4.6, backend {}, device {}"
NAMED = {
    "3.6.0 on H200": _DEVICE.format("3.6.0", "H200", "12.8"), "3.9.0 on H200": _DEVICE.format("3.9.0", "H200", "13.4"),
    "3.6.0 on H100": _DEVICE.format("3.6.0", "H100 80GB HBM3", "12.8"),
    "3.9.0 on H100": _DEVICE.format("3.9.0", "H100 80GB HBM3", "13.4"),
    "3.6.0 interpreted": _HOST.format("3.6.0", "2.13.0+cpu", "interpreter", "x86_64"),
    "3.9.0 interpreted": _HOST.format("3.9.0", "2.13.0+cpu", "interpreter", "x86_64"),
    "3.6.0 interpreted, torch 2.11.0": _HOST.format("3.6.0", "2.11.0+cu130", "interpreter", "x86_64"),
    "3.6.0 for sm_90": _HOST.format("3.6.0", "2.13.0+cpu", "compile:sm_90", "sm_90, ptxas 12.8"),
    "3.9.0 for sm_90": _HOST.format("3.9.0", "2.13.0+cpu", "compile:sm_90", "sm_90, ptxas 13.4"),
}
"""Lines that many entries have in common, by the name that files have in their place. What a name stands for never
changes, or the entries that have it would say another thing."""
_NAME_OF = {line: name for name, line in NAMED.items()}
