"""x_grid_barrier: compilation and memory ordering for sm_90."""

from collections.abc import Mapping
from typing import Any

import pytest
from triton.backends.nvidia.compiler import CUDAOptions

from tests.kernels.driver_runs import compile_ahead
from tests.kernels.ptx import memory_instructions
from tridiff.kernels.drivers.grid_barrier import COOPERATIVE, grid_barrier
from tridiff.kernels.helpers.grid_barrier import x_grid_barrier
from tridiff.kernels.helpers.mutants_grid_barrier import MUTANTS


def build(helper: Any = x_grid_barrier, options: Mapping[str, Any] | None = None) -> Any:
    constexprs = {"HELPER": helper, "PROGRAM_BLOCK": 64}
    return compile_ahead(grid_barrier, "i32", pointers={"sem": "u32"}, constexprs=constexprs, options=options)


def test_arrival_releases_and_polling_acquires_between_barriers_of_the_program():
    found = memory_instructions(build().asm["ptx"])
    assert [a for a in found if not a.startswith("bar")] == ["st", "add.release", "ld.acquire", "ld", "st"]
    mark, arrival, poll, read = (found.index(name) for name in ("st", "add.release", "ld.acquire", "ld"))
    assert "bar.sync" in found[mark:arrival], "threads may still be writing when the one arriving thread releases"
    assert "bar.sync" in found[poll:read], "threads may read before the one polling thread has acquired"


def test_the_cooperative_option_reaches_the_launcher():
    assert dict(COOPERATIVE) == {"launch_cooperative_grid": True}
    assert build(options=COOPERATIVE).metadata.launch_cooperative_grid is True
    assert build().metadata.launch_cooperative_grid is False
    assert CUDAOptions().launch_cooperative_grid is False


@pytest.mark.parametrize("name", sorted(MUTANTS["x_grid_barrier"]))
def test_mutants_compile_with_the_ordering_they_claim(name: str):
    accesses = memory_instructions(build(MUTANTS["x_grid_barrier"][name]).asm["ptx"])
    assert ("add.release" in accesses) == (name != "arrival_without_release")
    assert ("ld.acquire" in accesses) == (name not in ("poll_without_acquire", "nobody_waits"))
