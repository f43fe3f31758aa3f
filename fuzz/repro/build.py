"""From a case to the text of a standalone script; runs in a child process that has torch and Triton.

The launch is recorded instead of run: its kernel is written out with everything it reaches
(`fuzz.repro.source`), its arrays as literals, its other arguments as they are.
"""

import ast
import functools
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

import torch
from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.compile import CompileRunner, Specialisation, pointer_to, specialise
from tridiff.fuzz.backends.launch import READ_BACK, without_overflow_checks
from tridiff.fuzz.content.place import Buffer, buffers_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.interpreter.narrow_floats import NARROW
from tridiff.fuzz.judge.outputs import Inputs
from tridiff.fuzz.judge.untouched import untouched_masks
from tridiff.fuzz.records import LaunchOptions, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro import formulas, launch_script, literals, refusal_script, torch_script
from tridiff.fuzz.repro.arrays import grouped, placed
from tridiff.fuzz.repro.assembly import assembled
from tridiff.fuzz.repro.checks import Expected, check_lines, expected_results
from tridiff.fuzz.repro.frame import ALLOCATOR, signs
from tridiff.fuzz.repro.inline import drop_aliases, squeeze
from tridiff.fuzz.repro.liveness import visited_lines
from tridiff.fuzz.repro.loops import drop_empty_loops
from tridiff.fuzz.repro.recorded import Call, array_of, calls_about, recorded, where_held
from tridiff.fuzz.repro.request import MANY_VALUES, Candidate, Candidates, Request, no_script
from tridiff.fuzz.repro.simplify import (
    DropAssertions,
    DropConversions,
    FoldArithmetic,
    constant_node,
    loaded,
    parameters,
)
from tridiff.fuzz.repro.source import Program, collect, inline_expressions, inline_statements, joined
from tridiff.fuzz.repro.template import WIDTH, Body, fits, render, too_long
from tridiff.fuzz.repro.verbatim import Verbatim, verbatim
from tridiff.fuzz.target import Target
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.kernels.language.call import Call as LanguageCall
from tridiff.kernels.language.lines import ASSERTED
from tridiff.kernels.language.script import Script
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import MISMATCH_CLASSES

MAX_CHARACTERS = 1 << 20
"""Longest bundle; beyond it the inputs are too many to be literals."""

_TIGHTER = ((False, False, 2), (False, False, 1), (True, False, 1), (True, True, 1), (True, True, 0))
"""What is tried until the script is short enough: helpers inlined, variables inlined, blank lines."""
_VERBATIM = ((False, False, 2), (False, True, 0))
"""The same for a generated kernel, which is shown as it is."""


def build(request: Request) -> Candidates:
    """Every way to write the script. Raises TridiffError when there is none."""
    case = request.case
    case.check()
    target = find(case.target)
    subject = parse_subject(request.subject, target)
    if subject.process_fault:
        raise no_script(f"the planted process fault {subject.process_fault} is no kernel")
    if request.backend == "interpreter" and request.failure_kind in ("device_assert", "assertion_missing"):
        raise TridiffError("Triton's interpreter checks device assertions only with tridiff's repairs",
                           fix="rerun it with `tridiff repro`, or write the script for another backend")
    if request.failure_kind == "memory_order":
        raise no_script("a missing memory order is read from the compiled code, no value is sure to show it")
    if request.failure_kind in _IN_CODE and kind(request.backend) == "cuda":
        request = replace(request, backend="compile:sm_90")  # read there as well as from a launch
    device = torch.device("cpu")
    buffers = buffers_of(case, device)
    function = torch_script.candidates(request, target, buffers, subject.helper)
    if function is not None:
        return function
    special = refusal_script.candidates(request) or launch_script.candidates(request, target)
    if special is not None:
        return special
    if request.failure is Verdict.DISAGREE and request.failure_kind not in _SHOWN:
        raise no_script(f"{request.failure_kind} is seen by the harness, not in results")
    calls = recorded(case, target, subject, buffers, schedule=request.schedule)
    if not request.bundle:
        calls = calls_about(calls, buffers, request.where)
    if not calls:
        raise no_script(f"{case.target} made no launch of this case")
    if len(calls) > 1 and not request.bundle:
        raise TridiffError(f"{case.target} made {len(calls)} launches of this case, a short script shows one",
                           fix="write all of them with --long")
    found = _candidates(request, target, buffers, calls)
    assembly = assembled(calls[-1], _pointers(buffers, calls[-1]), _architecture(request)) if request.ptx else None
    return replace(found, assembly=assembly)


