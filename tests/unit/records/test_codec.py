"""Records as JSON: both ways for every value, strict on the way in, one clear line for everything else."""

import json
import math
import pickle
import tracemalloc
from functools import cache

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from msgspec.structs import replace

from tests.support.campaigns import campaign_options
from tests.support.cases import addition, division
from tests.support.refusals import refusal
from tridiff.fuzz.campaign.record import CampaignOptions, Counts, Plan, ShardResult, ShardSpec, Summary, TargetCounts
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.records import (
    MAX_ELEMENTS,
    SCHEMA,
    ArraySpec,
    Case,
    Content,
    CorpusEntry,
    Environment,
    Evidence,
    Expectation,
    Explicit,
    LaunchOptions,
    Layout,
    Outcome,
    Put,
    RowCounts,
    Seconds,
    Signature,
    Verdict,
    canonical_json,
    decode,
    digest,
    encode,
    pretty_json,
)
from tridiff.fuzz.records.codec import decode_file, pretty_json_without_defaults, printable
from tridiff.fuzz.records.pretty import WIDTH, layout
from tridiff.fuzz.registry import all_targets, find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.workers import protocol

each = pytest.mark.parametrize
TEXT = st.text(max_size=30)
QUICK = settings(max_examples=20, suppress_health_check=list(HealthCheck))
RECORDS = (Environment, Evidence, Expectation, LaunchOptions, Layout, Outcome, RowCounts, Seconds, Signature, Counts,
           TargetCounts, ShardSpec, ShardResult, CampaignOptions, Plan, Ledger, Summary, Content, ArraySpec, Case,
           CorpusEntry, protocol.Run, protocol.Done, protocol.Ready, protocol.Refused, protocol.Stage, protocol.Exited)


@cache
def of_type(annotation: object) -> st.SearchStrategy[object]:
    """Values of a record's field, from its type and constraints."""
    return _of(msgspec.inspect.type_info(annotation))


