"""Ordinary kernels with pipelined or specialised loops and with tensor descriptors, as cases.

cases.py      the arrays that belong to a loop, which cases are valid, and simpler loops
draw.py       Hypothesis strategies
answers.py    a loop evaluated with the functions of the oracles, in numpy and in torch
launching.py  loop -> launch, and its plain version
"""

import typing

from tridiff.fuzz.kinds.kind import ProgramKind, answers_of
from tridiff.fuzz.kinds.loops import cases
from tridiff.kernels.pipelines.loop_programs import Loop, Work

_ROOM = "tridiff.fuzz.kinds.loops"

KIND = ProgramKind(
    programs=typing.get_args(Loop), breadth=len(typing.get_args(Work)), launch=f"{_ROOM}.launching:run",
    references=answers_of(f"{_ROOM}.answers"),
    valid=cases.valid, steps=cases.steps, size=cases.size, label=cases.label, coverage=cases.cells,
    bounded=lambda case: ("out",) if cases.approximate(case) else (), bound=("torch", f"{_ROOM}.answers:product_bound"),
    bound_rule="tridiff.oracles.bounded:RULES[dot_bound]",
    numeric=lambda case: ("out",) if cases.numeric(case) else (), across=cases.across_programs, delays="warp")
