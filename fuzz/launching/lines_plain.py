"""Statements of Triton kernels, each a kernel of its own, which `scenes.front_end` takes to source IR or to refusal.

In scope: what `fragments_plain` has, and the helpers below. A refused statement ends its kernel, so there is one for
each refusal; what is legal here are forms that no row or piece has.
"""

import re

HELPERS = '''
class Scope:
    __triton_builtin__ = True

    def __init__(self, value, *, _semantic=None):
        self.value, self.semantic = value, _semantic

    def __enter__(self):
        return self.value

    def __exit__(self, *about):
        if self.semantic is not None:
            self.semantic.device_print("left", [self.semantic.to_tensor(self.value)], False)

@aggregate
class Sum:
    block: tl.tensor

    @triton.jit
    def __add__(self, other):
        return Sum(self.block + other)

    @triton.jit
    def __rsub__(self, other):
        return Sum(other - self.block)

    @triton.jit
    def __neg__(self):
        return Sum(-self.block)

    @triton.jit
    def __lt__(self, other):
        return self.block < other

    @triton.constexpr_function
    def __mul__(self, other):
        return NotImplemented

@aggregate
class Longer(Sum):
    more: tl.constexpr = 7

@aggregate
class Other:
    more: tl.constexpr = 9

@aggregate
class Both(Longer, Other):
    pass

@aggregate
class Unfinished:
    block: tl.tensor

    @triton.constexpr_function
    def __init__(self, block):
        pass

@aggregate
class Changed:
    block: tl.tensor
    pair: tl.tuple

    @triton.jit
    def spoil(self):
        self.block = self.block + 1

@triton.constexpr_function
def even(n):
    return n % 2 == 0

@triton.constexpr_function
def several(n):
    return (n, [n + 1, (n, 2)])

@triton.jit
def either(c, a, b):
    if c:
        return a
    else:
        return b

@triton.jit
def within(a, c):
    if c > 0:
        a += 1
        if c > 1:
            return a
        a *= 2
    else:
        return a - 1
    return a

@triton.jit
def behind(a, c):
    b = a
    if c > 2:
        tl.debug_barrier()
        b = b + 3
        return b
    return a

@triton.jit
def called(a, c):
    if c > 2:
        plus(a, c).to(tl.int32)
        return a
    return plus(a, tl.sum(a))

@triton.jit
def looping(a, c):
    for i in range(c):
        if i > 3:
            return a
    return a

@triton.jit
def scoped(a, c):
    with Scope(c):
        return a

@triton.jit
def pairs(c, a):
    if c > 0:
        return a, 1
    return a + 1, 2

@triton.jit
def names(c, a):
    if c > 0:
        return Named(a, c)
    return Named(a + 1, 7)

@triton.jit
def fields(a):
    return a.one + a.two

@triton.jit
def late(a, c):
    if c > 2:
        a = a + 3
    else:
        return a
    return a * 2

@triton.jit
def twice(a, b):
    return a + b, a - b

@triton.jit
def first_of(a, b, c, d):
    return a + c, b + d

@triton.jit
def mixed(a, b, c, d):
    return a + c, (b + d).to(tl.float32)

@triton.jit
def packed(a, b, c, d):
    return a + c, b + d, (a - c).to(tl.float32), (b - d).to(tl.float32)

@triton.jit
def three(a, b, c, d, e, f):
    return a + d, b + e, c + f

@triton.jit
def nothing(a):
    a + 1

'''


def _given(expressions: str) -> str:
    """Each as a statement that gives r its value."""
    return re.sub(r"(?m)^(?=\S)", "r = ", expressions)


