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
    """Line numbers (1 is the line of `def`) per `id` of the jit function, for those that the front end went through to
    their end: where it stops early, its silence about the rest means nothing. None when it never ran.

    compile_kernel: compiles one kernel with Triton in this process.
    """
    import triton
    from triton.compiler import code_generator, compiler

    lines: defaultdict[int, set[int]] = defaultdict(set)
    started: defaultdict[int, int] = defaultdict(int)
    visit, make_ir = code_generator.CodeGenerator.visit, compiler.ASTSource.make_ir

    def recording(self: Any, node: Any) -> Any:
        function = id(self.jit_fn)
        if isinstance(node, ast.stmt):
            lines[function].add(node.lineno)
        started[function] += 1
        found = visit(self, node)
        started[function] -= 1
        return found

    def stopping(self: Any, *arguments: Any, **options: Any) -> None:
        make_ir(self, *arguments, **options)
        raise _Enough

    code_generator.CodeGenerator.visit = recording
    compiler.ASTSource.make_ir = stopping
    try:
        with triton.knobs.compilation.scope():
            triton.knobs.compilation.always_compile = True
            compile_kernel()
    except _Enough:
        pass
    except Exception:
        pass
    finally:
        code_generator.CodeGenerator.visit = visit
        compiler.ASTSource.make_ir = make_ir
    return {function: frozenset(found) for function, found in lines.items() if not started[function]} or None
