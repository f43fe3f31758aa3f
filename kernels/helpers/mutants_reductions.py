"""Faults of the simple reductions."""

from tridiff.kernels.helpers.mutant_table import Edit, Fault, mutant_table

_PRODUCT = "tl.reduce(input, axis, _prod_accumulate)"
_ANY = "tl.reduce(a, dim, _any_combine)"


def _without_last_lane(reduction: str, x: str, axis: str, neutral: int) -> Edit:
    """The last lane of the 2-D block x along the axis is neutral."""
    return (reduction, reduction.replace(
        f"({x}, ", f"(tl.where(tl.expand_dims(tl.arange(0, {x}.shape[{axis}]), 1 - {axis}) == {x}.shape[{axis}] - 1, "
        f"{neutral}, {x}).to({x}.dtype), "))


MUTANTS = mutant_table("reductions", {
    "prod": {
        "sum_for_product": Fault("Adds: [2, 3] gives 5.", ("return a * b", "return a + b"),
                                 ("a.to(tl.float32) * b.to(tl.float32)", "a.to(tl.float32) + b.to(tl.float32)")),
        "zero_ignored": Fault(
            "Skips zeros: [0, 3] gives 3.",
            (_PRODUCT, "tl.reduce(tl.where(input == 0, 1, input).to(input.dtype), axis, _prod_accumulate)")),
        "sign_lost": Fault(
            "Multiplies magnitudes: [-2, 3] gives 6. Right for unsigned numbers.",
            (_PRODUCT, "tl.reduce(tl.where(input < 0, -input, input).to(input.dtype), axis, _prod_accumulate)")),
        "in_fp32": Fault(
            "Rounds every product to 24 bits: [4097, 4097] gives 16785408 instead of 16785409. Right for short types.",
            ("return a * b", "return (a.to(tl.float32) * b.to(tl.float32)).to(a.dtype)")),
        "last_lane_ignored": Fault("Leaves the last lane of the block out: a full block [2, 3] gives 2.",
                                   _without_last_lane(_PRODUCT, "input", "axis", 1))},
    "any": {
        "all_for_any": Fault("AND: [True, False] gives False.", ("return a | b", "return a & b")),
        "parity_for_any": Fault("XOR: [True, True] gives False.", ("return a | b", "return a ^ b")),
        "truth_value": Fault(
            "A truth value where the contract has an OR of bits: [2, 4] gives 1 instead of 6. Right for Booleans.",
            ("return a | b", "return ((a != 0) | (b != 0)).to(a.dtype)")),
        "last_lane_ignored": Fault("Leaves the last lane of the block out: a full block [False, True] gives False.",
                                   _without_last_lane(_ANY, "a", "dim", 0)),
        "inverted": Fault("NOR: [False, False] gives True.", (_ANY, f"~{_ANY}"))}})
