"""Cases of ordinary kernels with pipelined or specialised loops and with tensor descriptors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from tridiff.fuzz.backends.delay import a_warp_at_most, built_in, of_launch, prompt_params
from tridiff.fuzz.kinds.plans.cases import contents_of, small_integers, unplaced
from tridiff.fuzz.kinds.plans.draw import FINITE, SMALL
from tridiff.fuzz.records import ArraySpec, Case, Content, LaunchOptions, Layout, Permutation
from tridiff.fuzz.strategies import contents, late_warps
from tridiff.fuzz.target import Limits
from tridiff.kernels.gluon.values import EXACT
from tridiff.kernels.pipelines.plan import DTYPE_BITS, REDUCED, TMA_SLOT, TMA_UNIT

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch

Params = dict[str, bool | int | str]
LOOPS = ("stream", "fold", "product")
DESCRIBED = ("copy", "reduction")
_STREAMS = ("add", "running", "indirect", "conditional")
_FOLDS = ("sum", "max", "xor")
_PRODUCTS = ("fp16", "bf16", "fp32", "i8")
_BLOCKS = (64, 16, 128, 256)
_COPIED = ("i32", "i8", "i16", "u32", "fp16", "bf16", "fp32")
_MOST = 1 << 19
"""Elements of all arrays of a case together: more only makes judging slow."""
_SHARED_BYTES = 200 << 10
"""Shared memory that a product's stages may take; the compiler adds buffers and barriers of its own (an sm_90 block can
have 227 KiB)."""


def _arrays(form: str, params: Params, given: dict[str, Content], sizes: dict[str, int]) -> tuple[ArraySpec, ...]:
    """Inputs with their contents, and the output of a form."""
    dtype = str(params["dtype"])
    padded = Layout(gap=-sizes.get("w", 0) % 16)

    def one(name: str, kind: str, *dims: str, layout: Layout = Layout()) -> ArraySpec:  # noqa: B008
        return ArraySpec(name=name, dtype=kind, dims=dims, layout=layout, content=given.get(name))

    if form == "stream":
        return (one("x", dtype, "rows", "w"), one("y", "i32", "rows", "w"), one("out", dtype, "rows", "w"))
    if form == "fold":
        return (one("x", dtype, "rows", "w"), one("out", dtype, "rows"))
    if form == "product":
        right = ("rows", "n", "k") if params["transposed"] else ("rows", "k", "n")
        result = "i32" if dtype == "i8" else "fp32"
        return (one("a", dtype, "rows", "m", "k"), one("b", dtype, *right), one("out", result, "rows", "m", "n"))
    if form == "copy":
        return (one("x", dtype, "rows", "r", "w", layout=padded), one("out", dtype, "rows", "r", "w", layout=padded))
    if form == "reduction":
        return (one("x", dtype, "rows", "r", "w"), one("initial", dtype, "r", "w"), one("out", dtype, "r", "w"))
    return (one("x", dtype, "h", "w"), one("index", "i32", "h"), one("out", dtype, "h", "w"))


def _contents(draw: Any, form: str, params: Params) -> dict[str, Content]:
    dtype = str(params["dtype"])
    if form == "product":
        exact = dtype == "fp32" or draw(st.integers(0, 2)) != 2
        kind = contents(dtype="i8") if dtype == "i8" else SMALL if exact else FINITE
        return {"a": draw(kind), "b": draw(kind)}
    if form == "reduction" and dtype.startswith(("fp", "bf")):
        return {"x": draw(SMALL), "initial": draw(SMALL)}
    if form == "gather":
        return {"x": draw(contents(dtype=dtype)), "index": Content(base=Permutation(seed=draw(st.integers(0, 9999))))}
    names = {"fold": ("x",), "copy": ("x",), "reduction": ("x", "initial"), "stream": ("x",)}[form]
    # The interpreter of 3.6.0 does not wrap scalar sums.
    kind = SMALL if params.get("kind") == "sum" else contents(dtype=dtype)
    found = {name: draw(kind) for name in names}
    if form == "copy" and dtype.startswith(("fp", "bf")):
        found = {"x": draw(SMALL)}
    if form == "stream":
        positions = Content(base=Permutation(seed=draw(st.integers(0, 9999))))
        found["y"] = positions if params["kind"] == "indirect" else draw(contents(dtype="i32"))
    return found


@st.composite
def loop_cases(draw: st.DrawFn, *, target: str, forms: tuple[str, ...], specialised: bool, limits: Limits) -> Case:
    """One kernel with its parameters. Rows are programs."""
    form = draw(st.sampled_from(forms))
    params, sizes = _drawn(draw, form, specialised)
    if form != "gather":
        most = min(8 * limits.elements, _MOST)
        sizes["rows"] = draw(st.sampled_from([p for p in (1, 2, 5, 32, 132) if p == 1 or (
            p <= limits.rows and _elements(form, params, sizes | {"rows": p}) <= most
            and _sums_exact(form, params, p))]))
    warps = draw(st.sampled_from((4, 8) if form == "product" else (4, 1, 2, 8)))
    late = draw(late_warps()) if form != "gather" else {}
    return Case(target=target, sizes=sizes, params={**params, **late},
                arrays=_arrays(form, params, _contents(draw, form, params), sizes),
                options=LaunchOptions(num_warps=4 if specialised or form == "gather" else warps),
                repeats=draw(st.integers(0, 1)))


def about(case: Case) -> str:
    """What tells findings apart: the form, and where the compiler makes the partitions, how it splits the work."""
    p = case.params
    if p["form"] in DESCRIBED and int(p["stages"]) > 1 and _box_bytes(p) % TMA_SLOT:
        return "boxes of half a slot"
    if not p.get("specialised"):
        return f"{p['form']} {p.get('kind', '')}".strip()
    if int(p["stages"]) == 1:
        return "product, one stage"
    rows = "split" if case.sizes["m"] >= 128 else "whole"
    store = ", one map" if p["one_map"] else ", own maps" if p["described_store"] else ""
    return f"product, rows {rows}{store}"


def _box_bytes(params: Params) -> int:
    return int(params["rows"]) * int(params["columns"]) * DTYPE_BITS[str(params["dtype"])] // 8


def _elements(form: str, params: Params, sizes: dict[str, int]) -> int:
    return sum(spec.span(sizes) for spec in _arrays(form, params, {}, sizes))


def _sums_exact(form: str, params: Params, programs: int) -> bool:
    """Whether sums of floats over all programs, of numbers up to 4, are exact in every order."""
    dtype = str(params["dtype"])
    return form != "reduction" or dtype not in EXACT or 4 * (programs + 1) <= EXACT[dtype]


def _fits_shared(params: Params, m: int, n: int) -> bool:
    """Whether a product's stages fit in shared memory, with the result on its way out."""
    itemsize = DTYPE_BITS[str(params["dtype"])] // 8
    stages = int(params["stages"]) * (m + n) * int(params["block"]) * itemsize
    return stages + 4 * m * n <= _SHARED_BYTES


