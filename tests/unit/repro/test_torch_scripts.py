"""Standalone scripts about torch.compile: short, self-contained, and BUG where the entry's finding is still there."""

from importlib.metadata import version

import pytest
from msgspec.structs import replace

from tests.support.nights import by_day
from tests.support.repository import ENTRIES
from tridiff.fuzz.records import Content, Small
from tridiff.fuzz.repro.script import MAX_LINES, script
from tridiff.fuzz.repro.torch_script import candidates
from tridiff.fuzz.versions import release


@pytest.mark.parametrize("name", by_day(["nan-missing-4baef3e3ef", "value-f12dd43b64"], only=["value-f12dd43b64"]))
def test_a_script_shows_the_finding_without_a_gpu(name: str):
    """The first needs no libdevice function, and torch 2.14 has mended it; the second does."""
    found = script(ENTRIES.find(name))
    mended = name == "nan-missing-4baef3e3ef" and release(version("torch")) >= (2, 14)
    assert found.answer == ("OK" if mended else "BUG") and found.lines <= MAX_LINES
    assert "fuzz" not in found.text and "kernels" not in found.text
    assert ("by_numpy" in found.text) == (name == "value-f12dd43b64")


@pytest.mark.usefixtures("in_this_process")
def test_on_a_gpu_the_script_needs_torch_alone():
    found = script(ENTRIES.find("value-f12dd43b64"), backend="cuda", verify=False)
    imports = [line for line in found.text.splitlines() if line.startswith(("import", "from"))]
    assert imports == ["import os, sys", "import numpy as np", "import torch"]
    assert "torch.compile(compute, fullgraph=True, dynamic=False)(a.cuda(), b.cuda()).cpu()" in found.text


@pytest.mark.usefixtures("in_this_process")
def test_a_script_that_compares_with_the_inputs_alone_imports_numpy():
    """-(-x) is x: no input and no expected value is written with numpy, only the comparison."""
    one = ENTRIES.find("zero-sign-45a944be94")
    arrays = tuple(replace(array, content=Content(base=Small(seed=5, low=-4, high=4))) if array.content else array
                   for array in one.case.arrays)
    case = replace(one.case, arrays=arrays, sizes={**one.case.sizes, "rows": 64})
    text = script(replace(one, case=case), backend="cuda", verify=False).text
    assert "expected = a.cpu().numpy()" in text and "import numpy as np\n" in text


def test_other_subjects_are_left_to_the_writer_of_kernels():
    from tridiff.fuzz.records import Case, Verdict
    from tridiff.fuzz.registry import find
    from tridiff.fuzz.repro.request import Request

    case = Case(target="triton.vector_add", sizes={}, arrays=())
    request = Request(title="", note="", case=case, subject="own", backend="cuda", failure=Verdict.DISAGREE,
                      failure_kind="value")
    assert candidates(request, find("triton.vector_add"), {}, "tridiff.kernels.drivers.vector_add:vector_add") is None


@pytest.mark.usefixtures("in_this_process")
def test_the_script_of_a_looped_program_asks_for_loops():
    """Whole rows in one tile have no carry between steps, and so not this finding. One configuration runs, as where it
    was found: Inductor has several for reductions, and takes the fastest."""
    found = script(ENTRIES.find("cannot-bitcast-data-type-b9438885ae"), backend="cuda", verify=False)
    assert "CachingAutotuner.bench = lambda self, one, *_, **__: self.launchers.index(one) != 3 %" in found.text
    assert 'dynamic=False, options={"triton.persistent_reductions": False})(out0.cuda())' in found.text
