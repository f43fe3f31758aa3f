"""Faults of the type probes."""

from tridiff.kernels.helpers.mutant_table import Edit, Fault, mutant_table

_PROMOTED = "return tl.where(tl.full((1,), True, tl.int1), x, x)"
_FLOATING = "as_tensor(x).dtype.is_floating()"


def _as_int32_where(condition: str) -> Edit:
    """A tensor comes back as int32 if this is true of `kind`, its type."""
    return (_PROMOTED, "kind: tl.constexpr = as_tensor(x).dtype\n"
            f"    wide: tl.constexpr = tl.int32 if {condition} else kind\n    {_PROMOTED}.to(wide)")


MUTANTS = mutant_table("probes", {
    "promote_to_tensor": {
        "bf16_widened": Fault("Adds a Boolean zero: bf16 comes back as fp32. Otherwise right.",
                              (_PROMOTED, "return x + tl.zeros((1,), tl.int1)")),
        "bool_widened": Fault("i1 comes back as int32.", _as_int32_where("kind == tl.int1")),
        "rank_kept": Fault("Scalars stay scalars.", (_PROMOTED, "return as_tensor(x)")),
        "minus_zero_lost": Fault(
            "-0.0 becomes 0.0.",
            (_PROMOTED, "kind: tl.constexpr = as_tensor(x).dtype\n"
             "    zero: tl.constexpr = 0.0 if kind.is_floating() else 0\n"
             "    tensor = tl.where(tl.full((1,), True, tl.int1), x, x)\n"
             "    return tl.where(tensor == 0, zero, tensor).to(kind)")),
        "narrow_integers_widened": Fault(
            "8- and 16-bit integers come back as int32.",
            _as_int32_where("kind.is_int() and (kind.primitive_bitwidth == 8 or kind.primitive_bitwidth == 16)"))},
    "is_floating": {
        "fp8_forgotten": Fault("False for the 8-bit floats.",
                               (_FLOATING, f"{_FLOATING} and as_tensor(x).dtype.primitive_bitwidth > 8")),
        "bf16_forgotten": Fault("False for bf16.", (_FLOATING, f"{_FLOATING} and as_tensor(x).dtype != tl.bfloat16")),
        "fp64_forgotten": Fault("False for fp64.",
                                (_FLOATING, f"{_FLOATING} and as_tensor(x).dtype.primitive_bitwidth < 64")),
        "bool_counted": Fault("True for i1.", (_FLOATING, f"{_FLOATING} or as_tensor(x).dtype == tl.int1")),
        "inverted": Fault("True for integers.", (_FLOATING, "as_tensor(x).dtype.is_int()"))}})
