"""The judge's measure against tridiff.oracles.compare and exact rationals, in the interpreter."""

from fractions import Fraction

import numpy as np
import torch
import triton
import triton.language as tl

from tridiff.fuzz.interpreter import install
from tridiff.fuzz.sweep import execute
from tridiff.fuzz.sweep.boxes import boxes
from tridiff.fuzz.sweep.execute import Judge
from tridiff.fuzz.sweep.records import SweepSpec
from tridiff.fuzz.sweep.source import IN_INTERPRETER, Shape
from tridiff.kernels.pointwise import judging
from tridiff.oracles import exact
from tridiff.oracles.arrays import array_of_bits, to_torch
from tridiff.oracles.by_numpy import conversions
from tridiff.oracles.compare import compare
from tridiff.oracles.dtypes import bits_dtype, dtype
from tridiff.oracles.rules import NUM, ULP
from tridiff.oracles.special_values import special_bits

TYPES = ("fp8e5", "bf16", "fp16", "fp32")


@triton.jit
def judge_kernel(pattern_ptr, reference_ptr, tolerance_ptr, code_ptr, error_ptr,
                 LANES: tl.constexpr, MANTISSA: tl.constexpr, EXPONENT: tl.constexpr, INFINITY: tl.constexpr,
                 HAS_INF: tl.constexpr, EXACT: tl.constexpr, SATURATES: tl.constexpr):
    lane = tl.arange(0, LANES)
    reference = tl.load(reference_ptr + lane)
    code, error = judging.judge_float(
        tl.load(pattern_ptr + lane), reference, tl.load(tolerance_ptr + lane), reference * 0.0,
        lane < 0, MANTISSA, EXPONENT, INFINITY, HAS_INF, EXACT, True, SATURATES)
    tl.store(code_ptr + lane, code)
    tl.store(error_ptr + lane, error)


@triton.jit
def decode_kernel(pattern_ptr, value_ptr, LANES: tl.constexpr, MANTISSA: tl.constexpr, EXPONENT: tl.constexpr,
                  INFINITY: tl.constexpr, HAS_INF: tl.constexpr):
    lane = tl.arange(0, LANES)
    value = judging.decode(tl.load(pattern_ptr + lane), MANTISSA, EXPONENT, INFINITY, HAS_INF)
    tl.store(value_ptr + lane, value)


def form(name: str) -> dict[str, object]:
    kind = dtype(name)
    return {"MANTISSA": kind.mantissa_bits, "EXPONENT": kind.exponent_bits, "INFINITY": kind.infinity_bits,
            "HAS_INF": kind.has_inf}


def judged(name: str, patterns, references, tolerance: float, *, exact_only: bool, saturates: int = 0):
    count = len(patterns)
    code, error = torch.zeros(count, dtype=torch.int32), torch.zeros(count)
    judge_kernel[(1,)](torch.from_numpy(patterns.astype(np.int64)), torch.from_numpy(references),
                       torch.full((count,), tolerance), code, error, LANES=count, EXACT=exact_only,
                       SATURATES=saturates, **form(name))
    return code.numpy(), error.numpy()


def pairs(name: str, seed: int):
    """Result patterns and fp64 references near them: special values crossed, then neighbours and ties."""
    generator = np.random.default_rng(seed)
    kind = dtype(name)
    special = np.array(list(special_bits(name)), dtype=np.uint64)
    values = array_of_bits(special.tolist(), name).astype(np.float64)
    crossed = np.repeat(special, len(special)), np.tile(values, len(special))
    random = generator.integers(0, 1 << kind.bits, 2500, dtype=np.uint64)
    at = array_of_bits(random.tolist(), name).astype(np.float64)
    step = np.abs(at) * kind.unit_roundoff + kind.smallest_subnormal / 2
    off = generator.choice([0.0, 0.5, 1.0, 1.0000001, 2.0, 2.5, 3.0, 4.0, 5.5], 2500)
    with np.errstate(all="ignore"):
        near = at + off * generator.choice([-1.0, 1.0], 2500) * step
    patterns, references = np.concatenate([crossed[0], random]), np.concatenate([crossed[1], near])
    size = 1 << (len(patterns).bit_length() - 1)
    chosen = generator.permutation(len(patterns))[:size]
    return patterns[chosen], references[chosen]


