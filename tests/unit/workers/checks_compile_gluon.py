"""Gluon kernels and TTGIR text through the backend `compile` (in a process where kernels are compiled)."""

from typing import Any

import pytest

from tridiff.fuzz.backends.compile import CompileRunner, Pointer
from tridiff.fuzz.records import LaunchOptions
from tridiff.kernels.generated import load

COPY = '''
from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.jit
def copy(x_ptr, out_ptr, SIZE: gl.constexpr):
    there: gl.constexpr = gl.BlockedLayout([1], [32], [2], [0])
    x = gl.load(x_ptr + gl.arange(0, SIZE, layout=there))
    gl.store(out_ptr + gl.arange(0, SIZE, layout=there), x)
'''

TEXT = """
#lanes = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [2], order = [0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 2 : i32, ttg.target = "cuda:90",
                   "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @put(%out: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #lanes>
    %base = tt.splat %out : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>, #lanes>
    %place = tt.addptr %base, %lane : tensor<64x!tt.ptr<i32>, #lanes>, tensor<64xi32, #lanes>
    tt.store %place, %lane : tensor<64x!tt.ptr<i32>, #lanes>
    tt.return
  }
}
"""


def arguments() -> dict[str, Any]:
    pointer = Pointer(dtype="i32", aligned=True)
    return {"x_ptr": pointer, "out_ptr": pointer, "SIZE": 64}


def check_a_gluon_kernel_compiles_with_its_layouts():
    report = CompileRunner("sm_90").run(load(COPY, name="copy").copy, (1, 1, 1), arguments(),
                                        LaunchOptions(num_warps=2))
    assert report.readback["num_warps"] == 2
    assert "warpsPerCTA = [2]" in report.ttgir and "tt.load" in report.ttgir


def check_a_layout_that_does_not_fit_the_warps_is_an_error():
    with pytest.raises(Exception) as refused:
        CompileRunner("sm_90").run(load(COPY, name="copy").copy, (1, 1, 1), arguments(), LaunchOptions(num_warps=4))
    assert "warp" in str(refused.value).lower() or refused.typename in ("RuntimeError", "CompilationError")


def check_text_compiles_and_says_how_many_warps_it_has():
    report = CompileRunner("sm_90").run_ir(TEXT, (1, 1, 1), {"out": Pointer(dtype="i32", aligned=True)},
                                           LaunchOptions(num_warps=4))
    assert report.readback["num_warps"] == 2
    assert "tt.make_range" in report.ttgir


def check_text_that_does_not_parse_is_an_error():
    with pytest.raises(RuntimeError):
        CompileRunner("sm_90").run_ir("module {", (1, 1, 1), {}, LaunchOptions())
