"""Arrays as Python expressions that rebuild them bit for bit with torch or numpy."""

import base64
import functools
import hashlib
import itertools
import math
import zlib
from dataclasses import dataclass, field

import torch

from tridiff.fuzz.content import text
from tridiff.oracles import bits
from tridiff.oracles.dtypes import dtype as dtype_info, torch_dtype

LISTED = 16
"""Values that are always listed; longer ramps and constants are said shorter."""

READABLE = 160
"""Characters of a list that is written out as it is; a longer one is packed if that makes it shorter."""

MANY = 1 << 14
"""Values of which no list is written at all, unless they are a ramp or all the same: packed they are shorter."""

_SIGNED = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}


def patterns(values: torch.Tensor) -> list[int]:
    """Unsigned bit patterns in row-major order."""
    width = 8 * values.element_size()
    return [int(one) % (1 << width) for one in bits.unsigned_bits(values.contiguous()).reshape(-1).tolist()]


def _nested(tokens: list[str], shape: tuple[int, ...]) -> str:
    """The tokens as a nested list display of `shape`."""
    if not shape:
        return tokens[0]
    if len(shape) == 1:
        return f"[{', '.join(tokens)}]"
    step = math.prod(shape[1:])
    return f"[{', '.join(_nested(tokens[k * step:(k + 1) * step], shape[1:]) for k in range(shape[0]))}]"


def number(pattern: int, dtype: str) -> str:
    """One value as an expression over `np`; NaNs lose their payload."""
    word = text.from_bits(pattern, dtype)
    if "nan" in word:
        return "np.nan"
    if "inf" in word:
        return word.replace("inf", "np.inf")
    if not dtype_info(dtype).is_float:
        return word
    largest = dtype_info(dtype).max
    # The shortest text of the largest number may denote one beyond it, which torch refuses to round down.
    return word if abs(float(word)) <= largest else repr(largest if float(word) > 0 else -largest)


def _wide(value: float) -> str:
    return "np.nan" if value != value else repr(value).replace("inf", "np.inf")


def _progression(numbers: list[int]) -> int | None:
    """The step of an arithmetic progression that is long enough to be worth saying so."""
    if len(numbers) <= LISTED or max(map(abs, numbers)) >= 2**62:
        return None
    step = numbers[1] - numbers[0]
    return step if all(b - a == step for a, b in itertools.pairwise(numbers)) else None


def signed(pattern: int, width: int) -> int:
    return pattern - (1 << width) if pattern >> (width - 1) else pattern


def storage_dtype(dtype: str) -> str:
    """The torch type, as source text, in which an array of `dtype` is written down; i1 lies in memory as int8."""
    info = dtype_info(dtype)
    if dtype == "u8" or (info.is_float and info.bits > 8):
        return str(torch_dtype(dtype))
    return str(_SIGNED[info.storage_bits])


def view(dtype: str) -> str:
    """What to append to get from the storage type to the array's own; empty where they are the same."""
    own = "torch.int8" if dtype == "i1" else str(torch_dtype(dtype))
    return "" if own == storage_dtype(dtype) else f".view({own})"


def own_dtype(dtype: str) -> str:
    """The torch type of an array, as source text."""
    return "torch.int8" if dtype == "i1" else str(torch_dtype(dtype))


def torch_expression(values: torch.Tensor, dtype: str, *, device: str = "") -> str:
    """An expression for a contiguous tensor in the storage type (see `storage_dtype`).

    values: in the array's own dtype (torch.bool for i1). device: a further argument such as `, device="cuda"`.
    A NaN with a payload makes the array one of bit patterns; long lists are packed.
    """
    data = bits.to_bits(values.contiguous()).numpy().tobytes()
    return _written(_Array(hashlib.sha256(data).digest(), tuple(values.shape), dtype, device, values))


@dataclass(frozen=True)
class _Array:
    digest: bytes
    shape: tuple[int, ...]
    dtype: str
    device: str
    values: torch.Tensor = field(compare=False)


@functools.lru_cache(maxsize=32)  # each form of a script has the same arrays
def _written(array: _Array) -> str:
    values, shape, dtype, device = array.values, array.shape, array.dtype, array.device
    listed = _listed_tensor(values, dtype, device=device) if values.numel() <= MANY or _even(values) else ""
    if listed and len(listed) <= READABLE:
        return listed
    stored = storage_dtype(dtype)
    forms = [listed] if listed else []
    told = "" if stored == "torch.int8" and dtype_info(dtype).is_float else _digits(values, dtype)  # fp8: as bits
    if told:
        forms.append(f"torch.tensor({told}, dtype={stored}{device}){_reshape(shape)}")
    moved = f".to({device.partition('=')[2]})" if device else ""
    raw = f"torch.{str(_SIGNED[dtype_info(dtype).storage_bits]).rpartition('.')[2]}"
    again = "" if raw == stored else f".view({stored})"
    forms.append(f"torch.frombuffer(bytearray({_packed(values)}), dtype={raw}){again}{_reshape(shape)}{moved}")
    return min(forms, key=len)


def _even(values: torch.Tensor) -> bool:
    """Whether the bit patterns are all the same, or the numbers go up or down by the same step."""
    found = bits.to_bits(values.contiguous()).reshape(-1).to(torch.int64)
    steps = found[1:] - found[:-1]
    return bool((steps == steps[0]).all())


