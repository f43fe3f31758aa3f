"""What the contract (launch.md §4, §5) says of kernels that are kept, and of kernels from text."""

from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.versions import before

_KEPT = ("nothing", "unused", "comment below", "nothing of a long name")
"""Changes after which a kernel on disk is the one that is wanted."""
_SPOILT = ("always", "file gone", "group cut off")
"""Kernels that are the same, and must be compiled again."""


def disk(choices: Choices, version: str) -> Answers:
    change = choices["change"]
    if change == "field" and before(version, "3.8.0"):
        return {}
    same = str(change in (*_KEPT, *_SPOILT))
    found = {"hits": f"False; {change in _KEPT}", "same hash": same}
    return found | {"same code": "True"} if change in (*_KEPT, *_SPOILT, "unused") else found


def captured(choices: Choices, version: str) -> Answers:
    if choices["plain"]:
        return {"second": "refused CompilationError"}
    if choices["other"] and choices["name"] in ("USED", "KIND", "INNER"):
        return {"second": "refused RuntimeError", "named": "True"}
    return {"second": "the same kernel"}


def mended(choices: Choices, version: str) -> Answers:
    refused = "RuntimeError; RuntimeError" if choices["refused"] else ""
    return {"refused": refused, "hits": "False; False", "same code": "False"}


def files(choices: Choices, version: str) -> Answers:
    return {"compiled": "False; False; True", "codes": "0; 0; 0" if choices["file"] == "assembler" else "0; 1; 0"}


def stages(choices: Choices, version: str) -> Answers:
    knob = choices["knob"]
    written = ("cubin", "llir", "ptx", "source", "ttgir", "ttir")
    dumped = [f"kernel.{one}" for one in sorted((*written, "sass"))] if knob == "dump" else []
    found = {"stages": "cubin; source" if knob == "binary only" else "; ".join(written)}
    if knob != "dump":
        found["dumped"] = ""
    else:
        found["dumped"] = "; ".join(one for one in dumped if one != "kernel.source")
    taken = knob in ("override", "option")
    foreign = "hsaco; source" if knob == "binary only" else "amdgcn; hsaco; llir; source; ttgir; ttir"
    return found | {"taken": str(taken), "of AMD": "" if taken else foreign}


def text(choices: Choices, version: str) -> Answers:
    return {"same code": "True", "warps": str(choices["num_warps"]), "blocks": str(choices["num_ctas"]),
            "hits": "False; False; True", "again": "True", "shared": "True", "grid": "(2, 3, 1)",
            "parameters": "array 0 + 0; array 1 + 0; array 2 + 0; 65; 130"}


def repeated(choices: Choices, version: str) -> Answers:
    return {"codes": "1"}


def ahead_of_time(choices: Choices, version: str) -> Answers:
    found = {"target": str(choices["arch"]), "entry": "True", "hits": "[False]", "loads": "0", "source": "True"}
    if choices["kind"] == "fp32":
        # 256 elements for 128 threads: two neighbours each, in one access if the address allows it.
        found["vectors"] = str(choices["aligned"])
    return found
