"""Options of the compiler, from the launch to metadata, code, pipeline and command line."""

import os
import re
from functools import partial
from typing import Any
from unittest import mock

import triton
from triton.experimental.gluon._runtime import GluonASTSource

from tridiff.fuzz.launching import texts_unusual
from tridiff.fuzz.launching.apart import answered, tried
from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes import front_end
from tridiff.fuzz.launching.scenes.arguments import kernel
from tridiff.fuzz.launching.spy import spied
from tridiff.fuzz.launching.words import Arguments

TEXTS = {
    "pointwise": """
@triton.jit
def kernel(x, y, out, n, K):
    at = tl.program_id(0) * 256 + tl.arange(0, 256)
    inside = at < n
    a, b = tl.load(x + at, inside), tl.load(y + at, inside)
    tl.device_assert(a < 1e30, "large")
    tl.store(out + at, a * b + a, inside)
""",
    "sum": """
@triton.jit
def kernel(x, y, out, n, K):
    at = tl.arange(0, 64)
    total = tl.sum(tl.load(x + at[:, None] * n + at[None, :]), 1)
    tl.device_assert(n > 0)
    tl.store(out + at, tl.exp(total) * tl.load(y + at) + total)
""",
    "dot": """
@triton.jit
def kernel(x, y, out, n, K):
    m, k = tl.arange(0, 64), tl.arange(0, 32)
    tl.device_assert(n > 0)
    total = tl.zeros((64, 64), tl.float32)
    for start in range(0, K, 32):
        a = tl.load(x + m[:, None] * K + (start + k)[None, :])
        b = tl.load(y + (start + k)[:, None] * n + m[None, :])
        total = tl.dot(a.to(tl.float16), b.to(tl.float16), total)
    tl.store(out + m[:, None] * n + m[None, :], total * total + 1.0)
""",
    "integers": """
@triton.jit
def kernel(x, y, out, n, K):
    at = tl.arange(0, 128)
    a = tl.load(x + at).to(tl.int32)
    tl.device_assert(n > 0)
    tl.store(out + at, (a * n + a - K).to(tl.float32) * 0.5 + 1.0)
""",
    "gluon": """
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.constexpr_function
def bases(blocks):
    return [[1]] * (blocks - 1)

@gluon.jit
def kernel(x, y, out, n, K):
    at = gl.arange(0, 256, layout=gl.BlockedLayout([1], [32], [gl.num_warps()], [0], bases(gl.num_ctas())))
    gl.store(out + at, gl.load(x + at) * gl.load(y + at) + n.to(gl.float32), at < K)
""",
}
KNOBS: dict[str, tuple[str, str, Any]] = {
    "no ptxas optimisation": ("nvidia", "disable_ptxas_opt", True),
    "no lines": ("compilation", "disable_line_info", True),
    "no fusion": ("language", "default_fp_fusion", False),
    "debug": ("runtime", "debug", True),
    "fpsan": ("compilation", "instrumentation_mode", "fpsan"),
    "consan": ("compilation", "instrumentation_mode", "consan"),
    "iisan": ("compilation", "instrumentation_mode", "iisan"),
    "other arch": ("runtime", "override_arch", "sm86"),
}
_ASKED = ("num_warps", "num_stages", "num_ctas", "enable_fp_fusion", "launch_cooperative_grid", "launch_pdl",
          "sanitize_overflow", "enable_reflect_ftz")
_TOLD = (*_ASKED, "maxnreg", "debug", "arch", "warp_size", "shared", "global_scratch_size", "global_scratch_align",
         "profile_scratch_size", "supported_fp8_dtypes", "deprecated_fp8_dot_operand_dtypes",
         "default_dot_input_precision", "allowed_dot_input_precisions", "max_num_imprecise_acc_default",
         "backend_name", "instrumentation_mode", "tmem_size", "triton_version", "ptx_version")


