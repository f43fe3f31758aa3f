"""What a ledger says about generated programs: how much was reached, and which operations and expressions were not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args, get_type_hints

from fuzz.programs.operations import choices
from kernels.codegen.graph import Function, Reduce, Scan
from oracles.dtypes import NAMES


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


def declared() -> set[tuple[str, str]]:
    """Every (operation, dtype) that programs may have: pointwise operations by operand, folds by their kinds."""
    found = {(one.op, name) for name in NAMES for one in choices(name)}
    floats, rest = ("fp16", "bf16", "fp32", "fp64"), [name for name in NAMES if not name.startswith("fp")]
    for kind in get_args(get_type_hints(Reduce)["kind"]):
        names = floats if kind.startswith("welford") else rest if kind == "xor_sum" else (*rest, *floats)
        found |= {(f"reduce_{kind}", name) for name in names}
    for kind in get_args(get_type_hints(Scan)["combine"]):
        names = floats if kind == "logcumsumexp" else (*rest, *floats)
        arithmetic = kind in ("sum", "prod", "affine")
        found |= {(f"scan_{kind}", name) for name in names if not (arithmetic and name == "i1")}
    return found


def coverage(cells: Iterable[str]) -> Coverage:
    """The coverage of the cells that programs reached (`fuzz.programs.ledger.cells`)."""
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
