"""Cells that draws are no more aimed at are named, with what was in the way."""

from tridiff.fuzz.campaign.lacking import BARREN, HOPELESS
from tridiff.fuzz.cli.language_cells import cells, page
from tridiff.fuzz.coverage.record import Ledger
from tridiff.fuzz.language.aims import aims_of, cell


def ledger(row: str, reached: dict[str, int], missed: dict[str, int]) -> Ledger:
    """A record in which so many cases of a row's element types were judged, and so many not."""
    target = "language.pointwise"
    return Ledger(
        triton="3.9.0", reached={"cuda": {target: {cell(row, name): number for name, number in reached.items()}}},
        missed={"cuda": {target: {cell(row, name): {"no reference": number} for name, number in missed.items()}}})


def dropped(record: Ledger, row: str) -> dict[str, str]:
    return {one.dtype: one.dropped for one in cells([record]) if one.row == row and one.dropped}


def test_a_cell_whose_cases_cannot_be_judged_is_named_with_the_reason():
    found = ledger("tl.maximum", {"fp32": 40}, {"fp64": HOPELESS, "i8": HOPELESS - 1})
    assert dropped(found, "tl.maximum") == {"fp64": f"{HOPELESS} of its cases were not judged beside 0: no reference"}
    listed = "\n".join(page(list(cells([found])), []))
    assert "1 cells that draws are no more aimed at:" in listed and "- `tl.maximum` fp64: " in listed


def test_a_row_of_which_no_case_is_judged_takes_all_of_its_cells_with_it():
    found = ledger("tl.maximum", {}, {"fp64": BARREN // 2, "i8": BARREN - BARREN // 2})
    of_row = aims_of("pointwise", "")["tl.maximum"]
    assert len(of_row) > 2
    assert set(dropped(found, "tl.maximum").values()) == {"no case of its row was judged: no reference"}
    assert len(dropped(found, "tl.maximum")) == len(of_row)
    assert {one.why for one in cells([found]) if one.row == "tl.maximum"} == {"no reference"}
    assert dropped(ledger("tl.maximum", {"fp32": 1}, {"fp64": 4, "i8": 4}), "tl.maximum") == {}
