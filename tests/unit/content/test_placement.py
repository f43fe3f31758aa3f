"""Arrays in memory: strides, guards, poison, and what a stray write leaves."""

import itertools

import pytest
import torch
from hypothesis import given, settings, strategies as st

from tridiff.fuzz.content.place import GUARD, Buffer, place
from tridiff.fuzz.content.poison import poison_pattern
from tridiff.fuzz.records import ArraySpec, Bits, Constant, Content, Iota, Layout, Put
from tridiff.fuzz.strategies import strided_layouts
from tridiff.oracles.dtypes import NAMES, dtype as dtype_info

each = pytest.mark.parametrize
CPU = torch.device("cpu")
PLAIN = Layout()
SIZES = {"rows": 3, "cols": 5}


RAMP = Content(base=Iota(start=100, step=1, per_row=10))


def array(layout: Layout = PLAIN, *, dtype: str = "i32", content: Content | None = RAMP) -> ArraySpec:
    return ArraySpec(name="x", dtype=dtype, dims=("rows", "cols"), content=content, layout=layout)


def put(layout: Layout = PLAIN, *, dtype: str = "i32", output: bool = False) -> Buffer:
    return place(array(layout, dtype=dtype, content=None if output else RAMP), SIZES, device=CPU)


@each("layout, strides, span", [
    (Layout(), (5, 1), 15), (Layout(order=(1, 0)), (1, 3), 15), (Layout(gap=2), (7, 1), 19),
    (Layout(step=3), (15, 3), 43), (Layout(step=2, gap=1), (11, 2), 31), (Layout(order=(1, 0), gap=4), (1, 7), 31),
    (Layout(broadcast=("rows",)), (0, 1), 5), (Layout(broadcast=("cols",)), (1, 0), 3),
    (Layout(broadcast=("rows", "cols")), (0, 0), 1), (Layout(offset=7), (5, 1), 15),
])
def test_strides_and_extent(layout: Layout, strides: tuple[int, ...], span: int):
    spec = array(layout)
    assert spec.strides(SIZES) == strides
    assert spec.span(SIZES) == span
    buffer = put(layout)
    assert buffer.storage.numel() == 2 * GUARD + layout.offset + span


@settings(max_examples=150)
@given(layout=strided_layouts(dims=("rows", "cols")), dtype=st.sampled_from(NAMES))
def test_the_pointer_and_the_strides_reach_every_element(layout: Layout, dtype: str):
    spec = array(layout, dtype=dtype, content=Content(base=Bits(seed=1)))
    buffer = place(spec, SIZES, device=CPU)
    strides = spec.strides(SIZES)
    assert buffer.values.shape == (3, 5)
    raw = buffer.pointer.view(torch.uint8) if buffer.pointer.element_size() == 1 else buffer.pointer
    expected = buffer.values.view(torch.uint8) if buffer.values.element_size() == 1 else buffer.values
    integers = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[raw.element_size()]
    for r, c in itertools.product(range(3), range(5)):
        reached = raw.view(integers)[r * strides[0] + c * strides[1]]
        assert reached == expected.view(integers)[r, c]


@settings(max_examples=100)
@given(layout=strided_layouts(dims=("rows", "cols")), output=st.booleans(), dtype=st.sampled_from(NAMES))
def test_an_untouched_array_is_clean(layout: Layout, output: bool, dtype: str):
    if output:
        layout = Layout(order=layout.order, step=layout.step, gap=layout.gap, offset=layout.offset)
    buffer = put(layout, dtype=dtype, output=output)
    assert (buffer.trespass(), buffer.overwritten()) == (0, 0)


