"""The two references of a single operation: the torch expression run eagerly, the numpy expression, and the bounds.

Eager torch runs on the CPU, where its results are documented, and never sees the compiler. Real-valued operations are
evaluated in float64 and judged by the oracles' ULP figures; exact ones in their own types.
"""

import math
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from scipy import special

from tridiff.fuzz.inductor.operations import FULL, OPERATIONS, Operation
from tridiff.fuzz.records import Case
from tridiff.oracles import tolerances
from tridiff.oracles.arrays import to_numpy, to_torch
from tridiff.oracles.by_numpy import bounded_ops, conversions, search
from tridiff.oracles.by_numpy.bounded import Real, cast_real, exact_real
from tridiff.oracles.by_numpy.functions import FUNCTIONS
from tridiff.oracles.by_numpy.special import SPECIAL
from tridiff.oracles.by_torch import search as torch_search
from tridiff.oracles.dtypes import NAMES, Array, dtype, name_of_array, name_of_torch, numpy_dtype
from tridiff.oracles.errors import OracleError

NO_DTYPE = -1
"""What stands for the type of a result that has no name here, or another shape than it must."""


TINY = 5e-324
"""What stands for a sum of zero, whose sign the contract leaves open: within its bound of either zero."""


_LOOSE = ("sinh", "cosh", "i0", "i1", "sqrt")
"""Operations whose code in eager torch is less accurate than oracles.md §3 has it."""


def operation_of(case: Case) -> Operation:
    """The operation that a case is about."""
    return OPERATIONS[str(case.params["op"])]


def type_code(kind: torch.dtype) -> int:
    """A type as a number that fits an output array."""
    try:
        return NAMES.index(name_of_torch(kind))
    except OracleError:
        return NO_DTYPE


@cache
def _compiled(text: str) -> Any:
    return compile(text, f"<{text}>", "eval")


