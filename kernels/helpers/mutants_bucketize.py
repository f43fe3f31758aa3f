"""Faults of the search."""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_BELOW = "below = readable & (not_below ^ True)"

MUTANTS = mutant_table("bucketize", {
    "bucketize_binary_search": {
        "sides_swapped": Fault(
            ">= for > and the reverse: 2 in [1, 2, 3] gives 2 for right=False instead of 1.",
            ("if right:", "if not right:")),
        "last_boundary_skipped": Fault(
            "Starts at SIZE - 1: 5 in [1, 2, 3] gives 2 instead of 3.",
            ("high = tl.full(values.shape, BOUNDARIES_SIZE, dtype=indexing_dtype)",
             "high = tl.maximum(tl.full(values.shape, BOUNDARIES_SIZE, dtype=indexing_dtype) - 1, 0)")),
        "one_probe_too_few": Fault(
            "Probes log2(SIZE) times: 5 in [1] gives 0 instead of 1.",
            ("remaining = tl.cast(BOUNDARIES_SIZE, tl.int64)", "remaining = tl.cast(BOUNDARIES_SIZE, tl.int64) >> 1")),
        "midpoint_overflow": Fault(
            "(low + high) // 2 in the index type: 1 in 2^31 - 1 zeros (stride 0), int32, is below SIZE.",
            ("low + ((high - low) >> 1)", "(low + high) // 2"),
            # A midpoint below 0 is not to be followed out of the sorter.
            ("mask=open_lane,", "mask=open_lane & (middle >= 0),")),
        "nan_boundary_on_top": Fault(
            "numpy's rule, NaN above every number: 5 in [1, 2, NaN] gives 2 instead of 3.",
            (_BELOW, f"{_BELOW} & ((boundary == boundary) | (sought != sought))")),
        "nan_value_at_bottom": Fault("NaN below every boundary: NaN in [1] gives 0 instead of 1.",
                                     (_BELOW, f"{_BELOW} & (sought == sought)")),
        "stride_ignored": Fault(
            "Boundaries one element apart: 3 in every other element of [0, 9, 2, 9] gives 1 instead of 2.",
            ("row + stride * position", "row + position")),
        "row_offset_ignored": Fault(
            "Always the first row: 5 in the second of the rows [1], [9] gives 1 instead of 0.",
            ("row + stride * position", "stride * position")),
        "sorter_ignored": Fault(
            "Takes the boundaries for sorted: 5 in [9, 1] with sorter [1, 0] gives 2 instead of 1.",
            ("tl.load(sorter_ptr + entry, mask=open_lane, other=0).to(tl.int64)", "middle.to(tl.int64)"))}})
