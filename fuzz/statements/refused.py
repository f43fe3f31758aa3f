"""Kernels that are wrong in one place, each beside its nearest legal relative: what the language must refuse.

Within the text: x, y are i32 of 8 elements, f fp32 of 8, m i32 of 4 by 8, n and k i32 scalars, h an fp32 scalar, passed
the i32 7 as it is given at launch, x_ptr a pointer to i32, N the constexpr 8. `helper` and its like are in `HEAD`.
"""

from tridiff.fuzz.statements.refused_further import FURTHER
from tridiff.fuzz.statements.wrong import Wrong

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
    "undefined_name": Wrong("r = nowhere + 1", "r = n + 1", "nowhere"),
    "plain_global": Wrong("r = n + PLAIN", "r = n + CONSTANT", "plain"),
    "defined_in_one_branch": Wrong("if n > 0:\n    r = n\ns = r", "r = k\nif n > 0:\n    r = n\ns = r", "not defined"),
    "defined_in_loop": Wrong("for i in range(n):\n    r = i\ns = r", "r = n\nfor i in range(n):\n    r = i\ns = r",
                             "not defined"),
    "result_not_used": Wrong("kept(n)\nr = n", "r = kept(n)", "not being used"),
    "branch_changes_type": Wrong("r = n\nif n > 0:\n    r = h", "r = n\nif n > 0:\n    r = k", "type|redefines"),
    "branch_changes_shape": Wrong("r = n\nif n > 0:\n    r = x", "r = n\nif n > 0:\n    r = k", "type|redefines"),
    "branches_of_two_types": Wrong("if n > 0:\n    r = n\nelse:\n    r = h",
                                   "if n > 0:\n    r = n\nelse:\n    r = k", "mismatched type"),
    "loop_changes_type": Wrong("r = n\nfor i in range(4):\n    r = r + h", "r = h\nfor i in range(4):\n    r = r + h",
                               "type"),
    "loop_changes_shape": Wrong("r = n\nfor i in range(4):\n    r = r + x", "r = x\nfor i in range(4):\n    r = r + x",
                                "type"),
    "while_changes_type": Wrong("r = n\nwhile r > 0:\n    r = r - 0.5", "r = h\nwhile r > 0:\n    r = r - 0.5", "type"),
    "constexpr_again": Wrong("r: tl.constexpr = 1\nr: tl.constexpr = 2", "r: tl.constexpr = 1\ns: tl.constexpr = 2",
                             "already defined|reassign"),
    "return_in_loop": Wrong("for i in range(4):\n    if n > i:\n        return", "if n > 3:\n    tl.store(out_ptr, 1)\n"
                            "    return", "return"),
    "return_in_while": Wrong("r = n\nwhile r > 0:\n    r -= 1\n    if r == k:\n        return",
                             "r = n\nwhile r > 0:\n    r -= 1", "return"),
    "returned_types": Wrong("r = either(n)", "r = alike(n)", "return type|inconsistent"),
    "nested_function": Wrong("def inner(a):\n    return a\nr = inner(n)", "r = helper(n, n)", "nested function"),
    "two_targets": Wrong("r = s = n", "r = n", "assert|multiple|target"),
    "starred_target": Wrong("r, *s = (n, k, n)", "r, s, t = (n, k, n)", "starred"),
    "too_few_values": Wrong("r, s, t = (n, k)", "r, s = (n, k)", "not enough values"),
    "too_many_values": Wrong("r, s = (n, k, n)", "r, s, t = (n, k, n)", "too many values"),
    "unpacked_tensor": Wrong("r, s = n", "r, s = n, k", "unpack"),
    "attribute_target": Wrong("x.shape = 3", "r = x.shape", "attribute"),
    "item_target": Wrong("x[0] = 3", "r = x[None]", "setitem|not supported"),
    "list_comprehension_of_range": Wrong("r = [i for i in range(3)]", "r = [i + 1 for i in (n, k)]", "comprehension"),
    "nested_comprehension": Wrong("r = [a + b for a in (n, k) for b in (n, k)]", "r = [a + n for a in (n, k)]",
                                  "comprehension"),
    "dictionary": Wrong("r = {1: n}", "r = (1, n)", "dict|unsupported"),
    "lambda": Wrong("r = (lambda a: a)(n)", "r = helper(n, n)", "lambda|unsupported"),
    "try": Wrong("try:\n    r = n\nexcept ValueError:\n    r = k", "r = n", "try|unsupported"),
    "break": Wrong("for i in range(4):\n    break", "for i in range(4):\n    pass", "break|unsupported"),
    "continue": Wrong("for i in range(4):\n    continue", "for i in range(4):\n    pass", "continue|unsupported"),
    "delete": Wrong("r = n\ndel r", "r = n", "delete|unsupported"),
    "global_statement": Wrong("global r\nr = n", "r = n", "global|unsupported"),
    "for_else": Wrong("for i in range(4):\n    r = n\nelse:\n    r = k", "for i in range(4):\n    r = n", "else"),
    "for_over_tuple": Wrong("for i in (n, k):\n    r = i", "for i in tl.static_range(2):\n    r = (n, k)[i]",
                            "iterator|attribute|range"),
    "float_bound": Wrong("for i in range(h):\n    r = i", "for i in range(n):\n    r = i", "int"),
    "float_step": Wrong("for i in range(0, 4, 0.5):\n    r = i", "for i in range(0, 4, 2):\n    r = i", "int"),
    "block_bound": Wrong("for i in range(0, x):\n    r = i", "for i in range(0, n):\n    r = i", "scalar"),
    "block_start": Wrong("for i in range(x, 9):\n    r = i", "for i in range(n, 9):\n    r = i", "scalar"),
    "block_step": Wrong("for i in range(0, 9, x):\n    r = i", "for i in range(0, 9, 3):\n    r = i", "scalar"),
    "static_range_of_tensor": Wrong("for i in tl.static_range(n):\n    r = i",
                                    "for i in tl.static_range(N):\n    r = i", "constexpr"),
    "static_range_start": Wrong("for i in tl.static_range(n, 4):\n    r = i",
                                "for i in tl.static_range(1, 4):\n    r = i", "constexpr"),
    "static_range_end": Wrong("for i in tl.static_range(0, n):\n    r = i",
                              "for i in tl.static_range(0, 4):\n    r = i", "constexpr"),
    "static_range_step": Wrong("for i in tl.static_range(0, 4, n):\n    r = i",
                               "for i in tl.static_range(0, 4, 2):\n    r = i", "constexpr"),
    "block_condition": Wrong("if x > 0:\n    r = n", "if n > 0:\n    r = n", "ambiguous|scalar"),
    "word_condition": Wrong('if "a":\n    r = n', "if True:\n    r = n", "conditional"),
    "float_condition": Wrong("if 1.5:\n    r = n", "if 1:\n    r = n", "conditional"),
    "word_in_ternary": Wrong('r = n if "a" else k', "r = n if True else k", "conditional"),
    "ternary_types": Wrong("r = n if n > 0 else h", "r = n if n > 0 else k", "type"),
    "ternary_shapes": Wrong("r = n if n > 0 else x", "r = n if n > 0 else k", "type"),
    "static_assert_fails": Wrong('tl.static_assert(N == 9, "N is not nine")', "tl.static_assert(N == 8)",
                                 "n is not nine"),
    "static_assert_of_tensor": Wrong("tl.static_assert(n == 8)", "tl.static_assert(N == 8)", "compile-time|constexpr"),
    "static_assert_keyword": Wrong('tl.static_assert(N == 8, msg="a")', 'tl.static_assert(N == 8, "a")',
                                   "static_assert"),
    "formatted_tensor": Wrong('tl.static_assert(N == 8, f"{n}")\nr = f"{n}"',
                              'tl.static_assert(N == 8, f"{N}")', "f-string|constexpr"),
    "contained": Wrong("r = 3 in (1, 3)", "r = 3 == 3", "not.*implemented|unsupported"),
    "power_of_tensors": Wrong("r = n ** 2", "r = n * n", "unsupported|pow"),
    "matrix_operator": Wrong("r = m @ m", "r = m * m", "unsupported|matmult|matmul"),
    "plus_of_tensor": Wrong("r = +n", "r = -n", "not.*implemented|pos"),
    "invert_float": Wrong("r = ~f", "r = ~x", "invert"),
    "negative_pointer": Wrong("r = -x_ptr", "r = -n", "minus"),
    "not_of_integer": Wrong("r = not n", "r = not (n > 0)", "bitcast"),
    "and_of_integers": Wrong("r = n and k", "r = (n > 0) and (k > 0)", "bitcast"),
}

