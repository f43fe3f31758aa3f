"""Further kernels that are wrong in one place: types and extents of memory, atomics, descriptors, products, hints, and
constants. What the texts may name stands in `fuzz.statements.refused`."""

from tridiff.fuzz.statements.wrong import Wrong

_BLOCK = "x_ptr + tl.arange(0, 8)"
_DESCRIPTOR = "tl.make_tensor_descriptor(x_ptr, {shape}, {strides}, {block}{more})"


def _descriptor(shape: str = "[8, 4]", strides: str = "[4, 1]", block: str = "[8, 4]", more: str = "") -> str:
    return "r = " + _DESCRIPTOR.format(shape=shape, strides=strides, block=block, more=more)


def _dot(left: str = "tl.float16", right: str = "tl.float16", more: str = "") -> str:
    return (f"a = tl.zeros((32, 32), {left})\nb = tl.zeros((32, 32), {right})\nr = tl.dot(a, b{more})")


MEMORY: dict[str, Wrong] = {
    "store_of_larger_block": Wrong("tl.store(x_ptr, x)", "tl.store(x_ptr, n)", "scalar|block"),
    "store_of_larger_mask": Wrong("tl.store(x_ptr, n, mask=x > 0)", "tl.store(x_ptr, n, mask=n > 0)", "mask"),
    "store_mask_of_numbers": Wrong(f"tl.store({_BLOCK}, x, mask=x)", f"tl.store({_BLOCK}, x, mask=x > 0)", "mask"),
    "load_mask_of_numbers": Wrong(f"r = tl.load({_BLOCK}, mask=x)", f"r = tl.load({_BLOCK}, mask=x > 0)", "mask"),
    "store_to_number": Wrong("tl.store(n, 1)", "tl.store(x_ptr, 1)", "ptr|pointer"),
    "pointer_to_pointers": Wrong("r = x_ptr.to(tl.pointer_type(tl.pointer_type(tl.int32)))",
                                 "r = x_ptr.to(tl.pointer_type(tl.int32))", "pointer"),
    "pointer_from_narrow": Wrong("r = n.to(tl.pointer_type(tl.int32))", "r = n.to(tl.int64).to(tl.pointer_type("
                                 "tl.int32))", "cast|int32|64"),
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
    "atomic_of_larger_block": Wrong("r = tl.atomic_add(x_ptr, x)", "r = tl.atomic_add(x_ptr, n)", "scalar|block"),
    "atomic_larger_mask": Wrong("r = tl.atomic_add(x_ptr, n, mask=x > 0)", "r = tl.atomic_add(x_ptr, n, mask=n > 0)",
                                "mask"),
    "atomic_to_number": Wrong("r = tl.atomic_add(n, n)", "r = tl.atomic_add(x_ptr, n)", "pointer|ptr"),
    "atomic_order_word": Wrong('r = tl.atomic_add(x_ptr, n, sem="seq")', 'r = tl.atomic_add(x_ptr, n, sem="acq_rel")',
                               "semantic|seq"),
    "atomic_scope_word": Wrong('r = tl.atomic_add(x_ptr, n, scope="all")', 'r = tl.atomic_add(x_ptr, n, scope="cta")',
                               "scope"),
    "atomic_max_of_bytes": Wrong("r = tl.atomic_max(x_ptr.to(tl.pointer_type(tl.int8)), n.to(tl.int8))",
                                 "r = tl.atomic_max(x_ptr, n)", "int8|type|support"),
    "atomic_max_of_halves": Wrong("r = tl.atomic_max(x_ptr.to(tl.pointer_type(tl.float16)), h.to(tl.float16))",
                                  "r = tl.atomic_max(f_ptr, h)", "fp16|type|support"),
    "atomic_max_of_bfloats": Wrong("r = tl.atomic_max(x_ptr.to(tl.pointer_type(tl.bfloat16)), h.to(tl.bfloat16))",
                                   "r = tl.atomic_max(f_ptr, h)", "bf16|type|support"),
    "exchange_of_bytes": Wrong("r = tl.atomic_cas(x_ptr.to(tl.pointer_type(tl.int8)), n.to(tl.int8), k.to(tl.int8))",
                               "r = tl.atomic_cas(x_ptr, n, k)", "bit|width|int8|support"),
    "exchange_of_other_type": Wrong("r = tl.atomic_cas(x_ptr, n.to(tl.int64), k.to(tl.int64))",
                                    "r = tl.atomic_cas(x_ptr, n, k)", "type|int64|i64"),
    "exchange_of_larger_block": Wrong("r = tl.atomic_cas(x_ptr, x, y)", "r = tl.atomic_cas(x_ptr, n, k)",
                                      "scalar|block|shape"),
    "exchange_by_scalars": Wrong(f"r = tl.atomic_cas({_BLOCK}, n, k)", f"r = tl.atomic_cas({_BLOCK}, x, y)",
                                 "scalar|block|shape"),
    "atomic_load_released": Wrong('r = tl.atomic_load(x_ptr, sem="release")',
                                  'r = tl.atomic_load(x_ptr, sem="acquire")',
                                  "sem|release", "3.9.0"),
    "atomic_store_acquired": Wrong('tl.atomic_store(x_ptr, n, sem="acquire")',
                                   'tl.atomic_store(x_ptr, n, sem="release")', "sem|acquire", "3.9.0"),
    "poll_of_floats": Wrong("tl.atomic_poll(f_ptr, h)", "tl.atomic_poll(x_ptr, n)", "int|bit|type", "3.9.0"),
    "poll_of_number": Wrong("tl.atomic_poll(n, n)", "tl.atomic_poll(x_ptr, n)", "pointer|ptr", "3.9.0"),
    "poll_negative_time": Wrong("tl.atomic_poll(x_ptr, n, timeout_ns=-1)", "tl.atomic_poll(x_ptr, n, timeout_ns=1)",
                                "timeout", "3.9.0"),
    "poll_float_time": Wrong("tl.atomic_poll(x_ptr, n, timeout_ns=h)", "tl.atomic_poll(x_ptr, n, timeout_ns=1)",
                             "timeout", "3.9.0"),
    "poll_released": Wrong('tl.atomic_poll(x_ptr, n, sem="release")', 'tl.atomic_poll(x_ptr, n, sem="acquire")',
                           "sem|release", "3.9.0"),
}

