"""Kernels that are wrong in one place, each beside its nearest legal relative: what the language must refuse.

Within the text: x, y are i32 of 8 elements, f fp32 of 8, m i32 of 4 by 8, n and k i32 scalars, h an fp32 scalar, passed
the i32 7 as it is given at launch, x_ptr a pointer to i32, N the constexpr 8. `helper` and its like are in `HEAD`.
"""

from tridiff.fuzz.statements.refused_further import FURTHER
from tridiff.fuzz.statements.wrong import Wrong, at

HEAD = '''import triton
import triton.language as tl

PLAIN = 5
CONSTANT = tl.constexpr(5)

@triton.jit
def helper(a, b, N: tl.constexpr = 2):
    return a + b * N

@triton.jit(noinline=True)
def apart(a):
    return a + 1

@triton.jit
def either(a):
    if a > 0:
        return a
    return a.to(tl.float32)

@triton.must_use_result("Take it.")
@triton.jit
def kept(a):
    return a - 1

@triton.jit
def alike(a):
    if a > 0:
        return a
    return a + 1

@triton.constexpr_function
def doubled(n):
    return 2 * n

@triton.jit
def pairs(a, b, c, d):
    return a + c, b + d

@tl.core._aggregate
class Duo:
    a: tl.tensor
    b: tl.tensor

    @triton.constexpr_function
    def __init__(self, a, b):
        self.a = a
        self.b = b

@triton.jit
def kernel(x_ptr, f_ptr, out_ptr, passed, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    f = tl.load(f_ptr + tl.arange(0, 8))
    y = x + 1
    m = x[None, :] + tl.arange(0, 4)[:, None]
    n = tl.load(x_ptr)
    k = n + 1
    h = tl.load(f_ptr)
'''

