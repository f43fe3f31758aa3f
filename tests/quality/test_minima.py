"""Every value fault is found, and shrinks to the exact case that its author would have written down.

Each fault runs through a real shard: Hypothesis draws, a worker interprets, the first finding is minimised and
confirmed. Which kind of element turns up first depends on the draw, so the table holds one minimum per kind.
"""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.support.campaigns import shard_spec
from tests.support.cases import division
from tests.support.nights import by_day
from tridiff.fuzz.campaign import shard
from tridiff.fuzz.content.text import complexity, from_bits, to_bits
from tridiff.fuzz.records import Case, Constant, CorpusEntry, Explicit, Iota, LaunchOptions, Layout, Verdict
from tridiff.fuzz.registry import find
from tridiff.oracles.dtypes import dtype as dtype_info

each = pytest.mark.parametrize
Values = dict[str, tuple[int | str, ...]]


def hunt(target: str, fault: str, folder: Path, *, most: int = 2000) -> CorpusEntry:
    """The first finding about the fault within `most` cases, minimised."""
    spec = shard_spec(target=target, subject=f"own+fault:{fault}", seed=5, max_cases=most, hang_limit=60, elements=24,
                      rows=4, most_findings=1)
    result = shard.run_shard(spec, str(folder))
    assert result.error == ""
    assert result.counts.refused == 0
    assert len(result.findings) == 1, f"not found in {result.counts.executed} cases"
    return result.findings[0]


def values(case: Case) -> dict[str, tuple[str, ...]]:
    """What a reader sees of each input, in canonical spelling; a ramp and a constant by their one value."""
    found = {}
    for spec in case.arrays:
        if spec.content is None:
            continue
        assert spec.content.overrides == () and spec.first_row == 0
        match spec.content.base:
            case Explicit(values=listed):
                found[spec.name] = tuple(from_bits(to_bits(v, spec.dtype), spec.dtype) for v in listed)
            case Constant(value=value):
                found[spec.name] = (from_bits(to_bits(value, spec.dtype), spec.dtype),)
            case Iota(start=start):
                found[spec.name] = (str(start),)
            case other:
                raise AssertionError(f"{spec.name} is still described: {other}")
    return found


def expected(case: Case, given: Values) -> dict[str, tuple[str, ...]]:
    """The table's numbers as text of the arrays' types."""
    return {name: tuple(from_bits(to_bits(str(v), case.array(name).dtype), case.array(name).dtype) for v in listed)
            for name, listed in given.items()}


def is_plain(entry: CorpusEntry) -> None:
    """Nothing is left of the draw but the values."""
    case = entry.case
    assert (entry.status, entry.reproduced) == ("stable", "5/5")
    assert entry.signature.verdict is Verdict.DISAGREE
    assert (case.options, case.variants, case.repeats) == (LaunchOptions(), (), 0)
    for spec in case.arrays:
        if spec.name != "b":
            assert spec.layout == Layout(), spec.name


# -- division

INT_MIN = "INT_MIN"
"""Stands for the least value of the case's type."""

