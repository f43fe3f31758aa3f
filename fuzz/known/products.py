"""Known issues of products of matrices in microscaling formats."""

from msgspec.structs import replace

from tridiff.fuzz.known.calls import changed
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.language.cases import call_of
from tridiff.fuzz.language.rows.products import places
from tridiff.fuzz.records import Case, Constant, Content, Small
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call

_LARGEST_BYTE = 100
"""1024.0 in fp8e5; from 124 on, bytes of either sign are infinities and NaNs."""


def _sides(case: Case) -> tuple[str, ...]:
    """Names of the arrays of a scaled product that hold fp8e5, as such or as bytes."""
    call = case.program
    if not isinstance(call, Call) or call.row != "tl.dot_scaled":
        return ()
    return tuple(f"x{places(call)[side]}" for side in ("lhs", "rhs") if call.option(side) == "e5m2")


def _of_numbers(case: Case) -> Case:
    """The scaled product with neither infinities nor NaNs of fp8e5."""
    bytes_, floats = Small(low=0, high=_LARGEST_BYTE), Small(low=-4, high=4)
    return replace(case, arrays=tuple(
        replace(spec, content=Content(base=bytes_ if spec.dtype == "u8" else floats)) if spec.name in _sides(case)
        else spec for spec in case.arrays))


_ONE = "16256"
"""The bits of 1.0 in bf16."""


def _of_ones(case: Case) -> Case:
    """The scaled product with 1.0 in every operand of bf16."""
    call = case.program
    if not isinstance(call, Call) or call.row != "tl.dot_scaled":
        return case
    names = {f"x{places(call)[side]}" for side in ("lhs", "rhs") if call.option(side) == "bf16"}
    return replace(case, arrays=tuple(
        replace(spec, content=Content(base=Constant(value="1.0" if spec.dtype == "bf16" else _ONE)))
        if spec.name in names else spec for spec in case.arrays))


def _packed_otherwise(case: Case) -> tuple[str, ...]:
    """Sides of a scaled product that are of fp4, two numbers to a byte along m or n."""
    call = case.program
    if not isinstance(call, Call) or call.row != "tl.dot_scaled":
        return ()
    return tuple(side for side in ("lhs", "rhs") if call.option(side) == "e2m1"
                 and not call.option(f"{side}_k_pack", True))


def _packed_along_k(case: Case) -> Case | None:
    """The scaled product with bytes of two numbers that lie beside each other along k, which is the default."""
    call, operands = call_of(case), list(call_of(case).operands)
    for side in _packed_otherwise(case):
        number = places(call)[side] or 0
        rows, columns = operands[number].shape
        shape = (rows * 2, columns // 2) if side == "lhs" else (rows // 2, columns * 2)
        operands[number] = replace(operands[number], shape=shape)
    return changed(case, operands=tuple(operands), options={
        name: one for name, one in call.options.items() if name not in ("lhs_k_pack", "rhs_k_pack")})


ISSUES = (
    KnownIssue(
        name="fp4-packed-along-n", stage="ttgir", kinds=(),
        where=(("language.*", "own"), ("language.*", PLAIN)),
        entries=("language.products/assertion--mlir--isa-dot-4442b10a8f",),
        match=lambda case: bool(_packed_otherwise(case)), relative=_packed_along_k,
        errors=("*DotOperandEncodingAttr*", "*op expected the last dimension of the first operand*",
                "*op requires the same shape for all*", "*can not unpack null values*", "scale factor must be*",
                "Failures have been detected*"),
        title="tl.dot_scaled of fp4 that is packed along m or n does not compile"),
    KnownIssue(
        name="interpreter-scales-bf16-as-fp16", stage="interpreter", backends=("interpreter",),
        where=(("language.products", "own"), ("language.products", PLAIN)),
        entries=("language.products/inf-0fb92c2ac0",), match=lambda case: _of_ones(case) != case, relative=_of_ones,
        kinds=("inf", "nan_unexpected", "value"),
        title="bf16 goes through fp16 in scaled products of the interpreter"),
    KnownIssue(
        name="specials-of-fp8e5-to-bf16", stage="ttgir", where=(("language.products", "own"),),
        entries=("language.products/nan-missing-c8d06f2013",), match=lambda case: _of_numbers(case) != case,
        relative=_of_numbers, kinds=("nan_missing", "inf", "value"),
        title="infinities and NaNs of fp8e5 become numbers in bf16"),
)
