"""Legal pieces of Triton kernels, which `scenes.front_end` takes to their source IR as they are and spoilt.

In scope, before each: x (i32), u (u8), l (i64), f (fp32), h (fp16): blocks of 16 elements; p: a block of 16 truth
values; m (i32), g (fp16): blocks of 16 by 16; n (i32), k (i64), e (fp32): scalars; q: a pair of n and x; w: an
aggregate of x and n; d (i32), j (fp16): descriptors of blocks of 8 by 16; x_ptr, f_ptr, h_ptr: pointers.
"""

NAMES = ("x", "u", "l", "f", "h", "p", "m", "g", "n", "k", "e", "q", "w", "d", "j", "x_ptr", "f_ptr", "N")

ARRAYS = {"x": "i32", "f": "fp32", "h": "fp16", "l": "i64", "u": "u8"}
"""Dtypes of the arrays that a piece's kernel is given, `x` as `x_ptr`."""

NUMBERS = {"n": 48, "N": 8}
"""Its other arguments."""

HEAD = '''import triton
import triton.language as tl
from triton.language.core import _aggregate as aggregate
from triton.tools.ragged_tma import atomic_add_ragged, load_ragged, store_ragged
from typing import NamedTuple

LIMIT = tl.constexpr(5)

class Named(NamedTuple):
    one: object
    two: object

@aggregate
class Pair:
    block: tl.tensor
    number: tl.tensor
    flag: tl.constexpr = True

    @triton.jit
    def total(self, more):
        return self.block + self.number + more

@aggregate
class Own:
    block: tl.tensor
    number: tl.tensor

    @triton.constexpr_function
    def __init__(self, block, number):
        self.block = block
        self.number = number

@triton.constexpr_function
def doubled(n):
    return 2 * n

@triton.jit
def plus(a, b):
    return a + b

@triton.must_use_result("Take it.")
@triton.jit
def kept(a):
    return a - 1

@triton.jit
def both(a, i, b, j):
    return tl.maximum(a, b), i + j

@triton.jit
def early(a, N: tl.constexpr = 2):
    if N > 2:
        return a + N
    b = a * N
    return b

@triton.jit
def many(first, *others, scale=3):
    total = first
    for i in tl.static_range(len(others)):
        total += others[i] * scale
    return total

@triton.jit(noinline=True)
def apart(a, b):
    return a + b

@triton.jit
def one_of(a, b):
    return tl.where(a > b, a, b)

@triton.jit
def kernel(x_ptr, f_ptr, h_ptr, l_ptr, u_ptr, n, N: tl.constexpr):
    at = tl.arange(0, 16)
    x = tl.load(x_ptr + at)
    u = tl.load(u_ptr + at)
    l = tl.load(l_ptr + at)
    f = tl.load(f_ptr + at)
    h = tl.load(h_ptr + at)
    p = x > 3
    m = tl.load(x_ptr + at[:, None] * 16 + at[None, :])
    g = tl.load(h_ptr + at[:, None] * 16 + at[None, :])
    k = tl.load(l_ptr)
    e = tl.load(f_ptr)
    q = (n, x)
    w = Pair(x, n)
    d = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [8, 16])
    j = tl.make_tensor_descriptor(h_ptr, shape=[n, 64], strides=[64, 1], block_shape=[8, 16])
'''

