"""Content terms: what an array holds, described instead of stored.

A term is a base distribution, drawn from a counter-based generator keyed by (seed, row, column), plus
sparse overrides. `tridiff.fuzz.content.generate` turns a term into bits with integer arithmetic alone, the same
on every device. Values in terms are text in the array's dtype (`tridiff.fuzz.content.text`): `-3`, `0.5`, `-0.0`,
`inf`, `nan`, `-nan:0x1`, so that a corpus file reads well in a diff and JSON needs no non-finite numbers.
"""

from typing import Annotated, Literal

from msgspec import Meta

from tridiff.kernels.record import Record

Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
ValueText = Annotated[str, Meta(max_length=40)]
Small32 = Annotated[int, Meta(ge=-(2**31), lt=2**31)]
Index = Annotated[int, Meta(ge=0, lt=2**40)]
PerMille = Annotated[int, Meta(ge=0, le=1000)]

MAX_EXPLICIT = 65_536
"""Most values an explicit term may list; larger arrays must be described."""


class Constant(Record, kw_only=True, tag="constant"):
    """Every element is `value`."""

    value: ValueText = "0"


class Iota(Record, kw_only=True, tag="iota"):
    """`start + step * column + per_row * row`, wrapped to the dtype (ints) or rounded to it (floats)."""

    start: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] = 0
    step: Small32 = 1
    per_row: Small32 = 0


class Bits(Record, kw_only=True, tag="bits"):
    """Uniform random bit patterns; for floats this includes NaNs of every payload and both infinities."""

    seed: Seed = 0


class Small(Record, kw_only=True, tag="small"):
    """Uniform integers in [low, high], clipped to what the dtype holds exactly."""

    seed: Seed = 0
    low: Annotated[int, Meta(ge=-256, le=256)] = -4
    high: Annotated[int, Meta(ge=-256, le=256)] = 4


class Finite(Record, kw_only=True, tag="finite"):
    """Floats with random sign and mantissa and a uniform exponent in 2^[low, high], clipped to normal
    numbers of the dtype; for ints, random magnitude of a uniform bit length."""

    seed: Seed = 0
    low: Annotated[int, Meta(ge=-1100, le=1100)] = -2
    high: Annotated[int, Meta(ge=-1100, le=1100)] = 2


class Special(Record, kw_only=True, tag="special"):
    """Uniform choice from the dtype's special values (`tridiff.oracles.special_values`)."""

    seed: Seed = 0


class Permutation(Record, kw_only=True, tag="permutation"):
    """Every row is a random permutation of 0 .. columns-1 (distinct indices in one slice)."""

    seed: Seed = 0


class Mixture(Record, kw_only=True, tag="mixture"):
    """Every row draws its own recipe from `recipes`, so that one launch checks many kinds of input."""

    seed: Seed = 0
    recipes: tuple[Literal["bits", "small", "finite", "special", "ramp", "constant", "ties"], ...] = (
        "small", "special", "bits", "finite", "ramp", "constant", "ties",
    )


class Explicit(Record, kw_only=True, tag="explicit"):
    """Every element listed, row-major over the array's sizes; what shrinking ends in."""

    values: Annotated[tuple[ValueText, ...], Meta(max_length=MAX_EXPLICIT)]


Base = Constant | Iota | Bits | Small | Finite | Special | Permutation | Mixture | Explicit


class Put(Record, kw_only=True, tag="put"):
    """`value` at (row, column); row None means every row. Out of range is ignored (sizes may shrink)."""

    value: ValueText
    column: Index = 0
    row: Index | None = None


class Tie(Record, kw_only=True, tag="tie"):
    """Column `to` becomes a bit-for-bit copy of column `source`, in every row."""

    source: Index = 0
    to: Index = 1


class Sprinkle(Record, kw_only=True, tag="sprinkle"):
    """About `per_mille` of the elements become one of `values`, positions drawn per row."""

    values: Annotated[tuple[ValueText, ...], Meta(min_length=1, max_length=64)]
    seed: Seed = 0
    per_mille: PerMille = 50


class TieSprinkle(Record, kw_only=True, tag="tie_sprinkle"):
    """About `per_mille` of the elements become copies of another element of their row."""

    seed: Seed = 0
    per_mille: PerMille = 200


class Pick(Record, kw_only=True, tag="pick"):
    """One drawn element of every row becomes `value`."""

    value: ValueText
    seed: Seed = 0


class Sorted(Record, kw_only=True, tag="sorted"):
    """Every row ascending: -0.0 before 0.0, NaNs last."""


class Scattered(Record, kw_only=True, tag="scattered"):
    """Column k of every row moves to column p[k], p being what `Permutation` of the same seed draws: an
    array of that permutation then lists the columns in their order before."""

    seed: Seed = 0


Override = Put | Pick | Tie | Sprinkle | TieSprinkle | Sorted | Scattered


class Content(Record, kw_only=True):
    """A base and the overrides applied to it in order."""

    base: Base = Constant()
    overrides: Annotated[tuple[Override, ...], Meta(max_length=64)] = ()
