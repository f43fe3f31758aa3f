"""Cases whose params are the fields of a flat record (tuples as "1,2,3"): `Boxes` or `Exchange`. Rows are programs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from hypothesis import assume
from hypothesis import strategies as st

from tridiff.fuzz.kinds.plans.cases import contents_of, oracle, unplaced
from tridiff.fuzz.records import ArraySpec, Case, Content, LaunchOptions
from tridiff.fuzz.strategies import contents
from tridiff.fuzz.target import Limits
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange
from tridiff.kernels.pipelines.plan import DTYPE_BITS, TMA_UNIT

if TYPE_CHECKING:
    from tridiff.fuzz.backends.launch import Launch

Record: TypeAlias = Boxes | Exchange
Draw = Callable[[Any], Any]
MOVED = ("i32", "i8", "i16", "i64", "u32", "fp16", "bf16", "fp32")
_MOST = 1 << 17  # elements of one array, so that judging stays quick


def record_of(case: Case) -> Record:
    kind = Boxes if "box" in case.params else Exchange
    given: dict[str, Any] = {one.name: case.params[one.name] for one in dataclasses.fields(kind)}
    for name in given.keys() & {*Boxes.together}:
        given[name] = tuple(int(one) for one in given[name].split(",") if one)
    return kind(**given)


def _case(case: Case, record: Record, given: dict[str, Content] | None = None) -> Case:
    """The case with another record, from which its arrays and sizes follow. given: other contents than it has."""
    given = given or contents_of(case)
    sizes = {"rows": case.sizes["rows"]} | {f"n_{name}": length for name, length in record.arrays.items()}
    params = {one.name: ",".join(map(str, value)) if isinstance(value := getattr(record, one.name), tuple) else value
              for one in dataclasses.fields(record)}
    arrays = tuple(ArraySpec(name=name, dtype=record.dtype, dims=("rows", f"n_{name}"), content=given.get(name))
                   for name in record.arrays)
    return msgspec.structs.replace(case, params=params, sizes=sizes, arrays=arrays, options=LaunchOptions(
        num_warps=record.warps, num_ctas=record.blocks))


def valid(case: Case) -> bool:
    """Whether the record is legal and everything else in the case follows from it."""
    try:
        record = record_of(case)
        if not record.legal or case.variants or any((spec.content is None) != (spec.name == "out")
                                                    for spec in case.arrays):
            return False
    except (ValueError, TypeError, LookupError, AttributeError):
        return False
    return msgspec.structs.replace(case, arrays=unplaced(case)) == _case(case, record)


def _boxes(draw: Draw) -> Boxes:
    dtype = draw(st.sampled_from(MOVED))
    unit = TMA_UNIT * 8 // DTYPE_BITS[dtype]
    rank = draw(st.sampled_from((3, 1, 2, 4, 5)))
    left = (1024 if rank < 4 else 256) * unit
    box = [draw(st.sampled_from([n for n in (64, 16, 32, 128, 256, 8, 4, 2) if n >= unit * (8 if rank == 1 else 1)]))]
    for _ in range(rank - 1):
        left //= box[0]
        box.insert(0, draw(st.sampled_from([n for n in (4, 1, 2, 8, 16, 32, 64, 256) if n <= left])))
    to = draw(st.booleans())
    units = [*(1 for _ in box[1:]), unit]
    shape: list[int] = []
    room = 1 << 15
    for n, u in zip(reversed(box), reversed(units), strict=True):
        shape.insert(0, draw(st.sampled_from([s for s in (n, 2 * n, n + 1, n - 1, 1, 3 * n) if 0 < s <= room])))
        shape[0] += -shape[0] % u if to else 0
        room //= shape[0] + -shape[0] % u

    def start(*, inside: bool) -> tuple[int, ...]:
        found = [draw(st.sampled_from((0, 1, n // 2, most - 1, *(() if inside else (-1, -n, most)))))
                 for n, most in zip(box, shape, strict=True)]
        return tuple(one // u * u for one, u in zip(found, units, strict=True))

    lines = math.prod(box[:-1])
    swizzles = [s for s in (0, 32, 64, 128) if not s or (lines >= 8 and s <= box[-1] * 16 // unit)]
    return Boxes(box=tuple(box), tiles=draw(st.integers(1, 4)), shape=tuple(shape), ring=draw(st.integers(1, 3)),
                 nan=dtype[0] in "fb" and draw(st.booleans()), to=start(inside=True) if to else (),
                 swizzle=draw(st.sampled_from(swizzles)), at=start(inside=False), axis=draw(st.integers(0, rank - 1)),
                 warps=draw(st.sampled_from((4, 1, 2, 8))), dtype=dtype)


def _exchange(draw: Draw) -> Exchange:
    bits = draw(st.sampled_from((1, 1, 2, 3)))
    value, memory, read = (draw(st.text(letters, min_size=bits, max_size=bits)) for letters in ("rcd", "rc", "rcd"))
    ring = draw(st.integers(1, 4))
    ahead = draw(st.integers(0, ring - 1))
    return Exchange(
        value=value, memory=draw(st.sampled_from((memory, memory, value))), read=draw(st.sampled_from(("", read))),
        tiles=draw(st.integers(1, 8)), ring=ring, ahead=ahead, every=draw(st.integers(1, ring - ahead)),
        rows=draw(st.sampled_from((32, 16, 64, 128))), columns=draw(st.sampled_from((64, 32, 128))),
        maximum=draw(st.sampled_from((1, 0, 2, 4, 8))), across=draw(st.booleans()),
        vector=draw(st.sampled_from((16, 8, 4))), warps=draw(st.sampled_from((4, 1, 2, 8))),
        dtype=draw(st.sampled_from(MOVED)))


@st.composite
def transfer_cases(draw: st.DrawFn, *, target: str, exchange: bool, limits: Limits) -> Case:
    """A case of the target."""
    record = (_exchange if exchange else _boxes)(draw)
    assume(record.legal)
    longest = max(record.arrays.values())
    most = min(4 * limits.elements, _MOST) // longest
    programs = draw(st.sampled_from([p for p in (1, 2, 7, 33, 132) if p == 1 or p <= min(most, limits.rows)]))
    case = Case(target=target, sizes={"rows": programs}, arrays=(), repeats=draw(st.integers(0, 2)))
    return _case(case, record, {name: draw(contents(dtype=record.dtype)) for name in record.arrays if name != "out"})


def size(case: Case) -> tuple[int, ...]:
    """The fields in their order, which is that of their importance."""
    found: list[int] = []
    for one in dataclasses.fields(record := record_of(case)):
        value = getattr(record, one.name)
        found += [value] if isinstance(value, int) else [len(value)]
        found += [sum(map(abs, value))] if isinstance(value, tuple) else []
    return tuple(found)


def reductions(case: Case) -> Iterable[Case]:
    """Cases with one field smaller, or one axis or bit less; contents stay."""
    record = record_of(case)
    for change in _changes(record):
        simpler = dataclasses.replace(record, **change)
        if simpler.legal:
            yield _case(case, simpler)


def _changes(record: Record) -> Iterator[dict[str, Any]]:
    items = len(getattr(record, record.together[0]))
    for gone in range(items if items > 1 else 0):
        yield {name: (value := getattr(record, name))[:gone] + value[gone + 1:] for name in record.together} | (
            {"axis": 0} if isinstance(record, Boxes) else {})
    for one in dataclasses.fields(record):
        value = getattr(record, one.name)
        if isinstance(value, int):
            smaller = {0, 1, value // 2, value - 1}
            yield from ({one.name: type(value)(less)} for less in sorted(smaller) if 0 <= less < value)
        elif value and one.name in ("to", "read"):
            yield {one.name: type(value)()}
        if isinstance(value, tuple):
            yield from ({one.name: (*value[:n], less, *value[n + 1:])} for n, was in enumerate(value)
                        for less in (0, 1, int(was / 2)) if abs(less) < abs(was))


def launch_transfer(launch: Launch) -> None:
    """Write the record's kernel, or the broken one of a planted fault, and run it."""
    from tridiff.fuzz.kinds.plans.launching import copy_initial, hopper_only
    from tridiff.fuzz.verdicts import Declined, Refuted
    from tridiff.kernels import generated
    from tridiff.kernels.gluon.dialect import installed
    from tridiff.kernels.pipelines.faults import NotApplicable

    hopper_only(launch)
    if launch.fault:
        raise Declined("these kernels are planted with their own faults only")
    record, rows = record_of(launch.case), launch.case.sizes["rows"]
    try:
        text = launch.helper(record, installed())
    except (NotApplicable, NotImplementedError) as reason:
        raise Declined(str(reason)) from None
    arguments = {"x_ptr": launch.pointer("x"), "out_ptr": launch.pointer("out")}
    if "initial" in record.arrays:
        copy_initial(launch, rows, record.arrays["out"])
    launch.run(generated.load(text, name="transfer").kernel, (rows, 1, 1), arguments)
    ttgir = launch.reports[-1].ttgir
    wanted = "ttng.async_shared_store" if isinstance(record, Exchange) else "ttng.async_tma_copy_global_to_local"
    if ttgir and wanted not in ttgir:
        raise Refuted("missing_operation", wanted, f"the IR lacks {wanted}")


def answer(case: Case, x: Any, *initial: Any) -> Any:
    """The output, in the library of the inputs: boxes of the input, or all of it."""
    record = record_of(case)
    return oracle("boxes", x).moved(x, *initial, record=record) if isinstance(record, Boxes) else x
