"""Further kernels that are wrong in one place: types and extents of memory, atomics, descriptors, products, hints, and
constants. What the texts may name stands in `fuzz.statements.refused`."""

from tridiff.fuzz.statements.wrong import Wrong, at

_BLOCK = "x_ptr + tl.arange(0, 8)"
_DESCRIPTOR = "tl.make_tensor_descriptor(x_ptr, {shape}, {strides}, {block}{more})"


def _descriptor(shape: str = "[8, 4]", strides: str = "[4, 1]", block: str = "[8, 4]", more: str = "") -> str:
    return "r = " + _DESCRIPTOR.format(shape=shape, strides=strides, block=block, more=more)


def _dot(left: str = "tl.float16", right: str = "tl.float16", more: str = "") -> str:
    return (f"a = tl.zeros((32, 32), {left})\nb = tl.zeros((32, 32), {right})\nr = tl.dot(a, b{more})")


MEMORY: dict[str, Wrong] = {
    "store_of_larger_block": at("tl.store(x_ptr, {})", "x", "n", "scalar|block"),
    "store_of_larger_mask": at("tl.store(x_ptr, n, mask={} > 0)", "x", "n", "mask"),
    "store_mask_of_numbers": at(f"tl.store({_BLOCK}, x, mask={{}})", "x", "x > 0", "mask"),
    "load_mask_of_numbers": at(f"r = tl.load({_BLOCK}, mask={{}})", "x", "x > 0", "mask"),
    "store_to_number": at("tl.store({}, 1)", "n", "x_ptr", "ptr|pointer"),
    "pointer_to_pointers": at("r = x_ptr.to(tl.pointer_type({}))", "tl.pointer_type(tl.int32)", "tl.int32", "pointer"),
    "pointer_from_narrow": at("r = n{}.to(tl.pointer_type(tl.int32))", "", ".to(tl.int64)", "cast|int32|64"),
    "padding_word": Wrong(_descriptor(more=', padding_option="one"'), _descriptor(more=', padding_option="zero"'),
                          "padding"),
    "padding_of_integers": Wrong(_descriptor(more=', padding_option="nan"'), _descriptor(), "nan|padding"),
    "descriptor_of_no_axis": Wrong(_descriptor("[]", "[]", "[]"), _descriptor(), "ndim|dimensions"),
    "descriptor_of_six_axes": Wrong(_descriptor("[8, 1, 1, 1, 1, 4]", "[4, 4, 4, 4, 4, 1]", "[8, 1, 1, 1, 1, 4]"),
                                    _descriptor(), "ndim|dimensions"),
    "descriptor_strides": Wrong(_descriptor(strides="[1]"), _descriptor(), "stride"),
    "descriptor_block_rank": Wrong(_descriptor(block="[8]"), _descriptor(), "block"),
    "descriptor_short_line": Wrong(_descriptor(block="[8, 2]"), _descriptor(), "16|bytes"),
    "descriptor_last_stride": Wrong(_descriptor(strides="[8, 2]"), _descriptor(strides="[8, 1]"), "last dim|stride"),
    "descriptor_stride_of_bytes": Wrong(_descriptor(strides="[5, 1]"), _descriptor(strides="[8, 1]"), "16|align",
                                        "3.9.0"),
    "descriptor_float_extent": Wrong(_descriptor(shape="[8.0, 4]"), _descriptor(), "int|expected|type"),
    "descriptor_offsets": Wrong(_descriptor() + "\ns = r.load([0])", _descriptor() + "\ns = r.load([0, 0])",
                                "offset|expected|rank|dimension"),
    "descriptor_stored_shape": Wrong(_descriptor() + "\nr.store([0, 0], x)", _descriptor() + "\nr.store([0, 0], "
                                     "tl.zeros((8, 4), tl.int32))", "shape|block|expected"),
}

