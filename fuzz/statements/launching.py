"""From a program to a launch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.language.launching import refuted
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.statements.cases import arguments_of, nodes, script_of
from tridiff.fuzz.statements.constructs import since
from tridiff.fuzz.statements.faults import planted
from tridiff.fuzz.statements.text import parameters, source
from tridiff.fuzz.verdicts import Declined
from tridiff.fuzz.versions import before
from tridiff.kernels.generated import load

if TYPE_CHECKING:
    from tridiff.kernels.language.script import Script


def declined(script: Script, version: str) -> str:
    """Why the front end of a Triton version does not take a program, "" if it does."""
    newer = ((one.row, since(one)) for one in nodes((*script.functions, *script.body)))
    return next((f"{row} is taken from Triton {needed} on" for row, needed in newer if before(version, needed)), "")


def run(launch: Launch) -> None:
    """Launch the case's program; the target's `launch` function."""
    case, script = launch.case, script_of(launch.case)
    if reason := declined(script, installed()):
        raise Declined(reason)
    kernel: Any = load(source(planted(script, launch.planted)), name="statements").kernel
    arguments: dict[str, Any] = dict(arguments_of(script))
    for spec in case.arrays:
        arguments[f"{spec.name}_ptr"] = launch.pointer(spec.name)
        arguments[f"{spec.name}_pitch"] = spec.strides(case.sizes)[0]
    try:
        launch.run(kernel, (case.sizes["rows"], 1, 1), {name: arguments[name] for name in parameters(script)})
    except Exception as error:
        raise refuted(error, "result") or error from None
