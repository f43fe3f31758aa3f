"""A guard names what its case needs: what was taken away without a difference is no part of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.gate.test_plan import entry, options
from tests.support.cases import addition
from tests.support.outcomes import outcome_of
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate import guards as module
from tridiff.fuzz.gate.guards import guards, proved
from tridiff.fuzz.gate.plan import gate_shards
from tridiff.fuzz.gate.record import GateFinding, Guard
from tridiff.fuzz.records import Case, Environment, LaunchOptions, Outcome, Signature, Verdict
from tridiff.fuzz.records.pair import Relation

KEY = "regression: value"


def finding(**changes: Any) -> GateFinding:
    case = msgspec.structs.replace(addition(rows=3), options=LaunchOptions(num_warps=8))
    kept = msgspec.structs.replace(entry(case, "compile:sm_90"), reproduced="5/5",
                                   found_in=Environment(triton="3.9.0", backend="compile:sm_90", device="sm_90"))
    return GateFinding(**{"relation": Relation.REGRESSION, "action": "block", "key": KEY, "reason": "worse",
                          "entry": kept, **changes})


class Pairs:
    """Stands in for the `PairPool` of a backend: `shows` says which backends and numbers of warps show the finding."""

    def __init__(self, shows: Any) -> None:
        self.shows = shows

    def execute(self, case: Case, subject: str, *, backend: str, until: float) -> Outcome:
        seen = self.shows(backend, case.options.num_warps)
        signature = Signature(target=case.target, subject=subject, verdict=Verdict.DISAGREE, kind=KEY) if seen else None
        return outcome_of(case, Verdict.DISAGREE if seen else Verdict.AGREE, signature, subject=subject,
                          backend=backend)


def proof(shows: Any, monkeypatch: pytest.MonkeyPatch, *, seconds: float = 60.0) -> Guard:
    monkeypatch.setattr(module, "pool_for", lambda spec, state: Pairs(shows))
    findings = (finding(),)
    (found,) = proved(guards(findings, triton="3.9.0"), findings, triton="3.9.0", state=Path("unused"),
                      shards=gate_shards(options(), ()), seconds=seconds)
    return found


def test_only_regressions_and_changes_that_are_not_wanted_need_a_guard():
    wanted = (finding(accepted="wanted"), finding(relation=Relation.FIXED), finding(relation=Relation.DIFFERENT))
    assert guards(wanted, triton="3.9.0") == ()
    (one,) = guards((finding(),), triton="3.9.0")
    assert (one.bad, one.runs) == (
        "triton==3.9.0; arch=sm_90; op=triton.vector_add; dtype=i32; options=num_warps=8", "5/5")


def test_options_without_which_it_comes_as_well_are_no_part_of_the_guard(monkeypatch: pytest.MonkeyPatch):
    found = proof(lambda backend, warps: backend in ("compile:sm_90", "compile:sm_80"), monkeypatch)
    assert found.bad == "triton==3.9.0; arch=sm_90 sm_80; op=triton.vector_add; dtype=i32"
    assert found.tried == {"options=default": True, "arch=sm_80": True, "arch=sm_100": False, "arch=gfx942": False}


def test_options_that_it_needs_stay(monkeypatch: pytest.MonkeyPatch):
    found = proof(lambda backend, warps: backend == "compile:sm_90" and warps == 8, monkeypatch)
    assert found.bad.endswith("arch=sm_90; op=triton.vector_add; dtype=i32; options=num_warps=8")


def test_what_cannot_be_run_or_has_no_time_proves_nothing(monkeypatch: pytest.MonkeyPatch):
    def refuse(backend: str, warps: int) -> bool:
        raise TridiffError("refused", fix="none")

    assert proof(refuse, monkeypatch).tried == {}
    assert proof(lambda backend, warps: True, monkeypatch, seconds=0.0).bad.endswith("options=num_warps=8")
