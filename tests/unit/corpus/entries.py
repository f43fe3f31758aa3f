"""Corpus entries for tests, built without running anything."""

from msgspec.structs import replace

from tests.support.outcomes import outcome_of
from tridiff.fuzz.corpus import entry_id
from tridiff.fuzz.records import (
    ArraySpec,
    Case,
    Constant,
    Content,
    CorpusEntry,
    Environment,
    Evidence,
    Expectation,
    Explicit,
    Iota,
    Layout,
    Mixture,
    Outcome,
    Put,
    Signature,
    Sprinkle,
    Tie,
    Verdict,
)

DIMS = ("rows", "cols")


def division_case(
    a: tuple[str, ...] = ("-1",), b: tuple[str, ...] = ("2",), *, target: str = "helpers.div_floor_integer",
) -> Case:
    """One row of dividends and divisors, listed."""
    def array(name: str, content: Content | None) -> ArraySpec:
        return ArraySpec(name=name, dtype="i32", dims=DIMS, content=content)

    return Case(
        target=target, sizes={"rows": 1, "cols": len(a)}, params={"form": "blocks"},
        arrays=(array("a", Content(base=Explicit(values=a))), array("b", Content(base=Explicit(values=b))),
                array("out", None)))


def expect(subject: str = "own", *, triton: str = "3.9.0", backend: str = "interpreter",
           verdict: Verdict = Verdict.DISAGREE, kind: str = "", torch: str = "") -> Expectation:
    return Expectation(subject=subject, triton=triton, backend=backend, verdict=verdict, kind=kind, torch=torch)


def entry(
    *, subject: str = "own+fault:trunc_for_floor", kind: str = "value", expected: tuple[Expectation, ...] | None = None,
    case: Case | None = None, title: str = "rounds toward zero", about: str = "int blocks",
) -> CorpusEntry:
    """A finding of `case` (default: -1 // 2)."""
    case = case or division_case()
    signature = Signature(target=case.target, subject=subject, verdict=Verdict.DISAGREE, kind=kind, where="out",
                          about=about)
    return CorpusEntry(
        id=entry_id(signature), title=title, signature=signature, case=case, reproduced="5/5",
        evidence=Evidence(inputs={"a": ("-1",), "b": ("2",)}, actual={"out": ("0",)},
                          expected={"torch": {"out": ("-1",)}, "numpy": {"out": ("-1",)}}),
        expected=(expect(subject, kind=kind),) if expected is None else expected,
        found_in=Environment(triton="3.9.0", torch="2.13.0", backend="interpreter", knobs={"TRITON_DEBUG": "1"}))


def rich_entry() -> CorpusEntry:
    """An entry that uses every part of the schema that has parts: terms, overrides, layouts, upstream."""
    base = entry()
    a, b, out = base.case.arrays
    arrays = (
        replace(a, content=Content(base=Mixture(seed=7), overrides=(
            Put(value="-3", column=1), Tie(source=0, to=2), Sprinkle(values=("1", "-1"), per_mille=20)))),
        replace(b, content=Content(base=Iota(start=-4)), layout=Layout(broadcast=("rows",), offset=3)),
        replace(out, layout=Layout(order=(1, 0), gap=5)),
        ArraySpec(name="extra", dtype="fp32", dims=(), content=Content(base=Constant(value="nan:0x1"))),
    )
    case = replace(base.case, arrays=arrays, sizes={"rows": 3, "cols": 5}, repeats=2)
    return replace(
        base, case=case, upstream=("triton#7749",), explanation="Truncation is not floor.\nSee the title.",
        truth="defect", cause="truncated-quotient", stage="ttgir",
        expected=(*base.expected, expect("inductor", torch="2.13.0", verdict=Verdict.AGREE)))


def outcome(
    case: Case, subject: str, verdict: Verdict, *, kind: str = "value", backend: str = "interpreter", reason: str = "",
) -> Outcome:
    """What a worker would have answered."""
    signature = None
    if verdict.failed:
        signature = Signature(target=case.target, subject=subject, verdict=verdict, kind=kind)
    return outcome_of(case, verdict, signature, subject=subject, backend=backend, reason=reason)