OPERATORS: dict[str, Wrong] = {
    "shift_float": Wrong("r = f << 1", "r = x << 1", "invalid operands"),
    "and_float": Wrong("r = f & x", "r = y & x", "invalid operands"),
    "floor_of_floats": Wrong("r = f // 2.0", "r = x // 2", "unexpected type"),
    "signedness": Wrong("r = x // x.to(tl.uint32)", "r = x // y", "signedness"),
    "remainder_signedness": Wrong("r = x % x.to(tl.uint32)", "r = x % y", "signedness"),
    "negative_beside_unsigned": Wrong("r = x.to(tl.uint32) + (-1)", "r = x.to(tl.uint32) + 1", "negative"),
    "too_large_number": Wrong("r = x.to(tl.int8) + 1000", "r = x.to(tl.int8) + 100", "out of range"),
    "too_small_number": Wrong("r = x.to(tl.int8) + (-1000)", "r = x.to(tl.int8) + (-100)", "out of range"),
    "number_of_no_type": Wrong("r = 2 ** 70\ns = n + 2 ** 70", "r = n + 2 ** 20", "nonrepresentable|out of range"),
    "shapes": Wrong("r = x + tl.arange(0, 4)", "r = x + tl.arange(0, 8)", "incompatible|broadcast"),
    "add_pointers": Wrong("r = x_ptr + x_ptr", "r = x_ptr + 1", "pointers"),
    "pointer_plus_float": Wrong("r = x_ptr + h", "r = x_ptr + n", "invalid operands"),
    "pointer_plus_number": Wrong("r = x_ptr + 1.5", "r = x_ptr + 1", "invalid operands"),
    "pointer_times": Wrong("r = x_ptr * 2", "r = n * 2", "invalid operands"),
    "number_minus_pointer": Wrong("r = 1 - x_ptr", "r = x_ptr - 1", "invalid operands"),
    "pointer_quotient": Wrong("r = x_ptr / 2", "r = n / 2", "invalid operands|unexpected"),
    "pointer_compared": Wrong("r = x_ptr < x_ptr", "r = n < k", "invalid operands"),
    "pointer_and": Wrong("r = x_ptr & 1", "r = n & 1", "invalid operands"),
    "index_number": Wrong("r = x[0]", "r = x[None]", "index"),
    "index_slice": Wrong("r = x[1:]", "r = x[:]", "index"),
    "index_stop": Wrong("r = x[:4]", "r = x[:]", "index"),
    "index_step": Wrong("r = x[::2]", "r = x[:]", "index"),
    "index_too_many": Wrong("r = x[:, :]", "r = m[:, :]", "indices|index"),
    "index_tensor": Wrong("r = x[n]", "r = x[None]", "index"),
    "transposed_line": Wrong("r = x.T", "r = m.T", "permut|dims"),
    "no_such_method": Wrong("r = x.grown()", "r = x.sum()", "grown"),
    "no_such_function": Wrong("r = tl.grown(x)", "r = tl.sum(x)", "grown"),
    "no_such_field": Wrong("r = (n, k).first", "r = (n, k)[0]", "first"),
    "tuple_index": Wrong("r = (n, k)[2]", "r = (n, k)[1]", "index"),
    "tuple_plus_tensor": Wrong("r = (n, k) + n", "r = (n, k) + (n,)", "tuple|tensor|operand|attribute"),
}

