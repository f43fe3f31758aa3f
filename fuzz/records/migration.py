"""From schema 1 to schema 2: plain JSON in, plain JSON out.

Schema 1 kept loops, texts and transfers among the parameters of a case, and the warp or program that came late with
them. Nothing is checked here: fields are moved to where schema 2 has them, whatever is amiss with them stays amiss, and
the strict decoder that reads the result refuses it.
"""

from collections.abc import Callable
from typing import Any

Json = Any
"""What a JSON text holds: a file's content before any of it is known to be right."""
Fields = dict[str, Json]


def record_to_2(record: Json) -> Json:
    """A record of a file of schema 1 (corpus entry, case, ledger, any other) as schema 2 says it."""
    if not isinstance(record, dict):
        return record
    found = {**record, "schema": 2}
    if isinstance(record.get("case"), dict):
        found["case"] = case_to_2(record["case"])
    elif "target" in record and "arrays" in record:
        found = case_to_2(record)
    return found


def case_to_2(case: Fields) -> Fields:
    """A case of schema 1 as schema 2 says it."""
    found = {**case}
    if "schema" in case:
        found["schema"] = 2
    if not isinstance(case.get("params"), dict):
        return found
    params, sizes = {**case["params"]}, case.get("sizes")
    if "delay" not in case:
        found |= _delay(params)
    program = _program(str(case.get("target")), params, sizes if isinstance(sizes, dict) else {}, case)
    if program is not None and "program" not in case:
        found, params = {**found, "program": program}, {}
    return {**found, "params": params}


def _delay(params: Fields) -> Fields:
    """Takes who came late out of `params`."""
    for of in ("warp", "program"):
        if f"late_{of}" in params and "late_access" in params:
            return {"delay": {"of": of, "number": params.pop(f"late_{of}"), "access": params.pop("late_access")}}
    return {}


def _program(target: str, params: Fields, sizes: Fields, case: Fields) -> Fields | None:
    """The program that parameters spell; None where they spell none, or something is missing."""
    of_target: dict[str, Callable[[Fields, Fields, Fields], Fields | None]] = {
        "loops": _loop, "descriptors": _loop, "ttgir": _text, "tma": _transfer, "cluster": _transfer}
    making = of_target.get(target.partition(".")[0])
    try:
        return making(params, sizes, case) if making else None
    except (KeyError, AttributeError, ValueError, TypeError):
        return None


def _loop(p: Fields, sizes: Fields, case: Fields) -> Fields | None:
    form = p["form"]
    fields = {name: value for name, value in p.items() if name != "form"}
    if form in ("stream", "fold"):
        # They had one element type.
        del fields["dtype"]
        return {"type": {"stream": "stream", "fold": "line_fold"}[form], "width": sizes["w"], **fields}
    if form == "product":
        fields |= {"inner": sizes["k"], "m": sizes["m"], "n": sizes["n"]}
        described, stored, one_map = (fields.pop(name) for name in ("described", "described_store", "one_map"))
        if not described:
            del fields["specialised"]
            return {"type": "product", **fields}
        del fields["transposed"]
        store = "pointers" if not stored else "shared_map" if one_map else "own_map"
        return {"type": "described_product", "store": store, **fields}
    if form == "copy":
        # Whether a line ends inside a unit follows from its length.
        del fields["cut_unit"]
        return {"type": "box_copy", "width": sizes["w"], **fields}
    if form == "reduction":
        return {"type": "box_reduction", "width": sizes["w"], **fields}
    if form == "gather":
        del fields["stages"]
        return {"type": "row_gather", "rows": sizes["h"], "columns": sizes["w"], **fields}
    return None


def _text(p: Fields, sizes: Fields, case: Fields) -> Fields:
    form = {name: value for name, value in p.items() if name not in ("form", "each")}
    if p["form"] == "predicate_stage":
        form["trips"] = sizes["lines"]
    return {"type": "text", "form": {"type": p["form"], **form}, "elements": sizes["n"], "each": p["each"],
            "warps": case.get("options", {}).get("num_warps", 4)}


def _transfer(p: Fields, sizes: Fields, case: Fields) -> Fields | None:
    if "box" not in p:
        return {"type": "exchange", **p} if "every" in p else None
    numbers = {name: [int(one) for one in p[name].split(",") if one] for name in ("box", "shape", "at", "to")}
    return {"type": "boxes", **p, **numbers}
