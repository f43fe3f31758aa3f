"""Which known issues account for every wrong element of a launch. Runs in the worker, where the outputs are."""

from collections.abc import Mapping, Sequence

import torch

from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.judge.outputs import Expectations, Judged, canonical, judged_mask
from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.target import Target
from tridiff.oracles import compare
from tridiff.oracles.rules import Rule
from tridiff.oracles.vote import Answer


def wrong_elements(actual: torch.Tensor, answers: Sequence[Answer], rule: Rule,
                   defined: torch.Tensor | None) -> torch.Tensor:
    """Bool tensor of actual's shape: defined elements that every oracle which was asked about their row rejects.

    answers, rule, defined: as for `oracles.vote.judge`.
    """
    rejected = torch.ones(actual.shape, dtype=torch.bool, device=actual.device)
    asked = torch.zeros(actual.shape[:1], dtype=torch.bool, device=actual.device)
    for answer in answers:
        rows = slice(None) if answer.rows is None else answer.rows
        part = actual if answer.rows is None else _rows(actual, answer.rows)
        mismatch = compare.compare(part, answer.values, answer.rule or rule, bound=answer.bound).mismatch
        if mismatch.shape != part.shape:  # of another shape or type altogether
            mismatch = torch.ones(part.shape, dtype=torch.bool, device=part.device)
        rejected[rows] &= mismatch
        asked[rows] = True
    rejected &= asked.reshape(asked.shape + (1,) * (rejected.dim() - 1))
    if defined is not None:
        rejected &= defined.reshape(defined.shape + (1,) * (rejected.dim() - defined.dim()))
    return rejected


def _rows(tensor: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    from tridiff.oracles.bits import from_bits, to_bits
    from tridiff.oracles.dtypes import name_of_tensor

    return from_bits(to_bits(tensor)[rows], name_of_tensor(tensor))


def explaining(seen: Wrong, subject: str) -> tuple[tuple[str, ...], ...]:
    """Names of the issues that together predict every wrong element as it is: each alone that does, else all that it
    takes; () if something remains."""
    predicted: dict[str, dict[str, torch.Tensor]] = {}
    # What a control has to confirm comes last.
    for issue in sorted(issues_of(seen.case, subject), key=lambda one: one.relative is not None):
        if issue.explains:
            masks = predicted.setdefault(issue.name, {})
            for output, mask in resolve(issue.explains)(seen).items():
                masks[output] = mask | masks[output] if output in masks else mask
    if not any(bool(mask.any()) for mask in seen.wrong.values()):
        return ()

    def left(names: Sequence[str]) -> int:
        total = 0
        for output, mask in seen.wrong.items():
            remaining = mask
            for name in names:
                found = predicted[name].get(output)
                if found is not None:
                    remaining = remaining & ~found
            total += int(remaining.sum())
        return total

    alone = tuple((name,) for name in predicted if left((name,)) == 0)
    if alone:
        return alone
    if not predicted or left(tuple(predicted)):
        return ()
    needed = list(predicted)
    for name in predicted:
        without = [one for one in needed if one != name]
        if left(without) == 0:
            needed = without
    return (tuple(needed),)


def explained_launch(case: Case, target: Target, subject: str, buffers: Mapping[str, Buffer], expected: Expectations,
                     judged: Judged) -> tuple[tuple[str, ...], ...]:
    """Names of the issues that predict all wrong elements of all outputs of a launch, as `explaining` gives them.

    expected: of the case, as `judge_outputs` left it; judged: what that said of this launch.
    """
    if not any(issue.explains for issue in issues_of(case, subject)):
        return ()
    seen = wrong_in(case, target, buffers, expected)
    found = seen.wrong.get(judged.where)
    if found is None or int(found.reshape(found.shape[0], -1).any(1).sum()) < judged.rows.disagree:
        return ()  # the vote holds rows wrong of which no single element is rejected by all
    return explaining(seen, subject)


def wrong_in(case: Case, target: Target, buffers: Mapping[str, Buffer], expected: Expectations) -> Wrong:
    """The wrong elements of a launch that was judged."""
    actual = canonical(case, target, buffers)
    rules = target.judge.rules(case)
    answers = expected.answers or {}
    wrong: dict[str, torch.Tensor] = {}
    whole: dict[str, torch.Tensor] = {}
    for name, values in actual.items():
        given = answers.get(name, [])
        mask = judged_mask(expected.defined, expected.bounds, name, values)
        found = wrong_elements(values, given, rules[name], mask) if given else None
        if found is not None and bool(found.any()):
            wrong[name] = found
        for one in given:
            first = one.values[0] if rules[name].kind == "SET" else one.values
            if one.rows is None and first.shape == values.shape:
                whole.setdefault(name, first)
    return Wrong(
        case=case, expected=whole, actual=actual, wrong=wrong,
        inputs={name: buffer.values for name, buffer in buffers.items() if buffer.values is not None},
        poison={name: buffer.poison for name, buffer in buffers.items() if buffer.is_output})
