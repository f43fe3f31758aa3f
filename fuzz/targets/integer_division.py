"""Integer division and remainder: Triton's own operators (truncating) and the flooring helpers.

Three forms. `blocks`: both operands are loaded. `ramp`: the numerator is `arange + start`, computed in the
kernel, so that the compiler reasons about it, and the divisor is a constant, a scalar or loaded. `gather`: the
result of such a ramp is an address, whose loads the compiler merges where it believes them contiguous.
"""

from collections.abc import Callable, Iterator

from hypothesis import strategies as st
from msgspec.structs import replace

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, Explicit, Iota, Layout, Put
from tridiff.fuzz.strategies import (
    compile_modes,
    contents,
    dtypes,
    int_divisors,
    integer_ramps,
    lengths,
    strided_layouts,
)
from tridiff.fuzz.strategies.choice import weighted
from tridiff.fuzz.strategies.ramps import DIVISOR_KINDS, START_KINDS
from tridiff.fuzz.target import POWERS_OF_TWO, Draw, Faults, Judge, Limits, Run, Shrink, Target, Vocabulary
from tridiff.fuzz.targets.tiles import DIMS, both, compiled, elementwise_blocks, mutants, result, rows_of, subjects
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import BIT

SIGNED = ("i8", "i16", "i32", "i64")
DTYPES = (*SIGNED, "u8", "u16", "u32", "u64")


@st.composite
def _block_cases(draw: st.DrawFn, name: str, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES))
    cols = draw(lengths(maximum=64))
    rows = draw(rows_of(cols, limits))
    layouts = [draw(strided_layouts(dims=DIMS)) for _ in range(2)]
    values = [draw(contents(dtype=dtype)), draw(int_divisors(dtype=dtype))]
    if dtype in SIGNED and cols and draw(st.integers(0, 7)) == 7:
        # The one quotient that is out of range: both must lie in one lane.
        column = draw(st.integers(0, cols - 1))
        values = [replace(one, overrides=(*one.overrides, Put(value=value, column=column)))
                  for one, value in zip(values, (str(int(dtype_info(dtype).min)), "-1"), strict=True)]
    return Case(
        target=name, sizes={"rows": rows, "cols": cols}, params={"form": "blocks"},
        arrays=(
            ArraySpec(name="a", dtype=dtype, dims=DIMS, layout=layouts[0], content=values[0]),
            ArraySpec(name="b", dtype=dtype, dims=DIMS, layout=layouts[1], content=values[1]),
            result(draw, "out", dtype),
        ), **compiled(draw))


@st.composite
def _ramp_cases(draw: st.DrawFn, name: str, limits: Limits) -> Case:
    dtype = draw(weighted((2, dtypes(among=SIGNED)), (1, dtypes(among=DTYPES))))
    ramp = draw(integer_ramps(dtype=dtype, maximum=limits.elements))
    return Case(
        target=name, sizes={"rows": ramp.count},
        params={"form": "ramp", "block": ramp.block, "start_kind": ramp.start_kind, "divisor_kind": ramp.divisor_kind},
        arrays=(
            ArraySpec(name="a", dtype=dtype, dims=("rows",),
                      content=Content(base=Iota(start=ramp.start, step=0, per_row=1))),
            ArraySpec(name="b", dtype=dtype, dims=("rows",), content=Content(base=Constant(value=str(ramp.divisor))),
                      layout=Layout(broadcast=() if ramp.divisor_kind == "loaded" else ("rows",))),
            ArraySpec(name="out", dtype=dtype, dims=("rows",)),
        ), **compiled(draw))


