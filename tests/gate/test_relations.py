"""How two outcomes of one case stand to each other: the table of fuzz/gate/gate.md, line by line."""

import struct

import pytest

from tests.support.pairs import CASE, Side, fetching, observed, outcome
from tridiff.fuzz.pair.pool import CODE_AGAIN, LEAST_PATIENCE, REPEATS, PairPool
from tridiff.fuzz.pair.relate import Fetch, relate
from tridiff.fuzz.records import Environment, Outcome, Verdict
from tridiff.fuzz.records.observed import Observed
from tridiff.fuzz.records.pair import PairOutcome, Relation
from tridiff.fuzz.workers.pool import PoolOptions

AGREE, WRONG, CRASH, ERROR, UNKNOWN = (
    Verdict.AGREE, Verdict.DISAGREE, Verdict.CRASH, Verdict.COMPILE_ERROR, Verdict.NOT_CHECKED)
ONE, TWO = struct.pack("<4i", 1, 2, 3, 4), struct.pack("<4i", 1, 2, 3, 5)
NEVER = fetching(b"", b"")


def agreeing(*seen: Observed, fetch: Fetch = NEVER) -> PairOutcome:
    """What is said of a case that agrees on both sides."""
    return relate(CASE, outcome(AGREE), outcome(AGREE), seen, fetch)


@pytest.mark.parametrize("before, after, relation", [
    (AGREE, WRONG, Relation.REGRESSION), (AGREE, CRASH, Relation.REGRESSION), (AGREE, ERROR, Relation.REGRESSION),
    (AGREE, Verdict.HANG, Relation.REGRESSION), (WRONG, AGREE, Relation.FIXED), (CRASH, AGREE, Relation.FIXED),
    (WRONG, WRONG, Relation.BOTH), (CRASH, WRONG, Relation.DIFFERENT), (UNKNOWN, WRONG, Relation.NOT_CHECKED),
    (CRASH, UNKNOWN, Relation.NOT_CHECKED), (UNKNOWN, UNKNOWN, Relation.NOT_CHECKED),
])
def test_verdicts_decide_where_one_of_them_fails(before: Verdict, after: Verdict, relation: Relation):
    pair = relate(CASE, outcome(before), outcome(after), (observed(), observed()), NEVER)
    assert pair.relation is relation


def test_what_the_pair_is_told_by_is_the_side_that_fails():
    worse = relate(CASE, outcome(AGREE), outcome(CRASH, kind="SIGSEGV"), (None, None), NEVER)
    better = relate(CASE, outcome(CRASH, kind="SIGABRT"), outcome(AGREE), (None, None), NEVER)
    assert (worse.kind, better.kind) == ("SIGSEGV", "SIGABRT")
    assert worse.reason.startswith("right before, now crash") and better.reason.startswith("right now, before crash")


def test_both_wrong_with_other_values_is_not_both_alike():
    wrong = outcome(WRONG)
    assert relate(CASE, wrong, wrong, (observed(ONE), observed(ONE)), NEVER).relation is Relation.BOTH
    assert relate(CASE, wrong, wrong, (observed(ONE), observed(TWO)), NEVER).relation is Relation.DIFFERENT
    tolerant = (observed(ONE, rule="ULP"), observed(TWO, rule="ULP"))
    assert relate(CASE, wrong, wrong, tolerant, NEVER).relation is Relation.BOTH


@pytest.mark.parametrize("code, relation", [
    (({"ptx": "a"}, {"ptx": "a"}), Relation.IDENTICAL_CODE), (({"ptx": "a"}, {"ptx": "b"}), Relation.SAME),
    (({}, {}), Relation.SAME),
])
def test_equal_bits_are_the_same_and_equal_code_is_counted(code: tuple[dict[str, str], dict[str, str]],
                                                           relation: Relation):
    seen = (observed(ONE, code=code[0]), observed(ONE, code=code[1]))
    pair = agreeing(*seen)
    assert pair.relation is relation
    assert pair.code_changed == (("ptx",) if relation is Relation.SAME and code[0] else ())


def test_where_both_agree_exact_outputs_must_have_the_same_bits():
    pair = agreeing(observed(ONE), observed(TWO), fetch=fetching(ONE, TWO))
    assert pair.relation is Relation.CHANGED and "first at 3: 4 before, 5 now" in pair.reason


