"""Does blame name the stage and the pass at which a fault was planted?

    python -m tridiff.fuzz.bench.stage_faults --number 60 --json                      # TTIR and TTGIR, without a GPU
    python -m tridiff.fuzz.bench.stage_faults --number 60 --backend cuda --json       # LLVM IR and PTX as well
    python -m tridiff.fuzz.bench.stage_faults --number 80 --backend compile:sm_90     # all of blame, without a GPU

Faults are edits of text (`fuzz.blame.planted`) behind the front end, behind each pass that changes the IR of a case,
and in the LLVM IR and the PTX that ptxas is given. A fault counts if the case fails with it and agrees without; it is
then blamed as any finding, without being told where the fault is; `evaluated` has the values of the IR alone decide.
LLVM IR and PTX are both results of stage `llvm`. Without a GPU their faults are text that is refused.
"""

import argparse
import itertools
import json
import re
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from tridiff.fuzz.backends import kind
from tridiff.fuzz.blame.decide import Seen, decided
from tridiff.fuzz.blame.laboratory import Laboratory
from tridiff.fuzz.blame.localise import blame
from tridiff.fuzz.blame.planted import Plant, edits_of
from tridiff.fuzz.blame.points import Evaluation
from tridiff.fuzz.blame.stages import FRONT_END, stage_of
from tridiff.fuzz.blame.trial import Result, Trial
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, Verdict
from tridiff.fuzz.target import Limits

ARCH = "sm_90"
"""What is compiled for where there is no device."""

_VALUE = r"(%[\w#]+)"
EDITS = (
    (rf"(arith\.(?:subi|divsi|remsi|subf|divf)) {_VALUE}, {_VALUE} :", r"\1 \3, \2 :"),
    (rf"arith\.addi {_VALUE}, {_VALUE} :", r"arith.subi \1, \2 :"),
    (rf"arith\.addf {_VALUE}, {_VALUE} :", r"arith.subf \1, \2 :"),
    (rf"arith\.mulf {_VALUE}, {_VALUE} :", r"arith.addf \1, \2 :"),
    (r"cmpi slt,", "cmpi sle,"), (r"cmpi sgt,", "cmpi slt,"), (r"cmpf ogt,", "cmpf olt,"), (r"cmpf olt,", "cmpf ogt,"),
    (rf"(arith\.select {_VALUE}), {_VALUE}, {_VALUE} :", r"\1, \4, \3 :"),
    (rf"(tt\.store {_VALUE}, {_VALUE}), {_VALUE} :", r"\1 :"),
    (r"arith\.constant dense<1> : ", "arith.constant dense<2> : "),
    (r"arith\.maxsi ", "arith.minsi "), (r"arith\.ori ", "arith.andi "),
)
"""Of TTIR and TTGIR: operands exchanged, another operation, another predicate, a mask dropped, another constant."""

LLVM_EDITS = ((r"= add (i\d+|<\d+ x i\d+>) ", r"= sub \1 "), (r"= fadd (\w+) ", r"= fsub \1 "),
              (r"= icmp slt ", "= icmp sle "), (r"= fmul (\w+) ", r"= fadd \1 "))
PTX_EDITS = ((r"\tadd\.s32 ", "\tsub.s32 "), (r"\tadd(\.rn)?\.f32 ", "\tsub.f32 "), (r"setp\.lt\.s32", "setp.le.s32"),
             (r"setp\.gt\.s32", "setp.ge.s32"))

REFUSED = (("llir", r"= (add|mul|icmp slt) i32 ", r"= \1 i64 "), ("llir", r"= add (i\d+) ", r"= addd \1 "),
           ("llir", r"call (\S+) @llvm\.", r"call \1 @lost."), ("llir", r"label %", "label %lost."),
           ("ptx", r"\tadd\.s32 ", "\tadd.s33 "), ("ptx", r"\t\.reg \.b32 ", "\t.reg .b64 "),
           ("ptx", r"setp\.lt\.s32", "setp.lt.t32"), ("ptx", "\tret;", "\tbra lost;"))
"""Stage, pattern and replacement of LLVM IR and PTX that no tool takes: an operand of another type, an instruction, a
function or a label that there is not."""

TARGETS = ("triton.vector_add", "triton.floordiv", "triton.mod", "helpers.max2", "helpers.maximum", "helpers.prod",
           "helpers.min_with_index", "triton.negate", "helpers.remainder_integer")
"""Whose cases the faults are planted in: kernels with masks, divisions, reductions with one value and with two."""

LIMITS = Limits(elements=1 << 6, rows=1 << 3)
DRAWS = 8


class Planted(msgspec.Struct, frozen=True, kw_only=True):
    """One fault that showed, and what blame said. seconds: of the blame."""

    target: str
    fault: str
    stage: str
    step: str
    said_stage: str
    said_step: str
    confidence: str
    seconds: float

    @property
    def right_stage(self) -> bool:
        return self.stage == self.said_stage

    @property
    def right_step(self) -> bool:
        """Text of a stage has no pass that could be named."""
        return self.right_stage and (self.step == self.said_step or self.fault.startswith("stage "))


def faults(texts: Mapping[str, str], *, device: bool) -> Iterator[Plant]:
    """Every edit behind every step that has a place for it, the edits in turn. texts: the IR behind the front end and
    behind passes that change it, by the step's title."""
    for number in range(2):
        for pattern, put in EDITS:
            for title, text in texts.items():
                if len(re.findall(pattern, text)) > number:
                    yield Plant(title, pattern, put, number)
        if device:
            for stage, edits in (("llir", LLVM_EDITS), ("ptx", PTX_EDITS)):
                for pattern, put in edits:
                    yield Plant(f"stage {stage}", pattern, put, number)


