"""Hypothesis strategies of programs and of the cases around them."""

from collections.abc import Sequence

from hypothesis import assume, strategies as st

from tridiff.fuzz.records import Case, Content, Finite, LaunchOptions, Mixture, Small, Sprinkle
from tridiff.fuzz.statements import cases, control, passages
from tridiff.fuzz.statements.draft import Draft
from tridiff.fuzz.target import Limits
from tridiff.kernels.language.call import Operand, Result
from tridiff.kernels.language.script import Node, Script
from tridiff.oracles.dtypes import FLOATS, INTEGERS, dtype

_SHAPES: tuple[tuple[int, ...], ...] = ((16,), (4, 8), (8,), (2, 2, 4), (32,), (16, 2), (1,), (4, 1))
_ROWS = (4, 1, 2, 7, 8)
_WARPS = (4, 1, 2)
_SEEDS = st.integers(0, 2**32 - 1)
MOST_RESULTS = 4
POINTED = (*INTEGERS, *FLOATS)


@st.composite
def statement_cases(draw: st.DrawFn, *, target: str, limits: Limits) -> Case:
    """A program of nested statements on a batch of independent rows."""
    d = Draft(draw, limits)
    shape = d.one(_SHAPES)
    operands = _operands(d, shape)
    body: list[Node] = []
    for _ in range(2):
        body += control.assign(d, d.one((shape, ())))
    for _ in range(d.whole(1, 4)):
        if d.rarely(3):
            body += passages.idiom(d, d.one((shape, ())), "statements")
        else:
            body += control.statement(d, control.DEEPEST, d.one((shape, ())))
    return finished(d, target, operands, body)


@st.composite
def function_cases(draw: st.DrawFn, *, target: str, limits: Limits) -> Case:
    """A program that calls functions of every kind, some with drawn bodies."""
    d = Draft(draw, limits)
    shape = d.one(_SHAPES)
    operands = _operands(d, shape)
    functions = [passages.function(d) for _ in range(d.whole(0, 2))]
    body = control.assign(d, ())
    for _ in range(d.whole(2, 5)):
        if functions and d.rarely(3):
            body += passages.invocation(d, d.one((shape, ())))
        elif d.rarely(3):
            body += passages.record(d, d.one((shape, ())))
        else:
            body += passages.idiom(d, d.one((shape, ())), "functions")
    if d.flag():
        body += control.statement(d, 2, shape)
    return finished(d, target, operands, body, functions)


@st.composite
def pointer_cases(draw: st.DrawFn, *, target: str, limits: Limits) -> Case:
    """A program that reads its operands by pointer arithmetic."""
    d = Draft(draw, limits)
    operands = [Operand(kind="block", dtype=d.one(POINTED), shape=(d.one((16, 8, 1, 64)),)),
                Operand(kind="block", dtype=d.one(POINTED), shape=(d.one((16, 2)),)),
                *(Operand(kind="scalar", dtype=d.one(INTEGERS)) for _ in range(3))]
    for number, one in enumerate(operands):
        d.define(f"x{number}", (one.dtype, one.shape))
    body = passages.row_pointers(d, {number: (one.dtype, one.shape[0]) for number, one in enumerate(operands)
                                     if one.shape})
    for _ in range(d.whole(2, 5)):
        body += passages.idiom(d, (), "pointers")
    if d.rarely(3):
        body += control.statement(d, 2, ())
    return finished(d, target, operands, body)


def _operands(d: Draft, shape: tuple[int, ...]) -> list[Operand]:
    """A block, two scalars, perhaps a line of the block's last axis, perhaps constants."""
    every = (*INTEGERS, *FLOATS)
    operands = [Operand(kind="block", dtype=d.one(every), shape=shape),
                Operand(kind="scalar", dtype=d.one(INTEGERS)), Operand(kind="scalar", dtype=d.one(every))]
    if len(shape) > 1:
        operands.append(Operand(kind="block", dtype=d.one(every), shape=shape[1:]))
    for number, one in enumerate(operands):
        d.define(f"x{number}", (one.dtype, one.shape))
    if d.flag():
        value = d.one((3, 1, 0, 16, 255, -1, 2**31))
        d.env[f"C{len(operands)}"] = value
        operands.append(Operand(kind="constexpr", dtype="i32", number=str(value)))
    return operands


def finished(d: Draft, target: str, operands: list[Operand], body: list[Node],
             functions: Sequence[Node] = ()) -> Case:
    """The case of a drawn body: what is stored, what arrays hold, how it is compiled."""
    names = [name for name in d.tensors() if name[0] in "vk"][-MOST_RESULTS:]
    results = tuple(Result(dtype=d.env[name].name, shape=d.env[name].shape) for name in names)
    script = Script(operands=tuple(operands), functions=tuple(functions), body=tuple(body), stored=tuple(names),
                    results=results)
    assume(not cases.problem(script))
    rows = d.one(_ROWS)
    given = {f"x{number}": _content(d, one) for number, one in enumerate(operands) if one.given}
    options = LaunchOptions(num_warps=d.one(_WARPS), enable_fp_fusion=False)
    return Case(target=target, sizes=cases.sizes_of(script, rows), program=script,
                arrays=cases.arrays_of(script, given), options=options)


def _content(d: Draft, operand: Operand) -> Content:
    """Numbers of every size. NaNs are left to calls, where the contract says what each function makes of one."""
    seed = d.draw(_SEEDS)
    if not dtype(operand.dtype).is_float:
        bases: tuple[Mixture | Small, ...] = (Mixture(seed=seed), Small(seed=seed, low=0, high=9), Small(seed=seed))
        return Content(base=d.one(bases))
    sizes: tuple[Small | Finite, ...] = (Small(seed=seed), Finite(seed=seed))
    base = d.one(sizes)
    special = Sprinkle(values=_SPECIAL[operand.dtype], seed=seed, per_mille=200)
    return Content(base=base, overrides=(special,) if d.rarely(3) else ())


_SPECIAL = {name: ("0.0", "inf", "-inf", str(dtype(name).max), str(dtype(name).min), "1.0") for name in FLOATS}
