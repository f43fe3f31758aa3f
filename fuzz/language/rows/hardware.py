"""Names of Gluon that say something of memory: what a descriptor of shared memory knows of itself, hints of caches as
objects, assembly of a whole program.

Sources: docstrings of `gl.inline_asm`, `CachePolicy`, `FractionalEvictionPolicy`; PTX ISA, ld, st, createpolicy.
"""

from collections.abc import Callable
from dataclasses import dataclass

from tridiff.fuzz.language.choices import EVERY, NUMBERS, Choices
from tridiff.fuzz.language.row import NOT_INTERPRETED, Library, Row, Values
from tridiff.kernels.language.call import Call, Options, Result
from tridiff.kernels.language.gluon import LAYOUTS
from tridiff.kernels.language.lines import ANOTHER_SHAPE, ANOTHER_TYPE
from tridiff.kernels.pointwise.record import TRITON_NAMES
from tridiff.oracles.dtypes import dtype
from tridiff.oracles.rules import BIT, NUM0

_NVIDIA = "tl.nvidia.ampere"


def _same(name: str, covers: tuple[str, ...], text: Callable[[Call], str], *, since: str, high: int = 1,
          policy: bool = False, dtypes: tuple[str, ...] = EVERY) -> Row:
    """What gives its operand back. policy: by a load and a store with a drawn hint for each."""

    def draw(choices: Choices) -> Call:
        one, shape = choices.dtype(dtypes), choices.shape(high=high)
        options: Options = {"layout": choices.whole(0, LAYOUTS - 1)}
        if policy:
            options |= {"read": choices.one(tuple(_READ)), "write": choices.one(tuple(_WRITE))}
        return Call(row=name, operands=(choices.block(one, shape),), stored=(one,), options=options)

    return Row(
        name=name, covers=covers, draw=draw, text=text, since=since, loads=not policy,
        stores=not policy, gluon=True, refused=_device_only,
        answer=lambda call, lib, operands: (operands[0],))


def _device_only(call: Call, backend: str) -> str:
    if backend == "interpreter":
        return NOT_INTERPRETED
    return "" if backend == "cuda" or backend.startswith("compile:sm") else "hints and assembly of NVIDIA GPUs"


def _known(call: Call) -> str:
    """A descriptor's properties are those that it was made with."""
    shape, name = call.operands[0].shape, TRITON_NAMES[call.stored[0]]
    layout = f"tl.SwizzledSharedLayout(1, 1, 1, {list(reversed(range(len(shape))))})"
    due = [("dtype", name, ANOTHER_TYPE), ("rank", len(shape), ANOTHER_SHAPE), ("layout", layout, ANOTHER_TYPE),
           ("numel", Result(dtype="i8", shape=shape).elements, ANOTHER_SHAPE)]
    due += [(f"shape[{axis}]", extent, ANOTHER_SHAPE) for axis, extent in enumerate(shape)]
    return "\n".join(["r0 = x0", f"shared = tl.allocate_shared_memory({name}, {list(shape)}, {layout}, x0)",
                      *(f'tl.static_assert(shared.{one} == {value}, "{why}")' for one, value, why in due),
                      f"r0 = shared.load(L{len(shape)})"])


def _bytes(call: Call) -> str:
    shape, name = call.operands[0].shape, TRITON_NAMES[call.stored[0]]
    size = Result(dtype="i8", shape=shape).elements * dtype(call.stored[0]).bits // 8
    layout = f"tl.SwizzledSharedLayout(1, 1, 1, {list(reversed(range(len(shape))))})"
    return "\n".join(["r0 = x0", f"shared = tl.allocate_shared_memory({name}, {list(shape)}, {layout}, x0)",
                      f'tl.static_assert(shared.nbytes_per_cta == {size}, "{ANOTHER_SHAPE}")',
                      f"r0 = shared.load(L{len(shape)})"])


_HINTS = {
    "plain": "tl.CachePolicy()", "first": 'tl.CachePolicy("none", "evict_first")',
    "last": 'tl.CachePolicy(eviction_policy="evict_last")', "middle": 'tl.CachePolicy(".cg")',
    "streaming": 'tl.CachePolicy("cs")', "l1": f'{_NVIDIA}.CachePolicy(l1="no_allocate")',
    "l1_last": f'{_NVIDIA}.CachePolicy(l1="evict_last")', "modifier": f'{_NVIDIA}.CachePolicy(cache_modifier=".cg")',
    "l2": f'{_NVIDIA}.CachePolicy(l2={_NVIDIA}.FractionalEvictionPolicy("evict_last", 0.5))',
    "l2_parts": f'{_NVIDIA}.CachePolicy(l2={_NVIDIA}.FractionalEvictionPolicy("evict_unchanged", 0.25, "evict_first"))',
    "both": f'{_NVIDIA}.CachePolicy(l1="evict_first", l2={_NVIDIA}.FractionalEvictionPolicy("evict_normal", 1.0))',
}
_READ = _HINTS | {
    "all": 'tl.CachePolicy("ca")', "volatile": f'{_NVIDIA}.CachePolicy("cv")',
    "ahead": f"{_NVIDIA}.CachePolicy(l2_prefetch_size=64)", "far_ahead": f"{_NVIDIA}.CachePolicy(l2_prefetch_size=256)"}
