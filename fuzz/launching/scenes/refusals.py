"""What a launch must refuse, and say why."""

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from tridiff.fuzz.backends.device_errors import chain, plainly, without_assembler
from tridiff.fuzz.launching.bench import Bench, bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes.arguments import kernel
from tridiff.fuzz.launching.vocabulary import MISSPELT
from tridiff.fuzz.verdicts import Declined
from tridiff.oracles.dtypes import torch_dtype

_TEXT = "@triton.jit\ndef kernel(first, second, C: tl.constexpr):\n    tl.static_assert(C > 0, 'too small')\n"
_LARGE = """
@triton.jit
def kernel(first, second, C: tl.constexpr):
    m = tl.arange(0, 128)
    a = tl.load(first + m[:, None] * 128 + m[None, :]).to(tl.float16)
    tl.store(first + m[:, None] * 128 + m[None, :], tl.dot(a, tl.trans(a)))
"""


def _data(dtype: str = "fp32") -> Any:
    return torch.zeros(64, dtype=torch_dtype(dtype))


def _out_of(shared: bool) -> Callable[[Any, Bench], Any]:
    def run(user: Any, there: Bench) -> Any:
        if shared:
            there.max_shared = 16
        large = kernel(_LARGE)
        return large[(1,)](_data(), 1, 3, **({} if shared else {"num_warps": 32, "maxnreg": 64}))

    return run


def _wide(user: Any, there: Bench) -> Any:
    triton.autotune(configs=[triton.Config({"C": 3})], key=["third"])(user)


def _overridden(user: Any) -> Any:
    triton.knobs.runtime.override_arch = "9.0"
    return user[(1,)](_data(), 1, 3)


def _with_option(name: str, user: Any, there: Bench) -> None:
    user[(1,)](_data(), 1, 3, **{name: 4})


_WAYS: dict[str, tuple[str, Callable[[Any, Bench], Any]]] = {
    "nothing": ("", lambda user, there: user[(1,)](_data(), 1, 3)),
    "missing argument": ("second", lambda user, there: user[(1,)](_data(), C=3)),
    "missing constant": ("C", lambda user, there: user[(1,)](_data(), 1)),
    "too many arguments": ("", lambda user, there: user[(1,)](_data(), 1, 3, 4)),
    **{name: (name, partial(_with_option, name)) for name in MISSPELT},
    "unknown keyword": ("third", partial(_with_option, "third")),
    "given twice": ("first", lambda user, there: user[(1,)](_data(), 1, 3, first=4)),
    "no grid": ("", lambda user, there: user(_data(), 1, 3)),
    "an object": ("", lambda user, there: user[(1,)](object(), 1, 3)),
    "more than 64 bits": ("", lambda user, there: user[(1,)](_data(), 2**64, 3)),
    "less than 64 bits": ("", lambda user, there: user[(1,)](_data(), -(2**63) - 1, 3)),
    "three warps": ("num_warps", lambda user, there: user[(1,)](_data(), 1, 3, num_warps=3)),
    "no warps": ("num_warps", lambda user, there: user[(1,)](_data(), 1, 3, num_warps=0)),
    "a device": ("device", lambda user, there: user[(1,)](_data(), 1, 3, device=0)),
    "a stream": ("stream", lambda user, there: user[(1,)](_data(), 1, 3, stream=0)),
    "failed assertion": ("too small", lambda user, there: user[(1,)](_data(), 1, 0)),
    "text": ("", lambda user, there: user[(1,)]("text", 1, 3)),
    "complex": ("", lambda user, there: user[(1,)](1j, 1, 3)),
    "complex array": ("complex", lambda user, there: user[(1,)](torch.zeros(1, dtype=torch.complex64), 1, 3)),
    "shared memory": ("shared memory", _out_of(True)),
    "a list of keywords": ("more", lambda user, there: kernel("@triton.jit\ndef kernel(a, **more):\n    pass\n")),
    "constant not specialised": ("", lambda user, there: kernel(
        '@triton.jit(do_not_specialize=["C"])\ndef kernel(C: tl.constexpr):\n    pass\n')[(1,)](3)),
    "constant not aligned": ("", lambda user, there: kernel(
        '@triton.jit(do_not_specialize_on_alignment=["C"])\ndef kernel(C: tl.constexpr):\n    pass\n')[(1,)](3)),
    "wrong name to tune": ("third", _wide),
    "two targets": ("", lambda user, there: kernel(
        "@triton.jit\ndef kernel(a):\n    b = c = a\n")[(1,)](3)),
    "starred": ("", lambda user, there: kernel(
        "@triton.jit\ndef kernel(a):\n    b, *c = a, a, a\n")[(1,)](3)),
    "numbered signature": ("tring", lambda user, there: ASTSource(user, {0: "*fp32", 1: "i32", 2: "constexpr"})),
    "no backend": ("", lambda user, there: triton.compile(
        ASTSource(user, {"first": "*fp32", "second": "i32", "C": "constexpr"}, {"C": 3}),
        target=GPUTarget("nothing", 90, 32))),
    "no number": ("", lambda user, there: triton.compile(
        ASTSource(user, {"first": "*fp32", "second": "i32", "C": "constexpr"}, {"C": 3}),
        target=GPUTarget("cuda", "ninety", 32))),
    "no such chip": ("sm", lambda user, there: _overridden(user)),
    "assembler's option": ("PTXAS", lambda user, there: user[(1,)](_data(), 1, 3, ptx_options="--nothing")),
    "a function": ("", lambda user, there: kernel(
        "def plain(a):\n    return a\n\n@triton.jit\ndef kernel(a):\n    b = plain(a)\n")[(1,)](3)),
    "no such arch": ("", lambda user, there: triton.compile("nothing.ttir", target="sm_90")),
    "no such file": ("nothing", lambda user, there: triton.compile("nothing.ttir")),
}
_OLD_CHIP: dict[str, tuple[str, Callable[[Any, Bench], Any]]] = {
    "blocks together": ("num_ctas", lambda user, there: user[(1,)](_data(), 1, 3, num_ctas=2)),
    "fp8": ("fp8e4nv", lambda user, there: user[(1,)](_data("fp8e4nv"), 1, 3)),
}


