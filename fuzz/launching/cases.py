"""From scenes to cases: what is drawn, what is valid, how one is played and judged."""

import hashlib
import itertools
from collections import Counter
from collections.abc import Sequence
from random import Random

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.launching import fragments_amd, fragments_gluon, fragments_plain
from tridiff.fuzz.launching.expressions import EXPRESSIONS, told
from tridiff.fuzz.launching.lines import helper_names, parts, translatable
from tridiff.fuzz.launching.scene import EVERY, ROOM, SCENES, Answers, Choices, Scene, Topic
from tridiff.fuzz.launching.table import scenes
from tridiff.fuzz.records import Case, Scalar
from tridiff.fuzz.target import Limits, Vocabulary
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.fuzz.versions import before

FAULTS = ("first_answer_lost", "answers_swapped")
"""Planted in what a scene tells: its first answer is empty, and its first two in each other's place."""
_TEXTS = (fragments_plain.FRAGMENTS, fragments_gluon.FRAGMENTS, fragments_amd.FRAGMENTS)
_SHOWN = 300
MOST = 6000
"""Characters of an answer; of a longer one a digest is kept."""


def of_topic(topic: Topic) -> tuple[Scene, ...]:
    return tuple(scene for scene in scenes().values() if scene.topic == topic)


def scene_of(case: Case) -> Scene:
    """The scene of a case; KeyError for a case without one."""
    return scenes()[str(case.params["scene"])]


def choices_of(case: Case) -> Choices:
    return {name: value for name, value in case.params.items() if name != "scene"}


@st.composite
def scene_cases(draw: st.DrawFn, *, target: str, topic: Topic, limits: Limits) -> Case:
    """One scene of a topic. All choices shrink towards the first."""
    named = {scene.name: scene for scene in of_topic(topic)}
    scene = named[draw(st.sampled_from(limits.among({name: (one.since, "") for name, one in named.items()})))]
    drawn = st.fixed_dictionaries({
        name: st.just(EVERY) if name == scene.each else st.sampled_from(tuple(values))
        if limits.offered(since=scene.newer.get(name, "")) else st.just(next(iter(values)))
        for name, values in scene.vocabulary.items()})
    choices: dict[str, Scalar] = draw(drawn.filter(lambda found: bool(_plays(scene, found))))
    return Case(target=target, sizes={}, arrays=(), params={"scene": scene.name, **choices})


def once(seed: int, *, target: str, topic: Topic) -> list[Case]:
    """Every value of what a topic's scenes draw first, or next where a case plays every value of the first, one of each
    scene in turn. Of the other choices each case has, by the seed, values that few before it have, if that is legal."""
    luck, scenes_of = Random(seed), []
    for scene in of_topic(topic):
        first = next((name for name in scene.vocabulary if name != scene.each), scene.each)
        others = [name for name in scene.vocabulary if name != first]
        cases = []
        used = {name: Counter[Scalar]() for name in others}
        for value in (EVERY,) if first == scene.each else tuple(scene.vocabulary[first]):
            choices: dict[str, Scalar] = {}
            while not choices or not _plays(scene, choices):
                choices = {first: value} | {
                    name: EVERY if name == scene.each else _seldom(tuple(scene.vocabulary[name]), used[name], luck)
                    for name in others}
            for name in others:
                used[name][choices[name]] += 1
            cases.append(Case(target=target, sizes={}, arrays=(), params={"scene": scene.name, **choices}))
        luck.shuffle(cases)
        scenes_of.append(cases)
    return [case for turn in itertools.zip_longest(*scenes_of) for case in turn if case is not None]


def _seldom(values: Sequence[Scalar], used: Counter[Scalar], luck: Random) -> Scalar:
    """Mostly one of those that were used least: any, where these are not legal beside what else was chosen."""
    least = min(used[one] for one in values)
    return luck.choice([one for one in values if used[one] == least] if luck.random() < 0.75 else values)


def _plays(scene: Scene, choices: Choices) -> list[Choices]:
    """What a case plays: its choices, or one after the other all legal ones that it leaves to the scene."""
    found = [choices]
    if choices.get(scene.each) == EVERY:
        found = [{**choices, scene.each: value} for value in scene.vocabulary[scene.each]]
    return [one for one in found if scene.legal(one)]


def valid(case: Case, topic: Topic) -> bool:
    """Whether a scene of the topic has all of the choices and no other, and they are a legal combination."""
    scene = scenes().get(str(case.params.get("scene")))
    if scene is None or scene.topic != topic or case.arrays or case.sizes:
        return False
    choices = choices_of(case)
    return choices.keys() == scene.vocabulary.keys() and all(
        any(type(one) is type(value) and one == value for one in _may_say(scene, name))
        for name, value in choices.items()) and bool(_plays(scene, choices))


