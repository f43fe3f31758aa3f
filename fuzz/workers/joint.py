"""Joint launches: several cases in one kernel, each of which is judged by itself as if it had been launched alone."""

import time
from collections import Counter
from collections.abc import Callable, Sequence

from tridiff.fuzz.backends import kind
from tridiff.fuzz.backends.launch import Launch, resolve, unlike
from tridiff.fuzz.content.place import Buffer
from tridiff.fuzz.content.small import JOINED_ELEMENTS, MOST_JOINED, STAGED_TOGETHER, fits
from tridiff.fuzz.content.staging import Staging
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, JointOutcome, Launched, LaunchOptions, Outcome, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Joint, Target
from tridiff.fuzz.target.subjects import parse_subject
from tridiff.fuzz.workers.diagnostics import Diagnostics
from tridiff.fuzz.workers.execute import Attempt, Executor

Buffers = dict[str, Buffer]


class JointExecutor(Executor):
    """An executor that can run several cases in one launch as well."""

    _wide: Staging | None = None
    """Room for the arrays of a joint launch."""

    def execute_joined(self, cases: Sequence[Case], subject_name: str, *, backend: str,
                       stage: Callable[[str], None] = lambda name: None) -> tuple[JointOutcome, bool]:
        """What became of a joint launch, and whether this process must end because its device context is unusable.

        Raises TridiffError for cases that cannot be run so."""
        self.observed = None
        target = find(cases[0].target)
        joint, subject = target.run.joint, parse_subject(subject_name, target)
        for case in cases:
            case.check()
        if joint is None or subject.fault or len(cases) > MOST_JOINED or not all(
                one.target == target.name and one.options == cases[0].options and target.draw.valid(one)
                and fits(one.elements(), len(one.arrays), most=JOINED_ELEMENTS) for one in cases):
            raise TridiffError(f"{target.name} does not run these {len(cases)} cases in one launch",
                               fix="run each alone")
        small = all(fits(one.elements(), len(one.arrays), most=STAGED_TOGETHER) for one in cases)
        if self._kind == "cuda" and self._wide is None:
            self._wide = Staging(self._device, elements=MOST_JOINED * STAGED_TOGETHER)
        runner, said = self._runner(backend), Diagnostics()
        if self._kind in ("cuda", "evaluated"):
            runner.on_stage = stage  # type: ignore[attr-defined]
        together = _Together(joint, self._wide if small else None, [
            _Member(case, target, subject, backend, self._device, runner, stage, False,
                    self._staging if small else None) for case in cases])
        try:
            wrong = together.first()
            outcomes = () if wrong else tuple(one.outcome() for one in together.members)
            found = JointOutcome(outcomes=outcomes, reason=wrong,
                                 verdict=Verdict.NOT_CHECKED if wrong else Verdict.AGREE)
            spent = False
        except BaseException as error:
            failure = self._failure(error, backend, said)
            # The memory of a worker is tridiff's own limit.
            lacking = failure.kind == "out_of_memory"
            found = JointOutcome(verdict=Verdict.NOT_CHECKED if lacking else failure.verdict, reason=" ".join(
                f"{failure.kind}: {failure.reason}".split()))
            spent = failure.spent
        finally:
            if self._artefacts is not None:
                self._artefacts.sweep()
        if len(found.passed()) < len(cases):
            found = JointOutcome(outcomes=found.outcomes, verdict=found.verdict, reason=found.reason[:2000],
                                 source=resolve(joint.text)(cases))
        return found, spent


class _Member(Attempt):
    """One case of a joint launch: what it has of a launch of its own it asks of the joint one."""

    def __init__(self, case: Case, target: Target, *rest: object) -> None:
        super().__init__(case, target, *rest)  # type: ignore[arg-type]
        self.together: _Together | None = None
        self.asked: Counter[tuple[LaunchOptions, bool]] = Counter()
        """Launches after the first that this case asked for."""

    def outcome(self) -> Outcome:
        """What the checks say of the case."""
        self._mark = time.perf_counter()
        return self._answer_of_code() if kind(self.backend) == "compile" else self._answer()

    def launch_again(self, *, options: LaunchOptions | None = None, schedule: int = 0,
                     second: bool = True) -> tuple[Buffers, str]:
        """As `Trial` says."""
        assert self.together is not None and not schedule
        options = self.options if options is None else options
        self.asked[options, second] += 1
        found = self.together.again(self, options, second, self.asked[options, second])
        self.way = None if options == self.options else Launched(options=options)
        self._mark = time.perf_counter()
        return found


class _Together:
    """The launches of some cases that are made together."""

    def __init__(self, joint: Joint, wide: Staging | None, members: list[_Member]) -> None:
        self.members = members
        self._joint, self._wide = joint, wide
        self._kept: dict[tuple[LaunchOptions, bool, int], tuple[dict[int, Buffers], str]] = {}
        """What further launches gave, for those that ask for them later."""
        for one in members:
            one.together = self

    def first(self) -> str:
        """Launch all cases; a line when the compiler did not use the options that were asked for."""
        if kind(self.members[0].backend) == "compile":
            return self._launch(dict(enumerate(self.members)), {}, self.members[0].options)
        for one in self.members:
            one.place()
        buffers = {number: one.buffers for number, one in enumerate(self.members)}
        return self._launch(dict(enumerate(self.members)), buffers, self.members[0].options)

    def again(self, member: _Member, options: LaunchOptions, second: bool, time_: int) -> tuple[Buffers, str]:
        """As `Trial.launch_again`: the cases that may ask for such a launch are launched together, once."""
        key = options, second, time_
        if key not in self._kept:
            those = {number: one for number, one in enumerate(self.members)
                     if options == one.options or options in one.case.variants}
            again = {number: {name: buffer.refill(second=second, written=name in one.target.run.written)
                              for name, buffer in one.buffers.items()} for number, one in those.items()}
            self._kept[key] = again, self._launch(those, again, options)
        again, wrong = self._kept[key]
        return again[self.members.index(member)], wrong

    def _launch(self, members: dict[int, _Member], buffers: dict[int, Buffers], options: LaunchOptions) -> str:
        start, launcher = time.perf_counter(), next(iter(members.values()))
        launcher.stage("compile" if kind(launcher.backend) == "compile" else "launch")
        flat = {f"{number} {name}": buffer for number, own in buffers.items() for name, buffer in own.items()}
        pointers = {name: buffer.pointer for name, buffer in flat.items()} if self._wide is None else (
            self._wide.upload(flat))
        launches = [Launch(
            case=one.case, helper=None, fault="", options=options, runner=one.runner, stage=one.stage,
            pointers={name: pointers[f"{number} {name}"] for name in buffers[number]} if buffers else one.stand_ins())
            for number, one in members.items()]
        try:
            resolve(self._joint.launch)(launches)
            launcher.runner.synchronise()
        finally:
            launcher.reports += launches[0].reports
        if self._wide is not None:
            self._wide.download(flat)
        for one in members.values():
            one.seconds["launch"] += (time.perf_counter() - start) / len(members)
        return unlike(launches[0].reports, options)