def _packed(values: torch.Tensor) -> str:
    """An expression for the bytes of an array, over `base64` and `zlib`."""
    data = bits.to_bits(values.contiguous()).numpy().tobytes()
    return f'zlib.decompress(base64.b85decode("{base64.b85encode(zlib.compress(data, 9)).decode()}"))'


def _digits(values: torch.Tensor, dtype: str) -> str:
    """A list of small whole numbers, one character each; "" for other numbers."""
    info = dtype_info(dtype)
    numbers = values.double().reshape(-1)
    if info.bits >= 64 and not info.is_float and bool((numbers.abs() > 2**40).any()):
        return ""
    if not bool(torch.isfinite(numbers).all()) or bool((numbers != numbers.round()).any()):
        return ""
    if info.is_float and bool(((numbers == 0) & torch.signbit(numbers)).any()):
        return ""
    low, high = int(numbers.min()), int(numbers.max())
    if high - low >= 36:
        return ""
    text = "".join("0123456789abcdefghijklmnopqrstuvwxyz"[int(one) - low] for one in numbers.tolist())
    shift = f" {'-' if low < 0 else '+'} {abs(low)}" if low else ""
    return f'[int(c, 36){shift} for c in "{text}"]'


def _listed_tensor(values: torch.Tensor, dtype: str, *, device: str) -> str:
    info, shape, found = dtype_info(dtype), tuple(values.shape), patterns(values)
    if info.is_float and info.bits > 8:
        words = [text.from_bits(one, dtype) for one in found]
        if any("nan:" in word or word == "-nan" for word in words):
            ints = _nested([str(signed(one, info.bits)) for one in found], shape)
            kind = _SIGNED[info.bits]
            return f"torch.tensor({ints}, dtype={kind}{device}).view({torch_dtype(dtype)})"
        tokens = [number(one, dtype) for one in found]
        if len(found) > LISTED and len(set(found)) == 1:
            return f"torch.full({shape}, {tokens[0]}, dtype={torch_dtype(dtype)}{device})"
        return f"torch.tensor({_nested(tokens, shape)}, dtype={torch_dtype(dtype)}{device})"
    numbers = found if dtype == "u8" else [signed(one, info.storage_bits) for one in found]
    kind_name = storage_dtype(dtype)
    step = _progression(numbers)
    if step == 0:
        return f"torch.full({shape}, {numbers[0]}, dtype={kind_name}{device})"
    if step is not None:
        ramp = f"torch.arange({numbers[0]}, {numbers[-1] + (1 if step > 0 else -1)}, {step}"
        return f"{ramp}, dtype={kind_name}{device}){_reshape(shape)}"
    return f"torch.tensor({_nested([str(one) for one in numbers], shape)}, dtype={kind_name}{device})"


def as_bits(name: str, dtype: str) -> str:
    """An expression for the bits of an array as signed integers, whatever its strides."""
    return f"{name}.view({_SIGNED[dtype_info(dtype).storage_bits]})"


def _reshape(shape: tuple[int, ...]) -> str:
    return f".reshape{shape}" if len(shape) > 1 else ""


def numpy_dtype(dtype: str) -> str:
    """The numpy type, as source text, in which results of `dtype` are compared: fp32 for bf16 and fp8, which numpy
    lacks."""
    info = dtype_info(dtype)
    if dtype == "i1":
        return "np.int8"
    if info.is_float:
        return {"fp16": "np.float16", "fp64": "np.float64"}.get(dtype, "np.float32")
    return f"np.{'u' if info.kind == 'uint' else ''}int{info.bits}"


def fetch(name: str, dtype: str) -> str:
    """An expression for the numpy array of a result."""
    narrow = dtype in ("bf16", "fp8e4nv", "fp8e5")
    return f"{name}{'.float()' if narrow else ''}.cpu().numpy()"


def numpy_expression(values: torch.Tensor, dtype: str) -> str:
    """An expression for the numpy array of expected results, NaNs without payload; long lists are packed."""
    listed = _listed_array(values, dtype)
    if len(listed) <= READABLE:
        return listed
    shape, kind = tuple(values.shape), numpy_dtype(dtype)
    forms = [listed]
    told = _digits(values, dtype)
    if told:
        forms.append(f"np.array({told}, dtype={kind}){_reshape(shape)}")
    plain = values.float() if kind == "np.float32" and dtype != "fp32" else values
    forms.append(f"np.frombuffer({_packed(plain)}, {kind}){_reshape(shape)}")
    return min(forms, key=len)


def _listed_array(values: torch.Tensor, dtype: str) -> str:
    found, shape, kind = patterns(values), tuple(values.shape), numpy_dtype(dtype)
    tokens = [number(one, dtype) for one in found]
    if kind == "np.float32" and dtype != "fp32":
        # The shortest text of a narrow number is another number in fp32.
        tokens = [_wide(one) for one in values.double().reshape(-1).tolist()]
    if len(found) > LISTED and len(set(found)) == 1:
        return f"np.full({shape}, {tokens[0]}, {kind})"
    if not dtype_info(dtype).is_float and dtype != "i1":
        step = _progression([int(one) for one in tokens])
        if step:
            stop = int(tokens[-1]) + (1 if step > 0 else -1)
            return f"np.arange({tokens[0]}, {stop}, {step}, dtype={kind}){_reshape(shape)}"
    return f"np.array({_nested(tokens, shape)}, dtype={kind})"
