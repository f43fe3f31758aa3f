"""Each rule for the last words of a compiler fits the line that it was made for, and no near miss."""

import pytest

from tridiff.fuzz.crashes import RULES, Rule, signature

by_rule = pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])


@by_rule
def test_a_rule_fits_its_line_with_its_key(rule: Rule):
    found = signature(f"some words in front\n{rule.line}\nTraceback (most recent call last):\n")
    assert found is not None
    assert (found.rule, found.source, found.key) == (rule.name, rule.source, rule.key)


@by_rule
def test_a_rule_fits_no_near_miss(rule: Rule):
    assert rule.near
    for line in rule.near:
        found = signature(line)
        assert found is None or found.rule != rule.name, line


def test_the_failure_wins_over_the_frame_around_it():
    log = ("RuntimeError: PassManager::run failed\nkernel.py:9:21: error: operand #3 does not dominate this use\n")
    found = signature(log)
    assert found is not None
    assert (found.rule, found.key) == ("does-not-dominate", "operand #N does not dominate this use")


def test_numbers_and_types_do_not_part_one_defect():
    one, other = (signature(f"loc: error: 'llvm.call' op operand type mismatch for operand {n}: '{a}' != 'i16'")
                  for n, a in ((0, "i32"), (1, "i64")))
    assert one is not None and other is not None
    assert one.key == other.key


def test_other_assertions_stay_apart():
    one, other = (signature(f"python: /a/lib/B.cpp:1: void f(): Assertion `{text}' failed.") for text in ("x < y", "z"))
    assert one is not None and other is not None
    assert one.key != other.key
