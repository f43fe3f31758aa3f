"""Hypothesis strategies of loops and of the cases around them.

Loops are built so that all draws are legal; `tridiff.kernels.pipelines.loop_programs.problem` has the last word.
"""

from typing import Any

from hypothesis import assume, strategies as st
from msgspec.structs import replace

from tridiff.fuzz.kinds.fields import values
from tridiff.fuzz.kinds.loops import cases
from tridiff.fuzz.kinds.plans.draw import FINITE, SMALL
from tridiff.fuzz.records import Case, Content, LaunchOptions, Permutation
from tridiff.fuzz.strategies import contents, delayed_warps
from tridiff.fuzz.target import Limits
from tridiff.kernels.pipelines.loop_programs import (
    SHARED_BYTES,
    BoxCopy,
    BoxReduction,
    DescribedProduct,
    Hinted,
    LineFold,
    Loop,
    Product,
    RowGather,
    Stream,
    problem,
    shared_bytes,
)
from tridiff.kernels.pipelines.plan import REDUCED

LOOPS = ("stream", "fold", "product")
DESCRIBED = ("copy", "reduction")
PRODUCTS = ("product",)
GATHERED = ("gather",)
HINTED = ("hinted",)


def _contents(draw: Any, loop: Loop) -> dict[str, Content]:
    dtype = cases.dtype_of(loop)
    float_ = dtype.startswith(("fp", "bf"))
    match loop := cases.work_of(loop):
        case Product() | DescribedProduct():
            exact = dtype == "fp32" or draw(st.integers(0, 2)) != 2
            kind = contents(dtype="i8") if dtype == "i8" else SMALL if exact else FINITE
            return {"a": draw(kind), "b": draw(kind)}
        case BoxReduction():
            kind = SMALL if float_ else contents(dtype=dtype)
            return {"x": draw(kind), "initial": draw(kind)}
        case RowGather():
            return {"x": draw(contents(dtype=dtype)), "index": _positions(draw)}
        case BoxCopy():
            return {"x": draw(SMALL if float_ else contents(dtype=dtype))}
        case LineFold():
            # The interpreter of 3.6.0 does not wrap scalar sums.
            return {"x": draw(SMALL if loop.kind == "sum" else contents(dtype=dtype))}
        case Stream():
            x, positions = draw(contents(dtype=dtype)), _positions(draw)
            return {"x": x, "y": positions if loop.kind == "indirect" else draw(contents(dtype="i32"))}


def _positions(draw: Any) -> Content:
    return Content(base=Permutation(seed=draw(st.integers(0, 9999))))


@st.composite
def loop_cases(draw: st.DrawFn, *, target: str, forms: tuple[str, ...], specialised: bool, limits: Limits) -> Case:
    """One kernel with its parameters. Rows are programs."""
    form = draw(st.sampled_from(forms))
    loop: Loop
    if form == "hinted":
        form = draw(st.sampled_from(LOOPS))
        loop = _hinted(draw, form)
    else:
        loop = _loop(draw, form, specialised)
    assume(not problem(loop))
    programs, gathers = 1, isinstance(loop, RowGather)
    if not gathers:
        most = min(8 * limits.elements, cases.MOST)
        programs = draw(st.sampled_from([p for p in (1, 2, 5, 32, 132) if p == 1 or (
            p <= limits.rows and cases.elements(loop, p) <= most and cases.sums_exact(loop, p))]))
    warps = draw(st.sampled_from((4, 8) if form == "product" else (4, 1, 2, 8)))
    split = isinstance(loop, Hinted) and loop.specialised
    delay = None if gathers else draw(delayed_warps())
    return Case(target=target, sizes=cases.sizes_of(loop, programs), program=loop, delay=delay,
                arrays=cases.arrays_of(loop, _contents(draw, loop)),
                options=LaunchOptions(num_warps=4 if specialised or gathers or split else warps),
                repeats=draw(st.integers(0, 1)))


