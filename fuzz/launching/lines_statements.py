"""Statements of Triton kernels, each a kernel of its own, beyond `lines_plain`: control flow, calls, tuples, hints."""

LINES: dict[str, str] = {
    "control": """
if x > 3: r = n
if x[:1] > 3: r = n
if tl.full((1,), 3, tl.int32) > n: n += 1
if l: r = n
if e: n = n + 1
if x_ptr: r = n
if "a": r = n
if (1, 2): r = n
if N > 3: r = x.nothing
if N < 3: r = x.nothing
if n > 3: r = x
if n > 3: n = 2.5
if n > 3: n = x
if n > 3: n = None
if n > 3: q = (n + 1, x + 1)
if n > 3: q = (n, f)
if n > 3: w = Pair(x, k)
if n > 3: x_ptr += 3
if n > 3: s: tl.constexpr = 3
if n > 3: N = N + 1
r = n if n > 3 else k
r = n if n > 3 else 7
r = 3 if n > 3 else 4
r = n if x > 3 else k
r = tl.store(x_ptr, n) if n > 3 else tl.store(x_ptr, 3)
r = q if n > 3 else (n, x)
r = n if None else k
r = n if q else k
r = n if "a" else k
r = x_ptr if n > 3 else x_ptr + 1
for i in range(n): r = i
for i in range(n): n = n + i
for i in range(n): x = x + i.to(tl.int64)
for i in range(n): e = n
for i in range(n): q = (q[0] + 1, q[1])
for i in range(n): q = (q[0] + 1.5, q[1])
for i in range(n): w = Pair(w.block + i, w.number)
for i in range(n): N = 3
for i in range(3, n): tl.store(x_ptr, i)
for i in range(k, n): tl.store(l_ptr, i)
for i in range(n, k, n): tl.store(l_ptr, i)
for i in range(n.to(tl.uint32)): tl.store(l_ptr, i)
for i in range(u_ptr.to(tl.int64).to(tl.uint8), n): tl.store(l_ptr, i)
for i in range(8, -1, -3): x += i
for i in range(n, k, -2): x += i
for i in range(e): x += i
for i in range(0, x): n += i
for i in range(e, 8): n += i
for i in range(0, 8, e): n += i
for i in range(x, 8): n += i
for i in range(0, 8, x): n += i
for i in range(0): n += i
for i in range(): n += i
for i in range(0, 8, 0): n += i
for i in [1, 2]: n += i
for i in (1, 2): n += i
for i in q: n += 1
for i in n: r = 3
for i, c in range(3): n += i
for i in tl.static_range(4): n += i
for i in tl.static_range(8, 0, -3): n += i
for i in tl.static_range(1, N, step=2): n += i
for i in tl.static_range(n): n += i
for i in tl.static_range(3): n = n if i == 1 else n + 1
for i in tl.range(n, num_stages=N): x += i
for i in tl.range(0, n, N, loop_unroll_factor=N): x += i
for i in tl.range(0, n, flatten=True): x += i
for i in tl.range(0, n, warp_specialize=True): x += i
for i in tl.range(0, n, num_stages=n): x += i
for i in tl.range(0, n, stages=3): x += i
for i in tl.range(0, n, disallow_acc_multi_buffer=True, disable_licm=False): x += i
for i in range(n): break
for i in range(n): continue
for i in range(n): return
for i in range(n): x = x[:, None]
for i in range(n): x_ptr += i
for i in range(n): d.store([i, 0], d.load([0, i]))
for i in range(n): pass
for i in range(n): _ = x + i
while n > 0: n -= 1
while n: n -= 1
while x > 0: x -= 1
while tl.condition(n > 0, disable_licm=True): n -= 1
while tl.condition(n > 0): n -= 1
while tl.condition(e): e -= 1
while N: n -= 1
while n > 0: n = k
while n > 0: return
while (n > 0) & (k > 0): n, k = n - 1, k + 1
with Scope(n): r = n + 1
with Scope(n) as r: s = r + 1
with Scope(n) as r, Scope(value=k) as s: t = r + s
with Scope(n): return
with n: r = 3
return n
return None
return
pass
assert n > 3
assert x > 3, "all"
assert False, "never"
assert N == 8 and n == 3, n
del n
global n
import math
raise n
r = lambda: n
r = yield
print(n, x)
print("x:", x, n)
print("x ", 3, N)
print()
x
3
n + 1
x + 1
tl.load(x_ptr)
tl.sum(x)
tl.zeros((4,), tl.int32)
tl.atomic_add(x_ptr, 1)
plus(n, 1)
""",
    "assigned": """
n = x
n = 3
r = s = n
r, s = n, k
r, s = q
r, s = n
r, s = 1, 2, 3
r, s, t = 1, 2
r, (s, t) = n, (k, x)
r, *s = n, k, x
r[0] = n
x[0] = n
w.block = n
w.block = x; w.flag = True
r: tl.constexpr = 3; r: tl.constexpr = 4
r: tl.constexpr = n
r: tl.constexpr = (1, 2); s = x + r[1]
r: tl.int32 = n
r: tl.constexpr; r = 3; tl.static_assert(r == 3)
r: tl.constexpr = 3; r = 4
r: tl.constexpr = 3; r += 1; s = x + r
r = 3; r += n
r = None; s = r is None
r, s = x, None
r = tl.int32; s = n.to(r)
r = "text"
r = [n, k]; s = r[0] + r[1]
r = {1: n}
r = {n}
r = (n := 3) + 1
r = (s := x + 1) + s
r = tl; s = r.zeros((4,), r.int32)
r = plus; s = r(n, 1)
r = tl.sum; s = r(x)
r = nothing(n)
r = undefined
r = __name__
r = x.undefined
r = tl.undefined(x)
r = x.shape[0] + x.shape[-1]
r = x.shape
r = m.shape[n]
r = x.T
r = m.T + m
r = x.type
r = x.handle
r = x.dtype.name
r = N.value + x
r = N.bit_length() + x
r = (1).bit_length() + x
r = [c + 1 for c in q]
r = [c for c in q if True]
r = [c + 1 for c in (1, 2, 3) if c > 1]; s = x + r[0]
r = [a + b for a, b in ((n, k), (k, n))]
r = [a + b for a in q for b in q]
r = [b if a == 1 else c for a, (b, c) in ((1, (n, k)), (2, (n, 3)))]
r = [a + b for a, b in ((1, n), (tl.constexpr(2), 2.5))]
r = [c for c in x]
r = (c for c in q)
r = {c for c in q}
r = 1_000 + n
r = 0x7fff_ffff + n
r = 1e5 * e
r = b"a"
r = ...
r = f"{N}"; tl.static_assert(r == "8")
r = f"{N!r:>3}"
r = f"{n}"
r = f"{N}{N + 1}"
r = "a" "b"; tl.static_assert(r == "ab")
r = "a" + "b"; tl.static_assert(r == "ab")
r = x if N == 8 else undefined
r = not N
r = not None
r = not (1, 2)
r = -N + x
r = ~N + x
r = +N + x
r = -"a"
r = ~(1, 2)
r = -w
r = N @ 3
r = N ** 2 + x
r = N / 3 + f
r = N // 3 + x + N % 3
r = (N << 2) + (N >> 1) + (N & 3) + (N | 16) + (N ^ 5) + x
r = 3 < N <= 8; tl.static_assert(r)
r = (N == 8) + (N != 8) + (N > 3) + (N >= 9) + x
r = N and 3 or 4
r = None or N
r = 2 ** N + x
r = 2.0 ** N + f
r = N + "a"
r = 1 // 0
r = 1 / 0
r = N % 0
r = (1, 2) + (3,); s = x + r[2]
r = (1, 2) * N; s = x + r[3]
r = (1, 2) == (1, 2); tl.static_assert(r)
r = (1, 2) < (1, 3)
r = (n, 2)[1] + x
r = (n, 2)[n]
r = (n, 2)[-3]
r = (n, 2, k)[0:2]; s = r[1] + x
r = (n, 2, k)[::-1]
r = q[0:1][0] + 1
r = len(q) + len((1, 2)) + n
r = len(x)
r = len(n)
r = isinstance(x, tl.tensor) + n
r = hasattr(x, "dtype") + n
r = getattr(x, "dtype")
r = getattr(x, "nothing", 3) + n
r = int(3.7) + n
r = float(3) + e
r = int(n)
r = float(n)
r = int("7") + int("11", base=2) + n
r = list((1, 2))
r = range(3)
r = abs(n)
r = str(N)
r = type(x)
r = sum((1, 2))
r = bool(n)
r = id(n)
""",
    "calls": """
r = either(n > 3, n, k)
r = either(n > 3, n, n)
r = either(n > 3, x, f)
r = either(n > 3, 3, 3) + n
r = either(n > 3, 3, 4) + n
r = either(n > 3, n, 4)
r = either(n > 3, 4, n)
r = either(n > 3, 1.5, n)
r = either(n > 3, 1.5, e)
r = either(n > 3, 2 ** 40, k)
r = either(n > 3, q, (k, x))
r = either(n > 3, q, q)
r = either(n > 3, (1, n), (1, k))
r = either(n > 3, (1, n), (2, n))
r = either(n > 3, (1, n), n)
r = either(n > 3, Named(n, 1), Named(k, 2))
r = either(n > 3, Named(n, 1), Named(n, 2))
r = either(n > 3, Named(n, 1), (n, 2))
r = either(n > 3, None, None)
r = either(n > 3, None, n)
r = either(True, x, f)
r = either(N > 10, x, f)
r = either(n > 3, Pair(x, n), Pair(x, n))
r = either(n > 3, x_ptr, x_ptr + 1)
r = within(x, n)
r = within(n, n)
r = within(x, N)
r = behind(x, n)
r = called(x, n)
r = called(n, n)
r = looping(x, n)
r = looping(x, N)
r = scoped(x, n)
r = pairs(n, x)
r, s = pairs(n, x); t = r + s
r, s = pairs(N, x); t = r + s
r = names(n, x); s = r.two + 1
r = names(n, x).one + 1
r = twice(n, x); s = r[0] + r[1]
r = twice(*q)
r = twice(*(n, 3))
r = twice(*n)
r = twice(**q)
r = many(n)
r = many(n, k, scale=N)
r = many(first=n)
r = many(n, other=3)
r = early()
r = early(x, 3, 4)
r = kept(x)
kept(x)
r = early(x, N=n)
r = early(x, M=3)
r = early(a=x, N=N)
r = apart(x, x)
r = apart(n, k)
r = n + "ab".count("b")
r = N.bit_length() + n
r = (1, 2).index(2) + n
tl.static_assert("ab".startswith(("c", "b")))
r = apart(n, 2) + apart(n, 3) + apart(n, 2)
r = apart(tl.full((1,), 3, tl.int32), n)
r = plus(x, f)
r = plus(plus(n, 1), plus(k, 2))
r = plus(1, 2) + n
r = plus("a", "b")
r = plus(None, n)
r = plus(q, (3,))
r = plus(x_ptr, n)
r = even(N); tl.static_assert(r)
r = even(n)
r = even(3); tl.static_assert(not r)
r = even()
r = several(N); s = x + r[1][0] + r[1][1][1]
r = doubled(n=N) + x
r = doubled(2.5) + f
r = doubled("a")
r = w.total(1)
r = w.total(more=n)
r = w.total()
r = w.nothing
r = Pair(x)
r = Pair(x, n, True, 3)
r = Pair(x, n, number=n)
r = Pair(x, n, flags=True)
r = Pair(3, n)
r = Pair(x, n, flag=n)
r = Pair(block=x, number=n); s = r.flag + n
r = Own(x); s = r.block
r = Own(x, k).number + n
r = Unfinished(x)
r = Changed(x, (n, 3)); s = r.pair[0] + r.pair[1]
r = Changed(x, (n, 3)).spoil()
r = Changed(x, 3)
r = Longer(x); s = r.more + n
r = Longer(x, 9) + 1; s = r.block
r = Longer(more=3, block=x).block
r = Sum(x) + 3; s = r.block
r = Sum(x) + Sum(f)
r = 3 - Sum(x); s = r.block
r = x - Sum(x)
r = 3 + Sum(x)
r = -Sum(x); s = r.block
r = Sum(x) < 3
r = 3 > Sum(x)
r = Sum(x) * 3
r = Sum(x) == Sum(x)
r = not Sum(x)
r = tl.core.aggregate_replace(w, flag=False); s = r.flag + n
r = tl.core.aggregate_replace(w, more=3)
r = tl.core.aggregate_replace(x, number=3)
r = tl.core.aggregate_replace(w, number=x); s = r.number
r = Named(n, 3); s = r.one + r.two + r[1]
r = Named(n)
r = Named(one=n, two=(k, x)); s = r.two[1] + r.one
r = Named(n, 3) + (4,)
r = q == (n, x)
r = kernel(n)
r = tl.sum(input=x, axis=0)
r = tl.sum(x, axes=0)
r = tl.load(x_ptr, pointer=x_ptr)
r = x.sum(0) + x.max(axis=0)
r = x.to(dtype=tl.int64)
r = x.reshape((4, 4)).sum(axis=1, keep_dims=True)
r = x.store(3)
r = x_ptr.load()
r = x.cast(tl.float32) + x.abs()
r = n.sum()
r = tl.multiple_of(n, 16) + tl.multiple_of(n, [4])
r = tl.multiple_of(m, 16)
r = tl.multiple_of(m, (16, 8))
r = tl.multiple_of(x, [n])
r = tl.multiple_of(x, [1.5])
r = tl.max_contiguous(m, 16)
r = tl.max_contiguous(m, [n, 1])
r = tl.max_contiguous(m, [1, 2.5])
r = tl.max_constancy(m, (1, 16))
r = tl.max_constancy(m, 16)
r = tl.max_constancy(x, [1.5])
tl.assume(x > 3)
tl.assume(True)
tl.debug_barrier(3)
tl.static_assert(N > 8, "more")
tl.static_assert(N == 8, f"{N}")
tl.static_print("N", N, x, sep="-")
tl.device_assert(n > 3, "more")
tl.device_assert(True)
tl.device_assert(x > 3, N)
tl.device_assert(x > 3, "all", mask=x > 0)
tl.device_print("")
tl.device_print("x")
tl.device_print("x: ", x)
tl.device_print(" x ", n, e, u, hex=True)
tl.device_print("a\\u00e9", x)
tl.device_print("a\\n", x)
tl.device_print(n)
tl.device_print("x", None)
r = tl.program_id(3)
r = tl.expect_zero(f, True)
r = tl.map_elementwise(one_of, x, f)
r = tl.map_elementwise(twice, x, 3)
r = tl.map_elementwise(plus, m, x, pack=2)
r = tl.map_elementwise(first_of, x, x, x, x, pack=2)
r = tl.map_elementwise(mixed, x, x, x, x, pack=2)
r = tl.map_elementwise(plus)
r = tl.map_elementwise(either, p, x, m)
r = tl.map_elementwise(plus, x, tl.arange(0, 8))
r = tl.map_elementwise(3, x)
r = tl.inline_asm_elementwise("mov.b32 $0, $2; mov.b32 $1, $3;", "=r,=r,r,r", [x, f], (tl.int32, tl.float32), True, 1)
r = tl.inline_asm_elementwise("mov.b32 $0, 3;", "=r", [], tl.int32, is_pure=False, pack=1)
r = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [n], tl.int32, True, 1)
r = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x, m], tl.int32, True, 1)
r = tl.inline_asm_elementwise(n, "=r,r", [n], tl.int32, True, 1)
r = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [3], tl.int32, True, n)
r = tl.extra.libdevice.pow(f, 2.0)
r = tl.extra.libdevice.pow(f, x)
r = tl.extra.libdevice.pow(e, n)
r = tl.extra.libdevice.pow(f, f.to(tl.float64))
r = tl.extra.libdevice.pow(x, x)
r = tl.extra.libdevice.sinh(e) + tl.extra.libdevice.sinh(f)
r = tl.extra.libdevice.sinh(h)
r = tl.extra.libdevice.sinh(x)
r = tl.extra.libdevice.fma(f, e, 2.0) + tl.extra.libdevice.fma(2.0, e, f)
r = tl.extra.libdevice.fma(f, m[:, :1].to(tl.float32), 2.0)
r = tl.extra.libdevice.ffs(x) + tl.extra.libdevice.ffs(l)
r = tl.extra.libdevice.sinh()
r = tl.exp(x)
r = tl.exp(h) + tl.exp(f.to(tl.bfloat16))
r = tl.exp(f.to(tl.float64)) + tl.exp(2.0)
r = tl.sqrt_rn(f.to(tl.float64)) + tl.div_rn(f, 3.0)
r = tl.div_rn(x, n)
r = tl.abs(u) + tl.abs(n) + tl.abs(p)
r = tl.abs(f.to(tl.float64)) + tl.abs(-3)
r = tl.abs(u.to(tl.float8e4b15, bitcast=True))
r = tl.umulhi(x.to(tl.uint32), u)
r = tl.umulhi(l.to(tl.uint64), 3)
r = tl.umulhi(f, f)
r = tl.fma(x, x, x)
r = tl.fma(f, h, 2)
r = tl.fma(2.0, f, x)
r = tl.floor(f) + tl.ceil(h)
r = tl.erf(x=x)
r = tl.cdiv(n, 3) + tl.cdiv(17, N)
r = tl.cdiv(n, 0)
r = tl.sigmoid(h)
r = tl.sigmoid(x)
r = tl.where(x, 1, 0)
r = tl.where(n, x, 0)
r = tl.where(p[:, None], m, x)
r = tl.where(p, 1, 2.5)
r = tl.where(True, n, k)
r = tl.where(f, x, 0)
r = tl.rand(n, x, n_rounds=3)
r = tl.randint(n, l)
r = tl.randint(k, x)
r = tl.randint(2 ** 40, x)
r = tl.randint(n, f)
r = tl.rand(n, l) + tl.randn(2 ** 33, l)
r = tl.philox(n, x, x, x, x, 3)
r = tl.philox(n, l, l, l, l)
r = tl.philox(n, x, l, x, x)
r = tl.uint_to_uniform_float(x) + tl.uint_to_uniform_float(x.to(tl.uint32))
r = tl.uint_to_uniform_float(l) + tl.uint_to_uniform_float(l.to(tl.uint64))
r = tl.uint_to_uniform_float(u)
r = tl.pair_uniform_to_normal(f, f)[1]
r = tl.randn4x(n, x)[3] + tl.rand4x(n, x)[2]
""",
    "descriptors": """
r = d.load([n, k])
r = d.load([n, 2 ** 31])
r = d.load([n, -1])
r = d.load([n])
r = d.load([n, x])
r = d.load([n, e])
r = d.load([True, n])
r = d.load(n)
r = d.load([n, None])
r = d.load((n, 16))
r = d.load([u_ptr.to(tl.int64).to(tl.uint8), n.to(tl.int16)])
r = d.load([tl.full((1,), 3, tl.int32), n])
d.store([n, 0], tl.zeros((8, 16), tl.float32))
d.store([n, 0], x)
d.store([n, 0], 3)
d.store([n], d.load([n, 0]))
j.store([n, 0], tl.zeros((8, 16), tl.float32))
tl.store_tensor_descriptor(x_ptr, [n, 0], m)
r = tl.load_tensor_descriptor(x_ptr, [n, 0])
r = d.gather(x, n)
d.scatter(m, x, n)
r = d.shape[1] + d.strides[1] + d.block_shape[0]
r = d.dtype
r = d.type
d.atomic_add([n, 0], tl.zeros((8, 16), tl.float32))
d.atomic_add([n], d.load([n, 0]))
j.atomic_and([n, 0], j.load([n, 0]))
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 2], [8, 16])
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [63, 1], [8, 16])
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [n, 1], [8, 2])
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [n, 1], [8, 12])
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64], [8, 16])
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [16])
r = tl.make_tensor_descriptor(x_ptr, [n, e], [64, 1], [8, 16])
r = tl.make_tensor_descriptor(x_ptr, [n, x], [64, 1], [8, 16])
r = tl.make_tensor_descriptor(x_ptr, [], [], [])
r = tl.make_tensor_descriptor(x_ptr, [n] * 6, [64] * 5 + [1], [1] * 5 + [16])
r = tl.make_tensor_descriptor(x_ptr, (n, n, n, n, n), (64, 64, 64, 64, 1), (1, 1, 1, 2, 16)); s = r.load([0, 0, 0, n,
    0])
r = tl.make_tensor_descriptor(x_ptr, [n], [1], [16]); s = r.load([n])
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [8, n])
r = tl.make_tensor_descriptor(x_ptr + at, [n, 64], [64, 1], [8, 16])
r = tl.make_tensor_descriptor(n, [n, 64], [64, 1], [8, 16])
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [8, 16], padding_option="nan")
r = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [8, 16], padding_option="zero"); s = r.load([n, 0])
r = tl.make_tensor_descriptor(f_ptr, [n, 64], [64, 1], [8, 16], padding_option="nan"); s = r.load([n, 0])
r = tl.make_tensor_descriptor(f_ptr, [n, 64], [64, 1], [8, 16], padding_option="one")
r = tl.make_tensor_descriptor(h_ptr, [k, n], [k, 1], [8, 16]); s = r.load([n, 0])
r = tl.make_tensor_descriptor(x_ptr, [1, 64], [64, 1], [1, 16]); s = r.gather(x, 0)
r = tl.make_tensor_descriptor(x_ptr, [1, 64], [64, 1], [1, 16]); s = r.gather(x[:, None], 0)
r = tl.make_tensor_descriptor(x_ptr, [1, 64], [64, 1], [1, 16]); s = r.gather(l, 0)
r = tl.make_tensor_descriptor(x_ptr, [1, 64], [64, 1], [1, 16]); s = r.gather(tl.arange(0, 4), 0)
r = tl.make_tensor_descriptor(x_ptr, [1, 64], [64, 1], [1, 4]); s = r.gather(x, 0)
r = tl.make_tensor_descriptor(x_ptr, [1, 64], [64, 1], [1, 16]); r.scatter(m, x.to(tl.int16), n)
r = tl.make_tensor_descriptor(x_ptr, [1, 64], [64, 1], [1, 16]); r.scatter(m, tl.arange(0, 4), n)
r = tl.make_tensor_descriptor(x_ptr, [n], [1], [16]); s = r.gather(x, 0)
if n > 3: d = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [8, 16])
if n > 3: d = tl.make_tensor_descriptor(x_ptr, [n, 64], [64, 1], [4, 16])
if n > 3: d = x
for i in range(n): d = tl.make_tensor_descriptor(x_ptr, [n + i, 64], [64, 1], [8, 16])
for i in range(n): d = j
r = either(n > 3, d, d)
r = either(n > 3, d, j)
""",
}
