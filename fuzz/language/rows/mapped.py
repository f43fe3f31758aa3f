"""Functions that the user hands to the language: mapped over elements, as assembly, folded and scanned with several
operands at once.

Sources: docstrings of `tl.map_elementwise`, `tl.inline_asm_elementwise`, `tl.reduce`, `tl.associative_scan`; PTX ISA.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tridiff.fuzz.language.choices import Choices
from tridiff.fuzz.language.row import Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.operators import together
from tridiff.fuzz.language.rows.reductions import axis_of, folded
from tridiff.fuzz.language.texts import arguments
from tridiff.kernels.language.call import Call, Options, Result
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.rules import BIT, NUM0

_Answer = Callable[[Library, Call, Values], Values]


def _device_only(call: Call, backend: str) -> str:
    return "" if backend == "cuda" or backend.startswith("compile:sm") else "the assembly is that of NVIDIA GPUs"


@dataclass(frozen=True)
class _Assembly:
    """One text of assembly for `pack` elements of operands of one type."""

    name: str
    text: str
    constraints: str
    dtypes: tuple[str, ...]
    pack: int
    operands: int
    results: tuple[str, ...]
    """Types of results, "" for that of the operands."""
    answer: _Answer


def _of(op: str) -> _Answer:
    return lambda lib, call, x: (lib.pointwise(op, call.operands[0].dtype, *x),)


def _sum_and_difference(lib: Library, call: Call, x: Values) -> Values:
    return lib.pointwise("add", "i32", *x), lib.pointwise("sub", "i32", *x)


def _wide_product(lib: Library, call: Call, x: Values) -> Values:
    """i64 and the lower half."""
    return (lib.pointwise("mul", "i64", *(lib.cast(one, to="i64") for one in x)), lib.pointwise("mul", "i32", *x))


_ASSEMBLIES = (
    _Assembly("add", "add.s32 $0, $1, $2;", "=r,r,r", ("i32", "u32"), 1, 2, ("",), _of("add")),
    _Assembly("sub64", "sub.s64 $0, $1, $2;", "=l,l,l", ("i64", "u64"), 1, 2, ("",), _of("sub")),
    _Assembly("subs", "sub.s32 $0, $2, $4; sub.s32 $1, $3, $5;", "=r,=r,r,r,r,r", ("i32", "u32"), 2, 2, ("",),
              _of("sub")),
    _Assembly("negate", "neg.s32 $0, $4; neg.s32 $1, $5; neg.s32 $2, $6; neg.s32 $3, $7;", "=r,=r,=r,=r,r,r,r,r",
              ("i32",), 4, 1, ("",), _of("neg_operator")),
    _Assembly("bytes", "xor.b32 $0, $1, $2;", "=r,r,r", ("i8", "u8"), 4, 2, ("",), _of("bitwise_xor")),
    _Assembly("halves", "and.b32 $0, $1, $2;", "=r,r,r", ("i16", "u16"), 2, 2, ("",), _of("bitwise_and")),
    _Assembly("less", "max.f32 $0, $1, $2;", "=f,f,f", ("fp32",), 1, 2, ("",), _of("fmax")),
    _Assembly("two", "add.s32 $0, $2, $3; sub.s32 $1, $2, $3;", "=&r,=r,r,r", ("i32",), 1, 2, ("i32", "i32"),
              _sum_and_difference),
    _Assembly("wide", "mul.wide.s32 $0, $4, $6; mul.wide.s32 $1, $5, $7; mul.lo.s32 $2, $4, $6; mul.lo.s32 $3, $5, $7;",
              "=&l,=&l,=&r,=r,r,r,r,r", ("i32",), 2, 2, ("i64", "i32"), _wide_product),
)
_BY_NAME = {one.name: one for one in _ASSEMBLIES}


def _assembly() -> Row:
    """Elements go to the assembly `pack` at a time; those below 32 bits share registers."""

    def draw(choices: Choices) -> Call:
        chosen = choices.one(_ASSEMBLIES)
        one, shape = choices.dtype(chosen.dtypes), choices.shape(most=512, least=1)
        if Result(dtype=one, shape=shape).elements < chosen.pack:
            shape = (8,)
        first = choices.block(one, shape)
        others = tuple(choices.block(one, choices.often(shape, choices.partner(shape)))
                       for _ in range(chosen.operands - 1))
        return Call(row="tl.inline_asm_elementwise", operands=(first, *others),
                    options={"assembly": chosen.name, "pure": choices.often(True, False)},
                    stored=tuple(name or one for name in chosen.results))

    def text(call: Call) -> str:
        chosen = _BY_NAME[str(call.options["assembly"])]
        types = [TRITON_NAMES[one] for one in call.stored]
        said = types[0] if len(types) == 1 else f"({', '.join(types)})"
        listed = arguments(call) + ("," if len(call.operands) == 1 else "")
        names = ", ".join(f"r{number}" for number in range(len(types)))
        return (f'{names} = tl.inline_asm_elementwise("{chosen.text}", "{chosen.constraints}", ({listed}), '
                f"dtype={said}, is_pure={call.options['pure']}, pack={chosen.pack})")

    return Row(
        name="tl.inline_asm_elementwise", draw=draw, text=text,
        results=of_shape(together),
        answer=lambda call, lib, operands: _BY_NAME[str(call.options["assembly"])].answer(
            lib, call, lib.align(operands)),
        refused=_device_only, rules=lambda call: tuple(NUM0 if one == "fp32" else BIT for one in call.stored))


_FUNCTIONS = {
    "branch": "def _mapped(a, b):\n    if a > b:\n        c = a - b\n    else:\n        c = b * 3\n    return c\n",
    "pair": "def _mapped(a, b):\n    return a + b, a ^ b\n",
    "packed": "def _mapped(a0, a1, b0, b1):\n    return a0 - b0, a1 - b1\n",
    "packed_pair": "def _mapped(a0, a1, b0, b1):\n    return a0 + b0, a1 + b1, b0 - a0, b1 - a1\n",
}


def _mapped(lib: Library, call: Call, x: Values) -> Values:
    one, kind = call.operands[0].dtype, call.options["mapping"]
    difference, total = lib.pointwise("sub", one, *x), lib.pointwise("add", one, *x)
    if kind == "branch":
        larger = lib.pointwise("gt", one, *x)
        return (lib.where(larger, difference, lib.pointwise("mul", one, x[1], 3), computed=one),)
    if kind == "pair":
        return total, lib.pointwise("bitwise_xor", one, *x)
    return (difference,) if kind == "packed" else (total, lib.pointwise("sub", one, x[1], x[0]))


PACKED = 4096
"""Fewest elements of blocks that are packed: every thread needs as many as are packed, and 32 warps of AMD's chips have
2,048 threads."""


def _map_elementwise() -> Row:
    def draw(choices: Choices) -> Call:
        kind = choices.one(tuple(_FUNCTIONS))
        one, shape = choices.dtype(("i32", "i64", "u32", "i16")), choices.shape(most=512)
        if "packed" in kind:
            shape = choices.one(((PACKED,), (2 * PACKED,), (64, PACKED // 64)))
        operands = (choices.block(one, shape), choices.block(one, choices.often(shape, choices.partner(shape))))
        return Call(row="tl.map_elementwise", operands=operands, options={"mapping": kind},
                    stored=(one,) * (2 if "pair" in kind else 1))

    def text(call: Call) -> str:
        names = ", ".join(f"r{number}" for number in range(len(call.stored)))
        packed = ", pack=2" if "packed" in str(call.options["mapping"]) else ""
        if packed and math.prod(together(call)) < PACKED:
            raise ValueError("some thread has fewer elements than are packed")
        if call.options["mapping"] == "packed":
            names += ","
        return f"{names} = tl.map_elementwise(_mapped, x0, x1{packed})"

    return Row(
        name="tl.map_elementwise", draw=draw, text=text,
        definitions=lambda call: f"@triton.jit\n{_FUNCTIONS[str(call.options['mapping'])]}\n",
        results=of_shape(together),
        answer=lambda call, lib, operands: _mapped(lib, call, lib.align(operands)),
        refused=lambda call, backend: "" if backend != "interpreter" else "the interpreter maps no functions",
        rules=lambda call: tuple(BIT for _ in call.stored))


_COMBINE = """@triton.jit
def _three(a, b, c, d, e, f):
    return a + d, tl.minimum(b, e), c ^ f

