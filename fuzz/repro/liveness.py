"""Which statements of which device functions the compiler's front end goes through for one launch.

A branch under a compile-time condition that does not hold is never visited, so what is missing here can be left
out of a script. Runs in a child process: it replaces methods of the compiler, and the compiler may abort.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any


class _Enough(BaseException):
    """The front end is done; nothing after it is of interest."""


def visited_lines(compile_kernel: Callable[[], object]) -> Mapping[int, frozenset[int]] | None:
    """Line numbers (1 is the line of `def`) per `id` of the jit function; None when the compiler fails first, as its
    silence about the rest would then mean nothing.

    compile_kernel: compiles one kernel with Triton in this process.
    """
    import triton
    from triton.compiler import code_generator, compiler

    lines: defaultdict[int, set[int]] = defaultdict(set)
    visit, make_ir = code_generator.CodeGenerator.visit, compiler.ASTSource.make_ir

    def recording(self: Any, node: Any) -> Any:
        if isinstance(node, ast.stmt):
            lines[id(self.jit_fn)].add(node.lineno)
        return visit(self, node)

    def stopping(self: Any, *arguments: Any, **options: Any) -> None:
        make_ir(self, *arguments, **options)
        raise _Enough

    triton.knobs.compilation.always_compile = True
    code_generator.CodeGenerator.visit = recording
    compiler.ASTSource.make_ir = stopping
    try:
        compile_kernel()
    except _Enough:
        return {function: frozenset(found) for function, found in lines.items()}
    except Exception:  # noqa: BLE001  whatever the compiler raises; the finding itself may be this failure
        return None
    finally:
        code_generator.CodeGenerator.visit = visit
        compiler.ASTSource.make_ir = make_ir
    return None
