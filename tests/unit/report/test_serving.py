"""A running campaign in a browser: what its state says now, kept up to date, on this machine only, and only read."""

import http.client
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.browser import MISSING, browser
from tests.support.campaigns import campaign_options, shard_spec
from tests.support.cases import addition
from tests.support.outcomes import outcome_of
from tests.support.refusals import refused
from tests.unit.report.records import CORPUS, entry, night
from tridiff.fuzz.campaign import findings
from tridiff.fuzz.campaign.live import Live
from tridiff.fuzz.campaign.record import Counts, Plan, ShardResult
from tridiff.fuzz.campaign.state import Owned
from tridiff.fuzz.campaign.store import ShardStore, shard_path
from tridiff.fuzz.records import Environment, RowCounts, Verdict, pretty_json
from tridiff.fuzz.report.serve import REFRESH, live_page, server

NEW = "zero-sign-c65330b634"


def judge(state: Path, cases: int, *, shard: int = 0) -> None:
    """Record cases as a shard does."""
    store = ShardStore(shard_path(state, shard))
    for number in range(cases):
        case = addition(rows=number + 1)
        store.begin(case, round_number=0)
        store.end(outcome_of(case, Verdict.AGREE, rows=RowCounts(agree=number + 1), launches=1), case, phase="fuzz",
                  round_number=0, cells=["op=add dtype=i32"])
    store.close()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """A campaign that runs: one shard at work, one that ended, one whose file is being made, one that waits."""
    folder = tmp_path / "campaigns" / "now"
    folder.mkdir(parents=True)
    shards = tuple(shard_spec(index=k) for k in range(4))
    (folder / "plan.json").write_text(pretty_json(Plan(
        id="now", options=campaign_options(backends=("interpreter",)), shards=shards,
        installed={"triton": "3.9.0", "torch": "2.13.0"})))
    judge(folder, 5)
    judge(folder, 2, shard=1)
    store = ShardStore(shard_path(folder, 1))
    store.finish(ShardResult(spec=shards[1], counts=Counts(executed=2, agree=2), cells={"op=add dtype=i32": 2},
                             environment=Environment(triton="3.9.0", backend="interpreter", device="x86_64")))
    store.close()
    shard_path(folder, 2).touch()
    owned = Owned(folder)
    yield folder
    owned.release()


def test_a_moment_of_a_campaign_is_read_and_nothing_is_written(state: Path):
    live = Live(state)
    before = {path.name: path.read_bytes() for path in state.iterdir() if path.is_file() and "-shm" not in path.name}
    now = live.moment()
    assert (now.summary.id, now.summary.counts.executed, now.summary.counts.agree) == ("now", 7, 7)
    assert now.summary.environments[0].device == "x86_64" and now.summary.by_target[0].counts.row_inputs == 15
    assert now.ledger.reached["interpreter"]["triton.vector_add"]["op=add dtype=i32"] == 7
    findings.write(state, entry(NEW))
    findings.write(state, replace(entry("value-00ebe13492"), reproduced="0/0"))
    (state / "findings" / "half.json").write_text('{"sch')
    now = live.moment()
    assert now.summary.new_findings == (NEW,) and [one.id for one in now.findings] == [NEW]
    assert list(now.summary.unconfirmed.values()) == [("value-00ebe13492",)]
    after = {path.name: path.read_bytes() for path in state.iterdir() if path.is_file() and "-shm" not in path.name}
    assert {name: data for name, data in after.items() if not name.endswith("-wal")} == {
        name: data for name, data in before.items() if not name.endswith("-wal")}


def test_shards_that_have_ended_are_read_once(state: Path, monkeypatch: pytest.MonkeyPatch):
    live = Live(state)
    assert live.moment().summary.counts.executed == 7
    judge(state, 3, shard=3)
    opened: list[str] = []

    def noting(path: Path, *, write: bool) -> ShardStore:
        opened.append(path.name)
        return ShardStore(path, write=write)

    monkeypatch.setattr("tridiff.fuzz.campaign.live.ShardStore", noting)
    assert live.moment().summary.counts.executed == 10
    assert opened == ["shard-00000.sqlite", "shard-00002.sqlite", "shard-00003.sqlite"]


def test_a_campaign_that_has_just_begun(state: Path):
    for path in state.glob("shard-*"):
        path.unlink()
    live = Live(state)
    now = live.moment()
    assert now.summary.counts.executed == 0 and now.summary.environments[0].triton == "3.9.0"


