"""Ready files: workflows, units, the cluster script and the container file name commands and options that exist, and do
what they say as far as a CPU can tell."""

import os
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tridiff.fuzz.cli.app import COMMANDS, program

each = pytest.mark.parametrize
yaml = pytest.importorskip("yaml", reason="PyYAML, of tridiff's extra `test`, is not installed")

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "fuzz" / "deploy"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FILES = [*WORKFLOWS, *sorted(path for path in DEPLOY.iterdir() if path.suffix != ".md"), DEPLOY / "README.md"]

COMMAND = re.compile(rf"(?:^|[\s`=/\"])tridiff\"?[ \t]+((?:{'|'.join(COMMANDS)})\b[^\n`#&|>]*)", re.MULTILINE)


def commands(text: str) -> Iterator[list[str]]:
    """Words of every command line of tridiff in a file; what a shell or GitHub would fill in is a word of its own."""
    joined = re.sub(r"\\\n\s*", "", text)
    for found in COMMAND.findall(joined):
        plain = re.sub(r"\$\{\{.*?\}\}|\$\(\(.*?\)\)|\$\{.*?\}|\$\w+", "1", found)
        yield [word for word in shlex.split(plain)]


@cache
def known() -> Any:
    return typer.main.get_command(program(*COMMANDS))


@each("path", FILES, ids=lambda path: path.name)
def test_commands_and_options_exist(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, *words in commands(path.read_text()):
        if words != ["..."]:
            known().commands[name].make_context(name, words)  # Raises for an option or a value that is none.


def test_commands_are_found_wherever_they_stand():
    found = [words for path in FILES for words in commands(path.read_text())]
    assert len(found) >= 12 and {words[0] for words in found} >= {"fuzz", "gate", "report", "doctor", "campaigns"}
    with pytest.raises(Exception, match="No such option"):
        known().commands["fuzz"].make_context("fuzz", ["--no-such-option"])


# -- GitHub Actions


@each("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_well_formed(path: Path):
    flow = yaml.safe_load(path.read_text())
    assert set(flow) <= {"name", True, "permissions", "concurrency", "jobs", "env"}, "`on` reads as true"
    assert flow["permissions"] == {"contents": "read"} and flow["concurrency"]["group"]
    for event in flow[True].get("schedule", ()) if isinstance(flow[True], dict) else ():
        assert re.fullmatch(r"(\S+ ){4}\S+", event["cron"])
    for job in flow["jobs"].values():
        assert job["runs-on"] and 0 < job["timeout-minutes"] <= 600
        assert {job.get("needs")} - {None} <= set(flow["jobs"])
        ids = {step.get("id") for step in job["steps"]}
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert set(step) <= {"name", "id", "if", "uses", "with", "run", "env"}
            if "uses" in step:
                assert re.fullmatch(r"[\w-]+/[\w/-]+@v\d+", step["uses"])
            else:
                script = re.sub(r"\$\{\{.*?\}\}", "1", step["run"])
                assert subprocess.run(["bash", "-n"], input=script, text=True).returncode == 0
                # What a pull request may contain never becomes part of a script.
                assert not re.search(r"\$\{\{\s*(github\.event|inputs|needs)\.", step["run"])
        for word in re.findall(r"steps\.([\w-]+)\.", str(job)):
            assert word in ids
        for word in re.findall(r"matrix\.(\w+)", str(job)):
            assert all(word in one for one in job["strategy"]["matrix"]["include"])


@each("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_job_without_a_gpu_installs_no_cuda(path: Path):
    for job in yaml.safe_load(path.read_text())["jobs"].values():
        installs = re.findall(r"pip install .*", "\n".join(step.get("run", "") for step in job["steps"]))
        if installs and "gpu" not in job["runs-on"]:
            assert re.search(r"torch==.+ --index-url https://download\.pytorch\.org/whl/cpu$", installs[0])


def test_the_gate_runs_where_a_pin_may_change_and_never_for_strangers():
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "gate.yml").read_text())
    assert "pull_request_target" not in flow[True]
    assert "head.repo.full_name == github.repository" in flow["jobs"]["pin"]["if"]
    assert flow["jobs"]["gate"]["needs"] == "pin" and "10m" in flow["jobs"]["gate"]["env"]["BUDGET"]
    assert set(flow["jobs"]["pin"]["outputs"]) == {"baseline", "candidate"}


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=folder, check=True,
                   capture_output=True)


@each("before, after, said", [
    ("torch==2.11\ntriton==3.6.0\n", "torch==2.13\ntriton==3.9.0  # newer\n", "baseline=3.6.0\ncandidate=3.9.0\n"),
    ("triton==3.6.0\n", "# a word\ntriton==3.6.0\n", ""),
    ("triton==3.6.0\n", "pytriton==3.9.0\ntriton==3.6.0\n", ""),
    ("triton>=3.6\n", "triton>=3.7\n", ""), ("triton==3.6.0\n", "", ""),
    ("triton==3.6.0 $(id)\n", "triton==3.9.0;rm -rf /\n", "baseline=3.6.0\ncandidate=3.9.0\n"),
])
def test_a_changed_pin_is_seen(tmp_path: Path, before: str, after: str, said: str):
    git(tmp_path, "init", "-q")
    for text in (before, after):
        (tmp_path / "requirements-dev.txt").write_text(text)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
    run = subprocess.run(["bash", str(DEPLOY / "changed-pin.sh"), "HEAD~1", "HEAD"], cwd=tmp_path, text=True,
                         capture_output=True, check=True)
    assert run.stdout == said


