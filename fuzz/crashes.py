"""What the last words of a compiler or a driver mean: which program failed, at what, and a key without its numbers.

Each rule stands beside the line that it was made for, as it was seen in a log; tests hold rules and lines together.
"""

import re
from dataclasses import dataclass
from typing import Literal

Source = Literal["llvm", "mlir", "triton", "ptxas", "cuda", "python", "system"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """pattern: of a line; its group `what`, if there is one, tells failures of this kind apart. line: what it was made
    for. key: what it gives for that line. near: lines that look alike and are not of this kind. known: whether it names
    the failure itself; otherwise it is only the frame around one, and the others are asked first."""

    name: str
    source: Source
    pattern: str
    line: str
    key: str
    near: tuple[str, ...] = ()
    known: bool = True


@dataclass(frozen=True, kw_only=True)
class Crash:
    """rule: which one fits. key: equal for equal failures, whatever the shapes, names and addresses. line: as found."""

    rule: str
    source: Source
    key: str
    line: str


RULES = (
    Rule(name="llvm-assertion", source="llvm",
         pattern=r"llvm-project/llvm/(?P<file>[\w./+-]+\.\w+):\d+: (?:.*?: )?Assertion `(?P<what>.*)' failed",
         line="python: /__w/triton/triton/llvm-project/llvm/lib/IR/Instructions.cpp:3210: static CastInst "
              "*llvm::CastInst::CreateFPCast(Value *, Type *, const Twine &, InsertPosition): Assertion `(C->getType() "
              "== Ty || SrcBits != DstBits) && \"Invalid cast\"' failed.",
         key="Instructions.cpp: (C->getType() == Ty || SrcBits != DstBits) && \"Invalid cast\"",
         near=("python: /project/lib/Dialect/TritonGPU/IR/Dialect.cpp:2176: f(): Assertion `size == llSize' failed.",)),
    Rule(name="mlir-assertion", source="mlir",
         pattern=r"llvm-project/mlir/(?P<file>[\w./+-]+\.\w+):\d+: (?:.*?: )?Assertion `(?P<what>.*)' failed",
         line="python3: /source/llvm-project/mlir/include/mlir/IR/Operation.h:512: T f(): "
              "Assertion `idx < size()' failed.",
         key="Operation.h: idx < size()",
         near=("python3: /source/llvm-project/llvm/lib/IR/Constants.cpp:963: f(): Assertion `x' failed.",)),
    Rule(name="triton-assertion", source="triton",
         pattern=r"(?P<file>[\w./+-]+\.(?:cpp|h|hpp|cc|inc|td)):\d+: (?:.*?: )?Assertion `(?P<what>.*)' failed",
         line="python: /project/lib/Dialect/TritonGPU/IR/Dialect.cpp:2176: LinearLayout mlir::triton::gpu::"
              "SharedLinearEncodingAttr::toLinearLayout(ArrayRef<int64_t>) const: Assertion `size == llSize' failed.",
         key="Dialect.cpp: size == llSize",
         near=("AssertionError: Assertion `x' failed", "main.cu:12: kernel: block: [0,0,0], thread: [0,0,0] Assertion "
               "`index` failed.")),
    Rule(name="llvm-fatal", source="llvm", pattern=r"LLVM ERROR: (?P<what>.*)",
         line="LLVM ERROR: Cannot select: t34: v2bf16 = vselect t33, t12, t20", key="Cannot select: v2bf16 = vselect",
         near=("LLVM WARNING: Cannot select", "error: LLVM failed")),
    Rule(name="does-not-dominate", source="mlir", pattern=r"error: (?P<what>operand #\d+ does not dominate this use)",
         line="kernel.py:9:21: error: operand #1 does not dominate this use",
         key="operand #N does not dominate this use",
         near=("note: operand defined here (op in the same block)",)),
    Rule(name="op-verifier", source="mlir", pattern=r"error: '(?P<op>[a-z_]+\.[\w.]+)' op (?P<what>.*)",
         line="<unknown>:0: error: 'llvm.call' op operand type mismatch for operand 0: 'i32' != 'i16'",
         key="llvm.call: operand type mismatch for operand N: T != T",
         near=("error: failed to legalize operation 'tt.scan' that was explicitly marked illegal",)),
    Rule(name="not-legalised", source="mlir",
         pattern=r"error: failed to legalize (?:unresolved materialization|operation '(?P<what>[\w.]+)')",
         line="kernel.py:12:8: error: failed to legalize operation 'tt.scan' that was explicitly marked illegal",
         key="tt.scan", near=("remark: failed to legalize nothing",)),
    Rule(name="layout-not-inferred", source="triton",
         pattern=r"error: (?P<what>failed to infer (?:return type|encoding).*)",
         line="kernel.py:7:16: error: failed to infer encoding", key="failed to infer encoding",
         near=("error: inferred encoding differs",)),
    Rule(name="rounding-mode", source="triton", pattern=r"error: (?P<what>Unsupported rounding mode for conversion.*)",
         line="kernel.py:7:16: error: Unsupported rounding mode for conversion.",
         key="Unsupported rounding mode for conversion.", near=("Rounding mode for conversion is supported",)),
    Rule(name="pass-manager", source="mlir", pattern=r"PassManager::run failed", known=False,
         line="RuntimeError: PassManager::run failed", key="PassManager::run failed",
         near=("PassManager::run succeeded",)),
    Rule(name="translation", source="mlir", pattern=r"failed to translate module to LLVM IR",
         line="RuntimeError: failed to translate module to LLVM IR", key="failed to translate module to LLVM IR",
         near=("translated module to LLVM IR",)),
    Rule(name="module-parse", source="mlir", pattern=r"error encountered during parsing", known=False,
         line="RuntimeError: error encountered during parsing", key="error encountered during parsing",
         near=("no error during parsing",)),
    Rule(name="ptxas-internal", source="ptxas",
         pattern=r"(?:ptxas (?:fatal|error)\s*: (?P<what>Internal error.*)|ptxas.*?(?:Segmentation fault|Aborted))",
         line="ptxas fatal   : Internal error: unexpected instruction in instruction scheduler",
         key="Internal error: unexpected instruction in instruction scheduler",
         near=("ptxas info    : Used 30 registers",)),
    Rule(name="ptxas-refusal", source="ptxas",
         pattern=r"ptxas (?:\S+, line \d+; )?(?:error|fatal)\s*: (?P<what>(?!Ptx assembly aborted).*)",
         line="ptxas /tmp/tmpq1w2e3.ptx, line 214; error   : Feature 'cvt.e4m3x2' requires .target sm_89 or higher",
         key="Feature 'cvt.eNmNxN' requires .target sm_N or higher",
         near=("ptxas info    : 0 bytes gmem", "ptxas fatal   : Ptx assembly aborted due to errors")),
    Rule(name="ptxas-aborted", source="ptxas", pattern=r"Ptx assembly aborted due to errors", known=False,
         line="ptxas fatal   : Ptx assembly aborted due to errors", key="Ptx assembly aborted due to errors",
         near=("Ptx assembly finished",)),
    Rule(name="ptxas-killed", source="ptxas", pattern=r"`ptxas` failed with error code (?P<what>-?\d+)",
         line="`ptxas` failed with error code -11", key="-11", known=False,
         near=("`ptxas` stderr:",)),
    Rule(name="cuda-misaligned", source="cuda", pattern=r"CUDA.*: (?P<what>misaligned address)",
         line="RuntimeError: Triton Error [CUDA]: misaligned address", key="misaligned address",
         near=("warning: misaligned address in source",)),
    Rule(name="cuda-illegal-address", source="cuda",
         pattern=r"CUDA.*: (?P<what>an illegal memory access was encountered)",
         line="torch.AcceleratorError: CUDA error: an illegal memory access was encountered",
         key="an illegal memory access was encountered", near=("illegal memory access pattern in docs",)),
    Rule(name="cuda-assert", source="cuda",
         pattern=r"thread: \[\d+,\d+,\d+\] Assertion `(?P<what>.*?)` failed",
         line="/tmp/kernel.py:12: kernel: block: [3,0,0], thread: [17,0,0] Assertion `index out of bounds: 0 <= tmp4 < "
              "12` failed.", key="index out of bounds: N <= tmpN < N",
         near=("CUDA kernel errors might be asynchronously reported; device-side assertions",)),
    Rule(name="cuda-assert-triggered", source="cuda",
         pattern=r"CUDA.*: (?P<what>device-side assert triggered)", known=False,
         line="CUDA error: device-side assert triggered", key="device-side assert triggered",
         near=("Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",)),
    Rule(name="cuda-instruction", source="cuda",
         pattern=r"CUDA.*: (?P<what>an illegal instruction was encountered|invalid program counter)",
         line="RuntimeError: Triton Error [CUDA]: an illegal instruction was encountered",
         key="an illegal instruction was encountered", near=("an illegal instruction was removed",)),
    Rule(name="cuda-launch-failure", source="cuda", pattern=r"CUDA.*: (?P<what>unspecified launch failure)",
         line="RuntimeError: Triton Error [CUDA]: unspecified launch failure", key="unspecified launch failure",
         near=("launch failed",)),
    Rule(name="cuda-timeout", source="cuda", pattern=r"CUDA.*: (?P<what>the launch timed out and was terminated)",
         line="RuntimeError: Triton Error [CUDA]: the launch timed out and was terminated",
         key="the launch timed out and was terminated", near=("launch took long",)),
    Rule(name="out-of-resources", source="triton", pattern=r"OutOfResources: (?P<what>out of resource: [\w ]+)",
         line="triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 262144, Hardware limit: "
              "232448.", key="out of resource: shared memory", near=("resources are sufficient",)),
    Rule(name="no-answer", source="system", pattern=r"no answer within [\d.]+ s of stage (?P<what>\w+)",
         line="no answer within 90 s of stage compile; the worker was killed", key="compile",
         near=("an answer within 90 s of stage compile",)),
    Rule(name="killed-by", source="system", pattern=r"the worker ended with (?P<what>\w+) at stage \w+", known=False,
         line="the worker ended with SIGSEGV at stage compile", key="SIGSEGV", near=("the worker ended",)),
    Rule(name="compilation-error", source="python",
         pattern=r"(?:CompilationError|CompileTimeAssertionFailure): at (?:\d+:\d+|.*?:\d+:\d+):?(?P<what>.*)",
         known=False, line="triton.compiler.errors.CompilationError: at 9:12:", key="",
         near=("CompilationError is raised",)),
    Rule(name="exception", source="python",
         pattern=r"^(?P<kind>(?:\w+\.)*\w*(?:Error|Exception|Failure))(?:\(['\"]|: )(?P<what>.*)", known=False,
         line="ValueError: Cannot bitcast data-type of size 8 to data-type of size 32",
         key="ValueError: Cannot bitcast data-type of size N to data-type of size N",
         near=("    raise ValueError(message)",)),
)
"""In the order in which they are asked; frames around a failure come after the failures."""


def signature(log: str) -> Crash | None:
    """What a log says, by the first rule that fits some line of it; rules that know the failure come first."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    for known in (True, False):
        for rule in RULES:
            if rule.known is not known:
                continue
            for line in lines:
                found = re.search(rule.pattern, line)
                if found:
                    return Crash(rule=rule.name, source=rule.source, key=_key(found), line=line[:500])
    return None


def _key(found: re.Match[str]) -> str:
    groups = found.groupdict()
    what = groups.get("what")
    if what is None:
        return found[0] if "what" not in groups else ""
    front = [groups[name] for name in ("kind", "op", "file") if groups.get(name)]
    parts = [front[0].rpartition("/")[2].rpartition("\\")[2]] if front else []
    return ": ".join([*parts, without_numbers(what)]).strip()


def without_numbers(text: str) -> str:
    """The text without what differs from case to case: value numbers, types, shapes, addresses, names of values."""
    text = re.sub(r"%[\w.$#-]+", "%V", text)
    text = re.sub(r"'(?:!?[a-z]\w*<.*?>|(?:[iuf]|bf)\d+|f8E\w+|!llvm\.\S+|vector<.*?>)'", "T", text)
    text = re.sub(r"0x[0-9a-fA-F]+", "N", text)
    select = re.match(r"(Cannot select: )(?:0x\w+: |t\d+: )?([\w]+(?:,\w+)*) = (\w+(?:::\w+)*)", text)
    if select:
        return f"{select[1]}{select[2]} = {select[3]}"
    if re.fullmatch(r"-?\d+|SIG\w+", text.strip()):
        return text.strip()
    return re.sub(r"\d+", "N", text).strip()[:200]
