"""An explanation as text for a terminal."""

from collections.abc import Iterable, Iterator

from tridiff.fuzz.explain.model import Access, ElementCard, Explanation, Memory, ProgramCard, Stages, Step

WIDTH = 118
MOST_CHANGES = 40
"""Rows of a list that the overview shows; `--json` and `--html` have all."""


def overview(one: Explanation) -> str:
    """The page in the order of the contract: case, source, arguments, grid, verdict, element, stages, checks,
    commands."""
    parts = [_head(one), _source(one), _arguments(one), _memory(one.memory), _element(one.element),
             _program(one.program), _stages(one.stages), _against(one), _checks(one), _blame(one), _commands(one)]
    return "\n\n".join("\n".join(lines) for part in parts if (lines := list(part))) + "\n"


def _head(one: Explanation) -> Iterator[str]:
    yield one.title
    for name, text in one.about.items():
        yield from _wrapped(f"  {name}: {text}", 4)
    yield from one.case
    yield from one.evidence
    if len(one.launches) > 1:
        yield "launches (the one explained is marked; --launch N chooses):"
        for number, name in enumerate(one.launches):
            yield f"  {'>' if number == one.launch else ' '} {number} {name}"


def _wrapped(text: str, indent: int) -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent) or [text]


def _source(one: Explanation) -> Iterator[str]:
    if one.source.problem:
        yield f"source: {one.source.problem}"
        return
    counts = {(line.file, line.line): line.programs for line in one.memory.lines}
    if one.source.functions:
        yield "source (on the left: how many programs ran the line)"
    for function in one.source.functions:
        yield f"  {function.role} {function.name}, {function.file}:{function.line}"
        for number, text in enumerate(function.text.splitlines(), start=function.line):
            ran = counts.get((function.file, number))
            yield f"  {'' if ran is None else ran:>6} {number:>5} | {text}"
    if one.source.globals:
        yield f"  globals: {', '.join(f'{name} = {value}' for name, value in one.source.globals.items())}"
    for branch in one.memory.branches:
        yield (f"  branch, line {branch.line}: {branch.taken} programs entered, {branch.passed} went past   "
               f"{branch.text}")


def _arguments(one: Explanation) -> Iterator[str]:
    found = one.specialisation
    if not found.arguments:
        return
    yield f"arguments; grid {' x '.join(map(str, found.grid))}"
    rows: list[tuple[str, ...]] = [("name", "value", "type", "constant", "divisible", "notes")]
    for argument in found.arguments:
        notes = [word for word, holds in (("constexpr", argument.constexpr), ("is 1", argument.one),
                                          ("never specialised", argument.never_specialised)) if holds]
        notes += [f"default {argument.default}"] if argument.default else []
        rows.append((argument.name, argument.value[:40], argument.type[:24], argument.constant[:40],
                     str(argument.divisible or ""), ", ".join(notes)))
    yield from table(rows)
    differing = [f"{name}={value}" for name, value in found.asked.items()]
    yield f"  options asked for: {' '.join(differing)}"
    shown = ("num_warps", "num_stages", "num_ctas", "shared", "enable_fp_fusion", "debug", "maxnreg", "target", "hash")
    yield f"  as compiled: {' '.join(f'{name}={found.compiled[name]}' for name in shown if name in found.compiled)}"


