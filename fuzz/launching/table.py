"""The table of scenes. Nothing here imports Triton."""

from functools import cache

from tridiff.fuzz.language.index import rows
from tridiff.fuzz.launching import fragments_amd, fragments_gluon, fragments_plain
from tridiff.fuzz.launching.due_of_types import TYPES
from tridiff.fuzz.launching.expressions import EXPRESSIONS
from tridiff.fuzz.launching.lines import parts
from tridiff.fuzz.launching.scene import Choices, Scene
from tridiff.fuzz.launching.vocabulary import (
    CHANGES,
    CHIPS,
    CONSTANTS,
    DESCRIPTORS,
    DRAWS,
    DTYPES,
    FRONT_END,
    GRIDS,
    GROUPS,
    HIDDEN,
    LAYOUTS,
    NUMBERS,
    REFUSALS,
    SPOILT,
    TUNED,
    UNUSUAL,
    VALUES,
    VARIABLES,
    WAYS,
    WORDS,
)
from tridiff.oracles.dtypes import dtype

_ARCHITECTURES = (90, 80)

_CLUSTERED = ("sm_90", "sm_100", "gfx1250")

_ONLY = {"tensor memory ": "sm_100", "arguments of blackwell": "sm_100", "products of AMD": "gfx950",
         **dict.fromkeys(("hopper ", "arguments of hopper", "products "), "sm_90")}
"""Chips that alone have what is named so."""


def _suits(choices: Choices) -> bool:
    """Whether a piece or a part is about a chip, which has what the option asks for as well: few have
    clusters of blocks, and layouts of Gluon are for a number of warps."""
    language, _, name = str(choices.get("piece") or choices["part"]).partition(": ")
    chip = str(choices["chip"])
    return (choices["option"] != "blocks" or chip in _CLUSTERED) and (
        choices["option"] != "warps" or language == "plain") and (
        chip in fragments_amd.CHIPS_OF[name.partition(" ")[0]] if language == "amd"
        else chip.startswith(next((one for start, one in _ONLY.items() if name.startswith(start)), "sm_")))


def _clusters_are_newer(choices: Choices) -> bool:
    return choices["arch"] != 80 or choices["num_ctas"] == 1


