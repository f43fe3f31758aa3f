"""Scenes of launches: what Triton does is what the contract says, and a fault in what lies between is seen."""

import contextlib
import gc
from collections.abc import Callable, Iterator
from functools import cache
from pkgutil import resolve_name
from typing import Any

import pytest

from tests.support.draws import draws
from tridiff.fuzz.backends.launch import Launch
from tridiff.fuzz.known.launching import ISSUES
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.launching import cases
from tridiff.fuzz.launching.scene import EVERY
from tridiff.fuzz.launching.table import scenes
from tridiff.fuzz.records import Case, LaunchOptions
from tridiff.fuzz.registry import find
from tridiff.fuzz.target import Limits
from tridiff.fuzz.verdicts import Declined, Refuted
from tridiff.fuzz.versions import before, within
from tridiff.oracles import launching

ARCH = "compile:sm_90"


WRONG = ("text of ptx", *(("unusual 1",) if before(installed(), "3.9.0") else ()))
"""Scenes that this release gets wrong, or every one."""


class Runner:
    """Stands in for a runner: scenes launch by themselves."""

    backend = ARCH


def play(case: Case, planted: str = "") -> dict[str, str]:
    """The answers of a case."""
    launch = Launch(case=case, pointers={}, helper=None, fault="", options=LaunchOptions(), planted=planted,
                    runner=Runner())  # type: ignore[arg-type]
    cases.run(launch)
    return launch.reports[0].answers


def case(scene: str, **choices: object) -> Case:
    """A scene with its first choices but for those given."""
    found = scenes()[scene]
    params = {"scene": scene, **{name: next(iter(values)) for name, values in found.vocabulary.items()}, **choices}
    return Case(target=f"launch.{found.topic}", sizes={}, arrays=(), params=params)  # type: ignore[arg-type]


@cache
def _drawn(target: str, *releases: str) -> tuple[Case, ...]:
    return tuple(draws(find(target).draw.cases(Limits(releases=releases)), 60, seed=5))


@pytest.mark.parametrize("name", [one.name for one in scenes().values() if one.topic != "interpreted"])
def test_what_is_observed_is_what_is_due(name: str):
    scene = scenes()[name]
    target = find(f"launch.{scene.topic}")
    releases = (installed(),) if within(installed(), since=scene.since) else ()
    # Some releases get some choices wrong.
    drawn = sorted((one for one in _drawn(target.name, *releases) if one.params["scene"] == name),
                   key=lambda one: any(issue.match(one) for issue in ISSUES))[:1]
    assert drawn and all(one.params.get(scene.each, EVERY) == EVERY for one in drawn)
    for one in drawn:
        assert target.draw.valid(one)
        if name == "spoilt" and before(installed(), "3.8.0"):
            pytest.skip("these versions stop at what is spoilt: incomplete-group-is-a-kernel")
        try:
            with pytest.raises(Refuted, match="is due") if name in WRONG else contextlib.nullcontext():
                assert play(one)
        except Declined as reason:
            pytest.skip(str(reason))


@pytest.mark.parametrize("fault", cases.FAULTS)
def test_lost_answers_are_refuted(fault: str):
    with pytest.raises(Refuted, match=r"grid: .* is due"):
        play(case("arguments"), fault)


def test_a_case_with_another_choice_is_none():
    target = find("launch.arguments")
    plain = case("arguments")
    assert target.draw.valid(plain)
    for changed in ({"a": "int 6"}, {"arch": True}, {"more": 1}, {"scene": "nothing"}, {"scene": "shared"}):
        other = Case(target="launch.arguments", sizes={}, arrays=(), params={**plain.params, **changed})
        assert not target.draw.valid(other)


def test_choices_shrink_towards_the_first():
    target = find("launch.arguments")
    far = case("arguments", a="float nan", grid="7")
    for one in target.shrink.steps(far):
        assert target.draw.valid(one) and target.shrink.size(one) < target.shrink.size(far)
    assert not list(target.shrink.steps(case("arguments")))


def test_a_case_of_every_one_shrinks_to_each_of_them():
    target = find("launch.refusals")
    every = case("refusals 0", way=EVERY)
    single = {one.params["way"] for one in target.shrink.steps(every)}
    assert target.draw.valid(every) and single == set(scenes()["refusals 0"].vocabulary["way"])
    assert all(target.shrink.size(one) < target.shrink.size(every) for one in target.shrink.steps(every))
    assert not target.draw.valid(case("arguments", a=EVERY))


def test_a_gate_plays_every_scene_first():
    for topic in {scene.topic for scene in scenes().values()}:
        played = {one.params["scene"] for one in find(f"launch.{topic}").draw.once(1)}
        assert played == {scene.name for scene in scenes().values() if scene.topic == topic}


@pytest.mark.parametrize("number, kind", [(2**31 - 1, "i32"), (2**31, "i64"), (-(2**31) - 1, "i64"), (2**63, "u64")])
def test_integers_take_the_narrowest_type(number: int, kind: str):
    assert launching.integer_type(number) == kind
    with pytest.raises(OverflowError):
        launching.integer_type(2**64)


