"""Kernels that must be refused, as cases: what belongs to one, how it is launched, and what a clear refusal is.

The kernel that is refused computes nothing; behind it a kernel stores the number 1, so that a device that still works
is part of the verdict. A kernel that is taken although it is wrong, and an error that says neither what nor where,
are findings.
"""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.backends.device_errors import chain, refusal as spelled
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.records import ArraySpec, Case, Content, Small
from tridiff.fuzz.statements.refused import HEAD, REFUSED
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.fuzz.versions import before
from tridiff.kernels.generated import load
from tridiff.kernels.language.refusal import Refusal

_SIZES = {"rows": 1, "n": 8}
_WRITES = re.compile(r"\b(?:store|atomic_\w+)\((?:x|f)_ptr|\.store\(")
"""What a legal kernel would do to the arrays that it is given: it stands behind a condition that does not hold, since
n is 3 at most."""
_AFTERWARDS = """import triton
import triton.language as tl

@triton.jit
def kernel(out_ptr):
    tl.store(out_ptr, 1)
"""


def refusal_of(case: Case) -> Refusal:
    """The case's program; ValueError for a case without one."""
    if not isinstance(case.program, Refusal):
        raise ValueError(f"{case.target} needs a kernel that is refused")
    return case.program


def case_of(target: str, refusal: Refusal, seed: int) -> Case:
    small = Content(base=Small(seed=seed, low=1, high=3))
    arrays = (ArraySpec(name="x", dtype="i32", dims=("rows", "n"), content=small),
              ArraySpec(name="f", dtype="fp32", dims=("rows", "n"), content=small),
              ArraySpec(name="out", dtype="i32", dims=("rows",)))
    return Case(target=target, sizes=dict(_SIZES), arrays=arrays, program=refusal)


@st.composite
def refusal_cases(draw: st.DrawFn, *, target: str) -> Case:
    """A wrong kernel; its legal relative in one draw of four."""
    row = draw(st.sampled_from(tuple(REFUSED)))
    return case_of(target, Refusal(row=row, mended=draw(st.integers(0, 3)) == 3), draw(st.integers(0, 3)))


def once(target: str, seed: int) -> Iterator[Case]:
    """Every wrong kernel, in an order that the seed decides."""
    names = list(REFUSED)
    Random(seed).shuffle(names)
    for name in names:
        yield case_of(target, Refusal(row=name), 0)


def valid(case: Case) -> bool:
    refusal = refusal_of(case)
    return refusal.row in REFUSED and case.sizes == _SIZES and not case.params and [
        (one.name, one.dtype, one.dims) for one in case.arrays] == [
        (one.name, one.dtype, one.dims) for one in case_of(case.target, refusal, 0).arrays]


def steps(case: Case) -> Iterable[Case]:
    return ()


def mended(case: Case) -> Case:
    """The same kernel without what is wrong: the control."""
    return replace(case, program=replace(refusal_of(case), mended=True))


def source(refusal: Refusal) -> str:
    """The module of a kernel, `kernel`."""
    one = REFUSED[refusal.row]
    lines = (one.legal if refusal.mended else one.text).splitlines()
    if refusal.mended and _WRITES.search(one.legal):
        lines = ["if n > 9:", *(f"    {line}" for line in lines)]
    return HEAD + "".join(f"    {line}\n" for line in [*lines, "tl.store(out_ptr, 1)"])


def run(launch: Launch) -> None:
    """Compile the kernel, which must be refused with a reason; the target's `launch` function."""
    refusal = refusal_of(launch.case)
    one = REFUSED[refusal.row]
    if one.since and before(installed(), one.since):
        raise Declined(f"{refusal.row} is about Triton {one.since} and later")
    kernel: Any = load(source(refusal), name="refusal", fresh=True).kernel
    arguments = {f"{name}_ptr": launch.pointer(name) for name in ("x", "f", "out")} | {"passed": 7, "N": 8}
    if launch.planted == "nothing_refused":
        kernel = load(source(replace(refusal, mended=True)), name="refusal").kernel
    try:
        launch.run(kernel, (1, 1, 1), arguments)
    except Exception as error:
        if refusal.mended:
            raise
        from tridiff.fuzz.backends.launch import LaunchReport

        launch.reports.append(LaunchReport(answers={refusal.row: spelled(error)}))
        if problem := unclear(error, one.says):
            raise Refuted(problem, refusal.row, f"{problem}: {_root(error)!r}"[:600]) from None
        launch.run(load(_AFTERWARDS, name="afterwards").kernel, (1, 1, 1), {"out_ptr": launch.pointer("out")})
        return
    if not refusal.mended:
        raise Refuted("accepted", refusal.row, f"taken although it is wrong: {one.text}")


def _root(error: BaseException) -> BaseException:
    return chain(error)[-1]


def _on_purpose(error: BaseException) -> bool:
    """Whether an error was raised by a statement that says so, with a text, rather than by Python."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return False
    frame = frames[-1]
    last = frame.end_lineno or frame.lineno or 0
    lines = [linecache.getline(frame.filename, number) for number in range(frame.lineno or 0, last + 1)]
    text = "".join(lines).lstrip()
    return bool(str(error)) and text.startswith(("raise", "assert"))


def unclear(error: BaseException, says: str) -> str:
    """What is wrong with a refusal, "" if nothing: it must name a line of the kernel, and either have been raised on
    purpose or name the argument, and give the reason that the row expects."""
    root, every = _root(error), chain(error)
    text = " ".join(str(getattr(one, "error_message", None) or "") if _has_place(one) else str(one) for one in every)
    where = traceback.extract_tb(root.__traceback__)
    function = where[-1].name if where else "?"
    if not any(map(_has_place, every)):
        return f"no line named: {type(root).__name__} in {function}"
    told = re.search(says, f"{text} {type(root).__name__}".lower())
    if not told and not _on_purpose(root):
        return f"unclear: {type(root).__name__} in {function}"
    return "" if told else f"another reason: {type(root).__name__} in {function}"


def _has_place(error: BaseException) -> bool:
    """Whether an error shows a line of the kernel."""
    return getattr(error, "src", None) is not None and hasattr(getattr(error, "node", None), "lineno")


def numpy_answer(case: Case, x: Any, f: Any) -> Any:
    return np.ones(1, np.int32)


def torch_answer(case: Case, x: Any, f: Any) -> Any:
    import torch

    return torch.ones(1, dtype=torch.int32, device=x.device)