def _loop(draw: Any, form: str, specialised: bool) -> Loop:
    if form == "gather":
        return RowGather(dtype=draw(st.sampled_from(values(RowGather, "dtype"))), scatter=draw(st.booleans()),
                         rows=draw(st.sampled_from((32, 8, 64))), columns=draw(st.sampled_from((32, 64, 128))))
    stages = draw(st.integers(1, 5))
    if form in ("stream", "fold"):
        line = Stream if form == "stream" else LineFold
        block, kind = draw(st.sampled_from(values(line, "block"))), draw(st.sampled_from(values(line, "kind")))
        return line(stages=stages, block=block, kind=kind, width=draw(st.sampled_from(
            (block, 1, 2 * block, 5 * block, 7 * block + 3, block - 1, 3))))
    if form == "product":
        return _product(draw, specialised)
    rows, columns = draw(st.sampled_from((16, 8, 1, 32, 64))), draw(st.sampled_from((32, 16, 64, 128)))
    if form == "reduction":
        reduced = draw(st.sampled_from(tuple(REDUCED)))
        dtype = draw(st.sampled_from(REDUCED[reduced]))
        return BoxReduction(rows=rows, columns=columns, stages=stages, kind=reduced, dtype=dtype,
                            width=16 * draw(st.integers(1, columns // 4)))
    copy = BoxCopy(rows=rows, columns=columns, stages=stages, dtype=draw(st.sampled_from(values(BoxCopy, "dtype"))),
                   added=draw(st.sampled_from((1, 0, 3))), described_store=draw(st.booleans()), width=1)
    width = draw(st.sampled_from((columns, 4 * columns, columns + 1, 3 * columns - 7, 5)))
    if copy.described_store:
        width += -width % copy.unit
    return BoxCopy(rows=rows, columns=columns, stages=stages, dtype=copy.dtype, added=copy.added, width=width,
                   described_store=copy.described_store)


def _hinted(draw: Any, form: str) -> Hinted:
    work = _loop(draw, form, False)
    if isinstance(work, DescribedProduct):
        work = replace(work, store="pointers")
    assert isinstance(work, Stream | LineFold | Product | DescribedProduct)
    unrolled, lines = draw(st.sampled_from((1, 2, 3, 4))), draw(st.sampled_from((1, 2, 3)))
    return Hinted(work=work, lines=lines, unrolled=unrolled, one_accumulator=draw(st.booleans()),
                  flattened=draw(st.booleans()), invariants_stay=draw(st.booleans()), specialised=draw(st.booleans()))


def _product(draw: Any, specialised: bool) -> Product | DescribedProduct:
    m = draw(st.sampled_from((64, 128) if specialised else (64, 16, 32, 128)))
    dtype = draw(st.sampled_from(values(DescribedProduct if specialised else Product, "dtype")))
    block = draw(st.sampled_from((64, 32, 128) if specialised or dtype != "fp32" else (32, 64)))
    n = draw(st.sampled_from((64, 32, 128) if specialised else (64, 16, 32)))
    trips = draw(st.sampled_from((1, 2, 3, 4, 5, 8)))
    short = 0 if specialised else draw(st.sampled_from((0, 0, 16)))
    described = specialised or (draw(st.integers(0, 3)) == 3 and dtype in ("fp16", "bf16") and not short)
    inner = max(trips * block - short, 16)
    stages = draw(st.sampled_from([one for one in range(1, 6) if shared_bytes(
        Product(inner=inner, m=m, n=n, stages=one, block=block, dtype=dtype)) <= SHARED_BYTES]))
    if not described:
        return Product(inner=inner, m=m, n=n, stages=stages, block=block, dtype=dtype,
                       transposed=dtype == "i8" or draw(st.booleans()))
    store: Any = ("shared_map" if draw(st.integers(0, 3)) > 0 else "own_map") if draw(st.booleans()) else "pointers"
    return DescribedProduct(inner=inner, m=m, n=n, stages=stages, block=block, dtype=dtype, store=store,
                            specialised=specialised)
