"""Minimal patterns: what is left of a failing case once it is small, without what does not matter to its cause.

Two defects of one kernel often have one signature ("value, in out"). Shrinking takes away all that a failure does not
need, so what is left tells them apart: which operations, which classes of operands, which settings differ from the
simplest ones, and what stands in place of what is right. Where no value is wrong, that is the access that went astray
or the assertion that was not made. dtypes are left out unless no other one fails, and so are sides and forms of a
launch, as in `fuzz.corpus.cause`, and arrays that no oracle reads. Of a kernel that is always the same, a setting that
the failure needs tells more than the operands, and a layout more than what comes out.

Where blame saw a pass go wrong, that pass and the operation at which the IR behind it departs from the IR before it are
the pattern, whatever the target; and so is the function of Triton's Python layer that blame found behind an error,
else what the error says, without dtypes and numbers. What Python itself says of a slip, it says of many: there the
target's word belongs to it.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec
from msgspec.structs import replace

from tridiff.fuzz.content.poison import poison_pattern
from tridiff.fuzz.content.text import from_bits, number_of
from tridiff.fuzz.corpus.alike import Alike
from tridiff.fuzz.corpus.cause import finding_of, message
from tridiff.fuzz.corpus.classes import class_of, inexact, relation
from tridiff.fuzz.corpus.suspect import FORMULAS, is_common, suspect_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.kinds.graphs.arrays import after
from tridiff.fuzz.records import Blame, Case, CorpusEntry, Evidence, Explicit, LaunchOptions, Layout, Signature, Verdict
from tridiff.fuzz.registry import find
from tridiff.kernels.codegen.graph import Graph

MOST_IN_ORDER = 4
"""Values of an operand that are told in order; of more, only which classes there are."""

MOST_NODES = 17
"""Of a program that has a suspect: one that nobody shrunk has a part of every kind."""

EXCHANGED = "operands exchanged"
"""In place of an operation that is given the same operands in another order."""

_SCAFFOLD = frozenset(("graph", "call", "script", "load", "store", "sym", "num", "real", "constant", "name", "number",
                       "assign", "block", "cast", "part"))
"""Words of programs that most programs have, whatever they do."""
_ASTRAY = re.compile(r"out of bounds (?P<access>\w+) of \d+ bytes at (?P<array>\w+)\[(?P<index>-?\d+)\], which has "
                     r"(?P<length>\d+) elements?; lane (?P<lane>\d+)")
_TRESPASS = re.compile(r"\d+ elements outside array (?P<array>\w+) were written")
_LIST = re.compile(r"<class '[^']*'>|\[(?:[\[\]\s,.N-]|'[^']*(?:'|$))*")
"""The numbers or names of a list in a message."""
_BLOCK = re.compile("tensor<[^<>]*>")
"""The type of a block in a message, of which the type of its elements is left out as well."""
_NAME = re.compile(r"`[a-z]+\d+`")
"""A variable of a program in a message."""
_NOWHERE = "at N:N:"
"""What a message is that names a line alone."""
_PYTHON = re.compile("object (?:has no|is not|cannot)|values to unpack|unsupported operand|positional|unexpected key")
"""What Python itself says of a slip, whichever it was."""
_NUMBER = re.compile(r"\d+")
_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "<", "<=", ">", ">=", "==", "!="))
"""One part: a defect of one comparison is mostly one of all."""
_UNUSUAL = re.compile(r"2\^k|-?(?:large|fraction|subnormal|inf)|min|max")
_WHOLE = ("only int", "only wide int")
"""What the operands tell as well: no float is a smallest integer."""
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


def pattern_of(signature: Signature, case: Case, evidence: Evidence | None, reason: str = "",
               blame: Iterable[Blame] = (), alone: Collection[str] = ()) -> Pattern | None:
    """The pattern of a small failing case; None where nothing but the signature tells anything. reason: what the
    outcome says, or a title that ends in it. alone: see `raised_alone`."""
    for one in blame:
        if one.operation:
            return Pattern(place=(one.step or "front-end",), shown=(_departed(one.operation),))
        if (raised := _raised(signature, one)) in alone:
            return Pattern(place=(signature.subject,), shown=(raised,))
        if one.behind:
            return Pattern(place=(signature.subject,), shown=(f"behind {one.behind}",))
    if evidence is not None and evidence.plainest is not None:
        plainest = evidence.plainest
        return pattern_of(replace(plainest.signature, subject=signature.subject), plainest.case, plainest.evidence)
    if signature.verdict is not Verdict.DISAGREE:
        said = _said(signature)
        place = (signature.subject, signature.about) if _PYTHON.search(said) else (signature.subject,)
        return Pattern(place=place, shown=(said,)) if said and said != _NOWHERE else None
    if isinstance(case.program, Graph):
        return _of_graph(signature, case, case.program, evidence, reason)
    target = find(signature.target)
    drawn = not isinstance(case.program, msgspec.UnsetType)
    judged = evidence if evidence is not None and evidence.expected else None
    if judged is not None:
        shown = tuple(sorted(set(_wrong(case, judged, signature, named=not drawn))))
    else:
        shown = (_astray(reason, signature, named=not drawn),)
    if not shown:
        return None
    if drawn and (judged is None or signature.kind == "unwritten"):
        # Which values and operations a program has is of no matter to where it stores.
        return Pattern(place=(target.family, signature.subject), shown=shown)
    operands, settings = tuple(_operands(case, evidence)), tuple(_settings(case, evidence))
    if drawn:
        return Pattern(place=(target.family, signature.subject), shown=shown, operands=tuple(sorted(operands)),
                       parts=_parts(case), settings=(*settings, *_dtypes(evidence)))
    only = (one for one in _dtypes(evidence) if one not in _WHOLE)
    settings = (*(name.partition("=")[0] for name in settings), *only)
    if any("." in one for one in settings):
        # The same values lie elsewhere: which ones they are, and what comes out, is of no matter.
        shown, operands = (), ()
    elif any(not one.startswith("only") for one in settings):
        operands = ()
    return Pattern(place=(target.name, signature.subject), shown=tuple(sorted({_coarse(one) for one in shown})),
                   operands=tuple(map(_coarse, operands)), settings=settings)


def raised_alone(failures: Iterable[tuple[Signature, Iterable[Blame]]]) -> frozenset[str]:
    """Errors, by what they say and where they are raised, of which one at least has nobody else behind it: every line
    on its way there is run by right cases as well. Then it is raised wrongly, and who is behind others of the same
    words, raised in the same place, was only there."""
    return frozenset(_raised(signature, one) for signature, blame in failures for one in blame
                     if one.alone) - {""}


def _raised(signature: Signature, blame: Blame) -> str:
    """"" of what is no error, and where Python's own words would be those of any slip."""
    if not blame.raised or signature.verdict is Verdict.DISAGREE or _PYTHON.search(signature.kind):
        return ""
    return f"{_said(signature) or signature.kind} in {blame.raised}"


