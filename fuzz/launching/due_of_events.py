"""What the contract (launch.md §6 to §9) says of hooks, tuning, refusals, descriptors and helpers."""

from tridiff.fuzz.launching.scene import Answers, Choices
from tridiff.fuzz.versions import before

SINGLE_IS_NOT_MEASURED = "3.9.0"
TARGET_IS_LOOKED_AT = "3.7.0"
"""Releases from which on tuning and loading ahead do so."""
_FROM_3_9 = ("a list of keywords", "wrong name to tune")
"""What is refused from 3.9.0 on, and passed without a word before."""

_ENTER = ["enter 1", "enter 2", "leave 2", "leave 1"]


def hooks(choices: Choices, version: str) -> Answers:
    order: list[str] = []
    loaded = compiled = False
    launches = 0
    for number in range(2):
        order.append("begin")
        if not compiled:
            order.append("asked")
            if choices["refusing"]:
                continue
            order += ["compiled", "made"]
            compiled = True
        if choices["warmup"] and number == 0:
            continue
        if not loaded:
            order += ["loading", "loaded"]
            loaded = True
        launches += 1
        order += _ENTER if choices["hooked"] else []
    none = "none" if choices["refusing"] else "a kernel"
    debug = "" if choices["refusing"] else "; ".join([str(choices["decorated"] == "debug")] * 2)
    stages = "" if choices["refusing"] else "ttir; ttgir; llir; ptx; cubin"
    return {"debug": debug, "plausible": "True", "timed": stages,
            "order": "; ".join(order), "launches": str(launches), "results": f"{none}; {none}",
            "names": "" if choices["refusing"] else "another_name" if choices["decorated"] == "name" else "kernel"}


def ahead(choices: Choices, version: str) -> Answers:
    if choices["spoilt"] == "target" and before(version, TARGET_IS_LOOKED_AT):
        return {}
    if choices["spoilt"]:
        return {"refused": "RuntimeError"}
    return {"same code": "True", "hash": "True", "taken": "True", "compiled": "False; True"}


def interface(choices: Choices, version: str) -> Answers:
    way = choices["way"]
    launched = way != "warmup with a type"
    return {"launches": f"(2, 3, 1) {9 if way == 'handle on a stream' else 5} 16" if launched else "",
            "loads": str(int(launched)), "compiled": "False", "arguments": "x; n; C; K",
            "signature": str({"x": "*i32", "n": "i32", "C": "constexpr", "K": "constexpr"})}


class _Tuner:
    """Tuning, as the docstring of `triton.autotune` tells it."""

    def __init__(self, choices: Choices, *, measures_one: bool) -> None:
        self.measures_one = measures_one
        """Whether a configuration that is left alone is measured all the same."""
        self.times = [float(one) for one in str(choices["times"]).split()]
        self.kept = choices["kept"]
        everything = [(16, 1), (32, 2), (64, 4)]
        self.configs = {"none": everything, "early": everything[1:], "early one": everything[2:],
                        "model": [(64, 4), (32, 2)], "model half": everything[:2]}[str(choices["pruning"])]
        self.best: dict[int, tuple[int, int]] = {}
        self.x = self.y = 1
        self.measured = 0

    def _run(self) -> None:
        self.x, self.y = self.x + 1, self.y + 1

    def choose(self, size: int) -> None:
        """Measure what is left of the configurations, unless it is one or the size is known."""
        if size in self.best:
            return
        if len(self.configs) == 1 and not self.measures_one:
            self.best[size] = self.configs[0]
            return
        times = []
        for _ in self.configs:
            self._reset()
            before = self.y
            self._run()
            if self.kept in ("restore", "both"):
                self.y = before
            times.append(self.times[self.measured % len(self.times)])
            self.measured += 1
        self._reset()
        self.best[size] = self.configs[times.index(min(times))]

    def _reset(self) -> None:
        if self.kept in ("reset", "both"):
            self.x = 0

    def call(self, size: int) -> tuple[int, int]:
        self.choose(size)
        self._run()
        return self.best[size]


