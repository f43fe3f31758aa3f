"""A gate's record as a report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tridiff.fuzz.gate.markdown import headline
from tridiff.fuzz.gate.record import Action, GateFinding, GateSummary, Side, TargetPairs
from tridiff.fuzz.reasons import most_frequent_first
from tridiff.fuzz.records.pair import Relation
from tridiff.fuzz.report.findings import finding
from tridiff.fuzz.report.heat import relation_map
from tridiff.fuzz.report.model import Finding, Level, Report, Row, Script, Table, Tone

GROUPS = {Relation.REGRESSION: "Regressions", Relation.CHANGED: "Changed behaviour",
          Relation.DIFFERENT: "Wrong in both, differently", Relation.FIXED: "Fixed"}

COLUMNS = ("pairs", "code differs", "regressions", "fixed", "changed", "wrong in both", "not checked")

_TONES: dict[str, Tone] = {"upgrade": "good", "upgrade with guards": "warning", "do not upgrade": "bad",
                           "could not check": "unknown"}
_LEVELS: dict[Action, Level] = {"block": "error", "guard": "warning", "report": "note"}
_SAID = {"block": "speaks against the upgrade", "guard": "needs a guard", "report": "shown only"}


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What a gate's record keeps beside `gate.json`: scripts by id of the entry."""

    scripts: Mapping[str, Script] = field(default_factory=dict)


def gate_report(summary: GateSummary, kept: Kept) -> Report:
    """The report of one gate."""
    findings = tuple(_finding(one, kept, summary.proposed.get(one.entry.id, "")) for one in summary.findings)
    environment = next(iter(summary.candidate.environments), None)
    return Report(
        kind="gate", id=summary.id, verdict=summary.verdict, tone=_TONES[summary.verdict], headline=headline(summary),
        status=summary.exit_status, seconds=summary.seconds, why=summary.why or _why(summary), facts=_facts(summary),
        groups=tuple(GROUPS.values()), findings=findings, row_columns=COLUMNS, rows=tuple(_rows(summary, findings)),
        heat=relation_map((_name(one, summary), one.relations) for one in summary.targets),
        throughput=_throughput(summary), tables=tuple(_tables(summary)),
        not_checked=(*((f"{number:,}", reason) for reason, number in most_frequent_first(summary.not_checked_reasons)),
                     *((", ".join(names), reason) for reason, names in summary.left_out.items()),
                     *(("flaky", line) for line in summary.flaky), *_without_gpu(summary),
                     *((name, "no time was left") for name in summary.floor_missed),
                     *((name, "a corpus entry that did not run on both builds") for name in summary.entries_left_out),
                     *((name, "not swept") for name in (summary.sweeps.not_checked if summary.sweeps else ()))),
        beside=tuple(_beside(summary)), errors=summary.errors, tridiff=environment.tridiff if environment else "")


_BESIDE = {"API": "API: ", "numbers": "numbers: ", "compile time": "compile time: ", "resources": "resources: ",
           "all inputs": "all inputs of "}
"""What a gate judges beside cases, and how its lines begin."""