def _said(signature: Signature) -> str:
    return _NAME.sub("`V`", _BLOCK.sub("T", _LIST.sub("[]", message(signature.kind))))


def _departed(operation: str) -> str:
    """Where the IR behind a pass departs. What gives an operation its operands in another order does so to all that
    have two."""
    right, _, wrong = operation.partition(" > ")
    return EXCHANGED if right == wrong and right.startswith("arith.") and right != "arith.select" else operation


def _coarse(text: str) -> str:
    """Classes of values without those that another dtype has others for, and without their sign."""
    return _UNUSUAL.sub("unusual", text)


def _of_graph(signature: Signature, case: Case, graph: Graph, evidence: Evidence | None, reason: str) -> Pattern | None:
    """Of programs that are drawn node by node: the suspect, and how it shows where that tells more of it."""
    place = (find(signature.target).family, signature.subject)
    if signature.kind == "device_assert":
        return Pattern(place=place, shown=(signature.kind,))
    if len(graph.nodes) > MOST_NODES:
        return None
    if evidence is None or not evidence.expected or signature.kind == "unwritten" or _untouched(case, evidence):
        wrong = evidence is not None and evidence.expected
        how = "unwritten" if wrong else _astray(reason, signature, named=False)
        suspect = suspect_of(graph, astray=how.partition(" ")[0])
        # Where nothing says whose access is wrong: a wrong mask is one of loads and stores, a wrong address of either.
        shown = () if suspect and suspect[0] in FORMULAS else ("astray",) if "mask" in suspect else (
            "later lane" if how.endswith("later lane") or signature.kind == "written_twice" else how,)
        return Pattern(place=place, shown=shown, parts=suspect)
    suspect = suspect_of(graph)
    ways = sorted(set(_ways(evidence))) if not suspect or is_common(suspect[0]) else ()
    return Pattern(place=place, shown=tuple(ways), parts=suspect)