ATOMICS: dict[str, Wrong] = {
    "atomic_of_larger_block": at("r = tl.atomic_add(x_ptr, {})", "x", "n", "scalar|block"),
    "atomic_larger_mask": at("r = tl.atomic_add(x_ptr, n, mask={} > 0)", "x", "n", "mask"),
    "atomic_to_number": at("r = tl.atomic_add({}, n)", "n", "x_ptr", "pointer|ptr"),
    "atomic_order_word": at('r = tl.atomic_add(x_ptr, n, sem="{}")', "seq", "acq_rel", "semantic|seq"),
    "atomic_scope_word": at('r = tl.atomic_add(x_ptr, n, scope="{}")', "all", "cta", "scope"),
    "atomic_max_of_bytes": at("r = tl.atomic_max({})", "x_ptr.to(tl.pointer_type(tl.int8)), n.to(tl.int8)", "x_ptr, n",
                              "int8|type|support"),
    "atomic_max_of_halves": at("r = tl.atomic_max({})", "x_ptr.to(tl.pointer_type(tl.float16)), h.to(tl.float16)",
                               "f_ptr, h", "fp16|type|support"),
    "atomic_max_of_bfloats": at("r = tl.atomic_max({})", "x_ptr.to(tl.pointer_type(tl.bfloat16)), h.to(tl.bfloat16)",
                                "f_ptr, h", "bf16|type|support"),
    "exchange_of_bytes": at("r = tl.atomic_cas({})", "x_ptr.to(tl.pointer_type(tl.int8)), n.to(tl.int8), k.to(tl.int8)",
                            "x_ptr, n, k", "bit|width|int8|support"),
    "exchange_of_other_type": at("r = tl.atomic_cas(x_ptr, {})", "n.to(tl.int64), k.to(tl.int64)", "n, k",
                                 "type|int64|i64"),
    "exchange_of_larger_block": at("r = tl.atomic_cas(x_ptr, {})", "x, y", "n, k", "scalar|block|shape"),
    "exchange_by_scalars": at(f"r = tl.atomic_cas({_BLOCK}, {{}})", "n, k", "x, y", "scalar|block|shape"),
    "atomic_load_released": at('r = tl.atomic_load(x_ptr, sem="{}")', "release", "acquire", "sem|release", "3.9.0"),
    "atomic_store_acquired": at('tl.atomic_store(x_ptr, n, sem="{}")', "acquire", "release", "sem|acquire", "3.9.0"),
    "poll_of_floats": at("tl.atomic_poll({})", "f_ptr, h", "x_ptr, n", "int|bit|type", "3.9.0"),
    "poll_of_number": at("tl.atomic_poll({}, n)", "n", "x_ptr", "pointer|ptr", "3.9.0"),
    "poll_negative_time": at("tl.atomic_poll(x_ptr, n, timeout_ns={}1)", "-", "", "timeout", "3.9.0"),
    "poll_float_time": at("tl.atomic_poll(x_ptr, n, timeout_ns={})", "h", "1", "timeout", "3.9.0"),
    "poll_released": at('tl.atomic_poll(x_ptr, n, sem="{}")', "release", "acquire", "sem|release", "3.9.0"),
}

