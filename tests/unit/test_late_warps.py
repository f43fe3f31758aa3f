"""Warps that come late: where the pause goes, which parameters say so, and that shrinking asks for nobody first."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.support.draws import draws
from tridiff.fuzz.backends.delay import Late, LateWarp, asked_for, with_pause
from tridiff.fuzz.registry import find
from tridiff.fuzz.shrink.order import simplicity
from tridiff.fuzz.strategies.independent import BACKEND
from tridiff.fuzz.target import Limits

LINES = {
    "init": "\t@%p1 mbarrier.init.shared::cta.b64 [%r8], 1;", "copy": "\tcp.async.ca.shared.global [%r1], [%rd1], 0x4;",
    "read": "\tld.shared.v4.b32 {%r3, %r4}, [%r5];",
    "matrix": "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6}, [%r7];",
    "arrive": "\t@%p2 mbarrier.arrive.shared::cta.b64 _, [%r9];", "load": "\tld.global.b32 %r1, [%rd3];",
    "wait": "\tmbarrier.try_wait.parity.shared.b64 p, [%r1], %r2;",
    "product": "\twgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%r1}, %rd1;"}
KERNEL = ("init", "copy", "copy", "wait", "read", "read", "load", "product", "matrix", "arrive", "read", "copy")
RUNS = (1, 4, 8, 9, 10, 11)
"""Where in the kernel the runs of accesses of one kind begin."""


@pytest.mark.parametrize("access", range(2 * len(RUNS)))
def test_a_warp_pauses_before_each_run_of_accesses_to_shared_memory(access: int) -> None:
    ptx = "\n".join(LINES[name] for name in KERNEL)
    late = with_pause(ptx, LateWarp(3, access))
    before, _, behind = late.partition("{\n.reg .pred late;")
    first = RUNS[access % len(RUNS)]
    assert before == "".join(f"{LINES[name]}\n" for name in KERNEL[:first])
    assert "shr.u32 which, which, 5;\nsetp.ne.u32 late, which, 3;" in behind
    _, _, rest = behind.partition("done:\n")
    assert rest.splitlines() == [LINES[KERNEL[first]], "}", *(LINES[name] for name in KERNEL[first + 1:])]


def test_nothing_to_pause_before_leaves_the_kernel_alone() -> None:
    ptx = "\n".join((LINES["init"], LINES["wait"], LINES["load"]))
    assert with_pause(ptx, LateWarp(0, 0)) == ptx != with_pause(ptx, Late(0, 0))


@pytest.mark.parametrize(("params", "late"), [
    ({"sanitize": False}, None), ({"late_warp": 2, "late_access": 0}, LateWarp(2, 0)),
    ({"late_program": 1, "late_access": 7}, Late(1, 7))])
def test_parameters_say_who_is_late(params: dict[str, int], late: object) -> None:
    assert asked_for(params) == late


@pytest.mark.parametrize("params", [
    {"late_warp": 1}, {"late_access": 1}, {"late_warp": -1, "late_access": 0}, {"late_warp": True, "late_access": 0},
    {"late_warp": 1, "late_access": 0, "late_program": 1}, {"late_warp": "1", "late_access": 0}])
def test_half_a_statement_is_refused(params: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="late_access stands with"):
        asked_for(params)
    for name in ("mbarrier.phases", "gluon.convert_layout"):
        target = find(name)
        (case,) = draws(target.cases(Limits(elements=1 << 10, rows=8)), 1, seed=5)[:1]
        assert target.valid(case) and not target.valid(replace(case, params={**case.params, **params}))


@pytest.mark.parametrize("name", [
    "mbarrier.phases", "gluon.convert_layout", "helpers.exclusive_scan_decoupled_lookback"])
def test_some_cases_have_somebody_late_and_shrinking_first_asks_for_nobody(name: str) -> None:
    target = find(name)
    cases = draws(target.cases(Limits(elements=1 << 10, rows=8)), 60, seed=5, backend=BACKEND)
    late = [case for case in cases if asked_for(case.params)]
    assert 10 < len(late) < len(cases)
    for case in late:
        first = next(iter(target.reductions(case)))
        assert asked_for(first.params) is None and first == replace(case, params=first.params)
        assert target.valid(first) and simplicity(first, target) < simplicity(case, target)
