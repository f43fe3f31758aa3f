"""Names of the language that no row of one call reaches: what reaches them instead, or why nothing has to."""

TARGETS: dict[str, str] = {
    **{f"libdevice.{name}": "codegen.pointwise"
       for name in ("lgamma", "j0", "j1", "y0", "y1", "abs")},
    "tl.constexpr": "every kernel of a call",
}
"""Where a name is reached instead: a target, a family, or words."""

REFUSED: dict[str, str] = {
    **dict.fromkeys(("tl.make_block_ptr", "tl.advance", "tensor.advance"),
                    "block pointers are gone: the call says so, and names descriptors"),
    "libdevice.fast_tanhf": "a function of AMD's library, which CUDA's has not",
    "tl.str_to_ty": "a function of the launcher's: the type that a word of a signature means",
    "tl.tensor_descriptor_type": "the type of descriptors, of no use in a kernel",
    "tensor.__pos__": "Triton defines no unary plus for tensors",
    "tensor.__pow__": "Triton defines no power operator for tensors",
    "tensor.__matmul__": "Triton defines no matrix operator for tensors",
}
"""What Triton refuses by its contract."""

NO_FUNCTIONS = (
    "PropagateNan", "TRITON_MAX_TENSOR_NUMEL", "block_type", "const", "constexpr_type", "dtype", "pi32_t",
    "pointer_type", "slice", "tensor", "tuple", "tuple_type", "void", "condition", "bfloat16",
    "float16", "float32", "float64", "float8e4b15", "float8e4b8", "float8e4nv", "float8e5", "float8e5b16", "int1",
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "core", "extra", "math", "random",
    "standard", "target_info",
)
"""Public names that compute nothing by themselves: types, modules, printing at compile time."""
