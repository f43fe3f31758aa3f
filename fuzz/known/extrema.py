"""Known issues of extrema, wherever they are folded or taken of two."""

from msgspec.structs import replace

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case, Content, Small
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call
from tridiff.oracles.dtypes import dtype

_EXTREMA = ("tl.max", "tl.min", "tl.max.indices", "tl.min.indices", "tl.minimum", "tl.maximum", "tl.clamp")
_BY_A_FUNCTION = ("tl.reduce", "tl.reduce.pair", "tl.reduce.three", "tl.associative_scan")


def _numbers(case: Case) -> Case:
    """The case with floats that hold no NaNs."""
    small = Content(base=Small(seed=0, low=-4, high=4))
    return replace(case, arrays=tuple(
        replace(spec, content=small) if spec.content is not None and dtype(spec.dtype).is_float else spec
        for spec in case.arrays))


def _extrema(case: Case) -> bool:
    call = case.program
    return isinstance(call, Call) and call.row in (*_EXTREMA, *_BY_A_FUNCTION) and _numbers(case) != case


ISSUES = (
    KnownIssue(
        name="interpreter-minds-signalling-nans", stage="interpreter", truth="contract", backends=("interpreter",),
        where=(("language.*", "own"), ("language.*", PLAIN)),
        entries=("language.reductions/nan-unexpected-236875debc",), match=_extrema, relative=_numbers,
        explains="tridiff.fuzz.known.predictions.extrema:signalling",
        title="numpy's fmax and fmin give NaN beside a signalling NaN in some places of a line, GPUs the number"),
)
