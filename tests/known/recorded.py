"""Outputs that a corpus entry recorded on the device where it failed, put back into a rehearsed launch."""

from collections.abc import Mapping

import torch

from tridiff.fuzz.content import text
from tridiff.fuzz.content.generate import INT_VIEW
from tridiff.fuzz.known.rehearse import Rehearsal, rehearse
from tridiff.fuzz.records import CorpusEntry
from tridiff.oracles.bits import from_bits
from tridiff.oracles.dtypes import dtype as dtype_info


def rehearsed(entry: CorpusEntry) -> tuple[Rehearsal, dict[str, torch.Tensor]]:
    """The entry's case, and the outputs that its evidence lists whole."""
    rehearsal = rehearse(entry.case)
    found: dict[str, torch.Tensor] = {}
    for name, right in rehearsal.outputs().items():
        listed = entry.evidence.actual.get(name, ())
        if len(listed) == right.numel():
            found[name] = values(listed, entry.case.array(name).dtype).reshape(right.shape)
    return rehearsal, found


def taken_for(rehearsal: Rehearsal, outputs: Mapping[str, torch.Tensor], *, subject: str = "own") -> tuple[str, ...]:
    """The known issues that a launch is taken for which left these outputs, some of them wrong."""
    judged, names = rehearsal.judged(outputs, subject=subject)
    assert judged.verdict.failed
    return names


def values(listed: tuple[str, ...], dtype: str) -> torch.Tensor:
    """The elements that texts denote."""
    patterns = torch.tensor([(text.to_bits(one, dtype) + (1 << 63)) % (1 << 64) - (1 << 63) for one in listed],
                            dtype=torch.int64)
    if dtype == "i1":
        return patterns != 0
    return from_bits(patterns.to(INT_VIEW[dtype_info(dtype).storage_bits]), dtype)
