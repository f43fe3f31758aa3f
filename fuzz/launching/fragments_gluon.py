"""Legal pieces of Gluon kernels, which `scenes.front_end` takes to their source IR as they are and spoilt.

In scope, before each: x (i32), f (fp32), h (fp16): blocks of 128 elements in layout L1; m (i32), g (fp16): blocks of
16 by 32 in L2; s (i32) of 128, t (fp16) of 16 by 32: shared memory, and q (fp16) of 2 by 64 by 64 for matrix products;
b: two mbarriers; d: a descriptor of fp16 in blocks of 64 by 64; TV: fp32 of 128 by 64 in
tensor memory; MA: fp16 for it; n: an i32; x_ptr, f_ptr, h_ptr: pointers.
"""

NAMES = ("x", "f", "h", "m", "g", "s", "t", "q", "b", "d", "n", "L1", "L2", "S1", "S2", "Q")

KINDS = '''@gluon.constexpr_function
def kinds(*values):
    found = []
    for one in values:
        try:
            found.append(one.type.mangle())
        except Exception as error:
            found.append(type(error).__name__)
    return found

'''
"""What gives the names of values' types, which have their layouts in them; for AMD's chips as well."""

HEAD = '''import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as tl
from triton.experimental.gluon.language.nvidia import ampere, hopper, blackwell
from triton.experimental.gluon.language.nvidia.hopper import mbarrier, tma
from triton.experimental.gluon.language.nvidia import rubin

L1 = tl.constexpr(tl.BlockedLayout([1], [32], [4], [0]))
L2 = tl.constexpr(tl.BlockedLayout([1, 2], [4, 8], [2, 2], [1, 0]))
MMA2 = tl.constexpr(tl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]))
MMA3 = tl.constexpr(tl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]))
S1 = tl.constexpr(tl.SwizzledSharedLayout(1, 1, 1, order=[0]))
S2 = tl.constexpr(tl.SwizzledSharedLayout(8, 1, 4, order=[1, 0]))
Q = tl.constexpr(tl.NVMMASharedLayout(128, 16, 2))
TM = tl.constexpr(blackwell.TensorMemoryLayout([128, 64], 1))

@gluon.jit
def plus(a, b):
    return a + b

@gluon.jit
def first(a, b):
    b.store(a)

@gluon.jit
def second(a, b):
    c = b.load(L1)

@gluon.constexpr_function
def line(outputs, inputs):
    return " ".join("mov.b32 " + one + ", " + inputs[0][0] + ";" for one in outputs[0])

''' + KINDS + '''@gluon.jit
def kernel(x_ptr, f_ptr, h_ptr, n):
    at = tl.arange(0, 128, layout=L1)
    x = tl.load(x_ptr + at)
    f = tl.load(f_ptr + at)
    h = tl.load(h_ptr + at)
    row = tl.arange(0, 16, layout=tl.SliceLayout(1, L2))
    column = tl.arange(0, 32, layout=tl.SliceLayout(0, L2))
    where = row[:, None] * 32 + column[None, :]
    m = tl.load(x_ptr + where)
    g = tl.load(h_ptr + where)
    s = tl.allocate_shared_memory(tl.int32, [128], S1)
    t = tl.allocate_shared_memory(tl.float16, [16, 32], S2)
    q = tl.allocate_shared_memory(tl.float16, [2, 64, 64], Q)
    b = mbarrier.allocate_mbarrier(batch=2)
    d = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], Q)
    TV = blackwell.allocate_tensor_memory(tl.float32, [128, 64], TM)
    MA = tl.allocate_shared_memory(tl.float16, [128, 64], Q)
'''

