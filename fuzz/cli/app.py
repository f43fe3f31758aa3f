"""The program `tridiff`. Exit status: 0 nothing new, 1 new findings, 2 could not check."""

import sys

import typer

from fuzz.cli import bench, doctor, faults, replay, repro, sweep, targets
from fuzz.cli import fuzz as fuzz_command
from fuzz.errors import TridiffError

app = typer.Typer(
    name="tridiff", no_args_is_help=True, add_completion=False, rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Differential correctness fuzzing for Triton: generated kernels inputs run on the GPU (or the interpreter) "
         "and are judged by independent references. Exit status: 0 nothing new, 1 new findings, 2 could not check.",
)
app.command("fuzz", epilog=fuzz_command.EXAMPLES)(fuzz_command.fuzz)
app.command("replay", epilog=replay.EXAMPLES)(replay.replay_command)
app.command("repro", epilog=repro.EXAMPLES)(repro.repro)
app.command("sweep", epilog=sweep.EXAMPLES)(sweep.sweep)
app.command("targets", epilog=targets.EXAMPLES)(targets.targets)
app.command("doctor", epilog=doctor.EXAMPLES)(doctor.doctor)
app.command("faults", epilog=faults.EXAMPLES)(faults.faults)
app.command("bench", epilog=bench.EXAMPLES)(bench.bench)


def main() -> None:
    """Entry point: errors the user can fix are one line on stderr and status 2."""
    try:
        app()
    except TridiffError as error:
        print(f"tridiff: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("tridiff: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
