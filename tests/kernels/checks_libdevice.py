"""Interpreted runs of the libdevice stand-ins."""

import importlib
from collections.abc import Callable
from math import sqrt
from typing import Any

import mpmath
import numpy as np
import torch
import triton.language as tl

from tests.kernels.driver_runs import INF, NAN
from tests.kernels.errors import error_of
from tests.kernels.libdevice_functions import FUNCTIONS, RESULTS
from tridiff.fuzz.interpreter.libdevice import stand_ins
from tridiff.kernels.helpers import libdevice as shim


def tensor(values: Any, dtype: Any = np.float32) -> Any:
    """An interpreter tensor of rank 1; its length is rounded up to a power of two with copies of the last value."""
    module = importlib.import_module("triton.runtime.interpreter")
    data = np.atleast_1d(np.asarray(values, dtype))
    data = np.pad(data, (0, (1 << (len(data) - 1).bit_length()) - len(data)), mode="edge")
    names = {"float32": tl.float32, "float64": tl.float64, "float16": tl.float16, "int32": tl.int32, "int64": tl.int64}
    element = names[data.dtype.name]
    return tl.tensor(module.TensorHandle(data, element), tl.block_type(element, [len(data)]))


def call(name: str, *operands: Any, dtype: Any = np.float32) -> np.ndarray:
    """A stand-in on arrays."""
    wrapped = [x if isinstance(x, tl.tensor) else tensor(x, dtype) for x in operands]
    result: np.ndarray = getattr(shim, name)(*wrapped).handle.data
    return result[: len(operands[0])]


UNARY: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "acos": (mpmath.acos, -1, 1), "acosh": (mpmath.acosh, 1, 1e6), "asin": (mpmath.asin, -1, 1),
    "asinh": (mpmath.asinh, -1e6, 1e6), "atan": (mpmath.atan, -50, 50), "atanh": (mpmath.atanh, -0.999, 0.999),
    "cos": (mpmath.cos, -100, 100), "cosh": (mpmath.cosh, -80, 80), "erf": (mpmath.erf, -4, 4),
    "erfc": (mpmath.erfc, -4, 9), "erfcx": (lambda x: mpmath.exp(x * x) * mpmath.erfc(x), -4, 50),
    "erfinv": (mpmath.erfinv, -0.999, 0.999), "exp": (mpmath.exp, -80, 80),
    "exp2": (lambda x: mpmath.mpf(2) ** x, -120, 120),
    "expm1": (mpmath.expm1, -10, 80), "j0": (lambda x: mpmath.besselj(0, x), -30, 30),
    "j1": (lambda x: mpmath.besselj(1, x), -30, 30), "y0": (lambda x: mpmath.bessely(0, x), 0.01, 30),
    "y1": (lambda x: mpmath.bessely(1, x), 0.01, 30), "cyl_bessel_i0": (lambda x: mpmath.besseli(0, x), -50, 50),
    "cyl_bessel_i1": (lambda x: mpmath.besseli(1, x), -50, 50),
    "lgamma": (lambda x: mpmath.log(abs(mpmath.gamma(x))), -20.3, 100), "log": (mpmath.log, 1e-30, 1e30),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), 1e-3, 1e30), "log1p": (mpmath.log1p, -0.999, 1e6),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), 1e-3, 1e30), "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 1e-30, 1e30),
    "sin": (mpmath.sin, -100, 100), "sinh": (mpmath.sinh, -80, 80), "sqrt": (mpmath.sqrt, 0, 1e30),
    "tan": (mpmath.tan, -1.5, 1.5), "tanh": (mpmath.tanh, -10, 10)}
BINARY: dict[str, tuple[Callable[[Any, Any], Any], float, float]] = {
    "atan2": (mpmath.atan2, -10, 10), "hypot": (mpmath.hypot, -1e6, 1e6), "pow": (mpmath.power, 0.01, 20)}


def rounded(value: Any) -> np.float32:
    """The nearest fp32 to an mpmath number (40 digits), ties to even."""
    bits = mpmath.mpf(value)
    mantissa, exponent = mpmath.frexp(bits)
    digits = 24 if exponent > -126 else 24 - (-125 - exponent)
    scaled = mpmath.nint(mantissa * mpmath.mpf(2) ** digits)  # nint rounds ties to even
    return np.float32(float(scaled * mpmath.mpf(2) ** (exponent - digits)))


