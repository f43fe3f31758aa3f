"""The arrays that belong to a kernel written as TTGIR text, which cases are valid, and how texts become simpler."""

from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.fuzz.kinds import fields
from tridiff.fuzz.kinds.plans.cases import contents_of, unplaced
from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, Explicit, LaunchOptions, Small
from tridiff.kernels.ttgir.text import Barrier, Masked, Partitions, Text, problem

MOST_PROGRAMS = 264


def text_of(case: Case) -> Text:
    """The case's text; ValueError for a case without one."""
    if not isinstance(case.program, Text):
        raise ValueError(f"{case.target} needs a text")
    return case.program


def sizes_of(text: Text, programs: int) -> dict[str, int]:
    """Axis lengths of the arrays: rows are programs, n the elements of a line."""
    sizes = {"rows": programs, "n": text.elements}
    return sizes if text.lines is None else sizes | {"lines": text.lines}


def options_of(text: Text) -> LaunchOptions:
    """What the text says to the compiler."""
    return LaunchOptions(num_warps=text.warps, num_ctas=text.blocks)


def arrays_of(text: Text, given: dict[str, Content]) -> tuple[ArraySpec, ...]:
    """Inputs with their contents and the output of a text; KeyError for an input that `given` lacks."""

    def one(name: str, content: Content | None, *lines: str) -> ArraySpec:
        return ArraySpec(name=name, dtype="i32", dims=("rows", *lines), content=content)

    lines = ("n",) if text.lines is None else ("lines", "n")
    found = [one("x", given["x"], *(("n",) if isinstance(text.form, Partitions) else lines))]
    if isinstance(text.form, Barrier):
        found.append(one("scratch", Content(base=Constant()), "n"))
    if isinstance(text.form, Masked):
        found.append(one("initial", given["initial"], "n"))
    return *found, one("out", None, *lines)


def valid(case: Case) -> bool:
    """Whether a kernel can be made of the text and everything else in the case follows from it."""
    text, given = case.program, contents_of(case)
    if not isinstance(text, Text) or problem(text) or case.params or case.variants or "x" not in given:
        return False
    programs = case.sizes.get("rows", 0)
    if not 1 <= programs <= MOST_PROGRAMS or case.sizes != sizes_of(text, programs):
        return False
    if isinstance(text.form, Masked) != ("initial" in given) or case.options != options_of(text):
        return False
    return unplaced(case) == arrays_of(text, given)


def label(case: Case) -> str:
    """What tells findings apart: the form."""
    return fields.tag(text_of(case).form)


def cells(case: Case) -> tuple[str, ...]:
    """Words that a campaign counts: the form with all that it says."""
    text = text_of(case)
    said = {name: getattr(text.form, name) for name in text.form.__struct_fields__} | {"each": text.each}
    return (f"text={label(case)} {' '.join(f'{name}={said[name]}' for name in sorted(said))} warps={text.warps}",)


def size(case: Case) -> tuple[int, ...]:
    """Elements, then the fields of the form."""
    return text_of(case).lines or 1, *fields.size(text_of(case))


def steps(case: Case) -> Iterable[Case]:
    """Cases with one field simpler; contents stay unless they are listed and would not fit."""
    programs, given = case.sizes["rows"], contents_of(case)
    for text in fields.simpler(text_of(case), kept=("spaces", "wrapped", "region")):
        if problem(text):
            continue
        sizes = sizes_of(text, programs)
        kept = given if sizes == case.sizes else {
            name: Content(base=Small()) if isinstance(content.base, Explicit) else content
            for name, content in given.items()}
        yield replace(case, program=text, sizes=sizes, arrays=arrays_of(text, kept), options=options_of(text))
