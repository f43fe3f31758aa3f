"""What of a chain meets a known defect of Triton (corpus): a word in its signature."""

from fuzz.records import Case
from kernels.gluon.chain import Alloc, Chain, Fp4, Reduce, Reinterpret
from kernels.gluon.check import typed
from kernels.gluon.layouts import Blocked, Padded, Shared, SharedLinear, vector
from kernels.gluon.memory import placement, power_of_two
from kernels.gluon.ownership import lanes_apart
from kernels.gluon.values import WIDTH, Tensor


def feature(case: Case) -> str:
    """The first that applies. `mixed offsets`: a bit of a coordinate moves several bits of the offset. `behind another
    axis`: bytes are decoded along an axis that is not a thread's innermost."""
    chain = case.program
    if not isinstance(chain, Chain):
        return ""
    words = [_of_buffer(step.layout, step.shape, WIDTH[step.dtype]) for step in chain.steps
             if isinstance(step, Alloc | Reinterpret)]
    types = typed(chain)
    for step in chain.steps:
        if isinstance(step, Reduce | Fp4):
            source = types[step.source]
            if isinstance(source, Tensor) and source.layout is not None:  # otherwise inferred, or one element
                words.append(_of_fold(source) if isinstance(step, Reduce) else _of_decoded(source, step.axis))
    return next((word for word in words if word), "")


def _of_buffer(layout: Shared, shape: tuple[int, ...], bits: int) -> str:
    if isinstance(layout, Padded):
        unit = vector(min(interval for interval, _ in layout.pairs), bits=bits)
        return "padding cuts vectors" if any(padding % unit for _, padding in layout.pairs) else ""
    if isinstance(layout, SharedLinear):
        images = placement(layout, shape=shape).images
        return "" if all(power_of_two(image) for axis in images for image in axis) else "mixed offsets"
    return ""


def _of_fold(source: Tensor) -> str:
    assert source.layout is not None
    return "lanes apart" if any(lanes_apart(source.layout, shape=source.shape, axis=axis)
                                for axis in range(len(source.shape))) else ""


def _of_decoded(source: Tensor, axis: int) -> str:
    layout = source.layout
    if not isinstance(layout, Blocked):
        return ""
    inner = layout.order[:layout.order.index(axis)]
    held = any(min(layout.size_per_thread[k], source.shape[k]) > 1 for k in inner)
    return "behind another axis" if held else ""
