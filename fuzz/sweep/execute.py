"""One sweep on one device: launches the judge kernels and brings home what they found. Runs in a worker process.

The same code drives a GPU and the interpreter; only the number of lanes per program differs.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from tridiff.fuzz.sweep.boxes import Runs, joined
from tridiff.fuzz.sweep.records import SweepSpec
from tridiff.fuzz.sweep.source import COUNTERS, IN_INTERPRETER, ON_DEVICE, Kernels, Shape, build
from tridiff.fuzz.sweep.space import deck
from tridiff.kernels.generated import load

PROFILE = 128
"""Parts of the input range for which the largest error is kept."""
LOOKED_AT = 1 << 20
"""Inputs of a small space that are looked at one by one for the profile."""
SPANS_AT_ONCE = 1 << 16
CLASSIFIED_AT_ONCE = 1 << 25
"""Inputs looked at one by one that are in memory at a time, some 40 bytes each."""


WRONG_CODES, NEAR_CODES = tuple(range(1, 8)), (9,)
"""Codes of records.CLASSES: wrong ones; right beyond half the tolerance."""


@dataclass(frozen=True)
class Tally:
    """What `judge` says of consecutive spans.

    counts: (10 classes + 8 error bins), int64. worst: largest counted error, index: where. profile: largest error of
    each of PROFILE equal parts of the whole space, NaN for parts not covered. flagged: spans with a wrong input.
    near: spans with a right one beyond half the tolerance. peaks: index of the largest error of each span.
    """

    counts: npt.NDArray[np.int64]
    worst: float
    index: int
    profile: npt.NDArray[np.float64]
    flagged: npt.NDArray[np.int64]
    near: npt.NDArray[np.int64]
    peaks: npt.NDArray[np.int64]
    peak_errors: npt.NDArray[np.float32]
    seconds: float


@dataclass(frozen=True)
class Probed:
    """What `probe` says of listed inputs: zero-extended result patterns, reference bits, class codes, errors."""

    index: npt.NDArray[np.int64]
    pattern: npt.NDArray[np.int64]
    reference: npt.NDArray[np.int64]
    code: npt.NDArray[np.int8]
    error: npt.NDArray[np.float32]


class Judge:
    """The loaded kernels of one spec on one device ("cuda", "cuda:1", or "cpu" for the interpreter)."""

    def __init__(self, spec: SweepSpec, *, device: str, shape: Shape | None = None) -> None:
        self.spec = spec
        self.device = torch.device(device)
        usual = IN_INTERPRETER if self.device.type == "cpu" else ON_DEVICE
        self.kernels: Kernels = build(spec, shape=shape or usual)
        self.space = self.kernels.space
        self.span = self.kernels.shape.span
        self.spans = self.space.size // self.span
        self._module = load(self.kernels.text, name="sweep_" + spec.op)
        listed = [self.space.operands[index] for index in self.kernels.decks]
        self._decks = [torch.from_numpy(deck(one.dtype, one.bits).view(np.int64).copy()).to(self.device)
                       for one in listed]

    @property
    def measures_ulps(self) -> bool:
        """Whether errors are in ulps: results are floats compared as numbers."""
        found = self.kernels.reference
        return found is not None and found.kind == "number" and self.kernels.result != "fp64"

    def _launch(self, name: str, programs: int, *arguments: Any) -> None:
        options: dict[str, Any] = {}
        if self.device.type == "cuda":
            options = launch_options(self.spec)
        getattr(self._module, name)[(programs,)](*arguments, *self._decks, **options)

    def _empty(self, *shape: int, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(shape, dtype=dtype, device=self.device)

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def judge(self, first: int, count: int) -> Tally:
        """Judge `count` spans from span `first` on."""
        counts = self._empty(count, COUNTERS, dtype=torch.int32)
        worst = self._empty(count, dtype=torch.float32)
        where = self._empty(count, dtype=torch.int32)
        self._launch("judge", 1, counts[:1], worst[:1], where[:1], first, 0)  # compile before the clock starts
        self._wait()
        started = time.perf_counter()
        for begin in range(0, count, SPANS_AT_ONCE):
            number = min(SPANS_AT_ONCE, count - begin)
            part = slice(begin, begin + number)
            self._launch("judge", number, counts[part], worst[part], where[part], first + begin, 0)
        self._wait()
        seconds = time.perf_counter() - started
        wrong = (counts[:, 1:8].sum(1) > 0).nonzero().squeeze(1) + first
        near = (counts[:, 9] > 0).nonzero().squeeze(1) + first
        errors = worst.cpu().numpy()
        peaks = (np.arange(first, first + count) * self.span) + where.cpu().numpy()
        best = int(errors.argmax())
        return Tally(
            counts=counts.sum(0, dtype=torch.int64).cpu().numpy(), worst=float(errors[best]), index=int(peaks[best]),
            profile=self._profile(errors, first), flagged=wrong.cpu().numpy(), near=near.cpu().numpy(),
            peaks=peaks, peak_errors=errors, seconds=seconds)

    def _profile(self, errors: npt.NDArray[np.float32], first: int) -> npt.NDArray[np.float64]:
        parts = min(PROFILE, self.space.size)
        if self.spans < parts:
            # Spans are coarser than the picture: look at the inputs themselves, where there are few.
            if self.space.size > LOOKED_AT or len(self.space.operands) > 1 or not self.measures_ulps:
                return np.full(parts, np.nan)
            _, _, code, error = self._looked_up(torch.arange(self.space.size, device=self.device))
            counted = (code <= 1) | (code == 9)
            largest = torch.where(counted, error, torch.full_like(error, -1.0)).reshape(parts, -1).amax(1)
            wide = largest.cpu().numpy().astype(np.float64)
            return np.where(wide < 0, np.nan, wide)
        found = np.full(parts, np.nan)
        part = (np.arange(first, first + len(errors)) * parts) // self.spans
        np.fmax.at(found, part, np.where(errors < 0, np.nan, errors))
        return found

    def classify(self, spans: npt.NDArray[np.int64], *, classes: Sequence[int] = WRONG_CODES,
                 limit: int) -> tuple[Runs, bool]:
        """(runs of inputs of these classes in these spans, whether all are there): some `limit` runs of each class."""
        at_once = max(1, CLASSIFIED_AT_ONCE // self.span)
        parts: list[Runs] = []
        total = np.zeros(10, np.int64)
        for begin in range(0, len(spans), at_once):
            # A class with too many runs is not followed further, the others are.
            followed = [code for code in classes if total[code] <= limit]
            if not followed:
                break
            part = self._classified(spans[begin : begin + at_once], followed)
            parts.append(part)
            total += np.bincount(part.code, minlength=10)
        return joined(parts), bool((total <= limit).all())

    def _classified(self, spans: npt.NDArray[np.int64], followed: list[int]) -> Runs:
        bases = torch.from_numpy(np.ascontiguousarray(spans)).to(self.device) * self.span
        index = (bases[:, None] + torch.arange(self.span, device=self.device)).reshape(-1)
        codes = self._looked_up(index)[2]
        wanted = torch.isin(codes, torch.tensor(followed, dtype=codes.dtype, device=self.device))
        codes = torch.where(wanted, codes, torch.zeros_like(codes))
        change = torch.ones(len(codes), dtype=torch.bool, device=self.device)
        change[1:] = codes[1:] != codes[:-1]
        # Runs end with their span, which may have no neighbour here, and with their row.
        change[:: min(self.span, 1 << self.space.operands[-1].bits)] = True
        starts = change.nonzero().squeeze(1)
        ends = torch.cat([starts[1:], torch.tensor([len(codes)], device=self.device)]) - 1
        keep = codes[starts] != 0
        first, last, kinds = index[starts[keep]], index[ends[keep]], codes[starts[keep]]
        return Runs(first.cpu().numpy(), last.cpu().numpy(), kinds.cpu().numpy())

    def probe(self, index: npt.NDArray[np.int64]) -> Probed:
        """Everything about the listed inputs."""
        listed = torch.from_numpy(np.ascontiguousarray(index, dtype=np.int64)).to(self.device)
        pattern, reference, code, error = (found.cpu().numpy() for found in self._looked_up(listed))
        return Probed(np.asarray(index), pattern, reference, code, error)

    def _looked_up(self, index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        count = len(index)
        pattern, reference = (self._empty(count, dtype=torch.int64) for _ in range(2))
        code, error = self._empty(count, dtype=torch.int8), self._empty(count, dtype=torch.float32)
        self._launch("probe", -(-count // self.kernels.shape.probed), pattern, reference, code, error, index, count)
        return pattern, reference, code, error


def launch_options(spec: SweepSpec) -> dict[str, Any]:
    """Compile options of a spec, under Triton's names."""
    options = spec.options
    return {"num_warps": options.num_warps, "enable_fp_fusion": options.fp_fusion, "enable_reflect_ftz": options.flush}
