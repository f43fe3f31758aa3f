"""From the pairs of a gate to its verdict."""

from pathlib import Path

import msgspec
import pytest

from tests.gate.test_plan import ENTRIES, entry, options
from tests.support.cases import addition
from tests.support.pairs import CASE, Side as Answers, keep, observed, outcome
from tridiff.fuzz.builds.alike import Alike
from tridiff.fuzz.campaign.gathered import NO_TIME
from tridiff.fuzz.campaign.record import Counts, ShardSpec, Summary, TargetCounts
from tridiff.fuzz.gate import judge
from tridiff.fuzz.gate.judge import judged
from tridiff.fuzz.gate.markdown import markdown
from tridiff.fuzz.gate.plan import gate_shards
from tridiff.fuzz.gate.policy import Policy, read
from tridiff.fuzz.gate.record import ApiChange, GateSummary, Side, SweepComparison
from tridiff.fuzz.pair.log import PairLine
from tridiff.fuzz.pair.pool import PairPool
from tridiff.fuzz.pair.relate import relate
from tridiff.fuzz.records import Case, CorpusEntry, Outcome, Verdict
from tridiff.fuzz.records.observed import Observed
from tridiff.fuzz.records.pair import Numeric, PairOutcome, Relation
from tridiff.fuzz.workers.pool import DIE_STARTING, NoWorker

ASKED = options(targets=("triton.vector_add",), backends=("compile:sm_90",))
RAN = (TargetCounts(target="triton.vector_add", subject="own", backend="compile:sm_90", counts=Counts(executed=9)),)


def line(relation: Relation = Relation.SAME, **changes: object) -> PairLine:
    return PairLine(**{"number": 0, "target": "triton.vector_add", "backend": "compile:sm_90", "relation": relation,
                       **changes})


def verdict(state: Path, *lines: PairLine, findings: tuple[CorpusEntry, ...] = (), corpus: tuple[CorpusEntry, ...] = (),
            policy: Policy | None = None, api: tuple[ApiChange, ...] = (), sweeps: SweepComparison | None = None,
            versions: tuple[str, str] = ("3.6.0", "3.9.0"), shards: tuple[ShardSpec, ...] = gate_shards(ASKED, ()),
            **summary: object) -> GateSummary:
    told = [msgspec.structs.replace(one, number=number) for number, one in enumerate(lines)]
    (state / "pairs-00000.jsonl").write_bytes(b"\n".join(msgspec.json.encode(one) for one in told))
    came = Summary(**{"id": "one", "options": ASKED, "environments": (), "counts": Counts(), "by_target": RAN,
                      **summary})
    return judged(came, findings, state=state, policy=policy or read(), baseline=Side(name="a", triton=versions[0]),
                  candidate=Side(name="b", triton=versions[1]), api=api, seconds=1.0, shards=shards,
                  corpus=corpus, sweeps=sweeps)


def test_nothing_apart_is_an_upgrade(tmp_path: Path):
    found = verdict(tmp_path, line(), line(Relation.IDENTICAL_CODE, launched=False))
    assert (found.verdict, found.exit_status, found.pairs, found.identical_code, found.not_launched) == (
        "upgrade", 0, 2, 1, 1)


def test_no_pair_at_all_is_no_upgrade(tmp_path: Path):
    assert verdict(tmp_path).verdict == "could not check"
    found = verdict(tmp_path, line(Relation.NOT_CHECKED, reason="no gather"),
                    line(Relation.FLAKY, reason="now and then"))
    assert (found.verdict, found.exit_status, found.not_checked) == ("could not check", 2, 2)
    assert found.not_checked_reasons == {"no gather": 1, "flaky": 1}


@pytest.mark.parametrize("change", [{"errors": ("lost",)}, {"interrupted": True}, {
    "by_target": (), "left_out": {NO_TIME: ("triton.vector_add on compile:sm_90",)}}])
def test_work_that_was_not_done_is_no_upgrade(tmp_path: Path, change: dict[str, object]):
    found = verdict(tmp_path, line(), **change)
    assert found.verdict == "could not check"
    assert bool(found.floor_missed) is ("by_target" in change)


@pytest.mark.parametrize(("changed", "versions", "found"), [
    (0, ("3.9.0", "3.9.0"), "upgrade"), (1, ("3.9.0", "3.9.0"), "could not check"),
    (None, ("3.9.0", "3.9.0"), "could not check"), (0, ("3.6.0", "3.9.0"), "could not check")])
