"""Records as campaigns and gates leave them, small, with hostile text wherever text can come from outside."""

from pathlib import Path

from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tridiff.fuzz.campaign import history
from tridiff.fuzz.campaign.record import Counts, IssueCounts, ProgramRate, Summary, TargetCounts
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.coverage.show import write_ledger
from tridiff.fuzz.gate.record import (
    ApiChange,
    GateFinding,
    GateSummary,
    Guard,
    Resource,
    Side,
    SweepChange,
    SweepComparison,
    TargetPairs,
)
from tridiff.fuzz.records import CorpusEntry, Environment, pretty_json, pretty_json_without_defaults
from tridiff.fuzz.records.pair import Numeric, Relation
from tridiff.fuzz.report.model import Report, Script
from tridiff.fuzz.report.record import find_record, keep_entries, keep_scripts, report_of

ROOT = Path(__file__).resolve().parents[3]
CORPUS = Corpus(ROOT / "corpus")

HOSTILE = ("</script><script>document.title='owned'</script>\"'><img src=x onerror=alert(1)> `|*_ & ]]> "
           "\u202etxt.exe\x07\x00")
"""Ends a script, an attribute, a cell of a table, a block of XML; turns text around; rings a bell."""

HERE = Environment(tridiff="0.1.0", python="3.12.3", triton="3.9.0", torch="2.13.0", numpy="2.4", backend="cuda",
                   device="NVIDIA H200", capability="9.0", driver="580.1", ptxas="13.4")

SCRIPT = Script(text="import torch\n\nprint('BUG' if 1 < 2 & 3 else 'OK')\n", note="run here it says BUG")
DAY = 86400.0
BEGAN = 20_000 * DAY


def entry(name: str, **changes: object) -> CorpusEntry:
    """An entry of the corpus, changed."""
    return replace(CORPUS.find(name), **changes)


def of(folder: Path) -> Report:
    """The report of a record."""
    return report_of(find_record(str(folder), folder.parent), corpus=CORPUS)


def target(name: str, *, backend: str = "cuda", subject: str = "own", **counts: int | float) -> TargetCounts:
    return TargetCounts(target=name, subject=subject, backend=backend, counts=Counts(**counts))


def night(reports: Path, *, name: str = "20261122-200000-cuda-001", new: tuple[CorpusEntry, ...] = (),
          **changes: object) -> Path:
    """The record of a night with one known issue, one entry that stopped failing, and a target left out."""
    counts = Counts(executed=1200, agree=1150, disagree=20, compile_error=10, not_checked=20, row_inputs=2_500_000,
                    launches=2400, compiled_kernels=900, busy_seconds=480.0, compile_seconds=380.0, judge_seconds=20.0,
                    shrink_seconds=12.0)
    summary = Summary(**{
        "id": name, "options": campaign_options(seconds=60.0, backends=("cuda",), workers=8, seed=7),
        "environments": (HERE,), "counts": counts, "seconds": 61.5,
        "new_findings": tuple(one.id for one in new), "known_findings": ("issue negation-by-subtraction",),
        "stopped_failing": ("illegal-address-7f92aee734",),
        "issues": {"triton.negate own": {"negation-by-subtraction": IssueCounts(failed=9, explained=8)}},
        "by_target": (target("triton.negate", executed=500, agree=480, disagree=20, row_inputs=9000, busy_seconds=9.5),
                      target("codegen.mixed", executed=600, agree=590, not_checked=10, compiled_kernels=700),
                      target("helpers.frexp", backend="compile:sm_90", executed=90, agree=90),
                      target("gluon.fp4", executed=10, not_checked=10)),
        "not_checked_reasons": {"the contract leaves every row open": 12, "oracle_conflict: n rows of out": 8},
        "left_out": {"this Triton has no Gluon function for TMA reductions": ("tma.reduce on cuda",)},
        "programs": ProgramRate(distinct=580, per_second=9.5, accepted=0.99, to_nearest_public=1.9), **changes})
    folder = reports / name
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text(pretty_json_without_defaults(summary, only_in_rows=True))
    write_ledger(folder, ledger())
    keep_entries(folder, new)
    keep_scripts(folder, {one.id: SCRIPT for one in new})
    return folder


def ledger(*more: str, triton: str = "3.9.0") -> Ledger:
    """What a night reached, and `more` cells of codegen.mixed."""
    mixed = {**{f"op=add dtype=i{k}": 3 for k in range(40)}, **{f"expr=e{k}": 1 for k in range(5)},
             "ir tt.load *i32 blocked 1d": 9, "ir ttg.convert_layout i32": 4, **dict.fromkeys(more, 1)}
    return Ledger(triton=triton, reached={"cuda": {
        "codegen.mixed": mixed, "gluon.fp4": {"ir ttg.fp4_to_fp i8>bf16": 2, "ir tt.store *bf16": 8}}})


