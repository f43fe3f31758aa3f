"""Check: memory outside the arrays, and inputs, are as they were before the launch."""

from collections.abc import Iterator

import torch

from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.judge.check import Found, Trial
from tridiff.fuzz.judge.outputs import evidence_of_inputs


def trespasses(trial: Trial, buffers: dict[str, Buffer]) -> Iterator[Found]:
    """The first array around which, or into which, a launch wrote where it must not; asked after every launch. One
    synchronisation for all arrays."""
    names = list(buffers)
    counts = torch.stack([count for name in names for count in (
        buffers[name].trespass_count(), buffers[name].overwritten_count())]).tolist()
    for name, outside, changed in zip(names, counts[::2], counts[1::2], strict=True):
        if outside:
            kind, reason = "out_of_bounds", f"{outside} elements outside array {name} were written"
        elif changed and name not in trial.target.run.written:
            kind, reason = "input_overwritten", f"{changed} elements of input {name} were written"
        else:
            continue
        yield Found(kind=kind, where=name, reason=reason, evidence=evidence_of_inputs(trial.case, buffers))
        return


def trespass(trial: Trial) -> Iterator[Found]:
    """What the first launch wrote where it must not."""
    yield from trespasses(trial, trial.buffers)
