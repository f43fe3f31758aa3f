"""From a case with a transfer to a launch."""

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.kinds.plans.launching import copy_initial, hopper_only
from tridiff.fuzz.kinds.transfers.cases import transfer_of
from tridiff.fuzz.records import Case
from tridiff.fuzz.verdicts import Declined
from tridiff.kernels import generated
from tridiff.kernels.gluon.dialect import installed
from tridiff.kernels.pipelines.cluster_exchange import Exchange
from tridiff.kernels.pipelines.faults import NotApplicable


def run(launch: Launch) -> None:
    """Write the transfer's kernel, or the broken one of a planted fault, and run it."""
    hopper_only(launch)
    if launch.fault:
        raise Declined("these kernels are planted with their own faults only")
    transfer, rows = transfer_of(launch.case), launch.case.sizes["rows"]
    try:
        text = launch.helper(transfer, installed())
    except (NotApplicable, NotImplementedError) as reason:
        raise Declined(str(reason)) from None
    arguments = {"x_ptr": launch.pointer("x"), "out_ptr": launch.pointer("out")}
    if "initial" in transfer.arrays:
        copy_initial(launch, rows, transfer.arrays["out"])
    launch.run(generated.load(text, name="transfer").kernel, (rows, 1, 1), arguments)


def expected_ir(case: Case) -> tuple[str, ...]:
    """The operation that moves the boxes."""
    exchange = isinstance(transfer_of(case), Exchange)
    return ("ttng.async_shared_store" if exchange else "ttng.async_tma_copy_global_to_local",)
