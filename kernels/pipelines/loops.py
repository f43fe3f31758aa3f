"""Ordinary kernels with loops that the compiler pipelines or splits into partitions (contract: ttg_ops.md §3).

STAGES is the loop's num_stages; SPECIALISED asks for partitions; DELAY says which warp is delayed, if one is
(`fuzz.backends.delay`). Nothing else depends on them, so all must give the same bits. One program per line or matrix.

HINTS, in functions that `hinted_loops` shares, are the loop's other options: (loop_unroll_factor,
disallow_acc_multi_buffer, flatten, disable_licm, warp_specialize).
"""

import triton
import triton.language as tl

UNHINTED = tl.constexpr((None, False, False, False, False))


@triton.jit
def stream(
    x_ptr, y_ptr, out_ptr, length, pitch,
    BLOCK: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr, DELAY: tl.constexpr,
):  # fmt: skip
    """One line of `stream_line` per program."""
    stream_line(tl.program_id(0), x_ptr, y_ptr, out_ptr, length, pitch, BLOCK, KIND, STAGES, UNHINTED)


@triton.jit
def stream_line(
    number, x_ptr, y_ptr, out_ptr, length, pitch,
    BLOCK: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr, HINTS: tl.constexpr,
):  # fmt: skip
    """out from x and y, block by block. KIND: "add": x + y. "running": sums of all blocks of x so far. "indirect":
    x[y], where y holds positions. "conditional": x where y is even, else what the block before had there."""
    line = number * pitch
    lanes = tl.arange(0, BLOCK)
    carried = tl.zeros((BLOCK,), x_ptr.dtype.element_ty)
    for start in tl.range(0, length, BLOCK, num_stages=STAGES, loop_unroll_factor=HINTS[0],
                          disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2], disable_licm=HINTS[3],
                          warp_specialize=HINTS[4]):
        at = start + lanes
        inside = at < length
        y = tl.load(y_ptr + line + at, mask=inside, other=0)
        if KIND == "indirect":
            result = tl.load(x_ptr + line + y, mask=inside, other=0)
        else:
            x = tl.load(x_ptr + line + at, mask=inside, other=0)
            if KIND == "add":
                result = x + y
            elif KIND == "running":
                carried = carried + x
                result = carried
            else:
                carried = tl.where(y % 2 == 0, x, carried)
                result = carried
        tl.store(out_ptr + line + at, result, mask=inside)


@triton.jit
def fold(
    x_ptr, out_ptr, length, pitch, BLOCK: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr, DELAY: tl.constexpr,
):  # fmt: skip
    """One line of `fold_line` per program."""
    fold_line(tl.program_id(0), x_ptr, out_ptr, length, pitch, BLOCK, KIND, STAGES, UNHINTED)


@triton.jit
def fold_line(
    number, x_ptr, out_ptr, length, pitch,
    BLOCK: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr, HINTS: tl.constexpr,
):  # fmt: skip
    """out[number] = sum ("sum"), maximum ("max") or exclusive or ("xor") of the line, reduced in every iteration."""
    line = number * pitch
    lanes = tl.arange(0, BLOCK)
    total = tl.full((), 0, tl.int32) if KIND != "max" else tl.full((), -2147483648, tl.int32)
    for start in tl.range(0, length, BLOCK, num_stages=STAGES, loop_unroll_factor=HINTS[0],
                          disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2], disable_licm=HINTS[3],
                          warp_specialize=HINTS[4]):
        inside = start + lanes < length
        if KIND == "max":
            x = tl.load(x_ptr + line + start + lanes, mask=inside, other=-2147483648)
            total = tl.maximum(total, tl.max(x, 0))
        else:
            x = tl.load(x_ptr + line + start + lanes, mask=inside, other=0)
            if KIND == "sum":
                total = total + tl.sum(x, 0)
            else:
                total = total ^ tl.xor_sum(x, 0)
    tl.store(out_ptr + number, total)


@triton.jit
def product(
    a_ptr, b_ptr, out_ptr, inner,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, TRANSPOSED: tl.constexpr, STAGES: tl.constexpr,
    DELAY: tl.constexpr,
):  # fmt: skip
    """One matrix of `product_matrix` per program."""
    product_matrix(tl.program_id(0), a_ptr, b_ptr, out_ptr, inner, M, N, BLOCK, TRANSPOSED, STAGES, UNHINTED)


@triton.jit
def product_matrix(
    number, a_ptr, b_ptr, out_ptr, inner,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, TRANSPOSED: tl.constexpr, STAGES: tl.constexpr,
    HINTS: tl.constexpr,
):  # fmt: skip
    """out (M, N) = a (M, inner) @ b (inner, N), or @ b.T with b (N, inner); blocks of the inner axis."""
    rows = tl.arange(0, M)[:, None]
    columns = tl.arange(0, N)[None, :]
    k = tl.arange(0, BLOCK)
    a_ptr += number * M * inner
    b_ptr += number * N * inner
    integers: tl.constexpr = a_ptr.dtype.element_ty.is_int()
    sums = tl.zeros((M, N), tl.int32 if integers else tl.float32)
    for start in tl.range(0, inner, BLOCK, num_stages=STAGES, loop_unroll_factor=HINTS[0],
                          disallow_acc_multi_buffer=HINTS[1], flatten=HINTS[2], disable_licm=HINTS[3],
                          warp_specialize=HINTS[4]):
        inside = start + k < inner
        a = tl.load(a_ptr + rows * inner + (start + k)[None, :], mask=inside[None, :], other=0)
        if TRANSPOSED:
            b = tl.load(b_ptr + columns * inner + (start + k)[:, None], mask=inside[:, None], other=0)
        else:
            b = tl.load(b_ptr + (start + k)[:, None] * N + columns, mask=inside[:, None], other=0)
        sums = tl.dot(a, b, sums, out_dtype=sums.dtype)
    tl.store(out_ptr + number * M * N + rows * N + columns, sums)


