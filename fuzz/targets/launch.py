"""Everything between a kernel's source and its launch, by topic."""

from functools import partial

from tridiff.fuzz.launching import cases
from tridiff.fuzz.launching.scene import Topic
from tridiff.fuzz.target import Coverage, Draw, Faults, Judge, Run, Shrink, Target

_RUN = "tridiff.fuzz.launching.cases:run"
ABOUT: dict[Topic, str] = {
    "arguments": "arguments bound, specialised, compiled and handed to the launcher",
}
_SECTIONS: dict[Topic, str] = {"arguments": "§1, §2, §3"}


def _target(topic: Topic) -> Target:
    name = f"launch.{topic}"
    return Target(
        name=name, family="launch", summary=ABOUT[topic], contract=f"launch.md {_SECTIONS[topic]}",
        subjects={"own": _RUN}, backends=("cuda", "compile"),
        draw=Draw(cases=lambda limits: cases.scene_cases(target=name, topic=topic, limits=limits),
                  params=partial(cases.vocabulary, topic=topic), valid=partial(cases.valid, topic=topic)),
        run=Run(launch=cases.run),
        judge=Judge(oracles=lambda case: (), rules=lambda case: {}, label=cases.label),
        shrink=Shrink(steps=cases.simpler, size=cases.size),
        faults=Faults(planted=dict.fromkeys(cases.FAULTS, _RUN), shared_as="launch"),
        coverage=Coverage(cells=cases.cells))


TARGETS = tuple(_target(topic) for topic in ABOUT)
