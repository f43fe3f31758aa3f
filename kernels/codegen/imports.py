"""The names that generated text may use, and the modules they come from."""

from collections.abc import Iterable

MODULES = {
    "bucketize_binary_search": "tridiff.kernels.helpers.bucketize",
    **dict.fromkeys(("log_add_exp", "natural_power", "round_decimal", "true_divide"), "tridiff.kernels.codegen.device"),
    **dict.fromkeys(("max2", "max_with_index", "maximum", "maximum_with_index", "min2", "min_with_index", "minimum",
                     "minimum_with_index"), "tridiff.kernels.helpers.extrema"),
    "frexp": "tridiff.kernels.helpers.bits",
    "x_grid_barrier": "tridiff.kernels.helpers.grid_barrier",
    **dict.fromkeys(("div_floor_integer", "remainder_integer"), "tridiff.kernels.helpers.integer"),
    "libdevice": "tridiff.kernels.helpers.libdevice",
    **dict.fromkeys(("exclusive_scan_decoupled_lookback", "exclusive_scan_decoupled_lookback_64"),
                    "tridiff.kernels.helpers.lookback"),
    "promote_to_tensor": "tridiff.kernels.helpers.probes",
    **dict.fromkeys(("rand", "randint64", "randn"), "tridiff.kernels.helpers.random"),
    **dict.fromkeys(("any", "prod"), "tridiff.kernels.helpers.reductions"),
    "select_one": "tridiff.kernels.helpers.select",
    "sort_with_index": "tridiff.kernels.helpers.sorting",
    **dict.fromkeys(("welford", "welford_combine", "welford_reduce"), "tridiff.kernels.helpers.welford"),
}


def import_lines(names: Iterable[str]) -> list[str]:
    """The import statements for a kernel that uses these names; Triton itself comes first."""
    wanted = set(names)
    by_module: dict[str, list[str]] = {}
    for name in sorted(wanted - {"pointwise"}):
        by_module.setdefault(MODULES[name], []).append(name)
    lines = ["import triton", "import triton.language as tl", ""]
    lines += [f"from {module} import {', '.join(found)}" for module, found in sorted(by_module.items())]
    if "pointwise" in wanted:
        lines.append("from tridiff.kernels.pointwise import functions as pointwise")
    return lines if lines[-1] else lines[:-1]
