"""Which drawn cases of a shard wait for others, to be run with them in a joint launch.

To compile a kernel costs more than to make a call in it, so that cases of one call each are run several to a kernel
(`fuzz.workers.joint`). Nothing else changes: a case is drawn, judged and counted by itself, and one that fails runs
alone before anything is said of it.

On a GPU a call is drawn with other values as well, which are cases of their own: its kernel, alone or with others, is
compiled once and launched for each, and to compile it costs several times what it takes to make and to judge values.
Alone they come when the first has passed: what fails with any values would fail again with these. Together all are
launched as soon as a launch of the kernel has come to its end, whatever each case shows.
"""

import collections
import itertools
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.campaign.recorder import Recorder
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.content.small import JOINED_ELEMENTS, STAGED_TOGETHER, fits
from tridiff.fuzz.known.attribute import cause
from tridiff.fuzz.known.issues import issues_of, issues_of_launch
from tridiff.fuzz.records import Case, JointOutcome, LaunchOptions, Outcome, Together, Verdict, canonical_json
from tridiff.fuzz.records.joint import OF_ALL
from tridiff.fuzz.strategies.options import Mode, random_mode
from tridiff.fuzz.target import Target
from tridiff.fuzz.workers.pool import TimeUp

Calls = tuple[Case, ...]
"""A case, and others that differ from it in the values of its inputs alone."""

Judge = Callable[[Case], Outcome | None]
"""Runs a case alone, and follows up what it shows; its outcome, None for none that counts."""

JOINED = {"cuda": 8, "compile": 8}
"""Cases of a joint launch, by kind of backend, of subject `own` and targets that say how (`Run.joint`). The interpreter
compiles nothing: it would gain nothing."""

CONTENTS = {"cuda": 3}
"""Cases of a call, by kind of backend, each with other values; 1 where no values are made."""

ALIKE = 96 * 3
"""Cases of a shard of which most are drawn with the same options, so that they fit together."""

ALONE = 16
"""Of so many cases that could wait, one runs alone all the same: a compiler may get wrong in a kernel of its own what
is right in a branch of a larger one. On an NVIDIA H200 94 of 95 saved failures of language rows failed in both."""

FOLDER = "joined"
"""In the state folder and in a campaign's record: joint launches that failed where the cases pass alone."""


def _plain(spec: ShardSpec) -> bool:
    """Whether a shard only searches: not one of pairs of builds, of planted faults or of what else looks at each run,
    and not one for an issue."""
    return spec.subject == "own" and spec.builds is None and not (spec.control or spec.issue)


def joining(spec: ShardSpec, target: Target) -> int:
    """How many cases of a shard make a joint launch; 0 if every case runs alone."""
    return JOINED.get(kind(spec.backend), 0) if _plain(spec) and target.run.joint is not None else 0


def contents(spec: ShardSpec, target: Target) -> int:
    """How many cases of a shard have the same call, where it can be drawn so."""
    return CONTENTS.get(kind(spec.backend), 1) if _plain(spec) and target.draw.again is not None else 1


@dataclass(kw_only=True)
class _Failed:
    """A joint launch that failed, some cases of which run alone now."""

    path: Path
    told: Together
    suspects: frozenset[str]
    """Digests of the cases that failed in it by themselves; none where the launch as a whole did."""
    left: int
    """Cases that have not run alone yet."""
    failing: set[str] = field(default_factory=set)
    """Digests of those that failed alone."""

    @property
    def explained(self) -> bool:
        """Whether cases that fail alone are why it failed."""
        return self.suspects <= self.failing if self.suspects else bool(self.failing)


