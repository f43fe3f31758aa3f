"""Records and comparisons as Markdown, and the rows that oracles/pointwise.py may cite."""

from collections.abc import Iterable, Sequence

from tridiff.fuzz.sweep.compare import Change, Comparison, name_of
from tridiff.fuzz.sweep.records import Box, Deviation, Example, SweepRecord, SweepResult, SweepSpec
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.pointwise import CAST, CONVERT, row_of, rule_for, rule_of
from tridiff.oracles.rules import Rule

SHOWN = 4
RATES_SHOWN = 6
NINE_DIGITS = len("0.123456789")
FLOATS = ("fp32", "fp16", "bf16", "fp64")


def ranges_text(boxes: Iterable[Box], dtypes: tuple[str, ...]) -> str:
    """Boxes as patterns: `[0x1..0x7f] x {0x0}`."""
    listed = list(boxes)
    texts = []
    for box in listed[:SHOWN]:
        parts = []
        for (first, last), name in zip(box.ranges, dtypes, strict=True):
            digits = dtype(name).bits // 4 or 1
            parts.append(f"{{{first:#0{digits + 2}x}}}" if first == last
                         else f"[{first:#0{digits + 2}x}..{last:#0{digits + 2}x}]")
        texts.append(" x ".join(parts))
    more = f", {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return ", ".join(texts) + more


def example_text(deviation: Deviation, op: str) -> str:
    """`exp(88.7) = inf, not 3.3e38`."""
    worst = deviation.worst
    return f"{op}({', '.join(worst.values)}) = {worst.actual}, not {worst.expected}"


def digits(value: str, *names: str) -> str:
    """A value of an example in the digits that tell all values of its type apart: 9 do for fp32 and narrower types.
    names: of the operation's dtypes."""
    if len(value) <= NINE_DIGITS or "fp64" in names or not ("." in value or "e-" in value or "e+" in value):
        return value
    return f"{float(value):.9g}"


def _worst_text(deviation: Deviation, names: tuple[str, ...]) -> str:
    """`88.7: inf, not 3.3e38`, in a row that names the operation."""
    values = [digits(value, *names) for value in (*deviation.worst.values, deviation.worst.actual,
                                                  deviation.worst.expected)]
    return f"{', '.join(values[:-2])}: {values[-2]}, not {values[-1]}"


def markdown(record: SweepRecord) -> str:
    """The report of a record."""
    environment, results = record.environment, record.results
    verdicts = {name: sum(one.verdict == name for one in results)
                for name in ("agree", "disagree", "oracles_disagree", "not_checked")}
    inputs = sum(one.judged for one in results)
    device = sum(one.seconds for one in results)
    lines = [
        f"# Sweep: {name_of(record)}", "",
        f"tridiff {environment.tridiff}, torch {environment.torch}, driver {environment.driver or '-'}, ptxas "
        f"{environment.ptxas or '-'}. {len(results)} sweeps: " + ", ".join(
            f"{count} {name.replace('_', ' ')}" for name, count in verdicts.items() if count) + ".", "",
        f"{inputs:,} inputs judged in {device:.1f} s of device time"
        + (f" ({inputs / device:.3g} per second)" if device else "")
        + f"; {record.seconds:.0f} s in all, {record.compiled} kernels compiled"
        + _copy_text(record) + ("; interrupted" if record.interrupted else "") + ".", "",
    ]
    lines += _errors(results)
    lines += _deviations(results)
    lines += _rest(results)
    lines += _rates(record)
    return "\n".join(lines) + "\n"


def _copy_text(record: SweepRecord) -> str:
    rate = record.copy_bytes_per_second
    return f"; plain device copy {rate / 1e9:,.0f} GB/s" if rate else ""


def _errors(results: tuple[SweepResult, ...]) -> list[str]:
    by_op: dict[str, dict[str, SweepResult]] = {}
    for one in results:
        if one.max_ulps is not None and one.max_ulps.ulps > 0.5 and one.spec.dtypes[0] in FLOATS:
            by_op.setdefault(one.spec.op, {})[one.spec.dtypes[0]] = one
    if not by_op:
        return []
    names = [name for name in FLOATS if any(name in found for found in by_op.values())]
    lines = ["## Largest error, in ulps of the result", "",
             "Against the unrounded reference, so 0.500 is correctly rounded, wherever it is. `documented` is the "
             "vendor's figure for fp32, without the half.", "",
             "| operation | documented | " + " | ".join(f"{name} | at" for name in names) + " |",
             "|---|---|" + "---|---|" * len(names)]
    for op, found in sorted(by_op.items()):
        documented = next((one.documented for one in found.values() if one.documented is not None), None)
        cells = []
        for name in names:
            best = found.get(name)
            if best is None or best.max_ulps is None:
                cells += ["", ""]
            else:
                partly = "" if best.space.startswith("all") else "*"
                ulps = f"{best.max_ulps.ulps:.3f}"
                at = "" if ulps == "0.500" else ", ".join(digits(value, name) for value in best.max_ulps.values)
                cells += [ulps + partly, at]
        lines.append(f"| {op} | {'' if documented is None else f'{documented:g}'} | " + " | ".join(cells) + " |")
    return [*lines, "", "`*` from a stratified set, not from all inputs.", ""]


