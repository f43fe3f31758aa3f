"""What a gate looks at first where the builds differ in few functions: whatever runs one of them.

Nobody knows that before the baseline has run it, so all of it is looked at, cheaply (`ShardSpec.scout`); words that the
functions share with cases and with targets decide what comes first, and nothing else.
"""

import collections
import re
from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.fuzz.backends import kind
from tridiff.fuzz.builds.alike import Alike
from tridiff.fuzz.builds.changed import Change
from tridiff.fuzz.campaign.record import ShardSpec
from tridiff.fuzz.records.codec import canonical_json
from tridiff.fuzz.registry import find

LOOK_SECONDS, LOOK_CASES = 1.0, 4
"""Each combination draws so many cases, and one more for every two things that it draws from, for so long at most. As
many for each thing that has to do with a changed function."""

LOOK_REACHING = 2
"""Cases that reach a changed function, after which a look has seen enough."""

SHORTEST_WORD = 3


def aimed(listed: Iterable[ShardSpec], drawn: Iterable[ShardSpec], shared: Alike) -> list[ShardSpec]:
    """What is drawn from things that have to do with a changed function; listed cases that name one; a look at each
    combination, those about launches first where files that launch differ, then those whose target has a word of a file
    that differs, backends in turn; the other listed cases. All of them scout but those on backends that use no file
    that differs, which come last."""
    changes, late = shared.functions, []
    pattern = _pattern(word for one in changes for word in _names(one))
    naming: list[ShardSpec] = []
    others: list[ShardSpec] = []
    for spec in listed:
        if not _concerned(spec, shared):
            late.append(spec)
            continue
        told = [case for case in spec.first if pattern.search(canonical_json(case))]
        for place, cases in ((naming, told), (others, [case for case in spec.first if case not in told])):
            if cases:
                place.append(replace(spec, scout=True, first=tuple(cases), max_cases=len(cases),
                                     seconds=spec.seconds * len(cases) / len(spec.first)))
    words = {word for one in changes for file in (one.file, *one.users) for word in _words(file)}
    first, looks = [], []
    turns: collections.Counter[str] = collections.Counter()

    def order(spec: ShardSpec) -> tuple[bool, int, int]:
        turns[spec.backend] += 1
        about_launches = not shared.launch and find(spec.target).family == "launch"
        return not about_launches, -len(words & set(_words(spec.target))), turns[spec.backend]

    for spec in sorted(drawn, key=order):
        if not _concerned(spec, shared):
            continue
        things = find(spec.target).draw.things()
        about = tuple(name for name, covers in things.items() if pattern.search(" ".join((name, *covers)).encode()))
        if about:
            first.append(replace(spec, scout=True, only=about, seconds=2 * LOOK_SECONDS,
                                 max_cases=LOOK_CASES * len(about)))
        looks.append(replace(spec, scout=True, seconds=LOOK_SECONDS, max_cases=LOOK_CASES + len(things) // 2,
                             enough=LOOK_REACHING))
    return [*first, *naming, *looks, *others, *late]


def _concerned(spec: ShardSpec, shared: Alike) -> bool:
    """Whether a backend uses any file that differs."""
    wanted = {"interpreter"} if kind(spec.backend) == "interpreter" else {"cuda", "gfx942"}
    return bool(wanted & set(shared.reached))


def _names(change: Change) -> list[str]:
    """The last part of a changed function's name, and that of each function that uses a changed name."""
    return [name.rpartition(".")[2].partition(" ")[0].strip("_")
            for name in (change.name, *(one for names in change.users.values() for one in names))]


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[^a-z]+", text.lower().removesuffix(".py")) if len(word) >= SHORTEST_WORD]


def _pattern(words: Iterable[str]) -> re.Pattern[bytes]:
    chosen = sorted({word for word in words if len(word) >= SHORTEST_WORD})
    return re.compile("|".join(rf"(?<![A-Za-z0-9_]){re.escape(word)}(?![A-Za-z0-9_])" for word in chosen).encode()
                      or rb"(?!)")
