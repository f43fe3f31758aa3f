"""Every fuzz dimension that the contract names is reached within 1,000 draws of its target.

The predicates look at the values that a case puts into memory, not at how its content is described.
"""

import contextlib
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, seed, settings, strategies as st

from tests.support.draws import GENERATE
from tridiff.fuzz.content.place import place
from tridiff.fuzz.records import Case
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.oracles.bits import is_nan, is_subnormal, is_zero, ordered, sign_bit, to_float64
from tridiff.oracles.dtypes import dtype as dtype_info

DRAWS = 1000


class Drawn:
    """A case and, on demand, the values of its input arrays."""

    def __init__(self, case: Case) -> None:
        self.case, self.sizes, self.params = case, case.sizes, case.params
        self._arrays: dict[str, torch.Tensor] = {}

    def __getitem__(self, name: str) -> torch.Tensor:
        if name not in self._arrays:
            values = place(self.case.array(name), self.sizes, device=torch.device("cpu")).values
            self._arrays[name] = values
        return self._arrays[name]

    def floats(self, name: str) -> bool:
        return dtype_info(self.case.array(name).dtype).is_float

    def wide(self, name: str) -> torch.Tensor:
        return to_float64(self[name]) if self.floats(name) else ordered(self[name]).to(torch.float64)


Predicate = Callable[[Drawn], bool]


def _any(mask: torch.Tensor) -> bool:
    return bool(mask.any())


def nan_in(name: str) -> Predicate:
    return lambda d: d.floats(name) and _any(is_nan(d[name]))


def only_nan_in(name: str) -> Predicate:
    return lambda d: d.floats(name) and d[name].numel() > 1 and bool(is_nan(d[name]).all())


def infinity_in(name: str) -> Predicate:
    return lambda d: d.floats(name) and _any(torch.isinf(d.wide(name)))


def negative_zero_in(name: str) -> Predicate:
    return lambda d: d.floats(name) and _any(is_zero(d[name]) & sign_bit(d[name]))


def subnormal_in(name: str) -> Predicate:
    return lambda d: d.floats(name) and _any(is_subnormal(d[name]))


def row_of(name: str, holds: Callable[[torch.Tensor], torch.Tensor]) -> Predicate:
    """Some row of at least two columns for which `holds` (rows, cols) -> (rows,) is true."""
    return lambda d: d.sizes["cols"] > 1 and d.sizes["rows"] > 0 and _any(holds(d.wide(name)))


def ties_in(name: str) -> Predicate:
    return row_of(name, lambda x: (x.sort(1).values.diff(dim=1) == 0).any(1))


def param(name: str, value: object) -> Predicate:
    return lambda d: d.params.get(name) == value


def size(name: str, *among: int) -> Predicate:
    return lambda d: d.sizes.get(name) in among


def more(name: str, than: int) -> Predicate:
    return lambda d: d.sizes[name] > than


def dtype(name: str, of: str) -> Predicate:
    return lambda d: d.case.array(name).dtype == of


def stride_zero(name: str) -> Predicate:
    return lambda d: 0 in d.case.array(name).strides(d.sizes) and d.case.array(name).layout.broadcast != ()


def step(name: str) -> Predicate:
    return lambda d: d.case.array(name).layout.step > 1


def offset(name: str) -> Predicate:
    return lambda d: d.case.array(name).layout.offset % 4 != 0


def both(*predicates: Predicate) -> Predicate:
    return lambda d: all(one(d) for one in predicates)


def _overflows(d: Drawn) -> bool:
    kind = dtype_info(d.case.array("a").dtype)
    product = d.wide("a").prod(1)
    return not kind.is_float and _any(product.abs() > float(kind.max))


def _range_span(d: Drawn, beyond: int) -> bool:
    pairs = zip(d["low"].tolist(), d["high"].tolist(), strict=True)
    return any(high - low > beyond for low, high in pairs)


def _tail(d: Drawn) -> bool:
    cols = d.sizes["cols"]
    return cols & (cols - 1) != 0


def _equal_weights(value: float) -> Predicate:
    return lambda d: _any(d["a_weight"] == value)


def _zero_weight_garbage(d: Drawn) -> bool:
    idle = d["a_weight"] == 0
    return _any(idle & ~torch.isfinite(d["a_mean"])) or _any(idle & (d["a_m2"] != 0))