def options(choices: Choices, backend: str) -> Answers:
    """One launch under drawn options and one knob."""
    asked: dict[str, Any] = {name: choices[name] for name in _ASKED}
    if choices["maxnreg"]:
        asked["maxnreg"] = choices["maxnreg"]
    if choices["debug"]:
        asked["debug"] = True
    made = Arguments()
    arrays = [made.make("tensor fp32 0") for _ in range(3)]
    # A name is more than letters.
    user = kernel(TEXTS[str(choices["kernel"])].replace("def kernel", "def kernel_2") + "\nkernel = kernel_2\n")
    knob = KNOBS.get(str(choices["knob"]))
    with bench(int(choices["arch"])) as there, spied() as seen:
        if knob is not None:
            section = getattr(triton.knobs, knob[0])
            if not hasattr(section, knob[1]):
                return {"knob": "there is none"}
            setattr(section, knob[1], knob[2])
        compiled = user[(3,)](*arrays, 64, 128, **asked)
        launch = there.launches[-1]
        load = there.loads[-1]
    metadata, ptx, ttgir = compiled.metadata, compiled.asm["ptx"], compiled.asm["ttgir"]
    return {
        "asked": "; ".join(f"{name}={getattr(metadata, name)}" for name in asked),
        "metadata": "; ".join(f"{name}={getattr(metadata, name, None)}" for name in _TOLD),
        **_head(ptx), "target": "; ".join(re.findall(r"^\.(?:target \w+|address_size \d+)", ptx, re.MULTILINE)),
        "module": _attributes(ttgir), "debug": str(metadata.debug),
        "stages": "; ".join(compiled.asm), "passes": "; ".join(seen.passes), "tools": "; ".join(seen.tools),
        "assertions": str("__assertfail" in ptx), "fused": str(bool(re.search(r"\bfma\.", ptx))),
        "line information": str(".loc" in ptx),
        "launch": f"cooperative={launch.cooperative}; dependent={launch.dependent}", "packed": str(launch.packed),
        "shared": f"{load[2]}", "name": compiled.name}


def amd(choices: Choices, backend: str) -> Answers:
    """What AMD's compiler is asked for, and says to LLVM, for each option and knob."""
    user, chip, knobs = kernel(TEXTS["integers"]), str(choices["chip"]), triton.knobs.amd
    plain = triton.compiler.ASTSource(user, dict.fromkeys(("x", "y", "out"), "*fp32") | {"n": "i32", "K": "i32"})
    parted = GluonASTSource(kernel(texts_unusual.TEXTS["partitions"]), {"x": "*i32", "n": "i32"})

    def told(name: str, value: object, source: Any = plain, chip: str = chip) -> str:
        with knobs.scope(), spied() as asked:
            if hasattr(knobs, name):
                setattr(knobs, name, value)
            made: Any = tried(triton.compile, source, front_end.target(chip), {name: value})
        about = [] if isinstance(made, str) else re.findall(r'"(?!amdgpu-no)[^". ]+"="[^"]*"', made.asm["llir"])
        return f"{about or made} {[getattr(made.metadata, one, 0) for one in _TOLD if about]} {asked}"

    every = [(name, one) for name, value in vars(triton.backends.amd.compiler.HIPOptions(arch=chip)).items()
             for one in {bool: (not value,), int: (1, 2), str: ("cu",)}.get(type(value), ())]
    every += [(name, one) for name in dir(knobs) if name[:3] in ("use", "sca", "buf") for one in (True, False)]
    questions = {str(one): partial(told, *one) for one in every[int(choices["part"])::8]}
    questions["partitions"] = partial(told, "num_warps", 4, parted, "gfx1250")
    with bench():
        triton.knobs.compilation.always_compile = True  # the key of a kernel has not every knob
        return dict(zip(questions, answered([*questions.values()]), strict=True))


_SET = """
OTHER = 3

@triton.jit
def kernel(x, C: tl.constexpr):
    at = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)
    a = tl.load(x + at)
    tl.store(x + at, tl.dot(a, a) * a + (OTHER if C else 3))
"""


def variables(choices: Choices, backend: str) -> Answers:
    """Kernels while variables are set, one of which reads a global value that is no constant."""
    found: Answers = {}
    with bench(), mock.patch.dict(os.environ, dict(one.split("=") for one in str(choices["set"]).split())):
        # Some are read once.
        getattr(triton.knobs, "refresh_knobs", str)()
        for plain in (False, True):
            with spied() as seen:
                made = tried(kernel(_SET).warmup, Arguments().make("tensor fp32 0"), plain, grid=(1,))
            words = re.findall(r"inputPrecision = \w+|fma.rn", str(getattr(made, "asm", made)))
            told = [str(getattr(getattr(made, "metadata", None), name, made)) for name in _TOLD]
            found[str(plain)] = "; ".join((*words, *told, *seen.passes, *seen.tools))
    return found


def _head(ptx: str) -> Answers:
    """Threads, registers and blocks of a cluster that the kernel's head asks for."""
    found = {}
    for name, directive in (("threads", "reqntid"), ("registers", "maxnreg"), ("blocks", "reqnctapercluster")):
        told = re.search(rf"^\s*\.{directive} (\d+)", ptx, re.MULTILINE)
        found[name] = told[1] if told else ""
    return found


def _attributes(ttgir: str) -> str:
    """What the module says it is for."""
    def told(name: str) -> str:
        found = re.search(rf'"?ttg\.{name}"? = "?([\w:]+)', ttgir)
        return found[1] if found else ""

    return f"{told('target')}; warps {told('num-warps')}; blocks {told('num-ctas')}; threads {told('threads-per-warp')}"
