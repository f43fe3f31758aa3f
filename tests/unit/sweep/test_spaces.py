"""What a sweep enumerates, and what may be asked for."""

import numpy as np
import pytest

from tests.support.refusals import refused
from tridiff.fuzz.sweep.choose import Choice, choose
from tridiff.fuzz.sweep.records import SweepOptions, SweepSpec
from tridiff.fuzz.sweep.space import HOST_BITS, STRATIFIED_BITS, deck, space_of
from tridiff.oracles.special_values import special_bits

each = pytest.mark.parametrize


def spec(op: str, *dtypes: str, bits: int = 32) -> SweepSpec:
    return SweepSpec(op=op, dtypes=dtypes, bits=bits)


def test_an_index_is_the_operands_patterns_one_after_the_other():
    space = space_of(spec("where", "i1", "i8", "i8"), "i8")
    assert space.complete and space.size == 1 << 17 and space.shifts == (16, 8, 0)
    first, second, third = space.patterns(np.array([0x1_7F_80, 0x0_01_02]))
    assert first.tolist() == [1, 0] and second.tolist() == [0x7F, 1] and third.tolist() == [0x80, 2]


def test_every_input_of_a_complete_space_comes_once():
    space = space_of(spec("add", "i8", "u8"), "i8")
    a, b = space.patterns(np.arange(space.size))
    assert len(set(zip(a.tolist(), b.tolist(), strict=True))) == 1 << 16


@each("op, dtypes, result, complete, on_host, bits", [
    ("exp", ("fp32",), "fp32", True, False, 32), ("add", ("i16", "i16"), "i16", True, False, 32),
    ("add", ("fp32", "fp32"), "fp32", False, False, STRATIFIED_BITS),
    ("exp", ("fp64",), "fp64", False, True, HOST_BITS), ("to_fp64", ("fp32",), "fp64", True, False, 32),
    ("where", ("i1", "fp64", "fp64"), "fp64", False, True, HOST_BITS)])
def test_spaces_are_complete_up_to_the_limit(
        op: str, dtypes: tuple[str, ...], result: str, complete: bool, on_host: bool, bits: int):
    space = space_of(spec(op, *dtypes), result)
    assert (space.complete, space.on_host) == (complete, on_host)
    assert bits - len(dtypes) < space.bits <= bits


@each("name, bits", [("fp64", 16), ("i32", 8), ("fp16", 4), ("u64", 12), ("bf16", 15)])
def test_a_deck_is_sorted_distinct_and_reproducible(name: str, bits: int):
    listed = deck(name, bits)
    assert len(listed) == 1 << bits and (np.diff(listed.astype(object)) > 0).all()
    deck.cache_clear()
    assert (deck(name, bits) == listed).all()
    if bits >= 8:
        assert set(special_bits(name)) <= set(listed.tolist())


def test_choices():
    unary = choose(Choice(dtypes=("fp16", "fp32"), arity=1))
    assert {one.dtypes for one in unary} == {("fp16",), ("fp32",)}
    assert {"exp", "exp_tl", "to_fp8e5", "bitcast_i16"} <= {one.op for one in unary}
    assert [one.op for one in choose(Choice(ops=("div_floor_integer",), dtypes=("i8",)))] == ["floor_divide"]
    # Pairs of 32-bit operands are not enumerated unless strata are asked for.
    with refused("--stratified"):
        choose(Choice(ops=("add",), dtypes=("fp32",)))
    assert len(choose(Choice(ops=("add",), dtypes=("fp32",), stratified=True))) == 1
    with refused("no operation matches 'expp'"):
        choose(Choice(ops=("expp",)))
    with refused("unknown dtype 'float32'"):
        choose(Choice(dtypes=("float32",)))


def test_keys_tell_specs_apart():
    plain = spec("exp", "fp16")
    others = [spec("exp", "fp16", bits=16), SweepSpec(op="exp", dtypes=("fp16",), planted=0),
              SweepSpec(op="exp", dtypes=("fp16",), options=SweepOptions(flush=False)), spec("exp", "bf16")]
    assert plain.key == "exp-fp16" and len({plain.key, *(one.key for one in others)}) == 5
