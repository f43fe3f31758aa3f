"""Standalone scripts: short, on their own, BUG for the finding and OK for the clean control."""

import ast
import functools
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.cases import ramp
from tests.support.nights import by_day
from tests.support.refusals import refused
from tests.support.repository import ENTRIES, REPOSITORY
from tests.unit.corpus.entries import expect
from tests.unit.graphs.graphs import X, filled, load, store
from tests.unit.repro.findings import FINDINGS, FLOOR, OTHER_OPTIONS, SEVEN, Finding
from tridiff.fuzz.corpus import entry_id
from tridiff.fuzz.known.draws import draw_cases
from tridiff.fuzz.records import Case, CorpusEntry, Environment, Evidence, Iota, Signature, Verdict
from tridiff.fuzz.repro import script as scripts
from tridiff.fuzz.repro.build import build
from tridiff.fuzz.repro.request import Candidate, Candidates, Recorded, Request
from tridiff.fuzz.repro.script import MAX_LINES, Run, default_backend, run, script
from tridiff.fuzz.statements.cases import script_of
from tridiff.fuzz.statements.draft import node, variable
from tridiff.fuzz.target import Limits
from tridiff.kernels.codegen.graph import Buffer, Graph, Schedule

each = pytest.mark.parametrize
ALLOWED = {"numpy", "torch", "triton", "os", "sys", "subprocess", "re", "base64", "zlib", "tempfile"}


def request(finding: Finding, *, subject: str = "", backend: str = "interpreter", liveness: bool = True) -> Request:
    return Request(title="a title", note="a note", case=finding.case, subject=subject or f"own+fault:{finding.fault}",
                   backend=backend, failure=finding.verdict, failure_kind=finding.kind, liveness=liveness,
                   length="short if possible")


def texts(asked: Request) -> tuple[str, ...]:
    return tuple(one.text for one in build(asked).scripts)


def imported(text: str) -> set[str]:
    """Packages that a script imports."""
    names = set()
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.Import):
            names |= {name.name.partition(".")[0] for name in one.names}
        elif isinstance(one, ast.ImportFrom):
            names.add((one.module or "").partition(".")[0])
    return names


