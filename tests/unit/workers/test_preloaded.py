"""Zygotes that are forked by a process which imported for all of them."""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import pytest

from tests.support.campaigns import campaign_options
from tests.support.cases import addition
from tests.support.planted import PACKAGE, edit_in
from tridiff.fuzz.campaign import drivers
from tridiff.fuzz.planted.copy import plant
from tridiff.fuzz.records import Verdict
from tridiff.fuzz.workers.pool import Pool, PoolOptions
from tridiff.fuzz.workers.preloaded import Preloaded, environment_of, fork_zygote
from tridiff.fuzz.workers.zygote import OF_INDUCTOR, OF_TORCH_COMPILE

pytestmark = pytest.mark.own_zygote

CASE = addition(rows=8, dtype="fp32")


@pytest.fixture(scope="module")
def preloaded() -> Iterator[Preloaded]:
    with Preloaded(("",), ("interpreter",)) as made:
        yield made


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def gone(pid: int, *, within: float = 5.0) -> bool:
    deadline = time.monotonic() + within
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    return not Path(f"/proc/{pid}").exists()


def options(made: Preloaded) -> PoolOptions:
    return PoolOptions(backend="interpreter", hang_limit=60, spare=False, preloaded=str(made.folder))


def test_pools_share_one_process_that_has_imported_and_leave_nothing(preloaded: Preloaded, tmp_path: Path):
    with Pool(options(preloaded)) as one, Pool(options(preloaded)) as other:
        (zygote, worker), (second, _) = one.processes(), other.processes()
        assert parent_of(zygote) == parent_of(second) != os.getpid() and zygote != second
        assert one.execute(CASE, "own").verdict is other.execute(CASE, "own").verdict is Verdict.AGREE
    assert gone(zygote) and gone(second) and gone(worker)


def test_what_is_interpreted_sees_no_gpu_and_what_is_launched_sees_those_of_the_machine(
        preloaded: Preloaded, monkeypatch: pytest.MonkeyPatch):
    with Pool(options(preloaded)) as pool:
        for process in pool.processes():
            assert b"\0CUDA_VISIBLE_DEVICES=\0" in Path(f"/proc/{process}/environ").read_bytes()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert environment_of("", False)["CUDA_VISIBLE_DEVICES"] == "3"


def test_what_many_workers_would_import_is_imported_once_before_they_are_forked():
    told: list[frozenset[str]] = []

    def more(kinds: frozenset[str]) -> tuple[str, ...]:
        told.append(kinds)
        return ("this",)  # it says that it is imported

    def said(name: str) -> list[str]:
        return [path.read_text() for path in made.folder.glob(f"*-interpreted{name}.log")]

    with Preloaded(("",), ("interpreter", "compile:sm_90"), more=more) as made:
        with Pool(options(made)) as pool:
            assert pool.worker and told == [{"interpreter"}, {"compile"}]
            assert said("") == [""] and said("-more") == [], "nobody needs it"
            process = parent_of(pool.processes()[0])
        with Pool(replace(options(made), more=True)) as pool, Pool(replace(options(made), more=True)) as other:
            assert pool.execute(CASE, "own").verdict is other.execute(CASE, "own").verdict is Verdict.AGREE
            beside = {parent_of(one.processes()[0]) for one in (pool, other)}
            assert [parent_of(one) for one in beside] == [process]
        (text,) = said("-more")
        assert text.count("The Zen of Python") == 1
    assert all(gone(one) for one in (process, *beside))


def test_builds_and_modes_share_all_but_triton(tmp_path: Path):
    wrong = plant(edit_in("language/semantic.py", "TritonSemantic.add", "other_instruction", "create_fadd"), PACKAGE,
                  tmp_path / "wrong")
    own = tmp_path / "own"  # with a package that is shared otherwise
    own.mkdir()
    for package in (PACKAGE, Path(ml_dtypes.__file__).parent):
        (own / package.name).symlink_to(package)
    verdicts, parents, commands = [], set(), []
    with Preloaded(("", str(wrong), str(own)), ("interpreter", "compile:sm_90")) as made:
        for build in ("", str(wrong), str(own)):
            with Pool(replace(options(made), build=build)) as pool:
                verdicts.append(pool.execute(CASE, "own").verdict)
                process = parent_of(pool.processes()[0])
                parents.add(parent_of(process))
                commands.append(Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")[-2])
    assert verdicts == [Verdict.AGREE, Verdict.DISAGREE, Verdict.AGREE] and len(parents) == 1
    assert commands == [str(os.getpid()).encode()] * 2 + [b"4"], "the last one imports for itself"
    assert all(gone(process) for process in parents)


@pytest.mark.parametrize("targets, subjects, kinds, modules", [
    (("inductor.pointwise",), (), {"interpreter"}, OF_INDUCTOR + OF_TORCH_COMPILE),
    (("inductor.pointwise",), ("own",), {"interpreter"}, ()),
    (("inductor.pointwise", "helpers.maximum"), (), {"compile"}, OF_INDUCTOR),
    (("triton.vector_add",), (), {"interpreter"}, ())])
def test_a_campaign_shares_what_its_subjects_need_and_nothing_else(
        targets: tuple[str, ...], subjects: tuple[str, ...], kinds: set[str], modules: tuple[str, ...]):
    asked = campaign_options(targets=targets, subjects=subjects, backends=("interpreter", "compile:sm_90"))
    assert drivers.modules(asked, frozenset(kinds)) == modules


def test_an_architecture_of_another_mode_and_a_build_without_a_process_fork_nothing(
        preloaded: Preloaded, tmp_path: Path):
    given = {"device": 0, "memory": 1 << 30, "log": tmp_path / "log", "environment": {}}
    for build, backend in (("", "compile:sm_90"), ("/no/such/build", "interpreter")):
        assert fork_zygote(preloaded.folder, build=build, backend=backend, **given) is None


def test_a_pool_goes_on_when_the_process_is_killed_that_forked_its_zygote():
    with Preloaded(("",), ("interpreter",)) as made, Pool(options(made)) as pool:
        zygote, worker = pool.processes()
        shared = parent_of(zygote)
        os.kill(shared, signal.SIGKILL)
        assert gone(zygote) and gone(worker), "they end with it"
        lost = pool.execute(CASE, "own")
        assert (lost.verdict, lost.signature) == (Verdict.NOT_CHECKED, None)
        assert pool.execute(CASE, "own").verdict is Verdict.AGREE
        assert parent_of(pool.processes()[0]) == os.getpid()
