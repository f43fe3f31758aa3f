"""TTGIR text with parameters, one form per operation that Gluon does not reach (contract: ttg_ops.md §3, §4).

Every kernel takes x and out (and more where said), i32 arrays of (programs, elements); program p works on line p.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernels.gluon.dialect import TextDialect

MASKED = ("load", "store", "atomic", "copy")
REGIONS = ("block", "partition")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """elements per line (a power of two), elements per thread, warps; blocks: of the cluster."""

    elements: int
    each: int
    warps: int
    blocks: int = 1


def _blocked(shape: Shape, warps: int) -> str:
    split = ", CGALayout = [[1]]" if shape.blocks == 2 else ""
    return (f"#ttg.blocked<{{sizePerThread = [{shape.each}], threadsPerWarp = [32], warpsPerCTA = [{warps}], "
            f"order = [0]{split}}}>")


def _pointers(base: str, name: str, kind: str, index: str = "%o") -> str:
    return f"""\
      %{name}s = tt.splat {base} : !tt.ptr<i32> -> tensor<{kind[0]}x!tt.ptr<i32>, {kind[1]}>
      %{name}p = tt.addptr %{name}s, {index} : tensor<{kind[0]}x!tt.ptr<i32>, {kind[1]}>, \
tensor<{kind[0]}xi32, {kind[1]}>
"""


def _module(shape: Shape, body: str, *, arguments: tuple[str, ...] = ("x", "out"), scalars: str = "",
            target: int = 90) -> str:
    """The module: layouts, the kernel, each program's lines, their elements' numbers, and `body`."""
    pointers = ", ".join(f"%{name}: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}" for name in arguments)
    lines = "".join(f"    %{name}_line = tt.addptr %{name}, %line : !tt.ptr<i32>, i32\n" for name in arguments)
    n = shape.elements
    return f"""\
#b = {_blocked(shape, shape.warps)}
#w = {_blocked(shape, 2)}
#shared = #ttg.swizzled_shared<{{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}}>
#smem = #ttg.shared_memory
module attributes {{"ttg.num-ctas" = {shape.blocks} : i32, "ttg.num-warps" = {shape.warps} : i32, \
ttg.target = "cuda:{target}", "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @kernel({pointers}{scalars}) {{
    %program = tt.get_program_id x : i32
    %n = arith.constant {n} : i32
    %line = arith.muli %program, %n : i32
{lines}    %o = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, #b>
    %last = arith.constant dense<{n - 1}> : tensor<{n}xi32, #b>
    %reversed = arith.subi %last, %o : tensor<{n}xi32, #b>
{body}    tt.return
  }}
}}
"""


def _kind(shape: Shape) -> tuple[str, str]:
    return str(shape.elements), "#b"


def _load_store(shape: Shape, between: str, *, result: str = "%v") -> str:
    n = shape.elements
    return (_pointers("%x_line", "x", _kind(shape)) + _pointers("%out_line", "out", _kind(shape))
            + f"      %v = tt.load %xp : tensor<{n}x!tt.ptr<i32>, #b>\n{between}"
            + f"      tt.store %outp, {result} : tensor<{n}x!tt.ptr<i32>, #b>\n")


def barrier(shape: Shape, *, statement: str) -> str:
    """out = x reversed, through global memory: only the barrier orders the store before the load. Arrays x, scratch,
    out. statement: a barrier that orders global memory."""
    n, kind = shape.elements, _kind(shape)
    between = (_pointers("%scratch_line", "to", kind) + _pointers("%scratch_line", "from", kind, "%reversed")
               + f"      tt.store %top, %v : tensor<{n}x!tt.ptr<i32>, #b>\n      {statement}\n"
               + f"      %back = tt.load %fromp : tensor<{n}x!tt.ptr<i32>, #b>\n")
    return _module(shape, _load_store(shape, between, result="%back"), arguments=("x", "scratch", "out"))


def mailbox(shape: Shape, *, statement: str, alignment: int, decoys: int) -> str:
    """out = x reversed, through scratch memory of the program's own. decoys: further allocations around it."""
    n, kind = shape.elements, _kind(shape)
    allocations = "".join(
        f"      %decoy{k} = ttg.global_scratch_alloc {{nbytes = {128 << k} : i32, alignment = 128 : i32}} "
        ": !tt.ptr<i8>\n"
        f"      %decoy{k}_words = tt.bitcast %decoy{k} : !tt.ptr<i8> -> !tt.ptr<i32>\n"
        f"      tt.store %decoy{k}_words, %n : !tt.ptr<i32>\n" for k in range(decoys))
    between = (
        f"      %bytes = ttg.global_scratch_alloc {{nbytes = {4 * n} : i32, alignment = {alignment} : i32}} "
        ": !tt.ptr<i8>\n      %words = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<i32>\n"
        + _pointers("%words", "to", kind) + _pointers("%words", "from", kind, "%reversed")
        + f"      tt.store %top, %v : tensor<{n}x!tt.ptr<i32>, #b>\n{allocations}      {statement}\n"
        + f"      %back = tt.load %fromp : tensor<{n}x!tt.ptr<i32>, #b>\n")
    return _module(shape, _load_store(shape, between, result="%back"))


