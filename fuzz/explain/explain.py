"""An explanation, put together: what two children found out, the finding's record, checks and commands."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tridiff.fuzz.builds import Build, resolve
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain.checks import checked
from tridiff.fuzz.explain.children import ask_compiler, ask_interpreter
from tridiff.fuzz.explain.commands import commands
from tridiff.fuzz.explain.differences import plain, unified
from tridiff.fuzz.explain.model import STAGES, Difference, ElementCard, Explanation, Program
from tridiff.fuzz.explain.own import scalar
from tridiff.fuzz.explain.request import Compiled, Element, Interpreted, Own, Request, Setting
from tridiff.fuzz.explain.twins import found as twins_of
from tridiff.fuzz.records import Blame, Case, CorpusEntry, LaunchOptions
from tridiff.fuzz.registry import find
from tridiff.fuzz.repro.describe import describe_case, evidence_of, first_wrong

LONGEST_DIFF = 2000
"""Lines of the difference of one stage."""


@dataclass(frozen=True, kw_only=True)
class What:
    """What is to be explained. named: as the user named it. entry: the finding, None for a case or an own kernel.
    own_options: the part of the command line that describes a launch of an own kernel."""

    named: str
    case: Case | None = None
    entry: CorpusEntry | None = None
    own: Own | None = None
    own_options: str = ""
    subject: str = "own"


@dataclass(frozen=True, kw_only=True)
class Wish:
    """How far the explanation goes. arch, build: what to compile for, and with. launch: of several, -1 for the one that
    writes the wrong array. step: a pass around which the IR is wanted. element, program: whose cards are
    wanted. against: settings to compare with. parts: which
    children are asked."""

    arch: str = "sm_90"
    build: Build | None = None
    launch: int = -1
    passes: bool = False
    step: str = ""
    element: Element | None = None
    program: Program | None = None
    against: tuple[str, ...] = ()
    compile: bool = True
    interpret: bool = True
    blame: tuple[Blame, ...] = field(default=())


def request(what: What, wish: Wish) -> Request:
    """What the children are asked first: of a finding, the launch that was wrong."""
    entry, case = what.entry, what.case
    element = wish.element
    if element is None and entry is not None:
        element = wrong_element(entry)
    wrong = entry.evidence.launched if entry is not None else None
    if wrong is not None and case is not None:
        case = case.under(wrong.options)
    return Request(case=case, schedule=wrong.schedule if wrong is not None else 0, own=what.own, subject=what.subject,
                   launch=wish.launch, passes=wish.passes, step=wish.step, program=wish.program, element=element,
                   where=entry.signature.where if entry is not None else "", setting=Setting(arch=wish.arch))


def wrong_element(entry: CorpusEntry) -> Element | None:
    """The first wrong element of a finding, by its evidence."""
    try:
        found = first_wrong(entry.case, entry.evidence, entry.signature.where)
    except (KeyError, ValueError, IndexError, TridiffError):
        return None
    if found is None:
        return None
    name, position = found
    if not entry.evidence.whole and entry.case.array(name).dims[:1] == ("rows",):
        position += entry.evidence.row * len(entry.evidence.actual[name])
    return Element(buffer=name, number=position)


def explain(what: What, wish: Wish) -> Explanation:
    """Everything. A part that cannot be found out says so in its `problem`. Raises TridiffError where all parts
    fail."""
    asked = request(what, wish)
    compiled = ask_compiler(asked, build=wish.build) if wish.compile else Compiled()
    twins = twins_of(compiled.stages.text("ptx"))
    interpreted = ask_interpreter(replace(asked, twins=twins), build=wish.build) if (
        wish.interpret) else Interpreted()
    for one, other in ((compiled, interpreted), (interpreted, compiled)):
        if one.problem and (other.problem or not (wish.compile and wish.interpret)):
            raise TridiffError(one.problem, fix=one.fix)
    source = compiled.source if compiled.source.functions or not interpreted.source.functions else interpreted.source
    program = interpreted.program.program if interpreted.program is not None else (0, 0, 0)
    entry, case = what.entry, what.case
    subjects = tuple(find(case.target).subjects) if case is not None else ()
    found: Compiled | Interpreted = compiled if compiled.launches else interpreted
    stages = compiled.stages if not compiled.problem else replace(
        compiled.stages, problem=compiled.problem)
    memory = interpreted.memory if not interpreted.problem else replace(
        interpreted.memory, problem=interpreted.problem)
    return Explanation(
        title=_title(what), about=_about(what), case=tuple(describe_case(case)) if case is not None else (),
        evidence=evidence_of(entry) if entry is not None else (), launches=found.launches, launch=found.launch,
        source=source, specialisation=compiled.specialisation, stages=stages,
        against=tuple(one for setting in wish.against for one in differences(asked, compiled, setting, wish.build)),
        memory=memory, program=interpreted.program, element=_with_record(interpreted.element, asked.element, entry),
        blame=wish.blame or (entry.blame if entry is not None else ()), checks=checked(compiled, interpreted, case),
        commands=tuple(commands(
            entry.id if entry is not None else what.named, entry=entry is not None, own=what.own_options,
            arch=wish.arch, program=program, subject=what.subject, subjects=subjects, stages=not compiled.problem,
            target=case.target if case is not None else "")))


def _title(what: What) -> str:
    if what.entry is not None:
        return what.entry.title
    if what.own is not None:
        return f"{what.own.kernel} of {Path(what.own.file).name}"
    return f"a case of {what.case.target}" if what.case is not None else what.named


def _about(what: What) -> dict[str, str]:
    entry, case = what.entry, what.case
    about = {"target": case.target, "subject": what.subject, "digest": case.digest} if case is not None else {}
    if entry is not None:
        signature = entry.signature
        about |= {"finding": entry.id, "failure": " ".join(filter(None, (
            signature.verdict.value, signature.kind, f"in {signature.where}" if signature.where else ""))),
            "class": entry.truth, "cause": entry.cause, "stage": entry.stage, "upstream": ", ".join(entry.upstream),
            "found on": f"Triton {entry.found_in.triton}, {entry.found_in.backend} {entry.found_in.device}".strip(),
            "explanation": entry.explanation}
    return {name: text for name, text in about.items() if text}


def _with_record(card: ElementCard | None, element: Element | None, entry: CorpusEntry | None) -> ElementCard | None:
    """The card with what the finding's record says of the element: the device's value, and the oracles'."""
    if card is None or entry is None or element is None or element.index:
        return card
    evidence = entry.evidence
    number = element.number
    if not evidence.whole and entry.case.array(element.buffer).dims[:1] == ("rows",):
        number -= evidence.row * len(evidence.actual.get(element.buffer, ()))

    def listed(values: dict[str, tuple[str, ...]]) -> str:
        found = values.get(element.buffer, ())
        return found[number] if 0 <= number < len(found) else ""

    expected = {oracle: text for oracle, values in evidence.expected.items() if (text := listed(values))}
    return replace(card, recorded=listed(evidence.actual), expected=expected | card.expected)


