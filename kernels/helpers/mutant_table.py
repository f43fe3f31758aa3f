"""The type of the `MUTANTS` tables: which deliberately broken variants exist of which helper."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol


class DeviceFunction(Protocol):
    """A `@triton.jit` function: a JITFunction, or an InterpretedFunction under TRITON_INTERPRET=1."""

    __name__: str


MutantTable = Mapping[str, Mapping[str, DeviceFunction]]


def mutant_table(faults: Mapping[str, Mapping[str, DeviceFunction]]) -> MutantTable:
    """A read-only table from helper name to fault name to the broken variant of that helper's signature."""
    return MappingProxyType({helper: MappingProxyType(dict(variants)) for helper, variants in faults.items()})


def variants(*functions: DeviceFunction, prefix: str = "") -> dict[str, DeviceFunction]:
    """The functions by the names of their faults: their own without the prefix."""
    return {function.__name__.removeprefix(prefix): function for function in functions}
