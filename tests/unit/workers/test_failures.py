"""Exceptions of subjects that compile by themselves become verdicts."""

from collections.abc import Callable

from fuzz.records import Verdict
from fuzz.workers.failures import Declined, Refuted, classify


class InductorError(RuntimeError):
    """Named as torch.compile names what wraps every failure of its code generator."""


class Unsupported(RuntimeError):
    """Named as torch.compile names what its front end refuses."""


def _wrapped(outer: Callable[[str], Exception], inner: Exception) -> BaseException:
    try:
        try:
            raise inner
        except Exception as cause:
            raise outer(f"{type(inner).__name__}: {inner}") from cause
    except Exception as error:
        return error


def test_a_declined_case_is_not_checked_and_keeps_its_reason() -> None:
    found = classify(Declined("no torch expression for the node asm"), "cuda")
    assert (found.verdict, found.reason) == (Verdict.NOT_CHECKED, "no torch expression for the node asm")
    assert not found.spent


def test_failures_of_torch_compile_are_compile_errors_of_its_stages() -> None:
    for outer, stage in ((InductorError, "inductor"), (Unsupported, "dynamo")):
        for backend in ("cuda", "interpreter"):
            found = classify(_wrapped(outer, NotImplementedError("sort of 513 elements")), backend)
            assert (found.verdict, found.where, found.spent) == (Verdict.COMPILE_ERROR, stage, False)
            assert found.kind == "sort of N elements"


def test_an_assertion_on_the_device_is_one_whoever_wraps_it() -> None:
    found = classify(_wrapped(InductorError, RuntimeError("CUDA error: device-side assert triggered")), "cuda")
    assert (found.verdict, found.kind, found.spent) == (Verdict.CRASH, "device_assert", True)


def test_a_refutation_keeps_its_kind_whatever_the_device_says_meanwhile() -> None:
    found = classify(_wrapped(refuted_by_a_sanitizer, RuntimeError("CUDA error: device-side assert triggered")), "cuda")
    assert (found.verdict, found.kind, found.where, found.spent) == (Verdict.DISAGREE, "sanitizer", "consan", True)


def refuted_by_a_sanitizer(message: str) -> Exception:
    return Refuted("sanitizer", "consan", message, spent=True)