DIVISION: dict[str, dict[str, dict[str, tuple[int | str, int]]]] = {
    "helpers.div_floor_integer": {
        "trunc_for_floor": {"int": (-1, 2)},
        "ceil_for_floor": {"int": (1, 2), "uint": (1, 2)},
        # The correction that is one too many needs operands of unlike sign: 1 / -1, not 0 / anything.
        "exact_multiple_decremented": {"int": (1, -1)},
        # |-1| / 1 is exact, so a divisor of -1 needs no correction that could be forgotten.
        "divisor_sign_ignored": {"int": (1, -2)},
        "unsigned_operands": {"int": (1, -1)},
        "int_min_saturated": {"int": (INT_MIN, 1)},
        # Cut to 32 bits, 2^31 becomes negative and 2^32 + 1 becomes one. 2^32 becomes zero, and gives 0 as such.
        "in_32_bits": {"int": (1, 2**31), "uint": (1, 2**32 + 1)},
    },
    "triton.floordiv": {
        "floor_for_trunc": {"int": (-1, 2)},
        "ceil_for_floor": {"int": (1, 2), "uint": (1, 2)},
        # The remaining ones are written for flooring division, which already differs from truncation at -1 / 2;
        # the unsigned one differs sooner.
        "divisor_sign_ignored": {"int": (-1, 2)},
        "unsigned_operands": {"int": (1, -1)},
        "in_32_bits": {"int": (-1, 2), "uint": (1, 2**32 + 1)},
    },
    "helpers.remainder_integer": {
        "trunc_for_floor": {"int": (-1, 2)},
        "exact_multiple_gives_divisor": {"int": (0, -1)},
        "never_negative": {"int": (1, -2)},
        # Modulo 2 the remainder of -1 is 1, that of its magnitude too.
        "of_magnitudes": {"int": (-1, 3)},
        "in_32_bits": {"int": (1, 2**31), "uint": (1, 2**32)},
    },
    "triton.mod": {
        "floor_for_trunc": {"int": (-1, 2)}, "exact_multiple_gives_divisor": {"int": (0, -1)},
        "never_negative": {"int": (-1, 2)}, "in_32_bits": {"int": (-1, 2), "uint": (1, 2**32)},
    },
}


ALL_DIVISION = [(target, fault) for target, faults in DIVISION.items() for fault in faults]
# Other targets come to the same minima by the same steps, but for these: unsigned operands, and wide ones.
DIVISION_BY_DAY = [*(("helpers.div_floor_integer", fault) for fault in DIVISION["helpers.div_floor_integer"]),
                   ("triton.floordiv", "floor_for_trunc"), ("helpers.remainder_integer", "of_magnitudes"),
                   ("helpers.remainder_integer", "exact_multiple_gives_divisor")]


@each("target, fault", by_day(ALL_DIVISION, only=DIVISION_BY_DAY))
def test_faults_of_division(target: str, fault: str, tmp_path: Path):
    entry = hunt(target, fault, tmp_path)
    case, kind = entry.case, entry.signature.about.split()[0]
    assert entry.signature.kind == "value" and entry.signature.where == "out"
    a, b = DIVISION[target][fault][kind]
    if a == INT_MIN:
        a = max(int(dtype_info(case.array("a").dtype).min), -(2**31) if "ramp" in entry.signature.about else -(2**63))
    assert values(case) == {"a": (str(a),), "b": (str(b),)}
    is_plain(entry)
    if case.params["form"] == "ramp":
        assert case.sizes == {"rows": 1}
        assert case.params == {"form": "ramp", "block": 1, "start_kind": "constexpr", "divisor_kind": "constexpr"}
    else:
        assert case.sizes == {"rows": 1, "cols": 1}
        assert case.array("b").layout == Layout()


@each("target", by_day(["helpers.remainder_integer", "triton.mod"],
                                           only=["helpers.remainder_integer"]))
def test_a_remainder_through_fp32(target: str, tmp_path: Path):
    entry = hunt(target, "through_fp32", tmp_path)
    is_plain(entry)
    (a,), (b,) = values(entry.case)["a"], values(entry.case)["b"]
    if target == "triton.mod" and entry.signature.about.startswith("int"):
        assert (a, b) == ("-1", "2")  # floors, too
        return
    # Below 2^24 every operand is exact in fp32. The least operand beyond depends on the other one (16777217 with 3,
    # 33554431 with 1), which no step that changes one value at a time crosses.
    assert abs(int(a)) > 2**24 or abs(int(b)) > 2**24
    assert min(abs(int(a)), abs(int(b))) <= 3 and max(abs(int(a)), abs(int(b))) < 2**26


def rank(pair: tuple[int, int]) -> tuple[object, ...]:
    ranks = [complexity(str(v), "i64") for v in pair]
    return sorted(ranks, reverse=True), ranks


