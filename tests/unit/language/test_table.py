"""The table of the language against the installed Triton."""

import json

import pytest
import triton.language as tl

from tridiff.fuzz.cli.app import run
from tridiff.fuzz.language.elsewhere import TARGETS
from tridiff.fuzz.language.gluon_names import TARGETS as TARGETS_OF_GLUON
from tridiff.fuzz.language.index import rows
from tridiff.fuzz.language.table import names, table
from tridiff.kernels.language.call import Call, Operand


def test_every_name_is_in_one_place():
    found = table()
    places = (found.covered, found.elsewhere, found.refused, found.uncovered)
    assert sorted(names()) == sorted(name for place in places for name in place)
    assert {"tl.sum", "tensor.sum", "tensor.__radd__", "libdevice.sin", "tl.atomic_cas"} <= found.covered.keys()
    assert not found.uncovered


def test_a_function_that_a_newer_triton_adds_is_uncovered(monkeypatch: pytest.MonkeyPatch):
    def brand_new(x: object) -> object:
        return x

    brand_new.__module__ = "triton.language.standard"
    monkeypatch.setattr(tl, "brand_new", brand_new, raising=False)
    assert table().uncovered["tl.brand_new"] == "no row yet"


def test_rows_cover_names_that_exist_in_some_version():
    """A row of a misspelt name would cover nothing; names of other versions have `since` or `until`."""
    installed = set(names()) | {f"tl.{name.removeprefix('tl.math.')}" for name in names()}
    strange = {one: row.name for row in rows().values() if not (row.since or row.until) for one in row.covers
               if one.startswith(("tl.", "tensor.", "libdevice.")) and one not in installed}
    assert strange.keys() <= {"tl.PropagateNan", "tensor.cdiv", "tensor.sort", "tensor.reduce_or", "tensor.topk"}


def test_other_targets_exist():
    from tridiff.fuzz.registry import select

    known = {target.name for target in select(())}
    assert {one for one in (*TARGETS.values(), *TARGETS_OF_GLUON.values()) if " " not in one} <= known


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str]):
    assert run(["targets", "--language", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {"triton", "rows", "covered", "uncovered"} <= said.keys() and "tl.sum" in said["covered"]
    assert all(isinstance(reason, str) and reason for reason in said["uncovered"].values())
    assert run(["targets", "--language"]) == 0
    assert "covered by rows" in capsys.readouterr().out


def test_rows_of_gluon_are_not_for_chips_with_other_warps():
    def declined(name: str, backend: str) -> str:
        call = Call(row=name, operands=(Operand(dtype="i8", shape=(1,)),) * 2, stored=("i8",))
        return rows()[name].declined(call, "3.9.0", backend)

    assert "64" in declined("gl.minimum", "compile:gfx942")
    assert declined("gl.minimum", "compile:sm_90") == declined("tl.minimum", "compile:gfx942") == ""
