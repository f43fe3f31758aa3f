"""Reading option values, and the progress line."""

import pytest

from tests.support.campaigns import campaign_options
from tests.support.refusals import refused
from tridiff.fuzz.campaign.record import Counts, Plan
from tridiff.fuzz.campaign.run import Progress
from tridiff.fuzz.cli.options import seconds, size
from tridiff.fuzz.cli.progress import LiveProgress, clock, line
from tridiff.fuzz.cli.render import values_line

each = pytest.mark.parametrize


# Digits of other scripts are numbers to Python's \d as well.
@each("text, value", [
    ("90", 90), ("90s", 90), ("1.5m", 90), ("8h", 28800), (" 2d ", 172800), ("٣", 3), ("4m40s", 280),
    ("1h30m", 5400)])
def test_durations(text: str, value: float):
    assert seconds(text) == value


@each("text", ["", "0", "-5s", "5 weeks", "s", "1e3", "nan", "inf", "30s1m", "1m2", "1m1m"])
def test_what_is_no_duration(text: str):
    with refused("is no duration"):
        seconds(text)


@each("text, value", [
    ("6G", 6 << 30), ("512M", 512 << 20), ("1k", 1024), ("7", 7), ("2GiB", 2 << 30)])
def test_sizes(text: str, value: int):
    assert size(text) == value


@each("text", ["", "0G", "-1G", "1.5G", "G", "1P"])
def test_what_is_no_size(text: str):
    with refused("is no memory size"):
        size(text)


def test_clock():
    assert [clock(s) for s in (-1, 0, 59.9, 61, 3600, 7207)] == ["0:00", "0:00", "0:59", "1:01", "1:00:00", "2:00:07"]


def progress_line(max_cases: int | None, counts: Counts, elapsed: float) -> str:
    options = campaign_options(seconds=100, max_cases=max_cases)
    return line(Progress(counts=counts, shards_done=1, shards=4, elapsed=elapsed, findings=("x",)),
                Plan(id="p", options=options, shards=()))


def test_the_progress_line():
    counts = Counts(executed=200, agree=150, not_checked=50, row_inputs=3000, launches=210, compiled_kernels=9)
    assert progress_line(None, counts, 40) == (
        "0:40 (1:00 left)  200 cases 5/s (75.0% checked)  3,000 rows 75/s  9 kernels  210 launches  findings 1  "
        "shards 1/4")
    assert progress_line(500, counts, 40).startswith("0:40 (1:00 left)  200 cases")


def test_before_the_first_result_the_line_says_what_is_waited_for():
    said = progress_line(None, Counts(), 3)
    assert said == ("0:03  starting 1 worker on no backend; each imports torch and Triton, and the first result comes "
                    "after 5 to 20 s")
    assert "estimating" not in said and "0/s" not in said


def test_the_first_result_is_told_once(capsys: pytest.CaptureFixture[str]):
    plan = Plan(id="p", options=campaign_options(workers=2, backends=("interpreter",)), shards=())
    with LiveProgress(plan) as shown:
        for executed in (0, 3, 9):
            shown.watch(Progress(counts=Counts(executed=executed), shards_done=0, shards=2, elapsed=1.0 + executed,
                                 findings=()))
    assert capsys.readouterr().err == ("starting 2 workers on interpreter; the first result comes after 5 to 20 s\n"
                                       "first result after 4.0 s\n")


def test_values_are_cut():
    assert values_line(("1", "2")) == "[1 2]"
    assert values_line(tuple("abcdefghij")) == "[a b c d e f g h ... 2 more]"