STATEMENTS: dict[str, Wrong] = {
    "undefined_name": at("r = {} + 1", "nowhere", "n", "nowhere"),
    "plain_global": at("r = n + {}", "PLAIN", "CONSTANT", "plain"),
    "defined_in_one_branch": at("{}if n > 0:\n    r = n\ns = r", "", "r = k\n", "not defined"),
    "defined_in_loop": at("{}for i in range(n):\n    r = i\ns = r", "", "r = n\n", "not defined"),
    "result_not_used": Wrong("kept(n)\nr = n", "r = kept(n)", "not being used"),
    "branch_changes_type": at("r = n\nif n > 0:\n    r = {}", "h", "k", "type|redefines"),
    "branch_changes_shape": at("r = n\nif n > 0:\n    r = {}", "x", "k", "type|redefines"),
    "branches_of_two_types": at("if n > 0:\n    r = n\nelse:\n    r = {}", "h", "k", "mismatched type"),
    "loop_changes_type": at("r = {}\nfor i in range(4):\n    r = r + h", "n", "h", "type"),
    "loop_changes_shape": at("r = {}\nfor i in range(4):\n    r = r + x", "n", "x", "type"),
    "while_changes_type": at("r = {}\nwhile r > 0:\n    r = r - 0.5", "n", "h", "type"),
    "constexpr_again": Wrong("r: tl.constexpr = 1\nr: tl.constexpr = 2", "r: tl.constexpr = 1\ns: tl.constexpr = 2",
                             "already defined|reassign"),
    "return_in_loop": Wrong("for i in range(4):\n    if n > i:\n        return", "if n > 3:\n    tl.store(out_ptr, 1)\n"
                            "    return", "return"),
    "return_in_while": Wrong("r = n\nwhile r > 0:\n    r -= 1\n    if r == k:\n        return",
                             "r = n\nwhile r > 0:\n    r -= 1", "return"),
    "returned_types": at("r = {}(n)", "either", "alike", "return type|inconsistent"),
    "nested_function": Wrong("def inner(a):\n    return a\nr = inner(n)", "r = helper(n, n)", "nested function"),
    "two_targets": Wrong("r = s = n", "r = n", "assert|multiple|target"),
    "starred_target": at("r, {} = (n, k, n)", "*s", "s, t", "starred"),
    "too_few_values": at("r, {} = (n, k)", "s, t", "s", "not enough values"),
    "too_many_values": at("r, {} = (n, k, n)", "s", "s, t", "too many values"),
    "unpacked_tensor": at("r, s = {}", "n", "n, k", "unpack"),
    "attribute_target": Wrong("x.shape = 3", "r = x.shape", "attribute"),
    "item_target": Wrong("x[0] = 3", "r = x[None]", "setitem|not supported"),
    "list_comprehension_of_range": Wrong("r = [i for i in range(3)]", "r = [i + 1 for i in (n, k)]", "comprehension"),
    "nested_comprehension": Wrong("r = [a + b for a in (n, k) for b in (n, k)]", "r = [a + n for a in (n, k)]",
                                  "comprehension"),
    "dictionary": Wrong("r = {1: n}", "r = (1, n)", "dict|unsupported"),
    "lambda": Wrong("r = (lambda a: a)(n)", "r = helper(n, n)", "lambda|unsupported"),
    "try": Wrong("try:\n    r = n\nexcept ValueError:\n    r = k", "r = n", "try|unsupported"),
    "break": at("for i in range(4):\n    {}", "break", "pass", "break|unsupported"),
    "continue": at("for i in range(4):\n    {}", "continue", "pass", "continue|unsupported"),
    "delete": Wrong("r = n\ndel r", "r = n", "delete|unsupported"),
    "global_statement": Wrong("global r\nr = n", "r = n", "global|unsupported"),
    "for_else": Wrong("for i in range(4):\n    r = n\nelse:\n    r = k", "for i in range(4):\n    r = n", "else"),
    "for_over_tuple": Wrong("for i in (n, k):\n    r = i", "for i in tl.static_range(2):\n    r = (n, k)[i]",
                            "iterator|attribute|range"),
    "float_bound": at("for i in range({}):\n    r = i", "h", "n", "int"),
    "float_step": at("for i in range(0, 4, {}):\n    r = i", "0.5", "2", "int"),
    "block_bound": at("for i in range(0, {}):\n    r = i", "x", "n", "scalar"),
    "block_start": at("for i in range({}, 9):\n    r = i", "x", "n", "scalar"),
    "block_step": at("for i in range(0, 9, {}):\n    r = i", "x", "3", "scalar"),
    "static_range_of_tensor": at("for i in tl.static_range({}):\n    r = i", "n", "N", "constexpr"),
    "static_range_start": at("for i in tl.static_range({}, 4):\n    r = i", "n", "1", "constexpr"),
    "static_range_end": at("for i in tl.static_range(0, {}):\n    r = i", "n", "4", "constexpr"),
    "static_range_step": at("for i in tl.static_range(0, 4, {}):\n    r = i", "n", "2", "constexpr"),
    "block_condition": at("if {} > 0:\n    r = n", "x", "n", "ambiguous|scalar"),
    "word_condition": at("if {}:\n    r = n", '"a"', "True", "conditional"),
    "float_condition": at("if {}:\n    r = n", "1.5", "1", "conditional"),
    "word_in_ternary": at("r = n if {} else k", '"a"', "True", "conditional"),
    "ternary_types": at("r = n if n > 0 else {}", "h", "k", "type"),
    "ternary_shapes": at("r = n if n > 0 else {}", "x", "k", "type"),
    "static_assert_fails": Wrong('tl.static_assert(N == 9, "N is not nine")', "tl.static_assert(N == 8)",
                                 "n is not nine"),
    "static_assert_of_tensor": at("tl.static_assert({} == 8)", "n", "N", "compile-time|constexpr"),
    "static_assert_keyword": at('tl.static_assert(N == 8, {}"a")', "msg=", "", "static_assert"),
    "formatted_tensor": Wrong('tl.static_assert(N == 8, f"{n}")\nr = f"{n}"',
                              'tl.static_assert(N == 8, f"{N}")', "f-string|constexpr"),
    "contained": Wrong("r = 3 in (1, 3)", "r = 3 == 3", "not.*implemented|unsupported"),
    "power_of_tensors": Wrong("r = n ** 2", "r = n * n", "unsupported|pow"),
    "matrix_operator": at("r = m {} m", "@", "*", "unsupported|matmult|matmul"),
    "plus_of_tensor": Wrong("r = +n", "r = -n", "not.*implemented|pos"),
    "invert_float": Wrong("r = ~f", "r = ~x", "invert"),
    "negative_pointer": Wrong("r = -x_ptr", "r = -n", "minus"),
    "not_of_integer": at("r = not {}", "n", "(n > 0)", "bitcast"),
    "and_of_integers": Wrong("r = n and k", "r = (n > 0) and (k > 0)", "bitcast"),
}

