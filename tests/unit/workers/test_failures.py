"""Exceptions of subjects that compile by themselves become verdicts."""

from collections.abc import Callable

import pytest
import torch

from tests.support.cases import calling
from tests.unit.graphs.graphs import linear, op
from tests.unit.workers.fake_target import FakeRunner, double
from tridiff.fuzz.backends.device_errors import asserted_on_the_device, plainly
from tridiff.fuzz.known.graphs.form import changed
from tridiff.fuzz.records import LaunchOptions, Verdict
from tridiff.fuzz.records.outcome import PERHAPS_TRAPPED, TRAPPED
from tridiff.fuzz.registry import find
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.fuzz.workers.execute import Attempt
from tridiff.fuzz.workers.failures import Failure, classify
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.by_torch.language import cast

each = pytest.mark.parametrize


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


def test_a_declined_case_is_not_checked_and_keeps_its_reason():
    found = classify(Declined("no torch expression for the node asm"), "cuda")
    assert (found.verdict, found.reason) == (Verdict.NOT_CHECKED, "no torch expression for the node asm")
    assert not found.spent


def test_failures_of_torch_compile_are_compile_errors_of_its_stages():
    for outer, stage in ((InductorError, "inductor"), (Unsupported, "dynamo")):
        for backend in ("cuda", "interpreter"):
            found = classify(_wrapped(outer, NotImplementedError("sort of 513 elements")), backend)
            assert (found.verdict, found.where, found.spent) == (Verdict.COMPILE_ERROR, stage, False)
            assert found.kind == "sort of N elements"


def test_an_assertion_on_the_device_is_one_whoever_wraps_it():
    found = classify(_wrapped(InductorError, RuntimeError("CUDA error: device-side assert triggered")), "cuda")
    assert (found.verdict, found.kind, found.spent) == (Verdict.CRASH, "device_assert", True)


def test_advice_about_assertions_is_no_assertion():
    advice = "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."
    for said, kind in (("misaligned address", "misaligned_address"), ("an illegal memory access", "illegal_address"),
                       ("unspecified launch failure", "launch_failure"),
                       ("operation not supported on global/shared address space", "wrong_address_space")):
        error = RuntimeError(f"CUDA error: {said} was encountered\n{advice}")
        found = classify(error, "cuda")
        assert (found.verdict, found.kind, found.spent) == (Verdict.CRASH, kind, True)
        assert not asserted_on_the_device(error)


def test_errors_of_the_device_that_have_no_kind_of_their_own_are_told_apart_by_what_they_say():
    advice = ("Search for `cudaErrorUnknown' in https://docs.nvidia.com for more information.\n"
              "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
              "might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
              "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n")
    kinds = [classify(RuntimeError(f"CUDA error: {said}\n{advice}"), "cuda").kind
             for said in ("hardware stack error", "unknown error")]
    assert kinds == ["CUDA error: hardware stack error", "CUDA error: unknown error"]


def test_the_text_of_an_assertion_is_the_reason():
    error = RuntimeError("Triton Error [CUDA]: device-side assert triggered")
    assert asserted_on_the_device(_wrapped(RuntimeError, error))
    assert classify(error, "cuda", asserted="index out of range").reason.endswith("triggered: index out of range")
    reported = classify(refuted_by_a_sanitizer("the sanitizer stopped it"), "cuda", asserted="Deadlock detected")
    assert reported.reason == "the sanitizer stopped it: Deadlock detected"


def test_a_refutation_keeps_its_kind_whatever_the_device_says_meanwhile():
    found = classify(_wrapped(refuted_by_a_sanitizer, RuntimeError("CUDA error: device-side assert triggered")), "cuda")
    assert (found.verdict, found.kind, found.where, found.spent) == (Verdict.DISAGREE, "sanitizer", "consan", True)


