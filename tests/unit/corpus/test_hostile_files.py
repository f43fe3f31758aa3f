"""Files from strangers: every one ends in an entry or in one printable line, executes nothing, allocates nothing."""

import json
import os
import re
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from tests.support.refusals import refusal
from tests.unit.corpus.entries import entry, rich_entry
from tridiff.fuzz.corpus import Corpus
from tridiff.fuzz.corpus.store import MAX_BYTES, parse
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import CorpusEntry, pretty_json

each = pytest.mark.parametrize
VALID = pretty_json(rich_entry())
TARGET = rich_entry().case.target


def changed(path: str, value: Any) -> bytes:
    """The valid file with the value at `a/b/0` replaced (a missing key is added)."""
    data = json.loads(VALID)
    *steps, last = path.split("/")
    at = data
    for step in steps:
        at = at[int(step) if isinstance(at, list) else step]
    at[int(last) if isinstance(at, list) else last] = value
    return json.dumps(data).encode()


def without(key: str) -> bytes:
    return json.dumps({name: value for name, value in json.loads(VALID).items() if name != key}).encode()


def text_with(old: str, new: str) -> bytes:
    assert old in VALID
    return VALID.replace(old, new, 1).encode()


def rows(number: str) -> bytes:
    return text_with('"rows": 3', f'"rows": {number}')


