"""Functions of Triton's Python layer that are called without a kernel."""

import dataclasses
import inspect
from functools import partial
from random import Random
from types import SimpleNamespace
from typing import Any

import triton

from tridiff.fuzz.backends.device_errors import plainly, refusal
from tridiff.fuzz.launching.apart import answered
from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.expressions import EXPRESSIONS, HEAD, NAMES
from tridiff.fuzz.launching.named import by_name
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.spoil import variants

CHANGED = 16
"""Changed texts of an expression."""


def versions(choices: Choices, backend: str) -> Answers:
    """PTX and LLVM features that a CUDA release stands for."""
    from triton.backends.nvidia import compiler

    release = str(choices["cuda"])
    arch = int(choices["arch"])
    try:
        ptx = str(compiler.ptx_get_version(release))
    except Exception as error:
        ptx = f"refused {type(error).__name__}"
    options = compiler.CUDAOptions(arch=f"sm{arch}", ptx_version=int(choices["ptx"]))
    return {"ptx": ptx, "chip": compiler.sm_arch_from_capability(arch),
            "features": compiler.get_features(options, arch),
            "own": str(compiler.get_ptx_version_from_options(options, arch)),
            "tool": compiler.get_ptxas(arch).path.rpartition("/")[2]}


def hashes(choices: Choices, backend: str) -> Answers:
    """Whether an option that differs makes another hash of the options."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    name, value = str(choices["name"]), choices["value"]
    back = make_backend(GPUTarget("cuda", choices["arch"], 32))
    plain = back.parse_options({})
    if name not in {one.name for one in dataclasses.fields(plain)}:
        return {"differs": "there is none"}
    changed = {"bool": not getattr(plain, name), "number": 8, "text": "other"}[str(value)]
    try:
        other = back.parse_options({name: changed})
    except Exception as error:
        return {"differs": f"refused {type(error).__name__}"}
    return {"differs": str(other.hash() != plain.hash()), "equal": str(back.parse_options({}).hash() == plain.hash()),
            "kept": str(getattr(other, name) == changed), "backend": back.hash().rpartition("-")[2],
            "target": back.get_target_name(plain), "ending": back.binary_ext}


def cells(choices: Choices, backend: str) -> Answers:
    """Helpers for users."""
    a, b = int(choices["a"]), int(choices["b"])
    from triton.runtime.jit import MockTensor, mangle_type

    mock = MockTensor(triton.language.float32, [a, b, 3])
    return {"cdiv": str(triton.cdiv(a, b)), "power": str(triton.next_power_of_2(a)),
            "mock": f"{mock.stride()} {mock.data_ptr()} {mock.shape}",
            "mangled": "; ".join(str(mangle_type(one)) for one in (a, 1.0, True, None, (a, 2.0)))}


def clock(choices: Choices, backend: str) -> Answers:
    """What a listener is told of the time that a compilation took, by a clock of which every look is twice as late."""
    from triton.compiler import compiler

    ticks = iter([float(1 << number) for number in range(12)])
    kept = compiler.time
    compiler.time = SimpleNamespace(time=lambda: next(ticks))
    try:
        timer = compiler.CompileTimer()
        if choices["begun"]:
            timer.finished_ir_initialization()
        for number in range(int(choices["stages"])):
            timer.stage_finished(f"stage {number}")
        times = timer.end()
    finally:
        compiler.time = kept
    return {"begin": str(times.ir_initialization), "store": str(times.store_results),
            "stages": "; ".join(f"{name} {one}" for name, one in times.lowering_stages),
            "total": f"{times.total_lowering} {times.total}"}


def expressions(choices: Choices, backend: str) -> Answers:
    """One expression of a user's, and changed ones: what each gives, or why it does not."""
    name = str(choices["expression"])
    luck = Random(f"{name} {choices['draw']}")
    texts = variants(EXPRESSIONS[name], luck, NAMES, changed=CHANGED)
    with bench():
        # What all share is made before the process is copied.
        names: dict[str, Any] = {"__file__": ""}
        exec(HEAD, names)
        texts["by name"] = by_name(EXPRESSIONS[name], lambda text: (eval(text, names), 0))
        found = answered([partial(given_by, text, names) for text in texts.values()])
    return dict(zip(texts, found, strict=True)) | {"by name": f"{found[-1]} of {texts['by name']}"}


def given_by(text: str, names: dict[str, Any]) -> str:
    """What an expression gives, or its refusal. names: that are in scope."""
    try:
        return plainly(repr(eval(text, names)))
    except Exception as error:
        return refusal(error)


def types(choices: Choices, backend: str) -> Answers:
    """What an element type says of itself: every public attribute, and every method that takes nothing."""
    one = getattr(triton.language, str(choices["type"]))
    found = {}
    for name in dir(one):
        value = getattr(type(one), name, None)
        if name.startswith("_") or isinstance(value, type):
            continue
        value = getattr(one, name)
        try:
            if callable(value):
                if inspect.signature(value).parameters:
                    continue
                value = value()
            found[name] = getattr(value, "name", str(value))
        except Exception as error:
            found[name] = f"refused {type(error).__name__}"
    return found


def launcher(choices: Choices, backend: str) -> Answers:
    """How the driver spells types."""
    with bench():
        driver = triton.runtime.driver.active
        kinds = ("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "f32",
                 "fp64", "*fp32", "*i8", "nvTmaDesc", "tensordesc<fp32[16,16]>")
        found = []
        for kind in kinds:
            try:
                found.append(f"{kind} {driver.map_python_to_cpp_type(kind)}")
            except Exception as error:
                found.append(f"{kind} {type(error).__name__}")
        target = driver.get_current_target()
    return {"types": "; ".join(found), "target": f"{target.backend} {target.arch} {target.warp_size}"}
