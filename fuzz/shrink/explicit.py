"""Minimise a failing case itself: cut the row, list the values, then take away whatever is not needed.

Every step proposes a strictly simpler case (`order.simplicity`) and keeps it if it is valid for the target
and fails with the same signature.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from tridiff.fuzz.content.text import complexity, from_bits, to_bits
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import (
    ArraySpec,
    Case,
    Constant,
    Content,
    Evidence,
    Explicit,
    Iota,
    LaunchOptions,
    Layout,
    Outcome,
    Verdict,
)
from tridiff.fuzz.shrink.dtypes import alone, with_setting
from tridiff.fuzz.shrink.order import simplicity
from tridiff.fuzz.target import Target
from tridiff.oracles.dtypes import dtype as dtype_info

Run = Callable[[Case], Outcome]
Inputs = Callable[[Case], Evidence]


MOST_VALUES = 256
"""Elements of a case whose values are written out."""

RACING_RUNS, RACING_HITS = 8, 2
"""Where programs wait for each other: how often a candidate is run, and how often it must fail. One failure in eight
would often not show again in the five runs that confirm it."""

MOST_REPEATS = 16


@dataclass(frozen=True, kw_only=True)
class Shrunk:
    """The simplest case found, its outcome, and how many runs it took."""

    case: Case
    outcome: Outcome
    runs: int


class _Search:
    def __init__(self, case: Case, outcome: Outcome, target: Target, run: Run, inputs: Inputs, max_runs: int,
                 seconds: float) -> None:
        self.inputs = inputs
        self.case, self.outcome, self.target = case, outcome, target
        self._run, self._max_runs = run, max_runs
        self._deadline = time.monotonic() + seconds
        self._seen: set[str] = set()
        # Interpreted programs run one after the other.
        self._racing = (outcome.backend == "cuda" and outcome.verdict is Verdict.DISAGREE
                        and target.run.waiting_programs(case) > 1)
        self.runs = 0

    @property
    def exhausted(self) -> bool:
        return self.runs >= self._max_runs or self.late

    @property
    def late(self) -> bool:
        return time.monotonic() > self._deadline

    def accept(self, candidate: Case, *, any_order: bool = False) -> bool:
        """Whether the candidate becomes the current case."""
        if self.exhausted:
            return False
        if not any_order and not simplicity(candidate, self.target) < simplicity(self.case, self.target):
            return False
        if candidate.digest in self._seen or not self.target.draw.valid(candidate):
            return False
        self._seen.add(candidate.digest)
        self.runs += 1
        try:
            outcome = self._fails(candidate)
        except TridiffError:
            return False
        if outcome is None:
            return False
        self.case, self.outcome = candidate, outcome
        return True

    def asked(self, candidate: Case) -> Outcome:
        """What becomes of a case that is none of the search."""
        self.runs += 1
        return self._run(candidate)

    def _fails(self, candidate: Case) -> Outcome | None:
        """An outcome with the signature, if the candidate shows it (often enough, where it may depend on timing)."""
        runs, hits = (RACING_RUNS, RACING_HITS) if self._racing else (1, 1)
        for left in reversed(range(runs)):
            outcome = self._run(candidate)
            hits -= outcome.signature == self.outcome.signature
            if hits == 0:
                return outcome
            if left < hits:
                break
        return None


def _with_array(case: Case, index: int, **changes: object) -> Case:
    arrays = list(case.arrays)
    arrays[index] = replace(arrays[index], **changes)
    return replace(case, arrays=tuple(arrays))


def cut_row(case: Case, row: int) -> Case:
    """The case with `row` as its only row; the generator's counter keeps the row's bits."""
    arrays = []
    for spec in case.arrays:
        if spec.dims[:1] == ("rows",) and spec.content is not None and "rows" not in spec.layout.broadcast:
            content = spec.content
            if isinstance(content.base, Explicit):
                width = len(content.base.values) // max(case.sizes["rows"], 1)
                kept = content.base.values[row * width:(row + 1) * width]
                spec = replace(spec, content=replace(content, base=Explicit(values=kept)))
            else:
                spec = replace(spec, first_row=spec.first_row + row)
        arrays.append(spec)
    return replace(case, sizes={**case.sizes, "rows": 1}, arrays=tuple(arrays))


def _written_out(search: _Search) -> None:
    """Replace content terms by the values they stand for, once the case is small enough to list."""
    described = [spec.name for spec in search.case.arrays
                 if spec.content is not None and not isinstance(spec.content.base, Explicit)]
    if not described or search.case.elements() > MOST_VALUES or search.exhausted:
        return
    evidence = search.inputs(search.case)
    for index, spec in enumerate(search.case.arrays):
        values = evidence.inputs.get(spec.name)
        if spec.name not in described or not values or not evidence.whole:
            continue
        if spec.layout.broadcast and len(set(values)) == 1:
            # An axis of stride 0 may be what the failure needs: its one value can be told without giving it up.
            search.accept(_with_array(search.case, index, content=Content(base=Constant(value=values[0])),
                                      first_row=0), any_order=True)
            continue
        listed = _with_array(search.case, index, content=Content(base=Explicit(values=values)), first_row=0,
                             layout=replace(spec.layout, broadcast=()))
        search.accept(listed, any_order=True)


def _shrink_contents(search: _Search) -> None:
    """Say more simply what a case holds that is too large to be listed: without overrides, a constant, a ramp."""
    if search.case.elements() <= MOST_VALUES:
        return
    plain = (Constant(value="0"), Constant(value="1"), Iota())
    for index, spec in enumerate(search.case.arrays):
        content = spec.content
        if content is None or isinstance(content.base, Explicit):
            continue
        if any(search.accept(_with_array(search.case, index, content=Content(base=base), first_row=0))
               for base in plain):
            continue
        for position in reversed(range(len(content.overrides))):
            current = search.case.arrays[index].content
            assert current is not None
            kept = (*current.overrides[:position], *current.overrides[position + 1:])
            search.accept(_with_array(search.case, index, content=replace(current, overrides=kept)))


def _sliced(spec: ArraySpec, sizes: dict[str, int], dim: str, keep: list[int]) -> ArraySpec:
    """Content restricted to positions `keep` of axis `dim`; a ramp of rows starts later when its head goes."""
    if (spec.content is not None and isinstance(spec.content.base, Iota) and dim == "rows"
            and spec.dims[:1] == ("rows",) and keep[-1] - keep[0] == len(keep) - 1):
        ramp = spec.content.base
        later = replace(ramp, start=ramp.start + keep[0] * ramp.per_row)
        return replace(spec, content=replace(spec.content, base=later))
    if spec.content is None or not isinstance(spec.content.base, Explicit) or dim not in spec.dims:
        return spec
    shape = spec.shape(sizes)
    axis = spec.dims.index(dim)
    outer, inner = 1, 1
    for n in shape[:axis]:
        outer *= n
    for n in shape[axis + 1:]:
        inner *= n
    values = spec.content.base.values
    if len(values) != outer * shape[axis] * inner:
        return spec
    chosen = tuple(values[(o * shape[axis] + k) * inner + i] for o in range(outer) for k in keep for i in range(inner))
    return replace(spec, content=replace(spec.content, base=Explicit(values=chosen)))


def _resized(case: Case, dim: str, keep: list[int]) -> Case:
    arrays = tuple(_sliced(spec, case.sizes, dim, keep) for spec in case.arrays)
    return replace(case, sizes={**case.sizes, dim: len(keep)}, arrays=arrays)


def _shrink_sizes(search: _Search) -> bool:
    changed = False
    for dim in sorted(search.case.sizes):
        # A few elements are what most failures need; which lengths fail need not be monotone.
        for few in range(1, min(search.case.sizes[dim], 4)):
            if search.accept(_resized(search.case, dim, list(range(few)))):
                changed = True
                break
        chunk = search.case.sizes[dim]
        while chunk >= 1 and not search.exhausted:
            length = search.case.sizes[dim]
            start, removed = 0, False
            # Later positions first: tails are the usual ballast.
            positions = list(range(length))
            # The head is tried whatever the chunk: a ramp can lose nothing but its ends.
            for start in (*range(max(length - chunk, 0), 0, -chunk), 0):
                keep = positions[:start] + positions[start + chunk:]
                if keep and search.accept(_resized(search.case, dim, keep)):
                    removed = changed = True
                    break
            if not removed and chunk == 1 and length <= 8:
                # Dropping an element may need the rest the other way round: (0, 0, NaN) to (NaN, 0).
                for dropped in positions:
                    keep = [position for position in reversed(positions) if position != dropped]
                    if keep and search.accept(_resized(search.case, dim, keep)):
                        removed = changed = True
                        break
            if not removed:
                chunk //= 2
            else:
                chunk = min(chunk, search.case.sizes[dim])
    return changed


def _simpler_texts(value: str, dtype: str) -> Iterator[str]:
    """Candidates for one value, simplest first."""
    info = dtype_info(dtype)
    yield from ("0", "1", "-1", "2", "-2", "3", "-3")
    if info.kind == "float":
        if "nan" in value:
            yield "nan"
            return
        yield from ("inf", "-inf", "-0.0")
        number = float(value)
        if number - number == 0:
            for candidate in (float(int(number)), number / 2, float(f"{number:.1g}"), float(f"{number:.2g}")):
                yield repr(candidate)
            yield repr(-number)
        return
    number_i = int(value)
    # Powers of two are where integer code changes its mind: smallest first, so that the first hit is the minimum.
    for exponent in range(2, abs(number_i).bit_length() + 1):
        yield from (str(1 << exponent), str(-(1 << exponent)))
    # Then towards zero by large steps and small ones: reaches any other minimum in logarithmic time.
    step = abs(number_i) // 2
    while step:
        yield str(number_i - step if number_i > 0 else number_i + step)
        step //= 2
    yield str(-number_i)


def _fits(text: str, dtype: str) -> bool:
    info = dtype_info(dtype)
    if info.kind == "float":
        return True
    return info.min <= int(text) <= info.max


def _slots(case: Case) -> list[tuple[int, int]]:
    """Every value a reader sees: (array, position); position 0 for the one value of a constant or a ramp."""
    found = []
    for index, spec in enumerate(case.arrays):
        base = spec.content.base if spec.content is not None else None
        if isinstance(base, Explicit):
            found += [(index, position) for position in range(len(base.values))]
        elif isinstance(base, Constant | Iota):
            found.append((index, 0))
    return found


def _value(case: Case, slot: tuple[int, int]) -> tuple[str, str]:
    """The slot's value as text, and the dtype it is judged in."""
    spec = case.arrays[slot[0]]
    assert spec.content is not None
    base = spec.content.base
    if isinstance(base, Explicit):
        return base.values[slot[1]], spec.dtype
    if isinstance(base, Constant):
        return base.value, spec.dtype
    assert isinstance(base, Iota)
    return str(base.start), spec.dtype if dtype_info(spec.dtype).is_integer else "i64"


