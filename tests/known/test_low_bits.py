"""The low bits of a computed float, and products of two reads of one address: what their known issues predict."""

import numpy as np
import pytest
import torch

from tests.support.cases import calling
from tridiff.fuzz.known.issue import Wrong
from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.known.predictions.conversions import low_bits_of_its_integer
from tridiff.fuzz.known.predictions.rereads import not_negative
from tridiff.fuzz.known.rehearse import rehearse
from tridiff.fuzz.records import Content, Iota
from tridiff.kernels.language.call import Call, Operand

CONTENT = Content(base=Iota())


def made(call: Call, **arrays: torch.Tensor) -> Wrong:
    """One program whose output is what `out0` says, where `right` is due."""
    right, actual = arrays.pop("right"), arrays.pop("out0")
    given = {f"x{number}": CONTENT for number in range(len(call.operands))}
    return Wrong(case=calling(call, given), inputs=arrays, expected={"out0": right}, actual={"out0": actual},
                 wrong={"out0": actual != right}, poison={"out0": 0})


@pytest.mark.parametrize("way, stored, numbers, as_integers", [
    ("noinline", np.int32, [1.0, -3.0, 2.5], [2 ^ 1, 0 ^ 1, 5 ^ 1]),
    ("plain", np.uint8, [1.0, 200.0, -1.0], [2, 255, 0]), ("plain", np.int8, [100.0, 0.25], [200 - 256, 0])])
def test_the_integer_in_place_of_the_bits_is_predicted_and_nothing_else(
        way: str, stored: type, numbers: list[float], as_integers: list[int]):
    dtype = {np.int32: "i32", np.uint8: "u8", np.int8: "i8"}[stored]
    shape = () if way == "noinline" else (1,)
    kind = Operand(kind="scalar" if way == "noinline" else "block", dtype="fp64", shape=shape)
    call = Call(row="tl.cast.low", operands=(kind, kind), options={"way": way}, stored=(dtype,))
    x = torch.tensor(numbers, dtype=torch.float64).reshape(-1, *shape)
    right = (x + x).numpy().view(np.int64).astype(stored)
    actual = torch.from_numpy(np.array(as_integers).astype(stored)).reshape(x.shape)
    seen = made(call, x0=x, x1=x, out0=actual, right=torch.from_numpy(right).reshape(x.shape))
    assert low_bits_of_its_integer(seen)["out0"].all()
    other = made(call, x0=x, x1=x, out0=actual + 5, right=torch.from_numpy(right).reshape(x.shape))
    assert not low_bits_of_its_integer(other)["out0"].any()
    assert [one.name for one in issues_of(seen.case, "own")] == ["stored-half-of-a-double-is-converted"]


def test_of_a_product_only_sign_and_absolute_value_are_predicted():
    block = Operand(dtype="fp32", shape=(2,))

    def call(form: int, stored: str) -> Call:
        return Call(row="memory.reread", operands=(block, block), options={"form": form}, stored=(stored,))

    x, y = torch.tensor([[1.0, 2.0]]), torch.tensor([[-1.0, 3.0]])
    less = made(call(0, "i1"), x0=x, x1=y, out0=torch.tensor([[False, False]]), right=torch.tensor([[True, False]]))
    assert not_negative(less)["out0"].tolist() == [[True, False]]
    more = made(call(0, "i1"), x0=x, x1=y, out0=torch.tensor([[True, True]]), right=torch.tensor([[True, False]]))
    assert not not_negative(more)["out0"].any(), "of a positive product nothing wrong is predicted"
    nan = torch.tensor([[float("nan"), 2.0]])
    for form, predicted in ((0, False), (1, True)):
        seen = made(call(form, "i1"), x0=nan, x1=y, out0=torch.tensor([[True, form == 1]]),
                    right=torch.tensor([[False, form == 1]]))
        assert not_negative(seen)["out0"].tolist() == [[predicted, False]], "a square is at least 0, NaN is not"
    of_abs = made(call(2, "fp32"), x0=x, x1=y, out0=torch.tensor([[-1.0, 7.0]]), right=torch.tensor([[1.0, 6.0]]))
    assert not_negative(of_abs)["out0"].tolist() == [[True, False]]
    product = made(call(7, "fp32"), x0=x, x1=y, out0=torch.tensor([[1.0, 6.0]]), right=torch.tensor([[-1.0, 6.0]]))
    assert not_negative(product) == {}
    squares = [any(one.name == "product-of-two-reads-is-a-square" for one in issues_of(seen.case, "own"))
               for seen in (less, of_abs, product)]
    assert squares == [True, True, False]


def test_of_two_zeros_the_larger_is_either_and_their_product_has_a_sign():
    block = Operand(dtype="fp32", shape=(2,))
    for form, wrong in ((6, False), (7, True)):
        call = Call(row="memory.reread", operands=(block, block), options={"form": form}, stored=("fp32",))
        case = calling(call, {"x0": ("0.0", "-0.0"), "x1": ("-0.0", "0.0")})
        for zero in (0.0, -0.0):
            judged, _ = rehearse(case).judged({"out0": torch.full((1, 2), zero)})
            assert judged.verdict.failed == (wrong and str(zero) == "0.0"), (form, zero)
