"""How like a case is to others: by its settings, and by what its program computes from what."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from math import inf, log

import msgspec

from tridiff.fuzz.records import Case

BESIDES = 0.005
"""What a word that a case has besides takes from its likeness."""

SUBNORMAL = 2.0**-126
"""Smallest number of most floating-point types that has all its digits."""

_ASIDE = ("schema", "target", "sizes", "seed", "name", "dims", "content", "buffers", "variants")
"""Fields that say nothing of what a case does; what arrays hold is written out in a kept case, and drawn otherwise."""

_SAID = ("dtype", "kind", "body", "mode")
"""Fields of a node whose text says what it does."""

_NUMBERS = ("value", "other", "number")
"""Fields that hold a number as text: what matters is which kind of number."""

_TAKEN = ("arg", "args", "mask", "value", "index")
"""Fields of a node that name others: by number, or by `v3` in an index expression."""


class Likeness:
    """How like cases are to some others (`words_of`). Words weigh the more the fewer of the cases seen have them."""

    def __init__(self, others: Iterable[frozenset[str]]) -> None:
        self._others = tuple(others)
        self._seen: Counter[str] = Counter()
        self._number = 0

    def see(self, words: frozenset[str]) -> None:
        """Count a case's words."""
        self._seen.update(words)
        self._number += 1

    def shared(self, words: frozenset[str]) -> tuple[float, frozenset[str]]:
        """The part of the words of the most similar other case that a case has as well, by their weight, from 0 to 1,
        less a little for what it has besides; and those words."""
        return max(((self._part(words & one, one) - BESIDES * len(words - one), words & one) for one in self._others),
                   key=lambda one: one[0], default=(0.0, frozenset()))

    def _part(self, shared: frozenset[str], of: frozenset[str]) -> float:
        return sum(map(self._weight, shared)) / max(sum(map(self._weight, of)), 1e-9)

    def _weight(self, word: str) -> float:
        return log((self._number + 2) / (self._seen[word] + 1))


def words_of(case: Case) -> frozenset[str]:
    """Each setting of a case with its value, the operations of its program, and for each those whose results it takes.
    """
    return frozenset(_words("", msgspec.to_builtins(case)))


def _words(path: str, value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == "nodes":
                yield from _of_nodes(inner)
            elif name not in _ASIDE:
                yield from _words(f"{path}.{name}", inner)
    elif isinstance(value, (list, tuple)):
        yield f"{path} {len(value)}"
        for inner in value:
            yield from _words(path, inner)
    else:
        yield f"{path} {_kind_of(value) if path.endswith(_NUMBERS) and isinstance(value, str) else value}"


def _of_nodes(nodes: Iterable[Mapping[str, object]]) -> Iterator[str]:
    heads: list[str] = []
    for node in nodes:
        head = str(node.get("op", node["type"]))
        heads.append(head)
        yield " ".join([head, *(said for name in _SAID if isinstance(said := node.get(name), str)), *(
            _kind_of(said) for name in _NUMBERS if isinstance(said := node.get(name), str))])
        for name in _TAKEN:
            yield from (f"{head} of {heads[number]}" for number in _numbers(node.get(name)) if number < len(heads))


def _kind_of(text: str) -> str:
    """The kind of number that a text stands for; what is no number is itself."""
    try:
        number = float.fromhex(text) if "0x" in text else float(text)
    except (OverflowError, ValueError):
        return text
    size = abs(number)
    kind = ("zero" if not size else text.strip("+-") if size != size or size in (1, inf)
            else "subnormal" if size < SUBNORMAL else "fraction" if size < 1 else "number")
    return f"{'-' if text.startswith('-') else ''}{kind}"


def _numbers(value: object) -> Iterator[int]:
    """Numbers of nodes in a field's value; those of an index expression are the names `v3` in it."""
    if isinstance(value, dict):
        text = str(value.get("name", ""))
        if text[:1] == "v" and text[1:].isdigit():
            yield int(text[1:])
        yield from (number for inner in value.get("args", ()) if isinstance(inner, dict) for number in _numbers(inner))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _numbers(inner)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield value
