"""Everything between a kernel's source and its launch, by topic."""

from functools import partial

from tridiff.fuzz.launching import cases
from tridiff.fuzz.launching.about import about
from tridiff.fuzz.launching.scene import Topic
from tridiff.fuzz.records import Environment
from tridiff.fuzz.target import Coverage, Draw, Faults, Judge, Run, Shrink, Target
from tridiff.fuzz.versions import before, release

_RUN = "tridiff.fuzz.launching.cases:run"
ABOUT: dict[Topic, str] = {
    "arguments": "arguments bound, specialised, compiled and handed to the launcher",
    "options": "options of the compiler in metadata, code, pipeline and command line",
    "caches": "kernels kept in memory and on disk, captured values, stages written and replaced",
    "sources": "kernels from text of Triton's stages, and compiled ahead of time",
    "events": "hooks, launch metadata, warm-up, kernels loaded ahead, other ways to run one",
    "tuning": "configurations chosen by measurement and by rule",
    "refusals": "launches and descriptors that cannot be",
    "descriptors": "tensor descriptors from the host, and scratch",
    "host": "functions of the Python layer that need no kernel: options, versions, types",
    "layouts": "Gluon's layouts as Python objects",
    "front_end": "many small kernels, legal and nearly so, to their source IR or refusal",
    "interpreted": "the same kernels in Triton's interpreter as it is: what each name holds at the end",
    "translator": "the same kernels as Triton's translator writes them in Gluon, and what is made of that",
}
_SECTIONS: dict[Topic, str] = {
    "arguments": "§1, §2, §3", "options": "§4", "caches": "§5", "sources": "§5", "events": "§6", "tuning": "§7",
    "refusals": "§8", "descriptors": "§9", "host": "§10", "layouts": "§10",
    "front_end": "§11", "interpreted": "§12", "translator": "§13"}


def _lacking(environment: Environment, *, topic: Topic) -> str:
    first = min((scene.since for scene in cases.of_topic(topic)), key=release)
    return f"it is there from Triton {first} on" if first and before(environment.triton, first) else ""


def _target(topic: Topic) -> Target:
    name = f"launch.{topic}"
    return Target(
        name=name, summary=ABOUT[topic], contract=f"launch.md {_SECTIONS[topic]}",
        subjects={"own": _RUN}, backends=("interpreter",) if topic == "interpreted" else ("cuda", "compile"),
        draw=Draw(cases=lambda limits: cases.scene_cases(target=name, topic=topic, limits=limits),
                  once=partial(cases.once, target=name, topic=topic),
                  params=partial(cases.vocabulary, topic=topic), valid=partial(cases.valid, topic=topic),
                  things=lambda: {scene.name: () for scene in cases.of_topic(topic)}, thing=cases.label,
                  text=cases.text, about=about,
                  breadth=sum(max(map(len, scene.vocabulary.values()), default=1) for scene in cases.of_topic(topic))),
        run=Run(launch=cases.run, untraced=("own",), lacking=partial(_lacking, topic=topic)),
        judge=Judge(oracles=lambda case: (), rules=lambda case: {}, label=cases.label),
        shrink=Shrink(steps=cases.simpler, size=cases.size),
        faults=Faults(planted=dict.fromkeys(cases.FAULTS, _RUN), shared_as="launch"),
        coverage=Coverage(cells=cases.cells))


TARGETS = tuple(_target(topic) for topic in ABOUT)
