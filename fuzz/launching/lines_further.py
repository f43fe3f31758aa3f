"""Statements of kernels, each a kernel of its own, of what the compiler seldom sees: names, closures, operators that
are declined, functions of libraries declared by users, and results that are thrown away."""

PLAIN_HELPERS = '''
from triton.language import tensor
from triton.language.extra.libdevice import rsqrt as inverse_root

SIZE = 7
NUMBERS = tl.constexpr((3, 4))
LEVELS = {"first": 3}

@aggregate
class Declining:
    block: tl.tensor

    @triton.constexpr_function
    def __neg__(self):
        return NotImplemented

    @triton.constexpr_function
    def __add__(self, other):
        return NotImplemented

    @triton.jit
    def __rsub__(self, other):
        return other

@aggregate
class Counted:
    block: tl.tensor

    def __init__(self, block, _semantic=None, _generator=None):
        self.block = block.__add__(1, _semantic=_semantic)

@aggregate
class Indexed:
    block: tl.tensor

    @triton.jit
    def __getitem__(self, place):
        return self.block + place

@aggregate
class Wide:
    both: tl.tuple

@triton.jit
def größer(a, b):
    return a > b

@triton.jit
def borrowed(a, n):
    use = plus
    for i in range(n):
        a = use(a, i)
    return a

@triton.jit
def chosen(a, n):
    use = plus
    if n > 3:
        a = use(a, 1)
    else:
        a = use(a, 2)
    return a

@triton.jit
def same_number(n):
    if n > 3:
        return 3
    else:
        return 3

@triton.jit
def two_numbers(n):
    if n > 3:
        return 3
    return 4

@triton.jit
def number_or_block(n, a):
    if n > 3:
        return (3, a)
    return (4, a)

@triton.jit
def early_number(a, N: tl.constexpr):
    if N > 3:
        return 3
    return a

@triton.jit
def with_default(a, N: tl.constexpr = SIZE):
    return a + N

@triton.jit
def posted(a, /, b, *, c=2):
    return a + b * c

@triton.jit
def named(a, **more):
    return a

@triton.jit
def required(a, *, c):
    return a - c

@triton.jit
def described(a, N: tl.constexpr):
    tl.static_assert(N > 3, f"{N!r} of {N:>4} is no size")
    return a

@triton.jit
def dispatched(a):
    return LEVELS["first"] + a

@triton.constexpr_function
def told(*every, **other):
    return f"{[type(one).__name__ for one in every]} {[(name, type(one).__name__) for name, one in other.items()]}"

@tl.core.extern
def outside(way, a, b, _semantic=None):
    way, one, two = getattr(way, "value", way), (a.dtype,), (a.dtype, b.dtype)
    power, root = ("__nv_powf", tl.float32), ("__nv_sqrtf", tl.float32)
    table = {"legal": {two: power}, "none": {}, "first": {one: root, two: power}, "others": {two[::-1]: power},
             "alone": {(): ("__nv_clock", tl.int32)}, "numbers": {(int, int): power}}[way]
    given = {"alone": []}.get(way, [a, b])
    return tl.core.extern_elementwise("libdevice", "at", given, table, False, _semantic=_semantic)

@tl.core.extern
def dispatching(way, a, b, _semantic=None):
    way, two = getattr(way, "value", way), (a.dtype, b.dtype)
    table = {"none": {}, "one": {two[:1]: ("__nv_sqrtf", tl.float32)}, "others": {(tl.int8,) * 2: ("none", tl.int8)},
             "legal": {two: ("__nv_powf", tl.float32)}, "numbers": {(int, int): ("none", tl.int32)}}[way]
    given = [3, 4] if way == "numbers" else [a, b]
    return tl.core.dispatch(_semantic.builder.create_extern_elementwise, "libdevice", "at", given, table, tl.float32,
                            False, _semantic=_semantic)
'''

