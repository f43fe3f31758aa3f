"""TTGIR text with parameters, one form per operation that Gluon does not reach (contract: ttg_ops.md §3, §4).

Every kernel takes x and out (and more where said), i32 arrays of (programs, elements); program p works on line p.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Shape:
    """elements per line (a power of two), elements per thread, warps; blocks: of the cluster."""

    elements: int
    each: int
    warps: int
    blocks: int = 1

    def tensor(self, element: str = "i32", layout: str = "#b") -> str:
        """Type of a line."""
        return f"tensor<{self.elements}x{element}, {layout}>"


def _blocked(shape: Shape, warps: int) -> str:
    split = ", CGALayout = [[1]]" if shape.blocks == 2 else ""
    return (f"#ttg.blocked<{{sizePerThread = [{shape.each}], threadsPerWarp = [32], warpsPerCTA = [{warps}], "
            f"order = [0]{split}}}>")


def _pointers(shape: Shape, base: str, name: str, index: str = "%o", layout: str = "#b") -> str:
    pointers = shape.tensor("!tt.ptr<i32>", layout)
    return f"""\
      %{name}s = tt.splat {base} : !tt.ptr<i32> -> {pointers}
      %{name}p = tt.addptr %{name}s, {index} : {pointers}, {shape.tensor(layout=layout)}
"""


def _module(shape: Shape, body: str, *, arguments: tuple[str, ...] = ("x", "out"), scalars: str = "",
            target: int = 90) -> str:
    """The module: layouts, the kernel, each program's lines, their elements' numbers, and `body`."""
    pointers = ", ".join(f"%{name}: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}" for name in arguments)
    lines = "".join(f"    %{name}_line = tt.addptr %{name}, %line : !tt.ptr<i32>, i32\n" for name in arguments)
    n, tensor = shape.elements, shape.tensor()
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
{lines}    %o = tt.make_range {{end = {n} : i32, start = 0 : i32}} : {tensor}
    %last = arith.constant dense<{n - 1}> : {tensor}
    %reversed = arith.subi %last, %o : {tensor}
{body}    tt.return
  }}
}}
"""


def _load_store(shape: Shape, between: str, *, result: str = "%v") -> str:
    pointers = shape.tensor("!tt.ptr<i32>")
    return (_pointers(shape, "%x_line", "x") + _pointers(shape, "%out_line", "out")
            + f"      %v = tt.load %xp : {pointers}\n{between}"
            + f"      tt.store %outp, {result} : {pointers}\n")


def barrier(shape: Shape, *, statement: str) -> str:
    """out = x reversed, through global memory: only the barrier orders the store before the load. Arrays x, scratch,
    out. statement: a barrier that orders global memory."""
    pointers = shape.tensor("!tt.ptr<i32>")
    between = (_pointers(shape, "%scratch_line", "to") + _pointers(shape, "%scratch_line", "from", "%reversed")
               + f"      tt.store %top, %v : {pointers}\n      {statement}\n"
               + f"      %back = tt.load %fromp : {pointers}\n")
    return _module(shape, _load_store(shape, between, result="%back"), arguments=("x", "scratch", "out"))


def mailbox(shape: Shape, *, statement: str, alignment: int, decoys: int) -> str:
    """out = x reversed, through scratch memory of the program's own. decoys: further allocations around it."""
    n, pointers = shape.elements, shape.tensor("!tt.ptr<i32>")
    allocations = "".join(
        f"      %decoy{k} = ttg.global_scratch_alloc {{nbytes = {128 << k} : i32, alignment = 128 : i32}} "
        ": !tt.ptr<i8>\n"
        f"      %decoy{k}_words = tt.bitcast %decoy{k} : !tt.ptr<i8> -> !tt.ptr<i32>\n"
        f"      tt.store %decoy{k}_words, %n : !tt.ptr<i32>\n" for k in range(decoys))
    between = (
        f"      %bytes = ttg.global_scratch_alloc {{nbytes = {4 * n} : i32, alignment = {alignment} : i32}} "
        ": !tt.ptr<i8>\n      %words = tt.bitcast %bytes : !tt.ptr<i8> -> !tt.ptr<i32>\n"
        + _pointers(shape, "%words", "to") + _pointers(shape, "%words", "from", "%reversed")
        + f"      tt.store %top, %v : {pointers}\n{allocations}      {statement}\n"
        + f"      %back = tt.load %fromp : {pointers}\n")
    return _module(shape, _load_store(shape, between, result="%back"))


