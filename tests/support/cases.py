"""Small cases of real targets."""

from collections.abc import Mapping, Sequence

from tridiff.fuzz.language.cases import arrays_of, sizes_of
from tridiff.fuzz.language.index import rows as rows_of_the_language
from tridiff.fuzz.records import ArraySpec, Base, Case, Constant, Content, Explicit, Iota, LaunchOptions, Layout
from tridiff.fuzz.registry import find
from tridiff.kernels.language.call import Call, Operand

_PLAIN, _DEFAULTS = Layout(), LaunchOptions()


def addition(*, rows: int = 10, dtype: str = "i32", block: int = 4, offset: int = 0) -> Case:
    """-3, -2, ... plus itself."""
    ramp = Content(base=Iota(start=-3, step=0, per_row=1))
    layout = Layout(offset=offset)
    return Case(target="triton.vector_add", sizes={"rows": rows}, params={"block": block}, arrays=(
        ArraySpec(name="a", dtype=dtype, dims=("rows",), content=ramp, layout=layout),
        ArraySpec(name="b", dtype=dtype, dims=("rows",), content=ramp),
        f"out {dtype}[rows]"))


def division(a: Sequence[int] = (-1,), b: Sequence[int] = (2,), *, target: str = "helpers.div_floor_integer",
             dtype: str = "i32") -> Case:
    """Listed dividends and divisors, one per row."""
    def array(name: str, values: Sequence[int] | None) -> ArraySpec:
        content = None if values is None else Content(base=Explicit(values=tuple(str(v) for v in values)))
        return ArraySpec(name=name, dtype=dtype, dims=("rows", "cols"), content=content)

    return Case(target=target, sizes={"rows": len(a), "cols": 1}, params={"form": "blocks"},
                arrays=(array("a", a), array("b", b), array("out", None)))


def ramp(*, start: int, divisor: int, rows: int = 1, block: int = 1, start_kind: str = "constexpr",
         divisor_kind: str = "constexpr", dtype: str = "i32", target: str = "helpers.div_floor_integer") -> Case:
    """start, start + 1, ... divided by one divisor, the dividend computed in the kernel."""
    return Case(
        target=target, sizes={"rows": rows},
        params={"form": "ramp", "block": block, "start_kind": start_kind, "divisor_kind": divisor_kind},
        arrays=(
            f"a {dtype}[rows] ~ iota, start {start}, step 0, per_row 1",
            ArraySpec(name="b", dtype=dtype, dims=("rows",), content=Content(base=Constant(value=str(divisor))),
                      layout=Layout(broadcast=() if divisor_kind == "loaded" else ("rows",))),
            f"out {dtype}[rows]"))


def reduction(target: str, base: Base, *, rows: int = 1, cols: int = 2, dtype: str = "fp32", axis: int = 1) -> Case:
    """`min2` or `max2` of a matrix."""
    return Case(target=target, sizes={"rows": rows, "cols": cols}, params={"axis": axis}, arrays=(
        ArraySpec(name="a", dtype=dtype, dims=("rows", "cols"), content=Content(base=base), layout=_PLAIN),
        f"out {dtype}[rows]"))


def calling(call: Call, given: Mapping[str, Content | tuple[str, ...]], *, programs: int = 1,
            options: LaunchOptions = _DEFAULTS) -> Case:
    """A call of the language. given: by the names of the operands that are arrays their contents, or their values."""
    contents = {name: one if isinstance(one, Content) else Content(base=Explicit(values=one))
                for name, one in given.items()}
    case = Case(target=f"language.{rows_of_the_language()[call.row].topic}", sizes=sizes_of(call, programs),
                program=call, arrays=arrays_of(call, contents), options=options)
    assert find(case.target).draw.valid(case)
    return case


def called(row: str, dtype: str = "i32", *, programs: int = 1, number: str = "",
           options: LaunchOptions = _DEFAULTS) -> Case:
    """A row's call of two blocks of four elements, or of one and a constexpr number."""
    block = Operand(dtype=dtype, shape=(4,))
    other = Operand(kind="constexpr", dtype=dtype, number=number) if number else block
    call = Call(row=row, operands=(block, other), options={"way": "plain"}, stored=(dtype,))
    ramp = Content(base=Iota(start=-3, step=1, per_row=2))
    return calling(call, {"x0": ramp} | ({} if number else {"x1": ramp}), programs=programs, options=options)