def _deviations(results: tuple[SweepResult, ...]) -> list[str]:
    wrong = [(one, deviation) for one in results for deviation in one.deviations]
    if not wrong:
        return ["## Deviations", "", "None.", ""]
    lines = ["## Deviations", "", "Exact sets of inputs, as bit patterns; operations that do the same share a row.", "",
             "| operation | types | class | inputs | which | worst: result, not the exact one | explained |",
             "|---|---|---|---|---|---|---|"]
    numbers: dict[str, int] = {}
    alike: dict[str, list[str]] = {}
    for one, deviation in wrong:
        complete = "" if deviation.complete else " (not all listed)"
        alike.setdefault(
            f"{' '.join(one.spec.dtypes)} | {deviation.kind} | {deviation.count:,} | "
            f"{ranges_text(deviation.boxes, one.spec.dtypes)}{complete} | {_worst_text(deviation, one.spec.dtypes)} | "
            f"{numbers.setdefault(deviation.known, len(numbers) + 1) if deviation.known else 'no'} |",
            []).append(one.spec.op)
    lines += [f"| {', '.join(operations)} | {row}" for row, operations in alike.items()]
    return [*lines, "", *(f"{number}. {why}." for why, number in numbers.items()), ""]


def _rest(results: tuple[SweepResult, ...]) -> list[str]:
    rest = [one for one in results if one.verdict in ("not_checked", "oracles_disagree")]
    sampled = sum(one.crosscheck.sampled + one.crosscheck.near for one in results)
    worst = max((one.crosscheck.worst for one in results), default=0.0)
    lines = ["## The references", "",
             f"{sampled:,} inputs were computed again with numpy, torch, mpmath or exact integers; the references of "
             f"the kernels were at most {worst:.2g} ulp of the result away.", ""]
    if rest:
        lines += ["## Not decided", "", "| operation | types | verdict | reason |", "|---|---|---|---|"]
        lines += [f"| {one.spec.op} | {' '.join(one.spec.dtypes)} | {one.verdict} | {one.reason[:160]} |"
                  for one in rest]
        lines.append("")
    return lines


def _rates(record: SweepRecord) -> list[str]:
    timed = [one for one in record.results if one.seconds > 0 and one.inputs >= 1 << 32]
    timed.sort(key=lambda one: one.seconds)
    if not timed:
        return []
    lines = ["## Rates", "", "Inputs enumerated, computed, referenced and judged per second; beside it the time a "
             "plain copy would need to read the inputs and write the results, relative to the sweep's. A sweep that "
             "is faster than a copy is one whose kernel the compiler has found to agree.", "",
             f"The slowest and the fastest of {len(timed)} sweeps of 2^32 inputs and more, and exp, sin and log:", "",
             "| sweep | inputs/s | copy / sweep |", "|---|---|---|"]
    shown = [one for at, one in enumerate(timed) if at < RATES_SHOWN or at >= len(timed) - RATES_SHOWN
             or one.spec.op in ("exp", "sin", "log")]
    for one in shown:
        rate = one.inputs / one.seconds
        width = sum(_bytes(name) for name in one.spec.dtypes) + _bytes(one.spec.dtypes[0])
        ratio = rate * width / record.copy_bytes_per_second if record.copy_bytes_per_second else 0.0
        lines.append(f"| {one.spec.op} {' '.join(one.spec.dtypes)} | {rate:.3g} | {ratio:.2f} |")
    return [*lines, ""]


def _bytes(name: str) -> int:
    return dtype(name).itemsize


def comparison_markdown(comparison: Comparison) -> str:
    """What changed, grouped by kind of change."""
    lines = [f"# {comparison.first} against {comparison.second}", "",
             f"{comparison.compared} sweeps in both records, {comparison.unchanged} without any difference.", ""]
    for kind, title in (("verdict", "Verdicts"), ("class", "Wrong inputs"), ("max_ulps", "Largest errors"),
                        ("only_in_one", "Not compared")):
        found = [one for one in comparison.changes if one.kind == kind]
        if found:
            lines += [f"## {title}", ""] + [f"- {_label(one)}: {one.text}{_sets(one)}" for one in found] + [""]
    return "\n".join(lines)


def _label(change: Change) -> str:
    return f"`{change.key.partition('-')[0]}` {' '.join(change.dtypes)}"


def _sets(change: Change) -> str:
    if change.kind != "class":
        return ""
    if change.gained is None or change.lost is None:
        return "; not both records list their whole set, the digests differ"
    texts = [f"{label} {ranges_text(boxes, change.dtypes)}" for label, boxes in
             (("wrong only in the second:", change.gained), ("only in the first:", change.lost)) if boxes]
    return "; " + "; ".join(texts) if texts else ""


def _rule_at(spec: SweepSpec, peak: Example) -> Rule:
    rule = rule_of(spec.op, spec.dtypes, spec.dtypes[0])
    if rule.kind not in ("ULP", "ABS") or spec.op.startswith((CONVERT, CAST)):
        return rule
    return rule_for(row_of(spec.op, spec.dtypes[0]), spec.dtypes[0], x=float(peak.values[0]))


def measured_rows(records: Sequence[SweepRecord]) -> str:
    """The rows of oracles/measured.py: operation, type, then ulps and input for each record, in their order.

    Rounding included, so 0.5 is correctly rounded. Only fp32 functions that were enumerated completely in all
    records and are judged in ulps where the error is largest.
    """
    found = [{one.spec.key: one for one in record.results} for record in records]
    lines = []
    for key, first in found[0].items():
        both = [by_key[key] for by_key in found if key in by_key]
        peaks = [one.max_ulps for one in both if one.max_ulps is not None and one.verdict in ("agree", "disagree")]
        plain = first.spec.options.flush and not first.spec.nearest and first.spec.dtypes == ("fp32",)
        if (len(peaks) < len(found) or not plain or not first.space.startswith("all")
                or any(_rule_at(first.spec, peak).kind != "ULP" for peak in peaks)):
            continue
        figures = "".join(f" {peak.ulps:.4f} {','.join(peak.operands)}" for peak in peaks)
        lines.append(f"{first.spec.op} {first.spec.dtypes[0]}{figures}")
    return "\n".join(lines)