FRAGMENTS: dict[str, str] = {
    "aggregate": """
r = Pair(x, n)
s = Pair(block=f, number=e, flag=False)
t = r.total(1) + r.block
v = r.number + n
""",
    "aggregate of a class": """
r = Own(x, n)
for i in range(n):
    r = Own(r.block + i, n)
s = r.block + r.number
""",
    "aggregate in a branch": """
r = w
if n > 3:
    r = Pair(x + 1, n)
s = r.total(x)
""",
    "replaced": """
r = tl.core.aggregate_replace(w, number=n + 1)
s = r.number + w.number
""",
    "named tuple": """
r = Named(x, two=n)
s = r.one + r.two
r = Named(r.one, 1)
t = r[0] + r[1]
""",
    "tuples": """
r = q + (f, 2)
s = r[1] + r[0]
t = r[-1] + 1
v = len(r) + len(r[1:3])
a, (b, c) = n, (x, f)
""",
    "tuples compared": """
r = (1, 2) == (1, 2)
tl.static_assert((1, 2) != (1, 3))
s = (1, 2) * 2
t = s[3] + x
""",
    "tuples in loops": """
r = (x, n)
for i in range(n):
    r = (r[0] + i, r[1] + 1)
while r[1] > 0:
    r = (r[0], r[1] - 1)
""",
    "comprehension": """
r = [one + 1 for one in (x, n)]
s = r[0] + r[1]
t = tl.tuple([one * 2 for one in q])
v = [one for one in (1, 2, 3) if one < 3 if one > 1][0] + x
""",
    "descriptor": """
r = d.load([n, 0])
d.store([n, 16], r + 1)
s = j.load([n, n * 16]) + 1.0
t = d.shape[0] + d.strides[0]
""",
    "descriptor in 64 bits": """
r = tl.make_tensor_descriptor(x_ptr, [k, 64], [64, 1], [8, 16])
s = r.load([n, 0])
t = tl.make_tensor_descriptor(x_ptr, [n, k], [k, 1], [8, 16])
""",
    "large descriptor": """
r = tl.make_tensor_descriptor(x_ptr, [2 ** 31, 64], [2 ** 33, 1], [8, 16])
s = r.load([2 ** 31 - 1, 0])
""",
    "descriptor of numbers": """
r = tl.make_tensor_descriptor(f_ptr, [16, 16, 16], [256, 16, 1], [1, 8, 4], padding_option="nan")
s = r.load([0, 1, n])
r.store([n, 0, 4], s)
""",
    "descriptor functions": """
r = tl.load_tensor_descriptor(d, [n, 0])
tl.store_tensor_descriptor(d, [0, n], r)
""",
    "descriptor atomics": """
r = d.load([0, 0])
d.atomic_add([n, 0], r)
d.atomic_and([n, 0], r)
d.atomic_or([0, n], r)
d.atomic_xor([0, 0], r)
d.atomic_min([n, 0], r)
d.atomic_max([n, 16], r)
""",
    "unsigned descriptor": """
r = tl.make_tensor_descriptor(u_ptr.to(tl.pointer_type(tl.uint32)), [n, 64], [64, 1], [8, 16])
s = r.load([n, 0])
r.atomic_max([n, 0], s)
r.atomic_min([n, 0], s)
""",
    "halves' descriptor": """
r = j.load([0, 0])
j.atomic_add([n, 0], r)
j.atomic_min([n, 0], r)
j.atomic_max([n, 0], r)
""",
    "gather and scatter": """
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [1, 16])
s = r.gather(x, n)
r.scatter(s, x, 32)
""",
    "block pointer": """
r = tl.make_block_ptr(x_ptr, (n, 64), (64, 1), (0, 16), (8, 16), order=(1, 0))
s = tl.load(r, boundary_check=(0, 1), padding_option="zero")
r = tl.advance(r, (8, n))
tl.store(r, s, boundary_check=(1,))
""",
    "block pointer of floats": """
r = tl.make_block_ptr(base=f_ptr, shape=(n,), strides=(1,), offsets=(n,), block_shape=(16,), order=(0,))
s = tl.load(r, boundary_check=(0,), padding_option="nan")
""",
    "loads": """
r = tl.load(x_ptr + at, mask=p, other=3, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
s = tl.load(x_ptr, mask=n > 0, other=k)
t = tl.load(f_ptr + at, p, 1)
""",
    "stores": """
tl.store(x_ptr + at, f, mask=p, cache_modifier=".wt", eviction_policy="evict_first")
tl.store(x_ptr + at, 1.5)
tl.store(x_ptr, n, n > 0)
tl.store(x_ptr + at, p)
""",
    "truth in memory": """
r = tl.load(u_ptr.to(tl.pointer_type(tl.int1), bitcast=True) + at, mask=p, other=False)
tl.store(u_ptr.to(tl.pointer_type(tl.int1), bitcast=True) + at, r)
""",
    "pointers": """
r = x_ptr + k
s = r + 1
t = (x_ptr + at).to(tl.int64)
v = t.to(tl.pointer_type(tl.int32))
b = 3 + x_ptr
c = x_ptr.to(tl.pointer_type(tl.float16), bitcast=True)
""",
    "atomics": """
r = tl.atomic_add(x_ptr + at, x, mask=p, sem="acquire", scope="sys")
s = tl.atomic_add(f_ptr, e, sem="relaxed")
t = tl.atomic_cas(x_ptr, n, 7, sem="release")
v = tl.atomic_xchg(f_ptr + at, f, scope="cta")
""",
    "atomic extrema": """
r = tl.atomic_max(x_ptr + at, x)
s = tl.atomic_min(f_ptr + at, f, mask=p)
t = tl.atomic_max(f_ptr, e)
a = tl.atomic_min(x_ptr.to(tl.pointer_type(tl.uint32), bitcast=True) + at, x.to(tl.uint32))
""",
    "atomic logic": """
r = tl.atomic_and(x_ptr + at, x)
s = tl.atomic_or(x_ptr, n)
t = tl.atomic_xor(l_ptr + at, x, mask=p)
""",
    "bits": """
r = (x & u) | (l ^ x)
s = (x & n) | k
t = u & 15 | 128
v = ~x ^ -1
a = p & (f > 0)
b = p | True
""",
    "shifts": """
r = (x << 3) + (u >> 1)
s = l >> x
t = 1 << x
v = x.to(tl.uint32) >> n
""",
    "quotients": """
r = x // 3 + x % n
s = u // u + l % k
t = x / 2 + f / x
v = x.to(tl.uint32) // 7
a = f % 2.0
b = tl.fdiv(f, e)
""",
    "mixed": """
r = x + u + l
s = h + f + 1
t = h * 2.5 + u
v = n + 3
a = x - e
b = -u + (-f)
""",
    "comparisons": """
r = (x < u) & (f >= h)
s = x == k
t = n != 3
v = (u > 200) | (x <= -1)
a = not (n > 0)
b = n > 0 and e < 1
""",
    "numbers": """
r = x + (2 ** 31 - 1)
s = l + 2 ** 62
t = u + 255
v = f + 1e38
a = h + 65504.0
b = tl.full((), 2 ** 63, tl.uint64)
""",
    "conversions": """
r = f.to(tl.float16, fp_downcast_rounding="rtz")
s = x.to(tl.float32, bitcast=True)
t = f.to(tl.float8e5)
v = u.to(tl.int1)
a = h.to(tl.bfloat16)
b = tl.cast(e, tl.int64)
c = t.to(tl.float32)
""",
    "creation": """
r = tl.zeros((4, 4), tl.float16)
s = tl.full([8], n, tl.int64)
t = tl.zeros_like(f)
v = tl.arange(16, 32)
a = tl.to_tensor(3.5)
""",
    "shapes": """
r = tl.reshape(m, 8, 32)
s = x.reshape(4, 4)
t = tl.ravel(m)
v = m.trans()
a = tl.permute(m, 1, 0)
b = tl.expand_dims(x, (0, 2))
c = tl.broadcast_to(x[None, :], 4, 16)
""",
    "items": """
r = x[None, :, None]
s = m[:, None]
t = q[1][:, None] + f[None]
v = x[:]
""",
    "joins": """
r = tl.join(x, f.to(tl.int32))
s, t = tl.split(r)
v = tl.interleave(x, x)
a = tl.cat(x, x, can_reorder=True)
b = tl.flip(x, 0)
""",
    "folds": """
r = tl.sum(m, 1) + tl.max(m, axis=0, keep_dims=False)
s, t = tl.max(f, 0, return_indices=True)
v = tl.argmin(x, 0, tie_break_left=False)
a = tl.xor_sum(m, axis=1)
b = tl.sum(u, 0, dtype=tl.int64)
c = tl.min(h, 0)
""",
    "more folds": """
r = tl.reduce(m, 1, plus, keep_dims=True)
s, t = tl.reduce((f, x), 0, both)
v = tl.reduce_or(x, 0)
a = tl.sum(p)
""",
    "scans": """
r = tl.cumsum(m, 1, reverse=True)
s = tl.cumprod(f, 0)
t = tl.associative_scan(x, 0, plus)
v = tl.associative_scan((f, x), 0, both)
""",
    "sorts": """
r = tl.sort(x, descending=True)
s = tl.topk(f, 4)
t = tl.histogram(x & 15, 16, mask=p)
v = tl.gather(m, m & 15, 1)
""",
    "products": """
r = tl.dot(g, g, out_dtype=tl.float32)
s = tl.dot(g, g, r, input_precision="ieee")
t = tl.dot(g.to(tl.float32), g.to(tl.float32), input_precision="tf32x3", max_num_imprecise_acc=0)
""",
    "scaled products": """
r = tl.zeros((64, 128), tl.uint8)
s = tl.zeros((128, 64), tl.uint8)
t = tl.zeros((64, 4), tl.uint8)
v = tl.dot_scaled(r, t, "e4m3", s, t, "e5m2", fast_math=True)
""",
    "library": """
r = tl.exp(f) + tl.log2(f) + tl.sqrt_rn(f) + tl.rsqrt(f) + tl.erf(f)
s = tl.fma(f, f, e)
t = tl.umulhi(x.to(tl.uint32), 7)
v = tl.clamp(f, 0.0, e, propagate_nan=tl.PropagateNan.ALL)
a = tl.abs(x) + tl.cdiv(x, 3)
b = tl.div_rn(f, e)
""",
    "extrema": """
r = tl.maximum(x, n)
s = tl.minimum(f, h, propagate_nan=tl.PropagateNan.ALL)
t = tl.maximum(u, 3)
v = max(n, 3) + min(n, k)
""",
    "selection": """
r = tl.where(p, f, 0)
s = tl.where(n > 0, x, l)
t = x if n > 0 else x + 1
v = n if True else x
a = tl.where(p, 1, 2)
""",
    "random": """
r = tl.rand(n, x)
s = tl.randint(7, x, n_rounds=4)
t = tl.randn(k, x)
a, b, c, v = tl.randint4x(n, l)
y = tl.philox(n, x, x, 0, 0)[0]
""",
    "hints": """
r = tl.multiple_of(x, 4)
s = tl.max_contiguous(m, [1, 16])
t = tl.max_constancy(x, 2)
tl.assume(n > 0)
tl.debug_barrier()
""",
    "assertions": """
tl.static_assert(LIMIT == 5, "five")
tl.device_assert(x > 0, "positive", mask=p)
assert n > 0, "more"
tl.device_print("x = ", x, n, hex=True)
tl.static_print(N, x.dtype)
print("n", n)
""",
    "texts": """
tl.static_assert(f"{N}" == "8")
tl.device_print(f"n of {N}", n)
tl.static_assert(x.dtype == tl.int32)
""",
    "calls": """
r = early(kept(x)) + early(x, 3)
s = many(x, n, 1, scale=2)
t = apart(n, 2)
v = one_of(b=x, a=n)
a = many(x, *q)
""",
    "constants": """
r: tl.constexpr = doubled(N) + 1
s = x + r
t = tl.arange(0, doubled(8))
v: tl.constexpr = r if r > 3 else -r
a: tl.constexpr = (N + 1) // 2 ** 1 % 7 | 8 & 15 ^ 3 << 1 >> 1
b = x + (not a)
""",
    "constants compared": """
if LIMIT >= 5 and N < 9 or False:
    r = x
else:
    r = x.nothing
if not (LIMIT == 4):
    r = r + -LIMIT
s = x if LIMIT is not None else f
""",
    "loops": """
r = x
for i in range(0, n, 2):
    r += i
for i in tl.range(n, num_stages=3, loop_unroll_factor=2, flatten=True, warp_specialize=False):
    r = r * 2
for i in tl.static_range(1, 8, 3):
    r -= i
""",
    "options of loops": """
r = x
for i in tl.range(0, 8, 1, disallow_acc_multi_buffer=True, disable_licm=True):
    r ^= i
for i in range(n, 0, -1):
    r |= i
for i in range(k):
    r += 1
""",
    "while": """
r = n
s = x
while r > 0:
    r -= 1
    s = s + r
""",
    "branches": """
r = x
if n > 0:
    r = r + 1
    if n > 5:
        s = f
        r = r * 2
elif k > 3:
    pass
else:
    r = x * n
if e > 0:
    return
""",
    "declared": """
r: tl.constexpr
if n > 3:
    r = 3
    s = x
else:
    r = 3
    s = x + r
for i in tl.static_range(2):
    s += i
else:
    tl.store(x_ptr, r)
""",
    "augmented": """
r = x
r += 1
r -= n
r *= 2
r //= 3
r %= 7
r <<= 1
r >>= 2
r &= 255
r |= 1
r ^= u
s = f
s /= 2
""",
    "mapped": """
r = tl.map_elementwise(one_of, x, n + x)
s = tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [x, x], dtype=tl.int32, is_pure=True, pack=1)
""",
    "about tensors": """
tl.static_assert(x.numel == 16)
tl.static_assert(m.shape[1] == 16)
r = x.type.element_ty
s = tl.zeros(m.shape, f.dtype)
t = x.dtype.primitive_bitwidth + n
v: tl.constexpr = x.dtype.is_int()
b = m.T
""",
    "programs": """
r = tl.program_id(0) + tl.num_programs(axis=1)
s = tl.program_id(axis=2).to(tl.int64)
""",
    "special": """
r = tl.swizzle2d(n, n, 8, 8, 4)
s = tl.softmax(f)
v = tl.extra.cuda.globaltimer()
""",
}