def planted_at(fault: Plant) -> tuple[str, str]:
    """The stage and the pass that blame has to name."""
    if fault.step.startswith("stage "):
        return "llvm", ""
    return stage_of(fault.step)


def evaluated(name: str, seed: int, whole: float = 0.0) -> Iterator[Planted | None]:
    """Every fault of a target's first case that shows in the values of the IR, decided from these values alone; None
    for each that does not show. whole: seconds for all of blame instead, the start of its processes included."""
    for case in draw_cases(name, LIMITS, DRAWS, seed=seed):
        control = Evaluation(ARCH)
        values = control.values(case, "own", seconds=60)
        if not values or any(one.outcome is None or one.outcome.verdict is not Verdict.AGREE for one in values):
            continue
        for fault in faults(control.runner.texts(), device=False):
            began = time.monotonic()
            values = Evaluation(ARCH, **edits_of(fault.written)).values(case, "own", seconds=60)
            if not values or values[-1].outcome is None or values[-1].outcome.verdict is not Verdict.DISAGREE:
                yield None
                continue
            if whole:
                yield _blamed(name, case, f"evaluated:{ARCH}", fault, whole)
                continue
            said = decided(Seen(subject="own", backend=f"evaluated:{ARCH}", values=values))
            yield _planted(name, fault, said.stage, said.step, said.confidence, time.monotonic() - began)
        return


def on_device(name: str, backend: str, laboratory: Laboratory, seconds: float,
              seed: int) -> Iterator[Planted | None]:
    """Every fault of a target's first case that shows on the device, blamed as findings are; None for each that does
    not show."""
    for case in draw_cases(name, LIMITS, DRAWS, seed=seed):
        def run(what: str, case: Case = case, **more: object) -> Result:
            laboratory.renew(seconds)
            given = {"case": case, "subject": "own", "backend": backend, "seconds": seconds, **more}
            return laboratory.run(Trial(name=what, **given))  # type: ignore[arg-type]

        control = run("control", stepped=True, texts=True)
        if control.outcome is None or control.outcome.verdict is not Verdict.AGREE or not control.texts:
            continue
        texts = {FRONT_END: control.texts["source"]} | {
            one.title: control.texts[one.key] for one in reversed(control.steps)
            if one.changed and one.stage in ("make_ttir", "make_ttgir")}
        for fault in faults(texts, device=True):
            shown = run("shows", plant=fault.written)
            if shown.outcome is None or shown.outcome.verdict is not Verdict.DISAGREE:
                yield None
                continue
            laboratory.renew(seconds)
            yield _blamed(name, case, backend, fault, seconds, laboratory)
        return


def refused(wanted: str, seconds: float, seed: int) -> Iterator[Planted | None]:
    """Faults of the LLVM IR or the PTX of the targets' first cases that show without a device, blamed as findings are;
    None for each that does not show."""
    for name, (stage, pattern, put) in itertools.product(TARGETS, REFUSED):
        if stage == wanted:
            fault, case = Plant(f"stage {stage}", pattern, put), draw_cases(name, LIMITS, 1, seed=seed)[0]
            yield _blamed(name, case, f"compile:{ARCH}", fault, seconds)


def _blamed(name: str, case: Case, backend: str, fault: Plant, seconds: float,
            laboratory: Laboratory | None = None) -> Planted | None:
    """As any finding; None where the case does not fail."""
    began = time.monotonic()
    try:
        said = blame(case, "own", backend, plant=fault.written, seconds=seconds, laboratory=laboratory)
    except TridiffError:
        return None
    return _planted(name, fault, said.stage, said.step, said.confidence, time.monotonic() - began)


def _planted(name: str, fault: Plant, said_stage: str, said_step: str, confidence: str, seconds: float) -> Planted:
    stage, step = planted_at(fault)
    return Planted(target=name, fault=fault.written, stage=stage, step=step, said_stage=said_stage,
                   said_step=said_step, confidence=confidence, seconds=round(seconds, 2))


def figures(found: Sequence[Planted]) -> dict[str, float]:
    """Shares of right stages and passes, and seconds."""
    number = len(found)
    return {"faults": number,
            "right_stage": round(sum(one.right_stage for one in found) / number, 4) if number else 0.0,
            "right_pass": round(sum(one.right_step for one in found) / number, 4) if number else 0.0,
            "median_seconds": statistics.median(one.seconds for one in found) if number else 0.0}


def main() -> None:
    """Plant, blame and print; the targets in turn, so that a small number has all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--number", type=int, default=60, help="faults that show")
    parser.add_argument("--backend", default="evaluated", help="cuda, or compile for all of blame")
    parser.add_argument("--seconds", type=float, default=120.0, help="longest blame")
    parser.add_argument("--time", type=float, default=1500.0, help="seconds of all faults")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="write each fault here, a line of JSON each")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    began, found = time.monotonic(), list[Planted]()
    with Laboratory(seconds=given.seconds) as laboratory:
        streams = [on_device(name, given.backend, laboratory, given.seconds, given.seed)
                   if kind(given.backend) == "cuda" else
                   evaluated(name, given.seed, given.seconds if kind(given.backend) == "compile" else 0.0)
                   for name in TARGETS]
        if kind(given.backend) == "compile":
            streams += [refused(stage, given.seconds, given.seed) for stage in ("llir", "ptx")]
        for one in filter(None, itertools.chain.from_iterable(itertools.zip_longest(*streams))):
            found.append(one)
            if given.keep is not None:
                with given.keep.open("ab") as file:
                    file.write(msgspec.json.encode(one) + b"\n")
            if len(found) >= given.number or time.monotonic() - began > given.time:
                break
    said = figures(found)
    print(json.dumps(said) if given.json else "\n".join(f"{name}: {value}" for name, value in said.items()))


if __name__ == "__main__":
    main()
