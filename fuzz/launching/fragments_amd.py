"""Pieces and statements of Gluon kernels for AMD's chips, which `scenes.front_end` takes to source IR or to refusal.

In scope, before each: x (i32), f (fp32), h (fp16): blocks of 1,024 elements at `at` in layout L1, of warps of 64; m
(i32), g (fp16), u (uint8): blocks of 64 by 64 in L2; y (i32) at `to` in N1, p (fp16), w (uint8) in N2: the same for
warps of 32; s (i32), t (fp16), v (uint8): shared memory of these shapes; b: a barrier; d: a descriptor of t's shape;
F3, F4, FD, W1, W2, W3, WP, WS: layouts of products; a3 and b3, and so on: their operands; c4, c6: sums; n: an i32;
x_ptr, f_ptr, h_ptr: pointers.
"""

from tridiff.fuzz.launching.fragments_gluon import KINDS

NAMES = ("x", "f", "h", "m", "g", "u", "y", "p", "w", "s", "t", "v", "d", "n", "at", "L1", "L2", "F3", "W3", "P")

CHIPS_OF = {"cdna3": ("gfx942", "gfx950"), "cdna4": ("gfx950",), "cdna5": ("gfx1250",), "rdna": ("gfx1100", "gfx1200")}
"""Chips by the first word of a piece's or a part's name."""

HEAD = '''from itertools import product
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as tl
from triton.experimental.gluon.language import amd
from triton.experimental.gluon.language._core import builtin
from triton.experimental.gluon.language.amd import cdna3
from triton.experimental.gluon.language.amd import cdna4
from triton.experimental.gluon.language.amd import rdna3
from triton.experimental.gluon.language.amd import rdna4
from triton.experimental.gluon.language.amd import cdna5
from triton.experimental.gluon.language.amd.cdna5 import tdm
from triton.experimental.gluon.language.amd.cdna4 import async_copy

L1 = tl.constexpr(tl.BlockedLayout([4], [64], [4], [0]))
L2 = tl.constexpr(tl.BlockedLayout([1, 8], [8, 8], [4, 1], [1, 0]))
N1 = tl.constexpr(tl.BlockedLayout([4], [32], [4], [0]))
N2 = tl.constexpr(tl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0]))
S1 = tl.constexpr(tl.SwizzledSharedLayout(1, 1, 1, order=[0]))
S2 = tl.constexpr(tl.SwizzledSharedLayout(1, 1, 1, order=[1, 0]))
P = tl.constexpr(tl.PaddedSharedLayout.with_identity_for([[64, 8]], [64, 64], [1, 0]))
F3 = tl.constexpr(amd.AMDMFMALayout(3, [32, 32, 8], True, [2, 2]))
F4 = tl.constexpr(amd.AMDMFMALayout(4, [16, 16, 128], True, [2, 2]))
FD = tl.constexpr(amd.AMDMFMALayout(3, [16, 16, 4], False, [4, 1], element_bitwidth=64))
W1 = tl.constexpr(amd.AMDWMMALayout(1, True, [[1, 0], [2, 0]]))
W2 = tl.constexpr(amd.AMDWMMALayout(2, False, [[0, 1], [1, 0]]))
W3 = tl.constexpr(amd.AMDWMMALayout(3, True, [[1, 0], [0, 1]], [], [16, 16, 32]))
WP = tl.constexpr(amd.AMDWMMALayout(3, True, [[1, 0], [0, 1]], [], [16, 16, 64]))
WS = tl.constexpr(amd.AMDWMMALayout(3, True, [[1, 0], [0, 1]], [], [16, 16, 128]))

@gluon.jit
def again(a, b):
    return a, b

@builtin
def every(of, names, *given, _semantic=None):
    # Every function of a module whose name begins so, over every choice where there are several.
    for name in (one for one in dir(of) if one.startswith(tuple(names.value.split()))):
        for some in product(*(one if isinstance(one, tl.tuple) else [one] for one in given)):
            try:
                made = getattr(of, name)(*some, _semantic=_semantic)
                print(name, getattr(made, "type", made))
            except Exception as error:
                print(name, error)

''' + KINDS + '''@gluon.jit
def kernel(x_ptr, f_ptr, h_ptr, n):
    at = tl.arange(0, 1024, layout=L1)
    x = tl.load(x_ptr + at)
    f = tl.load(f_ptr + at)
    h = tl.load(h_ptr + at)
    where = tl.arange(0, 64, tl.SliceLayout(1, L2))[:, None] * 64 + tl.arange(0, 64, tl.SliceLayout(0, L2))[None, :]
    m = tl.load(x_ptr + where)
    g = tl.load(h_ptr + where)
    u = m.to(tl.uint8)
    to = tl.arange(0, 1024, layout=N1)
    y = tl.load(x_ptr + to)
    there = tl.arange(0, 64, tl.SliceLayout(1, N2))[:, None] * 64 + tl.arange(0, 64, tl.SliceLayout(0, N2))[None, :]
    p = tl.load(h_ptr + there)
    w = p.to(tl.uint8)
    s = tl.allocate_shared_memory(tl.int32, [1024], S1)
    t = tl.allocate_shared_memory(tl.float16, [64, 64], P)
    v = tl.allocate_shared_memory(tl.uint8, [64, 64], S2)
    b = tl.allocate_shared_memory(tl.int64, [1], cdna5.mbarrier.MBarrierLayout())
    d = tdm.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], P)
    a3 = tl.convert_layout(g, tl.DotOperandLayout(0, F3, 4))
    b3 = tl.convert_layout(g, tl.DotOperandLayout(1, F3, 4))
    a4 = tl.convert_layout(u, tl.DotOperandLayout(0, F4, 16))
    b4 = tl.convert_layout(u, tl.DotOperandLayout(1, F4, 16))
    c4 = tl.zeros([64, 64], tl.float32, F4)
    a5 = tl.convert_layout(w, tl.DotOperandLayout(0, WP, 16))
    b5 = tl.convert_layout(w, tl.DotOperandLayout(1, WP, 16))
    a6 = tl.convert_layout(w, tl.DotOperandLayout(0, WS, 16))
    b6 = tl.convert_layout(w, tl.DotOperandLayout(1, WS, 16))
    c6 = tl.zeros([64, 64], tl.float32, WS)
'''

