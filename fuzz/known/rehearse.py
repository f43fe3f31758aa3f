"""Launches that never ran: the right outputs of a case, and what the judges say once some of them are wrong.

Whether a defect would be seen beside a known one can be asked without a device that has either.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from tridiff.fuzz.content.place import Buffer, buffers_of
from tridiff.fuzz.judge.outputs import Expectations, Judged, judge_outputs
from tridiff.fuzz.known.explain import explained_launch
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Target
from tridiff.oracles.bits import to_bits


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """A case with its arrays on the CPU; the outputs hold what the first oracle that answers all of them says."""

    case: Case
    target: Target
    buffers: Mapping[str, Buffer]
    expected: Expectations

    def outputs(self) -> dict[str, torch.Tensor]:
        """A copy of every output, in its own type."""
        return {name: buffer.typed().clone() for name, buffer in self.buffers.items() if buffer.is_output}

    def judged(self, outputs: Mapping[str, torch.Tensor], *, subject: str = "own") -> tuple[Judged, tuple[str, ...]]:
        """What is said of a launch of `subject` that left `outputs`: the judgement, and the names of the known issues
        that explain all that is wrong. Outputs that are not given stay as they are."""
        for name, values in outputs.items():
            write(self.buffers[name], values)
        judged = judge_outputs(self.case, self.target, dict(self.buffers), self.expected)
        names: tuple[str, ...] = ()
        if judged.verdict.failed:
            names = next(iter(explained_launch(
                self.case, self.target, subject, self.buffers, self.expected, judged)), ())
        return judged, names


def write(buffer: Buffer, values: torch.Tensor) -> None:
    """Put `values`, of the buffer's shape and type, where a kernel would."""
    bits = values.to(torch.uint8) if values.dtype == torch.bool else to_bits(values)
    buffer.logical.copy_(bits.view(buffer.storage.dtype) if bits.element_size() == buffer.storage.element_size()
                         else bits.to(buffer.storage.dtype))


def rehearse(case: Case) -> Rehearsal:
    """Materialise a case on the CPU and fill its outputs with what is expected of them, of several right answers with
    the first; nothing is launched.

    An output that no oracle answers as a whole, or in another type, keeps its poison.
    """
    case.check()
    target = find(case.target)
    buffers = buffers_of(case)
    expected = Expectations()
    judge_outputs(case, target, buffers, expected)
    for name, answers in (expected.answers or {}).items():
        buffer = buffers[name]
        like = buffer.typed()
        several = target.judge.rules(case)[name].kind == "SET"
        for answer in answers:
            values = answer.values[0] if several else answer.values
            if answer.rows is None and values.shape == like.shape:
                if values.dtype != like.dtype and values.is_floating_point() and like.is_floating_point():
                    values = values.to(like.dtype)
                if values.dtype == like.dtype:
                    write(buffer, values)
                    break
    return Rehearsal(case, target, buffers, expected)