def _architecture(request: Request) -> str:
    return request.backend.partition(":")[2] or "sm_90"


_IN_CODE: Mapping[str, str] = {
    "assertion_lost": '"__assertfail" in ptx and "redux.sync.add" not in ptx',
    "assertion_unasked": '"__assertfail" not in ptx'}
"""Kinds of findings that the compiled code shows, and what is true of it where it is right."""

_AS_INTEGERS = "# Triton's own interpreter reads bf16 and fp8 as integers"
_BOUNDS = """\
patch = triton.runtime.interpreter._patch_lang_tensor  # 3.6.0 takes no scalar as the bound of a loop since numpy 2.4
triton.runtime.interpreter._patch_lang_tensor = lambda tensor, scope: (
    patch(tensor, scope), scope.set_attr(tensor, "__index__", lambda self: self.handle.data.item()))
""".splitlines()

_OF_ALL_OUTPUTS = ("nondeterministic", "option_dependent", "out_of_bounds", "input_overwritten")
_SHOWN = (*MISMATCH_CLASSES, *_OF_ALL_OUTPUTS, *_IN_CODE, *ASSERTED, "unwritten", "stray_write", "assertion_missing")
"""Kinds of wrong results that a script of a launch shows; other kinds are seen by the harness alone."""


def _candidates(request: Request, target: Target, buffers: Mapping[str, Buffer], calls: list[Call]) -> Candidates:
    expected = _results(request, target, buffers, calls)
    whole = [verbatim(call.kernel, call.text) for call in calls]
    found: list[Candidate] = []
    if any(one is not None for one in whole):
        if len(calls) > 1 or whole[0] is None:
            raise no_script("several generated kernels cannot be written into one script")
        found.append(Candidate(text=_verbatim(request, buffers, calls[0], whole[0], expected), faithful=True))
    else:
        visited = _visited(request, buffers, calls)
        for faithful in (True,) if _is_about_types(request) else (False, True):
            written = _write(request, buffers, calls, expected, visited, faithful=faithful)
            if all(written != one.text for one in found):
                found.append(Candidate(text=written, faithful=faithful))
    short = [one for one in found if request.bundle or fits(one.text)]
    if not short:
        raise TridiffError(too_long(found[0].text), fix="write it whole with --long, or make the case smaller "
                           "with `tridiff shrink`")
    return Candidates(scripts=tuple(short))


def _is_about_types(request: Request) -> bool:
    """Whether a number that is passed at launch is another one, of another type, than the same number in the source."""
    program = request.case.program
    return bool(request.asserted) or (
        isinstance(program, LanguageCall | Script) and any(one.passed for one in program.operands))


def _verbatim(request: Request, buffers: Mapping[str, Buffer], call: Call, whole: Verbatim,
              expected: Mapping[str, Expected]) -> str:
    """The script of a generated kernel, which is shown as it is."""
    whole = whole.apart(buffers)
    shown = [(call, whole.kernel, whole.parameters(call.arguments))]

    def form(inlined: bool, tight: bool, spacing: int) -> str:
        program = whole.cut(request.asserted) if tight else whole
        body = _body(request, buffers, shown, expected, program.text(spacing=2), tight=tight)
        return _render(request, body, program, spacing=spacing, tight=tight)

    return _shortest(request, form, choices=_VERBATIM)


