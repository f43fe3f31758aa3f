"""Statements of Gluon kernels, each a kernel of its own, which `scenes.front_end` takes to source IR or to refusal.

In scope: what `fragments_gluon` has, and the layouts and functions below.
"""

import re

HELPERS = '''
AUTO = tl.constexpr(tl.AutoLayout())
OTHER = tl.constexpr(tl.BlockedLayout([2], [32], [4], [0]))
COLUMNS = tl.constexpr(tl.BlockedLayout([1, 1], [32, 1], [1, 4], [0, 1]))
LINEAR = tl.constexpr(tl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]]))
PADDED4 = tl.constexpr(tl.NVMMASharedLayout(128, 8, 2, fp4_padded=True))
FOUR = tl.constexpr(tl.BlockedLayout([1, 8], [8, 4], [4, 1], [1, 0]))

@gluon.constexpr_function
def number_line(outputs, inputs):
    return 3

@gluon.jit
def third(a, b):
    c = b.load(L1) + tl.num_warps()

@gluon.jit
def counted(a):
    b = a + tl.num_warps()

@gluon.jit
def waiting():
    tl.barrier()

@gluon.jit
def summed(a, b, c):
    d = b + c + a

@gluon.jit
def given(a, b):
    return a + 1, b

@gluon.jit
def either(c, a, b):
    if c:
        return a
    else:
        return b

@gluon.jit
def warped(n):
    return n + tl.num_warps()

@gluon.jit
def nested(n):
    warped(warped(n))

@gluon.jit
def first_of(a, b, c, d):
    return a + c, b + d

'''


def _constant(expressions: str) -> str:
    """Each as a statement that gives r its value, known when compiling."""
    return re.sub(r"(?m)^(?=\S)", "r: tl.constexpr = ", expressions)


