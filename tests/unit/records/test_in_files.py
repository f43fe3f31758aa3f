"""What records leave out in files or say more shortly there, and that it is read back as it was."""

import json
import pickle
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from tests.support.refusals import refusal
from tests.unit.corpus.entries import entry
from tests.unit.graphs.graphs import X, load, store, vector
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.kinds.graphs.arrays import arrays_of
from tridiff.fuzz.records import (
    SCHEMA,
    ArraySpec,
    Base,
    Blame,
    Case,
    Constant,
    Content,
    CorpusEntry,
    Environment,
    Evidence,
    Expectation,
    Explicit,
    Iota,
    LaunchOptions,
    Layout,
    Mixture,
    Put,
    Small,
    Sorted,
    Tried,
    Verdict,
    decode,
    encode,
)
from tridiff.fuzz.records.blame import (
    LOWERING_IS_LEFT,
    OURS_ALONE_IS_RIGHT,
    OURS_IS_RIGHT,
    RIGHT_AT_O0,
    RIGHT_IR,
    RIGHT_UNOPTIMISED,
    Effect,
)
from tridiff.fuzz.records.codec import decode_file, pretty_json_without_defaults
from tridiff.fuzz.records.environment import NAMED
from tridiff.kernels.codegen.graph import Graph


def in_files(record: msgspec.Struct) -> Any:
    """What a file says of a record, which is read back as it was."""
    text = pretty_json_without_defaults(record)
    assert decode(text, type(record)) == record
    return json.loads(text)


def refused(record: msgspec.Struct, **changes: object) -> str:
    """Why a record is not read of which a file says something else."""
    text = json.dumps({**json.loads(encode(record)), **changes})
    return refusal(lambda: decode(text, type(record)))


def test_files_leave_out_defaults_and_nothing_else():
    content = Content(base=Explicit(values=("0",)))
    case = Case(target="t", sizes={"n": 1}, arrays=(
        ArraySpec(name="a", dtype="i32", dims=("n",), layout=Layout(step=2), content=content),
        ArraySpec(name="out", dtype="i32", dims=("n",))), params={"flag": False, "one": 1, "yes": True},
        options=LaunchOptions(num_warps=1, enable_fp_fusion=False))
    found = in_files(case)
    assert found["options"] == {"num_warps": 1, "enable_fp_fusion": False}
    assert found["params"] == {"flag": False, "one": 1, "yes": True}
    assert found["arrays"][0]["layout"] == {"step": 2}
    assert found["arrays"][1] == "out i32[n]"
    assert found["schema"] == SCHEMA
    assert "variants" not in found


def test_versions_and_backends_that_do_the_same_share_a_line_in_files():
    def row(triton: str, backend: str, verdict: Verdict) -> Expectation:
        return Expectation(subject="own", triton=triton, backend=backend, verdict=verdict)

    rows = (row("3.6.0", "cuda", Verdict.CRASH), row("3.6.0", "interpreter", Verdict.AGREE),
            row("3.9.0", "cuda", Verdict.AGREE), row("3.9.0", "interpreter", Verdict.AGREE))
    for expected, written in (
            (rows, ["own, 3.6.0, cuda: crash", "own, 3.6.0 3.9.0, interpreter: agree", "own, 3.9.0, cuda: agree"]),
            ((rows[0], row("3.6.0", "evaluated:sm_90", Verdict.CRASH), rows[2],
              row("3.9.0", "evaluated:sm_90", Verdict.AGREE)),
             ["own, 3.6.0, cuda evaluated:sm_90: crash", "own, 3.9.0, cuda evaluated:sm_90: agree"]),
            (rows[::-1], [f"own, {one.triton}, {one.backend}: {one.verdict.value}" for one in rows[::-1]])):
        one = entry(expected=expected)
        text = pretty_json_without_defaults(one)
        assert json.loads(text)["expected"] == written and decode_file(text.encode(), CorpusEntry, source="x") == one
    one = entry(expected=rows)
    older = {**json.loads(encode(one)), "expected": [
        ["own", "3.6.0", "cuda", "crash"], ["own", "3.6.0 3.9.0", "interpreter", "agree"],
        ["own", "3.9.0", "cuda", "agree"]]}
    assert decode(json.dumps(older), CorpusEntry) == one


