"""Which features a program uses, drawn before the program: so that rare features meet (swarm testing).

A feature is a production of `fuzz.kinds.graphs.productions`, a group of operations, or a way to address memory. Each
program leaves most of them out and stresses a few; two rare features then meet far more often than if every choice
were uniform.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.kernels.pointwise.record import Group
from tridiff.kernels.pointwise.table import OPS
from tridiff.oracles.dtypes import NAMES

Family = Literal["pointwise", "indexing", "reduction", "scan", "sort", "random", "memory", "mixed"]
FAMILIES: tuple[Family, ...] = ("pointwise", "indexing", "reduction", "scan", "sort", "random", "memory", "mixed")

PRODUCTIONS = ("load", "pointwise", "constant", "index", "cast", "compare", "where", "masked_load", "body", "gather",
               "reduce", "scan", "sort", "bucketize", "random", "assembly", "bitcast", "frexp", "divide", "shift",
               "chain")
_USUAL = {"load": 3, "pointwise": 8, "constant": 1, "index": 1, "cast": 2, "compare": 2, "where": 2, "divide": 1,
          "shift": 1, "masked_load": 1, "body": 1, "gather": 1, "reduce": 1, "scan": 1, "sort": 1, "bucketize": 1,
          "random": 1, "assembly": 1, "bitcast": 1, "frexp": 1, "chain": 3}
_STRESSED: dict[Family, tuple[str, ...]] = {
    "pointwise": ("pointwise",), "indexing": ("index", "gather", "masked_load"), "reduction": ("reduce", "body"),
    "scan": ("scan",), "sort": ("sort", "bucketize"), "random": ("random",),
    "memory": ("masked_load", "gather", "body"), "mixed": ()}
_NEEDS_R = ("reduce", "scan", "sort")
_FAMILY_ONLY: dict[Family, tuple[str, ...]] = {
    "pointwise": (*_NEEDS_R, "gather", "bucketize", "random"), "indexing": _NEEDS_R, "reduction": ("scan", "sort"),
    "scan": ("sort",), "sort": ("scan",), "random": ("sort",), "memory": ("sort", "scan"), "mixed": ()}
"""Productions that a family leaves out, so that its findings are about what its name says."""

INDEX_FORMS = ("dense", "permuted", "strided", "broadcast", "flipped", "modular", "expression")
GROUPS: tuple[Group, ...] = (
    "exact arithmetic", "division", "integer division", "float division", "comparison", "min/max", "select", "logic",
    "shifts", "rounding", "sign/bits", "exponential", "trigonometric", "hyperbolic", "special", "decomposed")
_DTYPE_SETS: tuple[tuple[str, ...], ...] = (
    ("fp32", "i32"), ("fp32", "i64"), ("fp32",), ("fp64", "i64"), ("fp16", "fp32", "i32"), ("bf16", "i8", "fp32"),
    ("i32", "i64", "i16"), ("u8", "i8", "i32"), ("u32", "i32", "fp32"), ("u64", "i64", "u16"), ("i16", "u16", "fp16"),
    ("fp8e4nv", "fp8e5", "fp32", "fp16"), ("fp64", "fp32", "fp16", "bf16"), ("i1", "i8", "fp32"),
    ("u8", "u16", "u32", "fp64"), ("bf16", "fp16", "i64", "u32"), ("fp16", "bf16"), ("i8", "i16", "fp32"),
    ("u16", "u8", "i64"))


NODES = " nodes"


def nodes_in(only: Collection[str]) -> tuple[int, ...]:
    """Numbers of nodes among features."""
    return tuple(sorted(int(one.removesuffix(NODES)) for one in only if one.endswith(NODES)))


@dataclass(frozen=True, kw_only=True)
class Swarm:
    """Weights of one program. dtypes: those of its arrays, most used first."""

    family: Family
    productions: tuple[tuple[int, str], ...]
    forms: tuple[tuple[int, str], ...]
    groups: dict[Group, int]
    operations: frozenset[str]
    """Operations that weigh more than others."""
    dtypes: tuple[str, ...]
    upcast: bool
    first: str
    """The production that the family is about, or a stressed one: it comes first, lest it do not come at all."""
    wild: int
    """How much of the data is special: 0 tame, 1 some, 2 mostly."""
    assembly: bool

    @property
    def reduces(self) -> bool:
        """Whether any production needs the axis r."""
        return any(weight and name in _NEEDS_R for weight, name in self.productions)


def swarm(chance: Choices, family: Family, *, assembly: bool, only: Collection[str] = ()) -> Swarm:
    """The features of one program. only: productions, groups and element types (`features`) of which alone it is made,
    of each of the three as far as any is among them, and operations that come up more often."""
    left_out = set(_FAMILY_ONLY[family]) | (set() if assembly else {"assembly"})
    rare = [name for name in PRODUCTIONS if name not in ("load", "pointwise") and name not in left_out]
    chosen = set(chance.subset(rare[:9])) | set(chance.subset(rare[9:])) | set(_STRESSED[family])
    if family == "mixed":
        # Three quarters of the features instead of half.
        chosen |= set(chance.subset(rare[:9])) | set(chance.subset(rare[9:]))
    operations = frozenset(OPS).intersection(only)
    if asked := set(rare) & set(only):
        chosen = asked | ({"chain"} if operations else set(chance.subset(("chain",))))
    stressed = {chance.of(sorted(chosen))} if chosen else set()
    stressed |= set(_STRESSED[family]) - (set() if not asked else set(rare) - asked)
    weights = []
    for name in PRODUCTIONS:
        weight = _USUAL[name] if name in chosen or name in ("load", "pointwise") else 0
        weights.append((weight * (4 if name in stressed and name != "pointwise" else 1), name))
    if family == "pointwise":
        weights = [(0 if name in left_out else weight, name) for weight, name in weights]
    forms = set(chance.subset(INDEX_FORMS[1:]))
    groups = chance.below(1 << len(GROUPS))
    asked_groups = set(GROUPS) & set(only)
    dtypes = chance.of(_DTYPE_SETS)
    if asked_types := [name for name in NAMES if name in only]:
        # Which of them is used most changes.
        place = chance.below(len(asked_types))
        dtypes = (*asked_types[place:], *asked_types[:place])
    first = next((name for name in _STRESSED[family] if name in stressed), min(stressed, default="load"))
    return Swarm(
        family=family, first=first, productions=tuple(weights),
        forms=tuple((3 if form == "dense" else 1, form) for form in INDEX_FORMS if form == "dense" or form in forms),
        groups={group: 4 if (group in asked_groups if asked_groups else groups >> place & 1) else 0
                for place, group in enumerate(GROUPS)},
        operations=operations, dtypes=dtypes,
        upcast=not chance.one_in(4), wild=chance.weighted(((6, 0), (3, 1), (1, 2))),
        assembly=assembly)
