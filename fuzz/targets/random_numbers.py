"""Counter-based random numbers, bit for bit: one seed, and for integers one range, per row of offsets."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Bits, Case, Content, Iota
from tridiff.fuzz.strategies import contents, lengths, range_limits, strided_layouts
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Reference, Run, Target
from tridiff.fuzz.targets.tiles import compiled, mutants, operand, power_of_two, result, rows_of, subjects
from tridiff.oracles.bounded import RANDN_RULE
from tridiff.oracles.rules import BIT, Rule

DTYPES = {"randint64": ("i64",), "rand": ("fp32",), "randn": ("fp32",)}
OFFSETS = ("i32", "u32", "i64")
_ROW = ("rows",)


@st.composite
def _cases(draw: st.DrawFn, helper: str, limits: Limits) -> Case:
    cols = draw(lengths(maximum=min(256, limits.elements)))
    rows = draw(rows_of(cols, limits))
    offset_dtype = draw(st.sampled_from(OFFSETS))
    ramp = st.builds(Content, base=st.builds(Iota, start=st.sampled_from((0, 1, 2**31 - 8, 2**32 - 8, 2**33)),
                                             step=st.just(1), per_row=st.sampled_from((0, 256))))
    offsets = st.one_of(ramp, contents(dtype=offset_dtype))
    seeds = st.one_of(st.builds(Content, base=st.builds(Bits, seed=st.integers(0, 2**32 - 1))), contents(dtype="i64"))
    arrays = [
        ArraySpec(name="seed", dtype="i64", dims=_ROW, content=draw(seeds)),
        operand(draw, "offset", offset_dtype, offsets),
    ]
    if helper == "randint64":
        for name in ("low", "high"):
            limit = draw(st.one_of(range_limits(upper=name == "high"), contents(dtype="i64")))
            arrays.append(ArraySpec(name=name, dtype="i64", dims=_ROW, content=limit,
                                    layout=draw(strided_layouts(dims=_ROW))))
    arrays.append(result(draw, "out", DTYPES[helper][0]))
    return Case(target=f"helpers.{helper}", sizes={"rows": rows, "cols": cols}, arrays=tuple(arrays), **compiled(draw))


def _launch(launch: Launch) -> None:
    driver = "random_integer" if launch.case.target == "helpers.randint64" else "random_real"
    launch.drive(f"tridiff.kernels.drivers.random:{driver}", COL_BLOCK=power_of_two(launch.case.sizes["cols"]))


def _rules(case: Case) -> dict[str, Rule]:
    return {"out": RANDN_RULE if case.target == "helpers.randn" else BIT}


def _target(helper: str, summary: str, paths: dict[str, str]) -> Target:
    integers = helper == "randint64"
    arguments = ("seed", "offset", "low", "high") if integers else ("seed", "offset")
    return Target(
        name=f"helpers.{helper}", summary=summary, contract="helpers.md §9", dtypes=DTYPES[helper],
        subjects=paths,
        draw=Draw(cases=lambda limits: _cases(helper, limits), interpreter_elements=1 << 11),
        run=Run(launch=_launch),
        judge=Judge(
            rules=_rules, label=lambda case: f"{case.array('offset').dtype} offsets",
            oracles=lambda case: (
                Reference(source="torch", function=f"tridiff.oracles.by_torch.philox:{helper}_rows",
                          arguments=arguments),
                Reference(source="numpy", function=f"tridiff.oracles.philox:{helper}_rows", arguments=arguments),
            ),
            defined=lambda case: ("tridiff.oracles.by_torch.philox:randint64_defined", ("low",
                                                                                        "high")) if integers else None),
        faults=Faults(planted=mutants("random", helper)))


TARGETS = (
    _target("randint64", "int64 in [low, high) from one Philox block", subjects("random", "randint64")),
    _target("rand", "uniform fp32 in [0, 1)", {"own": "tridiff.kernels.helpers.random:rand"}),
    _target("randn", "standard normal fp32 by Box-Muller", {"own": "tridiff.kernels.helpers.random:randn"}),
)
