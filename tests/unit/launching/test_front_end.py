"""Small kernels through the front end: what is legal is taken, and a fault in a check or a conversion is told."""

import ast
import inspect
import os
import textwrap
from functools import partial
from pkgutil import resolve_name
from random import Random
from typing import Any

import pytest

from tests.unit.launching.test_scenes import case, play
from tridiff.fuzz.language.row import installed
from tridiff.fuzz.launching import apart
from tridiff.fuzz.launching.apart import ENDED, answered
from tridiff.fuzz.launching.bench import bench
from tridiff.fuzz.launching.expressions import EXPRESSIONS, HEAD, REFUSED
from tridiff.fuzz.launching.fragments_plain import FRAGMENTS, NAMES
from tridiff.fuzz.launching.lines import module, parts
from tridiff.fuzz.launching.spoil import spoilt
from tridiff.fuzz.launching.table import scenes
from tridiff.fuzz.launching.vocabulary import CHIPS
from tridiff.fuzz.verdicts import Refuted
from tridiff.fuzz.versions import before

_LATER = ("block pointer", "block pointer of floats")
"""Pieces of what 3.9.0 has no more."""


def test_what_ends_its_process_is_an_answer():
    assert answered([lambda: "one", lambda: os._exit(3), lambda: "three"]) == ["one", ENDED, "three"]