@triton.jit
def _affine(a, b, c, d):
    return a * c, b * c + d

"""


def _reduce_three() -> Row:
    """Three blocks of three types folded by one function."""

    def draw(choices: Choices) -> Call:
        shape = choices.shape(high=3, most=512)
        types = (choices.dtype(("i32", "u64")), choices.dtype(("fp32", "i16", "fp64")), choices.dtype(("i32", "u8")))
        options: Options = {"axis": choices.whole(0, len(shape) - 1)}
        if choices.flag():
            options["keep_dims"] = choices.flag()
        return Call(row="tl.reduce.three", operands=tuple(choices.block(one, shape) for one in types),
                    options=options, stored=types)

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        said = {"axis": axis_of(call), "keep": bool(call.option("keep_dims"))}
        kinds = ("sum", "min", "xor")
        return tuple(lib.fold(one, kind=kind, **said) for one, kind in zip(operands, kinds, strict=True))

    def text(call: Call) -> str:
        keep = f", keep_dims={call.options['keep_dims']}" if "keep_dims" in call.options else ""
        return f"tl.reduce((x0, x1, x2), {call.options['axis']}, _three{keep})"

    return Row(
        name="tl.reduce.three", covers=("tl.reduce",), draw=draw, text=text,
        definitions=lambda call: _COMBINE, answer=answer,
        results=of_shape(folded),
        rules=lambda call: tuple(NUM0 if one.startswith("fp") else BIT for one in call.stored))


def _affine_scan() -> Row:
    """x -> a x + b composed along an axis: a function that is not commutative, of two blocks."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(("u32", "i32", "u64")), choices.shape(high=3, most=512)
        options: Options = {"axis": choices.whole(0, len(shape) - 1)}
        if choices.flag():
            options["reverse"] = choices.flag()
        return Call(row="tl.associative_scan.affine", operands=(choices.block(one, shape), choices.block(one, shape)),
                    options=options, stored=(one, one))

    def text(call: Call) -> str:
        back = f", reverse={call.options['reverse']}" if "reverse" in call.options else ""
        return f"tl.associative_scan((x0, x1), {call.options['axis']}, _affine{back})"

    return Row(
        name="tl.associative_scan.affine", covers=("tl.associative_scan",), draw=draw, text=text,
        definitions=lambda call: _COMBINE,
        answer=lambda call, lib, operands: lib.affine_scan(
            *operands, axis=call.number("axis"), reverse=bool(call.option("reverse"))))


ROWS = (_assembly(), _map_elementwise(), _reduce_three(), _affine_scan())