def _of(info: msgspec.inspect.Type) -> st.SearchStrategy[object]:
    inspect = msgspec.inspect
    match info:
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType():
            low = info.ge if info.ge is not None else (info.gt + 1 if info.gt is not None else -(2**63))
            high = info.le if info.le is not None else (info.lt - 1 if info.lt is not None else 2**63 - 1)
            step = info.multiple_of or 1
            return st.integers(-(-low // step), high // step).map(lambda n: n * step)
        case inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False)
        case inspect.StrType():
            if info.pattern is not None:
                return st.from_regex(info.pattern, fullmatch=False)
            return st.text(max_size=min(info.max_length or 30, 30))
        case inspect.BytesType():
            return st.binary(max_size=min(info.max_length or 8, 8))
        case inspect.NoneType():
            return st.none()
        case inspect.EnumType():
            return st.sampled_from(list(info.cls))
        case inspect.LiteralType():
            return st.sampled_from(list(info.values))
        case inspect.UnionType():
            # An unset field is left out of the JSON: nothing to draw. Text beside records is how files write them, in a
            # line or in several.
            left_out = (inspect.CustomType, inspect.StrType) if any(
                isinstance(one, inspect.StructType) for one in info.types) else inspect.CustomType
            lines = inspect.VarTupleType(inspect.StrType())
            return st.one_of(*(_of(one) for one in info.types if not isinstance(one, left_out) and one != lines))
        case inspect.VarTupleType():
            most = min(info.max_length if info.max_length is not None else 3, 3)
            return st.lists(_of(info.item_type), min_size=info.min_length or 0, max_size=most).map(tuple)
        case inspect.TupleType():
            return st.tuples(*(_of(one) for one in info.item_types))
        case inspect.DictType():
            return st.dictionaries(_of(info.key_type), _of(info.value_type), max_size=3)
        case inspect.StructType():
            return _struct(info)
    raise AssertionError(f"no strategy for {info}")


_STRUCTS: dict[type, st.SearchStrategy[object]] = {}


def _struct(info: msgspec.inspect.StructType) -> st.SearchStrategy[object]:
    """Instances of a Struct; deferred, because expressions contain expressions."""
    if info.cls not in _STRUCTS:
        def build() -> st.SearchStrategy[object]:
            required = {f.name: _of(f.type) for f in info.fields}
            return st.fixed_dictionaries(required).map(lambda fields: info.cls(**fields))

        _STRUCTS[info.cls] = st.deferred(build)
    return _STRUCTS[info.cls]


@each("kind", RECORDS, ids=lambda kind: kind.__name__)
@QUICK
@given(data=st.data())
def test_every_record_survives_json(kind: type[msgspec.Struct], data: st.DataObject):
    record = data.draw(of_type(kind))
    for written in (encode(record), canonical_json(record), pretty_json(record).encode(),
                    pretty_json_without_defaults(record).encode()):
        assert decode(written, kind) == record
    assert canonical_json(decode(pretty_json(record), kind)) == canonical_json(record)


@QUICK
@given(data=st.data())
def test_every_drawn_case_survives_json_and_stays_small(data: st.DataObject):
    target = data.draw(st.sampled_from(list(all_targets().values())))
    case = data.draw(target.draw.cases(Limits(elements=1 << 22, rows=1 << 20)))
    written = encode(case)
    assert decode(written, Case) == case
    assert decode(written, Case).digest == case.digest
    if not any(isinstance(s.content.base, Explicit) for s in case.arrays if s.content):
        # A program grows with its nodes, whatever it works on.
        plain = encode(replace(case, program=msgspec.UNSET))
        assert len(plain) < 8192, "a case describes arrays, it does not contain them"
        assert len(written) < 1 << 16


def test_records_are_frozen():
    with pytest.raises(AttributeError, match="immutable"):
        addition().repeats = 3


def test_canonical_json_does_not_depend_on_the_order_of_fields():
    one = replace(addition(), sizes={"rows": 1, "cols": 2}, params={"x": 1, "y": 2})
    other = replace(addition(), sizes={"cols": 2, "rows": 1}, params={"y": 2, "x": 1})
    assert canonical_json(one) == canonical_json(other)
    assert one.digest == other.digest


def test_digests_are_stable():
    """They name corpus files and outcomes: changing any of these orphans what is stored."""
    assert addition().digest == "79e98becc0b4ab3e"
    assert division((-7,), (2,), dtype="i64").digest == "8b92fb3ffb23910e"
    signature = Signature(target="t", subject="own", verdict=Verdict.CRASH, kind="SIGSEGV", where="", about="int")
    assert (signature.key, signature.digest) == ("t | own | crash | SIGSEGV |  | int", "51b61f4044")


@each("change", [
    {"repeats": 1}, {"options": LaunchOptions(num_warps=8)}, {"sizes": {"rows": 11}}, {"params": {"block": 8}},
    {"target": "triton.vector_sub"}, {"variants": (LaunchOptions(),)}])
def test_any_change_changes_the_digest(change: dict[str, object]):
    assert replace(addition(), **change).digest != addition().digest


# -- strictness

def mangled(**changes: object) -> bytes:
    fields = json.loads(encode(addition()))
    fields.update(changes)
    return json.dumps(fields).encode()


@each("data, message", [
    (mangled(surprise=1), "Object contains unknown field `surprise`"),
    (mangled(repeats="1"), "Expected `int`, got `str` - at `$.repeats`"),
    (mangled(repeats=1.0), "Expected `int`, got `float` - at `$.repeats`"),
    (mangled(repeats=True), "Expected `int`, got `bool` - at `$.repeats`"),
    (mangled(repeats=-1), "Expected `int` >= 0 - at `$.repeats`"),
    (mangled(repeats=17), "Expected `int` <= 16 - at `$.repeats`"),
    (mangled(sizes={"rows": -1}), "Expected `int` >= 0 - at `$.sizes[...]`"),
    (mangled(sizes=None), "Expected `object`, got `null` - at `$.sizes`"),
    (mangled(params={"x": 1.5}), "Expected `bool | int | str`, got `float` - at `$.params[...]`"),
    (b'{"sizes": {}, "arrays": []}', "Object missing required field `target`"),
    (b"[]", "Expected `object`, got `array`"), (b"", "not valid JSON (Input data was truncated)"),
    (b"{\xff", "not valid JSON (JSON is malformed: object keys must be strings (byte 1))"),
])
def test_what_is_no_case_is_refused_in_one_line(data: bytes, message: str):
    assert refusal(lambda: decode(data, Case, source="file.json")) == (
        f"file.json: {message}; correct or delete the file")


def test_nothing_is_written_as_nan():
    with pytest.raises(ValueError, match="not JSON compliant"):
        layout([math.nan])


@each("name", ["../x", "a b", "", "x" * 65, "a\n", "1a", "a/b", "a\x00"])
def test_names_cannot_escape(name: str):
    refusal(lambda: decode(mangled(target=name), Case))


def test_files_of_an_older_schema_are_read_as_strictly():
    old = mangled(schema=1)
    assert decode_file(old, Case, source="c.json") == addition()
    assert refusal(lambda: decode_file(mangled(schema=1, surprise=1), Case, source="c.json")) == (
        "c.json: Object contains unknown field `surprise`; correct or delete the file")
    twice = old[:-1] + b', "target": "a.b"}'
    assert "key 'target' appears twice" in refusal(lambda: decode_file(twice, Case, source="c.json"))


@settings(max_examples=200)
@given(TEXT)
def test_a_strangers_text_cannot_drive_the_terminal(text: str):
    shown = printable(text + "\x1b[2J\r\n\u202e")
    assert shown.isprintable()


@QUICK
@given(data=st.data())
def test_laid_out_json_is_narrow_and_the_same(data: st.DataObject):
    entry = data.draw(of_type(CorpusEntry))
    written = pretty_json(entry)
    assert json.loads(written) == json.loads(encode(entry))
    assert written.endswith("\n") and not written.endswith("\n\n")
    for line in written.splitlines():
        # A longer line holds a single value that cannot be broken.
        assert len(line) <= WIDTH or line.count(", ") == 0 or '"' in line


# -- Case.check

def with_array(**changes: object) -> Case:
    case = addition()
    return replace(case, arrays=(replace(case.arrays[0], **changes), *case.arrays[1:]))


def test_a_plain_case_passes():
    addition().check()
    addition(rows=MAX_ELEMENTS, dtype="i8").check()


@each("case, message", [
    (addition(rows=10**13, dtype="i8"), "array a would take 10,000,000,000,000 bytes (10,000,000,000,000 elements); "
     "keep every array within 268,435,456 elements"),
    (addition(rows=MAX_ELEMENTS + 1, dtype="fp64"), "array a would take 2,147,483,656 bytes (268,435,457 elements); "
     "keep every array within 268,435,456 elements"),
    (addition(rows=2**62, dtype="i64"), "array a would take 36,893,488,147,419,103,232 bytes "
     "(4,611,686,018,427,387,904 elements); keep every array within 268,435,456 elements"),
    (with_array(dtype="fp4"), "array a: unknown dtype 'fp4'; use one of i1 i8 i16 i32 i64 u8 u16 u32 u64 fp8e4nv fp8e5 "
     "bf16 fp16 fp32 fp64"),
    (with_array(dims=("depth",)), "array a: no size for axis 'depth'; add it to sizes"),
    (with_array(layout=Layout(order=(0, 1))),
     "array a: layout order (0, 1) is no permutation of its axes; list every axis once, or none"),
    (with_array(name="b"), "case names an array twice; give every array its own name"),
    (with_array(content=None, layout=Layout(broadcast=("rows",))),
     "output a: stride 0 makes elements overlap; remove broadcast from its layout"),
    (replace(addition(), schema=SCHEMA + 1),
     f"case has schema {SCHEMA + 1}, this tridiff reads {SCHEMA}; rewrite it with a newer tridiff"),
])
def test_what_cannot_be_materialised_is_refused_before_anything_is_allocated(case: Case, message: str):
    tracemalloc.start()
    try:
        line = refusal(case.check)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert line == message
    assert peak < 1 << 20


@each("layout", [Layout(broadcast=("rows",)), Layout(step=16), Layout(gap=64)])
def test_layouts_cannot_hide_a_large_array(layout: Layout):
    case = with_array(layout=layout)
    case.check()
    with pytest.raises(TridiffError, match=r"^array a would take "):
        replace(case, sizes={"rows": 2**40}).check()
    wide = ArraySpec(name="a", dtype="i8", dims=("rows", "none"), content=Content(), layout=layout)
    with pytest.raises(TridiffError, match=r"^array a would take "):
        replace(case, sizes={"rows": 2**40, "none": 0}, arrays=(wide,)).check()


def test_failed_verdicts():
    assert [v.value for v in Verdict if v.failed] == ["disagree", "compile_error", "crash", "hang"]
    assert RowCounts(agree=3, disagree=2, conflict=7, undefined=9).judged == 5


def test_counts_add_up():
    one = Counts(executed=3, agree=2, crash=1, busy_seconds=0.5)
    total = one.plus(Counts(executed=4, hang=4, busy_seconds=0.25))
    assert total == Counts(executed=7, agree=2, crash=1, hang=4, busy_seconds=0.75)


def summary_of(counts: Counts, **more: object) -> Summary:
    return Summary(id="x", options=campaign_options(), environments=(), counts=counts, **{"by_target": (), **more})


@each("counts, new, status", [
    (Counts(), (), 2), (Counts(executed=5, not_checked=3, refused=2), (), 2), (Counts(executed=1, agree=1), (), 0),
    (Counts(executed=2, agree=1, disagree=1), (), 0), (Counts(executed=2, agree=1, disagree=1), ("x",), 1),
    (Counts(), ("x",), 2),
])
def test_exit_status(counts: Counts, new: tuple[str, ...], status: int):
    assert summary_of(counts, new_findings=new).exit_status == status
    assert summary_of(counts, new_findings=new, errors=("a shard was lost",)).exit_status == 2
    assert summary_of(counts, new_findings=new, repaired=("it was run again",)).exit_status == status


@each("asked, status", [(("interpreter", "compile:gfx942"), 2), (("interpreter", "compile"), 0)])
def test_a_chip_that_was_asked_for_by_name_and_that_nothing_can_be_compiled_for(asked: tuple[str, ...],
                                                                               status: int):
    """Beside one for which something was, and one of which nothing was drawn."""
    of = {"interpreter": Counts(executed=2, agree=2), "compile:gfx942": Counts(executed=3, not_checked=3),
          "compile:sm_90": Counts(executed=3, agree=1, not_checked=2)}
    by_target = tuple(TargetCounts(target="triton.vector_add", subject="own", backend=name, counts=counts)
                      for name, counts in of.items())
    found = replace(summary_of(Counts(executed=8, agree=3, not_checked=5), by_target=by_target),
                    options=replace(campaign_options(), backends=(*asked, "compile:sm_90", "compile:sm_80")))
    assert found.exit_status == status and found.in_vain == tuple(one for one in asked if one == "compile:gfx942")


def test_rows_of_a_summary_leave_out_defaults_and_read_back_the_same():
    row = TargetCounts(target="t", subject="own", backend="cuda", counts=Counts(executed=7, hang=7))
    summary = summary_of(row.counts, by_target=(row,))
    text = pretty_json_without_defaults(summary, only_in_rows=True)
    assert decode(text, Summary) == summary
    assert text.count("crash") == 1, "totals keep their zeros, rows do not"
    assert '"devices": [0]' in text and '"interrupted": false' in text


def test_an_error_is_always_one_line():
    error = TridiffError("a\nb  c", fix="d\n\te")
    assert str(error) == "a b c; d e"
    assert digest(Put(value="1")) == digest(Put(value="1")) != digest(Put(value="2"))


@each("name", ["codegen.reduction", "gluon.view_chain", "async.copy_ring", "loops.num_stages"])
def test_a_generated_case_keeps_its_digest_on_the_way_between_processes(name: str):
    @QUICK
    @given(find(name).draw.cases(Limits(elements=1 << 10, rows=4)))
    def holds(case: Case) -> None:
        again = pickle.loads(pickle.dumps(case))
        assert (again, again.digest) == (case, case.digest)

    holds()