def _results(request: Request, target: Target, buffers: Mapping[str, Buffer],
             calls: list[Call]) -> dict[str, Expected]:
    """What the outputs of the launches must hold; nothing where results are not what shows the finding."""
    found = signs(request.ways)
    if kind(request.backend) == "compile" or not found.values or request.failure_kind == "assertion_missing":
        return {}
    used = {array_of(buffers, value) for call in calls for value in call.arguments.values()
            if isinstance(value, torch.Tensor)}
    # What is read and written differs from launch to launch, and has no memory around it that could be looked at.
    once = not {request.failure_kind, *(way.kind for way in request.ways)}.intersection(_OF_ALL_OUTPUTS)
    try:
        expected = {held: result for name, result in expected_results(request.case, target, buffers).items()
                    if (held := where_held(name, used) if once else name) in used}
    except TridiffError:
        if found.isolated:
            return {}
        raise
    if not expected and not found.isolated:
        raise no_script("no output that an oracle judges comes from this launch")
    return expected


def _visited(request: Request, buffers: Mapping[str, Buffer],
             calls: list[Call]) -> Mapping[int, frozenset[int]] | None:
    """What the compiler's front end goes through in all launches together; None where that is not known of one."""
    if not request.liveness:
        return None
    lines: dict[int, frozenset[int]] = {}
    for call in calls:
        found = visited_lines(functools.partial(
            CompileRunner(_architecture(request)).run, call.kernel, call.grid, _pointers(buffers, call), call.options))
        if found is None:
            return None
        lines = {function: lines.get(function, frozenset()) | found.get(function, frozenset())
                 for function in {*lines, *found}}
    return lines


def _shortest(request: Request, form: Callable[[bool, bool, int], str], *,
              choices: tuple[tuple[bool, bool, int], ...]) -> str:
    """The first form that fits; where none does the last, in a bundle the first, which is the easiest to read."""
    texts: list[str] = []
    for inlined, tight, spacing in choices:
        texts.append(form(inlined, tight, spacing))
        if request.length == "any" or fits(texts[-1]):
            return _within_limit(texts[-1])
    return _within_limit(texts[0 if request.bundle else -1])


def _pointers(buffers: Mapping[str, Buffer], call: Call) -> dict[str, Any]:
    """The launch's arguments with arrays as the ahead-of-time compiler wants them."""
    result = dict(call.arguments)
    for name, value in call.arguments.items():
        if isinstance(value, torch.Tensor):
            spec = buffers[array_of(buffers, value)].spec
            aligned = spec.layout.offset * dtype_info(spec.dtype).itemsize % 16 == 0
            result[name] = pointer_to(spec.dtype, aligned=aligned)
            if value.dtype is torch.bool:
                result[name] = result[name].as_truths()
    return result


def _write(request: Request, buffers: Mapping[str, Buffer], calls: list[Call], expected: Mapping[str, Expected],
           visited: Mapping[int, frozenset[int]] | None, *, faithful: bool) -> str:
    def form(inlined: bool, squeezed: bool, spacing: int) -> str:
        programs = [_program(call, visited, asserted=request.asserted, faithful=faithful, inlined=inlined,
                             squeezed=squeezed) for call in calls]
        program, names = joined(programs)
        shown = [(call, name, parameters(program.functions[name])) for call, name in zip(calls, names, strict=True)]
        body = _body(request, buffers, shown, expected, program.text(spacing=0), tight=squeezed)
        return _render(request, body, program, spacing=spacing, tight=squeezed)

    return _shortest(request, form, choices=_TIGHTER)