def _torch(expression: str, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    names = ("a", "b", "c")[:len(inputs)]
    found = eval(_compiled(expression.format(*names)), {"torch": torch}, dict(zip(names, inputs, strict=True)))
    assert isinstance(found, torch.Tensor)
    return found


def by_torch(case: Case, *inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(result, code of the result's type) of eager torch on the CPU, on the device of the inputs."""
    operation, device = operation_of(case), inputs[0].device
    host = tuple(one.cpu() for one in inputs)
    eager = _torch(operation.torch, tuple(one[:1] for one in host) if operation.family == "pointwise" else host)
    if _inexact(operation):
        wide = tuple(one.double() if one.is_floating_point() else one for one in host)
        result = _exact_root(*wide) if operation.name == "sqrt" else _torch(operation.torch, wide)
        if operation.judging != "real":
            result = torch.where(result == 0, TINY, result)
    else:
        result = eagerly(operation, host)
    return result.to(device), torch.tensor([type_code(eager.dtype)], dtype=torch.int32, device=device)


def eagerly(operation: Operation, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """The torch expression on CPU tensors, one element at a time where the vector code cannot be trusted.

    Elementary functions of halves are computed in fp32 and rounded once, as torch's scalar code does. Its vector code
    for halves has other approximations: erf within 6e-8 and not within rounding, so that erf(1e-7) is 0, sinh and cosh
    infinite from 88.7 on, in fp32 too (AVX-512, torch 2.11 and 2.13). The series of i1 in fp32 is off by up to 15.3
    ulps (at 7.51), that of i0 by 4.4. Such code is not what torch.compile is asked about. Nor is C's fmin and fmax of a
    signalling NaN, which is one, unlike that of a quiet NaN (C23, F.10.9.2); nor the NaN that torch before 2.13 has for
    numbers beyond fp8e4nv, to which the contract saturates.
    """
    if operation.name in ("fmin", "fmax"):
        inputs = tuple(torch.where(torch.isnan(one), torch.nan, one) for one in inputs)
    if operation.family == "conversion" and operation.result == "fp8e4nv":
        inputs = tuple(map(_within_fp8e4nv, inputs))
    held = inputs[0].dtype
    if operation.judging == "real" and (held in (torch.float16, torch.bfloat16) or operation.name in _LOOSE):
        wider = torch.float64 if operation.name in _LOOSE else torch.float32
        wide = tuple(one.to(wider) if one.is_floating_point() else one for one in inputs)
        return (_exact_root(*wide) if operation.name == "sqrt" else _torch(operation.torch, wide)).to(held)
    if not operation.alone:
        return _torch(operation.torch, inputs)
    return torch.cat([_torch(operation.torch, tuple(one[i:i + 1] for one in inputs))
                      for i in range(inputs[0].shape[0])])


def _within_fp8e4nv(x: torch.Tensor) -> torch.Tensor:
    """Numbers beyond the range as its ends; NaN stays."""
    wide = x.is_floating_point() or x.element_size() > 1
    most = float(dtype("fp8e4nv").max)
    return torch.clamp(x, -most if x.dtype.is_signed else 0, most).to(x.dtype) if wide else x


def _inexact(operation: Operation) -> bool:
    return operation.judging not in ("exact", "unsigned_zero")


def by_numpy(case: Case, *inputs: Array) -> tuple[Array, Array]:
    """(result, code of the type that torch documents): the numpy expression, of the result's type; unrounded float64
    for real-valued operations."""
    operation = operation_of(case)
    names = ("a", "b", "c")[:len(inputs)]
    operands = [_widened(one, operation) for one in inputs]
    with np.errstate(all="ignore"):
        found = eval(_compiled(operation.numpy.format(*names)), dict(_FUNCTIONS),
                     dict(zip(names, operands, strict=True)))
    name = operation.result_dtype(tuple(name_of_array(one) for one in inputs))
    result = np.asarray(found)
    wanted = np.dtype(np.float64) if _inexact(operation) else numpy_dtype(name)
    code = np.array([NAMES.index(name)], dtype=np.int32)
    result = result if result.dtype == wanted else np.asarray(result.astype(wanted))
    if _inexact(operation) and operation.judging != "real":
        result = np.where(result == 0, TINY, result)
    return result, code


def _widened(one: Array, operation: Operation) -> Array:
    if _inexact(operation) and dtype(name_of_array(one)).is_float:
        return np.asarray(one.astype(np.longdouble if operation.family != "pointwise" else np.float64))
    return one


def defined(case: Case, *inputs: torch.Tensor) -> torch.Tensor:
    """Where torch promises a result; only for operations that do not promise one everywhere."""
    operation = operation_of(case)
    if operation.family == "bucketize":
        right = "right=True" in operation.torch
        return torch_search.bucketize_defined(inputs[0][None], inputs[1][None], right=right)[0]
    return _torch(operation.defined, inputs)


def bound(case: Case, *inputs: torch.Tensor) -> torch.Tensor:
    """Allowed errors beyond the rounding of the result: of accumulating operations along the last axis (halves
    accumulate in fp32 and are rounded once), of elementary functions per element."""
    operation = operation_of(case)
    if operation.judging == "real":
        return to_torch(_elementary(operation, *map(to_numpy, inputs)), device=inputs[0].device)
    (x,) = inputs
    acc = name_of_torch(x.dtype)
    return _BOUNDS[operation.judging](x, acc=acc if acc in FULL else "fp32") + 2 * TINY


def _elementary(operation: Operation, *inputs: Array) -> Array:
    """How far a function of fp32 or halves, computed in fp32, may lie from the unrounded value: its accuracy, and what
    library functions flush; infinite where a flushed operand leaves anything possible (oracles.md §3)."""
    name = name_of_array(inputs[0])
    held = "fp64" if name == "fp64" else "fp32"
    parts = [exact_real(held, np.asarray(one.astype(np.float64))) for one in inputs]
    with np.errstate(all="ignore"):
        if operation.name == "xlogy":
            logarithm = bounded_ops.apply("log", parts[1:])
            found = bounded_ops.apply("mul", (parts[0], logarithm))
            assert isinstance(found, Real)
            # 0 for x = 0, whatever y is but NaN.
            found = Real(held, found.value, np.where((parts[0].value == 0) & ~np.isnan(parts[1].value), 0.0,
                                                       found.error))
        else:
            answer = bounded_ops.apply(operation.name, parts)
            assert isinstance(answer, Real)
            found = answer
        if name != held:
            # A blurred value near the end of the range is infinite or not.
            found = cast_real(found, name)
    return found.error


def _variance(x: torch.Tensor, *, acc: str) -> torch.Tensor:
    variance, mean = torch.var_mean(x.double(), -1, correction=0)
    found = tolerances.two_pass_variance_bound(x, mean, variance, acc=acc)
    # The sum of squares may leave the range although the variance does not.
    overflows = variance * x.shape[-1] > float(dtype(acc).max)
    return torch.where(overflows, torch.inf, found)


_BOUNDS: dict[str, Callable[..., torch.Tensor]] = {
    "sum": tolerances.sum_bound, "mean": tolerances.mean_bound, "prefix_sum": tolerances.prefix_sum_bound,
    "variance": _variance,
}


def _cumulative(x: Array, better: Callable[[Any, Any], bool]) -> tuple[Array, Array]:
    """Running extremum with its position: later ties win, NaN stays and every further one is the later tie."""
    values, positions = x.copy(), np.zeros(x.shape, dtype=np.int64)
    for line, out, where in zip(x, values, positions, strict=True):
        best, at = line[0], 0
        for i, value in enumerate(line):
            if value != value or (best == best and better(value, best)):
                best, at = value, i
            out[i], where[i] = best, at
    return values, positions


def _sorted(x: Array, descending: bool) -> tuple[Array, Array]:
    """Stable, NaN largest."""
    whole = not dtype(name_of_array(x)).is_float
    rank: Array = x.astype(np.int64 if whole else np.float64)
    not_a_number = rank != rank
    if descending:
        # Complement, not negation: the smallest integer has no negative.
        rank = np.invert(rank) if whole else -np.where(not_a_number, 0, rank)
    order = np.lexsort((rank, not_a_number != descending), axis=-1)
    return np.take_along_axis(x, order, -1), order.astype(np.int64)


def _welford_mean(x: Array) -> Array:
    """The mean as a Welford pass from the left leaves it: an infinity that comes last is the mean of the row, and one
    that others follow makes NaN, as infinity minus infinity (oracles.md §6)."""
    whole, last = np.isfinite(x), x[..., -1]
    follows = whole[..., :-1].all(-1) & np.isinf(last)
    return np.where(whole.all(-1), x.mean(-1), np.where(follows, last, np.nan))


def _bucketize(values: Array, boundaries: Array, right: bool) -> Array:
    return search.bucketize(values[None], boundaries[None], right=right)[0]


def _exact_root(x: torch.Tensor) -> torch.Tensor:
    """Square roots of float64 by the C library: those of MKL, which torch takes on some CPUs, are an ulp off."""
    roots = [math.sqrt(one) if one >= 0 else one if one == 0 else math.nan for one in x.reshape(-1).tolist()]
    return torch.tensor(roots, dtype=torch.float64, device=x.device).reshape(x.shape)


# scipy loses digits, overflows early, and has no signs of zero: `oracles.by_numpy.special`; its erfc of 23 is off by
# 200 ulps.
_SPECIAL = SimpleNamespace(expit=special.expit, xlogy=special.xlogy, erf=FUNCTIONS["erf"], erfc=FUNCTIONS["erfc"],
                           **{name: SPECIAL[name] for name in ("erfinv", "i0", "i1")})

_FUNCTIONS = {
    "np": np, "special": _SPECIAL, "numpy_dtype": numpy_dtype, "sort": _sorted, "bucketize": _bucketize,
    "welford_mean": _welford_mean, "convert": lambda x, to: conversions.convert(x, to=to),
    "cummax": lambda x: _cumulative(x, lambda a, b: a >= b), "cummin": lambda x: _cumulative(x, lambda a, b: a <= b),
}
