"""Decide, row by row, what several independent oracles say about one result.

Rows (the leading axis) are independent inputs of one launch. A row agrees when its oracles accept it,
disagrees when every oracle that judged it rejects it (or a majority does, with one common answer), and is an
oracle conflict when the oracles contradict each other and no majority and no decisive oracle settles it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, to_bits, unsigned_bits
from tridiff.oracles.compare import Comparison, compare, count_codes
from tridiff.oracles.dtypes import dtype, name_of_tensor
from tridiff.oracles.errors import OracleError
from tridiff.oracles.rules import MISMATCH_CLASSES, MismatchClass, Rule

Verdict = Literal["agree", "disagree", "oracle_conflict", "not_checked"]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What one oracle expects.

    values: (rows, ...) like the actual result, or one entry per element of `rows` when the oracle covers a
    subset. rows: int64, the distinct rows covered; None means all. bound: as in `compare`, one per value, for
    SUM rules. rule: overrides the common rule for this oracle. decisive: exact arithmetic, settles a conflict
    by itself.
    """

    name: str
    values: Tensor
    rows: Tensor | None = None
    bound: Tensor | None = None
    rule: Rule | None = None
    decisive: bool = False


@dataclass(frozen=True, slots=True)
class Example:
    """One mismatching element: `lane` is flat within its row, bit patterns are unsigned, one expectation per
    oracle.
    """

    row: int
    lane: int
    mismatch_class: MismatchClass
    actual_bits: int | None
    expected_bits: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the oracles say about one result; every count is in rows unless it says otherwise.

    The five counts agree, disagree, conflict, undefined, unjudged add up to `rows`. `split` counts rows on
    which the oracles were not unanimous, settled or not. `class_counts` counts mismatching elements of
    disagreeing rows.
    """

    rows: int
    agree: int
    disagree: int
    conflict: int
    undefined: int
    unjudged: int
    split: int
    judged_by: tuple[tuple[str, int], ...]
    class_counts: tuple[tuple[MismatchClass, int], ...] = ()
    dominant_class: MismatchClass | None = None
    failing_rows: tuple[int, ...] = ()
    conflicting_rows: tuple[int, ...] = ()
    examples: tuple[Example, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """One word for the whole result; `not_checked` when no row was judged."""
        if self.disagree:
            return "disagree"
        if self.conflict:
            return "oracle_conflict"
        return "agree" if self.agree else "not_checked"


def judge(
    actual: Tensor, answers: Sequence[Answer], rule: Rule, *, defined: Tensor | None = None,
    x: Tensor | None = None, inputs_flush_to_zero: bool = False, max_examples: int = 8,
) -> Judgement:
    """Judge `actual` (rows, ...) against the answers of one or more oracles.

    defined: bool, shape (rows,) or actual's shape; False where the contract leaves the result open. Those
    elements are not compared, and a row without any defined element counts as undefined, never as agreeing.
    x: shape of actual, for ULP rules that grow with the input. max_examples: how many rows and examples to
    report. Raises OracleError for answers that do not fit the rows.
    """
    if actual.dim() == 0:
        raise OracleError("judge needs a leading row axis; pass actual.unsqueeze(0)")
    if not answers:
        raise OracleError("judge needs at least one answer; a result without an oracle is not checked at all")
    names = [answer.name for answer in answers]
    if len(set(names)) != len(names):
        raise OracleError(f"oracle names repeat: {names}; give each answer its own name")
    rows = actual.shape[0]
    lanes = None if defined is None else _spread(defined, actual)
    views = [_view(actual, answer, rule, lanes, x, inputs_flush_to_zero) for answer in answers]
    judged_by = tuple((view.answer.name, rows if view.index is None else len(view.index)) for view in views)
    if (lanes is None and rows and all(v.comparison.clean for v in views) and any(v.index is None for v in views)):
        return Judgement(rows, rows, 0, 0, 0, 0, 0, judged_by)
    return _vote(actual, views, lanes, judged_by, max_examples)


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """One oracle's comparison; `codes` (entries, lanes) with undefined lanes cleared, None when nothing
    mismatches.
    """

    answer: Answer
    rule: Rule
    index: Tensor | None
    comparison: Comparison
    codes: Tensor | None

    def scatter(self, per_entry: Tensor, rows: int) -> Tensor:
        if self.index is None:
            return per_entry
        out = torch.zeros(rows, dtype=per_entry.dtype, device=per_entry.device)
        out[self.index] = per_entry
        return out


def _spread(defined: Tensor, actual: Tensor) -> Tensor:
    if defined.dtype != torch.bool:
        raise OracleError(f"defined must be a bool tensor, got {defined.dtype}")
    if defined.shape == actual.shape:
        return defined
    if defined.shape == actual.shape[:1]:
        return defined.reshape(-1, *([1] * (actual.dim() - 1))).expand(actual.shape)
    raise OracleError(f"defined has shape {tuple(defined.shape)}; expected {tuple(actual.shape)} or the rows alone")


def _flat(tensor: Tensor) -> Tensor:
    """(rows, lanes); keeps the row count of empty tensors."""
    rows = tensor.shape[0]
    return tensor.reshape(rows, tensor.numel() // rows if rows else 0)


def _rows_of(tensor: Tensor, index: Tensor | None) -> Tensor:
    if index is None:
        return tensor
    # Through bits: torch cannot index every element type on every device.
    return from_bits(to_bits(tensor)[index], name_of_tensor(tensor))


def _view(
    actual: Tensor, answer: Answer, rule: Rule, lanes: Tensor | None, x: Tensor | None, flush: bool,
) -> _View:
    own = answer.rule or rule
    index = answer.rows
    axis = 1 if own.kind == "SET" else 0
    entries = actual.shape[0] if index is None else len(index)
    if answer.values.dim() <= axis or answer.values.shape[axis] != entries:
        raise OracleError(
            f"oracle {answer.name} answers {tuple(answer.values.shape)}, expected {entries} rows; "
            "give one entry per covered row"
        )
    comparison = compare(
        _rows_of(actual, index), answer.values, own, bound=answer.bound, x=None if x is None else _rows_of(x, index),
        inputs_flush_to_zero=flush,
    )
    codes = comparison.codes
    if codes is not None:
        if codes.shape[:1] != (entries,) or codes.shape != (entries, *actual.shape[1:]):
            # Wrong shape or type of an empty result: every row is wrong as a whole.
            codes = codes.reshape(-1)[:1].expand(entries, 1)
        else:
            codes = _flat(codes)
            if lanes is not None:
                codes = codes.masked_fill(~_flat(_rows_of(lanes, index)), 0)
    return _View(answer, own, index, comparison, codes)


def _vote(
    actual: Tensor, views: list[_View], lanes: Tensor | None, judged_by: tuple[tuple[str, int], ...],
    max_examples: int,
) -> Judgement:
    rows, device = actual.shape[0], actual.device
    none = torch.zeros(rows, dtype=torch.bool, device=device)
    undefined = none if lanes is None or not actual.numel() else ~_flat(lanes).any(1)
    accepts, rejects = torch.zeros(rows, dtype=torch.int32, device=device), none.to(torch.int32)
    decided, decided_bad = none, none
    bad_rows: list[Tensor] = []
    for view in views:
        entries = rows if view.index is None else len(view.index)
        judged = view.scatter(torch.ones(entries, dtype=torch.bool, device=device), rows)
        bad = none if view.codes is None else view.scatter((view.codes != 0).any(1), rows)
        bad_rows.append(bad)
        accepts, rejects = accepts + (judged & ~bad).to(torch.int32), rejects + bad.to(torch.int32)
        if view.answer.decisive:
            decided, decided_bad = decided | judged, decided_bad | bad
    judged_rows = (accepts + rejects > 0) & ~undefined
    split = judged_rows & (accepts > 0) & (rejects > 0)
    majority_bad = split & (rejects > accepts)
    if bool((majority_bad & ~decided).any()):
        majority_bad = majority_bad & _rejections_share_an_answer(views, bad_rows, majority_bad, lanes)
    disagree = judged_rows & torch.where(decided, decided_bad, ((rejects > 0) & (accepts == 0)) | majority_bad)
    agree = judged_rows & ~disagree & torch.where(decided, ~decided_bad, accepts > rejects)
    conflict = judged_rows & ~disagree & ~agree
    unjudged = ~judged_rows & ~undefined
    totals = torch.stack([t.sum() for t in (agree, disagree, conflict, undefined, unjudged, split)]).tolist()
    failing = _first(disagree, max_examples)
    counts: dict[MismatchClass, int] = {}
    if failing:
        remaining = disagree
        for view, bad in zip(views, bad_rows, strict=True):
            if view.codes is None:
                continue
            mine = remaining & bad
            picked = mine if view.index is None else mine[view.index]
            for name, count in count_codes(view.codes[picked]).items():
                counts[name] = counts.get(name, 0) + count
            remaining = remaining & ~mine
    # The most frequent class; ties go to the earlier one of MISMATCH_CLASSES, so that a signature is stable.
    ranked = sorted(counts, key=lambda name: (-counts[name], MISMATCH_CLASSES.index(name)))
    conflicting = _first(conflict, max_examples)
    shown = (*failing, *conflicting)[:max_examples]
    return Judgement(
        rows=rows, agree=totals[0], disagree=totals[1], conflict=totals[2], undefined=totals[3], unjudged=totals[4],
        split=totals[5], judged_by=judged_by, class_counts=tuple((name, counts[name]) for name in ranked),
        dominant_class=ranked[0] if ranked else None, failing_rows=failing, conflicting_rows=conflicting,
        examples=tuple(example for row in shown for example in _examples(actual, views, row)),
    )


def _first(mask: Tensor, limit: int) -> tuple[int, ...]:
    return tuple(mask.nonzero().squeeze(1)[:limit].tolist())


def _positions(view: _View, wanted: Tensor) -> Tensor | None:
    """Entries of a view for the given rows, or None if it does not cover them all."""
    if view.index is None:
        return wanted
    order = torch.argsort(view.index)
    place = torch.searchsorted(view.index[order], wanted).clamp_max(len(order) - 1)
    entry = order[place]
    return entry if bool((view.index[entry] == wanted).all()) else None


def _rejections_share_an_answer(
    views: list[_View], bad_rows: list[Tensor], rows: Tensor, lanes: Tensor | None
) -> Tensor:
    """True for rows whose rejecting oracles expect the same values: only then do they form a majority."""
    shared = rows.clone()
    for i, first in enumerate(views):
        for j in range(i + 1, len(views)):
            second = views[j]
            wanted = (rows & bad_rows[i] & bad_rows[j]).nonzero().squeeze(1)
            if not len(wanted):
                continue
            entries = [_positions(first, wanted), _positions(second, wanted)]
            if entries[0] is None or entries[1] is None or "SET" in (first.rule.kind, second.rule.kind):
                shared[wanted] = False
                continue
            a, b = _rows_of(first.answer.values, entries[0]), _rows_of(second.answer.values, entries[1])
            bound = None if first.answer.bound is None else _rows_of(first.answer.bound, entries[0])
            rule = replace(first.rule, plus_per_abs_x=0.0)
            apart = compare(a, b, rule, bound=bound).mismatch
            if apart.shape[:1] != wanted.shape:
                shared[wanted] = False
                continue
            apart = _flat(apart) if lanes is None else _flat(apart) & _flat(lanes[wanted])
            shared[wanted] = shared[wanted] & ~apart.any(1)
    return shared


def _examples(actual: Tensor, views: list[_View], row: int) -> list[Example]:
    """The first mismatching element of one row, with what every oracle expected there."""
    wanted = torch.tensor([row], device=actual.device)
    found: tuple[int, MismatchClass] | None = None
    expected: list[tuple[str, int]] = []
    entries = [(view, _positions(view, wanted)) for view in views]
    for view, entry in entries:
        if found is None and entry is not None and view.codes is not None:
            codes = view.codes[int(entry[0])]
            bad = codes.nonzero()
            if len(bad):
                lane = int(bad[0, 0])
                found = lane, MISMATCH_CLASSES[int(codes[lane]) - 1]
    if found is None:
        return []
    lane, name = found
    if name in ("dtype", "shape"):
        return [Example(row, lane, name, None, ())]
    for view, entry in entries:
        if entry is not None and view.rule.kind != "SET":
            expected.append((view.answer.name, _pattern(view.answer.values, int(entry[0]), lane)))
    return [Example(row, lane, name, _pattern(actual, row, lane), tuple(expected))]


def _pattern(values: Tensor, row: int, lane: int) -> int:
    width = dtype(name_of_tensor(values)).storage_bits
    return int(unsigned_bits(_flat(values[row : row + 1]))[0, lane]) & ((1 << width) - 1)