def _beside(summary: GateSummary) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Every kind, and whatever else speaks against the candidate and is no finding."""
    left = dict.fromkeys(summary.why)
    for name, beginning in _BESIDE.items():
        lines = tuple(line for line in left if line.startswith(beginning))
        yield name, lines
        for line in lines:
            del left[line]
    others = tuple(line for line in left if line.partition(": ")[0] not in {one.value for one in Relation})
    if others:
        yield "other", others


def file_of(one: GateFinding) -> str:
    """Where the record keeps the shrunk case of a finding."""
    return f"cases/{one.relation.value}/{one.entry.id}.json"


def _why(summary: GateSummary) -> tuple[str, ...]:
    if summary.verdict == "could not check":
        return ("no pair was decided" if summary.pairs <= summary.not_checked else "work was lost or interrupted",)
    return (f"{summary.pairs - summary.not_checked:,} of {summary.pairs:,} pairs were decided, and none differs in a "
            "way that the policy minds",)


def _finding(one: GateFinding, kept: Kept, alike: str) -> Finding:
    action = f"accepted by the policy: {one.accepted}" if one.accepted else _SAID[one.action]
    about = [("action", action)]
    if one.code_changed:
        about.append(("code differs", ", ".join(one.code_changed)))
    if alike:
        about.append(("the same pattern", alike))
    level: Level = "note" if one.accepted else _LEVELS[one.action]
    found = finding(one.entry, group=GROUPS.get(one.relation, one.relation.value), level=level, reason=one.reason,
                   about=tuple(about), script=kept.scripts.get(one.entry.id), file=file_of(one),
                   command=f"tridiff repro {file_of(one)}")
    if one.relation is not Relation.CHANGED:
        return found
    # Its entry says that it disagrees, with the other build; neither is wrong.
    return replace(found, about=tuple(fact for fact in found.about if fact[0] != "verdicts"))


def _facts(summary: GateSummary) -> tuple[tuple[str, str], ...]:
    found = [("baseline", _side(summary.baseline)), ("candidate", _side(summary.candidate))]
    for one in summary.candidate.environments:
        gpu = f", driver {one.driver}" if one.driver else ""
        found.append((one.backend, f"{one.device}{gpu}"))
    return (*found, ("seed", str(summary.seed)))


def _side(side: Side) -> str:
    named = f" ({side.name})" if side.name not in ("", side.triton) else ""
    return f"Triton {side.triton}{named}{f', torch {side.torch}' if side.torch else ''}"


def _without_gpu(summary: GateSummary) -> tuple[tuple[str, str], ...]:
    if any(one.backend == "cuda" for one in summary.candidate.environments):
        return ()
    return (("GPU", "nothing ran on a GPU; interpreter and compilers only"),)


def _name(one: TargetPairs, summary: GateSummary) -> str:
    several = len({other.backend for other in summary.targets}) > 1
    return f"{one.target} on {one.backend}" if several else one.target


def _rows(summary: GateSummary, findings: tuple[Finding, ...]) -> Iterable[Row]:
    problems: dict[tuple[str, str], list[str]] = {}
    for one in findings:
        if one.level != "note":
            problems.setdefault((one.target, one.backend), []).append(f"{one.group}: {one.id}: {one.reason}")
    for part in summary.targets:
        def number(*relations: Relation, of: TargetPairs = part) -> int:
            return sum(of.relations.get(one.value, 0) for one in relations)

        pairs, unchecked = sum(part.relations.values()), number(Relation.NOT_CHECKED, Relation.FLAKY)
        yield Row(
            target=part.target, subject="", backend=part.backend,
            cells=(f"{pairs:,}", f"{part.code_changed:,} of {part.compared:,}", *(f"{one:,}" for one in (
                number(Relation.REGRESSION), number(Relation.FIXED), number(Relation.CHANGED, Relation.NUMERIC),
                number(Relation.BOTH, Relation.DIFFERENT), unchecked))),
            problem="\n".join(problems.get((part.target, part.backend), ())),
            skipped="no pair of it was decided" if unchecked >= pairs else "")


def _throughput(summary: GateSummary) -> tuple[tuple[str, str], ...]:
    seconds = max(summary.seconds, 1e-9)
    share = summary.identical_code / summary.pairs if summary.pairs else 0.0
    return (("pairs per second", f"{summary.pairs / seconds:,.1f}"), ("same code", f"{share:.0%}"),
            ("of these not launched", f"{summary.not_launched:,}"),
            *((f"{what}, {side}", f"{spent:,.1f} s")
              for what, both in (("compiling", summary.compile_seconds), ("launching", summary.launch_seconds))
              for side, spent in zip(("baseline", "candidate"), both, strict=True)))


def _tables(summary: GateSummary) -> Iterable[Table]:
    if summary.guards:
        yield Table(title="Guards", columns=("bad", "proved by"), note="Where the candidate must not be used.",
                    rows=tuple((one.bad, one.entry) for one in summary.guards))
    if summary.api:
        yield Table(title="Public names", columns=("name", "what", "before", "after"),
                    rows=tuple((one.name, one.sort, one.before, one.after) for one in summary.api))
    if summary.numeric:
        rows = []
        for name, one in sorted(summary.numeric.items()):
            apart = ", ".join(f"{distance}: {number:,}" for distance, number in one.histogram.items())
            rows.append((name, f"{one.elements:,}", apart, f"{one.bias:+,}"))
        yield Table(title="Numbers that changed within the tolerance", numeric=(1, 3), rows=tuple(rows),
                    columns=("output", "elements", "apart by (ulp: elements)", "bias"))
    if summary.resources:
        yield Table(title="Resources", columns=("what", "more", "less", "largest growth"), numeric=(1, 2, 3),
                    rows=tuple((name, f"{one.more:,}", f"{one.less:,}", f"{one.largest:g}")
                               for name, one in summary.resources.items()))
    if summary.issues:
        neither = len(summary.issues) - len(summary.failing_issues)
        yield Table(title="Known issues, drawn anew", numeric=(1, 2, 3, 4),
                    columns=("issue", "drawn", "repaired", "came back", "fail in both"),
                    note=f"By cases; {neither} more were drawn and fail in neither build.",
                    rows=tuple((name, f"{one.cases}", f"{one.repaired}", f"{one.back}", f"{one.failing}")
                               for name, one in summary.failing_issues.items()))
    for sort, names in summary.cells.items():
        number = summary.cell_numbers.get(sort, len(names))
        yield Table(title=f"Coverage cells {sort}: {number:,}", columns=("cell",),
                    rows=tuple((one,) for one in names))
    if summary.sweeps is not None:
        swept = summary.sweeps
        yield Table(title="All inputs", columns=("sweep", "what", "difference", "action"),
                    note=f"{swept.compared:,} sweeps on both builds, {swept.unchanged:,} without a difference.",
                    rows=tuple((one.sweep, one.kind, one.text, one.action) for one in swept.changes))