def test_an_expectation_is_a_line_in_files_that_leaves_out_what_the_signature_says():
    def row(subject: str = "own", backend: str = "cuda", verdict: Verdict = Verdict.DISAGREE,
            **rest: str) -> Expectation:
        return Expectation(subject=subject, triton="3.9.0", backend=backend, verdict=verdict, **rest)

    several = "compile:gfx942 compile:sm_90 cuda"
    found = entry(subject="own", kind="value")
    for one, written in (
            (row(kind="value"), "3.9.0, cuda: disagree"), (row(), None),
            (row(kind="another value"), "3.9.0, cuda: disagree another value"),
            (row(verdict=Verdict.AGREE), "3.9.0, cuda: agree"),
            (row(verdict=Verdict.CRASH, kind="value"), "3.9.0, cuda: crash value"),
            (row("inductor", kind="value", torch="2.13.0"), "inductor, 3.9.0, cuda, torch 2.13.0: disagree"),
            (row(backend=several, verdict=Verdict.AGREE), "3.9.0, compile:gfx942,sm_90 cuda: agree"),
            (row(backend="cuda compile:sm_90 x compile:sm_80", verdict=Verdict.AGREE), None),
            (row(verdict=Verdict.CRASH, kind="a: b, c"), "3.9.0, cuda: crash a: b, c"),
            (row("a, b", verdict=Verdict.AGREE), None),
            (row("torch 2", torch="1", verdict=Verdict.AGREE), "torch 2, 3.9.0, cuda, torch 1: agree"),
            (row(torch=" ", verdict=Verdict.AGREE), "3.9.0, cuda, torch  : agree")):
        assert one.line(found.signature) == (written or ""), one
        in_files(replace(found, expected=(one,)))
    for wrong in ("", "own", "3.9.0: agree", "a, b, c, d: agree", "3.9.0, cuda: perhaps", "3.9.0, cuda",
                  "3.9.0, cuda:agree", f"3.9.0, cuda: crash {'x' * 501}", f"3.9.0, {'x' * 401}: agree"):
        assert refused(found, expected=[wrong]).startswith("input: ")


def test_versions_that_follow_each_other_are_named_by_the_first_and_the_last_in_files():
    for versions, said in (("3.6.0 3.7.1 3.8.0 3.9.0", "3.6.0 to 3.9.0"), ("3.6.0 3.7.1 3.8.0", "3.6.0 to 3.8.0"),
                           ("3.7.1 3.8.0 3.9.0", "3.7.1 to 3.9.0"), ("3.6.0 3.8.0 3.9.0", "3.6.0 3.8.0 3.9.0")):
        one = replace(entry(subject="own"), expected=tuple(
            Expectation(subject="own", triton=version, backend="cuda", verdict=Verdict.AGREE)
            for version in versions.split(" ")))
        found = in_files(one)
        assert found["expected"] == [f"{said}, cuda: agree"]
        for line in (said, versions):
            assert decode(json.dumps({**found, "expected": [f"{line}, cuda: agree"]}), CorpusEntry) == one


def test_changes_in_a_row_that_end_alike_share_one_in_files():
    def tried(*rows: tuple[str, Effect, str]) -> Blame:
        return Blame(triton="3.9.0", backend="cuda", vector=tuple(
            Tried(change=change, effect=effect, said=said) for change, effect, said in rows))

    for blame, written in (
            (tried(("a", "same", "x"), ("b", "gone", ""), ("c", "gone", ""), ("d", "gone", "y"), ("e", "gone", "")),
             [["a", "same", "x"], ["b; c", "gone"], ["d", "gone", "y"], ["e", "gone"]]),
            (tried(("a" * 300, "gone", ""), ("b" * 300, "gone", "")), [["a" * 300, "gone"], ["b" * 300, "gone"]])):
        assert in_files(blame)["vector"] == written


