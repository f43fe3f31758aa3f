"""Exceptions of a launch, sorted into verdicts."""

import re
import traceback
from dataclasses import dataclass
from pathlib import Path

from tridiff.fuzz.backends import FOR_CHIPS, kind
from tridiff.fuzz.backends.device_errors import DEVICE_ASSERTED, chain, too_few_registers, without_assembler
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.records.outcome import NO_ASSEMBLER
from tridiff.fuzz.verdicts import Declined, Refuted, WrittenTwice

_ROOT = Path(__file__).parents[2]
DEVICE = (
    ("illegal memory access", "illegal_address"),
    (DEVICE_ASSERTED, "device_assert"),
    ("misaligned address", "misaligned_address"),
    ("operation not supported on global/shared address space", "wrong_address_space"),
    ("unspecified launch failure", "launch_failure"),
    ("illegal instruction", "illegal_instruction"),
    ("invalid program counter", "illegal_instruction"),
    ("launch timed out", "launch_timeout"),
)


_UPSTREAM = (
    ("inductor", frozenset({"InductorError", "LoweringException", "BackendCompilerFailed"})),
    ("dynamo", frozenset({"Unsupported", "TorchRuntimeError", "InternalTorchDynamoError", "UserError"})),
)
"""Stages of torch.compile, by the types of exception that it wraps its failures in."""


@dataclass(frozen=True)
class Failure:
    """What an exception means. spent: the process can run nothing more."""

    verdict: Verdict
    kind: str
    reason: str
    where: str = ""
    spent: bool = False


_ADVICE = "TORCH_USE_CUDA_DSA"
"""In the last line of torch's account of any CUDA error."""


def normalise(message: str) -> str:
    """The first telling line of a message without paths, numbers of lines, addresses and temporary names,
    so that one defect gives one signature."""
    lines = [text.strip() for text in message.splitlines() if text.strip(" ^\t") and _ADVICE not in text]
    telling = [text for text in lines if re.search(r"error|Error|assert|Assert|failed|invalid|unsupported", text)]
    first = (telling or lines or [""])[-1 if telling and telling[-1] == lines[-1] else 0]
    first = re.sub(r"(/[\w.+-]+)+", "PATH", first)
    first = re.sub(r"0x[0-9a-fA-F]+|\b\d+\b", "N", first)
    return first[:120]


def classify(error: BaseException, backend: str, *, said: str = "", asserted: str = "") -> Failure:
    """The verdict for an exception raised while compiling, launching or waiting. said: the compiler's own diagnostic,
    which tells defects apart that raise the same exception. asserted: text of the assertion that a kernel failed,
    where it is known."""
    chained = chain(error)
    names = {type(one).__name__ for one in chained}
    text = "\n".join(f"{type(one).__name__}: {one}" for one in chained)
    head = f"{type(error).__name__}: {error}"
    if isinstance(error, Refuted):
        reason = f"{error}: {asserted}" if asserted else str(error)
        return Failure(Verdict.DISAGREE, error.kind, reason, where=error.where, spent=error.spent)
    for pattern, device_kind in DEVICE:
        if pattern in text:
            reason = f"CUDA error: {pattern}"
            if asserted and pattern == DEVICE_ASSERTED:
                reason += f": {asserted}"
            return Failure(Verdict.CRASH, device_kind, reason, spent=True)
    if names & {"OutOfBounds"}:
        bounds = next(one for one in chained if type(one).__name__ == "OutOfBounds")
        return Failure(Verdict.DISAGREE, "out_of_bounds", str(bounds), where="memory")
    if isinstance(error, WrittenTwice):
        return Failure(Verdict.DISAGREE, "written_twice", str(error), where=error.where)
    if "NoStandIn" in names:
        return Failure(Verdict.NOT_CHECKED, "NoStandIn", head)
    if isinstance(error, Declined):
        return Failure(Verdict.NOT_CHECKED, "declined", str(error))
    if names & {"OutOfResources"}:
        return Failure(Verdict.NOT_CHECKED, "out_of_resources", head)
    if without_assembler(error):
        return Failure(Verdict.NOT_CHECKED, "no_assembler", NO_ASSEMBLER)
    if too_few_registers(error):
        return Failure(Verdict.NOT_CHECKED, "out_of_resources", "ptxas needs more registers than the limit leaves")
    if names & {"OutOfMemoryError", "MemoryError"} or "out of memory" in text or "can't allocate memory" in text:
        return Failure(Verdict.CRASH, "out_of_memory", head, spent=True)
    if names & {"DeviceAssertion", "DeviceAssertFailed"}:
        return Failure(Verdict.CRASH, "device_assert", head)
    for own in ("BlockTruthValue", "AssumptionViolated", "NeverEndingWait"):
        if own in names:
            return Failure(Verdict.CRASH, own, head, where="interpreter")
    if names & {"CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "PTXASError"} or (
            "PassManager::run failed" in text or "ptxas" in text or "failed to translate" in text):
        if said:
            return Failure(Verdict.COMPILE_ERROR, normalise(said), f"{head}; {said}", where=_stage(text))
        return Failure(Verdict.COMPILE_ERROR, normalise(str(chained[-1] if len(chained) > 1 else error)), head,
                       where=_stage(text))
    for stage, types in _UPSTREAM:
        if names & types:
            return Failure(Verdict.COMPILE_ERROR, normalise(str(chained[-1])), head, where=stage)
    if "CUDA" in text or "Triton Error" in text:
        return Failure(Verdict.CRASH, normalise(str(error)), head, spent=True)
    if what := _ours(error):
        return Failure(Verdict.CRASH, f"tridiff's {what}: {type(error).__name__}: {normalise(str(error))}",
                       f"tridiff itself failed while it {_DOES[what]}, please report it: {head}", where=what)
    if backend == "interpreter":
        inner = chained[-1]
        if isinstance(inner, NameError | SyntaxError):
            return Failure(Verdict.COMPILE_ERROR, type(inner).__name__, head, where="source")
        return Failure(Verdict.CRASH, f"{type(inner).__name__}: {normalise(str(inner))}", head)
    if "error encountered during parsing" in text and said:
        return Failure(Verdict.COMPILE_ERROR, normalise(said), f"{head}; {said}", where="source")
    if kind(backend) in FOR_CHIPS:
        return Failure(Verdict.COMPILE_ERROR, f"{type(error).__name__}: {normalise(str(error))}", head)
    return Failure(Verdict.CRASH, f"{type(error).__name__}: {normalise(str(error))}", head)


_DOES = {"judge": "judged", "evaluator": "evaluated"}


def _ours(error: BaseException) -> str:
    """What of ours raised an exception, no kernel and no compiler taking part: the judge of outputs, or the evaluator
    of IR; "" for others."""
    rooms = [Path(frame.filename).relative_to(_ROOT).parts for frame in traceback.extract_tb(error.__traceback__)
             if Path(frame.filename).is_relative_to(_ROOT)]
    own = [parts[:2] for parts in rooms if parts[0] in ("fuzz", "kernels", "oracles")]
    if own and own[-1] == ("fuzz", "evaluate"):
        return "evaluator"
    # What a known issue predicts is computed by the references of whole programs, and runs no kernel.
    predicted = ("fuzz", "known") in own
    return "judge" if predicted or (own and (own[-1][0] == "oracles" or own[-1] == ("fuzz", "judge"))) else ""


def _stage(text: str) -> str:
    if "ptxas" in text.lower():
        return "ptxas"
    return "passes" if "PassManager" in text else "source"
