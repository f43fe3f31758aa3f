"""The barrier across the x programs of a grid: consecutive barriers, counted by marks. GPUs only.

Every round, every program of a group (one y, z) must see the marks of all x programs. The grid is launched
cooperatively and kept within what is resident at once; a barrier that never opens shows as a hang.
"""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import ArraySpec, Case, Constant, Content, Explicit, LaunchOptions
from tridiff.fuzz.target import Draw, Faults, Judge, Limits, Run, Target
from tridiff.fuzz.targets.tiles import both, mutants, power_of_two, subjects
from tridiff.oracles.rules import BIT

PER_PROCESSOR = 8
"""Programs of up to 8 warps that every multiprocessor holds at once, registers of this kernel considered."""
_LARGEST_GRID = 132 * PER_PROCESSOR
_X = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 127, 128, 129, 132, 255, 256, 257, 511, 512, 513,
      1023, 1024, _LARGEST_GRID)
_TOP_BIT = str(2**31)


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    x = draw(st.one_of(st.sampled_from(_X), st.integers(1, _LARGEST_GRID)))
    y = draw(st.sampled_from([n for n in (1, 2, 3, 8) if x * n <= _LARGEST_GRID]))
    z = draw(st.sampled_from([n for n in (1, 2, 5) if x * y * n <= _LARGEST_GRID]))
    marks = ("rounds", "y", "z", "x")
    start = draw(st.sampled_from(("0", _TOP_BIT)))
    return Case(
        target="helpers.x_grid_barrier",
        sizes={"rounds": draw(st.sampled_from((1, 2, 3, 10, 64))), "z": z, "y": y, "x": x},
        arrays=(ArraySpec(name="sem", dtype="u32", dims=("z", "y"), content=Content(base=Constant(value=start))),
                ArraySpec(name="marks", dtype="i32", dims=marks, content=Content(base=Constant())),
                ArraySpec(name="seen", dtype="i32", dims=marks)),
        options=LaunchOptions(num_warps=draw(st.sampled_from((4, 1, 2, 8))), launch_cooperative_grid=True),
        repeats=draw(st.integers(0, 2)))


def _listed(case: Case, name: str) -> set[str]:
    content = case.array(name).content
    if content is None or content.overrides or not isinstance(content.base, Constant | Explicit):
        return {"?"}
    return {content.base.value} if isinstance(content.base, Constant) else set(content.base.values)


def _valid(case: Case) -> bool:
    """Marks start at 0, semaphores at 0 or the top bit; the grid is cooperative and not empty."""
    grid = [case.sizes.get(axis, 0) for axis in ("x", "y", "z")]
    return (_listed(case, "marks") == {"0"} and _listed(case, "sem") <= {"0", _TOP_BIT}
            and min(grid) > 0 and grid[0] * grid[1] * grid[2] <= _LARGEST_GRID and grid[1] < 65536 > grid[2]
            and case.sizes.get("rounds", 0) > 0 and case.options.launch_cooperative_grid
            and case.options.num_warps <= 8 and all(spec.layout == ArraySpec(
                name="plain", dtype="i32", dims=()).layout for spec in case.arrays))


def _launch(launch: Launch) -> None:
    sizes = launch.case.sizes
    if launch.backend == "cuda":
        import torch

        device = torch.cuda.get_device_properties(torch.cuda.current_device())
        resident = PER_PROCESSOR * device.multi_processor_count
        if sizes["x"] * sizes["y"] * sizes["z"] > resident:
            raise TridiffError(f"this GPU holds only {resident} programs at once", fix="draw a smaller grid")
    launch.drive("tridiff.kernels.drivers.grid_barrier:grid_barrier", x_programs=sizes["x"], y_programs=sizes["y"],
                 z_programs=sizes["z"], rounds=sizes["rounds"], PROGRAM_BLOCK=power_of_two(sizes["x"]))


TARGET = Target(
    name="helpers.x_grid_barrier", contract="helpers.md §13 (x_grid_barrier)", dtypes=("u32",),
    summary="no x program passes before all have arrived", backends=("cuda", "compile"),
    subjects=subjects("grid_barrier", "x_grid_barrier"),
    draw=Draw(cases=_cases, valid=_valid),
    run=Run(
        launch=_launch, written=("sem", "marks"), memory_orders=lambda case: ("release", "acquire"),
        waiting_programs=lambda case: case.sizes["x"] * case.sizes["y"] * case.sizes["z"]),
    judge=Judge(
        rules=lambda case: {"seen": BIT},
        oracles=lambda case: both("barrier:everyone_seen", "marks", outputs=("seen",))),
    faults=Faults(planted=mutants("grid_barrier", "x_grid_barrier")))
