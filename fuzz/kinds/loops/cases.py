"""The arrays that belong to a loop, which cases are valid, and how loops become simpler."""

from collections.abc import Iterable

from msgspec.structs import replace

from tridiff.fuzz.kinds import fields
from tridiff.fuzz.kinds.plans.cases import contents_of, small_integers, unplaced
from tridiff.fuzz.records import ArraySpec, Case, Content, Explicit, Layout, Permutation, Small
from tridiff.kernels.gluon.values import EXACT
from tridiff.kernels.pipelines.loop_programs import (
    BoxCopy,
    BoxReduction,
    DescribedProduct,
    Hinted,
    LineFold,
    Loop,
    Product,
    RowGather,
    Stream,
    Work,
    half_a_slot,
    problem,
)

MOST = 1 << 19
"""Elements of all arrays of a case together: more only makes judging slow."""
_NAMES = {Hinted: "hinted", Stream: "stream", LineFold: "fold", Product: "product", DescribedProduct: "product",
          BoxCopy: "copy", BoxReduction: "reduction", RowGather: "gather"}
"""The word for a form in findings and in the ledger."""
_KEPT = ("kind", "dtype", "specialised")


def loop_of(case: Case) -> Loop:
    """The case's loop; ValueError for a case without one."""
    if not isinstance(case.program, Loop):
        raise ValueError(f"{case.target} needs a loop")
    return case.program


def form(case: Case) -> str:
    """The word for the form of the case's loop."""
    return _NAMES[type(loop_of(case))]


def work_of(loop: Loop) -> Work:
    """What is computed, whatever options the loop has."""
    return loop.work if isinstance(loop, Hinted) else loop


def dtype_of(loop: Loop) -> str:
    """Element type of the inputs."""
    work = work_of(loop)
    return "i32" if isinstance(work, Stream | LineFold) else work.dtype


def sizes_of(loop: Loop, programs: int) -> dict[str, int]:
    """Axis lengths of the arrays. Rows are programs, but of a gather, which has one."""
    match loop := work_of(loop):
        case Stream() | LineFold():
            return {"rows": programs, "w": loop.width}
        case Product() | DescribedProduct():
            return {"rows": programs, "m": loop.m, "n": loop.n, "k": loop.inner}
        case BoxCopy() | BoxReduction():
            return {"rows": programs, "r": loop.rows, "w": loop.width}
        case RowGather():
            return {"h": loop.rows, "w": loop.columns}


def arrays_of(loop: Loop, given: dict[str, Content]) -> tuple[ArraySpec, ...]:
    """Inputs with their contents, and the output of a loop; an input that `given` lacks has none."""
    dtype = dtype_of(loop)

    def one(name: str, kind: str, *dims: str, layout: Layout = Layout()) -> ArraySpec:  # noqa: B008
        return ArraySpec(name=name, dtype=kind, dims=dims, layout=layout, content=given.get(name))

    match loop := work_of(loop):
        case Stream():
            return one("x", dtype, "rows", "w"), one("y", "i32", "rows", "w"), one("out", dtype, "rows", "w")
        case LineFold():
            return one("x", dtype, "rows", "w"), one("out", dtype, "rows")
        case Product() | DescribedProduct():
            right = ("n", "k") if isinstance(loop, DescribedProduct) or loop.transposed else ("k", "n")
            result = "i32" if dtype == "i8" else "fp32"
            return (one("a", dtype, "rows", "m", "k"), one("b", dtype, "rows", *right),
                    one("out", result, "rows", "m", "n"))
        case BoxCopy():
            padded = Layout(gap=-loop.width % 16)
            return tuple(one(name, dtype, "rows", "r", "w", layout=padded) for name in ("x", "out"))
        case BoxReduction():
            return one("x", dtype, "rows", "r", "w"), one("initial", dtype, "r", "w"), one("out", dtype, "r", "w")
        case RowGather():
            return one("x", dtype, "h", "w"), one("index", "i32", "h"), one("out", dtype, "h", "w")


def elements(loop: Loop, programs: int) -> int:
    """Elements of all arrays together."""
    sizes = sizes_of(loop, programs)
    return sum(spec.span(sizes) for spec in arrays_of(loop, {}))


def sums_exact(loop: Loop, programs: int) -> bool:
    """Whether sums of floats over all programs, of numbers up to 4, are exact in every order."""
    return not isinstance(loop, BoxReduction) or loop.dtype not in EXACT or 4 * (programs + 1) <= EXACT[loop.dtype]


def permuted(loop: Loop) -> str:
    """The input that must hold every position once, "" if there is none."""
    work = work_of(loop)
    if isinstance(work, RowGather):
        return "index"
    return "y" if isinstance(work, Stream) and work.kind == "indirect" else ""


