"""Right outputs are judged right: by both oracles, whatever rows they are asked about, under limits of any size."""

import pytest

from tests.unit.plans.drawing import ALL, drawn
from tridiff.fuzz.backends.launch import resolve
from tridiff.fuzz.content.place import Buffer, buffers_of
from tridiff.fuzz.judge import outputs as judging
from tridiff.fuzz.records import Case, Environment, Verdict
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Target
from tridiff.oracles import bits
from tridiff.oracles.dtypes import torch_dtype

each = pytest.mark.parametrize


def _answered(case: Case, target: Target) -> dict[str, Buffer]:
    """The case's arrays with what torch expects in the outputs."""
    buffers = buffers_of(case)
    reference = next(one for one in target.judge.oracles(case) if one.source == "torch")
    given = [case if name == "@case" else buffers[name].values for name in reference.arguments]
    results = resolve(reference.function)(*given)
    for name, values in zip(reference.outputs, results if isinstance(results, tuple) else (results,), strict=True):
        dtype = buffers[name].spec.dtype
        buffers[name].logical.copy_(bits.to_bits(values.to(torch_dtype(dtype))))
    return buffers


@each("target", ALL, ids=lambda target: target.name)
def test_right_outputs_agree_when_oracles_are_asked_about_few_rows(
        target: Target, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(judging, "HOST_ELEMENTS", 64)
    for case in drawn(target, 12, number=13, elements=1 << 12, rows=264):
        judged = judging.judge_outputs(case, target, _answered(case, target))
        assert judged.verdict is Verdict.AGREE, (judged.reason, case)


@each("target", ALL, ids=lambda target: target.name)
def test_every_drawn_case_is_valid_under_the_widest_limits(target: Target):
    for case in drawn(target, 20, number=14, elements=1 << 22, rows=1 << 20):
        assert target.draw.valid(case), (case.sizes, case.params, case.program)
        assert case.elements() <= 1 << 20


@each("name, chip, triton, runs", [
    ("descriptors.gather", "9.0", "3.9.0", False), ("descriptors.gather", "10.0", "3.9.0", True),
    ("tma.reduce", "9.0", "3.6.0", False), ("tma.reduce", "9.0", "3.9.0", True),
    ("tma.load_store", "8.0", "3.9.0", False), ("async.copy_ring", "8.0", "3.6.0", True),
    ("ttgir.text", "10.0", "3.9.0", False), ("loops.num_stages", "8.0", "3.6.0", True)])
def test_targets_say_which_chips_and_versions_lack_what_they_need(
        name: str, chip: str, triton: str, runs: bool):
    lacking = find(name).run.lacking(Environment(backend="cuda", capability=chip, triton=triton))
    assert (lacking == "") is runs
    assert runs or "sm_" in lacking or "this Triton has no" in lacking
