"""The launches that a target makes of a case, noted instead of made."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
import torch

from tridiff.fuzz.backends.launch import Launch, LaunchReport, resolve
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.kinds.graphs.arrays import after
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.fuzz.repro.request import no_script
from tridiff.fuzz.target import Target
from tridiff.fuzz.target.subjects import Subject


@dataclass(frozen=True)
class Call:
    """One launch. text: TTGIR, where that is what was launched and not a jit function."""

    kernel: Any
    grid: tuple[int, int, int]
    arguments: dict[str, Any]
    options: LaunchOptions
    text: str = ""


class Recorder:
    """Takes the place of a runner and remembers what it was asked to launch."""

    backend = "record"

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def run(self, kernel: Any, grid: tuple[int, int, int], arguments: dict[str, Any],
            options: LaunchOptions) -> LaunchReport:
        self.calls.append(Call(kernel, grid, arguments, options))
        return LaunchReport()

    def run_ir(self, text: str, grid: tuple[int, int, int], arguments: dict[str, Any],
               options: LaunchOptions) -> LaunchReport:
        self.calls.append(Call(None, grid, arguments, options, text))
        return LaunchReport()

    def synchronise(self) -> None:
        return None


def recorded(case: Case, target: Target, subject: Subject, buffers: Mapping[str, Buffer], *,
             schedule: int = 0) -> list[Call]:
    """What the subject would launch of the case in a schedule, in order."""
    options = case.options
    if subject.hook == "runtime_error":
        options = msgspec.structs.replace(options, debug=True)
    recorder = Recorder()
    pointers = {name: buffer.pointer for name, buffer in buffers.items()}
    target.run.launch(Launch(case=case, pointers=pointers, helper=resolve(subject.helper), fault=subject.hook,
                             planted=subject.fault, options=options, schedule=schedule,
                             runner=recorder))
    return recorder.calls


def calls_about(calls: list[Call], buffers: Mapping[str, Buffer], where: str) -> list[Call]:
    """Those of several launches that are given the array `where`; all where it is none of the case's."""
    if len(calls) < 2 or where not in buffers:
        return calls
    return [call for call in calls if any(one is buffers[where].pointer for one in call.arguments.values())]


def where_held(name: str, used: Collection[str]) -> str:
    """The array in which a launch leaves what an output holds: of an array that is read and written, of which the
    output is a copy made behind the launch, that one. used: the arrays that launches are given."""
    return next((one for one in used if name not in used and after(one) == name), name)


def array_of(buffers: Mapping[str, Buffer], tensor: torch.Tensor) -> str:
    """The name of the array that an argument points to."""
    for name, buffer in buffers.items():
        if buffer.pointer is tensor:
            return name
        if tensor.dtype is torch.bool and tensor.data_ptr() == buffer.pointer.data_ptr():
            return name
    raise no_script("the launch has a scratch array that the case does not describe")
