"""Python that users of Triton call outside of kernels, which `scenes.host` evaluates as it is and spoilt."""

import ast
from functools import cache

NAMES = ("gl", "tl", "blocked", "mma", "data", "16", "[1, 0]", "GPUTarget")

HEAD = """
import ast
import collections
import copy
import hashlib
import inspect
import os
import pickle
from types import SimpleNamespace as Given
from unittest import mock

import torch
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia import compiler as nvidia
from triton.compiler import compiler
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language import _layouts as layouts
from triton.experimental.gluon.language.nvidia import blackwell, hopper
from triton.experimental.gluon.language.nvidia.hopper import mbarrier
from triton.language.extra import cuda, hip
from triton.runtime import build, cache, errors, jit
from triton.tools import mxfp
from triton.tools.tensor_descriptor import TensorDescriptor
try:
    from triton.backends.amd import compiler as amd
except ImportError:
    pass
try:
    from triton.experimental.gluon.language.nvidia.hopper import CachePolicy, FractionalEvictionPolicy
    from triton.experimental.gluon.nvidia.hopper import TensorDescriptor as Tiled, TensorDescriptorIm2Col as Columns
    from triton.experimental.gluon.language.amd import cdna5
    from triton.experimental.gluon.amd.cdna5 import TensorDescriptor as Moved
    from triton.tools import triton_to_gluon_translator as translator
except ImportError:
    pass
@tl.core._aggregate
class Loose:
    one: tl.constexpr
    two: tl.constexpr

    def __init__(self, one, first, second):
        setattr(self, first, one)
        setattr(self, second, one)

@tl.core._aggregate
class Fields:
    one: tl.constexpr
    two: tl.constexpr = 5

@tl.core._aggregate
class Tupled:
    both: tl.tuple

def reading(function, *given, **names):
    return type(reading)(function.__code__, vars(triton.knobs) | names)(*given)

def refused(call):
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace(os.path.dirname(triton.__file__), "")[:120]

def counted(answers):
    answers = list(map(str, answers))
    digest = hashlib.blake2b("; ".join(answers).encode(), digest_size=6).hexdigest()
    return f"{answers.count('True')} of {len(answers)}, {digest}"

blocked = gl.BlockedLayout([1, 2], [4, 8], [2, 2], [1, 0])
mma = gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8])
swizzled = gl.NVMMASharedLayout(128, 32, 2)
data = torch.zeros(4096)
LEGAL = {"base": data, "shape": [32, 32], "strides": [32, 1], "block_shape": [16, 16], "padding": "zero"}
PIXELS = {**LEGAL, "base": data.view(1, 8, 8, 64), "shape": [1, 8, 8, 64], "strides": [4096, 512, 64, 1],
          "block_shape": [16, 32], "layout": swizzled, "element_strides": [1, 1, 1, 1],
          "pixel_box_lower_corner": [0, 0], "pixel_box_upper_corner": [0, 0]}
OTHERS = (None, "nan", "other", True, 3, blocked, gl.NVMMASharedLayout(64, 16, 2), gl.NVMMASharedLayout(128, 32, 3),
          data[1:], data[4:], data.to(torch.int32), data.to(torch.float16), data.to(torch.uint8), [], [16], [16] * 3,
          *([first, last] for first in (0, 1, 2, 3, 4, 16, 256, 512, -128, -129, 2**31, 2**40) for last in (
              0, 1, 2, 3, 4, 16, 256, 512, 127, 128)),
          [1, 1, 1, 1], [1, 8, 8, 1], [1, 9, 8, 1], [1, 0, 8, 1], [1, 1, 1, 2], [1, 8, 8, 60], [1, 8, 0, 64],
          [4096, 512, 60, 1], [4096, 512, 64, 2], [4096, 512, 64, 0], [4096, 512, 0, 1], [1, 1, 1, 1, 1])

def made(*calls):
    for call in calls:
        try:
            yield call()
        except Exception:
            pass

def padded(*shape):
    return gl.PaddedSharedLayout.with_identity_for([[32, 4]], shape, [1, 0])

WHOLE = [padded(16, 16), gl.SwizzledSharedLayout(1, 1, 1, [1, 0]), gl.SwizzledSharedLayout(1, 1, 2, [1, 0]), swizzled]
PARTED = [*WHOLE, *made(*(lambda one=one: cdna5.PartitionedSharedLayout(2, 2, 1, one) for one in WHOLE))]

def derived(*bases, **defaults):
    return tl.core._aggregate(type("Derived", bases, {"__module__": "builtins", "__annotations__": {
        name: tl.constexpr for name in defaults}, **{name: value for name, value in defaults.items() if value}}))

def tensor_memory(shape, held=None, stride=1):
    return blackwell.tensor_memory_descriptor_type(gl.float32, shape, blackwell.TensorMemoryLayout(
        [128, 64], stride), held or shape)

AGGREGATES = [Fields, Loose, Tupled, *made(lambda: derived(three=0), lambda: derived(Fields, three=7), lambda: derived(
    Fields, one=4), lambda: derived(derived(Fields, three=7), two=6), lambda: derived(Fields), lambda: derived(
    derived(three=7), derived(four=0)))]
pairs = tl.tuple_type([tl.int64, tl.int64])
TYPES = [tl.void, tl.int1, tl.int32, tl.float8e5, tl.pointer_type(tl.int8), tl.pointer_type(tl.int8, 3, True), pairs,
         tl.block_type(tl.int32, [16]), tl.block_type(tl.int32, [16, 1]), tl.block_type(tl.int64, [16]),
         *(tl.tuple_type([tl.int64, tl.void], ["a", one]) for one in "bc"), tl.tuple_type([pairs]), *made(
    lambda: tl.constexpr(3).type, lambda: tl.constexpr("3").type, lambda: blocked.type, lambda: mma.type,
    lambda: tl.core.slice_type(), lambda: tl.core.tensor_descriptor_base_type(tl.block_type(tl.int32, [8, 16])),
    lambda: tl.core.tensor_descriptor_type(tl.block_type(tl.int32, [8, 16]), pairs, pairs),
    lambda: tl.core.tensor_descriptor_type(tl.block_type(tl.int32, [8, 16]), tl.tuple_type([tl.int32] * 2), pairs),
    lambda: tl.core.tensor_descriptor_type(tl.block_type(tl.float16, [8, 16]), pairs, pairs),
    lambda: gl.distributed_type(gl.int32, [16, 32], blocked), lambda: gl.distributed_type(gl.int32, [16, 32], mma),
    lambda: gl.distributed_type(gl.int32, [32, 16], blocked), lambda: CachePolicy('ca').type, lambda: swizzled.type,
    lambda: gl.shared_memory_descriptor_type(gl.int32, [16, 32], swizzled, [16, 32]),
    lambda: gl.shared_memory_descriptor_type(gl.int32, [16, 32], swizzled, [2, 16, 32]),
    lambda: gl.shared_memory_descriptor_type(gl.float32, [16, 32], swizzled, [16, 32]),
    lambda: gl.shared_memory_descriptor_type(gl.int32, [8, 32], swizzled, [16, 32]),
    lambda: gl.shared_memory_descriptor_type(gl.int32, [16, 32], gl.NVMMASharedLayout(64, 32), [16, 32]),
    lambda: hopper.warpgroup_mma_accumulator_type(gl.distributed_type(gl.float32, [64, 64], mma)),
    lambda: hopper.warpgroup_mma_accumulator_type(gl.distributed_type(gl.float16, [64, 64], mma)),
    lambda: hopper.tma.tensor_descriptor_type(tl.block_type(tl.int32, [16, 32]), pairs, pairs, swizzled),
    lambda: hopper.tma.tensor_descriptor_type(tl.block_type(tl.int32, [16, 64]), pairs, pairs, swizzled),
    lambda: hopper.tma.tensor_descriptor_im2col_type(tl.block_type(tl.int32, [16, 32]), pairs, pairs, swizzled),
    *(lambda given=given: tensor_memory(*given) for given in (([128, 64],), ([128, 32], [128, 64]), ([128, 64], [
        2, 128, 64]), ([128, 64], [128, 64], 2))))]
"""

