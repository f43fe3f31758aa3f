"""Faults of the helpers, to measure whether a test would notice them.

Each is a sentence, and edits that bring it into the source of the helper's module. The broken variant is the function
that the edited source defines: whatever uses a faulty line has the fault, and everything else is the helper's own.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from tridiff.kernels import generated

Edit = tuple[str, str] | tuple[str, str, int]
"""A text of the right source, what stands there instead, and how many times it does (once, if nothing is said)."""


class DeviceFunction(Protocol):
    """A `@triton.jit` function: a JITFunction, or an InterpretedFunction under TRITON_INTERPRET=1."""

    __name__: str
    fn: Callable[..., object]


class Fault:
    """sentence: what goes wrong, with operands that show it. edits: made all at once, so that two texts can change
    places; a text is found as often as its edit says, or the fault is refused."""

    def __init__(self, sentence: str, *edits: Edit) -> None:
        self.sentence, self.edits = sentence, edits

    def planted(self, source: str) -> str:
        """The source with the fault in it. ValueError says which text is not there as often as it should be."""
        texts = {edit[0]: edit[1] for edit in self.edits}
        expected = {edit[0]: edit[2] if len(edit) == 3 else 1 for edit in self.edits}
        found: Counter[str] = Counter()

        def replaced(match: re.Match[str]) -> str:
            found[match[0]] += 1
            return texts[match[0]]

        edited = re.sub("|".join(re.escape(old) for old in sorted(texts, key=len, reverse=True)), replaced, source)
        for old, times in expected.items():
            if found[old] != times:
                raise ValueError(f"{old!r} stands {found[old]} times in the source, not {times}")
        return edited


class Mutants(Mapping[str, DeviceFunction]):
    """The broken variants of one helper, by the names of its faults; each has the helper's signature, and is made when
    it is asked for. faults: what is broken in them."""

    def __init__(self, family: str, helper: str, faults: Mapping[str, Fault]) -> None:
        self.family, self.helper, self.faults = family, helper, MappingProxyType(dict(faults))

    def source(self, fault: str) -> str:
        """The text of the helper's module with the fault in it. ValueError if the fault's edits do not fit it."""
        right = Path(__file__).with_name(f"{self.family}.py").read_text(encoding="utf-8")
        try:
            return self.faults[fault].planted(right)
        except ValueError as error:
            raise ValueError(f"fault {fault} of {self.helper} does not fit kernels/helpers/{self.family}.py: "
                             f"{error}") from None

    def __getitem__(self, fault: str) -> DeviceFunction:
        module = generated.load(self.source(fault), name=f"{self.family}_{fault}", lasting=True)
        function: DeviceFunction = getattr(module, self.helper)
        return function

    def __iter__(self) -> Iterator[str]:
        return iter(self.faults)

    def __len__(self) -> int:
        return len(self.faults)


MutantTable = Mapping[str, Mutants]


def mutant_table(family: str, faults: Mapping[str, Mapping[str, Fault]]) -> MutantTable:
    """A read-only table from helper to its broken variants. family: the module `kernels/helpers/<family>.py`.
    faults: by helper, then by name."""
    return MappingProxyType({helper: Mutants(family, helper, named) for helper, named in faults.items()})