def warp_numbers(shape: Shape, *, statement: str, region: str) -> str:
    """out[i] = number of the warp that holds element i; in a partition of two warps, counted from 0 there."""
    n = shape.elements
    if region == "block":
        body = (f"      %id = {statement}\n" + _pointers("%out_line", "out", _kind(shape))
                + f"      %ids = tt.splat %id : i32 -> tensor<{n}xi32, #b>\n"
                + f"      tt.store %outp, %ids : tensor<{n}x!tt.ptr<i32>, #b>\n")
        return _module(shape, body)
    inner = (f"      %id = {statement}\n"
             f"      %q = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, #w>\n"
             + _pointers("%place", "q", (str(n), "#w"), "%q")
             + f"      %ids = tt.splat %id : i32 -> tensor<{n}xi32, #w>\n"
             + f"      tt.store %qp, %ids : tensor<{n}x!tt.ptr<i32>, #w>\n")
    body = ("    ttg.warp_specialize(%out_line)\n    default {\n      ttg.warp_yield\n    }\n"
            "    partition0(%place: !tt.ptr<i32>) num_warps(2) {\n" + inner
            + "      ttg.warp_return\n    } : (!tt.ptr<i32>) -> ()\n")
    return _module(shape, body)


def partitions(shape: Shape, *, workers: int, requested: bool) -> str:
    """The default partition yields x, worker k stores element numbers times k + 1 to line k + 1 of the program's
    out, which has 1 + workers lines. Partitions capture a pointer and a number."""
    n = shape.elements
    default = _pointers("%x_line", "x", _kind(shape)) + (
        f"      %v = tt.load %xp : tensor<{n}x!tt.ptr<i32>, #b>\n      ttg.warp_yield %v : tensor<{n}xi32, #b>\n")
    regions = "".join(f"""\
    partition{k}(%place{k}: !tt.ptr<i32>, %count{k}: i32) num_warps(2) {{
      %q = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, #w>
      %k = arith.constant {k + 1} : i32
      %skip = arith.muli %count{k}, %k : i32
      %there = tt.addptr %place{k}, %skip : !tt.ptr<i32>, i32
{_pointers("%there", "q", (str(n), "#w"), "%q")}\
      %times = tt.splat %k : i32 -> tensor<{n}xi32, #w>
      %product = arith.muli %q, %times : tensor<{n}xi32, #w>
      tt.store %qp, %product : tensor<{n}x!tt.ptr<i32>, #w>
      ttg.warp_return
    }}
""" for k in range(workers))
    asked = f" attributes {{requestedRegisters = array<i32: {', '.join(['48'] * workers)}>}}" if requested else ""
    body = (f"    %wide = arith.constant {n * (1 + workers)} : i32\n    %first = arith.muli %program, %wide : i32\n"
            "    %mine = tt.addptr %out, %first : !tt.ptr<i32>, i32\n"
            f"    %r = ttg.warp_specialize(%mine, %n){asked}\n    default {{\n{default}    }}\n"
            + regions.rstrip("\n") + f" : (!tt.ptr<i32>, i32) -> tensor<{n}xi32, #b>\n"
            + _pointers("%mine", "out", _kind(shape)) + f"      tt.store %outp, %r : tensor<{n}x!tt.ptr<i32>, #b>\n")
    return _module(shape, body)


