"""Calls of the language with every argument in turn in another form: a literal, a constant of the compiler, a scalar,
None, a dimension at and beyond its bounds, every type. Most functions convert each argument by a statement of its own,
which shows only where what is given needs it. And blocks of every type, filled with every kind of number, and values of
every type where a truth value is asked for, functions and operators of every type, and methods that are reflected.

In scope: what `fragments_plain` or `fragments_gluon` has. A part is the calls of one function, so that whoever looks
for its name finds it.
"""

import ast
import itertools
from collections.abc import Iterator
from typing import Literal

Language = Literal["plain", "gluon"]

_OF_ONE_VALUE = """tl.abs(x)
tl.exp(f)
tl.exp2(f)
tl.log(f)
tl.log2(f)
tl.cos(f)
tl.sin(f)
tl.sqrt(f)
tl.sqrt_rn(f)
tl.rsqrt(f)
tl.erf(f)
tl.floor(f)
tl.ceil(f)
"""
"""What both languages have of one value."""

_CALLS = """
tl.program_id(0)
tl.num_programs(1)
tl.arange(0, 16)
tl.full((16,), 3, tl.int32)
tl.zeros((16,), tl.int32)
tl.zeros_like(x)
tl.broadcast(x, m)
tl.broadcast_to(x[None], 16, 16)
tl.broadcast_to(x[None], (16, 16))
tl.trans(m, 1, 0)
tl.permute(m, (1, 0))
tl.cat(x, x, can_reorder=True)
tl.cat(x, x, dim=0)
tl.join(x, n)
tl.join(x, x)
tl.split(tl.join(x, x))
tl.view(m, 256)
tl.reshape(m, (256,), can_reorder=True)
tl.ravel(m, can_reorder=False)
tl.expand_dims(m, 1)
tl.squeeze(m[None], 0)
tl.squeeze(m[:, :, None], -1)
tl.unsqueeze(m, 1)
tl.interleave(x, n)
tl.interleave(x, x)
tl.flip(m, 1)
tl.cast(x, tl.int64, bitcast=False)
tl.cast(f, tl.float16, fp_downcast_rounding="rtz")
x.to(tl.int64, bitcast=False)
f.to(tl.float16, fp_downcast_rounding="rtz", bitcast=False)
tl.to_tensor(x)
tl.debug_barrier()
tl.aggregate_replace(w, number=n)
tl.dot(g, g, allow_tf32=False)
tl.dot(g, g, m.to(tl.float32), input_precision="ieee", max_num_imprecise_acc=0, out_dtype=tl.float32)
tl.dot_scaled(tl.zeros((32, 64), tl.uint8), None, "e4m3", tl.zeros((64, 32), tl.uint8), None, "e5m2", acc=None,
    fast_math=True, lhs_k_pack=True, rhs_k_pack=True, out_dtype=tl.float32)
tl.load(x_ptr + at, p, x, cache_modifier=".cg", eviction_policy="evict_last", volatile=False)
tl.load(x_ptr, n > 3, n)
tl.store(x_ptr + at, x, p, cache_modifier=".wb", eviction_policy="evict_first")
tl.load_tensor_descriptor(d, (n, 0))
tl.store_tensor_descriptor(d, (n, 0), d.load([0, 0]))
tl.make_tensor_descriptor(x_ptr, [n, 64], [n, 1], [8, 16], padding_option="zero")
tl.atomic_load(x_ptr + at, sem="acquire", scope="gpu")
tl.atomic_load(x_ptr + at, p, sem="relaxed", scope="cta")
tl.atomic_store(x_ptr + at, x, p, sem="release", scope="gpu")
tl.atomic_poll(x_ptr, n, sem="acquire", scope="gpu", timeout_ns=100)
tl.atomic_cas(x_ptr + at, x, x, sem="relaxed", scope="cta")
tl.atomic_xchg(x_ptr + at, x, p, sem="relaxed", scope="cta")
tl.atomic_add(x_ptr + at, x, p, sem="relaxed", scope="cta")
tl.atomic_max(x_ptr + at, x, p, sem="relaxed", scope="cta")
tl.atomic_min(x_ptr + at, x, p, sem="relaxed", scope="cta")
tl.atomic_and(x_ptr + at, x, p, sem="relaxed", scope="cta")
tl.atomic_or(x_ptr + at, x, p, sem="relaxed", scope="cta")
tl.atomic_xor(x_ptr + at, x, p, sem="relaxed", scope="cta")
tl.where(p, x, l)
tl.where(n > 3, n, 4)
tl.expect_zero(x, p)
tl.expect_zero(e, e > 3)
tl.add(x, l, sanitize_overflow=True)
tl.sub(x, l, sanitize_overflow=True)
tl.mul(x, l, sanitize_overflow=True)
tl.minimum(f, h, propagate_nan=tl.PropagateNan.ALL)
tl.maximum(f, h, propagate_nan=tl.PropagateNan.ALL)
tl.clamp(f, 0.0, e, propagate_nan=tl.PropagateNan.ALL)
tl.reduce(m, 1, plus, keep_dims=True)
tl.associative_scan(m, 1, plus, reverse=True)
tl.histogram(x, 16, mask=p)
tl.gather(m, m, 1)
tl.multiple_of(x, 4)
tl.max_contiguous(x, 4)
tl.max_constancy(x, 4)
tl.assume(n > 3)
tl.device_print("n", x, hex=True)
tl.device_assert(p, "positive", mask=p)
tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
tl.map_elementwise(plus, x, x, pack=1)
tl.cdiv(n, 16)
tl.sigmoid(f)
tl.softmax(f, dim=0, keep_dims=False, ieee_rounding=True)
tl.swizzle2d(n, n, n, 16, 4)
tl.max(m, axis=1, return_indices=False, return_indices_tie_break_left=True, keep_dims=True)
tl.min(m, axis=1, return_indices=False, return_indices_tie_break_left=True, keep_dims=True)
tl.max(f, 0, return_indices=True)
tl.min(h, 0, return_indices=True)
tl.argmax(m, 1, tie_break_left=True, keep_dims=True)
tl.argmin(m, 1, tie_break_left=True, keep_dims=True)
tl.sum(m, axis=1, keep_dims=True, dtype=tl.int64)
tl.xor_sum(m, axis=1, keep_dims=True)
tl.reduce_or(m, axis=1, keep_dims=True)
tl.cumsum(m, axis=1, reverse=True, dtype=tl.int64)
tl.cumprod(m, axis=1, reverse=True, dtype=tl.int64)
tl.sort(m, dim=1, descending=True)
tl.topk(m, 4, dim=1, descending=False)
tl.topk(f, 1)
tl.topk(f, 1, descending=False)
tl.sort(m[:, :, None])
tl.bitonic_merge(m, dim=1, descending=True)
tl.rand(n, x, n_rounds=10)
tl.rand4x(n, x, n_rounds=10)
tl.randn(n, x, n_rounds=10)
tl.randn4x(n, x, n_rounds=10)
tl.randint(n, x, n_rounds=10)
tl.randint4x(n, x, n_rounds=10)
tl.uint_to_uniform_float(x)
tl.pair_uniform_to_normal(f, f)
tl.philox(n, x, x, x, x, n_rounds=3)
tl.philox_impl(x.to(tl.uint32), x.to(tl.uint32), x.to(tl.uint32), x.to(tl.uint32), 3, n.to(tl.uint32), n_rounds=3)
tl.umulhi(x, x)
tl.fdiv(f, f, ieee_rounding=True, approx=False)
tl.div_rn(f, f)
tl.fma(f, f, f)
""" + _OF_ONE_VALUE + """min(x, n)
max(n, x)
"""