FRAGMENTS: dict[str, str] = {
    "arange": """
r = tl.arange(0, 64, layout=L1) + tl.arange(64, 128, L1)
""",
    "auto": """
r = tl.arange(0, 128)
r = tl.set_auto_layout(r, L1) + x
""",
    "auto beside": """
r = tl.arange(0, 128)
r = x + r
w = r * tl.arange(0, 128)
""",
    "full": """
r = tl.full([16, 32], 3, tl.int32, L2) + m
w = tl.zeros([128], tl.float32, layout=L1)
v = tl.zeros_like(m)
""",
    "like": """
r = tl.full_like(m, 7, shape=[16, 32], dtype=tl.float32, layout=L2)
w = tl.zeros_like(x, dtype=tl.int64)
""",
    "convert": """
r = tl.convert_layout(m, MMA2)
w = tl.convert_layout(x, L1, assert_trivial=True)
""",
    "axes": """
r = tl.sum(m, 1)[:, None] + m
w = tl.expand_dims(tl.max(m, axis=0), 0) * m
""",
    "broadcast": """
r, w = tl.broadcast(tl.expand_dims(tl.sum(m, 1), 1), m)
""",
    "join": """
r = tl.join(x, x + 1)
w, v = tl.split(r)
""",
    "permute": """
r = tl.permute(m, (1, 0))
w = m.trans(1, 0)
v = m.permute([0, 1])
""",
    "reshape": """
r = tl.reshape(m, [32, 16])
w = m.reshape(8, 64)
v = tl.ravel(m)
""",
    "where": """
r = tl.where(x > 0, x, 0)
w = tl.maximum(f, 0.5)
v = tl.fma(f, f, f)
""",
    "reduce": """
r = tl.reduce(m, 1, plus)
w, v = tl.min(m, 0), n
""",
    "scan": """
r = tl.associative_scan(m, 0, plus, reverse=True)
w = tl.associative_scan(x, 0, plus)
""",
    "histogram": """
r = tl.histogram(x & 63, 64, mask=x > 0, layout=L1)
""",
    "gather": """
r = tl.gather(m, m & 15, axis=0)
w = tl.gather(x, x & 127, 0)
""",
    "shared": """
s.store(x)
r = s.load(L1)
w = tl.allocate_shared_memory(tl.int32, [128], S1, x)
w._keep_alive()
""",
    "shared gather": """
r = s.gather(x & 127, axis=0)
s.scatter(x, x & 127, axis=0)
""",
    "shared atomics": """
r = s.atomic_scatter_add(x, x & 127, axis=0)
w = s.atomic_scatter_max(x, x & 127, 0, mask=x > 3)
v = s.atomic_scatter_xor(x, x & 127, axis=0)
""",
    "more shared atomics": """
r = s.atomic_scatter_min(x, x & 127, 0)
w = s.atomic_scatter_and(x, x & 127, axis=0)
v = s.atomic_scatter_or(x, x & 127, axis=0)
u = s.atomic_scatter_xchg(x, x & 127, axis=0)
""",
    "unsigned atomics": """
u = x.to(tl.uint32)
s = s.reinterpret(tl.uint32, [128], S1)
r = s.atomic_scatter_max(u, x & 127, 0)
w = s.atomic_scatter_min(u, x & 127, 0)
""",
    "slice": """
r = t.slice(0, 8)
w = t.slice(16, 16, dim=1)
v = s.slice(64, 64, 0)
v.store(tl.arange(0, 64, L1))
""",
    "index": """
r = q.index(0)
w = q.index(n)
v = tl.num_ctas() + tl.num_warps()
""",
    "shared shapes": """
r = t.permute([1, 0])
w = t.reshape([32, 16])
v = t.reinterpret(tl.int16, [16, 32], S2)
""",
    "about shared": """
r = tl.full([128], t.numel + t.rank + t.nbytes_per_cta, t.dtype, L1) if t.rank == 2 else 0
w = s.shape[0] + q.nbytes_per_cta + s.nbytes_per_cta
""",
    "conflicts": """
w: tl.constexpr = tl.bank_conflicts(g.type, t.type)
v = x + w
""",
    "linear": """
r: tl.constexpr = tl.to_linear_layout(L2, [16, 32])
w = tl.convert_layout(m, r)
v: tl.constexpr = tl.to_linear_layout(S2, [16, 32])
""",
    "dot": """
a = tl.convert_layout(g, tl.DotOperandLayout(0, L2, 0))
c = tl.convert_layout(g.trans(1, 0), tl.DotOperandLayout(1, L2, 0))
r = tl.dot_fma(a, c, tl.zeros([16, 16], tl.float16, L2))
""",
    "mma": """
a = tl.convert_layout(g, tl.DotOperandLayout(0, MMA2, 2))
c = tl.convert_layout(g.trans(1, 0), tl.DotOperandLayout(1, MMA2, 2))
r = ampere.mma_v2(a, c, tl.zeros([16, 16], tl.float32, MMA2), input_precision="tf32")
""",
    "warpgroup": """
acc = tl.zeros([64, 64], tl.float32, MMA3)
r = hopper.warpgroup_mma(q.index(0), q.index(1), acc, use_acc=n > 0, precision="tf32", is_async=True)
w = hopper.warpgroup_mma_wait(num_outstanding=1, deps=[r])
v = hopper.warpgroup_mma(q.index(0), q.index(1), w)
""",
    "warpgroup in a loop": """
r = hopper.warpgroup_mma_init(tl.zeros([64, 64], tl.float32, MMA3))
for i in range(n):
    r = hopper.warpgroup_mma(q.index(0), q.index(1), r, is_async=True)
w = hopper.warpgroup_mma_wait(0, deps=(r,))
""",
    "warpgroup fp8": """
k = tl.allocate_shared_memory(tl.float8e4nv, [64, 64], tl.NVMMASharedLayout(64, 8, 2))
acc = tl.zeros([64, 64], tl.float32, MMA3)
r = hopper.warpgroup_mma(k, k.permute([1, 0]), acc, max_num_imprecise_acc=32)
""",
    "async copy": """
ampere.async_copy.async_load(s, x_ptr + at, mask=x > 0, cache_modifier=".ca", eviction_policy="evict_last",
    volatile=False)
ampere.async_copy.commit_group()
ampere.async_copy.wait_group(0)
""",
    "async copy with a policy": """
ampere.async_copy.async_load(s, x_ptr + at, cache_policy=hopper.CachePolicy(cache_modifier="ca",
    l2=hopper.FractionalEvictionPolicy("evict_last", 0.5)))
ampere.async_copy.mbarrier_arrive(b.index(0), increment_count=False)
""",
    "policies": """
r = tl.load(x_ptr + at, mask=x > 0, other=7, cache_policy=hopper.CachePolicy(l1="evict_first",
    l2_prefetch_size=128))
tl.store(x_ptr + at, r, cache_policy=hopper.CachePolicy(cache_modifier="wb"))
""",
    "loads": """
r = tl.load(x_ptr + at, x > 0, 1, cache_modifier=".cg", eviction_policy="evict_first", volatile=True)
tl.store(x_ptr + at, r, mask=r > 0, cache_modifier=".cs", eviction_policy="evict_last")
""",
    "barriers": """
mbarrier.init(b.index(0), count=1)
mbarrier.expect(b.index(0), 128, pred=n > 0)
mbarrier.arrive(b.index(0), count=1, pred=n > 1)
mbarrier.wait(b.index(0), 0, pred=n > 0, deps=[s])
mbarrier.invalidate(b.index(0))
tl.barrier()
""",
    "barriers of Ampere": """
ampere.mbarrier.init(b.index(1), 2)
ampere.mbarrier.arrive(b.index(1), pred=n > 0)
ampere.mbarrier.wait(b.index(1), n & 1, deps=(s, t))
""",
    "one barrier": """
r = mbarrier.allocate_mbarrier()
mbarrier.init(r, 1)
mbarrier.arrive(r, from_cta=0)
w = tl.allocate_shared_memory(tl.int64, [1], mbarrier.MBarrierLayout())
""",
    "bulk load": """
tma.async_load(d, [0, 0], b.index(0), q.index(0), pred=n > 0, multicast=False)
tma.async_load(d, [n, 0], b.index(0), q.index(1),
    cache_policy=hopper.CachePolicy(l2=hopper.FractionalEvictionPolicy("evict_first", 1.0)))
""",
    "bulk store": """
hopper.fence_async_shared(cluster=False)
tma.async_store(d, [n, 0], q.index(0))
tma.store_wait(pendings=0, read_only=False)
tma.async_atomic_add(d, [0, 0], q.index(1))
""",
    "bulk atomics": """
k = tl.allocate_shared_memory(tl.int32, [32, 32], tl.NVMMASharedLayout(128, 32, 2))
e = tma.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [32, 32], tl.NVMMASharedLayout(128, 32, 2))
tma.async_atomic_min(e, [0, 0], k)
tma.async_atomic_max(e, [0, n], k)
tma.async_atomic_and(e, [n, 0], k)
tma.async_atomic_or(e, [0, 0], k)
tma.async_atomic_xor(e, [0, 0], k)
""",
    "descriptor": """
e = tma.make_tensor_descriptor(f_ptr, shape=[n, n, 64], strides=[n * 64, 64, 1], block_shape=[2, 8, 32],
    layout=tl.NVMMASharedLayout(128, 32, 3), padding_option="nan")
r = e.shape[0] + e.strides[1]
w = e.block_shape[0] + e.nbytes_per_cta
v = tl.full([128], 0, e.dtype, L1)
""",
    "specialised": """
tl.warp_specialize([(first, (x, s)), (second, (x, s))], [4], [24])
""",
    "assembly": """
r = tl.inline_asm(line, "=r,r,r", [x, x], result_types=[x.type], is_pure=True)
w = tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [x, x], tl.int32, True, 1)
u = tl.inline_asm(line, ("=r", "r"), [n], tl.arange(0, 512, layout=tl.BlockedLayout([4], [32], [4], [0])).type, True)
""",
    "library": """
r = tl.exp(f) + tl.sqrt(f) + tl.abs(f) + tl.floor(f)
w = tl.exp2(f)
v = tl.umulhi(x.to(tl.uint32), x.to(tl.uint32))
u = tl.cdiv(x, 3)
""",
    "atomics": """
r = tl.atomic_add(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
w = tl.atomic_cas(x_ptr, 1, n)
v = tl.atomic_max(f_ptr + at, f)
u = tl.atomic_xchg(x_ptr + at, x)
""",
    "hints": """
r = tl.multiple_of(x, 16)
w = tl.max_contiguous(x, 4)
v = tl.max_constancy(x, 2)
tl.assume(n > 0)
tl.static_assert(s.rank == 1)
tl.device_assert(n > 0, "positive")
""",
    "assigned layouts": """
r: tl.constexpr = tl.BlockedLayout([1, 4], [8, 4], [1, 4], [0, 1])
w = tl.convert_layout(m, r)
v: tl.constexpr = tl.SliceLayout(0, r)
u = tl.arange(0, 32, layout=v)
""",
    "linear layouts": """
r: tl.constexpr = tl.DistributedLinearLayout([[0, 1], [0, 16]], [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], [[4, 0],
    [8, 0]], [], [16, 32])
w = tl.convert_layout(m, r)
""",
    "padded layouts": """
r: tl.constexpr = tl.PaddedSharedLayout.with_identity_for([[32, 4], [128, 8]], [16, 32], [1, 0])
w = tl.allocate_shared_memory(tl.float16, [16, 32], r, g)
v = w.load(L2)
""",
    "linear shared layouts": """
r: tl.constexpr = tl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], alignment=16)
w = tl.allocate_shared_memory(tl.float16, [4, 4], r)
v = w.permute((1, 0))
""",
    "layouts for products": """
r: tl.constexpr = tl.NVMMASharedLayout.get_default_for([64, 32], tl.float16)
w = tl.allocate_shared_memory(tl.float16, [64, 32], r)
v: tl.constexpr = tl.NVMMASharedLayout(64, 16, 2, transposed=True, fp4_padded=False)
""",
    "layouts for barriers": """
r: tl.constexpr = mbarrier.MBarrierLayout.multicta(4, two_cta=True)
w: tl.constexpr = mbarrier.MBarrierLayout.multicta(num_ctas=2)
""",
    "fp4": """
r = tl.fp4_to_fp(m.to(tl.int8), tl.float16, axis=1)
""",
    "tuples": """
r = (x, (f, n))
w = r[1][0] + 1.0
for i in range(n):
    r = (x + i, (f * 2.0, n))
v = r[0]
""",
    "carried": """
r = s
w = q.index(0)
for i in range(0, n, 2):
    w = q.index(i & 1)
    r = s
r.store(x)
""",
    "branches": """
r = x
if n > 3:
    r = x + 1
elif n > 2:
    r = x * 2
else:
    s.store(x)
w = r if n > 0 else x
""",
}
