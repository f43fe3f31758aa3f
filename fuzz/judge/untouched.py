"""Check: elements of outputs to which no program stores are as they were: the gaps between strided stores.

It is asked of launches whose values are right: wrong values have signatures of their own.
"""

from collections.abc import Iterator, Mapping

import torch

from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.judge.check import Found, Trial
from tridiff.fuzz.judge.outputs import Inputs, call, evidence_of_inputs
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Reference, Target
from tridiff.oracles.dtypes import dtype


def untouched_masks(case: Case, target: Target, inputs: Inputs) -> dict[str, torch.Tensor]:
    """Per output, the elements that must still hold what the harness put there; outputs without any are left out."""
    found = target.judge.untouched(case)
    if found is None:
        return {}
    function, names = found
    masks = call(Reference(source="torch", function=function, arguments=names), case, inputs, None)[0]
    return {name: mask for name, mask in masks.items() if bool(mask.any())}


def stray_write(buffers: Mapping[str, Buffer], masks: Mapping[str, torch.Tensor]) -> tuple[str, str, str] | None:
    """(kind, output, reason) of the first output in which a launch wrote where it must not.

    A NaN in place of the NaN that was put there counts as untouched, and any true byte in place of another: a launch
    that hands back a copy of the whole buffer may change which.
    """
    for name, mask in masks.items():
        buffer = buffers[name]
        changed = buffer.logical != buffer.poison
        kind = dtype(buffer.spec.dtype)
        if kind.kind == "bool":
            changed = buffer.logical == 0
        elif kind.is_float and kind.bits >= 16:
            changed &= ~torch.isnan(buffer.typed())
        count = int((changed & mask.to(changed.device)).sum())
        if count:
            return "stray_write", name, f"{count} elements of {name} that nothing stores were written"
    return None


def strays(trial: Trial, buffers: Mapping[str, Buffer]) -> Iterator[Found]:
    """A write of one launch to an element that nothing stores."""
    if trial.expected.untouched is None:
        trial.expected.untouched = untouched_masks(trial.case, trial.target, Inputs(trial.case, trial.buffers))
    found = stray_write(buffers, trial.expected.untouched)
    if found is not None:
        kind, where, reason = found
        yield Found(kind=kind, where=where, reason=reason, evidence=evidence_of_inputs(trial.case, buffers))


def untouched(trial: Trial) -> Iterator[Found]:
    """A stray write of the first launch."""
    yield from strays(trial, trial.buffers)
