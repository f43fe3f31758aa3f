"""Index expressions in torch: int64, float64 and bool tensors (contract: kernels/codegen/notes.md).

Legal expressions stay within 64 bits at every point, so int64 is exact; quotients of larger integers than doubles
hold are formed by Python, element by element.
"""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from tridiff.kernels.codegen.graph import Apply, Expr, Num, Real, Sym, real_number
from tridiff.oracles.by_torch import pointwise

_EXACT_DOUBLE = 2**53
_ELEMENTARY: dict[str, Callable[[Tensor], Tensor]] = {
    name: getattr(torch, name)
    for name in ("cos", "cosh", "acos", "sin", "sinh", "asin", "tan", "tanh", "atan", "log2")
} | {"sqrt": lambda x: pointwise.evaluate("sqrt_rn", x)}  # torch's own is an ulp off for some doubles on the CPU
_TO_INTEGER: dict[str, Callable[[Tensor], Tensor]] = {
    "floor": torch.floor, "floor_to_int": torch.floor, "ceiling": torch.ceil, "ceil_to_int": torch.ceil,
    "trunc_to_int": torch.trunc, "round_to_int": torch.round}
_COMPARISONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
_FOLDS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": torch.add, "mul": torch.mul, "min": torch.minimum, "max": torch.maximum,
    "and": torch.logical_and, "or": torch.logical_or}


def evaluate(expr: Expr, symbols: Mapping[str, Tensor]) -> Tensor:
    """The value of an expression; symbols: axes, sizes and `v12` as int64 tensors that broadcast."""
    if isinstance(expr, Sym):
        return symbols[expr.name]
    device = next(iter(symbols.values())).device if symbols else torch.device("cpu")
    if isinstance(expr, Num):
        return torch.tensor(expr.value, dtype=torch.int64, device=device)
    if isinstance(expr, Real):
        return torch.tensor(real_number(expr.value), dtype=torch.float64, device=device)
    return _apply(expr, [evaluate(one, symbols) for one in expr.args])


def _apply(expr: Apply, args: list[Tensor]) -> Tensor:
    name, first = expr.function, args[0]
    if name in _FOLDS:
        found = first
        for one in args[1:]:
            found = _FOLDS[name](*_alike(found, one))
        return found
    if name in _COMPARISONS:
        return _COMPARISONS[name](*_alike(first, args[1]))
    if name == "where":
        return torch.where(first, *_alike(args[1], args[2]))
    if name == "not":
        return ~first
    if name in ("neg", "abs"):
        return -first if name == "neg" else first.abs()
    if name in _ELEMENTARY:
        return _ELEMENTARY[name](first.double())
    if name in _TO_INTEGER:
        return _TO_INTEGER[name](first).to(torch.int64) if first.is_floating_point() else first
    if name == "to_float":
        return first.double()
    if name == "round_decimal":
        return _by_element(lambda x, n: round(x, int(n)) if x - x == 0 else x, first.double(), args[1])
    if name == "float_true_div":
        return first.double() / args[1].double()
    if name == "float_pow":
        return torch.pow(first.double(), args[1].double())
    return _integer(name, args)


def _integer(name: str, args: list[Tensor]) -> Tensor:
    x, y = args[0], args[1]
    if name == "pow_by_natural":
        return torch.pow(*torch.broadcast_tensors(x, y))
    divisor = torch.where(y == 0, 1, y)
    if name == "int_true_div":
        if bool((x.abs() <= _EXACT_DOUBLE).all()) and bool((divisor.abs() <= _EXACT_DOUBLE).all()):
            return x.double() / divisor.double()
        return _by_element(lambda p, q: p / q, x, divisor)
    if name in ("floordiv", "cleandiv"):
        return torch.div(x, divisor, rounding_mode="floor")
    if name == "ceildiv":
        return -torch.div(-x, divisor, rounding_mode="floor")
    if name in ("mod", "python_mod"):
        return torch.remainder(x, divisor)
    assert name == "modular_indexing", name
    modulus = torch.where(args[2] == 0, 1, args[2])
    return torch.remainder(torch.div(x, divisor, rounding_mode="floor"), modulus)


def _alike(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Both as doubles if one is: an integer that meets a real is converted."""
    if a.is_floating_point() != b.is_floating_point():
        return a.double(), b.double()
    return a, b


def _by_element(function: Callable[..., float], *args: Tensor) -> Tensor:
    """float64 results of Python's own arithmetic."""
    wide = torch.broadcast_tensors(*args)
    flat = [function(*one) for one in zip(*(part.reshape(-1).tolist() for part in wide), strict=True)]
    return torch.tensor(flat, dtype=torch.float64, device=wide[0].device).reshape(wide[0].shape)
