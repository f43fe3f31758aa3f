"""How a launch of a kernel of the user's is written on the command line.

    tridiff explain add.py:add --args 'x=fp32[1000] y=fp32[1000]=iota out=fp32[1000]=out n=1000 BLOCK=256' --grid 4
"""

import re
import shlex
from pathlib import Path

import msgspec

from tridiff.fuzz.errors import TridiffError
from tridiff.fuzz.explain.model import Program
from tridiff.fuzz.explain.request import Own, Scalar
from tridiff.fuzz.records import ArraySpec, Case, LaunchOptions
from tridiff.fuzz.records.case import Layout
from tridiff.fuzz.records.content import Base, Bits, Constant, Content, Explicit, Finite, Iota, Small, Special
from tridiff.oracles.dtypes import NAMES

_ARRAY = re.compile(r"([a-z]\w*)\[([\d, ]*)\](?:@(\d+))?(?:=(.*))?")
_OTHER_NAMES = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16", "f16": "fp16",
                "f32": "fp32", "f64": "fp64", "bool": "i1", "int1": "i1",
                **{f"{word}{bits}": f"{word[0]}{bits}" for word in ("int", "uint") for bits in (8, 16, 32, 64)}}
_HOW = ("write NAME=VALUE with spaces between, VALUE being an array as fp32[1000] (random numbers), fp32[1000]=iota, "
        "=zeros, =ones, =small, =special, =bits, =1,2,3 or =out for an output, fp32[1000]@1 for one that begins an "
        "element later, or a number, true, none, 'text' or tl.float32")


def own_kernel(what: str, *, args: str, grid: str, options: str) -> Own:
    """The kernel that FILE.py:NAME names with the launch that the three texts describe. Raises TridiffError that says
    how to write them."""
    file, _, kernel = what.rpartition(":")
    if not Path(file).is_file():
        raise TridiffError(f"there is no file {file}", fix="name a kernel as FILE.py:kernel")
    if not kernel.isidentifier():
        raise TridiffError(f"{kernel!r} is no name of a function", fix="name a kernel as FILE.py:kernel")
    arrays: list[ArraySpec] = []
    sizes: dict[str, int] = {}
    scalars: dict[str, Scalar] = {}
    try:
        words = shlex.split(args, posix=False)
    except ValueError as error:
        raise TridiffError(f"--args cannot be read ({error})", fix=_HOW) from None
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier() or not value:
            raise TridiffError(f"{word[:60]!r} in --args is no argument", fix=_HOW)
        if name in scalars or any(spec.name == name for spec in arrays):
            raise TridiffError(f"{name} is given twice", fix="give each argument once")
        if match := _ARRAY.fullmatch(value):
            spec, own_sizes = _array(name, match, seed=len(arrays))
            arrays.append(spec)
            sizes |= own_sizes
        elif "[" in value and value[0] not in "'\"":
            raise TridiffError(f"{value[:60]!r} is no array", fix=_HOW)
        else:
            scalars[name] = scalar(value)
    made = Own(file=str(Path(file).resolve()), kernel=kernel, arrays=tuple(arrays), sizes=sizes, scalars=scalars,
               grid=program_of(grid, option="--grid", default=1), options=_options(options))
    Case(target="own", sizes=sizes, arrays=made.arrays).check()
    return made


def _array(name: str, match: re.Match[str], *, seed: int) -> tuple[ArraySpec, dict[str, int]]:
    dtype = _OTHER_NAMES.get(match[1], match[1])
    if dtype not in NAMES:
        raise TridiffError(f"{name}: unknown dtype {match[1]!r}", fix=f"use one of {' '.join(NAMES)}")
    shape = [int(one) for one in match[2].split(",") if one.strip()]
    if not 1 <= len(shape) <= 5:
        raise TridiffError(f"{name} has {len(shape)} axes", fix="give one to five, as fp32[8, 16]")
    dims = tuple(f"{name}.{axis}" for axis in range(len(shape)))
    elements = 1
    for extent in shape:
        elements *= extent
    content = _content(name, match[4] or "random", seed, elements)
    return ArraySpec(name=name, dtype=dtype, dims=dims, layout=Layout(offset=int(match[3] or 0)),
                     content=content), dict(zip(dims, shape, strict=True))


def _content(name: str, text: str, seed: int, elements: int) -> Content | None:
    known: dict[str, Base] = {
        "random": Finite(seed=seed), "iota": Iota(), "zeros": Constant(value="0"), "ones": Constant(value="1"),
        "small": Small(seed=seed), "special": Special(seed=seed), "bits": Bits(seed=seed)}
    if text == "out":
        return None
    if text in known:
        return Content(base=known[text])
    values = tuple(one.strip() for one in text.split(","))
    if not re.fullmatch(r"[-+.\w]+", values[0]) or (values[0].isalpha() and values[0] not in ("nan", "inf")):
        raise TridiffError(f"{name}: nothing is known of the content {text[:40]!r}", fix=_HOW)
    if len(values) != elements:
        raise TridiffError(f"{name} has {elements} elements, {len(values)} values are given",
                           fix="give as many values as elements")
    return Content(base=Explicit(values=values))


def program_of(text: str, *, option: str, default: int = 0) -> Program:
    """`4` or `4,2,1` as three numbers."""
    try:
        numbers = [int(one) for one in text.split(",")] if text else []
    except ValueError:
        numbers = [-1]
    if len(numbers) > 3 or any(one < 0 for one in numbers):
        raise TridiffError(f"{option} {text[:40]!r} is not understood",
                           fix=f"write one to three numbers, as {option} 4,2")
    x, y, z = (*numbers, *(default,) * 3)[:3]
    return x, y, z


def _options(text: str) -> LaunchOptions:
    given = {}
    for word in filter(None, re.split(r"[\s,]+", text)):
        name, equals, value = word.partition("=")
        if not equals or name not in LaunchOptions.__struct_fields__:
            raise TridiffError(f"--options {word[:40]!r} is not understood",
                               fix=f"use NAME=VALUE with {', '.join(LaunchOptions.__struct_fields__)}")
        given[name] = scalar(value)
    try:
        return msgspec.convert(given, LaunchOptions)
    except msgspec.ValidationError as error:
        raise TridiffError(f"--options {text[:60]!r}: {error}", fix="write for example num_warps=8") from None


def scalar(text: str) -> Scalar:
    """`true`, `none`, a number, or a text in quotes or without."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered == "none":
        return None
    for kind in (int, float):
        try:
            return int(text, 0) if kind is int else float(text)
        except ValueError:
            continue
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" else text