def tokens(shape: Shape, *, groups: int, pending: int, statement: str = "") -> str:
    """out = x, copied in `groups` pieces with tokens, each a group; the piece at `groups - 1 - pending` and those
    before it are read after a wait for `pending` groups, the others after a wait for all. statement: a barrier for
    shared memory behind the first wait, or none."""
    n = shape.elements
    memory = f"!ttg.memdesc<{n}xi32, #shared, #smem, mutable>"
    lines = [f"      %piece = arith.constant {n} : i32\n"]
    for g in range(groups):
        lines.append(f"""\
      %skip{g} = arith.constant {g * n} : i32
      %from{g} = tt.addptr %x_all, %skip{g} : !tt.ptr<i32>, i32
      %to{g} = tt.addptr %out_all, %skip{g} : !tt.ptr<i32>, i32
{_pointers(f"%from{g}", f"f{g}", _kind(shape))}{_pointers(f"%to{g}", f"t{g}", _kind(shape))}\
      %m{g} = ttg.local_alloc : () -> {memory}
      %c{g} = ttg.async_copy_global_to_local %f{g}p, %m{g} : tensor<{n}x!tt.ptr<i32>, #b> -> {memory}
      %k{g} = ttg.async_commit_group tokens %c{g}
""")
    ready = groups - pending
    first = ", ".join(f"%k{g}" for g in range(ready))
    lines.append(f"      %early = ttg.async_wait {first} {{num = {pending} : i32}}\n"
                 + f"      {statement}\n" * bool(statement))
    for g in range(groups):
        if g == ready:
            late = ", ".join(f"%k{j}" for j in range(ready, groups))
            lines.append(f"      %late = ttg.async_wait {late} {{num = 0 : i32}}\n")
        token = "%early" if g < ready else "%late"
        lines.append(f"      %v{g} = ttg.local_load %m{g} token {token} : {memory} -> tensor<{n}xi32, #b>\n"
                     f"      tt.store %t{g}p, %v{g} : tensor<{n}x!tt.ptr<i32>, #b>\n")
    head = (f"    %wide = arith.constant {n * groups} : i32\n    %first = arith.muli %program, %wide : i32\n"
            "    %x_all = tt.addptr %x, %first : !tt.ptr<i32>, i32\n"
            "    %out_all = tt.addptr %out, %first : !tt.ptr<i32>, i32\n")
    return _module(shape, head + "".join(lines))