CALLS: dict[str, Wrong] = {
    "missing_argument": Wrong("r = helper(n)", "r = helper(n, k)", "'b'"),
    "too_many_arguments": Wrong("r = helper(n, k, 2, 3)", "r = helper(n, k, 2)", "too many|positional"),
    "unknown_keyword": Wrong("r = helper(n, k, M=3)", "r = helper(n, k, N=3)", "'m'"),
    "given_twice": Wrong("r = helper(n, k, a=n)", "r = helper(n, b=k)", "'a'"),
    "noinline_of_block": Wrong("r = apart(x)", "r = apart(n)", "noinline"),
    "tensor_as_constexpr_function": Wrong("r = doubled(n)", "r = doubled(3)", "unsupported|constexpr|operand|semantic"),
    "range_not_power": Wrong("r = tl.arange(0, 6)", "r = tl.arange(0, 8)", "power of 2"),
    "range_backwards": Wrong("r = tl.arange(8, 0)", "r = tl.arange(0, 8)", "greater"),
    "range_empty": Wrong("r = tl.arange(4, 4)", "r = tl.arange(4, 8)", "greater"),
    "range_of_tensor": Wrong("r = tl.arange(0, n)", "r = tl.arange(0, N)", "constexpr"),
    "range_of_float": Wrong("r = tl.arange(0, 8.0)", "r = tl.arange(0, 8)", "constexpr|int"),
    "range_too_large": Wrong("r = tl.arange(0, 2 ** 33)", "r = tl.arange(0, 2 ** 4)", "int32|maximum|exceeds"),
    "range_argument": Wrong("r = tl.arange(8)", "r = tl.arange(0, 8)", "end"),
    "full_not_power": Wrong("r = tl.full((6,), 0, tl.int32)", "r = tl.full((8,), 0, tl.int32)", "power of 2"),
    "full_too_large": Wrong("r = tl.full((2 ** 21,), 0, tl.int32)", "r = tl.full((2 ** 4,), 0, tl.int32)",
                            "exceeds|maximum"),
    "full_of_tensor_extent": Wrong("r = tl.full((n,), 0, tl.int32)", "r = tl.full((N,), 0, tl.int32)", "constexpr"),
    "full_of_block": Wrong("r = tl.full((8,), x, tl.int32)", "r = tl.full((8,), n, tl.int32)", "size-1|scalar"),
    "zeros_without_type": Wrong("r = tl.zeros((8,))", "r = tl.zeros((8,), tl.int32)", "dtype"),
    "program_axis": Wrong("r = tl.program_id(3)", "r = tl.program_id(2)", "axis"),
    "programs_axis": Wrong("r = tl.num_programs(3)", "r = tl.num_programs(2)", "axis"),
    "sum_of_scalar": Wrong("r = tl.sum(n)", "r = tl.sum(x)", "numel"),
    "sum_axis": Wrong("r = tl.sum(x, 1)", "r = tl.sum(x, 0)", "axis"),
    "sum_axis_negative": Wrong("r = tl.sum(m, -3)", "r = tl.sum(m, 1)", "axis"),
    "max_axis": Wrong("r = tl.max(m, 2)", "r = tl.max(m, 1)", "axis"),
    "argmax_of_scalar": Wrong("r = tl.argmax(n, 0)", "r = tl.argmax(x, 0)", "axis|scalar|rank|block"),
    "scan_axis": Wrong("r = tl.cumsum(x, 1)", "r = tl.cumsum(x, 0)", "axis"),
    "expand_axis": Wrong("r = tl.expand_dims(x, 3)", "r = tl.expand_dims(x, 1)", "axis"),
    "reshape_elements": Wrong("r = tl.reshape(x, 4, 4)", "r = tl.reshape(x, 4, 2)", "number of elements"),
    "reshape_not_power": Wrong("r = tl.reshape(x, 3, 2)", "r = tl.reshape(x, 4, 2)", "number of elements|power of 2"),
    "broadcast_rank": Wrong("r = tl.broadcast_to(x, 2, 8)", "r = tl.broadcast_to(x[None, :], 2, 8)", "rank"),
    "broadcast_extent": Wrong("r = tl.broadcast_to(x, 16)", "r = tl.broadcast_to(n, 16)", "broadcast"),
    "permute_axes": Wrong("r = tl.permute(m, 0, 0)", "r = tl.permute(m, 1, 0)", "permut"),
    "permute_rank": Wrong("r = tl.permute(m, 0, 1, 2)", "r = tl.permute(m, 0, 1)", "permut|dims"),
    "split_odd": Wrong("r = tl.split(x)", "r = tl.split(tl.reshape(x, 4, 2))", "2"),
    "join_shapes": Wrong("r = tl.join(x, tl.arange(0, 4))", "r = tl.join(x, y)", "incompatible|broadcast"),
    "cat_without_reorder": Wrong("r = tl.cat(m, m, can_reorder=True)", "r = tl.cat(x, y, can_reorder=True)", "1d|rank"),
    "bitcast_width": Wrong("r = x.to(tl.int64, bitcast=True)", "r = x.to(tl.float32, bitcast=True)", "bitcast"),
    "rounding_word": Wrong('r = f.to(tl.float16, fp_downcast_rounding="up")',
                           'r = f.to(tl.float16, fp_downcast_rounding="rtz")', "rounding"),
    "rounding_widening": Wrong('r = f.to(tl.float64, fp_downcast_rounding="rtz")',
                               'r = f.to(tl.float16, fp_downcast_rounding="rtz")', "rounding"),
    "load_of_number": Wrong("r = tl.load(n)", "r = tl.load(x_ptr)", "ptr|pointer"),
    "load_other_alone": Wrong("r = tl.load(x_ptr, other=0)", "r = tl.load(x_ptr, mask=n > 0, other=0)", "other"),
    "load_block_mask": Wrong("r = tl.load(x_ptr, mask=x > 0)", "r = tl.load(x_ptr, mask=n > 0)", "mask"),
    "load_block_other": Wrong("r = tl.load(x_ptr, mask=n > 0, other=x)", "r = tl.load(x_ptr, mask=n > 0, other=k)",
                              "other"),
    "load_cache_word": Wrong('r = tl.load(x_ptr, cache_modifier=".zz")', 'r = tl.load(x_ptr, cache_modifier=".ca")',
                             "cache"),
    "load_eviction_word": Wrong('r = tl.load(x_ptr, eviction_policy="never")',
                                'r = tl.load(x_ptr, eviction_policy="evict_last")', "eviction"),
    "store_to_number": Wrong("tl.store(n, 1)", "tl.store(out_ptr, 1)", "ptr|pointer"),
    "store_block_value": Wrong("tl.store(out_ptr, x)", "tl.store(out_ptr, n)", "value"),
    "store_block_mask": Wrong("tl.store(out_ptr, 1, mask=x > 0)", "tl.store(out_ptr, 1, mask=n > 0)", "mask"),
    "store_cache_word": Wrong('tl.store(out_ptr, 1, cache_modifier=".zz")',
                              'tl.store(out_ptr, 1, cache_modifier=".wb")', "cache"),
    "where_shapes": Wrong("r = tl.where(x > 0, m, tl.arange(0, 4))", "r = tl.where(x > 0, x, y)",
                          "incompat|broadcast|rank"),
    "minimum_of_pointer": Wrong("r = tl.minimum(x_ptr, 1)", "r = tl.minimum(n, 1)", "invalid operands"),
    "clamp_word": Wrong('r = tl.clamp(f, 0.0, 1.0, propagate_nan="all")', "r = tl.clamp(f, 0.0, 1.0)", "propagate_nan"),
    "minimum_word": Wrong('r = tl.minimum(f, f, propagate_nan="all")', "r = tl.minimum(f, f)", "propagate_nan"),
    "exp_of_integer": Wrong("r = tl.exp(x)", "r = tl.exp(f)", "dtype|expected|fp"),
    "atomic_word": Wrong('r = tl.atomic_add(out_ptr, 0, sem="weak")', 'r = tl.atomic_add(out_ptr, 0, sem="relaxed")',
                         "semantic"),
    "atomic_scope": Wrong('r = tl.atomic_add(out_ptr, 0, scope="cluster")',
                          'r = tl.atomic_add(out_ptr, 0, scope="cta")', "scope|semantic"),
    "atomic_of_number": Wrong("r = tl.atomic_add(n, 1)", "r = tl.atomic_add(out_ptr, 0)", "ptr|pointer"),
    "exchange_of_number": Wrong("tl.atomic_cas(n, 0, 1)", "r = tl.atomic_cas(out_ptr, 7, 7)",
                                "ptr|pointer|element|attribute"),
    "dot_of_lines": Wrong("r = tl.dot(x, x)", "r = x * x", "2d|rank"),
    "dot_inner": Wrong("a = tl.zeros((16, 16), tl.float16)\nb = tl.zeros((32, 16), tl.float16)\nr = tl.dot(a, b)",
                       "a = tl.zeros((16, 16), tl.float16)\nr = tl.dot(a, a)", "shape|reduction|inner"),
    "dot_types": Wrong("a = tl.zeros((16, 16), tl.float16)\nr = tl.dot(a, a.to(tl.float32))",
                       "a = tl.zeros((16, 16), tl.float16)\nr = tl.dot(a, a)", "dtype"),
    "dot_small": Wrong("a = tl.zeros((16, 4), tl.float16)\nb = tl.zeros((4, 16), tl.float16)\nr = tl.dot(a, b)",
                       "a = tl.zeros((16, 16), tl.float16)\nr = tl.dot(a, a)", "k >=|at least|>="),
    "dot_precision": Wrong('a = tl.zeros((16, 16), tl.float32)\nr = tl.dot(a, a, input_precision="low")',
                           'a = tl.zeros((16, 16), tl.float32)\nr = tl.dot(a, a, input_precision="ieee")', "precision"),
    "hint_of_tensor": Wrong("r = tl.multiple_of(n, n)", "r = tl.multiple_of(n * 8, 8)", "constexpr|iterable|values"),
    "hint_of_float": Wrong("r = tl.multiple_of(x, 2.0)", "r = tl.multiple_of(x * 2, 2)", "constexpr|int"),
    "gather_axis": Wrong("r = tl.gather(x, x & 7, 1)", "r = tl.gather(x, x & 7, 0)", "axis"),
    "gather_of_float_places": Wrong("r = tl.gather(x, f, 0)", "r = tl.gather(x, x & 7, 0)", "index|integer"),
    "histogram_bins": Wrong("r = tl.histogram(x & 7, 7)", "r = tl.histogram(x & 7, 8)", "power of 2"),
    "histogram_of_floats": Wrong("r = tl.histogram(f, 8)", "r = tl.histogram(x & 7, 8)", "integer"),
    "histogram_of_matrix": Wrong("r = tl.histogram(m, 8)", "r = tl.histogram(x & 7, 8)", "1d|1-d|rank"),
}

REFUSED = STATEMENTS | OPERATORS | CALLS | FURTHER