def identical(found, wanted):
    return (found == wanted) & (np.signbit(found) == np.signbit(wanted)) | (np.isnan(found) & np.isnan(wanted))


def check_nearest_values_are_told_from_others():
    for name in TYPES[1:]:
        patterns, references = pairs(name, 1)
        code, _ = judged(name, patterns, references, 0.5, exact_only=True)
        actual = to_torch(patterns.astype(bits_dtype(name)).view(array_of_bits([0], name).dtype))
        wanted = compare(actual, to_torch(conversions.convert(references, to=name)), NUM).mismatch.numpy()
        assert ((code != 0) == wanted).all(), (name, patterns[(code != 0) != wanted][:4],
                                               references[(code != 0) != wanted][:4], code[(code != 0) != wanted][:4])
        assert wanted.any() and not wanted.all()


def check_tolerances_agree_with_the_oracles_except_across_binades():
    for name in TYPES[1:]:
        patterns, references = pairs(name, 2)
        code, _ = judged(name, patterns, references, 2.5, exact_only=False)
        bits = patterns.astype(bits_dtype(name)).view(array_of_bits([0], name).dtype)
        rule = ULP(2, origin="a test")
        wanted = compare(to_torch(bits), to_torch(references), rule).mismatch.numpy()
        wrong = (code != 0) & (code != 9)
        differ = wrong != wanted
        # The oracle's ulp is that of the reference's binade; on the ordered line both binades count.
        boundary = np.abs(np.log2(np.abs(references[differ])) % 1 - 0.5) > 0.49 - 4 * dtype(name).unit_roundoff
        largest = np.abs(references[differ]) >= float(dtype(name).max)
        assert (boundary | largest).all(), (name, patterns[differ][:4], references[differ][:4])
        assert differ.mean() < 0.02 and wanted.any()


def check_errors_are_exact_distances():
    for name in ("bf16", "fp16", "fp32"):
        kind = dtype(name)
        patterns, references = pairs(name, 3)
        _, error = judged(name, patterns, references, 0.5, exact_only=False)
        checked = 0
        rows = list(zip(patterns.tolist(), references.tolist(), error.tolist(), strict=True))
        for pattern, reference, found in rows[:800]:
            top = exact.to_fraction(name, kind.infinity_bits - 1)
            if not np.isfinite(reference) or not exact.is_finite(name, pattern) or abs(Fraction(reference)) >= top:
                continue
            below = abs(Fraction(reference))
            steps = 0
            low = exact.round_fraction(name, below)
            if exact.to_fraction(name, low) > below:
                low -= 1
            width = exact.to_fraction(name, low + 1) - exact.to_fraction(name, low)
            position = low + (below - exact.to_fraction(name, low)) / width
            magnitude = pattern & ((1 << (kind.bits - 1)) - 1)
            negative = bool(pattern >> (kind.bits - 1))
            same = negative == (np.signbit(reference))
            steps = abs(magnitude - position) if same else magnitude + position
            assert abs(float(steps) - found) <= 1e-6 * max(1.0, float(steps)), (name, hex(pattern), reference)
            checked += 1
        assert checked > 300


def check_overflow_rules():
    big = np.array([57344.0, 61439.0, 61440.0, 1e9, np.inf, -np.inf, np.nan, 0.0] * 4)
    for name, value, saturates, right in (
        ("fp8e5", 0x7C, 0, [0, 0, 1, 1, 1, 0, 0, 0]), ("fp8e5", 0x7B, 0, [1, 1, 0, 0, 0, 0, 0, 0]),
        ("fp8e5", 0x7B, 2, [1, 1, 1, 1, 1, 0, 0, 0]), ("fp8e5", 0x7C, 2, [0, 0, 1, 1, 1, 0, 0, 0]),
        ("fp8e4nv", 0x7E, 1, [1, 1, 1, 1, 1, 0, 0, 0]), ("fp8e4nv", 0x7F, 1, [0, 0, 0, 0, 0, 0, 1, 0]),
    ):
        code, _ = judged(name, np.full(len(big), value), big, 0.5, exact_only=True, saturates=saturates)
        assert (code == 0).astype(int).tolist()[:8] == right, (name, hex(value), saturates, code[:8])


