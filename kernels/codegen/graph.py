"""The program graph: loop-level IR as plain data (contract: codegen.md §1 to §12). Imports msgspec only.

A graph says what one fused kernel computes, not how. It iterates over a grid of points: the outer axes x0, x1, ...
and at most one reduction axis r. Every node computes one value at every point of its domain, which is the set of
axes it depends on; nodes are numbered by their position and refer to earlier ones only. Memory is flat: a buffer is
addressed by an index expression that counts elements, so that strides, broadcasts, transpositions and indirect reads
are all expressions.

What holds for a legal graph beyond the types (`tridiff.kernels.codegen.legality` checks it, strategies construct it):

- a `Reduce`, `Scan` or `Sort` takes values and runs along r; a `Reduce` removes r from the domain, the others keep it;
- a value without r may meet values with r again (an epilogue that needs a second pass over r);
- every index is within its buffer wherever its mask holds; every outer point and, unless reduced, every point of r
  stores once to each plain output; different points never store to one element, but for `atomic_add`;
- no undefined behaviour: operands of divisions, shifts and narrowing conversions are guarded by nodes of the graph.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal, get_args

import msgspec
from msgspec import Meta

from tridiff.kernels import lines
from tridiff.kernels.record import Record

MAX_NODES = 96
MAX_DEPTH = 12
"""Nesting of an index expression."""
MAX_ARGS = 8

Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
DType = Annotated[str, Meta(pattern=r"^[a-z0-9]{2,8}\Z")]
"""Triton's name: i1 i8 ... u64 fp8e4nv fp8e5 bf16 fp16 fp32 fp64."""
Value = Annotated[int, Meta(ge=0, lt=MAX_NODES)]
"""An earlier node, by position."""
Text = Annotated[str, Meta(max_length=64)]


def real_number(text: str) -> float:
    """The double that the text of a float constant stands for; ValueError or OverflowError if it is none."""
    return float.fromhex(text) if "0x" in text else float(text)


class _Piece(Record, omit_defaults=True):
    """What JSON tells without the fields that have their default."""


# -- index expressions


class Sym(Record, tag="sym"):
    """An axis (x0, x1, ..., r), a size parameter, or `v12`: the integer value of node 12 (indirect indexing)."""

    name: Name


class Num(Record, tag="num"):
    """An integer constant."""

    value: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]


class Real(Record, tag="real"):
    """A double constant, as text (hexadecimal or decimal)."""

    value: Text


Function = Literal[
    "add", "mul", "neg", "floordiv", "ceildiv", "cleandiv", "mod", "python_mod", "modular_indexing",
    "int_true_div", "float_true_div", "trunc_to_int", "to_float", "floor", "ceiling", "floor_to_int", "ceil_to_int",
    "round_to_int", "round_decimal", "sqrt", "float_pow", "pow_by_natural", "where", "min", "max", "abs",
    "cos", "cosh", "acos", "sin", "sinh", "asin", "tan", "tanh", "atan", "log2",
    "and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge",
]
"""Every node of the expression printer (codegen.md §1); Python's semantics on exact numbers."""


class Apply(Record, tag="apply"):
    """A function of expressions. add, mul, min, max, and, or take two or more arguments, modular_indexing three
    (x, d, m): (x // d) % m for x >= 0."""

    function: Function
    args: Annotated[tuple[Sym | Num | Real | Apply, ...], Meta(min_length=1, max_length=MAX_ARGS)]


Expr = Sym | Num | Real | Apply

_TOKEN = re.compile(r"\s*(?:(?P<sym>[a-z]\w*)(?P<call>\()?|(?P<num>-?[0-9]{1,20})|'(?P<real>[^']*)'|(?P<end>[,)]))")
_DEEPEST = 64
"""Calls within each other in a text, several times what a legal program has; what is deeper may end Python's stack."""
_FUNCTIONS: dict[str, Function] = {name: name for name in get_args(Function)}


def written(expr: Expr) -> str:
    """The text of an expression in files: `add(mul(x0, 63), r)`, reals in quotes."""
    match expr:
        case Sym(name=name):
            return name
        case Num(value=value):
            return str(value)
        case Real(value=text):
            return f"'{text}'"
        case Apply(function=function, args=args):
            return f"{function}({', '.join(map(written, args))})"


