"""What a clear refusal is; wrong kernels get one from the compiler, unless that they do not is known, and their legal
relatives are taken."""

import ast
from collections.abc import Iterator

import pytest

from tridiff.fuzz.known.issues import issues_of
from tridiff.fuzz.records import Case, Verdict, decode, encode
from tridiff.fuzz.registry import find
from tridiff.fuzz.statements.refused import REFUSED
from tridiff.fuzz.statements.refusing import case_of, refusal_of, unclear
from tridiff.fuzz.versions import before
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.refusal import Refusal

each = pytest.mark.parametrize
TARGET = "language.refusals"


@pytest.fixture(scope="module")
def compiler() -> Iterator[Pool]:
    with Pool(PoolOptions(backend="compile:sm_90", spare=False)) as made:
        yield made


@each("row", [*tuple(REFUSED)[::5], "index_tensor", "argmax_of_scalar", "exchange_by_scalars",
                                 "pointer_from_narrow", "pointer_to_pointers", "rounded_quotient_by_integer",
                                 "rounded_quotient_by_half", "dot_to_bfloat", "reduction_of_number", "scan_of_scalar",
                                 "number_for_tensor_field"])
@each("mended", [False, True])
def test_wrong_kernels_are_refused_and_right_ones_taken(row: str, mended: bool, compiler: Pool):
    case = case_of(TARGET, Refusal(row=row, mended=mended), 0)
    outcome = compiler.execute(case, "own")
    if before(compiler.environment.triton, since := REFUSED[row].since):
        assert (outcome.verdict, outcome.reason) == (Verdict.NOT_CHECKED, f"{row} is about Triton {since} and later")
        return
    known = outcome.signature and any(one.tells(outcome.signature) for one in issues_of(case, "own"))
    assert outcome.verdict is Verdict.AGREE or known, outcome.reason


def test_a_gate_plays_every_wrong_kernel_once():
    once = list(find(TARGET).draw.once(5))
    assert sorted(refusal_of(case).row for case in once) == sorted(REFUSED)
    assert not any(refusal_of(case).mended for case in once)
    assert [case.digest for case in once] != [case.digest for case in find(TARGET).draw.once(6)], "the seed orders them"


def test_a_worker_can_read_every_wrong_kernel():
    for case in find(TARGET).draw.once(5):
        assert decode(encode(case), Case) == case


@each("row", ["index_slice", "range_not_power", "rounded_quotient_by_integer"])
def test_a_front_end_that_takes_everything_is_found_out(row: str, compiler: Pool):
    outcome = compiler.execute(case_of(TARGET, Refusal(row=row), 0), "own+fault:nothing_refused")
    assert outcome.signature is not None and outcome.signature.kind == "accepted"


class Placed(Exception):
    """An error that shows a line, as the compiler's do."""

    def __init__(self, text: str) -> None:
        self.src, self.node, self.error_message = "source", ast.parse("x = 1").body[0], text
        super().__init__(text)


def raised(cause: Exception | None, text: str, *, placed: bool = True) -> Exception:
    try:
        try:
            if cause is None:
                _ = [][1]
            else:
                raise cause
        except Exception as error:
            raise (Placed(text) if placed else RuntimeError(text)) from error
    except Exception as error:
        return error


def test_a_clear_refusal_shows_the_line_and_the_reason():
    assert unclear(raised(ValueError("axis 3 is too large"), "axis 3 is too large"), "axis") == ""
    assert unclear(raised(ValueError("axis"), "axis", placed=False), "axis").startswith("no line named: ValueError")
    assert unclear(raised(None, "list index out of range"), "axis").startswith("unclear: IndexError")
    assert unclear(raised(ValueError("no such type"), "no such type"), "axis").startswith("another reason: ValueError")