@settings(max_examples=150)
@given(layout=strided_layouts(dims=("rows", "cols"), output=True), data=st.data())
def test_a_stray_write_anywhere_is_seen_and_an_own_write_never(layout: Layout, data: st.DataObject):
    buffer = put(layout, output=True)
    index = data.draw(st.integers(0, buffer.storage.numel() - 1))
    strides = buffer.strides
    own = {GUARD + layout.offset + r * strides[0] + c * strides[1] for r in range(3) for c in range(5)}
    buffer.storage[index] = 12345
    assert buffer.trespass() == (index not in own)


@each("layout", [Layout(), Layout(gap=3), Layout(step=2), Layout(order=(1, 0)),
                                    Layout(broadcast=("rows",)), Layout(offset=1)])
@each("dtype", ["i32", "fp32", "fp8e5", "i1", "u64"])
def test_a_changed_input_is_seen(layout: Layout, dtype: str):
    content = Content(base=Constant(value="1"), overrides=(Put(value="0", column=4),))
    buffer = place(array(layout, dtype=dtype, content=content), SIZES, device=CPU)
    assert buffer.overwritten() == 0
    buffer.logical[2, 4] ^= 1
    # A write to an element of stride 0 shows in every row that shares it.
    assert buffer.overwritten() == (3 if layout.broadcast else 1)
    assert buffer.trespass() == 0


@each("offset", [0, 1, 16])
@each("side", [-1, +1])
def test_one_element_outside_is_seen(offset: int, side: int):
    buffer = put(Layout(offset=offset), output=True)
    inside = buffer.storage[GUARD + offset:]
    inside[15 if side > 0 else 0] = 1
    if side < 0:
        buffer.storage[GUARD + offset - 1] = 1
        inside[0] = buffer.poison
    assert buffer.trespass() == 1


def test_writing_poison_outside_is_the_known_blind_spot_of_one_launch():
    buffer = put(output=True)
    buffer.storage[0] = buffer.poison
    assert buffer.trespass() == 0
    # A second launch over the other pattern does see it.
    again = buffer.refill(second=True)
    again.storage[0] = buffer.poison
    assert again.trespass() == 1


@each("dtype", NAMES)
def test_outputs_start_as_poison_that_differs_between_launches(dtype: str):
    first = put(dtype=dtype, output=True)
    second = first.refill(second=True)
    assert bool((first.logical == first.poison).all()) and bool((second.logical == second.poison).all())
    assert first.poison != second.poison
    if dtype_info(dtype).kind == "float" and dtype_info(dtype).bits >= 16:
        assert bool(first.typed().isnan().all()), "poison of floats must spread through arithmetic"


def test_poison_patterns_are_fixed():
    names = ("fp32", "bf16", "i32", "u8")
    assert {name: (hex(poison_pattern(name)), hex(poison_pattern(name, second=True))) for name in names} == {
        "fp32": ("0x7fc00015", "0x7fc0002b"), "bf16": ("0x7fd5", "0x7feb"), "i32": ("0xabababab", "0x54545454"),
        "u8": ("0xab", "0x54")}


def test_refill_leaves_inputs_alone():
    buffer = put()
    assert buffer.refill() is buffer


@each("sizes", [{"rows": 0, "cols": 5}, {"rows": 3, "cols": 0}, {"rows": 0, "cols": 0}])
@each("layout", [Layout(), Layout(order=(1, 0), gap=3, offset=1), Layout(broadcast=("rows",))])
def test_empty_arrays_have_guards_and_nothing_else(sizes: dict[str, int], layout: Layout):
    buffer = place(array(layout), sizes, device=CPU)
    assert buffer.storage.numel() == 2 * GUARD + layout.offset
    assert (buffer.trespass(), buffer.overwritten()) == (0, 0)
    buffer.storage[GUARD + layout.offset] = 5
    assert buffer.trespass() == 1


def test_booleans_are_bytes_and_any_byte_but_zero_is_true():
    buffer = put(dtype="i1")
    assert buffer.pointer.dtype == torch.int8
    assert set(buffer.logical.flatten().tolist()) == {0, 1}
    buffer.logical.fill_(4)
    assert bool(buffer.typed().all())