@functools.cache
def _running() -> "subprocess.Popen[str]":
    """The process that runs scripts, without this checkout in sight; one for all tests here."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("run_scripts.py"))], cwd="/", stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment | {"TRITON_INTERPRET": "1"})


@pytest.fixture(scope="module", autouse=True)
def no_running_process_is_left() -> Iterator[None]:
    yield
    if _running.cache_info().currsize:
        _running().communicate(timeout=60)
        _running.cache_clear()


def run_all(folder: Path, written: dict[str, str]) -> dict[str, str]:
    """The last line of every script, by its name."""
    for name, text in written.items():
        (folder / f"{name}.py").write_text(text)
    process = _running()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(f"{folder}\n")
    process.stdin.flush()
    found: dict[str, str] = json.loads(process.stdout.readline())
    return found


def test_faults_print_bug_and_their_clean_controls_ok(tmp_path: Path):
    """Every kind of kernel and of failure, faults in both forms: sizes as literals, and as run-time arguments."""
    written: dict[str, str] = {}
    for number, finding in enumerate(FINDINGS):
        if finding.verdict is Verdict.CRASH:
            continue  # these look at themselves from another process
        for subject in (f"own+fault:{finding.fault}", "own"):
            for form, text in enumerate(texts(request(finding, subject=subject))[:1 + (subject != "own")]):
                # Behind a compile error nothing is known about which branches count.
                assert text.count("\n") <= MAX_LINES or finding.verdict is Verdict.COMPILE_ERROR, text
                assert max(map(len, text.splitlines())) <= 120, text
                assert imported(text) <= ALLOWED, text
                assert 'environ["TRITON_INTERPRET"] = "1"' in text
                written[f"{number:02}-{form}-{'BUG' if subject != 'own' else 'OK'}"] = text
    answers = run_all(tmp_path, written)
    wrong = {name: f"{answer}\n{written[name]}" for name, answer in answers.items() if answer != name[5:]}
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())
    assert len(answers) == len(written) >= 3 * (len(FINDINGS) - 2)


def test_whoever_wrote_a_script_compiles_as_before():
    import triton
    before = dict(os.environ)
    assert texts(request(FINDINGS[0])) and not triton.knobs.compilation.always_compile and dict(os.environ) == before


def test_a_write_where_nothing_stores_prints_bug(tmp_path: Path):
    """The values are right; the fault of the generator is in the script too."""
    graph = Graph(outer=(3,), buffers=(Buffer(name="in0", dtype="i32", length=4),
                                       Buffer(name="out0", dtype="i32", length=4, role="out")),
                  nodes=(load("in0"), store("out0", X, 0)), schedules=(Schedule(x_blocks=(4,)),))
    finding = Finding("tail_unmasked", filled(graph, in0=Iota(start=5)), kind="stray_write")
    written = {name: texts(request(finding, subject=subject))[0]
               for name, subject in (("astray", "own+fault:tail_unmasked"), ("right", "own"))}
    assert run_all(tmp_path, written) == {"astray": "BUG", "right": "OK"}


def test_checks_of_memory_and_of_repeats_hold_for_a_clean_kernel(tmp_path: Path):
    finding = FINDINGS[0]
    varied = replace(finding.case, variants=(OTHER_OPTIONS,))
    written = {}
    for kind in ("out_of_bounds", "input_overwritten", "nondeterministic", "option_dependent", "unwritten"):
        one = Finding(finding.fault, varied, kind=kind)
        written[kind] = texts(request(one, subject="own"))[0]
    assert run_all(tmp_path, written) == dict.fromkeys(written, "OK")
    assert "for _ in range(20):" in written["nondeterministic"]
    assert "a_before" in written["input_overwritten"] and "out_memory" in written["out_of_bounds"]
    on_gpu = texts(request(Finding(finding.fault, varied, kind="option_dependent"), subject="own", backend="cuda"))[-1]
    assert "num_warps=8, num_stages=1)" in on_gpu


ISSUE_7749 = '''\
# (arange(0, 4) - 4) // 2 is computed once for two lanes
# triton#7749; found with Triton 3.9.0, torch 2.13.0 on NVIDIA H200
# The last line is BUG, OK or "SKIP: reason", the exit status 1, 0 or 2.
import os, sys
sys.excepthook = lambda *error: (sys.__excepthook__(*error), print(f"SKIP: {error[1]!r:.200}", flush=True), os._exit(2))
import numpy as np
import torch
import triton
import triton.language as tl

if not torch.cuda.is_available():
    sys.exit(print("SKIP: no NVIDIA GPU") or 2)


@triton.jit
def kernel(out_ptr, count):
    position = tl.program_id(0) * 4 + tl.arange(0, 4)
    mask = position < count
    numerator = (position + -4).to(tl.int32)
    denominator = tl.full([], 2, tl.int32)
    result = numerator // denominator
    tl.store(out_ptr + position, result, mask=mask)


out = torch.full((4,), 77, dtype=torch.int32, device="cuda")
kernel[(1,)](out, 4)
expected = np.array([-2, -1, -1, 0], dtype=np.int32)  # by torch and numpy
print("out:", out.cpu().numpy().tolist(), "expected:", expected.tolist())
print(answer := ("OK" if np.array_equal(out.cpu().numpy(), expected) else "BUG"))
sys.exit(answer == "BUG")
'''


def stored(case: Case, *, subject: str = "own", kind: str = "value", verdict: Verdict = Verdict.DISAGREE,
           backend: str = "interpreter", title: str = "a finding") -> CorpusEntry:
    signature = Signature(target=case.target, subject=subject, verdict=verdict, kind=kind, where="out")
    return CorpusEntry(id=entry_id(signature), title=title, signature=signature, case=case, evidence=Evidence(),
                       expected=(), upstream=("triton#7749",), found_in=Environment(
                           backend=backend, triton="3.9.0", torch="2.13.0", device="NVIDIA H200"))


def without_gpu(text: str) -> str:
    """The script for a GPU as one for the CPU."""
    return text.replace(', device="cuda"', "").replace("if not torch.cuda.is_available():", "if False:")


@pytest.mark.usefixtures("in_this_process")
def test_the_operator_ramp_reads_like_an_issue(tmp_path: Path):
    """The script for a GPU, word by word; and it is a script that runs, which the interpreter gets right."""
    entry = stored(SEVEN, backend="cuda", title="(arange(0, 4) - 4) // 2 is computed once for two lanes")
    made = script(entry, verify=False)
    assert made.text == ISSUE_7749
    assert (made.answer, made.faithful, made.lines) == ("none", True, 30)
    assert run_all(tmp_path, {"on_cpu": without_gpu(made.text)}) == {"on_cpu": "OK"}


def test_what_the_launch_tells_the_compiler_stays_in_the_faithful_form():
    """A scalar known or unknown to the compiler, a loaded divisor: the ways in which issue 7749 comes and goes."""
    def faithful(**kinds: str) -> str:
        one = ramp(target="triton.floordiv", start=-32, rows=32, block=32, divisor=16, **kinds)
        return texts(request(Finding("floor_for_trunc", one), subject="own", backend="cuda"))[-1]

    assert "kernel[(1,)](out, -32, 32)" in faithful(start_kind="run_time")
    assert "kernel[(1,)](out, 16, 32)" in faithful(divisor_kind="run_time")
    unspecialised = faithful(divisor_kind="unspecialised")
    assert "@triton.jit(do_not_specialize=['start', 'divisor'])" in unspecialised
    loaded = faithful(divisor_kind="loaded")
    assert "kernel[(1,)](out, b, 32)" in loaded and "b = torch.full((32,), 16," in loaded


def test_upstream_helpers_are_imported_not_copied():
    one = Finding("x", ramp(target="helpers.remainder_integer", start=-4, rows=4, block=4, divisor=2))
    text = texts(request(one, subject="inductor"))[0]
    assert "from torch._inductor.runtime.triton_helpers import remainder_integer\n" in text
    assert "remainder_integer(" in text and imported(text) <= ALLOWED


def test_without_the_compilers_front_end_the_script_holds_more_and_says_the_same(tmp_path: Path):
    finding = FINDINGS[6]
    short, long = (texts(request(finding, liveness=liveness))[0] for liveness in (True, False))
    nodes = [sum(1 for _ in ast.walk(ast.parse(text))) for text in (short, long)]
    assert nodes[0] < 0.9 * nodes[1]
    assert run_all(tmp_path, {"short": short, "long": long}) == {"short": "BUG", "long": "BUG"}


@pytest.mark.own_zygote
def test_a_script_is_written_and_verified_in_processes_of_its_own():
    """From the entry to BUG and OK, through the child that writes and the run that verifies; no torch in here is
    needed for it."""
    finding = FINDINGS[0]
    made = script(stored(finding.case, subject="own+fault:trunc_for_floor"))
    assert (made.answer, made.lines <= MAX_LINES, made.faithful) == ("BUG", True, False)
    assert "# a finding\n# triton#7749; found with Triton 3.9.0, torch 2.13.0 on interpreter\n" in made.text
    assert "own interpreter; the finding was made in tridiff's" in made.text


def with_launch(text: str, statement: str) -> str:
    """The script with a statement in front of its launch."""
    before, launch, after = text.rpartition("kernel[(1,)]")
    return f"{before}{statement}; {launch}{after}"


ABORTED = "import os as o; o.abort()"
SEGFAULT = "import os as o, signal as s; o.kill(o.getpid(), s.SIGSEGV)"
RAISED = 'raise ValueError("something else")'
RECORDED = 'raise ValueError("index 17 is out of range for /tmp/x")'


# Each way to a verdict by day: a signal, another end of the process, the recorded exception, no end at all.
SHOWN = [(Verdict.CRASH, "SIGSEGV", SEGFAULT, "BUG"), (Verdict.CRASH, "SIGSEGV", RAISED, "SKIP"),
         (Verdict.CRASH, "ValueError: index N is out of range for PATH", RECORDED, "BUG"),
         (Verdict.HANG, "launch", "import time as t; t.sleep(60)", "BUG")]


@each("verdict, kind, statement, answer", by_day([
    *SHOWN, (Verdict.CRASH, "SIGSEGV", ABORTED, "SKIP"), (Verdict.CRASH, "SIGSEGV", "pass", "OK"),
    (Verdict.COMPILE_ERROR, "index N is out of range for PATH", RAISED, "SKIP"),
    (Verdict.COMPILE_ERROR, "index N is out of range for PATH", SEGFAULT, "SKIP"),
    (Verdict.HANG, "launch", RAISED, "SKIP"), (Verdict.DISAGREE, "value", RAISED, "SKIP"),
], only=SHOWN))
def test_nothing_but_the_recorded_failure_is_a_bug(verdict: Verdict, kind: str, statement: str, answer: str):
    """Scripts of crashes and errors printed BUG for every exception, a missing GPU included."""
    planted = next(one for one in FINDINGS if one.fault == "wrong_value")
    text = texts(request(Finding(planted.fault, planted.case, kind=kind, verdict=verdict), subject="own"))[0]
    # Long enough to import: what does not come as far as its launch shows no hang.
    found = run(with_launch(text, statement).replace("timeout=30", f"timeout={10 if 'sleep' in statement else 60}"))
    assert found.answer == answer, found
    assert answer != "SKIP" or found.reason


def test_an_unfit_end_before_the_launch_is_no_crash():
    """What dies while it imports shows nothing about the kernel."""
    planted = next(one for one in FINDINGS if one.fault == "wrong_value")
    asked = request(Finding(planted.fault, planted.case, kind="SIGABRT", verdict=Verdict.CRASH), subject="own")
    text = texts(asked)[0].replace("import torch", "os.abort()", 1)
    assert run(text).line.startswith("SKIP: ended with -6")


@each("verdict, kind", by_day(
    [(Verdict.DISAGREE, "value"), (Verdict.CRASH, "SIGABRT"), (Verdict.HANG, "compile")],
    only=[(Verdict.DISAGREE, "value"), (Verdict.CRASH, "SIGABRT")]))
def test_without_a_gpu_a_script_for_one_is_skipped(verdict: Verdict, kind: str):
    """In a script that runs its kernel itself, and in those that look at another process."""
    finding = FINDINGS[0]
    asked = request(Finding(finding.fault, finding.case, kind=kind, verdict=verdict), backend="cuda")
    text = texts(asked)[-1].replace("torch.cuda.is_available()", "False")
    assert run(text).line == "SKIP: no NVIDIA GPU"


def test_device_assertions_need_a_device():
    finding = next(one for one in FINDINGS if one.kind == "device_assert")
    with refused("checks device assertions only with tridiff's repairs"):
        build(request(finding))
    text = texts(request(finding, backend="cuda"))[-1]
    assert "debug=True)\ntorch.cuda.synchronize()" in text
    assert 're.search(r"device-side assert triggered", said)' in text
    missing = Finding(finding.fault, finding.case, kind="assertion_missing")
    end = texts(request(missing, subject="own", backend="cuda"))[-1].splitlines()[-6:]
    assert end == ["    torch.cuda.synchronize()", '    sys.exit(print("BUG") or 1)', "except RuntimeError as error:",
                   '    if "device-side assert" not in str(error):', "        raise", '    print("OK")']


def test_a_program_that_is_delayed_is_not_left_out_in_silence():
    (delayed,) = [one for one in draw_cases("helpers.exclusive_scan_decoupled_lookback", Limits(elements=8), 20)
               if one.delay][:1]
    with refused("a program or warp is delayed"):
        build(request(Finding("unpublished_word_accepted", delayed), backend="cuda"))


def test_a_memory_order_is_no_matter_of_values():
    finding = FINDINGS[0]
    with refused("read from the compiled code"):
        build(request(Finding(finding.fault, finding.case, kind="memory_order")))


@each("kind", ["total_warps", "sanitizer", "a kind of tomorrow"])
def test_what_the_harness_alone_sees_is_not_told_by_values(kind: str):
    finding = FINDINGS[0]
    with refused(f"{kind} is seen by the harness"):
        build(request(Finding(finding.fault, finding.case, kind=kind)))


def test_a_lost_assertion_is_read_from_the_code_without_a_gpu():
    case = ENTRIES.load(REPOSITORY / "corpus/language.overflow/assertion-lost-5dde26f4c6.json").case
    *_, text = texts(Request(title="a title", note="a note", case=case, subject="own", backend="cuda",
                             failure=Verdict.DISAGREE, failure_kind="assertion_lost"))
    assert run(text).answer == "BUG"
    assert run(text.replace("tl.sum(x0, axis=0)", "tl.max(x0 + x0, axis=0)")).answer == "OK"


def test_compile_findings_compile_and_nothing_else():
    finding = next(one for one in FINDINGS if one.verdict is Verdict.COMPILE_ERROR)
    broken, clean = (texts(request(finding, subject=subject, backend="compile:sm_90"))[0] for subject in ("", "own"))
    assert imported(broken) <= ALLOWED - {"numpy", "torch"} and "torch" not in broken
    assert 'GPUTarget("cuda", 90, 32)' in broken
    assert (run(broken).answer, run(clean).answer) == ("BUG", "OK")


def test_a_result_of_another_type_is_asserted_and_numbers_stay_passed(tmp_path: Path):
    """fp16 plus a float that is passed at launch is fp32: with 0.5 in the source it would be fp16, and rightly so."""
    case = ENTRIES.load(REPOSITORY / "corpus/language.operators/another-type-760cfb6022.json").case
    asked = Request(title="a title", note="a note", case=case, subject="own", backend="interpreter",
                    failure=Verdict.DISAGREE, failure_kind="another_type")
    (broken,), (compiled,) = (texts(replace(asked, backend=one)) for one in ("interpreter", "compile:sm_90"))
    for text in (broken, compiled):
        assert "x0 + x1" in text and text.count("tl.static_assert(r0.dtype == tl.float32") == 1
        assert "another shape" not in text
    assert run_all(tmp_path, {"broken": broken}) == {"broken": "BUG"} and run(compiled).answer == "OK"
    (other,) = texts(replace(asked, failure_kind="value"))
    assert "static_assert" not in other and "x0 + x1" in other
    # What is recorded where the script runs counts, not what was found elsewhere.
    (recorded,) = texts(replace(asked, failure=Verdict.CRASH, failure_kind="AttributeError: of the interpreter",
                                recorded=(Recorded(verdict=Verdict.DISAGREE, kind="another_type"),)))
    assert "static_assert" in recorded and "the result has another type" in recorded


def test_a_class_of_the_kernels_module_is_written_with_what_it_names():
    case = ENTRIES.load(REPOSITORY / "corpus/language.functions/attributeerror---both--o-6379ed8ce0.json").case
    *_, text = texts(Request(title="a title", note="a note", case=case, subject="own", backend="compile:sm_90",
                             failure=Verdict.CRASH, failure_kind="'Both' object has no attribute 'total'"))
    assert text.index("class Both:") < text.index("Both(x0, x0).total()") and "def helper" not in text
    assert run(text).answer == "OK"


@each("idiom, operands, defined, used", [
    ("constexpr_function_keyword", 1, "@triton.constexpr_function\ndef doubled(", "doubled(plus=1, n=2)"),
    ("point", 2, "from typing import NamedTuple", "class Point(NamedTuple):")])
def test_what_the_kernels_module_defines_for_it_is_written(idiom: str, operands: int, defined: str, used: str,
                                                           tmp_path: Path):
    case = ENTRIES.load(REPOSITORY / "corpus/language.functions/attributeerror---both--o-6379ed8ce0.json").case
    body = (node("assign", node("idiom", *[variable("x0")] * operands, name=idiom), name="v1"),)
    case = replace(case, program=replace(script_of(case), functions=(), body=body))
    *_, text = texts(Request(title="a title", note="a note", case=case, subject="own", backend="interpreter",
                             failure=Verdict.DISAGREE, failure_kind="value"))
    assert text.index(defined) < text.index(used)
    assert run_all(tmp_path, {"defined": text}) == {"defined": "OK"}


def answering(monkeypatch: pytest.MonkeyPatch, answers: dict[str, scripts.Answer]) -> None:
    """Two candidates with the given texts, and what running each would say."""
    forms = tuple(Candidate(text=text, faithful=number == 1) for number, text in enumerate(answers))
    monkeypatch.setattr(scripts, "_ask", lambda request, **_: Candidates(scripts=forms))
    monkeypatch.setattr(scripts, "run", lambda text, **_: Run(answer=answers[text]))


@each("answers, chosen", [
    ({"short": "BUG", "long": "BUG"}, ("short", "BUG")), ({"short": "OK", "long": "BUG"}, ("long", "BUG")),
    ({"short": "none", "long": "OK"}, ("long", "OK")), ({"short": "OK", "long": "SKIP"}, ("short", "OK")),
    ({"short": "OK", "long": "OK"}, ("long", "OK")), ({"short": "SKIP", "long": "none"}, ("long", "none")),
])
def test_the_first_form_that_shows_the_bug_is_taken(
    monkeypatch: pytest.MonkeyPatch, answers: dict[str, scripts.Answer], chosen: tuple[str, str]
):
    answering(monkeypatch, answers)
    made = script(stored(FINDINGS[0].case, subject="own+fault:trunc_for_floor"))
    assert (made.text, made.answer) == chosen


@each("beside, chosen", [
    ({"short": "OK", "long": "OK"}, ("short", "OK")), ({"short": "BUG", "long": "OK"}, ("long", "OK")),
    ({"short": "BUG", "long": "SKIP"}, ("long", "SKIP")), ({"short": "BUG", "long": "BUG"}, ("short", "BUG"))])
def test_a_form_that_the_other_build_has_right_is_preferred(
        monkeypatch: pytest.MonkeyPatch, beside: dict[str, scripts.Answer], chosen: tuple[str, str]):
    answering(monkeypatch, {"short": "BUG", "long": "BUG"})
    monkeypatch.setattr(scripts, "run", lambda text, *, path, **_: Run(answer=beside[text] if path else "BUG"))
    made = script(stored(SEVEN), other="/another")
    assert made.beside and (made.text, made.answer, made.beside.answer) == (chosen[0], "BUG", chosen[1])


def test_what_cannot_be_run_here_is_given_in_its_faithful_form(monkeypatch: pytest.MonkeyPatch):
    answering(monkeypatch, {"short": "BUG", "long": "OK"})
    monkeypatch.setattr(scripts, "available_backends", lambda: ("interpreter",))
    made = script(stored(SEVEN, backend="cuda"))
    assert (made.text, made.answer, made.faithful) == ("long", "none", True)


@pytest.mark.own_zygote
def test_the_child_is_asked_again_without_the_compiler(monkeypatch: pytest.MonkeyPatch):
    """An abort of the compiler's front end must not cost the script."""
    asked: list[Request] = []

    def answer(*arguments: object, **options: bytes) -> object:
        asked.append(msgspec.json.decode(options["data"], type=Request))
        if asked[-1].liveness:
            return subprocess.CompletedProcess([], -6, stdout=b"", stderr=b"LLVM ERROR")
        found = Candidates(scripts=(Candidate(text="text", faithful=True),))
        return subprocess.CompletedProcess([], 0, stdout=msgspec.json.encode(found), stderr=b"")

    monkeypatch.setattr(scripts, "waited", answer)
    assert script(stored(SEVEN), verify=False).text == "text"
    assert [one.liveness for one in asked] == [True, False]