def masked(shape: Shape, *, wrapped: str) -> str:
    """One operation under `ttg.mask`, with a predicate that holds where the scalar `flag` is positive. Input of the
    pass that resolves it. load: out = x, or -1; store: out = x, or what stood there; atomic: out += x, or not; copy:
    out = x through shared memory, or -1."""
    n = shape.elements
    tensor, pointers = f"tensor<{n}xi32, #b>", f"tensor<{n}x!tt.ptr<i32>, #b>"
    memory = f"!ttg.memdesc<{n}xi32, #shared, #smem, mutable>"
    head = ("    %zero = arith.constant 0 : i32\n    %p = arith.cmpi sgt, %flag, %zero : i32\n"
            f"    %none = arith.constant dense<-1> : {tensor}\n"
            + _pointers("%x_line", "x", _kind(shape)) + _pointers("%out_line", "out", _kind(shape)))
    select = f"    %r = arith.select %p, %v, %none : {tensor}\n    tt.store %outp, %r : {pointers}\n"
    body = {
        "load": f"""\
    %v = "ttg.mask"(%p) ({{
      %q = tt.load %xp : {pointers}
      "ttg.mask.return"(%q) : ({tensor}) -> ()
    }}) : (i1) -> {tensor}
{select}""",
        "store": f"""\
    %v = tt.load %xp : {pointers}
    "ttg.mask"(%p) ({{
      tt.store %outp, %v : {pointers}
      "ttg.mask.return"() : () -> ()
    }}) : (i1) -> ()
""",
        "atomic": f"""\
    %v = tt.load %xp : {pointers}
    %old = "ttg.mask"(%p) ({{
      %q = tt.atomic_rmw add, relaxed, gpu, %outp, %v : ({pointers}, {tensor}) -> {tensor}
      "ttg.mask.return"(%q) : ({tensor}) -> ()
    }}) : (i1) -> {tensor}
""",
        "copy": f"""\
    %m = ttg.local_alloc : () -> {memory}
    %c = "ttg.mask"(%p) ({{
      %q = ttg.async_copy_global_to_local %xp, %m : {pointers} -> {memory}
      "ttg.mask.return"(%q) : (!ttg.async.token) -> ()
    }}) : (i1) -> !ttg.async.token
    %k = ttg.async_commit_group tokens %c
    %w = ttg.async_wait %k {{num = 0 : i32}}
    %v = ttg.local_load %m token %w : {memory} -> {tensor}
{select}"""}[wrapped]
    return _module(shape, head + body, scalars=", %flag: i32")


def scheduled(shape: Shape, *, stages: int) -> str:
    """out[t] = x[t] + 1 for t < trips, as a loop with a pipeline schedule that keeps its predicates: the load stands
    in stage 0, the store in the last of `stages`. Input of the pass that pipelines; trips is a scalar."""
    n = shape.elements
    tensor, pointers = f"tensor<{n}xi32, #b>", f"tensor<{n}x!tt.ptr<i32>, #b>"
    early = "{loop.cluster = 1 : i32, loop.stage = 0 : i32}"
    late = f"{{loop.cluster = 0 : i32, loop.stage = {stages - 1} : i32}}"
    body = f"""\
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1> : {tensor}
    %wide = arith.muli %most, %n : i32
    %first = arith.muli %program, %wide : i32
    %x_all = tt.addptr %x, %first : !tt.ptr<i32>, i32
    %out_all = tt.addptr %out, %first : !tt.ptr<i32>, i32
    %xs = tt.splat %x_all : !tt.ptr<i32> -> {pointers}
    %outs = tt.splat %out_all : !tt.ptr<i32> -> {pointers}
    scf.for %t = %c0 to %trips step %c1 : i32 {{
      %skip = arith.muli %t, %n {early} : i32
      %skips = tt.splat %skip {early} : i32 -> {tensor}
      %at = arith.addi %skips, %o {early} : {tensor}
      %xp = tt.addptr %xs, %at {early} : {pointers}, {tensor}
      %v = tt.load %xp {early} : {pointers}
      %r = arith.addi %v, %one {late} : {tensor}
      %outp = tt.addptr %outs, %at {late} : {pointers}, {tensor}
      tt.store %outp, %r {late} : {pointers}
    }} {{__test_keep_predicate_stage, tt.scheduled_max_stage = {stages - 1} : i32}}
"""
    return _module(shape, body, scalars=", %trips: i32, %most: i32")


def cluster(shape: Shape, *, statements: tuple[str, ...]) -> str:
    """out = x + 1 in a cluster of two blocks, with synchronisation of the cluster in between."""
    n = shape.elements
    between = "".join(f"      {one}\n" for one in statements) + (
        f"      %one = arith.constant dense<1> : tensor<{n}xi32, #b>\n"
        f"      %sum = arith.addi %v, %one : tensor<{n}xi32, #b>\n")
    return _module(shape, _load_store(shape, between, result="%sum"))


__all__ = ["MASKED", "REGIONS", "Shape", "TextDialect", "barrier", "cluster", "mailbox", "masked", "partitions",
           "scheduled", "tokens", "warp_numbers"]