PLAIN: dict[str, str] = {
    "seldom": """
r = inverse_root(f) + f
r = inverse_root(h)
r = inverse_root(e) + e
r = tl.extra.libdevice.rsqrt(f) + tl.extra.cuda.libdevice.pow(f, f)
r = tl.extra.cuda.globaltimer() + k
r = größer(x, n)
r = borrowed(x, n)
r = chosen(x, n)
r = plus; s = r(x, n)
r = same_number(n) + x
r = two_numbers(n) + x
r = number_or_block(n, x)[0] + x
r = early_number(x, 5) + x
r = early_number(x, 3) + x
r = posted(x, n, c=n)
r = posted(x, b=n)
r = posted(a=x, b=n)
r = named(x, n=3)
r = required(x, c=n)
r = required(x)
r = required(x, n)
r = described(x, N)
r = described(x, 3)
r = dispatched(x)
r = plus(*NUMBERS) + x
r = plus(*(x, n))
r = plus(*q)
r = plus(*n)
r = plus(**{"a": x, "b": n})
def inner(a): return a
if n > 3: global nothing
if n > 3: x = tl.where(p, x, 3) if N > 3 else x
r = -Declining(x)
r = ~Declining(x)
r = not Declining(x)
r = Declining(x) + n
r = n + Declining(x)
r = n - Declining(x)
r = Declining(x) - n
r = Sum(x) + Longer(x)
r = Longer(x) + Sum(x)
r = Sum(x) - Longer(x)
r = (x - Longer(x)).block + x
r = Counted(x).block + x
r = Counted(block=x)
r = Both(block=x).more + x
r = Counted(x, n)
r = Wide((x, n)).both[1] + x
r = Wide(q).both[0] + x
r = Wide(x)
x.sum(0)
tl.core.advance(x_ptr, (1,))
r = Indexed(x)[n] + x
r = Indexed(x)[n, 3]
r = Indexed(x)[1:]
r = tl.fdiv(l.to(tl.float64), l.to(tl.float64), approx=True)
x_ptr.advance((1,))
r = tl.advance(x_ptr, 1)
for i in Scope(3): n += i
for i in several(3): n += i
for i in tl.condition(n > 3): n += i
tl.sum(x, 0)
tl.dot(g, g)
tl.where(p, x, 3)
tl.atomic_add(x_ptr + at, x)
tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], tl.int32, True, 1)
tl.cast(x, tl.float32)
x.to(tl.int64)
tl.static_assert()
tl.static_assert(cond=True)
tl.static_assert(True, "all", 3)
tl.static_assert(N == 8, f"N is {N} and {3}")
tl.static_assert(N == 9, f"N is {N:>5} or {N!r}")
tl.static_assert(N == 9, f"N is {n}")
tl.static_print(f"{N}", f"a{N}b")
tl.static_print(N, "a", sep="-", end="", file=None, flush=True)
tl.device_print(f"n{N}{'a'!r}", n)
r = f"{N}"; tl.device_print(r, n)
r = tl.full((16,), 0, tl.void)
r = tl.zeros((16,), tl.float8e5) + x
r = tl.zeros((16,), tl.float8e5) + n
r = tl.zeros((16,), tl.float8e5) + tl.zeros((16,), tl.float8e4nv)
r = tl.zeros((16,), tl.float8e5) * f
r = tl.fdiv(f, f, approx=True) + tl.fdiv(f, h, ieee_rounding=True)
r = d.load([0, (1, 2)])
r = d.load([0, "a"])
r = d.load([0, True])
r = d.load([0, e])
r = d.load([k, 0])
r = d.load([n, N])
d.store([0, 1.5], d.load([0, 0]))
j.atomic_min([0, 0], tl.zeros((8, 16), tl.float16))
j.atomic_max([n, 0], tl.zeros((8, 16), tl.float16))
j.atomic_add([0, n], tl.zeros((8, 16), tl.float16))
j.atomic_and([0, 0], tl.zeros((8, 16), tl.float16))
r = d if n > 3 else x
r = d if n > 3 else j
r = d if n > 3 else d
r = tl.atomic_load(x_ptr.to(tl.pointer_type(tl.pointer_type(tl.int32))))
tl.atomic_store(x_ptr.to(tl.pointer_type(tl.pointer_type(tl.int32))), x_ptr)
r = tl.atomic_max(x_ptr + at, x) + tl.atomic_min(x_ptr + at, x, mask=p)
r = tl.atomic_max(f_ptr + at, f, p, "relaxed", "cta") + tl.atomic_min(f_ptr + at, f, mask=p, sem="release", scope="sys")
r = tl.atomic_max(x_ptr.to(tl.pointer_type(tl.uint32)) + at, x.to(tl.uint32), sem="relaxed")
r = tl.atomic_min(x_ptr.to(tl.pointer_type(tl.uint32)), n.to(tl.uint32), scope="sys")
r = tl.atomic_max(x_ptr.to(tl.pointer_type(tl.bfloat16)) + at, h.to(tl.bfloat16))
r = tl.atomic_min(x_ptr.to(tl.pointer_type(tl.float8e5)), 3.0)
r = tl.atomic_max(x_ptr.to(tl.pointer_type(tl.float8e5)), 3.0)
r = tl.atomic_min(l_ptr.to(tl.pointer_type(tl.float64)) + at, l.to(tl.float64))
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [8, 16], padding_option="")
r = tl.max_constancy(x, [n])
r = tl.max_constancy(x, 4) + tl.multiple_of(x, [8]) + tl.max_contiguous(x, 2)
r = tl.max_contiguous(x, [4, 4])
r = tl.split(tl.join(n, n))[1] + n
r = tl.split(tl.join(n, 3))[0] + n
r = tl.expand_dims(x, 3)
r = tl.associative_scan(m, -1, plus) + tl.associative_scan(m, 0, plus, reverse=True)
r = tl.associative_scan(m, -3, plus)
r = tl.expect_zero(x, p) + tl.expect_zero(f, f < 3)
r = outside("legal", f, f) + f
r = outside("legal", f, n.to(tl.float32)) + f
r = outside("none", f, f)
r = outside("first", f, f)
r = outside("others", f, h)
r = outside("alone", f, f) + n
r = outside("numbers", f, f)
r = dispatching("legal", e, e) + e
r = dispatching("none", e, e)
r = dispatching("one", e, e)
r = dispatching("others", e, e)
r = dispatching("numbers", e, e)
tl.extra.cuda.gdc_wait()
tl.extra.cuda.gdc_launch_dependents()
r = tl.extra.cuda.num_threads() + tl.extra.cuda.num_warps() + n
r = tl.extra.cuda.smid() + n
r = tl.extra.cuda.convert_custom_float8_sm80(h, tl.float8e4b15)
r = tl.extra.cuda.convert_custom_float8_sm70(f, tl.float8e4b15, "rtne")
r = tl.extra.cuda.convert_custom_float8_sm80(u.to(tl.float8e4b15, bitcast=True), tl.float32)
tl.device_print("xy")
tl.device_print("xyz")
r = max(0.0, 1.0)
r = min(0.0, -1.0)
r = max(-1.0, 2.5, N)
r = min(N, -3)
r = tl.to_tensor(3.4028234663852886e+38)
r = tl.to_tensor(3.4028235e+38)
r = tl.to_tensor(1.1754943508222875e-38)
r = tl.to_tensor(1.17549435e-38)
r = x // x_ptr
r = x % x_ptr
r = x & x_ptr
r = p.logical_and(x)
r = p.logical_or(x)
r = x.logical_or(p)
r = x.logical_and(p)
y = tl.make_tensor_descriptor(x_ptr, [n, n, n, 64], [64, 64, 64, 1], [1, 1, 8, 16]);
    r = load_ragged(y, n, 5, [3, n]); store_ragged(y, n, 5, [3, n], r); atomic_add_ragged(y, n, 5, [3, n], r);
    r = load_ragged(y, n, 5, [3, n], 1); store_ragged(y, n, 5, [3, n], r, 1); atomic_add_ragged(y, n, 5, [3, n], r, 1)
r = tl.clamp(e, f[:, None], f[None])
r = tl.clamp(f[:, None], e, f[None]) + tl.clamp(f[:, None], f[None], e)
r = tl.fma(e, f[:, None], f[None])
r = tl.to_tensor(float("nan")) + f
r = tl.where(p, float("nan"), float("-inf"))
r = fields(Named(n, x)) + fields(names(n, x))
r = late(x, n)
r = late(x, N)
r = with_default(x)
r = isinstance(x, tensor) + n
r = tl.full((4,), 128, tl.uint8); s = r.to(tl.float8e5b16, bitcast=True).to(tl.float8e4b8);
    t = r.to(tl.float8e4b8, bitcast=True).to(tl.float8e5b16)
tl.static_assert(N > 3, msg="a")
r = f"{tl.int32}"
r = apart((n, 3), n)
while n > 3:;;    n -= 1;;    while k > 3:;;        tl.static_print("in");;        k -= 1
tl.zeros((1048576,), tl.int8)
tl.zeros((0,), tl.int8)
tl.dot(g.to(tl.float8e5), g)
tl.dot(g, g.to(tl.float8e5))
tl.dot(g.to(tl.float8e5), g.to(tl.float8e4b15))
tl.dot(g.to(tl.float8e4b15), g.to(tl.float8e5))
tl.dot(tl.zeros((16, 32), tl.float8e5), tl.zeros((32, 16), tl.float8e5), max_num_imprecise_acc=32)
r = tl.atomic_poll(x_ptr, tl.load(x_ptr))
r = either(True, x, "a")
y = tl.make_tensor_descriptor(l_ptr, [n, 64], [64, 1], [1, 4]); r = y.gather(at, 0); y.scatter(r, at, 0)
r = k.to(tl.pointer_type(tl.int32), bitcast=True) + at
r = tl.atomic_load(x_ptr.to(tl.pointer_type(tl.int32, const=True)) + at)
tl.atomic_store(x_ptr.to(tl.pointer_type(tl.int32, const=True)) + at, x)
""",
}