def _leaf(token: re.Match[str]) -> Expr:
    """A name, a number or a real, within what is allowed of each."""
    if token["sym"] is not None:
        return msgspec.convert({"name": token["sym"]}, Sym)
    if token["num"] is not None:
        return msgspec.convert({"value": int(token["num"])}, Num)
    return msgspec.convert({"value": token["real"]}, Real)


def read(text: str) -> Expr:
    """The expression of a text as `written` gives it. Raises ValueError for any other."""
    open_calls: list[tuple[str, list[Expr]]] = []
    place = 0
    done: Expr | None = None
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise ValueError(f"no index expression at character {place} of {text[:80]!r}")
        place = token.end()
        if token["call"]:
            open_calls.append((token["sym"], []))
            if len(open_calls) > _DEEPEST:
                raise ValueError("an index expression is nested too deeply")
            continue
        if token["end"]:
            if done is None or not open_calls:
                raise ValueError(f"{token['end']} after nothing in {text[:80]!r}")
            open_calls[-1][1].append(done)
            done = None
            if token["end"] == ",":
                continue
            name, args = open_calls.pop()
            function = _FUNCTIONS.get(name)
            if function is None or len(args) > MAX_ARGS:
                raise ValueError(f"{name} of {len(args)} arguments is no index expression")
            done = Apply(function=function, args=tuple(args))
            continue
        if done is not None:
            raise ValueError(f"two expressions in {text[:80]!r}")
        done = _leaf(token)
    if done is None or open_calls:
        raise ValueError(f"{text[:80]!r} is no whole index expression")
    return done


if TYPE_CHECKING:
    Written = Expr
else:  # Files have an expression as text.
    Written = Expr | str


class _Indexing(_Piece):
    """A node with an expression."""

    def __post_init__(self) -> None:
        for name in ("expr", "index"):
            if isinstance(text := getattr(self, name, None), str):
                msgspec.structs.force_setattr(self, name, read(text))

    def in_files(self) -> dict[str, object]:
        """The expression as text, where it is read back as the same: not one with a quote in a real."""
        found = {name: written(expr) for name in ("expr", "index") if (expr := getattr(self, name, None)) is not None}
        return {name: text for name, text in found.items() if _read_back(text, getattr(self, name))}


def _read_back(text: str, expr: Expr) -> bool:
    try:
        return read(text) == expr
    except ValueError:
        return False


# -- nodes

Fold = Literal["sum", "prod", "max", "min", "any", "all", "xor_sum", "argmax", "argmin", "welford", "welford_combine"]
Joining = Literal["sum", "prod", "max", "min", "logcumsumexp", "affine", "argmax", "argmin", "second"]
Stream = Literal["rand", "randn", "randint64"]
Body = Literal["add_s32", "max_s32", "lop3_xor", "prmt_reverse", "ex2_approx", "popc"]

class Constant(_Piece, kw_only=True, tag="constant"):
    """A typed constant, the same at every point. value: text as in content terms ("-0.0", "nan", "inf", "255")."""

    value: Text
    dtype: DType


class Index(_Indexing, frozen=True, kw_only=True, tag="index"):
    """The value of an index expression at the point, as `dtype` (i32 or i64, i1 for conditions, fp64 for reals)."""

    expr: Written
    dtype: DType = "i64"


class Load(_Indexing, frozen=True, kw_only=True, tag="load"):
    """buffer[index]. mask: an i1 value; where it is false nothing is read and the result is `other`. Without a mask
    every point reads. checked: the index holds an indirect part, which is wrapped once if negative and then
    asserted to be within 0 <= index < length on active lanes."""

    buffer: Name
    index: Written
    mask: Value | None = None
    other: Text = "0"
    checked: bool = False


class Pointwise(_Piece, kw_only=True, tag="op"):
    """An operation of the op table (kernels/pointwise/table.py), by name. Operands have the dtypes the op wants:
    conversions are nodes of their own. With `upcast` halves are computed in fp32 and not rounded between nodes."""

    op: Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_]{0,31}\Z")]
    args: Annotated[tuple[Value, ...], Meta(min_length=1, max_length=3)]


class Cast(_Piece, kw_only=True, tag="cast"):
    """to_dtype, or to_dtype_bitcast between types of one width."""

    arg: Value
    dtype: DType
    bitcast: bool = False


