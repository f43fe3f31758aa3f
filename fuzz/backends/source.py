"""The source IR of a kernel: what the front end of Triton makes of its Python text, before any pass has run."""

from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

from tridiff.fuzz.backends.compile import options_of, source_of
from tridiff.fuzz.backends.launch import LaunchReport
from tridiff.fuzz.records import LaunchOptions


def source_ir(source: Any, target: GPUTarget, options: dict[str, Any]) -> str:
    """The module that Triton makes of a source (`backends.compile.source_of`) for a chip. options: of its compiler."""
    backend = make_backend(target)
    parsed = backend.parse_options({**options, **source.parse_options()})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return str(source.make_ir(target, parsed, backend.get_codegen_implementation(parsed), backend.get_module_map(),
                              context))


class SourceRunner:
    """Stops where Triton's own `compile` begins with the first pass: a tenth of a compilation. Arguments are
    `backends.compile.Pointer`s and numbers, as for `CompileRunner`."""

    def __init__(self, backend: str, target: GPUTarget) -> None:
        self.backend = backend
        self._target = target

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        text = source_ir(source_of(kernel, arguments), self._target, options_of(options, self._target))
        return LaunchReport(source=text)

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        return LaunchReport(source=text)

    def synchronise(self) -> None:
        return None
