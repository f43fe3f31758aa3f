"""What a script compares: expected results as literals and the expressions that hold the actual ones against them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from fuzz.backends.launch import resolve
from fuzz.content.place import Buffer
from fuzz.errors import TridiffError
from fuzz.records import Case
from fuzz.repro import literals
from fuzz.target import Reference, Target
from oracles import arrays, bits
from oracles.dtypes import dtype as dtype_info
from oracles.rules import Rule


@dataclass(frozen=True)
class Expected:
    """The right answer for one output. values: contiguous, in the output's dtype. defined: where the contract says
    anything, None for everywhere. source: the oracles that gave it."""

    values: torch.Tensor
    rule: Rule
    defined: torch.Tensor | None
    source: str


def expected_results(case: Case, target: Target, buffers: Mapping[str, Buffer]) -> dict[str, Expected]:
    """What the target's first reference gives for the whole case, by output."""
    if any(0 in buffer.shape for buffer in buffers.values()):
        raise TridiffError("the case is empty: there is nothing to show", fix="choose another entry")
    rule_of = target.rules(case)
    defined = None
    found = target.defined(case)
    if found is not None:
        function, names = found
        mask = resolve(function)(*(_values(buffers[name]) for name in names))
        if isinstance(mask, torch.Tensor) and not bool(mask.all()):
            defined = mask
    references = target.oracles(case)
    first = references[0]
    results: dict[str, Expected] = {}
    for name, values in zip(first.outputs, _call(first, case, buffers), strict=True):
        spec = buffers[name].spec
        if rule_of[name].kind in ("SUM", "SET", "STAT", "META"):
            raise TridiffError(f"{name} is judged by the rule {rule_of[name]}, which a script cannot express",
                               fix="rerun it with `tridiff repro` instead")
        own = bits.from_bits(bits.to_bits(values.contiguous()), spec.dtype) if spec.dtype != "i1" else values
        results[name] = Expected(own.reshape(buffers[name].shape), rule_of[name],
                                 _as_shape(defined, buffers[name].shape), " and ".join(
                                     dict.fromkeys(one.source for one in references if name in one.outputs)))
    return results


def _as_shape(defined: torch.Tensor | None, shape: tuple[int, ...]) -> torch.Tensor | None:
    if defined is None or tuple(defined.shape) == shape:
        return defined
    rows = defined.reshape(defined.shape[0], -1).all(1)
    return rows if tuple(rows.shape) == shape else None


def _values(buffer: Buffer) -> torch.Tensor:
    assert buffer.values is not None
    return buffer.values


def _call(reference: Reference, case: Case, buffers: Mapping[str, Buffer]) -> tuple[torch.Tensor, ...]:
    positional: list[Any] = []
    keywords: dict[str, Any] = {}
    for argument in reference.arguments:
        name, equals, param = argument.partition("=")
        if equals:
            keywords[name] = case.params[param] if param in case.params else case.sizes[param]
            continue
        values = _values(buffers[name])
        positional.append(values if reference.source == "torch" else arrays.to_numpy(values))
    result = resolve(reference.function)(*positional, **keywords)
    several = result if isinstance(result, tuple) else (result,)
    return tuple(one if isinstance(one, torch.Tensor) else arrays.to_torch(one) for one in several)


def check_lines(expected: Mapping[str, Expected], buffers: Mapping[str, Buffer], *, failure_kind: str, launch: str,
                variants: tuple[str, ...], inputs: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Statements behind the launch that print what they compare, and the expression that is true when all is right.

    launch: the statement itself, for checks that launch again; variants: the same under other compile options.
    """
    if failure_kind in ("nondeterministic", "option_dependent"):
        again = variants if failure_kind == "option_dependent" and variants else (launch,) * 20
        return _repeated(tuple(expected), launch, again), "same"
    lines: list[str] = []
    conditions: list[str] = []
    for name, one in expected.items():
        dtype = buffers[name].spec.dtype
        label = "expected" if len(expected) == 1 else f"expected_{name}"
        actual = literals.fetch(name, dtype)
        lines.append(f"{label} = {literals.numpy_expression(one.values, dtype)}  # by {one.source}")
        lines.append(f'print("{name}:", {actual}.tolist(), "expected:", {label}.tolist())')
        conditions.append(_same(actual, label, one, dtype))
    if failure_kind == "input_overwritten":
        conditions += [f"bool(({name}.view(torch.uint8) == {name}_before).all())" for name in inputs]
    if failure_kind == "out_of_bounds":
        lines.append(f"right = {' and '.join(conditions)}")
        conditions = ["right"]
        for name in expected:
            stored = literals.storage_dtype(buffers[name].spec.dtype)
            lines.append(f"{name}.view({stored}).fill_({name}_memory[0])  # what is left lies outside the array")
            conditions.append(f"bool(({name}_memory == {name}_memory[0]).all())")
    if len(conditions) == 1:
        return tuple(lines), conditions[0]
    for number, condition in enumerate(conditions):
        lines.append(f"ok {'&=' if number else '='} {condition}")
    return tuple(lines), "ok"


def _repeated(names: tuple[str, ...], launch: str, again: tuple[str, ...]) -> tuple[str, ...]:
    """The same launch again, or under other options, must give the same bits."""
    compare = (f"same &= all(torch.equal(a.view(torch.uint8), b.view(torch.uint8)) "
               f"for a, b in zip(first, [{', '.join(names)}]))")
    lines = [f"first, same = [{', '.join(f'{name}.clone()' for name in names)}], True"]
    if set(again) == {launch}:
        return (*lines, f"for _ in range({len(again)}):", f"    {launch}", f"    {compare}")
    return (*lines, *(line for one in again for line in (one, compare)))


def _same(actual: str, expected: str, one: Expected, dtype: str) -> str:
    """An expression that is true where the results agree under the output's rule."""
    where = ""
    if one.defined is not None:
        where = f"[np.array({one.defined.tolist()})]"  # the contract leaves the other elements open
    left, right = f"{actual}{where}", f"{expected}{where}"
    info = dtype_info(dtype)
    match one.rule.kind:
        case "ULP":
            ulp = 2.0 ** -info.mantissa_bits
            return f"np.allclose({left}, {right}, rtol={(one.rule.k + 0.5) * ulp:.3g}, atol=0, equal_nan=True)"
        case "ABS":
            return f"np.allclose({left}, {right}, rtol=0, atol={one.rule.k!r}, equal_nan=True)"
        case "REL":
            return f"np.allclose({left}, {right}, rtol={one.rule.k!r}, atol=0, equal_nan=True)"
    if not info.is_float:
        return f"np.array_equal({left}, {right})"
    same = f"np.array_equal({left}, {right}, equal_nan=True)"
    zeros = bits.is_zero(one.values)
    if one.rule.kind in ("NUM", "BIT") and bool(zeros.any()):
        same += f" and np.array_equal(np.signbit({left}[{right} == 0]), np.signbit({right}[{right} == 0]))"
    return same
