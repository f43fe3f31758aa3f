"""Short passages that programs are made of where a grammar of single constructs does not lead.

In the text of an idiom {0}, {1}, ... are drawn operands, of the kinds that `parts` lists; {r}, {s}, {i} new names, of
which {r} is the result of statements. Operands: t a tensor, k one of the same type and shape as the first, s a scalar,
i an integer scalar, u an unsigned and j a signed one, f a scalar that is a float, b a truth value of run time, c one
known when compiling, n a small number, N any number, p a pointer to a row, m the number of its elements less one.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Idiom:
    """since: the first version that has it."""

    text: str
    parts: str = ""
    since: str = ""

    @property
    def is_statement(self) -> bool:
        return "{r}" in self.text


def _lines(*lines: str) -> str:
    return "\n".join(lines)


TUPLES: dict[str, Idiom] = {
    "tuple_sum": Idiom("(({0}, {1}) + ({2},))[2]", "ttt"),
    "tuple_product": Idiom("(({0}, {1}) * 2)[3]", "tt", "3.9.0"),
    "tuple_slice": Idiom("({0}, {1}, {2}, {0})[1:3][1]", "ttt"),
    "tuple_stride": Idiom("({0}, {1}, {2}, {0})[::2][1]", "ttt"),
    "tuple_tail": Idiom("({0}, {1}, {2})[-2:][0]", "ttt"),
    "tuple_nested": Idiom("({0}, ({1}, {2}))[1][1]", "ttt"),
    "tuple_length": Idiom("({0} + len(({0}, {1}, {1})))", "tt"),
    "tuple_comprehension": Idiom("[one + {1} for one in ({0}, {1})][0]", "tt"),
    "comprehension_filter": Idiom("[one for one in ({0}, {1}, {2}) if {3}][-1]", "tttc", "3.9.0"),
    "comprehension_pairs": Idiom("[a - b for a, b in (({0}, {1}), ({1}, {0}))][1]", "tk", "3.9.0"),
    "unpack_nested": Idiom("{r}, ({s}, {i}) = {0}, ({1}, {0})\n{r} = {s}", "kt", "3.9.0"),
    "unpack_list": Idiom("{s}, {r} = [{0}, {1}]", "tt"),
    "tuple_carried": Idiom(_lines(
        "{s} = ({0}, {1})", "for {i} in range(3):", "    {s} = ({s}[1], {s}[0])", "{r} = {s}[0]"), "tk"),
    "tuple_branched": Idiom(_lines(
        "if {2}:", "    {s} = ({0}, {1})", "else:", "    {s} = ({1}, {0})", "{r} = {s}[1]"), "tkb"),
    "tuple_of_numbers": Idiom(_lines("{s}: tl.constexpr = (3, 5)", "{r} = {0} * {s}[1] + {s}[0]"), "t"),
    "point": Idiom("Point({0}, {1}).y", "tt"),
    "point_by_keyword": Idiom("Point(y={0}, x={1}).x", "tt"),
    "point_turned": Idiom("turned(Point({0}, {1})).x", "tt"),
    "point_carried": Idiom(_lines(
        "{s} = Point({0}, {1})", "for {i} in range(3):", "    {s} = Point({s}.y, {s}.x)", "{r} = {s}.x"), "tk",
        "3.9.0"),
    "point_branched": Idiom(_lines(
        "{s} = Point({0}, {1})", "if {2}:", "    {s} = turned({s})", "{r} = {s}.y"), "tkb", "3.9.0"),
    "point_unpacked": Idiom("{r}, {s} = Point({0}, {1})", "tt"),
    "point_index": Idiom("Point({0}, {1})[1]", "tt"),
}

FUNCTIONS: dict[str, Idiom] = {
    "positional": Idiom("taken({0}, {1})", "tt"),
    "keywords": Idiom("taken(b={0}, a={1})", "tt"),
    "one_keyword": Idiom("taken({0}, b={1})", "tt"),
    "number_argument": Idiom("taken({0}, 3)", "t"),
    "number_first": Idiom("taken(100, {0})", "t"),
    "default_both": Idiom("with_defaults({0})", "t"),
    "default_last": Idiom("with_defaults({0}, {1})", "tt"),
    "default_skipped": Idiom("with_defaults({0}, c=5)", "t"),
    "default_order": Idiom("with_defaults(c=3, b={0}, a={1})", "tt"),
    "default_global": Idiom("with_global_default({0})", "t"),
    "default_global_given": Idiom("with_global_default({0}, {1})", "tn"),
    "none": Idiom("optional({0})", "t"),
    "none_given": Idiom("optional({0}, None)", "t"),
    "none_not": Idiom("optional({0}, b={1})", "tt"),
    "two_results": Idiom("{r}, {s} = both({0}, {1})", "tt"),
    "second_result": Idiom("both({0}, {1})[1]", "tt"),
    "no_result": Idiom("nothing({0}, {1})\n{r} = {0}", "tt"),
    "early": Idiom("larger({0}, {1})", "ik"),
    "early_else": Idiom("larger_else({0}, {1})", "ik"),
    "early_nested": Idiom("middle({0}, {1}, {2})", "ikk"),
    "early_after_statements": Idiom("stepped({0}, {1})", "ik"),
    "early_in_callee": Idiom("through_caller({0}, {1})", "ik"),
    "early_numbers": Idiom("{r} = returned_number({0})", "i", "3.9.0"),
    "recursion": Idiom("power({0}, 3)", "i"),
    "recursion_none": Idiom("power({0}, 0)", "t"),
    "not_inlined": Idiom("apart({0}, {1})", "ik"),
    "not_inlined_number": Idiom("apart({0}, 5)", "i"),
    "not_inlined_pair": Idiom("{s}, {r} = apart_pair({0}, {1})", "ik"),
    "function_argument": Idiom("applied(taken, {0}, {1})", "tt"),
    "other_function": Idiom("applied(f=summed, a={0}, b={1})", "tt"),
    "nested_function": Idiom("applied(summed, taken({0}, {1}), {0})", "tk"),
    "type_argument": Idiom("converted({0}, tl.float32)", "i"),
    "type_of_other": Idiom("converted({0}, {1}.dtype)", "ii"),
    "global_type": Idiom("converted({0}, KIND)", "i"),
    "rest": Idiom("total({0}, {1}, {0})", "tk", "3.9.0"),
    "rest_empty": Idiom("total({0})", "t", "3.9.0"),
    "starred": Idiom("taken(*({0}, {1}))", "tt"),
    "starred_part": Idiom("middle({0}, *({1}, {2}))", "ikk"),
    "tuple_argument": Idiom("difference(({0}, {1}))", "tt"),
    "tuple_with_number": Idiom("difference(({0}, 3))", "t"),
    "point_argument": Idiom("difference(Point({0}, {1}))", "tt"),
    "loop_inside": Idiom("counted({0}, {1})", "in"),
    "while_inside": Idiom("waited({0}, {1})", "ik"),
    "word_argument": Idiom('named({0}, "double")', "t"),
    "word_by_keyword": Idiom('named(how="same", a={0})', "t"),
    "word_other": Idiom('named({0}, "none")', "i"),
    "annotated_inside": Idiom("annotated({0}, {1})", "in"),
    "keyword_only": Idiom("keyword_only({0}, b={1})", "tt", "3.9.0"),
    "keyword_only_given": Idiom("keyword_only({0}, c=2, b={1})", "tt", "3.9.0"),
    "positional_only": Idiom("first_unnamed({0}, {1})", "tt"),
    "positional_only_beside_keyword": Idiom("first_unnamed({0}, b={1})", "tt"),
    "positional_only_default": Idiom("last_unnamed({0})", "t"),
    "twice_specialised": Idiom("(summed({0}, 1) + summed({1}, {1}))", "ik"),
    "constexpr_function": Idiom("({0} + doubled({1}))", "tn"),
    "constexpr_function_keyword": Idiom("({0} * doubled(plus=1, n=2))", "t"),
    "constexpr_function_static": Idiom("{s}: tl.constexpr = doubled(3)\n{r} = {0} + {s}", "t"),
    "global_number": Idiom("({0} + WIDTH)", "t"),
    "global_tuple": Idiom("({0} + SIZES[1])", "t"),
    "global_branch": Idiom("({0} if CHOSEN else {1})", "tt"),
    "aggregate": Idiom("Both({0}, {1}).a", "tt"),
    "aggregate_method": Idiom("Both({0}, {1}).total()", "tk"),
    "aggregate_changed": Idiom("Both({0}, {1}).less(1).a", "ik"),
    "aggregate_carried": Idiom(_lines(
        "{s} = Both({0}, {1})", "for {i} in range(3):", "    {s} = Both({s}.b, {s}.a)", "{r} = {s}.a"), "tk"),
    "aggregate_branched": Idiom(_lines(
        "{s} = Both({0}, {1})", "if {2}:", "    {s} = Both({s}.b, {s}.a)", "{r} = {s}.a"), "tkb"),
    "aggregate_constant": Idiom("Sized({0}, 3).grown()", "t"),
}

CONSTANTS: dict[str, Idiom] = {
    "power_of_numbers": Idiom("({0} + 2 ** 3)", "t"),
    "number_operators": Idiom("({0} + (7 // 2 - 7 % 4 + (1 << 3) + (12 >> 2) + (6 & 3) + (6 | 1) + (6 ^ 3)))", "t"),
    "number_unary": Idiom("({0} + (-3) + (+2) + (~4))", "i"),
    "number_floor": Idiom("({0} + (-7) // 2)", "j"),
    "number_remainder": Idiom("({0} + (-7) % 3)", "i"),
    "number_quotient": Idiom("{s}: tl.constexpr = 7 / 2\n{r} = {0} + {s}", "f"),
    "number_reflected": Idiom("{s}: tl.constexpr = {1}\n{r} = {0} + (10 - {s}) * (2 + {s})", "in"),
    "number_compared": Idiom("({0} if (1 < 2 <= 2) and not (3 == 4) else {1})", "tt", "3.9.0"),
    "number_chosen": Idiom("({0} if {2} else {1})", "ttc"),
    "number_or": Idiom("({0} + (0 or 5))", "i"),
    "number_and": Idiom("({0} + (3 and 6))", "i"),
    "text_compared": Idiom('({0} if "a" == "a" else {1})', "tt"),
    "none_compared": Idiom("({0} if None is None else {1})", "tt"),
    "in_static": Idiom("{s}: tl.constexpr = {1}\ntl.static_assert({s} == {1})\n{r} = {0} + {s}", "in"),
    "formatted": Idiom('{s}: tl.constexpr = {1}\ntl.static_assert({s} > 0, f"{{{s}}} is {{{s}!r}}")\n{r} = {0}', "tn"),
    "pending": Idiom("{s}: tl.constexpr\n{s} = {1}\n{r} = {0} + {s}", "in", "3.9.0"),
    "annotation": Idiom("{r}: tl.tensor = {0}", "t"),
    "as_integer": Idiom("({0} + int(3.7))", "i"),
    "extremum_of_numbers": Idiom("{s}: tl.constexpr = 4\n{r} = {0} + {s} * 2 - ({s} if {s} > 3 else 0)", "i"),
    "dtype_compared": Idiom("({0} if {0}.dtype == {1}.dtype else {0} + {0})", "tt"),
    "dtype_asked": Idiom("({0} if {0}.dtype.is_floating() else {0} + {0})", "t"),
    "dtype_signed": Idiom("({0} + 1 if {0}.dtype.is_int_signed() else {0} + 2)", "i"),
    "width": Idiom("({0} + {1}.dtype.primitive_bitwidth)", "it"),
    "bytes": Idiom("({0} + {1}.dtype.itemsize)", "ii"),
    "elements": Idiom("({0} + {1}.numel)", "it"),
    "rank": Idiom("({0} + len({1}.shape))", "it"),
    "type_is_block": Idiom("({0} if {1}.type.is_block() else {0} + {0})", "it"),
    "static_loop_name": Idiom(_lines("{r} = {0}", "for {i} in tl.static_range(3):", "    if {i} == 1:",
                                     "        {r} = {r} * 2", "    else:", "        {r} = {r} + {i}"), "i"),
    "range_of_numbers": Idiom(_lines("{r} = {0}", "for {i} in range(5, -2, -3):", "    {r} += {i}.to({0}.dtype)"), "i"),
    "device_print_none": Idiom("tl.static_assert(True)\n{r} = {0}", "t"),
}

SHAPES: dict[str, Idiom] = {
    "index_none": Idiom("tl.max({0}[None], 0)", "i"),
    "index_ellipsis_none": Idiom("tl.sum({0}[None, None], 1)", "i"),
    "line_as_matrix": Idiom("tl.sum(tl.arange(0, 4)[:, None] * {0} + tl.arange(0, 4)[None, :], 0)", "i"),
    "transposed": Idiom("tl.sum((tl.arange(0, 4)[:, None] * {0} + tl.arange(0, 8)[None, :]).T, 0)", "i"),
    "broadcast_to": Idiom("tl.broadcast_to({0}, 4, 2)", "s"),
    "reshaped": Idiom("tl.reshape(tl.arange(0, 8) + {0}, 2, 4)", "i"),
    "expanded": Idiom("tl.expand_dims(tl.arange(0, 8) + {0}, 1)", "i"),
    "full_of_type": Idiom("(tl.full((4,), {1}, {0}.dtype) + {0})", "in"),
    "zeros_of_type": Idiom("(tl.zeros((2, 4), tl.int32) + {0})", "i"),
    "extent": Idiom("{s} = tl.arange(0, 8) + {0}\n{r} = {s} * {s}.shape[0]", "i"),
    "where_number": Idiom("tl.where({1}, {0}, 3)", "ib"),
}

POINTERS: dict[str, Idiom] = {
    "offset": Idiom("tl.load({0} + ({1} & {2}))", "pim"),
    "offset_first": Idiom("tl.load(({1} & {2}) + {0})", "pim"),
    "offset_back": Idiom("tl.load({0} + {2} - ({1} & {2}))", "pim"),
    "offset_negative": Idiom("tl.load(({0} + {2}) + (-({1} & {2})))", "pjm"),
    "offset_subtracted": Idiom("tl.load(({0} + {2}) - ({1} & {2}))", "pim"),
    "offset_narrow_high": Idiom("tl.load(({0} - 200) + (({1} & {2} & 31).to(tl.uint8) + 200))", "pim"),
    "offset_wide_high": Idiom("tl.load(({0} - 40000) + (({1} & {2}).to(tl.uint16) + 40000))", "pim"),
    "offset_lowest": Idiom("tl.load(({0} + 128) + (({1} & {2} & 127).to(tl.int8) + (-128)))", "pim"),
    "offset_truth": Idiom("tl.load({0} + (({1} > 3).to(tl.int32) & {2}))", "pim"),
    "offset_number": Idiom("tl.load({0} + 0)", "p"),
    "offset_twice": Idiom("tl.load({0} + ({1} & {2}) + 1 - 1)", "pim"),
    "block": Idiom("tl.load({0} + (tl.arange(0, 8) & {1}))", "pm"),
    "block_first": Idiom("tl.load((tl.arange(0, 8) & {1}) + {0})", "pm"),
    "block_back": Idiom("tl.load({0} + {1} - (tl.arange(0, 8) & {1}))", "pm"),
    "block_moved": Idiom("tl.load({0} + ((tl.arange(0, 8) + {2}.to(tl.int32)) & {1}))", "pmi"),
    "block_of_bytes": Idiom("tl.load({0} + (tl.arange(0, 8).to(tl.uint8) & {1}))", "pm"),
    "matrix": Idiom("tl.load({0} + (tl.arange(0, 4)[:, None] * 2 + tl.arange(0, 2)[None, :] & {1}))", "pm"),
    "matrix_of_pointers": Idiom("tl.load(({0} + (tl.arange(0, 4) & {1}))[:, None] + tl.zeros((1, 2), tl.int32))", "pm"),
    "same_everywhere": Idiom("tl.load({0} + tl.zeros((4,), tl.int64))", "p"),
    "masked": Idiom("tl.load({0} + (tl.arange(0, 8) & {1}), mask=tl.arange(0, 8) < ({2} & 7), other=0)", "pmj"),
    "masked_other": Idiom("tl.load({0} + (tl.arange(0, 8) & {1}), tl.arange(0, 8) > 2, 1)", "pm"),
    "masked_scalar": Idiom("tl.load({0}, mask=({1} != 0), other=2)", "pb"),
    "masked_number": Idiom("tl.load({0} + (tl.arange(0, 8) & {1}), mask=tl.full((8,), 1, tl.int1), other=2)", "pm"),
    "contiguous": Idiom("tl.load({0} + (tl.max_contiguous(tl.multiple_of(tl.arange(0, 8), 8), 8) & {1}))", "pm"),
    "constant_offsets": Idiom("tl.load({0} + (tl.max_constancy(tl.arange(0, 8) // 4, 4) & {1}))", "pm"),
    "multiple_scalar": Idiom("tl.load({0} + (tl.multiple_of(({1} & 1) * 8, 8) & {2}))", "pim"),
    "carried": Idiom(_lines("{s} = {0}", "{r} = tl.load({s})", "for {i} in range(0, {1}):", "    {s} += 1",
                            "    {r} += tl.load({s})"), "pm"),
    "carried_down": Idiom(_lines("{s} = {0} + {1}", "{r} = tl.load({s})", "for {i} in range({1}, 0, -1):",
                                 "    {s} -= 1", "    {r} += tl.load({s})"), "pm"),
    "branched": Idiom(_lines("{s} = {0}", "if {2}:", "    {s} = {0} + {1}", "{r} = tl.load({s})"), "pmb"),
    "both_branches": Idiom(_lines("if {2}:", "    {s} = {0} + {1}", "else:", "    {s} = {0}",
                                  "{r} = tl.load({s})"), "pmb"),
    "chosen": Idiom("tl.load({0} + {1} if {2} else {0})", "pmb"),
    "through_function": Idiom("tl.load(summed({0}, {1}))", "pm"),
    "in_tuple": Idiom("tl.load(({0}, {0} + {1})[1])", "pm"),
    "same_width": Idiom("tl.load({0}.to(tl.pointer_type({0}.dtype.element_ty)))", "p"),
    "element_type": Idiom("(tl.load({0}).to({0}.dtype.element_ty))", "p"),
    "loaded_by_method": Idiom("{s} = tl.load({0} + {1})\n{r} = {s} + tl.load({0})", "pm"),
}

BY_TOPIC = {
    "statements": TUPLES | CONSTANTS | SHAPES,
    "functions": FUNCTIONS | TUPLES,
    "pointers": POINTERS,
}
IDIOMS = TUPLES | FUNCTIONS | CONSTANTS | SHAPES | POINTERS
