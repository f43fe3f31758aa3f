"""Wrong kernels through the compiler: refused for the reason, unless known; their legal relatives are taken."""

from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.statements.refused import REFUSED
from tridiff.fuzz.statements.refusing import case_of
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.refusal import Refusal

TARGET = "language.refusals"


def check_wrong_kernels_are_refused_and_right_ones_taken() -> None:
    pool = Pool(PoolOptions(backend="compile:sm_90", spare=False))
    try:
        for row in (*tuple(REFUSED)[::5], "index_tensor", "argmax_of_scalar"):
            for mended in (False, True):
                case = case_of(TARGET, Refusal(row=row, mended=mended), 0)
                outcome = pool.execute(case, "own")
                known = outcome.signature and any(one.tells(outcome.signature) for one in issues_of(case, "own"))
                assert outcome.verdict is Verdict.AGREE or known, (row, mended, outcome.reason)
    finally:
        pool.close()


def check_a_front_end_that_takes_everything_is_found_out() -> None:
    pool = Pool(PoolOptions(backend="compile:sm_90", spare=False))
    try:
        for row in ("index_slice", "range_not_power"):
            outcome = pool.execute(case_of(TARGET, Refusal(row=row), 0), "own+fault:nothing_refused")
            assert outcome.signature is not None and outcome.signature.kind == "accepted"
    finally:
        pool.close()