LINES: dict[str, str] = {
    "blocks": """
r = tl.arange(3, 131, L1) + x
r = tl.arange(0, 128, L2)
r = tl.arange(0, 100, L1)
r = tl.arange(0, n, L1)
r = tl.arange(0, 128, S1)
r = tl.arange(0, 128) + x
r = x + tl.arange(0, 128)
r = tl.arange(0, 128) + tl.arange(0, 128)
r = tl.arange(0, 128, OTHER) + x
r = tl.full([128], 3, tl.int32)
r = tl.full([128], 3, tl.int32, AUTO) + x
r = tl.full([128], 3, tl.int32, layout=L2)
r = tl.full((), 3, tl.int32, L1) + n
r = tl.full([128], n, tl.int64, L1)
r = tl.full([128], x, tl.int32, L1)
r = tl.full_like(x, 1.5, dtype=tl.float32) + f
r = tl.full_like(x, 2, layout=OTHER)
r = tl.full_like(m, 2, shape=[128], layout=L1) + x
r = tl.zeros([16, 32], tl.int32, L2) + m
r = tl.zeros_like(x, shape=[16, 32], layout=L2) + m
r = x + n
r = n + x
r = x + m
r = x + f + h
r = x + tl.full([1], 3, tl.int32, L1)
r = x + tl.full([64], 3, tl.int32, L1)
r = x + x[:, None]
r = m + tl.sum(m, 0)[None, :] + tl.sum(m, 1)[:, None]
r = m + tl.sum(m, 0)[:, None]
r = m + x[None, :]
r = tl.expand_dims(row, 1) + m
r = tl.expand_dims(row, -1) + m
r = tl.expand_dims(column, -2) + m
r = tl.expand_dims(row, 0)
r = tl.expand_dims(x, 1)
r = tl.expand_dims(n, 0)
r = tl.expand_dims(row, (1, 0))
r = row[:, None, None]
r = x[0]
r = x[1:]
r = tl.arange(0, 16)[:, None] + m
r = tl.arange(0, 16)[:, None] + tl.arange(0, 32)[None, :]
r = tl.broadcast(row[:, None], column[None, :])[0] + m
r = row[:, None].broadcast_to([16, 32]) + m
r = tl.join(x, x).sum(1)
r = tl.join(x, f)
r = tl.join(n, n)
r = tl.join(x, m)
r = tl.join(x, tl.full([1], 3, tl.int32, L1))
r = tl.split(x)
r, s = tl.split(tl.join(m, m)); w = r + s
r = tl.cat(x, x, can_reorder=True, layout=L1)
r = tl.cat(x, x, layout=L1)
r = tl.cat(x, x, can_reorder=True)
r = tl.permute(m, [1, 1])
r = m.T
r = tl.trans(m) + m.permute(1, 0)
r = tl.reshape(m, [512])
r = tl.reshape(m, [16, 16])
r = tl.ravel(x)
r = tl.sum(m, 2)
r = tl.sum(m, -1) + row
r = tl.sum(m) + n
r = tl.sum(x, 0) + tl.max(f, 0)
r = tl.reduce(m, None, plus)
r = tl.reduce((m, g), 1, first_of)[0] + row
r = tl.reduce((x, tl.arange(0, 128, OTHER)), 0, first_of)
r = tl.reduce((x, f), 0, plus)
r = tl.reduce(m, 0, plus, keep_dims=True) + m
r = tl.argmax(m, 1) + row
r = tl.max(m, 0, return_indices=True)[1] + column
r = tl.associative_scan(m, -1, plus) + m
r = tl.associative_scan(m, 2, plus)
r = tl.associative_scan((x, f), 0, first_of, reverse=True)[1] + f
r = tl.associative_scan((x, m), 0, first_of)
r = tl.cumsum(m, 1)
r = tl.sort(x)
r = tl.histogram(x, 64, layout=L1)
r = tl.histogram(x, 64)
r = tl.histogram(f, 64, layout=L1)
r = tl.histogram(m, 64, layout=L1)
r = tl.histogram(x, 64, mask=x, layout=L1)
r = tl.histogram(x, 64, mask=True, layout=L1)
r = tl.histogram(x, 128, mask=x > 3, layout=OTHER)
r = tl.histogram(tl.arange(0, 128), 64, mask=x > 3, layout=L1)
r = tl.gather(m, m, -1)
r = tl.gather(m, m, 2)
r = tl.gather(x, tl.arange(0, 128, OTHER), 0)
r = tl.gather(m, x, 0)
r = tl.gather(m, g, 0)
r = tl.gather(n, x, 0)
r = tl.convert_layout(x, OTHER) + tl.arange(0, 128, OTHER)
r = tl.convert_layout(m, COLUMNS)
r = tl.convert_layout(m, COLUMNS, assert_trivial=True)
r = tl.convert_layout(m, L2, assert_trivial=True) + m
r = tl.convert_layout(n, L1)
r = tl.convert_layout(x, S1)
r = tl.convert_layout(x, 3)
r = tl.set_auto_layout(tl.arange(0, 128), OTHER)
r = tl.set_auto_layout(tl.arange(0, 128), S1)
r = tl.where(x > 3, x, 0) + tl.where(n > 3, x, x)
r = tl.where(x > 3, f, tl.arange(0, 128))
r = tl.where(m > 3, row[:, None], column[None, :])
r = tl.fp4_to_fp(m.to(tl.int8), tl.bfloat16, axis=0)
r = tl.fp4_to_fp(m.to(tl.uint8), tl.float16, -1)
r = tl.fp4_to_fp(m, tl.float16, 1)
r = tl.dot(g, g)
r = tl.dot_fma(x, x, x)
r = tl.dot_fma(g, g, g)
r = tl.to_linear_layout(L1, [128]); s = tl.convert_layout(x, r)
r = tl.to_linear_layout(LINEAR, [4, 4])
r = tl.to_linear_layout(AUTO, [4, 4])
r = tl.to_linear_layout(3, [4, 4])
r: tl.constexpr = tl.bank_conflicts(g.type, t.type); s = x + r
r = tl.bank_conflicts(x.type, x.type)
r = tl.bank_conflicts(t.type, t.type)
r = tl.bank_conflicts(x.type, t.type)
r = tl.bank_conflicts(m.type, t.type)
r = tl.bank_conflicts(g.type, t.slice(0, 8).type)
r = tl.bank_conflicts(tl.zeros([8, 32], tl.float16, L2).type, t.slice(0, 8).type)
r = tl.inline_asm("add.s32 $0, $1, $2;", "=r,r,r", [x, x], result_types=x.type)
r = tl.inline_asm("add.s32 $0, $1, $2;", ["=r", "r", "r"], [x, x], result_types=x.type, is_pure=False)
r = tl.inline_asm(line, ["=r", "r", "r"], [x, x], result_types=[x.type])[0] + x
r = tl.inline_asm(line, ["=r", "r"], [x, x], result_types=[x.type])
r = tl.inline_asm(number_line, "=r,r,r", [x, x], result_types=[x.type])
r = tl.inline_asm("mov.b32 $0, $1;", "=r,r", [n], result_types=tl.int32) + n
r = tl.inline_asm("mov.b32 $0, $1;", "=r,r", [s], result_types=tl.int32)
r = tl.inline_asm("mov.b32 $0, 3;", "=r", [], result_types=(tl.int32, tl.float32))
r = tl.inline_asm("mov.b32 $0, $1;", "=r,r", [tl.arange(0, 128)], result_types=x.type)
r = tl.inline_asm("mov.b32 $0, $1;", "=r,r", [x], result_types=s.type)
r = tl.inline_asm(3, "=r,r", [x], result_types=x.type)
r = tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [x, n], tl.int32, True, 1) + x
r = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [s], tl.int32, True, 1)
r = tl.num_warps() + tl.num_ctas() + n
tl.barrier(cluster=True)
tl.barrier(True)
r = either(n > 3, x, tl.convert_layout(x, OTHER))
r = either(n > 3, x, x + 1)
if n > 3: x = tl.convert_layout(x, OTHER)
if n > 3: s = tl.allocate_shared_memory(tl.int32, [128], S1)
if n > 3: t = q
for i in range(n): x = tl.convert_layout(x, OTHER)
for i in range(n): s = s.slice(0, 64)
""",
    "shared": """
s.store(f)
s.store(m)
s.store(n)
s.store(x[:64])
s.store(tl.arange(0, 128))
r = s.load(AUTO)
r = s.load() + x
r = s.load(OTHER) + tl.arange(0, 128, OTHER)
r = t.load(L2) + g
r = tl.allocate_shared_memory(tl.int32, [128], S1, value=x); w = r.load(L1) + x
r = tl.allocate_shared_memory(tl.int32, [128], S1, m)
r = tl.allocate_shared_memory(tl.int32, [128], L1)
r = tl.allocate_shared_memory(tl.int32, [n], S1)
r = tl.allocate_shared_memory(tl.int32, [128, 2.5], S1)
r = tl.allocate_shared_memory(3, [128], S1)
r = tl.allocate_shared_memory(tl.int32, [2, 128], S1); w = r.index(1).load(L1) + x
r = tl.allocate_shared_memory(tl.float16, [4, 4], LINEAR); w = r.nbytes_per_cta + n
r = tl.allocate_shared_memory(tl.uint8, [64, 64], PADDED4)
r = t.nbytes_per_cta + s.nbytes_per_cta + q.nbytes_per_cta + n
r = tl.allocate_shared_memory(tl.int32, [64, 32], tl.SwizzledSharedLayout(1, 1, 1, [1, 0], [[0, 1]]));
    tl.static_assert(r.nbytes_per_cta == 4096)
r = tl.allocate_shared_memory(tl.int8, [16, 4], tl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], [[4, 0], [8,
    0]])); tl.static_assert(r.nbytes_per_cta == 16)
r = tl.histogram(x, 64, mask=None, layout=L1) + tl.sum(x, axis=None) + tl.arange(0, 64, L1)
r = s.slice(0, 128).load(L1) + x
r = s.slice(64, 128)
r = s.slice(n, 64)
r = s.slice(0, 64, 1)
r = s.slice(-64, 64)
r = t.slice(0, 8, dim=-1)
r = t.slice(8, 8).slice(0, 4).load(L2)
r = q.index(x)
r = q.index(n.to(tl.int64))
r = s.index(0)
r = q.index(1).slice(0, 32, 1).permute([1, 0])
r = t.permute([0, 1]).load(L2) + g
r = t.permute([1, 1])
r = t.permute([0])
r = t.reshape([512]).reshape([16, 32]).load(L2)
r = t.reshape([16, 16])
r = s.reshape([16, 8])
r = t.reinterpret(tl.int32, [16, 16], S2)
r = t.reinterpret(tl.float32, [512, 512], S2)
r = t.reinterpret(3, [16, 32], S2)
r = t.reinterpret(tl.int16, [16, n], S2)
r = s.gather(x, 0) + x
r = s.gather(x, 1)
r = s.gather(x, -1) + x
r = t.gather(m, 1) + g
r = t.gather(x, 0)
s.scatter(x, x, -1)
s.scatter(f, x, 0)
s.scatter(x, f, 0)
s.scatter(x, m, 0)
s.scatter(n, x, 0)
t.scatter(g, m, 0)
r = s.atomic_scatter_add(x, x, 0, mask=x > 3) + x
r = s.atomic_scatter_add(f, x, 0)
r = s.atomic_scatter_add(1, x, 0) + x
r = s.atomic_scatter_add(x, x, 2)
r = s.atomic_scatter_xchg(x, x, -1, mask=n > 3)
r = s.atomic_scatter_max(x, x, 0, mask=x)
r = t.atomic_scatter_add(g, m, 1)
r = t.atomic_scatter_max(g, m, 1)
r = t.atomic_scatter_and(g, m, 0)
r = s.reinterpret(tl.float32, [128], S1).atomic_scatter_add(f, x, 0) + f
r = s.reinterpret(tl.float32, [128], S1).atomic_scatter_xchg(f, x, 0) + f
r = s.reinterpret(tl.float32, [128], S1).atomic_scatter_min(f, x, 0)
r = s.reinterpret(tl.uint32, [128], S1).atomic_scatter_min(x.to(tl.uint32), x, 0)
s._keep_alive(); t._keep_alive()
r = s.type; w = s.dtype
r = s.rank + s.numel + s.shape[0] + n
r = either(n > 3, s, s)
r = either(n > 3, s, t)
tl.warp_specialize([(first, (x, s)), (counted, (3,)), (counted, (n,))], [4, 8], [24, 40])
tl.warp_specialize([(first, (x, s)), (third, (x, s))], [1])
r = tl.warp_specialize([(given, (x, n)), (third, (x, s))], [4], [24]); w = r[0] + r[1]
tl.warp_specialize([(nested, (n,)), (nested, (n,)), (nested, (n,))], [8, 2], [24, 24]); r = warped(n) + n
tl.warp_specialize([(first, (x, s)), (second, (x, s))], [4, 4], [24])
tl.warp_specialize([(first, (x, s)), (second, (x, s))], [4], [24, 24])
tl.warp_specialize([(first, (x, s)), (second, x)], [4], [24])
tl.warp_specialize([(first, x), (second, (x, s))], [4], [24])
tl.warp_specialize([], [], [])
tl.warp_specialize([(first, (x, s))], [], [])
tl.warp_specialize([(first, (x, s)), (second, (x, s))], [4], [24, 3])
tl.warp_specialize([(first, (x, s)), (second, (x, s))], [4])
""",
    "layouts": _constant("""
tl.BlockedLayout([1], [32], [4], [0]); w = tl.arange(0, 128, r) + x
tl.BlockedLayout([1], [32], [4], [0], [[1]]); w = tl.arange(0, 128, r)
tl.BlockedLayout([1], [32], [8], [0]); w = tl.arange(0, 128, r)
tl.BlockedLayout([1], [32, 1], [4], [0]); w = tl.arange(0, 128, r)
tl.BlockedLayout([1, 1], [32, 1], [4, 1], [0, 0]); w = tl.zeros([16, 32], tl.int32, r)
tl.SliceLayout(0, tl.SliceLayout(0, tl.BlockedLayout([1] * 3, [2, 4, 4], [4, 1, 1], [2, 1, 0]))); w
    = tl.arange(0, 128, r)
tl.SliceLayout(2, L2); w = tl.arange(0, 128, r)
tl.SliceLayout(0, MMA2); w = tl.arange(0, 128, r)
tl.SliceLayout(1, tl.DotOperandLayout(0, MMA2, 2)); w = tl.arange(0, 128, r)
tl.SliceLayout(1, AUTO); w = tl.arange(0, 128, r)
tl.DotOperandLayout(0, MMA3, 2); w = tl.zeros([64, 16], tl.float16, r)
tl.DotOperandLayout(1, MMA2, 4); w = tl.zeros([16, 16], tl.int8, r)
tl.DotOperandLayout(2, MMA2, 4); w = tl.zeros([16, 16], tl.int8, r)
tl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8]); w = tl.convert_layout(m, r)
tl.NVMMADistributedLayout([2, 0], [4, 4], [16, 8]); w = tl.convert_layout(m, r)
tl.NVMMADistributedLayout([2, 0], [1, 2, 2], [1, 16, 8]); w = tl.zeros([2, 16, 16], tl.float32, r)
tl.NVMMADistributedLayout([3, 0], [4, 1], [16, 32, 16]); w = tl.zeros([64, 64], tl.float32, r)
tl.SwizzledSharedLayout(4, 2, 4, [1, 0]); w = tl.allocate_shared_memory(tl.int32, [16, 32], r)
tl.SwizzledSharedLayout(3, 2, 4, [1, 0]); w = tl.allocate_shared_memory(tl.int32, [16, 32], r)
tl.SwizzledSharedLayout(4, 2, 4, [1, 0], [[0, 1]]); w = tl.allocate_shared_memory(tl.int32, [16, 32], r)
tl.NVMMASharedLayout(32, 16, 2, True); w = tl.allocate_shared_memory(tl.float16, [64, 64], r)
tl.NVMMASharedLayout(0, 16, 2); w = tl.allocate_shared_memory(tl.float16, [64, 64], r)
tl.NVMMASharedLayout(48, 16, 2)
tl.NVMMASharedLayout(64, 12, 2)
tl.NVMMASharedLayout(64, 8, 2, fp4_padded=True)
tl.NVMMASharedLayout(128, 16, 2, fp4_padded=True)
tl.NVMMASharedLayout(128, 16, 3, cga_layout=[[0, 1]])
tl.NVMMASharedLayout.get_default_for([64, 8], tl.float16, transposed=True); w =
    tl.allocate_shared_memory(tl.float16, [64, 8], r)
tl.NVMMASharedLayout.get_default_for([64, 8], tl.float16); w = tl.allocate_shared_memory(tl.float16, [64, 8], r)
tl.NVMMASharedLayout.get_default_for([64, 64], tl.uint8, fp4_padded=True); w =
    tl.allocate_shared_memory(tl.uint8, [64, 64], r)
tl.NVMMASharedLayout.get_default_for([64], tl.float16)
tl.NVMMASharedLayout.get_default_for([4, 64, 32], tl.int32); w = tl.allocate_shared_memory(tl.int32, [4, 64, 32], r)
tl.NVMMASharedLayout.get_default_for([48, 24], tl.int32)
tl.PaddedSharedLayout([[32, 4]], [[0, 1], [0, 2], [1, 0]], [], [2, 4]); w =
    tl.allocate_shared_memory(tl.int32, [2, 4], r)
tl.PaddedSharedLayout([[32, 3]], [[0, 1], [0, 2], [1, 0]], [], [2, 4])
tl.PaddedSharedLayout([[24, 4]], [[0, 1], [0, 2], [1, 0]], [], [2, 4])
tl.PaddedSharedLayout([], [[0, 1], [0, 2], [1, 0]], [], [2, 4])
tl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 32], [0, 1]); w =
    tl.allocate_shared_memory(tl.int32, [16, 32], r)
tl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 24], [0, 1])
tl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 32], [0])
tl.SharedLinearLayout([[0, 1], [0, 2], [1, 0], [2, 0]], [[4, 0]]); w = tl.allocate_shared_memory(tl.int32, [8, 4], r)
tl.SharedLinearLayout([[0, 1], [0, 2]], alignment=24)
tl.SharedLinearLayout([])
tl.DistributedLinearLayout([[1]], [[2], [4], [8], [16], [32]], [[64], [0]], [], [128]); w = tl.arange(0, 128, r)
tl.DistributedLinearLayout([[1]], [[2], [4], [8], [16]], [[64]], [], [128]); w = tl.arange(0, 128, r)
tl.CoalescedLayout(); w = tl.arange(0, 128, r)
mbarrier.MBarrierLayout(); w = tl.allocate_shared_memory(tl.int64, [1], r)
mbarrier.MBarrierLayout.multicta(3)
mbarrier.MBarrierLayout.multicta(2, two_cta=True)
""") + """tl.static_assert(L1 == tl.BlockedLayout([1], [32], [4], [0]))
tl.static_assert(L1 != OTHER)
tl.static_assert(x.type.layout == L1)
tl.static_assert(x.type == f.type)
tl.static_assert(s.layout == S1 and t.type.layout == S2)
""",
    "hopper": """
r = hopper.warpgroup_mma(q.index(0), q.index(1), tl.zeros([64, 64], tl.float32, MMA3), precision="fast")
r = hopper.warpgroup_mma(q.index(0), q.index(1), tl.zeros([64, 64], tl.float32, MMA3), use_acc=False)
r = hopper.warpgroup_mma(q.index(0), q.index(1), tl.zeros([64, 64], tl.float32, MMA3), max_num_imprecise_acc=32)
r = hopper.warpgroup_mma(q.index(0), q.index(1), tl.zeros([64, 64], tl.float32, MMA3), max_num_imprecise_acc=128)
r = hopper.warpgroup_mma(q.index(0), q.index(1), tl.zeros([64, 64], tl.float16, MMA3))
r = hopper.warpgroup_mma(q.index(0).permute([1, 0]), q.index(1), tl.zeros([64, 64], tl.float32, MMA3), is_async=True)
r = tl.allocate_shared_memory(tl.float8e5, [64, 64], tl.NVMMASharedLayout(64, 8, 2)); w = hopper.warpgroup_mma(r,
    r.permute([1, 0]), tl.zeros([64, 64], tl.float32, MMA3))
r = tl.allocate_shared_memory(tl.float8e5, [64, 64], tl.NVMMASharedLayout(64, 8, 2)); w = hopper.warpgroup_mma(r,
    r.permute([1, 0]), tl.zeros([64, 64], tl.float32, MMA3), max_num_imprecise_acc=128)
r = hopper.warpgroup_mma_wait()
r = hopper.warpgroup_mma_wait(deps=[tl.zeros([64, 64], tl.float32, MMA3), x])[1] + x
r = hopper.warpgroup_mma_wait(1, [hopper.warpgroup_mma_init(tl.zeros([64, 64], tl.float32, MMA3))]); w = r + 1.0
r = hopper.warpgroup_mma_init(s)
hopper.fence_async_shared()
hopper.fence_async_shared(cluster=True)
hopper.cluster.arrive()
hopper.cluster.wait()
hopper.cluster.barrier()
hopper.async_store(q.index(0), f, b.index(0))
hopper.async_store(s, x, b.index(0))
hopper.async_store(s, f, b.index(0))
mbarrier.init(b, 1)
mbarrier.init(b.index(0), n)
mbarrier.init(b.index(0), 0)
mbarrier.expect(b.index(0), 64)
mbarrier.expect(b.index(0), n)
mbarrier.wait(b.index(0), n)
mbarrier.wait(b.index(0), 0, pred=False)
mbarrier.wait(b.index(0), x)
mbarrier.arrive(b.index(0))
mbarrier.arrive(b.index(0), count=2, pred=n > 3)
mbarrier.arrive(b.index(0), count=n)
mbarrier.arrive(s)
mbarrier.invalidate(b)
r = mbarrier.allocate_mbarrier(batch=3); mbarrier.init(r.index(2), 1)
r = mbarrier.allocate_mbarrier(two_ctas=True)
ampere.async_copy.async_load(s, x_ptr + at)
ampere.async_copy.async_load(s, x_ptr + at, mask=n > 3)
ampere.async_copy.async_load(s, x_ptr + at, mask=x)
ampere.async_copy.async_load(s, x_ptr + at, mask=None)
ampere.async_copy.async_load(s, x_ptr + at, mask=True)
ampere.async_copy.async_load(s, f_ptr + at)
ampere.async_copy.async_load(s, h_ptr + at)
ampere.async_copy.async_load(s, x_ptr)
ampere.async_copy.async_load(t, x_ptr + at)
ampere.async_copy.async_load(s, x_ptr + at, cache_modifier=".wb")
ampere.async_copy.async_load(s, x_ptr + at, eviction_policy="evict_all")
ampere.async_copy.wait_group(2)
ampere.async_copy.wait_group(n)
ampere.async_copy.wait_group()
ampere.async_copy.mbarrier_arrive(b.index(0))
ampere.async_copy.async_copy_global_to_shared(s, x_ptr + at)
r = ampere.mma_v2(g, g, g)
r = ampere.mma_v2(tl.convert_layout(g, tl.DotOperandLayout(0, MMA2, 2)), tl.convert_layout(g.trans(1, 0),
    tl.DotOperandLayout(1, MMA2, 2)), tl.zeros([16, 16], tl.float16, MMA2))
r = ampere.mma_v2(tl.convert_layout(g, tl.DotOperandLayout(1, MMA2, 2)), tl.convert_layout(g.trans(1, 0),
    tl.DotOperandLayout(0, MMA2, 2)), tl.zeros([16, 16], tl.float32, MMA2))
r = ampere.mma_v2(tl.convert_layout(g, tl.DotOperandLayout(0, MMA2, 2)), tl.convert_layout(m.trans(1, 0),
    tl.DotOperandLayout(1, MMA2, 2)), tl.zeros([16, 16], tl.float32, MMA2))
r = ampere.mma_v2(tl.convert_layout(g, tl.DotOperandLayout(0, MMA3, 2)), tl.convert_layout(g.trans(1, 0),
    tl.DotOperandLayout(1, MMA3, 2)), tl.zeros([16, 16], tl.float32, MMA3))
r = ampere.mma_v2(x, x, x)
tma.async_load(d, [n, 0], b.index(0), q.index(0))
tma.async_load(d, [n], b.index(0), q.index(0))
tma.async_load(d, [n, 2 ** 31], b.index(0), q.index(0))
tma.async_load(d, [n, n.to(tl.int64)], b.index(0), q.index(0))
tma.async_load(d, [True, n.to(tl.int16)], b.index(0), q.index(0))
tma.async_load(d, [n, 0], b.index(0), t)
tma.async_load(d, [n, 0], b.index(0), q.index(0), cache_policy=3)
tma.async_load(d, [n, 0], b.index(0), q.index(0), multicast=True)
tma.async_load(d, [n, 0], b.index(0), q.index(0), cache_policy=hopper.CachePolicy(cache_modifier="ca"))
tma.async_load(d, [n, 0], b.index(0), q.index(0), cache_policy=hopper.CachePolicy(l1="evict_first"))
tma.async_load(d, [n, 0], b.index(0), q.index(0), cache_policy=hopper.CachePolicy(l2_prefetch_size=128))
tma.async_load(d, [n, 0], b.index(0), q.index(0), cache_policy=hopper.CachePolicy())
tma.async_load_im2col(d, [0, 0, 0, 0], [1, 1], b.index(0), q.index(0))
tma.async_store(d, [n, 0], q.index(0),
    cache_policy=hopper.CachePolicy(l2=hopper.FractionalEvictionPolicy("evict_last", 1.0)))
tma.async_store(d, n, q.index(0))
tma.async_atomic_add(d, [n, 0], q.index(0))
tma.async_atomic_xor(d, [n, 0], q.index(0))
tma.async_copy_global_to_shared(d, [n, 0], b.index(0), q.index(0))
tma.async_copy_shared_to_global(d, [n, 0], q.index(0))
tma.store_wait(1)
tma.store_wait(0, read_only=False)
tma.store_wait(n)
r = d.nbytes_per_cta + d.block_shape[0] + d.shape[0] + n
r = d.load([0, 0])
r = tma.make_tensor_descriptor(h_ptr, [n], [1], [64], tl.NVMMASharedLayout(128, 16, 1)); w = r.shape[0]
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 2], [64, 64], Q)
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [63, 1], [64, 64], Q)
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [n, 1], [64, 4], Q)
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64], [64, 64], Q)
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64], Q)
r = tma.make_tensor_descriptor(h_ptr, [], [], [], Q)
r = tma.make_tensor_descriptor(h_ptr, [n] * 6, [64] * 5 + [1], [1] * 5 + [64], Q)
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], S2)
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], Q, padding_option="nan"); w = r.strides[0]
r = tma.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [32, 32], tl.NVMMASharedLayout(128, 32, 2),
    padding_option="nan")
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], Q, padding_option="one")
r = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, n], Q)
r = tma.make_tensor_descriptor(n, [n, 64], [64, 1], [64, 64], Q)
if n > 3: d = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], Q)
if n > 3: d = tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [32, 64], Q)
r = tl.load(x_ptr + at, cache_policy=hopper.CachePolicy(cache_modifier="cg")) + x
r = tl.load(x_ptr + at, cache_policy=hopper.CachePolicy(cache_modifier="xx"))
r = tl.load(x_ptr + at, cache_policy=hopper.CachePolicy(l1="none"))
r = tl.load(x_ptr + at, cache_policy=hopper.CachePolicy(l2_prefetch_size=100))
r = tl.load(x_ptr + at, cache_policy=hopper.CachePolicy(), cache_modifier=".ca")
r = hopper.FractionalEvictionPolicy("evict_first", 1.5)
r = hopper.FractionalEvictionPolicy("evict_none", 0.5)
r = tl.load(x_ptr + at, cache_policy=hopper.CachePolicy(l2=hopper.FractionalEvictionPolicy("evict_last", 0.25,
    "evict_first"))) + x
r = tl.atomic_add(x_ptr + at, x, mask=x > 3) + tl.atomic_cas(x_ptr + at, x, x)
r = tl.atomic_add(x_ptr + at, tl.arange(0, 128, OTHER))
tl.store(x_ptr + at, tl.arange(0, 128))
tl.store(x_ptr + at, tl.arange(0, 128, OTHER))
tl.store(x_ptr + at, x, mask=tl.arange(0, 128, OTHER) > 3)
tl.store(x_ptr + at, x, mask=True)
tl.store(x_ptr + at, x, mask=n > 3)
tl.store(x_ptr + at, 3, mask=x > 3)
tl.store(x_ptr, n, mask=True)
r = tl.load(x_ptr + at, mask=n > 3, other=2)
""",
}
