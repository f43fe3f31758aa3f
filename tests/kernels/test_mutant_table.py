"""Faults of the helpers: edits that fit the helper's source, and variants that stay what they are."""

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

from tridiff.kernels import generated, helpers
from tridiff.kernels.helpers.mutant_table import Edit, Fault, Mutants, mutant_table

each = pytest.mark.parametrize
EVERY_HELPER = [mutants for module in pkgutil.iter_modules(helpers.__path__) if module.name.startswith("mutants_")
                for mutants in import_module(f"{helpers.__name__}.{module.name}").MUTANTS.values()]


@each("mutants", EVERY_HELPER, ids=lambda mutants: mutants.helper)
def test_every_fault_changes_the_source_of_its_helper_and_no_two_are_the_same(mutants: Mutants):
    right = (Path(helpers.__path__[0]) / f"{mutants.family}.py").read_text(encoding="utf-8")
    sources = {mutants.source(fault) for fault in mutants}
    assert len(sources) == len(mutants) and right not in sources
    assert all(fault.sentence.endswith(".") for fault in mutants.faults.values())


@each("edits, message", [
    ([("minimum(x, y)", "x")], "'minimum(x, y)' stands 0 times in the source, not 1"),
    ([("(x, low)", "(low, x)"), ("low", "x")], "'low' stands 3 times in the source, not 1"),
    ([("maximum(x, low)", "x", 2)], "'maximum(x, low)' stands 1 times in the source, not 2")])
def test_edits_that_do_not_fit_are_refused_by_helper_and_fault(edits: list[Edit], message: str):
    table = mutant_table("clamp", {"clamp": {"misplaced": Fault("Nothing.", *edits)}})
    with pytest.raises(ValueError) as refused:
        table["clamp"]["misplaced"]
    assert str(refused.value) == f"fault misplaced of clamp does not fit kernels/helpers/clamp.py: {message}"


def test_two_texts_change_places():
    assert Fault("Swapped.", ("a", "b"), ("b", "a")).planted("a - b") == "b - a"


def test_a_variant_is_made_once_and_shows_its_own_source():
    mutants = next(one for one in EVERY_HELPER if one.helper == "clamp")
    variant = mutants["upper_first"]
    generated.forget()
    assert mutants["upper_first"] is variant
    assert "maximum(minimum(x, high), low)" in inspect.getsource(variant.fn)