def check_classes():
    one = 0x3C00
    rows = [  # pattern, reference, class
        (0x7E00, 1.0, 3), (one, np.nan, 2), (0x7C00, 1.0, 4), (one, np.inf, 4), (0x8000, 0.0, 5), (0x0000, -0.0, 5),
        (0x0000, 2.0**-20, 6), (0x8000, -(2.0**-20), 6), (one + 4, 1.0, 1), (one, 1.0, 0), (0xFE00, np.nan, 0),
        (0x0000, -(2.0**-26), 5), (0xBC00, 1.0, 1), (0x0000, 2.0**-14, 1), (one + 2, 1.0, 9), (one + 1, 1.0, 0)]
    code, _ = judged("fp16", np.array([r[0] for r in rows]), np.array([r[1] for r in rows]), 2.5, exact_only=False)
    assert code.tolist() == [r[2] for r in rows]


def check_decoding_is_exact_for_every_pattern():
    for name in ("fp8e4nv", "fp8e5", "bf16", "fp16"):
        count = 1 << dtype(name).bits
        value = torch.zeros(count, dtype=torch.float64)
        decode_kernel[(1,)](torch.arange(count), value, LANES=count, **form(name))
        wanted = array_of_bits(range(count), name).astype(np.float64)
        found = value.numpy()
        same = identical(found, wanted)
        assert same.all(), (name, np.flatnonzero(~same)[:5])


@triton.jit
def round_kernel(value_ptr, out_ptr, LANES: tl.constexpr):
    lane = tl.arange(0, LANES)
    tl.store(out_ptr + lane, judging.round_to_fp32(tl.load(value_ptr + lane)))


def check_rounding_to_fp32():
    _, references = pairs("fp32", 4)
    out = torch.zeros(len(references), dtype=torch.float64)
    round_kernel[(1,)](torch.from_numpy(references), out, LANES=len(references))
    with np.errstate(all="ignore"):
        wanted = references.astype(np.float32).astype(np.float64)
    found = out.numpy()
    same = identical(found, wanted)
    assert same.all(), (references[~same][:5], found[~same][:5])


def check_many_small_programs_find_what_one_large_one_finds():
    """The device's shape in small: several steps per program, several programs, runs across both."""
    install()
    for spec in (SweepSpec(op="sigmoid", dtypes=("bf16",), bits=16),
                 SweepSpec(op="floor_divide", dtypes=("i8", "i8"), bits=16, planted=0x2FFF)):
        found = []
        for shape in (IN_INTERPRETER, Shape(1024, 16, 512)):
            judge = Judge(spec, device="cpu", shape=shape)
            tally = judge.judge(0, judge.spans)
            runs, complete = judge.classify(tally.flagged, limit=1000)
            assert complete
            listed = {code: boxes(runs.of(code), judge.space)[1] for code in range(1, 8)}
            found.append((tally.counts.tolist(), tally.worst, tally.index, listed, runs.inputs))
        assert found[0] == found[1] and found[0][4] > 0


def check_a_class_with_too_many_runs_does_not_hide_the_others():
    install()
    judge = Judge(SweepSpec(op="to_fp8e5", dtypes=("bf16",), bits=16, nearest=True, planted=0xC000), device="cpu",
                  shape=Shape(256, 1, 512))
    tally = judge.judge(0, judge.spans)
    everything, complete = judge.classify(tally.flagged, limit=1 << 20)
    assert complete and everything.of(1).inputs == 1 and everything.of(4).inputs == 28_706
    # The planted input lies behind the positive overflows, whose runs (one per span of 256) exceed the limit.
    execute.CLASSIFIED_AT_ONCE = 1024
    few, complete = judge.classify(tally.flagged, limit=3)
    assert not complete and few.of(1).first.tolist() == [0xC000] and 3 < len(few.of(4)) < 10
    only, complete = judge.classify(tally.flagged, classes=(1,), limit=3)
    assert complete and only.inputs == 1


def check_a_tolerated_zero_for_a_subnormal_is_no_measured_error():
    # 2 subnormal steps of fp16: within 3 ulps; a zero for 5 is not, and is measured.
    patterns, references = np.array([0, 0, 2, 0x3C02]), np.array([2.0**-23, 5 * 2.0**-24, 2.0**-22, 1.0])
    code, error = judged("fp16", patterns, references, 3.0, exact_only=False)
    assert code.tolist() == [0, 6, 9, 9] and error.tolist() == [0, 5, 2, 2]
