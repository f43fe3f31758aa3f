"""The fixed set of inline assembly bodies (codegen.md §3): 32-bit registers, one output."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Body:
    """PTX text, operand constraints, operand and result dtype, number of operands."""

    ptx: str
    constraints: str
    dtype: str
    arity: int


BODIES = {
    "add_s32": Body("add.s32 $0, $1, $2;", "=r,r,r", "i32", 2),
    "max_s32": Body("max.s32 $0, $1, $2;", "=r,r,r", "i32", 2),
    "lop3_xor": Body("lop3.b32 $0, $1, $2, $3, 0x96;", "=r,r,r,r", "i32", 3),
    "prmt_reverse": Body("{ .reg .b32 zero; mov.b32 zero, 0; prmt.b32 $0, $1, zero, 0x0123; }", "=r,r", "i32", 1),
    "ex2_approx": Body("ex2.approx.ftz.f32 $0, $1;", "=f,f", "fp32", 1),
    "popc": Body("popc.b32 $0, $1;", "=r,r", "i32", 1),
}
