"""What the contract (launch.md §10) says of Triton's element types as Python objects: name, widths, questions."""

from dataclasses import dataclass

from tridiff.fuzz.launching.scene import Answers, Choices


@dataclass(frozen=True)
class _Type:
    """A type under Triton's own name. bits: of a value. mantissa, bias: of floats."""

    name: str
    bits: int
    mantissa: int = 0
    bias: int = 0

    @property
    def signed(self) -> bool:
        return self.name.startswith("int") and self.bits > 1

    @property
    def unsigned(self) -> bool:
        """i1 counts among them."""
        return not self.mantissa and self.bits > 0 and not self.signed


TYPES: dict[str, _Type] = {
    "int32": _Type("int32", 32), "int1": _Type("int1", 1), "int8": _Type("int8", 8), "int16": _Type("int16", 16),
    "int64": _Type("int64", 64), "uint8": _Type("uint8", 8), "uint16": _Type("uint16", 16),
    "uint32": _Type("uint32", 32), "uint64": _Type("uint64", 64), "float16": _Type("fp16", 16, 10, 15),
    "bfloat16": _Type("bf16", 16, 7, 127), "float32": _Type("fp32", 32, 23, 127),
    "float64": _Type("fp64", 64, 52, 1023), "float8e4nv": _Type("fp8e4nv", 8, 3, 7),
    "float8e5": _Type("fp8e5", 8, 2, 15), "float8e4b8": _Type("fp8e4b8", 8, 3, 8),
    "float8e4b15": _Type("fp8e4b15", 8, 3, 15), "float8e5b16": _Type("fp8e5b16", 8, 2, 16), "void": _Type("void", 0),
}
"""By the name in `triton.language`."""


def types(choices: Choices, version: str) -> Answers:
    one = TYPES[str(choices["type"])]
    integer = one.signed or one.unsigned
    # `is_void` is for whoever derives a class, and raises an exception here.
    found = {f"is_{other.name}": str(other is one) for other in TYPES.values() if other.bits}
    found |= {
        "name": one.name, "primitive_bitwidth": str(one.bits), "itemsize": str(one.bits // 8),
        "is_fp8": str(one.bits == 8 and one.mantissa > 0), "is_int": str(integer), "is_int_signed": str(one.signed),
        "is_int_unsigned": str(one.unsigned), "is_floating": str(one.mantissa > 0),
        "is_standard_floating": str(one.mantissa > 0 and one.bits > 8), "is_bool": str(one.bits == 1),
        "is_ptr": "False", "is_block": "False", "is_const": "False"}
    if integer:
        low, high = (-(1 << one.bits - 1), (1 << one.bits - 1) - 1) if one.signed else (0, (1 << one.bits) - 1)
        found |= {"int_bitwidth": str(one.bits), "get_int_min_value": str(low), "get_int_max_value": str(high)}
    if one.mantissa:
        found |= {"fp_mantissa_width": str(one.mantissa), "exponent_bias": str(one.bias)}
    if one.bits:
        found["kind"] = "BOOLEAN" if one.bits == 1 else "INTEGRAL" if integer else "FLOATING"
    return found