_HALVED = {64: "'e2m1'", 128: "'e5m2'"}
LINES: dict[str, str] = {
    "types": _given("""
f.to(tl.bfloat16) + f.to(tl.bfloat16)
f.to(tl.bfloat16) * h
f.to(tl.bfloat16) - x
f.to(tl.float8e5) + f.to(tl.float8e5)
f.to(tl.float8e5) + f.to(tl.float8e4nv)
f.to(tl.float64) + f.to(tl.bfloat16)
f.to(tl.bfloat16) / 2
h / x + h // 2
h % h
f.to(tl.float64) % f
x.to(tl.uint32) % 7 + u.to(tl.uint32) // x.to(tl.uint32)
x // x.to(tl.uint32)
x % u.to(tl.uint32)
l.to(tl.uint64) + x
x.to(tl.uint32) + l
x + tl.int32
x + 2 ** 63
u + (-1)
u + 256
x + 2 ** 32
l.to(tl.uint64) + 2 ** 63
tl.to_tensor(2 ** 64)
tl.to_tensor(-2 ** 63)
tl.to_tensor(2 ** 31) + n
tl.to_tensor(1e-310) + e
tl.to_tensor(-3e38) + 1e39
tl.to_tensor(float("inf")) * e
f + 1e300
x + "a"
x + (1.5 + 2j)
p + p
p * 3
p + True
x ** 2
tl.fdiv(f, e, ieee_rounding=True)
tl.fdiv(f, e, approx=True)
tl.fdiv(h, h, approx=True)
tl.fdiv(f, e, ieee_rounding=True, approx=True)
tl.fdiv(x, n)
tl.fdiv(2.0, e) + tl.fdiv(f, 3)
tl.fdiv(N, 3)
tl.div_rn(2.0, f)
tl.minimum(x, u) + tl.minimum(u, 7) + tl.maximum(x.to(tl.uint32), n)
tl.minimum(f, h, propagate_nan=3)
tl.maximum(f, h, propagate_nan=3)
tl.clamp(x, 2, n)
tl.clamp(u, 2, 7)
tl.clamp(1, x, 2.5)
tl.clamp(3, 4, 5)
tl.clamp(h, f, 2)
tl.clamp(f, 0.0, x_ptr)
max(x, n)
min(x, n, 3)
max(n, 3, propagate_nan=tl.PropagateNan.ALL)
min(e, e, propagate_nan=tl.PropagateNan.ALL) + max(3, N) + min(3, N, 1)
max(-0.0, 1.0)
min(float("nan"), 1.0)
max(n)
"""),
    "logic": _given("""
x & f
x | h
x ^ p
x_ptr & 1
x.to(tl.uint32) & n
~f
~x_ptr
-x_ptr
-p
-u
+x + +f
not x
not n
not e
not q
x and f
p or x
x or p
u and p
f or p
p or p
p and p
n or k
(n > 0) or (k > 0) or (e > 0)
n > 0 and True and 0
"a" and n
x << f
x << 32
x >> 40
1 >> x
100 >> x.to(tl.uint32)
1 << u
u << 7
u << 300
l << 63
x.to(tl.uint32) >= 3
(x.to(tl.uint32) < n) | (u <= 3) | (u > x.to(tl.uint32))
(f <= e) & (h < 2) & (f > h) & (f >= 1)
x_ptr == x_ptr
x_ptr != l_ptr
x_ptr < x_ptr
n < k < 10
0 < n <= 7 != k
x < n < 3
n is None
n is not None
N is 8
n in (1, 2)
n < "a"
x @ x
w + 1
n == None
"""),
    "addresses": _given("""
x_ptr - 3
(x_ptr + at) - x
x_ptr + u
x_ptr + x.to(tl.uint32)
x_ptr + l.to(tl.uint64)
x_ptr + p
x_ptr + x_ptr
x_ptr - x_ptr
x_ptr + l_ptr
3 - x_ptr
x_ptr * 2
x_ptr + 1.5
x_ptr // 2
x_ptr + (2 ** 40)
x_ptr + at[:, None] + at[None, :]
x_ptr[0]
x_ptr.to(tl.int1)
x_ptr.to(tl.int32)
x_ptr.to(tl.float32)
f.to(tl.pointer_type(tl.float32))
(x_ptr + at).to(tl.pointer_type(tl.float16))
n.to(tl.pointer_type(tl.int8))
x_ptr.dtype.element_ty.primitive_bitwidth + n
tl.where(p, x_ptr + at, x_ptr)
tl.where(n > 0, x_ptr, l_ptr)
"""),
    "conversions": _given("""
f.to(tl.bfloat16).to(tl.float16)
h.to(tl.bfloat16).to(tl.float64)
h.to(tl.int32) + f.to(tl.bfloat16).to(tl.int64)
f.to(tl.uint8) + f.to(tl.uint64)
f.to(tl.float16, fp_downcast_rounding="rtne")
f.to(tl.bfloat16, fp_downcast_rounding="rtz")
f.to(tl.float64, fp_downcast_rounding="rtz")
x.to(tl.float16, fp_downcast_rounding="rtne")
f.to(tl.float16, fp_downcast_rounding="up")
f.to(tl.float64).to(tl.float16) + f.to(tl.float64).to(tl.bfloat16)
f.to(tl.float8e5, fp_downcast_rounding="rtz")
f.to(tl.float8e4nv).to(tl.bfloat16).to(tl.float8e5)
f.to(tl.float8e5).to(tl.float64).to(tl.float8e4nv)
f.to(tl.float8e4nv).to(tl.int32)
f.to(tl.float8e4b15)
u.to(tl.float8e4b15, bitcast=True).to(tl.float16)
h.to(tl.float8e4b15)
f.to(tl.float8e4b8)
f.to(tl.float8e5b16)
x.to(tl.float8e5)
p.to(tl.float16) + p.to(tl.int8)
p.to(tl.float32) + u.to(tl.float64)
x.to(tl.uint8) + l.to(tl.int16) + u.to(tl.int16)
f.to(tl.int1) & h.to(tl.int1)
n.to(tl.int1)
x.to(tl.float16, bitcast=True)
h.to(tl.int16, bitcast=True) + h.to(tl.uint16, bitcast=True)
p.to(tl.int8, bitcast=True)
x.to(tl.void)
tl.cast(3, tl.float32)
tl.cast(n, "int64")
x.to(3)
tl.full((4,), 0.0, tl.int32)
tl.full((4,), 3, tl.float8e5)
tl.full((4,), 3, None)
tl.full((4,), x, tl.int32)
tl.full((4,), True, tl.int1) | tl.full((4,), 3, tl.int1)
tl.full([4], 300, tl.uint8)
tl.full([4], -1, tl.uint32)
tl.full((3,), 1, tl.int32)
tl.full((2 ** 21,), 1, tl.int32)
tl.full((4, n), 1, tl.int32)
tl.full((), 1, tl.int16)
tl.full((4,), tl.full((1,), 2, tl.int32), tl.int32)
tl.zeros([4], tl.bfloat16)
tl.zeros_like(p)
tl.arange(0, 2 ** 32)
tl.arange(2 ** 31 - 8, 2 ** 31)
tl.arange(2 ** 33, 2 ** 33 + 8)
tl.arange(8, 8)
tl.arange(8, 0)
tl.arange(0, 12)
tl.arange(-8, 8)
"""),
    "shapes": """
r = tl.reshape(x, (4, 8))
r = tl.reshape(x[None, :][:, :1], ())
r = tl.reshape(tl.full((1, 1), 3, tl.int32), ())
r = tl.reshape(n, (1,))
r = tl.reshape(x, (2, 2, 2, 2))
r = m.view(256)
r = x.trans()
r = tl.trans(x[None, None, :])
r = tl.permute(m, (0, 0))
r = tl.permute(m, (0, 1, 2))
r = tl.permute(m, 0, -1)
r = tl.expand_dims(x, -1)
r = tl.expand_dims(n, 0)
r = tl.expand_dims(n, (0, 1))
r = tl.expand_dims(x, 2)
r = tl.expand_dims(x, -3)
r = tl.expand_dims(x, (0, 0))
r = tl.expand_dims(x, (0, -2))
r = tl.expand_dims(3, 0)
r = tl.broadcast_to(n, 4, 4)
r = tl.broadcast_to(m, (16, 16))
r = tl.broadcast_to(m, (16, 32))
r = tl.broadcast_to(x, (4, 16))
r = tl.broadcast_to(x[:, None], 16, 8)
r, s = tl.broadcast(x[:, None], x[None, :])
r = x[:, None] + tl.arange(0, 8)[None, :] + m[:, :, None].reshape(16, 16)[:, :1]
r = x + tl.arange(0, 8)
r = m + tl.arange(0, 8)[:, None]
r = m + x
r = x + m
r = x[0]
r = x[1:]
r = x[:, :]
r = x[:, None, :]
r = x[None]
r = x[:, None][:, :, None]
r = n[None]
r = n[:]
r = x[::2]
r = tl.join(n, k)
r = tl.join(x, m)
r = tl.join(e, f)
r = tl.split(x)
r, s = tl.split(tl.join(n, 3))
r, s = tl.split(tl.join(m, m))
r = tl.cat(x, x)
r = tl.cat(m, m, can_reorder=True)
r = tl.cat(x, u, can_reorder=True)
r = tl.interleave(x, m)
r = tl.interleave(n, k)
r = tl.flip(m, 1) + tl.flip(m, -1)
r = tl.flip(m)
r = tl.flip(x)
r = tl.swizzle2d(n, 2, 4, 4)
r = x.item()
r = tl.full((1,), 3, tl.int32).item() + n
r = tl.squeeze(x[None, :], 0)
r = tl.unsqueeze(x, 0)
""",
    "folds": """
r = tl.sum(m) + tl.max(m, -1)
r = tl.sum(m, 2)
r = tl.sum(m, -3)
r = tl.sum(u) + tl.sum(u.to(tl.int16))
r = tl.sum(h, dtype=tl.float32) + tl.sum(x, 0, dtype=tl.float64)
r = tl.sum(f.to(tl.bfloat16), 0, keep_dims=True)
r = tl.sum(m, keep_dims=True) + tl.sum(m, 0, keep_dims=True)
r = tl.max(m, 1, keep_dims=True) + tl.min(m, 0, keep_dims=True)
r, s = tl.max(m, 1, return_indices=True)
r, s = tl.min(m, 1, return_indices=True, keep_dims=True)
r, s = tl.min(h, 0, return_indices=True, return_indices_tie_break_left=False)
r, s = tl.max(m, return_indices=True)
r = tl.max(h) + tl.min(f.to(tl.bfloat16))
r = tl.max(u) + tl.min(p)
r = tl.argmax(m, 1, keep_dims=True) + tl.argmin(m, -1, keep_dims=True)
r = tl.argmax(m, 0, tie_break_left=False)
r = tl.argmax(m, None)
r = tl.xor_sum(x) + tl.xor_sum(m, keep_dims=True)
r = tl.xor_sum(m, 0, keep_dims=True)
r = tl.xor_sum(f)
r = tl.reduce_or(m, 1, keep_dims=True)
r = tl.reduce_or(f, 0)
r = tl.reduce(m, None, plus)
r = tl.reduce(m, -1, plus)
r = tl.reduce((x, f), 0, first_of)
r = tl.reduce((x, m), 0, first_of)
r = tl.reduce((x, x), 0, mixed)
r = tl.reduce(x, 0, twice)
r = tl.reduce(n, 0, plus)
r = tl.reduce(x, 0, 3)
r = tl.associative_scan(m, -1, plus)
r = tl.associative_scan(m, 2, plus)
r = tl.associative_scan(m, None, plus)
r = tl.associative_scan((x, f), 0, first_of, reverse=True)
r = tl.associative_scan((x, m), 0, first_of)
r = tl.associative_scan((x, x), 0, mixed)
r = tl.cumsum(u, 0) + tl.cumsum(u.to(tl.int8), 0)
r = tl.cumsum(m, -1, reverse=True, dtype=tl.int64)
r = tl.cumsum(h, 0, dtype=tl.float32) + tl.cumprod(h, 0)
r = tl.cumprod(m, 1, reverse=True)
r = tl.cumsum(p, 0)
r = tl.sort(m) + tl.sort(m, 1, descending=True)
r = tl.sort(m, 0)
r = tl.sort(x[:8])
r = tl.topk(m, 4) + tl.topk(m, 4, dim=1)
r = tl.topk(x, 3)
r = tl.topk(m, 4, dim=0)
r = tl.topk(x, 32)
r = tl.bitonic_merge(x) + tl.bitonic_merge(x, 0, descending=True)
r = tl.bitonic_merge(m, 0)
r = tl.bitonic_merge(m, -1) + tl.bitonic_merge(m, 1)
r = tl.histogram(m, 16)
r = tl.histogram(l, 16)
r = tl.histogram(f, 16)
r = tl.histogram(x, 16)
r = tl.histogram(x, 16, mask=True)
r = tl.histogram(x, 16, mask=x)
r = tl.histogram(x.to(tl.uint32), 12)
r = tl.histogram(x, n)
r = tl.gather(m, x, 0)
r = tl.gather(m, g, 0)
r = tl.gather(m, m[:, :1], 0)
r = tl.gather(x, tl.arange(0, 8), 0)
r = tl.softmax(m, dim=1, keep_dims=True)
r = tl.softmax(g.to(tl.float32), 0)
r = tl.softmax(g.to(tl.float32), keep_dims=True)
""",
    "large products": "\n".join((*(
        f"r = tl.dot(tl.zeros(({rows}, 64), tl.{kind}), tl.zeros((64, 32), tl.{kind}){more})" for kind, rows, more in (
            ("float16", 128, ", tl.zeros((128, 32), tl.float32)"), ("float32", 64, ""), ("float8e5", 256, ""))), *(
        f"q = tl.zeros((128, 4), tl.uint8); r = tl.dot_scaled(tl.zeros((128, {left}), tl.uint8), {one}, "
        f"{_HALVED[left]}, tl.zeros((128, 128), tl.uint8), {other}, 'e4m3', fast_math=True)" for left, one, other in (
            (128, "q", "q"), (64, "q", "None"), (64, "None", "q"))))),
    "products": _given("""
tl.dot(g, g.to(tl.float32))
tl.dot(m, m)
tl.dot(g, n)
tl.dot(f, f)
tl.dot(g.to(tl.bfloat16), g.to(tl.bfloat16))
tl.dot(g.to(tl.float8e5), g.to(tl.float8e4nv))
tl.dot(g.to(tl.bfloat16), g.to(tl.bfloat16), out_dtype=tl.bfloat16)
tl.dot(g.to(tl.float64), g.to(tl.float64))
tl.dot(g.to(tl.float64), g.to(tl.float64), out_dtype=tl.float64)
tl.dot(g, g, out_dtype=tl.float16)
tl.dot(g, g, acc=tl.zeros((16, 16), tl.float16))
tl.dot(g, g, acc=tl.zeros((16, 16), tl.float16), out_dtype=tl.float32)
tl.dot(g, g, acc=tl.zeros((16, 16), tl.float32), out_dtype=tl.float16)
tl.dot(g, g, acc=tl.zeros((8, 16), tl.float32))
tl.dot(g, tl.zeros((32, 16), tl.float16))
tl.dot(tl.zeros((16, 8), tl.float16), tl.zeros((8, 16), tl.float16))
tl.dot(tl.zeros((8, 16), tl.float16), g)
tl.dot(g, tl.zeros((16, 4), tl.float16))
tl.dot(tl.zeros((16, 32), tl.int8), tl.zeros((32, 16), tl.int8))
tl.dot(tl.zeros((16, 32), tl.int8), tl.zeros((32, 16), tl.int8), out_dtype=tl.int32)
tl.dot(tl.zeros((16, 16), tl.int8), tl.zeros((16, 16), tl.int8))
tl.dot(tl.zeros((16, 32), tl.uint8), tl.zeros((32, 16), tl.uint8))
tl.dot(tl.zeros((16, 32), tl.float8e5), tl.zeros((32, 16), tl.float8e4nv))
tl.dot(tl.zeros((16, 32), tl.float8e5), tl.zeros((32, 16), tl.float8e5), max_num_imprecise_acc=16)
tl.dot(tl.zeros((16, 32), tl.float8e5), tl.zeros((32, 16), tl.float8e5), max_num_imprecise_acc=64)
tl.dot(tl.zeros((16, 32), tl.float8e4b15), tl.zeros((32, 16), tl.float8e4b15))
tl.dot(g, g, max_num_imprecise_acc=64)
tl.dot(g.to(tl.float32), g.to(tl.float32), input_precision="bf16x3")
tl.dot(g.to(tl.float32), g.to(tl.float32), input_precision="bf16x6")
tl.dot(g.to(tl.float32), g.to(tl.float32), input_precision="tf32x3")
tl.dot(g.to(tl.float32), g.to(tl.float32), input_precision="ieee")
tl.dot(g.to(tl.float32), g.to(tl.float32), input_precision="fast")
tl.dot(g.to(tl.float32), g.to(tl.float32), allow_tf32=False)
tl.dot(g.to(tl.float32), g.to(tl.float32), allow_tf32=True, input_precision="ieee")
tl.dot(g.to(tl.float32), g.to(tl.float32))
tl.dot(tl.zeros((2, 16, 32), tl.float16), tl.zeros((2, 32, 16), tl.float16))
tl.dot(tl.zeros((2, 16, 32), tl.float16), tl.zeros((4, 32, 16), tl.float16))
tl.dot(tl.zeros((2, 2, 16, 32), tl.float16), tl.zeros((2, 2, 32, 16), tl.float16))
tl.dot(tl.zeros((2, 2, 16, 16), tl.float16), tl.zeros((2, 2, 16, 16), tl.float16), tl.zeros((2, 2, 16, 16),
    tl.float32))
tl.dot(tl.zeros((2, 16, 32), tl.float16), tl.zeros((32, 16), tl.float16))
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((64, 32), tl.uint8), None, "e5m2")
tl.dot_scaled(tl.zeros((32, 32), tl.uint8), tl.zeros((32, 2), tl.uint8), "e2m1", tl.zeros((64, 32), tl.bfloat16),
    None, "bf16")
tl.dot_scaled(tl.zeros((32, 64), tl.float8e5), None, "e5m2", tl.zeros((32, 32), tl.uint8), tl.zeros((32, 2),
    tl.uint8), "e2m1")
tl.dot_scaled(tl.zeros((32, 64), tl.float16), None, "fp16", tl.zeros((64, 32), tl.uint8), tl.zeros((32, 2),
    tl.uint8), "e4m3", tl.zeros((32, 32), tl.float32))
tl.dot_scaled(tl.zeros((32, 64), tl.uint16), None, "bf16", tl.zeros((64, 32), tl.uint8), tl.zeros((32, 2),
    tl.uint8), "e4m3", out_dtype=tl.float16)
tl.dot_scaled(tl.zeros((16, 64), tl.uint8), tl.zeros((32, 2), tl.uint8), "e2m1", tl.zeros((64, 16), tl.uint8),
    tl.zeros((32, 2), tl.uint8), "e2m1", lhs_k_pack=False, rhs_k_pack=False)
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((64, 32), tl.uint8), None, "e5m2",
    lhs_k_pack=False)
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((64, 32), tl.uint8), None, "e5m2",
    rhs_k_pack=False)
tl.dot_scaled(tl.zeros((16, 64), tl.float8e5), None, "e5m2", tl.zeros((64, 16), tl.uint8), tl.zeros((32, 2),
    tl.uint8), "e2m1", rhs_k_pack=False)
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m4", tl.zeros((64, 32), tl.uint8), None, "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.int8), None, "e4m3", tl.zeros((64, 32), tl.uint8), None, "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.int8), None, "e2m1", tl.zeros((128, 32), tl.uint8), None, "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), tl.zeros((32, 4), tl.uint8), "e4m3", tl.zeros((64, 32), tl.uint8),
    None, "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((64, 32), tl.uint8), tl.zeros((16, 2),
    tl.uint8), "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((32, 32), tl.uint8), None, "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", n, None, "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((64, 32), tl.uint8), None, "e5m2",
    tl.zeros((32, 32), tl.float16))
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((64, 32), tl.uint8), None, "e5m2",
    tl.zeros((16, 32), tl.float32))
tl.dot_scaled(tl.zeros((2, 32, 64), tl.uint8), tl.zeros((2, 32, 2), tl.uint8), "e4m3", tl.zeros((2, 64, 32),
    tl.uint8), tl.zeros((2, 32, 2), tl.uint8), "e5m2")
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), tl.zeros((32, 4), tl.float8e4nv), "e4m3", tl.zeros((64, 32),
    tl.uint8), None, "e5m2")
"""),
    "memory": """
r = tl.load(x)
r = tl.load(x_ptr + at, other=3)
r = tl.load(x_ptr, mask=p)
r = tl.load(x_ptr, mask=n > 0, other=x)
r = tl.load(x_ptr + at, mask=n > 0, other=x)
r = tl.load(x_ptr + at, mask=p[:, None])
r = tl.load(x_ptr + at, mask=p[:, None], other=m)
r = tl.load(x_ptr + at, mask=x)
r = tl.load(f_ptr + at, mask=p, other=k)
r = tl.load(x_ptr + at, mask=True, other=3)
r = tl.load(x_ptr + at, cache_modifier=".wb")
r = tl.load(x_ptr + at, cache_modifier=".xx")
r = tl.load(x_ptr + at, cache_modifier=".ca") + tl.load(x_ptr + at, cache_modifier=".cs")
r = tl.load(x_ptr + at, cache_modifier=".cv", eviction_policy="evict_normal")
r = tl.load(x_ptr + at, cache_modifier="cg", volatile=True)
r = tl.load(x_ptr + at, cache_modifier=3)
r = tl.load(x_ptr + at, eviction_policy="evict_all")
r = tl.load(x_ptr + at, eviction_policy=3)
r = tl.load(x_ptr + at, boundary_check=(0,))
r = tl.load(x_ptr + at, padding_option="zero")
r = tl.load(n)
r = tl.load(None)
r = tl.load(x_ptr + at, mask=None, other=None)
tl.store(x_ptr + at, x, mask=None)
r = tl.atomic_add(x_ptr + at, x, mask=None, sem=None, scope=None)
r = tl.sum(m, axis=None) + tl.sum(x, 0, dtype=None) + tl.max(m, axis=None)
r = tl.dot(g, g, acc=None, input_precision=None, max_num_imprecise_acc=None)
r = f.to(tl.float16, fp_downcast_rounding=None) + tl.histogram(x, 16, mask=None)
tl.store(x_ptr, x)
tl.store(x_ptr, n, mask=p)
tl.store(x_ptr + at, m)
tl.store(x_ptr + at, x, mask=p[:, None])
tl.store(x_ptr + at, x, mask=x)
tl.store(x, x)
tl.store(x_ptr + at, x, mask=n > 0)
tl.store(x_ptr + at[:, None], x[:, None], mask=p[:, None])
tl.store(x_ptr + at, x, cache_modifier=".ca")
tl.store(x_ptr + at, x, cache_modifier=".wb")
tl.store(x_ptr + at, x, cache_modifier=".cg", eviction_policy="evict_last")
tl.store(x_ptr + at, x, cache_modifier=".cs", eviction_policy="evict_normal")
tl.store(x_ptr + at, x, eviction_policy="none")
tl.store(x_ptr + at, x, boundary_check=(0,))
tl.store(x_ptr.to(tl.pointer_type(tl.int32, const=True)) + at, x)
tl.store(u_ptr.to(tl.pointer_type(tl.int1)), True)
r = tl.load(u_ptr.to(tl.pointer_type(tl.int1)), mask=n > 0, other=1)
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); s = tl.load(r, mask=p)
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); s = tl.load(r, other=1)
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); s = tl.load(r, boundary_check=(2,))
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); s = tl.load(r, boundary_check=(0, 0))
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); s = tl.load(r, boundary_check=0,
    padding_option="nan")
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); tl.store(r, n, boundary_check=(0,))
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); tl.store(r, m)
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); tl.store(r, tl.zeros((8, 16), tl.float32))
r = tl.make_block_ptr(x_ptr, (k, n.to(tl.int16)), (k, 1), (k, u_ptr.to(tl.int64).to(tl.int32)), (8, 16), (0, 1)); s =
    tl.load(r)
r = tl.make_block_ptr(x_ptr, (n,), (64, 1), (0, 0), (8, 16), (1, 0))
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (0, 0))
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, n), (1, 0))
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 12), (1, 0))
r = tl.make_block_ptr(x_ptr, (n, e), (64, 1), (0, 0), (8, 16), (1, 0))
r = tl.make_block_ptr(x, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0))
r = tl.make_block_ptr(u_ptr.to(tl.pointer_type(tl.int1)), (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)); s = tl.load(r)
r = tl.advance(tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)), (k, 2 ** 33)); s = tl.load(r)
r = tl.advance(tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 0), (8, 16), (1, 0)), (1,))
r = tl.advance(x_ptr, (1,))
""",
    "atomics": """
r = tl.atomic_load(x_ptr)
r = tl.atomic_load(x_ptr + at, mask=p, sem="relaxed", scope="cta")
r = tl.atomic_load(x_ptr + at, mask=n > 0)
r = tl.atomic_load(x_ptr, mask=p)
r = tl.atomic_load(x_ptr + at, mask=x)
r = tl.atomic_load(x_ptr, sem="release")
r = tl.atomic_load(u_ptr.to(tl.pointer_type(tl.int1)))
r = tl.atomic_load(f_ptr + at) + tl.atomic_load(h_ptr + at)
r = tl.atomic_load(x)
tl.atomic_store(x_ptr, n)
tl.atomic_store(x_ptr + at, x, mask=p, sem="relaxed", scope="sys")
tl.atomic_store(x_ptr + at, 3)
tl.atomic_store(x_ptr, n, sem="acquire")
tl.atomic_store(x_ptr, x)
tl.atomic_store(u_ptr.to(tl.pointer_type(tl.int1)), True)
tl.atomic_store(x_ptr.to(tl.pointer_type(tl.int32, const=True)), n)
r = tl.atomic_poll(x_ptr, 3)
r = tl.atomic_poll(x_ptr, n, sem="relaxed", scope="cta", timeout_ns=1000)
r = tl.atomic_poll(x_ptr + at, x, timeout_ns=n)
r = tl.atomic_poll(l_ptr, k, sem="release")
r = tl.atomic_poll(x_ptr, 3, timeout_ns=-1)
r = tl.atomic_poll(x_ptr, 3, timeout_ns=x)
r = tl.atomic_poll(x_ptr, 3, timeout_ns=1.5)
r = tl.atomic_poll(f_ptr, 1.0)
r = tl.atomic_poll(u_ptr, 1)
r = tl.atomic_poll(n, 1)
r = tl.atomic_poll(x_ptr, x)
r = tl.atomic_cas(x_ptr, 1, 2, sem="acq_rel", scope="gpu")
r = tl.atomic_cas(x_ptr + at, x, x)
r = tl.atomic_cas(f_ptr, e, 1.0)
r = tl.atomic_cas(h_ptr, 1.0, 2.0)
r = tl.atomic_cas(u_ptr, 1, 2)
r = tl.atomic_cas(x_ptr, x, x)
r = tl.atomic_cas(x_ptr, 1, 2, sem="strong")
r = tl.atomic_cas(x_ptr, 1, 2, scope="grid")
r = tl.atomic_add(h_ptr + at, h) + tl.atomic_add(h_ptr.to(tl.pointer_type(tl.bfloat16)) + at, h)
r = tl.atomic_add(u_ptr + at, u)
r = tl.atomic_add(u_ptr.to(tl.pointer_type(tl.int16)) + at, u)
r = tl.atomic_add(l_ptr + at, x, mask=n > 0) + tl.atomic_add(l_ptr.to(tl.pointer_type(tl.float64)) + at, f)
r = tl.atomic_add(x_ptr + at, x, mask=x)
r = tl.atomic_add(x_ptr, x)
r = tl.atomic_add(x_ptr, n, mask=p)
r = tl.atomic_add(x_ptr + at, m)
r = tl.atomic_add(x_ptr + at, 1, sem="release", scope="cta")
r = tl.atomic_add(x, 1)
r = tl.atomic_add(x_ptr.to(tl.pointer_type(tl.int32, const=True)), 1)
r = tl.atomic_max(h_ptr + at, h)
r = tl.atomic_min(h_ptr.to(tl.pointer_type(tl.bfloat16)) + at, h)
r = tl.atomic_max(u_ptr + at, u)
r = tl.atomic_max(x_ptr.to(tl.pointer_type(tl.uint32)) + at, x) + tl.atomic_min(x_ptr + at, x)
r = tl.atomic_max(l_ptr.to(tl.pointer_type(tl.float64)) + at, f) +
    tl.atomic_min(l_ptr.to(tl.pointer_type(tl.float64)), e)
r = tl.atomic_min(l_ptr + at, l) + tl.atomic_max(l_ptr.to(tl.pointer_type(tl.uint64)), k)
r = tl.atomic_and(f_ptr + at, f)
r = tl.atomic_or(h_ptr + at, h)
r = tl.atomic_xchg(h_ptr + at, h)
r = tl.atomic_xchg(l_ptr.to(tl.pointer_type(tl.float64)) + at, f, mask=p, sem="acquire")
r = tl.atomic_xor(u_ptr + at, u)
""",
}

