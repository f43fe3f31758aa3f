"""How pairs of failures are counted, and that failures of planted faults of several kernels are told apart."""

import pytest

from tridiff.fuzz.bench.deduplication import Filed, filed, scored
from tridiff.fuzz.bench.failures import Laboratory, of_faults
from tridiff.fuzz.workers.pool import Pool, PoolOptions


def test_pairs_are_counted_over_all_failures() -> None:
    found = scored([Filed(cause="a", finding="1"), Filed(cause="a", finding="1"), Filed(cause="a", finding="2"),
                    Filed(cause="b", finding="2"), Filed(cause="c", finding="3")])
    assert (found.failures, found.causes, found.findings) == (5, 3, 3)
    assert (found.together, found.alike, found.both) == (2, 3, 1)
    assert (found.precision, found.recall) == (0.5, 1 / 3)


def test_two_causes_in_one_kernel_are_told_of_on_their_own() -> None:
    found = scored([Filed(cause="k x", place="k", finding="1"), Filed(cause="k y", place="k", finding="1"),
                    Filed(cause="k y", place="k", finding="1"), Filed(cause="m z", place="m", finding="1")])
    assert (found.together, found.both, found.near) == (6, 1, 2)
    assert found.precision == pytest.approx(1 / 6)
    assert found.precision_of_places == pytest.approx(1 / 4)


def test_no_failures_are_no_mistakes() -> None:
    found = scored([])
    assert (found.precision, found.precision_of_places, found.recall) == (1.0, 1.0, 1.0)


def test_faults_of_several_kernels_are_told_apart() -> None:
    pool = Pool(PoolOptions(backend="interpreter", spare=False))
    laboratory = Laboratory(lambda case, subject, backend: pool.execute(case, subject, backend=backend),
                            lambda case, backend: pool.inputs(case), runs=60, seconds=10)
    try:
        failures = list(of_faults(laboratory, targets=("triton.negate",), each=2, draws=12, seed=1))
    finally:
        pool.close()
    signatures = scored([filed(one, by="signature") for one in failures])
    patterns = scored([filed(one, by="pattern") for one in failures])
    assert patterns.causes == signatures.causes >= 2
    # What two faults of one kernel put in place of what is right tells them apart; their signatures need not.
    assert patterns.precision >= signatures.precision
    assert patterns.precision == 1.0
    # The names of the faults are hidden: what a campaign would print by itself.
    assert not any("fault:" in filed(one, by="pattern").finding for one in failures)
