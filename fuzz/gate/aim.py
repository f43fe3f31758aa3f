"""What a gate looks at first where the builds differ in few functions: whatever runs one of them.

Nobody knows that before the baseline has run it, so all of it is looked at, cheaply (`ShardSpec.scout`); words that the
functions share with cases and with targets decide what comes first, and nothing else.
"""

import collections
import fnmatch
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.builds.alike import FRONT_END, Alike
from tridiff.fuzz.builds.changed import Change
from tridiff.fuzz.builds.words import kinds, of_text, parts, share
from tridiff.fuzz.campaign.neighbours import other_choices
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.codec import canonical_json
from tridiff.fuzz.registry import find

LOOK_SECONDS, LOOK_CASES = 1.0, 4
"""Each combination draws so many cases, and one more for every two things that it draws from, for so long at most."""

AIMED_CASES = 16
"""Cases for each thing that has to do with a changed function, for twice as long at most."""

LOOK_REACHING = 2
"""Cases that reach a changed function, after which a look has seen enough."""

SCOUTED = 0.4
"""What a listed case that reaches nothing takes, as part of one that runs on both builds."""

SHORTEST_WORD = 3

_OF_CLASS = ("__init__", "__new__", "__post_init__", "__call__", "__reduce__")
"""Methods whose own names are words of other things: barriers have an `init`."""

FEW = 40
"""Listed cases that name a changed function, up to which they are played with other choices as well: """

MANY = 80
"""Beyond so many it says nothing that a case names one: "load" is everywhere. So too of words around one, and what is
drawn from."""

TURNS = 4
"""each choice made otherwise so many times."""

PLAYED = 40
"""Cases of each target about launches that come as early where more than the front end differs: what they do stands in
no text, so that no word can find them."""

_LANGUAGE = (*FRONT_END, "runtime/interpreter.py")

_SOURCES = "launch.front_end"
"""Nothing is launched there."""

DEAR = {"launch.translator": 5.0}
"""Targets whose listed cases take so many times as long as others: each translates and compiles some twenty texts that
others compile as well."""

HINTED = 64
"""Listed cases that come before the looks because they share rare words with the statements that changed."""


def aimed(listed: Iterable[ShardSpec], drawn: Iterable[ShardSpec], shared: Alike, *,
          seconds: float) -> tuple[list[ShardSpec], list[ShardSpec]]:
    """What is drawn from things that have to do with a changed function; listed cases that name one, in turn with a few
    that share rare words with what changed; in turn with these, listed cases of targets by the name of its file and,
    where more than the front end differs, what is to be played of launches; a look at each combination, those about
    launches first where files that launch differ, then those whose target has a word of what differs, backends in turn;
    the other listed cases, as far as so many seconds go. All of them scout. And what comes behind the floor: the rest
    of these, and listed cases on backends that use no file that differs."""
    listed, drawn = list(listed), list(drawn)
    changes, late = shared.functions, []
    pattern = _pattern(word for one in changes for word in _names(one))
    hidden = not any(_tells(case, pattern) for spec in listed if _concerned(spec, shared) for case in spec.first)
    if hidden:
        # An inner function, a special method, a helper of others: cases name what is around it or calls it.
        pattern = _pattern(word for one in changes for word in (*_names(one), *one.near))
    late += [spec for spec in listed if not _concerned(spec, shared)]
    naming, others = _telling((spec for spec in listed if _concerned(spec, shared)), pattern)
    number = sum(len(spec.first) for spec in naming)
    if number > MANY:
        naming, others = [], [*naming, *others]
        # Those that name its class instead, as far as these are fewer.
        owning, left = _telling(others, _pattern(_class(one.name) for one in changes))
        number = sum(len(spec.first) for spec in owning)
        naming, others = (owning, left) if number <= MANY else (naming, others)
    # What is drawn is named by functions of the language: a `get` or an `add` of another file is none of them.
    of_language = [one for one in changes if any(fnmatch.fnmatchcase(one.file, some) for some in _LANGUAGE)]
    about = collections.Counter(
        word for one in changes for word in (*one.words, *({*one.near} | parts(one.near)).difference(one.words)))
    syntax = {kind for one in changes for name in (one.name, *one.near) for kind in kinds(name)}
    marks = _marks([*naming, *others], about, syntax)
    # Of many that name one, those that do so most often.
    using, others = ([], others) if naming or hidden or not of_language else _hinting(
        others, _uses(others, pattern, marks))
    hinting, others = _hinting(others, marks)
    # One change of a named case is as good as another.
    varied = [one for spec in naming for one in _varied(spec, pattern)] if number <= FEW else []
    ranks = _uses(naming, pattern, marks) if of_language else marks
    naming = [*(spec for some in _hinting(naming, ranks) for spec in some), *using]
    words_of_files = {word for one in changes for file in (one.file, *one.users) for word in _words(file)}
    # A target by the name of a file, or of its folder, is about it; folders further out hold all of a language.
    nearest = {word for one in changes for file in (one.file, *one.users) for word in _words("/".join(
        file.split("/")[-2:]))}
    about_files = [spec for some in _hinting([spec for spec in others if _named_by(spec, nearest)], marks)
                   for spec in some]
    others = [spec for spec in others if not _named_by(spec, nearest)]
    playing, others = ([], others) if shared.behind_source else _playing(others, marks)
    words = about.keys() | words_of_files
    first: list[ShardSpec] = []
    looks: list[ShardSpec] = []
    spoken = _pattern(word for one in of_language for word in _names(one))
    around = {word for one in of_language for word in one.near} if hidden else set[str]()
    every = {spec.target: find(spec.target).draw.things() for spec in drawn}
    if around:
        said = [_said(name, covers) for some in every.values() for name, covers in some.items()]
        few = (word for word in around if sum(map(bool, map(_pattern((word,)).search, said))) <= MANY)
        spoken = _pattern((*(word for one in of_language for word in _names(one)), *few))
    turns: collections.Counter[str] = collections.Counter()

    def order(spec: ShardSpec) -> tuple[bool, int, int]:
        turns[spec.backend] += 1
        about_launches = not shared.launch and find(spec.target).family == "launch"
        return not about_launches, -len(words & set(_words(spec.target))), turns[spec.backend]

    for spec in sorted(drawn, key=order):
        if not _concerned(spec, shared):
            continue
        things = every[spec.target]
        only = tuple(name for name, covers in things.items() if spoken.search(_said(name, covers)))
        if only:
            first.append(replace(spec, scout=True, only=only, seconds=2 * LOOK_SECONDS,
                                 max_cases=AIMED_CASES * len(only)))
        look = replace(spec, scout=True, seconds=LOOK_SECONDS, max_cases=LOOK_CASES + len(things) // 2,
                       enough=LOOK_REACHING)
        (first if _named_by(spec, words_of_files) else looks).append(look)
    early = sum(spent <= seconds for spent in itertools.accumulate(SCOUTED * spec.seconds for spec in others))
    early_on = in_turn(about_files, (*first, *in_turn(naming, hinting), *varied), playing)
    return [*early_on, *looks, *others[:early]], [*others[early:], *late]


