"""Vector additions that are wrong in the ways a beginner's first kernel is; same calling convention as `vector_add`."""

import dataclasses

import triton
import triton.language as tl

from tridiff.kernels.drivers.vector_add import vector_add


@triton.jit
def mutant_kernel(
    a_ptr, a_stride_col, b_ptr, b_stride_col, out_ptr, out_stride_col, a_offset, b_offset, out_offset, cols,
    BLOCK: tl.constexpr, FAULT: tl.constexpr, MUTANT: tl.constexpr,
):
    """out = a + b with the fault MUTANT; FAULT is accepted and ignored."""
    pid = tl.program_id(0).to(tl.int64)
    if MUTANT == "overlapping_programs":
        # Programs advance by half a block; the end of the array is never reached.
        position = pid * (BLOCK // 2) + tl.arange(0, BLOCK)
    else:
        position = pid * BLOCK + tl.arange(0, BLOCK)
    mask = position < cols
    if MUTANT == "tail_dropped":
        # The last, partial block is left out.
        mask = mask & (position - position % BLOCK + BLOCK <= cols)
    out_mask = mask
    if MUTANT == "mask_off_by_one":
        # `<=` for `<`: one element behind the array is written.
        out_mask = position <= cols
    b_stride = b_stride_col
    if MUTANT == "stride_ignored":
        b_stride = 1
    a = tl.load(a_ptr + a_offset + position * a_stride_col, mask=mask, other=0)
    b = tl.load(b_ptr + b_offset + position * b_stride, mask=mask, other=0)
    result = a + b
    if MUTANT == "second_operand_dropped":
        result = a + (b - b).to(b.dtype)
    tl.store(out_ptr + out_offset + position * out_stride_col, result, mask=out_mask)


NAMES = ("mask_off_by_one", "tail_dropped", "overlapping_programs", "stride_ignored", "second_operand_dropped")


@dataclasses.dataclass(frozen=True)
class Mutant:
    """A fault of the driver: the changed kernel and the constexpr that selects it."""

    name: str


MUTANTS = {name: Mutant(name) for name in NAMES}


vector_add_mutant = dataclasses.replace(
    vector_add, name="vector_add_mutant", kernel=mutant_kernel, constexprs=(*vector_add.constexprs, "MUTANT"),
)