def test_what_no_reference_judged_is_compared_all_the_same():
    pair = relate(CASE, outcome(UNKNOWN), outcome(UNKNOWN), (observed(ONE), observed(TWO)), fetching(ONE, TWO))
    assert pair.relation is Relation.CHANGED
    assert relate(CASE, outcome(UNKNOWN), outcome(UNKNOWN), (observed(ONE), observed(ONE)),
                  NEVER).relation is Relation.SAME


def test_within_a_tolerance_other_bits_are_counted_and_no_finding():
    before, after = struct.pack("<2f", 1.0, 2.0), struct.pack("<2f", 1.0000001, 2.0)
    seen = tuple(observed(one, dtype="fp32", rule="ULP") for one in (before, after))
    pair = agreeing(*seen, fetch=fetching(before, after, dtype="fp32", rule="ULP"))
    assert pair.relation is Relation.NUMERIC and not pair.relation.different
    assert pair.numeric["out"].histogram == {"1": 1} and pair.numeric["out"].bias == 1


def test_a_nan_on_one_side_is_no_matter_of_a_tolerance():
    before, after = struct.pack("<f", 1.0), struct.pack("<f", float("nan"))
    seen = tuple(observed(one, dtype="fp32", rule="ULP") for one in (before, after))
    pair = agreeing(*seen, fetch=fetching(before, after, dtype="fp32", rule="ULP"))
    assert (pair.relation, pair.kind) == (Relation.CHANGED, "nan_unexpected")


def test_open_elements_are_changed_behaviour():
    given = {"dtype": "fp32", "rule": "ULP", "judged": b"\0\1"}
    before, after = struct.pack("<2f", 0.0, 1.0), struct.pack("<2f", -0.0, 1.0)
    seen = tuple(observed(one, dtype="fp32", rule="ULP") for one in (before, after))
    pair = agreeing(*seen, fetch=fetching(before, after, **given))
    assert (pair.relation, pair.kind) == (Relation.CHANGED, "open")


def test_outputs_in_no_fixed_order_are_held_against_their_bound_only():
    seen = (observed(ONE, unordered=True), observed(TWO, unordered=True))
    assert agreeing(*seen).relation is Relation.SAME


def test_another_type_of_output_is_changed_behaviour():
    seen = (observed(ONE), observed(ONE[:8]))
    pair = agreeing(*seen)
    assert (pair.relation, pair.reason) == (Relation.CHANGED, "out was 4 i32, now 2 i32")


def test_a_difference_that_does_not_come_when_it_is_fetched_is_flaky():
    pair = agreeing(observed(ONE), observed(TWO), fetch=fetching(ONE, ONE))
    assert pair.relation is Relation.FLAKY


@pytest.mark.parametrize("side", ["baseline", "candidate"])
def test_the_side_that_does_not_give_the_same_twice_is_named(side: str):
    right, wrong = (outcome(AGREE), observed(ONE)), (outcome(WRONG), observed(TWO))
    steady = right if side == "candidate" else wrong
    sides = {side: Side(lambda run: right if run % 3 else wrong),
             "candidate" if side == "baseline" else "baseline": Side(lambda run: steady)}
    if side == "baseline":
        sides[side] = Side(lambda run: wrong if run % 3 else right)
    pool = PairPool(sides["baseline"], sides["candidate"])  # type: ignore[arg-type]
    said = pool.execute(CASE, "own")
    assert said.verdict is UNKNOWN and pool.last is not None
    assert (pool.last.relation, pool.last.flaky) == (Relation.FLAKY, side)
    assert said.reason.startswith(f"the {side} does not give the same twice")


def test_a_difference_is_repeated_on_both_sides_once():
    before = Side(lambda run: (outcome(AGREE), observed(ONE)))
    after = Side(lambda run: (outcome(WRONG), observed(TWO)))
    pool = PairPool(before, after)  # type: ignore[arg-type]
    again = REPEATS["interpreter"]
    first = pool.execute(CASE, "own")
    assert first.verdict is WRONG and first.signature is not None
    assert first.signature.kind == "regression: value" and (before.runs, after.runs) == (1 + again, 1 + again)
    pool.execute(CASE, "own")
    assert (before.runs, after.runs) == (2 + again, 2 + again), "what came again each time is believed"
    assert pool.last is not None and pool.last.repeated == again