def test_what_an_installation_lacks_is_not_checked():
    found = classify(_wrapped(RuntimeError, RuntimeError("Cannot find ptxas")), "cuda")
    assert (found.verdict, found.kind) == (Verdict.NOT_CHECKED, "no_assembler") and not found.spent
    assert classify(RuntimeError("Cannot find a layout; ptxas was not run"), "cuda").verdict is Verdict.COMPILE_ERROR
    library = "cannot open shared object file: No such file or directory"
    amd = OSError(f"/usr/lib/python3/dist-packages/triton/backends/amd/lib/libamdhip64.so: {library}")
    assert classify(_wrapped(RuntimeError, amd), "compile:gfx942").verdict is Verdict.NOT_CHECKED
    other = OSError(f"/home/me/libmine.so: {library}")
    assert classify(_wrapped(RuntimeError, other), "compile:gfx942").verdict is Verdict.COMPILE_ERROR


def test_a_limit_of_registers_that_ptxas_cannot_keep_is_not_checked():
    error = RuntimeError("Internal Triton PTX codegen error\n`ptxas` stderr:\nptxas-blackwell fatal : (C7602) "
                         "Insufficient registers (32) to compile instruction at line 434 in function kernel. Try to "
                         "compile with register target of 62 or higher.")
    found = classify(_wrapped(RuntimeError, error), "cuda")
    assert (found.verdict, found.kind) == (Verdict.NOT_CHECKED, "out_of_resources") and not found.spent
    other = classify(RuntimeError("`ptxas` stderr: Insufficient registers"), "cuda")
    assert (other.verdict, other.where) == (Verdict.COMPILE_ERROR, "ptxas")


def refuted_by_a_sanitizer(message: str) -> Exception:
    return Refuted("sanitizer", "consan", message, spent=True)


@each("backend", ["cuda", "interpreter"])
def test_an_error_where_outputs_are_judged_is_tridiffs_own(backend: str):
    with pytest.raises(Exception, match="unknown dtype") as raised:
        cast(torch.zeros(2), to="no such type")
    try:
        torch.zeros(2) + torch.zeros(3)
    except RuntimeError as error:
        assert classify(error, backend).where == ""
    with pytest.raises(KeyError) as of_a_prediction:
        changed(linear("i32"), {0: (op("abs", 0), op("add", 7))})
    for one in (raised, of_a_prediction):
        found = classify(one.value, backend)
        assert (found.verdict, found.where) == (Verdict.CRASH, "judge")
        assert found.reason.startswith("tridiff itself failed while it judged, please report it: ")


@each("dtype, values, debug, verdict, said", [
    ("u32", ("4294967295", "1"), True, Verdict.AGREE, "the trap behind"),
    ("u32", ("3", "1"), True, Verdict.CRASH, "CUDA"),
    ("u32", ("4294967295", "1"), False, Verdict.CRASH, "CUDA"),
    ("i32", ("2147483647", "-1", "1"), True, Verdict.CRASH, PERHAPS_TRAPPED)])
def test_a_launch_that_failed_for_no_said_reason_is_right_where_an_assertion_is_due_alone(
        dtype: str, values: tuple[str, ...], debug: bool, verdict: Verdict, said: str):
    """The last sum leaves i32 in one order and not in the other."""
    call = Call(row="overflow.fold", operands=(Operand(dtype=dtype, shape=(len(values),)),), stored=(dtype,),
                options={"axis": 0, "by": "sum"})
    case = calling(call, {"x0": values}, options=LaunchOptions(debug=debug, sanitize_overflow=True))
    target = find(case.target)
    attempt = Attempt(case, target, parse_subject("own", target), "cuda", torch.device("cpu"), FakeRunner(double),
                       lambda name: None, False, None)
    stopped = Failure(Verdict.CRASH, "launch_failure", "CUDA error: unspecified launch failure", spent=True)
    outcome = attempt.failed(stopped)
    assert outcome.verdict is verdict and outcome.reason.startswith(said)
    assert (TRAPPED in outcome.cells) == (verdict is Verdict.AGREE), "and it is counted"
    assert outcome.verdict.failed == (outcome.signature is not None and outcome.signature.kind == "launch_failure")


def test_a_text_without_addresses_keeps_names_of_files_whole():
    """A name that is drawn by chance has 0x in it one time in some hundred."""
    assert plainly("ptxas /tmp/some.folder/tmpq0x3fab.ptx; at 0x7f31\n ends") == "ptxas tmpq0x3fab.ptx, at ends"
    unlike = "'<' not supported between instances of '{}' and '{}'"
    assert plainly(unlike.format("str", "module")) == plainly(unlike.format("module", "str")) == unlike.format(
        "module", "str")
