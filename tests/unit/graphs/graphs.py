"""Small graphs that several tests use, and what they compute, worked out by hand."""

from msgspec.structs import replace

from tridiff.fuzz.kinds.graphs.arrays import arrays_of
from tridiff.fuzz.records import ArraySpec, Base, Case, Content, LaunchOptions
from tridiff.kernels.codegen.graph import (
    Apply,
    Asm,
    Buffer,
    Cast,
    Constant,
    Expr,
    Graph,
    Index,
    Load,
    Masked,
    Node,
    Num,
    Part,
    Pointwise,
    Reduce,
    Scan,
    Schedule,
    Sort,
    Store,
    Sym,
)

X, R = Sym(name="x0"), Sym(name="r")
ROLES = {"in": "in", "ou": "out", "io": "inout"}
"""What a buffer is for, by the beginning of its name."""


def num(value: int) -> Num:
    return Num(value=value)


def apply(function: str, *args: Expr) -> Apply:
    return Apply(function=function, args=args)


def at(columns: int) -> Apply:
    """x0 * columns + r: a row-major matrix."""
    return apply("add", apply("mul", X, num(columns)), R)


def load(buffer: str, index: Expr = X) -> Load:
    return Load(buffer=buffer, index=index)


def store(buffer: str, index: Expr, value: int) -> Store:
    return Store(buffer=buffer, index=index, value=value)


def op(name: str, *args: int) -> Pointwise:
    """An operation on earlier nodes, by their positions."""
    return Pointwise(op=name, args=args)


def cast(arg: int, dtype: str, *, bitcast: bool = False) -> Cast:
    return Cast(arg=arg, dtype=dtype, bitcast=bitcast)


def constant(value: str, dtype: str) -> Constant:
    return Constant(value=value, dtype=dtype)


def matrix(*nodes: Node, rows: int, columns: int | None = None, **buffers: tuple[str, int]) -> Graph:
    """A graph over rows and columns. buffers: element type and length by name; `ROLES` says what each is for."""
    return Graph(outer=(rows,), r=columns, nodes=nodes, buffers=tuple(
        Buffer(name=name, dtype=dtype, length=length, role=ROLES[name[:2]])
        for name, (dtype, length) in buffers.items()))


def vector(*nodes: Node, length: int = 4, **dtypes: str) -> Graph:
    """A graph whose buffers all have one element per point."""
    return matrix(*nodes, rows=length, **{name: (dtype, length) for name, dtype in dtypes.items()})


def linear(dtype: str, *between: Asm | Cast | Part | Pointwise) -> Graph:
    """in0 through operations to out0, of one dtype."""
    return vector(load("in0"), *between, store("out0", X, len(between)), in0=dtype, out0=dtype)


def of_three(*nodes: Node) -> Graph:
    """A graph that loads three vectors of i32 and stores nothing."""
    return vector(*(load(f"in{k}") for k in range(3)), *nodes, **{f"in{k}": "i32" for k in range(3)})


def case_of(graph: Graph, dtype: str, *, base: Base | None = None, options: LaunchOptions | None = None) -> Case:
    """A case of codegen.pointwise whose graph has in0 and out0."""
    content = Content() if base is None else Content(base=base)
    return Case(target="codegen.pointwise", sizes={"n_in0": 4, "n_out0": 4}, program=graph, arrays=(
        ArraySpec(name="in0", dtype=dtype, dims=("n_in0",), content=content),
        f"out0 {dtype}[n_out0]"), options=options or LaunchOptions())


def filled(graph: Graph, **contents: Base) -> Case:
    """A case of codegen.pointwise whose buffers hold this."""
    arrays, sizes = arrays_of(graph, {name: Content(base=base) for name, base in contents.items()}, {})
    return Case(target="codegen.pointwise", sizes=sizes, arrays=arrays, program=graph)


def pointwise(name: str, dtype: str, result: str, *, arity: int, length: int = 4) -> Graph:
    """out0[i] = name(in0[i], in1[i], ...)."""
    inputs = [f"in{k}" for k in range(arity)]
    return vector(*map(load, inputs), op(name, *range(arity)), store("out0", X, arity), length=length,
                  **dict.fromkeys(inputs, dtype), out0=result)


def row_sums_of_a_masked_gather() -> Graph:
    """out0[x] = sum over r of (in0[in1[x, r]] if r >= 1 else -1), where in1 counts from the end if negative."""
    return matrix(
        load("in1", at(3)), Index(expr=apply("ge", R, num(1)), dtype="i1"),
        Load(buffer="in0", index=Sym(name="v0"), checked=True), Masked(mask=1, arg=2, other="-1.0"),
        Reduce(kind="sum", args=(3,)), store("out0", X, 4), rows=2, columns=3,
        in0=("fp32", 4), in1=("i64", 6), out0=("fp32", 2))


def sorted_rows_transposed() -> Graph:
    """out0[r, x] = in0[x, r] sorted along r; out1[x, r] = running maxima of it; io0[r % 2] += 1 for every point."""
    return matrix(
        load("in0", at(3)), Sort(arg=0, descending=True), Part(of=1, item=0),
        Scan(combine="sum", args=(2,)), constant("1", "i32"),
        store("out0", apply("add", apply("mul", R, num(2)), X), 2), store("out1", at(3), 3), Index(expr=R, dtype="i32"),
        Store(buffer="io0", index=apply("mod", R, num(2)), value=7, mode="atomic_add"), rows=2, columns=3,
        in0=("fp32", 6), out0=("fp32", 6), out1=("fp32", 6), io0=("i32", 2))


def halves(*, upcast: bool) -> Graph:
    """out0 = fp16 (in0 * in0 / in0) and out1 = the bits of in0 as i16 + 1."""
    return replace(vector(
        load("in0"), op("mul", 0, 0), op("truediv", 1, 0), store("out0", X, 2), cast(0, "i16", bitcast=True),
        constant("1", "i16"), op("add", 4, 5), store("out1", X, 6), length=2, in0="fp16", out0="fp16", out1="i16"),
        schedules=(Schedule(upcast=upcast),))