VALUES: dict[str, Wrong] = {
    "fdiv_of_integers": at("r = tl.fdiv({})", "x, y", "f, f", "float"),
    "fdiv_both_ways": at("r = tl.fdiv(f, f, {}approx=True)", "ieee_rounding=True, ", "", "approx|ieee", "3.9.0"),
    "rounded_quotient_by_integer": at("r = tl.div_rn(f, {})", "passed", "h", "'fp32'.*int32"),
    "integer_by_rounded_quotient": at("r = tl.div_rn({}, f)", "passed", "7", "'fp32'.*int32"),
    "rounded_quotient_of_integers": at("r = tl.div_rn({}, f)", "x", "f", "'fp32'.*int32"),
    "rounded_quotient_by_half": at("r = tl.div_rn(f, {})", "h.to(tl.float16)", "h", "'fp32'.*fp16"),
    "words_as_tensor": at("r = tl.to_tensor({})", '"a"', "3", "convert|tensor", "3.7.0"),
    "rounding_to_nearest_word": at('r = f.to({}, fp_downcast_rounding="rtne")', "tl.float64", "tl.float16", "rounding"),
    "multiples_per_axis": at("r = tl.multiple_of(m, [{}])", "2", "1, 1", "shape|length|values"),
    "contiguous_per_axis": at("r = tl.max_contiguous(m, [{}])", "2", "1, 1", "shape|length|values"),
    "constancy_per_axis": at("r = tl.max_constancy(m, [{}])", "2", "1, 1", "shape|length|values"),
    "multiples_of_words": at("r = tl.multiple_of(x, [{}])", '"a"', "1", "int|type"),
    "contiguous_of_words": at("r = tl.max_contiguous(x, [{}])", '"a"', "1", "int|type"),
    "constancy_of_words": at("r = tl.max_constancy(x, [{}])", '"a"', "1", "int|type"),
    "multiples_of_tensor": at("r = tl.multiple_of(x, [{}])", "n", "N // 8", "constexpr"),
    "contiguous_of_tensor": at("r = tl.max_contiguous(x, [{}])", "n", "N // 8", "constexpr"),
    "constancy_of_tensor": at("r = tl.max_constancy(x, [{}])", "n", "N // 8", "constexpr"),
    "histogram_mask": at("r = tl.histogram(x, 8, mask={})", "x", "x > 0", "mask"),
    "split_of_three": at("r, s = tl.split(tl.join(m, m){})", "[None, :, :, :, None]", "", "2"),
    "trans_of_line": at("r = tl.trans({})", "x", "m", "2|rank|dim|permut"),
    "negative_axis_of_insertion": at("r = tl.expand_dims(x, -{})", "4", "2", "axis"),
    "broadcast_other_extent": at("r = tl.broadcast_to(m, 4, {})", "16", "8", "broadcast|expand"),
    "cat_ranks": at("r = tl.cat(x, {})", "m", "y", "rank", "3.7.0"),
    "dot_imprecise_digits": Wrong(_dot("tl.float8e5", "tl.float8e5", ", max_num_imprecise_acc=64"),
                                  _dot("tl.float8e5", "tl.float8e5", ", max_num_imprecise_acc=16"),
                                  "max_num_imprecise"),
    "dot_to_bfloat": Wrong(_dot(more=", out_dtype=tl.bfloat16"), _dot(more=", out_dtype=tl.float16"), "bf16|bfloat16"),
    "dot_precision_word": Wrong(_dot(more=', input_precision="tf64"'), _dot(more=', input_precision="ieee"'),
                                "precision"),
    "dot_precision_twice": Wrong(_dot(more=', input_precision="ieee", allow_tf32=True'), _dot(), "precision|tf32"),
    "dot_types": Wrong(_dot("tl.float16", "tl.bfloat16"), _dot(), "dtype|type"),
    "scaled_format_word": at(
        "a = tl.zeros((32, 64), tl.uint8)\nr = tl.dot_scaled(a, None, '{}', tl.trans(a), None, 'e5m2')", "e9m9", "e5m2",
        "e9m9|format"),
    "mapped_results": Wrong("r = tl.map_elementwise(helper, x)", "r, = tl.map_elementwise(helper, x, y), ",
                            "argument|'b'|missing"),
    "assertion_without_condition": at("tl.static_assert({})", "", "True", "static_assert|argument"),
    "range_without_end": at("for i in tl.range({}):\n    r = i", "", "3", "arg1|argument"),
}

_TRUTHS = "x_ptr.to(tl.pointer_type(tl.int1))"
_LEGAL_CAST = "r = x_ptr.to(tl.int64)"

