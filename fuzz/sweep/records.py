"""What is swept, and what came of it: frozen records that become JSON. Imports neither torch nor Triton."""

import hashlib
from typing import Annotated

import msgspec

from tridiff.fuzz.records import Environment, Record

CLASSES = ("agree", "value", "nan_missing", "nan_unexpected", "inf", "zero_sign", "flushed", "subnormal_operand",
           "undefined", "near")
"""Class of one input, by the code of the judge kernel.

value: outside the tolerance. nan_missing, nan_unexpected, inf: NaN or infinity on one side only. zero_sign: a zero of
the wrong sign. flushed: zero of the right sign where the exact result is subnormal. subnormal_operand: wrong in any
of these ways (but flushed) with a subnormal operand, which is what flushed inputs look like. undefined: the contract
leaves the result open; not judged. near: right, but more than half the tolerance away, so that the reference is
checked there.
"""

WRONG = CLASSES[1:8]

Bounded = Annotated[int, msgspec.Meta(ge=0, le=1 << 62)]
Pattern = Annotated[int, msgspec.Meta(ge=0)]
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9_]{1,64}$")]


class SweepOptions(Record, kw_only=True):
    """How the subject is compiled. flush: `enable_reflect_ftz`, on by default in Triton."""

    num_warps: Annotated[int, msgspec.Meta(ge=1, le=32)] = 4
    fp_fusion: bool = True
    flush: bool = True


class SweepSpec(Record, kw_only=True):
    """One sweep: an operation of kernels/pointwise/table.py, its operand types, options.

    planted: index at which the last bit of the result is flipped on purpose, to test the sweep; -1 for none.
    bits: up to 2**bits inputs are enumerated completely; larger spaces are stratified (`space.py`).
    nearest: only the nearest value is right, without saturation, whatever the contract tolerates.
    """

    op: Name
    dtypes: tuple[Name, ...]
    options: SweepOptions = SweepOptions()
    planted: Annotated[int, msgspec.Meta(ge=-1, le=1 << 62)] = -1
    bits: Annotated[int, msgspec.Meta(ge=8, le=34)] = 32
    nearest: bool = False

    @property
    def key(self) -> str:
        """Name that is unique among specs: op, types, and a digest of whatever is not default."""
        strict = ("nearest",) if self.nearest else ()
        rest = msgspec.json.encode((self.options, self.planted, self.bits, *strict))
        default = msgspec.json.encode((SweepOptions(), -1, 32))
        mark = "" if rest == default else "-" + hashlib.blake2b(rest, digest_size=4).hexdigest()
        return f"{self.op}-{'-'.join(self.dtypes)}{mark}"


class Example(Record, kw_only=True):
    """One input with what was computed: patterns as hexadecimal text, values as Python writes them."""

    operands: tuple[str, ...]
    values: tuple[str, ...]
    actual: str
    expected: str
    ulps: float = 0.0


class Box(Record, array_like=True):
    """A product of ranges of patterns, one (first, last) pair per operand, both included."""

    ranges: tuple[tuple[Pattern, Pattern], ...]


class Deviation(Record, kw_only=True):
    """All inputs of one class.

    boxes: their exact set, disjoint, by ascending pattern; complete unless there are too many to keep.
    digest: of the whole set, so that two incomplete lists can be told apart.
    """

    kind: str
    count: Bounded
    boxes: tuple[Box, ...]
    complete: bool
    digest: str
    worst: Example
    known: str = ""


class Crosscheck(Record, kw_only=True):
    """How the reference of the kernel compared with exact arithmetic, mpmath, numpy and torch.

    sampled: stratified inputs compared. near: inputs compared because subject and reference are more than half the
    tolerance apart; near_total: how many there were. worst: largest difference found, in ulps of the result.
    refuted: inputs on which the independent source contradicts the reference's verdict.
    """

    source: str = ""
    sampled: Bounded = 0
    near: Bounded = 0
    near_total: Bounded = 0
    worst: float = 0.0
    refuted: Bounded = 0
    example: str = ""


class SweepResult(Record, kw_only=True):
    """What one sweep found. verdict: agree, disagree, oracles_disagree, not_checked (reason says why)."""

    spec: SweepSpec
    verdict: str
    reason: str = ""
    space: str = ""
    inputs: Bounded = 0
    judged: Bounded = 0
    undefined: Bounded = 0
    deviations: tuple[Deviation, ...] = ()
    max_ulps: Example | None = None
    tolerance: str = ""
    documented: float | None = None
    error_bins: tuple[Bounded, ...] = ()
    profile: tuple[float, ...] = ()
    """Largest error in each of the equal parts of the input range, in order of the patterns."""
    crosscheck: Crosscheck = Crosscheck()
    seconds: float = 0.0
    """Device time of judging, compilation excluded."""

    @property
    def wrong(self) -> int:
        """Inputs in any class but agree and undefined."""
        return sum(one.count for one in self.deviations)


class SweepRecord(Record, kw_only=True):
    """All results of one run of `tridiff sweep` on one Triton version and one kind of device."""

    environment: Environment
    results: tuple[SweepResult, ...]
    seconds: float = 0.0
    compiled: int = 0
    compile_seconds: float = 0.0
    copy_bytes_per_second: float = 0.0
    """Plain device-to-device copy, read plus written bytes; the yardstick."""
    interrupted: bool = False
