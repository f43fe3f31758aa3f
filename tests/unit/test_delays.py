"""Delays: where the pause goes, which targets have them, and that a case without one is simpler."""

import pytest
from msgspec.structs import replace

from tests.support.draws import draws
from tests.support.refusals import refused
from tridiff.fuzz.backends.delay import with_pause
from tridiff.fuzz.corpus.vocabulary import unheard_of
from tridiff.fuzz.records import Delay, decode
from tridiff.fuzz.registry import find
from tridiff.fuzz.shrink.order import simplicity
from tridiff.fuzz.target import Limits

each = pytest.mark.parametrize
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


@each("access", range(2 * len(RUNS)))
def test_a_warp_pauses_before_each_run_of_accesses_to_shared_memory(access: int):
    ptx = "\n".join(LINES[name] for name in KERNEL)
    delayed = with_pause(ptx, Delay(of="warp", number=3, access=access))
    before, _, behind = delayed.partition("{\n.reg .pred other;")
    first = RUNS[access % len(RUNS)]
    assert before == "".join(f"{LINES[name]}\n" for name in KERNEL[:first])
    assert "shr.u32 which, which, 5;\nsetp.ne.u32 other, which, 3;" in behind
    _, _, rest = behind.partition("done:\n")
    assert rest.splitlines() == [LINES[KERNEL[first]], "}", *(LINES[name] for name in KERNEL[first + 1:])]


def test_nothing_to_pause_before_leaves_the_kernel_alone():
    ptx = "\n".join((LINES["init"], LINES["wait"], LINES["load"]))
    assert with_pause(ptx, Delay(of="warp", number=0, access=0)) == ptx
    assert with_pause(ptx, Delay(of="program", number=0, access=0)) != ptx


@each("given, problem", [
    ('{"of":"warp","number":1}', "missing required field `access`"),
    ('{"of":"warp","number":-1,"access":0}', "Expected `int` >= 0"),
    ('{"of":"warp","number":true,"access":0}', "Expected `int`, got `bool`"),
    ('{"of":"thread","number":1,"access":0}', "Invalid enum value 'thread'")])
def test_half_a_delay_is_refused(given: str, problem: str):
    with refused(problem):
        decode(given, Delay)


@each("name, of", [
    ("mbarrier.phases", "program"), ("gluon.convert_layout", "program"), ("descriptors.gather", "warp"),
    ("helpers.exclusive_scan_decoupled_lookback", "warp"), ("codegen.pointwise", "warp"), ("helpers.clamp", "program")])
def test_what_a_target_never_delays_is_unheard_of(name: str, of: str):
    target = find(name)
    (case,) = draws(target.draw.cases(Limits(elements=1 << 10, rows=8)), 1, seed=5)[:1]
    assert unheard_of(case, target) == ""
    delayed = replace(case, delay=Delay(of=of, number=0, access=0))
    assert unheard_of(delayed, target) == f"no {of} of it is ever delayed"


@each("name", [
    "mbarrier.phases", "gluon.convert_layout", "loops.num_stages", "helpers.exclusive_scan_decoupled_lookback"])
def test_some_cases_are_delayed_and_are_simpler_without(name: str):
    target = find(name)
    cases = draws(target.draw.cases(Limits(elements=1 << 10, rows=8)), 60, seed=5)
    delayed = [case for case in cases if case.delay]
    assert 10 < len(delayed) < len(cases)
    for case in delayed:
        prompt = replace(case, delay=None)
        assert case.delay.of == target.draw.delays and unheard_of(case, target) == ""
        assert target.draw.valid(prompt) and simplicity(prompt, target) < simplicity(case, target)
        earlier = replace(case, delay=replace(case.delay, access=0))
        assert case.delay.access == 0 or simplicity(prompt, target) < simplicity(earlier, target) < simplicity(
            case, target)
