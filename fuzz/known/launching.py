"""Known issues between a kernel's source and its launch."""

from collections.abc import Callable

from msgspec.structs import replace

from tridiff.fuzz.known.issue import KnownIssue
from tridiff.fuzz.launching.scene import EVERY
from tridiff.fuzz.records import Case, Scalar
from tridiff.fuzz.records.corpus_entry import Stage


def _of(scene: str, **choices: Scalar) -> Callable[[Case], bool]:
    wanted = {"scene": scene, **choices}
    return lambda case: all(case.params.get(name) == one for name, one in wanted.items())


def _way_of(scene: str, way: str) -> Callable[[Case], bool]:
    """The case goes one way of a scene, alone or among all of them."""
    return lambda case: case.params.get("scene") == scene and case.params.get("way") in (way, EVERY)


def _with(**choices: Scalar) -> Callable[[Case], Case]:
    """The case with other choices, all of them if the scene is another."""
    return lambda case: replace(case, params=choices if "scene" in choices else {**case.params, **choices})


def _unspoilt() -> Callable[[Case], Case]:
    return _with(scene="disk 0", change="nothing")


def _cluster(case: Case) -> bool:
    return case.params.get("scene") in ("text", "repeated") and case.params["num_ctas"] != 1


def _asserting_loop(case: Case) -> bool:
    """Whether a loop that is pipelined for Blackwell asserts that its integers do not overflow."""
    params = case.params
    return (_of("options", kernel="dot", sanitize_overflow=True)(case) and int(params["arch"]) >= 100
            and int(params["num_stages"]) > 1 and (bool(params["debug"]) or params["knob"] == "debug"))


def _tuple(case: Case) -> bool:
    return _of("ahead", spoilt="")(case) and str(case.params["constant"]).startswith("tuple ")


def _issue(name: str, entries: tuple[str, ...], title: str, *, match: Callable[[Case], bool],
           relative: Callable[[Case], Case], errors: tuple[str, ...] = (), kinds: tuple[str, ...] = (),
           stage: Stage = "runtime") -> KnownIssue:
    target, _, _ = entries[0].partition("/")
    return KnownIssue(name=name, title=title, stage=stage, where=((target, "own"),),
                      entries=entries, match=match, relative=relative, errors=errors, kinds=kinds)


ISSUES = (
    _issue("captured-by-a-callee-unnoticed", ("launch.caches/second-cfed4032b0",),
           "a constant that a callee captures is changed, and the stale kernel is launched",
           match=lambda case: _of("captured by a callee", plain=False)(case) and case.params["other"] is not False,
           relative=_with(scene="captured", name=EVERY, other=True, plain=False), kinds=("second",)),
    _issue("cut-off-group-stops-compilation",
           ("launch.caches/jsondecodeerror--untermi-2518779f98", "launch.caches/jsondecodeerror--untermi-6e941a6366"),
           "a cut-off group file in the cache on disk stops every later compilation",
           match=_of("spoilt", change="group cut off"), relative=_unspoilt(), errors=("JSONDecodeError: *",)),
    _issue("incomplete-group-is-a-kernel",
           ("launch.caches/keyerror---unknown-key-e88d4dbb07", "launch.caches/keyerror---unknown-key-97a6bd267d"),
           "a kernel on disk whose binary is gone is taken for one", match=_of("spoilt", change="file gone"),
           relative=_unspoilt(), errors=("KeyError: \"Unknown key: 'cubin'\"",)),
    _issue("closures-share-a-key-behind-a-global", ("launch.events/another-3bbe70c3b2",),
           "of a name that a closure and the module both have, the cache's key is made of the module's constant",
           match=_way_of("unusual 1", "closure"), relative=_with(way="other llir"), kinds=("another", "noted")),
    _issue("refused-kernels-share-a-key", ("launch.caches/hits-8083bfa1d6",),
           "a kernel that was refused once is kept under a key of its name alone, and another one's code is taken",
           match=_of("mended", refused=True), relative=_with(refused=False), kinds=("hits",)),
    _issue("code-of-clusters-differs-each-time",
           ("launch.sources/same-code-0dfba9f90e", "launch.sources/codes-75eaa340d3"),
           "the code of a kernel for several blocks depends on addresses inside the compiler", match=_cluster,
           relative=_with(num_ctas=1), kinds=("same_code", "codes"), stage="ttgir"),
    _issue("assertions-in-pipelined-loops", ("launch.options/tt-assert--op-pipeliner-21295a0329",),
           "a loop that is pipelined for Blackwell and asserts that nothing overflows does not compile",
           match=_asserting_loop, relative=_with(num_stages=1, maxnreg=0), errors=("*'tt.assert' op pipeliner*",),
           stage="ttgir"),
    _issue("preloaded-tuple-is-a-list", ("launch.events/hash-6212c2f173",),
           "a tuple of constants that is preloaded is another kernel", match=_tuple, relative=_with(constant="int 3"),
           kinds=("hash",)),
    _issue("text-of-ptx-is-no-source", ("launch.sources/launches-2a7b415b75",),
           "a file of PTX is read as a source, and cannot be compiled", match=_of("text of ptx"),
           relative=_with(scene="text", kernel="pointwise", stage="ttir", arch=90, num_warps=4, num_stages=3,
                          num_ctas=1), kinds=("launches",)),
)
