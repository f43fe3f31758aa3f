"""Triton's element types say of themselves what the contract says, and another answer is found."""

import pytest
import triton
import triton.language as tl

from tridiff.fuzz.launching.due_of_types import TYPES, types
from tridiff.fuzz.launching.scenes import host


@pytest.mark.parametrize("name", TYPES)
def test_element_types_say_what_they_are(name: str):
    due, said = types({"type": name}, triton.__version__), host.types({"type": name}, "compile:sm_90")
    assert len(due) > 25 and due.items() <= said.items()


def test_every_element_type_is_asked_and_every_question_answered():
    assert {name for name, value in vars(tl).items() if type(value) is tl.dtype} == set(TYPES)
    asked = {name for name in dir(tl.int32) if name.startswith("is_")} - {"is_dtype", "is_void"}
    assert asked == {name for name in types({"type": "int32"}, triton.__version__) if name.startswith("is_")}


@pytest.mark.parametrize("method, wrong, name", [("is_uint16", lambda self: self.name != "uint16", "uint16"),
                                                 ("get_int_max_value", lambda self: 127, "uint8")])
def test_another_answer_is_told(method: str, wrong: object, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tl.dtype, method, wrong)
    due, said = types({"type": name}, triton.__version__), host.types({"type": name}, "compile:sm_90")
    assert {one for one in due if due[one] != said[one]} == {method}