_GLUON_CALLS = """
tl.arange(0, 128, layout=L1)
tl.full([16, 32], 3, tl.int32, layout=L2)
tl.full_like(m, 3, shape=[16, 32], dtype=tl.int32, layout=L2)
tl.zeros([128], tl.int32, layout=L1)
tl.zeros_like(m, shape=[16, 32], dtype=tl.int32, layout=L2)
tl.convert_layout(m, MMA2, assert_trivial=False)
tl.set_auto_layout(tl.arange(0, 128), L1)
tl.expand_dims(row, 1)
tl.permute(m, [1, 0])
tl.reshape(m, [32, 16], can_reorder=False)
tl.reduce(m, 1, plus, keep_dims=False)
tl.sum(m, 1, keep_dims=False, dtype=tl.int64)
tl.max(m, 1, return_indices=False, return_indices_tie_break_left=True, keep_dims=False)
tl.min(m, 1, return_indices=False, return_indices_tie_break_left=True, keep_dims=False)
tl.reduce_or(m, 1, keep_dims=False)
tl.xor_sum(m, 1, keep_dims=False)
tl.cumsum(m, 1, reverse=True, dtype=tl.int64)
tl.cumprod(m, 1, reverse=True, dtype=tl.int64)
tl.associative_scan(m, 1, plus, reverse=True)
tl.histogram(x, 64, mask=x > 0, layout=L1)
tl.gather(m, m, axis=0)
tl.map_elementwise(plus, x, x, pack=1)
tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
tl.load(x_ptr + at, mask=x > 0, other=x, cache_modifier=".ca", eviction_policy="evict_first", volatile=False)
tl.load(x_ptr + at, cache_policy=tl.CachePolicy(".ca", "evict_first"))
tl.store(x_ptr + at, x, mask=x > 0, cache_modifier=".wb", eviction_policy="evict_first")
tl.store(x_ptr + at, x, cache_policy=tl.CachePolicy(".wb", "evict_first"))
tl.atomic_add(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.inline_asm("mov.b32 $0, $1;", constraints="=r,r", args=[x], result_types=x.type, is_pure=True)
tl.allocate_shared_memory(tl.int32, [128], S1, value=x)
s.load(L1)
s.store(x)
s.gather(x, 0)
s.scatter(x, x, 0)
s.atomic_scatter_add(x, x, 0, mask=x > 0)
s.atomic_scatter_max(x, x, 0, mask=x > 0)
s.atomic_scatter_xchg(x, x, 0, mask=x > 0)
t.slice(0, 16, dim=1)
q.index(0)
t.permute([1, 0])
t.reshape([32, 16])
t.reinterpret(tl.int16, [16, 32], S2)
tl.dot_fma(tl.zeros([16, 16], tl.float32, tl.DotOperandLayout(0, L2, 0)), tl.zeros([16, 16], tl.float32,
    tl.DotOperandLayout(1, L2, 0)), tl.zeros([16, 16], tl.float32, L2))
tl.barrier(cluster=False)
tl.warp_specialize([(first, (x, s)), (second, (x, s))], [4], [24])
ampere.async_copy.async_load(s, x_ptr + at, mask=x > 0, cache_modifier="", eviction_policy="", volatile=False)
ampere.async_copy.async_load(s, x_ptr + at, cache_policy=ampere.CachePolicy("ca"))
ampere.async_copy.commit_group()
ampere.async_copy.wait_group(0)
ampere.async_copy.mbarrier_arrive(b.index(0), increment_count=True)
ampere.mma_v2(tl.zeros([16, 16], tl.float16, tl.DotOperandLayout(0, MMA2, 2)), tl.zeros([16, 16], tl.float16,
    tl.DotOperandLayout(1, MMA2, 2)), tl.zeros([16, 16], tl.float32, MMA2), input_precision="tf32")
mbarrier.allocate_mbarrier(1, two_ctas=True)
mbarrier.allocate_mbarrier(batch=2)
mbarrier.init(b.index(0), count=1)
mbarrier.expect(b.index(0), 128, pred=True)
mbarrier.wait(b.index(0), phase=0, pred=True, deps=[s])
mbarrier.expect(b.index(0), bytes_per_cta=128, pred=True, from_cta=0)
mbarrier.arrive(b.index(0), count=1, pred=True)
mbarrier.arrive(b.index(0), count=1, pred=True, from_cta=0)
hopper.cluster.barrier(relaxed=True)
hopper.async_store(s, x, b.index(0))
hopper.warpgroup_mma_init(tl.zeros([64, 64], tl.float32, MMA3))
mbarrier.invalidate(b.index(0))
hopper.fence_async_shared(cluster=False)
hopper.warpgroup_mma_wait(0, deps=[x])
hopper.warpgroup_mma(q.index(0), q.index(1), tl.zeros([64, 64], tl.float32, MMA3), use_acc=True, is_async=False)
hopper.warpgroup_mma(q.index(0), q.index(1), tl.zeros([64, 64], tl.float32, MMA3), precision="tf32",
    max_num_imprecise_acc=32)
tma.make_tensor_descriptor(h_ptr, [n, 64], [64, 1], [64, 64], Q, padding_option="zero")
tma.async_load(d, [n, 0], b.index(0), q.index(0), pred=True, multicast=False)
tma.async_load(d, [n, 0], b.index(0), q.index(0), cache_policy=tl.CachePolicy("none", "evict_first"))
tma.async_load_im2col(d, [0, 0, 0, 0], [1, 1], b.index(0), q.index(0), pred=True, multicast=False, cache_policy=None)
tma.async_store(d, [n, 0], q.index(0), cache_policy=tl.CachePolicy("none", "evict_first"))
tma.async_atomic_add(d, [n, 0], q.index(0))
tma.async_atomic_min(d, [n, 0], q.index(0))
tma.async_atomic_max(d, [n, 0], q.index(0))
tma.async_atomic_and(tma.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [16, 32], tl.NVMMASharedLayout(128, 32, 2)),
    [n, 0], tl.allocate_shared_memory(tl.int32, [16, 32], tl.NVMMASharedLayout(128, 32, 2)))
tma.async_atomic_or(tma.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [16, 32], tl.NVMMASharedLayout(128, 32, 2)),
    [n, 0], tl.allocate_shared_memory(tl.int32, [16, 32], tl.NVMMASharedLayout(128, 32, 2)))
tma.async_atomic_xor(tma.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [16, 32], tl.NVMMASharedLayout(128, 32, 2)),
    [n, 0], tl.allocate_shared_memory(tl.int32, [16, 32], tl.NVMMASharedLayout(128, 32, 2)))
tma.store_wait(0, read_only=True)
blackwell.tcgen05_commit(b.index(0), pred=True)
blackwell.tcgen05_mma(MA, q.index(0), TV, use_acc=True, pred=True, multicast=False, mbarriers=[b.index(0)],
    mbarrier_preds=[True])
"""

