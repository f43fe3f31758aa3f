"""Descriptors of several types that branches make: what is known of them, and what a control still shows."""

from msgspec.structs import replace

from tests.known.relatives import is_told_by_its_control
from tests.support.draws import draws
from tests.support.outcomes import outcome_of
from tridiff.fuzz.known import Attribution
from tridiff.fuzz.known.tails import ISSUES
from tridiff.fuzz.records import Case, Signature, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits


def branches(types: str, warps: int) -> Case:
    cases = find("language.descriptors").draw.cases(Limits())
    case = next(one for one in draws(cases, 200, seed=3) if one.program.row == "descriptor.branches")
    return replace(case, program=replace(case.program, options={"types": types}), variants=(),
                   options=replace(case.options, num_warps=warps))


def test_one_warp_that_makes_descriptors_of_types_alike_in_width_is_known_where_four_warps_agree():
    known, case = ISSUES[0], branches("int32_uint32_int64_uint64", 1)
    assert find(case.target).draw.valid(case) and known.match(case)
    for other in (branches("int32_uint32_int64_uint64", 4), branches("int32_int64", 1)):
        assert find(case.target).draw.valid(other) and not known.match(other)
    stopped = Signature(target=case.target, subject="own", verdict=Verdict.CRASH, kind="illegal_instruction")
    failure = outcome_of(case, Verdict.CRASH, stopped, backend="cuda")
    right = is_told_by_its_control(known.name, case, failure)
    assert Attribution(lambda one: right).issues(case, replace(failure, backend="interpreter")) == ()
    beyond = replace(failure, signature=replace(stopped, kind="illegal_address"))
    assert Attribution(lambda one: right).issues(case, beyond) == ()
