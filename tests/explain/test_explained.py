"""`tridiff explain`, whole and in parts; each part's checks run in one child process."""

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.browser import MISSING, browser
from tests.support.in_subprocess import Checks, every_check
from tests.support.refusals import refused
from tests.support.repository import ENTRIES
from tests.unit.corpus.entries import entry
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.cli.app import run
from tridiff.fuzz.explain import prepared
from tridiff.fuzz.explain.explain import What, Wish, explain, request
from tridiff.fuzz.explain.model import Explanation, Stage, Stages
from tridiff.fuzz.records import LaunchOptions
from tridiff.fuzz.records.outcome import Launched
from tridiff.fuzz.registry import find
from tridiff.fuzz.report.explained import page
from tridiff.fuzz.report.html import LARGEST
from tridiff.fuzz.target.subjects import parse_subject

HERE = Path(__file__).parent
ADD = ["--args", "x=fp32[10]=iota y=fp32[10]=ones out=fp32[10]=out n=10 BLOCK=4", "--grid", "3"]


test_explained = every_check({
    path.stem: Checks(path, interpret=path.stem.endswith("memory")) for path in sorted(HERE.glob("checks_*.py"))})


@pytest.fixture(scope="module")
def explained() -> bytes:
    """A finding of the corpus, explained as JSON."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert run(["explain", "triton.floordiv/value-cd18b7a4b0", "--json", "--passes", "--against",
                    "num_warps=2"]) == 0
    return out.getvalue().encode()


def test_a_finding_is_explained_as_json(explained: bytes):
    said = json.loads(explained)
    assert {"source", "specialisation", "stages", "element", "blame", "checks", "commands"} <= said.keys()
    element = said["element"]
    assert element["buffer"] == "out" and element["index"] == [1]
    assert (element["interpreted"], element["recorded"], element["expected"]["numpy"]) == ("0", "-1", "0")
    (division,) = (step for step in element["steps"] if step["operation"] == "sdiv")
    assert [one["values"] for one in division["operands"]] == [["-1"], ["2"]]
    shared = next(one for one in said["checks"] if one["name"] == "one register, different values")
    assert shared["holds"] is False and "0xffffffff and 0x0" in shared["said"]
    assert any("warpsPerCTA = [2]" in one.get("diff", "") for one in said["against"] if one["stage"] == "ttgir")
    assert any(one["command"].endswith("--pdb --program 0,0,0") for one in said["commands"])


def test_the_launch_that_was_wrong_is_explained():
    found = entry()
    told = Launched(options=LaunchOptions(num_warps=8), schedule=1)
    found = replace(found, evidence=replace(found.evidence, launched=told))
    asked = request(What(named="x", case=found.case, entry=found), Wish())
    assert asked.case is not None and (asked.case.options, asked.schedule) == (told.options, 1)
    assert request(What(named="x", case=found.case, entry=entry()), Wish()).case == found.case
    launches: list[Launch] = []
    target = SimpleNamespace(run=SimpleNamespace(launch=launches.append), subjects=())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared, "find", lambda name: target)
        patch.setattr(prepared, "parse_subject", lambda *_: parse_subject("own", find(found.case.target)))
        prepared.prepared(asked).launch(SimpleNamespace(backend="compile:sm_90"))
    assert [(one.options, one.schedule) for one in launches] == [(told.options, 1)]


def test_a_register_that_nothing_writes_is_told_of_a_finding(explained: bytes):
    """ptxas's defect is seen without a GPU, in the machine code of every release; a division has none of it."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert run(["explain", "codegen.pointwise/value-8943e2a99b", "--json"]) == 0
    for said, holds in ((out.getvalue(), False), (explained, True)):
        check, = (one for one in json.loads(said)["checks"] if one["name"] == "uniform registers")
        assert check["holds"] is holds and ("0xbb32" in check["said"]) is not holds


def test_a_page_needs_nothing_beside_it(explained: bytes):
    text = page(msgspec.json.decode(explained, type=Explanation))
    assert len(text) < 900_000 and not re.search(r"(?:src|href)=[\"'](?!#)|url\(|@import", text)
    plain = re.sub(r"<[^>]+>", "", text)
    for said in ("How out[1] came about", "the device gave-1", "the interpreter computes0", "#10    sdiv(-1",
                 "writes one register to places 0 and 1", "make_ttgir add_coalesce",
                 "laneOne element's place in a block."):
        assert said.replace(" ", "") in plain.replace(" ", "").replace("\n", ""), said
    written, layout = re.findall(r'<svg class="cells".*?</svg>', text, re.DOTALL)
    assert written.count("written by program (0, 0, 0)") == 2 and written.count('class="frame"') == 1
    assert "element 3: warp 0, lane 1, register 1" in layout


