"""What a launched case gave, for a comparison with another build."""

import functools
import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch

from tridiff.fuzz.backends.launch import LaunchReport
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.judge.check import Trial
from tridiff.fuzz.judge.chunks import chunk_size
from tridiff.fuzz.judge.outputs import judged_mask
from tridiff.fuzz.records.observed import Chunk, Observe, Observed, ObservedOutput

_PTX_COMMENT = re.compile(r"//[^\n]*")
_PTX_NAMES = re.compile(r"^\s*\.(?:loc|file|section|version|target)\b[^\n]*\n|\.debug_\w+[^}]*}", re.MULTILINE)
_PTX_TEXT = re.compile(r"(\.b8 [\w$]+)\[\d+\] = \{([\d, ]+)\}")
_OF_ONE = ("shared", "registers")
"""Resources of one kernel at a time."""

_KERNEL_NAME = re.compile(r"(?:\.entry|tt\.func(?: public)?|\.func)\s+@?([\w$.]+)")
_MLIR_PLACE = re.compile(r"\s*loc\((?:[^()]|\([^()]*\))*\)|^#loc[^\n]*\n", re.MULTILINE)


def observed(trial: Trial, wanted: Observe) -> Observed:
    """Digests of the outputs of the first launch, of the code of all, and the values that are wanted."""
    return Observed(outputs=_outputs(trial, wanted), code=code(trial.reports), resources=_resources(trial.reports),
                    answers={name: text for report in trial.reports for name, text in report.answers.items()})


def _outputs(trial: Trial, wanted: Observe) -> dict[str, ObservedOutput]:
    if not trial.buffers:
        return {}
    rules, unordered = trial.target.judge.rules(trial.case), trial.target.judge.unordered(trial.case)
    found = {}
    for name, buffer in trial.buffers.items():
        if not buffer.is_output:
            continue
        data = _bytes(buffer)
        width = max(buffer.storage.element_size(), 1)
        elements = len(data) // width
        step = chunk_size(elements) * width
        parts = [data[start:start + step] for start in range(0, len(data), step)]
        asked = [number for number in sorted(set(wanted.chunks.get(name, ()))) if number < len(parts)]
        judged = _judged(trial, name, buffer) if asked else b""
        found[name] = ObservedOutput(
            dtype=buffer.spec.dtype, elements=elements,
            rule=(rules[name].member or rules[name]).kind if name in rules else "BIT",
            chunks=tuple(_digest(part) for part in parts), unordered=name in unordered,
            parts=tuple(Chunk(number=number, values=parts[number],
                              judged=judged[number * step // width:(number + 1) * step // width])
                        for number in asked))
    return found


def _bytes(buffer: Buffer) -> bytes:
    logical = buffer.logical.detach().to("cpu").contiguous()
    return logical.reshape(-1).view(torch.uint8).numpy().tobytes() if logical.numel() else b""


def _judged(trial: Trial, name: str, buffer: Buffer) -> bytes:
    """A byte for each element, 1 where the contract defines it; empty if it defines all."""
    expected = trial.expected
    mask = judged_mask(expected.defined, expected.bounds, name, buffer.typed())
    if mask is None:
        return b""
    shape = buffer.typed().shape
    spread = torch.broadcast_to(mask.reshape(mask.shape + (1,) * (len(shape) - mask.dim())), shape)
    return spread.to(device="cpu", dtype=torch.uint8).contiguous().reshape(-1).numpy().tobytes()


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def code(reports: Iterable[LaunchReport]) -> dict[str, str]:
    """Digests of the normalised code of all launches, by stage. A stage of which some launches have no text is left
    out: what a process has compiled before has none, and it is not the same on two builds."""
    launched = [report for report in reports if report.ptx or report.ttgir or report.source]
    found: dict[str, str] = {}
    for stage in ("source", "ttgir", "ptx"):
        texts = [text for report in launched if (text := getattr(report, stage))]
        if texts and len(texts) == len(launched):
            found[stage] = _digest("\n".join(normalised(text, stage) for text in texts).encode())
    if found and any(report.launching for report in launched):
        found["launch"] = _digest("\n".join(report.launching for report in launched).encode())
    return found


def normalised(text: str, stage: str) -> str:
    """Code without what may differ and change nothing: comments, source locations, the kernel's name, the version lines
    of PTX, and the folder of Triton, which assertions of its own functions say when they fail."""
    if stage == "ptx":
        text = _PTX_TEXT.sub(_without_home, _PTX_NAMES.sub("", _PTX_COMMENT.sub("", text)))
    else:
        text = _MLIR_PLACE.sub("", text)
    for number, name in enumerate(dict.fromkeys(_KERNEL_NAME.findall(text))):
        text = re.sub(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", f"kernel{number}", text)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())


def _without_home(found: re.Match[str]) -> str:
    """A text in PTX, which is written as bytes."""
    said, home = bytes(map(int, found[2].split(","))), _home()
    return f"{found[1]} = {said.replace(home, b'triton')!r}" if home in said else found[0]


@functools.cache
def _home() -> bytes:
    import triton  # not before code was compiled: who prepares workers imports this file and must not import Triton

    return str(Path(triton.__file__).parent).encode()


def _resources(reports: Iterable[LaunchReport]) -> dict[str, int]:
    total: dict[str, int] = {}
    for report in reports:
        found: Mapping[str, int] = report.resources
        for name, number in found.items():
            total[name] = max(total.get(name, 0), number) if name in _OF_ONE else total.get(name, 0) + number
        if report.ptx:
            lines = sum(line.strip().endswith(";") for line in report.ptx.splitlines())
            total["instructions"] = total.get("instructions", 0) + lines
    return total
