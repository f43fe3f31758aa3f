"""What a ledger says about generated programs: how much was reached, and which operations and expressions were not."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import get_args, get_type_hints

from tridiff.fuzz.kinds.graphs.operations import COMPARISONS, SHIFTS, castable, choices, integer_divisions, same_width
from tridiff.kernels.codegen.graph import Function, Reduce, Scan
from tridiff.oracles.dtypes import FP8, NAMES, dtype as dtype_info


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Numbers of different cells. missing: (operation, dtype) that exist and were not reached; expressions: functions
    of index expressions that were not."""

    operations: int
    with_dtype: int
    with_feature: int
    pairs: int
    missing: tuple[tuple[str, str], ...]
    expressions: tuple[str, ...]


_ANY = ("load", "load_masked", "load_checked", "masked", "constant", "store_set")
_FLOATS = ("fp16", "bf16", "fp32", "fp64")
_ADDED = ("i32", "i64", "u32", "u64", *_FLOATS)


def _declared_conversions(name: str) -> Iterator[str]:
    """Conversions of a dtype's values; from fp8 to integers they go through fp32, where a clamp is."""
    for target in castable(name):
        if name not in FP8 or not (dtype_info(target).is_integer or target in FP8):
            yield f"to_{target}"
    for target in same_width(name):
        yield f"bitcast_{target}"


def _declared_forms(name: str) -> Iterator[str]:
    """Accesses, comparisons, divisions, shifts, conversions, sorts and searches of a dtype's values."""
    yield from _ANY
    yield from _declared_conversions(name)
    if name in _ADDED:
        yield "store_atomic_add"
    if name in FP8:
        return
    yield from (f"sort{way}{ties}" for way in ("", "_descending") for ties in ("", "_unstable"))
    if name == "i1":
        return
    yield from (*COMPARISONS, "clamp")
    yield from (f"bucketize{side}{sorter}" for side in ("", "_right") for sorter in ("", "_sorter"))
    if dtype_info(name).is_integer:
        yield from (*integer_divisions(name), *SHIFTS)
    else:
        yield from ("frexp", "ldexp")


def declared() -> set[tuple[str, str]]:
    """Every (operation, dtype) that programs may have: operations by operand, accesses and conversions, folds by their
    kinds."""
    found = {(one.op, name) for name in NAMES for one in choices(name)}
    found |= {(form, name) for name in NAMES for form in _declared_forms(name)}
    found |= {("rand", "fp32"), ("randn", "fp32"), ("randint64", "i64")}
    floats, rest = _FLOATS, [name for name in NAMES if not dtype_info(name).is_float]
    found |= {(f"reduce_{kind}", name) for kind in ("sum", "max", "min", "any") for name in FP8}
    for kind in get_args(get_type_hints(Reduce)["kind"]):
        names = floats if kind.startswith("welford") else rest if kind == "xor_sum" else (*rest, *floats)
        found |= {(f"reduce_{kind}", name) for name in names}
    for kind in get_args(get_type_hints(Scan)["combine"]):
        names = floats if kind == "logcumsumexp" else (*rest, *floats)
        arithmetic = kind in ("sum", "prod", "affine")
        found |= {(f"scan_{kind}", name) for name in names if not (arithmetic and name == "i1")}
    return found


def coverage(cells: Iterable[str]) -> Coverage:
    """The coverage of the cells that programs reached (`tridiff.fuzz.kinds.graphs.coverage.cells`)."""
    plain: set[tuple[str, str]] = set()
    featured = pairs = 0
    expressions: set[str] = set()
    for cell in set(cells):
        words = dict(word.partition("=")[::2] for word in cell.split())
        if "feature" in words:
            featured += 1
        elif "op" in words:
            plain.add((words["op"], words.get("dtype", "")))
        pairs += "pair" in words
        if "expr" in words:
            expressions.add(words["expr"])
    return Coverage(operations=len({op for op, _ in plain}), with_dtype=len(plain), with_feature=featured, pairs=pairs,
                    missing=tuple(sorted(declared() - plain)),
                    expressions=tuple(sorted(set(get_args(Function)) - expressions)))