def test_a_blame_is_lines_in_files_without_a_sentence_that_follows():
    def blame(vector: dict[str, Effect], *evidence: str, subject: str = "own", backend: str = "cuda",
              **found: Any) -> Blame:
        rows = tuple(Tried(change=change, effect=effect) for change, effect in vector.items())
        return Blame(triton="3.9.0", backend=backend, subject=subject, vector=rows, evidence=evidence, **found)

    unoptimised: dict[str, Effect] = {"llvm optimisation off": "same", "ptxas -O0": "same"}
    of_ptxas, lowering = {"stage": "ptxas", "confidence": "inferred"}, {"stage": "ttgir", "confidence": "inferred"}
    inductor = {"stage": "inductor", "confidence": "inferred", "subject": "inductor"}
    head = "3.9.0 cuda: "
    for one, written in (
            (blame({}), [f"{head}not localised"]),
            (blame({"a": "gone", "b": "gone", "c": "unknown"}, "x", "y: z", stage="ttir", step="make_ttir add_cse",
                   confidence="seen"),
             [f"{head}ttir, make_ttir add_cse (seen)", "gone: a; b", "unknown: c", "x", "y: z"]),
            (blame({"ptxas -O0": "gone"}, RIGHT_AT_O0, "x", **of_ptxas),
             [f"{head}ptxas (inferred)", "gone: ptxas -O0", "x"]),
            (blame({"ptxas -O0": "gone"}, "x", RIGHT_AT_O0, **of_ptxas), None),
            (blame({"ptxas -O0": "gone"}, **of_ptxas), None),
            (blame({"ptxas -O0": "same"}, RIGHT_AT_O0, **of_ptxas),
             [f"{head}ptxas (inferred)", "same: ptxas -O0", RIGHT_AT_O0]),
            (blame({**unoptimised, "llvm optimisation off": "gone"}, RIGHT_UNOPTIMISED, stage="llvm",
                   confidence="inferred"),
             [f"{head}llvm (inferred)", "gone: llvm optimisation off", "same: ptxas -O0"]),
            (blame(unoptimised, LOWERING_IS_LEFT, **lowering),
             [f"{head}ttgir (inferred)", "same: llvm optimisation off; ptxas -O0"]),
            (blame(unoptimised, LOWERING_IS_LEFT, step="x", **lowering),
             [f"{head}ttgir, x (inferred)", "same: llvm optimisation off; ptxas -O0", LOWERING_IS_LEFT]),
            (blame({}, RIGHT_IR, backend="interpreter", stage="interpreter", confidence="seen"),
             ["3.9.0 interpreter: interpreter (seen)"]),
            (blame({"own subject": "gone"}, OURS_IS_RIGHT, backend="interpreter", **inductor),
             ["3.9.0 interpreter inductor: inductor (inferred)", "gone: own subject"]),
            (blame({"own subject": "gone", "interpreter repaired": "same"}, OURS_ALONE_IS_RIGHT, **inductor),
             ["3.9.0 cuda inductor: inductor (inferred)", "gone: own subject", "same: interpreter repaired"]),
            (blame({}, "gone: x"), None), (blame({"a: b": "gone"}), None), (blame({}, stage="ttir"), None),
            (blame({}, backend="a b c"), None)):
        kept = replace(entry(), blame=(one,))
        (said,) = in_files(kept)["blame"]
        assert (isinstance(said, dict) if written is None else said == written), one
        assert decode(encode(kept), CorpusEntry) == kept
    for wrong in ([], [""], ["3.9.0: ttir (seen)"], ["3.9.0 cuda"], ["3.9.0 cuda: ttir"], ["3.9.0 cuda: ttir (heard)"],
                  ["3.9.0 cuda: elsewhere (seen)"], ["a b c d: not localised"], [f"{head}not localised", "x" * 501],
                  [f"{head}not localised", f"gone: {'x' * 501}"], [f"{head}not localised", f"gone: a: {'x' * 501}"]):
        assert refused(entry(), blame=[wrong]).startswith("input: ")


