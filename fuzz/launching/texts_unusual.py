"""Kernels of `scenes.unusual`: each written, or called, as few users do."""

PLAIN = """
@triton.jit
def kernel(x, n, C: tl.constexpr = 3):
    at = tl.arange(0, 16)
    tl.store(x + at, at + n + C)
"""
TEXTS: dict[str, str] = {
    "closure": """
C = tl.constexpr(4)

def made(C, inner):
    @triton.jit
    def kernel(x, n):
        tl.static_assert(C == 3)
        tl.store(x, inner(n) + C)
    return kernel

@triton.jit
def twice(a):
    return a + a

kernel = made(tl.constexpr(3), twice)
""",
    "own errors": """
@triton.jit
def inner(a, W: tl.constexpr):
    if W == 1:
        return a + missing
    return tl.arange(0, 3)

@triton.jit
def kernel(x, n, W: tl.constexpr):
    if W == 0:
        n = missing
    if W == 3:
        n = tl.full((3,), n, tl.int32)
    if W == 4:
        n = n.missing
    inner(n, W)
""",
    "conflict": """
LIMIT = tl.constexpr(3)

@triton.jit
def inner(a):
    return a + LIMIT

@triton.jit
def kernel(x, n):
    tl.store(x, LIMIT + inner(n))
""",
    "by type": """
@triton.jit
def kernel(x: tl.pointer_type(tl.int32), n: "tl.int64", f: float = 2.0, t: tl.float32 = 3.0, k: "i32" = 16,
           b: "u1" = True, C: tl.constexpr = 3):
    tl.static_assert(n.dtype == tl.int64 and t.dtype == tl.float32)
    tl.store(x, n + C)
""",
    "constant memory": """
@triton.jit
def kernel(x: "*i32", y: "const int32*", n):
    tl.store(x, tl.load(y) + n)
""",
    "more arguments": """
@triton.jit
def kernel(x, *rest):
    tl.store(x, rest[0] + rest[1])
""",
    "by name only": """
@triton.jit
def kernel(x, *, n, C: tl.constexpr = 3):
    tl.store(x, n + C)
""",
    "function": """
@triton.jit
def twice(a):
    return a + a

@triton.jit
def kernel(x, n, F: tl.constexpr, K: tl.constexpr, g):
    tl.store(x, F(n))
""",
    "specialised": """
@triton.jit
def twice(a):
    return a + a

def made():
    @triton.jit
    def inner(a):
        return a + 7
    return inner

inner = made()

@triton.jit
def kernel(x, n, C: tl.constexpr = 3):
    pass
""",
    "functions": """
@triton.jit
def twice(a):
    return a + a

@triton.jit
def kernel(x, n, F):
    tl.store(x, F[0](n) + F[1])
""",
    "expected zeros": """
@triton.jit
def kernel(x, n):
    a = n.to(tl.float32)
    tl.store(x, tl.expect_zero(a - a, a == a).to(tl.int32) + n)
""",
    "gluon": """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def kernel(x, n):
    at = gl.arange(0, 128, layout=gl.BlockedLayout([1], [32], [4], [0]))
    gl.store(x + at, (at.to(gl.float32) * 0.5 + 1.0).to(gl.int32) + n)
""",
    "partitions": """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def store(x, n, BY: gl.constexpr):
    W: gl.constexpr = gl.num_warps()
    at = gl.arange(0, 256, layout=gl.BlockedLayout([1], [32], [W], [0]))
    gl.store(x + at + 256 * BY, at + n + W)

@gluon.jit
def beside(x, n):
    store(x, n, 1)

@gluon.jit
def last(x, n):
    store(x, n, 2)

@gluon.jit
def kernel(x, n):
    gl.warp_specialize([(store, (x, n, 0)), (beside, (x, n)), (last, (x, n))], [8, 1], [48, 24])
""",
    "foreign name": """
@triton.jit
def größe(x, n):
    tl.store(x, n)

kernel = größe
""",
    "not debugged": PLAIN.replace("jit", "jit(debug=True)"),
    "further options": PLAIN.replace(", at", ", tl.extra.libdevice.exp(at * 0.5)"),
    "long name": PLAIN.replace("def kernel", f"def {'k2_' * 80}") + f"\nkernel = {'k2_' * 80}\n",
    "failing": """
@triton.jit
def kernel(x, n):
    tl.static_assert(False, "never")
""",
}
"""By ways."""
