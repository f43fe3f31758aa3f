"""Faults of device_assert_then."""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_ASSERTION = "tl.device_assert(cond, msg)"

MUTANTS = mutant_table("assertions", {
    "device_assert_then": {
        "assertion_dropped": Fault("Asserts nothing: a False condition passes.", (f"    {_ASSERTION}\n", "")),
        "condition_inverted": Fault("Fails where the condition holds.",
                                    (_ASSERTION, "tl.device_assert(cond ^ True, msg)")),
        "all_lanes_must_fail": Fault(
            "Fails only if no lane of the 2-D condition is True: one False lane among True ones passes.",
            (_ASSERTION, "tl.device_assert(tl.max(tl.max(cond.to(tl.int32), axis=1), axis=0) > 0, msg)")),
        "result_off_by_one": Fault(
            "Returns r + 1.",
            ("import triton.language as tl\n",
             "import triton.language as tl\n\nfrom tridiff.kernels.helpers.fault_hook import off_by_one\n"),
            ("return r", "return off_by_one(r)")),
        "result_replaced_where_false": Fault(
            "Returns 0 where the condition is False: seen only with assertions disabled.",
            ("return r", "return tl.where(cond, r, 0).to(r.dtype)"))}})