def table(rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Columns of equal width, the first row being their names."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _memory(memory: Memory) -> Iterator[str]:
    if memory.problem:
        yield f"interpreted: not possible: {memory.problem}"
        return
    if not memory.programs and memory.fault is None:
        return
    yield f"interpreted: {memory.programs} programs, {memory.accesses} accesses, all checked before they happen"
    if memory.verdict:
        yield f"  the oracles say of what the interpreter computes: {memory.verdict}"
    if memory.fault is not None:
        yield f"  FAULT {memory.fault.kind} in program {memory.fault.program}: {memory.fault.problem}"
        for frame in memory.fault.frames:
            yield f"    {frame.function}, {frame.file}:{frame.line}   {frame.text}"
    for written in memory.written:
        said = [f"{len(numbers)} {what} ({_list(numbers)})" for numbers, what in (
            (written.never, "never written"), (written.twice, "written more than once"),
            (written.outside, "written outside of the array")) if numbers]
        yield f"  coverage of {written.buffer}: {'; '.join(said) or f'all {written.elements} elements written once'}"
    for conflict in memory.conflicts:
        yield (f"  RACE {conflict.kind}: {conflict.buffer}[{_list(conflict.elements)}], programs "
               f"{conflict.programs[0]} and {conflict.programs[1]}, lines {conflict.lines[0]} and {conflict.lines[1]}")
    for use in memory.undefined:
        yield (f"  UNDEFINED value as {use.use}, line {use.line}, program {use.program}, {use.lanes} lanes "
               f"{use.place}".rstrip())
    if not memory.conflicts and not memory.undefined and memory.fault is None:
        yield "  no access out of bounds, no race, no use of an undefined value"


def _list(numbers: Iterable[int], most: int = 12) -> str:
    found = list(numbers)
    return " ".join(map(str, found[:most])) + (" ..." if len(found) > most else "")


def _element(card: ElementCard | None) -> Iterator[str]:
    if card is None:
        return
    yield f"element {card.buffer}[{', '.join(map(str, card.index))}] ({card.dtype})"
    for name, text in (*((f"{oracle} expects", value) for oracle, value in card.expected.items()),
                       ("the device gave", card.recorded), ("the interpreter computes", card.interpreted)):
        if text:
            yield f"  {name}: {text}"
    for write in card.writes:
        yield (f"  written by program {write.program}, lane {write.lane}, line {write.line} ({write.operation}): "
               f"{write.before} -> {write.after}")
    for read in card.reads:
        yield f"  read by program {read.program}, lane {read.lane}, line {read.line}: {read.after}"
    if card.problem:
        yield f"  {card.problem}"
    if card.steps:
        yield "  how its value came about (# number of the operation in its program; m: for a mask, a: for an address):"
        if card.left_out:
            yield f"    {card.left_out} earlier steps are left out"
        last = ("", 0)
        for step in card.steps:
            if (step.function, step.line) != last:
                yield f"    line {step.line} ({step.function}): {step.text}"
                last = (step.function, step.line)
            yield f"      {step_line(step)}"


def step_line(step: Step) -> str:
    """An operation with its operands and its result."""
    given = ", ".join(_values(one.values, len(one.values)) + (f" (#{one.step})" if one.step >= 0 else "")
                      for one in step.operands)
    where = f" at {step.place}" if step.place else ""
    mark = {"value": " ", "mask": "m", "address": "a"}[step.role]
    note = f"   [{step.note}]" if step.note else ""
    return (f"#{step.number:<4}{mark} {step.operation}({given}){where} = {_values(step.values, step.count)} "
            f"{step.type}{note}")


def _values(values: tuple[str, ...], count: int) -> str:
    if len(values) == 1 and count == 1:
        return values[0]
    if len(values) > 2 and len(set(values)) == 1 and count == len(values):
        return f"[{count} x {values[0]}]"
    return f"[{' '.join(values)}{' ...' if count > len(values) else ''}]"


def _program(card: ProgramCard | None) -> Iterator[str]:
    if card is None:
        return
    yield f"program {card.program}"
    for value in card.values[-MOST_CHANGES:]:
        shape = f"[{', '.join(map(str, value.shape))}]" if value.shape else ""
        shown = " ".join(value.values[:24]) + (" ..." if len(value.values) > 24 else "")
        yield f"  line {value.line:>4}  {value.name}: {value.type}{shape} = {shown}"
    for access in card.accesses[:MOST_CHANGES]:
        yield f"  {access_line(access)}"


def access_line(access: Access) -> str:
    """One access: elements by lane, - where masked off."""
    shown = " ".join(access.elements[:24]) + (" ..." if access.lanes > 24 else "")
    return (f"program {access.program} line {access.line} {access.operation}: {shown}   "
            f"({access.active} of {access.lanes} lanes)")


def _stages(stages: Stages) -> Iterator[str]:
    if not stages.arch:
        if stages.problem:
            yield f"stages: {stages.problem}"
        return
    yield f"stages for {stages.arch}, Triton {stages.triton}"
    if stages.problem:
        yield f"  FAILED{f' in {stages.failed_in}' if stages.failed_in else ''}: {stages.problem}"
    for stage in stages.texts:
        yield f"  {stage.name:<7} {stage.lines:>6} lines {stage.bytes:>8} bytes"
    if stages.resources is not None:
        one = stages.resources
        limits = ", ".join(f"{limit.by} {limit.blocks}" for limit in one.limits)
        yield (f"  {one.registers} registers, {one.shared} bytes of shared memory, {one.stack} of stack, {one.local} "
               f"of local memory; {one.threads} threads a block, {one.blocks} blocks on a multiprocessor ({limits}), "
               f"occupancy {one.occupancy:.0%}")
    if stages.counters:
        yield from _wrapped("  " + ", ".join(f"{name}: {number}" for name, number in stages.counters.items()), 4)
    for layout in stages.layouts:
        yield f"  layout {layout.name} = {layout.text} of {'x'.join(map(str, layout.shape))}"
    if stages.lines:
        yield "  lines of the source and what they became (lines of each stage):"
        for line in stages.lines:
            counts = ", ".join(f"{stage} {_list(numbers, 5)}" for stage, numbers in line.stages.items()
                               if stage != "source")
            yield f"    {line.line:>5} | {line.text.strip()[:60]:<60} {counts}"
    changed = [one for one in stages.passes if one.changed]
    if stages.passes:
        yield f"  {len(stages.passes)} passes, {len(changed)} change the IR:"
        for one_pass in changed:
            yield f"    {one_pass.stage} {one_pass.name}"
            yield from (f"      {line}" for line in one_pass.diff.splitlines())


def _against(one: Explanation) -> Iterator[str]:
    for difference in one.against:
        if difference.problem:
            yield f"against {difference.against}: {difference.problem}"
        elif not difference.diff:
            yield f"against {difference.against}: {difference.stage} is equal"
        else:
            yield f"against {difference.against}: {difference.stage}"
            yield from (f"  {line}" for line in difference.diff.splitlines())


def _checks(one: Explanation) -> Iterator[str]:
    if one.checks:
        yield "checks"
    for check in one.checks:
        mark = {True: "ok", False: "NOT OK", None: "-"}[check.holds]
        yield f"  {mark:<7}{check.name}: {check.said}"


def _blame(one: Explanation) -> Iterator[str]:
    for blame in one.blame:
        yield f"blame on {blame.backend}, Triton {blame.triton}: {blame.line}"
        yield from (f"  {sentence}" for sentence in blame.evidence)
        if blame.gone:
            yield f"  right with: {', '.join(blame.gone)}"


def _commands(one: Explanation) -> Iterator[str]:
    if one.commands:
        yield "next"
    for command in one.commands:
        yield f"  {command.command}"
        yield f"      {command.does}"
