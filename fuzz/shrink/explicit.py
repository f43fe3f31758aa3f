"""Minimise a failing case itself: cut the row, list the values, then take away whatever is not needed.

Every step proposes a strictly simpler case (`order.simplicity`) and keeps it if it is valid for the target
and fails with the same signature.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.content.text import complexity
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import (
    Case,
    Constant,
    Content,
    Evidence,
    Explicit,
    Iota,
    LaunchOptions,
    Layout,
    Outcome,
    Relative,
    Verdict,
)
from tridiff.fuzz.shrink.beside import beside
from tridiff.fuzz.shrink.dtypes import alone, plainer, plainness, with_setting
from tridiff.fuzz.shrink.order import Simplicity, simplicity
from tridiff.fuzz.shrink.slots import fits, resized, slots, value_at, with_array, with_value
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

WRONG_VALUES = ("value", "nan_missing", "nan_unexpected", "inf", "zero_sign", "nan_payload")
"""Kinds of failures that are one where any wrong value will do."""

MOST_ANEW = 3
"""Values of a case that are all written anew."""

PLAIN_RUNS = 120
"""Runs at the most, of the search for the plainest relative of a case that is small."""

FORM_RUNS, FORM_SHARE = 200, 0.2
"""Further runs, and the part of the time, to make a case small that need not have the known form which its label names.
"""


@dataclass(frozen=True, kw_only=True)
class Shrunk:
    """The simplest case found, its outcome, and how many runs it took."""

    case: Case
    outcome: Outcome
    runs: int


class _Search:
    def __init__(self, case: Case, outcome: Outcome, target: Target, run: Run, inputs: Inputs, max_runs: int,
                 deadline: float, *, behind: "_Search | None" = None) -> None:
        """behind: a search that ended with the case; this one goes on from there, for any wrong value."""
        self.inputs = inputs
        self.case, self.outcome, self.target = case, outcome, target
        self._run, self._max_runs = run, max_runs
        self._deadline = deadline
        self._seen: set[str] = set()
        self.fixed = isinstance(case.program, msgspec.UnsetType)
        """Whether the kernel is none that the case carries: it has a plainest relative."""
        self._outcomes: dict[str, Outcome] = {} if behind is None else behind._outcomes
        """Of the cases of a fixed kernel that were run, for the search for that."""
        # Interpreted programs run one after the other.
        self.racing = (outcome.backend == "cuda" and outcome.verdict is Verdict.DISAGREE
                        and target.run.waiting_programs(case) > 1)
        self.runs = 0
        self.loose = behind is not None
        """Whether any wrong value will do, and plainer dtypes are simpler."""
        self._any_form, self._of_another_form = False, set[str]()
        """Whether another label will do, or none, and which cases failed but for theirs."""

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
        if not any_order and not self._rank(candidate) < self._rank(self.case):
            return False
        if candidate.digest in self._seen or not self.target.draw.valid(candidate):
            return False
        self._seen.add(candidate.digest)
        outcome = self._outcomes.get(candidate.digest) if self.loose else None
        if outcome is not None and not self._same(outcome):
            return False
        try:
            outcome = outcome or self._fails(candidate)
        except TridiffError:
            return False
        if outcome is None:
            return False
        self.case, self.outcome = candidate, outcome
        return True

    def _rank(self, case: Case) -> Simplicity:
        return simplicity(case, self.target, dtypes=plainness(case) if self.loose else ())

    def _same(self, outcome: Outcome) -> bool:
        """Whether an outcome is that which is looked for."""
        if self.loose:
            return outcome.signature is not None and outcome.signature.kind in WRONG_VALUES
        seen, now = outcome.signature, self.outcome.signature
        if seen is None or now is None or not now.about or replace(seen, about=now.about) != now:
            return seen == now
        if seen.about != now.about:
            self._of_another_form.add(outcome.case_digest)
        return self._any_form or seen == now

    def let_form_go(self, seconds: float) -> None:
        """From now on the case need not have the known form which its label names; seconds: further ones for that."""
        self._any_form = True
        self._deadline += seconds
        self._max_runs += FORM_RUNS
        self._seen -= self._of_another_form

    def loosely(self) -> "_Search":
        """A search that begins where this one ended, for any wrong value."""
        return _Search(self.case, self.outcome, self.target, self._run, self.inputs, min(PLAIN_RUNS, self._max_runs),
                       self._deadline, behind=self)

    def in_plainer_form(self) -> bool:
        """Whether the case becomes one of another form, which the target says is plainer."""
        return any(self.accept(one, any_order=True) for one in self.target.shrink.forms(self.case))

    def asked(self, candidate: Case) -> Outcome:
        """What becomes of a case that is none of the search."""
        self.runs += 1
        return self._run(candidate)

    def _fails(self, candidate: Case) -> Outcome | None:
        """An outcome with the signature, if the candidate shows it (often enough, where it may depend on timing)."""
        self.runs += 1
        runs, hits = (RACING_RUNS, RACING_HITS) if self.racing else (1, 1)
        for left in reversed(range(runs)):
            outcome = self._run(candidate)
            if self.fixed:
                self._outcomes[candidate.digest] = outcome
            hits -= self._same(outcome)
            if hits == 0:
                return outcome
            if left < hits:
                break
        return None


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
            search.accept(with_array(search.case, index, content=Content(base=Constant(value=values[0])),
                                      first_row=0), any_order=True)
            continue
        listed = with_array(search.case, index, content=Content(base=Explicit(values=values)), first_row=0,
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
        if any(search.accept(with_array(search.case, index, content=Content(base=base), first_row=0))
               for base in plain):
            continue
        for position in reversed(range(len(content.overrides))):
            current = search.case.arrays[index].content
            assert current is not None
            kept = (*current.overrides[:position], *current.overrides[position + 1:])
            search.accept(with_array(search.case, index, content=replace(current, overrides=kept)))


def _shrink_sizes(search: _Search) -> bool:
    changed = False
    for dim in sorted(search.case.sizes):
        # A few elements are what most failures need; which lengths fail need not be monotone.
        for few in range(1, min(search.case.sizes[dim], 4)):
            if search.accept(resized(search.case, dim, list(range(few)))):
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
                if keep and search.accept(resized(search.case, dim, keep)):
                    removed = changed = True
                    break
            if not removed and chunk == 1 and length <= 8:
                # Dropping an element may need the rest the other way round: (0, 0, NaN) to (NaN, 0).
                for dropped in positions:
                    keep = [position for position in reversed(positions) if position != dropped]
                    if keep and search.accept(resized(search.case, dim, keep)):
                        removed = changed = True
                        break
            if not removed:
                chunk //= 2
            else:
                chunk = min(chunk, search.case.sizes[dim])
    return changed


def _simpler_texts(value: str, dtype: str, *, loose: bool = False) -> Iterator[str]:
    """Candidates for one value, simplest first. loose: whether what is no NaN may stand for one."""
    info = dtype_info(dtype)
    yield from ("0", "1", "-1", "2", "-2", "3", "-3")
    if info.kind == "float":
        if "nan" in value:
            yield from ("-0.0", "inf", "-inf", "nan") if loose else ("nan",)
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


def _shrink_values(search: _Search) -> bool:
    changed = False
    for slot in slots(search.case):
        value, dtype = value_at(search.case, slot)
        now = complexity(value, dtype)
        for text in _simpler_texts(value, dtype, loose=search.loose):
            if not fits(text, dtype) or complexity(text, dtype) >= now:
                continue
            if search.accept(with_value(search.case, slot, text)):
                changed = True
                break
    return changed


def _shrink_pairs(search: _Search) -> bool:
    """Change two values at once where changing either alone loses the failure: (-7, 3) to (-1, 2), or exchange
    them: (2^32, 3) becomes (3, 2^32), which may shrink to (1, 2^32)."""
    here = slots(search.case)
    if len(here) > 8:
        return False
    small = ("0", "1", "-1", "2", "-2", "3")
    for first, second in itertools.combinations(here, 2):
        (one, dtype), (other, other_dtype) = value_at(search.case, first), value_at(search.case, second)
        if (dtype == other_dtype and one != other
                and search.accept(with_value(with_value(search.case, first, other), second, one))):
            return True
        for a, b in itertools.product(small, small):
            if not (fits(a, value_at(search.case, first)[1]) and fits(b, value_at(search.case, second)[1])):
                continue
            if search.accept(with_value(with_value(search.case, first, a), second, b)):
                return True
    return False


def _shrink_rows(search: _Search) -> bool:
    """Make an axis shorter that needs other values then."""
    for dim, size in sorted(search.case.sizes.items()):
        for few in range(1, min(size, 3)):
            short = resized(search.case, dim, list(range(few)))
            here = slots(short)
            for texts in itertools.product(("0", "1"), repeat=len(here)) if len(here) <= MOST_ANEW else ():
                candidate = short
                for slot, text in zip(here, texts, strict=True):
                    candidate = with_value(candidate, slot, text)
                if search.accept(candidate):
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
        changed |= search.accept(with_array(search.case, index, layout=Layout()))
        for plain_layout in (Layout(offset=1), Layout(step=2), Layout(gap=1),
                             replace(spec.layout, offset=0), replace(spec.layout, gap=0, step=1),
                             replace(spec.layout, order=()), replace(spec.layout, broadcast=())):
            changed |= search.accept(with_array(search.case, index, layout=plain_layout))
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
             seconds: float = 60.0, any_form: bool = False) -> Shrunk:
    """The simplest case with `outcome`'s signature that single steps reach within the budget.

    run: executes a case. inputs: the values of a case's inputs, without running it. any_form: whether the smallest
    case, once it is found, may lose the known form that its label names, if it names one.
    """
    form = bool(any_form and target.judge.label_is_form and outcome.signature is not None and outcome.signature.about)
    kept = FORM_SHARE * seconds if form else 0.0
    search = _Search(case, outcome, target, run, inputs, max_runs, time.monotonic() + seconds - kept)
    if outcome.signature is not None and outcome.signature.kind == "nondeterministic":
        # The more launches there are to differ, the fewer elements a case needs.
        search.accept(replace(case, repeats=MOST_REPEATS), any_order=True)
    launched = outcome.evidence.launched if outcome.evidence is not None else None
    if launched is not None and outcome.signature is not None and outcome.signature.kind != "option_dependent":
        search.accept(search.case.under(launched.options))
    if outcome.failing_rows and case.sizes.get("rows", 1) > 1:
        for row in outcome.failing_rows[:3]:
            if search.accept(cut_row(search.case, row)):
                break
    _shrink_program(search)
    _shrink_settings(search)
    _shrink_sizes(search)
    _shrink_contents(search)
    _written_out(search)
    _to_the_end(search)
    if form:
        search.let_form_go(kept)
        _to_the_end(search)
    plainest = _plainest(search) if search.fixed else None
    return Shrunk(case=search.case, outcome=_told(search, plainest), runs=search.runs)


def _to_the_end(search: _Search) -> None:
    progress = True
    while progress and not search.exhausted:
        progress = _shrink_program(search)
        progress |= _shrink_sizes(search)
        progress |= _shrink_settings(search)
        progress |= _shrink_values(search)
        if not progress:
            _written_out(search)
            progress = _shrink_pairs(search)


def _plainest(search: _Search) -> _Search | None:
    """The search for what the smallest case comes to where any wrong value will do: one fault has a smallest case in
    every form and class of dtypes, and one for NaN, infinity, a number and an output each. None where that is the case
    itself. An access astray is a wrong value in a form that makes no address of it."""
    signature, case = search.outcome.signature, search.case
    if signature is None or search.racing or search.late:
        return None
    found = search.loosely()
    if signature.kind not in WRONG_VALUES and not found.in_plainer_form():
        return None
    progress = True
    while progress and not found.exhausted:
        found.in_plainer_form()
        any(map(found.accept, plainer(found.case, search.target.dtypes)))
        before = found.case
        _shrink_pairs(found)
        _shrink_rows(found)
        _to_the_end(found)
        progress = found.case != before
    search.runs += found.runs
    return found if found.case != case else None


def _told(search: _Search, plainest: _Search | None = None) -> Outcome:
    """The outcome, with the class of dtypes to which the case owes that it fails, and with what is wrong beside it; or
    with its plainest relative, which has both then."""
    if plainest is not None:
        outcome = _told(plainest)
        if outcome.evidence is not None and outcome.signature is not None:
            relative = Relative(case=plainest.case, signature=outcome.signature, evidence=outcome.evidence)
            return replace(search.outcome, evidence=replace(search.outcome.evidence or Evidence(), plainest=relative))
    evidence = search.outcome.evidence
    if evidence is None:
        return search.outcome
    valid = search.target.draw.valid
    dtypes = alone(search.case, search.asked, valid, exhausted=lambda: search.late)
    # A neighbour of what ends the process may end it too, and each costs a worker.
    asked = search.outcome.verdict is Verdict.DISAGREE and not search.racing
    around = beside(search.case, search.asked, valid, simplest=search.target.shrink.simplest,
                    exhausted=lambda: search.late) if asked else {}
    return replace(search.outcome, evidence=replace(evidence, alone=dtypes, beside=around))