def _drawn(draw: Any, form: str, specialised: bool) -> tuple[Params, dict[str, int]]:
    params: Params = {"form": form, "stages": draw(st.integers(1, 5))}
    if form in ("stream", "fold"):
        block = draw(st.sampled_from(_BLOCKS))
        params |= {"dtype": "i32", "block": block, "kind": draw(st.sampled_from(
            _STREAMS if form == "stream" else _FOLDS))}
        return params, {"w": draw(st.sampled_from((block, 1, 2 * block, 5 * block, 7 * block + 3, block - 1, 3)))}
    if form == "product":
        m = draw(st.sampled_from((64, 128) if specialised else (64, 16, 32, 128)))
        dtype = draw(st.sampled_from(("fp16", "bf16") if specialised else _PRODUCTS))
        block = draw(st.sampled_from((64, 32, 128) if specialised or dtype != "fp32" else (32, 64)))
        n = draw(st.sampled_from((64, 32, 128) if specialised else (64, 16, 32)))
        trips = draw(st.sampled_from((1, 2, 3, 4, 5, 8)))
        short = 0 if specialised else draw(st.sampled_from((0, 0, 16)))
        described = specialised or (draw(st.integers(0, 3)) == 3 and dtype in ("fp16", "bf16") and not short)
        params["stages"] = draw(st.sampled_from([stages for stages in range(1, 6) if _fits_shared(
            {"stages": stages, "dtype": dtype, "block": block}, m, n)]))
        stored = described and draw(st.booleans())
        params |= {"dtype": dtype, "block": block, "described": described, "described_store": stored,
                   "one_map": stored and draw(st.integers(0, 3)) > 0, "specialised": specialised,
                   "transposed": described or dtype == "i8" or draw(st.booleans())}
        return params, {"m": m, "n": n, "k": max(trips * block - short, 16)}
    if form == "gather":
        params = {"form": form, "stages": 1, "dtype": draw(st.sampled_from(("fp32", "fp16", "i32"))),
                  "scatter": draw(st.booleans())}
        return params, {"h": draw(st.sampled_from((32, 8, 64))), "w": draw(st.sampled_from((32, 64, 128)))}
    rows, columns = draw(st.sampled_from((16, 8, 1, 32, 64))), draw(st.sampled_from((32, 16, 64, 128)))
    params |= {"rows": rows, "columns": columns}
    if form == "reduction":
        kind = draw(st.sampled_from(tuple(REDUCED)))
        params |= {"kind": kind, "dtype": draw(st.sampled_from(REDUCED[kind]))}
        width = 16 * draw(st.integers(1, columns // 4))
    else:
        params |= {"dtype": draw(st.sampled_from(_COPIED)), "added": draw(st.sampled_from((1, 0, 3))),
                   "described_store": draw(st.booleans()), "cut_unit": False}
        width = draw(st.sampled_from((columns, 4 * columns, columns + 1, 3 * columns - 7, 5)))
        if params["described_store"]:
            width += -width % _unit(params)
    return params, {"r": rows, "w": width}


def _unit(params: Params) -> int:
    """Elements that a descriptor stores as one: of a line that ends inside of them it overwrites the rest."""
    return TMA_UNIT * 8 // DTYPE_BITS[str(params["dtype"])]


def valid(case: Case) -> bool:
    """Whether a case is one that `loop_cases` may draw, other sizes of its rows allowed.

    One thing is valid but not drawn, because the hardware is known to write beyond the end of lines there: a
    descriptor that stores lines which end inside a unit of 16 bytes (`cut_unit`).
    """
    p, sizes = case.params, case.sizes
    form = str(p.get("form"))
    wanted = {"stream": ("dtype", "block", "kind"), "fold": ("dtype", "block", "kind"),
              "product": ("dtype", "block", "described", "described_store", "one_map", "transposed", "specialised"),
              "copy": ("dtype", "rows", "columns", "added", "described_store", "cut_unit"),
              "reduction": ("dtype", "rows", "columns", "kind"),
              "gather": ("dtype", "scatter")}
    if form not in wanted or set(prompt_params(p)) != {"form", "stages", *wanted[form]} or not a_warp_at_most(case):
        return False
    if not 1 <= int(p["stages"]) <= 5:
        return False
    if min(sizes.values(), default=0) < 1 or max(sizes.values()) > 1 << 16 or case.elements() > _MOST:
        return False
    if not _sums_exact(form, p, sizes.get("rows", 1)):
        return False
    if not _parameters_valid(form, p, sizes) or case.options.num_warps not in (1, 2, 4, 8) or case.variants:
        return False
    given = contents_of(case)
    if form == "stream" and p["kind"] == "indirect" and not isinstance(given["y"].base, Permutation):
        return False
    if form == "gather" and not isinstance(given["index"].base, Permutation):
        return False
    try:
        return unplaced(case) == _arrays(form, p, given, sizes)
    except KeyError:
        return False


def _parameters_valid(form: str, p: Params, sizes: dict[str, int]) -> bool:
    if form in ("stream", "fold"):
        return p["dtype"] == "i32" and p["block"] in _BLOCKS and p["kind"] in (
            _STREAMS if form == "stream" else _FOLDS) and "w" in sizes
    if form == "product":
        whole = sizes.get("k", 1) % int(p["block"]) == 0
        return (p["dtype"] in _PRODUCTS and p["block"] in (32, 64, 128) and _fits_shared(p, sizes["m"], sizes["n"])
                and sizes.get("m") in (16, 32, 64, 128)
                and sizes.get("n") in (16, 32, 64, 128) and (whole or not p["described"])
                and not (p["specialised"] and not p["described"]) and (bool(p["described_store"]) or not p["one_map"])
                and (bool(p["described"]) or not p["described_store"]) and (not p["described"] or (
                    bool(p["transposed"]) and p["dtype"] in ("fp16", "bf16")))
                and (p["dtype"] != "i8" or bool(p["transposed"])) and sizes["k"] % 16 == 0)
    if form == "gather":
        return sizes.get("h") in (8, 32, 64) and sizes.get("w") in (32, 64, 128)
    ok = p["rows"] in (1, 8, 16, 32, 64) and p["columns"] in (16, 32, 64, 128) and sizes.get("r") == p["rows"]
    if form == "reduction":
        return ok and p["dtype"] in REDUCED.get(str(p["kind"]), ()) and sizes["w"] % 16 == 0
    cut = bool(p["described_store"]) and sizes["w"] % _unit(p) > 0
    return ok and p["dtype"] in _COPIED and p["added"] in (0, 1, 3) and p["cut_unit"] == cut


# Launching ----------------------------------------------------------------------------------------------------------


def launch_loop(launch: Launch) -> None:
    """Run the form; schedule 1 is its plain version: one stage, one partition, nobody late."""
    # The compiler chooses the warps of its own partitions: up to three times as many again.
    warps = launch.options.num_warps * (4 if launch.case.params.get("specialised") else 1)
    late = None if launch.schedule == 1 else of_launch(launch, warps=warps)
    with built_in(late):
        _launch_form(launch, str(late or ""))


def _launch_form(launch: Launch, late: str) -> None:
    from tridiff.fuzz.kinds.plans.launching import copy_initial, reported_warps
    from tridiff.fuzz.verdicts import Declined
    from tridiff.kernels.pipelines import loops

    case, p, sizes = launch.case, launch.case.params, launch.case.sizes
    form, plain = str(p["form"]), launch.schedule == 1
    pointers = {f"{spec.name}_ptr": launch.pointer(spec.name) for spec in case.arrays if spec.name != "initial"}
    stages = 1 if plain else int(p["stages"])
    common: dict[str, Any] = {**pointers, "STAGES": stages, "LATE": late}
    rows = (sizes.get("rows", 1), 1, 1)
    if form in ("stream", "fold"):
        kernel = loops.stream if form == "stream" else loops.fold
        launch.run(kernel, rows, {**common, "length": sizes["w"], "pitch": sizes["w"], "BLOCK": p["block"],
                                  "KIND": p["kind"]})
    elif form == "product" and p["described"]:
        launch.run(loops.described_product, rows, {
            **common, "inner": sizes["k"], "column": 0, "M": sizes["m"], "N": sizes["n"], "BLOCK": p["block"],
            "SPECIALISED": bool(p["specialised"]) and not plain, "DESCRIBED_STORE": p["described_store"],
            "ONE_MAP": p["one_map"]})
        reported_warps(launch)  # of all partitions, of which the compiler chooses the number
    elif form == "product":
        launch.run(loops.product, rows, {**common, "inner": sizes["k"], "M": sizes["m"], "N": sizes["n"],
                                         "BLOCK": p["block"], "TRANSPOSED": p["transposed"]})
    elif form == "gather":
        if launch.backend != "compile:sm_100" and not (launch.backend == "cuda" and _device_generation() >= 10):
            raise Declined("tensor maps gather and scatter rows from sm_100 on")
        launch.run(loops.described_gather, (1, 1, 1), {
            **pointers, "height": sizes["h"], "width": sizes["w"], "COUNT": sizes["h"], "COLUMNS": sizes["w"],
            "SCATTER": p["scatter"]})
    else:
        boxes = {**common, "width": sizes["w"], "pitch": case.array("x").strides(sizes)[-2], "ROWS": p["rows"],
                 "COLUMNS": p["columns"]}
        if form == "copy":
            launch.run(loops.described_copy, rows, {
                **boxes, "height": sizes["rows"] * sizes["r"], "ADDED": p["added"],
                "DESCRIBED_STORE": p["described_store"]})
            return
        copy_initial(launch, sizes["r"], sizes["w"])
        launch.run(loops.described_reduction, rows, {**boxes, "height": sizes["r"], "programs": sizes["rows"],
                                                     "KIND": p["kind"]})


def _device_generation() -> int:
    import torch

    return torch.cuda.get_device_capability()[0]


# Answers ------------------------------------------------------------------------------------------------------------


def numpy_answer(case: Case, *inputs: Any) -> Any:
    """The output of a form, in numpy."""
    import numpy as np

    from tridiff.oracles.by_numpy import loops, tiles

    p = case.params
    if p["form"] == "copy":
        return (inputs[0] + inputs[0].dtype.type(int(p["added"]))).astype(inputs[0].dtype)
    if p["form"] == "reduction":
        return tiles.combine(str(p["kind"]), inputs[1], inputs[0])
    found = _answer(loops, p, inputs)
    return found.astype(np.float32) if found.dtype == np.float64 and not approximate(case) else found


def torch_answer(case: Case, *inputs: Any) -> Any:
    """The output of a form, in torch."""
    import torch

    from tridiff.oracles.by_torch import loops, tiles

    p = case.params
    if p["form"] == "copy":
        x = inputs[0]
        if x.dtype.is_floating_point:
            return x + int(p["added"])
        return (tiles.as_integers(x) + int(p["added"])).view(x.dtype)
    if p["form"] == "reduction":
        return tiles.combine(str(p["kind"]), inputs[1], inputs[0])
    found = _answer(loops, p, inputs)
    return found.to(torch.float32) if found.dtype == torch.float64 and not approximate(case) else found


def _answer(loops: Any, p: dict[str, Any], inputs: tuple[Any, ...]) -> Any:
    match p["form"]:
        case "stream":
            return loops.stream(*inputs, kind=p["kind"], block=p["block"])
        case "fold":
            return loops.fold(*inputs, kind=p["kind"])
        case "product":
            return loops.product(*inputs, transposed=p["transposed"])
    return loops.gathered(*inputs, scatter=p["scatter"])


def product_bound(case: Case, a: Any, b: Any) -> Any:
    """Allowed errors of a product on tensor cores (contract: oracles.md §4, dot)."""
    import torch

    from tridiff.oracles import tolerances

    right = b.transpose(1, 2) if case.params["transposed"] else b
    precision = "tf32" if case.params["dtype"] == "fp32" else "half"
    return torch.stack([tolerances.dot_bound(x, y, precision=precision) for x, y in zip(a, right, strict=True)])


def approximate(case: Case) -> bool:
    """Whether the output is a product of floats that are not small integers."""
    return case.params["form"] == "product" and case.params["dtype"] != "i8" and not small_integers(case)