def warp_numbers(shape: Shape, *, statement: str, region: str) -> str:
    """out[i] = number of the warp that holds element i; in a partition of two warps, counted from 0 there."""
    n, tensor, pointers = shape.elements, shape.tensor(), shape.tensor("!tt.ptr<i32>")
    if region == "block":
        body = (f"      %id = {statement}\n" + _pointers(shape, "%out_line", "out")
                + f"      %ids = tt.splat %id : i32 -> {tensor}\n"
                + f"      tt.store %outp, %ids : {pointers}\n")
        return _module(shape, body)
    inner = (f"      %id = {statement}\n"
             f"      %q = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, #w>\n"
             + _pointers(shape, "%place", "q", "%q", "#w")
             + f"      %ids = tt.splat %id : i32 -> tensor<{n}xi32, #w>\n"
             + f"      tt.store %qp, %ids : tensor<{n}x!tt.ptr<i32>, #w>\n")
    body = ("    ttg.warp_specialize(%out_line)\n    default {\n      ttg.warp_yield\n    }\n"
            "    partition0(%place: !tt.ptr<i32>) num_warps(2) {\n" + inner
            + "      ttg.warp_return\n    } : (!tt.ptr<i32>) -> ()\n")
    return _module(shape, body)


def partitions(shape: Shape, *, workers: int, requested: bool) -> str:
    """The default partition yields x, worker k stores element numbers times k + 1 to line k + 1 of the program's
    out, which has 1 + workers lines. Partitions capture a pointer and a number."""
    n, tensor, pointers = shape.elements, shape.tensor(), shape.tensor("!tt.ptr<i32>")
    default = _pointers(shape, "%x_line", "x") + (
        f"      %v = tt.load %xp : {pointers}\n      ttg.warp_yield %v : {tensor}\n")
    regions = "".join(f"""\
    partition{k}(%place{k}: !tt.ptr<i32>, %count{k}: i32) num_warps(2) {{
      %q = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, #w>
      %k = arith.constant {k + 1} : i32
      %skip = arith.muli %count{k}, %k : i32
      %there = tt.addptr %place{k}, %skip : !tt.ptr<i32>, i32
{_pointers(shape, "%there", "q", "%q", "#w")}\
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
            + regions.rstrip("\n") + f" : (!tt.ptr<i32>, i32) -> {tensor}\n"
            + _pointers(shape, "%mine", "out") + f"      tt.store %outp, %r : {pointers}\n")
    return _module(shape, body)


def tokens(shape: Shape, *, groups: int, pending: int, statement: str = "") -> str:
    """out = x, copied in `groups` pieces with tokens, each a group; the piece at `groups - 1 - pending` and those
    before it are read after a wait for `pending` groups, the others after a wait for all. statement: a barrier for
    shared memory behind the first wait, or none."""
    n, tensor, pointers = shape.elements, shape.tensor(), shape.tensor("!tt.ptr<i32>")
    memory = f"!ttg.memdesc<{n}xi32, #shared, #smem, mutable>"
    lines = [f"      %piece = arith.constant {n} : i32\n"]
    for g in range(groups):
        lines.append(f"""\
      %skip{g} = arith.constant {g * n} : i32
      %from{g} = tt.addptr %x_all, %skip{g} : !tt.ptr<i32>, i32
      %to{g} = tt.addptr %out_all, %skip{g} : !tt.ptr<i32>, i32
{_pointers(shape, f"%from{g}", f"f{g}")}{_pointers(shape, f"%to{g}", f"t{g}")}\
      %m{g} = ttg.local_alloc : () -> {memory}
      %c{g} = ttg.async_copy_global_to_local %f{g}p, %m{g} : {pointers} -> {memory}
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
        lines.append(f"      %v{g} = ttg.local_load %m{g} token {token} : {memory} -> {tensor}\n"
                     f"      tt.store %t{g}p, %v{g} : {pointers}\n")
    head = (f"    %wide = arith.constant {n * groups} : i32\n    %first = arith.muli %program, %wide : i32\n"
            "    %x_all = tt.addptr %x, %first : !tt.ptr<i32>, i32\n"
            "    %out_all = tt.addptr %out, %first : !tt.ptr<i32>, i32\n")
    return _module(shape, head + "".join(lines))


def masked(shape: Shape, *, wrapped: str) -> str:
    """One operation under `ttg.mask`, with a predicate that holds where the scalar `flag` is positive. Input of the
    pass that resolves it. load: out = x, or -1; store: out = x, or what stood there; atomic: out += x, or not; copy:
    out = x through shared memory, or -1."""
    n = shape.elements
    tensor, pointers = shape.tensor(), shape.tensor("!tt.ptr<i32>")
    memory = f"!ttg.memdesc<{n}xi32, #shared, #smem, mutable>"
    head = ("    %zero = arith.constant 0 : i32\n    %p = arith.cmpi sgt, %flag, %zero : i32\n"
            f"    %none = arith.constant dense<-1> : {tensor}\n"
            + _pointers(shape, "%x_line", "x") + _pointers(shape, "%out_line", "out"))
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
    tensor, pointers = shape.tensor(), shape.tensor("!tt.ptr<i32>")
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
    tensor = shape.tensor()
    between = "".join(f"      {one}\n" for one in statements) + (
        f"      %one = arith.constant dense<1> : {tensor}\n"
        f"      %sum = arith.addi %v, %one : {tensor}\n")
    return _module(shape, _load_store(shape, between, result="%sum"))