_GLUON_NAMES = """
tl.atomic_max(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_min(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_and(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_or(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_xor(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_xchg(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_cas(x_ptr + at, x, x, sem="relaxed", scope="cta")
tl.atomic_load(x_ptr + at, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_store(x_ptr + at, x, mask=x > 0, sem="relaxed", scope="cta")
tl.atomic_poll(x_ptr, n, sem="relaxed", scope="cta", timeout_ns=100)
tl.program_id(0)
tl.num_programs(1)
tl.num_ctas()
tl.num_warps()
tl.to_tensor(x)
tl.add(x, x, sanitize_overflow=True)
tl.sub(x, x, sanitize_overflow=True)
tl.mul(x, x, sanitize_overflow=True)
tl.minimum(f, h, propagate_nan=triton.language.PropagateNan.ALL)
tl.maximum(f, h, propagate_nan=triton.language.PropagateNan.ALL)
tl.clamp(f, 0.0, f, propagate_nan=triton.language.PropagateNan.ALL)
tl.where(x > 0, x, 3)
tl.cast(f, tl.float16, fp_downcast_rounding="rtz", bitcast=False)
tl.fdiv(f, f, ieee_rounding=True, approx=False)
tl.div_rn(f, f)
tl.fma(f, f, f)
tl.umulhi(x, x)
tl.cdiv(n, 16)
""" + _OF_ONE_VALUE + """tl.join(x, x)
tl.split(tl.join(x, x))
tl.broadcast(row[:, None], m)
tl.ravel(m, can_reorder=False)
tl.expect_zero(x, x > 0)
tl.multiple_of(x, 4)
tl.max_contiguous(x, 4)
tl.max_constancy(x, 4)
tl.assume(n > 3)
tl.device_print("n", x, hex=True)
tl.device_assert(x > 0, "positive", mask=x > 0)
tl.fp4_to_fp(m.to(tl.uint8), tl.bfloat16, axis=1)
tl.bank_conflicts(g.type, t.type)
tl.zeros([16, 32], tl.int32, tl.to_linear_layout(L2, [16, 32]))
"""
"""What Gluon has of Triton by another name alone: each as it is."""

