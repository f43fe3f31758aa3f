"""Workers give way to new ones after many kernels or cases, and when they have grown."""

import mmap
from collections.abc import Iterable

import pytest

from tridiff.fuzz.records import Outcome, Verdict
from tridiff.fuzz.workers import wear
from tridiff.fuzz.workers.wear import LOOK_EACH, MOST_GROWTH, RETIRE_AFTER, STEP, Wear


def outcome(kernels: int = 0) -> Outcome:
    return Outcome(case_digest="d", target="t", subject="own", backend="interpreter", verdict=Verdict.AGREE,
                   compiled_kernels=kernels)


def lasts(monkeypatch: pytest.MonkeyPatch, memory: Iterable[int], kernels: int = 0) -> int:
    """How many cases a worker runs whose memory is so large at one look after the other, and then stays."""
    looks, last = iter(memory), 0

    def held() -> int:
        nonlocal last
        last = next(looks, last)
        return last

    monkeypatch.setattr(wear, "held", held)
    one, cases = Wear(), 1
    while not one.spent(outcome(kernels)):
        cases += 1
    return cases


@pytest.mark.parametrize("kernels, cases", [(0, RETIRE_AFTER), (1, RETIRE_AFTER), (3, RETIRE_AFTER // 3)])
def test_a_case_that_compiles_nothing_wears_its_worker_too(
        monkeypatch: pytest.MonkeyPatch, kernels: int, cases: int):
    assert lasts(monkeypatch, [50 << 20], kernels) == cases


def test_a_worker_that_grows_is_replaced_before_it_has_run_that_many(monkeypatch: pytest.MonkeyPatch):
    each = 8 << 20
    looks = MOST_GROWTH // each + 2
    assert lasts(monkeypatch, range(50 << 20, 1 << 40, each)) == looks * LOOK_EACH < RETIRE_AFTER
    up_and_down = [(50 << 20) + MOST_GROWTH * (number % 2) // 4 for number in range(99)]
    assert lasts(monkeypatch, up_and_down) == RETIRE_AFTER


def test_what_is_imported_late_is_no_wear(monkeypatch: pytest.MonkeyPatch):
    imported = [50 << 20, (50 << 20) + STEP + 1, (50 << 20) + 3 * MOST_GROWTH]
    assert lasts(monkeypatch, imported) == RETIRE_AFTER
    assert lasts(monkeypatch, [*imported, imported[-1] + STEP, imported[-1] + 2 * STEP, imported[-1] + 3 * STEP]) == (
        (4 + MOST_GROWTH // STEP) * LOOK_EACH)


def test_memory_of_this_process_is_what_it_shares_with_nobody():
    before = wear.held()
    # Pages of its own: `bytearray` may get memory that the process had and gave back to itself.
    with mmap.mmap(-1, 40 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        assert abs(wear.held() - before) < (10 << 20), "what nobody has written to is held by nobody"
        pages[::mmap.PAGESIZE] = b"x" * len(pages[::mmap.PAGESIZE])
        assert (30 << 20) < wear.held() - before < (60 << 20)
