"""Near relatives of chains: the same elements, moved by plainer ways."""

from collections.abc import Callable, Iterable, Iterator

from msgspec import UNSET
from msgspec.structs import replace

from tridiff.fuzz.kinds.chains.cases import chain_of, with_chain
from tridiff.fuzz.kinds.chains.steps import anew, plain_blocked, without
from tridiff.fuzz.known.chains.features import decodes_behind, masks_narrow, transposes_a_slice, words
from tridiff.fuzz.known.chains.misplaced import of_fold
from tridiff.fuzz.records import Case
from tridiff.kernels.gluon.chain import (
    Alloc,
    Chain,
    Convert,
    Fp4,
    Load,
    Permute,
    Reduce,
    Reinterpret,
    Ring,
    Scan,
    Step,
    renumbered,
)
from tridiff.kernels.gluon.check import typed
from tridiff.kernels.gluon.layouts import LANES, Blocked, Distributed, Nvmma, Padded, Shared, SharedLinear, row_major
from tridiff.kernels.gluon.values import Illegal, Tensor

_FOLDS = ("lanes apart", "warps apart", "lanes repeated", "registers apart", "runs in one thread")
_HOLDINGS = 40
"""Layouts that are tried for a step that decodes."""
_FOLDINGS = 6
"""Plain layouts that are tried for a fold."""
_Around = Callable[[int, Step], tuple[Distributed | None, Distributed | None]]
"""From a step to the layouts into which its source and its result are converted."""


def _first(case: Case, chains: Iterable[Chain], *rid_of: str) -> Case | None:
    """The case with the first of the chains that is legal and has none of the words."""
    tried: set[Chain] = set()  # where there are few layouts, several choices make the same chain
    for chain in chains:
        if chain in tried:
            continue
        tried.add(chain)
        try:
            made = with_chain(case, chain) if words(chain).isdisjoint(rid_of) else None
        except Illegal:  # such as a read of a buffer that nothing fills any more
            continue
        if made is not None:
            return made
    return None


def buffers(case: Case) -> Case | None:
    """Row-major buffers for linear and padded ones, or for all."""
    chain = chain_of(case)
    return _first(case, (_row_major(chain, (SharedLinear, Padded)), _row_major(chain, (object,))),
                  "mixed offsets", "padding cuts vectors")


def buffers_untransposed(case: Case) -> Case | None:
    """Row-major buffers for those of NVMMA."""
    return _first(case, (_row_major(chain_of(case), (Nvmma,)),), "transposition lost")


def untransposed_slices(case: Case) -> Case | None:
    """Row-major buffers for linear ones; or a buffer of its own for the slice, or for what is transposed; or the chain
    without what follows from such a slice."""
    chain = chain_of(case)
    types = typed(chain)
    left = without(chain, {number for number, step in enumerate(chain.steps)
                           if isinstance(step, Permute) and transposes_a_slice(types[step.view])})
    return _first(case, (_row_major(chain, (SharedLinear,)), _row_major(chain, (object,)), *_anew(chain),
                         *([] if left is None else [left])), "transposed slice")


def _anew(chain: Chain) -> Iterator[Chain]:
    try:
        yield from anew(chain)
    except Illegal:
        return


def _row_major(chain: Chain, kinds: tuple[type, ...]) -> Chain:
    def plain(layout: Shared, rank: int) -> Shared:
        return row_major(rank) if isinstance(layout, kinds) else layout

    return replace(chain, steps=tuple(
        replace(step, layout=plain(step.layout, len(step.shape))) if isinstance(step, Alloc | Reinterpret | Ring)
        else step for step in chain.steps))


def others(case: Case) -> Case | None:
    """-1 for a lower `other` of narrow integers, 0 for any of 8-bit floats."""
    chain = chain_of(case)
    steps = []
    for step in chain.steps:
        if isinstance(step, Load) and step.mask is not UNSET:
            dtype = chain.arrays[step.array].dtype
            if masks_narrow(step, dtype):
                step = replace(step, other=-1)
            elif dtype.startswith("fp8"):
                step = replace(step, other=0)
        steps.append(step)
    return _first(case, (replace(chain, steps=tuple(steps)),), "negative other of 8 or 16 bits",
                  "fp8 other of whole registers")


