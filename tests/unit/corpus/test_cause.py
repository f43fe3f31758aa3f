"""Which signatures are one finding."""

import pytest
from msgspec.structs import replace

from tests.support.outcomes import outcome_of
from tests.support.repository import ENTRIES
from tridiff.fuzz.campaign.findings import id_of
from tridiff.fuzz.corpus.cause import finding_of, finding_of_pair, same_finding
from tridiff.fuzz.records import Signature, Verdict

each = pytest.mark.parametrize
PROGRAMS = "inductor.programs_reduction"


def signature(target: str, kind: str, about: str = "float floor_divide",
              verdict: Verdict = Verdict.DISAGREE) -> Signature:
    return Signature(target=target, subject="own", verdict=verdict, kind=kind, where="out", about=about)


def test_wrong_elements_with_a_named_cause_are_one_finding_however_they_look_and_wherever():
    known = finding_of(signature(PROGRAMS, "value"))
    for same in (signature(PROGRAMS, "nondeterministic"), signature(PROGRAMS, "nan_unexpected"),
                 signature("inductor.programs_sort", "value"),
                 replace(signature(PROGRAMS, "illegal_address", verdict=Verdict.CRASH), where=""),
                 replace(signature(PROGRAMS, "unwritten"), where="another")):
        assert finding_of(same) == known
    for other in (signature(PROGRAMS, "value", "frexp"), signature(PROGRAMS, "out_of_bounds"),
                  signature(PROGRAMS, "SIGABRT", verdict=Verdict.CRASH), signature(PROGRAMS, "value", about=""),
                  signature("codegen.mixed", "value"), replace(signature(PROGRAMS, "value"), subject="own+fault:a")):
        assert finding_of(other) != known


def compile_error(target: str, kind: str, where: str = "passes") -> Signature:
    return Signature(target=target, subject="own", verdict=Verdict.COMPILE_ERROR, kind=kind, where=where)


def test_what_a_pass_complains_of_is_one_finding_in_all_generated_kernels():
    said = "operand #N does not dominate this use"
    known = finding_of(compile_error("codegen.mixed", said))
    assert finding_of(compile_error("codegen.indexing", said)) == known
    ring = replace(compile_error("async.copy_ring", "Assertion"), about="cp_async alone")
    assert finding_of(ring) == finding_of(replace(ring, about="cp_async+registers alone"))
    for other in (compile_error("codegen.indexing", "another"), compile_error("codegen.indexing", said, "source")):
        assert finding_of(other) != known


@each("alone", [
    compile_error("codegen.mixed", "PassManager::run failed"), compile_error("codegen.mixed", "NameError", "source"),
    compile_error("triton.negate", "PassManager::run failed"),
    signature("codegen.mixed", "SIGABRT", "", Verdict.CRASH),
    signature(PROGRAMS, "value", about=""), signature("gluon.reduce_scan_layouts", "value"),
    signature("triton.negate", "zero_sign", ""), signature("loops.num_stages", "value", "stream")])
def test_other_findings_are_known_as_they_are(alone: Signature):
    assert finding_of(alone) == alone.key


def of(target: str, about: str, kind: str = "value", **fields: str) -> str:
    return finding_of(replace(signature(target, kind, about), subject="inductor", **fields))


def test_dtypes_sides_and_widths_of_an_index_are_no_findings_of_their_own():
    search = of("inductor.bucketize", "bucketize_right_i32 fp16")
    assert {of("inductor.bucketize", f"bucketize_{side}{width} {dtype}") for side in ("left", "right")
            for width in ("", "_i32") for dtype in ("bf16", "fp64", "i32")} == {search}
    assert len({of("helpers.welford", "states", kind) for kind in ("value", "nan_missing", "nan_unexpected")}) == 1
    assert of("helpers.bucketize_binary_search", "uint copies") == of("helpers.bucketize_binary_search", "float copies")
    for other in (of("inductor.pointwise", "floor_divide fp32"),
                  of("inductor.bucketize", "bucketize fp32", where="dtype"),
                  of("inductor.bucketize", "bucketize_left fp32", "zero_sign")):
        assert other != search
    assert of("inductor.pointwise", "floor_divide fp32") != of("inductor.pointwise", "fmod fp32")
    assert of("helpers.welford", "states") != of("helpers.welford", "rows")


@each("one, other", [
    ("cannot cast int1[constexpr[N], constexpr[N]] to <['N', 'N'], fp8e4nv>",
     "cannot cast int32[constexpr[N]] to <['N'], fp8e5>"),
    ("unexpected type fp8e5 and int1", "TypeError: unexpected type fp8e4nv and int1"),
    ("Unsupported conversion from f64 to f8E5M2 with rounding mode rtne",
     "Unsupported conversion from f64 to f8E4M3FN with rounding mode rtne"),
])
def test_what_the_compiler_says_of_other_dtypes_is_one_finding(one: str, other: str):
    assert one != other
    first = compile_error("inductor.pointwise", one, "source")
    second = replace(compile_error("inductor.folding", other, ""), verdict=Verdict.CRASH, about="times_one fp8")
    assert finding_of(first) == finding_of(second)
    assert finding_of(first) != finding_of(compile_error("inductor.pointwise", "Cannot bitcast data-type of size N"))


def test_an_entry_of_a_known_issue_still_shows_it_where_it_ends_in_another_error_of_that_issue():
    entry = ENTRIES.find("sigabrt-fa7f037331")
    assert entry.signature.kind == "SIGABRT"

    def shows(kind: str, verdict: Verdict = Verdict.DISAGREE, **fields: str) -> bool:
        said = replace(entry.signature, kind=kind, verdict=verdict, where="")
        outcome = outcome_of(entry.case, verdict, said, backend="cuda")
        return same_finding(replace(outcome, **fields), entry)

    assert shows("SIGABRT", Verdict.CRASH) and shows("accepted")
    assert not shows("unclear: IndexError in visit") and not shows("SIGSEGV", Verdict.CRASH)
    assert not shows("accepted", subject="own+fault:one")


def test_another_assertion_of_one_signature_is_not_what_an_entry_shows():
    entry = ENTRIES.find("sigabrt-89561c16c7")
    outcome = outcome_of(entry.case, Verdict.CRASH, entry.signature, backend="compile:sm_90", evidence=entry.evidence)
    assert same_finding(outcome, entry)
    other = outcome.log.replace("SrcBits != DstBits", "SrcBits == DstBits")
    assert other != outcome.log
    assert not same_finding(replace(outcome, evidence=replace(entry.evidence, log=other)), entry)
    assert same_finding(replace(outcome, evidence=replace(entry.evidence, log="")), entry)


def test_a_difference_of_two_builds_on_one_backend_does_not_stand_for_one_on_another():
    entry = ENTRIES.find("triton.negate/zero-sign-c65330b634")
    seen = replace(entry.signature, kind="fixed: zero_sign")
    keys = {backend: finding_of_pair(seen, backend)
            for backend in ("cuda", "interpreter", "compile:sm_90", "compile:gfx942")}
    assert len(set(keys.values())) == 3 and keys["compile:sm_90"] == keys["compile:gfx942"]
    ids = {id_of(seen, key) for key in keys.values()}
    assert ids == {id_of(seen, ""), f"{id_of(seen, '')}-interpreter", f"{id_of(seen, '')}-compile"}
    assert finding_of_pair(replace(seen, about="float"), "cuda") == finding_of_pair(replace(seen, about="half"), "cuda")