_LAYOUTS = ("L1", "L2", "MMA2", "MMA3", "S1", "S2", "Q")

_OTHER_LAYOUTS = ("L1", "L2", "S1", "Q", "None")

_VALUES = {"plain": ("3", "N", "n", "None", "f", "k", "tl.arange(0, 8)"),
           "gluon": ("3", "tl.constexpr(3)", "n", "None", "f")}
"""Instead of a value: a literal, a constant of the compiler, a scalar, nothing, a block of floats, a wider scalar, a
shorter block."""

_NUMBERS = ("-1", "-2", "-3", "2", "16", "None", "n")
"""Instead of a number: dimensions of blocks of one and two, their bounds and what lies beyond."""

_CONSTANTS = {"plain": ("N - 8", "N - 7"), "gluon": ("tl.constexpr(0)", "tl.constexpr(1)")}

_TYPES = tuple(f"tl.{name}" for name in (
    "int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8e5", "float8e4nv",
    "float8e4b15", "float8e4b8", "float8e5b16", "float16", "bfloat16", "float32", "float64"))

_KEPT = ("tl.int32", "tl.int64", "'a'", "'b'", "None", "plus", "tl.sum", "1.5", "(n, 1)", "tl.constexpr(3)", "4",
         "(1, 2)")
"""Python values of a variable, one after the other, which loops do not carry."""