def folded(case: Case) -> Case | None:
    """Folds and scans of a plain layout, into which the source is converted, and the result back; or it stays in that
    layout, where the one that it had is no layout to convert into."""
    chain = chain_of(case)
    types = typed(chain)

    def around(number: int, step: Step, choice: int) -> tuple[Distributed | None, Distributed | None]:
        if not isinstance(step, Reduce | Scan):
            return None, None
        source, result = types[step.source], types[number]
        assert isinstance(source, Tensor) and isinstance(result, Tensor)
        if not of_fold(step, source):
            return None, None
        plain = list(_folding(source.shape, step.axis, chain.warps))
        back = result.layout if result.shape and choice < _FOLDINGS else None
        return plain[min(choice % _FOLDINGS, len(plain) - 1)], back

    return _first(case, (_converting(chain, _chosen(around, choice)) for choice in range(2 * _FOLDINGS)), *_FOLDS)


def decoded(case: Case) -> Case | None:
    """Bytes decoded in a layout in which a thread holds several along the axis first."""
    chain = chain_of(case)
    types = typed(chain)

    def around(number: int, step: Step, choice: int) -> tuple[Distributed | None, Distributed | None]:
        source = types[step.source] if isinstance(step, Fp4) else None
        if not isinstance(step, Fp4) or not isinstance(source, Tensor) or not decodes_behind(source, step.axis):
            return None, None
        plain = list(_holding(source.shape, step.axis, chain.warps))
        return plain[min(choice, len(plain) - 1)], None

    return _first(case, (_converting(chain, _chosen(around, choice)) for choice in range(_HOLDINGS)),
                  "behind another axis")


def _chosen(around: Callable[[int, Step, int], tuple[Distributed | None, Distributed | None]], choice: int) -> _Around:
    return lambda number, step: around(number, step, choice)


def _converting(chain: Chain, around: _Around) -> Chain:
    steps: list[Step] = []
    numbers: dict[int, int] = {}
    for number, old in enumerate(chain.steps):
        before, after = around(number, old)
        step = renumbered(old, numbers)
        if before is not None:
            assert isinstance(step, Reduce | Scan | Fp4)
            steps.append(Convert(step.source, before))
            step = replace(step, source=len(steps) - 1)
        steps.append(step)
        if after is not None:
            steps.append(Convert(len(steps) - 1, after))
        numbers[number] = len(steps) - 1
    return replace(chain, steps=tuple(steps))


def _blocked(shape: tuple[int, ...], axis: int, along: int, warps: int, held: int) -> Blocked:
    """Threads that hold `held` elements along one axis, lanes and warps along another."""
    axes = range(len(shape))
    order = tuple(dict.fromkeys((axis, *reversed(axes))))
    return Blocked(tuple(held if k == axis else 1 for k in axes), tuple(LANES if k == along else 1 for k in axes),
                   tuple(warps if k == along else 1 for k in axes), order)


def _folding(shape: tuple[int, ...], axis: int, warps: int) -> Iterator[Blocked]:
    """Each thread has all of the axis; or lanes and warps lie along it."""
    for along in range(len(shape)):
        if along != axis:
            yield _blocked(shape, axis, along, warps, shape[axis])
    yield _blocked(shape, axis, axis, warps, 1)
    yield plain_blocked(len(shape), warps)


def _holding(shape: tuple[int, ...], axis: int, warps: int) -> Iterator[Blocked]:
    """Each thread has some elements along the axis, together; where the axis is too short for four, some of another."""
    axes = range(len(shape))
    for held in (4, 8, 2, 16):
        for along in axes:
            yield _blocked(shape, axis, along, warps, held)
    for held in (1, 2):
        for along, other in ((along, other) for along in axes for other in axes if other != axis):
            plain = _blocked(shape, axis, along, warps, held)
            yield replace(plain, size_per_thread=tuple(
                4 // held if k == other else one for k, one in enumerate(plain.size_per_thread)))
