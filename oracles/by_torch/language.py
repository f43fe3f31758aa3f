"""What functions of `triton.language` give, in torch, on any device (contract: language.md §2).

Conventions and names as in `tridiff.oracles.by_numpy.language`. torch lacks most kernels for unsigned and 8-bit float
types: values are moved as bits and computed in int64 or float64.
"""

import torch
from torch import Tensor

from tridiff.oracles.bits import from_bits, is_nan, ordered, to_bits, to_float64, unsigned_bits
from tridiff.oracles.by_torch import (
    conversions,
    flushing as flushing,
    pieces as pieces,
    pointwise as operations,
    products as products,
    words as words,
)
from tridiff.oracles.by_torch.integer import narrow, widen
from tridiff.oracles.by_torch.reductions import prefix_sums
from tridiff.oracles.by_torch.rounding import rounded as rounded, whole as whole
from tridiff.oracles.by_torch.special import special as special
from tridiff.oracles.dtypes import dtype, name_of_tensor

Shape = tuple[int, ...]
_TOP = -(1 << 63)


def constant(value: float, *, to: str) -> Tensor:
    """A Python number in a type, one row."""
    if dtype(to).is_float:
        return conversions.convert(torch.tensor([value], dtype=torch.float64), to=to)
    if to == "i1":
        return torch.tensor([value != 0])
    bits = int(value) & ((1 << 64) - 1)
    return narrow(torch.tensor([bits - (1 << 64) if bits >> 63 else bits]), dtype(to))


def cast(x: Tensor | float, *, to: str) -> Tensor:
    """x in a type, rounded to nearest."""
    if not isinstance(x, Tensor):
        return constant(x, to=to)
    return x if name_of_tensor(x) == to else conversions.convert(x, to=to)


def candidates(x: Tensor, *, to: str) -> Tensor:
    """(2, rows, ...): x in a type; where that is fp8e5, overflow may saturate."""
    if to == "fp8e5":
        return operations.evaluate(f"to_{to}", x)
    found = cast(x, to=to)
    return from_bits(torch.stack([to_bits(found)] * 2), to)


def towards_zero(x: Tensor, *, to: str) -> Tensor:
    """x in a narrower float type, rounded towards zero: the bits that do not fit are cut off."""
    source, target = dtype(name_of_tensor(x)), dtype(to)
    wide = x if source.name in ("fp32", "fp64") else x.to(torch.float32)
    nearest = conversions.convert(wide, to=to)
    past = to_float64(nearest).abs() > to_float64(wide).abs()
    moved = to_bits(nearest) - past.to(to_bits(nearest).dtype)
    return from_bits(moved, target.name)


def cast_defined(x: Tensor, *, to: str) -> Tensor:
    return conversions.convert_defined(x, to=to)


def bitcast(x: Tensor, *, to: str) -> Tensor:
    return from_bits(to_bits(x.contiguous()), to)


def _moved(x: Tensor, bits: Tensor) -> Tensor:
    return from_bits(bits.contiguous(), name_of_tensor(x))