@pytest.mark.parametrize("worse", [True, False])
def test_a_smaller_case_is_asked_of_the_side_that_failed_first(worse: bool):
    good, bad = (outcome(AGREE), observed(ONE)), (outcome(WRONG), observed(TWO))
    failing = Side(lambda run: bad if run <= REPEATS["interpreter"] else good)
    steady = Side(lambda run: good)
    pool = PairPool(steady, failing) if worse else PairPool(failing, steady)  # type: ignore[arg-type]
    pool.execute(CASE, "own")
    before = steady.runs
    pool.shrinking = True
    assert pool.execute(CASE, "own").verdict is AGREE and pool.last is None
    assert steady.runs == before, "what does not fail any more is no difference"


def _pool(codes: tuple[str, str]) -> PairPool:
    """A baseline whose code is always "a", and a candidate with these codes in turn."""
    def side(answers: tuple[str, ...]) -> Side:
        return Side(lambda run: (outcome(AGREE), observed(code={"ptx": answers[run % len(answers)]})))

    return PairPool(side(("a",)), side(codes))  # type: ignore[arg-type]


def test_other_code_of_one_version_counts_if_it_comes_again():
    for codes, relation, changed in ((("b", "b"), Relation.SAME, ("ptx",)), (("b", "c"), Relation.FLAKY, ())):
        pool = _pool(codes)
        pool.execute(CASE, "own")
        assert pool.last is not None and (pool.last.relation, pool.last.code_changed) == (relation, changed)
        assert (pool.last.flaky == "candidate") is (relation is Relation.FLAKY)


@pytest.mark.parametrize(("again", "flaky"), [("b", ""), ("a", "candidate")])
def test_on_a_device_each_side_compiles_again(again: str, flaky: str):
    def side(*codes: str) -> Side:
        return Side(lambda run: (outcome(AGREE, backend="cuda"), observed(code={"ttgir": codes[min(run, 1)]})))

    before, after = side("a", "a"), side("b", again)
    pool = PairPool(before, after)  # type: ignore[arg-type]
    pool.execute(CASE, "own")
    assert pool.last is not None and (pool.last.flaky, bool(pool.last.code_changed)) == (flaky, not flaky)
    times = 1 if flaky else CODE_AGAIN
    assert (before.anew, after.anew, before.runs, after.runs) == (CODE_AGAIN, times, 1 + CODE_AGAIN, 1 + times)
    pool.execute(CASE, "own")
    assert after.anew == times, "what came again is believed"


@pytest.mark.parametrize(("changed", "left"), [(True, ("steady: no longer 1, now 2",)), (False, ())])
def test_an_answer_that_is_another_one_each_time_hides_no_other(changed: bool, left: tuple[str, ...]):
    def side(name: str, steady: str) -> Side:
        # Undefined memory may hold the same twice.
        return Side(lambda run: (outcome(AGREE), observed(answers={
            "steady": steady, "garbage": f"{name} {run // 2}"})))

    pool = PairPool(side("old", "1"), side("new", "2" if changed else "1"))  # type: ignore[arg-type]
    pool.execute(CASE, "own")
    assert pool.last is not None and pool.last.code_changed == left
    assert pool.last.relation is (Relation.SAME if changed else Relation.FLAKY)


class Compiler:
    """Stands in for a `Pool`: notes how long it may compile, and hangs where it has to."""

    def __init__(self, *, hangs: bool) -> None:
        self.options = PoolOptions(backend="compile:sm_90")
        self.compile_seconds = 0.0
        self.observed: Observed | None = None
        self.reached: tuple[int, ...] = ()
        self.imported: tuple[int, ...] = ()
        self.environment = Environment(triton="3.9.0", backend="compile:sm_90")
        self.limits: list[float | None] = []
        self._hangs = hangs

    def execute(self, case: object, subject: str, *, compile_limit: float | None, **given: object) -> Outcome:
        self.limits.append(compile_limit)
        self.observed = None if self._hangs else observed(code={"ttgir": "a"})
        return outcome(Verdict.HANG if self._hangs else Verdict.AGREE, backend="compile:sm_90")


def test_a_candidate_that_hangs_where_the_baseline_compiles_is_a_regression_and_has_its_own_limit():
    before, after = Compiler(hangs=False), Compiler(hangs=True)
    pool = PairPool(before, after)  # type: ignore[arg-type]
    pool.execute(CASE, "own", backend="compile:sm_90")
    assert pool.last is not None and pool.last.relation is Relation.REGRESSION
    assert set(before.limits) == {None} and set(after.limits) == {LEAST_PATIENCE}
    assert len(after.limits) == 2
