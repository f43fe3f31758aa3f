"""How like a case is to others: by its settings, and by what its program computes from what."""

from collections import Counter
from collections.abc import Iterable, Iterator
from math import log

import msgspec

from tridiff.fuzz.records import Case
from tridiff.kernels.codegen.domains import Analysis
from tridiff.kernels.codegen.graph import Graph
from tridiff.kernels.codegen.relations import NUMBERS, kind_of_number, relations

BESIDES = 0.005
"""What a word that a case has besides takes from its likeness."""

_ASIDE = ("schema", "target", "sizes", "seed", "name", "dims", "content", "buffers", "nodes", "variants")
"""Fields that say nothing of what a case does, or are told by themselves; what arrays hold is written out in a kept
case, and drawn otherwise."""


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
    """Each setting of a case with its value, the operations of its program, and for each those whose results it takes,
    with and without the dtypes of both."""
    return frozenset(_words("", msgspec.to_builtins(case))).union(*_of_graph(case))


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
        yield f"{path} {kind_of_number(value) if path.endswith(NUMBERS) and isinstance(value, str) else value}"


def _of_graph(case: Case) -> list[frozenset[str]]:
    if not isinstance(case.program, Graph):
        return []
    analysis = Analysis(case.program)
    return relations(analysis.nodes, analysis.dtypes, analysis.buffers)
