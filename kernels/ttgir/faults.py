"""Planted faults of kernels written as TTGIR: changes of the text that is compiled. Imports no Triton."""

from tridiff.kernels.pipelines.text_faults import planted

CLUSTER = {
    "other_line": (r"arith\.muli %program, %n", "arith.muli %program, %program"),
    "operand_taken_twice": (r"(arith\.\w+ )(%last|%v), %o\w*", r"\1\2, \2"),
    "input_stored": (r"(tt\.store %outp, %)(back|sum)", r"\1v"),
}
TEXTS = {
    "sum_for_product": (r"muli %q", "addi %q"),
    "mask_of_zero": ("cmpi sgt", "cmpi sge"),
    "choices_swapped": (r"(arith\.select \S+) (\S+), (\S+)", r"\1 \3, \2"),
    "one_trip_too_many": ("cmpi slt", "cmpi sle"),
    "buffer_of_the_first_group": (r"(local_load %m)\d+", r"\g<1>0"),
}
NEEDS_A_GPU = {
    "barrier_left_out": (r"(?m)^ *(ttg|gpu)\.barrier.*\n", ""),
    "missing_wait_for_copies": (r"(async_wait .*num = )\d+", r"\g<1>24"),
    "threads_twice_as_wide": (r"sizePerThread = \[1\]", "sizePerThread = [2]"),
}
"""What no evaluation of the IR shows: nothing takes time there, and no warp has a number."""
FAULTS = planted(str, **CLUSTER, **TEXTS, **NEEDS_A_GPU)
"""From a right text to a wrong one."""
