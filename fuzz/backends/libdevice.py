"""What the library of functions of a chip's vendor lacks."""

import importlib
import re

from tridiff.fuzz.backends import compiler


def amd_lacks(text: str, backend: str) -> str:
    """Which functions of libdevice in a kernel's text AMD's libdevice does not have, where the backend compiles for one
    of its chips; "" if it has all."""
    if not compiler(backend).startswith("compile:gfx"):
        return ""
    amd = importlib.import_module("triton.language.extra.hip.libdevice")
    lacking = sorted({name for name in re.findall(r"\blibdevice\.(\w+)", text) if not hasattr(amd, name)})
    return f"AMD's libdevice has no {' '.join(lacking)}" if lacking else ""
