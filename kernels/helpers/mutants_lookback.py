"""Faults of the look-back scans.

Values v0, v1, ... belong to the programs. Faults marked [order] agree with the helper when programs run one after the
other in ascending order, as the interpreter runs them; the sentence names an order of execution that shows them, and
the step-wise simulator finds one. Faults marked [memory] need a memory that reorders.
"""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_WALK = "while (flag != 2) & (target >= 0):"
_COMBINED = "combine_fn(prefix, block_value).to(VALUE)"
_STORE = "tl.store(slots_ptr + FLAG, value.to(tl.uint64, bitcast=True))"
_FLAG = 'tl.atomic_xchg(slots_ptr, tl.full([], FLAG, tl.uint64), sem="release")'
# Of the packed scan and of the 64-bit one, which write these lines alike.
_BOTH = {
    "carry_on_the_right": Fault(
        "Walks left but combines on the right. [order] All of 0, 1, 2 publish totals before 2 walks: f(v1, v0).",
        ("combine_fn(value, prefix)", "combine_fn(prefix, value)", 2)),
    "inclusive_returned": Fault(
        "Hands back the inclusive prefix: with two programs, program 1 receives f(v0, v1) instead of v0.",
        ("return prefix", "return inclusive", 2)),
    "first_program_adds_zeros": Fault(
        "Takes zero for the identity: with two programs, v0 = -1 and f = maximum, program 1 receives 0.",
        ("inclusive = block_value", f"inclusive = {_COMBINED}", 2))}

MUTANTS = mutant_table("lookback", {
    "exclusive_scan_decoupled_lookback": {
        **_BOTH,
        "block_on_the_left": Fault(
            "Publishes f(block, prefix): with three programs and f(a, b) = b, program 2 receives v0 instead of v1.",
            (_COMBINED, "combine_fn(block_value, prefix).to(VALUE)", 2)),
        "exclusive_published": Fault(
            "Publishes its exclusive prefix: with three programs and addition, 2 receives v0 instead of v0 + v1.",
            ("pack_value_flag(inclusive,", "pack_value_flag(tl.where(here > 0, prefix, block_value).to(VALUE),")),
        "total_published_as_prefix": Fault(
            "Flags its block total as a prefix. [order] Program 1 has published only its total when 2 reads: v1.",
            ("pack_value_flag(block_value, 1,", "pack_value_flag(block_value, 2,")),
        "walk_ends_at_total": Fault(
            "Takes the neighbour's word for a prefix. [order] Program 1 has published only its total when 2 reads: v1.",
            (_WALK, "while (flag == 0) & (target >= 0):", 2)),
        "walk_passes_prefix": Fault(
            "Walks to program 0 whatever it meets: with three programs and addition, 2 receives 2 v0 + v1.",
            (_WALK, "while target >= 0:", 2)),
        "unpublished_word_accepted": Fault(
            "Does not wait. [order] Program 1 reads before 0 has published: zero bits instead of v0.",
            ("while flag == 0:\n        # An atomic", "if flag == 0:\n        # An atomic"))},
    "exclusive_scan_decoupled_lookback_64": {
        **_BOTH,
        "prefix_slot_always": Fault(
            "Reads the prefix slot always. [order] Program 1 has published only its total when 2 reads: zero bits.",
            ("tl.where(flag == 2, 2, 1)", "2")),
        "one_slot_for_both": Fault(
            "Writes totals and prefixes to one slot, so prefixes are read from an empty one: program 1 gets zero bits.",
            ("slots_ptr + FLAG", "slots_ptr + 1")),
        "flag_before_value": Fault(
            "Publishes, then writes. [order] Program 1 reads between the flag and the value of program 0: zero bits.",
            (_STORE, _FLAG), (_FLAG, _STORE)),
        "flag_without_release": Fault(
            "Relaxed exchange. [memory] The flag of program 0 becomes visible before its value: zero bits.",
            ('sem="release"', 'sem="relaxed"')),
        "poll_without_acquire": Fault(
            "Relaxed poll. [memory] Program 1 reads the value before the flag it was polled with: zero bits.",
            ('sem="acquire"', 'sem="relaxed"'))}})