@st.composite
def _gather_cases(draw: st.DrawFn, name: str, limits: Limits) -> Case:
    """The table holds its own positions relative to `origin`, so that what is read is the index itself."""
    ramp = draw(integer_ramps(dtype="i32", maximum=min(limits.elements, 4096)))
    start = max(min(ramp.start, 4096), -4096)
    divisor = ramp.divisor if abs(ramp.divisor) <= 4096 else 16
    a = ArraySpec(name="a", dtype="i32", dims=("rows",), content=Content(base=Iota(start=start, step=0, per_row=1)))
    b = ArraySpec(name="b", dtype="i32", dims=("rows",), content=Content(base=Constant(value=str(divisor))),
                  layout=Layout(broadcast=("rows",)))
    # Loads that are merged by mistake are four elements wide: there is room for one at either end.
    origin = _reach(name, start, ramp.count, divisor) + 4
    if draw(st.integers(0, 3)):
        # Loads are merged only where the base is known to be aligned.
        origin = -(-origin // 16) * 16
    table = ArraySpec(name="table", dtype="i32", dims=("slots",), content=Content(base=Iota(start=-origin, step=1)))
    return Case(
        target=name, sizes={"rows": ramp.count, "slots": 2 * origin},
        params={"form": "gather", "block": ramp.block, "start_kind": ramp.start_kind,
                "divisor_kind": "constexpr" if ramp.divisor_kind == "loaded" else ramp.divisor_kind},
        arrays=(a, b, table, ArraySpec(name="out", dtype="i32", dims=("rows",))), options=draw(compile_modes()))


def _reach(name: str, start: int, count: int, divisor: int) -> int:
    """An index that no right result reaches in magnitude."""
    if name.endswith(("mod", "remainder_integer")):
        return abs(divisor)
    return max(abs(start), abs(start + count - 1)) // max(abs(divisor), 1) + 2


def _strategy(name: str) -> Callable[[Limits], st.SearchStrategy[Case]]:
    return lambda limits: st.one_of(_block_cases(name, limits), _ramp_cases(name, limits), _gather_cases(name, limits))


def _params(case: Case) -> Vocabulary:
    form = {"form": ("blocks", "ramp", "gather")}
    if case.params.get("form") == "blocks":
        return form
    return form | {"block": POWERS_OF_TWO, "start_kind": START_KINDS, "divisor_kind": DIVISOR_KINDS}


def _valid(case: Case) -> bool:
    """Ramp operands must stay what the kernel computes: a unit ramp from a 32-bit start, one divisor for all."""
    if case.params.get("form") == "blocks":
        return set(case.sizes) == set(DIMS)
    a, b = case.array("a"), case.array("b")
    if any(spec.name == "table" for spec in case.arrays) is not (case.params.get("form") == "gather"):
        return False
    if a.content is None or b.content is None or "rows" not in case.sizes:
        return False
    base, divisor = a.content.base, b.content.base
    if not isinstance(base, Iota) or base.per_row != 1 or base.step or a.content.overrides or b.content.overrides:
        return False
    info = dtype_info(a.dtype)
    lowest, highest = max(int(info.min), -(2**31)), min(int(info.max), 2**31 - 1)
    if not isinstance(divisor, Constant) or not lowest <= base.start <= highest:
        return False
    block = case.params.get("block")
    if case.params["form"] == "gather" and not _table_reaches(case, base.start, int(divisor.value)):
        return False
    return (isinstance(block, int) and block > 0 and block & (block - 1) == 0 and a.first_row == b.first_row == 0
            and divisor.value not in ("0", "-0") and lowest <= int(divisor.value) <= highest)


def _table_reaches(case: Case, start: int, divisor: int) -> bool:
    """Whether there is a table that still holds its positions, and enough of them on both sides."""
    content = next((spec.content for spec in case.arrays if spec.name == "table"), None)
    if content is None or not isinstance(content.base, Iota) or content.overrides or content.base.step != 1:
        return False
    reach = _reach(case.target, start, case.sizes["rows"], divisor)
    return (content.base.per_row == 0 and -content.base.start >= reach and case.params["divisor_kind"] != "loaded"
            and case.sizes["slots"] + content.base.start >= reach)


def _blocks(case: Case) -> Iterator[Case]:
    """Of operands that are computed, the first ones loaded: of an address, what it is made of."""
    if case.params["form"] == "blocks" or not case.sizes["rows"]:
        return
    kept = dict(zip(("a", "b"), map(str, _scalars(case)), strict=True))
    yield replace(case, sizes=dict.fromkeys(DIMS, 1), params={"form": "blocks"}, arrays=tuple(
        replace(spec, dims=DIMS, layout=Layout(), first_row=0,
                content=Content(base=Explicit(values=(kept[spec.name],))) if spec.name in kept else None)
        for spec in case.arrays if spec.name != "table"))


def _launch(launch: Launch) -> None:
    if launch.case.params["form"] == "blocks":
        launch.drive("tridiff.kernels.drivers.elementwise:elementwise_binary", BOOL=False,
                     **elementwise_blocks(launch))
        return
    import triton.language as tl

    dtype = launch.spec("a").dtype
    start, divisor = _scalars(launch.case)
    start_kind, divisor_kind = launch.case.params["start_kind"], launch.case.params["divisor_kind"]
    given: dict[str, object] = {
        "count": launch.case.sizes["rows"], "BLOCK": launch.case.params["block"],
        "DTYPE": {"u": tl.core.get_int_dtype(dtype_info(dtype).bits, signed=False),
                  "i": tl.core.get_int_dtype(dtype_info(dtype).bits, signed=True)}[dtype[0]],
        "START": start if start_kind == "constexpr" else None, "start": start,
        "DIVISOR": divisor if divisor_kind == "constexpr" else None, "divisor": divisor,
    }
    if launch.case.params["form"] == "gather":
        table = launch.spec("table").content
        assert table is not None and isinstance(table.base, Iota)
        del given["DTYPE"]
        launch.drive("tridiff.kernels.drivers.ramp_gather:ramp_gather", origin=-table.base.start, **given)
        return
    if divisor_kind != "loaded":
        given["divisor_ptr"] = None
    else:
        given["divisor_ptr"] = launch.pointer("b")
    driver = "integer_ramp_unspecialised" if divisor_kind == "unspecialised" else "integer_ramp"
    launch.drive(f"tridiff.kernels.drivers.elementwise:{driver}", **given)


def _scalars(case: Case) -> tuple[int, int]:
    a, b = case.array("a").content, case.array("b").content
    assert a is not None and b is not None and isinstance(a.base, Iota) and isinstance(b.base, Constant)
    return a.base.start, int(b.base.value)


def _label(case: Case) -> str:
    return f"{dtype_info(case.array('a').dtype).kind} {case.params['form']}"


def _target(name: str, *, summary: str, contract: str, subjects: dict[str, str], reference: str,
            faults: dict[str, str]) -> Target:
    return Target(
        name=name, summary=summary, contract=contract, dtypes=DTYPES,
        subjects=subjects,
        draw=Draw(cases=_strategy(name), params=_params, valid=_valid),
        run=Run(launch=_launch),
        judge=Judge(
            rules=lambda case: {"out": BIT}, label=_label,
            oracles=lambda case: both(f"integer:{reference}", "a", "b"),
            defined=lambda case: ("tridiff.oracles.by_torch.integer:division_defined", ("a", "b"))),
        shrink=Shrink(
            forms=_blocks,
            simplest={"block": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
                      "start_kind": ("constexpr", "run_time"),
                      "divisor_kind": ("constexpr", "run_time", "unspecialised", "loaded")}),
        faults=Faults(planted=faults))


_DIV = mutants("integer", "div_floor_integer")
_REM = mutants("integer", "remainder_integer")

TARGETS = (
    _target("triton.floordiv", summary="a // b as Triton compiles it: rounds toward zero",
            contract="helpers.md §4 (operators truncate)", reference="div_trunc",
            subjects={"own": "tridiff.kernels.helpers.operators:operator_floordiv"},
            faults={"floor_for_trunc": "tridiff.kernels.helpers.integer:div_floor_integer",
                    **{k: v for k, v in _DIV.items() if k in ("ceil_for_floor", "unsigned_operands", "in_32_bits",
                                                               "divisor_sign_ignored")}}),
    _target("triton.mod", summary="a % b as Triton compiles it: the sign of a",
            contract="helpers.md §4 (operators truncate)", reference="rem_trunc",
            subjects={"own": "tridiff.kernels.helpers.operators:operator_mod"},
            faults={"floor_for_trunc": "tridiff.kernels.helpers.integer:remainder_integer",
                    **{k: v for k, v in _REM.items() if k in ("exact_multiple_gives_divisor", "never_negative",
                                                               "through_fp32", "in_32_bits")}}),
    _target("helpers.div_floor_integer", summary="floor(a / b) for integers", contract="helpers.md §4",
            reference="div_floor_integer", faults=_DIV,
            subjects=subjects("integer", "div_floor_integer")),
    _target("helpers.remainder_integer", summary="a - b * floor(a / b) for integers", contract="helpers.md §4",
            reference="remainder_integer", faults=_REM,
            subjects=subjects("integer", "remainder_integer")),
)