OPERATORS: dict[str, Wrong] = {
    "shift_float": at("r = {} << 1", "f", "x", "invalid operands"),
    "and_float": at("r = {} & x", "f", "y", "invalid operands"),
    "floor_of_floats": Wrong("r = f // 2.0", "r = x // 2", "unexpected type"),
    "signedness": at("r = x // {}", "x.to(tl.uint32)", "y", "signedness"),
    "remainder_signedness": at("r = x % {}", "x.to(tl.uint32)", "y", "signedness"),
    "negative_beside_unsigned": at("r = x.to(tl.uint32) + {}", "(-1)", "1", "negative"),
    "too_large_number": at("r = x.to(tl.int8) + {}", "1000", "100", "out of range"),
    "too_small_number": at("r = x.to(tl.int8) + (-{})", "1000", "100", "out of range"),
    "number_of_no_type": Wrong("r = 2 ** 70\ns = n + 2 ** 70", "r = n + 2 ** 20", "nonrepresentable|out of range"),
    "shapes": at("r = x + tl.arange(0, {})", "4", "8", "incompatible|broadcast"),
    "add_pointers": at("r = x_ptr + {}", "x_ptr", "1", "pointers"),
    "pointer_plus_float": at("r = x_ptr + {}", "h", "n", "invalid operands"),
    "pointer_plus_number": at("r = x_ptr + {}", "1.5", "1", "invalid operands"),
    "pointer_times": at("r = {} * 2", "x_ptr", "n", "invalid operands"),
    "number_minus_pointer": Wrong("r = 1 - x_ptr", "r = x_ptr - 1", "invalid operands"),
    "pointer_quotient": at("r = {} / 2", "x_ptr", "n", "invalid operands|unexpected"),
    "pointer_compared": Wrong("r = x_ptr < x_ptr", "r = n < k", "invalid operands"),
    "pointer_and": at("r = {} & 1", "x_ptr", "n", "invalid operands"),
    "index_number": at("r = x[{}]", "0", "None", "index"),
    "index_slice": at("r = x[{}:]", "1", "", "index"),
    "index_stop": at("r = x[:{}]", "4", "", "index"),
    "index_step": at("r = x[{}]", "::2", ":", "index"),
    "index_too_many": at("r = {}[:, :]", "x", "m", "indices|index"),
    "index_tensor": at("r = x[{}]", "n", "None", "index"),
    "transposed_line": Wrong("r = x.T", "r = m.T", "permut|dims"),
    "no_such_method": Wrong("r = x.grown()", "r = x.sum()", "grown"),
    "no_such_function": at("r = {}(x)", "tl.grown", "tl.sum", "grown"),
    "no_such_field": at("r = (n, k){}", ".first", "[0]", "first"),
    "tuple_index": at("r = (n, k)[{}]", "2", "1", "index"),
    "tuple_plus_tensor": at("r = (n, k) + {}", "n", "(n,)", "tuple|tensor|operand|attribute"),
}