def test_what_a_file_names_is_text_on_the_page(explained: bytes):
    one = msgspec.json.decode(explained, type=Explanation)
    foul = "<script>alert(1)</script>\u202e"
    text = page(replace(one, title=foul, evidence=(foul,)))
    assert "<script>alert" not in text and "\u202e" not in text


def test_a_page_of_a_huge_kernel_is_cut_and_says_so():
    text = "\n".join(f"line {number} {'x' * 200}" for number in range(40_000))
    huge = Explanation(title="huge", stages=Stages(arch="sm_90", texts=tuple(
        Stage(name=name, bytes=len(text), lines=40_000, text=text) for name in ("ttgir", "llir", "ptx"))))
    made = page(huge)
    assert len(made.encode()) <= LARGEST and made.count("lines more: <code>--save</code>") == 3


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
def test_lines_of_the_page_lead_to_instructions(explained: bytes, tmp_path: Path):
    file = tmp_path / "page.html"
    file.write_text(page(msgspec.json.decode(explained, type=Explanation)))
    with browser() as one:
        one.open(file.as_uri())
        lit = one.run("""const text = (one) => one.textContent;
            [...document.querySelectorAll(".code li[data-key]")]
                .find((one) => text(one).includes("tl.store(pointers, value, mask")).click();
            return [...document.querySelectorAll("[data-stage=ptx] .lit")].map(text);""")
        assert [line for line in lit if "st.global" in line] == lit and len(lit) == 2
        colours = []
        for scheme in ("light", "dark"):
            one.emulate(prefers_color_scheme=scheme)
            colours.append(one.run("return getComputedStyle(document.body).backgroundColor"))
        assert colours == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"] and one.log() == []


def test_the_debugger_stops_in_the_program_that_was_named():
    command = [sys.executable, "-m", "tridiff.fuzz", "explain", f"{HERE / 'explained_kernels.py'}:vector_add", *ADD,
               "--pdb", "--program", "2"]
    done = subprocess.run(command, input="n\nn\nn\np offsets.handle.data\np a.handle.data[:2]\nl .\nw\nq\n", text=True,
                          capture_output=True, timeout=120)
    assert "-> offsets = tl.program_id(0) * BLOCK" in done.stdout.splitlines()[2], done.stdout
    assert (done.returncode, done.stderr) == (0, "")
    assert "array([ 8,  9, 10, 11]" in done.stdout and "array([8., 9.]" in done.stdout
    assert "->\t    b = tl.load(y + offsets, mask=mask)" in done.stdout


@pytest.mark.parametrize("arguments, said", [
    (["value-cd18b7a4b0", "--arch", "sm_12"], "use one of sm_80"),
    (["value-cd18b7a4b0", "--stage", "hex"], "use one of source"),
    (["value-cd18b7a4b0", "--element", "out"], "such as 'out[0, 5]'"),
    (["value-cd18b7a4b0", "--grid", "3"], "FILE.py:kernel"),
    (["nowhere.py:add"], "no file nowhere.py")])
def test_what_is_not_understood_is_taught(arguments: list[str], said: str):

    with refused(said.replace("[", r"\[")):
        run(["explain", *arguments])


def test_a_kernel_of_torch_compile_is_followed_through_its_library():
    entry = ENTRIES.find("inductor.pointwise/nan-missing-42dd8e6869")
    found = explain(What(named=entry.id, case=entry.case, entry=entry, subject="inductor"), Wish(compile=False))
    assert found.element is not None and found.element.interpreted == "inf" == found.element.recorded
    assert {step.operation for step in found.element.steps} >= {"load", "libdevice.floor", "store"}
    loads = [(step.place, step.values) for step in found.element.steps if step.operation == "load"]
    assert loads == [("in_ptr0[0]", ("inf",)), ("in_ptr1[0]", ("1.0",))]
    assert found.memory.verdict.startswith("disagree") and "libdevice.floor" in found.source.functions[0].text
