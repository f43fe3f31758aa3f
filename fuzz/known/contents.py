"""Changes that differ in what their arrays hold."""

from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.records import Case, Constant, Content, Override, Small
from tridiff.oracles.dtypes import dtype

Overrides = tuple[Override, ...]


def _none(overrides: Overrides) -> Overrides:
    return ()


def tamed(case: Case, *, names: tuple[str, ...], value: str = "",
          kept: Callable[[Overrides], Overrides] = _none) -> Case:
    """The case with `value`, or small whole numbers, in its inputs of these names. kept: what of an input's overrides
    stays."""
    base = Constant(value=value) if value else Small(low=-4, high=4)
    return replace(case, arrays=tuple(
        replace(spec, content=Content(base=base, overrides=kept(spec.content.overrides)))
        if spec.name in names and spec.content is not None else spec for spec in case.arrays))


def of_small_numbers(case: Case, *, kept: Callable[[Overrides], Overrides] = _none) -> Case:
    """The case with small whole numbers in every input of floats: neither NaNs nor infinities."""
    return tamed(case, names=tuple(spec.name for spec in case.arrays if dtype(spec.dtype).is_float), kept=kept)