_FULL = ("0", "1", "-1", "True", "1.5", "-0.0", "300", "2 ** 31", "2 ** 63", "2 ** 64 - 1", "-2 ** 63", "2 ** 64",
         "1e300", "float('nan')", "float('-inf')", "N", "n", "e", "p")
"""What blocks of every type are filled with."""

_CONDITIONS = ("n", "k", "e", "n > 3", "f_ptr", "tl.load(u_ptr)", "tl.full((), 1, tl.int1)",
               "tl.full((1, 1), 3, tl.int32)", "x", "p", "q", "w", "d", "N", "0", "0.5", "None", "'a'", "()",
               "tl.int32", "not n", "not N", "(n and k)", "(N or n)")

_ASKED = ("r = x if {} else x + 3", "r = 1.5 if {} else 2.5", "if {}: x += 3", "if N > 3 and {}: x += 3",
          "while {}: n, k, e = 0, k * 0, e * 0", "r = x if not {} else x + 3", "r = {} or n", "r = n and {}",
          "tl.static_assert({})", "tl.device_assert({}, 'text')", "tl.assume({})",
          "r = tl.where({}, x, 3)", "r = tl.load(x_ptr + at, {})")
"""Where a truth value is asked for."""

_REFLECTED = tuple(f"__r{name}__" for name in (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "and", "or", "xor", "lshift", "rshift", "lt", "le", "gt", "ge",
    "eq", "ne"))
"""Methods that Python calls where the left side has none, and some that it never does."""

_WIDTHS = ("int1", "uint8", "int16", "int64", "uint64", "float8e5", "float8e4nv", "float16", "bfloat16", "float32",
           "float64")

_MATHEMATICS = ("exp", "exp2", "log", "log2", "cos", "sin", "sqrt", "sqrt_rn", "rsqrt", "erf", "floor", "ceil", "abs",
                "sigmoid", "softmax", "sum", "max", "argmin", "cumsum", "cumprod", "sort", "xor_sum")
_SEVERAL = ("tl.fma({0}, {0}, {0})", "tl.fdiv({0}, {0})", "tl.div_rn({0}, {0})", "tl.umulhi({0}, {0})",
            "tl.clamp({0}, {0}, {0})", "tl.minimum({0}, {0})", "-{0}", "~{0}", "{0} // 3", "{0} % {0}", "{0} / n",
            "{0} << 2", "{0} < 2.5", "{0} * e")
"""Calls of several operands of one type, and operators."""

_ATOMIC = {**dict.fromkeys(("add", "max", "min", "and", "or", "xor", "xchg"), 1), "cas": 2, "load": 0, "store": 1}
"""Atomic operations, each with the number of blocks that it takes."""

_SCALED = ("r = tl.dot_scaled({0}, {1}, '{2}', {3}, None, 'e5m2')",
           "r = tl.dot_scaled({3}, None, 'e5m2', {0}, {1}, '{2}')")