def _may_say(scene: Scene, name: str) -> tuple[Scalar, ...]:
    values = tuple(scene.vocabulary[name])
    return (*values, EVERY) if name == scene.each else values


def vocabulary(case: Case, topic: Topic) -> Vocabulary:
    """What each parameter of the case may say."""
    scene = scenes().get(str(case.params.get("scene")))
    return {"scene": tuple(one.name for one in of_topic(topic)), **(
        {name: _may_say(scene, name) for name in scene.vocabulary} if scene is not None else {})}


def simpler(case: Case) -> list[Case]:
    """Cases of the same scene with one choice nearer to the first of its vocabulary."""
    from msgspec.structs import replace

    scene, found = scene_of(case), []
    for name in scene.vocabulary:
        order = _may_say(scene, name)
        place = order.index(case.params[name])
        # What is wrong with all of them is wrong with one of them, whichever.
        nearer = range(place) if case.params[name] == EVERY else sorted({0, place // 2})
        found += [replace(case, params=dict(case.params) | {name: order[one]}) for one in nearer if one < place]
    return [one for one in found if _plays(scene, choices_of(one))]


def size(case: Case) -> tuple[int, ...]:
    """How far choices lie from the first ones."""
    scene = scene_of(case)
    return (sum(_may_say(scene, name).index(case.params[name]) for name in scene.vocabulary),)


def label(case: Case) -> str:
    """What tells findings apart: the scene."""
    return str(case.params.get("scene", ""))


def text(case: Case) -> str:
    """The source of the pieces that a case names; other scenes have words of their own by the same names."""
    found: list[str] = []
    if scene_of(case).topic == "translator":
        return "\n".join(translatable(int(case.params["group"])).values())
    if scene_of(case).topic not in ("front_end", "interpreted"):
        return ""
    for value in map(str, choices_of(case).values()):
        found += (*parts()[value], f"# {helper_names(value)}") if value in parts() else ()
        found += [told(value)] if value in EXPRESSIONS else []
        found += [texts[piece] for texts in _TEXTS for piece in (value, value.partition(": ")[2]) if piece in texts]
    return "\n".join(found)


def cells(case: Case) -> tuple[str, ...]:
    """Words that a campaign counts: the scene with each choice."""
    return tuple(f"scene={label(case)} {name}={value}" for name, value in choices_of(case).items())


def run(launch: Launch) -> None:
    """Play the case's scene and hold what was observed against the contract; the target's `launch` function."""
    import triton

    scene, choices, version = scene_of(launch.case), choices_of(launch.case), str(triton.__version__)
    if scene.since and before(version, scene.since):
        raise Declined(f"{scene.name} is new in Triton {scene.since}")
    launch.stage("compile")
    wrong: Exception | None = None
    for played in _plays(scene, choices):
        try:
            _play(launch, scene, played)
        except Exception as error:
            # What comes behind it is told all the same, and what is wrong before what could not be played.
            if wrong is None or (isinstance(wrong, Declined) and not isinstance(error, Declined)):
                wrong = error
    if wrong is not None:
        raise wrong


def _play(launch: Launch, scene: Scene, played: Choices) -> None:
    """One way to play a scene. Raises Declined where the version lacks it, Refuted where an answer is not due."""
    import triton

    from tridiff.fuzz.backends.launch import LaunchReport, resolve

    version = str(triton.__version__)
    for name, first in scene.newer.items():
        if before(version, first) and played[name] != next(iter(scene.vocabulary[name])):
            raise Declined(f"{scene.name} with {name} is new in Triton {first}")
    answers: Answers = resolve(f"{SCENES}{scene.play}")(played, launch.backend)
    where = scene.name if played == choices_of(launch.case) else f"{scene.name} {played[scene.each]}"
    names = list(answers)
    if launch.planted == "first_answer_lost":
        answers[names[0]] = ""
    elif launch.planted == "answers_swapped":
        answers |= {names[0]: answers[names[1]], names[1]: answers[names[0]]}
    # Messages between processes stay small.
    launch.reports.append(LaunchReport(compiled=1, answers={
        f"{where} {name}": text if len(text) <= MOST else hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        for name, text in answers.items()}))
    due: Answers = resolve(f"{ROOM}{scene.due}")({"scene": scene.name, **played}, version) if scene.due else {}
    for name, text in due.items():
        if answers.get(name) != text:
            raise Refuted(name.replace(" ", "_"), scene.name,
                          f"{where}: {name}: {answers.get(name, 'nothing')[:_SHOWN]!r}, where {text[:_SHOWN]!r} is due")
