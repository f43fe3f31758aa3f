"""Planted faults of single operations: wrong expressions in the place of right ones, run by eager torch (subject `own`)
and judged as what torch.compile makes of the right ones. Imports neither torch nor Triton."""

import re
from dataclasses import replace

from tridiff.fuzz.inductor.operations import Operation

_NO_NAN = "{0}.nan_to_num(-float('inf'), float('inf'), -float('inf'))"
FAULTS = {
    "pointwise": {
        "truncated_for_floored": (r"floor\(", "trunc("),
        "half_rounded_up": (r"torch\.round\(\{0\}\)", "torch.floor({0} + 0.5)"),
        "nan_dropped": (r"torch\.(min|max)imum", r"torch.f\1"),
        "sign_of_the_dividend": ("remainder", "fmod"),
        "digits_cancelled": (r"torch\.expm1\(\{0\}\)", "torch.exp({0}) - 1"),
    },
    "folding": {
        "zero_times": (r"\{0\} \* 0.*|\{0\} - \{0\}", "torch.zeros_like({0})"),
        "zero_added": (r"\{0\} \+ 0", "1 * {0}"),
        "undone": (r"\(\{0\} \+ 1\) - 1", "1 * {0}"),
        "always_equal": (r"\{0\} == \{0\}", "torch.ones_like({0}, dtype=torch.bool)"),
    },
    "conversion": {
        "saturated": (r"(\.to\(torch\.int8)", r".double().clamp(-128, 127)\1"),
        "sign_is_truth": (r"\.to\(torch\.bool\)", ".double() > 0"),
        "view_converts": (r"\.view\(", ".to("),
        "through_bfloat16": (r"(\.to\(torch\.float)", r".bfloat16()\1"),
    },
    "reduction": {
        "last_of_ties": (r"(\{0\})(\.arg)", r"\1.shape[-1] - 1 - \1.flip(-1)\2"),
        "nan_dropped": (r"\{0\}\.amax", _NO_NAN + ".amax"),
        "last_left_out": (r"\{0\}\.(?=[smp])", "{0}[..., :-1]."),
        "corrected": ("correction=0", "correction=1"),
    },
    "scan": {
        "exclusive": ("(torch.cumsum.*)", r"\1 - 1 * {0}"),
        "carry_lost": (r"(torch\.cum\w+\()\{0\}, -1\)$", r"torch.cat([\1one, -1) for one in {0}.split(32, -1)], -1)"),
        "nan_dropped": (r"max\(\{0\}", f"max({_NO_NAN}"),
    },
    "sort": {
        "descending_ignored": ("descending=True", "descending=False"),
        "ties_reversed": (r"(.*\{0\})(.*\[1\])", r"{0}.shape[-1] - 1 - \1.flip(-1)\2"),
        "nan_dropped": (r"sort\(\{0\}", f"sort({_NO_NAN}"),
    },
    "bucketize": {
        "other_side": ("right=True", "right=False"),
        "last_boundary_left_out": (r"\{1\}", "{1}[:-1]"),
    },
}
"""By family and name: a pattern, and what takes its place."""


def spoiled(operation: Operation, fault: str) -> Operation:
    """The operation with a fault, if it has a place for that."""
    pattern, other = FAULTS[operation.family].get(fault, ("$^", ""))
    return replace(operation, torch=re.sub(pattern, other, operation.torch))
