"""Functions that only Gluon has, or that take a layout there: blocks made in a layout, layouts chosen by the compiler,
products of operands in the layouts of their instruction."""

from collections.abc import Callable
from typing import Any

from tridiff.fuzz.language.choices import EVERY, NUMBERS, Choices
from tridiff.fuzz.language.row import NOT_INTERPRETED, Library, Row, Values, of_shape
from tridiff.fuzz.language.rows.movement import _expanded
from tridiff.kernels.language.call import Call, Operand, Options, Result
from tridiff.kernels.language.gluon import LAYOUTS
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM, SET, Rule


def _not_interpreted(call: Call, backend: str) -> str:
    return NOT_INTERPRETED if backend == "interpreter" else ""


def _row(name: str, covers: tuple[str, ...], draw: Callable[[Choices], Call], text: Callable[[Call], str],
         shape: Callable[[Call], tuple[int, ...]], answer: Callable[[Call, Library, Values], Any],
         loads: bool = True) -> Row:
    return Row(
        name=name, covers=covers, draw=draw, text=text, loads=loads, gluon=True,
        refused=_not_interpreted, results=of_shape(shape),
        answer=lambda call, lib, operands: (answer(call, lib, operands),),
        rules=lambda call: (NUM if dtype(call.stored[0]).is_float else BIT,))


def _way(choices: Choices) -> Options:
    return {"layout": choices.whole(0, LAYOUTS - 1)}


def _filled(name: str, text: Callable[[Call], str], *, zero: bool) -> Row:
    """A block of one number, by its own shape and layout or by those of another block."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(NUMBERS), choices.shape(high=3)
        number = Operand(kind="number", dtype="i32", number="0") if zero else choices.number(like=one)
        return Call(row=name, operands=(choices.block(one, shape), number), stored=(one,), options=_way(choices))

    def answer(call: Call, lib: Library, operands: Values) -> Any:
        count = Result(dtype="i8", shape=call.operands[0].shape).elements
        return lib.rows_of(operands[0], operands[0].shape[0], [operands[1]] * count, to=call.stored[0],
                           shape=call.operands[0].shape)

    return _row(name, (name,), draw, text, lambda call: call.operands[0].shape, answer)


def _said(call: Call) -> tuple[str, str, str]:
    shape = call.operands[0].shape
    return str(list(shape)), TRITON_NAMES[call.stored[0]], f"L{len(shape)}"


def _full(call: Call) -> str:
    shape, name, layout = _said(call)
    return f"tl.full({shape}, {call.operands[1].number}, {name}, layout={layout})"


def _zeros(call: Call) -> str:
    shape, name, layout = _said(call)
    return f"tl.zeros({shape}, {name}, {layout})"


def _same(name: str, covers: tuple[str, ...], text: Callable[[Call], str], *, dtypes: tuple[str, ...] = EVERY,
          high: int = 1, loads: bool = True) -> Row:
    """What gives its operand back."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(dtypes), choices.shape(high=high)
        return Call(row=name, operands=(choices.block(one, shape),), stored=(one,), options=_way(choices))

    return _row(name, covers, draw, text, lambda call: call.operands[0].shape, lambda call, lib, x: x[0], loads)


def _loaded_in(layout: str) -> Callable[[Call], str]:
    """Loaded in a layout that the compiler chooses, and taken over into one that is named."""
    def text(call: Call) -> str:
        count = call.operands[0].shape[0]
        return (f"found = tl.load(x0_ptr + program * x0_pitch + tl.arange(0, {count}, layout={layout}))\n"
                "r0 = tl.set_auto_layout(found, L1)")

    return text


def _linear(call: Call) -> str:
    shape, rank = list(call.operands[0].shape), len(call.operands[0].shape)
    return f"tl.convert_layout(tl.convert_layout(x0, tl.to_linear_layout(L{rank}, {shape})), L{rank})"


