"""Ordinary kernels whose loops have every option of `tl.range` (contract: ttg_ops.md §3).

HINTS is what `loops` says; AROUND: a program works on several lines or matrices, one after the other, and the options
are those of the loop over them, as in persistent kernels. No result depends on any option.
"""

import triton
import triton.language as tl

from tridiff.kernels.pipelines.loops import UNHINTED, fold_line, product_matrix, stream_line


@triton.jit
def streams(
    x_ptr, y_ptr, out_ptr, length, pitch, lines,
    BLOCK: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr, HINTS: tl.constexpr, AROUND: tl.constexpr,
    DELAY: tl.constexpr,
):  # fmt: skip
    """`loops.stream_line` of all lines."""
    if AROUND:
        for line in tl.range(tl.program_id(0), lines, tl.num_programs(0), num_stages=STAGES,
                             loop_unroll_factor=HINTS[0], disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2],
                             disable_licm=HINTS[3], warp_specialize=HINTS[4]):
            stream_line(line, x_ptr, y_ptr, out_ptr, length, pitch, BLOCK, KIND, STAGES, UNHINTED)
    else:
        stream_line(tl.program_id(0), x_ptr, y_ptr, out_ptr, length, pitch, BLOCK, KIND, STAGES, HINTS)


@triton.jit
def folds(
    x_ptr, out_ptr, length, pitch, lines,
    BLOCK: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr, HINTS: tl.constexpr, AROUND: tl.constexpr,
    DELAY: tl.constexpr,
):  # fmt: skip
    """`loops.fold_line` of all lines."""
    if AROUND:
        for line in tl.range(tl.program_id(0), lines, tl.num_programs(0), num_stages=STAGES,
                             loop_unroll_factor=HINTS[0], disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2],
                             disable_licm=HINTS[3], warp_specialize=HINTS[4]):
            fold_line(line, x_ptr, out_ptr, length, pitch, BLOCK, KIND, STAGES, UNHINTED)
    else:
        fold_line(tl.program_id(0), x_ptr, out_ptr, length, pitch, BLOCK, KIND, STAGES, HINTS)


@triton.jit
def products(
    a_ptr, b_ptr, out_ptr, inner, lines,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, TRANSPOSED: tl.constexpr, STAGES: tl.constexpr,
    HINTS: tl.constexpr, AROUND: tl.constexpr, DELAY: tl.constexpr,
):  # fmt: skip
    """`loops.product_matrix` of all matrices."""
    if AROUND:
        for line in tl.range(tl.program_id(0), lines, tl.num_programs(0), num_stages=STAGES,
                             loop_unroll_factor=HINTS[0], disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2],
                             disable_licm=HINTS[3], warp_specialize=HINTS[4]):
            product_matrix(line, a_ptr, b_ptr, out_ptr, inner, M, N, BLOCK, TRANSPOSED, STAGES, UNHINTED)
    else:
        product_matrix(tl.program_id(0), a_ptr, b_ptr, out_ptr, inner, M, N, BLOCK, TRANSPOSED, STAGES, HINTS)


@triton.jit
def described_matrix(
    number, a, b, out_ptr, inner,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr, HINTS: tl.constexpr,
):  # fmt: skip
    """out (M, N) = a (M, inner) @ b.T with b (N, inner): matrix `number` of those that the descriptors hold."""
    sums = tl.zeros((M, N), tl.float32)
    for start in tl.range(0, inner, BLOCK, num_stages=STAGES, loop_unroll_factor=HINTS[0],
                          disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2], disable_licm=HINTS[3],
                          warp_specialize=HINTS[4]):
        sums = tl.dot(a.load([number * M, start]), b.load([number * N, start]).T, sums)
    tl.store(out_ptr + number * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], sums)


@triton.jit
def described_products(
    a_ptr, b_ptr, out_ptr, inner, lines,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr, HINTS: tl.constexpr,
    AROUND: tl.constexpr, DELAY: tl.constexpr,
):  # fmt: skip
    """`described_matrix` of all matrices, which one descriptor holds."""
    a = tl.make_tensor_descriptor(a_ptr, [lines * M, inner], [inner, 1], [M, BLOCK])
    b = tl.make_tensor_descriptor(b_ptr, [lines * N, inner], [inner, 1], [N, BLOCK])
    if AROUND:
        for line in tl.range(tl.program_id(0), lines, tl.num_programs(0), num_stages=STAGES,
                             loop_unroll_factor=HINTS[0], disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2],
                             disable_licm=HINTS[3], warp_specialize=HINTS[4]):
            described_matrix(line, a, b, out_ptr, inner, M, N, BLOCK, STAGES, UNHINTED)
    else:
        described_matrix(tl.program_id(0), a, b, out_ptr, inner, M, N, BLOCK, STAGES, HINTS)
