"""Which part of the contract is kept where, and what shows it: `python -m tridiff.kernels.codegen.conformance`.

A row is a row of codegen.md. module: where the generator does it. test: what would fail. targets: what fuzzes it.
"""

from dataclasses import dataclass

_TESTS = "tests/kernels/codegen"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the contract. module: `file.py:name`, in this folder. test: `file.py::name`, in tests/kernels/codegen;
    of a check file, the function in it."""

    section: str
    item: str
    module: str
    test: str
    targets: str


def _rows(section: str, targets: str, *rows: tuple[str, str, str]) -> tuple[Row, ...]:
    return tuple(Row(section, item, module, test, targets) for item, module, test in rows)


_TREES = "checks_printer.py::check_random_trees"
_ALL = "checks_values.py::check_every_program_under_every_schedule"
_ELEMENTARY = "checks_printer.py::check_every_elementary_function"

ROWS: tuple[Row, ...] = (
    *_rows(
        "1 expressions", "codegen.indexing",
        ("TruncToInt, FloorToInt, CeilToInt, floor, ceiling, RoundToInt", "expressions.py:Printer", _TREES),
        ("ToFloat", "expressions.py:Printer", _TREES),
        ("PythonMod, Mod, ModularIndexing", "expressions.py:Printer", _TREES),
        ("FloorDiv", "expressions.py:Printer", "test_printer.py::test_operators_only_where_signs_are_proven"),
        ("CeilDiv, CleanDiv", "expressions.py:Printer", _TREES),
        ("IntTrueDiv", "device.py:true_divide", "checks_printer.py::check_quotients_beyond_the_precision_of_doubles"),
        ("FloatTrueDiv, sqrt", "expressions.py:Printer", _TREES), ("FloatPow", "expressions.py:Printer", _ELEMENTARY),
        ("PowByNatural", "device.py:natural_power", _TREES), ("Where, Abs", "expressions.py:Printer", _TREES),
        ("Min, Max", "expressions.py:Printer", "checks_printer.py::check_minimum_and_maximum_of_infinities"),
        ("cos cosh acos sin sinh asin tan tanh atan log2", "expressions.py:Printer", _ELEMENTARY),
        ("RoundDecimal", "device.py:round_decimal", "checks_printer.py::check_decimal_rounding_is_that_of_python"),
        ("And, Or, Not, comparisons", "expressions.py:Printer", _TREES),
        ("float constants", "constants.py:full", _TREES),
        ("integer constants beyond int32", "ranges.py:Facts", "checks_printer.py::check_products_beyond_32_bits"),
        ("re-parse to the same tree", "expressions.py:Printer",
         "test_printer.py::test_text_parses_to_the_tree_it_came_from"),
        ("simplification", "simplify.py:simplify",
         "test_printer.py::test_ranges_hold_and_simplification_keeps_values")),
    *_rows(
        "2 types", "codegen.pointwise, codegen.mixed",
        ("compute, storage and accumulator types", "domains.py:result_dtypes", "test_legality.py::test_legal"),
        ("2.1 upcasting", "state.py:Emitter", "checks_values.py::check_halves_round_at_every_node_without_upcast"),
        ("2.2 to_dtype", "elementwise.py:emit_cast", _ALL), ("2.3 to_dtype_bitcast", "elementwise.py:emit_cast", _ALL),
        ("2.4 constants", "constants.py:full", _ALL)),
    *_rows(
        "3 pointwise", "codegen.pointwise, sweep", ("operations of the table", "elementwise.py:emit_pointwise", _ALL),
        ("frexp as a pair", "elementwise.py:emit_pointwise", "test_packaging.py::test_frexp_is_one_call"),
        ("fallback only: refused", "legality.py:check", "test_legality.py::test_refused_in_one_line"),
        ("inline assembly", "special.py:emit_asm", "checks_compile.py::check_inline_assembly"),
        ("rand randn randint64 load_seed", "special.py:emit_random", _ALL),
        ("index_expr, constant", "elementwise.py:emit_index", _TREES)),
    *_rows(
        "4 masks", "codegen.memory", ("mask variables", "state.py:Emitter", _ALL),
        ("constant mask", "state.py:Emitter",
         "test_geometry.py::test_constant_masks_are_dropped_only_where_every_lane_is_inside"),
        ("`other` on loads", "accesses.py:emit_load", _ALL), ("masked bodies", "domains.py:Analysis", _ALL),
        ("store masks", "accesses.py:emit_store",
         "checks_mutants.py::check_every_fault_changes_a_kernel_and_is_noticed"),
        ("scans and sort inside masked", "domains.py:Analysis",
         "test_legality.py::test_sorts_need_persistent_schedules_and_scans_no_cooperation")),
    *_rows(
        "5 indexing", "codegen.indexing, codegen.memory",
        ("index dtype", "tiles.py:tiling", "test_geometry.py::test_positions_beyond_32_bits_are_counted_in_64"),
        ("dense and broadcast", "accesses.py:emit_store", _ALL),
        ("load placement", "passes.py:plan", "checks_values.py::check_lifting_loads_does_not_change_values"),
        ("eviction hints", "accesses.py:emit_load", _ALL),
        ("indirect, wrapped, asserted", "accesses.py:emit_load",
         "checks_values.py::check_indices_out_of_range_fail_the_launch_and_masked_ones_do_not"),
        ("0-d scalars, aliases: one pointer per buffer", "launch.py:plan",
         "test_packaging.py::test_what_a_kernel_writes_is_declared"),
        ("block pointers", "blocks.py:block_load", "checks_compile.py::check_block_accesses"),
        ("tensor descriptors", "blocks.py:block_load", "checks_compile.py::check_block_accesses")),
    *_rows(
        "6 reductions", "codegen.reduction",
        ("any all max min prod sum xor_sum argmax argmin", "reductions.py:folded", _ALL),
        ("welford_reduce, welford_combine", "reductions.py:emit_persistent", _ALL),
        ("persistent", "reductions.py:emit_persistent", "test_geometry.py::test_persistent_block_holds_the_axis"),
        ("looped", "reductions.py:accumulate", _ALL), ("no_x_dim", "tiles.py:tiling", _ALL),
        ("cooperative", "cooperation.py:exchange", "checks_compile.py::check_looped_split_and_cooperative_schedules"),
        ("empty reduction dim", "reductions.py:neutral", "checks_values.py::check_empty_axes"),
        ("epilogues: several passes", "passes.py:plan", _ALL)),
    *_rows(
        "7 scans", "codegen.scan", ("persistent", "scans.py:emit_scan", _ALL),
        ("looped, carry on the left", "scans.py:emit_scan", _ALL), ("split scan", "scans.py:emit_scan", _ALL),
        ("lifted combine functions", "scans.py:combine_function",
         "test_packaging.py::test_combine_functions_are_lifted_once_per_body")),
    *_rows(
        "8 sort, bucketize", "codegen.sort",
        ("sort", "special.py:emit_sort", _ALL), ("bucketize", "special.py:emit_bucketize", _ALL)),
    *_rows("9 random", "codegen.random", ("Philox streams", "special.py:emit_random", _ALL)),
    *_rows(
        "10 stores", "codegen.memory", ("plain store", "accesses.py:emit_store", _ALL),
        ("atomic_add", "accesses.py:emit_store", "test_legality.py::test_additions_and_reads_do_not_mix"),
        ("in-place and broadcast", "accesses.py:emit_store",
         "test_legality.py::test_in_place_reads_have_the_index_of_the_store"),
        ("helper lifting", "scans.py:combine_function",
         "test_packaging.py::test_combine_functions_are_lifted_once_per_body"),
        ("CSE", "state.py:Emitter",
         "test_packaging.py::test_equal_expressions_are_computed_once_but_not_under_other_masks"),
        ("multiple outputs, removed buffers: dead nodes", "domains.py:Analysis", _ALL)),
    *_rows(
        "11 geometry", "codegen.mixed",
        ("static numels, specialisations", "launch.py:plan",
         "test_packaging.py::test_equal_bodies_share_a_name_and_different_ones_do_not"),
        ("unspecialised sizes", "launch.py:plan", "test_packaging.py::test_unspecialised_sizes_are_marked"),
        ("upper block sizes", "schedules.py:schedule_problem", "test_geometry.py::test_schedules_that_do_not_fit"),
        ("grid", "geometry.py:grid", "test_geometry.py::test_one_axis"),
        ("y beyond 65535", "geometry.py:spread", "test_geometry.py::test_y_spreads_over_z"),
        ("split and cooperative grids", "geometry.py:grid", "test_geometry.py::test_grids_of_reductions"),
        ("2-d tiling", "tiles.py:tiling", _ALL)),
    *_rows(
        "12 packaging", "codegen.mixed", ("kernel name", "names.py:named", "test_packaging.py::test_names_stay_short"),
        ("source-hash cache", "names.py:digest",
         "test_packaging.py::test_options_that_change_the_kernel_change_its_key"),
        ("benchmark harness, fused benchmark", "harness.py:script", "test_packaging.py::test_benchmark_scripts_run"),
        ("combo kernels", "combo.py:combine", "checks_values.py::check_combo_kernels_do_what_separate_launches_do"),
        ("nan checks", "launch.py:plan", "checks_values.py::check_finite_check_refuses_nan_and_infinity"),
        ("metadata", "kernel.py:Kernel", "test_packaging.py::test_what_a_kernel_writes_is_declared")),
    *_rows(
        "13 faults", "codegen.*",
        ("compile_error, runtime_error, accuracy", "mutants.py:FAULTS",
         "checks_compile.py::check_assertions_and_hooks_reach_the_compiler"),
        ("further mutants", "mutants.py:FAULTS",
         "checks_mutants.py::check_every_fault_changes_a_kernel_and_is_noticed")),
)


def table() -> str:
    """The rows as a Markdown table."""
    lines = ["| codegen.md | item | module | test | targets |", "|---|---|---|---|---|"]
    lines += [f"| {row.section} | {row.item} | `{row.module}` | `{row.test}` | {row.targets} |" for row in ROWS]
    return "\n".join(lines)


if __name__ == "__main__":
    print(f"Modules in kernels/codegen, tests in {_TESTS}.\n")
    print(table())
