"""Matrix products: every type of operands, precisions, accumulators."""

from typing import Any

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Library, Row
from tridiff.fuzz.language.texts import keywords
from tridiff.kernels.language.call import Call, Operand, Result
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT

_TYPES = ("fp16", "bf16", "fp32", "i8", "fp8e5", "fp8e4nv")


def _dot() -> Row:
    def draw(choices: Choices) -> Call:
        one = choices.dtype(_TYPES)
        m, n = choices.one((16, 32, 64)), choices.one((16, 32, 64))
        k = choices.one((32, 64) if dtype(one).bits == 8 else (16, 32, 64))
        operands: tuple[Operand, ...] = (choices.block(one, (m, k)), choices.block(one, (k, n)))
        result = "fp32" if dtype(one).is_float else "i32"
        options: dict[str, bool | int | str] = {}
        if one == "fp32" and choices.flag():
            options["input_precision"] = choices.one(("ieee", "tf32", "tf32x3"))
        if choices.flag():
            operands += (choices.block(result, (m, n)),)
        return Call(row="tl.dot", operands=operands, options=options, stored=(result,))

    def refused(call: Call, backend: str) -> str:
        amd = backend.startswith("compile:gfx")
        return "AMD's compiler has no tf32x3" if amd and call.options.get("input_precision") == "tf32x3" else ""

    def text(call: Call) -> str:
        third = ", x2" if len(call.operands) > 2 else ""
        return f"tl.dot(x0, x1{third}{keywords(call, 'input_precision')})"

    def bounds(call: Call, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        import torch

        one = call.operands[0].dtype
        exact = str(call.option("input_precision", "tf32"))
        precision = {"fp32": exact, "fp16": "half", "bf16": "half"}.get(one, "fp8")
        found = bound_of_dot(operands, precision=precision)
        if precision.startswith("tf32"):
            # A NaN whose payload lies below tf32's bits alone is an infinity there.
            lost = [(one.isnan() & ((one.view(torch.int32) & 0x7FE000) == 0)).any(axis) for one, axis in (
                (operands[0], 2), (operands[1], 1))]
            found = torch.where(lost[0].unsqueeze(2) | lost[1].unsqueeze(1), torch.inf, found)
        return (found,)

    def defined(call: Call, lib: Library, operands: tuple[Any, ...]) -> tuple[Any, ...]:
        import torch

        if call.stored[0] == "fp32" or len(operands) < 3:
            return (torch.ones((operands[0].shape[0], call.operands[0].shape[0], call.operands[1].shape[1]),
                               dtype=torch.bool, device=operands[0].device),)
        # Tensor cores saturate a sum that leaves i32.
        exact = lib.dot(*operands[:2]).to(torch.int64) + operands[2].to(torch.int64)
        return (exact == exact.to(torch.int32),)

    return Row(
        name="tl.dot", topic="products", covers=("tl.dot",), draw=draw, text=text, bounds=bounds, defined=defined,
        refused=refused,
        results=lambda call, version: (Result(dtype=call.stored[0], shape=(call.operands[0].shape[0],
                                                                           call.operands[1].shape[1])),),
        answer=lambda call, lib, operands: (lib.dot(*operands),),
        rules=lambda call: (_rule() if call.stored[0] == "fp32" else BIT,),
        contents=lambda call: ("moderate", "moderate", "moderate") if call.stored[0] == "fp32" else ())


def bound_of_dot(operands: tuple[Any, ...], *, precision: str) -> Any:
    """Allowed errors of products of matrices, row by row of the batch, with an accumulator where there is a third
    operand."""
    import torch

    from tridiff.oracles.bits import to_float64
    from tridiff.oracles.tolerances import dot_bound, eps

    found = torch.stack([dot_bound(a, b, precision=precision) for a, b in zip(*operands[:2], strict=True)])
    if len(operands) < 3:
        return found
    acc = to_float64(operands[2])
    product = to_float64(operands[0]).abs() @ to_float64(operands[1]).abs()
    # Two more roundings: of the accumulator's sum with the product; open where it may overflow.
    size = torch.where(torch.isfinite(acc), acc.abs(), 0.0)
    found = found + 2 * operands[0].shape[-1] * eps("fp32") * size
    return torch.where(torch.isfinite(acc) & (size + product < 3e38), found, torch.inf)


def _rule() -> Any:
    from tridiff.oracles.bounded import RULES

    return RULES["dot_bound"]


ROWS = (_dot(),)
