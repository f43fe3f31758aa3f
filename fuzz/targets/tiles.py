"""What targets of helpers share: how arrays are drawn, their references, block sizes, reductions along either axis.

Reductions always run along the case's `cols`, so that its rows stay independent inputs. With param `axis` 0
the driver reduces its own row axis: the array is handed over transposed, by strides.
"""

from importlib import import_module
from typing import Any

from hypothesis import strategies as st

from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.records import ArraySpec, Content
from tridiff.fuzz.strategies import compile_modes, contents, option_variants, row_counts, strided_layouts
from tridiff.fuzz.target import Limits, Reference
from tridiff.oracles.dtypes import dtype as dtype_info

UPSTREAM = "torch._inductor.runtime.triton_helpers"
DIMS = ("rows", "cols")


def operand(draw: st.DrawFn, name: str, dtype: str, content: st.SearchStrategy[Content] | None = None, *,
            dims: tuple[str, ...] = DIMS) -> ArraySpec:
    """An input in any layout; without `content` with anything that its type holds."""
    return ArraySpec(name=name, dtype=dtype, dims=dims, layout=draw(strided_layouts(dims=dims)),
                     content=draw(contents(dtype=dtype) if content is None else content))


def result(draw: st.DrawFn, name: str, dtype: str, *, dims: tuple[str, ...] = DIMS) -> ArraySpec:
    """An output in any layout."""
    return ArraySpec(name=name, dtype=dtype, dims=dims, layout=draw(strided_layouts(dims=dims, output=True)))


def rows_of(width: int, limits: Limits) -> st.SearchStrategy[int]:
    """How many rows of so many elements a case may have."""
    return row_counts(maximum=min(limits.rows, limits.elements // max(width, 1)))


def compiled(draw: st.DrawFn, *, clusters: bool = False) -> dict[str, Any]:
    """What a case says of its compilation, as keywords: options, and others that give the same."""
    return {"options": draw(compile_modes(clusters=clusters)), "variants": draw(option_variants())}


def both(function: str, *arguments: str, outputs: tuple[str, ...] = ("out",)) -> tuple[Reference, ...]:
    """The references of one name in torch and in numpy, "module:name" below `oracles.by_torch` and `by_numpy`."""
    return (Reference(source="torch", function=f"tridiff.oracles.by_torch.{function}", arguments=arguments,
                      outputs=outputs),
            Reference(source="numpy", function=f"tridiff.oracles.by_numpy.{function}", arguments=arguments,
                      outputs=outputs))


def power_of_two(n: int) -> int:
    """The smallest power of two that reaches `n`, at least 1."""
    return 1 << max(n - 1, 0).bit_length()


def elementwise_blocks(launch: Launch) -> dict[str, object]:
    """ROW_BLOCK and COL_BLOCK of one tile that spans the columns."""
    block = power_of_two(launch.case.sizes["cols"])
    return {"ROW_BLOCK": max(256 // block, 1), "COL_BLOCK": block}


def reduction_blocks(launch: Launch) -> dict[str, object]:
    """AXIS, ROW_BLOCK and COL_BLOCK of a driver that reduces the case's columns; for `axis` 0 the sizes and
    strides of the transposed arrays as well."""
    rows, cols = launch.case.sizes["rows"], launch.case.sizes["cols"]
    block = power_of_two(cols)
    kept = max(min(2048 // block, 64), 1)
    if launch.case.params["axis"] == 1:
        return {"AXIS": 1, "ROW_BLOCK": kept, "COL_BLOCK": block}
    given: dict[str, object] = {"AXIS": 0, "ROW_BLOCK": block, "COL_BLOCK": kept, "rows": cols, "cols": rows}
    for spec in launch.case.arrays:
        strides = dict(zip(spec.dims, spec.strides(launch.case.sizes), strict=True))
        given[f"{spec.name}_stride_row"] = strides.get("cols", 0)
        given[f"{spec.name}_stride_col"] = strides.get("rows", 0)
    return given


def mutants(family: str, helper: str) -> dict[str, str]:
    """Faults of `helper` by name, as import paths into the family's table of broken variants."""
    module = f"tridiff.kernels.helpers.mutants_{family}"
    return {name: f"{module}:MUTANTS[{helper}][{name}]" for name in import_module(module).MUTANTS[helper].faults}


def subjects(family: str, helper: str) -> dict[str, str]:
    """The own helper and the one of the installed torch."""
    return {"own": f"tridiff.kernels.helpers.{family}:{helper}", "inductor": f"{UPSTREAM}:{helper}"}


def triton_type(dtype: str) -> object:
    """The `triton.language` type of a dtype name; i1 is loaded as int8. For launch functions, in workers."""
    import triton.language as tl

    info = dtype_info(dtype)
    if info.is_float:
        return {"fp16": tl.float16, "bf16": tl.bfloat16, "fp32": tl.float32, "fp64": tl.float64}[dtype]
    return tl.core.get_int_dtype(info.storage_bits, signed=info.kind != "uint")
