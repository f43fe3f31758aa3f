"""What a script compares: expected results as literals and the expressions that hold the actual ones against them.

The expressions decide as the oracles do: a rule with a tolerance becomes the least and the greatest accepted value of
each element (`fuzz.repro.intervals`), zeros are compared with their sign and NaNs with their payload where the rule
says so.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.judge.outputs import Inputs, call, defined_masks
from tridiff.fuzz.records import Case
from tridiff.fuzz.repro import formulas, literals
from tridiff.fuzz.repro.intervals import accepted
from tridiff.fuzz.repro.request import no_script
from tridiff.fuzz.target import Target
from tridiff.oracles import bits
from tridiff.oracles.dtypes import dtype as dtype_info, name_of_tensor
from tridiff.oracles.rules import Rule

SHOWN = 64
"""Elements of an output that a script prints."""

_TOLERANT = ("ULP", "ABS", "REL", "SUM")


@dataclass(frozen=True)
class Expected:
    """The right answer for one output. values: contiguous, in the output's dtype or a wider one; of a SET rule, all
    candidates along a new first axis. defined: where the contract says anything, None for everywhere. source: the
    oracles that gave it. accepted: least and greatest value that one of the oracles accepts; None for a rule that
    accepts nothing but `values`."""

    values: torch.Tensor
    rule: Rule
    defined: torch.Tensor | None
    source: str
    accepted: tuple[torch.Tensor, torch.Tensor] | None = None


def expected_results(case: Case, target: Target, buffers: Mapping[str, Buffer]) -> dict[str, Expected]:
    """What the references of an output give for the whole case, by output."""
    if any(0 in buffer.shape for buffer in buffers.values()):
        raise TridiffError("the case is empty: there is nothing to show", fix="choose another entry")
    if target.judge.canonical(case) is not None:
        raise no_script(f"the contract of {case.target} admits several answers, which a script cannot tell apart")
    rule_of = target.judge.rules(case)
    inputs = Inputs(case, buffers)
    defined = {name: mask for name, mask in defined_masks(case, target, inputs).items() if not bool(mask.all())}
    bounds: dict[str, torch.Tensor] = {}
    for one in target.judge.bounds(case):
        bounds |= dict(zip(one.outputs, call(one, case, inputs, None), strict=True))
    answers: dict[str, list[torch.Tensor]] = {}
    sources: dict[str, list[str]] = {}
    for reference in target.judge.oracles(case):
        # Exact arithmetic is asked only where nothing else is: it settles disputes about single rows.
        if reference.source == "exact" and all(name in answers for name in reference.outputs):
            continue
        for name, values in zip(reference.outputs, call(reference, case, inputs, None), strict=True):
            answers.setdefault(name, []).append(values)
            sources.setdefault(name, []).append(reference.source)
    results: dict[str, Expected] = {}
    for name, given in answers.items():
        results[name] = _expected(name, given, buffers[name], rule_of[name], bounds.get(name), defined.get(name),
                                  " and ".join(dict.fromkeys(sources[name])))
    return results


def _expected(name: str, given: list[torch.Tensor], buffer: Buffer, whole: Rule, bound: torch.Tensor | None,
              defined: torch.Tensor | None, source: str) -> Expected:
    rule, shape, dtype = whole.member or whole, buffer.shape, buffer.spec.dtype
    if rule.kind == "META" or (rule.kind == "SUM" and bound is None):
        raise no_script(f"{name} is judged by the rule {whole}, which a script cannot express")
    if whole.member is not None:
        shape = (given[0].shape[0], *shape)
    given = [one.contiguous().reshape(shape) for one in given]
    judged_lanes = _as_shape(defined, buffer.shape)
    if bound is not None:
        bound = torch.broadcast_to(bound.double().reshape(buffer.shape if bound.numel() > 1 else ()), buffer.shape)
        if bool(bound.isinf().any()):
            judged_lanes = ~bound.isinf() if judged_lanes is None else judged_lanes & ~bound.isinf()
            bound = bound.masked_fill(bound.isinf(), 0.0)
    if rule.kind not in _TOLERANT and whole.member is None:
        return Expected(given[0], whole, judged_lanes, source)
    if whole.member is not None:
        ends = [accepted([one[k] for one in given], rule, dtype, bound=bound) for k in range(shape[0])]
        lows, highs = (torch.stack([bits.to_bits(end[side]) for end in ends]) for side in (0, 1))
        interval = bits.from_bits(lows, dtype), bits.from_bits(highs, dtype)
    else:
        interval = accepted(given, rule, dtype, bound=bound)
    return Expected(given[0], whole, judged_lanes, source, interval)


def _as_shape(defined: torch.Tensor | None, shape: tuple[int, ...]) -> torch.Tensor | None:
    if defined is None or tuple(defined.shape) == shape:
        return defined
    rows = defined.reshape(defined.shape[0], -1).all(1)
    return rows if tuple(rows.shape) == shape else None


def check_lines(expected: Mapping[str, Expected], buffers: Mapping[str, Buffer], *, failure_kind: str, launch: str,
                variants: tuple[str, ...], inputs: tuple[str, ...], untouched: Mapping[str, torch.Tensor],
                tight: bool) -> tuple[tuple[str, ...], str]:
    """Statements behind the launch that print what they compare, and the expression that is true when all is right.

    launch: the statement itself, for checks that launch again; variants: the same under other compile options.
    untouched: per output, the elements that must hold what they held before (`NAME_before`), if that is the question.
    tight: as few lines as possible.
    """
    if failure_kind in ("nondeterministic", "option_dependent"):
        again = variants if failure_kind == "option_dependent" and variants else (launch,) * 20
        outputs = [literals.as_bits(name, buffers[name].spec.dtype) for name in expected]
        return _repeated(outputs, launch, again), "same"
    lines: list[str] = []
    shown: list[str] = []
    conditions: list[str] = []
    masks = {name: one.defined for name, one in expected.items() if one.defined is not None}
    shared = len({str(mask.tolist()) for mask in masks.values()}) == 1
    where = {name: "defined" if shared else f"defined_{name}" for name in masks}
    for label in dict.fromkeys(where.values()):
        mask = masks[next(name for name in masks if where[name] == label)]
        lines.append(f"{label} = {_mask_text(mask)}  # the contract leaves the other elements open")
    for name, one in expected.items():
        suffix = "" if len(expected) == 1 else f"_{name}"
        before, words, condition = check(f"{name}", one, buffers, suffix=suffix, mask=where.get(name, ""))
        lines += before
        shown.append(words)
        conditions.append(condition)
        if not tight:
            lines.append(f"print({shown.pop()})")
    if shown:
        lines.append(f"print({', '.join(shown)})")
    if failure_kind == "input_overwritten":
        conditions += [f"torch.equal({literals.as_bits(name, buffers[name].spec.dtype)}, {name}_before)"
                       for name in inputs]
    for name, mask in untouched.items():
        lines.append(f"gaps_{name} = {_mask_text(mask)}  # nothing stores there")
        now = literals.as_bits(name, buffers[name].spec.dtype)
        conditions.append(f"torch.equal({now}.cpu()[gaps_{name}], {name}_before.cpu()[gaps_{name}])")
    if failure_kind == "out_of_bounds":
        lines.append(f"right = {' and '.join(conditions)}")
        conditions = ["right"]
        for name in expected:
            stored = literals.storage_dtype(buffers[name].spec.dtype)
            lines.append(f"{name}.view({stored}).fill_({name}_memory[0])  # what is left lies outside the array")
            conditions.append(f"bool(({name}_memory == {name}_memory[0]).all())")
    if tight or len(conditions) == 1:
        return tuple(lines), " and ".join(conditions)
    for number, condition in enumerate(conditions):
        lines.append(f"ok {'&=' if number else '='} {condition}")
    return tuple(lines), "ok"


_LISTED = 64
"""Truth values that a mask lists; a longer one is text of zeros and ones."""


def _mask_text(mask: torch.Tensor) -> str:
    if mask.numel() <= _LISTED:
        return f"np.array({mask.tolist()})"
    digits = "".join("1" if one else "0" for one in mask.reshape(-1).tolist())
    return f'np.array([*map(int, "{digits}")], bool).reshape({tuple(mask.shape)})'


def _repeated(outputs: list[str], launch: str, again: tuple[str, ...]) -> tuple[str, ...]:
    """The same launch again, or under other options, must give the same bits. outputs: expressions for the bits."""
    compare = f"same &= all(torch.equal(a, b) for a, b in zip(first, [{', '.join(outputs)}]))"
    lines = [f"first, same = [{', '.join(f'{one}.clone()' for one in outputs)}], True"]
    if set(again) == {launch}:
        return (*lines, f"for _ in range({len(again)}):", f"    {launch}", f"    {compare}")
    return (*lines, *(line for one in again for line in (one, compare)))


def check(name: str, one: Expected, buffers: Mapping[str, Buffer], *, suffix: str = "", mask: str = "",
          actual: str = "") -> tuple[list[str], str, str]:
    """(statements, what to print, the condition) that hold one output against its expected values.

    name: of the output; actual: an expression for it as a tensor, default `name`. suffix: of the names that the
    statements define. mask: name of the array that says which elements are judged, or nothing.
    """
    actual, dtype = actual or name, buffers[name].spec.dtype
    rule = one.rule.member or one.rule
    label = f"expected{suffix}"
    got = literals.fetch(actual, dtype)
    if rule.kind == "BIT" and dtype_info(dtype).is_float and bool(bits.is_nan(one.values).any()):
        pattern = literals.as_bits(actual, dtype)
        text = bits.to_bits(one.values).tolist()
        kind = pattern[pattern.rindex("(") + 1:-1]
        lines = [f"{label} = torch.tensor({text}, dtype={kind})  # bits, by {one.source}"]
        picked = f"[..., {mask}]" if mask else ""
        return (lines, f'"{name}:", {pattern}.cpu().tolist(), "expected:", {label}.tolist()',
                f"torch.equal({pattern}.cpu(){picked}, {label}{picked})")
    lines = [f"{label} = {_literal(one.values, name_of_tensor(one.values), buffers)}  # by {one.source}"]
    few = one.values.numel() <= SHOWN
    words = f'"{name}:", {got}.tolist(), "expected:", {label}.tolist()' if few else f'"{name}:", {got}, {label}'
    picked = f"[..., {mask}]" if mask else ""
    if one.accepted is None:
        return lines, words, _equal(f"{got}{picked}", f"{label}{picked}", one, rule, dtype)
    low, high = one.accepted
    exact = _same_numbers(low, one.values) and _same_numbers(high, one.values)
    low_name, high_name = (label, label) if exact else (f"low{suffix}", f"high{suffix}")
    if not exact:
        ends = f"{_literal(low, dtype, buffers)}, {_literal(high, dtype, buffers)}"
        lines.append(f"{low_name}, {high_name} = {ends}  # the least and the greatest value that the contract allows")
    lines.append(f"got{suffix} = {got}{picked}")
    got, low_name, high_name, wanted = (f"got{suffix}", *(f"{n}{picked}" for n in (low_name, high_name, label)))
    condition = f"({low_name} <= {got}) & ({got} <= {high_name})"
    if dtype_info(dtype).is_float:
        if bool(_zero(one.values).any()) and rule.kind != "NUM0":
            lines.append(f"zeros{suffix} = ({got} == 0) & ({wanted} == 0)  # these have a sign")
            condition += f" & ~(zeros{suffix} & (np.signbit({got}) != np.signbit({wanted})))"
        if bool(torch.isnan(one.values.double()).any()):
            condition += f" | np.isnan({got}) & np.isnan({wanted})"
    every = "any(0).all()" if one.rule.member is not None else "all()"
    return lines, words, f"bool(({condition}).{every})"


def _same_numbers(one: torch.Tensor, other: torch.Tensor) -> bool:
    if not one.is_floating_point():
        return torch.equal(one, other)
    return torch.equal(one.double().nan_to_num(nan=0.5), other.double().nan_to_num(nan=0.5)) and (
        torch.equal(one.isnan(), other.isnan()))


def _zero(values: torch.Tensor) -> torch.Tensor:
    return values.double() == 0


def _literal(values: torch.Tensor, dtype: str, buffers: Mapping[str, Buffer]) -> str:
    return formulas.of_inputs(values, dtype, buffers) or literals.numpy_expression(values, dtype)


def _equal(left: str, right: str, one: Expected, rule: Rule, dtype: str) -> str:
    if not dtype_info(dtype).is_float:
        return f"np.array_equal({left}, {right})"
    same = f"np.array_equal({left}, {right}, equal_nan=True)"
    if rule.kind in ("NUM", "BIT") and bool(bits.is_zero(one.values).any()):
        same += f" and np.array_equal(np.signbit({left}[{right} == 0]), np.signbit({right}[{right} == 0]))"
    return same
