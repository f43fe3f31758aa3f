"""Known issues of conversions in calls of the language and in programs of statements."""

from functools import partial
from math import prod

from tridiff.fuzz.known.calls import of
from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.known.statements import having
from tridiff.fuzz.records import Case
from tridiff.fuzz.statements.cases import rewritten
from tridiff.kernels.language.call import Call
from tridiff.kernels.language.script import Node
from tridiff.oracles.dtypes import dtype


def _pairs_of_bytes(call: Call) -> bool:
    """Whether floats become bytes without a sign, more than one of them."""
    (given,) = call.operands
    return dtype(given.dtype).is_float and call.stored[0] == "u8" and prod(given.shape) > 1


def _low_bits(one: Node) -> bool:
    """Whether the bits of a number are cut to fewer."""
    return one.row == "cast" and not one.words.get("bitcast") and any(
        part.row == "cast" and part.words.get("bitcast") for part in one.parts)


def _of_a_number(case: Case) -> Case | None:
    """The number 1 in place of the bits that are cut."""
    return rewritten(case, lambda one: Node(row="cast", words={"to": one.word("to"), "function": True}, parts=(
        Node(row="number", words={"value": "1"}),)) if _low_bits(one) else one)


_LOW_BITS = partial(
    KnownIssue, name="low-bits-of-a-float-are-its-integer", stage="ptxas", truth="defect",
    title="the low bits of a computed float, stored by themselves, are those of the float as an integer",
    entries=("language.functions/value-8336943fa9",), kinds=("value",))

ISSUES = (
    _LOW_BITS(where=(("language.*", "own"),), match=having(_low_bits), relative=_of_a_number),
    _LOW_BITS(where=(("language.conversions", "own"),), match=of("tl.cast.low"),
              explains="tridiff.fuzz.known.predictions.conversions:low_bits_of_its_integer"),
    KnownIssue(
        name="pairs-of-bytes-not-cut", stage="ttgir", truth="defect", where=(("language.*", "own"),),
        entries=("language.conversions/value-e00f5612dc",), kinds=("value",), backends=("cuda",),
        title="a float beyond u8 changes the byte that is stored beside it",
        match=of("tl.cast", "tl.store.implicit", "gl.cast", "gl.store.implicit", having=_pairs_of_bytes),
        explains="tridiff.fuzz.known.predictions.conversions:pairs_not_cut"),
)
