"""The values of a case that a reader sees, one by one, and its axes."""

from msgspec.structs import replace

from tridiff.fuzz.content.text import from_bits, to_bits
from tridiff.fuzz.records import ArraySpec, Case, Constant, Explicit, Iota
from tridiff.oracles.dtypes import dtype as dtype_info


def with_array(case: Case, index: int, **changes: object) -> Case:
    """The case with one array changed."""
    arrays = list(case.arrays)
    arrays[index] = replace(arrays[index], **changes)
    return replace(case, arrays=tuple(arrays))


def _sliced(spec: ArraySpec, sizes: dict[str, int], dim: str, keep: list[int]) -> ArraySpec:
    """Content restricted to positions `keep` of axis `dim`; a ramp of rows starts later when its head goes."""
    if (spec.content is not None and isinstance(spec.content.base, Iota) and dim == "rows"
            and spec.dims[:1] == ("rows",) and keep[-1] - keep[0] == len(keep) - 1):
        ramp = spec.content.base
        later = replace(ramp, start=ramp.start + keep[0] * ramp.per_row)
        return replace(spec, content=replace(spec.content, base=later))
    if spec.content is None or not isinstance(spec.content.base, Explicit) or dim not in spec.dims:
        return spec
    shape = spec.shape(sizes)
    axis = spec.dims.index(dim)
    outer, inner = 1, 1
    for n in shape[:axis]:
        outer *= n
    for n in shape[axis + 1:]:
        inner *= n
    values = spec.content.base.values
    if len(values) != outer * shape[axis] * inner:
        return spec
    chosen = tuple(values[(o * shape[axis] + k) * inner + i] for o in range(outer) for k in keep for i in range(inner))
    return replace(spec, content=replace(spec.content, base=Explicit(values=chosen)))


def resized(case: Case, dim: str, keep: list[int]) -> Case:
    """The case with nothing but positions `keep` of axis `dim`, in that order."""
    arrays = tuple(_sliced(spec, case.sizes, dim, keep) for spec in case.arrays)
    return replace(case, sizes={**case.sizes, dim: len(keep)}, arrays=arrays)


def fits(text: str, dtype: str) -> bool:
    """Whether an integer is one of the dtype."""
    info = dtype_info(dtype)
    if info.kind == "float":
        return True
    return info.min <= int(text) <= info.max


def slots(case: Case) -> list[tuple[int, int]]:
    """Every value a reader sees: (array, position); position 0 for the one value of a constant or a ramp."""
    found = []
    for index, spec in enumerate(case.arrays):
        base = spec.content.base if spec.content is not None else None
        if isinstance(base, Explicit):
            found += [(index, position) for position in range(len(base.values))]
        elif isinstance(base, Constant | Iota):
            found.append((index, 0))
    return found


def value_at(case: Case, slot: tuple[int, int]) -> tuple[str, str]:
    """The slot's value as text, and the dtype it is judged in."""
    spec = case.arrays[slot[0]]
    assert spec.content is not None
    base = spec.content.base
    if isinstance(base, Explicit):
        return base.values[slot[1]], spec.dtype
    if isinstance(base, Constant):
        return base.value, spec.dtype
    assert isinstance(base, Iota)
    return str(base.start), spec.dtype if dtype_info(spec.dtype).is_integer else "i64"


def with_value(case: Case, slot: tuple[int, int], text: str) -> Case:
    index, position = slot
    content = case.arrays[index].content
    assert content is not None
    if not isinstance(content.base, Iota):
        # One spelling per value: `0.0`, never `0`, in a float array.
        text = from_bits(to_bits(text, case.arrays[index].dtype), case.arrays[index].dtype)
    base = content.base
    if isinstance(base, Explicit):
        base = Explicit(values=(*base.values[:position], text, *base.values[position + 1:]))
    elif isinstance(base, Constant):
        base = Constant(value=text)
    else:
        assert isinstance(base, Iota)
        base = replace(base, start=int(text))
    return with_array(case, index, content=replace(content, base=base))