def _changed(monkeypatch: pytest.MonkeyPatch, module: str, name: str, change: Callable[[Any], Any]) -> None:
    place = f"{module}.{name}"
    monkeypatch.setattr(place, change(resolve_name(place)))


def _forgetting(real: Any) -> Callable[..., Any]:
    """Launches that take a global value that is gone for one that is the same."""

    def run(self: Any, *given: Any, **more: Any) -> Any:
        for name, around in [(key, found[1]) for key, found in self.used_global_vals.items()]:
            if name[0] not in around:
                del self.used_global_vals[name]
        return real(self, *given, **more)

    return run


FAULTS: tuple[tuple[str, str, Callable[[Any], Any], str, dict[str, object]], ...] = (
    ("triton.runtime.jit", "compute_cache_key", lambda real: lambda cache, found, options: str(options), "shared",
     {"second": "int 16"}),
    ("triton.runtime.jit", "compute_cache_key", lambda real: lambda cache, found, options: real(cache, found, None),
     "shared", {"again": 1, "option": "num_stages 1"}),
    ("triton.runtime.jit", "create_function_from_signature", lambda real: lambda signature, found, *more: [
        setattr(one, "do_not_specialize_on_alignment", False) for one in found] and real(signature, found, *more),
     "arguments", {"b": "int 16", "flag": "not aligned by number"}),
    ("triton.runtime.jit", "DependenciesFinder", lambda real: lambda **about: real(**about | {"nonlocals": {}}),
     "unusual 1", {"way": "closure"}),
    ("triton.runtime.jit", "DependenciesFinder", lambda real: type("Forgetful", (real,), {
        "visit_AnnAssign": real.generic_visit}), "captured", {"name": "TYPED"}),
    ("triton.runtime.jit", "JITFunction.run", _forgetting, "captured", {"name": "USED", "other": "gone"}),
    ("triton.compiler.compiler", "get_cache_key", lambda real: lambda *about, env_vars: real(
        *about, env_vars=dict.fromkeys(env_vars, "")), "disk 0", {"change": "variable's value"}),
    ("triton.runtime.jit", "JITFunction.run", lambda real: lambda self, *given, debug=False, **more: real(
        self, *given, debug=debug or self.debug, **more), "unusual 0", {"way": "not debugged"}),
    *(("triton.backends.nvidia.compiler", "file_hash", lambda real: str, "files", {"file": file}) for file in (
        "library", "libdevice")),
    ("triton.backends.nvidia.compiler", "get_ptxas_version", lambda real: cache(lambda arch: "release 12.4"), "files",
     {"file": "assembler"}),
    ("triton.runtime.jit", "find_paths_if", lambda real: lambda values, wanted: real(values, wanted)[:1], "arguments",
     {"a": "int 16", "b": "int 16"}),
)
"""Module and name of what is changed in Triton, how, and the scene with choices that shows it."""


@pytest.fixture(autouse=True)
def version() -> Iterator[None]:
    pytest.importorskip("triton")
    yield


@pytest.mark.parametrize("module, name, change, scene, choices", FAULTS)
def test_faults_between_source_and_launch_are_seen(
        module: str, name: str, change: Callable[[Any], Any], scene: str, choices: dict[str, object],
        monkeypatch: pytest.MonkeyPatch):
    if scene in WRONG:
        pytest.skip("this release takes the module's constants without any fault: closures-share-a-key-behind-a-global")
    play(case(scene, **choices))
    _changed(monkeypatch, module, name, change)
    with pytest.raises(Exception, match=r"is due|static_assert"):
        play(case(scene, **choices))


def test_hooks_of_one_scene_are_not_there_for_the_next():
    knobs = pytest.importorskip("triton").knobs
    before = play(case("beside", part="knobs"))
    play(case("hooks", hooked=True))
    assert not any(one.calls for one in vars(type(knobs.runtime)).values() if hasattr(one, "calls"))
    assert play(case("beside", part="knobs")) == before


def test_kernels_differ_by_the_value_that_is_compiled_in():
    play(case("shared", first="int 1", second="none"))
    play(case("shared", first="int 1", second="int 1"))


def test_ways_have_names_that_can_be_drawn():
    from tridiff.fuzz.launching import vocabulary
    from tridiff.fuzz.launching.scenes import caches, layouts, refusals, tuning, unusual

    assert {*vocabulary.UNUSUAL, "text of ptx"} == set(unusual._WAYS)
    assert set(vocabulary.REFUSALS) == {*refusals._WAYS, *refusals._OLD_CHIP}
    assert set(vocabulary.DESCRIPTORS) == set(refusals._DESCRIPTORS)
    assert set(vocabulary.TUNED) == set(tuning._OTHERWISE)
    assert set(vocabulary.HIDDEN) == set(caches._HIDDEN)
    assert set(vocabulary.LAYOUTS) == set(layouts._LAYOUTS)


