"""What the compiling half of an explanation says."""

import re
import tempfile
from pathlib import Path

from tests.explain.checks_explained_memory import ADD, KERNELS, line_of
from tridiff.fuzz.backends.compile import Pointer, specialise
from tridiff.fuzz.explain.compiled import compiled
from tridiff.fuzz.explain.own import own_kernel
from tridiff.fuzz.explain.prepared import prepared
from tridiff.fuzz.explain.request import Compiled, Request, Setting
from tridiff.fuzz.explain.twins import found as twins_of


def of(kernel: str, args: str, setting: Setting | None = None, *, passes: bool = False, step: str = "") -> Compiled:
    own = own_kernel(f"{KERNELS}:{kernel}", args=args, grid="3", options="num_warps=1")
    with tempfile.TemporaryDirectory() as folder:
        return compiled(Request(own=own, setting=setting or Setting(), passes=passes, step=step),
                        Path(folder))


EVERY = ("aligned=fp32[8]=out shifted=fp32[8]@1 sixteens=64 odd=65 one=1 large=2147483648 real=0.5 truth=true "
         "nothing=none FIXED=7")


def check_every_row_of_the_specialisation_table():
    rows = {one.name: one for one in of("every_argument", EVERY).specialisation.arguments}
    assert {name: (row.type, row.divisible, row.constant) for name, row in rows.items()} == {
        "aligned": ("*fp32", 16, ""), "shifted": ("*fp32", 0, ""), "sixteens": ("i32", 16, ""), "odd": ("i32", 0, ""),
        "one": ("constexpr", 0, "1"), "large": ("i64", 16, ""), "real": ("fp32", 0, ""), "truth": ("u1", 0, ""),
        "nothing": ("constexpr", 0, "None"), "FIXED": ("constexpr", 0, "7")}
    assert [name for name, row in rows.items() if row.one] == ["one"]
    assert [name for name, row in rows.items() if row.constexpr] == ["FIXED"]
    assert rows["shifted"].value == "fp32[8]" and rows["odd"].value == "65"


def check_our_own_specialisation_is_that_of_triton():
    call = prepared(Request(own=own_kernel(f"{KERNELS}:every_argument", args=EVERY, grid="1", options=""))).calls()[0]
    arguments = {name: Pointer("fp32", name == "aligned") if name in ("aligned", "shifted") else value
                 for name, value in call.arguments.items()}
    ours = specialise(call.kernel, arguments)
    for one in of("every_argument", EVERY).specialisation.arguments:
        assert ours.signature[one.name] == one.type, one
        number = call.kernel.arg_names.index(one.name)
        assert bool(one.divisible) == ((number,) in ours.attributes), one
        assert bool(one.constant) == (one.name in ours.constants), one


def check_all_stages_for_three_architectures():
    for arch in ("sm_80", "sm_90", "sm_100"):
        found = of("vector_add", ADD, Setting(arch=arch))
        assert [one.name for one in found.stages.texts] == ["source", "ttir", "ttgir", "llir", "ptx", "sass"], arch
        assert "LDG" in found.stages.text("sass") and found.stages.counters["ptx load global 4 B"] == 2, arch
        resources = found.stages.resources
        assert resources is not None and resources.registers > 0 and resources.local == 0
        assert 0 < resources.occupancy <= 1 and min(one.blocks for one in resources.limits) == resources.blocks
    other = of("vector_add", ADD, Setting(arch="gfx942"))
    assert [one.name for one in other.stages.texts][-1] == "amdgcn" and other.stages.resources is None


def check_lines_lead_to_instructions_and_back():
    found = of("vector_add", ADD)
    store = line_of("tl.store(out + offsets, a + b, mask=mask)")
    (line,) = (one for one in found.stages.lines if one.line == store)
    for stage, word in (("ttir", "tt.store"), ("ttgir", "tt.store"), ("ptx", "st.global"), ("sass", "STG")):
        text = found.stages.text(stage).splitlines()
        assert any(word in text[number - 1] for number in line.stages[stage]), stage
        elsewhere = [one for one in found.stages.lines if one.line != store for number in one.stages.get(stage, ())
                     if word in text[number - 1]]
        assert not elsewhere, stage


def check_edited_text_goes_into_what_follows():
    first = of("signed_ramp", "out=i32[512]=out")
    ttir = first.stages.text("ttir")
    edited = ttir.replace("dense<256>", "dense<240>")
    assert edited != ttir
    second = of("signed_ramp", "out=i32[512]=out", Setting(stage="ttir", text=edited))
    before, after = first.stages.text("ptx"), second.stages.text("ptx")
    assert re.search(r"\b256\b", before) and not re.search(r"\b256\b", after) and re.search(r"\b240\b", after)
    # Stages that are text already are replaced where the compiler hands them on.
    ptx = re.sub(r"\b256\b", "128", before)
    third = of("signed_ramp", "out=i32[512]=out", Setting(stage="ptx", text=ptx))
    assert third.stages.text("ptx") == ptx and third.stages.text("sass") != first.stages.text("sass")


def check_what_one_pass_changes():
    found = of("vector_add", ADD, passes=True, step="make_ttgir add_convert_to_ttgpuir")
    changed = [one.name for one in found.stages.passes if one.changed]
    assert "add_convert_to_ttgpuir" in changed and len(changed) < len(found.stages.passes)
    (convert,) = (one for one in found.stages.passes if one.name == "add_convert_to_ttgpuir")
    assert "+#blocked" in convert.diff and convert.stage == "make_ttgir"
    around = found.stages.departure
    assert around is not None and "#blocked" not in around.before and "#blocked = " in around.after
    assert "convert-triton-to-tritongpu{" in around.pipeline


def check_layouts_say_who_holds_what():
    found = of("signed_ramp", "out=i32[512]=out")
    (layout,) = found.stages.layouts
    # Four elements side by side in each thread, 32 threads, one warp, and the rest in further registers.
    assert layout.owners[:9] == ((0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3), (0, 1, 0), (0, 1, 1), (0, 1, 2),
                                 (0, 1, 3), (0, 2, 0))
    assert layout.owners[128] == (0, 0, 4) and len(set(layout.owners)) == 512


def check_a_register_stands_twice_in_both_ramps():
    for kernel in ("signed_ramp", "unsigned_ramp"):
        twins = twins_of(of(kernel, "out=i32[512]=out").stages.text("ptx"))
        assert [(one.width, one.places, (0, 1) in one.pairs) for one in twins if one.file == KERNELS.name] == [
            (4, 4, True)], (kernel, twins)
    assert not twins_of(of("vector_add", ADD).stages.text("ptx"))


def check_a_kernel_that_does_not_compile_says_where():
    found = of("through_helpers", "x=fp32[4]=iota out=fp32[4]=out")
    assert found.stages.failed_in == "front-end" and "tl.reshape(v, [3])" in found.stages.problem
    assert [one.name for one in found.source.functions] == ["through_helpers", "outer", "inner"]