POINTERS: dict[str, Wrong] = {
    **{f"pointer_as_{word}": Wrong(f"r = x_ptr.to(tl.{name})", _LEGAL_CAST, "cast|pointer")
       for word, name in (("byte", "int8"), ("word", "int32"), ("unsigned", "uint32"), ("float", "float32"),
                          ("double", "float64"), ("bfloat", "bfloat16"))},
    **{f"pointer_bits_as_{word}": Wrong(f"r = x_ptr.to(tl.{name}, bitcast=True)", _LEGAL_CAST, "cast|pointer")
       for word, name in (("word", "int32"), ("double", "float64"))},
    **{f"pointer_from_{word}": Wrong(f"r = h.to(tl.{name}).to(tl.pointer_type(tl.int32))",
                                     "r = n.to(tl.int64).to(tl.pointer_type(tl.int32))", "cast|pointer|float|fp")
       for word, name in (("float", "float32"), ("double", "float64"), ("half", "float16"))},
    "pointer_block_as_words": at(f"r = tl.cast({_BLOCK}, tl.{{}})", "int32", "int64", "cast|pointer"),
    "pointers_cast_with_rounding": at("r = tl.cast(x_ptr, tl.pointer_type(tl.int8){})", ', fp_downcast_rounding="rtz"',
                                      "", "rounding"),
    "pointers_compared_as_pointers": Wrong("r = x_ptr == x_ptr", "r = x_ptr.to(tl.int64) == x_ptr.to(tl.int64)",
                                           "invalid operands"),
    **{f"atomic_{name}_of_truths": Wrong(f"r = tl.atomic_{name}({_TRUTHS}, n > 0)", f"r = tl.atomic_{name}(x_ptr, n)",
                                         "int1|type|support")
       for name in ("add", "and", "or", "xor", "max", "min", "xchg")},
    "exchange_of_truths": Wrong(f"r = tl.atomic_cas({_TRUTHS}, n > 0, k > 0)", "r = tl.atomic_cas(x_ptr, n, k)",
                                "bit|width|int1|support"),
    "truths_mask_of_bytes": at(f"r = tl.load({_TRUTHS}, mask={{}} > 0)", "x", "n", "mask"),
}

FOLDS: dict[str, Wrong] = {
    "reduction_of_scalar": at("r = tl.reduce({}, 0, helper)", "n", "x", "axis|scalar|rank|block"),
    "scan_of_scalar": at("r = tl.associative_scan({}, 0, helper)", "n", "x", "axis|scalar|rank|block"),
    "reduction_of_number": at("r = tl.reduce({}, 0, helper)", "3", "y", "axis|scalar|rank|block|tensor"),
    "scan_of_number": at("r = tl.associative_scan({}, 0, helper)", "3", "y", "axis|scalar|rank|block|tensor"),
    "reduction_of_block_and_scalar": at("r, s = tl.reduce((x, {}), 0, pairs)", "n", "y", "shape|scalar|rank|block"),
    "scan_of_block_and_scalar": at("r, s = tl.associative_scan((x, {}), 0, pairs)", "n", "y",
                                   "shape|scalar|rank|block"),
    "greatest_of_scalar": at("r = tl.max({})", "n", "x", "axis|scalar|rank|block|numel"),
    "least_of_scalar_along_axis": at("r = tl.min({}, 0)", "n", "x", "axis|scalar|rank|block"),
    "running_sum_of_scalar": at("r = tl.cumsum({}, 0)", "n", "x", "axis|scalar|rank|block"),
    "number_for_tensor_field": at("r = Duo(n, {})", "3", "k", "tensor|'b'"),
    "float_for_tensor_field": at("r = Duo({}, n)", "1.5", "h", "tensor|'a'"),
    "truth_for_tensor_field": at("r = Duo(n, {})", "True", "n > 0", "tensor|'b'"),
}

FURTHER = MEMORY | ATOMICS | VALUES | POINTERS | FOLDS
