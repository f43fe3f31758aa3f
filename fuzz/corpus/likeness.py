"""How like a case is to others: by its settings, and by what its program computes from what."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import inf, log

import msgspec

from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import operands
from tridiff.kernels.codegen.graph import Graph, Node, real_number

BESIDES = 0.005
"""What a word that a case has besides takes from its likeness."""

SUBNORMAL = 2.0**-126
"""Smallest number of most floating-point types that has all its digits."""

_ASIDE = ("schema", "target", "sizes", "seed", "name", "dims", "content", "buffers", "nodes", "variants")
"""Fields that say nothing of what a case does, or are told by themselves; what arrays hold is written out in a kept
case, and drawn otherwise."""

_SAID = ("dtype", "kind", "body", "mode")
"""Fields of a node whose text says what it does."""

_NUMBERS = ("value", "other", "number")
"""Fields that hold a number as text: what matters is which kind of number."""


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
    nodes = case.program.nodes if isinstance(case.program, Graph) else ()
    return frozenset((*_words("", msgspec.to_builtins(case)), *_of_nodes(nodes)))


def _words(path: str, value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in _ASIDE:
                yield from _words(f"{path}.{name}", inner)
    elif isinstance(value, (list, tuple)):
        yield f"{path} {len(value)}"
        for inner in value:
            yield from _words(path, inner)
    else:
        yield f"{path} {_kind_of(value) if path.endswith(_NUMBERS) and isinstance(value, str) else value}"


def _of_nodes(nodes: Sequence[Node]) -> Iterator[str]:
    heads: list[str] = []
    for node in nodes:
        heads.append(str(getattr(node, "op", node.__struct_config__.tag)))
        yield " ".join([heads[-1], *(said for name in _SAID if isinstance(said := getattr(node, name, None), str)), *(
            _kind_of(said) for name in _NUMBERS if isinstance(said := getattr(node, name, None), str))])
        yield from (f"{heads[-1]} of {heads[number]}" for number in operands(node))


def _kind_of(text: str) -> str:
    """The kind of number that a text stands for; what is no number is itself."""
    try:
        number = real_number(text)
    except (OverflowError, ValueError):
        return text
    size = abs(number)
    kind = ("zero" if not size else text.strip("+-") if size != size or size in (1, inf)
            else "subnormal" if size < SUBNORMAL else "fraction" if size < 1 else "number")
    return f"{'-' if text.startswith('-') else ''}{kind}"