def refusals(choices: Choices, backend: str) -> Answers:
    """One launch that cannot be."""
    way = str(choices["way"])
    named, run = (_WAYS | _OLD_CHIP)[way]
    with bench(80 if way in _OLD_CHIP else 90) as there:
        try:
            run(kernel(_TEXT), there)
        except Exception as error:
            if without_assembler(error):
                # What an installation lacks is no refusal.
                raise Declined("this installation has no ptxas for the chip") from error
            text = " ".join(str(one) for one in chain(error))
            frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
            return {"refused": "True", "named": str(named in text), "as": type(error).__name__,
                    "temporary": there.left(),
                    "compiler's frames": str(any(one.endswith("code_generator.py") for one in frames)),
                    # What comes behind that is a command with names of files, which are never the same twice.
                    "text": plainly(str(error).partition("Repro")[0].replace(str(there.folder), ""))[:200]}
        return {"refused": "False", "named": "True", "launches": str(len(there.launches))}


_DESCRIPTORS: dict[str, Callable[[], Any]] = {
    "nothing": lambda: _descriptor(),
    "no rank": lambda: _descriptor(shape=[], strides=[], block_shape=[]),
    "six axes": lambda: _descriptor(shape=[1] * 6, strides=[32, 32, 32, 32, 32, 1], block_shape=[16] * 6),
    "ranks": lambda: _descriptor(strides=[1]),
    "block's rank": lambda: _descriptor(block_shape=[16]),
    "address": lambda: _descriptor(base=torch.zeros(4096)[1:]),
    "stride": lambda: _descriptor(strides=[30, 1]),
    "last stride": lambda: _descriptor(strides=[32, 2]),
    "empty": lambda: _descriptor(shape=[0, 32]),
    "padding": lambda: _descriptor(padding="one"),
    "integer's padding": lambda: _descriptor(base=torch.zeros(4096, dtype=torch.int32), padding="nan"),
    "rounded half": lambda: _descriptor(base=torch.zeros(4096, dtype=torch.float16), round_f32_to_tf32=True),
    "block": lambda: _descriptor(block_shape=[16, 12]),
    "large block": lambda: _descriptor(block_shape=[2048, 1024]),
}


def _descriptor(**changed: Any) -> Any:
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(**{"base": torch.zeros(4096), "shape": [32, 32], "strides": [32, 1],
                               "block_shape": [16, 16], **changed})


def descriptors(choices: Choices, backend: str) -> Answers:
    """A descriptor that is legal but for one thing."""
    try:
        _DESCRIPTORS[str(choices["way"])]()
    except Exception as error:
        return {"refused": "True", "as": type(error).__name__, "text": str(error)[:60]}
    return {"refused": "False"}


