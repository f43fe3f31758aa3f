"""Matrix products: every type of operands, precisions, accumulators."""

from typing import Any

from tridiff.fuzz.backends import lacking_type
from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Library, Row, Values
from tridiff.fuzz.language.texts import keywords
from tridiff.fuzz.versions import interprets_scaled_products
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, SET

_TYPES = ("fp16", "bf16", "fp32", "i8", "fp8e5", "fp8e4nv")


def _dot() -> Row:
    def draw(choices: Choices) -> Call:
        one = choices.dtype(_TYPES)
        m, n = choices.one((16, 32, 64)), choices.one((16, 32, 64))
        k = choices.one((32, 64) if dtype(one).bits == 8 else (16, 32, 64))
        operands: tuple[Operand, ...] = (choices.block(one, (m, k)), choices.block(one, (k, n)))
        result = "fp32" if dtype(one).is_float else "i32"
        options: Options = {}
        if one == "fp32" and choices.flag():
            options["input_precision"] = choices.one(("ieee", "tf32", "tf32x3"))
        elif one == "fp32" and choices.whole(0, 3) == 3:
            options["allow_tf32"] = choices.flag()
        if one.startswith("fp8") and choices.whole(0, 2) == 2:
            options["max_num_imprecise_acc"] = choices.one((0, 16, 32))
        batch = (choices.one((1, 2, 4)),) if choices.whole(0, 4) == 4 and m * n * k <= 1 << 15 else ()
        operands = tuple(choices.block(one, (*batch, *operand.shape)) for operand in operands)
        if choices.flag():
            operands += (choices.block(result, (*batch, m, n)),)
        return Call(row="tl.dot", operands=operands, options=options, stored=(result,))

    def refused(call: Call, backend: str) -> str:
        amd = backend.startswith("compile:gfx")
        return "AMD's compiler has no tf32x3" if amd and call.options.get("input_precision") == "tf32x3" else ""

    def text(call: Call) -> str:
        third = ", x2" if len(call.operands) > 2 else ""
        said = keywords(call, "input_precision", "allow_tf32", "max_num_imprecise_acc")
        return f"tl.dot(x0, x1{third}{said})"

    def bounds(call: Call, operands: Values) -> Values:
        one = call.operands[0].dtype
        precision = {"fp32": _precision(call), "fp16": "half", "bf16": "half"}.get(one, "fp8")
        shape = (*operands[0].shape[:-1], operands[1].shape[-1])
        # Of 8-bit floats the instruction cuts the accumulator, unless each of its sums is added outside of it.
        short = precision == "fp8" and not (
            operands[0].shape[-2] == 64 and call.option("max_num_imprecise_acc", 1 << 30) <= operands[0].shape[-1])
        found = bound_of_dot(_batched(operands), precision=precision, beyond=True, short=short)
        return (found.reshape(shape),)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        if call.stored[0] == "i32":
            return (lib.dot(*operands) if len(operands) < 3 else lib.products.saturating(*operands),)
        precision = _precision(call)
        narrowed = precision if call.operands[0].dtype == "fp32" and precision != "ieee" else ""
        found = lib.products.candidates(*_batched(operands), narrowed=narrowed)
        return (found.reshape(-1, *operands[0].shape[:-1], operands[1].shape[-1]),)

    def rules(call: Call) -> Values:
        if call.stored[0] == "fp32":
            return (SET(_rule()),)
        # Tensor cores saturate after each instruction; whatever else computes i8 wraps.
        return (SET(BIT) if len(call.operands) > 2 else BIT,)

    return Row(
        name="tl.dot", draw=draw, text=text, bounds=bounds,
        refused=refused, answer=answer, rules=rules,
        results=lambda call, version: (Result(dtype=call.stored[0], shape=(
            *call.operands[0].shape[:-1], call.operands[1].shape[-1])),),
        contents=lambda call: ("moderate", "moderate", "moderate") if call.stored[0] == "fp32" else ())


def _precision(call: Call) -> str:
    """In what fp32 operands are multiplied."""
    return str(call.option("input_precision", "tf32" if call.option("allow_tf32", True) else "ieee"))


def _batched(operands: Values) -> Values:
    """Matrices one after the other, those of every row of the batch in it."""
    return tuple(one.reshape(-1, *one.shape[-2:]) for one in operands)


def bound_of_dot(operands: Values, *, precision: str, beyond: bool = False, short: bool = False) -> Any:
    """Allowed errors of products of matrices, row by row of the batch, with an accumulator where there is a third
    operand. beyond: as for `dot_bound`, and with an accumulator that is infinite or NaN the result is what it makes it.
    short: whether every instruction (of 16 places or more) may cut the accumulator to the 13 bits of fp8 products.
    """
    import torch

    from tridiff.oracles.bits import to_float64
    from tridiff.oracles.tolerances import dot_bound, eps

    found = torch.stack([dot_bound(a, b, precision=precision, beyond=beyond)
                         for a, b in zip(*operands[:2], strict=True)])
    if len(operands) < 3:
        return found
    acc = to_float64(operands[2])
    product = to_float64(operands[0]).abs() @ to_float64(operands[1]).abs()
    # Two more roundings: of the accumulator's sum with the product; open where it may overflow.
    size = torch.where(torch.isfinite(acc), acc.abs(), 0.0)
    places = operands[0].shape[-1]
    found = found + 2 * places * eps("fp32") * size
    if short:
        # The accumulator and each product beside it are cut to the grid of the accumulator, as far as they are no less
        # than that; summands are aligned as if a subnormal one were the smallest normal number.
        grid = 2.0**-13 * torch.where(size > 0, size.clamp(min=2.0**-126), size)
        found = found + places / 16 * grid + torch.minimum(
            places * grid, torch.where(torch.isfinite(product), product, torch.inf))
    if beyond:
        return torch.where(torch.isfinite(acc), found, 0.0)
    return torch.where(torch.isfinite(acc) & (size + product < 3e38), found, torch.inf)