VALUES: dict[str, Wrong] = {
    "fdiv_of_integers": Wrong("r = tl.fdiv(x, y)", "r = tl.fdiv(f, f)", "float"),
    "fdiv_both_ways": Wrong("r = tl.fdiv(f, f, ieee_rounding=True, approx=True)", "r = tl.fdiv(f, f, approx=True)",
                            "approx|ieee", "3.9.0"),
    "rounded_quotient_by_integer": Wrong("r = tl.div_rn(f, passed)", "r = tl.div_rn(f, h)", "'fp32'.*int32"),
    "integer_by_rounded_quotient": Wrong("r = tl.div_rn(passed, f)", "r = tl.div_rn(7, f)", "'fp32'.*int32"),
    "rounded_quotient_of_integers": Wrong("r = tl.div_rn(x, f)", "r = tl.div_rn(f, f)", "'fp32'.*int32"),
    "rounded_quotient_by_half": Wrong("r = tl.div_rn(f, h.to(tl.float16))", "r = tl.div_rn(f, h)", "'fp32'.*fp16"),
    "words_as_tensor": Wrong('r = tl.to_tensor("a")', "r = tl.to_tensor(3)", "convert|tensor", "3.7.0"),
    "rounding_to_nearest_word": Wrong('r = f.to(tl.float64, fp_downcast_rounding="rtne")',
                                      'r = f.to(tl.float16, fp_downcast_rounding="rtne")', "rounding"),
    "multiples_per_axis": Wrong("r = tl.multiple_of(m, [2])", "r = tl.multiple_of(m, [1, 1])", "shape|length|values"),
    "contiguous_per_axis": Wrong("r = tl.max_contiguous(m, [2])", "r = tl.max_contiguous(m, [1, 1])",
                                 "shape|length|values"),
    "constancy_per_axis": Wrong("r = tl.max_constancy(m, [2])", "r = tl.max_constancy(m, [1, 1])",
                                "shape|length|values"),
    "multiples_of_words": Wrong('r = tl.multiple_of(x, ["a"])', "r = tl.multiple_of(x, [1])", "int|type"),
    "contiguous_of_words": Wrong('r = tl.max_contiguous(x, ["a"])', "r = tl.max_contiguous(x, [1])", "int|type"),
    "constancy_of_words": Wrong('r = tl.max_constancy(x, ["a"])', "r = tl.max_constancy(x, [1])", "int|type"),
    "multiples_of_tensor": Wrong("r = tl.multiple_of(x, [n])", "r = tl.multiple_of(x, [N // 8])", "constexpr"),
    "contiguous_of_tensor": Wrong("r = tl.max_contiguous(x, [n])", "r = tl.max_contiguous(x, [N // 8])", "constexpr"),
    "constancy_of_tensor": Wrong("r = tl.max_constancy(x, [n])", "r = tl.max_constancy(x, [N // 8])", "constexpr"),
    "histogram_mask": Wrong("r = tl.histogram(x, 8, mask=x)", "r = tl.histogram(x, 8, mask=x > 0)", "mask"),
    "split_of_three": Wrong("r, s = tl.split(tl.join(m, m)[None, :, :, :, None])", "r, s = tl.split(tl.join(m, m))",
                            "2"),
    "trans_of_line": Wrong("r = tl.trans(x)", "r = tl.trans(m)", "2|rank|dim|permut"),
    "negative_axis_of_insertion": Wrong("r = tl.expand_dims(x, -4)", "r = tl.expand_dims(x, -2)", "axis"),
    "broadcast_other_extent": Wrong("r = tl.broadcast_to(m, 4, 16)", "r = tl.broadcast_to(m, 4, 8)",
                                    "broadcast|expand"),
    "cat_ranks": Wrong("r = tl.cat(x, m)", "r = tl.cat(x, y)", "rank", "3.7.0"),
    "dot_imprecise_digits": Wrong(_dot("tl.float8e5", "tl.float8e5", ", max_num_imprecise_acc=64"),
                                  _dot("tl.float8e5", "tl.float8e5", ", max_num_imprecise_acc=16"),
                                  "max_num_imprecise"),
    "dot_to_bfloat": Wrong(_dot(more=", out_dtype=tl.bfloat16"), _dot(more=", out_dtype=tl.float16"), "bf16|bfloat16"),
    "dot_precision_word": Wrong(_dot(more=', input_precision="tf64"'), _dot(more=', input_precision="ieee"'),
                                "precision"),
    "dot_precision_twice": Wrong(_dot(more=', input_precision="ieee", allow_tf32=True'), _dot(), "precision|tf32"),
    "dot_types": Wrong(_dot("tl.float16", "tl.bfloat16"), _dot(), "dtype|type"),
    "scaled_format_word": Wrong(
        "a = tl.zeros((32, 64), tl.uint8)\nr = tl.dot_scaled(a, None, 'e9m9', tl.trans(a), None, 'e5m2')",
        "a = tl.zeros((32, 64), tl.uint8)\nr = tl.dot_scaled(a, None, 'e5m2', tl.trans(a), None, 'e5m2')",
        "e9m9|format"),
    "mapped_results": Wrong("r = tl.map_elementwise(helper, x)", "r, = tl.map_elementwise(helper, x, y), ",
                            "argument|'b'|missing"),
    "assertion_without_condition": Wrong("tl.static_assert()", "tl.static_assert(True)", "static_assert|argument"),
    "range_without_end": Wrong("for i in tl.range():\n    r = i", "for i in tl.range(3):\n    r = i", "arg1|argument"),
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
    "pointer_block_as_words": Wrong(f"r = tl.cast({_BLOCK}, tl.int32)", f"r = tl.cast({_BLOCK}, tl.int64)",
                                    "cast|pointer"),
    "pointers_cast_with_rounding": Wrong(
        'r = tl.cast(x_ptr, tl.pointer_type(tl.int8), fp_downcast_rounding="rtz")',
        "r = tl.cast(x_ptr, tl.pointer_type(tl.int8))", "rounding"),
    "pointers_compared_as_pointers": Wrong("r = x_ptr == x_ptr", "r = x_ptr.to(tl.int64) == x_ptr.to(tl.int64)",
                                           "invalid operands"),
    **{f"atomic_{name}_of_truths": Wrong(f"r = tl.atomic_{name}({_TRUTHS}, n > 0)", f"r = tl.atomic_{name}(x_ptr, n)",
                                         "int1|type|support")
       for name in ("add", "and", "or", "xor", "max", "min", "xchg")},
    "exchange_of_truths": Wrong(f"r = tl.atomic_cas({_TRUTHS}, n > 0, k > 0)", "r = tl.atomic_cas(x_ptr, n, k)",
                                "bit|width|int1|support"),
    "truths_mask_of_bytes": Wrong(f"r = tl.load({_TRUTHS}, mask=x > 0)", f"r = tl.load({_TRUTHS}, mask=n > 0)", "mask"),
}

