"""From the parts of a sweep to its result: exact sets, worst examples, and the inputs to be checked again."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from tridiff.fuzz.sweep import boxes as merging
from tridiff.fuzz.sweep.boxes import Runs
from tridiff.fuzz.sweep.deviations import explained, values_of
from tridiff.fuzz.sweep.execute import NEAR_CODES, WRONG_CODES, Judge, Probed
from tridiff.fuzz.sweep.messages import Inspected, Measured, part_path, write_whole
from tridiff.fuzz.sweep.patterns import operand, text_of
from tridiff.fuzz.sweep.records import CLASSES, Deviation, Example, SweepResult, SweepSpec
from tridiff.fuzz.sweep.source import documented, tolerance_text
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.special_values import special_bits

Indices = npt.NDArray[np.int64]

KEPT_BOXES = 64
"""Boxes per class in a record; more are counted and digested, not listed."""
RUNS_LIMIT = 1 << 19
"""Runs of one class per part after which its set is not followed to its end."""
SAMPLED, NEAR_SAMPLED, WRONG_SAMPLED = 2048, 1024, 512
WELL_ROUNDED = 0.501
"""Largest error up to which there is nothing to draw."""
PEAKS = 64
"""Spans per part whose largest error is looked at again."""


def judge_part(judge: Judge, folder: str, first: int, count: int) -> Measured:
    """Judge spans and leave numbers and runs in the folder."""
    tally = judge.judge(first, count)
    runs, complete = Runs.none(), True
    if len(tally.flagged):
        present = [code for code in WRONG_CODES if tally.counts[code]]
        runs, complete = judge.classify(tally.flagged, classes=present, limit=RUNS_LIMIT)
    chosen = np.argsort(tally.peak_errors)[::-1][:PEAKS]
    near = tally.near[np.linspace(0, len(tally.near) - 1, min(len(tally.near), 8)).astype(np.int64)]
    measured = Measured(
        first=first, count=count, counts=tuple(tally.counts.tolist()), worst=tally.worst, index=tally.index,
        profile=tuple(None if np.isnan(x) else float(x) for x in tally.profile),
        near_spans=tuple(near.tolist()), peaks=tuple(tally.peaks[chosen].tolist()), complete=complete,
        seconds=tally.seconds)
    path = part_path(folder, judge.spec, first)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".npz").open("wb") as file:
        np.savez(file, first=runs.first, last=runs.last, code=runs.code)
    write_whole(path, msgspec.json.encode(measured))
    return measured


def parts_of(folder: str, spec: SweepSpec) -> list[Measured]:
    """All parts of a spec that are in the folder, in order."""
    decode = msgspec.json.Decoder(Measured).decode
    found = sorted((Path(folder) / "parts").glob(f"{spec.key}.*.json"))
    return [decode(path.read_bytes()) for path in found]


def runs_of(folder: str, spec: SweepSpec, parts: list[Measured]) -> Runs:
    """The wrong inputs of all parts."""
    loaded = []
    for part in parts:
        with np.load(part_path(folder, spec, part.first).with_suffix(".npz")) as data:
            loaded.append(Runs(data["first"], data["last"], data["code"]))
    return merging.joined(loaded)


def inspect(judge: Judge, folder: str) -> tuple[Inspected, Probed]:
    """The result without its crosscheck, and the probed inputs to check."""
    spec = judge.spec
    parts = parts_of(folder, spec)
    runs = runs_of(folder, spec, parts)
    counts = np.sum([part.counts for part in parts], axis=0)
    best = max(parts, key=lambda part: part.worst)
    deviations = tuple(_deviation(judge, runs, code, int(counts[code]), best.index)
                       for code in range(1, 8) if counts[code])
    peak = judge.probe(np.array([best.index]))
    right = int(counts[0] + counts[9])
    result = SweepResult(
        spec=spec, verdict="disagree" if deviations else "agree" if right else "not_checked",
        reason="" if right or deviations else "the contract leaves every input open",
        space=judge.space.describe(), inputs=judge.space.size, judged=judge.space.size - int(counts[8]),
        undefined=int(counts[8]), deviations=deviations,
        max_ulps=_example(judge, peak, 0) if best.worst > 0 and judge.measures_ulps else None,
        tolerance=tolerance_text(judge.kernels), documented=documented(spec),
        error_bins=tuple(counts[10:].tolist()) if judge.measures_ulps else (),
        profile=_profile(parts) if judge.measures_ulps and len(spec.dtypes) == 1 else (),
        seconds=sum(part.seconds for part in parts))
    sampled = _stratified(judge)
    near = _near(judge, parts)
    wrong = np.concatenate([_spread(runs.of(code), WRONG_SAMPLED // 4) for code in range(1, 8)])
    probed = judge.probe(np.concatenate([sampled, near, wrong]))
    return Inspected(result=result, near=len(near) + len(wrong), near_total=int(counts[9] + counts[1:8].sum()),
                     sampled=len(sampled)), probed


def _deviation(judge: Judge, runs: Runs, code: int, count: int, index: int) -> Deviation:
    """All inputs of a class. index: where the largest error is, in case that no input of the class was listed."""
    mine = runs.of(code)
    columns, digest = merging.boxes(mine, judge.space)
    if not len(mine):
        # `judge` found them and `probe`, for the same inputs, did not: what surrounds the operation decides.
        probed = judge.probe(np.array([index]))
        unlike = msgspec.structs.replace(_example(judge, probed, 0), actual="another value in the enumerating kernel")
        return explained(judge.spec, Deviation(kind=CLASSES[code], count=count, boxes=(), complete=False,
                                               digest=digest, worst=unlike))
    spread = _spread(mine, 4096)
    probed = judge.probe(spread)
    found = Deviation(
        kind=CLASSES[code], count=count, boxes=merging.as_records(columns[:KEPT_BOXES], judge.space),
        complete=len(columns) <= KEPT_BOXES and mine.inputs == count, digest=digest,
        worst=_example(judge, probed, int(np.argmax(probed.error))))
    return explained(judge.spec, found, values_of(judge.spec, judge.space.patterns(spread)))


def _spread(runs: Runs, limit: int) -> Indices:
    """At most about `limit` inputs of these runs: ends of runs, evenly over all of them."""
    if not len(runs):
        return np.zeros(0, np.int64)
    chosen = np.unique(np.linspace(0, len(runs) - 1, min(len(runs), limit // 2)).astype(np.int64))
    return np.unique(np.concatenate([runs.first[chosen], runs.last[chosen],
                                     (runs.first[chosen] + runs.last[chosen]) // 2]))


def _stratified(judge: Judge) -> Indices:
    """Special values crossed with each other, evenly spaced inputs, random ones of a fixed seed."""
    space = judge.space
    generator = np.random.Generator(np.random.Philox(0xC4EC))
    even = np.linspace(0, space.size - 1, min(space.size, SAMPLED // 4)).astype(np.int64)
    random = generator.integers(0, space.size, SAMPLED // 4)
    places = []
    for one in space.operands:
        listed = np.array([b for b in special_bits(one.dtype)], dtype=np.int64)
        places.append(np.linspace(0, (1 << one.bits) - 1, 24).astype(np.int64) if one.deck else listed)
    crossed = np.zeros(1, np.int64)
    for place, shift in zip(places, space.shifts, strict=True):
        crossed = (crossed[:, None] | (place << shift)[None, :]).reshape(-1)
    crossed = generator.permutation(crossed)[: SAMPLED // 2]
    return np.unique(np.concatenate([even, random, crossed]))


def _near(judge: Judge, parts: list[Measured]) -> Indices:
    spans = np.array(sorted({span for part in parts for span in part.near_spans}), dtype=np.int64)
    peaks = np.array([index for part in parts for index in part.peaks], dtype=np.int64)
    if not len(spans):
        return np.zeros(0, np.int64)
    runs, _ = judge.classify(spans, classes=NEAR_CODES, limit=1 << 20)
    return np.unique(np.concatenate([_spread(runs, NEAR_SAMPLED), peaks]))


def _profile(parts: list[Measured]) -> tuple[float, ...]:
    columns = np.array([[np.nan if x is None else x for x in part.profile] for part in parts], dtype=float)
    largest = np.fmax.reduce(columns, axis=0)
    if not np.isfinite(largest).any() or np.nanmax(largest) <= WELL_ROUNDED:
        return ()
    return tuple(float(f"{x:.4g}") if np.isfinite(x) else -1.0 for x in largest)


def _example(judge: Judge, probed: Probed, at: int) -> Example:
    spec, kernels = judge.spec, judge.kernels
    patterns = judge.space.patterns(probed.index[at : at + 1])
    expected = int(probed.reference[at])
    number = kernels.reference is not None and kernels.reference.kind == "number"
    return Example(
        operands=tuple(f"{int(p[0]):#x}" for p in patterns),
        values=tuple(text_of(operand(name, p)) for name, p in zip(spec.dtypes, patterns, strict=True)),
        actual=text_of(operand(kernels.result, probed.pattern[at : at + 1].view(np.uint64))),
        expected=repr(float(np.array([expected]).view(np.float64)[0])) if number
        else text_of(operand(kernels.result, _masked(expected, kernels.result))),
        ulps=round(float(probed.error[at]), 6))


def _masked(bits: int, name: str) -> npt.NDArray[Any]:
    return np.array([bits & ((1 << dtype(name).bits) - 1)], dtype=np.uint64)