def in_turn(*several: Iterable[ShardSpec]) -> Iterator[ShardSpec]:
    """The first of each, then the second of each, and so on."""
    return (spec for turn in itertools.zip_longest(*several) for spec in turn if spec is not None)


def _marks(specs: Iterable[ShardSpec], words: Mapping[str, int], syntax: set[str]) -> dict[str, float]:
    """How much each listed case has to do with these words, by its digest: the more, the rarer those are that it has
    among the cases; long texts have some of any words. What consists of these kinds of syntax has as much again."""
    known: collections.Counter[str] = collections.Counter()
    said: dict[str, list[tuple[set[str], int]]] = {}
    shares: dict[str, float] = {}
    for case in (case for spec in specs for case in spec.first):
        texts = _texts(case)
        said[case.digest] = [(words.keys() & of_case, len(of_case)) for of_case in map(of_text, texts)]
        known.update({word for found, _ in said[case.digest] for word in found})
        shares[case.digest] = max(share(text, syntax) for text in texts) if syntax else 0.0
    marks = {digest: max(
        sum(words[word] * math.log(len(said) / known[word]) for word in found) / math.sqrt(number + 1)
        for found, number in some) for digest, some in said.items()}
    unit = max(marks.values(), default=0.0) / (max(shares.values(), default=0.0) or 1.0)
    return {digest: mark + unit * shares[digest] for digest, mark in marks.items()}


def _uses(specs: Iterable[ShardSpec], pattern: re.Pattern[bytes], marks: Mapping[str, float]) -> dict[str, float]:
    """How often each listed case says a word of the pattern, by its digest, each time another use of it, and among
    equals how much else it has to do with what changed."""
    most = max(marks.values(), default=0.0) + 1.0
    return {case.digest: uses + marks[case.digest] / most if (uses := len(pattern.findall(_text(case).encode()))) else
            0.0 for spec in specs for case in spec.first}


def _hinting(specs: Sequence[ShardSpec], marks: Mapping[str, float]) -> tuple[list[ShardSpec], list[ShardSpec]]:
    """The cases with the highest marks, the best first, and the other cases as they were. Of several of a target that
    say the same, such as those of one scene, each counts for less than the one before it: another scene knows other
    things, and so does another target, which compiles a text or interprets it. What takes longer counts for
    less."""
    same: collections.Counter[tuple[str, str]] = collections.Counter()
    number: dict[str, float] = {}
    for spec in specs:
        for case in spec.first:
            if marks[case.digest] > 0:
                draw = find(case.target).draw
                same[said := (case.target, draw.text(case) or draw.about(case) or case.digest)] += 1
                number[case.digest] = marks[case.digest] / same[said] / DEAR.get(case.target, 1.0)
    best = set(sorted(number, key=lambda one: -number[one])[:HINTED])
    chosen = [_with(spec, (case,)) for spec in specs for case in spec.first if case.digest in best]
    left = ((spec, tuple(case for case in spec.first if case.digest not in best)) for spec in specs)
    return (sorted(chosen, key=lambda spec: -number[spec.first[0].digest]),
            [_with(spec, cases) for spec, cases in left if cases])


