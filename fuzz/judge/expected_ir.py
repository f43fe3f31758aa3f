"""Check: the compiled kernel contains the operations of the IR that the case asks for.

Asked of launches whose values are right: a kernel from which an operation was lost may give wrong ones, and those have
signatures of their own.
"""

from collections.abc import Iterator

from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.judge.check import Found, Trial
from tridiff.fuzz.judge.ir import missing
from tridiff.fuzz.records import Verdict


def expected_ir(trial: Trial) -> Iterator[Found]:
    """The operations that the TTGIR lacks: a finding, or not checked where the compiler may fold them. A kernel with a
    planted fault need not have them, and one that was compiled before is not looked at."""
    judge = trial.target.judge
    if not judge.expected_ir or trial.planted or not trial.ttgir:
        return
    lacking = missing(trial.ttgir, tuple(sorted(resolve(judge.expected_ir)(trial.case))))
    if lacking:
        yield Found(
            verdict=Verdict.NOT_CHECKED if judge.expected_ir_may_fold else Verdict.DISAGREE, kind="missing_operation",
            where=lacking[0], reason=f"the compiled kernel has no {' '.join(lacking)}, which the case asks for")
