"""Which signatures are one finding."""

import pytest
from msgspec.structs import replace

from tridiff.fuzz.corpus.cause import finding_of
from tridiff.fuzz.records import Signature, Verdict

LAYOUTS = "gluon.reduce_scan_layouts"


def signature(target: str, kind: str, about: str = "lanes apart", verdict: Verdict = Verdict.DISAGREE) -> Signature:
    return Signature(target=target, subject="own", verdict=verdict, kind=kind, where="out", about=about)


def test_wrong_elements_with_a_named_cause_are_one_finding_however_they_look_and_wherever() -> None:
    known = finding_of(signature(LAYOUTS, "value"))
    for same in (signature(LAYOUTS, "nondeterministic"), signature(LAYOUTS, "nan_unexpected"),
                 signature("gluon.view_chain", "value"),
                 replace(signature(LAYOUTS, "illegal_address", verdict=Verdict.CRASH), where=""),
                 replace(signature(LAYOUTS, "unwritten"), where="another")):
        assert finding_of(same) == known
    for other in (signature(LAYOUTS, "value", "warps apart"), signature(LAYOUTS, "out_of_bounds"),
                  signature(LAYOUTS, "SIGABRT", verdict=Verdict.CRASH), signature(LAYOUTS, "value", about=""),
                  signature("codegen.mixed", "value"), replace(signature(LAYOUTS, "value"), subject="own+fault:a")):
        assert finding_of(other) != known


def compile_error(target: str, kind: str, where: str = "passes") -> Signature:
    return Signature(target=target, subject="own", verdict=Verdict.COMPILE_ERROR, kind=kind, where=where)


def test_what_a_pass_complains_of_is_one_finding_in_all_generated_kernels() -> None:
    said = "operand #N does not dominate this use"
    known = finding_of(compile_error("codegen.mixed", said))
    assert finding_of(compile_error("codegen.indexing", said)) == known
    ring = replace(compile_error("async.copy_ring", "Assertion"), about="cp_async alone")
    assert finding_of(ring) == finding_of(replace(ring, about="cp_async+registers alone"))
    for other in (compile_error("codegen.indexing", "another"), compile_error("codegen.indexing", said, "source")):
        assert finding_of(other) != known


@pytest.mark.parametrize("alone", [
    compile_error("codegen.mixed", "PassManager::run failed"), compile_error("codegen.mixed", "NameError", "source"),
    compile_error("triton.negate", "operand #N does not dominate this use"),
    signature("codegen.mixed", "SIGABRT", "", Verdict.CRASH),
    signature(LAYOUTS, "value", about=""),
    signature("triton.negate", "zero_sign", "float"), signature("loops.num_stages", "value", "stream")])
def test_other_findings_are_known_as_they_are(alone: Signature) -> None:
    assert finding_of(alone) == alone.key
