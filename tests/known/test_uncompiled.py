"""Generated programs that torch.compile makes kernels of that do not compile."""

import pytest
from msgspec.structs import replace

from tests.known.test_issues import entry
from tests.known.test_programs import told
from tests.unit.graphs.graphs import X, cast, constant, store, vector
from tridiff.fuzz.known.uncompiled import ISSUES
from tridiff.fuzz.records import ArraySpec, Case
from tridiff.kernels.codegen.graph import Graph


def test_an_index_of_an_extremum_is_known_where_it_is_folded_again() -> None:
    found = entry("inductor.programs_reduction/loop-carried-variable--t-9812ae584a")
    issue, = (one for one in ISSUES if one.name == "index-of-an-extremum-as-a-float")
    assert issue.concerns(found.case, "inductor") and issue.tells(found.signature)
    kind = found.signature.kind
    assert issue.tells(replace(found.signature, kind=kind.replace("fp32", "fp64"))), "where doubles are searched"
    assert not issue.tells(replace(found.signature, kind=kind.replace("fp32", "int32")))
    assert not issue.tells(replace(found.signature, kind=kind.replace("int64", "int32")))
    assert isinstance(found.case.program, Graph)
    loaded = replace(found.case.program, nodes=tuple(
        one if place != 2 else replace(one, args=(0,)) for place, one in enumerate(found.case.program.nodes)))
    assert not issue.match(replace(found.case, program=loaded))


@pytest.mark.parametrize(("dtype", "known"), [("fp8e4nv", True), ("fp8e5", True), ("bf16", False)])
def test_a_constant_of_fp8_is_known_not_to_compile_also_where_only_its_bits_are_taken(dtype: str, known: bool) -> None:
    bits = "i16" if dtype == "bf16" else "i8"
    graph = vector(constant("0.5", dtype), cast(0, bits, bitcast=True), store("out0", X, 1), out0=bits)
    case = Case(target="inductor.programs_pointwise", sizes={"n_out0": 4}, program=graph, arrays=(
        ArraySpec(name="out0", dtype=bits, dims=("n_out0",)),))
    error = "'triton._C.libtriton.ir.builder' object has no attribute 'get_fp8e5'"
    assert told(case, error) == (("constants-of-fp8",) if known else ())
    assert told(case, error.replace("get_fp8e5", "get_bf16")) == ()
