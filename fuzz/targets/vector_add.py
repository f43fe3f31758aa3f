"""Vector add, the hello world of Triton: 1-D, strided, masked tail, every dtype."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Case
from tridiff.fuzz.strategies import contents, dtypes, lengths, strided_layouts
from tridiff.fuzz.target import POWERS_OF_TWO, Draw, Faults, Judge, Limits, Run, Shrink, Target
from tridiff.fuzz.targets.tiles import both, compiled, result
from tridiff.oracles.dtypes import dtype as dtype_info
from tridiff.oracles.rules import NUM

DTYPES = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bf16", "fp16", "fp32", "fp64")
BLOCKS = (16, 1, 2, 64, 128, 256, 1024)


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype = draw(dtypes(among=DTYPES))
    block = draw(st.sampled_from(BLOCKS))
    rows = draw(lengths(maximum=min(limits.elements, 64 * block)))
    arrays = [ArraySpec(name=name, dtype=dtype, dims=("rows",), content=draw(contents(dtype=dtype)),
                        layout=draw(strided_layouts(dims=("rows",)))) for name in ("a", "b")]
    arrays.append(result(draw, "out", dtype, dims=("rows",)))
    return Case(target="triton.vector_add", sizes={"rows": rows}, arrays=tuple(arrays), params={"block": block},
                **compiled(draw, clusters=True),
                repeats=draw(st.integers(0, 1)))


def _launch(launch: Launch) -> None:
    from tridiff.kernels.drivers.record import Driver

    stride = {f"{name}_stride_col": launch.spec(name).strides(launch.case.sizes)[0] for name in ("a", "b", "out")}
    common = dict(stride, cols=launch.case.sizes["rows"], BLOCK=launch.case.params["block"],
                  a_offset=0, b_offset=0, out_offset=0)
    if isinstance(launch.helper, Driver):
        launch.drive("tridiff.kernels.drivers.vector_add:vector_add", **common)
    else:
        launch.drive("tridiff.kernels.drivers.mutants_vector_add:vector_add_mutant", MUTANT=launch.helper.name,
                     **common)


_MUTANTS = ("mask_off_by_one", "tail_dropped", "overlapping_programs", "stride_ignored", "second_operand_dropped")

TARGET = Target(
    name="triton.vector_add", contract="jit.md §1; oracles.md §3 (add)",
    summary="out = a + b on strided vectors with a masked tail", dtypes=DTYPES,
    subjects={"own": "tridiff.kernels.drivers.vector_add:vector_add"},
    draw=Draw(cases=_cases, params=lambda case: {"block": POWERS_OF_TWO}),
    run=Run(launch=_launch),
    judge=Judge(
        rules=lambda case: {"out": NUM},
        oracles=lambda case: both("elementwise:vector_add", "a", "b"),
        label=lambda case: dtype_info(case.arrays[0].dtype).kind),
    shrink=Shrink(simplest={"block": tuple(sorted(BLOCKS))}),
    faults=Faults(planted={name: f"tridiff.kernels.drivers.mutants_vector_add:MUTANTS[{name}]" for name in _MUTANTS}))
