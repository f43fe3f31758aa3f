"""Exclusive scans across programs by decoupled look-back: programs are columns, independent scans are rows.

Programs wait for each other, so a defect may show as a hang. The interpreter runs programs one after the
other in ascending order; only a GPU exercises the waiting. There in most cases one program is delayed
(`tridiff.fuzz.backends.delay`): by themselves, a few programs always meet in the same order.
"""

import itertools
from collections.abc import Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.backends.delay import built_in, of_launch, text
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, Delay, Explicit, Iota
from tridiff.fuzz.strategies import dtypes, launch_options, lengths as program_counts, row_counts
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Shrink, Target, Vocabulary
from tridiff.fuzz.targets.tiles import DIMS, both, mutants, operand, result, subjects, triton_type
from tridiff.oracles.bounded import RULES
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import BIT, Rule

MOST_PROGRAMS = 10_000
DTYPES = {"exclusive_scan_decoupled_lookback": ("i16", "i32", "u16", "u32", "fp16", "bf16", "fp32"),
          "exclusive_scan_decoupled_lookback_64": ("i64", "u64", "fp64")}
_SELECTING = ("maximum", "second", "first")
_FIRST_PROGRAMS = 3
"""Which may be delayed: their neighbours are what every look-back reads in the end."""


def _combines(dtype: str) -> tuple[str, ...]:
    return ("add", *_SELECTING, "affine", "affine") if dtype_info(dtype).kind == "uint" else ("add", *_SELECTING)


