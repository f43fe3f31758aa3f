"""Pictures of errors: what is drawn, and where."""

import xml.etree.ElementTree as ET
from pathlib import Path

from msgspec.structs import replace

from tests.unit.sweep.records import record, result
from tridiff.fuzz.sweep.pictures import draw

SVG = "{http://www.w3.org/2000/svg}"


def test_one_sheet_per_type_of_what_has_errors(tmp_path: Path):
    many = [result(f"op{n}", ulps=0.6 + n / 10) for n in range(8)]
    again = replace(many[3], spec=replace(many[3].spec, op="op3_tl"))
    written = draw(record(*many, again, result("exp", dtype="bf16", ulps=1.5), replace(result("floor"), profile=()),
                          replace(result("sin", dtype="fp32"), profile=())), tmp_path)
    assert [path.name for path in written] == ["error-fp16.svg", "error-bf16.svg"]
    plots = [ET.parse(path).getroot().findall(f"{SVG}g") for path in written]
    titles = [[plot.findall(f"{SVG}text")[0].text for plot in sheet] for sheet in plots]
    assert titles == [[f"op{n}: {0.6 + n / 10:.4g}" for n in range(8)], ["exp: 1.5"]]


def test_heights_are_parts_of_the_largest_error_and_equal_neighbours_are_one_step(tmp_path: Path):
    profile = (0.0, 1.0, 1.0, 4.0, -1.0, 2.0, 0.0, 0.0)
    (path,) = draw(record(replace(result("exp", ulps=4.0), profile=profile)), tmp_path)
    (plot,) = ET.parse(path).getroot().findall(f"{SVG}g")
    # 8 parts of 16 units; 44 high above the line at 60.
    assert plot.find(f"{SVG}path").get("d") == "M0 60H16V49H48V16H64V60H80V38H96V60H128V60z"
