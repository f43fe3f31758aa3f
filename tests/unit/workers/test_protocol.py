"""A worker that talks nonsense is ended and its case not checked; the next case has its own outcome."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support.cases import addition
from tests.support.fake_forks import FakeForks, Speech, done
from tests.support.outcomes import outcome_of
from tests.support.refusals import refused
from tridiff.fuzz.records import Case, Environment, JointOutcome, Outcome, Verdict
from tridiff.fuzz.records.outcome import LONGEST_REASON
from tridiff.fuzz.workers import forks, pool, protocol
from tridiff.fuzz.workers.child import bounded
from tridiff.fuzz.workers.connection import Worker
from tridiff.fuzz.workers.forks import PoolOptions
from tridiff.fuzz.workers.pool import Pool

each = pytest.mark.parametrize
pytestmark = pytest.mark.slow

A, B = addition(rows=3), addition(rows=4)
Start = Callable[..., Pool]
"""Of a worker that speaks so, with these options."""


@pytest.fixture
def speaking() -> Iterator[Start]:
    made: list[Pool] = []

    def start(speech: Speech, **options: float) -> Pool:
        class Forks(FakeForks):
            pass

        Forks.speech = staticmethod(speech)
        made.append(Pool(PoolOptions(**{"backend": "interpreter", "hang_limit": 1.0, "compile_limit": 2.0,
                                        "spare": False, **options}), start=Forks))
        return made[-1]

    yield start
    for one in made:
        one.close()


def flood(connection: socket.socket, request: protocol.Run) -> None:
    while True:
        connection.sendall(b"x" * (1 << 20))


def half(connection: socket.socket, request: protocol.Run) -> None:
    connection.sendall(done(request)[:30])
    connection.shutdown(socket.SHUT_RDWR)


def staged(request: protocol.Run, name: str) -> bytes:
    """That a request has come to a stage."""
    return protocol.line(protocol.Stage(sequence=request.sequence, name=name))


def again_and_again(connection: socket.socket, request: protocol.Run) -> None:
    for _ in range(120):
        connection.sendall(staged(request, "compile"))
        time.sleep(0.1)


def to_and_fro(connection: socket.socket, request: protocol.Run) -> None:
    for number in range(1200):
        connection.sendall(staged(request, ("compile", "launch")[number % 2]))
        time.sleep(0.1)


def goes_on(made: Pool) -> None:
    """The next case has its own outcome."""
    after = made.execute(B, "own")
    assert (after.verdict, after.case_digest) == (Verdict.AGREE, B.digest)


def saying(*lines: bytes) -> Speech:
    return lambda connection, request: connection.sendall(b"".join(lines))


NONSENSE: dict[str, tuple[Speech, str]] = {
    "garbage before the answer": (
        lambda c, r: c.sendall(b"\x00\xff garbage\n" + done(r)), "that are no message"),
    "another type": (lambda c, r: c.sendall(b'{"type":"done","outcome":5}\n' + done(r)), "that are no message"),
    "two answers": (lambda c, r: c.sendall(2 * done(r)), "goes on after its answer"),
    "an answer for another case": (lambda c, r: c.sendall(done(r, case=B)), f"answers for case {B.digest}"),
    "an answer to another request": (lambda c, r: c.sendall(done(r, sequence=r.sequence - 1)), "speaks of request 0"),
    "a stage of another request": (
        lambda c, r: c.sendall(protocol.line(protocol.Stage(sequence=9, name="launch"))), "speaks of request 9"),
    "a refusal of another case": (lambda c, r: c.sendall(protocol.line(protocol.Refused(
        sequence=r.sequence, case_digest=B.digest, problem="p", fix="f"))), "refuses case"),
    "ready once more": (saying(protocol.line(protocol.Ready(pid=1, environment=Environment()))), "again that it is"),
    "nested deeply": (saying(b"[" * 200_000 + b"\n"), "that are no message"),
    "a huge integer": (saying(b'{"type":"stage","sequence":' + b"9" * 100_000 + b"}\n"), "that are no message"),
    "not UTF-8": (saying(b'{"type":"stage","sequence":1,"name":"\xff\xfe"}\n'), "that are no message"),
    "a line without an end": (flood, "without an end"),
}


@each("what", NONSENSE)
def test_nonsense_costs_the_worker_and_the_case_is_not_checked(
        speaking: Start, what: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tridiff.fuzz.workers.connection.LONGEST_MESSAGE", 8 << 20)
    speech, reason = NONSENSE[what]
    made = speaking(speech, hang_limit=20.0)
    victim = made.worker
    outcome = made.execute(A, "own")
    assert (outcome.verdict, outcome.case_digest, outcome.signature) == (Verdict.NOT_CHECKED, A.digest, None)
    assert outcome.reason.startswith("the worker broke the protocol at stage materialise: ")
    assert reason in outcome.reason
    assert outcome.reason.isprintable() and len(outcome.reason) < 500
    assert made.deaths == 1 and made.worker != victim
    goes_on(made)


def joined(request: protocol.RunJoined, *cases: Case) -> bytes:
    """The answer to a joint launch, of these cases."""
    return protocol.line(protocol.DoneJoined(sequence=request.sequence, outcome=JointOutcome(outcomes=tuple(
        outcome_of(one, Verdict.AGREE) for one in cases))))


@each("answer, reason", [
    (lambda r: joined(r, B, A), f"it answers for case {B.digest}"), (lambda r: joined(r, A), "answers for case"),
    (lambda r: protocol.line(protocol.Done(sequence=r.sequence, outcome=outcome_of(A, Verdict.AGREE))), "of request")])
def test_a_joint_launch_whose_answer_is_for_something_else_is_not_checked(
        speaking: Start, answer: Callable[[protocol.RunJoined], bytes], reason: str):
    made = speaking(lambda c, r: c.sendall(answer(r)))
    found = made.execute_joined((A, B), "own")
    assert (found.verdict, found.outcomes) == (Verdict.NOT_CHECKED, ()) and reason in found.reason
    assert made.deaths == 1 and made.execute(B, "own").verdict is Verdict.AGREE


def test_a_joint_launch_in_which_the_worker_dies_or_hangs_fails_as_a_whole(speaking: Start):
    died = speaking(lambda c, r: c.shutdown(socket.SHUT_RDWR)).execute_joined((A, B), "own")
    hung = speaking(lambda c, r: None, hang_limit=0.2).execute_joined((A, B), "own")
    assert (died.verdict, died.passed(), hung.passed()) == (Verdict.CRASH, (), ())
    assert "stage materialise" in died.reason and "no answer within" in hung.reason


def test_the_outcomes_of_a_joint_launch_are_those_of_its_cases(speaking: Start):
    found = speaking(lambda c, r: c.sendall(joined(r, A, B))).execute_joined((A, B), "own")
    assert [one.case_digest for one in found.passed()] == [A.digest, B.digest]


def test_half_an_answer_and_the_end_is_a_death(speaking: Start):
    made = speaking(half)
    assert made.execute(A, "own").verdict is Verdict.CRASH
    assert made.execute(B, "own").case_digest == B.digest


@each("speech, most", [(again_and_again, 4.0), (to_and_fro, 8.0)])
def test_announcing_stages_does_not_put_off_the_end(
        speaking: Start, speech: Speech, most: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "FIRST_CASE", 0.0)
    made = speaking(speech, hang_limit=0.25, compile_limit=0.5)
    started = time.monotonic()
    outcome = made.execute(A, "own")
    assert outcome.verdict is Verdict.HANG and time.monotonic() - started < most


def test_bytes_that_come_between_two_cases_cost_no_case(speaking: Start):
    late = threading.Event()

    def speech(connection: socket.socket, request: protocol.Run) -> None:
        connection.sendall(done(request))
        time.sleep(0.2)
        connection.sendall(done(request, verdict=Verdict.DISAGREE))
        late.set()

    made = speaking(speech)
    assert made.execute(A, "own").verdict is Verdict.AGREE
    assert late.wait(5)
    outcome = made.execute(B, "own")
    assert (outcome.verdict, outcome.case_digest, made.deaths) == (Verdict.AGREE, B.digest, 1)


@each("stage, verdict", [("materialise", Verdict.NOT_CHECKED), ("launch", Verdict.HANG),
                                            ("judge", Verdict.NOT_CHECKED), ("compile", Verdict.HANG)])
def test_every_stage_has_its_limit_and_only_the_subjects_own_speak_against_it(
        speaking: Start, stage: str, verdict: Verdict):
    made = speaking(lambda c, r: c.sendall(staged(r, stage)), hang_limit=0.4, compile_limit=0.8)
    started = time.monotonic()
    outcome = made.execute(A, "own")
    limit = 0.8 if stage == "compile" else 0.4
    assert outcome.verdict is verdict
    assert outcome.reason == f"no answer within {limit} s of stage {stage}; the worker was killed"
    assert limit <= time.monotonic() - started < limit + 2


@each("stage, said, verdict", [
    ("launch", "block: [3,0,0], thread: [5,0,0] Assertion `int16 overflow` failed.", Verdict.AGREE),
    ("launch", "ptxas: Assertion `n < 4' failed.", Verdict.HANG),
    ("compile", "block: [3,0,0], thread: [5,0,0] Assertion `int16 overflow` failed.", Verdict.HANG)])
def test_a_launch_that_an_assertion_stopped_has_time_to_end(
        speaking: Start, stage: str, said: str, verdict: Verdict,
        monkeypatch: pytest.MonkeyPatch):
    def speech(connection: socket.socket, request: protocol.Run) -> None:
        connection.sendall(staged(request, stage))
        time.sleep(1.0)
        connection.sendall(done(request))

    monkeypatch.setattr(Worker, "tail", lambda worker: said)
    made = speaking(speech, hang_limit=0.3, compile_limit=0.3)
    assert made.execute(A, "own").verdict is verdict


def test_an_assertion_puts_off_the_end_of_a_launch_once(
        speaking: Start, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "ASSERTED", 0.4)
    monkeypatch.setattr(Worker, "tail", lambda worker: "thread: [5,0,0] Assertion `int16 overflow` failed.")
    made = speaking(lambda c, r: c.sendall(staged(r, "launch")), hang_limit=0.3)
    assert made.execute(A, "own").reason == "no answer within 0.7 s of stage launch; the worker was killed"


def test_time_that_ends_says_nothing_about_the_case(speaking: Start):
    made = speaking(lambda c, r: None, hang_limit=30.0)
    started = time.monotonic()
    with pytest.raises(pool.TimeUp):
        made.execute(A, "own", until=started + 0.3)
    assert time.monotonic() - started < 3
    assert made.execute(B, "own").verdict is Verdict.AGREE


def test_a_refusal_is_one_and_the_worker_lives(speaking: Start):
    made = speaking(lambda c, r: c.sendall(protocol.line(protocol.Refused(
        sequence=r.sequence, case_digest=r.case.digest, problem="p", fix="f"))))
    with refused("p; f"):
        made.execute(A, "own")
    assert made.execute(B, "own").verdict is Verdict.AGREE and made.deaths == 0


def test_a_long_reason_is_cut_where_it_is_written():
    outcome = Outcome(case_digest="d", target="t", subject="own", backend="b", verdict=Verdict.NOT_CHECKED)
    sent = protocol.line(protocol.Done(sequence=1, outcome=bounded(replace(outcome, reason="x" * 5000))))
    message = protocol.read_child(sent)
    assert isinstance(message, protocol.Done) and message.outcome.reason == "x" * LONGEST_REASON


# -- zygotes

@pytest.mark.own_zygote
@each("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_zygote_that_is_gone_or_stopped_is_replaced(how: signal.Signals, monkeypatch: pytest.MonkeyPatch):
    for limit in ("FORK_SECONDS", "EXIT_SECONDS", "CLOSE_SECONDS"):
        monkeypatch.setattr(forks, limit, 0.5)
    with Pool(PoolOptions(backend="interpreter", hang_limit=60, spare=False)) as made:
        assert made.execute(A, "own").verdict is Verdict.AGREE
        zygote, worker = made.processes()
        os.kill(zygote, how)
        if how is signal.SIGSTOP:
            os.kill(worker, signal.SIGKILL)
        time.sleep(0.3)
        lost = made.execute(A, "own")
        assert (lost.verdict, lost.signature) == (Verdict.NOT_CHECKED, None)
        assert lost.reason == "the worker was lost at stage materialise, and nobody can say how it ended" or (
            lost.reason == "the worker was lost at stage start, and nobody can say how it ended")
        goes_on(made)
        assert made.processes()[0] != zygote


@each("killed", [False, True])
def test_a_spare_may_wait_long_and_one_that_is_dead_is_not_taken(
        killed: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pool, "SPARE_AFTER", 0.0)
    with Pool(PoolOptions(backend="interpreter", hang_limit=60, spare=True)) as made:
        zygote, first = made.processes()
        assert made.execute(A, "own").verdict is Verdict.AGREE
        made.stand_by()
        children = {int(pid) for pid in Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split()}
        (spare,) = children - {first}
        monkeypatch.setattr(forks, "INTERPRETER_START", 0.1 if not killed else 30.0)
        time.sleep(0.5)
        for pid in (first, spare) if killed else (first,):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.3)
        assert made.execute(A, "own").verdict is Verdict.CRASH
        goes_on(made)
        assert (made.worker == spare) is not killed


def test_a_zygote_whose_parent_is_gone_before_it_can_say_so_ends():
    command = [sys.executable, "-m", "tridiff.fuzz.workers.zygote", "interpreter", "0", str(6 << 30), "1"]
    started = time.monotonic()
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, timeout=60, check=False, cwd=Path(__file__).parents[3])
    assert ended.returncode == 71 and time.monotonic() - started < 30


# -- temporary folders

def test_the_next_pool_sweeps_what_a_killed_one_left(tmp_path: Path):
    from tridiff.fuzz.workers.leftovers import OwnFolder, sweep

    script = ("import sys, os, signal; from pathlib import Path; from tridiff.fuzz.workers.leftovers import OwnFolder\n"
              "OwnFolder('tridiff-pool-', where=Path(sys.argv[1])); os.kill(os.getpid(), signal.SIGKILL)")
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=Path(__file__).parents[3], check=False)
    kept = OwnFolder("tridiff-pool-", where=tmp_path)
    other = tmp_path / "somebody-else"
    other.mkdir()
    assert len(list(tmp_path.iterdir())) == 3
    assert sweep("tridiff-pool-", where=tmp_path) == 1
    assert sorted(tmp_path.iterdir()) == sorted([kept.path, other])
    kept.remove()
    assert list(tmp_path.iterdir()) == [other]