SCENES: tuple[Scene, ...] = (
    Scene(name="arguments", topic="arguments", play="arguments:arguments", due="due:arguments",
          vocabulary={"a": WORDS, "b": WORDS, "c": CONSTANTS, "grid": GRIDS, "arch": _ARCHITECTURES,
                      "flag": ("", "not specialised", "not aligned", "by number", "not aligned by number"),
                      "call": ("positional", "keywords", "mixed", "without defaults")},
          # A tuple's members are specialised whatever is said about the tuple: the contract is silent.
          legal=lambda choices: (not choices["flag"] or not str(choices["b"]).startswith(("tuple", "pair"))) and (
              choices["arch"] != 80 or not any("fp8e4nv" in str(choices[name]) for name in "ab"))),
    Scene(name="shared", topic="arguments", play="arguments:shared", due="due:shared",
          vocabulary={"first": WORDS, "second": WORDS, "flag": ("", "not specialised", "not aligned"),
                      "again": (0, 1), "option": ("", "num_warps 8", "num_stages 1", "maxnreg 64")},
          legal=lambda choices: not choices["flag"] or not any(
              str(choices[name]).startswith(("tuple", "pair")) for name in ("first", "second"))),
    Scene(name="annotated", topic="arguments", play="arguments:annotated", due="due:annotated",
          each="style",
          vocabulary={"annotation": DTYPES, "value": NUMBERS, "style": ("object", "text", "pointer", "const")}),
    Scene(name="constants", topic="arguments", play="arguments:constants", vocabulary={
        "constant": CONSTANTS}, each="constant"),
    Scene(name="options", topic="options", play="options:options", due="due:options",
          vocabulary={"knob": ("", "no ptxas optimisation", "no lines", "no fusion", "debug", "fpsan", "consan",
                               "iisan", "other arch"),
                      "kernel": ("pointwise", "sum", "dot", "integers"), "arch": (90, 80, 100, 120),
                      "num_warps": (4, 1, 2, 8, 16, 32), "num_stages": (3, 1, 2, 4, 5, 6, 7), "num_ctas": (1, 2, 4),
                      "maxnreg": (0, 32, 64, 128, 255), "enable_fp_fusion": (True, False),
                      "launch_cooperative_grid": (False, True), "launch_pdl": (False, True),
                      "sanitize_overflow": (False, True), "enable_reflect_ftz": (True, False), "debug": (False, True)},
          # Sanitizers are made for Hopper; on older chips LLVM gives up.
          legal=lambda choices: (choices["knob"] not in ("fpsan", "consan", "iisan") or (
              choices["arch"], choices["num_ctas"]) == (90, 1)) and (
              (choices["arch"] != 80 and choices["knob"] != "other arch") or choices["num_ctas"] == 1) and (
              # A block has 1024 threads and 65536 registers.
              int(choices["num_warps"]) * int(choices["maxnreg"]) <= 2048)),
    Scene(name="options of AMD", topic="options", play="options:amd", vocabulary={
        "part": tuple(range(8)), "chip": ("gfx942", "gfx950", "gfx1250", "gfx1100")}),
    Scene(name="variables", topic="options", play="options:variables", vocabulary={"set": VARIABLES}),
    *(Scene(name=f"disk {part}", topic="caches", play="caches:disk", due="due_of_caches:disk",
            vocabulary={"change": CHANGES[part::4]}, each="change") for part in range(4)),
    # What releases get wrong is drawn by itself: it must not hide what else a case would make in turn.
    Scene(name="spoilt", topic="caches", play="caches:disk", due="due_of_caches:disk",
          vocabulary={"change": SPOILT}),
    Scene(name="captured", topic="caches", play="caches:captured", due="due_of_caches:captured",
          vocabulary={"name": ("USED", "UNUSED", "KIND", "DEFAULT", "PLAIN", "TYPED", "FIRST", "TURN"),
                      "other": (True, False, "gone", "in place"), "plain": (False, True)}, each="name",
          # What is refused at first shows nothing of what happens then; a number does not change.
          legal=lambda choices: (not choices["plain"] or choices["other"] is True) and (
              choices["other"] != "in place" or choices["name"] in ("USED", "UNUSED"))),
    Scene(name="captured by a callee", topic="caches", play="caches:captured", due="due_of_caches:captured",
          vocabulary={"name": ("INNER",), "other": (True, False, "gone"), "plain": (False, True)},
          legal=lambda choices: not choices["plain"] or choices["other"] is True),
    Scene(name="hidden", topic="caches", play="caches:hidden", vocabulary={"way": HIDDEN}, each="way"),
    Scene(name="mended", topic="caches", play="caches:mended", due="due_of_caches:mended",
          vocabulary={"refused": (False, True)}),
    Scene(name="files", topic="caches", play="caches:files", due="due_of_caches:files",
          vocabulary={"file": ("library", "libdevice", "assembler")}, each="file"),
    Scene(name="stages", topic="caches", play="caches:stages", due="due_of_caches:stages",
          vocabulary={"knob": ("nothing", "dump", "binary only", "override", "option"),
                      "stage": ("ttgir", "ttir", "ptx")},
          legal=lambda choices: choices["knob"] in ("override", "option") or choices["stage"] == "ttgir"),
    Scene(name="hooks", topic="events", play="events:hooks", due="due_of_events:hooks",
          vocabulary={"decorated": ("", "metadata", "name", "debug", "version"), "refusing": (False, True),
                      "hooked": (True, False), "warmup": (False, True)}, each="hooked"),
    Scene(name="ahead", topic="events", play="events:ahead", due="due_of_events:ahead",
          vocabulary={"constant": ("int 3", "dtype float32", "none", "text abc", "tuple int 1, int 2"),
                      "x": ("tensor i32 0", "tensor i32 1"), "n": ("int 5", "int 16", "int 1", "tuple int 5, int 16"),
                      "warps": (4, 2), "spoilt": ("", "name", "target")},
          # The sum with a tuple is none.
          legal=lambda choices: not str(choices["n"]).startswith("tuple")),
    Scene(name="interface", topic="events", play="events:interface", due="due_of_events:interface",
          vocabulary={"way": ("launch", "run", "warmup with a type", "handle", "handle on a stream", "reinterpreted",
                              "together")}, each="way"),
    Scene(name="tuned", topic="tuning", play="tuning:tuned", due="due_of_events:tuned", each="disk",
          vocabulary={"times": ("1 2 3", "3 2 1", "2 1 3", "5 5 4"), "sizes": ("5 5 6", "5", "6 5 6"),
                      "pruning": ("none", "early", "model", "model half", "early one"),
                      "kept": ("", "reset", "restore", "both"), "hooks": (False, True), "disk": (False, True)}),
    Scene(name="tuned otherwise", topic="tuning", play="tuning:otherwise", vocabulary={"way": TUNED},
          each="way"),
    Scene(name="ruled", topic="tuning", play="tuning:ruled", due="due_of_events:ruled",
          vocabulary={"n": (5, 1, 2, 16, 17, 100), "named": (True, False)}, each="named"),
    # A case takes a second at most.
    *(Scene(name=f"refusals {part}", topic="refusals", play="refusals:refusals", due="due_of_events:refused",
            vocabulary={"way": REFUSALS[part::4]}, each="way") for part in range(4)),
    *(Scene(name=f"unusual {part}", topic="events", play="unusual:unusual", due="due_of_unusual:unusual",
            vocabulary={"way": UNUSUAL[part::4]}, each="way") for part in range(4)),
    Scene(name="text of ptx", topic="sources", play="unusual:unusual", due="due_of_unusual:unusual",
          vocabulary={"way": ("text of ptx",)}),
    Scene(name="illegal descriptors", topic="refusals", play="refusals:descriptors", due="due_of_events:refused",
          vocabulary={"way": DESCRIPTORS}, each="way"),
    Scene(name="text", topic="sources", play="sources:from_text", due="due_of_caches:text",
          vocabulary={"kernel": ("pointwise", "sum", "dot", "integers"), "stage": ("ttir", "ttgir"),
                      "arch": (90, 80, 100), "num_warps": (4, 1, 8), "num_stages": (3, 1), "num_ctas": (1, 2)},
          legal=_clusters_are_newer),
    Scene(name="text of gluon", topic="sources", play="sources:from_text", due="due_of_caches:text", since="3.9.0",
          vocabulary={"stage": ("glir", "ttgir"), "kernel": ("gluon",), "arch": (90, 100), "num_warps": (4, 1, 8),
                      "num_stages": (3, 1), "num_ctas": (2, 1)}, each="num_ctas"),
    Scene(name="repeated", topic="sources", play="sources:repeated", due="due_of_caches:repeated",
          vocabulary={"kernel": ("pointwise", "sum", "dot", "integers"), "arch": (90, 80, 100),
                      "num_warps": (4, 1, 8), "num_stages": (3, 1), "num_ctas": (1, 2, 4)},
          legal=_clusters_are_newer),
    Scene(name="ahead of time", topic="sources", play="sources:ahead_of_time", due="due_of_caches:ahead_of_time",
          vocabulary={"by": ("name", "place"), "kind": ("fp32", "fp16", "bf16"), "integer": ("i32", "i64"),
                      "aligned": (True, False), "arch": (90, 80, 100)}),
    Scene(name="descriptors", topic="descriptors", play="descriptors:on_host", due="due_of_events:descriptors",
          vocabulary={"dtype": ("fp32", "fp16", "bf16", "i8", "u8", "i16", "i32", "u32", "i64", "u64", "fp64", "fp8e5"),
                      "block": ("16 32", "8 16", "4 8 16", "1 1 8 16"), "arch": (90, 80, 100), "nan": (False, True),
                      "nested": (False, True), "rounded": (False, True)},
          newer={"nested": "3.8.0", "rounded": "3.7.0"},
          legal=lambda choices: not choices["rounded"] or choices["dtype"] == "fp32"),
    # Drawn by itself: one type in twelve can be rounded.
    Scene(name="rounded", topic="descriptors", play="descriptors:on_host", due="due_of_events:descriptors",
          since="3.7.0",
          vocabulary={"rounded": (True,), "dtype": ("fp32",), "block": ("16 32", "8 16", "4 8 16", "1 1 8 16"),
                      "arch": (90, 100), "nan": (False, True), "nested": (False, True)}, newer={"nested": "3.8.0"}),
    Scene(name="images", topic="descriptors", play="images:images", due="due_of_images:images",
          since="3.8.0",
          vocabulary={"dtype": ("fp32", "fp16", "bf16", "i8", "u8", "i16", "i32"), "channels": (32, 16, 64, 8),
                      "rank": (4, 3, 5), "pixels": (32, 16, 64), "upper": (-1, 0, 1), "step": (1, 2),
                      "nan": (False, True), "hint": ("", "plain", "parts"), "shifted": (False, True)},
          newer={"hint": "3.9.0"},
          # Lines of shared memory are as wide as a swizzle.
          legal=lambda choices: int(choices["channels"]) * dtype(str(choices["dtype"])).bits // 8 in (32, 64, 128)),
    Scene(name="scratch", topic="descriptors", play="descriptors:scratch", due="due_of_events:scratch",
          vocabulary={"grid": ("1", "2 3", "2 3 4"), "two": (False, True), "arch": (90, 80, 100), "num_ctas": (1, 2)},
          legal=_clusters_are_newer),
    Scene(name="versions", topic="host", play="host:versions", due="due_of_events:versions",
          vocabulary={"cuda": ("12.8", "10.0", "10.2", "11.0", "11.8", "12.0", "12.5", "12.6", "12.9", "13.0", "13.2",
                               "14.1", "9.2"), "arch": (90, 75, 80, 89, 100, 120), "ptx": (87, 70, 80, 90, 94)},
          each="cuda"),
    Scene(name="hashes", topic="host", play="host:hashes",
          vocabulary={"name": ("num_warps", "num_stages", "maxnreg", "ptx_version", "ptx_options", "ir_override",
                               "enable_fp_fusion", "sched4reg", "enable_reflect_ftz", "launch_cooperative_grid",
                               "launch_pdl", "debug", "sanitize_overflow", "default_dot_input_precision",
                               "min_shared_mem", "num_ctas", "warp_size"), "value": ("bool", "number", "text"),
                      "arch": (90, 80, 100)}, each="name"),
    Scene(name="helpers", topic="host", play="host:cells", due="due_of_events:helpers",
          vocabulary={"a": (5, 1, 2, 16, 17, 1000, 2**31, 2**33 + 1), "b": (3, 1, 2, 16, 2**20)}, each="a"),
    Scene(name="types", topic="host", play="host:types", due="due_of_types:types",
          vocabulary={"type": tuple(TYPES)}, each="type"),
    Scene(name="clock", topic="host", play="host:clock", due="due_of_events:clock",
          vocabulary={"begun": (True, False), "stages": (2, 0, 1, 5)}, each="stages",
          # A kernel from the cache has no stages.
          legal=lambda choices: bool(choices["begun"]) or choices["stages"] == 0),
    Scene(name="launcher", topic="host", play="host:launcher", vocabulary={"once": (True,)}),
    Scene(name="beside", topic="host", play="beside:beside",
          vocabulary={"part": ("caches", "build", "knobs", "tools", "timers", "scratch", "libraries", "active",
                               "driver", "launches", "maps", "hips", "assembler", "sessions",
                               "profiled")}, each="part"),
    Scene(name="tools", topic="host", play="tools:tools", each="part",
          vocabulary={"part": ("linked", "disassembled", "ahead of time", "declared")}),
    Scene(name="translated", topic="translator", play="tools:translated", since="3.9.0",
          vocabulary={"group": tuple(range(GROUPS)), "target": ("sm90", "sm80", "sm100")}),
    Scene(name="translated for each", topic="translator", play="tools:translated", since="3.9.0",
          vocabulary={"target": ("gfx1250", "gfx942", "gfx950", "sm90", "sm100"), "group": (GROUPS,)}),
    Scene(name="layouts", topic="layouts", play="layouts:layouts",
          vocabulary={"layout": LAYOUTS, "wide": (False, True)}, each="layout"),
    Scene(name="expressions", topic="front_end", play="host:expressions",
          vocabulary={"expression": tuple(EXPRESSIONS), "draw": DRAWS}),
    Scene(name="pieces", topic="front_end", play="front_end:pieces",
          vocabulary={"piece": (*(f"plain: {name}" for name in fragments_plain.FRAGMENTS),
                                *(f"gluon: {name}" for name in fragments_gluon.FRAGMENTS),
                                *(f"amd: {name}" for name in fragments_amd.FRAGMENTS)),
                      "chip": CHIPS, "option": FRONT_END, "draw": DRAWS},
          legal=_suits),
    Scene(name="lines", topic="front_end", play="front_end:lines",
          vocabulary={"part": tuple(parts()), "chip": CHIPS, "option": FRONT_END}, legal=_suits),
    Scene(name="calls", topic="front_end", play="front_end:calls",
          vocabulary={"row": tuple(rows()), "draw": DRAWS}),
    Scene(name="values", topic="interpreted", play="interpreted:values",
          vocabulary={"part": tuple(one for one in parts() if one.startswith("plain")), "values": VALUES}),
    Scene(name="whole", topic="interpreted", play="interpreted:whole",
          vocabulary={"piece": tuple(fragments_plain.FRAGMENTS), "values": VALUES, "draw": DRAWS}),
    Scene(name="given", topic="interpreted", play="interpreted:given",
          vocabulary={"way": WAYS, "grid": ("1", "2 3", "2 1 3", "0", "1 1 1 1")}),
)


@cache
def scenes() -> dict[str, Scene]:
    """All scenes by name."""
    found = {scene.name: scene for scene in SCENES}
    assert len(found) == len(SCENES)
    return found