def _expand_dims() -> Row:
    """A new axis, of a block in a slice of the layout that results."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(EVERY), choices.shape(high=3)
        options = _way(choices) | {"axis": choices.whole(0, len(shape)), "back": choices.flag()}
        return Call(row="gl.expand_dims", operands=(choices.block(one, shape),), stored=(one,), options=options)

    def text(call: Call) -> str:
        rank, axis = len(call.operands[0].shape) + 1, call.number("axis")
        sliced = f"tl.convert_layout(x0, tl.SliceLayout({axis}, L{rank}))"
        return f"tl.expand_dims({sliced}, {axis - rank if call.options['back'] else axis})"

    return _row("gl.expand_dims", ("gl.expand_dims",), draw, text, _expanded,
                lambda call, lib, x: lib.reshape(x[0], shape=_expanded(call)))


def _arange() -> Row:
    def draw(choices: Choices) -> Call:
        length, start = choices.one([1 << power for power in range(11)]), choices.often(0, 3, 128)
        return Call(row="gl.arange", operands=(Operand(dtype="i32", shape=(1,)),), stored=("i32",),
                    options=_way(choices) | {"start": start, "end": start + length})

    def shape(call: Call) -> tuple[int, ...]:
        return (call.number("end") - call.number("start"),)

    return _row("gl.arange", ("gl.arange",), draw,
                lambda call: f"tl.arange({call.options['start']}, {call.options['end']}, layout=L1)", shape,
                lambda call, lib, x: lib.rows_of(x[0], x[0].shape[0], list(range(
                    call.number("start"), call.number("end"))), to="i32", shape=shape(call)))


def _split() -> Row:
    """The two halves of pairs that each thread holds together."""

    def draw(choices: Choices) -> Call:
        one, length = choices.dtype(EVERY), choices.one((1, 2, 8, 64, 256))
        return Call(row="gl.split", operands=(choices.block(one, (length, 2)),), stored=(one, one),
                    options=_way(choices))

    return Row(
        name="gl.split", draw=draw, gluon=True, refused=_not_interpreted,
        text=lambda call: "tl.split(tl.convert_layout(x0, tl.BlockedLayout([1, 2], [32, 1], [tl.num_warps(), 1], "
                          "[1, 0])))",
        results=of_shape(lambda call: call.operands[0].shape[:1]),
        answer=lambda call, lib, operands: (lib.half(operands[0], number=0), lib.half(operands[0], number=1)))


def _dot_fma() -> Row:
    """A product of matrices by fused multiplications and additions."""

    def draw(choices: Choices) -> Call:
        m, n, k = (choices.one((16, 32)) for _ in range(3))
        return Call(row="gl.dot_fma", stored=("fp32",), options=_way(choices), operands=(
            choices.block("fp32", (m, k)), choices.block("fp32", (k, n)), choices.block("fp32", (m, n))))

    def text(call: Call) -> str:
        left, right = (f"tl.convert_layout(x{number}, tl.DotOperandLayout({number}, L2, 0))" for number in (0, 1))
        return f"tl.dot_fma({left}, {right}, x2)"

    def bounds(call: Call, operands: Values) -> Values:
        from tridiff.fuzz.language.rows.products import bound_of_dot

        return (bound_of_dot(operands, precision="ieee"),)

    return Row(
        name="gl.dot_fma", draw=draw, text=text, gluon=True, bounds=bounds,
        refused=_not_interpreted, answer=lambda call, lib, operands: (lib.products.candidates(*operands),),
        results=lambda call, version: (Result(dtype="fp32", shape=call.operands[2].shape),),
        rules=lambda call: (SET(_dot_rule()),), contents=lambda call: ("moderate", "moderate", "moderate"))


def _dot_rule() -> Rule:
    from tridiff.oracles.bounded import RULES

    return RULES["dot_bound"]


ROWS = (
    _filled("gl.full", _full, zero=False), _filled("gl.zeros", _zeros, zero=True),
    _filled("gl.zeros_like", lambda call: "tl.zeros_like(x0)", zero=True),
    _filled("gl.full_like", lambda call: f"tl.full_like(x0, {call.operands[1].number})", zero=False),
    _arange(), _expand_dims(), _split(), _dot_fma(),
    _same("gl.set_auto_layout", ("gl.set_auto_layout", "gl.AutoLayout"), _loaded_in("tl.AutoLayout()"), loads=False,
          dtypes=NUMBERS),
    _same("gl.CoalescedLayout", ("gl.CoalescedLayout",), lambda call: "\n".join([
        f"place = x0_ptr + program * x0_pitch + tl.arange(0, {call.operands[0].shape[0]}, layout=tl.CoalescedLayout())",
        "r0 = tl.load(place)"]), loads=False, dtypes=NUMBERS),
    _same("gl.to_linear_layout", ("gl.to_linear_layout",), _linear, high=3),
    _same("gl.num_warps", ("gl.num_warps", "gl.num_ctas", "gl.bank_conflicts"), lambda call: "\n".join([
        "r0 = x0", f"shared = tl.allocate_shared_memory({TRITON_NAMES[call.stored[0]]}, "
        f"{list(call.operands[0].shape)}, tl.SwizzledSharedLayout(1, 1, 1, [0]))",
        "tl.static_assert(tl.num_ctas() == 1)", "tl.static_assert(tl.num_warps() <= 32)",
        "tl.static_assert(tl.bank_conflicts(x0.type, shared.type) >= 0)", "r0 = x0"]), dtypes=("i32", "fp32")),
)