def _with_value(case: Case, slot: tuple[int, int], text: str) -> Case:
    index, position = slot
    content = case.arrays[index].content
    assert content is not None
    if not isinstance(content.base, Iota):
        # One spelling per value: `0.0`, never `0`, in a float array.
        text = from_bits(to_bits(text, case.arrays[index].dtype), case.arrays[index].dtype)
    base = content.base
    if isinstance(base, Explicit):
        base = Explicit(values=(*base.values[:position], text, *base.values[position + 1:]))
    elif isinstance(base, Constant):
        base = Constant(value=text)
    else:
        assert isinstance(base, Iota)
        base = replace(base, start=int(text))
    return _with_array(case, index, content=replace(content, base=base))


def _shrink_values(search: _Search) -> bool:
    changed = False
    for slot in _slots(search.case):
        value, dtype = _value(search.case, slot)
        now = complexity(value, dtype)
        for text in _simpler_texts(value, dtype):
            if not _fits(text, dtype) or complexity(text, dtype) >= now:
                continue
            if search.accept(_with_value(search.case, slot, text)):
                changed = True
                break
    return changed


def _shrink_pairs(search: _Search) -> bool:
    """Change two values at once where changing either alone loses the failure: (-7, 3) to (-1, 2), or exchange
    them: (2^32, 3) becomes (3, 2^32), which may shrink to (1, 2^32)."""
    slots = _slots(search.case)
    if len(slots) > 8:
        return False
    small = ("0", "1", "-1", "2", "-2", "3")
    for first, second in itertools.combinations(slots, 2):
        (one, dtype), (other, other_dtype) = _value(search.case, first), _value(search.case, second)
        if (dtype == other_dtype and one != other
                and search.accept(_with_value(_with_value(search.case, first, other), second, one))):
            return True
        for a, b in itertools.product(small, small):
            if not (_fits(a, _value(search.case, first)[1]) and _fits(b, _value(search.case, second)[1])):
                continue
            if search.accept(_with_value(_with_value(search.case, first, a), second, b)):
                return True
    return False


