"""Relatives of calls: what the control of a known issue runs."""

from tridiff.fuzz.known.language import ISSUES
from tridiff.fuzz.language import cases
from tridiff.fuzz.records import Content, Mixture
from tridiff.fuzz.records.case import Case
from tridiff.fuzz.registry import find
from tridiff.kernels.language.call import Call, Operand


def test_an_operand_that_was_a_number_has_contents_in_the_relative() -> None:
    known = next(one for one in ISSUES if one.name == "gluon-atomics-of-scalars")
    memory = Operand(kind="block", dtype="i32", shape=(8,))
    call = Call(row="gl.atomic_add", operands=(memory, Operand(kind="number", dtype="i32", number="3")),
                options={"layout": 0}, stored=("i32", "i32"))
    case = Case(target="language.gluon", sizes=cases.sizes_of(call, 1), program=call,
                arrays=cases.arrays_of(call, {"x0": Content(base=Mixture())}, {}))
    assert find(case.target).draw.valid(case) and known.match(case) and known.relative is not None
    relative = known.relative(case)
    assert relative is not None and find(case.target).draw.valid(relative)
    assert relative.array("x1").content == Content(base=Mixture())