EXPRESSIONS: dict[str, str] = {
    "blocked":
        "gl.BlockedLayout(size_per_thread=[1, 2], threads_per_warp=[4, 8], warps_per_cta=[2, 2], order=[1, "
        "0])",
    "blocked clusters": "gl.BlockedLayout([2, 2], [4, 8], [2, 2], [0, 1], cga_layout=[[1, 0]]).cga_layout",
    "names of blocked": "gl.BlockedLayout([1, 2], [4, 8], [2, 2], [1, 0], [[0, 1]]).mangle()",
    "slice":
        "gl.SliceLayout(dim=0, parent=gl.SliceLayout(1, gl.BlockedLayout([1] * 3, [2, 4, 4], [4, 1, 1], [2, "
        "1, 0])))",
    "names of slices":
        "[gl.SliceLayout(0, blocked).mangle(), gl.SliceLayout(1, blocked).rank, gl.SliceLayout(1, "
        "blocked).cga_layout]",
    "linear":
        "gl.DistributedLinearLayout([[0, 1], [0, 2]], [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], [[8, 0], [0, "
        "16]], [], [16, 32])",
    "names of linear":
        "gl.DistributedLinearLayout([[1]], [[2], [4], [8], [16], [32]], [[64]], [[128]], [256]).mangle()",
    "products": "gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16], cga_layout=[[1, 0]])",
    "operands": "gl.DotOperandLayout(operand_index=1, parent=mma, k_width=2)",
    "names of operands":
        "[gl.DotOperandLayout(0, mma, 4).mangle(), gl.DotOperandLayout(0, mma, 4).cga_layout, mma.mangle(), "
        "mma.rank]",
    "shared": "gl.NVMMASharedLayout(128, 16, 2, transposed=False, fp4_padded=False, cga_layout=[[1, 0]])",
    "names of shared": "gl.NVMMASharedLayout(64, 8, rank=3, transposed=True).mangle()",
    "default shared":
        "gl.NVMMASharedLayout.get_default_for([64, 32], gl.float16, transposed=False, fp4_padded=False)",
    "default of bytes":
        "gl.NVMMASharedLayout.get_default_for(block_shape=[16, 128], dtype=gl.int8, cga_layout=[[0, 1]])",
    "default swizzles":
        "[gl.NVMMASharedLayout.get_default_for([rows, columns], kind).swizzle_byte_width for rows in (4, 8) "
        "for columns in (8, 16, 24, 32, 48, 64, 96, 192) for kind in (gl.int8, gl.float16, gl.float32)]",
    "default swizzles of parts":
        "[refused(lambda: gl.NVMMASharedLayout.get_default_for([rows, columns], kind, turned, cga_layout=split)) "
        "for rows in (2, 8, 64) for columns in (8, 32, 96) for kind in (gl.int8, gl.float32) for turned in (False, "
        "True) for split in (None, [[1, 0]], [[0, 1]], [[1, 0], [0, 1]])]",
    "registers of tensor memory":
        "[(kind.name, shape, warps, way, refused(lambda: blackwell._compute_tmem_reg_layout(kind, shape, shape, "
        "blackwell.TensorMemoryLayout([shape[0], shape[1]], 1), warps, way))) for kind in (tl.float32, tl.float16) "
        "for shape in ([64, 8], [128, 1], [128, 2], [128, 4], [128, 32], [64, 1], [64, 2], [128, 128]) for warps in "
        "(4, 8, 2) for way in ('32x32b', '16x64b', '16x128b', '16x256b', '16x32bx2', '32x32b_splitn', 'other')]",
    "registers asked for":
        "[refused(lambda: blackwell._compute_tmem_reg_layout(*given[:place], other, *given[place + 1:])) for given in "
        "[(tl.float32, [128, 64], [128, 64], blackwell.TensorMemoryLayout([128, 64], 1), 4, '32x32b')] for place, "
        "other in ((1, [128, 64.0]), (1, [128]), (2, [128, 64.0]), (2, [64]), (2, [2, 128, 64]), (4, '4'), (4, 6), ("
        "5, 3))] + [refused(lambda: tensor_memory(shape).get_reg_layout(num_warps=warps)) for shape in ([128, "
        "tl.constexpr(64)], (tl.constexpr(128), 64)) for warps in (None, 0, 6, '4', tl.constexpr(8))]",
    "barriers of products":
        "[refused(lambda: blackwell.tcgen05_mma_barrier_count(data, multicast, two)) for two in (False, True) for "
        "multicast in (False, True) for bases in ([[1, 0]], [[0, 0]], [[0, 1], [0, 0]], [[1, 0], [0, 1], [0, 0]]) for "
        "one, other in [[collections.namedtuple('Of', 'layout')(gl.NVMMASharedLayout(64, 8, 2, cga_layout=some)) for "
        "some in (bases, [[0, 1]])]] for data in ([], [one], [one, other])]",
    "bytes of descriptors":
        "[getattr(hopper.tma, '_tensor_descriptor_type_base', hopper.tma.tensor_descriptor_type).nbytes_per_cta.fget("
        "collections.namedtuple('Of', 'layout block_type')(gl.NVMMASharedLayout(64, 8, 2, cga_layout=bases), "
        "tl.block_type(tl.int8, [64, 64]))) for bases in ([], [[1, 0]], [[1, 0], [0, 1]], [[0, 0], [1, 0]])]",
    "default of clusters": "gl.NVMMASharedLayout.get_default_for([128, 64], gl.float32, cga_layout=[[1, 0], [0, 0]])",
    "swizzled": "gl.SwizzledSharedLayout(vec=8, per_phase=2, max_phase=4, order=[1, 0], cga_layout=[[0, 1]])",
    "names of swizzled": "gl.SwizzledSharedLayout(1, 1, 1, [0]).mangle()",
    "padded": "gl.PaddedSharedLayout([[32, 4], [128, 8]], [[0, 1], [0, 2], [1, 0]], [], [2, 4])",
    "padded by itself": "gl.PaddedSharedLayout.with_identity_for([[32, 4]], [16, 32], [1, 0], cga_layout=[[1, 0]])",
    "names of padded": "gl.PaddedSharedLayout.with_identity_for([[64, 8]], [8, 8], [0, 1]).mangle()",
    "shared bases": "gl.SharedLinearLayout([[0, 1], [0, 2], [1, 0]], [[2, 0]], alignment=32)",
    "names of bases":
        "[gl.SharedLinearLayout([[1], [2]]).mangle(), *(gl.SharedLinearLayout([[0, 1], [1, 0]], some).shape for some "
        "in ([], [[2, 0]], [[0, 2], [2, 0]]))]",
    "bases": "layouts.bases_per_dim([[0, 1], [0, 2], [1, 0], [0, 0]], 2, skip_broadcast=True)",
    "warps": "layouts.warps_per_cta(gl.SliceLayout(0, blocked), [16, 32])",
    "sources of kernels":
        "[(len({compiler.IRSource.hash(mock.Mock(ext=ext, src=src)) for ext in ('ttir', 'ptx') for src in 'ab'}), "
        "kind.__name__, len({kind(tl.cdiv, {x: of, y: 'i32'}).hash() for x, y in ('xy', 'yx') for of in ('i32', "
        "'i64')}), len({kind(tl.cdiv, {'x': 'i32', 'div': 'i32'}, *more).hash() for more in ((), ({'div': 3},), "
        "({(1,): 3},), ({'div': 4},), (None, {(0,): [['tt.divisibility', 16]]}), *(({'div': type('Keyed', (), {"
        "'cache_key': key, '__repr__': lambda one: 'a'})()},) for key in 'bc'))})) for kind in (compiler.ASTSource, "
        "triton.experimental.gluon._runtime.GluonASTSource)]",
    "whether floats are fused":
        "[refused(lambda: triton.knobs.language.fp_fusion_enabled(one)) for off in (False, True) for _ in "
        "[setattr(triton.knobs.language, 'force_disable_fp_fusion', off)] for one in (None, True, False)]",
    "managers of caches":
        "[refused(lambda: type(getattr(cache, kind)('a0')).__name__) for _ in "
        "[os.environ.update(TRITON_DUMP_DIR=triton.knobs.cache.dir)] for kind in ('get_dump_manager', "
        "'get_override_manager', 'get_cache_manager') for triton.knobs.cache.manager_class in "
        "(cache.FileCacheManager, type('Own', (cache.FileCacheManager,), {}), None)]",
    "kernels cut out":
        "[refused(lambda: made(*given, target=translator.target.TranslatorTarget('sm90'))) for home in "
        "['tridiff.kernels.helpers.'] for made, *given in (*((translator.slice_kernel, [home + 'sorting:comes_after', "
        "home + 'extrema:max2'], ['triton', 'torch'], None, leaf, way) for way in (False, True) for leaf in (None, "
        "[home + 'extrema:is_nan'])), (translator.slice_kernel_from_trace, home + 'sorting:comes_after', "
        "[{'type_names': ['torch:dtype'], 'jit_fn_names': [home + 'extrema:max2']}], False, {}))]",
    "numbers of few bits":
        "[refused(lambda: vars(made(size=size, device=device).random(*some))) for _ in [torch.manual_seed(3)] for size "
        "in (5, (2, 3)) for device in (None, 'meta') for made, *some in ((mxfp.MXFP4Tensor,), *((mxfp.MXScaleTensor, "
        "low, high) for low in (None, 0.0, 4.0) for high in (None, 2.0, 8.0)))]",
    "barriers": "mbarrier.MBarrierLayout.multicta(num_ctas=4, two_cta=True).mangle()",
    "equal":
        "[blocked == gl.BlockedLayout([1, 2], [4, 8], [2, 2], [1, 0]), blocked == mma, "
        "hash(blocked) == hash(blocked)]",
    "policy":
        "CachePolicy(cache_modifier='.ca', l1='evict_first', l2=FractionalEvictionPolicy('evict_last', 0.5), "
        "l2_prefetch_size=128)",
    "names of policies":
        "CachePolicy(l2=FractionalEvictionPolicy('evict_normal', 0.25, secondary='evict_first')).mangle()",
    "fraction": "FractionalEvictionPolicy(primary='evict_first', fraction=1, secondary='evict_unchanged')",
    "descriptor of an array":
        "[{**vars(TensorDescriptor.from_tensor(data.view(64, 64), [16, 32], **more)), 'base': 0} for more in "
        "({'padding': 'nan'}, {'round_f32_to_tf32': True})]",
    "strides of descriptors":
        "[refused(lambda: TensorDescriptor(data, [2] * rank, [3 if place == other else 64 for place in range(rank - 1"
        ")] + [1], [1] * rank).strides) for rank in range(2, 7) for other in range(rank)]",
    "tiled of an array":
        "[{**vars(Tiled.from_tensor(data.view(64, 64), [8, 32], swizzled, **more)), 'base': 0} for more in ({}, "
        "{'padding': 'nan'}, {'round_f32_to_tf32': True})]",
    "columns of an array":
        "[{**vars(Columns.from_tensor(PIXELS['base'], [16, 32], swizzled, pixel_box_lower_corner=[-1, 0], "
        "pixel_box_upper_corner=[1, 2], **more)), 'base': 0} for more in ({}, {'padding': 'nan'}, "
        "{'round_f32_to_tf32': True}, {'element_strides': [1, 2, 3, 1]})]",
    "corners":
        "[refused(lambda: Columns(data.view(shape), shape, data.view(shape).stride(), [16, 64], swizzled, "
        "pixel_box_lower_corner=[low] * (len(shape) - 2), pixel_box_upper_corner=[high] * (len(shape) - 2)).mode) "
        "for shape, end in (([1, 64, 64], 2**15), ([1, 8, 8, 64], 128), ([1, 4, 4, 4, 64], 16)) "
        "for low, high in ((-end, end - 1), (-end - 1, 0), (0, end))]",
    "bounds of descriptors":
        "[(made.__module__, made.__name__, name, counted(refused(lambda: vars(made(**{**given, name: value})).get("
        "name) is value) for value in OTHERS)) for made, given in ((TensorDescriptor, LEGAL), (Tiled, {**LEGAL, "
        "'block_shape': [16, 32], 'layout': swizzled}), (Columns, PIXELS)) for name in given]",
    "descriptors of AMD":
        "[(name, counted(refused(lambda: vars(Moved(**{**given, name: value})).get(name) is value) for value in ("
        "*OTHERS, *PARTED))) for given in [{**LEGAL, 'layout': PARTED[0]}] for name in given] + [refused(lambda: "
        "{**vars(Moved.from_tensor(data.view(64, 64), [16, 32], PARTED[-4])), 'base': 0})]",
    "scales of AMD's products":
        "[(one.mangle(), one.rank, counted(refused(lambda: of(gl.DotOperandLayout(side, one, 16), [64, 128], *some)) "
        "for of, *some in ((amd4.get_mfma_scale_layout,), (cdna5.get_wmma_scale_layout, 16), ("
        "cdna5.get_wmma_scale_layout,), *((amd4.compute_efficient_padded_shared_layout, gl.int8, *way) for way in ((), "
        "(False,)))) for side in (0, 1))) for amd4 in [gl.amd.cdna4] for rows in (1, 4) for cut in (16, 32) for more "
        "in (None, [2, 1], [1, 2]) for one in made(lambda: gl.amd.AMDMFMALayout(4, [cut, cut, 2048 // cut], rows > 1, ["
        "rows, 4 // rows], 32, more), lambda: gl.amd.AMDWMMALayout(3, cut > 16, [[1, 0], [0, 1]][::1 if rows > 1 else "
        "-1], more and [[2 * one - 2 for one in more]], [cut, 16, 128]))]",
    "parts of products":
        "[counted(refused(lambda: cdna5.make_partitioned_dot_layouts(rows, columns, padded(*[rows, deep][::-1 if left "
        "else 1]), padded(*[deep, columns][::-1 if right else 1]), warps, [16, wide, 32], left, right, *cut, turned)) "
        "for left in (False, True) for right in (False, True) for cut in ((), (64, None), (None, 32), (128, 64), (48, "
        "48)) for turned in (False, True)) for rows, columns, deep in ((64, 64, 32), (128, 64, 32), (256, 128, 64), ("
        "72, 64, 32)) for warps in (4, 8, 2) for wide in (16, 32, 24)]",
    "kinds of descriptors":
        "[refused(lambda: made(**{**given, 'base': given['base'].to(kind), 'padding': padding, 'round_f32_to_tf32': "
        "rounded}).padding) for made, given in ((TensorDescriptor, LEGAL), (Tiled, {**LEGAL, 'block_shape': [16, 32], "
        "'layout': swizzled}), (Columns, PIXELS)) for kind in (torch.float32, torch.int32, torch.float16, torch.uint8, "
        "torch.float64) for padding in ('zero', 'nan') for rounded in (False, True)]",
    "names of tensor memory":
        "[refused(lambda: (made.mangle(), made == other, hash(made) == hash(other))) for one in (blackwell."
        "TensorMemoryLayout, blackwell.TensorMemoryScalesLayout) for more in ({}, {'cga_layout': [[1, 0]]}, "
        "{'cga_layout': [[0, 1], [1, 0]]}, {'two_ctas': True}, {'fp4_padded': True}, {'col_stride': 2}) for plain in "
        "[{'block': [128, 64], 'col_stride': 1} if 'TensorMemoryLayout' == one.__name__ else {}] for other in [one("
        "**plain)] for made in [refused(lambda: one(**{**plain, **more}))]]",
    "names of descriptors":
        "[(one.mode, one.__mangle__()) for one in (Tiled(**{**LEGAL, 'block_shape': [16, 32], 'layout': swizzled}), "
        "Columns(**PIXELS))]",
    "options":
        "[compiler.make_backend(GPUTarget('cuda', chip, 32)).parse_options(more) for chip, more in ((90, {'num_warps': "
        "8, 'num_ctas': 2, 'maxnreg': 64}), (80, {'num_stages': 4, 'debug': True}), (100, {'enable_fp_fusion': 0}))]",
    "what each chip takes":
        "[(one.arch, one.supported_fp8_dtypes, one.deprecated_fp8_dot_operand_dtypes) for one in "
        "(compiler.make_backend(GPUTarget('cuda', chip, 32)).parse_options({}) for chip in (75, 86, 89, 103, 107, "
        "120))]",
    "options of instrumented code":
        "[refused(lambda: [(one.debug, one.sanitize_overflow, one.maxnreg, one.num_ctas, getattr(one, 'clc', 0)) for "
        "one in [compiler.make_backend(GPUTarget('cuda', chip, 32)).parse_options({'instrumentation_mode': mode, "
        "**more})]]) for chip in (80, 90, 100, 103, 107) for mode in ('', 'fpsan', 'consan', 'iisan', "
        "'fpsan,consan') for more in ({}, {'maxnreg': 64}, {'num_ctas': 2}, {'clc': True}, {'debug': False, "
        "'sanitize_overflow': True})]",
    "options themselves":
        "nvidia.CUDAOptions(num_warps=4, num_ctas=1, arch='sm90', default_dot_input_precision='tf32x3')",
    "hash of options":
        "[(kind.__name__, name, len({refused(lambda: kind(arch=arch, **more).hash()) for more in given})) for kind, "
        "arch in ((nvidia.CUDAOptions, 'sm90'), (amd.HIPOptions, 'gfx942')) for made in [kind(arch=arch)] for name, "
        "given in (*((name, ({name: value}, {name: not value if isinstance(value, bool) else value * 2 or 2 if "
        "isinstance(value, int) else value + value if value else 'x'})) for name, value in vars(made).items() if name "
        "not in ('extern_libs', 'arch')), ('libraries', [{'extern_libs': {**dict(made.extern_libs), **dict(some)}} "
        "for some in ((), *([(a, {'x': nvidia.__file__.replace('compiler.py', end), 'y': build.__file__}[a]) for a in "
        "order] for order in ('xy', 'yx') for end in ('compiler.py', 'driver.py')))]))]",
    "attributes for LLVM":
        "[refused(lambda: amd.HIPOptions(arch='gfx942', llvm_fn_attrs=one).llvm_fn_attrs) for one in ('a,b=c', ' a = "
        "b , c=', 'a=b=c', ',', 'a,,b', (('a', 'b'),), '=b', None, 'a=1,a=2')]",
    "limits of chips":
        "[(refused(lambda: compiler.CompiledKernel._init_handles(one)), type(one._run).__name__ == 'partial' and "
        "refused(one._run)) for most in [compiler.max_shared_mem(0)] for shared, warps in ((most, 4), (most + 1, 4), "
        "(1, 32), (1, 33)) for one in [mock.MagicMock(module=None, metadata=mock.MagicMock(shared=shared, "
        "tmem_size=None, num_warps=warps, warp_size=32))]]",
    "what a device can do":
        "[refused(lambda: getattr(triton.testing, name)(*given)) for chip in (7, 8, 9) for _ in [(mock.patch.multiple("
        "torch.cuda, current_device=lambda: 1, get_device_capability=lambda at=None: (chip, 0)).start(), "
        "triton.runtime.driver.set_active(Given(utils=Given(get_device_properties=lambda at: {'mem_clock_rate': "
        "5000000 + at, 'mem_bus_width': 64, 'multiprocessor_count': 10 + at}), get_device_interface=lambda: Given("
        "current_device=lambda: 1))))] for name, *given in (*(('get_dram_gbps', *more) for more in ((), (0,), (2,))), "
        "*(('get_max_' + unit + '_tflops', getattr(torch, dtype, dtype), 1e6, *more) for unit in ('tensorcore', "
        "'simd') for dtype in ('float32', 'float16', 'bfloat16', 'int8', 'int16', 'int32', 'bool') for more in ((), ("
        "2,))))]",
    "own library":
        "[setattr(triton.knobs.nvidia, 'libdevice_path', x) or nvidia.CUDAOptions().extern_libs for x in ('a', None)"
        "][0]",
    "features": "nvidia.get_features(nvidia.CUDAOptions(arch='sm90', ptx_version=83), 90)",
    "specialised":
        "[nvidia.CUDABackend.get_int_specialization(one, align=True) for one in (0, 16, 17)] + "
        "[nvidia.CUDABackend.get_tensor_specialization(one, align=True) for one in (data[:16], data[1:])] + "
        "[nvidia.CUDABackend.get_int_specialization(16), nvidia.CUDABackend.parse_attr('D')]",
    "chips": "[nvidia.sm_arch_from_capability(one) for one in (75, 80, 86, 89, 90, 100, 103, 107, 120)]",
    "versions": "[nvidia.ptx_get_version(one) for one in ('12.0', '12.5', '12.8', '13.0')]",
    "smallest products":
        "[refused(lambda: nvidia.min_dot_size(GPUTarget('cuda', 90, 32))(one, other)) for kinds in [(tl.int8, "
        "tl.float16, tl.float32, tl.float64)] for one in kinds for other in kinds]",
    "names of types":
        "[jit.mangle_type(one) for one in (1, 2**40, 2**63, 1.5, True, None, data, (1, 2.0))] + [jit.mangle_type(one, "
        "specialize=True) for one in (1, 16)]",
    "types of torch":
        "[(str(kind), refused(lambda: triton._utils.canonicalize_dtype(kind)), *(refused(lambda: "
        "jit.mangle_type(one())) for one in (lambda: torch.empty(16, dtype=kind, device='meta'), lambda: "
        "triton.reinterpret(data, kind), lambda: jit.MockTensor(kind)))) for kind in sorted({one for one in "
        "vars(torch).values() if isinstance(one, torch.dtype)}, key=str)]",
    "descriptors as texts":
        "[refused(lambda: [(one.mangle(), len(one.shape_type.types + one.strides_type.types)) for one in [tl.str_to_ty("
        "'tensordesc' + kind + rest + more + '>', None)]]) for kind in ('', '_im2col') for rest in ('<fp16[16, 32]', "
        "'<i32[8],input_rank=4') for more in ('', *(',' + str(one) for one in WHOLE))]",
    "types as texts": "[tl.core.get_int_dtype(32, True), tl.str_to_ty('*fp16', None), tl.str_to_ty('i1', None)]",
    "a type":
        "[tl.dtype('uint16').primitive_bitwidth, tl.dtype('bf16').is_floating(), "
        "tl.dtype('fp8e5').fp_mantissa_width]",
    "questions about types":
        "[(kind, *(refused(lambda: getattr(one, asked)()) for asked in 'is_bf16 is_block is_bool is_const is_floating "
        "is_fp16 is_fp32 is_fp64 is_fp8 is_fp8e4b15 is_fp8e4b8 is_fp8e4nv is_fp8e5 is_fp8e5b16 is_int is_int1 is_int16 "
        "is_int32 is_int64 is_int8 is_int_signed is_int_unsigned is_ptr is_standard_floating is_uint16 is_uint32 "
        "is_uint64 is_uint8'.split())) for kinds in (tl.dtype.SINT_TYPES, tl.dtype.UINT_TYPES, tl.dtype.FP_TYPES, "
        "tl.dtype.OTHER_TYPES) for kind in kinds for one in [tl.dtype(kind)]] + [one.itemsize for one in (tl.int1, "
        "tl.uint8, tl.float16, tl.bfloat16)]",
    "kinds of types":
        "[tl.float32.kind(), tl.int1.kind(), tl.int8.get_int_max_value(), tl.uint32.get_int_min_value()]",
    "blocks": "tl.block_type(tl.int32, [16, 32]).with_element_ty(tl.float16).nbytes",
    "pointers":
        "[tl.pointer_type(tl.float32, 3, const=True).mangle(), "
        "*(tl.pointer_type(tl.int8) == tl.pointer_type(tl.int8, *more) for more in ((1,), ('global', True)))]",
    "errors between processes":
        "[(name, refused(lambda: [(str(one), sorted(vars(one))) for one in (copy.copy(made(*given)), "
        "pickle.loads(pickle.dumps(made(*given))))])) for name in 'TritonError InterpreterError OutOfResources "
        "PTXASError AutotunerError CompilationError CompileTimeAssertionFailure UnsupportedLanguageConstruct'.split() "
        "for made in [getattr(errors, name, 0) or getattr(triton.compiler.errors, name)] for given in ((), ('a',), "
        "('a', 2), ('a', 2, 'b'))]",
    "objects between processes":
        "[(type(one).__name__, *(refused(lambda: str(getattr(way(one), '__dict__', way(one)))) for way in (copy.copy, "
        "lambda some: pickle.loads(pickle.dumps(some))))) for one in (triton.Config({'A': 1}), triton.Config({'B': 2}, "
        "8, 2, 2, 64, print, 'text'), tl.constexpr(3), GPUTarget('cuda', 90, 32), nvidia.CUDAOptions(maxnreg=8), "
        "CachePolicy('ca'), TensorDescriptor(**LEGAL), Columns(**PIXELS), triton.reinterpret(data, tl.int32), "
        "jit.MockTensor(3), blocked, mma, swizzled, *TYPES[:6])]",
    "a configuration of another release": "[vars(one) for one in [triton.Config({})] if not one.__setstate__({})]",
    "constants":
        "[tl.constexpr(3) + 2, 7 - tl.constexpr(3), tl.constexpr(7) // 2, 2 ** tl.constexpr(3), "
        "tl.constexpr(5) & 4, ~tl.constexpr(1), -tl.constexpr(2), tl.constexpr(9) % 4, tl.constexpr(1) << 3, "
        "tl.constexpr(8) >> 1]",
    "all that constants do":
        "[(name, refused(lambda: getattr(made(), name)(other))) for made in (lambda: tl.constexpr(6), lambda: "
        "tl.constexpr(0), lambda: tl.tuple([1, 2])) for name in sorted(vars(type(made()))) for other in (2, 6)]",
    "constants compared":
        "[tl.constexpr(3) < 4, tl.constexpr(3) == 3, 3 != tl.constexpr(3), tl.constexpr(2).logical_and(0), "
        "tl.constexpr(0).logical_or(5), tl.constexpr(3) | 8, tl.constexpr(3) ^ 1, 1 / tl.constexpr(4)]",
    "constants as values": "[bool(tl.constexpr(0)), tl.constexpr([1, 2, 3])[1], hash(tl.constexpr(3)) == hash(3)]",
    "tuples":
        "[tl.tuple([1, 2]) + tl.tuple([3]), *(refused(lambda: getattr(tl.tuple([1, 2], tl.tuple_type([tl.int32] * 2, "
        "['a', 'b'])), name)) for name in 'bc')]",
    "parts of tuples":
        "[tl.tuple([1, 2, 3])[1:], tl.tuple([1, 2])[0], len(tl.tuple([1])), tl.tuple([1, "
        "2]) * tl.constexpr(2)]",
    "every slice of a tuple":
        "[refused(lambda: tl.tuple([1, 2, 3, 4, 5])[slice(first, last, step)]) for first in (None, 1, -2, 7) for last "
        "in (None, 3, -1) for step in (None, 2, -1, 0)]",
    "shapes":
        "[tl.core._unwrap_shape([tl.constexpr(4), 8]), tl.core._unwrap_iterable([(1, 2)]), tl.core._unwrap_iterable("
        "[[1], 2]), "
        "tl.core._wrap_axis(-1, 3)]",
    "configurations":
        "str(triton.Config({'BLOCK': 16}, num_warps=8, num_stages=2, num_ctas=1, maxnreg=64).all_kwargs())",
    "equal configurations":
        "[one == other for some in [[triton.Config({'A': 1}, **more) for more in ({}, {'num_warps': 8}, {'pre_hook': "
        "len}, {'maxnreg': 8}, {'ir_override': 'a'})]] for one in some for other in some]",
    "an aggregate":
        "[Loose(tl.constexpr(3), 'one', 'two').one, "
        "Loose(one=tl.constexpr(1), first='two', second='one').two]",
    "fields of an aggregate":
        "[Fields(tl.constexpr(1)).two, "
        "Fields(one=tl.constexpr(2), two=tl.constexpr(3)).one, Fields(4, 5).two]",
    "helpers": "[triton.cdiv(17, 4), triton.next_power_of_2(17), triton.reinterpret(data, tl.int32).dtype]",
    "reinterpreted":
        "[(str(one.dtype), one.shape, one.stride(), one.element_size(), type(one.base).__name__, one.data_ptr() == "
        "whole.data_ptr()) for whole in [triton.reinterpret(data, tl.int32)] for one in [whole, whole.cpu(), "
        "whole.clone(), whole.to('cpu'), whole.to('meta'), whole.new_empty([3])]]",
    "views of layouts":
        "[one.format_tensor_view([16, 32]) + one.format_hardware_view([16, 32]) for one in (blocked, mma)]",
    "views of clusters":
        "[counted(one.format_tensor_view([16, 16]) + one.format_hardware_view([16, 16])) for bases in [[[1, 0]]] for "
        "made in [gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8], bases)] for one in (made, gl.DotOperandLayout(1, "
        "made, 2), gl.SwizzledSharedLayout(1, 1, 4, [1, 0], bases), gl.DistributedLinearLayout([[0, 1]], [[0, 2], [0, "
        "4], [0, 8], [2, 0], [4, 0]], [[8, 0]], bases, [16, 16]))]",
    "outside of a kernel": "[refused(lambda: gl.arange(0, 8, blocked, **more)) for more in ({}, {'_semantic': None})]",
    "a block outside of a kernel":
        "[refused(lambda: tl.arange(0, 8)), refused(lambda: tl.zeros([8], tl.int32)), refused(lambda: tl.arange(0, 8, "
        "_semantic=None))]",
    "a copy outside of a kernel": "refused(lambda: gl.allocate_shared_memory(gl.float32, [8], swizzled))",
    "warps of operands": "layouts.warps_per_cta(gl.DotOperandLayout(1, mma, 2), [16, 32])",
    "chips told apart":
        "[(name, refused(lambda: getattr(tl.target_info, name)(*more))) for target in (None, ('x', 'gfx942'), *(("
        "'cuda', one) for one in (80, 89, 90, 100, 103)), *(('hip', one) for one in ('gfx942', 'gfx950', 'gfx1250', "
        "'gfx1250-strict'))) for _ in [setattr(tl.target_info, 'current_target', lambda: target and GPUTarget("
        "*target, 32))] for name in dir(tl.target_info) if name[:2] in ('cu', 'is') for more in ((), (9,), (8, 9), ("
        "10, 3), (9, 10))]",
    "instrumentation":
        "[(refused(lambda: getattr(triton._instrumentation, name)(point=point, backend='b', **more)), str(heard)) for "
        "heard in [[]] for name, more in (('instrument', {}), ('register_instrumentation', {'callback': lambda *some: "
        "heard.append((point, some))}), ('register_instrumentation', {'callback': len}), ('instrument', {'context': 3"
        "}), ('unregister_instrumentation', {}), ('instrument', {})) for point in ('a', 'load-dialects')]",
    "target": "GPUTarget('cuda', 90, 32)",
    "least of a float": "tl.bfloat16.get_int_min_value()",
    "most of a float": "tl.float32.get_int_max_value()",
    "names in code":
        "[one.codegen_name() for one in (tl.bfloat16, tl.float8e5, tl.int1, tl.float16, tl.pointer_type(tl.float16))]",
    "no block": "tl.block_type(tl.int32, [])",
    "integers by width":
        "[tl.core.get_int_dtype(width, signed) for width in (1, 8, 16, 32, 64) for signed in (True, False)]",
    "an aggregate of tuples":
        "[refused(lambda: (one.both, one.both.type, one.both.b)) for one in (Tupled((1, (2, 3))), Tupled("
        "both=tl.tuple([1])), Tupled(collections.namedtuple('Two', 'a b')(1, (2, 3))))]",
    "an aggregate of a class": "tl.core._aggregate(type('Derived', (int,), {}))",
    "a default that is called":
        "tl.core._aggregate(type('Odd', (), {'__annotations__': {'one': tl.constexpr}, '__module__': 'builtins', "
        "'one': len}))(3).one",
    "every aggregate":
        "[refused(lambda: [(name, getattr(value, name, 0)) for value in [one(*given, **more)] for name in ('one', "
        "'two', 'three', 'four', 'both')]) for one in AGGREGATES for given in ((), (1,), (1, 2), (1, 2, 3), ((1, 2), "
        "3, 4, 5)) for more in ({}, {'one': 8}, {'two': 8}, {'three': 8, 'two': 9}, {'none': 8})]",
    "every aggregate replaced":
        "[refused(lambda: [(name, getattr(value, name, 0)) for value in [tl.core.aggregate_replace(one(*given), **more"
        ")] for name in ('one', 'two', 'three', 'four')]) for one in AGGREGATES for given in ((1,), (1, 2, 3)) "
        "for more in ({}, {'one': 8}, {'three': 8, 'two': 9}, {'none': 8})]",
    "a field set": "setattr(Fields(1), 'one', tl.constexpr(3))",
    "a field that is none": "setattr(Fields(1), 'three', tl.constexpr(3))",
    "no bases":
        "[layouts.bases_per_dim([], 2), layouts.bases_per_dim([[0, 1], [0, 0]], 2, skip_broadcast=False), "
        "layouts.bases_per_dim(bases=[[2], [0]], rank=1)]",
    "warps of bases":
        "layouts.warps_per_cta(gl.DistributedLinearLayout([[1]], [[2], [4], [8], [16], [32]], [[64], [0]], [], "
        "[128]), [128])",
    "clusters of slices":
        "[(one.cga_layout, made.cga_layout, one.rank, one.mangle()) for bases in ([], [[0, 1], [1, 0]]) for made in ("
        "gl.BlockedLayout([1, 2], [4, 8], [2, 2], [1, 0], bases), gl.NVMMADistributedLayout([2, 0], [2, 2], [16, 8], "
        "bases)) for side in (0, 1) for one in (gl.SliceLayout(side, made), gl.DotOperandLayout(side, made, 2))]",
    "bytes of clusters":
        "[refused(lambda: gl.shared_memory_descriptor_type(gl.float16, [64, 64], made, [64, 64]).nbytes_per_cta) for "
        "bases in ([], [[1, 0]], [[0, 1]], [[1, 0], [0, 1]], [[0, 1], [1, 0]], [[1, 0], [2, 0]], [[0, 0], [0, 1]], "
        "[[1, 0], [2, 0], [4, 0]], [[0, 1], [0, 2], [1, 0], [0, 4]]) for made in (gl.NVMMASharedLayout(128, 16, 2, "
        "cga_layout=bases), gl.SwizzledSharedLayout(1, 1, 1, [1, 0], bases), gl.SharedLinearLayout([[0, 1], [1, 0]], "
        "[[16 * one for one in base] for base in bases]))]",
    "tiled and padded":
        "Tiled(torch.zeros(8192, dtype=torch.uint8), [32, 128], [128, 1], [16, 64], gl.NVMMASharedLayout(128, 8, 2, "
        "fp4_padded=True)).layout",
    "descriptor of no data":
        "[refused(lambda: TensorDescriptor(one, [32, 32], [32, 1], [16, 16]).shape) for one in "
        "(torch._subclasses.FakeTensorMode().from_tensor(data), data[2:], type('FunctionalTensor', (Given,), "
        "{})(data_ptr=lambda: 1, dtype=data.dtype))]",
    "types in texts":
        "[compiler.convert_type_repr(one) for one in ('!tt.ptr<f32>', '!tt.ptr<f32> {tt.nv_tma_desc = 1 : i32}', "
        "'i32 {tt.divisibility = 16}', '!tt.ptr<!tt.ptr<f16>>')]",
    "types of arguments":
        "[jit._normalize_ty(one) for one in ('*i32', 'const float32*', 'tl.int64', tl.pointer_type(tl.float16), "
        "tl.uint8, float, bool, 3)]",
    "a constant parameter":
        "[jit.KernelParam(0, inspect.Parameter('a', inspect.Parameter.KEYWORD_ONLY, annotation=one), False, "
        "False).is_const for one in (tl.constexpr, 'const i32*', '*k fp32', 'i32')]",
    "arguments bound by type":
        "[refused(lambda: jit.create_function_from_signature(inspect.Signature([one]), [jit.KernelParam(0, one, plain, "
        "aligned)], compiler.make_backend(GPUTarget('cuda', 90, 32)))(value)[1]) for kind in (inspect.Parameter.empty, "
        "'i32', 'u1', 'bf16', 'fp32', '*fp16', 'const *i8', 'u64', tl.constexpr) for one in [inspect.Parameter('a', "
        "inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)] for plain in (False, True) for aligned in (False, "
        "True) for value in (1, 5, 16, 2**31, 2**63, 1.5, True, None, data, data[1:], (16, 1.0))]",
    "targets in other forms":
        "[refused(lambda: compiler.make_backend(GPUTarget(name, arch, width)).target) for name in ('cuda', 'hip', 'x') "
        "for arch in (90, '90', 90.0, None) for width in (32, '32')]",
    "functions in keys":
        "[type(one).__name__ for one in jit._replace_jit_callables([tl.sum, (tl.max, 3), "
        "collections.namedtuple('Both', 'a b')(tl.sum, 4), [tl.min]])]",
    "decorated":
        "[(type(made).__name__, [(name, getattr(made, name)) for name "
        "in ('version', 'debug', 'noinline', 'do_not_specialize', 'do_not_specialize_on_alignment', 'launch_metadata', "
        "'arg_names', 'constexprs', 'kwargs', '__name__') if hasattr(made, name)], [(one.num, one.name, "
        "one.do_not_specialize, one.do_not_specialize_on_alignment) for one in getattr(made, 'params', [])]) "
        "for way in (True, False) for _ in [setattr(triton.knobs.runtime, 'interpret', way)] for more in "
        "({}, {'version': 3, 'do_not_specialize': ['x', 1]}, "
        "{'do_not_specialize_on_alignment': ['div', 0], 'debug': True}, {'noinline': True, 'launch_metadata': len, "
        "'repr': len}) for jitting in (triton.jit, triton.experimental.gluon.jit) for made in [jitting(**more)("
        "tl.cdiv.fn)]]",
    "types compared":
        "[(type(one).__name__, str(one), refused(lambda: one.mangle()), refused(lambda: one.nbytes_per_cta), "
        "''.join(str(int(one == other)) + str(int(one != other)) + str(int(getattr(one, '__neq__', lambda some: 2)("
        "other))) for other in TYPES)) for one in TYPES]",
    "members of types":
        "[refused(lambda: pairs[index]) for index in (0, 1, 2, -1)] + [refused(lambda: one.scalar) for one in TYPES]",
    "names that policies and layouts have":
        "[(one.mangle(), str(one.type)) for one in (CachePolicy('ca'), CachePolicy('ca', l2_prefetch_size=64), "
        "blocked, gl.SliceLayout(1, blocked), gl.AutoLayout(), gl.CoalescedLayout(), mma, swizzled, "
        "gl.PaddedSharedLayout.with_identity_for([[64, 8]], [8, 8], [0, 1]), "
        "gl.BlockedLayout([1], [32], [4], [0], [[1], [2]]), gl.SwizzledSharedLayout(1, 1, 1, [0], [[1]]), "
        "gl.NVMMASharedLayout(64, 8, 2, cga_layout=[[1, 0]]), gl.CachePolicy('none', 'evict_first'))]",
    "parameters":
        "[(one.name, one.is_constexpr, one.is_const, one.has_default, str(one.default), one.annotation, "
        "one.annotation_type) for made in (tl.cdiv, tl.sum, tl.topk, tl.philox) for one in made.params]",
    "sources of functions":
        "[(refused(lambda: setattr(made, 'src', 'def f(): pass')), made._unsafe_update_src('def cdiv(x, div): pass'), "
        "made.hash, made.src, str(made), made.cache_key is None) for made in [triton.jit(tl.cdiv.fn)]]",
    "arrays that stand in":
        "[(one.stride(), one.data_ptr(), one.ptr_range(), one.shape, str(one.dtype)) for one in (jit.MockTensor("
        "torch.float32), jit.MockTensor(torch.int8, [3, 4, 5]), jit.MockTensor.wrap_dtype(torch.int8))] + "
        "[jit.MockTensor.wrap_dtype(3), str(triton.reinterpret(data[:2], tl.int32)), "
        "triton.reinterpret(torch.ones(2), tl.int32).copy_(triton.reinterpret(data[:2], tl.int32))]",
    "where functions begin":
        "[jit.get_def_col_number('    def f():'), jit.get_def_line_number(['@triton.jit', 'def f():'], 5)]",
    "no function begins": "jit.get_def_col_number('lambda: 3')",
    "reinterpreted twice":
        "[type(triton.reinterpret(triton.reinterpret(data, tl.int32), data.dtype)).__name__, "
        "triton.reinterpret(triton.reinterpret(data, tl.int32), tl.uint8).dtype]",
    "stages read":
        "[type(compiler.parse(os.devnull, kind, compiler.ir.context())).__name__ for kind in 'ttir glir ttgir llir "
        "ptx amdgcn cubin hsaco json'.split()]",
    "places of errors":
        "[refused(lambda: str(triton.compiler.errors.CompilationError(text, node, 'told'))) for text in (None, '', "
        "'\\n'.join('abcdefghijklmno')) for node in (ast.Pass(), *(ast.Pass(lineno=line, col_offset=2) for line in "
        "(0, 1, 14)))]",
    "arguments bound":
        "[refused(lambda: jit.create_function_from_signature(kind, [jit.KernelParam(0, one, False, False) for one in "
        "kind.parameters.values()], nvidia.CUDABackend)(*given, **more)) for call in (lambda a, *, b=3, c: 0, lambda "
        "a, *b, c=4: 0) for kind in [inspect.signature(call)] for given in ((1,), (1, 2, 16)) for more in ({}, {'c': "
        "5}, {'b': 6, 'c': 7})]",
    "functions of constants":
        "[refused(lambda: triton.cdiv(tl.constexpr(7), y=2, _semantic=one)) for triton.knobs.runtime.interpret in "
        "(True, False) for one in (None, 0)]",
    "compilers of C":
        "[mock.patch.dict(os.environ, own, clear=True)(mock.patch.object(build.shutil, 'which', {one: one for one in "
        "there.split()}.get)(lambda: refused(lambda: build._find_compiler.__wrapped__(kind))))() for own in ({}, "
        "{'CC': 'own', 'CXX': 'own++'}, {'CC': '', 'CXX': ''}) for there in ('', 'gcc g++', 'clang clang++', 'gcc g++ "
        "clang clang++') for kind in ('c', 'c++')]",
    "commands of C":
        "[mock.patch.multiple(build.sysconfig, get_default_scheme=lambda: scheme, get_paths=lambda scheme: "
        "{'include': scheme})(mock.patch.object(build, '_find_compiler', str)(mock.patch.object(build, "
        "'subprocess')(lambda process: refused(lambda: build._build('a', 'a.c', 'd', ['l'], ['i', None], ['cuda', "
        "'x.so.1.2', 'y.a'], ['-g'], kind) and [one for one in process.check_call.call_args[0][0] if '/' not in one] "
        "+ [process.check_call.call_args[1]['stdout'] is process.DEVNULL]))))() for kind, scheme in (('c', "
        "'posix_local'), ('c++', 'venv'))]",
    "C compiled":
        "[(len(asked), str(asked[-1:]), refused(lambda: os.path.basename(getattr(build, 'compile_' + kind)(given, "
        "name + kind[0], **more)))) for asked in [[]] for triton.knobs.build.impl in [lambda *given: "
        "asked.append(given[3:]) or os.devnull] for build._load_module_from_path in [lambda name, path: path + name] "
        "for kind, given in (('so_from_src', ''), ('so_from_src', 'int'), ('module_from_src', 'a'), *((one, "
        "nvidia.__file__.replace('compiler.py', 'driver.c')) for one in ('so_from_file', 'module_from_file'))) for "
        "name in 'ab' for more in ({}, {}, *({one: ['x']} for one in ('library_dirs', 'include_dirs', 'libraries', "
        "'ccflags')), {'language': 'c++'})]",
    "groups of files":
        "[[*(refused(lambda: make('k')._redis) for make in (cache.RedisRemoteCacheBackend, "
        "cache.RemoteCacheManager))] + [[*made(lambda: str(getattr(one, "
        "name)(*given)).replace(triton.knobs.cache.dir, ''), lambda: str(one._backend._redis))] for "
        "triton.knobs.cache.redis in [triton.knobs.redis] for triton.knobs.cache.remote_manager_class in "
        "(type('Far', (dict,), {'__init__': lambda self, key: None, 'get': lambda self, keys: {one: self[one] for "
        "one in keys if one in self}, 'put': dict.__setitem__}), cache.RedisRemoteCacheBackend, None) for make in "
        "(cache.FileCacheManager, cache.RemoteCacheManager) for one in made(lambda: make('k')) for name, *given in "
        "(('put', '{\"a\": 1}', '__grp__x'), ('get_group', 'x'), ('put', '[', '__grp__x'), ('get_group', 'x'), "
        "('put', b'1', 'y'), ('put_group', 'g', {'y': '/', '__grp__x': '/'}), ('get_group', 'g'), ('get_file', "
        "'z'))] for __import__('sys').modules['redis'] in [Given(Redis=type('Redis', (dict,), {'mget': lambda self, "
        "keys: [self.get(one) for one in keys], 'set': dict.__setitem__}))]]",
    "backends found":
        "[sorted(map(str, triton.backends._discover_backends().items())) for way in '10' for _ in "
        "[os.environ.update(TRITON_BACKENDS_IN_TREE=way)]] + [refused(lambda: "
        "triton.backends._find_concrete_subclasses(type('Of', (), {one.__name__: one for one in some}), "
        "nvidia.BaseBackend)) for some in ([int], [nvidia.CUDABackend], [nvidia.CUDABackend, type('Own', "
        "(nvidia.CUDABackend,), {})])]",
    "compiled beside each other":
        "[(mode.__enter__() is mode, refused(mode.__enter__), futures[0] is futures[2], [one.result() for one in "
        "futures[:3]], mode.__exit__(0, 0, 0), sorted(told)) for told in [[]] for mode in "
        "[triton.AsyncCompileMode(__import__('concurrent.futures').futures.ThreadPoolExecutor(1))] for futures in "
        "[[mode.submit(key, key.upper, told.append, print) for key in 'abac']]]",
    "PTX of chips":
        "[refused(lambda: (nvidia.llvm.init_targets(), nvidia.CUDABackend(GPUTarget('cuda', chip, "
        "32)).make_ptx('define ptx_kernel void @one() { ret void }', about, nvidia.CUDAOptions(ptx_version=88), "
        "chip), about)) for chip in (75, 90, 100, 107) for about in [{}]]",
    "tuners that prune":
        "[refused(lambda: [one.num_warps for one in made.prune_configs({})]) for top in (0.5, 0.1, 3, 9, None) for "
        "cut in (4, 9) for made in [triton.autotune([triton.Config({}, num_warps=1 << k) for k in range(8)], [], "
        "prune_configs_by={'early_config_prune': lambda some, named, **more: some[:cut], 'perf_model': lambda "
        "num_warps, **more: -num_warps, **({'top_k': top} if top else {})})(tl.cdiv)] for made.nargs in [{}]]",
    "tuners made":
        "[refused(lambda: (one.cache_results, one.reset_to_zero, one.restore_value)) for "
        "triton.knobs.runtime.interpret in (True, False) for more in ({'cache_results': True}, {'reset_to_zero': "
        "('x',), 'restore_value': ('div',)}) for one in [triton.autotune([triton.Config({})], ['x'], "
        "**more)(tl.cdiv)]]",
    "numbers in the environment":
        "[triton.knobs.toenv(one) for one in (None, True, False, 3, 'a', 1.5, type('Count', (int,), {})(4))]",
    "classes in the environment":
        "[(text, kind, refused(lambda: reading(triton.knobs.env_class.get, triton.knobs.env_class('K', kind), getenv="
        "lambda key: text))) for text in ('collections', 'collections:OrderedDict', 'collections:abc:Set', "
        "'nothing:One') for kind in ('OrderedDict', 'dict', 'list')]",
    "texts in the environment":
        "[reading(triton.knobs.env_str_callable_default.get, triton.knobs.env_str_callable_default('K', list), getenv="
        "lambda key: text) for text in (None, '', 'a')]",
    "tools that say their release":
        "[(refused(lambda: reading(triton.knobs.NvidiaTool.from_path.__wrapped__, 'x', subprocess=asked)), "
        "asked.check_output.call_args) for said in (b'release 12.10, V12', b'release of nothing', KeyError(), "
        "FileNotFoundError(), PermissionError()) for asked in [mock.Mock(CalledProcessError=KeyError, STDOUT=1, "
        "DEVNULL=2, check_output=mock.Mock(side_effect=[said]))]]",
    "times of compiling":
        "[(one.total_lowering, one.total) for one in [triton.knobs.CompileTimes(1, [('ttir', 20), ('ptx', 300)], "
        "4000)]]",
    "folders of builds":
        "[sorted(type(triton.knobs.build).backend_dirs.fget(Given(cudacrt_path=a, cudart_path=b))) for a in (None, '', "
        "'c') for b in (None, 'd')]",
    "knobs read again":
        "[(a.debug, b.instrumentation_mode) for a, b in [(Given(), Given())] for read in [lambda *one: Given(get="
        "lambda: one)] for _ in [reading(triton.knobs.refresh_knobs, runtime=a, compilation=b, env_bool=read, "
        "env_str=read)]]",
    "knobs in the environment":
        "[os.environ.get('USE_IR_LOC') for triton.knobs.propagate_env in (False, True) for "
        "triton.knobs.compilation.use_ir_loc in ('ttir', None)]",
    "allocators of profilers":
        "[(some.has_profile_allocator(), refused(lambda: some._profile_allocator(1, 2, 3))) for some in "
        "[triton.runtime._allocation] for one in (lambda *given: given, None) for _ in "
        "[some.set_profile_allocator(one)]]",
    "libraries of chips":
        "[(name, refused(lambda: getattr(library, name)(*range(count), _semantic=0) and asked.mock_calls)) for library "
        "in (cuda.libdevice, hip.libdevice) for name in sorted(vars(library)) if name[0] != '_' for count in (1, 2, 3) "
        "for asked in [mock.Mock()] for library.core.extern_elementwise in [asked]]",
    "threads of chips":
        "[(name, refused(lambda: (getattr(part, name)(_semantic=one), asked.mock_calls))) for part in (cuda, hip) for "
        "name in ('smid', 'num_threads', 'num_warps', 'memrealtime') for arch in ('gfx942', 'gfx1100', 'gfx1250', 'x') "
        "for one in [Given(builder=Given(options=Given(arch=arch, num_warps=2, warp_size=32)))] for asked in ["
        "mock.Mock()] for tl.core.inline_asm_elementwise in [asked]]",
    "targets of translators":
        "[(one, refused(lambda: [getattr(kind(one), name) for name in ('is_amd', 'is_nvidia', 'helpers_module', "
        "'tensor_descriptor_import')])) for kind in [__import__('triton.tools.triton_to_gluon_translator.target', "
        "fromlist='x').TranslatorTarget] for one in (*kind.__members__.values(), 'sm90', 'gfx1100')]",
    "kernels as their tests parse them":
        "[refused(lambda: counted(tests.run_parser(one, given, **more).str_nodebug().splitlines())) for tests in "
        "[__import__('triton._filecheck', fromlist='x')] for one in (tl.cdiv, "
        "triton.experimental.gluon.jit(tl.cdiv.fn)) for given in ((5, 16), (1,)) for more in ({}, {'kwargs': "
        "{'sanitize_overflow': True, 'debug': True}}, {'kwargs': {'num_warps': 2, 'div': 1}}, {'target': "
        "GPUTarget('hip', 'gfx942', 64)}, {'target': GPUTarget('x', 90, 32)})] + [str(refused(lambda: "
        "triton._filecheck.run_filecheck('', 'a', '// CHECK: ' + one)))[:10] for one in 'ab'] + "
        "[str(triton._filecheck.MatchError('a', 'b'))]",
    "limits of blocks":
        "[refused(lambda: triton._utils.validate_block_shape(one)) for one in ([1 << 20], [1024, 1024], [1 << 21], [], "
        "[0], [3], [2.0])]",
    "switches of AMD":
        "[(chip, switch, name, refused(lambda: getattr(amd, name)(chip, *more))) for switch in (None, False, True) for "
        "triton.knobs.amd.use_async_copy, triton.knobs.amd.use_block_pingpong, "
        "triton.knobs.amd.use_in_thread_transpose, triton.knobs.amd.use_coexec_scheduler, "
        "triton.knobs.amd.use_expert_scheduling in [(switch,) * 5] for chip in ('gfx90a', 'gfx942', 'gfx950', "
        "'gfx1100', 'gfx1150', 'gfx1170', 'gfx1201', 'gfx1250') for name, more in (*((one, ()) for one in ("
        "'is_async_copy_enabled', 'is_in_thread_transpose_enabled', 'is_coexec_scheduler_enabled', "
        "'is_expert_scheduling_enabled', 'get_llvm_flags', 'is_fpsan_supported', 'is_consan_supported')), "
        "('is_pingpong_schedule_enabled', [True]), ('is_pingpong_schedule_enabled', [False]))]",
    "pointers of AMD":
        "[refused(lambda: amd.HIPBackend.get_tensor_specialization(one, align=True)) for "
        "triton.knobs.amd.use_buffer_ops in (True, False) for size in (2**29 - 1, 2**29, 2**31 - 1, 2**31) for whole "
        "in [torch.empty(size, device='meta')] for one in (whole, whole[1:], Given(data_ptr=int, ptr_range="
        "whole.numel))] + [amd.HIPBackend.parse_attr(one) for one in ('', 'D', 'S', 'DS')]",
    "tensor memory of chips":
        "[refused(lambda: compiler.CompiledKernel._init_handles(mock.MagicMock(module=None, "
        "metadata=mock.MagicMock(shared=1, tmem_size=size, num_warps=4, warp_size=32, target=GPUTarget('cuda', chip, "
        "32))))) for chip in (100, 107) for size in (None, 512, 513, 576, 577)]",
}



@cache
def meant() -> dict[str, str]:
    """What the names are called in Triton that are imported as others."""
    return {one.asname: one.name for node in ast.walk(ast.parse(HEAD)) if isinstance(node, ast.Import | ast.ImportFrom)
            for one in node.names if one.asname}


def told(name: str) -> str:
    """The text of an expression, with its own name and what the names in it are called in Triton."""
    names = {node.id for node in ast.walk(ast.parse(EXPRESSIONS[name])) if isinstance(node, ast.Name)}
    return f"{EXPRESSIONS[name]}  # {name}: {' '.join(meant()[one] for one in meant() if one in names)}"


REFUSED = ("least of a float", "most of a float", "no block", "an aggregate of a class", "a field set",
           "a field that is none", "tiled and padded", "no function begins")
"""Those that are refused as they are."""