@each("target, fault, kind", [
    (t, f, k) for t, faults in DIVISION.items() for f, kinds in faults.items() for k, pair in kinds.items()
    if isinstance(pair[0], int) and abs(pair[0]) < 9 and abs(pair[1]) < 9])
def test_no_simpler_pair_fails(target: str, fault: str, kind: str):
    """The minima of the table are minima: every pair before them in the order of simplicity agrees."""
    dtype = "i32" if kind == "int" else "u32"
    least = DIVISION[target][fault][kind]
    numbers = range(-4, 5) if kind == "int" else range(5)
    simpler = [pair for pair in itertools.product(numbers, numbers) if pair[1] and rank(pair) < rank(least)]
    assert simpler
    pool = shard.pool_for(shard_spec(target=target, hang_limit=60), Path("unused"))
    subject = f"own+fault:{fault}"
    dividends, divisors = [a for a, _ in simpler], [b for _, b in simpler]
    before = pool.execute(division(dividends, divisors, target=target, dtype=dtype), subject)
    assert before.verdict is Verdict.AGREE, before.evidence
    there = pool.execute(division(least[:1], least[1:], target=target, dtype=dtype), subject)
    assert there.verdict is Verdict.DISAGREE


# -- extrema

@dataclass(frozen=True)
class Minimum:
    """kind: of the mismatch. inputs: all values, in the order of the arrays."""

    kind: str
    inputs: Values


def pair(a: int | str, b: int | str, kind: str = "value") -> Minimum:
    return Minimum(kind, {"a": (a,), "b": (b,)})


def row(*listed: int | str, kind: str = "value") -> Minimum:
    return Minimum(kind, {"a": listed})


def indexed_pair(a: int | str, a_index: int, b: int | str, b_index: int, kind: str = "value") -> Minimum:
    return Minimum(kind, {"a": (a,), "a_index": (a_index,), "b": (b,), "b_index": (b_index,)})


def indexed_row(a: tuple[int | str, ...], index: tuple[int, ...], kind: str = "value") -> Minimum:
    return Minimum(kind, {"a": a, "index": index})


def padded(*listed: int, kind: str = "inf") -> Minimum:
    """Three columns are padded to four with the value that loses against every element. A fault that lets it win
    fails whatever the row holds; no step leads from there to the two-column case that fails on its own."""
    return Minimum(kind, {"a": listed})