def test_no_floor_is_due_between_the_same_files(tmp_path: Path, changed: int | None, versions: tuple[str, str],
                                                found: str):
    options = msgspec.structs.replace(ASKED, alike=Alike(changed=changed))
    left_out = {NO_TIME: ("triton.vector_add on compile:sm_90",)}
    assert verdict(tmp_path, line(), versions=versions, by_target=(), left_out=left_out,
                   options=options).verdict == found


def test_what_a_build_lacks_is_left_out_and_not_missed(tmp_path: Path):
    found = verdict(tmp_path, line(), by_target=(), left_out={"no such chip": ("triton.vector_add on compile:sm_90",)})
    assert (found.verdict, found.floor_missed) == ("upgrade", ())


@pytest.mark.parametrize(("alike", "same", "unchecked", "told"), [(8, 2, 5, True), (7, 3, 0, False), (9, 0, 9, False)])
def test_where_hardly_anything_is_right_in_either_build_it_is_said_with_what_both_say(
        tmp_path: Path, alike: int, same: int, unchecked: int, told: bool):
    found = verdict(tmp_path, *[line(Relation.BOTH, kind="crash", reason="KeyError: 'cpu' at 0x7f")] * alike,
                    *[line()] * same, *[line(Relation.NOT_CHECKED, reason="no gather")] * unchecked)
    said = {"fails alike in both builds: KeyError: 'cpu' at n": ("triton.vector_add on compile:sm_90",)}
    assert (found.verdict, found.left_out) == ("upgrade", said if told else {})


def test_cases_of_the_corpus_may_fail_alike(tmp_path: Path):
    failing = [line(Relation.BOTH, kind="value", reason="1 of 8 rows")] * 20
    drawn = gate_shards(ASKED, ())
    listed = tuple(msgspec.structs.replace(spec, first=(CASE,)) for spec in drawn if spec.index == 0)
    assert verdict(tmp_path, line(), *failing, shards=drawn).left_out
    assert not verdict(tmp_path, line(), *failing, shards=listed).left_out


def test_a_candidate_whose_workers_do_not_start_blocks_and_a_baseline_whose_do_not_proves_nothing(
        tmp_path: Path):
    told = "ValueError: numpy data itemsize (8 bits) exceeds 1 bit"

    def dies(run: int) -> tuple[Outcome, Observed | None]:
        raise NoWorker(f"{DIE_STARTING}: {told}")

    def said(baseline: Answers, candidate: Answers) -> str:
        with pytest.raises(NoWorker) as raised:
            PairPool(baseline, candidate).execute(CASE, "own")  # type: ignore[arg-type]
        return f"triton.vector_add on interpreter: {raised.value}"

    stands = Answers(lambda run: (outcome(Verdict.AGREE), observed()))
    found = verdict(tmp_path, line(), errors=("lost", said(stands, Answers(dies))))
    assert found.verdict == "do not upgrade" and told in found.why[0] and "of the candidate" in found.why[0]
    assert verdict(tmp_path, line(), errors=(said(Answers(dies), stands),)).verdict == "could not check"


def related(case: Case, before: Verdict, after: Verdict, backend: str) -> PairOutcome:
    sides = [outcome(verdict, kind="SIGSEGV", case=case, backend=backend) for verdict in (before, after)]
    return relate(case, *sides, (None, None), lambda chunks: (None, None))  # type: ignore[arg-type]


@pytest.mark.parametrize("backend, found", [("compile:sm_90", "do not upgrade"), ("interpreter", "upgrade")])
def test_what_one_backend_fixes_is_no_excuse_for_another(tmp_path: Path, backend: str, found: str):
    case = addition(rows=3)
    keep(tmp_path, related(case, Verdict.AGREE, Verdict.CRASH, "compile:sm_90"),
         related(case, Verdict.CRASH, Verdict.AGREE, "interpreter"))
    assert verdict(tmp_path, line(), findings=(entry(case, backend),)).verdict == found


def test_a_regression_blocks_whatever_else_was_lost(tmp_path: Path):
    case = addition(rows=3)
    keep(tmp_path, related(case, Verdict.AGREE, Verdict.CRASH, "compile:sm_90"))
    kept = entry(case, "compile:sm_90")
    found = verdict(tmp_path, line(Relation.REGRESSION), findings=(kept,), errors=("lost",))
    assert (found.verdict, found.regressions, found.exit_status) == ("do not upgrade", 1, 1)
    assert found.guards[0].entry == kept.id and found.findings[0].entry.signature.kind == "SIGSEGV"
    assert "right before, now crash" in markdown(found)
    wanted = msgspec.structs.replace(kept, status="flaky", reproduced="2/5")
    flaky = verdict(tmp_path, line(), findings=(wanted,))
    assert (flaky.verdict, flaky.regressions) == ("upgrade", 0) and "2/5" in flaky.flaky[0]