def align(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Tensors of one shape: axes of length 1 are put in front of shorter blocks, then blocks are broadcast."""
    rank = max(x.ndim for x in tensors)
    device = next((x.device for x in tensors if x.device.type != "cpu"), tensors[0].device)
    lifted = [to_bits(x.to(device)).reshape(x.shape[:1] + (1,) * (rank - x.ndim) + x.shape[1:]) for x in tensors]
    # torch.broadcast_shapes imports sympy, seconds of every new worker where many start.
    together = torch.broadcast_tensors(*lifted)
    return tuple(_moved(x, one) for x, one in zip(tensors, together, strict=True))


def pointwise(op: str, computed: str, *operands: Tensor | float) -> Tensor:
    """An operation of oracles.md §3 after implicit conversion to one type."""
    return operations.evaluate(op, *align(tuple(cast(x, to=computed) for x in operands)))


def pointwise_defined(op: str, computed: str, *operands: Tensor | float) -> Tensor:
    return operations.defined(op, *align(tuple(cast(x, to=computed) for x in operands)))


def mixed(op: str, *operands: Tensor) -> Tensor:
    """An operation whose operands keep their types."""
    return operations.evaluate(op, *align(operands))


def upper_product(a: Tensor, b: Tensor) -> Tensor:
    """The upper half of an integer product, by halves of words."""
    kind = dtype(name_of_tensor(a))
    x, y = widen(a), widen(b)
    if kind.bits < 64:
        return narrow(x * y >> kind.bits, kind)
    mask = (1 << 32) - 1
    low_x, high_x, low_y, high_y = x & mask, (x >> 32) & mask, y & mask, (y >> 32) & mask
    middle = high_x * low_y + ((low_x * low_y >> 32) & mask)
    other = low_x * high_y + (middle & mask)
    found = high_x * high_y + ((middle >> 32) & mask) + ((other >> 32) & mask)
    if kind.kind == "int":
        found = found - torch.where(x < 0, y, 0) - torch.where(y < 0, x, 0)
    return narrow(found, kind)


def ceiling_quotient(a: Tensor, b: Tensor) -> Tensor:
    """(a + b - 1) // b for positive numbers, without overflow."""
    kind = dtype(name_of_tensor(a))
    x, y = widen(a), widen(b)
    safe = torch.where(y == 0, 1, y)
    quotient = torch.div(x, safe, rounding_mode="floor")
    return narrow(quotient + (x != quotient * safe).to(torch.int64), kind)


def where(condition: Tensor, x: Tensor | float, y: Tensor | float, *, computed: str) -> Tensor:
    taken, a, b = align((cast(condition, to="i1"), cast(x, to=computed), cast(y, to=computed)))
    return _moved(a, torch.where(taken, to_bits(a), to_bits(b)))


def _flat(x: Tensor, axis: int | None) -> tuple[Tensor, int]:
    return (x.reshape(x.shape[0], -1), 1) if axis is None else (x, axis % (x.ndim - 1) + 1)


def _kept(x: Tensor, axis: int | None, found: Tensor, keep: bool) -> Tensor:
    if not keep:
        return found
    if axis is None:
        return found.reshape(found.shape[:1] + (1,) * (x.ndim - 1))
    return found.unsqueeze(axis % (x.ndim - 1) + 1)


def _extremum(x: Tensor, place: int, kind: str) -> Tensor:
    """The place of the largest or smallest value; NaNs count only where there is nothing else."""
    key, nan = ordered(x), is_nan(x)
    key = torch.where(nan, _TOP, key) if kind == "max" else torch.where(nan, -(_TOP + 1), key)
    return (key.argmax(place, keepdim=True) if kind == "max" else key.argmin(place, keepdim=True))


def fold(x: Tensor, *, kind: str, axis: int | None, keep: bool) -> Tensor:
    """sum, product, max, min, xor, or, and along an axis. Sums of floats are float64."""
    name = name_of_tensor(x)
    bits = to_bits(x)
    flat, place = _flat(bits, axis)
    values = from_bits(flat.contiguous(), name)
    if kind in ("max", "min"):
        found = from_bits(to_bits(values).gather(place, _extremum(values, place, kind)).squeeze(place), name)
    elif dtype(name).is_float:
        wide = to_float64(values)
        found = wide.sum(place) if kind == "sum" else wide.prod(place)
        if kind == "sum":
            # Nothing is added to them, no zero either: -0.0 + -0.0 is -0.0 (IEEE 754, 6.3).
            found = torch.where(((wide == 0) & torch.signbit(wide)).all(dim=place), -0.0, found)
    else:
        wide = widen(values)
        if kind in ("sum", "product"):
            total = wide.sum(place) if kind == "sum" else wide.prod(place)
        else:
            total = wide.select(place, 0)
            for number in range(1, wide.shape[place]):
                one = wide.select(place, number)
                total = total ^ one if kind == "xor" else total | one if kind == "or" else total & one
        found = total != 0 if name == "i1" else narrow(total, dtype(name))
    return _kept(x, axis, found, keep)


def argument(x: Tensor, *, kind: str, axis: int | None, keep: bool) -> Tensor:
    """The first place of the largest or smallest value, as i32."""
    name = name_of_tensor(x)
    flat, place = _flat(to_bits(x), axis)
    values = from_bits(flat.contiguous(), name)
    key = ordered(values)
    best = key.amax(place, keepdim=True) if kind == "max" else key.amin(place, keepdim=True)
    numbers = torch.arange(key.shape[place], device=key.device).reshape([-1 if one == place else 1
                                                                          for one in range(key.ndim)])
    found = torch.where(key == best, numbers, key.shape[place]).amin(place).to(torch.int32)
    return _kept(x, axis, found, keep)


def has_nan(x: Tensor, *, axis: int | None, keep: bool) -> Tensor:
    """Whether a slice holds a NaN."""
    flat, place = _flat(is_nan(x), axis)
    return _kept(x, axis, flat.any(place), keep)


def scan(x: Tensor, *, kind: str, axis: int, reverse: bool) -> Tensor:
    """Prefix sums, products, extrema, or the latter of two. Sums and products of floats are float64."""
    name = name_of_tensor(x)
    place = axis % (x.ndim - 1) + 1
    bits = to_bits(x)
    values = from_bits((bits.flip(place) if reverse else bits).contiguous(), name)
    if kind == "latter":
        found = values
    elif kind in ("max", "min"):
        parts = []
        for end in range(1, values.shape[place] + 1):
            head = from_bits(to_bits(values).narrow(place, 0, end).contiguous(), name)
            parts.append(to_bits(head).gather(place, _extremum(head, place, kind)))
        found = from_bits(torch.cat(parts, place), name)
    elif dtype(name).is_float:
        wide = to_float64(values)
        found = prefix_sums(wide, place) if kind == "sum" else wide.cumprod(place)
    else:
        wide = widen(values)
        found = narrow(wide.cumsum(place) if kind == "sum" else wide.cumprod(place), dtype(name))
    if not reverse:
        return found
    return from_bits(to_bits(found).flip(place).contiguous(), name_of_tensor(found))


def affine_scan(a: Tensor, b: Tensor, *, axis: int, reverse: bool) -> tuple[Tensor, Tensor]:
    """The functions x -> a x + b of integers, each after all before it: as 2 by 2 matrices, doubling the step."""
    kind, place = dtype(name_of_tensor(a)), axis % (a.ndim - 1) + 1
    x, y = (widen(one).flip(place) if reverse else widen(one) for one in (a, b))
    step = 1
    while step < x.shape[place]:
        kept, rest = x.shape[place] - step, (slice(None),) * place
        before, here = (*rest, slice(0, kept)), (*rest, slice(step, None))
        summands = torch.cat([y[*rest, slice(0, step)], y[before] * x[here] + y[here]], place)
        x = torch.cat([x[*rest, slice(0, step)], x[before] * x[here]], place)
        y, step = summands, 2 * step
    first, second = (narrow(one.flip(place) if reverse else one, kind) for one in (x, y))
    return first, second


def sort(x: Tensor, *, descending: bool) -> Tensor:
    """The last axis in order."""
    order = ordered(x).sort(dim=-1, descending=descending).indices
    return _moved(x, to_bits(x).gather(-1, order))


def histogram(x: Tensor, *, bins: int, mask: Tensor | None = None) -> Tensor:
    """How many values are 0, 1, ..., bins - 1; others count nowhere."""
    flat = widen(x).reshape(x.shape[0], -1)
    inside = (flat >= 0) & (flat < bins)
    if mask is not None:
        inside = inside & mask.reshape(x.shape[0], -1)
    counts = torch.zeros((x.shape[0], bins), dtype=torch.int64, device=x.device)
    counts.scatter_add_(1, torch.where(inside, flat, 0), inside.to(torch.int64))
    return counts.to(torch.int32)


def gather(source: Tensor, places: Tensor, *, axis: int) -> Tensor:
    place = axis % (source.ndim - 1) + 1
    return _moved(source, to_bits(source).gather(place, widen(places)))


def reshape(x: Tensor, *, shape: Shape) -> Tensor:
    return _moved(x, to_bits(x).reshape(x.shape[:1] + shape))


def permute(x: Tensor, *, order: Shape) -> Tensor:
    return _moved(x, to_bits(x).permute(0, *(one % len(order) + 1 for one in order)))


def broadcast(x: Tensor, *, shape: Shape) -> Tensor:
    lifted = to_bits(x).reshape(x.shape[:1] + (1,) * (len(shape) - x.ndim + 1) + x.shape[1:])
    return _moved(x, lifted.expand(x.shape[:1] + shape))


def flip(x: Tensor, *, axis: int) -> Tensor:
    return _moved(x, to_bits(x).flip(axis % (x.ndim - 1) + 1))


def cat(a: Tensor, b: Tensor, *, axis: int) -> Tensor:
    return _moved(a, torch.cat([to_bits(a), to_bits(b)], axis % (a.ndim - 1) + 1))


def join(a: Tensor, b: Tensor) -> Tensor:
    return _moved(a, torch.stack([to_bits(one) for one in align((a, b))], -1))


def half(x: Tensor, *, number: int) -> Tensor:
    """One of the two parts of the last axis, of length 2."""
    return _moved(x, to_bits(x)[..., number])


def interleave(a: Tensor, b: Tensor) -> Tensor:
    both = to_bits(join(a, b))
    return _moved(a, both.reshape(*both.shape[:-2], -1))


def rows_of(x: Tensor | None, rows: int, values: list[float] | list[int], *, to: str, shape: Shape) -> Tensor:
    """The same block in every row, from its values."""
    device = "cpu" if x is None else x.device
    if dtype(to).is_float:
        block = conversions.convert(torch.tensor(values, dtype=torch.float64, device=device), to=to)
    elif to == "i1":
        block = torch.tensor([one != 0 for one in values], device=device)
    else:
        signed = [((int(one) + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63) for one in values]
        block = narrow(torch.tensor(signed, dtype=torch.int64, device=device), dtype(to))
    return _moved(block, to_bits(block).reshape((1, *shape)).expand((rows, *shape)))


def dot(a: Tensor, b: Tensor, acc: Tensor | None = None) -> Tensor:
    """Matrix products: of floats in float64, of integers in i32."""
    if dtype(name_of_tensor(a)).is_float:
        found = to_float64(a) @ to_float64(b)
        return found if acc is None else found + to_float64(acc)
    product = (widen(a).unsqueeze(-1) * widen(b).unsqueeze(-3)).sum(-2).to(torch.int32)
    return product if acc is None else product + acc


def _e2m1(packed: Tensor, axis: int) -> Tensor:
    """float64: two numbers of a byte each, the low half first, along an axis; from sign, exponent and one bit."""
    words = torch.stack([widen(packed) & 15, widen(packed) >> 4], axis + 1)
    words = words.reshape(*packed.shape[:axis], -1, *packed.shape[axis + 1:])
    exponent, last = (words >> 1) & 3, (words & 1).to(torch.float64) / 2
    size = torch.where(exponent == 0, last, torch.ldexp(1 + last, exponent - 1))
    return torch.where(words >= 8, -size, size)


def microscaled(x: Tensor, scale: Tensor | None, *, form: str, along: int, packed: int) -> Tensor:
    """float64: a matrix in a microscaling format. form: e2m1, e4m3, e5m2, bf16 or fp16. along: the axis of groups of 32
    elements that share an exponent of `scale` (its last axis; 127 is none). packed: the axis of pairs in a byte."""
    names = {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "bf16": "bf16", "fp16": "fp16"}
    wide = _e2m1(x, packed + 1) if form == "e2m1" else to_float64(bitcast(x, to=names[form]))
    if scale is None:
        return wide
    exponents = (widen(scale) - 127).repeat_interleave(32, -1)
    return wide * torch.exp2((exponents if along else exponents.transpose(1, 2)).to(torch.float64))


def loaded(x: Tensor, mask: Tensor, other: Tensor | float) -> Tensor:
    """x where the mask is true, the other value elsewhere."""
    filled = cast(other, to=name_of_tensor(x)).to(x.device)
    taken, a, b = align((mask, x, filled))
    return _moved(a, torch.where(taken, to_bits(a), to_bits(b)))


def swizzled(i: Tensor, j: Tensor, *, size_i: int, size_j: int, size_g: int) -> tuple[Tensor, Tensor]:
    """`tl.swizzle2d`: row-major places of a matrix, counted column by column within groups of size_g rows."""
    first = i.new_zeros((size_i * size_j,), dtype=torch.int64)
    second = first.clone()
    number = 0
    for top in range(0, size_i, size_g):
        height = min(size_g, size_i - top)
        for column in range(size_j):
            for row in range(top, top + height):
                first[number], second[number] = row, column
                number += 1
    place = widen(i) * size_j + widen(j)
    return first[place].to(torch.int32), second[place].to(torch.int32)


def softmax(x: Tensor, *, axis: int) -> Tensor:
    """float64."""
    place = axis % (x.ndim - 1) + 1
    wide = to_float64(x)
    most = torch.where(wide.isnan(), -torch.inf, wide).amax(place, keepdim=True)
    most = torch.where(wide.isnan().all(place, keepdim=True), torch.nan, most)
    shifted = (wide - most).exp()
    return shifted / shifted.sum(place, keepdim=True)


def philox(seed: Tensor, counters: tuple[Tensor, ...], *, rounds: int, number: int) -> Tensor:
    """One word of Philox-4x32 with a seed and four counters, in 32 bits, by products of halves of words."""
    low = 0xFFFFFFFF
    c0, c1, c2, c3 = (unsigned_bits(one) & low if one.dtype != torch.int64 else one & low for one in counters)
    wide = widen(seed)
    k0, k1 = wide & low, (wide >> 32) & low

    def product(word: Tensor, factor: int) -> tuple[Tensor, Tensor]:
        bottom, top = word * (factor & 0xFFFF), word * (factor >> 16)
        middle = (bottom >> 16) + top
        return (middle >> 16) & low, ((middle << 16) & low) | (bottom & 0xFFFF)

    for _ in range(rounds):
        (high_a, low_a), (high_b, low_b) = product(c0, 0xD2511F53), product(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = high_b ^ c1 ^ k0, low_b, high_a ^ c3 ^ k1, low_a
        k0, k1 = (k0 + 0x9E3779B9) & low, (k1 + 0xBB67AE85) & low
    return narrow((c0, c1, c2, c3)[number], dtype("u32"))