_KINDS = ("int1", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16",
          "float32", "float64", "float8e5", "float8e4nv", "float8e4b15")
_OF_EACH = ("x.to({0}) * 3 + f.to({0})", "tl.full((4,), 3, {0}) - tl.full((4,), 0.0, {0})", "-x.to({0})",
            "(x.to({0}) > 2) | (x.to({0}) != m.to({0}))", "tl.maximum(x.to({0}), tl.full((16,), 1, {0}))",
            "tl.sum(x.to({0})) + tl.max(m.to({0}), 0)", "tl.where(p, x.to({0}), 1).to(tl.float32)",
            "x.to({0}) / 2 + x.to({0}) // 2", "(x.to({0}) & 3) | (x.to({0}) >> 1)", "tl.abs(x.to({0})) % 5",
            "tl.zeros((4,), {0}).to(tl.int64) + n.to({0})", "tl.sort(x.to({0})) + tl.cumsum(x.to({0}), 0)",
            "f.to({0}) / f.to({0})", "f.to({0}) * f.to({0})", "f.to({0}) < f.to({0})", "x / f.to({0})",
            "~f.to({0})", "tl.full((16,), 3, {0}).to(tl.float32)")
_ENDS = {f"{sign}int{bits}": (0 if sign else -(2 ** (bits - 1)), 2 ** (bits if sign else bits - 1) - 1)
         for bits in (8, 16, 32, 64) for sign in ("", "u")}
"""The least and the most of a type."""
LINES["kinds"] = "\n".join(f"r = {text.format(f'tl.{kind}')}" for kind in _KINDS for text in _OF_EACH)
LINES["ends of types"] = "\n".join(
    line for kind, ends in _ENDS.items() for end in ends for line in (
        f"r = x.to(tl.{kind}) + ({end}); s = tl.full((4,), {end}, tl.{kind})", f"r = x.to(tl.{kind}) > ({end} + 1)"))
"""What one type alone does differently."""