def _shrink_settings(search: _Search) -> bool:
    changed = search.accept(replace(search.case, variants=(), repeats=0))
    if search.case.variants:
        changed |= search.accept(replace(search.case, variants=search.case.variants[:1]))
    for options in search.case.variants:
        # The variant may be the one that is wrong: then it is the case's only launch.
        changed |= search.accept(replace(search.case, options=options, variants=(), repeats=0))
    changed |= search.accept(replace(search.case, options=LaunchOptions()))
    for name in LaunchOptions.__struct_fields__:
        plain = replace(search.case.options, **{name: getattr(LaunchOptions(), name)})
        changed |= search.accept(replace(search.case, options=plain))
    for index, spec in enumerate(search.case.arrays):
        changed |= search.accept(_with_array(search.case, index, layout=Layout()))
        for plain_layout in (Layout(offset=1), Layout(step=2), Layout(gap=1),
                             replace(spec.layout, offset=0), replace(spec.layout, gap=0, step=1),
                             replace(spec.layout, order=()), replace(spec.layout, broadcast=())):
            changed |= search.accept(_with_array(search.case, index, layout=plain_layout))
    changed |= _shrink_delay(search)
    for name, values in search.target.shrink.simplest.items():
        if name not in search.case.params:
            continue
        for value in values:
            if value == search.case.params[name]:
                break
            if search.accept(with_setting(search.case, name, value)):
                changed = True
                break
    return changed


