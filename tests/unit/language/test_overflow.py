"""Arithmetic that is checked for overflow: when an assertion is due, that one comes then and only then, and that faults
in the kernel, in Triton's front end and in the compiled code are seen."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec.structs import replace

from tests.support.builds import edited
from tests.support.cases import calling
from tests.support.draws import draws
from tests.support.in_subprocess import Checks
from tridiff.fuzz.known.attribute import Attribution
from tridiff.fuzz.language import cases
from tridiff.fuzz.language.boundaries import boundary_cases
from tridiff.fuzz.language.checked import asserting, due
from tridiff.fuzz.records import Case, Explicit, LaunchOptions, Verdict
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.kernels.language.call import Call, Operand
from tridiff.oracles.dtypes import INTEGERS, dtype, torch_dtype

each = pytest.mark.parametrize
LIMITS = Limits(elements=1 << 8, rows=8, variants=False)
CHECKED = LaunchOptions(debug=True, sanitize_overflow=True)
UNCHECKED = LaunchOptions(debug=True, sanitize_overflow=False)
TARGET = "language.overflow"
INTERPRETED = Checks(Path(__file__).with_name("checks_overflow.py"))
COMPILED = Checks(Path(__file__).with_name("checks_overflow_compiled.py"), interpret=False)



def drawn(number: int, seed: int = 4) -> list[Case]:
    return draws(boundary_cases(target=TARGET, limits=LIMITS), number, seed=seed)


def case_of(row: str, *operands: tuple[str, Any], options: LaunchOptions = CHECKED, stored: str = "",
            **said: Any) -> Case:
    """A call on one program; operands: type and value of a scalar, values of a block, or the text of a literal."""
    made, given = [], {}
    for number, (name, value) in enumerate(operands):
        if isinstance(value, str):
            made.append(Operand(kind="number", dtype="i32", number=value))
            continue
        values = value if isinstance(value, list) else [value]
        made.append(Operand(kind="block" if isinstance(value, list) else "scalar", dtype=name,
                            shape=(len(values),) if isinstance(value, list) else ()))
        given[f"x{number}"] = tuple(map(str, values))
    call = Call(row=f"overflow.{row}", operands=tuple(made), options=said, stored=(stored or operands[0][0],))
    return calling(call, given, options=options)


def is_due(case: Case) -> bool | None:
    arrays = []
    for spec in case.arrays:
        if spec.content is not None:
            assert isinstance(spec.content.base, Explicit)
            values = torch.tensor([int(one) for one in spec.content.base.values], dtype=torch_dtype(spec.dtype))
            arrays.append(values.reshape([case.sizes[one] for one in spec.dims]))
    return due(case, *arrays)


PLAIN: dict[str, Any] = {"way": "plain"}


@each("case, answer", [
    (case_of("add", ("i8", 127), ("i8", 1), **PLAIN), True), (case_of("add", ("i8", 126), ("i8", 1), **PLAIN), False),
    (case_of("sub", ("i16", -(2**15)), ("i16", 1), **PLAIN), True),
    (case_of("sub", ("u32", 3), ("u32", 4), **PLAIN), True), (case_of("sub", ("u32", 4), ("u32", 4), **PLAIN), False),
    (case_of("mul", ("u32", 2**32 - 1), ("u32", 2**32 - 1), **PLAIN), True),
    (case_of("mul", ("u32", 2**16), ("u32", 2**16 - 1), **PLAIN), False),
    (case_of("add", ("i64", 2**63 - 1), ("i64", 1), **PLAIN), False),
    (case_of("add", ("i8", [1, 127, 1]), ("i8", [1, 1, 1]), **PLAIN), True),
    (case_of("add", ("u32", 0), ("i32", -1), stored="u32", **PLAIN), False),
    (case_of("add", ("u32", 1), ("i32", -1), stored="u32", **PLAIN), True),
    (case_of("add", ("i8", 127), ("i16", 1), stored="i16", **PLAIN), False),
    (case_of("add", ("i8", 127), ("i8", 1), way="unchecked"), False),
    (case_of("add", ("i8", 127), ("i8", 1), way="branch"), True),
    (case_of("sub", ("i8", -128), ("i8", -1), way="branch"), False),
    (case_of("add", ("i8", 100), ("i8", 10), way="repeated"), True),
    (case_of("add", ("i8", 97), ("i8", 10), way="repeated"), False),
    (case_of("add", ("i8", 127), ("i8", 1), options=UNCHECKED, **PLAIN), False),
    (case_of("add", ("i8", 127), ("i8", 1), options=LaunchOptions(sanitize_overflow=True), **PLAIN), False),
    (case_of("neg", ("i32", -(2**31))), True), (case_of("neg", ("u8", 1)), True), (case_of("neg", ("u8", 0)), False),
    (case_of("cdiv", ("i32", 2**31 - 1), ("i32", 2)), True), (case_of("cdiv", ("i32", 2**31 - 2), ("i32", 2)), False),
    (case_of("cdiv", ("u32", 0), ("u32", 0)), True), (case_of("cdiv", ("i32", -(2**31)), ("", "7")), False),
    (case_of("pointer", ("i32", 2**31 - 1), way="sum", stored="i64"), False),
    (case_of("pointer", ("i32", -(2**31)), way="difference", stored="i64"), True),
    (case_of("index", ("i32", 2**30), ("i32", 0), length=2), False),
    (case_of("index", ("i32", 2**30), ("i32", 0), length=4), True),
    (case_of("fold", ("i32", [2**31 - 1, 1]), by="sum", axis=0), True),
    (case_of("fold", ("i32", [2**31 - 1, 0]), by="sum", axis=0), False),
    (case_of("fold", ("i32", [2**31 - 1, 1, -1, 0]), by="sum", axis=0), None),
    (case_of("fold", ("i8", [-2, 64]), by="_product", axis=0), False),
    (case_of("fold", ("i8", [2, 64]), by="_product", axis=0), True),
    (case_of("scan", ("i8", [100, 27, 1]), by="_add", axis=0), True),
    (case_of("scan", ("u8", [255, 0]), by="_add", axis=0), False),
    (case_of("nothing", ("i32", -(2**31)), op="abs"), False),
])
def test_an_assertion_is_due_where_an_exact_result_leaves_its_type(case: Case, answer: bool | None):
    assert cases.valid(case)
    assert is_due(case) is answer


def test_code_must_assert_where_an_input_exists_for_it():
    assert asserting(case_of("add", ("i8", 0), ("i8", 0), **PLAIN)) is True
    assert asserting(case_of("add", ("i8", 0), ("", "0"), **PLAIN)) is None
    assert asserting(case_of("add", ("i64", 0), ("i64", 0), **PLAIN)) is False
    assert asserting(case_of("nothing", ("i32", 0), op="abs")) is False
    assert asserting(case_of("add", ("i8", 0), ("i8", 0), options=UNCHECKED, **PLAIN)) is False


def test_draws_reach_the_ends_of_every_type_and_leave_them_half_of_the_time():
    found = drawn(250)
    answers = Counter(is_due(one) for one in found if one.options.debug and one.options.sanitize_overflow)
    assert min(answers[True], answers[False]) > 30 and answers[None] == 0
    seen = Counter((spec.dtype, text) for one in found for spec in one.arrays if spec.content is not None
                   for text in getattr(spec.content.base, "values", ()))
    assert all(seen[name, str(int(end))] for name in INTEGERS for end in (dtype(name).min, dtype(name).max))


@each("name", INTERPRETED.names)
def test_in_the_interpreter(name: str):
    INTERPRETED.require(name)


def test_a_fault_in_a_copy_of_triton_is_caught(tmp_path: Path):
    faulty = edited(tmp_path, {"language/semantic.py": (
        "self.binary_op_sanitize_overflow_impl(input, other, self.mul)", "pass")})
    products = [case_of("mul", ("i8", 64), ("i8", factor), **PLAIN) for factor in (1, 2)]
    with Pool(PoolOptions(backend="interpreter", spare=False, build=str(faulty))) as broken:
        kept, lost = (broken.execute(one, "own") for one in products)
    assert kept.verdict is Verdict.AGREE
    assert lost.signature is not None and lost.signature.kind == "assertion_missing"


@each("name", COMPILED.names)
def test_compiled(name: str):
    COMPILED.require(name)


def test_sums_of_a_warp_are_known_to_assert_nothing():
    """Of the compiled code, in every version: other folds, and what else loses an assertion, stay new."""
    lost = case_of("fold", ("i32", [0] * 32), by="sum", axis=0)
    with Pool(PoolOptions(backend="compile:sm_90", spare=False)) as compiler:
        outcome = compiler.execute(lost, "own")
        assert outcome.signature is not None and outcome.signature.kind == "assertion_lost"
        attribution = Attribution(lambda case: compiler.execute(case, "own"))
        assert attribution.issues(lost, outcome) == ("sums-of-a-warp-assert-nothing",)
        scan = case_of("scan", ("i32", [0] * 32), by="cumsum", axis=0)
        as_if = replace(outcome, signature=replace(outcome.signature, about="overflow.scan"))
        assert attribution.issues(scan, as_if) == ()
        product = case_of("fold", ("i32", [0] * 32), by="_product", axis=0)
        assert compiler.execute(product, "own").verdict is Verdict.AGREE