def tuned(choices: Choices, version: str) -> Answers:
    tuner = _Tuner(choices, measures_one=before(version, SINGLE_IS_NOT_MEASURED))
    sizes = [int(one) for one in str(choices["sizes"]).split()]
    best = ["{} {}".format(*tuner.call(size)) for size in sizes]
    again = ""
    if choices["disk"]:
        measured = tuner.measured
        if choices["hooks"]:
            # Functions cannot be written to disk, and so nothing is.
            del tuner.best[sizes[0]]
        again = f"{tuner.call(sizes[0])[0]} after {tuner.measured - measured}"
    return {"best": "; ".join(best), "measured": str(tuner.measured), "again": again,
            "arrays": f"{tuner.x} {tuner.y}"}


def ruled(choices: Choices, version: str) -> Answers:
    block = 1 << (int(choices["n"]) - 1).bit_length()
    return {"grid": str((block, 2, 1)), "block": str(block)}


def refused(choices: Choices, version: str) -> Answers:
    """Refused, with a word that says what is wrong where the scene has one."""
    if choices["way"] in _FROM_3_9 and before(version, "3.9.0"):
        return {}
    found = {"refused": str(choices["way"] != "nothing")}
    return found | {"named": "True"} if choices["scene"] != "illegal descriptors" else found


ELEMENTS = {"u8": 0, "i8": 0, "fp8e5": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "fp16": 6,
             "fp32": 7, "fp64": 8, "bf16": 9}
"""CUtensorMapDataType of the CUDA driver; it has no signed types of 8 and 16 bits."""
_ROUNDED = 11
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


def descriptors(choices: Choices, version: str) -> Answers:
    if int(choices["arch"]) < 90:
        return {"maps": "0"}
    dtype = str(choices["dtype"])
    block = [int(one) for one in str(choices["block"]).split()]
    extents = [3 * one for one in block[:-1]] + [64]
    strides = [1]
    for extent in reversed(extents[1:]):
        strides.insert(0, strides[0] * extent)
    size = 1 if dtype.startswith("fp8") else _BYTES[dtype.lstrip("fpbiu")]
    is_float = dtype.startswith(("fp", "bf"))
    element = _ROUNDED if choices["rounded"] else ELEMENTS[dtype]
    return {"maps": "2", "base": "True", "bytes": str(size), "element": str(element),
            "extents": str(extents), "strides": str(strides), "padding": str(int(bool(choices["nan"]) and is_float))}


def scratch(choices: Choices, version: str) -> Answers:
    """A map of the driver takes 128 bytes."""
    number = (2 if choices["two"] else 1) if int(choices["arch"]) >= 90 else 0
    return {"consistent": "True", "descriptors": str(number),
            "handed": str(("memory", None) if number else (None, None))}


_PTX = {"10.0": 63, "10.2": 65, "11.0": 70, "11.8": 78, "12.0": 80, "12.5": 85, "12.6": 85, "12.8": 87, "12.9": 88,
        "13.0": 90}
"""PTX ISA, release notes: the version that a CUDA release has."""


def versions(choices: Choices, version: str) -> Answers:
    release, arch = str(choices["cuda"]), int(choices["arch"])
    found = {"chip": f"sm_{arch}{'a' if arch >= 90 else ''}", "own": str(choices["ptx"])}
    if release in _PTX:
        found["ptx"] = str(_PTX[release])
    return found | {"ptx": "refused RuntimeError"} if release == "9.2" else found


def helpers(choices: Choices, version: str) -> Answers:
    a, b = int(choices["a"]), int(choices["b"])
    return {"cdiv": str(-(-a // b)), "power": str(1 << (a - 1).bit_length())}


def clock(choices: Choices, version: str) -> Answers:
    """A look at the clock after each part, in microseconds; the n-th look is at 2^n seconds."""
    number = int(choices["stages"])
    if not choices["begun"]:
        # A kernel from the cache: nothing was lowered, and whatever it took counts as the beginning.
        return {"begin": "1000000", "store": "0", "total": "0 1000000"}
    parts = [(1 << place) * 1_000_000 for place in range(number + 2)]
    lowered = sum(parts[1:-1])
    return {"begin": str(parts[0]), "store": str(parts[-1]), "total": f"{lowered} {sum(parts)}",
            "stages": "; ".join(f"stage {place} {one}" for place, one in enumerate(parts[1:-1]))}