def _rule() -> Any:
    from tridiff.oracles.bounded import RULES

    return RULES["dot_bound"]


_FORMATS = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "e2m1": "u8"}


def places(call: Call) -> dict[str, int | None]:
    """Which operand of a scaled product is which; None for one that it does not have."""
    found: dict[str, int | None] = {}
    number = 0
    for name in ("lhs", "lhs_scale", "rhs", "rhs_scale", "acc"):
        found[name] = number if name in call.options else None
        number += name in call.options
    return found


def _scaled() -> Row:
    """Products of matrices in microscaling formats: every 32 elements along the inner axis share an exponent."""

    def draw(choices: Choices) -> Call:
        m, n, k = choices.one((32, 64)), choices.one((32, 64)), choices.one((64, 128))
        forms = tuple(choices.one(tuple(_FORMATS)) for _ in range(2))
        options: Options = {"lhs": forms[0], "rhs": forms[1]}
        operands = []
        for side, form, shape, inner in (("lhs", forms[0], (m, k), 1), ("rhs", forms[1], (k, n), 0)):
            packed = inner
            if form == "e2m1" and choices.whole(0, 3) == 3:
                options[f"{side}_k_pack"] = choices.flag()
                packed = inner if options[f"{side}_k_pack"] else 1 - inner
            held = tuple(extent // 2 if form == "e2m1" and axis == packed else extent
                         for axis, extent in enumerate(shape))
            bits = dtype(_FORMATS[form]).bits
            name = choices.often(_FORMATS[form], f"u{bits}")
            operands.append(choices.block(name, held))
            if form != "bf16" or choices.flag():
                options[f"{side}_scale"] = True
                operands.append(choices.block("u8", ((m, n)[side == "rhs"], k // 32)))
        if choices.flag():
            options["acc"] = True
            operands.append(choices.block("fp32", (m, n)))
        if choices.whole(0, 3) == 3:
            options["fast_math"] = choices.flag()
        return Call(row="tl.dot_scaled", operands=tuple(operands), options=options, stored=("fp32",))

    def text(call: Call) -> str:
        if not {call.options["lhs"], call.options["rhs"]} <= set(_FORMATS):
            raise ValueError("an operand of another format")
        said = {name: "None" if number is None else f"x{number}" for name, number in places(call).items()}
        acc = f", acc={said['acc']}" if "acc" in call.options else ""
        return (f"tl.dot_scaled({said['lhs']}, {said['lhs_scale']}, \"{call.options['lhs']}\", {said['rhs']}, "
                f"{said['rhs_scale']}, \"{call.options['rhs']}\"{acc}"
                f"{keywords(call, 'fast_math', 'lhs_k_pack', 'rhs_k_pack')})")

    def decoded(call: Call, lib: Library, operands: Values) -> Values:
        of = {name: None if number is None else operands[number] for name, number in places(call).items()}
        found = [lib.microscaled(of[side], of[f"{side}_scale"], form=str(call.options[side]), along=inner,
                                 packed=inner if call.option(f"{side}_k_pack", True) else 1 - inner)
                 for side, inner in (("lhs", 1), ("rhs", 0))]
        return (*found, *((of["acc"],) if of["acc"] is not None else ()))

    def bounds(call: Call, operands: Values) -> Values:
        import torch

        from tridiff.oracles.by_torch import language

        exact = decoded(call, language, operands)
        found = bound_of_dot(exact, precision="half")
        # What bf16 cannot hold overflows or loses bits before the product: open.
        sizes = [torch.where(torch.isfinite(one), one.abs(), 0.0) for one in exact[:2]]
        held = [(one < 2.0**127) & ((one > 2.0**-120) | (one == 0)) for one in sizes]
        return (torch.where(held[0].all(2).unsqueeze(2) & held[1].all(1).unsqueeze(1), found, torch.inf),)

    def contents(call: Call) -> tuple[str, ...]:
        words = {"lhs": "moderate", "rhs": "moderate", "acc": "moderate"}
        return tuple(words.get(name, "scale") if call.operands[number].dtype[0] != "u" or name.endswith("scale") else ""
                     for name, number in places(call).items() if number is not None)

    def results(call: Call, version: str) -> tuple[Result, ...]:
        of = places(call)
        scaled = []
        for side, axis in (("lhs", 0), ("rhs", 1)):
            extent = call.operands[of[side] or 0].shape[axis]
            apart = call.options[side] == "e2m1" and not call.option(f"{side}_k_pack", True)
            scaled.append(2 * extent if apart else extent)
        return (Result(dtype="fp32", shape=tuple(scaled)),)

    def refused(call: Call, backend: str) -> str:
        if backend.startswith("compile:gfx"):
            return "AMD's conversion of formats is another"
        # Bytes are taken for numbers of the type of the format that the call names.
        return lacking_type(backend, (_FORMATS[str(call.options[side])] for side in ("lhs", "rhs")))

    def unknown(call: Call, backend: str) -> str:
        if backend == "interpreter" and not interprets_scaled_products():
            return "this Triton's interpreter has no products in microscaling formats"
        return ""

    return Row(
        name="tl.dot_scaled", draw=draw, text=text, bounds=bounds,
        results=results, answer=lambda call, lib, operands: (lib.dot(*decoded(call, lib, operands)),), refused=refused,
        unknown=unknown, rules=lambda call: (_rule(),), contents=contents)


ROWS = (_dot(), _scaled())
