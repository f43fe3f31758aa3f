"""What is known of a pointwise operation. Imports neither torch nor Triton."""

from dataclasses import dataclass
from typing import Literal

Signature = tuple[str, ...]
"""Dtype names of the operands, in Triton's spelling (fp32, i8, ...)."""

BOOL: Signature = ("i1",)
SIGNED: Signature = ("i8", "i16", "i32", "i64")
UNSIGNED: Signature = ("u8", "u16", "u32", "u64")
INTEGERS: Signature = SIGNED + UNSIGNED
HALVES: Signature = ("bf16", "fp16")
FP8: Signature = ("fp8e4nv", "fp8e5")
FULL: Signature = ("fp32", "fp64")
FLOATS: Signature = HALVES + FULL
ALL: Signature = BOOL + INTEGERS + FP8 + FLOATS

WIDTHS = {"i1": 1, "fp8e4nv": 8, "fp8e5": 8, "bf16": 16, "fp16": 16, "fp32": 32, "fp64": 64,
          **{name: int(name[1:]) for name in INTEGERS}}

TRITON_NAMES = {"i1": "tl.int1", "fp8e4nv": "tl.float8e4nv", "fp8e5": "tl.float8e5", "bf16": "tl.bfloat16",
                "fp16": "tl.float16", "fp32": "tl.float32", "fp64": "tl.float64",
                **{name: f"tl.int{name[1:]}" for name in SIGNED}, **{name: f"tl.uint{name[1:]}" for name in UNSIGNED}}
"""How generated source spells each dtype."""

Group = Literal["exact arithmetic", "division", "integer division", "float division", "comparison", "min/max", "select",
                "logic", "shifts", "rounding", "sign/bits", "exponential", "trigonometric", "hyperbolic", "special",
                "decomposed", "conversion", "bit cast", "packed words"]
"""What operations are alike in, for weights, precision and records."""
ELEMENTARY: tuple[Group, ...] = ("exponential", "special", "trigonometric", "hyperbolic")
"""Groups of functions with an accuracy of several units in the last place."""

Halves = Literal["fp32", "own", "any"]
Course = Literal["", "monotone", "even"]
Exactness = Literal["", "bits", "numbers", "numbers, zeros alike", "either of two"]


@dataclass(frozen=True, slots=True)
class Form:
    """How an operation is written for some operand types.

    signatures: the operand types this form is for. template: an expression over `{0}`, `{1}`, `{2}`; `tl`,
    `libdevice` and `pointwise` are in scope (`table.IMPORTS`). result: index of the operand whose type the
    result has, or the name of the result's type.
    """

    signatures: tuple[Signature, ...]
    template: str
    result: int | str = 0


@dataclass(frozen=True, slots=True)
class Ulps:
    """How far results of an elementary function may be off, in units in the last place (contract: oracles.md §3).

    fp32, fp64: NVIDIA's published maximum errors. measured: that of the LLVM project's tests in fp32, None if they have
    none. policy32, policy64: figures that are allowed instead of the published ones. note: where they come from.
    """

    fp32: float
    fp64: float
    measured: float | None = None
    policy32: float | None = None
    policy64: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """An operation in other languages, "" where it has no text.

    torch: on tensors of equal types; `{0}`, `{1}`, `{2}` are the operands. numpy: on arrays of floats, as the second
    reference of torch.compile, with numpy as `np` and scipy.special as `special`; where it calls numpy alone, it is
    also what the interpreter computes for the libdevice function of the same name. judged, judged_integers: in
    Triton, for sweeps (`tridiff.fuzz.sweep.references` says what `a`, `b`, `c`, `p`, `q`, `r` are), on floats and on
    integers. predicate: the same for a result that is true or false, on both.
    """

    torch: str = ""
    numpy: str = ""
    judged: str = ""
    judged_integers: str = ""
    predicate: str = ""


NOWHERE = Texts()


@dataclass(frozen=True, slots=True)
class Op:
    """A pointwise operation: all that is known of it but its values, which each oracle has from a source of its own.

    group: heading of codegen.md §3. forms: at most one per signature, over the types that are computed with; for
    `halves="fp32"` no form names fp16 or bf16. halves: "fp32": operands are widened to fp32 and the result rounded
    once; "own": the meaning depends on the half type itself (nextafter, bit casts), so a value that lives in fp32
    must be rounded first; "any": both ways give the same (comparisons, selections, signs).
    variant_of: the operation that this is another lowering of, with the same meaning up to accuracy and the
    deviations that oracles/pointwise names; empty for the preferred one. note: what a reader must know.
    exact: how results in floats are compared that are right or wrong: by their bits, as numbers with the sign of zero,
    without it, or as numbers that two ways of rounding give; "" where an accuracy row judges them (`ulps`, or
    `tridiff.oracles.pointwise.TABLE`). texts: the operation in torch, numpy and for sweeps. ulps: accuracy of an
    elementary function. course: how the error of an operand carries into the result of a function of one variable:
    "monotone" functions are evaluated at both ends, "even" ones at both ends of the absolute value; slope: largest
    derivative, where one is known.
    """

    name: str
    group: Group
    forms: tuple[Form, ...]
    halves: Halves = "any"
    variant_of: str = ""
    note: str = ""
    exact: Exactness = ""
    texts: Texts = NOWHERE
    ulps: Ulps | None = None
    course: Course = ""
    slope: float | None = None

    @property
    def arity(self) -> int:
        """Number of operands."""
        return len(self.forms[0].signatures[0])

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """All operand types it takes, half types included."""
        found: dict[Signature, None] = {}
        for form in self.forms:
            for signature in form.signatures:
                if self.halves == "fp32" and "fp32" in signature:
                    for half in HALVES:
                        found[tuple(half if name == "fp32" else name for name in signature)] = None
                found[signature] = None
        return tuple(found)


def same(dtypes: Signature, arity: int) -> tuple[Signature, ...]:
    """Signatures whose operands all have one type."""
    return tuple((name,) * arity for name in dtypes)


def operation(name: str, group: Group, *forms: Form, halves: Halves = "any", variant_of: str = "", note: str = "",
              exact: Exactness = "", torch: str = "", numpy: str = "", judged: str = "", judged_integers: str = "",
              predicate: str = "") -> Op:
    """An operation with its texts."""
    texts = Texts(torch=torch, numpy=numpy, judged=judged, judged_integers=judged_integers, predicate=predicate)
    return Op(name, group, forms, halves, variant_of, note, exact, texts)


def real(name: str, group: Group, template: str, *, arity: int = 1, variant_of: str = "", note: str = "",
         exact: Exactness = "", torch: str = "", numpy: str = "", judged: str = "") -> Op:
    """An operation on floats that is computed in fp32 or fp64."""
    return operation(name, group, Form(same(FULL, arity), template), halves="fp32", variant_of=variant_of, note=note,
                     exact=exact, torch=torch, numpy=numpy, judged=judged)
