"""Faults of `sort_with_index`.

Each sentence names a row that shows the fault (ascending, unstable, no padding, unless it says otherwise).
"""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_LEFT_NAN = "(is_nan(left_key) & (is_nan(right_key) ^ True))"
_RIGHT_NAN = "(is_nan(right_key) & (is_nan(left_key) ^ True))"
_TIE = "(left_index > right_index)"
_PADDING_AFTER = "((left_valid ^ True) & right_valid)"

MUTANTS = mutant_table("sorting", {
    "sort_with_index": {
        "nan_first": Fault("NaN smaller than every number: [NaN, 1] stays instead of giving [1, NaN].",
                           (_LEFT_NAN, _RIGHT_NAN), (_RIGHT_NAN, _LEFT_NAN)),
        "nan_unordered": Fault("Every comparison with NaN is false: [NaN, 1] stays instead of giving [1, NaN].",
                               (f" | {_LEFT_NAN}", ""), (f" | {_RIGHT_NAN}", "")),
        "nan_last_when_descending": Fault(
            "NaN last in both directions: [1, NaN] descending stays instead of giving [NaN, 1].",
            ("after = right_above", f"after = (left_key < right_key) | {_LEFT_NAN}"),
            ("before = left_above", f"before = (left_key > right_key) | {_RIGHT_NAN}")),
        "ties_left_alone": Fault("The stable flag has no effect: [0, 0, 0, 0] stable gives the indices [0, 1, 3, 2].",
                                 ("if stable:", "if False:")),
        "ties_reversed": Fault(
            "Equal keys in descending index order: [0, 0] stable gives the indices [1, 0] instead of [0, 1].",
            (_TIE, "(left_index < right_index)")),
        "ties_reversed_when_descending": Fault(
            "A descending sort made by reversing an ascending one: [0, 0] stable descending gives the indices [1, 0].",
            (_TIE, f"((left_index < right_index) if descending else {_TIE})")),
        "padding_valid": Fault(
            "Padding takes part as a value: [1, 2, 3] padded with 0 gives [0, 1, 2] instead of [1, 2, 3].",
            ("if rnumel is not None:", "if False:")),
        "padding_first_when_descending": Fault(
            "Validity reversed with the keys: [1, 2, 3] padded with 0, descending, gives [0, 3, 2].",
            (_PADDING_AFTER, f"((left_valid & (right_valid ^ True)) if descending else {_PADDING_AFTER})")),
        "index_stays": Fault(
            "Keys move, indices do not: [2, 1] gives the indices [0, 1] instead of [1, 0].",
            ("tl.where(swap, right_index, left_index), tl.where(swap, left_index, right_index)",
             "left_index, right_index")),
        "runs_not_alternating": Fault(
            "All runs ordered the same way, so the merge has nothing bitonic: [1, 0, 0, 1] gives [0, 1, 0, 1].",
            ("2**stage if alternating else 0", "0")),
        "last_layer_missing": Fault("The last layer of comparators never swaps: [2, 1] stays.",
                                    ("tl.static_range(stage)", "tl.static_range(stage if alternating else stage - 1)")),
        "keys_rounded_to_fp32": Fault("Compares in fp32: the int32 or fp64 row [2^24 + 1, 2^24] stays.",
                                      ("comparable(left)", "comparable(left).to(tl.float32)"),
                                      ("comparable(right)", "comparable(right).to(tl.float32)"))}})
