"""The policy file: what it decides, and what is no policy."""

from pathlib import Path

import pytest

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.gate.policy import read
from tridiff.fuzz.records.pair import Relation


def written(folder: Path, text: str) -> Path:
    (folder / "policy.toml").write_text(text)
    return folder / "policy.toml"


def test_as_it_stands_wrong_values_block_and_refused_kernels_need_a_guard():
    policy = read()
    assert policy.action(Relation.REGRESSION, verdict="disagree") == "block"
    assert policy.action(Relation.REGRESSION, verdict="crash") == "block"
    assert policy.action(Relation.REGRESSION, verdict="compile_error") == "guard"
    assert policy.action(Relation.CHANGED, verdict="agree") == "guard"
    assert policy.action(Relation.FIXED, verdict="agree") == "report"


def test_of_one_release_what_would_need_a_guard_is_as_other_code(tmp_path: Path):
    lenient = read(written(tmp_path, '[code]\nsame_release = "report"\n'))
    for policy, found in ((read().of_one_release(), "block"), (lenient.of_one_release(), "report")):
        assert policy.action(Relation.REGRESSION, verdict="compile_error") == found
        assert policy.action(Relation.CHANGED, verdict="agree") == found
        assert policy.action(Relation.FIXED, verdict="agree") == "report"
        assert policy.action(Relation.REGRESSION, verdict="disagree") == "block"


def test_a_file_says_what_is_other_and_the_rest_stands(tmp_path: Path):
    policy = read(written(tmp_path, '[relations]\nfixed = "block"\n[regressions]\ncompile_error = "report"\n'
                          '[[accept]]\ntarget = "triton.*"\nkey = "fixed: *"\nreason = "wanted"\n'))
    assert policy.action(Relation.FIXED, verdict="agree") == "block"
    assert policy.action(Relation.CHANGED, verdict="agree") == "guard"
    assert policy.action(Relation.REGRESSION, verdict="compile_error") == "report"
    assert policy.accepted("triton.negate", "fixed: value") == "wanted"
    assert not policy.accepted("triton.negate", "regression: value") and not policy.accepted("async.x", "fixed: value")


@pytest.mark.parametrize("text, problem", [
    ("[relations\n", "is no TOML file"), ('[relations]\nworse = "block"\n', "[relations] has no 'worse'"),
    ('[relations]\nfixed = "explode"\n', "is no policy"), ('[regressions]\nvalue = "block"\n', "has no 'value'"),
    ('[api]\nnew = "block"\n', "[api] has no 'new'"), ("[speed]\nlargest = 2\n", "is no policy"),
    ('[numeric]\nlargest_bias = "much"\n', "is no policy"), ('[[accept]]\ntarget = "x"\n', "is no policy"),
])
def test_what_is_no_policy_is_refused_in_one_line(tmp_path: Path, text: str, problem: str):
    with pytest.raises(TridiffError) as refused:
        read(written(tmp_path, text))
    assert problem in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(TridiffError, match=r"nothing\.toml cannot be read"):
        read(tmp_path / "nothing.toml")
