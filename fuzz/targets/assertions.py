"""An assertion inside an expression: it passes a value through, or stops the launch where it is enabled."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.fuzz.strategies import dtypes, lengths, true_contents
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Target
from tridiff.fuzz.targets.tiles import both, elementwise_blocks, mutants, operand, result, rows_of, subjects
from tridiff.oracles.dtypes import NAMES
from tridiff.oracles.rules import BIT


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    dtype = draw(dtypes())
    cols = draw(lengths(maximum=min(64, limits.elements), empty=False))
    rows = draw(rows_of(cols, limits))
    options = LaunchOptions(debug=draw(st.booleans()), num_warps=draw(st.sampled_from((4, 1, 8))))
    return Case(
        target="helpers.device_assert_then", sizes={"rows": rows, "cols": cols}, options=options,
        arrays=(
            operand(draw, "condition", "i1", true_contents()),
            operand(draw, "a", dtype),
            result(draw, "out", dtype),
        ))


def _launch(launch: Launch) -> None:
    launch.drive("tridiff.kernels.drivers.assertions:assert_then", BOOL=launch.spec("a").dtype == "i1",
                 **elementwise_blocks(launch))


TARGET = Target(
    name="helpers.device_assert_then", contract="helpers.md §8", dtypes=NAMES,
    summary="a value passed through unless an enabled assertion fails",
    subjects=subjects("assertions", "device_assert_then"),
    draw=Draw(cases=_cases),
    run=Run(
        launch=_launch,
        asserts=lambda case: Reference(source="torch", function="tridiff.oracles.by_torch.probes:assertion_fails",
                                       arguments=("condition",), outputs=())),
    judge=Judge(
        rules=lambda case: {"out": BIT},
        oracles=lambda case: both("probes:device_assert_then", "condition", "a")),
    faults=Faults(planted=mutants("assertions", "device_assert_then")))