class Masked(_Piece, kw_only=True, tag="masked"):
    """The value where the mask holds, else `other` (of the value's dtype). Nodes that only this node needs are its
    body: their loads are made under the combined mask, and nothing is evaluated elsewhere that could fail."""

    mask: Value
    arg: Value
    other: Text = "0"


class Reduce(_Piece, kw_only=True, tag="reduce"):
    """A fold along r. welford gives three results (mean, m2, weight), argmax and argmin give the index (i64), any and
    all an i1, the others the accumulator type of codegen.md §2. welford_combine takes (mean, m2, weight)."""

    kind: Fold
    args: Annotated[tuple[Value, ...], Meta(min_length=1, max_length=3)]


class Scan(_Piece, kw_only=True, tag="scan"):
    """An inclusive scan along r under an associative combine on tuples. Results: one per argument.

    sum prod max min logcumsumexp: one argument. affine: (a, b) with (a, b) o (c, d) = (a c, b c + d).
    argmax, argmin: (value, index), first index wins, NaN wins. second: the right operand (non-commutative)."""

    combine: Joining
    args: Annotated[tuple[Value, ...], Meta(min_length=1, max_length=2)]


class Sort(_Piece, kw_only=True, tag="sort"):
    """Sort along r (persistent schedules only). Results: values, original positions (i16, r at most 512)."""

    arg: Value
    descending: bool = False
    stable: bool = True


class Bucketize(_Piece, kw_only=True, tag="bucketize"):
    """Position of a value among the sorted boundaries in a buffer (helpers.md §10). sorter: buffer of positions."""

    arg: Value
    boundaries: Name
    size: Annotated[int, Meta(ge=0, le=1 << 16)]
    right: bool = False
    dtype: Literal["i32", "i64"] = "i64"
    sorter: Name | None = None


class Random(_Piece, kw_only=True, tag="random"):
    """The Philox stream (helpers.md §9): seed = element `slot` of an i64 buffer, offset = an integer value."""

    kind: Stream
    seeds: Name
    slot: Annotated[int, Meta(ge=0, le=255)]
    offset: Value
    low: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] = 0
    high: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] = 0


class Asm(_Piece, kw_only=True, tag="asm"):
    """inline_asm_elementwise, one of a fixed set of 32-bit bodies (tridiff.kernels.codegen.assembly)."""

    body: Body
    args: Annotated[tuple[Value, ...], Meta(min_length=1, max_length=3)]
    pure: bool = True


class Part(_Piece, kw_only=True, tag="part"):
    """One result of a node that has several (frexp, welford, scans of tuples, sort)."""

    of: Value
    item: Annotated[int, Meta(ge=0, le=2)]


class Store(_Indexing, frozen=True, kw_only=True, tag="store"):
    """buffer[index] = value, converted to the buffer's dtype. atomic_add adds instead, and may collide."""

    buffer: Name
    index: Written
    value: Value
    mode: Literal["set", "atomic_add"] = "set"


Node = (Constant | Index | Load | Pointwise | Cast | Masked | Reduce | Scan | Sort | Bucketize | Random | Asm | Part
        | Store)

if TYPE_CHECKING:
    WrittenNode = Node
else:  # Files have most of them as text.
    WrittenNode = Node | str

_NODES = (
    ("store", re.compile(r"(?P<buffer>\w+)\[(?P<index>.+)\] = v(?P<value>[0-9]{1,3})")),
    ("load", re.compile(r"(?P<buffer>\w+)\[(?P<index>.+?)\](?: if v(?P<mask>[0-9]{1,3}) else (?P<other>.+))?")),
    ("op", re.compile(r"(?P<op>\w+)\((?P<args>v[0-9]{1,3}(?:, v[0-9]{1,3})*)\)")),
    ("cast", re.compile(r"v(?P<arg>[0-9]{1,3}) (?P<bitcast>to|as) (?P<dtype>\w+)")),
    ("constant", re.compile(r"(?P<value>\S+) (?P<dtype>\w+)")),
)


