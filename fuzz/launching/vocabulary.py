"""Words that scenes draw: arguments, constants, grids (`oracles.launching` says what they mean)."""

_INTEGERS = (5, 1, 16, 0, -1, -16, 2, 255, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**32, 2**63 - 1, -(2**63), 2**63,
             2**64 - 16, 2**64 - 1)
NUMBERS = tuple(f"int {number}" for number in _INTEGERS)
_TYPES = ("fp32", "fp16", "bf16", "fp64", "i8", "i16", "i32", "i64", "u8", "i1", "fp8e5", "fp8e4nv")
_ARRAYS = tuple(f"tensor {dtype} {offset}" for dtype in _TYPES for offset in (0, 1, 2, 8))
WORDS = (*NUMBERS, "float 1.5", "float nan", "float -0.0", "bool True", "bool False", "none", *_ARRAYS,
         "tuple int 5, tensor fp32 1", "tuple int 1, int 16, none", "tuple float 2.0, bool False, int 2147483648",
         "pair int 16, tensor i8 0", "pair none, int 1")
"""Arguments of kernels."""

GIVEN = (*WORDS, "text abc", "dtype float32", "descriptor fp32 zero", "descriptor fp16 nan", "descriptor i32 zero",
         "descriptor fp32 zero rounded")
"""Arguments of interpreted kernels."""

WAYS = ("plain", "by name", "inside", "constant", "reinterpreted", "grid by function", "too few", "warm-up")
"""How they are given."""

CONSTANTS = ("int 3", "int -1", "int 1", "bool True", "float 0.5", "text abc", "none", "dtype float32",
             "tuple int 1, int 2", "pair int 3, int 1")
"""Values of constexpr parameters."""

GRIDS = ("1", "2 3", "2 3 4", "7", "list 5 6", "callable", "0", "3 0 2", "65536 2")
DTYPES = ("int32", "int64", "uint8", "float32", "int1", "float64", "bfloat16")

CHANGES = ("nothing", "callee", "constant", "unused", "noinline", "body",
           "method", "counted", "line", "comment below", "comment inside",
           "option", "stages", "fusion", "registers", "always", "environment", "constexpr", "hint",
           "variable", "variable's value", "given", "nothing of a long name", "field", "init")
"""What is changed between two compilations of one kernel."""

SPOILT = ("file gone", "group cut off")
"""What may have become of a kernel on disk between them."""

HIDDEN = ("nothing", "by name only", "by place only", "the rest", "a constant", "default", "default by name", "member",
          "in an expression", "inside of a tuple", "loop", "loop inside of a tuple", "annotated", "later", "added",
          "argument", "helper", "attribute", "branch")
"""Where a kernel has a name that its module has as well."""

MISSPELT = ("num_warp", "num_stage", "num_cta", "max_nreg", "fp_fusion", "enable_fp_fusions", "sanitize_overflows",
            "launch_pld", "debugging", "warp_sizes", "archs")
"""No option of a launch."""

REFUSALS = (*MISSPELT, "nothing", "missing argument", "missing constant", "too many arguments", "unknown keyword",
            "given twice", "no grid", "an object", "more than 64 bits", "less than 64 bits", "three warps", "no warps",
            "a device", "a stream", "failed assertion", "text", "complex", "complex array", "shared memory",
            "a list of keywords", "constant not specialised", "wrong name to tune", "two targets", "starred",
            "numbered signature", "no backend", "no number", "assembler's option", "a function", "no such chip",
            "no such arch", "no such file", "blocks together", "fp8", "constant not aligned")
"""Launches that cannot be, and one that can."""

DESCRIPTORS = ("nothing", "no rank", "six axes", "ranks", "block's rank", "address", "stride", "last stride", "empty",
               "padding", "integer's padding", "rounded half", "block", "large block")
"""Tensor descriptors that are legal but for one thing, and one that is legal."""

LAYOUTS = ("blocked", "slice 0", "slice 1", "mma 2", "mma 3", "operand 0", "operand 1", "linear", "shared",
           "transposed", "swizzled", "padded", "shared linear", "default 16", "default 8", "auto", "coalesced")

CHIPS = ("sm_90", "sm_80", "sm_100", "gfx942", "gfx950", "gfx1250", "gfx1100", "gfx1200")
FRONT_END = ("", "debug", "overflow", "addresses", "blocks", "warps", "floats")
"""Options of the compiler that its front end looks at."""
VARIABLES = ("", "TRITON_FORCE_DISABLE_FP_FUSION=1", "TRITON_F32_DEFAULT=ieee", "TRITON_F32_DEFAULT=none",
             "TRITON_INSTRUMENTATION_MODE=fpsan TRITON_FPSAN_HOMOMORPHIC_CASTS=1",
             "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1", "DISABLE_PTXAS_OPT=1 TRITON_DISABLE_LINE_INFO=1 TRITON_DEBUG=1")
"""Of the environment."""
DRAWS = tuple(range(8))
"""Which of the changed texts that a scene makes of one."""

UNUSUAL = ("nothing", "closure", "conflict", "by type", "constant memory", "more arguments", "by name only",
           "by name only, by place", "inspected", "function", "functions", "failing together", "unheard", "unloaded",
           "unhooked", "no clusters' queue", "addresses", "variables", "variables without lines", "other assembler",
           "global memory", "floats", "order", "indices", "expected zeros", "zeros", "floats of gluon",
           "order in gluon", "gluon", "old chip", "one block", "lines of ttir", "lines of ttgir", "other llir",
           "other cubin", "overridden", "dumped", "disassembled", "few threads", "profiled", "foreign name",
           "own errors", "printed PTX", "log of ptxas", "not debugged", "inspected otherwise", "long name",
           "further options", "partitions", "specialised")
"""Launches and compilations as few users ask for them, one way each."""
TUNED = ("by name", "other options", "warmed up", "failing", "pruned", "hooked", "alone", "ruled", "told", "kept")
"""Kernels tuned, and tuners asked, as few are."""
GROUPS = 32
"""Groups of texts that are translated together."""
VALUES = ("small", "wide")
"""Contents of arrays: indexes, or signs, extremes and what is no number."""
