"""Checks: a device assertion that must stop the launch did, and one that may have to is in the compiled code."""

from collections.abc import Iterator

import torch
from msgspec import UNSET

from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.content.place import place
from tridiff.fuzz.judge.check import Found, Trial
from tridiff.fuzz.judge.outputs import evidence_of_inputs

_SUM_OF_A_WARP = "redux.sync.add"


def assertion_due(trial: Trial) -> bool | None:
    """Whether the contract wants the launch to end in a device assertion; None where it leaves that open. Works on the
    CPU: the device may be unusable by now."""
    reference = trial.target.run.asserts(trial.case)
    if reference is None or not (trial.case.options.debug or (
            trial.backend == "interpreter" and trial.case.options.sanitize_overflow is UNSET)):
        return False
    inputs = [trial.case if name == "@case" else
              place(trial.case.array(name), trial.case.sizes, device=torch.device("cpu")).values
              for name in reference.arguments]
    due = resolve(reference.function)(*inputs)
    return None if due is None else bool(due)


def missing_assertion(trial: Trial) -> Iterator[Found]:
    """The launch came to its end although an assertion must have stopped it."""
    if assertion_due(trial):
        yield Found(kind="assertion_missing", where="assertion",
                    reason="a device assertion that must stop the launch did not",
                    evidence=evidence_of_inputs(trial.case, trial.buffers))


def asserting_code(trial: Trial) -> Iterator[Found]:
    """The compiled code asserts something although nothing is to be checked, or nothing although some input is due, or
    it adds up a warp in one instruction, which asserts nothing. Asked of the last kernel; of its PTX where that is
    known, else of its TTGIR, where it is newly compiled."""
    judge = trial.target.judge
    wanted = resolve(judge.asserting)(trial.case) if judge.asserting else None
    report = trial.reports[-1] if trial.reports else None
    if wanted is None or report is None or not (report.ptx or report.ttgir):
        return
    stage, found = ("PTX", "__assertfail" in report.ptx) if report.ptx else ("TTGIR", "tt.assert" in report.ttgir)
    if wanted and found and _SUM_OF_A_WARP in report.ptx:
        yield Found(kind="assertion_lost", where="assertion",
                    reason=f"the PTX has {_SUM_OF_A_WARP} for additions that are to be checked")
    elif found != wanted and (report.ptx or not found):  # behind TTGIR, those that always hold are left out
        yield Found(kind="assertion_lost" if wanted else "assertion_unasked", where="assertion",
                    reason=f"the {stage} has {'no' if wanted else 'an'} assertion, the contract wants "
                           f"{'one' if wanted else 'none'}")