def _program(call: Call, visited: Mapping[int, frozenset[int]] | None, *, asserted: Collection[str],
             faithful: bool, inlined: bool, squeezed: bool) -> Program:
    """The kernel of one launch with all it reaches. asserted: the kinds of findings for which it keeps what it asserts
    of its results. faithful: only compile-time arguments become literals."""
    constants = {one.name: call.arguments[one.name] for one in call.kernel.params
                 if one.is_constexpr or call.arguments[one.name] is None}
    if not faithful:
        constants |= {name: value for name, value in call.arguments.items() if isinstance(value, bool | int | float)}
    program = collect(call.kernel, constants=constants, visited=visited)
    for node in program.functions.values():
        DropAssertions(asserted).visit(node)
    inline_statements(program, everything=inlined)
    for node in program.functions.values():
        if not faithful:
            FoldArithmetic().visit(DropConversions().visit(node))
            drop_empty_loops(node)
            drop_aliases(node)
        if squeezed:
            squeeze(node, width=WIDTH, functions=program.functions)
    if squeezed:
        inline_expressions(program)
    _drop_parameters(program)
    return program


def _render(request: Request, body: Body, program: Program | Verbatim, *, spacing: int, tight: bool) -> str:
    return render(body, program, request, spacing=spacing, tight=tight)


def _within_limit(text: str) -> str:
    if len(text) > MAX_CHARACTERS:
        raise TridiffError(f"the script would take {len(text):,} characters: {MANY_VALUES}",
                           fix="make the case smaller with `tridiff shrink`")
    return text


def _drop_parameters(program: Program) -> None:
    """Remove what the kernel takes and never reads."""
    node = program.functions[program.kernel]
    read = {name for one in node.body for name in loaded(one)}
    node.args.args = [one for one in node.args.args if one.arg in read]


def _body(request: Request, buffers: Mapping[str, Buffer], shown: list[tuple[Call, str, list[str]]],
          expected: Mapping[str, Expected], source: str, *, tight: bool) -> Body:
    """shown: launches in order, each with its kernel's name in the script and the names of what that takes. source:
    text of the kernels."""
    if kind(request.backend) == "compile":
        (call, _, names), *others = shown
        if others:
            raise no_script("a script compiles one kernel, the case has several")
        if call.text:
            return Body(options=_options(call.options, False))
        given = _specialise(call, names, _pointers(buffers, call))
        return Body(signature=given.signature, constants=given.constants,
                    verdict=_IN_CODE.get(request.failure_kind, ""), options=_options(call.options, True),
                    divisible=tuple(position for (position,) in given.attributes))
    ways = [way.kind for way in request.ways if way.verdict is Verdict.DISAGREE]
    failure = ways[0] if ways else request.failure_kind
    where = where_held(request.where, expected)
    if tight and where in expected and failure not in _OF_ALL_OUTPUTS:
        expected = {where: expected[where]}  # where lines are short, only the output that was wrong
    used = {array_of(buffers, call.arguments[name]) for call, _, names in shown for name in names
            if isinstance(call.arguments[name], torch.Tensor)}
    inputs = tuple(name for name in buffers if name in used and not buffers[name].is_output)
    lines: list[str] = []
    for name, buffer in buffers.items():
        if name in used:
            guarded = failure == "out_of_bounds" and buffer.is_output
            lines += placed(buffer, expected.get(name), backend=request.backend, guarded=guarded)
    if tight:
        lines = grouped(lines)
    narrow = [name for name in buffers if request.around and name in used and buffers[name].spec.dtype in NARROW]
    if narrow:
        lines.append(f"{', '.join(narrow)} = {', '.join(f'{name}.float()' for name in narrow)}  {_AS_INTEGERS}")
    if request.around and "range(" in source:
        lines = [*_BOUNDS, *lines]
    if failure == "input_overwritten":
        lines += [f"{name}_before = {literals.as_bits(name, buffers[name].spec.dtype)}.clone()" for name in inputs]
    untouched = {} if failure != "stray_write" or not expected else {
        held: mask for name, mask in untouched_masks(request.case, find(request.case.target),
                                                     Inputs(request.case, buffers)).items()
        if (held := where_held(name, expected)) in expected}
    lines += [f"{name}_before = {literals.as_bits(name, buffers[name].spec.dtype)}.clone()" for name in untouched]

    def launch(options: LaunchOptions) -> str:
        return "\n".join(_launch(request, buffers, options, *one) for one in shown)

    above = list(formulas.SMALL.splitlines()) if any("small(0x" in line for line in lines) else []
    above += [] if not above or tight else ["", ""]
    if kind(request.backend) == "cuda":
        above += _on_the_device(request, source)
    checks: tuple[str, ...] = ()
    verdict = ""
    if expected:
        checks, verdict = check_lines(expected, buffers, failure_kind=failure, launch=launch(request.case.options),
                                      inputs=inputs, untouched=untouched, tight=tight,
                                      variants=tuple(launch(one) for one in request.case.variants))
    options = replace(request.case.options, debug=True) if shown[0][0].options.debug else (
        request.case.options)
    return Body(above=tuple(above), arrays=tuple(lines), launch=launch(options), checks=checks, verdict=verdict,
                dtypes=tuple(buffers[name].spec.dtype for name in used))


