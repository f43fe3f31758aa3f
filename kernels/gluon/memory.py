"""Where the elements of a buffer lie in shared memory, and what views may be taken of it. Pure Python.

A buffer's layout is a map from coordinates to element offsets that is linear over exclusive or, plus padding. It is
kept as the image of every bit of every axis: the offset of a coordinate is the exclusive or of the images of its
set bits. (Contract: ttg_ops.md §3 and §5; checked against Triton's own drawing of its layouts in the tests.)
"""

import math
from dataclasses import dataclass, replace

from tridiff.kernels.gluon.layouts import Bases, Nvmma, Padded, Shared, SharedLinear, Swizzled, log2, power_of_two, rank

Images = tuple[tuple[int, ...], ...]
"""Per axis, the offsets of its bits, lowest first."""


@dataclass(frozen=True)
class Placement:
    """A map from coordinates of `shape` to offsets, in elements. pairs: (interval, padding) to add."""

    shape: tuple[int, ...]
    images: Images
    pairs: tuple[tuple[int, int], ...] = ()

    @property
    def span(self) -> int:
        """Elements from the first to one past the last, padding between them included."""
        return self.padded(math.prod(self.shape) - 1) + 1

    @property
    def plain(self) -> bool:
        """Whether elements lie row-major without gaps."""
        return self.images == row_major_images(self.shape) and not self.pairs

    def offset(self, coordinate: tuple[int, ...]) -> int:
        """The element's offset."""
        value = 0
        for index, images in zip(coordinate, self.images, strict=True):
            for bit, image in enumerate(images):
                if index >> bit & 1:
                    value ^= image
        return self.padded(value)

    def padded(self, offset: int) -> int:
        """An offset with the padding before it."""
        return offset + sum(offset // interval * padding for interval, padding in self.pairs)

    def permuted(self, order: tuple[int, ...]) -> "Placement":
        """As numpy's transpose: axis k is the former axis order[k]."""
        return replace(self, shape=tuple(self.shape[k] for k in order), images=tuple(self.images[k] for k in order))

    def reshaped(self, shape: tuple[int, ...]) -> "Placement":
        """As numpy's reshape: equal row-major numbers are the same element."""
        bits = [image for axis in reversed(self.images) for image in axis]
        images: list[tuple[int, ...]] = []
        for extent in reversed(shape):
            count = log2(extent)
            images.append(tuple(bits[:count]))
            bits = bits[count:]
        return replace(self, shape=shape, images=tuple(reversed(images)))

    def splits(self, axis: int, *, whole: int, part: int) -> bool:
        """Whether a view of `whole` along `axis` may be cut into parts of `part`: the bits above `part` must move
        the offset by a power of two, or the swizzle would have to be carried along."""
        return all(power_of_two(self.images[axis][bit]) for bit in range(log2(part), log2(whole)))


def row_major_images(shape: tuple[int, ...], order: tuple[int, ...] | None = None) -> Images:
    """Images of a plain buffer. order: axes from the fastest on, default the last one first."""
    images: list[tuple[int, ...]] = [()] * len(shape)
    step = 1
    for axis in order or tuple(reversed(range(len(shape)))):
        images[axis] = tuple(step << bit for bit in range(log2(shape[axis])))
        step *= shape[axis]
    return tuple(images)


def placement(layout: Shared, *, shape: tuple[int, ...]) -> Placement:
    """Where a buffer of `shape` lies, for a layout of that rank for which `shared_problem` finds nothing."""
    match layout:
        case Swizzled():
            return Placement(shape, _swizzled(layout, shape))
        case Nvmma():
            return Placement(shape, _nvmma(layout, shape))
        case Padded():
            return Placement(shape, _inverse(layout.offset, shape), layout.pairs)
        case SharedLinear():
            return Placement(shape, _inverse(layout.offset, shape))


def _swizzled(layout: Swizzled, shape: tuple[int, ...]) -> Images:
    images = list(row_major_images(shape, layout.order))
    if len(shape) > 1:
        column, row = layout.order[0], layout.order[1]
        columns = shape[column]
        images[row] = tuple(
            image ^ (layout.vec * ((1 << bit) // layout.per_phase % layout.max_phase) % columns)
            for bit, image in enumerate(images[row]))
    return tuple(images)


def _nvmma(layout: Nvmma, shape: tuple[int, ...]) -> Images:
    n = len(shape)
    # Transposed, the first axis is the contiguous one and comes last.
    turned = (*range(1, n), 0) if layout.transposed and layout.swizzle else tuple(range(n))
    extents = tuple(min(shape[axis], 256) for axis in turned)
    if not layout.swizzle:
        images = list(row_major_images(extents))
    else:
        columns = min(extents[-1], 8 * layout.swizzle // layout.bits)
        extents = (*extents[:-1], columns)
        vec, per_phase, max_phase = 128 // layout.bits, 128 // layout.swizzle, layout.swizzle // 16
        plain = row_major_images(extents)
        images = []
        row = 1  # number of the row that a bit of an outer axis adds, all outer axes taken together
        for axis in reversed(range(n - 1)):
            own = []
            for image in plain[axis]:
                own.append(image ^ (vec * (row // per_phase % max_phase) if row < 8 else 0))
                row *= 2
            images.insert(0, tuple(own))
        images.append(plain[-1])
    size = math.prod(extents)
    # What exceeds one box of the copy engine is laid behind it, box after box.
    for place, axis in sorted(enumerate(turned), key=lambda one: one[1]):
        for _ in range(log2(shape[axis] // extents[place])):
            images[place] = (*images[place], size)
            size *= 2
    return tuple(images[turned.index(axis)] for axis in range(n))


def _inverse(offset: Bases, shape: tuple[int, ...]) -> Images:
    """Images of the axes' bits, from the coordinates of the offset's bits. The map must be invertible."""
    widths = [log2(extent) for extent in shape]
    rows = []
    for number, basis in enumerate(offset):
        packed = 0
        for value, width in zip(basis, widths, strict=True):
            packed = packed << width | value
        rows.append((packed, 1 << number))
    solved: dict[int, tuple[int, int]] = {}
    for packed, image in rows:  # Gauss-Jordan over exclusive or
        for lead, (other, other_image) in solved.items():
            if packed >> lead & 1:
                packed, image = packed ^ other, image ^ other_image
        if not packed:
            raise ValueError("the bases of a shared layout are not independent")
        lead = log2(packed)
        for key, (other, other_image) in solved.items():
            if other >> lead & 1:
                solved[key] = (other ^ packed, other_image ^ image)
        solved[lead] = (packed, image)
    images: list[tuple[int, ...]] = []
    low = sum(widths)
    for width in widths:
        low -= width
        images.append(tuple(solved[low + bit][1] for bit in range(width)))
    return tuple(images)


def shared_problem(layout: Shared, *, shape: tuple[int, ...], bits: int) -> str:
    """Why a buffer of `shape` (without a leading ring axis) with elements of `bits` bits cannot have this layout;
    "" if it can."""
    if rank(layout) != len(shape):
        return f"a shared layout of rank {rank(layout)} for a buffer of rank {len(shape)}"
    if not power_of_two(*shape):
        return f"shape {shape} is not made of powers of two"
    match layout:
        case Swizzled():
            if sorted(layout.order) != list(range(len(shape))):
                return "the order of a swizzled layout is no permutation of the axes"
            if not power_of_two(layout.vec, layout.per_phase, layout.max_phase):
                return "vec, per_phase and max_phase are powers of two"
            if len(shape) == 1 and (layout.vec, layout.per_phase, layout.max_phase) != (1, 1, 1):
                return "a row alone has no phases to swizzle by"
            if len(shape) > 1 and layout.max_phase > 1 and layout.vec * layout.max_phase > shape[layout.order[0]]:
                return "the swizzle is wider than a row"
            return ""
        case Nvmma():
            return _nvmma_problem(layout, shape, bits)
        case Padded():
            if layout.shape != shape:
                return f"a padded layout for {layout.shape}, not {shape}"
            if not power_of_two(*(n for pair in layout.pairs for n in pair)):
                return "intervals and paddings are powers of two"
            if len({interval for interval, _ in layout.pairs}) != len(layout.pairs):
                return "an interval comes twice"
            return _bases_problem(layout.offset, shape)
        case SharedLinear():
            if not power_of_two(layout.alignment):
                return "an alignment is a power of two"
            return _bases_problem(layout.offset, shape)


def _bases_problem(offset: Bases, shape: tuple[int, ...]) -> str:
    if any(len(basis) != len(shape) for basis in offset):
        return "a basis of another rank than the buffer"
    if any(value >= extent for basis in offset for value, extent in zip(basis, shape, strict=True)):
        return "a basis outside the buffer"
    if len(offset) != sum(log2(extent) for extent in shape):
        return "as many bases as the buffer's size has bits"
    try:
        _inverse(offset, shape)
    except ValueError as error:
        return str(error)
    return ""


def _nvmma_problem(layout: Nvmma, shape: tuple[int, ...], bits: int) -> str:
    if layout.bits != bits:
        return f"an NVMMA layout of {layout.bits}-bit elements for elements of {bits} bits"
    if len(shape) < 2:
        return "" if not layout.swizzle and not layout.transposed else "a row alone cannot be swizzled"
    if not layout.swizzle:
        return "" if not layout.transposed else "an NVMMA layout without swizzle is not transposed"
    if layout.transposed and len(shape) != 2:
        return "only matrices have a transposed NVMMA layout"
    turned = (*shape[1:], shape[0]) if layout.transposed else shape
    rows = math.prod(min(extent, 256) for extent in turned[:-1])
    if rows < 8 or turned[-1] * bits < 8 * layout.swizzle:
        return "an NVMMA layout needs eight rows of its swizzle width"
    return ""