def _huge_distance(d: Drawn) -> bool:
    gap = (to_float64(d["a_mean"]) - to_float64(d["b_mean"])).abs()
    return d.case.array("a_mean").dtype == "fp32" and _any(torch.isfinite(gap) & (gap > 1.9e19))


def _large_offset(d: Drawn) -> bool:
    x = d.wide("a")
    spread, mean = x.std(1, correction=0), x.mean(1).abs()
    return _any((spread > 0) & (mean > 1e4 * spread))


def _organ_pipe(d: Drawn) -> bool:
    """Some row begins by rising to a middle and falling again, symmetrically."""
    x = d.wide("a")
    return any(_any((x[:, :half + 1].diff(dim=1) > 0).all(1)
                    & (x[:, :half] == x[:, half + 1:2 * half + 1].flip(1)).all(1))
               for half in (2, 4, 8, 16) if 2 * half < d.sizes["cols"])


_HALVES = tuple(n for k in range(1, 7) for n in (2**k - 1, 2**k, 2**k + 1))

DIMENSIONS: dict[str, dict[str, Predicate]] = {
    "helpers.promote_to_tensor": {
        "scalar": param("scalar", True), "block": size("cols", *range(2, 33)), "bf16": dtype("a", "bf16"),
        "boolean": dtype("a", "i1"), "fp8": dtype("a", "fp8e5"), "-0.0": negative_zero_in("a"), "NaN": nan_in("a"),
    },
    "helpers.is_floating": {"scalar": param("scalar", True), "fp8": dtype("a", "fp8e4nv"), "boolean": dtype("a", "i1")},
    "helpers.div_floor_integer": {
        "negative ramp": lambda d: d.params["form"] == "ramp" and int(d["a"].min()) < 0,
        "constexpr divisor": param("divisor_kind", "constexpr"), "run-time divisor": param("divisor_kind", "run_time"),
        "INT_MIN / -1": lambda d: d.params["form"] == "blocks" and not d.floats("a")
        and dtype_info(d.case.array("a").dtype).min < 0
        and _any((d["a"] == int(dtype_info(d.case.array("a").dtype).min)) & (d["b"] == -1)),
        "divisor 0": lambda d: d["b"].numel() > 0 and _any(ordered(d["b"]) == 0),
        "|a| < |b|": lambda d: _any(d.wide("a").abs() < d.wide("b").abs()),
    },
    "helpers.minimum": {
        "NaN left": nan_in("a"), "NaN right": nan_in("b"), "-0.0": negative_zero_in("a"), "infinity": infinity_in("b"),
        "subnormal": subnormal_in("a"), "equal": lambda d: _any(d.wide("a") == d.wide("b")),
    },
    "helpers.max_with_index": {
        "NaN": nan_in("a"), "several NaNs": lambda d: d.floats("a") and _any(is_nan(d["a"]).sum(1) > 1),
        "all NaN": only_nan_in("a"), "ties": ties_in("a"), "permuted index": lambda d: _any(d["index"].diff(dim=1) < 0),
        "all -inf": row_of("a", lambda x: (x == -torch.inf).all(1)), "tail": _tail,
    },
    "helpers.prod": {
        "zero times infinity": row_of("a", lambda x: (x == 0).any(1) & torch.isinf(x).any(1)), "wrap": _overflows,
        "length 1": size("cols", 1), "axis 0": param("axis", 0), "NaN": nan_in("a"), "tail": _tail,
        "overflow in one order": row_of("a", lambda x: (x.abs() > 1e30).any(1) & ((x != 0) & (x.abs() < 1e-30)).any(1)),
    },
    "helpers.any": {
        "all false": lambda d: not _any(d["a"] != 0), "tail": _tail, "boolean": dtype("a", "i1"),
        "single true in the last lane": lambda d: d.sizes["cols"] > 1 and _any(
            ((d["a"] != 0).sum(1) == 1) & (d["a"][:, -1] != 0)),
    },
    "helpers.welford_reduce": {
        "first, constexpr": both(param("first", True), param("first_kind", "constexpr")),
        "not first, run time": both(param("first", False), param("first_kind", "run_time")),
        "weight near 2^24": lambda d: d.params["form"] == "step" and _any(d["weight"] >= 2**24 - 1),
        "whole rows, peeled": param("peeled", True), "fp16": lambda d: d.case.arrays[0].dtype == "fp16",
        "garbage before the first": lambda d: d.params.get("first") is True and _any(~torch.isfinite(d["mean"])),
    },
    "helpers.welford_combine": {
        "zero weight with garbage": _zero_weight_garbage, "distance whose square overflows": _huge_distance,
        "two equal infinities": lambda d: _any(torch.isinf(d["a_mean"]) & (d["a_mean"] == d["b_mean"])),
        "weight near 2^24": _equal_weights(2.0**24),
    },
    "helpers.welford": {
        "all empty": lambda d: d.params["form"] == "states" and _any((d["a_weight"] == 0).all(1)),
        "large offset": both(param("form", "rows"), lambda d: _large_offset(d)), "length 1": size("cols", 1),
        "infinity": lambda d: infinity_in(d.case.arrays[0].name)(d), "axis 0": param("axis", 0), "tail": _tail,
        "constant row": both(param("form", "rows"), row_of("a", lambda x: (x == x[:, :1]).all(1))),
    },
    "helpers.device_assert_then": {
        "all true": lambda d: bool(d["condition"].all()), "assertions on": lambda d: d.case.options.debug,
        "assertions off": lambda d: not d.case.options.debug, "boolean value": dtype("a", "i1"),
        "one false lane": lambda d: d["condition"].numel() > 1 and int((~d["condition"]).sum()) == 1,
        "masked tail": _tail,
    },
    "helpers.randint64": {
        "span beyond 2^63": lambda d: _range_span(d, 2**63), "small span": lambda d: not _range_span(d, 100),
        "empty range": lambda d: _any(d["low"] == d["high"]), "negative low": lambda d: _any(d["low"] < 0),
        "i32 offsets": dtype("offset", "i32"), "u32 offsets": dtype("offset", "u32"),
        "offset of 2^32": both(dtype("offset", "i64"), lambda d: _any(d["offset"] >= 2**32)),
    },
    "helpers.rand": {"wide seed": lambda d: _any(d["seed"].abs() >= 2**32), "i64 offsets": dtype("offset", "i64")},
    "helpers.bucketize_binary_search": {
        "SIZE 0": size("edges", 0), "SIZE 1": size("edges", 1), "SIZE 2^k +- 1": size("edges", *_HALVES),
        "SIZE of 2^30 and more": lambda d: int(d.params.get("copies", 0)) >= 2**30,
        "int32 index with them": both(param("index_dtype", "i32"), lambda d: int(d.params.get("copies", 0)) > 2**30),
        "NaN value": nan_in("values"), "NaN boundary": nan_in("boundaries"),
        "infinite boundary": infinity_in("boundaries"),
        "duplicates": both(param("form", "row"), lambda d: d.sizes["edges"] > 1 and _any(
            d.wide("boundaries").diff(dim=1) == 0)),
        "sorter": param("form", "sorter"), "unsorted": param("form", "unsorted"), "right": param("right", True),
        "int32": param("index_dtype", "i32"), "shared row": stride_zero("boundaries"),
        "stride above 1": step("boundaries"),
        "value on a boundary": both(
            param("form", "row"), lambda d: min(d["values"].shape[1], d.sizes["edges"]) > 0 and _any(
                d.wide("values")[:, :, None] == d.wide("boundaries")[:, None, :])),
    },
    "helpers.pack_value_flag": {
        "NaN payload": nan_in("value"), "-0.0": negative_zero_in("value"),
        "negative int": lambda d: not d.floats("value") and _any(ordered(d["value"]) < 0),
    },
    "helpers.exclusive_scan_decoupled_lookback": {
        "one program": size("cols", 1), "many programs": more("cols", 100),
        "last operand": param("combine", "second"), "affine maps": param("combine", "affine"), "NaN": nan_in("values"),
        "-0.0": negative_zero_in("values"), "int64 index": param("index_dtype", "i64"),
        "several scans": more("rows", 1), "repeated": lambda d: d.case.repeats > 0,
    },
    "helpers.exclusive_scan_decoupled_lookback_64": {
        "affine maps": param("combine", "affine"), "int64 index": param("index_dtype", "i64"), "NaN": nan_in("values"),
        "many programs": more("cols", 100),
    },
    "helpers.frexp": {
        "-0.0": negative_zero_in("a"), "subnormal": subnormal_in("a"), "NaN": nan_in("a"), "infinity": infinity_in("a"),
        "power of two": lambda d: _any(torch.frexp(d.wide("a").abs()).mantissa == 0.5),
        "below a power of two": lambda d: _any(d.wide("a").abs() == 0.99999994),
        "tiny and huge": lambda d: d["a"].numel() > 1 and _any(d.wide("a").abs() > 2.0**100) and _any(
            (d.wide("a").abs() < 2.0**-100) & (d.wide("a") != 0)),
    },
    "helpers.sort_with_index": {
        "length 1": size("cols", 1), "length 512": more("cols", 256), "tail": _tail,
        "one NaN": lambda d: d.floats("a") and d.sizes["cols"] > 2 and _any(is_nan(d["a"]).sum(1) == 1),
        "many NaNs": lambda d: d.floats("a") and _any(is_nan(d["a"]).sum(1) > 2),
        "all equal": row_of("a", lambda x: (x == x[:, :1]).all(1)), "boolean": dtype("a", "i1"),
        "sorted": row_of("a", lambda x: (x.diff(dim=1) > 0).all(1)),
        "reversed": row_of("a", lambda x: (x.diff(dim=1) < 0).all(1)),
        "organ pipe": _organ_pipe,
        "both zeros": lambda d: d.floats("a") and _any(
            (is_zero(d["a"]) & sign_bit(d["a"])).any(1) & (is_zero(d["a"]) & ~sign_bit(d["a"])).any(1)),
        "element equal to what lies beyond the row": lambda d: _tail(d) and d.params["beyond"] != "nan" and _any(
            d.wide("a") == float(str(d.params["beyond"]))),
        "stable": param("stable", True), "unstable": param("stable", False), "descending": param("descending", True),
        "int16 index": param("index_dtype", "i16"), "padding": lambda d: int(d.params["padding"]) > 0,
        "many rows": more("rows", 1),
    },
    "helpers.select_one": {
        "first": lambda d: d.sizes["cols"] > 1 and _any(d["mask"][:, 0]), "none": lambda d: not _any(d["mask"]),
        "last": lambda d: d.sizes["cols"] > 1 and _any(d["mask"][:, -1]), "boolean": dtype("a", "i1"),
        "middle": lambda d: d.sizes["cols"] > 2 and _any(d["mask"][:, 1:-1]), "64 bits": dtype("a", "fp64"),
        "NaN picked": lambda d: d.floats("a") and _any(is_nan(d["a"]) & d["mask"]),
        "-0.0 picked": lambda d: d.floats("a") and _any(is_zero(d["a"]) & sign_bit(d["a"]) & d["mask"]),
        "subnormal picked": lambda d: d.floats("a") and _any(is_subnormal(d["a"]) & d["mask"]),
    },
    "helpers.x_grid_barrier": {
        "one program": size("x", 1), "2^k + 1 programs": size("x", *(2**k + 1 for k in range(1, 10))),
        "a thousand programs": lambda d: d.sizes["x"] >= 1000, "several y": more("y", 1),
        "several z": more("z", 1), "repeated": more("rounds", 1),
        "top bit set at the start": lambda d: _any(ordered(d["sem"]) != 0),
    },
}


def missing(name: str, cases: st.SearchStrategy[Case]) -> list[str]:
    """Dimensions of target `name` that no case of DRAWS shows; stops as soon as all have been seen."""
    wanted = dict(DIMENSIONS[name])

    class _AllReached(BaseException):
        pass

    @seed(11)
    @settings(GENERATE, max_examples=DRAWS)
    @given(cases)
    def look(case: Case) -> None:
        if case.sizes.get("rows") == 0 or case.sizes.get("cols") == 0:
            return
        drawn = Drawn(case)
        for label in [label for label, predicate in wanted.items() if predicate(drawn)]:
            del wanted[label]
        if not wanted:
            raise _AllReached

    with contextlib.suppress(_AllReached):
        look()
    return list(wanted)


@pytest.mark.parametrize("name", DIMENSIONS)
def test_every_dimension_of_the_contract_is_reached(name: str):
    assert missing(name, find(name).draw.cases(Limits(elements=512, rows=16))) == []


def test_a_strategy_with_a_hole_is_noticed():
    """Rows of at most two elements have no middle, and that is all that is reported."""
    narrow = find("helpers.select_one").draw.cases(Limits(elements=2, rows=1))
    assert missing("helpers.select_one", narrow) == ["middle"]