@pytest.fixture
def served(state: Path, tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    page = live_page("", roots=[state.parent], reports=tmp_path / "reports", corpus=CORPUS)
    with server(page, port=0) as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield one
        one.shutdown()
        thread.join(10)


def ask(served: ThreadingHTTPServer, method: str = "GET", path: str = "/", host: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", served.server_address[1], timeout=20)
    try:
        connection.request(method, path, headers={"Host": host} if host else {})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_only_this_machine_only_one_page_only_reading(served: ThreadingHTTPServer):
    assert served.server_address[0] == "127.0.0.1"
    status, text = ask(served)
    assert status == 200 and "7 cases in" in text and f'data-live="{REFRESH}"' in text and "connect-src" in text
    assert ask(served, "HEAD") == (200, "")
    assert ask(served, path="/../../etc/passwd")[0] == ask(served, path="/plan.json")[0] == 404
    assert ask(served, "POST")[0] == ask(served, "DELETE")[0] == 501
    assert ask(served, host="evil.example:80")[0] == 403


def test_after_its_end_the_record_is_shown(state: Path, tmp_path: Path):
    page = live_page("now", roots=[state.parent], reports=tmp_path / "reports", corpus=CORPUS)
    assert "data-live" in page()
    for path in state.iterdir():
        path.unlink()
    with refused("no record is called now"):
        page()
    night(tmp_path / "reports", name="now")
    assert "data-live" not in page() and "1,200 cases" in page()


def test_without_a_campaign_and_without_a_record_there_is_nothing_to_show(tmp_path: Path):
    with refused("no record below"):
        live_page("", roots=[tmp_path / "none"], reports=tmp_path / "reports", corpus=None)


def test_a_record_is_shown_by_its_folder_while_another_campaign_runs(state: Path, tmp_path: Path):
    folder = night(tmp_path / "reports", name="older")
    page = live_page(str(folder), roots=[state.parent], reports=tmp_path / "reports", corpus=CORPUS)
    assert "1,200 cases" in page() and "data-live" not in page()


def test_a_port_that_is_taken(served: ThreadingHTTPServer):
    with refused("cannot be used"):
        server(lambda: "", port=served.server_address[1])


def test_the_command_ends_with_ctrl_c_and_status_0(state: Path, tmp_path: Path):
    run = subprocess.Popen([sys.executable, "-m", "tridiff.fuzz", "report", "--serve", "--port", "0", "--state",
                            str(state.parent), "--corpus", str(CORPUS.root)], cwd=tmp_path, stdout=subprocess.PIPE,
                           text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
    assert run.stdout is not None
    said = run.stdout.readline()
    assert said.startswith("http://127.0.0.1:") and "Ctrl-C" in said
    connection = http.client.HTTPConnection("127.0.0.1", int(said.split(":")[2].split("/")[0]), timeout=30)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    run.send_signal(signal.SIGINT)
    assert run.wait(30) == 0


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_a_page_keeps_itself_up_to_date_and_what_is_open_stays_open(served: ThreadingHTTPServer, state: Path):
    findings.write(state, entry(NEW))
    headline = "return document.querySelector('.headline').textContent"
    with browser() as window:
        time.sleep(1.1)  # What was asked before is given out for a second.
        window.open(f"http://127.0.0.1:{served.server_address[1]}/")
        assert window.run(headline).startswith("1 new, ") and "7 cases" in window.run(headline)
        window.press("j", "Enter")
        window.run("document.querySelector('#search').value = 'sign'")
        judge(state, 4, shard=3)
        findings.write(state, entry("value-00ebe13492"))
        deadline = time.monotonic() + 20
        while "11 cases" not in window.run(headline) and time.monotonic() < deadline:
            time.sleep(0.3)
        assert window.run(headline).startswith("2 new, ")
        opened = window.run("return [...document.querySelectorAll('.finding details')].map(one => one.open)")
        assert opened == [True, False] or opened == [False, True], "the first was closed by hand, the second is new"
        assert window.run("return document.querySelector('#search').value") == "sign"
        assert window.run("return document.querySelector('#count').textContent").startswith("1 of 2 findings")
        assert window.run("return document.querySelector('[name=group]').nextSibling.data").strip() == "New (2)"
        assert window.log() == []
