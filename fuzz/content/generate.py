"""Content terms to tensors, bit for bit the same on every device.

Only integer arithmetic, table look-ups and correctly rounded int-to-float conversions are used, so the
CPU and the GPU agree. The generator is a counter hash: element (row, column) of seed s is the SplitMix64
finaliser applied to key(s) + row * ROW + column * COLUMN. That makes any row computable alone, which is
what lets a failing row be cut out of a batch with its bits unchanged.
"""

import torch

from tridiff.fuzz.content import text
from tridiff.fuzz.content.counter import COLUMN, ROW, key, signed
from tridiff.fuzz.records import (
    ArraySpec,
    Base,
    Bits,
    Constant,
    Content,
    Explicit,
    Finite,
    Iota,
    Mixture,
    Override,
    Permutation,
    Pick,
    Put,
    Scattered,
    Small,
    Sorted,
    Special,
    Sprinkle,
    Tie,
    TieSprinkle,
)
from tridiff.oracles.dtypes import dtype as dtype_info, torch_dtype
from tridiff.oracles.special_values import special_bits

INT_VIEW = {8: torch.uint8, 16: torch.int16, 32: torch.int32, 64: torch.int64}


def _shifted(x: torch.Tensor, amount: int) -> torch.Tensor:
    """Logical right shift of int64."""
    return (x >> amount) & ((1 << (64 - amount)) - 1)


