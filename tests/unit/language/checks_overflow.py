"""Checked arithmetic in the interpreter: right where the front end is, caught where it or the kernel is wrong."""

import functools
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from triton.language import semantic

from tests.support.draws import draws
from tridiff.fuzz.language.boundaries import boundary_cases
from tridiff.fuzz.records import Case, Outcome, Verdict
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.execute import Executor
from tridiff.kernels.language.emit import CHECKED_FAULTS

LIMITS = Limits(elements=1 << 8, rows=8, variants=False)
EDITS = {
    "swapped bounds": ("self.less_equal(ret, max_value), self.greater_equal(ret, min_value)",
                       "self.less_equal(ret, min_value), self.greater_equal(ret, max_value)"),
    "bounds of i32 for all": ("max_value = lhs_sca_ty.get_int_max_value()", "max_value = 2**31 - 1"),
    "no lower bound": ("min_value = lhs_sca_ty.get_int_min_value()", "min_value = -2**62"),
    "computed in its own type": (
        "        lhs = self.cast(lhs, tl.int64)\n        rhs = self.cast(rhs, tl.int64)\n", ""),
    "32 bits unchecked": ("lhs.type.scalar.int_bitwidth >= 64 or", "lhs.type.scalar.int_bitwidth >= 32 or"),
    "products unchecked": ("self.binary_op_sanitize_overflow_impl(input, other, self.mul)", "pass"),
    "differences as sums": ("self.binary_op_sanitize_overflow_impl(input, other, self.sub)",
                            "self.binary_op_sanitize_overflow_impl(input, other, self.add)"),
    "whatever is asked": ("int_bitwidth >= 64 or not self.builder.options.sanitize_overflow:", "int_bitwidth >= 64:"),
}
HARMLESS = (" overflow detected for operation {", " overflow seen by operation {")
METHODS = ("add", "sub", "mul", "binary_op_sanitize_overflow_impl")


@contextmanager
def edited(before: str, after: str) -> Iterator[None]:
    """The arithmetic of a copy of Triton's semantics in which one text is another one."""
    text = inspect.getsource(semantic)
    assert before in text, before
    copy = dict(vars(semantic))
    exec(compile(text.replace(before, after), "edited", "exec"), copy)
    own = {name: vars(semantic.TritonSemantic)[name] for name in METHODS}
    for name in METHODS:
        setattr(semantic.TritonSemantic, name, vars(copy["TritonSemantic"])[name])
    try:
        yield
    finally:
        for name, method in own.items():
            setattr(semantic.TritonSemantic, name, method)


@functools.cache
def drawn(number: int) -> list[Case]:
    return draws(boundary_cases(target="language.overflow", limits=LIMITS), number, seed=4)


def outcomes(number: int, subject: str = "own") -> Iterator[Outcome]:
    executor = Executor(backend="interpreter")
    return (executor.execute(one, subject, backend="interpreter")[0] for one in drawn(number))


def stopped(found: list[Outcome]) -> int:
    return sum(one.verdict is Verdict.AGREE and "as it must" in one.reason for one in found)


def check_assertions_come_where_they_are_due_and_nowhere_else():
    found = list(outcomes(150))
    assert not any(one.verdict.failed for one in found), [one.reason for one in found if one.verdict.failed]
    assert stopped(found) > 10 and sum(one.verdict is Verdict.AGREE for one in found) > 100


def check_faults_in_the_kernel_are_caught():
    for fault in CHECKED_FAULTS:
        caught = (one for one in outcomes(80, f"own+fault:{fault}") if one.verdict.failed)
        assert len(list(islice(caught, 2))) == 2, fault


def check_faults_in_the_front_end_are_caught():
    for name, edit in EDITS.items():
        with edited(*edit):
            assert any(one.signature is not None and one.signature.kind in ("assertion_missing", "device_assert")
                       for one in outcomes(60)), name


def check_another_message_is_no_finding():
    with edited(*HARMLESS):
        found = list(outcomes(60))
    assert not any(one.verdict.failed for one in found) and stopped(found)
