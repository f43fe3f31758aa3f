"""Known issues of extrema, wherever they are folded or taken of two."""


from tridiff.fuzz.known.contents import of_small_numbers
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.fuzz.target.subjects import PLAIN
from tridiff.kernels.language.call import Call

_EXTREMA = ("tl.max", "tl.min", "tl.max.indices", "tl.min.indices", "tl.minimum", "tl.maximum", "tl.clamp")
_BY_A_FUNCTION = ("tl.reduce", "tl.reduce.pair", "tl.reduce.three", "tl.associative_scan")


def _extrema(case: Case) -> bool:
    call = case.program
    return isinstance(call, Call) and call.row in (*_EXTREMA, *_BY_A_FUNCTION) and of_small_numbers(case) != case


ISSUES = (
    KnownIssue(
        name="interpreter-minds-signalling-nans", stage="interpreter", truth="contract", backends=("interpreter",),
        where=(("language.*", "own"), ("language.*", PLAIN)),
        entries=("language.reductions/nan-unexpected-236875debc",), match=_extrema, relative=of_small_numbers,
        explains="tridiff.fuzz.known.predictions.extrema:signalling",
        title="numpy's fmax and fmin give NaN beside a signalling NaN in some places of a line, GPUs the number"),
)
