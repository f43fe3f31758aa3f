"""What is told from machine code, in short listings as nvdisasm writes them: reads of uniform registers, lost sums."""

import pytest

from tridiff.fuzz.explain.checks import checked
from tridiff.fuzz.explain.model import Stage, Stages
from tridiff.fuzz.explain.request import Compiled, Interpreted
from tridiff.fuzz.explain.uniform import read_unwritten, undefined_in

each = pytest.mark.parametrize


def listing(*lines: str) -> str:
    """Instructions with places, labels as they are."""
    return "\n".join(line if line.startswith(".L") else f"        /*{place:04x}*/                   {line} ;"
                     for place, line in enumerate(lines))


@each("lines, found", [
    # The corpus has the first: codegen.pointwise/value-8943e2a99b.
    (("R2UR UR20, R17", "UPRMT UR13, UR21, 0xbb32, URZ", "EXIT"), ["UPRMT UR13, UR21, 0xbb32, URZ (UR21)"]),
    (("R2UR UR20, R17", "UPRMT UR13, UR20, 0xbb32, URZ", "EXIT"), []),
    (("ULDC.64 UR20, c[0x0][0x208]", "UIADD3 UR4, UR21, 0x1, URZ", "EXIT"), []),
    (("ULDC UR20, c[0x0][0x208]", "LDG.E R2, desc[UR20][R4.64]", "EXIT"), ["LDG.E R2, desc[UR20][R4.64] (UR21)"]),
    # What a permutation leaves as it is may be anything.
    (("UMOV UR4, 0x1", "UPRMT UR9, UR4, 0x7610, UR9", "EXIT"), []),
    # Written on one of two ways, or in front of the loop, or behind the read in a loop that comes around.
    (("@P0 BRA `(.L_x_0)", "UMOV UR4, 0x1", ".L_x_0:", "IMAD.U32 R2, RZ, RZ, UR4", "EXIT"), []),
    (("UMOV UR4, URZ", ".L_x_0:", "UIADD3 UR4, UR4, 0x1, URZ", "@P0 BRA `(.L_x_0)", "EXIT"), []),
    ((".L_x_0:", "IMAD.U32 R2, RZ, RZ, UR4", "UMOV UR4, 0x1", "@P0 BRA `(.L_x_0)", "EXIT"), []),
    # Behind an exit that everybody takes nothing is read; behind one that some take it is.
    (("EXIT", "IMAD.U32 R2, RZ, RZ, UR4"), []),
    (("@P0 EXIT", "IMAD.U32 R2, RZ, RZ, UR4", "EXIT"), ["IMAD.U32 R2, RZ, RZ, UR4 (UR4)"]),
    (("UISETP.GT.AND UP0, UPT, UR4, 0x1, UPT", "EXIT"), ["UISETP.GT.AND UP0, UPT, UR4, 0x1, UPT (UR4)"])])
def test_a_register_that_nothing_writes_on_any_way_is_told(lines: tuple[str, ...], found: list[str]):
    assert read_unwritten(listing(*lines)) == tuple(found)


def test_code_with_calls_is_not_followed():
    assert read_unwritten(listing("CALL.REL.NOINC `(helper)", "IMAD.U32 R2, RZ, RZ, UR4", "EXIT")) is None
    assert read_unwritten("") is None


def test_lanes_that_nobody_needs_are_undefined_in_ptx_already():
    """A conversion of one bf16 to fp8 packs it with what is in another register (LLVM's poison)."""
    ptx = ("\tld.param.b64 \t%rd3, [kernel_param_0];\n\tmov.u16 %rs1, 0x0;\n"
           "\t@%p1 ld.global.b16 { %rs1 }, [ %rd3 + 0 ];\n\tmov.b32 \t%r1, {%rs1, %rs3};\n"
           "\tsetp.eq.b32 \t%p1, %r1, 0;\n\tst.global.b32 [ %rd3 + 0 ], { %r1 };\n\tret;\n")
    assert undefined_in(ptx) == {"%rs3"} and not undefined_in(ptx.replace("%rs3", "%rs1"))


@each("addend, holds", [("0x1", True), ("R5", True), ("0x0", False)])
def test_a_packed_sum_that_adds_0_is_told(addend: str, holds: bool):
    code = listing("VIADD R2, R3, 0x0", f"VIADD.16x2 R2, R3.reuse, {addend}")
    texts = tuple(Stage(name=name, bytes=len(code), lines=1, text=code) for name in ("ptx", "sass"))
    found = checked(Compiled(stages=Stages(texts=texts)), Interpreted(), None)
    assert [one.holds for one in found if one.name == "packed sums"] == [holds]
