"""What the buffers of a program hold: mostly tame numbers, so that deep programs still have finite answers."""

from tridiff.fuzz.kinds.graphs.choices import Choices
from tridiff.fuzz.records import (
    Bits,
    Constant,
    Content,
    Finite,
    Iota,
    Permutation,
    Put,
    Small,
    Sorted,
    Special,
    Sprinkle,
    TieSprinkle,
)
from tridiff.fuzz.strategies.contents import _edges
from tridiff.oracles.dtypes import dtype as dtype_info

_TAME, _WILD = 9, 6


def content(chance: Choices, dtype: str, *, wild: int) -> Content:
    """Any contents. wild: 0 for tame numbers, 1 for some special values among them, 2 for mostly special ones."""
    info = dtype_info(dtype)
    kind = chance.below(_TAME if wild == 0 else _TAME + _WILD) if wild < 2 else _TAME + chance.below(_WILD)
    seed = chance.seed()
    if info.kind == "bool":
        return Content(base=Small(seed=seed, low=0, high=1)) if kind % 3 < 2 else Content(base=Bits(seed=seed))
    if kind < 4:
        low = 0 if info.kind == "uint" else -4
        return Content(base=Small(seed=seed, low=low, high=4 if kind < 2 else 100))
    if kind < 7:
        if info.is_float:
            return Content(base=Finite(seed=seed, low=-3, high=3))
        return Content(base=Finite(seed=seed)) if kind == 6 else Content(base=Small(seed=seed, low=0, high=9))
    if kind < _TAME:
        return Content(base=Iota(start=chance.of((0, 1, -7)), step=chance.of((1, 0, 2, -1))))
    kind -= _TAME
    small = Small(seed=seed)
    if kind == 0:
        return Content(base=Special(seed=seed))
    if kind == 1:
        return Content(base=Bits(seed=seed))
    if kind == 2:
        return Content(base=small, overrides=(Sprinkle(values=_edges(dtype), seed=seed, per_mille=100),))
    if kind == 3:
        value = "nan" if info.is_float else chance.of(_edges(dtype))
        return Content(base=small, overrides=(Put(value=value, column=chance.below(40)),))
    if kind == 4 and chance.below(2):
        return Content(base=small, overrides=(Sprinkle(values=(chance.of(_edges(dtype)),), seed=seed, per_mille=300),))
    if kind == 4:
        return Content(base=Constant(value=chance.of(_edges(dtype))))
    return Content(base=Finite(seed=seed, low=-20, high=20), overrides=(TieSprinkle(seed=seed, per_mille=300),))


def factors(chance: Choices, length: int) -> Content:
    """Ones, and some thirty other numbers among each `length` of them, whose product stays in the range of any type."""
    others = Sprinkle(values=("2", "-1", "0.5", "-2", "0.25", "3", "1.5"), seed=chance.seed(),
                      per_mille=min(30_000 // length, 500))
    return Content(base=Constant(value="1"), overrides=(others,))


def positions(chance: Choices, length: int) -> tuple[Content, int, int]:
    """(contents, lowest, highest) of a buffer of indices into 0 .. length - 1 (negative ones count from the end)."""
    seed = chance.seed()
    most = min(length, 257) - 1
    kind = chance.below(4)
    if kind == 1 and length <= 257:
        return Content(base=Small(seed=seed, low=-min(length, 256), high=most)), -length, length - 1
    if kind == 2:
        return Content(base=Constant(value=str(most))), most, most
    return Content(base=Small(seed=seed, low=0, high=most)), 0, most


def permutation(chance: Choices) -> Content:
    """Every index once."""
    return Content(base=Permutation(seed=chance.seed())) if chance.below(2) else Content(base=Iota())


def boundaries(chance: Choices, dtype: str) -> Content:
    """Ascending numbers."""
    seed = chance.seed()
    if chance.one_in(4):
        return Content(base=Finite(seed=seed), overrides=(Sorted(),))
    return Content(base=Small(seed=seed, low=0 if dtype[0] == "u" else -9, high=9), overrides=(Sorted(),))