@triton.jit
def described_product(
    a_ptr, b_ptr, out_ptr, inner, column,
    M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr, SPECIALISED: tl.constexpr,
    DELAY: tl.constexpr, DESCRIBED_STORE: tl.constexpr, ONE_MAP: tl.constexpr,
):  # fmt: skip
    """out (M, N) = a (M, inner) @ b.T with b (N, inner), through tensor descriptors made on the device. ONE_MAP: all
    programs store through one descriptor, each at its own row and at column `column`, which is 0, instead of each
    through its own at the constants 0 and 0."""
    program = tl.program_id(0)
    a = tl.make_tensor_descriptor(a_ptr + program * M * inner, [M, inner], [inner, 1], [M, BLOCK])
    b = tl.make_tensor_descriptor(b_ptr + program * N * inner, [N, inner], [inner, 1], [N, BLOCK])
    sums = tl.zeros((M, N), tl.float32)
    for start in tl.range(0, inner, BLOCK, num_stages=STAGES, warp_specialize=SPECIALISED):
        sums = tl.dot(a.load([0, start]), b.load([0, start]).T, sums)
    if DESCRIBED_STORE and ONE_MAP:
        out = tl.make_tensor_descriptor(out_ptr, [tl.num_programs(0) * M, N], [N, 1], [M, N])
        out.store([program * M, column], sums)
    elif DESCRIBED_STORE:
        out = tl.make_tensor_descriptor(out_ptr + program * M * N, [M, N], [N, 1], [M, N])
        out.store([0, 0], sums)
    else:
        tl.store(out_ptr + program * M * N + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], sums)


@triton.jit
def described_copy(
    x_ptr, out_ptr, height, width, pitch,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, ADDED: tl.constexpr, STAGES: tl.constexpr, DESCRIBED_STORE: tl.constexpr,
    DELAY: tl.constexpr,
):  # fmt: skip
    """out = x + ADDED over boxes of ROWS x COLUMNS along a program's rows; boxes reach over the edges."""
    x = tl.make_tensor_descriptor(x_ptr, [height, width], [pitch, 1], [ROWS, COLUMNS])
    if DESCRIBED_STORE:
        out = tl.make_tensor_descriptor(out_ptr, [height, width], [pitch, 1], [ROWS, COLUMNS])
    first = tl.program_id(0) * ROWS
    rows = first + tl.arange(0, ROWS)[:, None]
    for start in tl.range(0, width, COLUMNS, num_stages=STAGES):
        value = x.load([first, start]) + ADDED
        if DESCRIBED_STORE:
            out.store([first, start], value)
        else:
            columns = start + tl.arange(0, COLUMNS)[None, :]
            tl.store(out_ptr + rows * pitch + columns, value, mask=(rows < height) & (columns < width))


@triton.jit
def described_reduction(
    x_ptr, out_ptr, height, width, pitch, programs,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, KIND: tl.constexpr, STAGES: tl.constexpr, DELAY: tl.constexpr,
):  # fmt: skip
    """out = out KIND x of every program; all programs work on the same out."""
    x = tl.make_tensor_descriptor(x_ptr, [programs * height, width], [pitch, 1], [ROWS, COLUMNS])
    out = tl.make_tensor_descriptor(out_ptr, [height, width], [pitch, 1], [ROWS, COLUMNS])
    program = tl.program_id(0)
    for start in tl.range(0, width, COLUMNS, num_stages=STAGES):
        value = x.load([program * height, start])
        if KIND == "add":
            out.atomic_add([0, start], value)
        elif KIND == "min":
            out.atomic_min([0, start], value)
        elif KIND == "max":
            out.atomic_max([0, start], value)
        elif KIND == "and":
            out.atomic_and([0, start], value)
        elif KIND == "or":
            out.atomic_or([0, start], value)
        else:
            out.atomic_xor([0, start], value)


@triton.jit
def described_gather(
    x_ptr, index_ptr, out_ptr, height, width, COUNT: tl.constexpr, COLUMNS: tl.constexpr, SCATTER: tl.constexpr,
):  # fmt: skip
    """out[i] = x[index[i]], or out[index[i]] = x[i], rows of COLUMNS elements (sm_100 only)."""
    at = tl.program_id(0) * COLUMNS
    index = tl.load(index_ptr + tl.arange(0, COUNT))
    x = tl.make_tensor_descriptor(x_ptr, [height, width], [width, 1], [1 if not SCATTER else COUNT, COLUMNS])
    out = tl.make_tensor_descriptor(out_ptr, [height, width], [width, 1], [1 if SCATTER else COUNT, COLUMNS])
    if SCATTER:
        out.scatter(x.load([0, at]), index, at)
    else:
        out.store([0, at], x.gather(index, at))