def past(reports: Path, *, last: Path | None = None, nights: int = 12) -> None:
    """A history of nights, of which `last`, a record, is the newest; each reached a cell that the others did not."""
    from tridiff.fuzz.report.record import read_summary

    for place in range(nights):
        name = f"night-{place}"
        counts = Counts(executed=1000 + 40 * place, compiled_kernels=500 + 30 * place, busy_seconds=400.0)
        one = Summary(id=name, options=campaign_options(backends=("cuda",)), environments=(HERE,), counts=counts,
                      by_target=(), seconds=60.0, new_findings=("value-00ebe13492",) if place % 5 == 2 else ())
        history.note(reports / history.FILE, one, ledger=ledger(f"op=only dtype=n{place}"), ended=BEGAN + place * DAY)
    if last is not None:
        history.note(reports / history.FILE, read_summary(last), ledger=ledger("op=fresh dtype=fp8"),
                     ended=BEGAN + nights * DAY)


def hostile_entry() -> CorpusEntry:
    """An entry whose every free text is hostile."""
    one = entry("zero-sign-c65330b634")
    evidence = replace(one.evidence, log=HOSTILE, inputs={"a": (HOSTILE,)})
    return replace(one, title=HOSTILE, upstream=(HOSTILE,), explanation=HOSTILE, evidence=evidence,
                   found_in=replace(HERE, device=HOSTILE, knobs={"TRITON_X": HOSTILE}))


def gate(reports: Path, *, name: str = "gate-20261122-210000", **changes: object) -> Path:
    """The record of a gate with a regression, a changed behaviour, one that is fixed and one that is accepted."""
    regression, changed, fixed = (entry(one) for one in ("illegal-address-7f92aee734", "zero-sign-c65330b634",
                                                         "value-00ebe13492"))
    found = (
        GateFinding(relation=Relation.REGRESSION, action="block", key="value", reason="out: 7 instead of 8",
                    entry=regression, code_changed=("ttgir", "ptx")),
        GateFinding(relation=Relation.CHANGED, action="guard", key="bits", reason=HOSTILE, entry=changed),
        GateFinding(relation=Relation.FIXED, action="report", key="fixed: value", reason="right now", entry=fixed),
        GateFinding(relation=Relation.CHANGED, action="guard", key="sign", reason="wanted", accepted="looked at",
                    entry=replace(changed, id="zero-sign-0000000000")))
    first = found[0].entry
    summary = GateSummary(**{
        "id": name, "verdict": "do not upgrade", "baseline": Side(name="3.6.0", triton="3.6.0", torch="2.13.0"),
        "candidate": Side(name="~/triton", triton="3.9.0", torch="2.13.0+cu130", environments=(HERE,)), "pairs": 900,
        "identical_code": 500, "regressions": 1, "fixed": 1, "changed": 2, "both": 3, "not_checked": 40,
        "seconds": 300.0, "findings": found,
        "why": ("regression: out: 7 instead of 8", "API: 1 public names lost: triton.language.old",
                "all inputs of exp fp32: 3 were right", "a word of a later release"),
        "sweeps": SweepComparison(compared=2, unchanged=1, not_checked=("sin fp32: no time",), changes=(
            SweepChange(sweep="exp fp32", kind="values", text=HOSTILE, worse=True, action="block"),)),
        "floor_missed": ("triton.mod own on cuda",), "entries_left_out": ("value-1",), "cell_numbers": {"lost": 300},
        "guards": (Guard(bad="triton==3.9.0; op=max; dtype=fp32", entry=first.id),),
        "flaky": ("value-1 (3/5)",), "api": (ApiChange(name="triton.language.old", before="(x)", after=""),
                                            ApiChange(name="triton.language.new", before="", after=HOSTILE)),
        "targets": (
            TargetPairs(target=first.case.target, backend="cuda", relations={"same": 300, "regression": 5},
                        code_changed=12, compared=305),
            TargetPairs(target="helpers.frexp", backend="cuda", relations={"identical_code": 500, "both_alike": 3}),
            TargetPairs(target="gluon.fp4", backend="cuda", relations={"not_checked": 40})),
        "numeric": {"triton.div out": Numeric(elements=4000, histogram={"1": 30, "2": 2}, bias=-12)},
        "resources": {"registers": Resource(more=4, less=2, largest=1.5)}, "compile_seconds": (120.0, 130.5),
        "cells": {"lost": ("ir ttg.old",), "gained": ("ir ttg.new",)},
        "not_checked_reasons": {"the contract leaves every row open": 40}, "seed": 11, **changes})
    folder = reports / name
    for one in summary.findings:
        place = folder / "cases" / one.relation.value
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{one.entry.id}.json").write_text(pretty_json(one.entry))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "gate.json").write_text(pretty_json_without_defaults(summary, only_in_rows=True))
    keep_scripts(folder, {first.id: SCRIPT})
    return folder
