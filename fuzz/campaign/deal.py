"""Which shard a worker gets next: those of the plan, and between them shards for whatever brings most.

Of a campaign's worker time, `plan.FLOOR` goes to the shards of its plan, the same for every combination of target,
subject and backend, each of which comes up before anything else does, and `plan.OF_ISSUES` of a gate's to what it draws
for known issues, which need not wait for the end of the others; those of which no case failed come again as long as
that part lasts. The rest is dealt by yield (`yields`). What is dealt is written before it runs, so that a campaign that
is resumed goes on with it. The same seed and the same results, in the order in which they came in, deal the same shards
to the same processes; how many cases fit into a second is the machine's matter. Programs for torch.compile go to few of
the processes (`homes`).
"""

import collections
import contextlib
import itertools
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.backends import ARCHITECTURES, FOR_CHIPS, kind
from tridiff.fuzz.campaign.homes import Homes, at_home
from tridiff.fuzz.campaign.lacking import Lacking
from tridiff.fuzz.campaign.plan import FLOOR, LONGEST_SHARD, OF_ISSUES, backend_share, seed_of, shard_of, weight
from tridiff.fuzz.campaign.record import CampaignOptions, Plan, ShardResult, ShardSpec
from tridiff.fuzz.campaign.yields import Combination, combination, of_results, runs_a_change
from tridiff.fuzz.content.counter import finalise
from tridiff.fuzz.errors import writing
from tridiff.fuzz.registry import find

FILE = "dealt.jsonl"
"""In the state folder: a shard per line."""

PARTS = 20.0
"""Shards by yield are that part of a campaign, within the next two bounds (seconds)."""

SHORTEST, LONGEST = 2.0, 30.0

OF_REACH = 0.6
"""Part of the time of a gate whose builds differ in few functions that goes where these run, as soon as that is known;
..."""

OF_REACH_BESIDE = 0.3
"""... where files of other kinds differ as well, of which nobody knows what they reach."""

LEAST_OF_REACH = 0.2
"""That part at least: it is the smaller, the more of the listed cases run them, as long as any wait. What everything
runs gives draws no direction, and each listed case is another use."""

SAMPLE = 4
"""Listed cases of which it is not yet known whether they run them that are taken for such as do: the first of them are
chosen for what changed, and a short gate has time for few."""

OF_FUNCTIONS = 0.5
"""Part of that share as long as only functions were reached, and not the statements that differ: others may know more.
"""

FRUITLESS = 0.5
"""What is left of that share with each shard that ran no change to any effect, as long as listed cases wait, until one
does again: where the few that have run one so far do so seldom, others may know more."""

UNREACHED = 0.25
"""Part of its time on the floor that a combination has there which is not known to run any of them."""

OF_LACKING = 0.5
"""Least part beyond the floor that goes to cells which lack cases where two builds are compared, as long as any do: a
change of one function shows in a few short calls of it, and a long program seldom has one that shows it."""

OF_LENGTH = 0.5
"""Length of a shard for cells that lack cases, in others, at most: several that run at the same time aim at the same
cells."""

MORE = 1.25
"""Seconds that are handed out for cells that lack cases, for each that they are likely to need."""

_SHARD = msgspec.json.Decoder(ShardSpec)


def dealt(state: Path) -> tuple[ShardSpec, ...]:
    """Shards that were added to a campaign's plan while it ran. A line that was cut off ran nothing."""
    found: list[ShardSpec] = []
    with contextlib.suppress(FileNotFoundError):
        for line in (state / FILE).read_bytes().splitlines():
            with contextlib.suppress(msgspec.MsgspecError):
                found.append(_SHARD.decode(line))
    return tuple(found)