def node_written(node: Node) -> str:
    """A node as text: `1.5 fp32`, `in0[x0] if v2 else 0.5`, `le(v0, v1)`, `v4 to fp32` (`as`: its bits),
    `out0[x0] = v3`; "" for any other, and where `node_read` does not give it back."""
    match node:
        case Constant():
            text = f"{node.value} {node.dtype}"
        case Load():
            text = f"{node.buffer}[{written(node.index)}]"
            text += "" if node.mask is None else f" if v{node.mask} else {node.other}"
        case Pointwise():
            text = f"{node.op}({', '.join(f'v{one}' for one in node.args)})"
        case Cast():
            text = f"v{node.arg} {'as' if node.bitcast else 'to'} {node.dtype}"
        case Store():
            text = f"{node.buffer}[{written(node.index)}] = v{node.value}"
        case _:
            return ""
    return lines.written(node, text, node_read)


def node_read(text: str) -> Node:
    """The node that a text says; ValidationError if it says none."""
    for kind, pattern in _NODES:
        if found := pattern.fullmatch(text):
            fields: dict[str, object] = {name: one for name, one in found.groupdict().items() if one is not None}
            if "args" in fields:
                fields["args"] = found["args"].removeprefix("v").split(", v")
            if "bitcast" in fields:
                fields["bitcast"] = found["bitcast"] == "as"
            return msgspec.convert({"type": kind, **fields}, Node, strict=False)
    raise msgspec.ValidationError(f"{text[:80]!r} is no node")


# -- how it is to be run

Reduction = Literal["persistent", "looped", "split", "cooperative"]
Role = Literal["in", "out", "inout", "scratch"]

class Schedule(_Piece, kw_only=True):
    """One way to run the graph. Every legal schedule must compute the same values (bit for bit where no float is
    accumulated).

    reduction: persistent (r in one tile), looped, split (several programs per row: scans with look-back), cooperative
    (RSPLIT programs and a grid barrier). x_blocks: block per outer tile axis; two of them tile x in two dimensions.
    no_x_dim: one row per program, without an x axis in the tile. access: pointers, block pointers (Triton 3.6.0) or
    tensor descriptors where an index allows it. static: sizes are literals in the source.
    """

    reduction: Reduction = "persistent"
    x_blocks: Annotated[tuple[Annotated[int, Meta(ge=1, le=4096)], ...], Meta(min_length=1, max_length=3)] = (128,)
    r_block: Annotated[int, Meta(ge=1, le=65536)] = 128
    r_split: Annotated[int, Meta(ge=1, le=256)] = 1
    no_x_dim: bool = False
    index_dtype: Literal["i32", "i64"] = "i32"
    access: Literal["pointers", "block_pointers", "descriptors"] = "pointers"
    static: bool = False
    upcast: bool = True
    """Halves are computed in fp32 and rounded once at the store; otherwise every node rounds."""
    lift_loads: bool = True
    """Loads that do not depend on r are made once, before the loop."""
    eviction: Literal["", "evict_first", "evict_last"] = ""
    unspecialised: bool = False
    """Sizes are passed without divisibility hints and without making 1 a constant."""
    nan_check: bool = False


class Buffer(_Piece, kw_only=True):
    """A kernel argument. length: elements. role: `in`, `out`, `inout` (read and then stored by the same point, or
    accumulated into), `scratch` (workspace that is zero before each launch)."""

    name: Name
    dtype: DType
    length: Annotated[int, Meta(ge=0, le=2**40)]
    role: Role = "in"


Buffers = Annotated[tuple[Buffer, ...], Meta(max_length=24)]


class Graph(_Piece, kw_only=True, tag="graph"):
    """A program. outer: lengths of x0, x1, ...; r: length of the reduction axis, None without one (0 is legal and
    reduces nothing). schedules: the first is the main one, the others are variants."""

    outer: Annotated[tuple[Annotated[int, Meta(ge=0, le=2**31)], ...], Meta(min_length=1, max_length=3)]
    r: Annotated[int, Meta(ge=0, le=2**31)] | None = None
    buffers: Buffers = ()
    nodes: Annotated[tuple[WrittenNode, ...], Meta(max_length=MAX_NODES)]
    schedules: Annotated[tuple[Schedule, ...], Meta(min_length=1, max_length=6)] = (Schedule(),)

    def __post_init__(self) -> None:
        lines.read_within(self, "nodes", node_read)

    def in_files(self) -> dict[str, object]:
        return {"nodes": tuple(node_written(node) or node for node in self.nodes)}
