"""What the parent and its worker processes say to each other: one JSON object per line; no torch, no Triton.

Arrays travel as files in the folder of the run, so that an interrupted run finds them again.
"""

from pathlib import Path

import msgspec

from tridiff.fuzz.records import Environment, Record
from tridiff.fuzz.sweep.records import Example, SweepResult, SweepSpec


class Compile(Record, tag="compile"):
    """Compile the kernels of a spec for an architecture into Triton's cache."""

    spec: SweepSpec
    capability: int


class Part(Record, tag="part"):
    """Judge `count` spans from span `first` on and leave the tally in the folder."""

    spec: SweepSpec
    folder: str
    first: int
    count: int


class Inspect(Record, tag="inspect"):
    """All parts are there: find examples and the inputs to be checked."""

    spec: SweepSpec
    folder: str


class Check(Record, tag="check"):
    """Check the references and write the result."""

    spec: SweepSpec
    folder: str


class Copy(Record, tag="copy"):
    """Measure a plain device copy."""


Task = Compile | Part | Inspect | Check | Copy


class Ready(Record, tag="ready"):
    """The worker is up; spans: inputs per program on this device."""

    environment: Environment


class Done(Record, tag="done"):
    """A task succeeded. compiled: kernels that were not in the cache. rate: bytes per second (Copy)."""

    compiled: int = 0
    seconds: float = 0.0
    rate: float = 0.0
    result: SweepResult | None = None


class Failed(Record, tag="failed"):
    """A task raised: `kind` is the exception's name."""

    kind: str
    message: str


Reply = Ready | Done | Failed

encode = msgspec.json.encode
decode_task = msgspec.json.Decoder(Task).decode
decode_reply = msgspec.json.Decoder(Reply).decode


class Measured(Record, kw_only=True):
    """The numbers of one part, as kept in the folder; runs lie beside them in an .npz file."""

    first: int
    count: int
    counts: tuple[int, ...]
    worst: float
    index: int
    profile: tuple[float | None, ...]
    near_spans: tuple[int, ...]
    peaks: tuple[int, ...]
    complete: bool
    seconds: float


class Inspected(Record, kw_only=True):
    """What `Inspect` leaves for `Check`."""

    result: SweepResult
    near: int
    near_total: int
    sampled: int
    max_ulps: Example | None = None


def part_path(folder: str | Path, spec: SweepSpec, first: int) -> Path:
    """Where the numbers of the part that begins with span `first` are kept."""
    return Path(folder) / "parts" / f"{spec.key}.{first:06}.json"


def result_path(folder: str | Path, spec: SweepSpec) -> Path:
    """Where the result of a spec is kept."""
    return Path(folder) / "results" / f"{spec.key}.json"


def write_whole(path: Path, content: bytes) -> None:
    """A file that is there completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(path.suffix + ".half")
    half.write_bytes(content)
    half.rename(path)