def _untouched(case: Case, evidence: Evidence) -> bool:
    """Whether all that is wrong may be what was there before the launch. The kind of a failure is told of one element;
    beside it there may be an array that had values before."""
    wrong = [(name, got) for name, values in next(iter(evidence.expected.values())).items()
             for right, got in zip(values, evidence.actual.get(name, ()), strict=False)
             if right != got and not ("nan" in right and "nan" in got)]
    return bool(wrong) and all(got in _before(case, evidence, name) for name, got in wrong)


def _before(case: Case, evidence: Evidence, name: str) -> tuple[str, ...]:
    """Values that an output may have had before the launch."""
    kept = [one for one in evidence.inputs if after(one) == name]
    if kept:
        return evidence.inputs[kept[0]]
    dtype = case.array(name).dtype
    return (from_bits(poison_pattern(dtype), dtype),)


def _ways(evidence: Evidence) -> Iterator[str]:
    """How wrong values stand to the right ones, whatever the operands were."""
    for name, values in next(iter(evidence.expected.values())).items():
        for right, wrong in zip(values, evidence.actual.get(name, ()), strict=False):
            one, other = number_of(right), number_of(wrong)
            if right == wrong or ("nan" in right and "nan" in wrong):
                continue
            if one is None or other is None:
                yield "special"
            elif one == other:
                yield "sign of zero"
            else:
                yield "negative" if other < 0 <= one else "less" if abs(other) < abs(one) else "more"


def _dtypes(evidence: Evidence | None) -> Iterator[str]:
    if evidence is not None and evidence.alone:
        yield f"only {evidence.alone}"


def _astray(reason: str, signature: Signature, *, named: bool) -> str:
    """How a launch failed in which no value is known to be wrong: which access to which array lay before or behind it,
    in the first lane, where the address is wrong, or in a later one, where more lanes are active than should be. The
    line of the kernel is left out: a generated one has another for every program."""
    def array(name: str) -> str:
        return name if named else _NUMBER.sub("", name)

    if found := _ASTRAY.search(reason):
        side = "before" if int(found["index"]) < 0 else "behind"
        lane = "first" if found["lane"] == "0" else "later"
        return f"{found['access']} {side} {array(found['array'])} in {lane} lane"
    if found := _TRESPASS.search(reason):
        return f"store around {array(found['array'])}"
    return f"{signature.kind} {array(signature.where)}".strip()


def _wrong(case: Case, evidence: Evidence, signature: Signature, *, named: bool) -> Iterator[str]:
    found: dict[bool, list[str]] = {True: [], False: []}
    expected = next(iter(evidence.expected.values()))
    for name, values in expected.items():
        spec, actual = case.array(name), evidence.actual.get(name, ())
        for right, got in zip(values, actual, strict=False):
            if right != got and not ("nan" in right and "nan" in got):
                # What was there before the launch is another value in every dtype.
                told = "unwritten" if signature.kind == "unwritten" else relation(right, got, spec.dtype)
                found[inexact(right, got)].append(f"{name} {told}" if named else told)
    # What is inexact is mostly what the contract allows, beside an element that is wrong.
    yield from found[False] or found[True]


def _operands(case: Case, evidence: Evidence | None) -> Iterator[str]:
    inputs = evidence.inputs if evidence is not None and evidence.inputs else _listed(case)
    read = {one for oracle in find(case.target).judge.oracles(case) for one in oracle.arguments}
    for name in [name for name in inputs if name in read] or list(inputs):
        classes = [class_of(text, case.array(name).dtype) for text in inputs[name]]
        if len(classes) <= MOST_IN_ORDER:
            yield ",".join(classes)
        else:
            yield f"{{{','.join(sorted(set(classes)))}}}"


