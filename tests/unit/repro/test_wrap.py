"""Broken lines mean what they meant."""

import ast

from tridiff.fuzz.repro.wrap import WIDTH, wrapped

LONG = "value = function([" + ", ".join(map(str, range(60))) + '], "text")  # by an oracle\n'


def test_a_long_statement_is_broken_inside_its_brackets():
    text = wrapped(LONG)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(LONG))
    assert text.startswith("# by an oracle\nvalue = function([0, 1,")


def test_long_strings_are_broken_into_several():
    source = f'def f():\n    return decode("{"ab+!" * 100}")\n'
    text = wrapped(source)
    assert max(map(len, text.splitlines())) <= WIDTH
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(source))


def test_what_is_short_or_cannot_be_broken_stays():
    assert wrapped("a = 1\n") == "a = 1\n"
    plain = "a = " + "b" * 150 + "\n"
    assert wrapped(plain) == plain
    inside = f'TEXT = """\n{"x " * 100}\n"""\n'
    assert wrapped(inside) == inside
    broken = "(" * 130 + "\n"
    assert wrapped(broken) == broken


def test_what_follows_a_long_string_fits_behind_its_last_piece():
    for length in range(225, 245):
        line = f'x = f(g("{"a" * length}")), 1)'
        text = wrapped(f"{line}\n".replace(")), 1)", "), 1)"))
        assert max(map(len, text.splitlines())) <= 120


def test_a_string_that_fits_alone_and_not_with_what_follows_is_broken():
    for length in range(100, 118):
        line = f'x = torch.frombuffer(bytearray(decompress(b85decode("{"a" * length}")))).to(1)\n'
        text = wrapped(line)
        assert max(map(len, text.splitlines())) <= WIDTH and ast.dump(ast.parse(text)) == ast.dump(ast.parse(line))