def _hash(seed: int, stream: int, row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
    """64 random bits for every (row, column), broadcast."""
    x = (row * signed(ROW) + signed(key(seed, stream))) + column * signed(COLUMN)
    x = (x ^ _shifted(x, 30)) * signed(0xBF58476D1CE4E5B9)
    x = (x ^ _shifted(x, 27)) * signed(0x94D049BB133111EB)
    return x ^ _shifted(x, 31)


def _below(x: torch.Tensor, bound: int) -> torch.Tensor:
    """Hash bits to 0 .. bound-1 (bound < 2^31); the high half is used, the bias is below 2^-32."""
    return (_shifted(x, 33) * bound) >> 31


def _table(patterns: tuple[int, ...], device: torch.device) -> torch.Tensor:
    return torch.tensor([signed(p) for p in patterns], dtype=torch.int64, device=device)


def _integers(values: torch.Tensor, dtype: str) -> torch.Tensor:
    """Int64 numbers to bit patterns (int64) of `dtype`: wrapped for ints, rounded once for floats."""
    info = dtype_info(dtype)
    if info.kind == "bool":
        return values & 1
    if info.kind != "float":
        return values
    largest = int(info.max) if info.max < 2**62 else 2**62
    floats = values.clamp(-largest, largest).to(torch.float64)
    if info.bits < 32:
        floats = floats.to(torch.float32)
    narrowed = floats.to(torch_dtype(dtype))
    return narrowed.view(INT_VIEW[info.bits]).to(torch.int64)


class _Grid:
    """Row and column counters of one array: row (R, 1) and column (1, C) int64 tensors."""

    def __init__(self, spec: ArraySpec, sizes: dict[str, int], device: torch.device) -> None:
        # A broadcast axis holds one element, repeated: only index 0 is generated.
        shape = tuple(
            1 if dim in spec.layout.broadcast else n
            for dim, n in zip(spec.dims, spec.shape(sizes), strict=True)
        )
        self.shape = shape
        batched = bool(spec.dims) and spec.dims[0] == "rows"
        rows = shape[0] if batched else 1
        columns = 1
        for n in shape[1:] if batched else shape:
            columns *= n
        self.rows, self.columns = rows, columns
        self.row = torch.arange(rows, dtype=torch.int64, device=device)[:, None]
        if batched:
            self.row = self.row + spec.first_row
        self.column = torch.arange(columns, dtype=torch.int64, device=device)[None, :]
        self.device = device

    def full(self, value: torch.Tensor) -> torch.Tensor:
        return value.expand(self.rows, self.columns)


def _finite(h: torch.Tensor, dtype: str, low: int, high: int) -> torch.Tensor:
    info = dtype_info(dtype)
    if info.kind == "bool":
        return h & 1
    if info.kind != "float":
        # A uniform bit length, then a uniform number of that length, then the sign.
        length = _below(h, info.bits)
        magnitude = _shifted(h * signed(ROW), 1) & ((torch.ones_like(h) << length) - 1)
        return torch.where((h & 1) == 1, -magnitude, magnitude)
    mantissa = info.mantissa_bits
    exponent_bits = info.bits - 1 - mantissa
    bias = (1 << (exponent_bits - 1)) - 1
    first, last = max(low + bias, 1), min(high + bias, (1 << exponent_bits) - 2)
    first, last = min(first, last), max(first, last)
    exponent = _below(h, last - first + 1) + first
    field = h & ((1 << mantissa) - 1)
    sign = _shifted(h, 32) & 1
    return (sign << (info.bits - 1)) | (exponent << mantissa) | field


def _small(h: torch.Tensor, dtype: str, low: int, high: int) -> torch.Tensor:
    info = dtype_info(dtype)
    if info.kind == "bool":
        low, high = 0, 1
    limit = {"fp8e4nv": 16, "fp8e5": 8}.get(dtype, 256)
    least = 0 if info.kind == "uint" else -limit
    low, high = (min(max(bound, least), limit) for bound in sorted((low, high)))
    return _integers(_below(h, high - low + 1) + low, dtype)


def _permutation(seed: int, grid: _Grid) -> torch.Tensor:
    h = _hash(seed, 1, grid.row, grid.column)
    # The column in the low bits makes keys distinct, so any sort gives the same order.
    keys = (h & ~0xFFFF) | (grid.column & 0xFFFF)
    return torch.argsort(keys, dim=1)


def _ascending(values: torch.Tensor, dtype: str) -> torch.Tensor:
    """Keys (int64) that order bit patterns as numbers, -0.0 below 0.0 and every NaN on top."""
    info = dtype_info(dtype)
    width = info.storage_bits
    if info.kind == "uint" or info.kind == "bool":
        return values ^ signed(1 << 63) if width == 64 else values & ((1 << width) - 1)
    number = values if width == 64 else ((values & ((1 << width) - 1)) ^ (1 << (width - 1))) - (1 << (width - 1))
    if info.kind == "int":
        return number
    magnitude = number & ((1 << (width - 1)) - 1)
    largest = ((1 << info.exponent_bits) - 1) << info.mantissa_bits
    is_nan = magnitude > largest if info.has_inf else magnitude == (1 << (width - 1)) - 1
    return torch.where(is_nan, signed((1 << 63) - 1), torch.where(number < 0, -1 - magnitude, magnitude))


def _mixture(base: Mixture, dtype: str, grid: _Grid) -> torch.Tensor:
    h = _hash(base.seed, 1, grid.row, grid.column)
    per_row = _hash(base.seed, 2, grid.row, torch.zeros_like(grid.column[:, :1]))
    recipe = _below(per_row, len(base.recipes))
    table = _table(special_bits(dtype), grid.device)
    result = torch.zeros_like(h)
    row_hash = _hash(base.seed, 3, grid.row, torch.zeros_like(grid.column[:, :1]))
    for number, name in enumerate(base.recipes):
        if name == "bits":
            values = h
        elif name == "small":
            values = _small(h, dtype, -4, 4)
        elif name == "finite":
            values = _finite(h, dtype, -8, 8)
        elif name == "special":
            values = table[_below(h, len(table))]
        elif name == "ramp":
            start = (_below(row_hash, 129) - 64) * (grid.columns // 4 + 1)
            step = _below(_shifted(row_hash, 1), 5) - 2
            values = _integers(start // 8 + step * grid.column, dtype)
        elif name == "constant":
            values = table[_below(row_hash, len(table))]
        else:  # ties: two values per row, in random order
            other = table[_below(_shifted(row_hash, 7), len(table))]
            values = torch.where((h >> 9) & 1 == 1, table[_below(row_hash, len(table))], other)
        result = torch.where(recipe == number, values, result)
    return result


def _base(base: Base, dtype: str, grid: _Grid) -> torch.Tensor:
    """Int64 bit patterns (rows, columns)."""
    match base:
        case Constant():
            pattern = signed(text.to_bits(base.value, dtype))
            return torch.full((grid.rows, grid.columns), pattern, dtype=torch.int64, device=grid.device)
        case Iota():
            return _integers(base.start + base.step * grid.column + base.per_row * grid.row, dtype)
        case Bits():
            return _hash(base.seed, 1, grid.row, grid.column)
        case Small():
            return _small(_hash(base.seed, 1, grid.row, grid.column), dtype, base.low, base.high)
        case Finite():
            return _finite(_hash(base.seed, 1, grid.row, grid.column), dtype, base.low, base.high)
        case Special():
            table = _table(special_bits(dtype), grid.device)
            return table[_below(_hash(base.seed, 1, grid.row, grid.column), len(table))]
        case Permutation():
            return _integers(_permutation(base.seed, grid), dtype)
        case Mixture():
            return _mixture(base, dtype, grid)
        case Explicit():
            flat = [signed(text.to_bits(value, dtype)) for value in base.values]
            wanted = grid.rows * grid.columns
            # Sizes may have changed under the term: cut, or repeat the last value.
            flat = (flat + [flat[-1] if flat else 0] * max(wanted - len(flat), 0))[:wanted]
            explicit = torch.tensor(flat, dtype=torch.int64, device=grid.device)
            return explicit.reshape(grid.rows, grid.columns)


def _apply(values: torch.Tensor, override: Override, dtype: str, grid: _Grid) -> torch.Tensor:
    match override:
        case Put():
            hit = grid.column == override.column
            if override.row is not None:
                hit = hit & (grid.row == override.row)
            return torch.where(hit, signed(text.to_bits(override.value, dtype)), values)
        case Pick():
            drawn = _below(_hash(override.seed, 17, grid.row, torch.zeros_like(grid.row)), max(grid.columns, 1))
            return torch.where(grid.column == drawn, signed(text.to_bits(override.value, dtype)), values)
        case Tie():
            if max(override.source, override.to) >= grid.columns:
                return values
            return torch.where(grid.column == override.to, values[:, override.source, None], values)
        case Sprinkle():
            h = _hash(override.seed, 11, grid.row, grid.column)
            table = _table(tuple(text.to_bits(v, dtype) for v in override.values), grid.device)
            chosen = table[_below(h * signed(COLUMN), len(table))]
            return torch.where(_below(h, 1000) < override.per_mille, chosen, values)
        case TieSprinkle():
            if grid.columns == 0:
                return values
            h = _hash(override.seed, 13, grid.row, grid.column)
            source = _below(h * signed(COLUMN), grid.columns)
            return torch.where(_below(h, 1000) < override.per_mille, values.gather(1, source), values)
        case Sorted():
            values = grid.full(values)
            return values.gather(1, torch.argsort(_ascending(values, dtype), dim=1, stable=True))
        case Scattered():
            values = grid.full(values)
            order = _permutation(override.seed, grid).expand(grid.rows, grid.columns)
            return torch.empty_like(values).scatter_(1, order, values)


def patterns(spec: ArraySpec, sizes: dict[str, int], *, device: torch.device) -> torch.Tensor:
    """Bit patterns of an input array as the signed integer type of its width.

    Shape: the logical shape, with broadcast axes of length 1. Raises ValueError for an output.
    """
    if spec.content is None:
        raise ValueError(f"{spec.name} is an output and has no content")
    return content_patterns(spec.content, spec, sizes, device=device)


def content_patterns(content: Content, spec: ArraySpec, sizes: dict[str, int], *, device: torch.device) -> torch.Tensor:
    """As `patterns`, for an explicit content term."""
    grid = _Grid(spec, sizes, device)
    values = _base(content.base, spec.dtype, grid)
    for override in content.overrides:
        values = _apply(values, override, spec.dtype, grid)
    values = grid.full(values)
    if spec.dtype == "i1":
        values = values & 1
    narrow = INT_VIEW[dtype_info(spec.dtype).storage_bits]
    if narrow is torch.uint8:
        values = values & 0xFF
    return values.to(narrow).reshape(grid.shape)