def test_listed_values_stand_in_files_as_a_list():
    def listed(*values: str, overrides: tuple[Put, ...] = ()) -> ArraySpec:
        return ArraySpec(name="a", dtype="i32", dims=("n",),
                         content=Content(base=Explicit(values=values), overrides=overrides))

    explicit = {"type": "explicit", "values": ["7 x 1"]}
    for array, written in (
            (listed("1", *"0" * 7), ["1", "7 x 0"]), (listed(), []), (listed("7 x 1"), {"base": explicit}),
            (listed("1", overrides=(Put(value="2"),)),
             {"base": {**explicit, "values": ["1"]}, "overrides": [{"type": "put", "value": "2"}]}),
            (listed(*"0" * 20_000), {"base": {**explicit, "values": ["0"] * 20_000}})):
        assert in_files(array)["content"] == written
    with pytest.raises(TridiffError, match="runs of more than"):
        decode('{"name": "a", "dtype": "i32", "dims": ["n"], "content": ["9999 x 0", "9999 x 0"]}', ArraySpec)


def test_most_arrays_are_a_line_in_files():
    bare = ArraySpec(name="a.b", dtype="i32", dims=("rows", "n"))

    def listed(*values: str) -> ArraySpec:
        return replace(bare, content=Content(base=Explicit(values=values)))

    def drawn(base: Base, **rest: Any) -> ArraySpec:
        return replace(bare, content=Content(base=base, **rest))

    for array, written in (
            (bare, "a.b i32[rows,n]"), (replace(bare, dims=()), "a.b i32[]"),
            (drawn(Small(seed=7, low=-1)), "a.b i32[rows,n] ~ small, seed 7, low -1"),
            (drawn(Constant(value="1 ~ 2")), "a.b i32[rows,n] ~ constant, value 1 ~ 2"),
            (drawn(Mixture(seed=2**63 - 1)), f"a.b i32[rows,n] ~ mixture, seed {2**63 - 1}"),
            (drawn(Mixture(recipes=("bits",))), None), (drawn(Constant(value="a = b")), None),
            (drawn(Constant(value="a, b")), None), (drawn(Iota(), overrides=(Sorted(),)), None),
            (replace(drawn(Iota()), layout=Layout(gap=1)), None),
            (listed("-0.0", *"1" * 6), "a.b i32[rows,n] = -0.0, 6 x 1"), (listed("a = b"), "a.b i32[rows,n] = a = b"),
            (listed(), None), (listed("1, 2"), None), (listed("7 x 1"), None), (listed(*map(str, range(99))), None),
            (replace(bare, layout=Layout(step=2)), None), (replace(bare, first_row=1), None),
            (replace(bare, content=Content()), "a.b i32[rows,n] ~ constant")):
        case = Case(target="t", sizes={"rows": 1, "n": 7}, arrays=(array,))
        (said,) = in_files(case)["arrays"]
        assert isinstance(said, dict) if written is None else said == written
    for wrong in ("", "a", "a i32", "a i32[n", "a[n]", "a i32[n] =", "a i32[n,]", "a i32[b c]", "1 i32[n]", "a I[n]",
                  f"a i32[n] = {'1' * 41}", f"a i32[n] = {', '.join(['9999 x 0'] * 2)}", "a i32[n,n,n,n,n,n]",
                  "a i32[n] ~ ", "a i32[n] ~ large", "a i32[n] ~ small, low 257", "a i32[n] ~ small, low x",
                  "a i32[n] ~ small, size 1", "a i32[n] ~ small, low 1, low 2", "a i32[n] ~ small, type bits",
                  "a i32[n] ~ small, low", "a i32[n] ~ explicit, values 1", "a i32[n] ~ small = 1"):
        text = json.dumps({"target": "t", "sizes": {}, "arrays": [wrong]})
        assert refusal(lambda text=text: decode(text, Case)).startswith("input: ")