def _accesses(bits: int) -> int:
    """Accesses to global memory in a driver's text without the last one, which nobody waits for: the value, two
    publications and two polls. A wide publication or poll is two accesses; a packed poll may be."""
    return 9 if bits == 64 else 7


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES[helper]))
    combine = draw(st.sampled_from(_combines(dtype)))
    most = min(limits.elements, MOST_PROGRAMS)
    few = program_counts(maximum=min(most, 64), empty=False)
    cols = draw(st.one_of(few, program_counts(maximum=most, empty=False)))
    rows = draw(row_counts(maximum=min(limits.rows, 1 << 15, limits.elements // cols)))
    bits = dtype_info(dtype).bits
    words = ("rows", "cols", "slots") if bits == 64 else DIMS
    delay = None
    if limits.variants and cols > 1 and draw(st.sampled_from((False, True, True))):
        delay = Delay(of="program", access=draw(st.integers(0, _accesses(bits) - 1)),
                      number=draw(st.integers(0, min(cols, _FIRST_PROGRAMS) - 1)))
    # Programs add in an order that differs from launch to launch. Launches with a pause are alike.
    summed = combine == "add" and dtype_info(dtype).is_float
    repeats = 0 if summed or delay else draw(st.sampled_from((0, 0, 1, 2)))
    return Case(
        target=f"helpers.{helper}", sizes={"rows": rows, "cols": cols} | ({"slots": 3} if bits == 64 else {}),
        params={"combine": combine, "value": dtype, "index_dtype": draw(st.sampled_from(("i32", "i64")))}, delay=delay,
        arrays=(
            operand(draw, "values", dtype),
            ArraySpec(name="scratch", dtype=f"u{min(2 * bits, 64)}", dims=words, content=Content(base=Constant())),
            result(draw, "prefix", dtype),
        ), options=draw(launch_options()), repeats=repeats)


def _params(case: Case) -> Vocabulary:
    dtypes = DTYPES[case.target.partition(".")[2]]
    value = str(case.params.get("value"))
    return {"value": dtypes, "combine": _combines(value if value in dtypes else dtypes[0]),
            "index_dtype": ("i32", "i64")}


def _valid(case: Case) -> bool:
    """Scratch must be zero and dense; 64-bit scans have three words per program. Who is delayed is in the launch."""
    if case.delay is not None and case.delay.number >= case.sizes["cols"]:
        return False
    value = str(case.params.get("value"))
    scratch, values = case.array("scratch"), case.array("values")
    if values.dtype != value or case.params.get("combine") not in _combines(value) or scratch.content is None:
        return False
    if scratch.dtype != f"u{min(2 * dtype_info(value).bits, 64)}":
        return False
    base = scratch.content.base
    zero = isinstance(base, Constant | Explicit) and set(
        base.values if isinstance(base, Explicit) else (base.value,)) == {"0"}
    return zero and not scratch.content.overrides and case.sizes.get("slots", 3) == 3 and scratch.layout.step == 1


def _reductions(case: Case) -> Iterator[Case]:
    """The order in which many programs happened to meet, in however many scans, told by one scan of two or three of
    which one is delayed."""
    if case.sizes["rows"] == 1 and case.sizes["cols"] <= _FIRST_PROGRAMS:
        return
    drawn, ramp = case.array("values").content, Content(base=Iota(start=1))
    few = [ramp] if drawn is None or isinstance(drawn.base, Explicit) else [drawn, ramp]
    accesses = range(_accesses(dtype_info(str(case.params["value"])).bits))
    for access, cols in itertools.product(accesses, range(2, _FIRST_PROGRAMS + 1)):
        for program, values in itertools.product(range(cols), few):
            given = {"values": values, "scratch": Content(base=Constant())}
            yield replace(case, sizes=case.sizes | {"rows": 1, "cols": cols},
                          delay=Delay(of="program", number=program, access=access),
                          arrays=tuple(replace(spec, content=given.get(spec.name)) for spec in case.arrays))


def _launch(launch: Launch) -> None:
    params, sizes = launch.case.params, launch.case.sizes
    if launch.planted == "dirty_scratch" and not launch.backend.startswith("compile"):
        import torch

        # Flag 2 everywhere: a prefix that nobody published.
        words = launch.pointer("scratch")
        words = words.view(torch.int64 if words.element_size() == 8 else torch.int32)
        words[:launch.spec("scratch").span(sizes)].fill_(2)
    value = str(params["value"])
    bits = dtype_info(value).bits
    given: dict[str, object] = {"programs": sizes["cols"], "scans": sizes["rows"]}
    if bits < 64:
        given |= {"VALUE_AS_UINT": triton_type(f"u{bits}"), "PACK": triton_type(f"u{2 * bits}")}
    from tridiff.fuzz.backends.launch import resolve

    delay = of_launch(launch)
    with built_in(delay):
        launch.drive(f"tridiff.kernels.drivers.lookback_scan:lookback_scan{'_64' if bits == 64 else ''}",
                     COMBINE=resolve(f"tridiff.kernels.drivers.lookback_scan:{params['combine']}"),
                     INDEX_DTYPE=triton_type(str(params["index_dtype"])), DELAY=text(delay), **given)


def _summed(case: Case) -> bool:
    return case.params["combine"] == "add" and dtype_info(str(case.params["value"])).is_float


def _rules(case: Case) -> dict[str, Rule]:
    return {"prefix": RULES["prefix_sum_bound"] if _summed(case) else BIT}


def _bounds(case: Case) -> tuple[Reference, ...]:
    if not _summed(case):
        return ()
    return (Reference(source="torch", function="tridiff.oracles.by_torch.scan:exclusive_sum_bound", outputs=("prefix",),
                      arguments=("values", "acc=value")),)


def _target(helper: str, summary: str) -> Target:
    return Target(
        name=f"helpers.{helper}", summary=summary, contract="helpers.md §11", dtypes=DTYPES[helper],
        subjects=subjects("lookback", helper),
        draw=Draw(
            cases=lambda limits: _cases(helper, limits), params=_params, valid=_valid, delays="program",
            interpreter_elements=1 << 7),
        run=Run(
            launch=_launch, written=("scratch",),
            memory_orders=lambda case: ("release", "acquire") if helper.endswith("_64") else (),
            waiting_programs=lambda case: case.sizes["rows"] * case.sizes["cols"]),
        judge=Judge(
            rules=_rules, bounds=_bounds,
            oracles=lambda case: both("scan:exclusive_scan", "values", "combine=combine", outputs=("prefix",)),
            defined=lambda case: ("tridiff.oracles.by_torch.scan:exclusive_scan_defined",
                                  ("values", "combine=combine")),
            label=lambda case: f"{case.params['index_dtype']} index"),
        shrink=Shrink(
            steps=_reductions, simplest={"combine": ("add", *_SELECTING, "affine"), "index_dtype": ("i32", "i64")}),
        faults=Faults(
            planted={**mutants("lookback", helper),
                     "dirty_scratch": f"tridiff.kernels.helpers.lookback:{helper}"}))


TARGETS = (
    _target("exclusive_scan_decoupled_lookback", "exclusive scan across programs, 16 and 32-bit values"),
    _target("exclusive_scan_decoupled_lookback_64", "exclusive scan across programs, 64-bit values"),
)
