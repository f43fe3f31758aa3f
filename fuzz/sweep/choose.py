"""From what a person asks for to specs: names and globs of operations, types, sizes."""

import difflib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.sweep.records import SweepOptions, SweepSpec
from tridiff.fuzz.sweep.space import space_of
from tridiff.kernels.pointwise.table import ALL, HELPERS, OPS, result_dtype

SWEPT = {**OPS, **HELPERS}
"""What can be swept."""
HELPER_NAMES = {
    "div_floor_integer": "floor_divide", "remainder_integer": "remainder", "minimum": "minimum", "maximum": "maximum",
    "frexp": "frexp_*", "bit_casts": "bitcast_*", "fp8": "to_fp8*", "pack": "*pack_*",
}
"""Names of helpers (helpers.md) that the table's operations call, so that they can be asked for by their own name."""


@dataclass(frozen=True)
class Choice:
    """ops: names, globs or helper names; empty for all. dtypes: every operand's type must be among them; empty for all.
    arity: 0 for all. stratified: also spaces that are too large to enumerate.
    """

    ops: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    arity: int = 0
    stratified: bool = False
    bits: int = 32
    options: SweepOptions = field(default_factory=SweepOptions)
    planted: int = -1
    nearest: bool = False


def choose(choice: Choice) -> tuple[SweepSpec, ...]:
    """The specs of a choice, in table order; TridiffError for what matches nothing."""
    unknown = [name for name in choice.dtypes if name not in ALL]
    if unknown:
        raise TridiffError(f"unknown dtype {unknown[0]!r}", fix=f"use {' '.join(ALL)}")
    found = []
    for name in names(choice.ops):
        op = SWEPT[name]
        if choice.arity not in (0, op.arity):
            continue
        for signature in op.signatures:
            if choice.dtypes and not set(signature) <= set(choice.dtypes):
                continue
            spec = SweepSpec(op=name, dtypes=signature, options=choice.options, planted=choice.planted,
                             bits=choice.bits, nearest=choice.nearest)
            if choice.stratified or space_of(spec, result_dtype(name, signature)).complete:
                found.append(spec)
    if not found:
        raise TridiffError("nothing to sweep among these operations, types and sizes",
                           fix="drop --dtype or --arity, raise --bits, or add --stratified")
    return tuple(found)


def names(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Operations that any of the patterns names, in table order per pattern; all for none; TridiffError for one that
    names nothing."""
    if not patterns:
        return tuple(SWEPT)
    found: dict[str, None] = {}
    for pattern in patterns:
        matching = [name for name in SWEPT if fnmatchcase(name, HELPER_NAMES.get(pattern, pattern))]
        if not matching:
            near = difflib.get_close_matches(pattern.strip("*?"), [*SWEPT, *HELPER_NAMES], n=4)
            hint = f"try {', '.join(near)}; " if near else ""
            raise TridiffError(f"no operation matches {pattern[:80]!r}", fix=f"{hint}`tridiff sweep --list` lists all")
        found |= dict.fromkeys(matching)
    return tuple(found)
