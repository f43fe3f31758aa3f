"""Kernels that a script shows as they were generated: Gluon modules and TTGIR text."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tridiff.fuzz.errors import TridiffError


@dataclass(frozen=True)
class Verbatim:
    """source: the text, complete with its imports; what it defines is called `kernel` in the script. language: in what
    it is written."""

    source: str
    language: Literal["gluon", "ttgir"]
    kernel: str = "kernel"
    imports: tuple[str, ...] = ()

    def parameters(self, arguments: Mapping[str, Any]) -> list[str]:
        """Names of the kernel's parameters, in order."""
        return list(arguments)

    def text(self, *, spacing: int) -> str:
        """The part of the script above the launch."""
        if self.language == "gluon":
            return self.source.strip()
        return f'TEXT = """\\\n{self.source.strip()}\n"""'


def verbatim(kernel: Any, text: str) -> Verbatim | None:
    """What to show of a generated Gluon kernel or of TTGIR text; None for kernels that are collected and cut down.

    Raises TridiffError for a Gluon kernel that no generator wrote: it may need more than its own module.
    """
    if text:
        return Verbatim(text, "ttgir")
    if not kernel.is_gluon():
        return None
    module = inspect.getmodule(kernel.fn)
    source = "".join(inspect.findsource(kernel.fn)[0])
    if not (module is None or module.__name__.startswith("generated.")) or not source:
        raise TridiffError("a Gluon kernel that is not generated cannot be written into a script",
                           fix="rerun it with `tridiff repro` instead")
    name = kernel.fn.__name__
    return Verbatim(source.replace(f"\ndef {name}(", "\ndef kernel("), "gluon")
