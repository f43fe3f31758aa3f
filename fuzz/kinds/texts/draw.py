"""Hypothesis strategies of kernels written as TTGIR text and of the cases around them."""

from typing import Any

from hypothesis import assume, strategies as st

from tridiff.fuzz.kinds.fields import values
from tridiff.fuzz.kinds.texts import cases
from tridiff.fuzz.records import Case
from tridiff.fuzz.strategies import contents
from tridiff.fuzz.target import Limits
from tridiff.kernels.ttgir.text import (
    MOST_GROUPS,
    Barrier,
    ClusterBarrier,
    Form,
    Mailbox,
    Masked,
    Partitions,
    PredicateStage,
    Text,
    Tokens,
    WarpNumbers,
    problem,
)

FORMS: tuple[type[Form], ...] = (Barrier, Mailbox, WarpNumbers, Partitions, Tokens, Masked, PredicateStage)
_ELEMENTS = (1024, 128, 256, 512, 2048)
_MOST = 1 << 18
"""Elements of one array, so that judging stays quick."""


@st.composite
def text_cases(draw: st.DrawFn, *, target: str, forms: tuple[type[Form], ...], limits: Limits) -> Case:
    """One form with its parameters; rows are programs."""
    kind = draw(st.sampled_from(forms))
    form = _form(draw, kind)
    whole = isinstance(form, Partitions) or (isinstance(form, WarpNumbers) and form.region == "partition")
    text = Text(form=form, elements=draw(st.sampled_from(_ELEMENTS)), each=draw(st.sampled_from((1, 2, 4))),
                warps=draw(st.sampled_from((4, 8) if whole else (4, 1, 2, 8))))
    assume(not problem(text))
    most = min(4 * limits.elements, _MOST) // ((text.lines or 1) * text.elements)
    programs = draw(st.sampled_from([p for p in (1, 2, 7, 64, 264) if p == 1 or p <= min(most, limits.rows)]))
    given = {"x": draw(contents(dtype="i32")), "initial": draw(contents(dtype="i32"))}
    return Case(target=target, sizes=cases.sizes_of(text, programs), arrays=cases.arrays_of(text, given), program=text,
                options=cases.options_of(text), repeats=draw(st.integers(0, 2)))


def _form(draw: Any, kind: type[Form]) -> Form:
    def one(name: str) -> Any:
        return draw(st.sampled_from(values(kind, name)))

    if kind is Barrier:
        return Barrier(spaces=one("spaces"))
    if kind is Mailbox:
        return Mailbox(alignment=one("alignment"), decoys=draw(st.integers(0, 3)))
    if kind is WarpNumbers:
        return WarpNumbers(hint=one("hint"), region=one("region"))
    if kind is Partitions:
        return Partitions(workers=draw(st.integers(1, 3)), requested=one("requested"))
    if kind is Tokens:
        groups = draw(st.integers(1, 5) | st.integers(6, MOST_GROUPS))
        pending = draw(st.integers(0, 4) | st.integers(5, MOST_GROUPS - 1))
        return Tokens(groups=groups, pending=min(pending, groups - 1))
    if kind is Masked:
        return Masked(wrapped=one("wrapped"), flag=one("flag"), stages=draw(st.integers(1, 4)))
    if kind is PredicateStage:
        stages = draw(st.integers(2, 5))
        return PredicateStage(stages=stages, trips=draw(st.integers(1, 2 * stages)))
    return ClusterBarrier(relaxed=one("relaxed"), fence=one("fence"))
