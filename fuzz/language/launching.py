"""From a call to a launch: the kernel of its row, with what the installed version must give."""

from collections.abc import Sequence
from typing import Any

from tridiff.fuzz.backends import compiler
from tridiff.fuzz.backends.device_errors import chain
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.backends.libdevice import amd_lacks
from tridiff.fuzz.language.cases import call_of, row_of
from tridiff.fuzz.language.row import Row, installed
from tridiff.fuzz.language.spoiled import FAULTS as OF_POINTERS, spoiled
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.kernels.generated import load
from tridiff.kernels.language import joined
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.emit import CHECKED_FAULTS, FAULTS, parameters, source
from tridiff.kernels.language.gluon import source as in_gluon
from tridiff.kernels.language.lines import ASSERTED


def text_of(case: Any, version: str, *, fault: str = "", warps: int = 0) -> str:
    """The source of a case's kernel for a Triton version. warps: 0 for as many as the case asks for."""
    call, row = call_of(case), row_of(case)
    return module_of(row, call, spoiled(row.name, row.text(call), fault), version,
                     warps=warps or case.options.num_warps, stores=row.stores, fault=fault)


def module_of(row: Row, call: Call, text: str, version: str, *, warps: int, stores: bool, fault: str = "") -> str:
    """The source of the kernel of a row's call, with `text` in it. stores: whether the results are stored."""
    results, definitions = row.results(call, version), row.definitions(call)
    if row.gluon:
        return in_gluon(call, text, results, warps=warps, loads=row.loads, stores=stores, definitions=definitions)
    return source(call, text, results, loads=row.loads, fault=fault, stores=stores, definitions=definitions)


def run(launch: Launch) -> None:
    """Launch the case's call; the target's `launch` function."""
    _run(launch)


def run_as_it_is(launch: Launch) -> None:
    """The same for the subject that shows Triton's interpreter as it is."""
    _run(launch, as_it_is=True)


def _run(launch: Launch, *, as_it_is: bool = False) -> None:
    case, call, row = launch.case, call_of(launch.case), row_of(launch.case)
    version = installed()
    declined = row.declined(call, version, compiler(launch.backend), as_it_is=as_it_is)
    if declined := declined or amd_lacks(row.text(call), launch.backend):
        raise Declined(declined)
    fault = launch.planted if launch.planted in (*FAULTS, *OF_POINTERS, *CHECKED_FAULTS) else ""
    kernel: Any = load(text_of(case, version, fault=fault, warps=launch.options.num_warps), name="call").kernel
    try:
        launch.run(kernel, (case.sizes["rows"], 1, 1), _arguments(launch))
    except Exception as error:
        raise refuted(error, call.row) or error from None


def _arguments(launch: Launch) -> dict[str, Any]:
    """Those of the kernel of one call, in order."""
    case, call, row = launch.case, call_of(launch.case), row_of(launch.case)
    found: dict[str, Any] = {}
    for spec in case.arrays:
        truths = spec.dtype == "i1" and row.truths(call)
        found[f"{spec.name}_ptr"] = launch.truths(spec.name) if truths else launch.pointer(spec.name)
        found[f"{spec.name}_pitch"] = spec.strides(case.sizes)[0]
    found |= {f"x{number}": one.value for number, one in enumerate(call.operands) if one.passed}
    return {name: found[name] for name in parameters(call)}


def _functions(cases: Sequence[Any], warps: int) -> list[str]:
    return [joined.as_function(text_of(case, installed(), warps=warps)) for case in cases]


def run_joined(launches: Sequence[Launch]) -> None:
    """Make the calls of several cases, none of which is declined, in one launch, which the first one has."""
    cases, warps = [one.case for one in launches], launches[0].options.num_warps
    modules = [load(text, name="call") for text in _functions(cases, warps)]
    parts = [joined.Part(module.__name__, call_of(case), case.sizes["rows"])
             for module, case in zip(modules, cases, strict=True)]
    # The same calls with other values are launched next: their kernel is compiled once.
    module: Any = load(joined.source(parts, gluon=row_of(cases[0]).gluon), name="joined")
    new, arguments = module.call0 is None, dict[str, Any]()
    for number, one in enumerate(launches):
        if new:
            setattr(module, f"call{number}", modules[number].kernel)
        arguments |= {joined.prefixed(number, name): value for name, value in _arguments(one).items()}
    launches[0].run(module.kernel, (sum(part.programs for part in parts), 1, 1), arguments)


def text_joined(cases: Sequence[Any]) -> str:
    """The source of the kernel of a joint launch and of the functions that it calls, for whoever reads it."""
    texts = _functions(cases, cases[0].options.num_warps)
    parts = [joined.Part(f"function {number} below", call_of(case), case.sizes["rows"])
             for number, case in enumerate(cases)]
    return "\n".join([joined.source(parts, gluon=row_of(cases[0]).gluon),
                      *(f"# function {number}\n{text}" for number, text in enumerate(texts))])


def refuted(error: BaseException, where: str) -> Refuted | None:
    """A static assertion of a kernel on a result, wherever in the chain of causes it stands. where: as in a
    signature."""
    for seen in chain(error):
        for kind, text in ASSERTED.items():
            if text in str(seen):
                return Refuted(kind, where, str(seen).strip().splitlines()[-1][:300])
    return None