def test_what_takes_too_much_is_ended(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(apart, "SECONDS", 0.1)
    assert answered([lambda: "one", lambda: str(2 ** 2**40), _forever]) == ["one", ENDED, ENDED]


def _forever() -> str:
    while True:
        pass


@pytest.mark.parametrize("seed", range(5))
def test_a_spoilt_text_is_another_one_and_the_same_again(seed: int):
    for text in FRAGMENTS.values():
        changed = spoilt(text, Random(seed), NAMES)
        assert changed and ast.unparse(ast.parse(changed)) != ast.unparse(ast.parse(text))
        assert changed == spoilt(text, Random(seed), NAMES)


def test_pieces_are_legal():
    front_end = pytest.importorskip("tridiff.fuzz.launching.scenes.front_end")
    if before(installed(), "3.9.0"):
        pytest.skip("the pieces are written for 3.9.0")
    names = [str(one) for one in scenes()["pieces"].vocabulary["piece"] if str(one).partition(": ")[2] not in _LATER]
    suits = scenes()["pieces"].legal
    with bench():
        found = answered([partial(front_end.told, *front_end.kernel_of(name), chip=next(
            chip for chip in CHIPS if suits({"piece": name, "chip": chip, "option": ""}))) for name in names])
    assert [name for name, told in zip(names, found, strict=True) if told.startswith("refused") or told == ENDED] == []


def test_a_line_has_what_it_names_around_it_and_nothing_else():
    text = module("plain", "r = Longer(x, 9) + 1; s = r.block")
    tree = ast.parse(text)
    names = [one.name for one in tree.body if isinstance(one, ast.ClassDef | ast.FunctionDef)]
    assert names == ["Sum", "Longer", "kernel"]
    kernel = tree.body[-1]
    assert isinstance(kernel, ast.FunctionDef)
    assert [ast.unparse(one).partition(" =")[0] for one in kernel.body] == ["at", "x", "r", "s"]


def test_lines_are_all_different_kernels():
    texts = [module(part.partition(": ")[0], line) for part, lines in parts().items() for line in lines]
    assert len(set(texts)) == len(texts) > 1400
    assert all(ast.parse(text) for text in texts)


def test_lines_are_legal_and_refused():
    pytest.importorskip("triton")
    if before(installed(), "3.9.0"):
        pytest.skip("the lines are written for 3.9.0")
    told = play(case("lines", part="plain: atomics 1"))
    refused = {name for name, answer in told.items() if answer.startswith("refused")}
    assert 8 <= len(refused) <= len(told) - 8 and ENDED not in told.values()


def test_expressions_are_legal():
    host = pytest.importorskip("tridiff.fuzz.launching.scenes.host")
    if before(installed(), "3.9.0"):
        pytest.skip("the expressions are written for 3.9.0")
    names: dict[str, Any] = {}
    exec(HEAD, names)
    with host.bench():
        found = answered([partial(host.given_by, text, names) for text in EXPRESSIONS.values()])
    assert [name for name, told in zip(EXPRESSIONS, found, strict=True) if told.startswith("refused")] == [
        *REFUSED]
    assert ENDED not in found


def _no_check(condition: object, *about: object, **more: object) -> None:
    return None


def _builtin(function: Any) -> Any:
    """As `tl.core.builtin` makes them."""
    function.__triton_builtin__ = True
    return function


_GENERATOR = "triton.compiler.code_generator"
_GLUON = "triton.experimental.gluon.language._semantic"
_AMD = "triton.experimental.gluon.language.amd"


def _edited(module: str, name: str, old: str, new: str) -> Any:
    text = textwrap.dedent(inspect.getsource(resolve_name(f"{module}.{name}")))
    if old not in text and before(installed(), "3.9.0"):
        pytest.skip(f"{name} of Triton {installed()} has no {old}")
    assert old in text
    names = dict(vars(resolve_name(module)))
    exec(text.replace(old, new), names)
    return names[name.rpartition(".")[2]]


GROUP = 4
"""Of what is translated, one that has a block with a new axis."""

FAULTS: tuple[tuple[str, str, Any, str, dict[str, object]], ...] = (
    *(("triton.backends.nvidia.compiler", "min_dot_size", ("(1, 1, 4)", "(1, 1, 8)"), *shown) for shown in (
        ("lines", {"part": "plain: smallest 1"}), ("expressions", {"expression": "smallest products"}))),
    ("triton.experimental.gluon.language._semantic", "_check", _no_check, "pieces",
     {"piece": "gluon: shared gather"}),
    ("triton.language.semantic", "TritonSemantic.bitwise_op_type_checking_impl", lambda self, a, b: (a, b), "pieces",
     {"piece": "plain: bits"}),
    ("triton.experimental.gluon.language._layouts", "bases_per_dim",
     lambda bases, rank, skip_broadcast=True: [1] * rank, "expressions", {"expression": "bases"}),
    ("triton.language.semantic", "TritonSemantic._str_to_scope", lambda self, scope: None, "lines",
     {"part": "plain: atomics 1"}),
    ("triton.experimental.gluon.language._semantic", "_check", _no_check, "lines",
     {"part": "gluon: blocks 1"}),
    # An argument that is not converted, a bound that is one off, an instruction that is lost, one that an option asks
    # for, a warning.
    ("triton.language.semantic", "TritonSemantic.grid_dependency_wait", lambda self: None, "lines",
     {"part": "plain: seldom 5"}),
    ("triton.language.core", "is_negative_zero", lambda x: x == 0.0, "lines",
     {"part": "plain: seldom 5"}),
    ("triton.language", "atomic_or", _builtin(
        lambda pointer, value, mask=None, sem=None, scope=None, _semantic=None: _semantic.atomic_or(
            pointer, value, mask, sem, scope)), "lines",
     {"part": "plain: arguments of tl.atomic_or 1"}),
    ("triton.language.squeeze", "_src", "def squeeze(x, dim: core.constexpr):\n"
     "    core.static_assert(-len(x.shape) < dim and dim < len(x.shape))\n"
     "    _dim: core.constexpr = dim + len(x.shape) if dim < 0 else dim\n    core.static_assert(x.shape[_dim] == 1)\n"
     "    return x.reshape(x.shape[:_dim] + x.shape[_dim + 1:])\n", "lines",
     {"part": "plain: arguments of tl.squeeze 1"}),
    ("triton.language.semantic", "TritonSemantic.device_assert", _no_check, "lines",
     {"part": "plain: arguments of tl.expect_zero 1"}),
    ("triton.language.core", "warn", _no_check, "lines",
     {"part": "plain: arguments of max 1"}),
    ("triton.experimental.gluon.language._semantic", "compute_tmem_reg_layout", lambda *about: None, "expressions",
     {"expression": "registers of tensor memory"}),
    ("triton.experimental.gluon.nvidia.hopper", "canonicalize_dtype", lambda dtype: "fp32", "expressions",
     {"expression": "bounds of descriptors"}),
    ("triton.language.semantic", "TritonSemantic.scalar_constant",
     lambda self, value, dtype: self.cast(self.to_tensor(value), dtype), "lines",
     {"part": "plain: constants 1"}),
    ("triton.language.semantic", "TritonSemantic.not_equal", lambda self, a, b: a, "lines",
     {"part": "plain: conditions 1"}),
    ("triton.language", "tensor.__rlt__", _builtin(lambda self, other, _semantic=None: self), "lines",
     {"part": "plain: reflected 3"}),
    ("triton.language", "fma", _builtin(lambda x, y, z, _semantic=None: x), "lines",
     {"part": "plain: widths 12"}),
    ("triton.language.core", "tensor_descriptor_base_type.__eq__", lambda self, other: True, "expressions",
     {"expression": "types compared"}),
    ("triton.experimental.gluon.nvidia.hopper", "TensorDescriptorIm2Col.mode", "other", "expressions",
     {"expression": "names of descriptors"}),
    # Nothing but where things stand in the file, and only of a kernel that is written inside something.
    ("triton.runtime.jit", "get_def_col_number", lambda text: 1, "pieces", {"piece": "plain: bits"}),
    ("triton.runtime.jit", "KernelParam.has_default", True, "expressions", {"expression": "parameters"}),
    ("triton.runtime.jit", "MockTensor.ptr_range", lambda self: 1, "expressions",
     {"expression": "arrays that stand in"}),
    ("triton.runtime.interpreter", "InterpretedFunction.__init__",
     lambda self, fn, do_not_specialize, **more: vars(self).update(fn=fn, kwargs=more), "expressions",
     {"expression": "decorated"}),
    ("triton.language.core", "_wrap_axis", lambda axis, ndim: axis % ndim, "calls",
     {"row": "tl.expand_dims", "draw": 1}),
    ("triton.experimental.gluon.language.nvidia.blackwell", "_packed_arith",
     lambda operation, operands, dtype, semantic: operands[0], "lines",
     {"part": "gluon: tensor memory 1", "chip": "sm_100"}),
    ("triton.language.semantic", "TritonSemantic.broadcast_tensors", ("len(tail) - 1", "len(tail) - 2"), "lines",
     {"part": "plain: calls 6"}),
    ("triton.language.core", "_resolve_aggregate_fields", ("reversed(", "("), "lines",
     {"part": "plain: seldom 2"}),
    (_GENERATOR, "CodeGenerator.visit_JoinedStr", ('"{!" + chr(conversion_code) + "}"', '"{}"'), "lines",
     {"part": "plain: seldom 3"}),
    (_GENERATOR, "CodeGenerator.visit_ListComp", ("comp.ifs)", "comp.ifs[:1])"), "pieces",
     {"piece": "plain: comprehension"}),
    (_GENERATOR, "CodeGenerator.visit_For", ("stmt in node.orelse", "stmt in []"), "pieces",
     {"piece": "plain: declared"}),
    (_GENERATOR, "CodeGenerator.visit_then_else_blocks", ("= pending_annotations.copy()", "= {}"), "pieces",
     {"piece": "plain: declared"}),
    (_GLUON, "GluonSemantic.histogram", ("mask, input = self", "mask, _ = self"), "lines", {"part": "gluon: blocks 3"}),
    (_GLUON, "GluonSemantic.warp_specialize", ("num_warps[i]", "num_warps[0]"), "lines", {"part": "gluon: shared 3"}),
    (_GLUON, "GluonSemantic.warp_specialize", ("+= len(mlir_args)", "+= len(args)"), "lines",
     {"part": "gluon: shared 3"}),
    ("triton.backends.nvidia.compiler", "file_hash", lambda path: "", "expressions",
     {"expression": "hash of options"}),
    ("triton.language.semantic", "TritonSemantic.ternary_op_type_checking_impl",
     ("b, c = self.broadcast_impl_value(b, c)", "pass"), "lines", {"part": "plain: seldom 5"}),
    ("triton.language.semantic", "TritonSemantic.to_tensor_type", ("x != x", "False"), "lines",
     {"part": "plain: seldom 5"}),
    (_GENERATOR, "_apply_to_tuple_values", ("fields = value.type.fields", "fields = None"), "lines",
     {"part": "plain: calls 4"}),
    (_GENERATOR, "CodeGenerator.visit_With", ("in reversed(cm_list)", "in cm_list"), "lines",
     {"part": "plain: control 3"}),
    (_GENERATOR, "ContainsReturnChecker.visit_If", ("if node.orelse", "if ret"), "lines", {"part": "plain: seldom 6"}),
    (_GENERATOR, "ContainsReturnChecker.visit_If", ("if node.orelse", "if ret"), "lines", {
        "part": "plain: branches 1"}),
    ("triton.language.core", "tuple.__getitem__", (":idx.step", ""), "lines", {"part": "plain: slices 1"}),
    ("triton.language.core", "tuple.__getitem__", ("values[idx.start", "values["), "expressions",
     {"expression": "every slice of a tuple"}),
    ("triton.language.core", "_resolve_aggregate_fields", ("all_defaults.update(", "dict().update("), "expressions",
     {"expression": "every aggregate"}),
    ("triton.language.core", "aggregate_replace", ("kwargs.update(changes)", "pass"), "expressions",
     {"expression": "every aggregate replaced"}),
    ("triton.runtime.jit", "ConstexprFunction.__call__", ("kwargs = {k: _unwrap_if_constexpr(v)", "kwargs = {k: v"),
     "lines", {"part": "plain: functions 1"}),
    (_GENERATOR, "CodeGenerator.call_JitFunction", ("caller_context or self.caller_context", "caller_context"), "lines",
     {"part": "gluon: shared 3"}),
    ("triton.compiler.compiler", "LazyDict.get", ("self.extras.clear()", "pass"), "hooks",
     {"decorated": "metadata", "hooked": True}),
    (_GENERATOR, "CodeGenerator._operator_priority", staticmethod(lambda value: 0), "lines",
     {"part": "plain: operators 2"}),
    ("triton.knobs", "HookChain.__call__", ("reversed(self.calls)", "self.calls"), "beside", {"part": "knobs"}),
    ("triton.language.semantic", "TritonSemantic.add", ("int_bitwidth < 64", "int_bitwidth < 32"), "lines",
     {"part": "plain: offsets 2"}),
    ("triton.tools.link", "HeaderParser._match_suffix", ("[None] * (i - len(sizes))", "[]"), "tools",
     {"part": "linked"}),
    ("triton.tools.compile", "compile_kernel", ('arg_types.append("i32")', 'arg_types.append("i64")'), "tools",
     {"part": "ahead of time"}),
    ("triton.tools.disasm", "parseCtrl", ("(enc >> 49)", "(enc >> 48)"), "tools", {"part": "disassembled"}),
    ("triton.backends.amd.compiler", "is_async_copy_enabled", ("is None", "in (None, False)"), "expressions",
     {"expression": "switches of AMD"}),
    ("triton.runtime.jit", "DependenciesFinder.visit_For", ("self.visitAssnTarget(node.target)", "pass"), "hidden",
     {"way": "loop"}),
    ("triton.profiler.hooks.hook", "HookManager.deactivate", staticmethod(lambda session=None: None), "beside",
     {"part": "sessions"}),
    ("triton.profiler.hooks.launch", "LaunchHook._matches_kernel_name", ("is not None:", "is None:"), "beside",
     {"part": "profiled"}),
    ("triton.tools.build_extern", "Libdevice._extract_symbol", ("arg_types[-1] = ", "arg_types[0] = "), "tools",
     {"part": "declared"}),
    ("triton.tools.triton_to_gluon_translator.translator", "Translator.visit_Subscript",
     ("append(index)", "append(0)"), "translated", {"group": GROUP}),
    ("triton.runtime.jit", "DependenciesFinder.visit_FunctionDef", ("and node.args.kwonlyargs", "and []"), "hidden",
     {"way": "by name only"}),
    ("triton.runtime.autotuner", "Heuristics.run", ("kwargs[v] = ", "kwargs = kwargs | {v: 16}; "), "tuned otherwise",
     {"way": "ruled"}),
    ("triton.tools.tensor_descriptor", "TensorDescriptor.__post_init__", ("strides[:-1]", "strides[:1]"), "expressions",
     {"expression": "strides of descriptors"}),
    ("triton.tools.tensor_descriptor", "TensorDescriptor.from_tensor", lambda tensor, block_shape, padding="zero",
     round_f32_to_tf32=False: pytest.importorskip("triton").tools.tensor_descriptor.TensorDescriptor(
        tensor, tensor.shape, tensor.stride(), block_shape, padding), "expressions",
     {"expression": "descriptor of an array"}),
    ("triton.runtime.autotuner", "Config.__str__", ('{self.maxnreg}', ''), "tuned otherwise", {"way": "other options"}),
    ("triton.runtime.autotuner", "Autotuner.run", ("_args.items()", "self.nargs.items()"), "tuned otherwise",
     {"way": "by name"}),
    ("triton.runtime.autotuner", "Autotuner.warmup", ("config.all_kwargs()", "config.kwargs"), "tuned otherwise",
     {"way": "warmed up"}),
    ("triton.runtime.autotuner", "Autotuner._bench", ("(OutOfResources, CompileTimeAssertionFailure, PTXASError)",
     "PTXASError"), "tuned otherwise", {"way": "failing"}),
    ("triton.runtime.autotuner", "Autotuner.__init__", ("kwargs[name].copy_(", "exception or kwargs[name].copy_("),
     "tuned otherwise", {"way": "failing"}),
    ("triton.backends.nvidia.compiler", "CUDABackend.parse_options", ('["consan", "iisan"]', '["consan"]'),
     "expressions", {"expression": "options of instrumented code"}),
    (_GENERATOR, "CodeGenerator.visit_Compare", ("[ast.And], values)", "[ast.And], list(values))"), "lines",
     {"part": "plain: chains 1"}),
    ("triton.language.core", "_unsplat", ("numel *= d", "numel = d"), "lines", {"part": "plain: ranks 1"}),
    ("triton.language.core", "_wrap_init_args", ("in wrapped], fields)", "in wrapped])"), "expressions",
     {"expression": "an aggregate of tuples"}),
    ("triton.runtime.jit", "create_function_from_signature", ('["fp", "bf"]', '["fp"]'), "expressions",
     {"expression": "arguments bound by type"}),
    ("triton.runtime.jit", "convert_to_tuple_if_list", lambda item: tuple(item) if isinstance(item, list) else item,
     "unusual 1", {"way": "function"}),
    # What becomes of a name at compile time, which no operation shows; what a copy shares; what only some set.
    (_GENERATOR, "CodeGenerator._apply_boolean_values", (
        '"logical_or"):', '"logical_or"): return constexpr(True)\n            if False:'), "lines",
     {"part": "plain: assigned 3"}),
    ("triton.runtime.jit", "TensorWrapper.clone", lambda self: type(self)(self.base, self.dtype), "expressions",
     {"expression": "reinterpreted"}),
    ("triton.runtime.build", "_build", (", *custom_backend_dirs", ""), "beside", {"part": "build"}),
    # A layout that only the front end has.
    (_GLUON, "GluonSemantic.gather", ("shape, index.type.layout", "shape, src.type.layout"), "lines",
     {"part": "gluon: blocks 3"}),
    (_GLUON, "GluonSemantic.memdesc_index", ("layout, shape)", "layout, mem_desc.shape)"), "lines",
     {"part": "gluon: shared 2"}),
    # What only AMD's chips have.
    ("triton.language.semantic", "TritonSemantic._str_to_store_cache_modifier", ("IER.WT", "IER.WB"), "pieces",
     {"piece": "amd: cdna3 buffers", "chip": "gfx942"}),
    (f"{_AMD}.cdna3", "_atomic_op_str_to_op", {}, "lines", {"part": "amd: cdna3 1", "chip": "gfx942"}),
    (f"{_AMD}._layouts", "AMDMFMALayout.verify", ("[64, 4], [4, 64]", "[64, 4]"), "lines",
     {"part": "amd: cdna3 1", "chip": "gfx950"}),
    (f"{_AMD}.cdna5.tdm", "tensor_descriptor_type.mangle", lambda self: "TD", "lines",
     {"part": "amd: cdna5 1", "chip": "gfx1250"}),
    (f"{_AMD}.warp_pipeline", "warp_pipeline_stage.__exit__", lambda *about: False, "pieces",
     {"piece": "amd: cdna3 stages", "chip": "gfx942"}),
    (f"{_AMD}._layouts", "AMDWMMALayout.verify", _no_check, "lines", {"part": "amd: rdna 1", "chip": "gfx1100"}),
    # What is lost on the way to another process, into a file, or behind the second of several.
    ("triton.compiler.errors", "CompilationError.__reduce__", lambda self: (type(self), (self.src, self.node)),
     "expressions", {"expression": "errors between processes"}),
    ("triton", "Config.__reduce_ex__", lambda self, protocol: (type(self), (self.kwargs,)), "expressions",
     {"expression": "objects between processes"}),
    *(("triton.experimental.gluon.nvidia.hopper", f"{name}.from_tensor", (f"{lost},\n", "None,\n"), "expressions",
       {"expression": expression}) for name, lost, expression in (
        ("TensorDescriptor", "round_f32_to_tf32", "tiled of an array"),
        ("TensorDescriptorIm2Col", "element_strides", "columns of an array"))),
    ("triton._utils", "canonicalize_dtype", ("str(dtype)", "str(dtype).replace('e5m2fnuz', 'e5m2')"), "expressions",
     {"expression": "types of torch"}),
    (_GLUON, "GluonSemantic.warp_specialize", ("+= len(mlir_args)", "= len(mlir_args)"), "lines",
     {"part": "gluon: workers 1"}),
    ("triton.language.semantic", "TritonSemantic.map_elementwise", ("result(i), ty)", "result(i), result_types[0])"),
     "lines", {"part": "plain: mapped 1"}),
    ("triton.language.semantic", "TritonSemantic.associative_scan", ("inputs[i].type", "inputs[0].type"), "lines",
     {"part": "plain: several 1"}),
    ("triton.compiler.compiler", "IRSource.parse_options", ('"glir", ', ""), "text of gluon", {"num_ctas": 2}),
    ("triton.runtime.jit", "serialize_specialization_data", ("__qualname__", "__name__"), "unusual 1",
     {"way": "specialised"}),
    # Arguments that hardly anybody gives.
    ("triton.runtime._async_compile", "FutureKernel.result", ("if ignore_errors", "if False"), "unusual 3",
     {"way": "failing together"}),
    ("triton.knobs", "language_knobs.fp_fusion_enabled", lambda self, requested: requested is not False, "expressions",
     {"expression": "whether floats are fused"}),
    ("triton.compiler.compiler", "LazyDict.get", ("self.data | func(*args)", "func(*args) | self.data"), "hooks",
     {"decorated": "metadata", "hooked": True}),
)
"""Module and name of what is changed in Triton, its wrong stand-in or what its text has in place of what, and the scene
with choices that shows it."""


@pytest.mark.parametrize("module, name, wrong, scene, choices", FAULTS)
def test_faults_of_the_front_end_change_an_answer(
        module: str, name: str, wrong: Any, scene: str, choices: dict[str, object],
        monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("triton")
    try:
        resolve_name(f"{module}.{name}")
    except (AttributeError, ImportError):
        pytest.skip(f"no {name} in Triton {installed()}")
    if before(installed(), scenes()[scene].since):
        pytest.skip("the scene is of a later release")
    if before(installed(), "3.9.0") and " arguments of " in str(choices.get("part")):
        pytest.skip("the lines are written for 3.9.0")
    if before(installed(), "3.9.0") and choices.get("part") == "linked":
        pytest.skip("the suffixes are written for 3.9.0, older linkers refuse those of arguments without one")
    asked = case(scene, **({"draw": 0} if "draw" in scenes()[scene].vocabulary else {}) | choices)
    right = play(asked)
    assert right == play(asked)
    if before(installed(), "3.9.0") and (all(answer.startswith("refused") for answer in right.values()) or any(
            name.endswith(" refused") for name in right)):
        pytest.skip("the statements are written for 3.9.0, this version refuses all of them")
    monkeypatch.setattr(f"{module}.{name}", _edited(module, name, *wrong) if isinstance(wrong, tuple) else wrong)
    try:
        assert right != play(asked)
    except Refuted as due:
        assert "is due" in str(due)


def test_places_are_those_of_the_kernel_alone():
    front_end = pytest.importorskip("tridiff.fuzz.launching.scenes.front_end")
    text, given = front_end.kernel_of("plain: folds")
    plain, lower = (front_end.places(front_end.source(one, given, "sm_90", {"num_warps": 4})) for one in (
        text, f"# A comment.\n{text}"))
    # As many places, each a line further down; the library's, which are further down still, are none of them.
    further = {f"{int(line) + 1}:{column}" for line, _, column in (one.partition(":") for one in plain)}
    assert plain and set(lower) == further
    assert all(5 < int(one.partition(":")[0]) <= len(text.splitlines()) + 1 for one in (*plain, *lower))
    first, second = (front_end.told(one, given) for one in (text, f"# A comment.\n{text}"))
    assert first != second, "they are told"
