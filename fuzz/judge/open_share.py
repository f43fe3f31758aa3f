"""How much of what a case computes is judged at all: the share that the contract leaves open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from tridiff.fuzz.content.place import buffers_of
from tridiff.fuzz.judge.outputs import Inputs, call, defined_masks, judged_mask
from tridiff.fuzz.judge.untouched import untouched_masks
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find


@dataclass(frozen=True, kw_only=True)
class OpenShare:
    """Counts over the outputs of one case, or of several.

    elements, open_elements: of all outputs, and those that the contract leaves open (undefined, or with an infinite
    bound). An element that nothing may write is none of these: it must still hold what was there. outputs,
    open_outputs: with at least one element, and those that are open throughout.
    """

    elements: int = 0
    open_elements: int = 0
    outputs: int = 0
    open_outputs: int = 0

    def __add__(self, other: OpenShare) -> OpenShare:
        return OpenShare(
            elements=self.elements + other.elements, open_elements=self.open_elements + other.open_elements,
            outputs=self.outputs + other.outputs, open_outputs=self.open_outputs + other.open_outputs)

    @property
    def of_elements(self) -> float:
        """Share of elements that are open, 0 if there are none."""
        return self.open_elements / max(self.elements, 1)

    @property
    def of_outputs(self) -> float:
        """Share of outputs that are open throughout, 0 if there are none."""
        return self.open_outputs / max(self.outputs, 1)


def open_share(case: Case) -> OpenShare:
    """What the contract leaves open of one case. The inputs are made on the CPU and nothing is launched.

    Raises TridiffError for a case that cannot be run (unknown target, too large), and what the target's bounds raise
    for contents that they decline.
    """
    case.check()
    target = find(case.target)
    buffers = buffers_of(case)
    inputs = Inputs(case, buffers)
    bounds: dict[str, torch.Tensor] = {}
    for bound in target.judge.bounds(case):
        bounds |= dict(zip(bound.outputs, call(bound, case, inputs, None), strict=True))
    defined, untouched = defined_masks(case, target, inputs), untouched_masks(case, target, inputs)
    total = OpenShare()
    for name, buffer in buffers.items():
        size = buffer.logical.numel()
        if not buffer.is_output or not size:
            continue
        mask = judged_mask(defined, bounds, name, buffer.logical)
        opened = torch.zeros(buffer.shape, dtype=torch.bool)
        if mask is not None:
            opened = ~mask.reshape(mask.shape + (1,) * (opened.dim() - mask.dim())).expand(buffer.shape)
        if name in untouched:
            opened = opened & ~untouched[name]
        count = int(opened.sum())
        total += OpenShare(elements=size, open_elements=count, outputs=1, open_outputs=int(count == size))
    return total


def open_shares(cases: Iterable[Case]) -> OpenShare:
    """What the contract leaves open of several cases together."""
    return sum(map(open_share, cases), OpenShare())
