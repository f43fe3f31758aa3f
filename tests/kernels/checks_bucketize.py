"""Interpreted runs of bucketize_binary_search."""

from typing import Any

import numpy as np
import torch
import triton.language as tl
from torch import Tensor, tensor
from torch._inductor.runtime import triton_helpers as inductor
from triton.runtime.interpreter import interpreter_builder

from tests.kernels.driver_runs import INF, NAN, run
from tridiff.kernels.drivers.bucketize import bucketize
from tridiff.kernels.helpers.bucketize import bucketize_binary_search
from tridiff.kernels.helpers.mutants_bucketize import MUTANTS

INDEX = {tl.int32: torch.int32, tl.int64: torch.int64}


def search(
    values: Tensor, boundaries: Tensor, *, helper: Any = bucketize_binary_search, right: bool = False,
    index: Any = tl.int64, size: int | None = None, numel: int | None = None, rows: Tensor | None = None,
    sorter: Tensor | None = None,
) -> list[list[int]]:
    """Looks up values [R, C] in boundaries [B, N]; rows [R, C] names the boundary row (default: all row 0)."""
    numel = boundaries.untyped_storage().nbytes() // boundaries.element_size() if numel is None else numel
    rows = torch.zeros(values.shape, dtype=torch.int64) if rows is None else rows
    inputs = {"values": values, "boundary_row": rows, "boundaries": boundaries, "sorter": sorter}
    out = run(
        bucketize, inputs, {"out": torch.full(values.shape, -7, dtype=INDEX[index])},
        boundaries_size=boundaries.shape[1] if size is None else size, boundaries_numel=numel,
        HELPER=helper, INDEX_DTYPE=index, RIGHT=right, ROW_BLOCK=2, COL_BLOCK=16)
    return out["out"].tolist()


