"""Which failures of small cases are one: by their keys (`fuzz.corpus.pattern`) and by their neighbours
(`fuzz.shrink.beside`)."""

import re
from typing import Generic, TypeVar

import msgspec

from tridiff.fuzz.content.text import number_of
from tridiff.fuzz.records import Case, Evidence
from tridiff.fuzz.shrink.beside import wrong_in

LEAST = 4
"""Neighbours in one value that two cases share, of which none is contrary, before the case of one counts as a neighbour
of the other."""

_SMALL = re.compile(r"-?\d+")

Thing = TypeVar("Thing")


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """A failure: its values by place ("a.0"), what is wrong, what its neighbours in one value give, and its dtypes."""

    values: dict[str, str]
    wrong: str
    beside: dict[str, dict[str, str]]
    dtypes: tuple[str, ...]

    def is_beside(self, other: "_Known") -> bool:
        """Whether the other's case is this one with one value changed, and gives what this one's neighbour gives."""
        if self.values.keys() != other.values.keys():
            return False
        changed = [place for place, text in self.values.items() if _value(text) != _value(other.values[place])]
        if len(changed) != 1:
            return False
        (place,) = changed
        mine, others = ({**one.beside.get(place, {}), _value(one.values[place]): one.wrong} for one in (self, other))
        shared = mine.keys() & others.keys()
        return bool(mine.get(_value(other.values[place]))) and len(shared) >= LEAST and not any(
            contrary(mine[value], self.dtypes, others[value], other.dtypes) for value in shared)


class Alike(Generic[Thing]):
    """Failures that are told apart by their keys and by their neighbours (`Evidence.beside`): those of one key are one
    as long as no neighbour that two of them were asked about is contrary, for two faults of one kernel may have one
    smallest case. One fault may have two: another dtype's simplest wrong value. So those of two keys are one where the
    case of one is a neighbour of the other's, in one value."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[dict[str, tuple[str, tuple[str, ...]]], Thing]]] = {}
        self._known: dict[str, list[tuple[_Known, Thing]]] = {}

    def first(self, key: str, evidence: Evidence | None, thing: Thing, *, case: Case, subject: str = "") -> Thing:
        """The first thing that is one with this one, itself where there was none before. subject: of the failure."""
        if evidence is not None and evidence.plainest is not None:
            case, evidence = evidence.plainest.case, evidence.plainest.evidence
        dtypes = tuple(one.dtype for one in case.arrays)
        beside = {} if evidence is None else {name: (said, dtypes) for name, said in evidence.beside.items()}
        groups = self._found.setdefault(key, [])
        found = None
        for known, one in groups:
            if not any(name in known and contrary(*known[name], *said) for name, said in beside.items()):
                for name, said in beside.items():
                    known.setdefault(name, said)
                found = one
                break
        here = _known(case, evidence, dtypes)
        others = self._known.setdefault(f"{case.target} {subject} {case.params}", []) if here is not None else []
        if found is None:
            found = next((one for known, one in others
                          if here is not None and (known.is_beside(here) or here.is_beside(known))), thing)
            groups.append((dict(beside), found))
        if here is not None:
            others.append((here, found))
        return found


def _known(case: Case, evidence: Evidence | None, dtypes: tuple[str, ...]) -> _Known | None:
    """None for a failure without values or neighbours."""
    if evidence is None or not evidence.beside or not evidence.expected:
        return None
    beside: dict[str, dict[str, str]] = {}
    for name, said in evidence.beside.items():
        place, _, text = name.partition(" = ")
        if text and " " not in place:
            beside.setdefault(place, {})[_value(text)] = said
    values = {f"{name}.{place}": text for name, texts in evidence.inputs.items() for place, text in enumerate(texts)}
    return _Known(values=values, wrong=wrong_in(case, evidence), beside=beside, dtypes=dtypes)


def _value(text: str) -> str:
    """A value, the same for an integer and a float that are equal."""
    try:
        number = number_of(text)
    except ValueError:
        return text  # "largest"
    return text if number is None or text.startswith("-0") else str(int(number) if number == int(number) else number)


def contrary(one: str, dtypes: tuple[str, ...], other: str, of_others: tuple[str, ...]) -> bool:
    """Whether a neighbour that gave `one` and the same one that gave `other` show two causes. Where the dtypes differ,
    other numbers may come of one cause: an identity of a fold, what a type cannot hold. That one is right and the other
    wrong is contrary all the same, and so are two small whole numbers in place of the same."""
    if one == other:
        return False
    (right, wrong), (too, another) = ((*said.split(" > "), "")[:2] for said in (one, other))
    if dtypes == of_others or not wrong or not another:
        return True
    return right == too and _SMALL.fullmatch(wrong) is not None and _SMALL.fullmatch(another) is not None