FOLDS: dict[str, Wrong] = {
    "reduction_of_scalar": Wrong("r = tl.reduce(n, 0, helper)", "r = tl.reduce(x, 0, helper)",
                                 "axis|scalar|rank|block"),
    "scan_of_scalar": Wrong("r = tl.associative_scan(n, 0, helper)", "r = tl.associative_scan(x, 0, helper)",
                            "axis|scalar|rank|block"),
    "reduction_of_number": Wrong("r = tl.reduce(3, 0, helper)", "r = tl.reduce(y, 0, helper)",
                                 "axis|scalar|rank|block|tensor"),
    "scan_of_number": Wrong("r = tl.associative_scan(3, 0, helper)", "r = tl.associative_scan(y, 0, helper)",
                            "axis|scalar|rank|block|tensor"),
    "reduction_of_block_and_scalar": Wrong("r, s = tl.reduce((x, n), 0, pairs)", "r, s = tl.reduce((x, y), 0, pairs)",
                                           "shape|scalar|rank|block"),
    "scan_of_block_and_scalar": Wrong("r, s = tl.associative_scan((x, n), 0, pairs)",
                                      "r, s = tl.associative_scan((x, y), 0, pairs)", "shape|scalar|rank|block"),
    "greatest_of_scalar": Wrong("r = tl.max(n)", "r = tl.max(x)", "axis|scalar|rank|block|numel"),
    "least_of_scalar_along_axis": Wrong("r = tl.min(n, 0)", "r = tl.min(x, 0)", "axis|scalar|rank|block"),
    "running_sum_of_scalar": Wrong("r = tl.cumsum(n, 0)", "r = tl.cumsum(x, 0)", "axis|scalar|rank|block"),
    "number_for_tensor_field": Wrong("r = Duo(n, 3)", "r = Duo(n, k)", "tensor|'b'"),
    "float_for_tensor_field": Wrong("r = Duo(1.5, n)", "r = Duo(h, n)", "tensor|'a'"),
    "truth_for_tensor_field": Wrong("r = Duo(n, True)", "r = Duo(n, n > 0)", "tensor|'b'"),
}

FURTHER = MEMORY | ATOMICS | VALUES | POINTERS | FOLDS