def test_buffers_that_the_arrays_of_a_case_say_are_not_said_again_in_files():
    graph = vector(load("in0"), store("out0", X, 0), in0="i32", out0="i32")
    arrays, sizes = arrays_of(graph, {}, {})
    case = Case(target="t", sizes=sizes, arrays=arrays, program=graph)
    after = replace(case, arrays=(replace(arrays[0], name="in1"), arrays[1]))
    named = replace(case, arrays=(replace(arrays[0], name="No.buffer"), arrays[1]))
    for one, said in ((case, False), (after, True), (named, True)):
        assert ("buffers" in in_files(one)["program"]) == said
    bare = replace(named, program=replace(graph, buffers=()))
    assert isinstance(bare.program, Graph) and bare.program.buffers == ()


def test_words_of_an_error_and_how_the_case_ended_are_said_once_in_files():
    error, vector = "no such thing", (Tried(change="as it is", effect="same", said="disagree no such thing"),
                                      Tried(change="a", effect="gone"), Tried(change="b", effect="gone"))
    rows = tuple(Expectation(subject="own", triton=triton, backend="cuda", verdict=Verdict.DISAGREE, kind=kind)
                 for triton, kind in (("3.6.0", error), ("3.9.0", f"{error} else")))
    blames = [Blame(triton="3.6.0", backend="cuda", vector=rows) for rows in (
        vector, vector[:1], (), (replace(vector[0], said="x"), vector[1]),
        (replace(vector[0], effect="other"), vector[1]))]
    one = replace(entry(kind=error, expected=rows), blame=tuple(blames))
    said = in_files(one)
    assert said["expected"] == ["own, 3.6.0, cuda: disagree", f"own, 3.9.0, cuda: disagree {error} else"]
    head = "3.6.0 cuda: not localised"
    assert said["blame"] == [
        [head, "gone: a; b"], [head, "same: as it is"], [head],
        [head, "same: as it is: x", "gone: a"], [head, f"other: as it is: disagree {error}", "gone: a"]]
    older = {**said, "expected": [
        ["own", "3.6.0", "cuda", "disagree", "="], ["own", "3.9.0", "cuda", "disagree", f"{error} else"]],
        "blame": [said["blame"][0], [head, f"same: as it is: disagree {error}"], *said["blame"][2:]]}
    assert decode(json.dumps(older), CorpusEntry) == one
    for form, problem in ((said, "length <= 500"), (older, "too long")):
        long = {**form, "signature": f"own | disagree | {'x y' * 200}"}
        assert problem in refusal(lambda long=long: decode(json.dumps(long), CorpusEntry))


def test_evidence_of_a_whole_case_leaves_out_in_files_what_the_case_lists():
    one = entry()
    for whole, inputs, written in (
            (True, {"a": ("-1",), "b": ("2",)}, None), (True, {"a": ("-1",), "b": ()}, {"b": []}),
            (True, {"a": ("-1",), "b": ("2",), "c": ("3",)}, {"c": ["3"]}),
            (False, {"a": ("-1",), "b": ("2",)}, {"a": ["-1"], "b": ["2"]}), (False, {}, None)):
        whole_one = replace(one, evidence=replace(one.evidence, whole=whole, inputs=inputs))
        assert whole_one.evidence.inputs == inputs
        assert in_files(whole_one)["evidence"].get("inputs") == written
    filled = replace(one, evidence=replace(one.evidence, whole=True, inputs={}))
    assert filled.evidence.inputs == {"a": ("-1",), "b": ("2",)}