def draw(generator: torch.Generator, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
    """Few distinct values, so that ties are common; all of them exact in every dtype."""
    whole = torch.randint(-4 if dtype.is_signed else 0, 5, shape, generator=generator)
    if not dtype.is_floating_point:
        return whole.to(dtype)
    special = tensor([NAN, INF, -INF, 0.0, -0.0, 0.5], dtype=dtype)
    pick = torch.randint(0, 18, shape, generator=generator)
    return torch.where(pick < 6, special[pick.clamp(max=5)], whole.to(dtype))


ALL_SIZES = (0, 1, 2, 3, 4, 7, 8, 9, 31, 32, 33)


def check_equals_torch_for_every_dtype_size_side_and_index_type():
    """Every size for one type, those around a step of the search for the others; sides and index types take turns."""
    equals_torch({torch.float32: ALL_SIZES}, others=(0, 7, 8), both=False)


def equals_torch(sizes: dict[torch.dtype, tuple[int, ...]], *, others: tuple[int, ...], both: bool) -> None:
    """both: from either side, with either index type."""
    generator = torch.Generator().manual_seed(1)
    dtypes = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32,
              torch.float64, torch.bfloat16)
    for dtype in dtypes:
        for number, size in enumerate(sizes.get(dtype, others)):
            values = draw(generator, (3, 21), dtype)
            boundaries = draw(generator, (1, size), dtype).sort(dim=1).values  # NaN last, as required
            for right in (False, True) if both or size in (7, 8) else (number % 2 == 1,):
                index = list(INDEX)[(number + right + number // 2) % 2]
                expected = torch.searchsorted(boundaries[0], values, right=right).tolist()
                got = search(values, boundaries, right=right, index=index)
                assert got == expected, (dtype, size, right, index)


def check_nan_rules():
    boundaries = tensor([[1, 2, NAN, NAN]])
    values = tensor([[NAN, 5, 1.5, 1, INF, -INF]])
    # By the rule itself, without torch: every boundary is below NaN, every NaN boundary is below everything.
    # The row [1, 2, NaN, NaN] is then not sorted for the search (below 1.5: yes, no, yes, yes), only its
    # NaN-free probes are decided by order; values above all numbers, and NaN, have one answer.
    for right in (False, True):
        got = search(values, boundaries, right=right)[0]
        assert got[0] == 4 and got[1] == 4 and got[4] == 4, got
        assert got == torch.bucketize(values, boundaries[0], right=right)[0].tolist()
    all_nan = torch.full((1, 3), NAN)
    assert search(tensor([[-INF, 0, NAN]]), all_nan) == [[3, 3, 3]]


def check_zeros_of_either_sign_are_one_value():
    boundaries = tensor([[-0.0, 0]])
    values = tensor([[0, -0.0]])
    assert search(values, boundaries, right=False) == [[0, 0]]
    assert search(values, boundaries, right=True) == [[2, 2]]


def check_rows_strides_and_sorter():
    generator = torch.Generator().manual_seed(2)
    values = torch.randint(-9, 10, (4, 19), generator=generator)
    wide = torch.randint(-9, 10, (5, 3 * 11), generator=generator)
    strided = wide[1:, ::3]  # row offset, row stride 33, element stride 3
    order = strided.argsort(dim=1, stable=True)
    shuffled_order = torch.empty(4, 2 * 11, dtype=torch.int32)[:, ::2]
    shuffled_order.copy_(order)
    own_row = torch.arange(4)[:, None].expand(4, 19)
    any_row = torch.randint(0, 4, (4, 19), generator=generator)
    numel = wide.numel() - 33
    in_order = strided.gather(1, order).contiguous()
    for right in (False, True):
        expected = torch.searchsorted(in_order, values, right=right)
        got = search(values, strided, rows=own_row, sorter=shuffled_order, numel=numel, right=right)
        assert got == expected.tolist()
        for index in INDEX:
            got = search(values, in_order, rows=any_row, right=right, index=index)
            wanted = [
                [int(torch.searchsorted(in_order[b], v, right=right)) for b, v in zip(br, vr, strict=True)]
                for br, vr in zip(any_row.tolist(), values, strict=True)]
            assert got == wanted
    one = tensor([[3]]).expand(1, 6)  # six boundaries in one element
    assert search(tensor([[2, 3, 4]]), one, right=False) == [[0, 0, 6]]
    assert search(tensor([[2, 3, 4]]), one, right=True) == [[0, 6, 6]]


def check_sizes_from_2_30_on_do_not_overflow_int32():
    for size in (2**30 - 1, 2**30, 2**30 + 1, 2**31 - 1):
        boundaries = torch.zeros(1, 1)
        for index in INDEX:
            values = tensor([[-1, 0, 1, NAN]])
            got = search(values, boundaries.expand(1, 4), size=size, numel=1, index=index)
            assert got == [[0, 0, size, size]], (size, index, got)
        as_inductor = search(
            tensor([[1.0]]), boundaries.expand(1, 4), size=size, numel=1, index=tl.int32,
            helper=inductor.bucketize_binary_search)
        assert (as_inductor == [[size]]) == (size < 2**30), "the driver no longer shows inductor's overflow"


def check_empty_rows_touch_no_memory():
    nothing = torch.empty(1, 0)
    with RecordedLoads() as accesses:
        assert search(tensor([[1, NAN]]), nothing, numel=0) == [[0, 0]]
    assert accesses.of(nothing) == []
    assert not any(address < 4096 for address in accesses.addresses()), "a load through a null pointer"


class RecordedLoads:
    """The address of every unmasked lane that the interpreter loads meanwhile."""

    def __enter__(self) -> "RecordedLoads":
        self.calls: list[np.ndarray] = []
        original = type(interpreter_builder).create_masked_load

        def wrapper(pointers: Any, mask: Any, *rest: Any) -> Any:
            self.calls.append(np.atleast_1d(pointers.data)[np.atleast_1d(mask.data)])
            return original(interpreter_builder, pointers, mask, *rest)

        interpreter_builder.create_masked_load = wrapper
        return self

    def __exit__(self, *_: object) -> None:
        del interpreter_builder.create_masked_load

    def addresses(self) -> list[int]:
        return [int(address) for call in self.calls for address in call]

    def of(self, view: Tensor) -> list[int]:
        """Element offsets into the storage behind the view; loads elsewhere are left out."""
        base, width = view.untyped_storage().data_ptr(), view.element_size()
        end = base + view.untyped_storage().nbytes()
        return [(a - base) // width for a in self.addresses() if base <= a < end]


def check_unsorted_rows_stay_in_range_and_in_bounds():
    generator = torch.Generator().manual_seed(3)
    for size in (1, 5, 16, 29):
        for numel in (size, size // 2):  # fewer elements readable than the row claims
            boundaries = torch.rand(200, generator=generator)[100 : 100 + size][None]
            with RecordedLoads() as accesses:
                got = search(torch.rand(2, 16, generator=generator), boundaries, numel=numel)
            assert all(0 <= k <= size for row in got for k in row), got
            touched = [offset - 100 for offset in accesses.of(boundaries)]
            assert all(0 <= offset < max(numel, 1) for offset in touched), (size, numel, sorted(set(touched)))


def check_a_corrupt_sorter_is_not_followed_out_of_bounds():
    boundaries = torch.rand(300, generator=torch.Generator().manual_seed(4))[100:104][None]
    sorter = tensor([[0, 90, -90, 3]])
    with RecordedLoads() as accesses:
        got = search(torch.rand(1, 16), boundaries, sorter=sorter, numel=4)
    assert all(0 <= k <= 4 for k in got[0])
    assert all(100 <= offset < 104 for offset in accesses.of(boundaries))


def check_number_of_probes_is_the_bit_length_of_the_size():
    for size in range(16):
        boundaries = torch.arange(size, dtype=torch.float32)[None]
        every_answer = torch.arange(size + 1, dtype=torch.float32)[None] - 0.5
        with RecordedLoads() as accesses:
            assert search(every_answer, boundaries) == [list(range(size + 1))]
        first = boundaries.data_ptr()
        probes = [call for call in accesses.calls if ((call >= first) & (call < first + 4 * size)).any()]
        assert len(probes) == size.bit_length(), (size, len(probes))


INPUTS: dict[str, tuple[Tensor, Tensor, dict[str, Any], list[list[int]]]] = {
    "sides_swapped": (tensor([[2]]), tensor([[1, 2, 3]]), {}, [[1]]),
    "last_boundary_skipped": (tensor([[5]]), tensor([[1, 2, 3]]), {}, [[3]]),
    "one_probe_too_few": (tensor([[5]]), tensor([[1]]), {}, [[1]]),
    "midpoint_overflow": (
        tensor([[1]]), tensor([[0]]).expand(1, 2), {"size": 2**31 - 1, "numel": 1, "index": tl.int32}, [[2**31 - 1]],
    ),
    "nan_boundary_on_top": (tensor([[5.0]]), tensor([[1, 2, NAN]]), {}, [[3]]),
    "nan_value_at_bottom": (tensor([[NAN]]), tensor([[1.0]]), {}, [[1]]),
    "stride_ignored": (tensor([[3]]), tensor([[0, 9, 2, 9]])[:, ::2], {}, [[2]]),
    "row_offset_ignored": (tensor([[5]]), tensor([[1], [9]]), {"rows": tensor([[1]])}, [[0]]),
    "sorter_ignored": (tensor([[5]]), tensor([[9, 1]]), {"sorter": tensor([[1, 0]])}, [[1]])}


def check_every_mutant_differs_where_its_docstring_says():
    assert set(INPUTS) == set(MUTANTS["bucketize_binary_search"])
    for name, (values, boundaries, options, expected) in INPUTS.items():
        assert search(values, boundaries, **options) == expected, name
        mutant = MUTANTS["bucketize_binary_search"][name]
        assert search(values, boundaries, helper=mutant, **options) != expected, name


def check_inductor_runs_through_the_same_driver_and_keeps_its_known_defect():
    values, boundaries = tensor([[0.5, 1, 5]]), tensor([[1.0, 2.0]])
    assert search(values, boundaries, helper=inductor.bucketize_binary_search) == search(values, boundaries)
    with_nan = tensor([[1, 2, NAN]])
    assert search(tensor([[5.0]]), with_nan, helper=inductor.bucketize_binary_search) == [[2]]
    five = tensor([[5.0]])
    assert search(five, with_nan) == torch.bucketize(five, with_nan[0]).tolist() == [[3]]