class Deal:
    """The shards of one campaign that wait, as a queue without an end: `popleft` makes a new shard where none of the
    plan is due, until `close`. A campaign that is not dealt by yield has those of its plan and no others.

    waiting: shards that have not run. results: what came of the others, before the campaign was resumed.
    """

    def __init__(self, plan: Plan, state: Path, waiting: Iterable[ShardSpec],
                 results: Collection[ShardResult] = ()) -> None:
        self._plan, self._state = plan, state
        self._yields, self._lacking = of_results(one for one in results if not one.spec.issue), Lacking(
            plan, results)
        self._waiting = collections.deque[ShardSpec]()
        self._again = collections.deque[ShardSpec]()
        """Further shards for known issues of which no case failed."""
        for spec in waiting:
            (self._again if spec.issue and not self._planned(spec) else self._waiting).append(spec)
        self._failing = {one.spec.issue for one in results if one.failed}
        self._among: list[Combination] = sorted({combination(spec) for spec in plan.shards})
        self._homes = Homes(plan.options, plan.shards)
        self._next = len(plan.shards) + len(dealt(state))
        self._first = self._first_cycle()
        self._seconds = sum(_spent(one) for one in results)
        self._planned_seconds = sum(one.spec.seconds for one in results if self._of_floor(one.spec))
        self._issue_seconds = sum(_spent(one) for one in results if one.spec.issue)
        self._closed = False
        self._reach_share = 0.0 if not plan.options.alike.functions else (
            OF_REACH if plan.options.alike.python else OF_REACH_BESIDE)
        self._listed = collections.Counter[bool]()
        """Of the listed cases that ran, how many are known to run changed functions, and how many not."""
        self._taken = {True: 0.0, False: 0.0}
        """Seconds that shards took which came to their end: of those for changed functions, and of the others."""
        self._fruitless = 0
        """Shards for changed functions that ran none to any effect, since the last that did."""
        self._running: dict[int, ShardSpec] = {}
        """Every other shard that was handed out, by its number."""
        for one in results:
            self._took(one)

    def _first_cycle(self) -> set[int]:
        """Numbers of the first shard that draws, of every combination, and of the listed cases before it."""
        drawing: set[Combination] = set()
        first: set[int] = set()
        for spec in self._plan.shards:
            if combination(spec) not in drawing:
                first.add(spec.index)
                drawing |= set() if spec.first or spec.scout else {combination(spec)}
        return first

    def __len__(self) -> int:
        """Number of shards that can be had now; of those that are made on demand, one is counted."""
        return 0 if self._closed else len(self._waiting) + self._able()

    def _able(self) -> bool:
        return self._plan.options.by_yield and self._yields.choose(self._among, 0) is not None

    def waiting(self) -> list[ShardSpec]:
        """Shards that have been made and wait."""
        return list(self._waiting)

    def pressing(self) -> int:
        """How many shards have a share in what is left of the time: those that come before anything is dealt, or all
        where nothing is."""
        if not self._plan.options.by_yield:
            return len(self._waiting)
        return sum(spec.index in self._first for spec in self._waiting)

    def owing(self) -> bool:
        """Whether a shard waits that is to run however little time is left: a first one, or one of listed cases."""
        return bool(self._waiting) and (not self._plan.options.by_yield or any(
            spec.index in self._first or bool(spec.first) or spec.max_cases is not None for spec in self._waiting))

    def append(self, spec: ShardSpec) -> None:
        """A shard is to be run again."""
        self._waiting.append(spec)

    def lacking(self, spec: ShardSpec) -> dict[str, int]:
        """Cells at which a shard is to aim, with how many cases each lacks."""
        return {} if spec.issue else self._lacking.of(combination(spec))

    def close(self) -> None:
        """Nothing more is handed out, until `open`."""
        self._closed = True

    def open(self) -> None:
        """There is time for more."""
        self._closed = False

    def ended(self, result: ShardResult) -> None:
        """Take in what a shard came to."""
        self._running.pop(result.spec.index, None)
        self._took(result)
        if not result.stopped:
            if not result.spec.issue:  # what it passes over takes time and brings nothing
                self._yields.add(result)
            self._lacking.add(result)
        if result.spec.issue:
            self._drew_for_an_issue(result)
        if result.deferred:
            listed = replace(result.spec, index=self._next, first=result.deferred, max_cases=len(result.deferred),
                             seconds=result.spec.seconds * len(result.deferred) / len(result.spec.first), scout=False)
            self._waiting.append(self._written(listed))

    def _drew_for_an_issue(self, result: ShardResult) -> None:
        """What it left of its time is there for others, and for the same issue if no case of it failed."""
        unused = result.spec.seconds - _spent(result)
        self._seconds -= unused
        self._issue_seconds -= unused
        if result.failed:
            self._failing.add(result.spec.issue)
        elif self._plan.options.by_yield and result.counts.executed and not result.stopped:
            again = replace(result.spec, index=self._next, seed=seed_of(self._plan.options, self._next))
            self._again.append(self._written(again))

    def _for_issues(self) -> ShardSpec | None:
        """A shard for a known issue, if it is their turn."""
        if self._issue_seconds > OF_ISSUES * self._seconds:
            return None
        planned = next((spec for spec in self._waiting if spec.issue), None)
        if planned is not None:
            return self._taken_out(planned)
        while self._again:
            if (again := self._again.popleft()).issue not in self._failing:
                return again
        return None

    def _took(self, result: ShardResult) -> None:
        self._taken[self._for_reach(result.spec)] += result.seconds
        if self._for_reach(result.spec):
            self._fruitless = 0 if runs_a_change(result) else self._fruitless + 1
        if result.spec.scout and result.spec.first:
            self._listed[False] += len(result.deferred)
            self._listed[True] += min(result.counts.executed, len(result.spec.first) - len(result.deferred))

    def popleft(self, place: int | None = None) -> ShardSpec:
        """The next shard, for the process of this number; None: for any. Raises IndexError where there is none."""
        spec = self._at_device(self._due(None if self._homes.alike() else place), place)
        self._seconds += spec.seconds
        self._running[spec.index] = spec
        self._planned_seconds += spec.seconds if self._of_floor(spec) else 0.0
        self._issue_seconds += spec.seconds if spec.issue else 0.0
        return spec

    def _at_device(self, spec: ShardSpec, place: int | None) -> ShardSpec:
        """A process stays with one GPU, where there are enough processes: each that it uses costs it a context and a
        worker in reserve, for each build."""
        devices = self._plan.options.devices
        if place is None or kind(spec.backend) != "cuda" or self._plan.options.workers < len(devices):
            return spec
        return replace(spec, device=devices[place % len(devices)])

    def _planned(self, spec: ShardSpec) -> bool:
        return spec.index < len(self._plan.shards)

    def _of_floor(self, spec: ShardSpec) -> bool:
        return self._planned(spec) and not spec.issue

    def _for_reach(self, spec: ShardSpec) -> bool:
        return _scout(spec) and not self._planned(spec)

    def _reaching(self) -> Combination | None:
        """A combination that runs changed functions, if it is its turn."""
        share = self._reach_share * (1.0 if self._yields.met() else OF_FUNCTIONS)
        if share and any(spec.first and spec.scout for spec in self._waiting):
            share *= max(LEAST_OF_REACH, self._listed[False] / (self._listed.total() + SAMPLE))
            share *= FRUITLESS**self._fruitless
        if not share or self._given(reach=True) > share * (self._given(reach=True) + self._given(reach=False)):
            return None
        wanted = {name: reach * weight(find(name[0])) for name, reach in self._yields.reaching(self._among).items()}
        return self._yields.choose(sorted(wanted), self._luck(), wanted=wanted) if wanted else None

    def _given(self, *, reach: bool) -> float:
        """Seconds that shards took or have: those for changed functions, or the others."""
        return self._taken[reach] + sum(
            spec.seconds for spec in self._running.values() if self._for_reach(spec) is reach)

    def _short(self) -> tuple[Combination, float] | None:
        """A combination whose cells lack cases, with the seconds that they need, if it is their turn: as long as any
        do, those at whose cells draws can be aimed have the part beyond the floor that they have of the floor itself,
        in a gate OF_LACKING if that is more, and share it by how long what they lack takes."""
        needs = self._needs()
        if not needs:
            return None
        breadths = {name: weight(find(name[0])) for name in self._among}
        part = sum(breadths[name] for name in breadths if self._lacking.cells(name)) / sum(breadths.values())
        part = part if self._plan.options.builds is None else max(part, OF_LACKING)
        # Their shards are shorter than others: to have a part of the time they must come up more often.
        if self._luck() % 1000 >= 1000 * part / (part + (1 - part) * OF_LENGTH):
            return None
        chosen = self._yields.choose(sorted(needs), self._luck() // 1000, wanted=needs)
        return None if chosen is None else (chosen, needs[chosen])

    def _needs(self) -> dict[Combination, float]:
        """Seconds that the cells of combinations need beside those that running shards have for them."""
        running = collections.Counter[Combination]()
        for spec in self._running.values():
            running[combination(spec)] += 0.0 if spec.issue else spec.seconds  # type: ignore[assignment]
        return {name: need for name, seconds in self._lacking.needs(self._among).items()
                if (need := MORE * seconds - running[name]) > 0}

    def _luck(self) -> int:
        return finalise(self._plan.options.seed * 1_000_033 + self._next)

    def _fitting(self, place: int | None) -> ShardSpec | None:
        """Of the shards that wait the first one, or before it one of its cycle that suits the process better; none that
        listed cases come before: these are first for a reason, and a program for torch.compile takes long."""
        if not self._waiting or place is None:
            return self._waiting[0] if self._waiting else None
        due = self._waiting[0].index in self._first
        drawing = itertools.takewhile(lambda spec: not spec.first, self._waiting)
        return next((spec for spec in drawing if (spec.index in self._first) is due
                     and at_home(combination(spec)) is self._homes.has(place)), self._waiting[0])

    def _chosen(self, place: int | None) -> Combination | None:
        """What brings most, by chance, among what suits the process."""
        def breadth(one: Combination) -> float:
            return weight(find(one[0]))

        def part(one: Combination) -> float:
            return backend_share(self._plan.options, one[2])

        among, luck = self._among, self._luck()
        if place is not None:
            share = self._yields.share(at_home, among, breadth=breadth, part=part)
            wanted = self._homes.chooses(place, share, luck)
            among = [one for one in among if at_home(one) is wanted]
        return self._yields.choose(among, luck, breadth=breadth, part=part) or self._yields.choose(
            self._among, luck, breadth=breadth, part=part)

    def _taken_out(self, spec: ShardSpec) -> ShardSpec:
        self._waiting.remove(spec)
        return self._shortened(spec)

    def _due(self, place: int | None) -> ShardSpec:
        planned = self._fitting(place)
        reaching = self._reaching()
        if reaching is not None:
            # Half of the time only what has shown a change shows it again, if that is little of what there is.
            things, every = self._yields.things(reaching), find(reaching[0]).draw.things()
            few = len(things) < len(every) / 2 and self._luck() % 2
            return self._made(reaching, scout=True, only=things if few else ())
        if planned is not None and (
                not self._plan.options.by_yield or planned.index in self._first or not self._planned(planned)
                or planned.issue or self._planned_seconds <= FLOOR * self._seconds):
            return self._taken_out(planned)
        if (anew := self._for_issues()) is not None:
            return anew
        if (short := self._short()) is not None:
            name, seconds = short
            return self._made(name, aimed=True, seconds=min(max(seconds, SHORTEST), OF_LENGTH * length(
                self._plan.options)))
        chosen = self._chosen(place)
        if chosen is None:
            return self._waiting.popleft()
        return self._made(chosen)

    def _shortened(self, spec: ShardSpec) -> ShardSpec:
        """A shard of the floor has less time where it is known to run nothing that has changed, and others do; or where
        every cell was reached often enough, and others were not. One of a campaign ends when that is so."""
        name, options = combination(spec), self._plan.options
        if self._of_floor(spec) and options.by_yield and self._lacking.cells(name):
            lacking = self._lacking.among(self._among)
            if lacking and name not in lacking:
                return replace(spec, seconds=UNREACHED * spec.seconds)
            if len(lacking) > 1 and options.builds is None:
                return replace(spec, aimed=True)
        reaching = self._yields.reaching(self._among) if self._reach_share and spec.max_cases is None else {}
        if not reaching or name in reaching or not self._planned(spec):
            return spec
        return replace(spec, seconds=UNREACHED * spec.seconds)

    def _made(self, chosen: Combination, *, scout: bool = False, only: tuple[str, ...] = (), aimed: bool = False,
              seconds: float | None = None) -> ShardSpec:
        """A new shard of a combination, on disk before anybody runs it. seconds: None for as many as others have."""
        options, index = self._plan.options, self._next
        like = next(spec for spec in self._plan.shards if combination(spec) == chosen)
        spec = shard_of(options, find(like.target), like.subject, _backend(options, like, index), index=index,
                        seconds=length(options) if seconds is None else seconds, known=like.known)
        return self._written(replace(spec, scout=scout, only=only, aimed=aimed))

    def _written(self, spec: ShardSpec) -> ShardSpec:
        self._next += 1
        path = self._state / FILE
        with writing(path, fix=f"free disk space, then run `tridiff fuzz --resume --id {self._plan.id}`"), open(
                path, "ab") as file:
            # The end of a line that was cut off is no beginning of this one.
            file.write(b"\n" + msgspec.json.encode(spec) + b"\n")
        return spec


def _spent(result: ShardResult) -> float:
    """Seconds that count as handed out: one for a known issue may end long before its time."""
    return min(result.seconds, result.spec.seconds) if result.spec.issue else result.spec.seconds


def _scout(spec: ShardSpec) -> bool:
    """Whether it looks for cases that run changed functions among drawn ones."""
    return spec.scout and not spec.first


def length(options: CampaignOptions) -> float:
    """Seconds of a shard that is dealt by yield."""
    return min(max(options.seconds / PARTS, SHORTEST), LONGEST, LONGEST_SHARD)


def _backend(options: CampaignOptions, like: ShardSpec, index: int) -> str:
    """The backend of a combination; `compile` and `evaluated` without an architecture go on through all of them."""
    sort = kind(like.backend)
    if sort in FOR_CHIPS and sort in options.backends:
        return f"{sort}:{ARCHITECTURES[index % len(ARCHITECTURES)]}"
    return like.backend