def _shrink_program(search: _Search) -> bool:
    """Without a delay if that fails too; then take the first of the target's own steps that keeps the failure, and
    start over from there."""
    changed, progress = search.case.delay is not None and search.accept(replace(search.case, delay=None)), True
    while progress and not search.exhausted:
        progress = any(search.accept(candidate) for candidate in search.target.shrink.steps(search.case))
        changed |= progress
    return changed


def _shrink_delay(search: _Search) -> bool:
    changed = False
    for name in ("access", "number"):
        now = 0 if search.case.delay is None else getattr(search.case.delay, name)
        for less in sorted({0, 1, now // 2, now - 1}):
            delay = search.case.delay
            if delay is not None and 0 <= less < now and search.accept(
                    replace(search.case, delay=replace(delay, **{name: less}))):
                changed = True
                break
    return changed


def minimise(case: Case, outcome: Outcome, *, target: Target, run: Run, inputs: Inputs, max_runs: int = 600,
             seconds: float = 60.0) -> Shrunk:
    """The simplest case with `outcome`'s signature that single steps reach within the budget.

    run: executes a case. inputs: the values of a case's inputs, without running it.
    """
    search = _Search(case, outcome, target, run, inputs, max_runs, seconds)
    if outcome.signature is not None and outcome.signature.kind == "nondeterministic":
        # The more launches there are to differ, the fewer elements a case needs.
        search.accept(replace(case, repeats=MOST_REPEATS), any_order=True)
    if outcome.failing_rows and case.sizes.get("rows", 1) > 1:
        for row in outcome.failing_rows[:3]:
            if search.accept(cut_row(search.case, row)):
                break
    _shrink_program(search)
    _shrink_settings(search)
    _shrink_sizes(search)
    _shrink_contents(search)
    _written_out(search)
    progress = True
    while progress and not search.exhausted:
        progress = _shrink_program(search)
        progress |= _shrink_sizes(search)
        progress |= _shrink_settings(search)
        progress |= _shrink_values(search)
        if not progress:
            _written_out(search)
            progress = _shrink_pairs(search)
    return Shrunk(case=search.case, outcome=_told(search), runs=search.runs)


def _told(search: _Search) -> Outcome:
    """The outcome, with the class of dtypes to which the case owes that it fails."""
    evidence = search.outcome.evidence
    if evidence is None:
        return search.outcome
    dtypes = alone(search.case, search.asked, search.target.draw.valid, exhausted=lambda: search.late)
    return replace(search.outcome, evidence=replace(evidence, alone=dtypes)) if dtypes else search.outcome
