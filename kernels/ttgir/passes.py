"""Single compiler passes on IR text, for operations that exist only inside a pass (contract: ttg_ops.md §3, §6a)."""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend


def run(text: str, target: GPUTarget, add: Callable[[Any], None]) -> str:
    """The text after the passes that `add(pass_manager)` adds. Raises RuntimeError for text that does not parse or
    a pass that fails."""
    context = ir.context()
    ir.load_dialects(context)
    make_backend(target).load_dialects(context)
    with tempfile.TemporaryDirectory(prefix="tridiff-pass-") as folder:
        path = Path(folder) / "kernel.ttgir"
        path.write_text(text, encoding="utf-8")
        module = ir.parse_mlir_module(str(path), context)
    module.context = context
    manager = ir.pass_manager(context)
    add(manager)
    manager.run(module, "pipeline")
    return str(module)


def pipelined(text: str, target: GPUTarget, *, stages: int) -> str:
    """After the pass `tritongpu-pipeline`, which resolves `ttg.mask` and expands scheduled loops."""
    return run(text, target, lambda manager: passes.ttgpuir.add_pipeline(manager, stages, False))


_PREDICATE = re.compile(r"^(\s*)(%[\w#]+) = ttg\.predicate_stage (%[\w#]+), (%[\w#]+), (%[\w#]+) maxStage (\d+) stage "
                        r"(\d+) : (\w+) -> i1(?: loc\(.*\))?$", re.M)


def predicates(text: str) -> int:
    """How many `ttg.predicate_stage` there are."""
    return len(_PREDICATE.findall(text))


def with_predicates_defined(text: str) -> str:
    """Every `ttg.predicate_stage iv, bound, step` replaced by what it means:
    iv < bound - step * (maxStage - stage), signed."""

    def definition(found: re.Match[str]) -> str:
        indent, result, variable, bound, step, most, stage, kind = found.groups()
        name = "%stage_" + result.strip("%").replace("#", "_")
        return (f"{indent}{name}_left = arith.constant {int(most) - int(stage)} : {kind}\n"
                f"{indent}{name}_skip = arith.muli {step}, {name}_left : {kind}\n"
                f"{indent}{name}_end = arith.subi {bound}, {name}_skip : {kind}\n"
                f"{indent}{result} = arith.cmpi slt, {variable}, {name}_end : {kind}")

    return _PREDICATE.sub(definition, text)
