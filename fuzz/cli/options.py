"""Reading option values. Everything is refused here, before anything starts, with the reason and what to write."""

import os
import re
import secrets
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tridiff.fuzz.backends import ARCHITECTURES, BACKENDS, FOR_CHIPS
from tridiff.fuzz.backends.available import available_backends, gpu_count
from tridiff.fuzz.corpus.installed import corpus_to_read
from tridiff.fuzz.errors import TridiffError, writing

SavedFindings = Annotated[Path, typer.Option("--corpus", help="Where findings are kept.", callback=corpus_to_read)]
AsJson = Annotated[bool, typer.Option("--json", help="JSON instead of a table.")]
AsList = Annotated[bool, typer.Option("--json", help="A JSON list instead of a table.")]
AsObject = Annotated[bool, typer.Option("--json", help="End with one JSON object on stdout.")]
Backends = Annotated[list[str] | None, typer.Option(help="cuda, interpreter, compile[:ARCH], evaluated[:ARCH]; "
                                                   "repeatable.")]
EntryName = Annotated[str, typer.Argument(help="Entry id, its unique beginning, its digest, or a file.")]
Gpus = Annotated[str, typer.Option(help="GPU numbers, such as 0,1; default all.")]
HangLimit = Annotated[str, typer.Option(help="Longest launch, compilation included.")]
MaxCases = Annotated[int | None, typer.Option(help="Stop after this many cases instead of --time.")]
Memory = Annotated[str, typer.Option(help="Memory cap of a worker.")]
OtherSubject = Annotated[str, typer.Option(help="Run this subject instead of the entry's.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue --id, or the last interrupted one.")]
Seed = Annotated[int | None, typer.Option(help="Seed; default random, always recorded.")]
Targets = Annotated[list[str] | None, typer.Option(help="Target name, glob or family; repeatable.")]
TritonBuild = Annotated[str, typer.Option(help="A release, wheel or folder; default the installed one.")]
Workers = Annotated[int | None, typer.Option(help="Processes; default one per core, at most 16 per GPU.")]

EVALUATED = "evaluated:sm_90"
"""The chip whose IR is evaluated where no backend is asked for: kernels of all families are written for it."""

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}

SHORTEST_HANG_LIMIT = 0.5
"""Seconds. A launch compiles its kernel, for 50 ms of an idle core and for longer on a busy one: a shorter limit calls
kernels hangs that only had to be compiled, and they would enter the corpus as findings."""

LONGEST = 31 * 86400.0
"""Seconds of one campaign; its plan lists every shard."""

SMALLEST_MEMORY, LARGEST_MEMORY = 128 << 20, 16 << 40
"""Bytes. Below, no worker can import torch and Triton; above, the limit says nothing."""

MOST_WORKERS = 1024

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


def seconds(text: str) -> float:
    """`90`, `90s`, `5m`, `1h30m` in seconds."""
    number = r"\d+(?:\.\d+)?"
    whole = re.fullmatch(rf"{number}\s*[smhd]?|({number}d)?({number}h)?({number}m)?({number}s)?", text.strip())
    found = sum(float(one) * _UNITS[unit] for one, unit in re.findall(rf"({number})\s*([smhd]?)", text))
    if not whole or found <= 0:
        raise TridiffError(f"{text!r} is no duration", fix="write a number with s, m or h, such as 60s or 8h")
    if found > LONGEST:
        raise TridiffError(f"{text} is longer than {LONGEST / 86400:.0f} days", fix="write a shorter time")
    return found


def hang_limit(text: str) -> float:
    """Seconds that a launch may take, compilation included."""
    found = seconds(text)
    if found < SHORTEST_HANG_LIMIT:
        raise TridiffError(f"--hang-limit {text} is shorter than compiling a kernel takes, so that right kernels would "
                           "be called hangs", fix=f"give {SHORTEST_HANG_LIMIT:g}s or more")
    return found