@each("changes, message", [
    ({"subject": "own+fault:nonsense"}, "has no fault 'nonsense'"),
    ({"case": replace(SEVEN, target="helpers.of_tomorrow")}, "unknown target"),
    ({"case": replace(SEVEN, arrays=())}, "cannot draw it|does not fit"),
    ({"backend": 'cuda"; import os'}, "unknown backend")])
def test_what_has_no_script_says_why(changes: dict[str, object], message: str):
    options = {"case": SEVEN, "subject": "own", "backend": "interpreter"} | changes
    with refused(message) as caught:
        script(stored(**options))
    assert str(caught.value).isprintable()


def test_the_child_refuses_what_no_kernel_shows():
    with refused("planted process fault segfault is no kernel"):
        build(request(Finding("segfault", SEVEN, kind="SIGSEGV", verdict=Verdict.CRASH)))
    empty = replace(FINDINGS[0].case, sizes={"rows": 0, "cols": 1})
    with refused(r"made no launch|the case is empty"):
        build(request(Finding("trunc_for_floor", empty)))


def test_too_long_a_script_is_refused_unless_a_bundle_is_asked_for(tmp_path: Path):
    many = tuple(str(k * k % 1_000_003 - 500_000) for k in range(6_000))
    case = FINDINGS[0].case
    arrays = tuple(replace(spec, content=replace(
        spec.content, base=replace(spec.content.base, values=many if spec.name == "a" else ("7",) * len(many)))
    ) if spec.content else spec
        for spec in case.arrays)
    large = request(Finding("trunc_for_floor", replace(case, arrays=arrays, sizes={"rows": 1, "cols": 6_000})))
    large = replace(large, length="short")
    with refused(r"more than 40 of 120 columns; .* with --long, .* `tridiff shrink`"):
        build(large)
    text = build(replace(large, length="any")).scripts[0].text
    assert max(map(len, text.splitlines())) <= 120 and len(text) < 400_000
    assert run_all(tmp_path, {"long": text}) == {"long": "BUG"}


