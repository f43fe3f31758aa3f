"""Small graphs that several tests use, and what they compute, worked out by hand."""

from kernels.codegen.graph import (
    Apply,
    Buffer,
    Cast,
    Constant,
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
    Sort,
    Store,
    Sym,
)

X, R = Sym(name="x0"), Sym(name="r")


def apply(function: str, *args: object) -> Apply:
    return Apply(function=function, args=args)  # type: ignore[arg-type]


def at(columns: int) -> Apply:
    """x0 * columns + r: a row-major matrix."""
    return apply("add", apply("mul", X, Num(value=columns)), R)


def graph(*nodes: Node, rows: int, columns: int | None = None, buffers: tuple[Buffer, ...]) -> Graph:
    return Graph(outer=(rows,), r=columns, buffers=buffers, nodes=nodes)


def buffer(name: str, dtype: str, length: int) -> Buffer:
    role = {"in": "in", "ou": "out", "io": "inout"}[name[:2]]
    return Buffer(name=name, dtype=dtype, length=length, role=role)  # type: ignore[arg-type]


def pointwise(op: str, dtype: str, result: str, *, length: int, arity: int) -> Graph:
    """out0[i] = op(in0[i], in1[i], ...)."""
    loads = [Load(buffer=f"in{k}", index=X) for k in range(arity)]
    return graph(*loads, Pointwise(op=op, args=tuple(range(arity))), Store(buffer="out0", index=X, value=arity),
                 rows=length, buffers=(*(buffer(f"in{k}", dtype, length) for k in range(arity)),
                                       buffer("out0", result, length)))


def row_sums_of_a_masked_gather() -> Graph:
    """out0[x] = sum over r of (in0[in1[x, r]] if r >= 1 else -1), where in1 counts from the end if negative."""
    return graph(
        Load(buffer="in1", index=at(3)), Index(expr=apply("ge", R, Num(value=1)), dtype="i1"),
        Load(buffer="in0", index=Sym(name="v0"), checked=True), Masked(mask=1, arg=2, other="-1.0"),
        Reduce(kind="sum", args=(3,)), Store(buffer="out0", index=X, value=4), rows=2, columns=3,
        buffers=(buffer("in0", "fp32", 4), buffer("in1", "i64", 6), buffer("out0", "fp32", 2)))


def sorted_rows_transposed() -> Graph:
    """out0[r, x] = in0[x, r] sorted along r; out1[x, r] = running maxima of it; io0[r % 2] += 1 for every point."""
    return graph(
        Load(buffer="in0", index=at(3)), Sort(arg=0, descending=True), Part(of=1, item=0),
        Scan(combine="sum", args=(2,)), Constant(value="1", dtype="i32"),
        Store(buffer="out0", index=apply("add", apply("mul", R, Num(value=2)), X), value=2),
        Store(buffer="out1", index=at(3), value=3), Index(expr=R, dtype="i32"),
        Store(buffer="io0", index=apply("mod", R, Num(value=2)), value=7, mode="atomic_add"), rows=2, columns=3,
        buffers=(buffer("in0", "fp32", 6), buffer("out0", "fp32", 6), buffer("out1", "fp32", 6),
                 buffer("io0", "i32", 2)))


def halves(*, upcast: bool) -> Graph:
    """out0 = fp16 (in0 * in0 / in0) and out1 = the bits of in0 as i16 + 1."""
    from kernels.codegen.graph import Schedule

    nodes = (
        Load(buffer="in0", index=X), Pointwise(op="mul", args=(0, 0)), Pointwise(op="truediv", args=(1, 0)),
        Store(buffer="out0", index=X, value=2), Cast(arg=0, dtype="i16", bitcast=True),
        Constant(value="1", dtype="i16"), Pointwise(op="add", args=(4, 5)), Store(buffer="out1", index=X, value=6))
    return Graph(outer=(2,), buffers=(buffer("in0", "fp16", 2), buffer("out0", "fp16", 2), buffer("out1", "i16", 2)),
                 nodes=nodes, schedules=(Schedule(upcast=upcast),))
