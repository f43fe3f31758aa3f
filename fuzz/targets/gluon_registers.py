"""Gluon kernels that move data between register layouts."""

from tridiff.fuzz.kinds.chains.registers import conversion_chains, fold_chains, fp4_chains, register_view_chains
from tridiff.fuzz.kinds.chains.target import chain_target
from tridiff.fuzz.known.chains.features import feature

TARGETS = (
    chain_target(
        name="gluon.convert_layout", label=feature, chains=conversion_chains,
        contract="ttg_ops.md §3, convert_layout",
        summary="a tensor and the numbers of its elements through a list of layouts, unchanged",
        faults=("load_mask_dropped", "order_not_transposed")),
    chain_target(
        name="gluon.reduce_scan_layouts", label=feature, chains=fold_chains,
        contract="ttg_ops.md §3, layout round trips",
        summary="reductions and scans along any axis in any layout",
        faults=("reduce_axis_swapped", "scan_reversed", "load_mask_dropped", "order_not_transposed")),
    chain_target(
        name="gluon.fp4", label=feature, chains=fp4_chains,
        contract="ttg_ops.md §3, fp4_to_fp",
        summary="bytes decoded to two four-bit floats each",
        faults=("fp4_nibbles_swapped", "load_mask_dropped", "order_not_transposed")),
    chain_target(
        name="gluon.register_views", label=feature, chains=register_view_chains,
        contract="ttg_ops.md §3, layout round trips",
        summary="transpositions, reshapes and gathers in registers, with inferred layouts",
        faults=("gather_axis_swapped", "indices_shifted", "load_mask_dropped", "order_not_transposed")),
)