def _listed(case: Case) -> dict[str, tuple[str, ...]]:
    return {spec.name: spec.content.base.values for spec in case.arrays
            if spec.content is not None and isinstance(spec.content.base, Explicit)}


def _parts(case: Case) -> tuple[str, ...]:
    if isinstance(case.program, msgspec.UnsetType):
        return ()
    return tuple(sorted(set(_words(msgspec.to_builtins(case.program))) - _SCAFFOLD))


def _words(part: object) -> Iterator[str]:
    if isinstance(part, Mapping):
        names = [str(part[name]) for name in _NAMES if isinstance(part.get(name), str)]
        yield from ("compare" if name in _COMPARISONS else name for name in names)
        if not names and "type" in part:
            yield str(part["type"])
        # What these two do to their type of part is a matter of its own.
        yield from (name for name in ("bitcast", "mask") if part.get("type") in ("cast", "load") and (
            part.get(name) is not None and part.get(name) is not False))
        for name, inner in part.items():
            if name not in ("schedules", "buffers"):
                yield from _words(inner)
    elif isinstance(part, list | tuple):
        for inner in part:
            yield from _words(inner)


def _settings(case: Case, evidence: Evidence | None) -> Iterator[str]:
    plain = LaunchOptions()
    for name in LaunchOptions.__struct_fields__:
        if getattr(case.options, name) != getattr(plain, name):
            yield f"{name}={getattr(case.options, name)}"
    beside = evidence.beside if evidence is not None else {}
    for name, values in find(case.target).shrink.simplest.items():
        if name in case.params and name != "form" and case.params[name] != values[0] and (
                not beside or beside.get(name) == ""):
            # What was asked for and is right with the simplest value needs another one, whichever.
            yield name if beside else f"{name}={case.params[name]}"
    for spec in case.arrays:
        # Whichever strides they are: those of a step, of rows far apart, of axes in another order or of a broadcast.
        if replace(spec.layout, offset=0) != Layout():
            yield f"{spec.name}.strides"
        if spec.layout.offset:
            yield f"{spec.name}.offset"


def key_of(signature: Signature, case: Case, evidence: Evidence | None, reason: str = "",
           blame: Iterable[Blame] = (), alone: Collection[str] = ()) -> str:
    """Failures with one key are proposed as one finding: that of the minimal pattern, else that of the signature."""
    found = pattern_of(signature, case, evidence, reason, blame, alone)
    return found.key if found is not None else finding_of(signature)


def proposed(new: Iterable[CorpusEntry], stored: Iterable[CorpusEntry]) -> dict[str, str]:
    """For ids of new findings, TARGET/ID of the entry with which each is proposed as one: one that has the same minimal
    pattern and no contrary neighbour, and was there before or comes earlier among the new ones."""
    fresh, known = list(new), list(stored)
    names = {entry.id for entry in fresh}
    alone = raised_alone((entry.signature, entry.blame) for entry in (*known, *fresh))
    alike: Alike[CorpusEntry] = Alike()
    found: dict[str, str] = {}
    for entry in (*(one for one in known if one.id not in names), *fresh):
        pattern = _of_entry(entry, alone)
        if pattern is None:
            continue
        # Targets have other neighbours each.
        evidence = None if any(one.named for one in entry.blame) else entry.evidence
        same = alike.first(pattern.key, evidence, entry, case=entry.case,
                           subject=entry.signature.subject)
        if same is not entry and entry.id in names:
            found[entry.id] = f"{same.case.target}/{same.id}"
    return found


def _of_entry(entry: CorpusEntry, alone: Collection[str]) -> Pattern | None:
    try:
        return pattern_of(entry.signature, entry.case, entry.evidence, entry.title, entry.blame, alone)
    except (TridiffError, KeyError, ValueError, IndexError):
        return None  # A target that this release does not have, or evidence that somebody edited.
