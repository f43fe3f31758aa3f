"""The known form in a program names a finding only if the smallest case still has it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.campaigns import shard_spec
from tests.support.fake_pool import FakePool, stand_in
from tests.unit.graphs.graphs import X, cast, load, op, store, vector
from tridiff.fuzz.campaign import hunt, shard
from tridiff.fuzz.campaign.findings import unfinished, write
from tridiff.fuzz.campaign.known import Known, provide, release_claims
from tridiff.fuzz.campaign.record import ShardResult
from tridiff.fuzz.corpus.cause import finding_of_entry
from tridiff.fuzz.kinds.graphs.arrays import graph_of
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.records import ArraySpec, Case, Content
from tridiff.fuzz.registry import find
from tridiff.kernels.codegen.graph import Cast, Node

each = pytest.mark.parametrize
TARGET = "inductor.programs_pointwise"


def program(*forms: str) -> Case:
    """A conversion to i16, and beside it operations of which each is a known form, the last of which is the label."""
    nodes: list[Node] = [load("in0"), cast(0, "i16"), store("out0", X, 1)]
    for number, form in enumerate(forms, 1):
        nodes += [op(form, *((0, 0) if form == "floor_divide" else (0,))), store(f"out{number}", X, len(nodes))]
    outputs = {f"out{number}": "fp32" for number in range(1, len(forms) + 1)}
    graph = vector(*nodes, in0="fp32", out0="i16", **outputs)
    arrays = tuple(ArraySpec(name=one.name, dtype=one.dtype, dims=(f"n_{one.name}",),
                             content=Content() if one.role == "in" else None) for one in graph.buffers)
    case = Case(target=TARGET, program=graph, sizes={f"n_{one.name}": one.length for one in graph.buffers},
                arrays=arrays)
    assert find(TARGET).draw.valid(case) and label(case) == (forms[-1] if forms else "")
    return case


def label(case: Case) -> str:
    return find(TARGET).judge.label(case)


def converts(case: Case) -> str:
    """The kind of failure of a conversion to i16, whatever stands beside it."""
    return "value" if any(isinstance(one, Cast) and one.dtype == "i16" for one in graph_of(case).nodes) else ""


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakePool]:
    class Pool(FakePool):
        failing = staticmethod(converts)

    stand_in(monkeypatch, Pool)
    return Pool


def run(state: Path, *cases: Case, **changes: object) -> ShardResult:
    spec = shard_spec(**{"target": TARGET, "max_cases": len(cases), "first": cases, **changes})
    result = shard.run_shard(spec, str(state))
    assert result.error == "" and result.counts.executed == len(cases)
    return result


def files(state: Path, folder: str = "findings") -> list[str]:
    return sorted(path.stem for path in (state / folder).glob("*.json"))


def test_the_smallest_case_is_without_a_form_that_has_nothing_to_do_with_the_failure(tmp_path: Path):
    (entry,) = run(tmp_path / "with", program("neg", "floor_divide")).findings
    (plain,) = run(tmp_path / "without", program()).findings
    assert (entry.id, entry.signature, entry.case, entry.title) == (plain.id, plain.signature, plain.case, plain.title)
    assert entry.signature.about == label(entry.case) == "" and entry.reproduced == "5/5"
    assert files(tmp_path / "with") == [entry.id] and files(tmp_path / "with", "unfinished") == []


def test_one_defect_beside_several_forms_is_one_finding(tmp_path: Path):
    result = run(tmp_path, program("neg"), program("floor_divide"), program("neg"), program())
    assert files(tmp_path) == [entry.id for entry in result.findings] and len(result.findings) == 1
    assert result.counts.disagree == 4


def test_one_difference_of_two_builds_beside_several_forms_is_one_finding(
        tmp_path: Path, fake: type[FakePool], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shard, "Pool", lambda options: (FakePool if options.build == "before" else fake)(options))
    (entry,) = run(tmp_path, program("neg"), program("floor_divide"), builds=("before", "after")).findings
    assert (entry.signature.kind, entry.signature.about, label(entry.case)) == ("regression: value", "", "")
    assert files(tmp_path) == [entry.id]


def test_what_the_corpus_has_without_a_form_is_known_beside_one_and_counted(tmp_path: Path):
    (entry,) = run(tmp_path / "before", program()).findings
    finding, state = finding_of_entry(entry), tmp_path / "now"
    state.mkdir()
    provide(state, Known(entries={finding: (entry,)}))
    first = run(state, program("neg"), program("neg"), program())
    assert first.findings == () and first.known_seen == {finding: 3}
    assert run(state, program("neg"), index=1).known_seen == {finding: 1}
    assert files(state) == files(state, "unfinished") == []


@each("at", ["write", "settle", "withdraw"])
def test_a_finding_that_is_renamed_survives_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str):
    class Killed(BaseException):
        pass

    def killing(state: Path, what: object) -> None:
        if at != "write" or what.signature.about == "":
            raise Killed
        write(state, what)

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(hunt, at, killing)
        run(tmp_path, program("neg"))
    assert files(tmp_path) and files(tmp_path, "unfinished")
    release_claims(tmp_path)
    for one in unfinished(tmp_path):
        shard.finish_finding(shard_spec(target=TARGET), str(tmp_path), one, 60.0)
    (plain,) = run(tmp_path / "without", program()).findings
    assert files(tmp_path) == [plain.id] and files(tmp_path, "unfinished") == []
    assert run(tmp_path, program("neg"), program("floor_divide"), program(), index=1).findings == ()
    assert files(tmp_path) == [plain.id]


def test_a_form_without_which_a_case_does_not_fail_names_its_finding(
        tmp_path: Path, fake: type[FakePool]):
    fake.failing = staticmethod(lambda case: "value" if label(case) in ("neg", "floor_divide") else "")
    entries = run(tmp_path, program("neg"), program("floor_divide")).findings
    assert [entry.signature.about for entry in entries] == ["neg", "floor_divide"]
    assert files(tmp_path) == sorted(entry.id for entry in entries)


def test_a_defect_of_a_form_is_not_lost_in_another_defect_beside_it(tmp_path: Path, fake: type[FakePool]):
    fake.failing = staticmethod(lambda case: "value" if label(case) == "neg" else converts(case))
    entries = run(tmp_path, program(), program("neg")).findings
    assert [entry.signature.about for entry in entries] == ["", "neg"]
    assert not converts(entries[1].case)


@each("issue_of", [lambda case: "" if label(case) else "another", lambda case: "the_same"])
def test_a_finding_keeps_the_form_if_a_known_issue_accounts_for_it_or_for_what_is_without(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, issue_of: Callable[[Case], str]):
    monkeypatch.setattr(Attribution, "issues", lambda self, case, outcome: tuple(filter(None, (issue_of(case),))))
    (entry,) = run(tmp_path, program("neg")).findings
    assert entry.signature.about == label(entry.case) == "neg"
