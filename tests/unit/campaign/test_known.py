"""What of a campaign's findings the corpus knows already."""

import pytest

from fuzz.campaign.known import one_finding
from fuzz.records import Signature, Verdict


def signature(target: str, kind: str, about: str = "lanes apart", verdict: Verdict = Verdict.DISAGREE) -> Signature:
    return Signature(target=target, subject="own", verdict=verdict, kind=kind, where="out", about=about)


def test_wrong_elements_with_a_named_cause_are_one_finding_however_they_look() -> None:
    known = one_finding(signature("gluon.reduce_scan_layouts", "value"))
    assert known[0] == signature("gluon.reduce_scan_layouts", "value").key and len(set(known)) == len(known)
    for kind in ("nondeterministic", "nan_unexpected", "unwritten"):
        assert signature("gluon.reduce_scan_layouts", kind).key in known
        assert known[0] in one_finding(signature("gluon.reduce_scan_layouts", kind))
    for other in (signature("gluon.view_chain", "value"),
                  signature("gluon.reduce_scan_layouts", "value", "warps apart"),
                  signature("gluon.reduce_scan_layouts", "out_of_bounds"),
                  signature("gluon.reduce_scan_layouts", "illegal_address", verdict=Verdict.CRASH)):
        assert other.key not in known


def compile_error(target: str, kind: str, where: str = "passes") -> Signature:
    return Signature(target=target, subject="own", verdict=Verdict.COMPILE_ERROR, kind=kind, where=where)


def test_what_a_pass_complains_of_is_one_finding_in_all_generated_kernels() -> None:
    said = "operand #N does not dominate this use"
    known = one_finding(compile_error("codegen.mixed", said))
    assert compile_error("codegen.indexing", said).key in known
    for other in (compile_error("codegen.indexing", "another"), compile_error("codegen.indexing", said, "source")):
        assert other.key not in known


@pytest.mark.parametrize("alone", [
    compile_error("codegen.mixed", "PassManager::run failed"), compile_error("codegen.mixed", "NameError", "source"),
    compile_error("triton.negate", "operand #N does not dominate this use"),
    signature("codegen.mixed", "SIGABRT", "", Verdict.CRASH),
    signature("gluon.reduce_scan_layouts", "value", about=""),
    signature("gluon.reduce_scan_layouts", "out_of_bounds"),
    signature("gluon.local_memory", "misaligned_address", "padding cuts vectors", Verdict.CRASH),
    signature("triton.negate", "zero_sign", "float"), signature("loops.num_stages", "value", "stream")])
def test_other_findings_are_known_as_they_are(alone: Signature) -> None:
    assert one_finding(alone) == (alone.key,)
