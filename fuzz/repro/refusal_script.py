"""Standalone scripts for kernels that the language must refuse: the kernel, compiled without a GPU, and what is told.

BUG stands for a kernel that is taken, or for an error without a line of the kernel or without the reason, as
`fuzz.statements.refusing.unclear` has it.
"""

import ast
import copy

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.repro import frame
from tridiff.fuzz.repro.request import Candidate, Candidates, Request
from tridiff.fuzz.repro.template import gpu_target
from tridiff.fuzz.repro.wrap import wrapped
from tridiff.fuzz.statements.refused import REFUSED
from tridiff.fuzz.statements.refusing import source
from tridiff.kernels.language.refusal import Refusal

_KERNEL = "kernel"
_LAST = 1
"""Statements behind what is wrong: a store, which the module of a case ends with."""
_TYPES = {"x_ptr": "*i32", "f_ptr": "*fp32", "out_ptr": "*i32", "passed": "i32", "N": "constexpr"}
_CONSTANTS = {"N": 8}
_TOLD = """\
said = []
try:
    triton.compile(ASTSource({kernel}, {signature}, constexprs={constants}), target={target})
except Exception as error:
    said = [error]
    while cause := said[-1].__cause__ or said[-1].__context__:
        said.append(cause)
placed = [one for one in said if hasattr(getattr(one, "node", None), "lineno")]  # errors with a line of the kernel
words = " ".join(str(one.error_message or "") if one in placed else str(one) for one in said)
words += "".join(f" {{type(one).__name__}}" for one in said[-1:])
print("names a line:", bool(placed), "says:", words or "nothing, the kernel is taken")
""".splitlines()


def candidates(request: Request) -> Candidates | None:
    """The script of a finding about a kernel that must be refused; None for any other."""
    refusal = request.case.program
    if not isinstance(refusal, Refusal) or refusal.mended:
        return None
    if request.backend == "interpreter":
        raise TridiffError("the interpreter runs wrong kernels as Python, what it says is not judged",
                           fix="write the script for another backend, such as compile:sm_90")
    module = reduced(ast.parse(source(refusal)), refusal)
    return Candidates(scripts=(Candidate(text=_text(request, refusal, module), faithful=True),))


def reduced(module: ast.Module, refusal: Refusal) -> ast.Module:
    """What the wrong statements need of a case's module: the statements that define their names, and no more."""
    *above, kernel = module.body
    assert isinstance(kernel, ast.FunctionDef)
    wrong = len(ast.parse(REFUSED[refusal.row].text).body)
    before, kept = kernel.body[:-_LAST - wrong], kernel.body[-_LAST - wrong:-_LAST]
    needed = _named(kept)
    for statement in reversed(before):
        if _defined(statement) & needed:
            kept.insert(0, statement)
            needed |= _named([statement])
    for one in reversed(above):
        if _defined(one) & needed:
            needed |= _named([one])
    parameters = [one for one in kernel.args.args if one.arg in needed]
    smaller = copy.copy(kernel)
    smaller.args, smaller.body = ast.arguments([], parameters, None, [], [], None, []), kept
    return ast.fix_missing_locations(ast.Module([*(one for one in above if _defined(one) & needed), smaller], []))


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    return {one.id for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _named(statements: list[ast.stmt]) -> set[str]:
    return {one.id for statement in statements for one in ast.walk(statement)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


def _text(request: Request, refusal: Refusal, module: ast.Module) -> str:
    signs = frame.signs(request.ways)
    *_, kernel = module.body
    assert isinstance(kernel, ast.FunctionDef)
    names = [one.arg for one in kernel.args.args]
    signature = {name: _TYPES[name] for name in names}
    constants = {name: value for name, value in _CONSTANTS.items() if name in names}
    target = gpu_target(request.backend if request.backend.startswith("compile:") else "compile:sm_90")
    lines = [*frame.heading(request.title, request.note, request.backend),
             f"import os, re, {'subprocess, ' * signs.isolated}sys"]
    if signs.isolated:
        lines += ["", *frame.isolation(signs), ""]
    lines += [frame.HOOK, "import triton", "import triton.language as tl",
              "from triton.backends.compiler import GPUTarget", "from triton.compiler import ASTSource", ""]
    for one in module.body:
        if not isinstance(one, ast.Import):
            lines += [*ast.unparse(one).splitlines(), ""]
    lines += frame.running(signs)
    lines += [line.format(kernel=_KERNEL, signature=signature, constants=constants, target=target) for line in _TOLD]
    lines += frame.ending(f'placed and re.search(r"{REFUSED[refusal.row].says}", words.lower())')
    return wrapped("\n".join(lines) + "\n")
