"""Values passed between threads through global scratch memory, in TTGIR text."""

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.kinds.chains.draft import EVERY
from tridiff.fuzz.records import ArraySpec, Bits, Case, Content, Environment, Iota, LaunchOptions, Layout
from tridiff.fuzz.target import POWERS_OF_TWO, Draw, Faults, Judge, Limits, Run, Shrink, Target, Vocabulary
from tridiff.fuzz.targets.tiles import DIMS, both
from tridiff.kernels.gluon.layouts import power_of_two
from tridiff.kernels.gluon.scratch import FAULTS, Mailbox, text
from tridiff.oracles.rules import BIT

_ARCHITECTURES = {"sm_80": 80, "sm_90": 90, "sm_100": 100}


@st.composite
def _cases(draw: st.DrawFn, limits: Limits) -> Case:
    cols = draw(st.sampled_from((256, 128, 64, 1024, 512, 32, 2048)))
    boxes = draw(st.integers(1, 3))
    flips = [draw(st.integers(0, cols - 1)) for _ in range(boxes)]
    params: dict[str, int] = {"boxes": boxes, "flip": 0}
    for number, flip in enumerate(flips):
        params[f"flip{number}"] = flip
        params[f"alignment{number}"] = draw(st.sampled_from((128, 16, 1024, 256, 64)))
        params["flip"] ^= flip
    params |= {"written": draw(st.sampled_from((1, 2, 4, 8))), "read": draw(st.sampled_from((1, 2, 4, 8)))}
    dtype = draw(st.sampled_from(EVERY))
    base = draw(st.one_of(st.builds(Iota, start=st.integers(-300, 300), per_row=st.just(1000)),
                          st.builds(Bits, seed=st.integers(0, 2**32 - 1))))
    return Case(
        target="gluon.global_scratch", params=dict(params),
        sizes={"rows": draw(st.integers(1, min(limits.rows, 32))), "cols": cols},
        arrays=(ArraySpec(name="x", dtype=dtype, dims=DIMS, content=Content(base=base)),
                ArraySpec(name="y", dtype=dtype, dims=DIMS)),
        options=LaunchOptions(num_warps=draw(st.sampled_from((4, 1, 2, 8)))), repeats=draw(st.integers(0, 1)))


def _integer(case: Case, name: str) -> int:
    """A parameter; -1 where there is no such whole number."""
    value = case.params.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _power(case: Case, name: str, most: int) -> bool:
    return power_of_two(_integer(case, name)) and _integer(case, name) <= most


def _params(case: Case) -> Vocabulary:
    own = [(f"flip{k}", f"alignment{k}") for k in range(min(max(_integer(case, "boxes"), 1), 3))]
    flips = dict.fromkeys(("flip", *(flip for flip, _ in own)), range(2048))
    return {"boxes": range(1, 4), **flips, **dict.fromkeys((name for _, name in own), POWERS_OF_TWO),
            **dict.fromkeys(("written", "read"), (1, 2, 4, 8))}


def _valid(case: Case) -> bool:
    cols, boxes = case.sizes.get("cols", 0), _integer(case, "boxes")
    if not 32 <= cols <= 2048 or not power_of_two(cols) or not 1 <= boxes <= 3:
        return False
    if not 1 <= case.sizes.get("rows", 0) <= 1024 or case.options.num_warps not in (1, 2, 4, 8):
        return False
    if [(spec.name, spec.dims, spec.layout, spec.content is None) for spec in case.arrays] != [
            ("x", DIMS, Layout(), False), ("y", DIMS, Layout(), True)]:
        return False
    if case.array("x").dtype != case.array("y").dtype or case.array("x").dtype not in EVERY:
        return False
    flip = 0
    for number in range(boxes):
        own = _integer(case, f"flip{number}")
        if not 0 <= own < cols or not _power(case, f"alignment{number}", 1024):
            return False
        flip ^= own
    same_warps = all(one.num_warps == case.options.num_warps for one in case.variants)
    return same_warps and case.params.get("flip") == flip and _power(case, "written", 8) and _power(case, "read", 8)


def _launch(launch: Launch) -> None:
    from tridiff.fuzz.verdicts import Declined
    from tridiff.kernels.gluon.dialect import installed_text

    case, params = launch.case, launch.case.params
    boxes = range(int(params["boxes"]))
    name = launch.backend.partition(":")[2]
    if launch.fault:
        raise Declined(f"the text has no place for the fault {launch.fault}")
    if name and name not in _ARCHITECTURES:
        raise Declined(f"the text is written for NVIDIA GPUs, not {name}")
    mailbox = Mailbox(
        dtype=case.array("x").dtype, size=case.sizes["cols"], flips=tuple(int(params[f"flip{k}"]) for k in boxes),
        alignments=tuple(int(params[f"alignment{k}"]) for k in boxes), written=int(params["written"]),
        read=int(params["read"]), warps=launch.options.num_warps)
    planted = launch.planted if launch.planted in FAULTS else ""
    made = text(mailbox, installed_text(), arch=_ARCHITECTURES.get(name) or _device_arch(), planted=planted)
    launch.run_ir(made, (case.sizes["rows"], 1, 1), {name: launch.pointer(name) for name in ("x", "y")})


def _device_arch() -> int:
    import torch

    if not torch.cuda.is_available():
        return 90  # the text is written down, not run
    major, minor = torch.cuda.get_device_capability()
    return 10 * major + minor


def _lacking(environment: Environment) -> str:
    return "the text is written for NVIDIA GPUs" if environment.architecture.startswith("gfx") else ""


TARGET = Target(
    name="gluon.global_scratch", contract="ttg_ops.md §3, global_scratch_alloc", dtypes=EVERY,
    summary="rows sent through boxes of global scratch, element i to thread i ^ k",
    subjects={"own": "tridiff.kernels.gluon.scratch:text"}, backends=("cuda", "compile"),
    draw=Draw(cases=_cases, params=_params, valid=_valid),
    run=Run(launch=_launch, lacking=_lacking),
    judge=Judge(rules=lambda case: {"y": BIT},
                oracles=lambda case: both("mailbox:exchanged", "x", "flip=flip", outputs=("y",))),
    shrink=Shrink(simplest={"written": (1, 2, 4, 8), "read": (1, 2, 4, 8)}),
    faults=Faults(planted={name: f"tridiff.kernels.gluon.scratch:FAULTS[{name}]" for name in FAULTS}))
