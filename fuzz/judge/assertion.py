"""Check: a device assertion that must stop the launch did."""

from collections.abc import Iterator

import torch

from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.content.place import place
from tridiff.fuzz.judge.check import Found, Trial
from tridiff.fuzz.judge.outputs import evidence_of_inputs


def assertion_due(trial: Trial) -> bool:
    """Whether the contract wants the launch to end in a device assertion. Works on the CPU: the device may be unusable
    by now."""
    reference = trial.target.run.asserts(trial.case)
    if reference is None or not (trial.case.options.debug or trial.backend == "interpreter"):
        return False
    inputs = [place(trial.case.array(name), trial.case.sizes, device=torch.device("cpu")).values
              for name in reference.arguments]
    return bool(resolve(reference.function)(*inputs))


def missing_assertion(trial: Trial) -> Iterator[Found]:
    """The launch came to its end although an assertion must have stopped it."""
    if assertion_due(trial):
        yield Found(kind="assertion_missing", where="assertion",
                    reason="a device assertion that must stop the launch did not",
                    evidence=evidence_of_inputs(trial.case, trial.buffers))