def size(text: str) -> int:
    """`6G`, `512M` in bytes."""
    match = re.fullmatch(r"(\d+)\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if not match or int(match[1][:30]) <= 0:
        raise TridiffError(f"{text!r} is no memory size", fix="write a number with M or G, such as 6G")
    power = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[match[2].upper()]
    return int(match[1][:30]) << power


def memory(text: str) -> int:
    """Bytes that a worker may use."""
    found = size(text)
    if found < SMALLEST_MEMORY:
        raise TridiffError(f"--memory {text} is too little to import torch and Triton", fix="give 1G or more")
    if found > LARGEST_MEMORY:
        raise TridiffError(f"--memory {text} is no limit", fix="give 16T or less")
    return found


def count(number: int | None, *, option: str, most: int = 10**12) -> int | None:
    """A number of things, 1 to `most`, or None where none was given."""
    if number is not None and not 1 <= number <= most:
        raise TridiffError(f"{option} {number} is out of range", fix=f"give 1 to {most:,}, or leave it out")
    return number


def chosen_seed(number: int | None) -> int:
    """The seed given, 0 to 2^63 - 1, or one drawn now."""
    if number is not None and not 0 <= number < 1 << 63:
        raise TridiffError(f"--seed {number} is out of range", fix="give 0 to 9223372036854775807, or leave it out")
    return secrets.randbits(31) if number is None else number


def name_of_campaign(text: str) -> str:
    """A campaign's name, which becomes the name of a folder; "" stays so."""
    if text and not _NAME.fullmatch(text):
        raise TridiffError(f"--id {text[:120]!r} is no name for a campaign",
                           fix="use letters, digits, '.', '_' and '-', at most 100, beginning with a letter or a digit")
    return text


def writable_folder(folder: Path, *, option: str) -> Path:
    """`folder`, created if need be, in which a file can be made; TridiffError otherwise."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TridiffError(f"{folder} cannot be created ({error.strerror})", fix=f"choose another {option}") from None
    with writing(folder, fix=f"choose another {option}"), tempfile.TemporaryFile(dir=folder) as tried:
        tried.write(b"\0")
    return folder


def chosen_backends(names: list[str]) -> tuple[str, ...]:
    """The backends asked for, or what this machine has: the GPU, else the interpreter, the compilers, and the values of
    what is compiled for one chip."""
    here = available_backends()
    if not here:
        raise TridiffError("torch or triton is not installed", fix="pip install torch triton, then `tridiff doctor`")
    if not names:
        return ("cuda",) if "cuda" in here else ("interpreter", "compile", EVALUATED)
    for name in names:
        if name not in FOR_CHIPS and name not in BACKENDS:
            raise TridiffError(f"unknown backend {name!r}", fix="use cuda, interpreter, compile[:ARCH] or "
                               f"evaluated[:ARCH], ARCH one of {' '.join(ARCHITECTURES)}")
        if name == "cuda" and "cuda" not in here:
            raise TridiffError("no NVIDIA GPU that torch can use", fix="use --backend interpreter, or see "
                               "`tridiff doctor`")
    return tuple(dict.fromkeys(names))


def chosen_devices(text: str, backends: tuple[str, ...]) -> tuple[int, ...]:
    """`0,2` as GPU numbers; all GPUs for an empty text."""
    if "cuda" not in backends:
        if not text:
            return (0,)
        if gpu_count():
            raise TridiffError(f"--gpus {text} together with --backend {' '.join(backends)}, which use no GPU",
                               fix="leave one of them out")
        raise TridiffError(f"--gpus {text}: no NVIDIA GPU that torch can use",
                           fix="leave --gpus out, or see `tridiff doctor`")
    here = gpu_count()
    if not text:
        return tuple(range(here))
    try:
        numbers = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        raise TridiffError(f"--gpus {text!r} is no list of numbers", fix="write --gpus 0 or --gpus 0,1") from None
    if any(not 0 <= number < here for number in numbers):
        raise TridiffError(f"--gpus {text}: this machine has {'GPU 0' if here == 1 else f'GPUs 0 to {here - 1}'}",
                           fix="choose among those")
    return numbers


def chosen_workers(number: int | None, backends: tuple[str, ...], devices: tuple[int, ...]) -> int:
    """The number given, or one process per core, on GPUs at most 16 for each."""
    return count(number, option="--workers", most=MOST_WORKERS) or default_workers(backends, devices)


def default_workers(backends: tuple[str, ...], devices: tuple[int, ...]) -> int:
    """One process per core, on GPUs at most 16 for each."""
    cores = len(os.sched_getaffinity(0))
    return min(cores, 16 * len(devices)) if "cuda" in backends else cores