_DROPPED_A, _DROPPED_B = pair("nan", 0, "nan_missing"), pair(0, "nan", "nan_missing")
_PAIRED_INDEX = {
    "tie_to_larger_index": (indexed_pair(0, 0, 0, 1),), "tie_to_first": (indexed_pair(0, 1, 0, 0),),
    "nans_not_equal": (indexed_pair("nan", 0, "nan", 1),),
    "nan_in_first_lost": (indexed_pair("nan", 0, 0, 0, "nan_missing"),), "index_of_loser": (indexed_pair(0, 0, 0, 1),),
}
_ROW_INDEX = {
    "tie_to_larger_index": (indexed_row((0, 0), (0, 1)),), "tie_to_first": (indexed_row((0, 0), (1, 0)),),
    "nans_not_equal": (indexed_row(("nan", "nan"), (0, 1)),),
    "nan_in_first_lost": (indexed_row(("nan", 0), (0, 1), "nan_missing"),),
    "index_of_loser": (indexed_row((0, 0), (0, 1)),),
}
EXTREMA: dict[str, dict[str, tuple[Minimum, ...]]] = {
    "minimum": {
        "nan_in_a_dropped": (_DROPPED_A,), "nan_in_b_dropped": (_DROPPED_B,),
        # As bits, -1 is larger than 0, and so is a NaN.
        "unsigned_compare": (pair(0, -1), pair(0, "nan", "nan_missing"), pair(-1, "inf", "inf")),
        "direction_reversed": (pair(0, 1), pair(0, "inf", "inf")),
    },
    "maximum": {
        "nan_in_a_dropped": (_DROPPED_A,), "nan_in_b_dropped": (_DROPPED_B,),
        # As bits, -1 is larger than a NaN; 0 is not.
        "unsigned_compare": (pair(0, -1), pair(-1, "nan", "nan_missing"), pair(-1, "inf", "inf")),
        "direction_reversed": (pair(0, 1), pair(0, "inf", "inf")),
    },
    "min2": {
        "nan_in_a_dropped": (row("nan", 0, kind="nan_missing"),),
        "nan_in_b_dropped": (row(0, "nan", kind="nan_missing"),),
        "unsigned_compare": (row(0, -1), row(0, "nan", kind="nan_missing"), row(-1, "inf", kind="inf"),
                             padded(-1, -1, -1)),
        "direction_reversed": (row(0, 1), row(0, "inf", kind="inf"), padded(0, 0, 0), padded(0, 0, 0, kind="value")),
    },
    "max2": {
        "nan_in_a_dropped": (row("nan", 0, kind="nan_missing"),),
        "nan_in_b_dropped": (row(0, "nan", kind="nan_missing"),),
        "unsigned_compare": (row(0, -1), row(-1, "nan", kind="nan_missing"), row(-1, "inf", kind="inf"),
                             padded(0, 0, 0), padded(0, 0, 0, kind="value")),
        "direction_reversed": (row(0, 1), row(0, "inf", kind="inf"), padded(0, 0, 0), padded(0, 0, 0, kind="value")),
    },
    "minimum_with_index": _PAIRED_INDEX, "maximum_with_index": _PAIRED_INDEX,
    "min_with_index": _ROW_INDEX, "max_with_index": _ROW_INDEX,
}


ALL_EXTREMA = [(helper, fault) for helper, faults in EXTREMA.items() for fault in faults]
# One of each pair of counterparts, a pair of operands or a row: NaN, order, padding, the index of a tie.
EXTREMA_BY_DAY = [
    ("minimum", "nan_in_a_dropped"), ("maximum", "unsigned_compare"), ("minimum", "direction_reversed"),
    ("max2", "nan_in_b_dropped"), ("min2", "unsigned_compare"), ("max2", "direction_reversed"),
    ("minimum_with_index", "tie_to_first"), ("maximum_with_index", "nan_in_first_lost"),
    ("min_with_index", "tie_to_larger_index"), ("max_with_index", "nans_not_equal"),
    ("min_with_index", "index_of_loser")]


@each("helper, fault", by_day(ALL_EXTREMA, only=EXTREMA_BY_DAY))
def test_faults_of_extrema(helper: str, fault: str, tmp_path: Path):
    entry = hunt(f"helpers.{helper}", fault, tmp_path)
    case = entry.case
    # NaN and infinity belong to kinds of mismatch that only floats have.
    allowed = [expected(case, minimum.inputs) for minimum in EXTREMA[helper][fault]
               if minimum.kind == entry.signature.kind]
    assert values(case) in allowed
    is_plain(entry)
    assert case.sizes["rows"] == 1
    assert case.params == ({"axis": 1} if "axis" in case.params else {})


@each("helper", by_day(["minimum", "maximum", "min2", "max2"], only=["minimum"]))
def test_extrema_compared_in_fp32(helper: str, tmp_path: Path):
    """Two different numbers that are one in fp32, and nothing else: which two depends on the type."""
    entry = hunt(f"helpers.{helper}", "compared_in_fp32", tmp_path)
    is_plain(entry)
    listed = [value for one in values(entry.case).values() for value in one]
    # A number beyond fp32 becomes infinite there and may tie with the padding of three columns.
    assert len(listed) in ((2,) if helper.endswith("imum") else (2, 3))
    floats = entry.case.array("a").dtype == "fp64"
    numbers: list[float] = [float(v) if floats else int(v) for v in listed]
    assert entry.case.array("a").dtype in ("i32", "i64", "u32", "u64", "fp64")
    with np.errstate(over="ignore"):
        rounded = {float(np.float64(n).astype(np.float32)) if floats else float(np.float32(n)) for n in numbers}
    if len(listed) == 2:
        assert len(set(numbers)) == 2 and len(rounded) == 1