def test_a_signature_is_a_line_in_files():
    one = entry(kind="value", about="int blocks")
    for change, written in (
            ({}, f"{one.signature.subject} | disagree | value | out | int blocks"),
            ({"about": ""}, f"{one.signature.subject} | disagree | value | out"),
            ({"kind": "", "where": ""}, f"{one.signature.subject} | disagree |  |  | int blocks"),
            ({"kind": "", "where": "", "about": "", "verdict": Verdict.HANG}, f"{one.signature.subject} | hang"),
            ({"kind": "a | b", "where": ""}, None), ({"target": "elsewhere"}, None)):
        changed = replace(one, signature=replace(one.signature, **change))
        said = in_files(changed)["signature"]
        assert isinstance(said, dict) if written is None else said == written
    for wrong in ("", "own", "own | wrong", "own | hang | a | b | c | d"):
        assert ": " in refused(one, signature=wrong)


def test_an_id_stands_in_files_where_the_signature_does_not_give_it():
    named = entry(kind="nan_missing")
    for one, written in ((named, None), (replace(named, id=f"{named.id}-beside"), f"{named.id}-beside")):
        text = pretty_json_without_defaults(one)
        assert json.loads(text).get("id") == written
        assert decode_file(text.encode(), CorpusEntry, source="a file") == one


def test_where_it_was_found_is_a_line_in_files():
    here = Environment(python="3.12.3", triton="3.9.0", backend="cuda", device="NVIDIA H200")
    line = "python 3.12.3, triton 3.9.0, backend cuda, device NVIDIA H200"

    def said(found_in: Environment) -> object:
        return in_files(replace(entry(), found_in=found_in))["found_in"]

    assert said(here) == line and said(Environment()) == {}
    named = [Environment.of_line(text) for text in NAMED.values()]
    assert [said(one) for one in named] == list(NAMED) and len(set(map(repr, named))) == len(NAMED)
    assert [one.triton for one in named] == [name[:5] for name in NAMED] and named[0].device == "NVIDIA H200"
    in_words = NAMED["3.6.0 on H200"]
    assert said(replace(named[0], numpy="2.5.3")) == in_words.replace("numpy 2.5.2", "numpy 2.5.3")
    in_full = {**json.loads(encode(entry())), "found_in": in_words}
    assert decode(json.dumps(in_full), CorpusEntry).found_in == named[0]
    for change in ({"device": "a, b"}, {"device": "a, ptxas b"}, {"repairs_off": ("x",)}, {"knobs": {"TRITON_X": "1"}}):
        assert isinstance(said(replace(here, **change)), dict)
    for wrong in ("", "triton", "triton ", "chip 1", "triton 1, triton 2", "knobs x", "triton 1, ",
                  "3.6.0 on H300"):
        assert "is no line of versions" in refused(entry(), found_in=wrong)


def test_an_expectation_is_a_row_without_the_defaults_at_its_end():
    bare = Expectation(subject="own", triton="3.9.0", backend="cuda", verdict=Verdict.AGREE)
    for one, end in ((bare, []), (replace(bare, kind="value"), ["value"]), (replace(bare, torch="2.13"), ["", "2.13"])):
        assert in_files(one) == ["own", "3.9.0", "cuda", "agree", *end]


def test_files_tell_runs_and_oracles_that_agree_once():
    same = {"out": ("1.0",) * 256 + ("2.0",)}
    told = Evidence(inputs={"x": ("0",) * 5}, expected={"torch": same, "numpy": same, "exact": {}}, actual=same)
    assert in_files(told) == {
        "inputs": {"x": ["0"] * 5}, "actual": {"out": ["256 x 1.0", "2.0"]},
        "expected": {"exact": {}, "numpy and torch": {"out": ["256 x 1.0", "2.0"]}}}
    assert decode(encode(told), Evidence) == told
    in_files(Evidence(actual={"out": ("0",) * 20_000}))


def test_a_number_equal_to_a_default_of_another_type_is_written():
    class Row(msgspec.Struct, frozen=True):
        flag: bool | int = True

    assert in_files(Row(1)) == {"flag": 1}
    assert in_files(Row(True)) == {}


def test_an_error_survives_the_way_between_processes():
    error = pickle.loads(pickle.dumps(TridiffError("a", fix="b")))
    assert (type(error), error.problem, error.fix, str(error)) == (TridiffError, "a", "b", "a; b")