_BYTES = "((tl.arange(0, {0})[:, None] * {2} + tl.arange(0, {1})[None] * {3}) & {4}).to(tl.uint8)"
"""Products of operands that are scaled by everything from the smallest number to none, and their bytes."""

_BRANCHES = ("pass", "return", "n = 4", "n, x = 4, x + n", "r = x + 4", "if k > 3: return", "tl.store(x_ptr, n)")
"""What one of two branches does, for every pair."""

_SLICES = tuple(f"{first}:{last}:{step}" for first in ("", "1", "-3", "N - 6") for last in ("", "3")
                for step in ("", "2", "-1", "N - 5"))
"""Of a tuple."""

_RANKED = ("{}.item()", "tl.split({})", "tl.reshape({}, ())", "tl.trans({})", "{}.T", "tl.squeeze({}, 0)",
           "tl.unsqueeze({}, -1)", "tl.ravel({})", "tl.flip({})", "tl.sort({})", "tl.topk({}, 2)", "tl.join({0}, {0})",
           "tl.cat({0}, {0})", "tl.interleave({0}, {0})", "tl.softmax({})", "tl.expand_dims({}, -1)", "tl.sum({}, -1)",
           "tl.argmax({}, 0)", "tl.max({})", "tl.cumsum({}, -1)", "tl.histogram({}, 4)", "tl.gather({0}, {0}, 0)",
           "x + {}", "tl.where({} > 0, x, 3)", "3 if {} else 4")
"""Calls with blocks of few elements and all ranks."""

_CHAINS = ("{} < {} < {}", "{} >= {} == {}", "{} and {} or {}", "max({0}, {1}, {2}, {0})",
           "min({0}, {1}, {2}, {0})")
"""What need not come to its last operand, and what must: of constants, a number of the device and an unknown name."""

_METHODS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
            "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^", "eq": "==", "ne": "!=", "lt": "<",
            "le": "<=", "gt": ">", "ge": ">="}
OPERATED = "".join(f"\n@aggregate\nclass {name}:\n    block: tl.tensor\n" + "".join(
    f"\n    @triton.jit\n    def __{sign}{one}__(self, other):\n        return self.block + {start + number}\n"
    for number, one in enumerate(_METHODS)) for name, sign, start in (("Left", "", 100), ("Right(Left)", "r", 200)))
"""An aggregate with every operator, and one of its kind with every reflected one."""
_OPERANDS = (("Left(x)", "Right(x)"), ("Right(x)", "Left(x)"), ("x", "Right(x)"), ("Right(x)", "Right(x)"))

_WORKERS = ("(waiting, ())", "(counted, (n,))", "(third, (x, s))", "(given, (f, x))", "(summed, (n, x, f))")
"""Functions of partitions, with none to three arguments of their own."""

_FLAGS = ("tl.constexpr(True)", "tl.constexpr(False)", "None")