@pytest.mark.usefixtures("in_this_process")
def test_text_from_a_stranger_stays_in_its_comment():
    entry = stored(SEVEN, title='x\nimport os\r\x85os.system("touch pwned")\u2028pass')
    entry = replace(entry, upstream=("a\nb",), found_in=Environment(
        backend="cuda", triton="3.9\nimport sys", device="y\nimport shutil"))
    made = script(entry, verify=False)
    assert imported(made.text) == {"numpy", "torch", "triton", "os", "sys"}
    assert made.text.splitlines()[2].startswith("# The last line is BUG") and (
        made.text.splitlines()[3] == "import os, sys")


def test_the_backend_is_where_it_was_found_or_is_expected_to_fail():
    assert default_backend(stored(SEVEN, backend="cuda"), "own") == "cuda"
    nowhere = replace(stored(SEVEN, backend=""), expected=(
        expect(backend="interpreter", verdict=Verdict.AGREE), expect(backend="compile:sm_80")))
    assert default_backend(nowhere, "own") == "compile:sm_80"
    assert default_backend(nowhere, "inductor") == "interpreter"


def test_first_targets_fit_every_subject():
    """Own helpers and upstream ones of the division targets, as ramps and as blocks, on every backend's form."""
    for target in (FLOOR, "helpers.remainder_integer", "triton.floordiv", "triton.mod"):
        for subject in ("own",) if target.startswith("triton") else ("own", "inductor"):
            for backend in ("cuda", "interpreter", "compile:gfx942"):
                one = Finding("x", ramp(target=target, start=-4, rows=4, block=4, divisor=2))
                for text in texts(request(one, subject=subject, backend=backend)):
                    assert text.count("\n") <= MAX_LINES and imported(text) <= ALLOWED


def test_a_script_that_only_compares_with_numpy_imports_it():
    """Arrays without numpy, compared as a whole: the one use stands in the last line."""
    entry = ENTRIES.find("nan-unexpected-a0eaf29ccf")
    asked = Request(title="a title", note="a note", case=entry.case, subject="own", backend="cuda",
                    failure=Verdict.DISAGREE, failure_kind="nan_unexpected", length="bundle")
    for text in texts(asked):
        assert "np." in text and "numpy" in imported(text)