class Joined:
    """The drawn cases of a shard that wait, and those of joint launches that are to run alone. until: the moment
    (monotonic) at which a launch is given up."""

    def __init__(self, spec: ShardSpec, state: Path, *, target: Target, recorder: Recorder,
                 until: float | None) -> None:
        self._until, self._triton = until, ""
        self._spec, self._state, self._joint, self._recorder = spec, state, target.run.joint, recorder
        self._number = joining(spec, target)
        self._groups: dict[tuple[LaunchOptions, bool, int], list[Calls]] = {}
        """By options, whether they are staged, and the number of cases of each call."""
        self._alone: collections.deque[tuple[Calls, _Failed | None]] = collections.deque()
        """Each case with those that follow if it passes."""

    def __len__(self) -> int:
        """How many cases are drawn and have no outcome."""
        return sum(len(one) for group in self._groups.values() for one in group) + sum(
            len(one) for one, _ in self._alone)

    def mode(self) -> Mode | None:
        """Options that most cases are to be drawn with now."""
        chance = random.Random(finalise(self._spec.seed + (self._recorder.executed // ALIKE << 24)))
        return random_mode(chance) if self._number else None

    def takes(self, case: Case) -> bool:
        """Whether a case is to wait. One with the pattern of a known issue that leaves no values is not: with it all
        others would run alone as well."""
        if not self._number or self._joint is None or int(case.digest, 16) % ALONE == 0:
            return False
        self._triton = self._triton or self._recorder.pool.environment.triton
        backend = self._spec.backend
        return fits(case.elements(), len(case.arrays), most=JOINED_ELEMENTS) and (
            self._joint.may_join(case, self._triton, backend)) and not any(
                one.errors and one.shows_on(backend) for one in issues_of(case, self._spec.subject))

    def add(self, calls: Calls) -> bool:
        """Have the cases of a call wait, and launch them with others if there are enough; whether some are to run alone
        now. Raises what `Recorder.execute` does."""
        case = calls[0]
        for one in calls:
            self._recorder.store.hold(one, round_number=self._recorder.round)
        key = case.options, fits(case.elements(), len(case.arrays), most=STAGED_TOGETHER), len(calls)
        group = self._groups.setdefault(key, [])
        group.append(calls)
        if len(group) >= self._number:
            self._launch(tuple(self._groups.pop(key)))
        return bool(self._alone)

    def finish(self, judge: Judge, *, go_on: Callable[[], bool]) -> None:
        """Have all judged that waits, as many together as there are, as long as `go_on` says."""
        while self._groups and go_on():
            group = tuple(self._groups.pop(next(iter(self._groups))))
            if len(group) > 1:
                try:
                    self._launch(group)
                except TimeUp:
                    return
            else:
                self._alone.append((group[0], None))
        while go_on() and self.judge_alone(judge):
            pass

    def judge_alone(self, judge: Judge) -> bool:
        """Run the next case that is to run alone; False if there is none."""
        if not self._alone:
            return False
        (case, *more), failed = self._alone.popleft()
        try:
            outcome = judge(case)
            if outcome is not None and outcome.verdict is Verdict.AGREE:
                self._alone.extendleft(((one,), None) for one in reversed(more))
            else:
                for one in more:
                    self._recorder.store.release(one)
            if failed is not None:
                self._ran_alone(case, outcome, failed)
        except TimeUp:
            self._alone.clear()
        self._recorder.round += 1
        return True

    def _launch(self, group: tuple[Calls, ...]) -> None:
        """Launch some calls together, with the values of each of their cases in turn. Where a launch ends without
        outcomes, they all go on alone."""
        for turn in range(len(group[0])):
            cases = tuple(one[turn] for one in group)
            found = self._recorder.execute_joined(cases, until=self._until)
            passed = {id(one) for one in found.passed()}
            again = [(calls[turn:] if not found.outcomes else calls[turn:turn + 1])
                     for calls, outcome in itertools.zip_longest(group, found.outcomes) if id(outcome) not in passed]
            failed = self._failed(cases, found, len(again)) if again else None
            self._alone.extend((calls, failed) for calls in again)
            if not found.outcomes:
                return

    def _failed(self, cases: tuple[Case, ...], found: JointOutcome, left: int) -> _Failed | None:
        """Tell a joint launch that failed; None for one that only could not be checked."""
        wrong = [one for one in found.outcomes if one.verdict.failed]
        if not wrong and not found.verdict.failed:
            return None
        one = Together(target=self._spec.target, subject=self._spec.subject, backend=self._spec.backend,
                       reason=wrong[0].reason if wrong else found.reason, times="1 of 1", alone=NOT_KNOWN,
                       cases=cases, source=found.source, triton=self._triton)
        of_all = {signature.kind for one in wrong if (signature := one.signature) is not None} & OF_ALL
        return _Failed(path=_tell(self._state, self._spec.index, one), told=one, left=left,
                       suspects=frozenset() if of_all else frozenset(one.case_digest for one in wrong))

    def _ran_alone(self, case: Case, outcome: Outcome | None, failed: _Failed) -> None:
        """What a case of a joint launch that failed gave, None for nothing that counts."""
        failed.left -= 1
        failed.failing |= {case.digest} if outcome is None or outcome.verdict.failed else set()
        if failed.left:
            return
        if failed.explained:
            failed.path.unlink(missing_ok=True)
            return
        again = self._recorder.launch_joined(failed.told.cases, until=self._until)
        times = CONFIRMED if len(again.passed()) < len(failed.told.cases) else "1 of 2"
        one = replace(failed.told, times=times, alone="they pass")
        _tell(self._state, self._spec.index, one, failed.path)
        for issue, cases in issues_of_launch(one) if times == CONFIRMED else ():
            if len(self._recorder.launch_joined(cases, until=self._until).passed()) == len(cases):
                _tell(self._state, self._spec.index, replace(one, issue=cause(issue)), failed.path)
                break


NOT_KNOWN = "not known: the campaign ended before"
CONFIRMED = "2 of 2"


def _tell(state: Path, shard: int, one: Together, path: Path | None = None) -> Path:
    """Write a joint launch that failed, or what is known of it now."""
    folder = state / FOLDER
    folder.mkdir(exist_ok=True)
    path = path or folder / f"{shard:05}-{len(list(folder.glob(f'{shard:05}-*')))}-{one.cases[0].digest[:10]}.json"
    path.write_bytes(msgspec.json.format(canonical_json(one), indent=1))
    return path


def told(state: Path) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]], set[str]]:
    """Names of the files of joint launches that failed each time, of others, which do not count, by why, and the known
    findings of these."""
    counting: list[str] = []
    others: dict[str, tuple[str, ...]] = {}
    known: set[str] = set()
    for path in sorted((state / FOLDER).glob("*.json")):
        one = msgspec.json.decode(path.read_bytes(), type=Together)
        if one.times == CONFIRMED and not one.issue:
            counting.append(path.name)
        else:
            why = one.issue or f"a joint launch failed {one.times} times; its cases alone: {one.alone}"
            known |= {one.issue} - {""}
            others[why] = (*others.get(why, ()), path.name)
    return tuple(counting), others, known


def keep(state: Path, record: Path) -> None:
    """Copy their files into a campaign's record. Raises OSError where it cannot be written."""
    for path in sorted((state / FOLDER).glob("*.json")):
        (record / FOLDER).mkdir(exist_ok=True)
        shutil.copyfile(path, record / FOLDER / path.name)