def test_differences_of_one_pattern_are_one_line_and_every_one_of_them_counts(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def alike(new: list[CorpusEntry], stored: tuple[CorpusEntry, ...]) -> dict[str, str]:
        return {one.id: f"{new[0].case.target}/{new[0].id}" for one in new[1:] if one.title == new[0].title}

    monkeypatch.setattr(judge, "proposed", alike)
    cases = [addition(rows=rows) for rows in (3, 4, 5)]
    keep(tmp_path, *(related(case, Verdict.AGREE, Verdict.CRASH, "compile:sm_90") for case in cases))
    one, two, other = sorted((entry(case, "compile:sm_90") for case in cases), key=lambda kept: kept.id)
    other = msgspec.structs.replace(other, title="another")
    found = verdict(tmp_path, line(Relation.REGRESSION), findings=(one, two, other))
    assert found.proposed == {two.id: f"triton.vector_add/{one.id}"} and found.regressions == 3
    told = [text for text in found.why if text.startswith("regression: ")]
    assert len(told) == 2 and sum(text.endswith("(and 1 of the same pattern)") for text in told) == 1
    assert f"(the pattern of triton.vector_add/{one.id})" in markdown(found)


def test_newly_out_of_resources_is_a_regression():
    def pair(before: int, after: int) -> Relation:
        made = [outcome(Verdict.AGREE, backend="compile:sm_90") for _ in range(2)]
        seen = tuple(observed(code={"ptx": str(shared)}, resources={"shared": shared}) for shared in (before, after))
        return relate(CASE, *made, seen, lambda chunks: (None, None)).relation  # type: ignore[arg-type]

    fits, large = 227 << 10, (227 << 10) + 1
    assert (pair(fits, large), pair(large, fits), pair(fits, 5), pair(large, large + 1)) == (
        Relation.REGRESSION, Relation.FIXED, Relation.SAME, Relation.SAME)
    refused = outcome(Verdict.NOT_CHECKED, reason="OutOfResources: out of resource: shared memory")
    assert relate(CASE, outcome(Verdict.AGREE), refused, (None, None), lambda chunks: (None, None)).kind == (
        "out_of_resources")
    assert read().action(Relation.REGRESSION, verdict="not_checked", kind="out_of_resources") == "block"


def test_a_bias_within_the_tolerance_needs_a_guard(tmp_path: Path):
    one_sided = Numeric(elements=9000, histogram={"1": 1500}, bias=1500)
    found = verdict(tmp_path, line(Relation.NUMERIC, numeric={"out": one_sided}))
    assert found.verdict == "upgrade with guards" and "100% of them to one side" in found.why[0]
    even = msgspec.structs.replace(one_sided, bias=40)
    assert verdict(tmp_path, line(Relation.NUMERIC, numeric={"out": even})).verdict == "upgrade"


def test_lost_names_need_a_guard(tmp_path: Path):
    lost, gained = (ApiChange(name="tl.x", before="()", after=""), ApiChange(name="tl.y", before="", after="()"))
    assert verdict(tmp_path, line(), api=(lost, gained)).verdict == "upgrade with guards"
    assert verdict(tmp_path, line(), api=(gained,)).verdict == "upgrade"


def test_times_cells_and_resources_are_totals_over_the_same_cases(tmp_path: Path):
    found = verdict(
        tmp_path, line(seconds=(3.0, 5.0), compiling=(2.0, 4.0), cells=(("a", "b"), ("b", "c")),
                       resources={"registers": (32, 96)}),
        line(seconds=(1.0, 1.0), compiling=(0.5, 0.5), cells=(("c",), ()), resources={"registers": (64, 32)}),
        line(Relation.BOTH, seconds=(9.0, 90.0), compiling=(9.0, 90.0)))
    assert (found.compile_seconds, found.launch_seconds) == ((2.5, 4.5), (1.5, 1.5))
    assert found.cells == {"lost": ("a",)} and found.cell_numbers == {"lost": 1}
    assert (found.resources["registers"].more, found.resources["registers"].less) == (1, 1)
    assert found.resources["registers"].largest == 3.0


def test_each_target_has_the_time_that_it_took_over_all_subjects(tmp_path: Path):
    ran = tuple(TargetCounts(target="triton.vector_add", subject=subject, backend=backend,
                             counts=Counts(executed=1, busy_seconds=busy, shrink_seconds=1.0))
                for subject, backend, busy in (("own", "compile:sm_90", 3.0), ("inductor", "compile:sm_90", 4.0),
                                               ("own", "compile:sm_80", 9.0), ("own", "interpreter", 50.0)))
    (found,) = verdict(tmp_path, line(), by_target=ran).targets
    assert (found.seconds, found.shrinking) == (7.0, 2.0)


def test_slower_compilers_are_told_where_the_policy_asks(tmp_path: Path):
    (tmp_path / "policy.toml").write_text('[compile_time]\naction = "guard"\nleast_seconds = 2\n')
    slow = line(seconds=(3.0, 5.0), compiling=(2.0, 4.0))
    assert verdict(tmp_path, slow).verdict == "upgrade"
    assert verdict(tmp_path, slow, policy=read(tmp_path / "policy.toml")).why == (
        "compile time: 4 s where the baseline takes 2 s",)


def test_corpus_entries_without_a_pair_are_named(tmp_path: Path):
    had = line(digest=ENTRIES[0].case.digest)
    assert verdict(tmp_path, had, corpus=ENTRIES[:2]).entries_left_out == (ENTRIES[1].id,)


SAME_RELEASE = ("3.9.0", "3.9.0")


def test_other_code_of_one_release_blocks_and_says_where(tmp_path: Path):
    apart = line(code_changed=("ttgir", "ptx"), compiled=True)
    found = verdict(tmp_path, apart, apart, line(compiled=True), versions=SAME_RELEASE)
    assert (found.verdict, found.exit_status) == ("do not upgrade", 1)
    assert found.why == ("code: another ttgir, ptx for identical input in 2 of 3 cases, of two builds of one version: "
                         "triton.vector_add",)
    assert (found.code.cases, found.code.compared, found.code.stages) == (2, 3, {"ttgir": 2, "ptx": 2})
    assert "2 of 3 cases (ttgir 2, ptx 2)" in markdown(found)


def test_what_one_of_two_builds_of_a_release_refuses_or_names_otherwise_blocks(tmp_path: Path):
    case = addition(rows=3)
    keep(tmp_path, related(case, Verdict.AGREE, Verdict.COMPILE_ERROR, "compile:sm_90"))
    kept, changed = entry(case, "compile:sm_90"), ApiChange(name="tl.sum", before="(x)", after="()")
    for versions, refused, named in ((SAME_RELEASE, "do not upgrade", "do not upgrade"),
                                     (("3.6.0", "3.9.0"), "upgrade with guards", "upgrade with guards")):
        assert verdict(tmp_path, line(), findings=(kept,), versions=versions).verdict == refused
        assert verdict(tmp_path, line(), api=(changed,), versions=versions).verdict == named


def test_other_code_of_another_release_is_what_one_waits_for(tmp_path: Path):
    apart = line(code_changed=("ptx",), compiled=True)
    found = verdict(tmp_path, apart)
    assert (found.verdict, found.why, found.code.cases) == ("upgrade", (), 1)
    (tmp_path / "policy.toml").write_text('[code]\nother_release = "guard"\n')
    assert verdict(tmp_path, apart, policy=read(tmp_path / "policy.toml")).verdict == "upgrade with guards"


def test_equal_code_of_one_release_is_quiet(tmp_path: Path):
    same = line(Relation.IDENTICAL_CODE, compiled=True)
    assert verdict(tmp_path, same, same, versions=SAME_RELEASE).verdict == "upgrade"


def test_a_pass_that_is_gone_is_named(tmp_path: Path):
    seen = (observed(code={"ptx": "a"}, answers={"passes of ttgir": "coalesce; cse; coalesce; licm"}),
            observed(code={"ptx": "a"}, answers={"passes of ttgir": "coalesce; cse; licm"}))
    pair = relate(CASE, outcome(Verdict.AGREE), outcome(Verdict.AGREE), seen, lambda chunks: (None, None))
    assert (pair.relation, pair.code_changed) == (Relation.SAME, ("passes of ttgir: no longer coalesce",))
    found = verdict(tmp_path, line(code_changed=pair.code_changed, compiled=True), versions=SAME_RELEASE)
    assert found.why == ("code: passes of ttgir: no longer coalesce (1 cases, of two builds of one version)",)


@pytest.mark.parametrize("after, told", [("b; a", "in another order"), ("a; c", "no longer b, now c")])
def test_answers_that_differ_say_how(after: str, told: str):
    seen = observed(answers={"hooks": "a; b"}), observed(answers={"hooks": after})
    pair = relate(CASE, outcome(Verdict.AGREE), outcome(Verdict.AGREE), seen, lambda chunks: (None, None))
    assert pair.code_changed == (f"hooks: {told}",)
