"""What a script compares: expected results as literals and the expressions that hold the actual ones against them."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.judge.outputs import Inputs, call, defined_masks
from tridiff.fuzz.records import Case
from tridiff.fuzz.repro import literals
from tridiff.fuzz.target import Target
from tridiff.oracles import bits
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.dtypes import name_of_tensor
from tridiff.oracles.rules import Rule


@dataclass(frozen=True)
class Expected:
    """The right answer for one output. values: contiguous, in the output's dtype or a wider one; of a SET rule, all
    candidates along a new first axis. defined: where the contract says
    anything, None for everywhere. source: the oracles that gave it. bound: allowed errors of a SUM rule."""

    values: torch.Tensor
    rule: Rule
    defined: torch.Tensor | None
    source: str
    bound: torch.Tensor | None = None


def expected_results(case: Case, target: Target, buffers: Mapping[str, Buffer]) -> dict[str, Expected]:
    """What the first reference that covers an output gives for the whole case, by output."""
    if any(0 in buffer.shape for buffer in buffers.values()):
        raise TridiffError("the case is empty: there is nothing to show", fix="choose another entry")
    if target.canonical(case) is not None:
        raise TridiffError(f"the contract of {case.target} admits several answers, which a script cannot tell apart",
                           fix="rerun it with `tridiff repro` instead")
    rule_of = target.rules(case)
    inputs = Inputs(case, buffers)
    defined = {name: mask for name, mask in defined_masks(case, target, inputs).items() if not bool(mask.all())}
    bounds: dict[str, torch.Tensor] = {}
    for one in target.bounds(case):
        bounds |= dict(zip(one.outputs, call(one, case, inputs, None), strict=True))
    references = target.oracles(case)
    answers: dict[str, torch.Tensor] = {}
    for reference in references:
        if any(name not in answers for name in reference.outputs):
            answers = dict(zip(reference.outputs, call(reference, case, inputs, None), strict=True)) | answers
    results: dict[str, Expected] = {}
    for name, values in answers.items():
        shape = buffers[name].shape
        rule = rule_of[name].member or rule_of[name]
        if rule.kind in ("STAT", "META") or (rule.kind == "SUM" and name not in bounds):
            raise TridiffError(f"{name} is judged by the rule {rule_of[name]}, which a script cannot express",
                               fix="rerun it with `tridiff repro` instead")
        if rule_of[name].member is not None:
            shape = (values.shape[0], *shape)
        source = " and ".join(dict.fromkeys(one.source for one in references if name in one.outputs))
        judged_lanes = _as_shape(defined.get(name), buffers[name].shape)
        results[name] = Expected(values.contiguous().reshape(shape), rule_of[name], judged_lanes, source,
                                 bounds.get(name))
    return results


def _as_shape(defined: torch.Tensor | None, shape: tuple[int, ...]) -> torch.Tensor | None:
    if defined is None or tuple(defined.shape) == shape:
        return defined
    rows = defined.reshape(defined.shape[0], -1).all(1)
    return rows if tuple(rows.shape) == shape else None


def check_lines(expected: Mapping[str, Expected], buffers: Mapping[str, Buffer], *, failure_kind: str, launch: str,
                variants: tuple[str, ...], inputs: tuple[str, ...], tight: bool) -> tuple[tuple[str, ...], str]:
    """Statements behind the launch that print what they compare, and the expression that is true when all is right.

    launch: the statement itself, for checks that launch again; variants: the same under other compile options.
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
        lines.append(f"{label} = np.array({mask.tolist()})  # the contract leaves the other elements open")
    for name, one in expected.items():
        dtype = buffers[name].spec.dtype
        label = "expected" if len(expected) == 1 else f"expected_{name}"
        actual = literals.fetch(name, dtype)
        literal = literals.numpy_expression(one.values, name_of_tensor(one.values))
        lines.append(f"{label} = {literal}  # by {one.source}")
        shown.append(f'"{name}:", {actual}.tolist(), "expected:", {label}.tolist()')
        conditions.append(_same(actual, label, one, dtype, where.get(name, "")))
        if not tight:
            lines.append(f"print({shown.pop()})")
    if shown:
        lines.append(f"print({', '.join(shown)})")
    if failure_kind == "input_overwritten":
        conditions += [f"torch.equal({literals.as_bits(name, buffers[name].spec.dtype)}, {name}_before)"
                       for name in inputs]
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


def _repeated(outputs: list[str], launch: str, again: tuple[str, ...]) -> tuple[str, ...]:
    """The same launch again, or under other options, must give the same bits. outputs: expressions for the bits."""
    compare = f"same &= all(torch.equal(a, b) for a, b in zip(first, [{', '.join(outputs)}]))"
    lines = [f"first, same = [{', '.join(f'{one}.clone()' for one in outputs)}], True"]
    if set(again) == {launch}:
        return (*lines, f"for _ in range({len(again)}):", f"    {launch}", f"    {compare}")
    return (*lines, *(line for one in again for line in (one, compare)))


def _same(actual: str, expected: str, one: Expected, dtype: str, mask: str) -> str:
    """An expression that is true where the results agree under the output's rule. mask: a name, or nothing."""
    where = f"[..., {mask}]" if mask else ""
    left, right = f"{actual}{where}", f"{expected}{where}"
    info = dtype_info(dtype)
    rule = one.rule.member or one.rule
    relative, absolute = 0.0, "0"
    match rule.kind:
        case "SUM":
            assert one.bound is not None
            # Half an ulp for the rounding of the result, and as much again for that of the reference.
            rounded = name_of_tensor(one.values) == dtype
            relative = 2.0 ** -(info.mantissa_bits + (0 if rounded else 1)) if info.is_float else 0.0
            absolute = f"{literals.numpy_expression(one.bound.double(), 'fp64')}{where}"
        case "ULP":
            relative = (rule.k + 0.5) * 2.0 ** -info.mantissa_bits
        case "ABS":
            absolute = repr(rule.k)
        case "REL":
            relative = rule.k
        case _ if one.rule.member is None:
            return _equal(left, right, one, rule, is_float=info.is_float)
    close = f"np.isclose({left}, {right}, rtol={relative:.3g}, atol={absolute}, equal_nan=True)"
    return f"{close}.any(0).all()" if one.rule.member is not None else f"{close}.all()"


def _equal(left: str, right: str, one: Expected, rule: Rule, *, is_float: bool) -> str:
    if not is_float:
        return f"np.array_equal({left}, {right})"
    same = f"np.array_equal({left}, {right}, equal_nan=True)"
    if rule.kind in ("NUM", "BIT") and bool(bits.is_zero(one.values).any()):
        same += f" and np.array_equal(np.signbit({left}[{right} == 0]), np.signbit({right}[{right} == 0]))"
    return same