_WRITE = _HINTS | {"back": 'tl.CachePolicy("wb")', "through": f'{_NVIDIA}.CachePolicy("wt")'}


def _hinted(call: Call) -> str:
    count = call.operands[0].shape[0]
    return "\n".join([
        f"place = tl.arange(0, {count}, layout=L1)",
        f"found = tl.load(x0_ptr + program * x0_pitch + place, cache_policy={_READ[str(call.options['read'])]})",
        f"tl.store(out0_ptr + program * out0_pitch + place, found, cache_policy={_WRITE[str(call.options['write'])]})"])


@dataclass(frozen=True)
class _Assembly:
    """Assembly for operands of one type. text: the argument `asm`, a string for one element for each thread or the
    name of a function of references to operands; constraints as source."""

    text: str
    constraints: str
    dtypes: tuple[str, ...]
    op: str
    operands: int = 2


_WRITER = """@gluon.constexpr_function
def _each(outputs, inputs):
    found = outputs[0]
    return "\\n".join("{} {{}}, {{}};".format(found[k], ", ".join(one[k] for one in inputs)) for k in range(len(found)))

"""
_ASSEMBLIES = {
    "sum": _Assembly("add.s32", '("=&r", "r", "r")', ("i32", "u32"), "add"),
    "wide": _Assembly("sub.s64", '["=&l", "l", "l"]', ("i64", "u64"), "sub"),
    "floats": _Assembly("max.f32", '("=&f", "f", "f")', ("fp32",), "fmax"),
    "doubles": _Assembly("neg.f64", '("=&d", "d")', ("fp64",), "neg_operator", 1),
    "bits": _Assembly("not.b32", '("=&r", "r")', ("i32", "u32"), "bitwise_not", 1),
}
"""Instructions, one for each element that a thread holds."""


def _inline_asm() -> Row:
    def draw(choices: Choices) -> Call:
        kind = choices.one(tuple(_ASSEMBLIES))
        one, shape = choices.dtype(_ASSEMBLIES[kind].dtypes), choices.shape(high=3, most=512)
        options: Options = {
            "layout": choices.whole(0, LAYOUTS - 1), "assembly": kind, "pure": choices.flag(), "listed": choices.flag()}
        return Call(row="gl.inline_asm", stored=(one,), options=options,
                    operands=tuple(choices.block(one, shape) for _ in range(_ASSEMBLIES[kind].operands)))

    def text(call: Call) -> str:
        chosen = _ASSEMBLIES[str(call.options["assembly"])]
        given = ", ".join(f"x{number}" for number in range(chosen.operands))
        kinds = "[x0.type]" if call.options["listed"] else "x0.type"
        return "\n".join([
            "r0 = x0", f"found = tl.inline_asm(_each, {chosen.constraints}, [{given}], {kinds}, "
            f"is_pure={call.options['pure']})", "r0 = found[0]" if call.options["listed"] else "r0 = found"])

    def definitions(call: Call) -> str:
        return _WRITER.replace("{} {{}}, {{}};", f"{_ASSEMBLIES[str(call.options['assembly'])].text} {{}}, {{}};")

    def answer(call: Call, lib: Library, operands: Values) -> Values:
        return (lib.pointwise(_ASSEMBLIES[str(call.options["assembly"])].op, call.stored[0], *operands),)

    return Row(
        name="gl.inline_asm", draw=draw, text=text, definitions=definitions,
        answer=answer, since="3.9.0", gluon=True, refused=_device_only,
        rules=lambda call: (NUM0 if call.stored[0].startswith("fp") else BIT,))


ROWS = (
    _same("smem.shape", ("smem.shape", "smem.rank", "smem.numel", "smem.dtype", "smem.layout"), _known, since="",
          high=4, dtypes=NUMBERS),
    _same("smem.nbytes_per_cta", ("smem.nbytes_per_cta",), _bytes, since="3.8.0", high=3, dtypes=NUMBERS),
    _same("gl.CachePolicy", ("gl.CachePolicy", "ampere.CachePolicy", "ampere.FractionalEvictionPolicy"), _hinted,
          since="3.9.0", policy=True, dtypes=NUMBERS),
    _inline_asm(),
)
