"""Faults of the packed words of the look-back."""

from tridiff.kernels.helpers.mutant_table import Fault, mutant_table

_WIDTH = "VALUE_AS_UINT.primitive_bitwidth"
_WORD = f"tl.cast(flag, PACK) | (bits << {_WIDTH})"

MUTANTS = mutant_table("lookback", {
    "pack_value_flag": {
        "halves_swapped": Fault("The value below, the flag above: value 1 with flag 0 gives 1.",
                                (_WORD, f"bits | (tl.cast(flag, PACK) << {_WIDTH})")),
        "shifted_short": Fault("Shifts one bit short: value 1 with flag 0 gives half of what it should.",
                               (_WORD, f"tl.cast(flag, PACK) | (bits << ({_WIDTH} - 1))")),
        "value_converted": Fault(
            "Converts the number instead of moving its bits: 1.0 becomes 1. Right for integers.",
            ("value.to(VALUE_AS_UINT, bitcast=True)", "value.to(tl.int32).to(VALUE_AS_UINT)")),
        "sign_extended": Fault(
            "Joins the flag as a signed number: flags with the top bit set spill into the value.",
            (f"return {_WORD}",
             "flag = tl.cast(flag, PACK)\n"
             f"    return (flag - ((flag >> ({_WIDTH} - 1)) << {_WIDTH})) | (bits << {_WIDTH})")),
        "flag_dropped": Fault("The value alone: flag 1 gives flag 0.", (_WORD, f"bits << {_WIDTH}"))},
    "unpack_value": {
        "low_half": Fault("The flag's bits for the value's: the word 1 gives the bits 1 instead of 0.",
                          (f"(pack >> {_WIDTH}).to(", "pack.to(")),
        "shifted_short": Fault("Shifts one bit short: every value but 0 is wrong.",
                               (f"(pack >> {_WIDTH})", f"(pack >> ({_WIDTH} - 1))")),
        "value_converted": Fault(
            "Converts the bits as a number: the bits of 1.0 give 1065353216.0. Right for integers.",
            (".to(VALUE_AS_UINT).to(VALUE, bitcast=True)", ".to(VALUE_AS_UINT).to(VALUE)"))},
    "unpack_flag": {
        "high_half": Fault("The value's bits for the flag's: the word 1 gives 0.",
                           ("return pack.to(FLAG)", "return (pack >> FLAG.primitive_bitwidth).to(FLAG)")),
        "two_bits": Fault("Only the flags of the look-back: 4 gives 0. Right for 0, 1, 2, 3.",
                          ("return pack.to(FLAG)", "return (pack & 3).to(FLAG)"))}})
