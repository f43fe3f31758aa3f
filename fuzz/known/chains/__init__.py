"""Known issues of chains of data movements in Gluon.

Where it is known which element comes to stand where, that is predicted. Elsewhere the control is the same chain with
plainer layouts: the same elements, in buffers and threads as row-major order has them.
"""

from collections.abc import Callable

from tridiff.fuzz.known.chains import plainer
from tridiff.fuzz.known.chains.features import words
from tridiff.fuzz.known.issue import ASTRAY, WRONG, KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.records.corpus_entry import Stage, Truth
from tridiff.kernels.gluon.chain import Chain, Convert, Reduce, Scan
from tridiff.oracles.dtypes import dtype

_PREDICTED = "tridiff.fuzz.known.predictions.chains"
_WHERE = (("gluon.*", "own"),)


def _has(*wanted: str) -> Callable[[Case], bool]:
    return lambda case: isinstance(case.program, Chain) and not words(case.program).isdisjoint(wanted)


def _folds(case: Case) -> bool:
    chain = case.program
    return isinstance(chain, Chain) and any(isinstance(step, Reduce | Scan) for step in chain.steps)


def _masks_what_it_folds(case: Case) -> bool:
    return _has("negative other of 8 or 16 bits")(case) and _folds(case)


def _reduces(case: Case) -> bool:
    return isinstance(case.program, Chain) and any(isinstance(step, Reduce) for step in case.program.steps)


def _converts_halves(case: Case) -> bool:
    """Whether elements of 16 bits change their layout."""
    chain = case.program
    return isinstance(chain, Chain) and any(isinstance(step, Convert) for step in chain.steps) and any(
        dtype(one.dtype).storage_bits == 16 for one in chain.arrays)


def _issue(name: str, *entries: str, word: str | tuple[str, ...] = (), match: Callable[[Case], bool] | None = None,
           title: str, upstream: tuple[str, ...] = (), stage: Stage = "ttgir", truth: Truth = "defect",
           predicted: str = "", relative: Callable[[Case], Case | None] | None = None,
           instead: Callable[[Case], Case | None] | None = None, errors: tuple[str, ...] = (),
           kinds: tuple[str, ...] = WRONG) -> KnownIssue:
    return KnownIssue(
        name=name, title=title, upstream=upstream, stage=stage, truth=truth, where=_WHERE,
        entries=tuple(f"gluon.{one}" for one in entries), errors=errors,
        match=match or _has(*((word,) if isinstance(word, str) else word)),
        explains=f"{_PREDICTED}:{predicted}" if predicted else "", relative=relative, instead=instead,
        kinds=kinds)


ISSUES = (
    _issue("narrow-shuffle-swapped-twice", "convert_layout/value-e95cb3acf8", "register_views/value-79e5eee5df",
           word="bytes swapped twice", upstream=("triton#9713",), predicted="swapped_twice",
           title="bytes that change lanes within a warp are exchanged twice"),
    _issue("odd-halves-lost-behind-ldmatrix", "convert_layout/value-ecfd71c0ac", stage="ptxas",
           match=_converts_halves, predicted="odd_halves_lost",
           title="behind ldmatrix every second element of 16 bits is the one in front of it"),
    _issue("fp4-along-an-outer-axis", "fp4/failed-to-infer-encoding-d1d9ca8714", "fp4/value-64b41eb6df",
           word="behind another axis", upstream=("triton#10492",), relative=plainer.decoded,
           errors=("failed to infer encoding",), title="bytes are decoded as if the axis were a thread's innermost"),
    _issue("padding-cuts-vectors", "local_memory/misaligned-address-fce34db3ff", word="padding cuts vectors",
           relative=plainer.buffers, errors=ASTRAY, kinds=(),
           title="a vector access begins where a padding has moved it"),
    _issue("linear-shared-offsets-added", "local_memory/value-db2e1ea90d", "view_chain/illegal-address-7f92aee734",
           "view_chain/value-775a143076", word="mixed offsets", upstream=("triton#10122",), relative=plainer.buffers,
           errors=ASTRAY, title="offsets that share bits are added instead of combined with exclusive or"),
    _issue("transposed-buffer-without-swizzle", "view_chain/value-5d31aec4cf", word="transposition lost",
           upstream=("triton#10453",), predicted="transposition_lost", instead=plainer.buffers_untransposed,
           title="a transposed NVMMA buffer without swizzle is seen as if it were not transposed"),
    _issue("transposed-slice-of-linear-buffer", "view_chain/sigabrt-4e679f5cf0", word="transposed slice",
           relative=plainer.untransposed_slices, errors=("SIGABRT",), kinds=(),
           title="transposing a slice of a buffer with a linear layout ends the compiler"),
    _issue("masked-narrow-negative-other", "reduce_scan_layouts/value-427bac5f25", match=_masks_what_it_folds,
           upstream=("triton#4597",), relative=plainer.others,
           title="a negative `other` of a masked load of packed narrow integers is -1 in some lanes"),
    _issue("masked-narrow-negative-other", word="negative other of 8 or 16 bits", upstream=("triton#4597",),
           predicted="other_repeated", instead=plainer.others,
           title="a negative `other` of a masked load of packed narrow integers is -1 in some lanes"),
    _issue("fp8-pair-merged-with-a-stale-register", "register_views/value-c44fb4a82c", stage="ptxas",
           word="fp8 other of whole registers", relative=plainer.others,
           title="of two equal pairs of fp8 only the lower one is written"),
    _issue("scan-carry-from-a-repeated-lane", "reduce_scan_layouts/value-0f1eede4cd", word="lanes repeated",
           upstream=("triton#9185", "triton#9189"), relative=plainer.folded,
           title="a scan fetches its carry from a lane that repeats others"),
    _issue("scan-runs-in-one-thread", "reduce_scan_layouts/value-19436f7f28", word="runs in one thread",
           relative=plainer.folded, title="a scan in one thread adds the total behind a run"),
    _issue("scan-registers-apart", "reduce_scan_layouts/value-70f03e5888", word="registers apart",
           relative=plainer.folded, title="a scan takes registers for neighbours that are none"),
    _issue("reduced-lanes-or-warps-apart", "reduce_scan_layouts/value-b42e750096",
           "reduce_scan_layouts/value-c62a0c4b5b", word=("lanes apart", "warps apart"), upstream=("triton#9219",),
           relative=plainer.folded,
           title="a fold takes lanes or warps for neighbours that are none"),
    _issue("scan-layout-larger-than-tensor", "reduce_scan_layouts/assertion--numscanblocks-648b6515ea",
           word="larger than the tensor", upstream=("triton#7817", "triton#9185"),
           errors=("Assertion `numScanBlocks *",), title="a scan of a layout larger than the tensor does not compile"),
    _issue("reduced-warp-bits-out-of-order", "reduce_scan_layouts/assertion--regll----redu-e053a16be9", match=_reduces,
           errors=("Assertion `regLl == ReduceOpHelper::reducedRegLaneLayout*",),
           title="a reduction over warps whose bits are in another order does not compile"),
    _issue("gather-shuffles-grow-quadratically", "register_views/compile-9f3cb8af62", word="gather of many registers",
           truth="contract", errors=("compile",), title="a gather within a warp takes minutes to compile"),
)
