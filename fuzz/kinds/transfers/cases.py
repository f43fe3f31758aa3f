"""The arrays that belong to a transfer, `Boxes` or `Exchange`; which cases are valid, and how they become simpler."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from tridiff.fuzz.kinds import fields
from tridiff.fuzz.kinds.plans.cases import contents_of, unplaced
from tridiff.fuzz.records import ArraySpec, Case, Content, LaunchOptions
from tridiff.kernels.pipelines import boxes, cluster_exchange
from tridiff.kernels.pipelines.boxes import Boxes
from tridiff.kernels.pipelines.cluster_exchange import Exchange

Transfer = Boxes | Exchange


def transfer_of(case: Case) -> Transfer:
    """The case's transfer; ValueError for a case without one."""
    if not isinstance(case.program, Transfer):
        raise ValueError(f"{case.target} needs a transfer")
    return case.program


def problem(transfer: Transfer) -> str:
    """Why a transfer is not legal, "" if it is."""
    return fields.misfit(transfer) or (
        boxes.problem(transfer) if isinstance(transfer, Boxes) else cluster_exchange.problem(transfer))


def with_transfer(case: Case, transfer: Transfer, given: dict[str, Content] | None = None) -> Case:
    """The case with another transfer, from which its arrays, sizes and options follow. given: other contents than it
    has; rows are programs."""
    given = given or contents_of(case)
    sizes = {"rows": case.sizes["rows"]} | {f"n_{name}": length for name, length in transfer.arrays.items()}
    arrays = tuple(ArraySpec(name=name, dtype=transfer.dtype, dims=("rows", f"n_{name}"), content=given.get(name))
                   for name in transfer.arrays)
    return replace(case, program=transfer, sizes=sizes, arrays=arrays, options=LaunchOptions(
        num_warps=transfer.warps, num_ctas=transfer.blocks))


def valid(case: Case) -> bool:
    """Whether the transfer is legal and everything else in the case follows from it."""
    transfer = case.program
    if not isinstance(transfer, Transfer) or problem(transfer) or case.params or case.variants:
        return False
    if "rows" not in case.sizes or any((spec.content is None) != (spec.name == "out") for spec in case.arrays):
        return False
    return replace(case, arrays=unplaced(case)) == with_transfer(case, transfer)


def label(case: Case) -> str:
    """What tells findings apart: the direction and number of axes, or how tiles are spread."""
    transfer = transfer_of(case)
    if isinstance(transfer, Boxes):
        return f"{'store' if transfer.to else 'load'} {len(transfer.box)}d"
    return f"{transfer.value} into {transfer.memory}"


def cells(case: Case) -> tuple[str, ...]:
    """Words that a campaign counts."""
    transfer = transfer_of(case)
    return (f"transfer={label(case)} dtype={transfer.dtype}", f"ring={transfer.ring} tiles={transfer.tiles}")


def size(case: Case) -> tuple[int, ...]:
    """The fields in their order, which is that of their importance."""
    return fields.size(transfer_of(case))


def steps(case: Case) -> Iterable[Case]:
    """Cases with one field smaller, or one axis or bit less; contents stay."""
    for simpler in _simpler(transfer_of(case)):
        if not problem(simpler):
            yield with_transfer(case, simpler)


def _simpler(transfer: Transfer) -> Iterator[Transfer]:
    items = len(getattr(transfer, transfer.together[0]))
    for gone in range(items if items > 1 else 0):
        fewer = {name: (value := getattr(transfer, name))[:gone] + value[gone + 1:] for name in transfer.together}
        yield replace(transfer, **fewer, **({"axis": 0} if isinstance(transfer, Boxes) else {}))
    plain = {"to": ()} if isinstance(transfer, Boxes) else {"read": ""}
    if replace(transfer, **plain) != transfer:
        yield replace(transfer, **plain)
    yield from fields.simpler(transfer, kept=("dtype",))
