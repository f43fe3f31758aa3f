"""The program `tridiff`: its commands, each imported only when it is asked for, and how a run ends.

Exit status: 0 nothing new, 1 new findings, 2 could not check, 3 internal error (`fuzz.cli.failure`).
"""

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import typer

from tridiff.fuzz.cli.failure import COULD_NOT_CHECK, ending
from tridiff.fuzz.cli.start import command_began

HELP = ("Differential correctness fuzzing for Triton: generated kernels and inputs run on the GPU (or in the "
        "interpreter) and are judged by independent references. Exit status: 0 nothing new, 1 new findings, "
        "2 could not check, 3 internal error.")


@dataclass(frozen=True)
class Command:
    """One command. module: of this package; it defines `function` and the text EXAMPLES. summary: the first line of
    the function's docstring, repeated here so that the list of commands imports none of them."""

    module: str
    function: str
    summary: str


COMMANDS = {
    "fuzz": Command("fuzz", "fuzz", "Fuzz for a while; report what is new."),
    "gate": Command("gate", "gate", "Say whether a Triton upgrade is safe: the same cases on two builds."),
    "replay": Command("replay", "replay_command", "Run saved findings and compare with their expected verdicts."),
    "repro": Command("repro", "repro", "Run a saved finding again."),
    "blame": Command("blame", "blame_command", "Say at which stage and pass a saved finding goes wrong."),
    "explain": Command("explain", "explain_command", "Explain a kernel: source, arguments, stages, memory, and how one "
                       "element came about."),
    "shrink": Command("shrink", "shrink", "Make a saved finding smaller, so that its script fits into an issue."),
    "sweep": Command("sweep", "sweep", "Judge every input of an operation on the device."),
    "corpus": Command("corpus", "corpus", "List findings by cause; write or check the page that shows them."),
    "campaigns": Command("campaigns", "campaigns", "List the states that campaigns left, or remove old ones."),
    "report": Command("report", "report", "Show what a campaign or a gate left behind, in a form that people or other "
                      "programs read."),
    "targets": Command("targets", "targets", "List targets with their subjects, backends, oracles and faults."),
    "coverage": Command("coverage", "coverage", "Count the branches of Triton's Python layer that drawn cases take."),
    "doctor": Command("doctor", "doctor", "Check this machine."),
    "faults": Command("faults", "faults", "Test the tester: fuzz each planted fault until it is caught."),
    "bench": Command("bench", "bench", "Measure rates beside bare loops that do the same work without a harness."),
}


def load(name: str) -> tuple[Callable[..., None], str]:
    """The function and the examples of a command; imports its module."""
    command = COMMANDS[name]
    module = importlib.import_module(f"{__package__}.{command.module}")
    return getattr(module, command.function), module.EXAMPLES


def _stub() -> None:
    """In place of a command that was not asked for."""


def program(*names: str) -> typer.Typer:
    """The program with the commands `names` imported and all others only listed."""
    made = typer.Typer(name="tridiff", add_completion=False, rich_markup_mode="markdown",
                       pretty_exceptions_enable=False, help=HELP)
    made.callback()(_options)
    for name, command in COMMANDS.items():
        if name in names:
            function, examples = load(name)
            made.command(name, epilog=examples)(function)
        else:
            made.command(name, help=command.summary)(_stub)
    return made


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        from tridiff.fuzz.workers.environment import tridiff_version

        found = []
        for name in ("triton", "torch"):
            try:
                found.append(f"{name} {version(name)}")
            except PackageNotFoundError:
                found.append(f"no {name}")
        print(f"tridiff {tridiff_version()} (Python {sys.version.split()[0]}, {', '.join(found)})")
        raise typer.Exit(0)


def _options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True,
                                 help="Show versions and exit."),
    traceback: bool = typer.Option(False, "--traceback", help="Show the traceback of an internal error; also "
                                                              "anywhere on the line, or TRIDIFF_TRACEBACK=1."),
) -> None:
    pass


def __getattr__(name: str) -> Any:
    """`app`: the program with every command imported, for whoever embeds or tests it."""
    if name == "app":
        return program(*COMMANDS)
    raise AttributeError(name)


def run(arguments: list[str]) -> int:
    """What `tridiff ARGUMENTS` does; its exit status. Errors are raised."""
    if not arguments:
        program()(["--help"], standalone_mode=False, prog_name="tridiff")
        return COULD_NOT_CHECK
    named = next((one for one in arguments if not one.startswith("-")), "")
    return program(named)(arguments, standalone_mode=False, prog_name="tridiff") or 0


def main() -> None:
    """Entry point: whatever happens ends in one of the four exit statuses, and in one line unless asked otherwise."""
    command_began()
    sys.exit(ending(run, sys.argv[1:]))


if __name__ == "__main__":
    main()
