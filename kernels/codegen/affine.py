"""Affine index expressions: offset + sum of stride * axis, with sizes as numbers."""

from collections.abc import Mapping
from dataclasses import dataclass

from tridiff.kernels.codegen.graph import Apply, Expr, Num, Sym


@dataclass(frozen=True, slots=True)
class Affine:
    """offset + sum of strides[axis] * axis; only nonzero strides are listed."""

    offset: int
    strides: Mapping[str, int]

    def span(self, lengths: Mapping[str, int]) -> tuple[int, int]:
        """Smallest and largest value where no axis is empty."""
        ends = [stride * max(lengths[axis] - 1, 0) for axis, stride in self.strides.items()]
        return self.offset + sum(end for end in ends if end < 0), self.offset + sum(end for end in ends if end > 0)

    def injective(self, lengths: Mapping[str, int]) -> bool:
        """True if different points of the axes `lengths` provably have different values."""
        reach = 0
        moving = [(abs(self.strides.get(axis, 0)), length) for axis, length in lengths.items() if length > 1]
        for stride, length in sorted(moving):
            if stride <= reach:
                return False
            reach += stride * (length - 1)
        return True


def affine(expr: Expr, *, axes: Mapping[str, int], sizes: Mapping[str, int]) -> Affine | None:
    """The affine form of an expression, or None if it has none that is plain to see."""
    if isinstance(expr, Num):
        return Affine(expr.value, {})
    if isinstance(expr, Sym):
        if expr.name in sizes:
            return Affine(sizes[expr.name], {})
        return Affine(0, {expr.name: 1}) if expr.name in axes else None
    if not isinstance(expr, Apply) or expr.function not in ("add", "mul", "neg"):
        return None
    parts = [affine(one, axes=axes, sizes=sizes) for one in expr.args]
    if expr.function == "neg":
        return _scaled(parts[0], -1)
    result: Affine | None = parts[0]
    for part in parts[1:]:
        if result is None or part is None:
            return None
        if expr.function == "add":
            strides = dict(result.strides)
            for axis, stride in part.strides.items():
                strides[axis] = strides.get(axis, 0) + stride
            result = Affine(result.offset + part.offset, {k: v for k, v in strides.items() if v})
        elif not part.strides:
            result = _scaled(result, part.offset)
        else:
            result = None if result.strides else _scaled(part, result.offset)
    return result


def _scaled(form: Affine | None, factor: int) -> Affine | None:
    if form is None:
        return None
    return Affine(form.offset * factor, {axis: s * factor for axis, s in form.strides.items() if s * factor})
