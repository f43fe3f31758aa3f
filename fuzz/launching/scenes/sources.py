"""Kernels from text of Triton's own stages, compiled ahead of time and loaded."""

from typing import Any

import triton

from tridiff.fuzz.judge.observed import normalised
from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.launching.scenes.arguments import kernel
from tridiff.fuzz.launching.scenes.options import TEXTS
from tridiff.fuzz.launching.words import Arguments


def from_text(choices: Choices, backend: str) -> Answers:
    """A kernel's text of one stage compiled again (`IRSource.parse_options`) gives the kernel's code."""
    stage, warps = str(choices["stage"]), int(choices["num_warps"])
    made = Arguments()
    arrays = [made.make("tensor fp32 0") for _ in range(3)]
    user = kernel(TEXTS[str(choices["kernel"])])
    with bench(int(choices["arch"])) as there:
        asked = {"num_warps": warps, "num_stages": choices["num_stages"], "num_ctas": choices["num_ctas"]}
        first = user.warmup(*arrays, 65, 130, grid=(1,), **asked)
        path = there.folder / f"kernel.{stage}"
        path.write_text(first.asm[stage])
        # Text with layouts says for itself how many warps and blocks there are, whatever is asked for.
        options = asked if stage == "ttir" else {"num_stages": choices["num_stages"]}
        second = triton.compile(str(path), options=options)
        third = triton.compile(str(path), options=asked | options | ({} if stage == "ttir" else {"num_warps": 2}))
        second[(2, 3, 1)](*arrays, 65, 130)
        launch = there.launches[-1]
        hits = "; ".join(map(str, there.compiled))
    codes = [normalised(one.asm["ptx"], "ptx") for one in (first, second)]
    return {"same code": str(codes[0] == codes[1]), "warps": str(second.metadata.num_warps),
            "blocks": str(second.metadata.num_ctas), "hits": hits, "again": str(third.hash == second.hash),
            "signature": "; ".join(map(str, second.src.signature.values())), "name": second.name,
            "shared": str(second.metadata.shared == first.metadata.shared),
            "parameters": "; ".join(made.told(value) for _, value in launch.parameters), "grid": str(launch.grid),
            "stages": "; ".join(second.asm)}


TIMES = 5
"""How often `repeated` compiles: what depends on addresses shows in one of two or three orders."""


def repeated(choices: Choices, backend: str) -> Answers:
    """One kernel compiled several times, never from a cache: how many different codes there are."""
    codes = set()
    with bench(int(choices["arch"])):
        triton.knobs.compilation.always_compile = True
        for _ in range(TIMES):
            arrays = [Arguments().make("tensor fp32 0") for _ in range(3)]
            made = kernel(TEXTS[str(choices["kernel"])]).warmup(
                *arrays, 65, 130, grid=(1,), num_warps=choices["num_warps"], num_stages=choices["num_stages"],
                num_ctas=choices["num_ctas"])
            codes.add(normalised(made.asm["ptx"], "ptx"))
    return {"codes": str(len(codes))}


def ahead_of_time(choices: Choices, backend: str) -> Answers:
    """`triton.compile` of a source with a signature, and what is compiled in by name and by place."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    user = kernel(TEXTS["pointwise"])
    constants: dict[Any, Any] = {"K": 5} if choices["by"] == "name" else {(4,): 5}
    kind = str(choices["kind"])
    signature = {"x": f"*{kind}", "y": f"*{kind}", "out": f"*{kind}", "n": str(choices["integer"]), "K": "constexpr"}
    hints = [["tt.divisibility", 16]]
    attributes = {(number,): hints for number in range(4)} if choices["aligned"] else {}
    with bench() as there:
        found = triton.compile(ASTSource(user, signature, constexprs=constants, attrs=attributes),
                               target=GPUTarget("cuda", choices["arch"], 32), options={"num_warps": 4})
        hits = str(there.compiled)
    ptx = found.asm["ptx"]
    return {"target": str(found.metadata.target.arch), "vectors": str(".v4" in ptx or ".v2" in ptx),
            "entry": str(".entry kernel(" in ptx), "hits": hits, "loads": str(len(there.loads)),
            "source": str(found.src.hash() == ASTSource(user, signature, constants, attributes).hash())}
