"""Interpreted runs of sort_with_index."""

from typing import Any

import numpy as np
import torch
import triton.language as tl
from torch import Tensor, tensor
from torch._inductor.runtime import triton_helpers as inductor

from tests.kernels.driver_runs import INF, NAN, run
from tests.kernels.errors import error_of
from tridiff.kernels.drivers.sort_rows import sort_all_zero_one_rows, sort_rows, zero_one_rows
from tridiff.kernels.helpers.mutants_sorting import MUTANTS
from tridiff.kernels.helpers.sorting import sort_with_index

INDEX = {tl.int16: torch.int16, tl.int32: torch.int32, tl.int64: torch.int64}
KEY_DTYPES = (
    torch.bool, torch.int8, torch.uint8, torch.int16, torch.uint16, torch.int32, torch.uint32, torch.int64,
    torch.uint64, torch.float16, torch.bfloat16, torch.float32, torch.float64)
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def sort(
    keys: Tensor, *, helper: Any = sort_with_index, stable: bool = False, descending: bool = False,
    index: Any = tl.int32, rnumel: int | None = None, padding: float = 0,
) -> tuple[Tensor, Tensor]:
    """Sorts the rows of keys; the block is the next power of two, validity is passed if that is larger or rnumel is."""
    cols = keys.shape[1]
    block = 1 << (cols - 1).bit_length()
    is_bool = keys.dtype == torch.bool
    stored = keys.view(torch.int8) if is_bool else keys
    out = torch.full_like(stored, 77)
    order = torch.full(keys.shape, -1, dtype=INDEX[index])
    run(
        sort_rows, {"a": stored}, {"out": out, "out_index": order}, rnumel=cols if rnumel is None else rnumel,
        HELPER=helper, INDEX_DTYPE=index, STABLE=stable, DESCENDING=descending, BOOL=is_bool,
        VALIDITY=block != cols or rnumel is not None, PADDING=padding, ROW_BLOCK=4, COL_BLOCK=block)
    return (out.view(torch.bool) if is_bool else out), order


def bits(x: Tensor) -> Tensor:
    """The bit patterns of x."""
    return x.contiguous().view(BITS[x.element_size()])


def draw(generator: torch.Generator, shape: tuple[int, int], dtype: torch.dtype) -> Tensor:
    """Keys with many ties; NaNs of several payloads, both zeros and infinities among the floats."""
    whole = torch.randint(-3, 4, shape, generator=generator)
    if dtype.is_floating_point:
        special = tensor([NAN, NAN, -NAN, INF, -INF, 0.0, -0.0, 0.25], dtype=dtype)
        bits(special)[0] += 3  # another NaN
        pick = torch.randint(0, 20, shape, generator=generator)
        return torch.where(pick < 8, special[pick.clamp(max=7)], whole.to(dtype))
    if dtype == torch.bool:
        return whole > 0
    if not dtype.is_signed:
        return bits(whole.to(torch.int64) * 2 + 1).to(BITS[dtype.itemsize]).view(dtype)  # wraps: values above 2^(w-1)
    extremes = tensor([torch.iinfo(dtype).min, torch.iinfo(dtype).max], dtype=dtype)
    pick = torch.randint(0, 8, shape, generator=generator)
    return torch.where(pick < 2, extremes[pick.clamp(max=1)], whole.to(dtype))


def reference_order(keys: Tensor, descending: bool) -> Tensor:
    """The stable order by numpy alone: rank every key, then a stable argsort of the ranks."""
    if keys.dtype == torch.bfloat16:
        keys = keys.float()
    array = keys.numpy()
    rank = np.unique(array, return_inverse=True, equal_nan=True)[1].reshape(array.shape)  # NaN is the largest
    return torch.from_numpy(np.argsort(-rank if descending else rank, axis=1, kind="stable"))


def directions(number: int, *, both: bool) -> tuple[bool, ...]:
    """Descending or not, which take turns unless both are wanted."""
    return (False, True) if both else (number % 2 == 1,)


def check_stable_sort_equals_numpy_and_torch_bit_for_bit():
    stable_sorts(both=False)