def test_what_an_installation_lacks_is_no_refusal_and_hides_none(monkeypatch: pytest.MonkeyPatch):
    from tridiff.fuzz.launching.scenes import refusals

    def lacking(user: Any, there: Any) -> None:
        raise RuntimeError("Cannot find ptxas")

    ways = scenes()["refusals 3"].vocabulary["way"]
    for way in ways:
        monkeypatch.setitem(refusals._WAYS, str(way), ("", lacking))
    monkeypatch.setitem(refusals._OLD_CHIP, "fp8", ("fp8e4nv", lacking))
    with pytest.raises(Declined, match="no ptxas"):
        play(case("refusals 3", way="fp8"))
    # One that is accepted, behind others that could not be played.
    monkeypatch.setitem(refusals._WAYS, str(ways[1]), ("", lambda user, there: None))
    with pytest.raises(Refuted, match="refused: 'False'"):
        play(case("refusals 3", way=EVERY))


class _Without:
    """Passes as Triton's compiler sees them, one of which it does not ask for."""

    def __init__(self, real: Any, name: str) -> None:
        self._real, self._name = real, name

    def __getattr__(self, name: str) -> Any:
        if name == "ttgpuir":
            return _Without(self._real.ttgpuir, self._name)
        return (lambda *given: None) if name == self._name else getattr(self._real, name)


def test_a_pass_that_is_left_out_is_told(monkeypatch: pytest.MonkeyPatch):
    """The pipeline is an answer: two builds that differ in it are told apart by name."""
    import triton.backends.nvidia.compiler as compiler

    name = "options passes"
    before = play(case("options"))[name].split("; ")
    monkeypatch.setattr(compiler, "passes", _Without(compiler.passes, "add_reduce_data_duplication"))
    after = play(case("options"))[name].split("; ")
    assert [one for one in before if one != "reduce_data_duplication"] == after and len(before) == len(after) + 1


def test_every_architecture_is_among_the_listed_options_whatever_the_seed():
    for seed in range(10):
        listed = [one.params for one in find("launch.options").draw.once(seed)]
        assert {one["arch"] for one in listed if one["scene"] == "options"} == {80, 90, 100, 120}


def test_what_a_case_plays_in_turn_is_played_once():
    target = find("launch.host")
    once = list(target.draw.once(7))
    assert all(target.draw.valid(one) for one in once)
    played = {(one.params["cuda"], one.params["arch"]) for one in once if one.params["scene"] == "versions"}
    assert played == {(EVERY, arch) for arch in scenes()["versions"].vocabulary["arch"]}
    assert [one.params["once"] for one in once if one.params["scene"] == "launcher"] == [True]


def test_files_that_a_compilation_leaves_are_told(monkeypatch: pytest.MonkeyPatch):
    import os

    refused = case("refusals 1", way="assembler's option")
    assert play(refused)["refusals 1 temporary"] == ".ptx"
    monkeypatch.setattr(os, "remove", lambda path: None)
    assert play(refused)["refusals 1 temporary"] == ".log .ptx"


@pytest.mark.parametrize("way, place", [
    ("own errors", "triton.compiler.compiler.filter_traceback"), ("printed PTX", "builtins.print"),
    ("log of ptxas", "builtins.print")])
def test_what_developers_of_triton_are_told_is_an_answer(
        way: str, place: str, monkeypatch: pytest.MonkeyPatch):
    name = next(one.name for one in scenes().values() if way in one.vocabulary.get("way", ()))
    told = play(case(name, way=way))
    assert told == play(case(name, way=way))
    monkeypatch.setattr(place, lambda *about, **more: None)
    try:
        assert told != play(case(name, way=way))
    except Refuted as due:
        assert "is due" in str(due)


def test_what_a_copy_of_the_process_unloads_is_told(monkeypatch: pytest.MonkeyPatch):
    import os

    if before(installed(), "3.8.0"):
        pytest.skip("these versions unload nothing")
    name = next(one.name for one in scenes().values() if "unloaded" in one.vocabulary.get("way", ()))
    told = play(case(name, way="unloaded"))
    assert told[f"{name} in a copy"] == ("1" if before(installed(), "3.9.0") else "0")
    assert told[f"{name} unloaded"] == "1"
    monkeypatch.setattr(os, "getpid", lambda: 7)
    assert play(case(name, way="unloaded"))[f"{name} in a copy"] == "1"


def test_what_another_device_loaded_is_not_unloaded_here(monkeypatch: pytest.MonkeyPatch):
    import triton

    collect = gc.collect

    def collected() -> int:
        """As if a kernel was among it that a real device had loaded."""
        with contextlib.suppress(AttributeError):  # no hook in older versions
            triton.knobs.runtime.kernel_unload_hook("module", "function", "old", None, "hash")
        triton.runtime.driver.active.utils.unload_module("module")
        return collect()

    monkeypatch.setattr(gc, "collect", collected)
    assert play(case("hooks"))["hooks unloaded"] == ("0 0" if before(installed(), "3.8.0") else "1 1")