def approximate(case: Case) -> bool:
    """Whether the output is a product of floats that are not small integers."""
    loop = work_of(loop_of(case))
    return isinstance(loop, Product | DescribedProduct) and loop.dtype != "i8" and not small_integers(case)


def numeric(case: Case) -> bool:
    """Whether zeros of the output may have either sign: sums of floats in an order that nobody knows."""
    loop = work_of(loop_of(case))
    summed = isinstance(loop, Product | DescribedProduct | BoxCopy | BoxReduction)
    return summed and dtype_of(loop).startswith(("fp", "bf"))


def across_programs(case: Case) -> bool:
    """Whether the output takes something from every program."""
    return all(spec.content is not None or spec.dims[0] != "rows" for spec in case.arrays)


def valid(case: Case) -> bool:
    """Whether a kernel can be made of the loop and everything else in the case follows from it.

    One thing is valid but not drawn, because the hardware is known to write beyond the end of lines there:
    `BoxCopy.cuts_unit`.
    """
    loop = case.program
    if not isinstance(loop, Loop) or problem(loop) or case.params:
        return False
    programs = case.sizes.get("rows", 1)
    if programs < 1 or case.sizes != sizes_of(loop, programs) or case.elements() > MOST:
        return False
    if not sums_exact(loop, programs) or case.options.num_warps not in (1, 2, 4, 8) or case.variants:
        return False
    given, positions = contents_of(case), permuted(loop)
    if positions and (positions not in given or not isinstance(given[positions].base, Permutation)):
        return False
    wanted = arrays_of(loop, given)
    return unplaced(case) == wanted and all((spec.content is None) == (spec.name == "out") for spec in wanted)


def label(case: Case) -> str:
    """What tells findings apart: the form, and where the compiler makes the partitions, how it splits the work."""
    loop = loop_of(case)
    if isinstance(loop, Hinted):
        words = (_kind(loop.work), "specialised" if loop.specialised else "", "nested" if loop.lines > 1 else "")
        return ", ".join(filter(None, words))
    if isinstance(loop, BoxCopy | BoxReduction) and half_a_slot(loop):
        return "boxes of half a slot"
    if not isinstance(loop, DescribedProduct) or not loop.specialised:
        return _kind(loop)
    if loop.stages == 1:
        return "product, one stage"
    store = {"pointers": "", "own_map": ", own maps", "shared_map": ", one map"}[loop.store]
    return f"product, rows {'split' if loop.m >= 128 else 'whole'}{store}"


def _kind(loop: Loop) -> str:
    kind = loop.kind if isinstance(loop, Stream | LineFold | BoxReduction) else ""
    return f"{_NAMES[type(loop)]} {kind}".strip()


def cells(case: Case) -> tuple[str, ...]:
    """Words that a campaign counts, for example "loop=copy dtype=i8 described_store=True"."""
    loop = loop_of(case)
    if isinstance(loop, Hinted):
        name = _NAMES[type(loop.work)]
        if isinstance(loop.work, DescribedProduct):
            name = "described product"
        options = " ".join(f"{field}={value}" for field, value in fields.words(loop)
                           if field in ("flattened", "one_accumulator", "specialised", "unrolled"))
        return (f"hinted={name} lines={loop.lines} {options}", f"hinted={name} stages={loop.work.stages}",
                f"hinted={name} invariants_stay={loop.invariants_stay}")
    name = _NAMES[type(loop)]
    said = " ".join(f"{field}={value}" for field, value in fields.words(loop) if field not in (
        "m", "n", "rows", "columns", "added", "specialised"))
    stages = () if isinstance(loop, RowGather) else (f"loop={name} stages={loop.stages}",)
    return *stages, f"loop={name} {said}"


def size(case: Case) -> tuple[int, ...]:
    """The fields of the loop in their order, which is that of their importance."""
    return fields.size(loop_of(case))


def steps(case: Case) -> Iterable[Case]:
    """Cases with one field simpler; contents stay unless they are listed and would not fit."""
    for loop in fields.simpler(loop_of(case), kept=_kept(loop_of(case))):
        if not problem(loop):
            yield _with_loop(case, loop)


def _kept(loop: Loop) -> tuple[str, ...]:
    """Fields that say what a loop is about; where options are the subject, they fall one by one instead."""
    return ("kind", "dtype") if isinstance(loop, Hinted) else _KEPT


def _with_loop(case: Case, loop: Loop) -> Case:
    given, sizes = contents_of(case), sizes_of(loop, case.sizes.get("rows", 1))
    if sizes != case.sizes:
        given = {name: Content(base=Small()) if isinstance(content.base, Explicit) else content
                 for name, content in given.items()}
    return replace(case, program=loop, sizes=sizes, arrays=arrays_of(loop, given))