GLUON: dict[str, str] = {
    "seldom": """
r = tl.allocate_shared_memory(tl.int32, [8, 4], tl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], [[4, 0]])); w =
    r.nbytes_per_cta + n
r = tl.allocate_shared_memory(tl.int32, [4, 4], tl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], [[0, 0]])); w =
    r.nbytes_per_cta + n
r = tl.dot_fma(tl.zeros([128, 64], tl.float32, tl.DotOperandLayout(0, L2, 0)), tl.zeros([64, 128], tl.float32,
    tl.DotOperandLayout(1, L2, 0)), tl.zeros([128, 128], tl.float32, L2))
r = tl.dot_fma(tl.zeros([16, 8], tl.float32, tl.DotOperandLayout(0, L2, 0)), tl.zeros([8, 16], tl.float32,
    tl.DotOperandLayout(1, L2, 0)), tl.zeros([16, 16], tl.float32, L2))
r = tl.dot_fma(tl.zeros([16, 8], tl.float32, tl.DotOperandLayout(1, L2, 0)), tl.zeros([8, 16], tl.float32,
    tl.DotOperandLayout(1, L2, 0)), tl.zeros([16, 16], tl.float32, L2))
c: tl.constexpr = tl.BlockedLayout([1] * 3, [2, 4, 4], [4, 1, 1], [2, 1, 0]); r = tl.dot_fma(tl.zeros([2, 128, 32],
    tl.float32, tl.DotOperandLayout(0, c, 0)), tl.zeros([2, 32, 128], tl.float32, tl.DotOperandLayout(1, c, 0)),
    tl.zeros([2, 128, 128], tl.float32, c))
r = m.broadcast_to([16, 64])
r = row[:, None].broadcast_to([16, 64])
r = row[:, None].broadcast_to([32, 32])
r = row[:, None].broadcast_to([16])
r = m.broadcast_to([16, 32]) + m
r = s.reinterpret(tl.uint32, [128], S1).atomic_scatter_max(x.to(tl.uint32), x, 0) + x.to(tl.uint32)
r = s.atomic_scatter_max(x, x, 0) + s.atomic_scatter_min(x, x, 0, mask=x > 3)
r = s.atomic_scatter_or(x, x, 0, mask=x > 3) + s.atomic_scatter_xor(x, x, 0, x > 2)
r = s.atomic_scatter_and(x, x, 0, x > 1)
tl.static_print("a", x.type, sep="-", end="", file=None, flush=True)
r = s.atomic_scatter_or(x, x, 0) + s.atomic_scatter_xor(x, x, 0) + s.atomic_scatter_and(x, x, 0)
r = tl.reduce(x, 0, plus) + tl.reduce(m, 0, plus) + n
r = tl.reduce(x, 0, plus, keep_dims=True) + x
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], tl.NVMMASharedLayout(128, 16, 2,
    cga_layout=[[1, 0]])); w = r.nbytes_per_cta + n
r = d.nbytes_per_cta + d.block_type.nbytes + n
tma.async_load(d, [0, n], b.index(0), q.index(0))
tma.async_load(d, [0, 8], b.index(0), q.index(0), pred=n > 3)
tma.async_load(d, [0, 1.5], b.index(0), q.index(0))
tma.async_load(d, [0, "a"], b.index(0), q.index(0))
tma.async_store(d, [n, 0], q.index(1))
tma.async_store(d, [0, 0], s)
tma.async_atomic_add(d, [0, 0], q.index(1))
tma.store_wait(pendings=0)
r = tl.load(x_ptr + at, False); tl.store(x_ptr + at, x, False)
r = s.atomic_scatter_add(x, x, 0, False)
r = tl.histogram(x, 64, False, L1)
r = t.reinterpret(); w = t.reinterpret(tl.int16); v = t.reinterpret(shape=[32, 16])
c = tl.allocate_shared_memory(tl.int32, [16, 32], S2); c.scatter(m, m, 1);
    r = c.atomic_scatter_and(m, m, 1) + c.atomic_scatter_or(m, m, 1)
r = t.slice(0, 8); tl.static_print(t.shape, r.type)
r = tl.gather(m, row[:, None], 0)
r = tl.arange(0, 128, tl.CoalescedLayout())[:, None] + tl.arange(0, 128)[None]
""",
    "with every option": """
tl.barrier(); tl.barrier(cluster=True)
rubin.mbarrier.arrive(b.index(0), count=2, pred=n > 3, from_cta=0)
rubin.mbarrier.arrive(b.index(1), multicast_cta=1)
rubin.mbarrier.arrive(b.index(0), multicast_cta=-1)
rubin.mbarrier.arrive(b.index(0), multicast_cta=True)
ampere.mbarrier.arrive(b.index(0), pred=n > 3, from_cta=1)
r = tl.fpsan.embed(f); w = tl.fpsan.unembed(r, tl.float32); v = tl.fpsan.unembed(tl.fpsan.embed(h), tl.bfloat16);
    u = tl.fpsan.embed(1.5)
e = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [1, 64], Q);
    i = tl.arange(0, 64, tl.SliceLayout(0, tl.BlockedLayout([1, 4], [32, 1], [1, 4], [1, 0])));
    blackwell.tma.async_gather(e, i, n, b.index(0), q.index(0)); blackwell.tma.async_scatter(e, i, n, q.index(0));
    blackwell.tma.async_gather(e, i, 8, b.index(0), q.index(0), pred=n > 3, multicast=True);
    blackwell.tma.async_gather(e, i, 8, b.index(0), q.index(0), cache_policy=tl.CachePolicy("none", "evict_first"));
    blackwell.tma.async_scatter(e, i, 8, q.index(0), tl.CachePolicy("none", "evict_first"))
v: tl.constexpr = tl.NVMMASharedLayout(128, 16, 2, cga_layout=[[0, 0]] if tl.num_ctas() == 2 else []);
    w = tl.allocate_shared_memory(tl.float16, [32, 64], v); i = tl.arange(0, 32, tl.SliceLayout(0, tl.BlockedLayout(
    [1, 4], [32, 1], [1, 4], [1, 0], [[0, 0]] if tl.num_ctas() == 2 else [])));
    u = tl.allocate_shared_memory(tl.int64, [tl.num_ctas()], mbarrier.MBarrierLayout([[1]] if tl.num_ctas() == 2 else
    [])); e = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [1, 64], v);
    r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [32, 64], v);
    blackwell.tma.async_gather(e, i, n, u, w, multicast=True); tma.async_load(r, [n, 0], u, w, multicast=True);
    tma.async_load(r, [n, 0], u, w)
c = tl.allocate_shared_memory(tl.float8e5, [256, 128], tl.NVMMASharedLayout(128, 8, 2, cga_layout=[[1, 0]]));
    z = blackwell.allocate_tensor_memory(tl.float32, [256, 256], blackwell.TensorMemoryLayout([128, 256], 1, [[1, 0]],
    True)); blackwell.tcgen05_mma(c, c.permute([1, 0]), z);
    u = blackwell.allocate_tensor_memory(tl.uint8, [256, 4], blackwell.TensorMemoryScalesLayout([[1, 0]]));
    blackwell.tcgen05_mma_scaled(c, c.permute([1, 0]), z, u, u, "e5m2", "e5m2")
e = tma.make_tensor_descriptor(h_ptr.to(tl.pointer_type(tl.uint8)), [n, 128], [128, 1], [64, 64], PADDED4);
    c = tl.allocate_shared_memory(tl.uint8, [64, 64], PADDED4); tma.async_load(e, [8, n], b.index(0), c)
tl.allocate_shared_memory(tl.int8, [4, 8], tl.PaddedSharedLayout.with_identity_for([[32, 4]], [4, 8], [1, 0], [[1, 0]]))
r = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r,r,r", [s, x, n], tl.int32, False, 1) + x
""",
    "tensor memory": """
r = blackwell.allocate_tensor_memory(tl.float32, [128, 64], TM, value=TV.load())
r = blackwell.allocate_tensor_memory(tl.float16, (128, 64), TM).load(TV.get_reg_layout(num_warps=4))
r = TV.load(TV.get_reg_layout(num_warps="4"))
r = TV.load(TV.get_reg_layout(num_warps=0))
r = TV.load_min(abs=True); w = TV.load_max(TV.get_reg_layout(instr_variant="32x32b"))
r = TV.load_min(); w = TV.load_max()
r = TV.load_min(TV.get_reg_layout(), propagate_nan=triton.language.PropagateNan.ALL)
r = TV.load_max(abs=True, propagate_nan=triton.language.PropagateNan.ALL)
r = TV.load(TV.get_reg_layout(instr_variant="16x256b")); w = TV.load(TV.get_reg_layout(4, "32x32b_splitn"))
TV.store(TV.load() + 1.0, pred=n > 3)
TV.store(f)
second(TV, s); first(TV.load(), TV)
r = TV.slice(32, 16).load()
r = TV.slice(0, 64, dim=0).load()
r = TV.slice(tl.constexpr(0), 64, dim=tl.constexpr(2))
r = TV.slice(n, 64)
r = TV.reinterpret(tl.float32, [1, 128, 64], TM).index(n).load()
r = TV.reinterpret(tl.int32).load(); w = TV.reinterpret(shape=[128, 32]).load()
blackwell.tcgen05_copy(tl.allocate_shared_memory(tl.float32, [128, 64], tl.NVMMASharedLayout(128, 32, 2)), TV)
blackwell.tcgen05_commit(b.index(0), pred=n > 3); blackwell.tcgen05_commit(b.index(1))
blackwell.tcgen05_commit(b.index(0), descs=[MA, q.index(0)])
blackwell.tcgen05_mma(MA, q.index(0), TV); blackwell.tcgen05_mma(MA, q.index(1), TV, use_acc=n > 3, pred=n > 4)
blackwell.tcgen05_mma(MA, q.index(0), TV, use_acc=False, mbarriers=[b.index(0)], mbarrier_preds=[n > 3])
blackwell.tcgen05_mma(MA, q.index(0), TV, pred=False, multicast=True, mbarriers=[b.index(0), b.index(1)])
a = tl.allocate_shared_memory(tl.float8e5, [128, 128], tl.NVMMASharedLayout(128, 8, 2));
    c = blackwell.allocate_tensor_memory(tl.uint8, [128, 4], blackwell.TensorMemoryScalesLayout());
    v = blackwell.allocate_tensor_memory(tl.uint8, [128, 4], blackwell.TensorMemoryScalesLayout());
    z = blackwell.allocate_tensor_memory(tl.float32, [128, 128], blackwell.TensorMemoryLayout([128, 128], 1));
    blackwell.tcgen05_mma_scaled(a, a.permute([1, 0]), z, c, v, "e5m2", "e4m3", use_acc=False, mbarriers=[b.index(0)]);
    blackwell.tcgen05_mma_scaled(a, a.permute([1, 0]), z, c, c, "e5m2", "e4m3", pred=n > 3, multicast=True, mbarriers=[
    b.index(0)], mbarrier_preds=[n > 4])
blackwell.tcgen05_mma_scaled(MA, MA, TV, TV, TV, "e2m1", "bf16")
blackwell.tcgen05_mma_scaled(MA, MA, TV, TV, TV, "fp16", "e4m3")
blackwell.tcgen05_mma_scaled(MA, MA, TV.reinterpret(layout=blackwell.TensorMemoryLayout([64, 128], 1)), TV, TV, "", "")
r = blackwell.add2(g, g) + blackwell.sub2(g, 1.5) + blackwell.mul2(2, g) + blackwell.min2(g, 0.5)
r = blackwell.fma2(g, 2.0, g) + blackwell.max2(1, g)
r = blackwell.add2(g, g.to(tl.float32), dtype=tl.float32); w = blackwell.add2(g.to(tl.float8e5), g.to(tl.float8e5))
r = blackwell.mul2(g, n, dtype=tl.constexpr(tl.float16))
r = blackwell.sub2(m, m)
r = blackwell.add2(g, g, tl.float32); s = blackwell.sub2(g, g, tl.float32); t = blackwell.mul2(g, g, tl.float32);
    u = blackwell.fma2(g, g, g, tl.float32); v = blackwell.min2(g, g, tl.float32); w = blackwell.max2(g, g, tl.float32)
r = rubin.add4(g, g, tl.float32); s = rubin.sub4(g, g, tl.float32); t = rubin.mul4(g, g, tl.float32);
    u = rubin.fma4(g, g, g, tl.float32)
r = blackwell.min2(1, n)
r = blackwell.mul2(m.to(tl.uint8), tl.zeros([16, 64], tl.float16, L2))
c = tl.allocate_shared_memory(tl.int64, [2], S1);
    blackwell.clc.try_cancel(c, b.index(0)); r = blackwell.clc.load_result(c); w = r.is_canceled(); u = r.program_id(1)
r = rubin.add4(g, n.to(tl.int8)); w = rubin.mul4(row[:, None].to(tl.float16), g)
r = rubin.sub4(g, m.to(tl.int8))
r = rubin.add4(m.to(tl.uint8), m.to(tl.uint8), tl.float16)
u = g.to(tl.float8e5); v = m.to(tl.float16).to(tl.float8e4nv); r = rubin.add4(u, v); w = rubin.mul4(v, u);
    z = rubin.sub4(v, u); u = rubin.fma4(u, v, z)
r = rubin.add4(tl.zeros([16, 64], tl.float8e5, tl.BlockedLayout([1, 4], [4, 8], [2, 2], [1, 0])), m.to(tl.uint8))
a = tl.allocate_shared_memory(tl.float8e5, [64, 64], tl.NVMMASharedLayout(64, 8, 2));
    r = hopper.warpgroup_mma(a, a, tl.zeros([64, 64], tl.float32, MMA3), max_num_imprecise_acc=64);
    w = hopper.warpgroup_mma(a, q.index(0), tl.zeros([64, 64], tl.float32, MMA3), max_num_imprecise_acc=128)
tma.async_load_im2col(d, [0] * 4, [1.5], b.index(0), q.index(0))
c = blackwell.allocate_tensor_memory(tl.float16, [2, 64, 128], blackwell.TensorMemoryLayout([64, 128], 1));
    u = c.index(n); v = u.slice(64, 32); z = v.load(); tl.static_print(c.rank, u.shape, v.type); w = c.slice(1, 1, 0)
r = TV.reinterpret(tl.float16, [128, 64], blackwell.TensorMemoryLayout([128, 64], 2)).load()
c = blackwell.allocate_tensor_memory(tl.int8, [64, 128], blackwell.TensorMemoryLayout([64, 128], 1, fp4_padded=True));
    r = blackwell.allocate_tensor_memory(tl.uint8, [128, 4], rubin.TensorMemoryScalesLayout(block_rep_order="kThenMn"))
r: tl.constexpr = tl.to_linear_layout(TM, [128, 64]);
    w: tl.constexpr = tl.to_linear_layout(blackwell.TensorMemoryScalesLayout(), [128, 4]);
    v: tl.constexpr = tl.to_linear_layout(tl.to_linear_layout(L2, [16, 32]), [32, 32]);
    u: tl.constexpr = tl.to_linear_layout(rubin.TensorMemoryScalesLayout([[1, 0]]), [256, 4])
r = tl.inline_asm("mov.b32 $0, $1;", "=r,r", [TV], result_types=tl.int32)
c = blackwell.clc.load_result(tl.allocate_shared_memory(tl.int64, [2], S1)); r = given(n, c)[1].program_id(0);;for i in
    range(n):;;    c = blackwell.clc.load_result(tl.allocate_shared_memory(tl.int64, [2], S1))
""",
}