def check_fp32_results_are_correctly_rounded():
    random = np.random.default_rng(1)
    with mpmath.workdps(40):
        for name, (exact, low, high) in UNARY.items():
            x = random.uniform(low, high, 300).astype(np.float32)
            expected = np.array([rounded(exact(mpmath.mpf(float(v)))) for v in x])
            assert np.array_equal(call(name, x), expected), name
        for name, (exact_2, low, high) in BINARY.items():
            x, y = (random.uniform(low, high, 300).astype(np.float32) for _ in range(2))
            y = np.clip(y, -8, 8) if name == "pow" else y
            pairs = [(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(x, y, strict=True)]
            expected = np.array([rounded(exact_2(a, b)) for a, b in pairs])
            assert np.array_equal(call(name, x, y), expected), name


def check_fp64_results_have_relative_errors_below_2_to_the_minus_46():
    random = np.random.default_rng(2)
    with mpmath.workdps(40):
        for name, (exact, low, high) in UNARY.items():
            x = random.uniform(low, high, 100)
            values = [exact(mpmath.mpf(float(v))) for v in x]
            got = call(name, x, dtype=np.float64)
            # Next to a zero of the function the argument decides: measure against the larger of result and
            # argument.
            oscillates = name in ("lgamma", "j0", "j1", "y0", "y1", "tan", "sin", "cos")
            for g, v, a in zip(got, values, x, strict=True):
                error = float(abs(mpmath.mpf(float(g)) - v)) / max(abs(float(v)), abs(a) if oscillates else 0.0)
                assert error < 2.0**-46, (name, a, error * 2.0**53)


def check_exact_functions_on_every_kind_of_number():
    for dtype, torch_dtype in ((np.float32, torch.float32), (np.float64, torch.float64)):
        info = np.finfo(dtype)
        least, most = info.smallest_subnormal, info.max
        numbers = np.array([0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 2.0**22 + 0.5, -7.75, 1e30, info.tiny, least, -least,
                            most, -most, INF, -INF, NAN, -NAN], dtype)
        other = np.roll(numbers, 5)
        x, y = torch.from_numpy(numbers), torch.from_numpy(other)
        for name, expected in {
            "abs": x.abs(), "ceil": x.ceil(), "floor": x.floor(), "trunc": x.trunc(), "nearbyint": x.round(),
            # Of fp64 torch's own is one step off on some processors.
            "sqrt": torch.tensor([sqrt(one) if one >= 0 else NAN for one in numbers.astype(np.float64)],
                                 dtype=torch.float64),
            "copysign": torch.copysign(x, y), "fmod": torch.fmod(x, y),
            "nextafter": torch.nextafter(x, y), "ldexp": torch.ldexp(x, torch.tensor(3, dtype=torch.int32)),
        }.items():
            second = {"copysign": [other], "fmod": [other], "nextafter": [other],
                      "ldexp": [tensor(np.full(len(numbers), 3), np.int32)]}.get(name, [])
            got = call(name, numbers, *second, dtype=dtype)
            assert got.dtype == dtype
            wanted = expected.to(torch_dtype).numpy()
            same = (got == wanted) & (np.signbit(got) == np.signbit(wanted)) | np.isnan(got) & np.isnan(wanted)
            assert same.all(), (name, dtype, numbers[~same], got[~same], wanted[~same])
        assert call("isnan", numbers, dtype=dtype).tolist() == x.isnan().tolist()
        assert call("isinf", numbers, dtype=dtype).tolist() == x.isinf().tolist()
        assert call("signbit", numbers, dtype=dtype).tolist() == x.signbit().int().tolist()
    assert call("abs", [-5, -(2**31)], dtype=np.int32).tolist() == [5, -(2**31)]


# function, arguments, result: the special cases of the CUDA math API, plus those C99 prescribes.
SPECIAL: tuple[tuple[str, tuple[float, ...], float], ...] = (
    ("ilogb", (0,), -(2**31)), ("ilogb", (-0.0,), -(2**31)), ("ilogb", (NAN,), -(2**31)),
    ("ilogb", (INF,), 2**31 - 1), ("ilogb", (-INF,), 2**31 - 1), ("ilogb", (1,), 0), ("ilogb", (-0.75,), -1),
    ("ilogb", (2.0**-149,), -149), ("ilogb", (2.0**127,), 127),
    ("llrint", (0.5,), 0), ("llrint", (1.5,), 2), ("llrint", (-2.5,), -2), ("llrint", (2.0**62,), 2**62),
    ("llrint", (1e30,), 2**63 - 1), ("llrint", (-INF,), -(2**63)), ("llrint", (NAN,), -(2**63)),
    ("acos", (1,), 0), ("acos", (1.5,), NAN), ("acosh", (0.5,), NAN), ("acosh", (INF,), INF),
    ("asin", (-0.0,), -0.0), ("atanh", (1,), INF), ("atanh", (-1,), -INF), ("atanh", (2,), NAN),
    ("atan2", (0, -0.0), float(np.float32(np.pi))), ("atan2", (-0.0, 0), -0.0),
    ("atan2", (INF, INF), float(np.float32(np.pi / 4))), ("tanh", (-INF,), -1), ("sinh", (-INF,), -INF),
    ("cos", (INF,), NAN), ("sin", (-0.0,), -0.0), ("tan", (INF,), NAN),
    ("erf", (INF,), 1), ("erf", (-0.0,), -0.0), ("erfc", (-INF,), 2), ("erfc", (INF,), 0), ("erfcx", (INF,), 0),
    ("erfcx", (-INF,), INF), ("erfinv", (1,), INF), ("erfinv", (-1,), -INF), ("erfinv", (1.5,), NAN),
    ("exp", (-INF,), 0), ("exp", (89,), INF), ("exp", (-104,), 0), ("exp2", (-149,), 2.0**-149),
    ("exp2", (128,), INF), ("expm1", (-0.0,), -0.0), ("expm1", (-INF,), -1),
    ("fmod", (5.5, INF), 5.5), ("fmod", (INF, 2), NAN), ("fmod", (1, 0), NAN), ("fmod", (-0.0, 3), -0.0),
    ("hypot", (INF, NAN), INF),
    ("j0", (INF,), 0), ("j1", (-INF,), -0.0), ("j0", (0,), 1), ("y0", (0,), -INF), ("y1", (0,), -INF),
    ("y0", (-1,), NAN), ("y0", (INF,), 0), ("y1", (-INF,), NAN), ("j0", (NAN,), NAN),
    ("cyl_bessel_i0", (0,), 1), ("cyl_bessel_i1", (-INF,), -INF), ("cyl_bessel_i0", (-INF,), INF),
    ("lgamma", (1,), 0), ("lgamma", (2,), 0), ("lgamma", (0,), INF), ("lgamma", (-3,), INF),
    ("lgamma", (-INF,), INF), ("lgamma", (INF,), INF),
    ("log", (0,), -INF), ("log", (-1,), NAN), ("log1p", (-1,), -INF), ("log1p", (-0.0,), -0.0), ("log2", (8,), 3),
    ("log10", (1000,), 3), ("rsqrt", (0,), INF), ("rsqrt", (-0.0,), -INF), ("rsqrt", (INF,), 0),
    ("rsqrt", (-1,), NAN), ("sqrt", (-0.0,), -0.0), ("sqrt", (-1,), NAN),
    ("pow", (1, NAN), 1), ("pow", (NAN, 0), 1), ("pow", (-8, 3), -512), ("pow", (-8, 0.5), NAN),
    ("pow", (-0.0, -3), -INF), ("pow", (-1, INF), 1), ("pow", (0.5, -INF), INF),
    ("nextafter", (0, -1), -(2.0**-149)), ("nextafter", (INF, 0), float(np.finfo(np.float32).max)))


def check_special_cases():
    for name, arguments, expected in SPECIAL:
        got = call(name, *([x] for x in arguments))[0].item()
        same = got == expected and np.signbit(got) == np.signbit(expected)
        assert same or (np.isnan(got) and np.isnan(expected)), (name, arguments, got, expected)
    # The squares overflow, the result does not.
    signalling = np.array([0x7FF0000000000001], np.int64).view(np.float64)
    assert call("hypot", np.array([INF]), signalling, dtype=np.float64)[0] == INF
    assert call("hypot", [2e38], [2e38])[0] == np.float32(np.float64(np.float32(2e38)) * 2**0.5)
    power = tensor([5, 3, -1, 0], np.int32)
    assert call("pow", [2.0, -2.0, 0.0, NAN], power).tolist() == [32, -8, INF, 1]
    shift = tensor([-149, -150, 200, 128, -2000], np.int32)
    assert call("ldexp", [1.0, 1.5, 1.0, 0.5, -1.0], shift).tolist() == [2.0**-149, 2.0**-149, INF, 2.0**127, -0.0]


def check_every_function_is_there_with_the_dtype_compiled_code_gives():
    assert set(stand_ins()) == set(FUNCTIONS)
    for name, arity in FUNCTIONS.items():
        for dtype in (np.float32, np.float64):
            second = [tensor([1], np.int32)] if name == "ldexp" else [[0.5]]
            result = getattr(shim, name)(*(tensor([0.5], dtype), *(
                x if isinstance(x, tl.tensor) else tensor(x, dtype) for x in second[: arity - 1])))
            assert str(result.dtype) == RESULTS.get(name, {np.float32: "fp32", np.float64: "fp64"}[dtype]), name
            assert tuple(result.shape) == (1,)


def check_other_types_are_refused_by_name():
    for operands in ((tensor([1.0], np.float16),), (tensor([1], np.int32),)):
        message = error_of(lambda operands=operands: shim.exp(*operands))
        assert "TypeError: libdevice.exp takes ('fp32',) or ('fp64',)" in message
        assert "cast the operands first" in message
    assert "TypeError: libdevice.pow takes" in error_of(lambda: shim.pow(tensor([1.0]), tensor([1.0], np.float64)))
