"""Planted faults of the generator, to test the tester (contract: codegen.md §13)."""

from __future__ import annotations

from collections.abc import Iterable

FAULTS: dict[str, str] = {}
"""Name -> what is wrong with the kernels that it makes."""


def check_faults(faults: Iterable[str]) -> frozenset[str]:
    """The names as a set; ValueError for an unknown one."""
    given = frozenset(faults)
    unknown = sorted(given - FAULTS.keys())
    if unknown:
        raise ValueError(f"unknown fault {unknown[0]!r}; kernels.codegen.mutants.FAULTS lists them")
    return given