CASE = json.loads(VALID)["case"]
HOSTILE: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "not valid JSON"),
    "truncated": (VALID[: len(VALID) // 2].encode(), "not valid JSON"),
    "two_documents": ((VALID + VALID).encode(), "not valid JSON"),
    "array": (b"[]", "Expected `object`, got `array`"),
    "null": (b"null", "Expected `object`, got `null`"),
    "pickle": (b"\x80\x04\x95cos\nsystem\n(S'touch pwned'\ntR.", "not valid JSON"),
    "byte_order_mark": (b"\xef\xbb\xbf" + VALID.encode(), "not valid JSON"),
    "utf16": (VALID.encode("utf-16"), "not valid JSON"),
    "invalid_utf8": (VALID.encode().replace(b"rounds", b"r\xff\xfeds"), "not valid JSON"),
    "lone_surrogate": (text_with("rounds", r"\ud800"), "not valid JSON"),
    "newer_schema": (changed("schema", 3), "has schema 3, this tridiff reads 2; install a newer tridiff"),
    "newer_schema_and_fields": (changed("schema", 99).replace(b'"title"', b'"headline"'), "has schema 99"),
    "schema_zero": (changed("schema", 0), "no tridiff release writes schema 0; correct or delete the file"),
    "schema_negative": (changed("schema", -1), "no tridiff release writes schema -1"),
    "schema_huge": (text_with('"schema": 2', f'"schema": {10**300}'), "has schema of 997 bits"),
    "schema_text": (changed("schema", "1"), "Expected `int | null`, got `str`"),
    "schema_absent": (without("schema"), "no schema number; correct or delete the file"),
    "case_of_newer_schema": (changed("case/schema", 3), "case has schema 3"),
    "unknown_field": (changed("exec", "import os"), "Object contains unknown field `exec`"),
    "unknown_field_long": (changed("\x1b[2J\n" * 10_000, 1), "unknown field"),
    "missing_field": (without("signature"), "missing required field `signature`"),
    "repeated_key": (text_with('"schema": 2', '"schema": 2, "schema": 2'),
                     "key 'schema' appears twice in one object; remove one of them$"),
    "repeated_key_inside": (text_with('"rows": 3', '"rows": 3, "rows": 4'), "key 'rows' appears twice"),
    "repeated_key_escaped": (text_with('"title"', '"titl\\u0065": "", "title"'), "key 'title' appears twice"),
    "nan": (rows("NaN"), "not valid JSON"),
    "infinity": (rows("Infinity"), "not valid JSON"),
    "minus_infinity": (rows("-Infinity"), "not valid JSON"),
    "float_for_int": (rows("3.5"), "Expected `int`, got `float`"),
    "exponent": (rows("1e400"), "not valid JSON|out of range|Expected `int`"),
    "long_integer": (rows("9" * 5000), "out of range"),
    "negative_size": (changed("case/sizes/rows", -1), "Expected `int` >= 0"),
    "terabytes": (changed("case/sizes", {"rows": 10**6, "cols": 10**6}), r"1,000,000,\d{3},\d{3} elements"),
    "overflowing_size": (changed("case/sizes", {"rows": 2**62, "cols": 2**62}), "would take"),
    "stride_0_terabytes": (
        changed("case/arrays/1", CASE["arrays"][1] | {"dims": ["deep"]})
        .replace(b'"rows": 3', b'"rows": 3, "deep": 1000000000000')
        .replace(b'"broadcast": ["rows"]', b'"broadcast": ["deep"]'), "would take"),
    "empty_but_wide": (changed("case/sizes", {"rows": 0, "cols": 2**62}), "would take"),
    "wide_steps": (changed("case/sizes", {"rows": 2**27, "cols": 2}), "would take"),
    "size_missing": (changed("case/sizes", {"rows": 3}), "no size for axis 'cols'"),
    "too_many_arrays": (changed("case/arrays", CASE["arrays"] * 9), "length <= 32"),
    "array_twice": (changed("case/arrays", CASE["arrays"] * 2), "names an array twice"),
    "unknown_dtype": (changed("case/arrays/0/dtype", "int32"), "unknown dtype 'int32'"),
    "dtype_newline": (changed("case/arrays/0/dtype", "i32\n"), "matching regex"),
    "overlapping_output": (changed("case/arrays/2/layout/broadcast", ["rows"]), "elements overlap"),
    "unknown_term": (changed("case/arrays/0/content/base", {"type": "python", "code": "1"}), "Invalid value"),
    "id_up": (changed("id", "../../../tmp/x"), "matching regex"),
    "id_absolute": (changed("id", "/etc/passwd"), "matching regex"),
    "id_newline": (changed("id", "value-1234\n"), "matching regex"),
    "id_nul": (changed("id", "value\x001234"), "matching regex"),
    "target_up": (changed("case/target", "../helpers"), "matching regex"),
    "target_newline": (changed("case/target", f"{TARGET}\n"), "matching regex"),
    "signature_of_another": (changed("signature/target", "triton.mod"), "its signature is about triton.mod"),
    "signature_escape": (changed("signature/target", "\x1b]0;pwned\x07" * 99), "its signature is about"),
    "expectation_twice": (changed("expected", json.loads(VALID)["expected"] * 2), "two expectations"),
    "expectation_too_long": (changed("expected/0", [*json.loads(VALID)["expected"][0], "x"]), "at most length 6"),
    "long_runs": (changed("evidence/inputs", {"a": ["9000 x 1"], "b": ["9000 x 1"]}), "runs of more than 16384"),
    "verdict_unknown": (changed("expected/0/3", "probably"), "Invalid enum value 'probably'"),
    "nested_200_thousand": (b"[" * 200_000, "got `array`"),
    "nested_unknown_field": (b'{"x":' + b"[" * 200_000, "nested too deeply"),
    "nested_behind_schema": (b'{"schema":2,"x":' + b'{"y":' * 40_000, "nested too deeply"),
    "over_the_limit": (VALID.encode() + b" " * MAX_BYTES, "the limit is 262,144"),
}


def refused(data: bytes) -> str:
    """The one line with which the loader refuses `data`."""
    line = refusal(lambda: parse(data, source="x.json"))
    assert len(line) < 600 and line.startswith("x.json: ") and "; " in line, "names the file and the fix"
    return line


@each("name", HOSTILE)
def test_hostile_bytes_get_one_line(name: str):
    data, expected = HOSTILE[name]
    line = refused(data)
    assert re.search(expected, line), line


@each("name", [name for name in HOSTILE if "schema" not in name])
def test_hostile_bytes_of_an_older_schema_get_one_line_too(name: str):
    data, expected = HOSTILE[name]
    line = refused(data.replace(b'"schema": 2', b'"schema": 1'))
    # What is read before it is told by position is told as where a field lies, or the other way round.
    assert re.search(expected, line) or "Expected" in line or "missing" in line, line


def test_the_valid_file_is_valid():
    """Otherwise every refusal above could have any reason."""
    assert parse(VALID.encode(), source="x") == rich_entry()
    assert parse(json.dumps(json.loads(VALID)).encode(), source="x") == rich_entry()


def test_a_100_megabyte_file_is_refused_before_it_is_read(tmp_path: Path):
    corpus = Corpus(tmp_path)
    good = corpus.admit(entry())
    bad = good.path.with_name("nested.json")
    with open(bad, "wb") as stream:
        stream.truncate(50 << 20)
        stream.seek(0, os.SEEK_END)
        stream.write(b"[" * (50 << 20))
    tracemalloc.start()
    found = [one for path, one in corpus.files() if path == bad]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20, f"{peak:,} bytes"
    assert "104,857,600 bytes, the limit is 262,144" in str(found[0])


def test_refusing_never_allocates_what_the_file_describes():
    for name, (data, _) in HOSTILE.items():
        tracemalloc.start()
        refused(data)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8 << 20, f"{name}: {peak:,} bytes"


_watched: list[tuple[str, Any]] = []
_watching = False


def _hook(event: str, arguments: Any) -> None:
    if _watching and event in ("exec", "compile", "import", "open", "os.system", "subprocess.Popen", "socket.connect",
                               "pickle.find_class", "marshal.loads", "ctypes.dlopen"):
        _watched.append((event, arguments))


def test_loading_executes_imports_and_opens_nothing():
    """Python's own audit events, over every hostile file and ones that carry code where text is allowed."""
    global _watching
    sys.addaudithook(_hook)
    code = "__import__('os').system('touch pwned')"
    carriers = [changed(path, code) for path in ("title", "explanation", "evidence/log", "signature/kind",
                                                 "found_in/python", "upstream/0")]
    carriers.append(changed("case/arrays/0/content/base", {"type": "constant", "value": code[:40]}))
    carriers.append(changed("case/params", {"form": code, "os.system": "x"}))
    carriers.append(changed("expected/0/0", f"own+fault:{code}"))
    parse(VALID.encode(), source="warm")
    for data in (*carriers, *(data for data, _ in HOSTILE.values())):
        _watching = True
        try:
            parse(data, source="x")
        except TridiffError:
            assert data not in carriers
        finally:
            _watching = False
    assert _watched == []


def lines_of(corpus: Corpus) -> dict[str, str]:
    """The refusals by path, each checked to be one printable line."""
    found = {}
    for path, one in corpus.files():
        if isinstance(one, TridiffError):
            assert str(one).isprintable() and len(str(one)) < 900
            found[str(path.relative_to(corpus.root))] = str(one)
    return found


def planted(corpus: Corpus) -> Path:
    """A corpus with one good entry; its path."""
    return corpus.admit(rich_entry()).path


def written(path: Path, text: str = VALID) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def link(path: Path, target: Path) -> Path:
    path.symlink_to(target)
    return path


# The good entry's path and a place outside the corpus -> what is planted beside it.
TRICKS: dict[str, Callable[[Path, Path], Path]] = {
    "symlink_to_file": lambda good, outside: link(good.with_name("link.json"), written(outside)),
    "symlink_to_zeros": lambda good, outside: link(good.with_name("zeros.json"), Path("/dev/zero")),
    "symlinked_folder": lambda good, outside: link(good.parent.parent / "triton.mod",
                                                   written(outside / good.name).parent),
    "loop": lambda good, outside: link(good.with_name("loop.json"), good.with_name("loop.json")),
    "misnamed": lambda good, outside: written(good.with_name("other-name.json")),
    "misplaced": lambda good, outside: written(good.parent.parent / "triton.mod" / good.name),
    "loose": lambda good, outside: written(good.parent.parent / good.name),
    "unknown_suffix": lambda good, outside: written(good.with_name("entry.yaml"),
                                                    "!!python/object/apply:os.system ['touch pwned']"),
    "strange_name": lambda good, outside: written(good.with_name("\x1b[31mred\n.json")),
}


def _pipe(good: Path, outside: Path) -> Path:
    os.mkfifo(path := good.with_name("pipe.json"))
    return path


def _folder_named_as_entry(good: Path, outside: Path) -> Path:
    (path := good.with_name("folder.json")).mkdir()
    return path


@each("plant", [*TRICKS.values(), _pipe, _folder_named_as_entry],
                         ids=[*TRICKS, "pipe", "folder_named_as_entry"])
def test_path_tricks_get_one_line_each(tmp_path: Path, plant: Callable[[Path, Path], Path]):
    corpus = Corpus(tmp_path / "corpus")
    good = planted(corpus)
    bad = plant(good, tmp_path / "outside")
    assert list(lines_of(corpus)) == [str(bad.relative_to(corpus.root))]
    assert [path for path, one in corpus.files() if isinstance(one, CorpusEntry)] == [good]
    assert [corpus.known(rich_entry().signature)] == [rich_entry()]


def test_one_line_per_file_in_a_folder_full_of_them(tmp_path: Path):
    corpus = Corpus(tmp_path)
    good = planted(corpus)
    for name, (data, _) in HOSTILE.items():
        good.with_name(f"{name}.json").write_bytes(data)
    assert len(lines_of(corpus)) == len(HOSTILE)
    assert sum(isinstance(one, CorpusEntry) for one in corpus.entries()) == 1


def test_documents_and_hidden_files_are_no_entries(tmp_path: Path):
    corpus = Corpus(tmp_path)
    good = planted(corpus)
    for name in ("README.md", ".gitignore", f"{TARGET}/notes.md", f"{TARGET}/.{good.name}.x.tmp"):
        (tmp_path / name).write_text("{")
    assert lines_of(corpus) == {}


def test_an_unreadable_root_is_one_error(tmp_path: Path):
    with pytest.raises(TridiffError, match=r"cannot be listed \(No such file or directory\)"):
        list(Corpus(tmp_path / "absent").entries())


def test_an_entry_for_an_unknown_target_still_loads():
    """A corpus may be newer than the checkout; replay says that it cannot run it."""
    data = json.loads(VALID)
    data["case"]["target"] = data["signature"]["target"] = "helpers.of_tomorrow"
    assert parse(json.dumps(data).encode(), source="x").case.target == "helpers.of_tomorrow"


def judged(data: bytes) -> CorpusEntry | None:
    """What the loader makes of `data`; anything but an entry that survives a round trip or one line fails."""
    try:
        found = parse(data, source="x.json")
    except TridiffError as error:
        line = str(error)
        assert line.isprintable() and len(line) < 600 and line.startswith("x.json: ")
        return None
    assert parse(pretty_json(found).encode(), source="x.json") == found
    sizes = found.case.sizes
    for spec in found.case.arrays:
        assert spec.span(sizes) <= 2**28
        elements = 1
        for length in spec.shape(sizes):
            elements *= max(length, 1)
        assert elements <= 2**28
    return found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
    | st.sampled_from((2**63, -(2**63) - 1, 10**40, "../x", "nan", "\x00", "i32", TARGET)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(
        st.text(max_size=8) | st.sampled_from(("schema", "case", "type", "sizes", "rows")), inner, max_size=4),
    max_leaves=12)


@given(st.binary(max_size=300))
def test_random_bytes(data: bytes):
    assert judged(data) is None


@given(JSON)
def test_random_json(value: Any):
    assert judged(json.dumps(value).encode()) is None


@given(st.data())
def test_mutated_json(data: st.DataObject):
    """Up to three places of a valid entry deleted, doubled, or replaced by other JSON."""
    tree = json.loads(VALID)
    for _ in range(data.draw(st.integers(1, 3))):
        at = tree
        while True:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
                at = at[key]
                continue
            action = data.draw(st.sampled_from(("replace", "delete", "add", "move")))
            if action == "replace":
                at[key] = data.draw(JSON)
            elif action == "delete":
                del at[key]
            elif isinstance(at, list):
                at.append(at[key])
            elif action == "add":
                at[data.draw(st.text(max_size=8))] = data.draw(JSON)
            else:
                moved = tree[data.draw(st.sampled_from(list(tree)))] if tree else None
                at[key] = json.loads(json.dumps(moved))
            break
    judged(json.dumps(tree).encode())


@given(st.data())
def test_mutated_bytes(data: st.DataObject):
    """Bytes of a valid file overwritten, cut out, doubled, or the file cut short."""
    raw = bytearray(VALID.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        length = data.draw(st.integers(0, 12))
        raw[at:at + length] = data.draw(st.binary(max_size=4) | st.just(bytes(raw[at:at + length] * 2))
                                        | st.sampled_from((b"9" * 400, b"null", b"NaN", b"[[[", b'"', b"-")))
    judged(bytes(raw[: data.draw(st.sampled_from((len(raw), len(raw) // 3)))]))


@given(st.integers(-(2**70), 2**70), st.sampled_from((
    "case/sizes/rows", "case/arrays/0/first_row", "case/arrays/2/layout/gap", "case/repeats", "evidence/row",
    "case/arrays/1/content/base/start", "case/options/num_warps", "case/params/form", "case/arrays/2/layout/order/0")))
def test_numbers_out_of_range(number: int, path: str):
    judged(changed(path, number))
