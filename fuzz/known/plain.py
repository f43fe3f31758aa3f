"""Known issues of Triton's interpreter as it is: one for each repair of ours, under the word of its switch.

The control is the same case with that repair on (`tridiff.fuzz.workers.plain`).
"""

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.target.subjects import PLAIN

TITLES = {
    "libdevice": "functions of libdevice are empty stubs in the interpreter: they give None",
    "conversions": "the interpreter converts to and from bf16 and 8-bit floats with other rounding and overflow",
    "narrow_arithmetic": "the interpreter computes, compares and folds bf16 and 8-bit floats by their bit patterns",
    "fma": "tl.fma of the interpreter rounds twice",
    "int1_arithmetic": "sums and products of truth values leave i1 in the interpreter",
    "shift_operands": "the interpreter's >> of unsigned blocks changes its operands",
    "all_ones": "the interpreter refuses ~ of narrow unsigned blocks",
    "loop_bounds": "the interpreter refuses scalar tensors as bounds of loops",
    "block_truth": "`and`, `or` and `not` of blocks ask for one truth value in the interpreter",
    "assertions": "the interpreter checks no device assertion, and some overflows that the compiler does not",
    "poison_loads": "lanes that no load reads are 0 in the interpreter",
    "poison_arithmetic": "quotients by zero and shifts by the width or more are 0 in the interpreter",
    "undefined_lanes": "undefined values go on unseen in the interpreter",
    "patch_once": "every call of a device function patches the language anew in the interpreter",
}
"""What happens without each repair, by its switch."""


def word(repair: str) -> str:
    """The name of the known issue of a switch."""
    return f"interpreter-without-{repair.replace('_', '-')}"


ISSUES = tuple(
    KnownIssue(name=word(repair), title=title, stage="interpreter", where=(("language.*", PLAIN),),
               match=lambda case: True, repair=repair)
    for repair, title in TITLES.items())
