"""What changed between two records, and what a person reads."""

import json
import os
from pathlib import Path

from msgspec.structs import replace
from typer.testing import CliRunner, Result

from tests.support.refusals import refused
from tests.unit.sweep.records import EXAMPLE, box, deviation, record, result
from tridiff.fuzz.cli.app import app
from tridiff.fuzz.cli.sweep import exit_status
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.sweep.compare import compare
from tridiff.fuzz.sweep.files import read, save
from tridiff.fuzz.sweep.records import SweepOptions
from tridiff.fuzz.sweep.report import comparison_markdown, digits, markdown, measured_rows, ranges_text

BEFORE = record(
    result("neg_operator", deviation("zero_sign", box((0, 0)))), result("exp", ulps=0.6),
    result("floor", deviation("flushed", box((0x8001, 0x83FF)))), result("sin", ulps=0.5), result("erf"))
AFTER = record(
    result("neg_operator"), result("exp", ulps=0.75),
    result("floor", deviation("flushed", box((0x8001, 0x8001), ), box((0x8010, 0x8400)))), result("sin", ulps=0.5),
    result("erf", verdict="not_checked"), result("tan"), triton="3.9.0")


def test_differences_are_named_input_by_input():
    found = compare(BEFORE, AFTER)
    assert (found.compared, found.unchanged) == (5, 1)
    changes = {(one.key.rpartition("-")[0], one.kind): one for one in found.changes}
    assert changes.keys() == {
        ("neg_operator-fp16", "verdict"), ("neg_operator-fp16", "class"), ("exp-fp16", "max_ulps"),
        ("floor-fp16", "class"), ("erf-fp16", "verdict"), ("tan-fp16", "only_in_one")}
    floor = changes["floor-fp16", "class"]
    assert floor.gained == (box((0x8400, 0x8400)),) and floor.lost == (box((0x8002, 0x800F)),)
    assert changes["neg_operator-fp16", "class"].lost == (box((0, 0)),)
    text = comparison_markdown(found)
    assert "Triton 3.6.0 on NVIDIA H200 against Triton 3.9.0 on NVIDIA H200" in text
    assert "wrong only in the second: {0x8400}; only in the first: [0x8002..0x800f]" in text
    assert "largest error 0.6 -> 0.75 ulp at 1.0" in text


def test_sets_that_were_not_listed_are_told_apart_by_their_digest():
    def scattered(digest: str) -> object:
        return record(result("exp", deviation("value", box((1, 1)), count=900, complete=False, digest=digest)))

    assert compare(scattered("a"), scattered("a")).unchanged == 1
    (change,) = compare(scattered("a"), scattered("b")).changes
    assert change.gained is None and "not both records list" in comparison_markdown(
        compare(scattered("a"), scattered("b")))


def test_records_survive_the_file_and_are_one_result_per_line(tmp_path: Path):
    path = tmp_path / "sweep.json"
    save(BEFORE, path)
    assert read(path) == BEFORE == read(tmp_path)
    assert sum(line.startswith('{"spec"') for line in path.read_text().splitlines()) == len(BEFORE.results)
    path.write_text(path.read_text().replace("all 2^16", "all", 1).replace('"count":1', '"count":-1', 1))
    with refused("no sweep record"):
        read(path)


def test_the_report_shows_figures_sets_and_what_was_not_decided():
    text = markdown(AFTER)
    assert "| exp | 2 | 0.750 | 1.0 |" in text
    assert "| floor | fp16 | flushed | 1,010 | {0x8001}, [0x8010..0x8400] |" in text
    known = deviation("flushed", box((1, 2)), known="it flushes")
    both = markdown(record(result("sin", known), result("cos", known), result("tan", deviation("value", box((1, 1))))))
    assert both.count("| 1 |\n") == 1 == both.count("| sin, cos | ")
    assert both.count("| no |\n") == 1 == both.count("\n1. it flushes.\n")
    assert "| erf | fp16 | not_checked |" in text and "5 agree" not in text
    assert digits("0.5616465210914612", "fp32") == "0.561646521" and digits("0.1") == "0.1"
    assert digits("0.5616465210914612", "fp64") == "0.5616465210914612" and digits("-2147483648") == "-2147483648"
    assert ranges_text([box((0, 255), (0, 0))], ("i8", "i8")) == "[0x00..0xff] x {0x00}"


def test_what_is_no_record_is_one_line(tmp_path: Path):
    """Whatever lies where a record is looked for: it is refused at once, and in little memory."""
    save(BEFORE, tmp_path / "old" / "sweep.json")
    whole = (tmp_path / "old" / "sweep.json").read_bytes()
    (tmp_path / "cut.json").write_bytes(whole[:len(whole) // 2])
    (tmp_path / "deep.json").write_text("[" * 100_000)
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    with (tmp_path / "huge.json").open("wb") as stream:
        stream.truncate(1 << 40)
    for name in ("absent", "cut.json", "deep.json", "pipe.json", "zero.json", "huge.json"):
        with refused(r"\(no sweep record\); name the file or folder of a record"):
            read(tmp_path / name)


def test_only_complete_fp32_functions_judged_in_ulps_have_measured_rows():
    exp = result("exp", dtype="fp32", ulps=1.25)
    others = (result("exp", ulps=0.75), result("floor", dtype="fp32", ulps=0.5), replace(exp, space="stratified: some"),
              replace(exp, spec=replace(exp.spec, op="log", nearest=True)),
              replace(exp, spec=replace(exp.spec, op="sin", options=SweepOptions(flush=False))))
    between_roots = replace(exp, spec=replace(exp.spec, op="lgamma"), max_ulps=replace(EXAMPLE, values=("-3.1",)))
    later = record(replace(exp, max_ulps=replace(EXAMPLE, ulps=1.5)), triton="3.9.0")
    assert measured_rows([record(*others, between_roots, exp), later]) == "exp fp32 1.2500 0x3c00 1.5000 0x1"


def test_exit_status():
    explained = record(result("floor", deviation("flushed", box((1, 2)), known="flushes")))
    assert exit_status(explained, None) == 0
    assert exit_status(BEFORE, None) == 1 and exit_status(BEFORE, BEFORE) == 0
    assert exit_status(record(result("erf", verdict="not_checked")), None) == 2
    assert exit_status(record(result("erf", verdict="oracles_disagree")), None) == 2
    assert exit_status(record(), None) == 2


def test_the_command_compares_and_prints_figures(tmp_path: Path):
    full = result("exp_tl", dtype="fp32", ulps=0.9)
    save(record(*BEFORE.results, full), tmp_path / "a" / "sweep.json")
    save(AFTER, tmp_path / "b" / "sweep.json")
    a, b = str(tmp_path / "a"), str(tmp_path / "b")

    def sweep(*options: str) -> Result:
        return CliRunner().invoke(app, ["sweep", *options])

    found = sweep("--compare", a, "--compare", b, "--json")
    assert found.exit_code == 1 and json.loads(found.stdout)["compared"] == 5
    same = sweep("--compare", a, "--compare", a)
    assert same.exit_code == 0 and "6 without any difference" in same.stdout
    rendered = sweep("--render", b)
    assert rendered.exit_code == 0 and (tmp_path / "b" / "report.md").read_text() == markdown(AFTER)
    rows = sweep("--measured", a, "--measured", a)
    assert rows.exit_code == 0 and rows.stdout == "exp_tl fp32 0.9000 0x3c00 0.9000 0x3c00\n"
    alone = sweep("--compare", a)
    assert isinstance(alone.exception, TridiffError) and "give it twice" in str(alone.exception)