def differences(asked: Request, compiled: Compiled, against: str, build: Build | None) -> list[Difference]:
    """The stages under another setting: `specialisation`, `unaligned`, `arch=`, `triton=`, `subject=`, an option, an
    integer argument, or a file with an edited stage."""
    other, other_build = _setting(asked, compiled, against, build)
    answer = ask_compiler(other, build=other_build)
    if answer.problem or answer.stages.problem:
        said = answer.problem or answer.stages.problem
        return [Difference(stage="", against=against, problem=said)]
    found = []
    for stage in STAGES[1:]:
        before, after = plain(compiled.stages.text(stage)), plain(answer.stages.text(stage))
        if before or after:
            found.append(Difference(stage=stage, against=against, diff=unified(
                before, after, "as it is", against, most=LONGEST_DIFF)))
    return found


def _setting(asked: Request, compiled: Compiled, against: str, build: Build | None) -> tuple[Request, Build | None]:
    setting: dict[str, Any] = {}
    name, equals, value = against.partition("=")
    stage = Path(against).suffix.removeprefix(".")
    if against == "specialisation":
        setting["generic"] = True
    elif against == "unaligned":
        setting["unaligned"] = True
    elif not equals and stage in ("ttir", "ttgir", "llir", "ptx"):
        try:
            setting |= {"stage": stage, "text": Path(against).read_text()}
        except OSError as error:
            raise TridiffError(f"{against} cannot be read ({error.strerror})", fix="name a file") from None
    elif name == "arch":
        setting["arch"] = value
    elif name == "triton":
        build = resolve(value)
    elif name == "subject":
        asked = replace(asked, subject=value)
    elif equals and (name in LaunchOptions.__struct_fields__ or name in compiled.specialisation.compiled):
        setting["options"] = {name: scalar(value)}
    elif equals and name in {one.name for one in compiled.specialisation.arguments}:
        number = scalar(value)
        if not isinstance(number, int) or isinstance(number, bool):
            raise TridiffError(f"{value!r} is no integer for {name}", fix=f"write for example {name}=64")
        setting["values"] = {name: number}
    else:
        arguments = ", ".join(one.name for one in compiled.specialisation.arguments)
        raise TridiffError(f"--against {against[:80]!r} is nothing to compare with", fix=(
            "write specialisation, unaligned, arch=sm_80, triton=3.6.0, subject=NAME, an option such as num_warps=8, "
            f"an argument ({arguments}) such as n=64, or a file that ends in .ttir, .ttgir, .llir or .ptx"))
    return replace(asked, passes=False,
                                   setting=replace(asked.setting, **setting)), build
