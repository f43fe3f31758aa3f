"""Hold a launch's outputs against every oracle of the target."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from msgspec.structs import replace

from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.content import text
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.records import Case, Evidence, RowCounts, Verdict
from tridiff.fuzz.records.outcome import ALL_OPEN, ORACLE_CONFLICT, WrongElement
from tridiff.fuzz.target import Reference, Target
from tridiff.oracles import arrays, bits, compare, rules, vote
from tridiff.oracles.dtypes import torch_dtype

HOST_ELEMENTS = 1 << 15
"""Elements per array that a host-side oracle judges in one case; of larger batches it judges a sample of
rows and every suspect, so that no disagreement rests on one source."""

EVIDENCE_VALUES = 4096
"""Values per array that evidence lists; larger rows are left out (the case describes them anyway)."""

WHOLE_VALUES = 256
"""Arrays of at most this many values are listed whole, not only their failing row."""

SHORT, MOST_WRONG = 8, 4
"""Outputs of at most this many values need no wrong elements to be named; of others so many are."""


@dataclass(frozen=True)
class Judged:
    """The verdict on all outputs of one launch."""

    verdict: Verdict
    reason: str
    rows: RowCounts
    kind: str = ""
    where: str = ""
    failing_rows: tuple[int, ...] = ()
    evidence: Evidence | None = None


class Expectations:
    """What the oracles expect of one case, worked out with its first launch: other launches of the case, over other
    poison or under other options, have the same inputs."""

    def __init__(self) -> None:
        self.bounds: dict[str, torch.Tensor] = {}
        self.answers: dict[str, list[vote.Answer]] | None = None
        self.defined: dict[str, torch.Tensor] = {}
        self.untouched: dict[str, torch.Tensor] | None = None
        """Where outputs must keep what they held (`judge.untouched`); None until it is asked."""


class Inputs:
    """Input arrays for references: whole on the device, or a sample of rows on the host."""

    def __init__(self, case: Case, buffers: Mapping[str, Buffer],
                 outputs: Mapping[str, torch.Tensor] | None = None) -> None:
        self._case = case
        self._buffers = buffers
        self._outputs = outputs or {}

    def rows(self, names: tuple[str, ...]) -> int:
        for name in names:
            spec = self._case.array(name)
            if spec.dims[:1] == ("rows",):
                return self._case.sizes["rows"]
        return 1

    def take(self, name: str, index: torch.Tensor | None) -> torch.Tensor:
        if name in self._outputs:
            return self._outputs[name]
        buffer = self._buffers[name]
        if buffer.values is None:
            raise ValueError(f"{name} is an output")
        if index is None or buffer.spec.dims[:1] != ("rows",):
            return buffer.values
        return bits.from_bits(bits.to_bits(buffer.values)[index], buffer.spec.dtype)


def call(reference: Reference, case: Case, inputs: Inputs, index: torch.Tensor | None) -> tuple[Any, ...]:
    """The reference's outputs as torch tensors on the device of the inputs."""
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    device = None
    for argument in reference.arguments:
        name, equals, param = argument.partition("=")
        if argument == "@case":
            positional.append(case)
            continue
        if equals:
            keywords[name] = case.params[param] if param in case.params else case.sizes[param]
            continue
        tensor = inputs.take(name, index)
        device = tensor.device
        positional.append(tensor if reference.source == "torch" else arrays.to_numpy(tensor))
    result = resolve(reference.function)(*positional, **keywords)
    found = result if isinstance(result, tuple) else (result,)
    if reference.source == "torch":
        return found
    return tuple(arrays.to_torch(one, device=device or "cpu") for one in found)


def _sample(rows: int, wanted: int, device: torch.device) -> torch.Tensor | None:
    """Rows spread evenly over the batch, first and last included; None for all."""
    if rows <= wanted:
        return None
    return torch.linspace(0, rows - 1, wanted, dtype=torch.float64, device=device).round().to(torch.int64).unique()


