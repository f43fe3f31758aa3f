"""Every function of `triton.language` in kernels of one call, by topic."""

from dataclasses import replace
from functools import partial

from tridiff.fuzz.kinds.kind import ProgramKind, answers_of, target_of
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.aims import aims_of, beside_types
from tridiff.fuzz.language.boundaries import boundary_cases
from tridiff.fuzz.language.draw import again, call_cases
from tridiff.fuzz.language.index import TOPICS, of_topic, rows
from tridiff.fuzz.language.joined import may_join
from tridiff.fuzz.language.left_out import left_out
from tridiff.fuzz.language.row import Topic
from tridiff.fuzz.language.spoiled import FAULTS as OF_POINTERS, spoiled
from tridiff.fuzz.records import Case, Environment
from tridiff.fuzz.target import Faults, Joint, Judge, Reference, Target
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.emit import CHECKED_FAULTS, FAULTS
from tridiff.oracles.dtypes import INTEGERS, NAMES

_ROOM = "tridiff.fuzz.language"
_ABOUT: dict[Topic, str] = {
    "pointwise": "functions of single elements: math, libdevice, extrema, selection",
    "operators": "operators between blocks, scalars, numbers and constexprs",
    "reductions": "reductions along every axis, with and without indices",
    "scans": "prefix sums and products, associative scans, both directions",
    "movement": "shapes, axes, joins, halves, gathers",
    "ordering": "sorting, the first k, histograms",
    "creation": "ranges, constants of every type, program numbers",
    "conversions": "conversions in both rounding modes, as bits, and by a store",
    "memory": "masked loads and stores, atomics, block pointers",
    "products": "matrix products",
    "random": "random numbers",
    "rounding": "arithmetic and conversions of libdevice in every direction of rounding",
    "words": "bits of integers, patterns of floats",
    "hints": "hints, debugging, loops, numbers as tensors: what changes no value",
    "descriptors": "tensor descriptors made in the kernel: loads, stores, reductions, gathers, scatters",
    "narrow": "8-bit floats in operators, comparisons, folds and sorts",
    "gluon": "the same calls in Gluon, in many layouts",
    "mapped": "functions and assembly of the user's: mapped, folded, scanned",
    "overflow": "integer arithmetic that is checked for overflow, at the ends of every type",
    "special": "special, fast and exact functions of libdevice",
}
_KIND = ProgramKind(
    programs=(Call,),
    references=answers_of(f"{_ROOM}.answers"),
    valid=cases.valid, steps=cases.steps, size=cases.size, label=cases.label, coverage=cases.cells,
    across=lambda case: cases.row_of(case).across)


def _judge(judge: Judge) -> Judge:
    """Rules, bounds and what is defined stand in the rows."""

    def tolerated(case: Case) -> tuple[str, ...]:
        found = cases.row_of(case).rules(cases.call_of(case))
        return tuple(f"out{number}" for number, rule in enumerate(found) if (rule.member or rule).kind == "SUM")

    def arguments(case: Case) -> tuple[str, ...]:
        return "@case", *cases.given_of(case)

    def bounds(case: Case) -> tuple[Reference, ...]:
        outputs = tolerated(case)
        if not outputs:
            return ()
        return (Reference(source="torch", function=f"{_ROOM}.answers:bounds", arguments=arguments(case),
                          outputs=outputs),)

    return replace(
        judge, bounds=bounds,
        rules=lambda case: {f"out{number}": rule for number, rule in enumerate(
            cases.row_of(case).rules(cases.call_of(case)))},
        defined=lambda case: (f"{_ROOM}.answers:defined", arguments(case)) if cases.row_of(case).defined else None)


def _due(case: Case) -> Reference | None:
    return Reference(source="torch", function=f"{_ROOM}.checked:due", outputs=(),
                     arguments=("@case", *cases.given_of(case)))


def _target(topic: Topic) -> Target:
    name, checked = f"language.{topic}", topic == "overflow"
    target = target_of(
        _KIND, name=name, summary=_ABOUT[topic],
        contract="language.md §6" if checked else "language.md §1, §2",
        subjects={"own": f"{_ROOM}.launching:run"} | ({} if checked else {PLAIN: f"{_ROOM}.launching:run_as_it_is"}),
        within=lambda case: cases.row_of(case).topic == topic,
        cases=lambda limits: boundary_cases(target=name, limits=limits) if checked else (
            call_cases(target=name, topic=topic, limits=limits)))
    draw = replace(
        target.draw, breadth=sum(row.topic == topic for row in rows().values()),
        things=lambda: {row.name: row.covers for row in of_topic(topic)}, thing=lambda case: cases.row_of(case).name,
        runs=lambda thing, triton, backend: not left_out(thing, triton, backend),
        aims=lambda triton: aims_of(topic, triton), aims_of_gates=lambda triton: beside_types(topic, triton))
    draw = draw if checked else replace(draw, again=again)
    if topic == "ordering":  # The interpreter sorts 4096 elements for 5 s and, on a busy machine, past the time limit.
        draw = replace(draw, interpreter_elements=1 << 11)
    run = replace(target.run, untraced=() if checked else (PLAIN,), writes_once=topic not in ("memory", "descriptors"),
                  lacking=partial(_uninterpreted, topic))
    judge = _judge(target.judge)
    if checked:
        run = replace(run, asserts=_due)
        judge = replace(judge, asserting=f"{_ROOM}.checked:asserting")
        faults = Faults(planted=dict.fromkeys(CHECKED_FAULTS, f"{_ROOM}.launching:run"))
    else:
        run = replace(run, joint=Joint(may_join=may_join, launch=f"{_ROOM}.launching:run_joined",
                                       text=f"{_ROOM}.launching:text_joined"))
        planted = (*FAULTS, *(OF_POINTERS if topic == "memory" else ()))
        faults = Faults(planted=dict.fromkeys(planted, f"{_ROOM}.launching:run"), shared_as="language",
                        affects=_affects)
    return replace(target, dtypes=(*INTEGERS, "i1") if checked else NAMES, draw=draw, run=run, judge=judge,
                   faults=faults)


def _affects(case: Case, fault: str) -> bool:
    """Whether a fault changes the text of a call: those of pointers do where there is a place for it."""
    row = cases.row_of(case)
    text = row.text(cases.call_of(case))
    return fault not in OF_POINTERS or spoiled(row.name, text, fault) != text


def _uninterpreted(topic: Topic, environment: Environment) -> str:
    some = of_topic(topic)
    if environment.backend != "interpreter":
        return ""
    reasons = [left_out(row.name, environment.triton, environment.backend) for row in some]
    return "" if "" in reasons else reasons[0]


TARGETS = tuple(_target(topic) for topic in TOPICS)
