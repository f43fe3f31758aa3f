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


@pytest.mark.parametrize("alone", [
    signature("gluon.reduce_scan_layouts", "value", about=""),
    signature("gluon.reduce_scan_layouts", "out_of_bounds"),
    signature("gluon.local_memory", "misaligned_address", "padding cuts vectors", Verdict.CRASH),
    signature("triton.negate", "zero_sign", "float"), signature("loops.num_stages", "value", "stream")])
def test_other_findings_are_known_as_they_are(alone: Signature) -> None:
    assert one_finding(alone) == (alone.key,)