def _on_the_device(request: Request, source: str) -> list[str]:
    """What the harness has around its launches and a kernel may need."""
    lines = []
    if "make_tensor_descriptor" in source or "global_scratch_alloc" in source:
        lines.append(ALLOCATOR)
    if request.case.params.get("sanitize") and request.failure is not Verdict.DISAGREE:
        lines.append('triton.knobs.compilation.instrumentation_mode = "consan"  # Triton\'s concurrency sanitizer')
    if find(request.case.target).family == "codegen" and signs(request.ways).values:
        lines.append('before = torch.full((512,), 77, dtype=torch.uint8, device="cuda")  '
                     "# what a read before the first array finds")
    return lines


def _launch(request: Request, buffers: Mapping[str, Buffer], options: LaunchOptions, call: Call, kernel: str,
            names: list[str]) -> str:
    """The statement that launches a kernel."""
    arguments = []
    for name in names:
        value = call.arguments[name]
        shown = array_of(buffers, value) if isinstance(value, torch.Tensor) else (
            ast.unparse(constant_node(value)))
        arguments.append(shown + (".view(torch.bool)" if isinstance(value, torch.Tensor) and value.dtype is torch.bool
                                  else ""))
    grid = str(tuple(call.grid)) if call.text else _shown_grid(call.grid)
    plain = kind(request.backend) == "interpreter" or call.text
    given = {} if plain else _options(options, False)
    return f"{kernel}[{grid}]({', '.join((*arguments, *(f'{name}={value}' for name, value in given.items())))})"


def _shown_grid(grid: tuple[int, ...]) -> str:
    while len(grid) > 1 and grid[-1] == 1:
        grid = grid[:-1]
    return f"({', '.join(map(str, grid))}{',' if len(grid) == 1 else ''})"


def _options(options: LaunchOptions, everything: bool) -> dict[str, int | bool]:
    """Compile options that are not Triton's defaults, or all that every target knows."""
    plain = LaunchOptions()
    return without_overflow_checks(options) | {
        name: getattr(options, name) for name in READ_BACK
        if getattr(options, name) != getattr(plain, name) or (everything and name in ("num_warps", "num_stages"))}


def _specialise(call: Call, names: list[str], stand_ins: Mapping[str, Any]) -> Specialisation:
    """As the launch would, for the arguments that the script's kernel still has."""
    own = {one.name: one for one in call.kernel.params}
    left = [types.SimpleNamespace(name=name, num=number, is_constexpr=False,
                                  do_not_specialize=own[name].do_not_specialize)
            for number, name in enumerate(names)]
    return specialise(types.SimpleNamespace(params=left), {name: stand_ins[name] for name in names})
