"""Cases, inputs, expected and actual values as text for people."""

import contextlib

import msgspec

from tridiff.fuzz.content import text
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Content, CorpusEntry, Evidence, Explicit, LaunchOptions, Layout
from tridiff.fuzz.records.codec import printable
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro.rerun import Rerun
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import NUM, Rule

_BEFORE, _AFTER = 6, 9
"""Elements shown before and after the first one that is wrong."""


def describe(run: Rerun) -> str:
    """The whole story of one run: verdict, case, and the failing row with its first wrong element marked."""
    outcome, where = run.outcome, run.environment
    signature = outcome.signature
    head = f"{run.case.target} · {run.subject} · {run.backend}: {outcome.verdict.value}"
    if signature is not None:
        head += f" ({printable(signature.kind)}{f' in {signature.where}' if signature.where else ''})"
    lines = [head]
    if outcome.reason:
        lines.append(f"  {outcome.reason}")
    if run.expected is not None and run.expected.verdict is not outcome.verdict:
        lines.append(f"  expected here: {run.expected.verdict.value}")
    versions = {"Triton": where.triton, "torch": where.torch, "device": where.device, "driver": where.driver}
    lines.append("  " + ", ".join(f"{name} {value}" for name, value in versions.items() if value))
    lines += ["", *describe_case(run.case)]
    where_wrong = signature.where if signature is not None else ""
    shown = describe_evidence(run.case, outcome.evidence, where_wrong) if outcome.evidence is not None else []
    if shown:
        lines += ["", *shown]
    return "\n".join(lines) + "\n"


def describe_case(case: Case) -> list[str]:
    """Sizes, params, options and arrays, one line each."""
    lines = [f"case {case.digest}", f"  sizes    {_pairs(case.sizes)}"]
    if case.params:
        lines.append(f"  params   {_pairs(case.params)}")
    lines.append(f"  options  {_options(case.options)}")
    lines += [f"  variant  {_options(one)}" for one in case.variants]
    if case.repeats:
        lines.append(f"  repeats  {case.repeats}")
    width = max((len(spec.name) for spec in case.arrays), default=0)
    for spec in case.arrays:
        shape = ", ".join(f"{dim}={case.sizes[dim]}" for dim in spec.dims)
        lines.append(f"  {spec.name:<{width}}  {spec.dtype}[{shape}]{_layout(spec.layout)}  {_content(spec)}")
    return lines


def _pairs(values: dict[str, int] | dict[str, bool | int | str]) -> str:
    return " ".join(f"{name}={printable(str(value), limit=60)}" for name, value in values.items()) or "none"


def _options(options: LaunchOptions) -> str:
    plain = LaunchOptions()
    names = LaunchOptions.__struct_fields__
    return " ".join(f"{name}={getattr(options, name)}" for name in names
                    if getattr(options, name) != getattr(plain, name) or name in ("num_warps", "num_stages"))


def _layout(layout: Layout) -> str:
    plain = Layout()
    words = [f"{name}={getattr(layout, name)}".replace("'", "") for name in Layout.__struct_fields__
             if getattr(layout, name) != getattr(plain, name)]
    return f" ({', '.join(words)})" if words else ""


def _content(spec: ArraySpec) -> str:
    if spec.content is None:
        return "output"
    return printable(_term(spec.content), limit=160)


def _term(content: Content) -> str:
    base = content.base
    if isinstance(base, Explicit):
        words = [f"values {' '.join(base.values[:24])}{' ...' if len(base.values) > 24 else ''}"]
    else:
        words = [_plain(base)]
    return ", ".join([*words, *map(_plain, content.overrides)])


def _plain(term: msgspec.Struct) -> str:
    """A term as words: `iota start=-4 step=1`."""
    fields = msgspec.to_builtins(term)
    kind = fields.pop("type")
    return " ".join([kind, *(f"{name}={value}" for name, value in fields.items())])


def _launched(evidence: Evidence) -> list[str]:
    """Which launch failed, if it is not the first."""
    one = evidence.launched
    if one is None:
        return []
    return [f"launched with {_options(one.options)}{f' in schedule {one.schedule}' if one.schedule else ''}"]


def evidence_of(entry: CorpusEntry) -> tuple[str, ...]:
    """Inputs, expected and actual values of the failing row, or the end of the worker's log."""
    try:
        return tuple(describe_evidence(entry.case, entry.evidence, entry.signature.where))
    except (KeyError, ValueError, IndexError):
        # Evidence that names arrays which its case does not have: a record that somebody edited.
        return tuple(entry.evidence.log.splitlines()[-20:])