def test_the_pin_of_the_nightly_workflow_counts(tmp_path: Path):
    text = (ROOT / ".github" / "workflows" / "nightly.yml").read_text()
    pinned, = re.findall(r'triton: "([\d.]+)"', text)
    folder = tmp_path / ".github" / "workflows"
    folder.mkdir(parents=True)
    for version in (pinned, "3.99.0"):
        (folder / "nightly.yml").write_text(text.replace(f'triton: "{pinned}"', f'triton: "{version}"'))
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", "x")
    run = subprocess.run(["bash", str(DEPLOY / "changed-pin.sh"), "HEAD~1", "HEAD"], cwd=tmp_path, text=True,
                         capture_output=True, check=True)
    assert run.stdout == f"baseline={pinned}\ncandidate=3.99.0\n"


# -- systemd, SLURM, the container


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd on this machine")
def test_the_units_are_ones_that_systemd_takes(tmp_path: Path):
    for path in DEPLOY.glob("tridiff-nightly.*"):
        # The program lies where this machine has one: whether it is there is not the question.
        (tmp_path / path.name).write_text(path.read_text().replace("/opt/tridiff/bin/tridiff", "/bin/true"))
    units = sorted(map(str, tmp_path.iterdir()))
    run = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *units], text=True,
                         capture_output=True, timeout=60)
    assert run.returncode == 0 and "tridiff" not in run.stderr, run.stderr
    when = re.search(r"OnCalendar=(.*)", (DEPLOY / "tridiff-nightly.timer").read_text())
    assert when and subprocess.run(["systemd-analyze", "calendar", when[1]], capture_output=True).returncode == 0


def test_the_service_outlasts_its_night():
    text = (DEPLOY / "tridiff-nightly.service").read_text()
    assert "--time 8h" in text and "TimeoutStartSec=9h" in text and "Type=oneshot" in text


@each("task, triton", [(0, "triton-3.6.0"), (5, "triton-3.9.0")])
def test_the_cluster_script_starts_a_night_of_its_own_for_each_task(tmp_path: Path, task: int, triton: str):
    script = DEPLOY / "nightly.slurm"
    for version in ("triton-3.6.0", "triton-3.9.0"):
        program = tmp_path / "shared" / version / "bin" / "tridiff"
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/bash\necho "$0" "$@"\necho "$TRITON_CACHE_DIR"\n')
        program.chmod(0o755)
    run = subprocess.run(["bash", str(script)], text=True, capture_output=True, check=True, env={
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "SHARED": str(tmp_path / "shared"), "TMPDIR": str(tmp_path),
        "SLURM_ARRAY_JOB_ID": "77", "SLURM_ARRAY_TASK_ID": str(task), "SLURM_CPUS_PER_TASK": "12"})
    said, cache_folder = run.stdout.splitlines()
    started, *words = said.split()
    assert started == str(tmp_path / "shared" / triton / "bin" / "tridiff")
    assert words == ["fuzz", "--time", "8h", "--id", f"night-77-{task}", "--seed", str(77000 + task), "--workers", "12",
                     "--corpus", f"{tmp_path}/shared/corpus", "--reports", f"{tmp_path}/shared/reports", "--state",
                     f"{tmp_path}/night-77-{task}/campaigns"]
    assert cache_folder.startswith(f"{tmp_path}/night-77-{task}/")
    options = dict(re.findall(r"^#SBATCH --([\w-]+)=(\S+)$", script.read_text(), re.MULTILINE))
    assert options["array"] == "0-7" and options["gres"] == "gpu:1" and options["signal"] == "TERM@600"
    hours, minutes, _ = map(int, options["time"].split(":"))
    assert hours * 60 + minutes - 600 // 60 >= 8 * 60, "the signal comes after the night"


def test_the_container_file(tmp_path: Path):
    text = re.sub(r"\\\n\s*", "", (DEPLOY / "Containerfile").read_text())
    lines = [line.split(None, 1) for line in text.splitlines() if line and not line.startswith("#")]
    names = [name for name, _ in lines]
    assert names[0] == "FROM" and names[-2:] == ["ENTRYPOINT", "CMD"]
    assert set(names) <= {"FROM", "ARG", "RUN", "COPY", "USER", "WORKDIR", "VOLUME", "STOPSIGNAL", "ENTRYPOINT", "CMD"}
    for name, rest in lines:
        if name == "COPY":
            *sources, target = rest.split()
            assert all((ROOT / source).exists() for source in sources) and target.startswith("/src")
        elif name == "RUN":
            assert subprocess.run(["bash", "-n"], input=rest, text=True).returncode == 0
    versions = dict(rest.split("=") for name, rest in lines if name == "ARG")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert any(one.startswith("triton>=3.6,<3.10") for one in project["dependencies"])
    assert re.fullmatch(r"3\.[6-9]\.\d+", versions["TRITON"]) and re.fullmatch(r"2\.1[1-3]\.\d+", versions["TORCH"])
    packages = {"fuzz", "kernels", "oracles", "corpus"}
    copied = {word.strip("/") for name, rest in lines if name == "COPY" for word in rest.split()[:-1]}
    assert packages <= copied, "what the package is made of"


@each("path", [*DEPLOY.glob("*.sh"), *DEPLOY.glob("*.slurm")], ids=lambda path: path.name)
def test_shell_scripts_parse_and_stop_at_errors(path: Path):
    assert subprocess.run(["bash", "-n", str(path)]).returncode == 0
    assert "\nset -euo pipefail\n" in path.read_text()