def lines(language: Language) -> dict[str, str]:
    """By function, the statements as a text: each call as it is, and with one other argument."""
    found: dict[str, dict[str, None]] = {}
    for text in (_CALLS if language == "plain" else _GLUON_CALLS).strip().replace("\n    ", " ").splitlines():
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        name = ast.unparse(call.func)
        found.setdefault(f"arguments of {name}", {}).update(dict.fromkeys(
            (f"r = {text}", *_others(text, call, language))))
        if name.startswith("tl.") and call.args and not isinstance(call.args[0], ast.Constant | ast.List | ast.Tuple):
            first, *call.args = call.args
            call.func = ast.Attribute(first, name[3:])
            found.setdefault("methods", {})[f"r = {ast.unparse(call)}"] = None
    if language == "gluon":
        found["names"] = dict.fromkeys(f"r = {text}" for text in _GLUON_NAMES.strip().splitlines())
        found["workers"] = dict.fromkeys(
            f"r = tl.warp_specialize([{_WORKERS[first % 3 + 2]}, {', '.join(some)}], {[4] * number}, {[24] * number})"
            for number in range(1, 5) for first in range(len(_WORKERS))
            for some in [(_WORKERS * 2)[first:first + number]])
        found["tensor memory packed"] = dict.fromkeys(
            f"r = blackwell.{call}2({more.format(one)}g.to(tl.{other}))" for one, other in itertools.product(
                _WIDTHS[5:10], repeat=2) for call in ("add", "sub", "mul", "fma", "min", "max")
            for more in ("g.to(tl.{0}), " * (1 + (call == "fma")),))
    else:
        found["constants"] = dict.fromkeys(f"r = tl.full((4,), {value}, {kind})" for kind in _TYPES for value in _FULL)
        found["reflected"] = dict.fromkeys(
            f"r = {one}.{name}({other})" for name in _REFLECTED for one in ("x", "e") for other in ("n", "f", "3"))
        found["widths"] = dict.fromkeys(f"r = {text.format(f'f.to(tl.{kind})')}" for kind in _WIDTHS for text in (
            *(f"tl.{name}({{0}}{', 0' if name in ('argmin', 'cumsum', 'cumprod') else ''})" for name in _MATHEMATICS),
            *_SEVERAL))
        scales = ("None", _BYTES.format(64, 2, 5, 1, 255),
                  _BYTES.format(64, 4, 5, 1, 255) + ".to(tl.float8e4nv, bitcast=True)")
        forms = ("e4m3", ""), ("e5m2", ""), ("bf16", ".to(tl.bfloat16)"), ("fp16", ".to(tl.float16)")
        found["scaled"] = dict.fromkeys(
            text.format(_BYTES.format(64, 64, 7, 255, 63) + more, scale, form, _BYTES.format(64, 64, 3, 255, 63))
            for text in _SCALED for form, more in forms for scale in scales)
        found["functions"] = dict.fromkeys(f"tl.device_print(told({one}), n)" for one in (
            "3, N, (1, N), None, tl.int32", "N, a=3, b=N, c=(1, N), d='a', e=None", "told(N), a=told", "n, a=x"))
        found["operators"] = dict.fromkeys(f"r = {one} {sign} {other}" for one, other in _OPERANDS
                                           for sign in _METHODS.values())
        found["whole"] = dict.fromkeys(
            f"r = tl.{name}({one}, None{more}, keep_dims={keep})" for keep in ("True", "False")
            for one in ("m", "m[None]", "x") for name, more in (
                ("reduce", ", plus"), ("sum", ""), ("max", ""), ("min", ""), ("xor_sum", ""), ("reduce_or", "")))
        found["smallest"] = dict.fromkeys(
            f"r = tl.dot(tl.zeros((1, {k}), tl.{one}), tl.zeros(({k}, 2), tl.{one}))" for one in _WIDTHS[5:]
            for k in (2, 4, 8, 16, 32))
        found["offsets"] = dict.fromkeys(f"r = {text.format(f'{one}.to({kind})')}" for kind in _TYPES[:9] for one in (
            "at", "n") for text in ("x_ptr + {}", "{} + x_ptr", "x_ptr - {}"))
        found["branches"] = dict.fromkeys(f"if n > 3:;;    {one};;else:;;    {other};;r = x + n" for one, other in
                                          itertools.product(_BRANCHES, repeat=2))
        found["slices"] = dict.fromkeys(f"[tl.store(x_ptr, one) for one in (n, 2, k, 5)[{one}]]" for one in _SLICES)
        found["bounds"] = dict.fromkeys(f"for i in {name}({', '.join(some)}): tl.store(l_ptr, i)" for name in (
            "range", "tl.range") for some in itertools.product(("n", "k", "n.to(tl.uint32)", "3"), repeat=3))
        found["ranks"] = dict.fromkeys(
            f"r = {text.format(f'tl.full({shape}, 1, tl.int32)')}" for text in _RANKED for shape in (
                (), (1,), (2,), (1, 1), (2, 1), (1, 2), (2, 2), (4, 1, 2)))
        found["chains"] = dict.fromkeys(f"r = {text.format(*some)}" for text in _CHAINS for some in itertools.product(
            ("N", "3", "n", "missing"), repeat=3))
        found["atomics of types"] = dict.fromkeys(
            f"r = tl.atomic_{call}((x_ptr + at).to(tl.pointer_type({kind})){', tl.zeros((16,), {0})' * number})".format(
                kind) for kind in _TYPES for call, number in _ATOMIC.items())
        found["atomics of descriptors"] = dict.fromkeys(
            f"r = tl.make_tensor_descriptor(x_ptr.to(tl.pointer_type({kind})), [n, 64], [64, 1], [8, 16]); "
            f"r.atomic_{call}([n, 0], r.load([n, 0]))" for kind in _TYPES for call in list(_ATOMIC)[:6])
        found["kept"] = dict.fromkeys(
            f"t = {before};;{way} t = {behind};;r = t" for before, behind in itertools.pairwise(_KEPT) for way in (
                "for i in range(n):", "while n > 0:", "if n > 0:", "for i in tl.static_range(2):", "if N > 0:"))
        found["roundings"] = dict.fromkeys(
            f"r = f.to({one}).to({other}, fp_downcast_rounding='rtz')" for one in _TYPES for other in _TYPES
            if "float" in one and "float" in other)
        found["arguments of tl.dot"] |= dict.fromkeys(
            f"r = tl.dot(g.to(tl.{one}), g.to(tl.{one}), out_dtype=tl.{other})" for one in (
                "bfloat16", "float32", "int8", "float64") for other in ("float16", "bfloat16", "float32", "int32"))
        found["products of AMD"] = dict.fromkeys(f"s = tl.dot(g.to(tl.{one}), g.to(tl.{other}))" for one, other in
            itertools.product(("float8e5", "float8e4b8", "float8e5b16", "float32"), repeat=2))
        found["edges"] = dict.fromkeys(
            f"r = tl.make_tensor_descriptor({one}_ptr, [n, 64], [64, 1], [8, 16], '{edge}')"
            for one in "xfhlu" for edge in ("nan", "zero"))
        found["loops"] = dict.fromkeys(f"for i in tl.range(n, {name}={value}): x += i" for name in (
            "num_stages", "loop_unroll_factor", "flatten", "warp_specialize", "disable_licm") for value in "01nN")
        found["members"] = dict.fromkeys(
            f"tl.static_print({one}.{member})" for one in ("N", "x", "n", "m", "q", "w", "d", "x_ptr", "tl.int32")
            for member in ("type", "value", "dtype", "shape", "numel", "T", "fields"))
        found["mapped"] = dict.fromkeys(
            f"r = tl.map_elementwise({function}, {', '.join(some.split()[:number // pack])}, pack={pack})"
            for function, number in (("packed", 4), ("first_of", 4), ("mixed", 4), ("three", 6), ("plus", 2))
            for pack in (1, 2, 4) if number % pack == 0 for some in ("x l f x h l", "f x l h x f"))
        found["several"] = dict.fromkeys(
            f"r = tl.{name}(({operands}), {axis}, {function}{more})"
            for name, flag in (("reduce", "keep_dims"), ("associative_scan", "reverse"))
            for more in ("", f", {flag}=True")
            for operands, function in (("m, m.to(tl.float32)", "first_of"), ("m, m, m.to(tl.int64)", "three"))
            for axis in (0, 1, -1, None))
        found["conditions"] = dict.fromkeys(text.format(one) for one in _CONDITIONS for text in _ASKED)
    return {group: "\n".join(some) for group, some in found.items()}


def _others(text: str, call: ast.Call, language: Language) -> Iterator[str]:
    for node in (*call.args, *(one.value for one in call.keywords)):
        for other in _instead(node, language):
            if other != ast.unparse(node):
                yield f"r = {text[:node.col_offset]}{other}{text[node.end_col_offset:]}"


def _instead(node: ast.expr, language: Language) -> tuple[str, ...]:
    """Other forms of an argument."""
    text = ast.unparse(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return (str(not node.value), *_FLAGS)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (f"tl.constexpr({text})", "'other'", "''", "None")
    if isinstance(node, ast.UnaryOp) or (isinstance(node, ast.Constant) and isinstance(node.value, int)):
        return (*_NUMBERS, *_CONSTANTS[language])
    if isinstance(node, ast.Tuple | ast.List):
        return (f"tl.constexpr({text})", text.translate(str.maketrans("()", "[]")), "(n,)", "16")
    if text in _TYPES:
        return (f"tl.constexpr({text})", "None", f"({text},)", *_TYPES)
    if text.startswith(("tl.", "plus")) and not isinstance(node, ast.Call):
        return (f"tl.constexpr({text})", "None")
    return _OTHER_LAYOUTS if text in _LAYOUTS else _VALUES[language]
