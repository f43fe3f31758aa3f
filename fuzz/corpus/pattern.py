"""Minimal patterns: what is left of a failing case once it is small, without what does not matter to its cause.

Two defects of one kernel often have one signature ("value, in out"). Shrinking takes away all that a failure does not
need, so what is left tells them apart: which operations, which classes of operands, which settings differ from the
simplest ones, and what stands in place of what is right. dtypes, sides and forms of a launch are left out, as in
`fuzz.corpus.cause`, and so are arrays that no oracle reads.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from tridiff.fuzz.corpus.cause import finding_of
from tridiff.fuzz.corpus.classes import class_of, inexact, relation
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import Case, CorpusEntry, Evidence, LaunchOptions, Layout, Signature, Verdict
from tridiff.fuzz.registry import find

MOST_IN_ORDER = 4
"""Values of an operand that are told in order; of more, only which classes there are."""

_SCAFFOLD = frozenset(("graph", "call", "script", "load", "store", "sym", "num", "real", "constant", "name", "number",
                       "assign", "block", "cast", "part"))
"""Words of programs that most programs have, whatever they do."""
_NAMES = ("op", "function", "row", "kind", "body", "combine")
"""Fields that say which one of its type a part of a program is."""


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """place: the target, or the family where programs are drawn, and the subject. shown: "expected > actual" by classes
    for elements that are wrong, with the output's name where the target has fixed ones; or what an error says.
    operands: classes of values of each array that an oracle reads. parts: operations of the program. settings: what
    differs from the simplest launch."""

    place: tuple[str, ...]
    shown: tuple[str, ...]
    operands: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """One readable line; equal keys are equal patterns."""
        return " | ".join((" ".join(self.place), ", ".join(self.shown), "; ".join(self.operands), " ".join(self.parts),
                           " ".join(self.settings)))


def pattern_of(signature: Signature, case: Case, evidence: Evidence | None) -> Pattern | None:
    """The pattern of a small failing case; None where nothing but the signature tells anything: errors with a message,
    whose text is the finding already, and failures without values."""
    if signature.verdict is not Verdict.DISAGREE or evidence is None or not evidence.expected:
        return None
    target = find(signature.target)
    drawn = not isinstance(case.program, msgspec.UnsetType)
    shown = tuple(sorted(set(_wrong(case, evidence, named=not drawn))))
    if not shown:
        return None
    operands = list(_operands(case, evidence))
    return Pattern(place=(target.family if drawn else target.name, signature.subject), shown=shown,
                   operands=tuple(sorted(operands) if drawn else operands), parts=_parts(case),
                   settings=tuple(_settings(case)))


def _wrong(case: Case, evidence: Evidence, *, named: bool) -> Iterator[str]:
    found: dict[bool, list[str]] = {True: [], False: []}
    expected = next(iter(evidence.expected.values()))
    for name, values in expected.items():
        spec, actual = case.array(name), evidence.actual.get(name, ())
        for right, got in zip(values, actual, strict=False):
            if right != got and not ("nan" in right and "nan" in got):
                told = relation(right, got, spec.dtype)
                found[inexact(right, got)].append(f"{name} {told}" if named else told)
    # What is inexact is mostly what the contract allows, beside an element that is wrong.
    yield from found[False] or found[True]


def _operands(case: Case, evidence: Evidence) -> Iterator[str]:
    read = {one for oracle in find(case.target).judge.oracles(case) for one in oracle.arguments}
    names = [name for name in evidence.inputs if name in read] or list(evidence.inputs)
    for name in names:
        classes = [class_of(text, case.array(name).dtype) for text in evidence.inputs[name]]
        if len(classes) <= MOST_IN_ORDER:
            yield ",".join(classes)
        else:
            yield f"{{{','.join(sorted(set(classes)))}}}"


def _parts(case: Case) -> tuple[str, ...]:
    if isinstance(case.program, msgspec.UnsetType):
        return ()
    return tuple(sorted(set(_words(msgspec.to_builtins(case.program))) - _SCAFFOLD))


def _words(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        names = [str(part[name]) for name in _NAMES if isinstance(part.get(name), str)]
        yield from names or ([str(part["type"])] if "type" in part else [])
        for name, inner in part.items():
            if name not in ("schedules", "buffers"):
                yield from _words(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _words(inner)


def _settings(case: Case) -> Iterator[str]:
    plain = LaunchOptions()
    for name in LaunchOptions.__struct_fields__:
        if getattr(case.options, name) != getattr(plain, name):
            yield f"{name}={getattr(case.options, name)}"
    for name, values in find(case.target).shrink.simplest.items():
        if name in case.params and name != "form" and case.params[name] != values[0]:
            yield f"{name}={case.params[name]}"
    for spec in case.arrays:
        for name in ("order", "step", "gap", "offset"):
            if getattr(spec.layout, name) != getattr(Layout(), name):
                yield f"{spec.name}.{name}"


def key_of(signature: Signature, case: Case, evidence: Evidence | None) -> str:
    """Failures with one key are proposed as one finding: that of the minimal pattern, else that of the signature."""
    found = pattern_of(signature, case, evidence)
    return found.key if found is not None else finding_of(signature)


def proposed(new: Iterable[CorpusEntry], stored: Iterable[CorpusEntry]) -> dict[str, str]:
    """For ids of new findings, TARGET/ID of the entry with which each is proposed as one: one that has the same minimal
    pattern, and was there before or comes earlier among the new ones."""
    fresh = list(new)
    names = {entry.id for entry in fresh}
    first: dict[str, CorpusEntry] = {}
    found: dict[str, str] = {}
    for entry in (*(one for one in stored if one.id not in names), *fresh):
        pattern = _of_entry(entry)
        if pattern is None:
            continue
        same = first.setdefault(pattern.key, entry)
        if same is not entry and entry.id in names:
            found[entry.id] = f"{same.case.target}/{same.id}"
    return found


def _of_entry(entry: CorpusEntry) -> Pattern | None:
    try:
        return pattern_of(entry.signature, entry.case, entry.evidence)
    except (TridiffError, KeyError, ValueError, IndexError):
        return None  # A target that this release does not have, or evidence that somebody edited.