def _budget(reference: Reference, case: Case, rows: int) -> int:
    if reference.sample is not None:
        return reference.sample
    if reference.source == "torch":
        return rows
    columns = max(case.elements() // max(rows, 1), 1)
    return max(HOST_ELEMENTS // columns, 1)


def _answers(case: Case, references: tuple[Reference, ...], inputs: Inputs, rows: int, device: torch.device,
             suspects: torch.Tensor | None, bounds: Mapping[str, torch.Tensor]) -> dict[str, list[vote.Answer]]:
    """Per output, what every oracle expects; with suspects, the sampled ones cover those rows as well."""
    answers: dict[str, list[vote.Answer]] = {}
    for reference in references:
        index = _sample(rows, _budget(reference, case, rows), device)
        if reference.source == "exact":
            if suspects is None:
                continue
            index = suspects[:64]
        elif index is not None and suspects is not None:
            index = torch.cat([index, suspects[:1024]]).unique()
        for name, values in zip(reference.outputs, call(reference, case, inputs, index), strict=True):
            # An output without a row axis is expected whole, whatever rows the reference was asked about.
            covered = index if case.array(name).dims[:1] == ("rows",) else None
            bound = bounds.get(name)
            if bound is not None and covered is not None:
                bound = bound[covered]
            answers.setdefault(name, []).append(vote.Answer(
                name=reference.source, values=values, rows=covered, bound=bound, decisive=reference.source == "exact"))
    return answers


def canonical(case: Case, target: Target, buffers: Mapping[str, Buffer]) -> dict[str, torch.Tensor]:
    """Every output as it is judged: in canonical form where the contract admits several answers."""
    actual = {name: buffer.typed() for name, buffer in buffers.items() if buffer.is_output}
    form = target.judge.canonical(case)
    if form is None:
        return actual
    inputs = Inputs(case, buffers, actual)
    return actual | dict(zip(form.outputs, call(form, case, inputs, None), strict=True))


def defined_masks(case: Case, target: Target, inputs: Inputs) -> dict[str, torch.Tensor]:
    """Per output, where the contract defines the result; outputs that are defined everywhere are left out."""
    found = target.judge.defined(case)
    if found is None:
        return {}
    function, names = found
    masks = call(Reference(source="torch", function=function, arguments=names), case, inputs, None)[0]
    if isinstance(masks, Mapping):
        return dict(masks)
    return {spec.name: masks for spec in case.arrays if spec.content is None and spec.dims[:1] == ("rows",)}


def judged_mask(defined: Mapping[str, torch.Tensor], bounds: Mapping[str, torch.Tensor], name: str,
          actual: torch.Tensor) -> torch.Tensor | None:
    """Which elements (or rows) of an output are judged; None for all. An infinite bound leaves its element open."""
    mask, bound = defined.get(name), bounds.get(name)
    if mask is not None and mask.dim() > actual.dim():
        mask = mask.reshape(mask.shape[0], -1).all(1)
    if bound is not None and bool(bound.isinf().any()):
        judged = torch.broadcast_to(~bound.isinf(), actual.shape)
        mask = judged if mask is None else judged & mask.reshape(mask.shape + (1,) * (actual.dim() - mask.dim()))
    return mask


def judge_outputs(case: Case, target: Target, buffers: Mapping[str, Buffer],
                  expected: Expectations | None = None) -> Judged:
    """Judge every output; the first output with failing rows gives the verdict. expected: of this case and on this
    device, filled here if it is not yet."""
    inputs = Inputs(case, buffers)
    outputs = [spec.name for spec in case.arrays if spec.content is None]
    rows = case.sizes.get("rows", 1)
    device = next(iter(buffers.values())).storage.device
    references = target.judge.oracles(case)
    if any(0 in buffers[name].shape for name in outputs):
        return Judged(Verdict.AGREE, "", RowCounts(agree=rows))
    expected = expected or Expectations()
    bounds = expected.bounds
    if expected.answers is None:
        for bound in target.judge.bounds(case):
            bounds |= dict(zip(bound.outputs, call(bound, case, inputs, None), strict=True))
        expected.answers = _answers(case, references, inputs, rows, device, None, bounds)
        expected.defined = defined_masks(case, target, inputs)
    answers, defined = expected.answers, expected.defined
    actuals = canonical(case, target, buffers)
    rule_of = target.judge.rules(case)
    worst: Judged | None = None
    for name in outputs:
        actual, batched = actuals[name], case.array(name).dims[:1] == ("rows",)
        mask = judged_mask(defined, bounds, name, actual)
        found = vote.judge(actual, answers[name], rule_of[name], defined=mask)
        if batched and (found.disagree or found.conflict):
            suspects = torch.tensor((*found.failing_rows, *found.conflicting_rows), device=device).unique()
            answers = _answers(case, references, inputs, rows, device, suspects, bounds)
            found = vote.judge(actual, answers[name], rule_of[name], defined=mask)
        counts = RowCounts(agree=found.agree, disagree=found.disagree, conflict=found.conflict,
                           undefined=found.undefined + found.unjudged, by_oracle=dict(found.judged_by))
        if found.disagree:
            kind = _mismatch_kind(found, buffers[name])
            row = found.failing_rows[0]
            return Judged(
                Verdict.DISAGREE, f"{found.disagree} of {found.rows} rows of {name} are wrong ({kind})", counts,
                kind=kind, where=name, failing_rows=found.failing_rows if batched else (),
                evidence=replace(_evidence(case, buffers, answers, row, rule_of),
                                                 wrong=_wrong(found, name, case.array(name).dtype, actual,
                                                              answers[name], rule_of[name].kind == "SET")))
        if found.conflict and (worst is None or worst.verdict is Verdict.AGREE or worst.reason == ALL_OPEN):
            worst = Judged(Verdict.NOT_CHECKED, f"{ORACLE_CONFLICT}: {found.conflict} rows of {name} on which the "
                           "oracles contradict each other", counts,
                           evidence=_evidence(case, buffers, answers, found.conflicting_rows[0], rule_of))
        elif not found.agree:
            worst = worst or Judged(Verdict.NOT_CHECKED, ALL_OPEN, counts)
        elif worst is None or worst.reason == ALL_OPEN:
            # An output that is open throughout says nothing; another one that agrees does, whichever comes first.
            worst = Judged(Verdict.AGREE, "", counts)
        elif worst.verdict is Verdict.AGREE and found.agree < worst.rows.agree:
            worst = Judged(worst.verdict, worst.reason, counts)
    if worst is None:
        return Judged(Verdict.NOT_CHECKED, "the case has no output", RowCounts())
    return worst


def _mismatch_kind(found: vote.Judgement, buffer: Buffer) -> str:
    """The dominant mismatch class, or `unwritten` where the element still holds poison."""
    width = 1 << (8 * buffer.storage.element_size())
    example = found.examples[0] if found.examples else None
    if example is not None:
        bits = example.actual_bits
        if buffer.spec.dtype == "i1" and buffer.logical.numel() % found.rows == 0:
            # As a truth value, poison is one like any other.
            bits = int(buffer.logical.reshape(found.rows, -1)[example.row, example.lane]) % width
        if bits == buffer.poison % width:
            return "unwritten"
    return found.dominant_class or "value"


def _wrong(found: vote.Judgement, name: str, dtype: str, actual: torch.Tensor, answers: list[vote.Answer],
           several: bool) -> tuple[WrongElement, ...]:
    """The first wrong elements of an output that is too long to be shown as a whole; several: of admissible answers the
    first is told."""
    if actual.numel() <= SHORT:
        return ()

    def told(values: torch.Tensor, row: int, lane: int) -> str:
        one = values[row].reshape(-1)[lane:lane + 1]
        return _row_text(_as_stored(one, dtype), dtype, None, False)[0]

    wrong = []
    for one in (one for one in found.examples[:MOST_WRONG] if one.actual_bits is not None):
        expected = {}
        for answer in answers:
            place = _place_of(answer, one.row)
            if place is not None:
                expected[answer.name] = told(answer.values[0] if several else answer.values, place, one.lane)
        lanes = actual.numel() // found.rows
        wrong.append(WrongElement(output=name, place=one.row * lanes + one.lane, actual=told(actual, one.row, one.lane),
                                  expected=expected))
    return tuple(wrong)


def _place_of(answer: vote.Answer, row: int) -> int | None:
    """Where an answer has a row; None where it is about others alone."""
    if answer.rows is None:
        return row
    hits = (answer.rows == row).nonzero().reshape(-1)
    return int(hits[0]) if hits.numel() else None


def _as_stored(values: torch.Tensor, dtype: str) -> torch.Tensor:
    """References may answer unrounded, in float64."""
    return values.to(torch_dtype(dtype)) if values.is_floating_point() and dtype != "i1" else values


def _row_text(values: torch.Tensor, dtype: str, row: int | None, batched: bool) -> tuple[str, ...]:
    one = values[row:row + 1] if batched and row is not None else values
    flat = bits.unsigned_bits(one.contiguous()).reshape(-1)
    if flat.numel() > EVIDENCE_VALUES:
        return ()
    width = 1 << (8 * max(one.element_size(), 1))
    patterns = flat.tolist()
    told = {pattern: text.from_bits(int(pattern) % width, dtype) for pattern in set(patterns)}
    return tuple(told[pattern] for pattern in patterns)


def evidence_of_inputs(case: Case, buffers: Mapping[str, Buffer], row: int = 0) -> Evidence:
    """Inputs and outputs as text: of one row, or of all rows where the arrays are small."""
    whole = all(buffer.logical.numel() <= WHOLE_VALUES for buffer in buffers.values())
    listed = None if whole else row
    inputs: dict[str, tuple[str, ...]] = {}
    actual: dict[str, tuple[str, ...]] = {}
    for name, buffer in buffers.items():
        batched = buffer.spec.dims[:1] == ("rows",)
        if 0 in buffer.shape:
            continue
        if buffer.values is not None:
            inputs[name] = _row_text(buffer.values, buffer.spec.dtype, listed, batched)
        else:
            actual[name] = _row_text(buffer.typed(), buffer.spec.dtype, listed, batched)
    return Evidence(row=row, whole=whole, inputs=inputs, actual=actual)


def _evidence(case: Case, buffers: Mapping[str, Buffer], answers: dict[str, list[vote.Answer]],
              row: int, rule_of: Mapping[str, rules.Rule]) -> Evidence:
    """Evidence of one row; of several admissible answers (SET) the first is listed."""
    plain = evidence_of_inputs(case, buffers, row)
    expected: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, given in answers.items():
        spec = case.array(name)
        batched = spec.dims[:1] == ("rows",)
        for answer in given:
            place = _place_of(answer, row)
            if place is None:
                continue
            if answer.rows is None and plain.whole:
                place = None
            values = answer.values[0] if rule_of[name].kind == "SET" else answer.values
            stored = _as_stored(values, spec.dtype)
            expected.setdefault(answer.name, {})[name] = _row_text(stored, spec.dtype, place, batched)
    return replace(plain, expected=expected)


def same_bits(case: Case, target: Target, first: Mapping[str, Buffer], second: Mapping[str, Buffer], *,
              bits: bool, but: Mapping[str, torch.Tensor] | None = None) -> tuple[str, int] | None:
    """The first output that differs between two launches, and in how many elements.

    bits: compare bit for bit. Otherwise by the target's rule where that is exact, else as numbers: options
    may change which NaN or which zero of a tie comes out, but no value. Outputs that are accumulated in no fixed
    order are left out, and so are the elements that `but` marks, per output (bool, of its shape).
    """
    inputs = Inputs(case, first)
    defined = defined_masks(case, target, inputs)
    rule_of = target.judge.rules(case)
    forms = None if bits else (canonical(case, target, first), canonical(case, target, second))
    unordered = target.judge.unordered(case)
    for name, buffer in first.items():
        if not buffer.is_output or 0 in buffer.shape or name in unordered:
            continue
        rule = rules.BIT if bits else rule_of[name]
        if rule.kind in ("SUM", "SET"):
            # Options may change the order of a reduction: the oracles' bound judges it, not the other launch.
            continue
        if rule.kind not in ("BIT", "NUM", "NUM0"):
            rule = rules.NUM
        one, other = (buffer.typed(), second[name].typed()) if forms is None else (
            forms[0][name], forms[1][name])
        different = compare.compare(one, other, rule).mismatch
        mask = defined.get(name)
        if mask is not None and mask.shape == different.shape:
            different = different & mask
        if but and name in but and but[name].shape == different.shape:
            different = different & ~but[name]
        count = int(different.sum())
        if count:
            return name, count
    return None