# -- sorting

def test_a_sort_that_compares_in_fp32(tmp_path: Path):
    """Two keys that are one number in fp32, the larger one first: found in few cases."""
    entry = hunt("helpers.sort_with_index", "keys_rounded_to_fp32", tmp_path, most=60)
    is_plain(entry)
    assert (entry.case.sizes, entry.case.params["descending"]) == ({"rows": 1, "cols": 2}, False)
    (listed,) = values(entry.case).values()
    first, second = (float(value) if entry.case.array("a").dtype == "fp64" else int(value) for value in listed)
    assert first > second


def test_a_descending_sort_with_nan_last(tmp_path: Path):
    entry = hunt("helpers.sort_with_index", "nan_last_when_descending", tmp_path, most=60)
    is_plain(entry)
    assert (entry.case.sizes, entry.case.params["descending"]) == ({"rows": 1, "cols": 2}, True)
    assert values(entry.case) == expected(entry.case, {"a": (0, "nan")})


# -- vector addition

@each("fault, kind, rows, block", [
    # With blocks of one there is no lane behind the array.
    ("mask_off_by_one", "out_of_bounds", 1, 2), ("tail_dropped", "unwritten", 1, 2),
    # Half a block of one is zero: every program writes element 0.
    ("overlapping_programs", "written_twice", 2, 1)])
def test_faults_of_addition_in_memory(fault: str, kind: str, rows: int, block: int, tmp_path: Path):
    entry = hunt("triton.vector_add", fault, tmp_path)
    assert entry.signature.kind == kind
    assert fault != "mask_off_by_one" or entry.signature.where == "memory"
    assert (entry.case.sizes, entry.case.params) == ({"rows": rows}, {"block": block})
    assert values(entry.case) == expected(entry.case, {"a": (0,) * rows, "b": (0,) * rows})
    is_plain(entry)


def test_addition_stride_ignored(tmp_path: Path):
    entry = hunt("triton.vector_add", "stride_ignored", tmp_path)
    assert (entry.case.sizes, entry.case.params) == ({"rows": 2}, {"block": 1})
    # Both have another stride than the one that is taken, and neither is a step towards the other.
    assert entry.case.array("b").layout in (Layout(step=2), Layout(broadcast=("rows",)))
    assert entry.case.array("a").layout == entry.case.array("out").layout == Layout()
    is_plain(entry)


def test_addition_second_operand_dropped(tmp_path: Path):
    entry = hunt("triton.vector_add", "second_operand_dropped", tmp_path)
    assert (entry.case.sizes, entry.case.params) == ({"rows": 1}, {"block": 1})
    least = {"value": (0, 1), "inf": (0, "inf"), "nan_unexpected": (0, "inf")}[entry.signature.kind]
    assert values(entry.case) == expected(entry.case, {"a": least[:1], "b": least[1:]})
    is_plain(entry)


def test_the_tables_name_every_fault():
    """A fault that is added to a target appears here, or this fails."""
    tables = {**{name: set(faults) for name, faults in DIVISION.items()},
              **{f"helpers.{name}": set(faults) for name, faults in EXTREMA.items()}}
    apart = {"helpers.remainder_integer": {"through_fp32"}, "triton.mod": {"through_fp32"},
             **{f"helpers.{name}": {"compared_in_fp32"} for name in ("minimum", "maximum", "min2", "max2")}}
    for name, faults in tables.items():
        assert set(find(name).faults.planted) == faults | apart.get(name, set()), name
    assert set(find("triton.vector_add").faults.planted) == {
        "mask_off_by_one", "tail_dropped", "overlapping_programs", "stride_ignored", "second_operand_dropped"}
