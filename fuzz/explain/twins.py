"""Stores that write one register to several neighbours: right only where the lanes have equal values.

The compiled text says which places share a register (`found`); the interpreter's stores say whether their values are
equal (`held`). This shows a lowering that takes a block for constant over neighbours when it is not.
"""

import re
from collections.abc import Iterable
from itertools import combinations

import numpy as np

from tridiff.fuzz.explain.lines import Place, places
from tridiff.fuzz.explain.request import Judged, Twins
from tridiff.fuzz.interpreter.trace import Event, Trace

_STORE = re.compile(r"\bst\.(?:\w+\.)*?global[\w.:]*?\.[bufs](\d+)\s*\[\s*(%\w+)\s*(?:\+\s*(-?\d+))?\s*\],"
                    r"\s*\{?([^};]*)")
_COPY = re.compile(r"^\s*mov\.\w+\s+(%\w+),\s*(%\w+);")
_FURTHER = re.compile(r"^\s*add\.[su]64\s+(%\w+),\s*(%\w+),\s*(-?\d+);")

Run = dict[int, str]
"""Registers by the byte behind the address register at which they are stored."""


def found(ptx: str) -> tuple[Twins, ...]:
    """The stores of a kernel in which a register stands twice among neighbours, with their source lines."""
    copies: dict[str, str] = {}
    bases: dict[str, tuple[str, int]] = {}
    stores: dict[tuple[frozenset[Place], str, int], Run] = {}
    for line, where in zip(ptx.splitlines(), places("ptx", ptx), strict=True):
        if copy := _COPY.match(line):
            copies[copy[1]] = copies.get(copy[2], copy[2])
        if further := _FURTHER.match(line):
            base, behind = bases.get(further[2], (further[2], 0))
            bases[further[1]] = base, behind + int(further[3])
        if not (store := _STORE.search(line)) or not where:
            continue
        width = int(store[1]) // 8
        base, behind = bases.get(store[2], (store[2], 0))
        run = stores.setdefault((where, base, width), {})
        for number, register in enumerate(store[4].split(",")):
            name = register.strip()
            run[behind + int(store[3] or 0) + number * width] = copies.get(name, name)
    shared: dict[tuple[Place, int, int], set[tuple[int, int]]] = {}
    for (where, _, width), run in stores.items():
        for registers in _neighbours(run, width):
            pairs = {(one, other) for one, other in combinations(range(len(registers)), 2)
                     if registers[one] == registers[other]}
            for place in where:
                key = (place, width, len(registers))
                # Of several stores of one line only what all of them share is sure to concern every lane.
                shared[key] = shared[key] & pairs if key in shared else pairs
    return tuple(Twins(file=file, line=line, width=width, places=number, pairs=tuple(sorted(pairs)))
                 for ((file, line), width, number), pairs in sorted(shared.items()) if pairs)


def _neighbours(run: Run, width: int) -> list[list[str]]:
    """Registers that are stored side by side, at least two at a time."""
    groups: list[list[str]] = []
    before = None
    for offset in sorted(run):
        if before is not None and offset == before + width:
            groups[-1].append(run[offset])
        else:
            groups.append([run[offset]])
        before = offset
    return [one for one in groups if len(one) > 1]


def held(trace: Trace, twins: Iterable[Twins]) -> tuple[tuple[Judged, ...], int]:
    """The stores that are wrong by the interpreter's values, and how many are right."""
    wrong, right = [], 0
    for one in twins:
        differs: dict[tuple[int, int], tuple[str, tuple[str, str]]] = {}
        looked = False
        for event in trace.events:
            location = event.location
            if location is None or location.line != one.line or not location.file.endswith(one.file) or (
                    event.operation not in ("store", "descriptor_store")):
                continue
            looked = True
            for pair, shown in _differing(trace, event, one):
                differs.setdefault(pair, shown)
        if differs:
            place, values = next(iter(differs.values()))
            wrong.append(Judged(line=one.line, pairs=tuple(differs), place=place, values=values))
        elif looked:
            right += 1
    return tuple(wrong), right


def _differing(trace: Trace, event: Event, one: Twins) -> list[tuple[tuple[int, int], tuple[str, tuple[str, str]]]]:
    """Pairs of places that one register fills, where the interpreter stores different values.

    A thread stores as many neighbouring lanes as there are places, beginning at a multiple of their number."""
    owners, elements, after = event.buffer.ravel(), event.element.ravel(), event.after.ravel()
    found = []
    for index in sorted(set(owners.tolist()) - {-1}):
        buffer = trace.buffers[index]
        per_place = max(one.width // buffer.element_bytes, 1)
        group = per_place * one.places
        for start in range(0, owners.size - group + 1, group):
            lanes = np.arange(start, start + group)
            active = owners[lanes] == index
            if active.sum() < 2 or np.unique((elements[lanes] - lanes)[active]).size != 1:
                continue  # masked off, or no neighbours in memory
            for pair in one.pairs:
                first, second = (lanes[place * per_place:(place + 1) * per_place] for place in pair)
                both = (owners[first] == index) & (owners[second] == index)
                unlike = both & (after[first] != after[second])
                if unlike.any():
                    at = int(np.argmax(unlike))
                    found.append((pair, (f"{buffer.name}[{int(elements[first][at])}]", (
                        hex(int(after[first][at])), hex(int(after[second][at]))))))
    return found