CALLS: dict[str, Wrong] = {
    "missing_argument": at("r = helper({})", "n", "n, k", "'b'"),
    "too_many_arguments": at("r = helper({})", "n, k, 2, 3", "n, k, 2", "too many|positional"),
    "unknown_keyword": at("r = helper(n, k, {}=3)", "M", "N", "'m'"),
    "given_twice": at("r = helper(n, {})", "k, a=n", "b=k", "'a'"),
    "noinline_of_block": at("r = apart({})", "x", "n", "noinline"),
    "tensor_as_constexpr_function": at("r = doubled({})", "n", "3", "unsupported|constexpr|operand|semantic"),
    "range_not_power": at("r = tl.arange(0, {})", "6", "8", "power of 2"),
    "range_backwards": at("r = tl.arange({})", "8, 0", "0, 8", "greater"),
    "range_empty": at("r = tl.arange(4, {})", "4", "8", "greater"),
    "range_of_tensor": at("r = tl.arange(0, {})", "n", "N", "constexpr"),
    "range_of_float": at("r = tl.arange(0, {})", "8.0", "8", "constexpr|int"),
    "range_too_large": at("r = tl.arange(0, 2 ** {})", "33", "4", "int32|maximum|exceeds"),
    "range_argument": at("r = tl.arange({}8)", "", "0, ", "end"),
    "full_not_power": at("r = tl.full(({},), 0, tl.int32)", "6", "8", "power of 2"),
    "full_too_large": at("r = tl.full((2 ** {},), 0, tl.int32)", "21", "4", "exceeds|maximum"),
    "full_of_tensor_extent": at("r = tl.full(({},), 0, tl.int32)", "n", "N", "constexpr"),
    "full_of_block": at("r = tl.full((8,), {}, tl.int32)", "x", "n", "size-1|scalar"),
    "zeros_without_type": at("r = tl.zeros((8,){})", "", ", tl.int32", "dtype"),
    "program_axis": at("r = tl.program_id({})", "3", "2", "axis"),
    "programs_axis": at("r = tl.num_programs({})", "3", "2", "axis"),
    "sum_of_scalar": at("r = tl.sum({})", "n", "x", "numel"),
    "sum_axis": at("r = tl.sum(x, {})", "1", "0", "axis"),
    "sum_axis_negative": at("r = tl.sum(m, {})", "-3", "1", "axis"),
    "max_axis": at("r = tl.max(m, {})", "2", "1", "axis"),
    "argmax_of_scalar": at("r = tl.argmax({}, 0)", "n", "x", "axis|scalar|rank|block"),
    "scan_axis": at("r = tl.cumsum(x, {})", "1", "0", "axis"),
    "expand_axis": at("r = tl.expand_dims(x, {})", "3", "1", "axis"),
    "reshape_elements": at("r = tl.reshape(x, 4, {})", "4", "2", "number of elements"),
    "reshape_not_power": at("r = tl.reshape(x, {}, 2)", "3", "4", "number of elements|power of 2"),
    "broadcast_rank": at("r = tl.broadcast_to({}, 2, 8)", "x", "x[None, :]", "rank"),
    "broadcast_extent": at("r = tl.broadcast_to({}, 16)", "x", "n", "broadcast"),
    "permute_axes": at("r = tl.permute(m, {}, 0)", "0", "1", "permut"),
    "permute_rank": at("r = tl.permute(m, 0, {})", "1, 2", "1", "permut|dims"),
    "split_odd": at("r = tl.split({})", "x", "tl.reshape(x, 4, 2)", "2"),
    "join_shapes": at("r = tl.join(x, {})", "tl.arange(0, 4)", "y", "incompatible|broadcast"),
    "cat_without_reorder": at("r = tl.cat({}, can_reorder=True)", "m, m", "x, y", "1d|rank"),
    "bitcast_width": at("r = x.to({}, bitcast=True)", "tl.int64", "tl.float32", "bitcast"),
    "rounding_word": at('r = f.to(tl.float16, fp_downcast_rounding="{}")', "up", "rtz", "rounding"),
    "rounding_widening": at('r = f.to({}, fp_downcast_rounding="rtz")', "tl.float64", "tl.float16", "rounding"),
    "load_of_number": at("r = tl.load({})", "n", "x_ptr", "ptr|pointer"),
    "load_other_alone": at("r = tl.load(x_ptr, {}other=0)", "", "mask=n > 0, ", "other"),
    "load_block_mask": at("r = tl.load(x_ptr, mask={} > 0)", "x", "n", "mask"),
    "load_block_other": at("r = tl.load(x_ptr, mask=n > 0, other={})", "x", "k", "other"),
    "load_cache_word": at('r = tl.load(x_ptr, cache_modifier="{}")', ".zz", ".ca", "cache"),
    "load_eviction_word": at('r = tl.load(x_ptr, eviction_policy="{}")', "never", "evict_last", "eviction"),
    "store_to_number": at("tl.store({}, 1)", "n", "out_ptr", "ptr|pointer"),
    "store_block_value": at("tl.store(out_ptr, {})", "x", "n", "value"),
    "store_block_mask": at("tl.store(out_ptr, 1, mask={} > 0)", "x", "n", "mask"),
    "store_cache_word": at('tl.store(out_ptr, 1, cache_modifier="{}")', ".zz", ".wb", "cache"),
    "where_shapes": at("r = tl.where(x > 0, {})", "m, tl.arange(0, 4)", "x, y", "incompat|broadcast|rank"),
    "minimum_of_pointer": at("r = tl.minimum({}, 1)", "x_ptr", "n", "invalid operands"),
    "clamp_word": at("r = tl.clamp(f, 0.0, {})", '1.0, propagate_nan="all"', "1.0", "propagate_nan"),
    "minimum_word": at("r = tl.minimum(f, {})", 'f, propagate_nan="all"', "f", "propagate_nan"),
    "exp_of_integer": at("r = tl.exp({})", "x", "f", "dtype|expected|fp"),
    "atomic_word": at('r = tl.atomic_add(out_ptr, 0, sem="{}")', "weak", "relaxed", "semantic"),
    "atomic_scope": at('r = tl.atomic_add(out_ptr, 0, scope="{}")', "cluster", "cta", "scope|semantic"),
    "atomic_of_number": at("r = tl.atomic_add({})", "n, 1", "out_ptr, 0", "ptr|pointer"),
    "exchange_of_number": Wrong("tl.atomic_cas(n, 0, 1)", "r = tl.atomic_cas(out_ptr, 7, 7)",
                                "ptr|pointer|element|attribute"),
    "dot_of_lines": Wrong("r = tl.dot(x, x)", "r = x * x", "2d|rank"),
    "dot_inner": Wrong("a = tl.zeros((16, 16), tl.float16)\nb = tl.zeros((32, 16), tl.float16)\nr = tl.dot(a, b)",
                       "a = tl.zeros((16, 16), tl.float16)\nr = tl.dot(a, a)", "shape|reduction|inner"),
    "dot_types": at("a = tl.zeros((16, 16), tl.float16)\nr = tl.dot(a, {})", "a.to(tl.float32)", "a", "dtype"),
    "dot_small": Wrong("a = tl.zeros((16, 4), tl.float16)\nb = tl.zeros((4, 16), tl.float16)\nr = tl.dot(a, b)",
                       "a = tl.zeros((16, 16), tl.float16)\nr = tl.dot(a, a)", "k >=|at least|>="),
    "dot_precision": at('a = tl.zeros((16, 16), tl.float32)\nr = tl.dot(a, a, input_precision="{}")', "low", "ieee",
                        "precision"),
    "hint_of_tensor": at("r = tl.multiple_of({})", "n, n", "n * 8, 8", "constexpr|iterable|values"),
    "hint_of_float": at("r = tl.multiple_of({})", "x, 2.0", "x * 2, 2", "constexpr|int"),
    "gather_axis": at("r = tl.gather(x, x & 7, {})", "1", "0", "axis"),
    "gather_of_float_places": at("r = tl.gather(x, {}, 0)", "f", "x & 7", "index|integer"),
    "histogram_bins": at("r = tl.histogram(x & 7, {})", "7", "8", "power of 2"),
    "histogram_of_floats": at("r = tl.histogram({}, 8)", "f", "x & 7", "integer"),
    "histogram_of_matrix": at("r = tl.histogram({}, 8)", "m", "x & 7", "1d|1-d|rank"),
}

REFUSED = STATEMENTS | OPERATORS | CALLS | FURTHER
