"""Checks that need no run on a device: the compiled texts held against what was asked for and what is interpreted."""

import re
from collections.abc import Iterator

from tridiff.fuzz.explain.model import Check
from tridiff.fuzz.explain.request import Compiled, Interpreted
from tridiff.fuzz.explain.uniform import read_unwritten, undefined_in
from tridiff.fuzz.judge.ptx_orders import missing_orders
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find

_PACKED_SUM = re.compile(r"\bVIADD\.16x2 [^;]*;")
_VECTOR = re.compile(r"^ptx (load|store) global (\d+) B$")


def checked(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> tuple[Check, ...]:
    """All checks for which there is a text. holds: None where a check has nothing to decide."""
    if not compiled.stages.text("ptx"):
        return ()
    asked = (_shared_registers, _uniform_registers, _packed_sums, _flushes, _orders, _memory, _assertions, _vectors)
    return tuple(check for one in asked for check in one(compiled, interpreted, case))


def _shared_registers(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    """One register for lanes that have different values: the lowering took a block for constant where it is not."""
    name = "one register, different values"
    for one in interpreted.misjoined:
        pairs = ", ".join(f"{first} and {second}" for first, second in one.pairs)
        yield Check(name=name, holds=False, said=(
            f"the store of line {one.line} writes one register to places {pairs} of what a thread stores; the "
            f"interpreter has {one.values[0]} and {one.values[1]} there, from {one.place} on"))
    if not interpreted.misjoined and not interpreted.problem:
        yield Check(name=name, holds=True, said=(
            f"{interpreted.joined} stores write one register to neighbours, and the interpreter has equal values there"
            if interpreted.joined else "no store writes one register to neighbours"))


def _uniform_registers(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    """What an earlier kernel left in a register must not be used: ptxas wrote another one."""
    code = compiled.stages.text("sass")
    found = read_unwritten(code) if code else None
    if found is None:
        return
    name = "uniform registers"
    if not found:
        yield Check(name=name, holds=True, said="each is written on some way to where it is read")
        return
    said = f"read before anything writes them: {'; '.join(found[:3])}"
    undefined = ", ".join(sorted(undefined_in(compiled.stages.text("ptx"))))
    if undefined:
        yield Check(name=name, holds=None, said=f"{said}; the PTX reads {undefined}, which nothing writes either")
    else:
        yield Check(name=name, holds=False, said=said)


def _packed_sums(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    """ptxas up to 13.1 loses the constant of a sum of two 16-bit integers, and adds 0 (triton#11581)."""
    sums = _PACKED_SUM.findall(compiled.stages.text("sass"))
    lost = [one for one in sums if one.endswith(", 0x0 ;")]
    if sums:
        yield Check(name="packed sums", holds=not lost, said=(
            f"{len(lost)} of {len(sums)} add 0: {lost[0]}" if lost else f"none of {len(sums)} adds 0"))


def _flushes(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    number = compiled.stages.counters.get("ptx flush to zero", 0)
    if not number:
        yield Check(name="flush to zero", holds=True, said="no instruction takes subnormal numbers for zero")
    elif interpreted.subnormal:
        yield Check(name="flush to zero", holds=False, said=(
            f"{number} instructions take subnormal numbers for zero, and {', '.join(interpreted.subnormal)} has some"))
    else:
        yield Check(name="flush to zero", holds=None, said=(
            f"{number} instructions take subnormal numbers for zero; no input of fp32 has any"))


def _orders(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    counters = compiled.stages.counters
    said = [f"{number} {name.removeprefix('ptx ')}" for name, number in counters.items()
            if name.startswith("ptx atomic") or name in ("ptx barrier", "ptx mbarrier", "ptx fence")]
    if not said:
        return
    wanted = find(case.target).run.memory_orders(case) if case is not None else ()
    lacking = missing_orders(compiled.stages.text("ptx"), wanted)
    yield Check(name="atomics and barriers", holds=not lacking if wanted else None, said=(
        f"{', '.join(said)}{f'; missing: {chr(44).join(lacking)}' if lacking else ''}"))


def _memory(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    found = compiled.stages.resources
    if found is None:
        return
    spilled = found.local or found.stack or compiled.stages.counters.get("sass STL", 0)
    yield Check(name="spills", holds=not spilled, said=(
        f"{found.stack} bytes of stack, {found.local} bytes of local memory per thread" if spilled else
        f"none: {found.registers} registers hold everything"))


def _assertions(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    asked = compiled.specialisation.asked.get("debug") == "True"
    written = any("device_assert" in one.text for one in compiled.source.functions)
    present = compiled.stages.counters.get("ptx assertion", 0)
    if not written and not present:
        return
    yield Check(name="assertions", holds=bool(present) == asked if written else not present, said=(
        f"{present} in the code, {'asked for' if asked else 'not asked for'}"
        f"{'' if written else ', and the source has none'}"))


def _vectors(compiled: Compiled, interpreted: Interpreted, case: Case | None) -> Iterator[Check]:
    """The widest access against what was said about alignment."""
    widths = [int(match[2]) for name in compiled.stages.counters if (match := _VECTOR.match(name))]
    pointers = [one for one in compiled.specialisation.arguments if one.type.startswith("*")]
    if not widths or not pointers:
        return
    aligned = [one.name for one in pointers if one.divisible >= 16]
    widest = max(widths)
    hinted = any(word in one.text for one in compiled.source.functions for word in ("multiple_of", "make_tensor_desc"))
    yield Check(name="vector width", holds=bool(widest <= 8 or aligned or hinted), said=(
        f"accesses of up to {widest} bytes; said to be aligned to 16: {', '.join(aligned) or 'no pointer'}"
        f"{'; the source gives hints' if hinted else ''}"))