FRAGMENTS: dict[str, str] = {
    "cdna3 buffers": """
r = cdna3.buffer_load(x_ptr, at, mask=at < n, other=3, cache=".cg")
cdna3.buffer_store(r, x_ptr, at, mask=at < n, cache=".wt")
r = cdna3.buffer_load(f_ptr, at)
cdna3.buffer_store(r, f_ptr, at)
""",
    "cdna3 atomics": """
r = cdna3.buffer_atomic_max(x_ptr, at, x, mask=at < n, sem="relaxed", scope="cta")
r = cdna3.buffer_atomic_add(f_ptr, at, f)
r = cdna3.buffer_atomic_xchg(x_ptr, at, 3, True)
""",
    "cdna3 product": """
r = cdna3.mfma(a3, b3, tl.zeros([64, 64], tl.float32, F3), cd_regclass="a")
""",
    "cdna3 stages": """
for i in range(0, n):
    with amd.warp_pipeline_stage("load", priority=1):
        r = tl.load(x_ptr + at)
    with amd.warp_pipeline_stage():
        r += 1
amd.hint.sched_barrier()
r = amd.slice(g, [32, 64], [32, 0])
""",
    "cdna3 scales": """
k = cdna3.scaled_upcast(u.to(tl.float8e5, bitcast=True), u, tl.float16)
r: tl.constexpr = cdna3.get_scaled_upcast_fp4_scale_layout(u, 32, tl.bfloat16, 1)
q = cdna3.scaled_upcast(u, tl.full([64, 4], 1, tl.uint8, r), tl.bfloat16, axis=1)
""",
    "cdna4 copies": """
async_copy.global_load_to_shared(s, x_ptr + at, mask=at < n, other=3, cache_modifier=".cg")
async_copy.buffer_load_to_shared(s, x_ptr, at, mask=at < n, other=0, cache_modifier=".cs")
async_copy.commit_group()
async_copy.wait_group(1)
r = async_copy.load_shared_relaxed(s, L1)
""",
    "cdna4 products": """
r = cdna4.mfma_scaled(a4, None, "e2m1", b4, None, "e2m1", c4, cd_regclass="v")
i: tl.constexpr = cdna4.get_mfma_scale_layout(tl.DotOperandLayout(0, F4, 16), [64, 4])
r = cdna4.mfma_scaled(a4, tl.full([64, 4], 1, tl.uint8, i), "e2m1", b4, None, "e2m1", r)
""",
    "cdna4 down": """
q = tl.convert_layout(g, tl.BlockedLayout([1, 64], [64, 1], [4, 1], [1, 0]))
i = tl.full([64, 2], 1, tl.uint8, tl.BlockedLayout([1, 2], [64, 1], [4, 1], [1, 0]))
r = cdna4.scaled_downcast(q, i, "e4m3")
r = cdna4.scaled_downcast(q, i, "e2m1", axis=1)
r = cdna4.buffer_atomic_min(x_ptr, at, x)
k = cdna4.load_shared_fp4_repacked(v, tl.DotOperandLayout(1, F4, 16))
""",
    "cdna5 copies": """
d = tdm.update_tensor_descriptor(d, add_offsets=[64, 0], set_bounds=[n, 32], pred=n > 3)
tdm.async_load(d, [0, n], t, pred=n > 0, mbarrier=b, warp_used_hint=3, cache_modifier=".cg")
tdm.async_store(d, [0, 0], t, cache_modifier=".wt")
tdm.async_wait(1)
tdm.prefetch(d, [0, n], pred=n > 3, speculative=True)
d, q = again(d, n)
""",
    "cdna5 rows": """
k = tl.arange(0, 64, tl.BlockedLayout([64], [32], [4], [0]))
tdm.async_gather(d, k, t, b)
tdm.async_scatter(d, k.to(tl.int16), t)
tdm.async_scatter(d, k, t, b)
tdm.async_load_fused([(d, t, 3), (d, t, 12)], cache_modifier=".cs")
""",
    "cdna5 barriers": """
cdna5.mbarrier.init(b, 2)
r = cdna5.mbarrier.arrive(b, count=2)
cdna5.mbarrier.wait(b, r & 1)
cdna5.async_copy.global_to_shared(s, x_ptr + to, mask=to < n, other=1)
cdna5.async_copy.shared_to_global(x_ptr + to, s, mask=to < n, cache_modifier=".wb")
cdna5.async_copy.mbarrier_arrive(b)
cdna5.async_copy.commit_group()
cdna5.async_copy.wait_group(2)
""",
    "cdna5 products": """
q = tl.convert_layout(p, tl.DotOperandLayout(0, W3, 8))
k = tl.convert_layout(p, tl.DotOperandLayout(1, W3, 8))
r = cdna5.wmma(q, k, tl.zeros([64, 64], tl.float32, W3))
r = cdna5.wmma_scaled(a5, 3, "e2m1", b5, 3, "e2m1", c6)
""",
    "cdna5 layouts": """
i: tl.constexpr = tl.PaddedSharedLayout.with_identity_for([[32, 4]], [64, 32], [1, 0])
k: tl.constexpr = tl.PaddedSharedLayout.with_identity_for([[64, 4]], [32, 64], [1, 0])
r: tl.constexpr = cdna5.make_partitioned_dot_layouts(64, 64, i, k, 4, [16, 16, 32])
q = tl.allocate_shared_memory(tl.float16, [64, 32], r[0])
again(q, tl.zeros([64, 64], tl.float32, r[2]))
""",
    "rdna products": """
q = tl.convert_layout(p, tl.DotOperandLayout(0, W2, 8))
k = tl.convert_layout(p, tl.DotOperandLayout(1, W2, 8))
r = rdna4.wmma(q, k, tl.zeros([64, 64], tl.float32, W2))
q = tl.convert_layout(p, tl.DotOperandLayout(0, W1, 16))
k = tl.convert_layout(p, tl.DotOperandLayout(1, W1, 16))
r = rdna3.wmma(q, k, tl.zeros([64, 64], tl.float32, W1))
""",
}