def stable_sorts(*, both: bool) -> None:
    """Types take turns with two sets of lengths, each of which has powers of two and others."""
    generator = torch.Generator().manual_seed(5)
    for number, dtype in enumerate(KEY_DTYPES):
        for place, length in enumerate(((3, 4, 1, 32), (2, 5, 8, 13))[number % 2]):
            keys = draw(generator, (6, length), dtype)
            for descending in directions(number // 2 + place, both=both):
                order = reference_order(keys, descending)
                if dtype not in (torch.uint16, torch.uint32, torch.uint64):  # torch does not sort these
                    assert torch.equal(torch.sort(keys, dim=1, stable=True, descending=descending).indices, order)
                got, got_order = sort(keys, stable=True, descending=descending)
                assert torch.equal(got_order.long(), order), (dtype, length, descending)
                assert torch.equal(bits(got), bits(keys).gather(1, order)), (dtype, length, descending)


def check_unstable_sort_is_a_permutation_in_order():
    unstable_sorts(both=False)


def unstable_sorts(*, both: bool) -> None:
    generator = torch.Generator().manual_seed(6)
    for number, dtype in enumerate(KEY_DTYPES):
        for place, length in enumerate(((2, 64), (7, 16))[number % 2]):
            keys = draw(generator, (5, length), dtype)
            for descending in directions(number // 2 + place, both=both):
                got, order = sort(keys, descending=descending)
                assert torch.equal(order.long().sort(dim=1).values, torch.arange(length).expand(5, length))
                assert torch.equal(bits(got), bits(keys).gather(1, order.long())), (dtype, length)
                expected = bits(keys).gather(1, reference_order(keys, descending)).view(dtype)
                as_number = torch.float64 if dtype.is_floating_point else torch.int64
                both_nan = (got != got) & (expected != expected)
                assert ((got.to(as_number) == expected.to(as_number)) | both_nan).all(), (dtype, length, descending)


def check_index_dtype_is_kept():
    keys = draw(torch.Generator().manual_seed(7), (4, 32), torch.float32)
    for index, dtype in INDEX.items():
        _, order = sort(keys, stable=True, index=index)
        assert order.dtype == dtype
        assert torch.equal(order.long(), torch.sort(keys, dim=1, stable=True).indices)


def check_long_rows():
    long_rows(100, 256)


def long_rows(*lengths: int) -> None:
    generator = torch.Generator().manual_seed(8)
    for length in lengths:
        organ_pipe = torch.cat([torch.arange(length // 2), torch.arange(length - length // 2).flip(0)])
        rows = torch.stack([organ_pipe, torch.arange(length), torch.arange(length).flip(0), torch.zeros(length).long(),
                            torch.randint(0, 9, (length,), generator=generator)])
        for descending in (False, True):
            _, order = sort(rows, stable=True, descending=descending)
            assert torch.equal(order.long(), torch.sort(rows, dim=1, stable=True, descending=descending).indices)


def check_padding_stands_behind_all_valid_elements_whatever_its_value():
    padded_rows(both=False)


def padded_rows(*, both: bool) -> None:
    generator = torch.Generator().manual_seed(9)
    for number, padding in enumerate((NAN, INF, -INF, 0.0)):
        for place, length in enumerate((3, 5, 9, 31)):
            keys = draw(generator, (5, length), torch.float32)
            for descending in directions(number + place, both=both):
                _, order = sort(keys, stable=True, descending=descending, padding=padding)
                assert torch.equal(order.long(), reference_order(keys, descending)), (padding, length, descending)
    keys = tensor([[5, NAN, 3, -INF, 4, 9, 0, 1]])
    for rnumel in range(9):
        for descending in (False, True):
            _, order = sort(keys, stable=True, descending=descending, rnumel=rnumel)
            valid, rest = reference_order(keys[:, :rnumel], descending), reference_order(keys[:, rnumel:], descending)
            assert order[0].tolist() == valid[0].tolist() + (rest[0] + rnumel).tolist(), (rnumel, descending)


def check_the_network_sorts_every_row_of_zeros_and_ones():
    sorts_zeros_and_ones(*range(1, 9))
    report = sort_all_zero_one_rows(length=16, helper=sort_with_index, descending=True, stable=True)
    assert (report.rows, report.wrong_rows) == (2**16, 0), report


def sorts_zeros_and_ones(*lengths: int) -> None:
    for length in lengths:
        for descending in (False, True):
            for stable in (False, True):
                report = sort_all_zero_one_rows(
                    length=length, helper=sort_with_index, descending=descending, stable=stable)
                assert report.rows == 2**length
                assert report.wrong_rows == 0, report


def check_zero_one_rows_are_all_rows():
    assert zero_one_rows(2).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert len({tuple(row) for row in zero_one_rows(10).tolist()}) == 1024
    for length in (0, 17):
        assert "1 to 16" in error_of(lambda length=length: zero_one_rows(length))


def check_the_zero_one_proof_rejects_broken_networks():
    mutants = MUTANTS["sort_with_index"]
    for name in ("runs_not_alternating", "last_layer_missing"):
        for descending in (False, True):
            report = sort_all_zero_one_rows(length=8, helper=mutants[name], descending=descending)
            assert 0 < report.wrong_rows < 256 and report.examples, (name, report)
    assert sort_all_zero_one_rows(length=4, helper=mutants["index_stays"]).wrong_rows > 0
    assert sort_all_zero_one_rows(length=4, helper=mutants["ties_left_alone"], stable=True).wrong_rows > 0
    assert sort_all_zero_one_rows(length=3, helper=mutants["padding_valid"]).wrong_rows > 0
    # What zeros and ones cannot show, and are not expected to.
    assert sort_all_zero_one_rows(length=8, helper=mutants["nan_first"]).wrong_rows == 0


ROWS: dict[str, tuple[Tensor, dict[str, Any], list[int]]] = {
    "nan_first": (tensor([[NAN, 1]]), {}, [1, 0]), "nan_unordered": (tensor([[NAN, 1]]), {}, [1, 0]),
    "nan_last_when_descending": (tensor([[1, NAN]]), {"descending": True}, [1, 0]),
    "ties_left_alone": (tensor([[0, 0, 0, 0]]), {"stable": True}, [0, 1, 2, 3]),
    "ties_reversed": (tensor([[0, 0]]), {"stable": True}, [0, 1]),
    "ties_reversed_when_descending": (tensor([[0, 0]]), {"stable": True, "descending": True}, [0, 1]),
    "padding_valid": (tensor([[1, 2, 3]]), {}, [0, 1, 2]),
    "padding_first_when_descending": (tensor([[1, 2, 3]]), {"descending": True}, [2, 1, 0]),
    "index_stays": (tensor([[2, 1]]), {}, [1, 0]), "last_layer_missing": (tensor([[2, 1]]), {}, [1, 0]),
    "keys_rounded_to_fp32": (tensor([[2**24 + 1, 2**24]], dtype=torch.int32), {}, [1, 0])}


def check_every_mutant_differs_where_its_docstring_says():
    mutants = MUTANTS["sort_with_index"]
    assert {*ROWS, "runs_not_alternating"} == set(mutants)
    for name, (row, options, expected) in ROWS.items():
        _, order = sort(row, **options)
        assert order[0].tolist() == expected, name
        _, wrong_order = sort(row, helper=mutants[name], **options)
        assert wrong_order[0].tolist() != expected, name
    ties = tensor([[1, 0, 0, 1]])
    assert sort(ties)[0].tolist() == [[0, 0, 1, 1]]
    assert sort(ties, helper=mutants["runs_not_alternating"])[0].tolist() == [[0, 1, 0, 1]]
    both = tensor([[0, 0]])
    assert sort(both, stable=True, helper=mutants["ties_reversed_when_descending"])[1].tolist() == [[0, 1]]


def check_inductor_runs_through_the_same_driver():
    keys = draw(torch.Generator().manual_seed(10), (6, 13), torch.float32)
    for descending in (False, True):
        own = sort(keys, stable=True, descending=descending)
        theirs = sort(keys, stable=True, descending=descending, helper=inductor.sort_with_index)
        assert torch.equal(bits(own[0]), bits(theirs[0])) and torch.equal(own[1], theirs[1])
