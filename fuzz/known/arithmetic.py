"""Known issues of single operations and loads in helpers: signs of zero, values that stand for masked elements."""

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.records import Case
from tridiff.oracles.dtypes import dtype as dtype_info

_PREDICTED = "tridiff.fuzz.known.predictions.arithmetic"


def _of_float(case: Case) -> bool:
    return dtype_info(case.arrays[0].dtype).kind == "float"


def _padded_narrow(case: Case) -> bool:
    """Whether rows of 8- or 16-bit integers are shorter than their block, so that lanes are masked."""
    cols = case.sizes["cols"]
    return case.array("a").dtype in ("i8", "i16") and cols & (cols - 1) != 0


ISSUES = (
    KnownIssue(
        name="negation-by-subtraction", title="-x of +0.0 is +0.0", upstream=("triton#10270",),
        stage="front-end",
        where=(("triton.negate", "own"),), entries=("triton.negate/zero-sign-c65330b634",),
        match=_of_float, explains=f"{_PREDICTED}:negated_zero"),
    KnownIssue(
        name="masked-narrow-negative-other",
        title="a negative `other` of a masked load of packed narrow integers is -1 in some lanes",
        upstream=("triton#4597",), stage="ttgir",
        where=(("helpers.max2", "own"), ("helpers.max2", "inductor"), ("helpers.max_with_index", "own"),
               ("helpers.max_with_index", "inductor")),
        entries=("helpers.max2/value-1ba7511be9",),
        match=_padded_narrow, explains=f"{_PREDICTED}:minus_one_in_maximum"),
)