def describe_evidence(case: Case, evidence: Evidence, where: str = "") -> list[str]:
    """The failing row: inputs, what every oracle expects, what came out, and a mark under the first wrong element.

    where: the output that the signature names. Values are text in the array's dtype. Long rows are cut to the
    neighbourhood of that element.
    """
    lines = _launched(evidence)
    if not evidence.actual and not evidence.inputs:
        log = [f"  {printable(line)}" for line in evidence.log.splitlines()[-20:]]
        return [*lines, "end of the worker's log", *log] if log else lines
    if evidence.whole and any(len(spec.dims) > 1 for spec in case.arrays):
        lines.append(f"row {evidence.row} of {case.sizes.get('rows', 1)}")
        evidence = _only_row(case, evidence)
    elif not evidence.whole:
        lines.append(f"row {evidence.row} of {case.sizes.get('rows', 1)}")
    wrong = first_wrong(case, evidence, where)
    name_of_wrong, position = wrong if wrong else ("", 0)
    length = len(evidence.actual.get(name_of_wrong, ()))
    blocks = [("", name, values, name) for name, values in evidence.inputs.items()]
    for name, values in evidence.actual.items():
        blocks += [(f"{oracle} expects", name, answer[name], name)
                   for oracle, answer in evidence.expected.items() if name in answer]
        blocks.append(("actual", name, values, name))
    labels = [f"{name} {what}".strip() for what, name, _, _ in blocks]
    width = max(map(len, labels), default=0)
    # Arrays as long as the wrong output are cut at the same place, so that columns line up.
    start = max(position - _BEFORE, 0)
    cells = [(start, values[start:position + _AFTER + 1]) if len(values) == length and wrong else
             (0, values[:_BEFORE + _AFTER]) for _, _, values, _ in blocks]
    columns = max((len(shown) for _, shown in cells), default=0)
    widths = [max((len(shown[k]) for _, shown in cells if k < len(shown)), default=0) for k in range(columns)]
    for (what, name, values, _), label, (first, shown) in zip(blocks, labels, cells, strict=True):
        if not values:
            lines.append(f"  {label:<{width}}  too long to list")
            continue
        row = " ".join(f"{word:>{widths[k]}}" for k, word in enumerate(shown))
        more = f"  (elements {first}..{first + len(shown) - 1} of {len(values)})" if len(shown) < len(values) else ""
        lines.append(f"  {label:<{width}}  {row}{more}")
        if what == "actual" and name == name_of_wrong:
            at = sum(widths[:position - start]) + (position - start) + widths[position - start] - 1
            lines.append(f"  {'':<{width}}  {' ' * at}^ element {position} is the first wrong one")
    return lines


def _only_row(case: Case, evidence: Evidence) -> Evidence:
    """Evidence that lists whole arrays, cut to the failing row of those that have rows."""
    def cut(values: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        result = {}
        for name, listed in values.items():
            spec = case.array(name)
            rows = case.sizes["rows"] if spec.dims[:1] == ("rows",) else 1
            width = len(listed) // max(rows, 1)
            start = evidence.row * width if rows > 1 else 0
            result[name] = listed[start:start + width]
        return result

    return msgspec.structs.replace(evidence, inputs=cut(evidence.inputs), actual=cut(evidence.actual), whole=False,
                                   expected={name: cut(one) for name, one in evidence.expected.items()})


def first_wrong(case: Case, evidence: Evidence, where: str = "") -> tuple[str, int] | None:
    """The output and the position of the first element that contradicts every oracle that lists it.

    where: the output that the signature names. Others may hold what nothing was expected of: elements that a program
    does not store, or that its contract leaves open. The same goes for elements before the row that was found wrong.
    """
    rules: dict[str, Rule] = {}
    with contextlib.suppress(TridiffError):
        rules = dict(find(case.target).judge.rules(case))
    for name, actual in evidence.actual.items():
        if where in evidence.actual and name != where:
            continue
        dtype = case.array(name).dtype
        answers = [one[name] for one in evidence.expected.values() if len(one.get(name, ())) == len(actual)]
        wrong = [k for k, value in enumerate(actual)
                 if answers and all(differs(value, answer[k], dtype, rules.get(name, NUM)) for answer in answers)]
        dims = case.array(name).dims
        if len(dims) == 1 and (evidence.whole or dims != ("rows",)) and evidence.row in wrong:
            return name, evidence.row
        if wrong:
            return name, wrong[0]
    return None


def differs(actual: str, expected: str, dtype: str, rule: Rule) -> bool:
    """Whether a value, as text, breaks the rule. Tolerances are taken at face value, derived bounds as none."""
    rule = rule.member or rule
    if actual == expected:
        return False
    if not dtype_info(dtype).is_float or rule.kind == "BIT":
        return text.to_bits(actual, dtype) != text.to_bits(expected, dtype)
    if "nan" in actual or "nan" in expected:
        return ("nan" in actual) != ("nan" in expected)
    left, right = float(actual), float(expected)
    if left == right:
        return rule.kind == "NUM" and left == 0
    if left - left != 0 or right - right != 0:
        return True
    limits = {"ABS": rule.k, "REL": rule.k * abs(right),
              "ULP": (rule.k + 0.5) * 2.0 ** -dtype_info(dtype).mantissa_bits * abs(right)}
    return abs(left - right) > limits.get(rule.kind, 0.0)
