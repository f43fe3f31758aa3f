"""From a drawn chain to a case and back to a launch."""

from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from tridiff.fuzz.backends import lacking_type
from tridiff.fuzz.backends.delay import built_in, named, of_launch
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import (
    ArraySpec,
    Bits,
    Case,
    Constant,
    Content,
    Explicit,
    Iota,
    LaunchOptions,
    Layout,
    Small,
    Special,
)
from tridiff.fuzz.strategies import delayed_warps
from tridiff.kernels.gluon.chain import Atomic, Chain, Convert, Fp4, Global, Out
from tridiff.kernels.gluon.check import problem

_SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def _contents(draw: st.DrawFn, array: Global) -> Content:
    if array.between is not UNSET:
        low, high = array.between
        return Content(base=Small(seed=draw(_SEEDS), low=low, high=high))
    bases = [st.builds(Iota, start=st.integers(-300, 300), step=st.sampled_from((1, 7))), st.builds(Bits, seed=_SEEDS),
             st.builds(Bits, seed=_SEEDS), st.builds(Special, seed=_SEEDS)]
    return Content(base=draw(st.one_of(*bases)))


def chain_of(case: Case) -> Chain:
    """The case's chain."""
    assert isinstance(case.program, Chain)
    return case.program


def spec_of(array: Global, content: Content | None, *, offset: int = 0) -> ArraySpec:
    """The array of a case that is the chain's array."""
    dims = tuple(f"{array.name}_{axis}" for axis in range(len(array.shape)))
    return ArraySpec(name=array.name, dtype=array.dtype, dims=dims, layout=Layout(offset=offset), content=content)


def sizes_of(chain: Chain) -> dict[str, int]:
    """Lengths of all axes of all arrays."""
    return {f"{array.name}_{axis}": extent for array in chain.arrays for axis, extent in enumerate(array.shape)}


@st.composite
def chain_cases(draw: st.DrawFn, *, target: str, chains: st.SearchStrategy[Chain]) -> Case:
    """A drawn chain with drawn contents; arrays may lie off any alignment."""
    chain = draw(chains)
    offsets = draw(st.sampled_from((0, 0, 0, 1)))
    arrays = []
    for array in chain.arrays:
        offset = draw(st.sampled_from((0, 1, 4, 3, 16))) if offsets else 0
        arrays.append(spec_of(array, None if array.output else draw(_contents(array)), offset=offset))
    return Case(target=target, sizes=sizes_of(chain), arrays=tuple(arrays), delay=draw(delayed_warps()), program=chain,
                options=LaunchOptions(num_warps=chain.warps), repeats=draw(st.integers(0, 1)))


def _keeps(content: Content, between: tuple[int, int]) -> bool:
    """Whether every value of the content is a whole number within the bounds, so that a promise of the chain holds."""
    low, high = between
    if content.overrides:
        return False
    match content.base:
        case Small(low=least, high=most):
            return low <= least <= most <= high
        case Constant(value=value):
            return _whole(value, low, high)
        case Explicit(values=values):
            return all(_whole(value, low, high) for value in values)
        case _:
            return False


def _whole(text: str, low: int, high: int) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    return number.is_integer() and low <= number <= high and text[:2] != "-0"


def valid(case: Case) -> bool:
    """Whether the chain may be launched and the case's arrays are those of the chain."""
    chain = case.program
    if not isinstance(chain, Chain) or case.options.num_warps != chain.warps or case.options.num_ctas != 1:
        return False
    if any(one.num_warps != chain.warps or one.num_ctas != 1 for one in case.variants) or case.sizes != sizes_of(chain):
        return False
    if len(case.arrays) != len(chain.arrays) or case.params:
        return False
    for spec, array in zip(case.arrays, chain.arrays, strict=True):
        if (spec.content is None) != array.output:
            return False
        if spec != spec_of(array, spec.content, offset=spec.layout.offset):
            return False
        if array.between is not UNSET and (spec.content is None or not _keeps(spec.content, array.between)):
            return False
    return not problem(chain)


def launch_chain(launch: Launch) -> None:
    """Write the kernel, compile it, run one block of it. The subject's helper writes the kernel."""
    from tridiff.fuzz.verdicts import Declined
    from tridiff.kernels.generated import load
    from tridiff.kernels.gluon.dialect import installed
    from tridiff.kernels.gluon.emit import KERNEL, Unsupported, scalars

    chain = launch.case.program
    assert isinstance(chain, Chain)
    if launch.fault:
        raise Declined(f"generated Gluon kernels have no place for the fault {launch.fault}")
    why = unsuited(chain, launch.backend.partition(":")[2])
    if why:
        raise Declined(why)
    try:
        text = launch.helper(chain, installed())
    except Unsupported as error:
        raise Declined(str(error)) from None
    delay = of_launch(launch, warps=chain.warps)
    name = named(KERNEL, delay)
    kernel = getattr(load(text.replace(f"def {KERNEL}(", f"def {name}("), name="chain"), name)
    arguments = {f"{array.name}_ptr": launch.pointer(array.name) for array in chain.arrays}
    with built_in(delay):
        launch.run(kernel, (1, 1, 1), {**arguments, **scalars(chain)})


def expected_ir(case: Case) -> tuple[str, ...]:
    """Operations that the chain's kernel must have in the compiler's IR."""
    from tridiff.kernels.gluon.operations import expected_operations

    chain = case.program
    assert isinstance(chain, Chain)
    return expected_operations(chain)


def unsuited(chain: Chain, arch: str) -> str:
    """Why a chain is not for an architecture, "" if it is (contract: ttg_ops.md §3)."""
    if arch.startswith("gfx"):
        return "layouts are drawn for warps of 32 lanes"
    if arch == "sm_80":
        lacking = lacking_type(f"compile:{arch}", {one.dtype for one in chain.arrays} | {
            getattr(step, "dtype", "") for step in chain.steps})
        if lacking:
            return lacking
        for step in chain.steps:
            if isinstance(step, Fp4) and step.dtype == "fp16":
                return "sm_80 has no conversion from fp4 to fp16"
            if isinstance(step, Atomic) and step.op == "add" and any(one.dtype == "bf16" for one in chain.arrays):
                return "sm_80 has no atomic addition of bf16"
    return ""


def with_chain(case: Case, chain: Chain) -> Case | None:
    """The case with another chain whose arrays are some of the old one's, resized; None if it is not legal."""
    contents = {spec.name: spec for spec in case.arrays}
    arrays = tuple(spec_of(array, contents[array.name].content, offset=contents[array.name].layout.offset)
                   for array in chain.arrays)
    made = replace(case, program=chain, sizes=sizes_of(chain), arrays=arrays,
                                   options=replace(case.options, num_warps=chain.warps))
    return made if valid(made) else None


def returned(chain: Chain) -> dict[int, int]:
    """Output array -> step of the atomic whose returned values it holds (conversions in between change nothing)."""
    origin: dict[int, int] = {}
    found: dict[int, int] = {}
    for number, step in enumerate(chain.steps):
        if isinstance(step, Atomic):
            origin[number] = number
        elif isinstance(step, Convert) and step.source in origin:
            origin[number] = origin[step.source]
        elif isinstance(step, Out) and step.source in origin:
            found[step.array] = origin[step.source]
    return found
