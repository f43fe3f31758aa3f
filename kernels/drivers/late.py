"""One program that comes late: a schedule that the hardware may choose but hardly ever does, made to happen.

Programs that wait for each other are launched within a microsecond and meet in nearly the same order every time. Most
defects of such protocols need one program to be slow at one place (delay-bounded scheduling; Emmi, Qadeer and
Rakamaric, POPL 2011). Warps of a program run independently until a barrier, so there are two places to be slow without
a word of the protocol being touched: before it, if all warps are late; at its first barrier, if only the others are.
"""

import triton
import triton.language as tl

# About 50 us: far longer than a small launch takes, far shorter than anything that waits for it minds.
_SPIN = tl.constexpr("""{
.reg .pred p;
.reg .b32 r;
.reg .b64 start, now;
mov.u32 r, %ctaid.x;
setp.ne.u32 p, r, $1;
@p bra done;
mov.u32 r, %tid.x;
setp.lt.u32 p, r, $2;
@p bra done;
mov.u64 start, %clock64;
spin:
mov.u64 now, %clock64;
sub.u64 now, now, start;
setp.lt.u64 p, now, 100000;
@p bra spin;
done:
mov.u32 $0, 0;
}""")


@triton.jit
def come_late(PROGRAM: tl.constexpr, WARP: tl.constexpr):
    """Holds up, in the programs number PROGRAM of grid axis 0, all warps from WARP on. PROGRAM -1: nobody.

    NVIDIA GPUs only.
    """
    if PROGRAM >= 0:
        tl.inline_asm_elementwise(_SPIN, "=r,r,r", [PROGRAM, 32 * WARP], dtype=tl.int32, is_pure=False, pack=1)