def _playing(specs: Sequence[ShardSpec], marks: Mapping[str, float]) -> tuple[list[ShardSpec], list[ShardSpec]]:
    """What is to be played of launches, up to PLAYED cases of each target, targets in turn, first that with the case
    of the highest mark, and of those that come together the one with the highest; and the rest."""
    chosen: dict[str, list[ShardSpec]] = {}
    left: list[ShardSpec] = []
    counted: collections.Counter[str] = collections.Counter()
    for spec in specs:
        target = find(spec.target)
        played = tuple(case for case in spec.first if not target.draw.text(case)) if target.family == "launch" and (
            spec.target != _SOURCES and counted[spec.target] < PLAYED) else ()
        counted[spec.target] += len(played)
        if played:
            ranked = sorted(played, key=lambda case: -marks[case.digest])
            chosen.setdefault(spec.target, []).append(_with(spec, tuple(ranked)))
        if rest := tuple(case for case in spec.first if case not in played):
            left.append(_with(spec, rest))
    turns = sorted(chosen.values(), key=lambda some: -max(marks[spec.first[0].digest] for spec in some))
    return list(in_turn(*turns)), left


def _with(spec: ShardSpec, cases: tuple[Case, ...]) -> ShardSpec:
    """A scout of these listed cases, each with its time."""
    return replace(spec, scout=True, first=cases, max_cases=len(cases),
                   seconds=spec.seconds * len(cases) / len(spec.first))


def _telling(specs: Iterable[ShardSpec], pattern: re.Pattern[bytes]) -> tuple[list[ShardSpec], list[ShardSpec]]:
    """Listed cases that have a word of the pattern, and the others."""
    naming: list[ShardSpec] = []
    others: list[ShardSpec] = []
    for spec in specs:
        told = [case for case in spec.first if _tells(case, pattern)]
        for place, cases in ((naming, told), (others, [case for case in spec.first if case not in told])):
            if cases:
                place.append(_with(spec, tuple(cases)))
    return naming, others


def _tells(case: Case, pattern: re.Pattern[bytes]) -> bool:
    return bool(pattern.search(canonical_json(case)) or pattern.search(_text(case).encode()))


def _text(case: Case) -> str:
    """What a case says, as one text: that of its pieces, or else itself with the words of what it does."""
    draw = find(case.target).draw
    return draw.text(case) or f"{canonical_json(case).decode()} {draw.about(case)}"


def _texts(case: Case) -> list[str]:
    """What a case says, once for each thing that it does in turn."""
    several = find(case.target).draw.about(case).splitlines()
    return [f"{canonical_json(case).decode()} {one}" for one in several] or [_text(case)]


def _varied(spec: ShardSpec, pattern: re.Pattern[bytes]) -> Iterator[ShardSpec]:
    """Cases that name a changed function as well, with one other choice."""
    found = {one.digest: one for case in spec.first for turn in range(TURNS) for one in other_choices(case, turn)
             if _tells(one, pattern)}
    cases = tuple(one for digest, one in found.items() if digest not in {case.digest for case in spec.first})
    if cases:
        yield _with(spec, cases)


def _concerned(spec: ShardSpec, shared: Alike) -> bool:
    """Whether a backend uses any file that differs; what no backend uses, scenes may play on any."""
    wanted = {"interpreter"} if kind(spec.backend) == "interpreter" else {"cuda", "gfx942"}
    return not shared.reached or bool(wanted & set(shared.reached))


def _said(name: str, covers: Iterable[str]) -> bytes:
    return " ".join((name, *covers)).encode()


def _names(change: Change) -> list[str]:
    """The last part of a changed function's name, and that of each function that uses a changed name; the class of a
    method that makes or calls its objects."""
    return [_name(name) for name in (change.name, *(one for names in change.users.values() for one in names))]


def _name(whole: str) -> str:
    around, _, last = whole.partition(" ")[0].rpartition(".")
    return around.rpartition(".")[2] if last in _OF_CLASS and around else last.strip("_")


def _named_by(spec: ShardSpec, words: set[str]) -> bool:
    """Whether the target's own name, one or many, is among words."""
    mine = _words(spec.target.rpartition(".")[2])
    return spec.target != _SOURCES and bool(words & {*mine, *(word.removesuffix("s") for word in mine)})


def _class(whole: str) -> str:
    return whole.rpartition(".")[0].rpartition(".")[2]


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^a-z]+", text.lower().removesuffix(".py")) if len(word) >= SHORTEST_WORD]


def _pattern(words: Iterable[str]) -> re.Pattern[bytes]:
    chosen = sorted({word for word in words if len(word) >= SHORTEST_WORD})
    return re.compile("|".join(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])" for word in chosen).encode()
                      or rb"(?!)")
