"""Other code counts if new processes make it as well; what each process makes in its own way is flaky."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.gate.test_two_builds import gate
from tests.support.builds import Edits, edited, installed
from tests.support.pairs import CASE, Side, observed, outcome
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.gate import settled
from tridiff.fuzz.pair.log import PairLine, PairLog, lines
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.workers.pool import TimeUp


def named(expression: str) -> Edits:
    """PTX has one more name, of which the end is an expression of Python's."""
    place = "        # Find kernel names"
    return {"backends/nvidia/compiler.py": (
        place, f"        ret += f'\\n.visible .global .b32 unused_{{{expression}}};\\n'\n{place}")}


SHARDS = (ShardSpec(index=0, target=CASE.target, subject="own", backend="interpreter", device=0, seed=1, seconds=1.0,
                    builds=("before", "after")),)


def pair(*sides: tuple[str, str]) -> PairPool:
    """Processes of both builds. sides: the code and the answer of each."""
    def side(code: str, answer: str) -> Side:
        return Side(lambda run: (outcome(Verdict.AGREE), observed(code={"ptx": code}, answers={"passes": answer})))

    return PairPool(*(side(*one) for one in sides))  # type: ignore[arg-type]


def settle(monkeypatch: pytest.MonkeyPatch, state: Path, first: PairPool, *later: PairPool, cases: int = 1,
           ) -> list[PairLine]:
    """The lines of a gate after cases on the first processes, and what is asked of later ones, round for round."""
    state.mkdir(exist_ok=True)
    log = PairLog(state, 0, first)
    for number in range(cases):
        case = replace(CASE, sizes={**CASE.sizes, "rows": 4 + number})
        log.note(case, "fuzz", first.execute(case, "own"), number)
    assert all(line.code_changed for line in lines(state))
    rounds = iter(later)

    def fresh(spec: ShardSpec, folder: Path) -> PairPool:
        found = next(rounds, None)
        if found is None:
            raise TimeUp
        assert folder != state and not list(folder.iterdir()), "what was compiled before is not taken from disk"
        (folder / "cache").touch()
        return found

    monkeypatch.setattr(settled, "pool_for", fresh)
    settled.settle(state, SHARDS)
    return list(lines(state))


def test_what_new_processes_make_as_well_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    found = [pair(("one", "1"), ("other", "2")) for _ in range(1 + settled.ROUNDS)]
    line, = settle(monkeypatch, tmp_path, *found)
    assert line.code_changed == ("ptx", "passes: no longer 1, now 2") and line.relation is Relation.SAME


@pytest.mark.parametrize(("now", "side"), [
    ((("other", "1"), ("one", "1")), "candidate"),  # as the other way round
    ((("one", "1"), ("one", "1")), "candidate"),
    ((("third", "1"), ("other", "1")), "baseline"),
])
def test_what_a_side_makes_otherwise_in_another_process_is_flaky(
        now: tuple[tuple[str, str], tuple[str, str]], side: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    as_before = (("one", "1"), ("other", "1"))
    line, = settle(monkeypatch, tmp_path, pair(*as_before), pair(*as_before), pair(*now), pair(*as_before))
    assert (line.relation, line.flaky, line.code_changed) == (Relation.FLAKY, side, ())
    assert line.reason == f"the {side} does not make the same in another process"


def test_what_else_differs_stands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    line, = settle(monkeypatch, tmp_path, pair(("one", "1"), ("other", "2")), pair(("third", "1"), ("other", "2")))
    assert (line.relation, line.code_changed) == (Relation.SAME, ("passes: no longer 1, now 2",))


def test_many_cases_and_those_for_which_there_is_no_time_stand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    first, now = pair(("one", "1"), ("other", "1")), pair(("one", "1"), ("one", "1"))
    many = settle(monkeypatch, tmp_path / "many", first, now, cases=settled.FEW + 1)
    assert [line.code_changed for line in many] == [("ptx",)] * (settled.FEW + 1)
    late = settle(monkeypatch, tmp_path / "late", pair(("one", "1"), ("other", "1")), now, cases=2)  # one has its turn
    assert [line.code_changed for line in late] == [(), ("ptx",)]


@pytest.mark.slow
def test_a_gate_runs_few_cases_of_other_code_in_new_processes(tmp_path: Path):
    """A name stands that all processes of a build choose; one that those of one parent share is flaky."""
    other = edited(tmp_path / "other", named("1"))
    run, said = gate(tmp_path, installed().parent, other, "--max-cases", "2", "--id", "one", backend="compile:sm_90")
    assert (run.returncode, said["verdict"], said["flaky"]) == (1, "do not upgrade", []), run.stderr
    before, after = (edited(tmp_path / name, named(expression)) for name, expression in (
        ("before", "os.getppid()"), ("after", "1 * os.getppid()")))
    run, said = gate(tmp_path, before, after, "--max-cases", "2", "--id", "two", backend="compile:sm_90")
    assert (run.returncode, said["verdict"], said["why"]) == (2, "could not check", []), run.stderr
    assert len(said["flaky"]) == 2 and "in another process" in said["flaky"][0]
