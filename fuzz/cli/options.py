"""Reading option values."""

import os
import re

from fuzz.backends import ARCHITECTURES, BACKENDS
from fuzz.backends.available import available_backends, gpu_count
from fuzz.errors import TridiffError

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str) -> float:
    """`90`, `90s`, `5m`, `8h` in seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd]?)", text.strip())
    if not match or float(match[1]) <= 0:
        raise TridiffError(f"{text!r} is no duration", fix="write a number with s, m or h, such as 60s or 8h")
    return float(match[1]) * _UNITS[match[2]]


def size(text: str) -> int:
    """`6G`, `512M` in bytes."""
    match = re.fullmatch(r"(\d+)\s*([KMGT]?)i?B?", text.strip(), re.IGNORECASE)
    if not match or int(match[1]) <= 0:
        raise TridiffError(f"{text!r} is no memory size", fix="write a number with M or G, such as 6G")
    power = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[match[2].upper()]
    return int(match[1]) << power


def chosen_backends(names: list[str]) -> tuple[str, ...]:
    """The backends asked for, or what this machine has: the GPU, else interpreter and compile."""
    here = available_backends()
    if not here:
        raise TridiffError("torch or triton is not installed", fix="pip install torch triton, then `tridiff doctor`")
    if not names:
        return ("cuda",) if "cuda" in here else ("interpreter", "compile")
    for name in names:
        if name != "compile" and name not in BACKENDS:
            raise TridiffError(f"unknown backend {name!r}",
                               fix=f"use cuda, interpreter, compile or compile:{'|'.join(ARCHITECTURES)}")
        if name == "cuda" and "cuda" not in here:
            raise TridiffError("no NVIDIA GPU that torch can use", fix="use --backend interpreter, or see "
                               "`tridiff doctor`")
    return tuple(dict.fromkeys(names))


def chosen_devices(text: str, backends: tuple[str, ...]) -> tuple[int, ...]:
    """`0,2` as GPU numbers; all GPUs for an empty text."""
    if "cuda" not in backends:
        return (0,)
    count = gpu_count()
    if not text:
        return tuple(range(count))
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise TridiffError(f"--gpus {text!r} is no list of numbers", fix="write --gpus 0 or --gpus 0,1") from None
    if any(not 0 <= number < count for number in numbers):
        raise TridiffError(f"--gpus {text}: this machine has GPUs 0 to {count - 1}", fix="choose among those")
    return numbers


def default_workers(backends: tuple[str, ...], devices: tuple[int, ...]) -> int:
    """One process per core, on GPUs at most 16 for each."""
    cores = len(os.sched_getaffinity(0))
    return min(cores, 16 * len(devices)) if "cuda" in backends else cores
