"""The program as a person or a script meets it: exit statuses, JSON fields, one line for every mistake."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tridiff.fuzz.backends import ARCHITECTURES
from tridiff.fuzz.cli import doctor
from tridiff.fuzz.cli.app import COMMANDS, run
from tridiff.fuzz.cli.failure import ending
from tridiff.fuzz.corpus.store import Corpus
from tridiff.fuzz.records import CorpusEntry, decode
from tridiff.fuzz.registry import all_targets

each = pytest.mark.parametrize


def tridiff(*arguments: str, cwd: Path, status: int, **environment: str) -> tuple[str, str]:
    """stdout and stderr of one run; asserts its exit status and that no traceback is shown."""
    run = subprocess.run([sys.executable, "-m", "tridiff.fuzz", *arguments], cwd=cwd, capture_output=True, text=True,
                         timeout=280, check=False,
                         env={**os.environ, "COLUMNS": "200", **environment})
    assert "Traceback" not in run.stderr, run.stderr
    assert run.returncode == status, run.stdout + run.stderr
    return run.stdout, run.stderr


Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Program:
    """Exit status, stdout and stderr of a run in a folder of its own that starts no process of its own."""
    monkeypatch.chdir(tmp_path)

    def ended(*arguments: str) -> tuple[int, str, str]:
        status = ending(run, list(arguments))
        said = capsys.readouterr()
        return status, said.out, said.err

    return ended


# One case of vector addition in the interpreter.
SHORT = ("fuzz", "--target", "triton.vector_add", "--backend", "interpreter", "--max-cases", "1")


def summary(*arguments: str, cwd: Path, status: int) -> dict[str, Any]:
    """What `tridiff fuzz --json` says in the end."""
    output, _ = tridiff(*arguments, "--workers", "1", "--json", cwd=cwd, status=status)
    return json.loads(output.splitlines()[-1])


@each("arguments, line", [
    ("fuzz --time soon", "'soon' is no duration; write a number with s, m or h, such as 60s or 8h"),
    ("fuzz --time 0s", "'0s' is no duration; write a number with s, m or h, such as 60s or 8h"),
    ("fuzz --memory lots", "'lots' is no memory size; write a number with M or G, such as 6G"),
    ("fuzz --hang-limit -1", "'-1' is no duration; write a number with s, m or h, such as 60s or 8h"),
    ("fuzz --workers -3", "--workers -3 is out of range; give 1 to 1,024, or leave it out"),
    ("fuzz --workers 0", "--workers 0 is out of range; give 1 to 1,024, or leave it out"),
    ("fuzz --max-cases 0", "--max-cases 0 is out of range; give 1 to "),
    ("fuzz --max-cases -1", "--max-cases -1 is out of range; give 1 to "),
    ("fuzz --seed -1", "--seed -1 is out of range; "),
    ("fuzz --hang-limit 0.0001s", "--hang-limit 0.0001s is shorter than compiling a kernel takes, so that right "
     "kernels would be called hangs; give 0.5s or more"),
    ("fuzz --memory 1K", "--memory 1K is too little to import torch and Triton; give 1G or more"),
    ("fuzz --memory 99999999T", "--memory 99999999T is no limit; give 16T or less"),
    ("fuzz --time 99999d", "99999d is longer than 31 days; write a shorter time"),
    ("fuzz --backend interpreter --gpus 7", "--gpus 7"),
    ("sweep exp --backend interpreter --gpus 7", "--gpus 7"),
    ("fuzz --id ../../x", "--id '../../x' is no name for a campaign; use letters, digits, "),
    ("fuzz --resume --id ../../x", "--id '../../x' is no name for a campaign; use letters, digits, "),
    ("fuzz --backend interpreter --reports /proc/nope", "/proc/nope"),
    ("sweep exp --backend interpreter --workers 0", "--workers 0 is out of range; "),
    ("bench --backend interpreter --workers -1", "--workers -1 is out of range; "),
    ("faults triton.mod --backend interpreter --workers -1", "--workers -1 is out of range; "),
    ("fuzz --nonsense", "No such option: --nonsense"), ("nonsense", "No such command 'nonsense'"),
    ("fuzz --workers many", "Invalid value for '--workers': "),
    ("fuzz --backend abacus",
     "unknown backend 'abacus'; use cuda, interpreter, compile[:ARCH] or evaluated[:ARCH], ARCH one of sm_80 sm_90 "
     "sm_100 gfx942"),
    ("fuzz --backend interpreter --target triton.vector_ad",
     "unknown target 'triton.vector_ad'; try triton.vector_add"),
    ("fuzz --backend interpreter --target triton.mod --subject inductor",
     "triton.mod has no subject 'inductor'; use one of own, or own+fault:NAME"),
    ("fuzz --backend interpreter --target triton.mod --subject own+fault:x",
     "triton.mod has no fault 'x'; use one of floor_for_trunc"),
    ("fuzz --resume", "no campaign to resume under .tridiff/campaigns; start one with `tridiff fuzz`"),
    ("fuzz --resume --id x", "no campaign x under .tridiff/campaigns; start one with"),
    ("targets zzz*", "no target matches 'zzz*'; try one of async.* cluster.* codegen.* "),
    ("targets div_flor*", "no target matches 'div_flor*'; try helpers.div_floor_integer; `tridiff targets` lists all"),
    ("targets triton.flordiv", "unknown target 'triton.flordiv'; try triton.floordiv"),
    ("faults triton.floordiv --backend interpreter --fault nope", "none of these targets has a fault 'nope'; try "),
    ("faults triton.vector_add --backend interpreter --fault segfault", "no fault segfault can be run on interpreter; "
     "choose another --backend, or add --hooks or --process"),
    ("sweep expp --backend interpreter", "no operation matches 'expp'; try exp, exp2, ldexp, frexp; `tridiff sweep "
     "--list` lists all"),
    ("replay no-such-entry", "no entry is called 'no-such-entry'; "), ("repro no-such-entry", ""),
    ("replay nope.target", "unknown target 'nope.target'; try one of "),
    ("replay triton.floordv", "unknown target 'triton.floordv'; try triton.floordiv"),
    ("replay triton.vector_add", "the corpus has no entry of triton.vector_add; look for one with `tridiff fuzz "
     "--target triton.vector_add`"),
])
def test_a_mistake_is_one_line_and_status_2(arguments: str, line: str, tmp_path: Path, program: Program):
    (tmp_path / "corpus").mkdir()
    status, output, errors = program(*arguments.split())
    assert (status, output) == (2, "")
    assert len(errors.strip().splitlines()) == 1
    assert errors.startswith(f"tridiff: {line}")
    assert not (tmp_path / ".tridiff").exists(), "nothing was started"


@each("arguments", ["fuzz --workers 0", "replay no-such-entry", "targets nothing.*", "fuzz --nope"])
def test_with_json_a_mistake_is_one_object_as_well(arguments: str, program: Program):
    status, output, errors = program(*arguments.split(), "--json")
    told = json.loads(output)
    assert status == 2
    assert set(told) == {"error", "fix", "exit_status"} and told["exit_status"] == 2
    assert errors == f"tridiff: {told['error']}; {told['fix']}\n"


def test_the_program_without_arguments_and_its_version(tmp_path: Path):
    output, errors = tridiff(cwd=tmp_path, status=2)
    assert "Usage: tridiff" in output and "doctor" in output and errors == ""
    output, errors = tridiff("--version", cwd=tmp_path, status=0)
    assert re.fullmatch(r"tridiff \d+\.\d+\.\d+\S* \(Python 3\.\d+\.\d+, triton 3\.\S+, torch 2\.\S+\)\n", output)


@each("command", ["fuzz", "sweep"])
def test_a_pipe_in_place_of_a_plan_holds_nobody_up(command: str, tmp_path: Path, program: Program):
    state = tmp_path / ".tridiff" / ("campaigns" if command == "fuzz" else "sweeps") / "mine"
    state.mkdir(parents=True)
    os.mkfifo(state / "plan.json")
    status, _, errors = program(command, "--resume")
    assert status == 2 and "is not a regular file" in errors


def test_listing_the_commands_imports_none_of_them(tmp_path: Path):
    listed = ("import sys; from tridiff.fuzz.cli.app import COMMANDS, load, run; run(['--help']);"
              "assert not {'hypothesis', 'numpy', 'torch', 'triton', 'tridiff.fuzz.cli.fuzz'} & set(sys.modules);"
              "assert all(load(n)[0].__doc__.startswith(c.summary.rstrip('.')) for n, c in COMMANDS.items());"
              "assert all('tridiff ' + n in load(n)[1] for n in COMMANDS);"
              "assert not {'torch', 'triton'} & set(sys.modules)")
    subprocess.run([sys.executable, "-c", listed], cwd=tmp_path, check=True, capture_output=True)


@each("plan", [{"id": "../../../../x"}, {"options": {"corpus": "../outside"}},
                                  {"options": {"corpus": "absent"}}, {"options": {"workers": -1}}])
def test_a_plan_from_elsewhere_writes_nothing_outside(plan: dict[str, Any], tmp_path: Path, program: Program,
                                                      monkeypatch: pytest.MonkeyPatch):
    """`--resume` reads plan.json of the state folder, whoever wrote it."""
    here = tmp_path / "here"
    state = here / ".tridiff" / "campaigns" / "mine"
    state.mkdir(parents=True)
    (here / "corpus").mkdir()
    options = json.loads(msgspec.json.encode(campaign_options(max_cases=1)))
    whole = {"id": "mine", "options": {**options, "corpus": "corpus", **plan.get("options", {})}, "shards": []}
    (state / "plan.json").write_text(json.dumps(whole | {"id": plan.get("id", "mine")}))
    monkeypatch.chdir(here)
    assert program("fuzz", "--resume", "--id", "mine")[0] == 2
    assert [one.name for one in tmp_path.iterdir()] == ["here"]
    assert {one.name for one in here.iterdir()} == {"corpus", ".tridiff"}


@each("command", COMMANDS)
def test_every_command_shows_examples(command: str, program: Program):
    status, output, _ = program(command, "--help")
    assert status == 0 and "Examples" in output and f"tridiff {command}" in output and "--json" in output


def test_targets_as_json(tmp_path: Path):
    output, _ = tridiff("targets", "triton.*", "helpers.min2", "--json", cwd=tmp_path, status=0)
    listed = {one["name"]: one for one in json.loads(output)}
    assert {"triton.vector_add", "triton.floordiv", "triton.mod", "helpers.min2"} <= set(listed)
    for one in listed.values():
        assert {"name", "family", "subjects", "backends", "oracles", "contract"} <= set(one)
    assert listed["helpers.min2"]["subjects"] == ["own", "inductor"]
    assert listed["triton.floordiv"]["oracles"] == ["torch", "numpy"]
    assert {"cuda", "interpreter", "compile:sm_90", "compile:gfx942"} <= set(listed["triton.vector_add"]["backends"])
    assert {"tail_dropped", "segfault", "wrong_value"} <= set(listed["triton.vector_add"]["faults"])
    assert listed["triton.floordiv"]["family"] == "triton"


def test_targets_are_a_list_to_look_through(program: Program):
    status, short, _ = program("targets")
    assert status == 0 and "contract" not in short and "§" not in short
    lines = short.splitlines()
    assert len(lines) == len(all_targets()) + 1 and len(short) < 160 * len(lines)
    shown, = (line.split() for line in lines if line.startswith("helpers.min2 "))
    assert shown[1:5] == ["own", "inductor", "13", "5"]
    _, long, _ = program("targets", "helpers.m*", "--long")
    assert "contract" in long and "helpers.md §5" in long and "torch numpy" in long


def test_operations_to_sweep_are_listed(program: Program):
    status, output, _ = program("sweep", "exp*", "--list", "--json")
    listed = {one["name"]: one for one in json.loads(output)}
    assert status == 0 and {"exp", "exp2", "expm1"} <= set(listed) and ["fp32"] in listed["exp"]["signatures"]
    assert program("sweep", "div*", "--list")[1].startswith("operation")


def test_doctor_as_json(program: Program):
    status, output, _ = program("doctor", "--json")
    assert status == 0
    rows = {one["check"]: one for one in json.loads(output)}
    assert {"python", "torch", "triton", "numpy", "C compiler", "GPUs", "disk", "backend interpreter",
            *(f"backend compile:{one}" for one in ARCHITECTURES), "interpreter repairs"} <= set(rows)
    assert rows["backend interpreter"]["ok"] is True and rows["backend compile:sm_90"]["ok"] is True
    assert rows["backend compile:gfx942"]["ok"] or "its vendor needs" in rows["backend compile:gfx942"]["detail"]
    assert re.match(r"Triton 3\.\d+\.\d+ on ", rows["backend interpreter"]["detail"])


@each("unset, red", [(True, False), (False, True)])
def test_doctor_says_that_every_process_compiles_everything(unset: bool, red: bool, tmp_path: Path,
                                                            monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", not unset)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    _, fine, detail = doctor._bytecode()
    assert fine is not red
    assert not red or ("files are not compiled" in detail and "python -m compileall -q /" in detail)


FAULT = ("fuzz", "--target", "helpers.div_floor_integer", "--backend", "interpreter", "--seed", "3")
FIELDS = {"executed", "agree", "disagree", "not_checked", "compile_error", "crash", "hang", "row_inputs", "launches",
          "compiled_kernels", "new_findings", "known_findings", "seconds"}


@pytest.mark.slow
def test_find_know_and_stop_failing(tmp_path: Path, program: Program):
    """A fault is found (1); as a corpus entry it is known and suppressed (0); without the fault nothing is new (0), and
    replaying the entry says that it no longer fails (1)."""
    def said(*arguments: str, status: int) -> str:
        ended, output, errors = program(*arguments)
        assert ended == status, output + errors
        return output

    def campaign(*more: str, status: int) -> dict[str, Any]:
        return json.loads(said(*FAULT, "--workers", "1", "--json", *more, status=status).splitlines()[-1])

    fault = "own+fault:trunc_for_floor"
    (tmp_path / "corpus").mkdir()  # one that is there is not filled with the installed entries
    # The second campaign draws the first 6 of them again, so that all of it is known then.
    first = campaign("--max-cases", "8", "--subject", fault, status=1)
    assert set(first) >= FIELDS
    assert first["executed"] == 8 and first["disagree"] > 0 and first["new_findings"] == len(first["new_finding_ids"])
    assert not list((tmp_path / "corpus").rglob("*.json")), "planted faults stay out of the corpus"
    record = Path(tmp_path / first["record"])
    assert {p.name for p in record.iterdir()} >= {"summary.json", "outcomes.sqlite", "report.html", "junit.xml"}
    assert first["new_finding_ids"][0] in (record / "report.html").read_text()
    assert not list(record.rglob("*.md")), "nor does anybody report them"

    corpus = Corpus(tmp_path / "corpus")
    found = [decode(path.read_bytes(), CorpusEntry) for path in (tmp_path / ".tridiff").rglob("findings/*.json")]
    assert len(found) == first["new_findings"]
    for entry in found:
        corpus.admit(entry)
    second = campaign("--max-cases", "6", "--subject", fault, status=0)
    assert (second["new_findings"], second["executed"]) == (0, 6) and second["disagree"] > 0
    assert 0 < second["known_findings"] <= len(found)
    assert second["stopped_failing"] == []

    # The same entries, said to be about the own subject, which never fails.
    repaired = Corpus(tmp_path / "repaired")
    for entry in found:
        signature = replace(entry.signature, subject="own")
        expected = tuple(replace(one, subject="own") for one in entry.expected)
        repaired.admit(replace(entry, signature=signature, expected=expected))
    third = campaign("--max-cases", "6", "--subject", "own", "--corpus", "repaired", status=0)
    assert third["stopped_failing"] == [], "no entry is run before its finding comes up"
    assert (third["disagree"], third["new_findings"], third["known_findings"]) == (0, 0, 0)

    def replayed(corpus: str, *more: str, status: int) -> list[dict[str, Any]]:
        return json.loads(said("replay", "--corpus", corpus, "--backend", "interpreter", "--json", *more,
                               status=status))

    rows = replayed("corpus", status=0)
    assert rows and all({"id", "target", "expected", "actual", "ok"} <= set(row) for row in rows)
    assert all((row["expected"], row["actual"], row["ok"]) == ("disagree", "disagree", True) for row in rows)
    assert all((row["expected"], row["actual"], row["ok"]) == ("disagree", "agree", False)
               for row in replayed("repaired", status=1))
    assert program("replay", "--corpus", "empty", "--json")[0] == 2

    # Seen under another Triton only: here nothing is expected until it is recorded, and what stands stays.
    for entry in found:
        corpus.rewrite(replace(entry, expected=tuple(replace(one, triton="3.5.0") for one in entry.expected)))
    assert {row["status"] for row in replayed("corpus", "--record", status=2)} == {"new_information"}
    assert {row["status"] for row in replayed("corpus", status=0)} == {"as_expected"}
    assert all(len(entry.expected) == 2 for entry in corpus.entries() if isinstance(entry, CorpusEntry))


def test_nothing_checked_is_status_2(tmp_path: Path):
    """Workers without memory for anything: that is the harness's failure, not the subject's."""
    found = summary(*SHORT, "--max-cases", "5", "--memory", "128M", cwd=tmp_path, status=2)
    assert found["new_findings"] == found["agree"] == found["crash"] == 0
    assert found["not_checked"] == found["executed"]
    assert found["not_checked_reasons"] or found["errors"]


def test_places_that_cannot_be_written_are_one_line(tmp_path: Path, program: Program):
    blocked = tmp_path / "file"
    blocked.write_text("")
    for option in ("--corpus", "--state"):
        status, _, errors = program(*SHORT, option, str(blocked / "sub"))
        last = errors.strip().splitlines()[-1]
        assert status == 2
        assert re.match(r"tridiff: .*(cannot be created|cannot be written) \(Not a directory\); ", last), errors


def test_a_campaign_id_is_not_used_twice(tmp_path: Path, program: Program):
    (tmp_path / ".tridiff" / "campaigns" / "mine").mkdir(parents=True)
    status, _, errors = program(*SHORT, "--id", "mine")
    assert status == 2
    assert errors.strip().splitlines()[-1] == "tridiff: campaign mine exists; resume it or choose another --id"


def test_a_scheduler_runs_the_shards(tmp_path: Path):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (extra: cluster)")
    # What it sets in this process's environment is for its workers alone.
    with patch.dict(os.environ), distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        found = summary(*SHORT, "--max-cases", "10", "--scheduler", cluster.scheduler_address, cwd=tmp_path, status=0)
    assert found["agree"] == 10


def test_a_scheduler_without_dask_is_one_line(tmp_path: Path):
    absent = tmp_path / "absent" / "distributed"
    absent.mkdir(parents=True)
    (absent / "__init__.py").write_text("raise ImportError('not installed')")
    _, errors = tridiff(*SHORT, "--scheduler", "tcp://127.0.0.1:1", cwd=tmp_path, status=2,
                        PYTHONPATH=os.pathsep.join((str(absent.parent), os.environ.get("PYTHONPATH", ""))))
    assert errors.strip().splitlines()[-1] == (
        "tridiff: --scheduler needs dask.distributed; pip install 'tridiff[cluster]'")