_SHARED = """
for i in tl.static_range(9): r = x.to((tl.int64, tl.uint64, tl.uint32, tl.int32, tl.float64, tl.float16, tl.bfloat16,
    tl.float32, tl.int16)[i]); every(cdna3, "buffer_atomic_", x_ptr.to(tl.pointer_type(r.dtype)), at, r, (None, x > 3),
    (None, "acquire"), (None, "cta"))
every(cdna3, "scaled_upcast", (u.to(tl.float8e4nv, bitcast=True), u.to(tl.float8e5, bitcast=True)), (u, u.to(tl.int8),
    x), (tl.float16, tl.bfloat16, tl.float32), (None, 1))
r: tl.constexpr = cdna3.get_scaled_upcast_fp4_scale_layout(u, 16, tl.float16, 1); every(cdna3, "scaled_upcast", (u,
    u.to(tl.int8), x), (tl.full([64, 8], 1, tl.int8, r), tl.zeros([64, 128], tl.int8, L2), x), (tl.float16, tl.bfloat16,
    tl.float32), (None, -3, -1, 0))"""
LINES: dict[str, str] = {
    "cdna3": _SHARED + """
r = cdna3.buffer_load(x_ptr, n)
r = cdna3.buffer_load(f_ptr, at, mask=x > 3, other=3) + f
r = cdna3.buffer_load(h_ptr, at, x > 3, f) + h
cdna3.buffer_store(x, x_ptr, at, x > 3, cache=".cs"); cdna3.buffer_store(x, x_ptr, at, n > 3)
cdna3.buffer_store(3, x_ptr, at); cdna3.buffer_store(f, x_ptr, at)
r = cdna3.buffer_atomic_and(x_ptr, at, x); r = cdna3.buffer_atomic_or(x_ptr, at, 3, mask=n > 3)
r = cdna3.buffer_atomic_xor(x_ptr, at, x, sem="acquire", scope="sys") + x
r = cdna3.buffer_atomic_min(x_ptr, at, x, sem="release"); r = cdna3.buffer_atomic_max(x_ptr, at, x, scope="gpu")
q = tl.zeros([64, 64], tl.float32, F3); r = cdna3.mfma(q, q, q, cd_regclass="w")
q = tl.zeros([64, 64], tl.float64, FD); r = cdna3.mfma(q, q, None)
r: tl.constexpr = amd.AMDMFMALayout(1, [4, 64, 4], False, [1, 4]); q = tl.zeros([64, 64], tl.float32, r)
r: tl.constexpr = amd.AMDMFMALayout(2, [64, 4, 4], True, [4, 1]); q = tl.zeros([64, 64], tl.float32, r)
r: tl.constexpr = amd.AMDMFMALayout(3, [16, 16, 16], True, [2, 2], tiles_per_warp=[2, 1]); q = tl.zeros([64, 64],
    tl.float32, r)
r: tl.constexpr = amd.AMDMFMALayout(5, [16, 16, 16], True, [2, 2])
r: tl.constexpr = amd.AMDMFMALayout(3, [16, 32, 16], True, [2, 2])
r: tl.constexpr = amd.AMDMFMALayout(3, [16, 16], True, [2, 2])
r: tl.constexpr = amd.AMDMFMALayout(3, [16, 16, 16], True, [2, 2], 16)
r: tl.constexpr = amd.AMDMFMALayout(3, [16, 16, 16], True, [2, 2], cga_layout=[[0, 1, 0]])
again(tl.zeros([64, 64], tl.float32, F3), tl.zeros([64, 64], tl.float32, FD))
for i in range(n): again(i, tl.zeros([64, 64], tl.float32, amd.AMDMFMALayout(3, [16, 16, 4], False, [4, 1])))
with amd.warp_pipeline_stage("a", priority=4): r = x
with amd.warp_pipeline_stage("a", priority=0): r = x + 1
with amd.warp_pipeline_stage(label="a"): r = x + 1
r = f.to(tl.float8e4b8); q = f.to(tl.float8e5b16)
every(amd, "slice", (g, n), ((32, 64), (64, 64), (64, 65), (64,)), ((0, 0), (32, 0), (33, 0), (0,)))
every(amd.hint, "sched_barrier", (None, "a", 3, (None,), (None, 0)))
every(cdna3, "buffer_load", (x_ptr, x_ptr + at, f_ptr, n), (at, at.to(tl.uint32), at.to(tl.int64)), (None, x > 3),
    (None, 0, 3, f), (None, "", ".ca", ".cg", ".cs", ".cv", ".wb", ".wt"))
every(cdna3, "buffer_store", x, x_ptr, at, (None, x > 3), (None, "", ".wb", ".cg", ".cs", ".wt", ".ca"))
every(cdna3, "mfma", a3, b3, (tl.zeros([64, 64], tl.float32, F3), g), ("a", "v", "b"))
every(cdna3, "get_scaled", (u, u.to(tl.int8), x), (16, 32, 0, 24, 16.0), (tl.float16, tl.bfloat16, tl.float32), (None,
    -3, -1, 0, 2))
""",
    "cdna4": _SHARED.replace("cdna3", "cdna4") + """
every(async_copy, "global_load", (s, t), x_ptr + at, (None, x > 3), (None, 0, 3, f), ("", ".ca", ".cg", ".cs", ".cv"))
every(async_copy, "buffer_load", s, x_ptr, (at, at.to(tl.int64)), (None, x > 3), (None, 0, 3, f), ("", ".ca", ".wt"))
every(cdna4, "load_shared", (v, u), (tl.DotOperandLayout(1, F4, 16), tl.DotOperandLayout(1, WP, 16), F4)); every(cdna4,
    "load_shared", tl.allocate_shared_memory(tl.int8, [2, 64, 32], tl.SwizzledSharedLayout(1, 1, 1, [2, 1, 0])),
    tl.DotOperandLayout(1, amd.AMDMFMALayout(4, [16, 16, 128], True, [1, 2, 2]), 16))
r: tl.constexpr = tl.BlockedLayout([1, 64], [64, 1], [4, 1], [1, 0]); q = tl.convert_layout(g, r); k = tl.full([64, 2],
    1, tl.uint8, r); every(cdna4, "scaled_downcast", (q, q.to(tl.bfloat16), q.to(tl.float32), k), (k, k.to(tl.int8),
    k.to(tl.int16), u, tl.full([64, 16], 1, tl.int8, r), tl.full([64, 8], 1, tl.int8, r)), ("e4m3", "e5m2", "e2m1",
    "e3m2"), (-3, -1, 1, 2))
r: tl.constexpr = cdna4.get_mfma_scale_layout(tl.DotOperandLayout(0, F4, 16), [64, 4]); q = tl.full([64, 4], 1,
    tl.int8, r); every(cdna4, "mfma_scaled", a4, (None, 3, 1.0, q), ("e2m1", "e4m3", "e5m2", "e3m2"), b4, (None, 5, q),
    ("e2m1", "e4m3", "e5m2"), c4, (None, "a"))
async_copy.wait_group(); async_copy.wait_group(num_outstanding=3)
r = async_copy.load_shared_relaxed(s, S1)
r = cdna4.mfma_scaled(c4, None, "e4m3", c4, None, "e4m3", c4)
r = cdna4.mfma_scaled(u, 1, "e2m1", u, 1, "e2m1", u)
r = cdna4.mfma_scaled(a4, 3, "e5m2", b4, None, "e4m3", c4, cd_regclass="a")
r: tl.constexpr = cdna4.get_mfma_scale_layout(tl.DotOperandLayout(1, F4, 16), [64, 4], scale_factor=16)
r: tl.constexpr = cdna4.compute_efficient_padded_shared_layout(tl.DotOperandLayout(1, F3, 8), [64, 64], tl.float16)
r = cdna4.scaled_downcast(g, u, "e4m3")
r = cdna4.scaled_downcast(x, u, "e5m2", axis=0)
""",
    "cdna5": """
every(tdm, "async_load", d, (None, (n, 0)), (t, None), (None, True, False, n > 3, n), (None, b), (None, 3), ("", ".cg"))
every(tdm, "async_store", d, (None, (n, 0)), (t, None), (None, b), ("", ".cs", ".wt"))
every(tdm, "update", d, (None, (n, 0), (0, n), (n,)), (None, (n, 3), (n,)), (None, True, False, n > 3, n.to(tl.int64)),
    (False, True))
k = tl.arange(0, 64, tl.BlockedLayout([64], [32], [4], [0])); every(tdm, "async_gather async_scatter", (d,
    tdm.make_tensor_descriptor(h_ptr, [n], [1], [64], S1)), (k, k.to(tl.int16)), (t, s), (None, b))
every(tdm, "prefetch _test_prefetch", d, ((n, 0), (0, n)), (True, n > 3, False), (False, True))
every(tdm, "make_tensor", (x_ptr, n), ((n, 64), (n,)), ((64, 1), (1,)), ((64, 64), (64,)), (P, S1, L2,
    cdna5.PartitionedSharedLayout(2, 2, 1, P), cdna5.PartitionedSharedLayout(2, 1, 0, S2),
    cdna5.PartitionedSharedLayout(2, 1, 0, tl.SwizzledSharedLayout(1, 1, 2, [1, 0]))))
every(cdna5.async_copy, "global_to_shared", (s, t), x_ptr + to, (None, y > 3), (None, 0, 3, p), ("", ".ca", ".cg"))
every(cdna5.async_copy, "shared_to_global", x_ptr + to, (s, t), (None, y > 3), ("", ".wb", ".cg", ".cs", ".wt"))
every(cdna5.mbarrier, "init wait", b, (1, 2, n))
every(cdna5, "load_shared", (v, t), (tl.DotOperandLayout(1, WP, 16), tl.DotOperandLayout(1, F4, 16), WP))
r: tl.constexpr = cdna5.get_scaled_upcast_fp4_scale_layout(w, 16, tl.float16, 1); every(cdna5, "scaled_upcast", w,
    tl.full([64, 8], 1, tl.int8, r), (tl.float16, tl.bfloat16), (None, -1)); every(cdna5, "scaled_upcast",
    w.to(tl.float8e5, bitcast=True), w, tl.float16)
r: tl.constexpr = d.block_type; q: tl.constexpr = d.dtype; k: tl.constexpr = d.layout
r: tl.constexpr = cdna5.get_wmma_scale_layout(tl.DotOperandLayout(0, WP, 16), [64, 4]); q = tl.full([64, 4], 1,
    tl.uint8, r); k = q.to(tl.float8e4nv, bitcast=True); every(cdna5, "wmma_scaled", (a5, a6), (None, 3, 1.0, q, k),
    ("e2m1", "e4m3"), (b5, b6), (None, 5, 2.0, q.to(tl.int8), k), ("e2m1", "e5m2"), c6)
r: tl.constexpr = tl.amd.AMDWMMALayout(3, True, [[0, 1], [1, 0]], [], [32, 16, 128]); every(cdna5, "wmma_scaled", (a5,
    a6), None, ("e2m1", "e4m3"), (b5, b6), None, ("e2m1", "e5m2"), tl.zeros([64, 64], tl.float32, r))
r = tdm.make_tensor_descriptor(h_ptr, [n], [1], [64], S1); q = r.block_shape[0] + r.shape[0] + n
r = tdm.make_tensor_descriptor(x_ptr, [n], [1], [64], tl.SwizzledSharedLayout(4, 1, 4, [0]))
r = tdm.update_tensor_descriptor(d, add_offsets=[n, 0], clamp_bounds=True); again(r, d)
tdm.async_load_fused([(d, t, 3)])
tdm.async_load_fused([(d, t, 3), (d, t)])
tdm.async_load_fused([(d, t, 3), (t, t, 12)])
tdm.async_load_fused([(d, t, 3), (d, t, None)])
tdm.prefetch(d, [0, n]); tdm.prefetch(d, [0], pred=False)
cdna5.cluster.arrive(); cdna5.cluster.wait()
r = cdna5.mbarrier.arrive(b); cdna5.mbarrier.wait(b, 1)
cdna5.async_copy.shared_to_global(x_ptr, s); cdna5.async_copy.shared_to_global(x_ptr + to, t)
cdna5.buffer_store(cdna5.buffer_load(x_ptr, to, cache=".cg"), x_ptr, to, cache=".wt")
r = cdna5.wmma(p, p, p)
q = tl.convert_layout(p, tl.DotOperandLayout(0, W2, 8)); r = cdna5.wmma(q, q, tl.zeros([64, 64], tl.float32, W3))
r: tl.constexpr = cdna5.get_wmma_scale_layout(tl.DotOperandLayout(1, WS, 16), [64, 4], 24)
r: tl.constexpr = cdna5.PartitionedSharedLayout(2, 1, 0, P); q = tl.allocate_shared_memory(tl.float16, [128, 64], r);
    again(q, n)
r: tl.constexpr = cdna5.PartitionedSharedLayout(3, 1, 0, P)
r: tl.constexpr = cdna5.PartitionedSharedLayout(2, 0, 0, P)
r: tl.constexpr = cdna5.PartitionedSharedLayout(2, 1, -1, P)
""",
    "rdna": """
r = rdna3.wmma(p, p, tl.zeros([64, 64], tl.float32, W2))
r = rdna4.wmma(p, p, tl.zeros([64, 64], tl.float32, W2))
r: tl.constexpr = amd.AMDWMMALayout(1, False, [[0, 1], [0, 2]]); again(tl.zeros([64, 64], tl.float32, r), n)
r: tl.constexpr = amd.AMDWMMALayout(2, True, [[1, 0], [0, 1]], [[0, 2]]); again(tl.zeros([64, 64], tl.float32, r), n)
r: tl.constexpr = amd.AMDWMMALayout(4, True, [[1, 0], [0, 1]])
r: tl.constexpr = amd.AMDWMMALayout(2, True, [[1, 0, 0]])
r: tl.constexpr = amd.AMDWMMALayout(2, True, [[0, 1, 0], [0, 0, 1]], rank=3); again(tl.zeros([2, 64, 64], tl.float32,
    r), n)
r: tl.constexpr = amd.AMDWMMALayout(2, True, [[1, 0], [0, 1]], cga_layout=[[0, 1, 0]])
""",
}
