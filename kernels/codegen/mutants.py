"""Planted faults of the generator, to test the tester (contract: codegen.md §13).

A fault rewrites the text of a right kernel into that of a wrong one, so that the generator itself stays free of them.
Each is a plausible mistake of a generator, and changes the text only where it has something to break.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

Rewrite = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Mutant:
    """group: the feature that is broken. summary: what is wrong. rewrite: from the right source to the wrong one.
    imports: lines that the wrong source needs. fewer_programs: one program less is launched."""

    group: str
    summary: str
    rewrite: Rewrite = str
    imports: str = ""
    fewer_programs: bool = False


def _sub(pattern: str, replacement: str) -> Rewrite:
    """Replace a pattern on every line."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda source: compiled.sub(replacement, source)


def _numbers(pattern: str, change: Callable[[int], int]) -> Rewrite:
    """Change the number in group 2 of every match; groups 1 and 3 stay."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda source: compiled.sub(lambda m: f"{m[1]}{change(int(m[2]))}{m[3]}", source)


def _masks_forgotten(source: str) -> str:
    """A load from an address that was loaded from before is taken for the same load, whatever its mask."""
    seen: dict[str, str] = {}
    lines = []
    for line in source.split("\n"):
        load = re.match(r"^(\s*)(tmp\d+) = (\(?tl\.load\(\w+ \+ (?:\w+|\(.*?\))),", line)
        if line.lstrip().startswith("for "):
            seen.clear()
        if load and load[1] + load[3] in seen:
            line = f"{load[1]}{load[2]} = {seen[load[1] + load[3]]}"
        elif load:
            seen[load[1] + load[3]] = load[2]
        lines.append(line)
    return "\n".join(lines)


def _helpers_merged(source: str) -> str:
    """Combine functions of two operands all go by the name of the first."""
    names = re.findall(r"^def (combine_\w+)\(a, b\)", source, re.MULTILINE)
    for name in names[1:]:
        source = re.sub(rf"(?<!def )\b{name}\b", names[0], source)
    return source


def _sides_swapped(source: str) -> str:
    """The operands of every combination with a carry change places."""
    source = re.sub(r"_joined = (\w+)\((\w+), (\w+)\)$", r"_joined = \1(\3, \2)", source, flags=re.MULTILINE)
    return re.sub(r"_joined = (\w+)\((\w+, \w+), (\w+, \w+)\)$", r"_joined = \1(\3, \2)", source, flags=re.MULTILINE)


def _other_side(source: str) -> str:
    """Every search takes the other side of equal boundaries."""
    return re.sub(r"(bucketize_binary_search\(.*tl\.int(?:32|64)), (True|False), ",
                  lambda m: f"{m[1]}, {m[2] != 'True'}, ", source)


_WRONG_TIES = "".join(
    f"from tridiff.kernels.codegen.mutant_device import {name}_to_larger_index as {name}_with_index\n"
    for name in ("maximum", "minimum", "max", "min"))
_OPERATORS = ("from tridiff.kernels.helpers.operators import operator_floordiv as div_floor_integer\n"
              "from tridiff.kernels.helpers.operators import operator_mod as remainder_integer\n")
_AS_UNSIGNED = "from tridiff.kernels.codegen.mutant_device import as_unsigned\n"
_SHAPE = r"\[[^\]]*\]"
_TYPES = r"tl\.\w+"

FAULTS: dict[str, Mutant] = {
    # -- index expressions
    "trunc_for_floor": Mutant("printer", "negative quotients are truncated, remainders keep the dividend's sign",
                              imports=_OPERATORS),
    "int32_overflow": Mutant("printer", "index arithmetic stays in 32 bits, whatever its range",
                             _sub(r"\b([xyzr]index|x\d|tmp\d+)\.to\(tl\.int64\)", r"\1")),
    "fp32_division": Mutant("printer", "quotients of integers are rounded to fp32",
                            _sub(r"tl\.cast\((.*?), tl\.float64\) / ", r"tl.cast(\1, tl.float32) / ")),
    "fp32_constants": Mutant("printer", "fp64 constants are rounded to fp32",
                             _sub(rf"tl\.full\(({_SHAPE}), (-?[\d.e+-]+), tl\.float64\)",
                                  r"tl.full(\1, \2, tl.float32)")),
    "round_up": Mutant("printer", "rounding to nearest rounds up", _sub(r"libdevice\.nearbyint\(", "libdevice.ceil(")),
    # -- types
    "negative_zero_dropped": Mutant("types", "constants -0.0 are +0.0",
                                    _sub(rf"tl\.full\(({_SHAPE}), \d+, tl\.uint(\d+)\)\.to\(({_TYPES}), bitcast=True\)",
                                         r"tl.full(\1, 0.0, \3)")),
    "unsigned_compare": Mutant("types", "integers are compared as unsigned",
                               _sub(r"= (tmp\w+) (<|<=|>|>=) (tmp\w+)$", r"= as_unsigned(\1) \2 as_unsigned(\3)"),
                               imports=_AS_UNSIGNED),
    "lowest_bit_is_truth": Mutant("types", "a byte of a Boolean buffer is true if it is odd",
                                  _sub(r"= \((tl\.load\(.*\)) != 0\)$", r"= ((\1 & 1) != 0)")),
    "bitcast_converts": Mutant("types", "bit casts convert the value", _sub(r", bitcast=True\)$", ")")),
    # -- masks
    "missing_other": Mutant("masks", "loads leave masked-off lanes undefined",
                            _sub(r"(tl\.load\(.*), other=(?:tl\.full\(.*?\)(?:\.to\(.*?\))?|float\(\"\S+?\"\)|[^,()]+)",
                                 r"\1")),
    "wrong_tree_mask": Mutant("masks", "the mask of one axis stands in for that of another",
                              _sub(r"\b([xyz])mask & ([xyr])mask", r"\1mask & \1mask")),
    "body_mask_dropped": Mutant("masks", "loads of a masked body are made outside of the mask too",
                                _sub(r"(tl\.load\(.*?mask)(?: & tmp\w+)+", r"\1")),
    "other_ignored": Mutant("masks", "masked results are 0 outside of the mask",
                            _sub(rf"= tl\.where\((\w+), (\w+), tl\.full\(({_SHAPE}), .*, ({_TYPES})\)\)$",
                                 r"= tl.where(\1, \2, tl.full(\3, 0, \4))")),
    # -- indexing
    "wrap_dropped": Mutant("indexing", "negative indices are not wrapped",
                           _sub(r"^(\s*wrapped\d+) = .*?(index\d+) < 0.*", r"\1 = \2")),
    "masked_lanes_asserted": Mutant("indexing", "bounds are asserted for lanes that are off",
                                    _sub(r"(tl\.device_assert\(\(.*\)) \| \(.* \^ True\),", r"\1,")),
    "axis_shifted": Mutant("indexing", "axes that share a tile axis are split one element late",
                           _sub(r"^(\s*x\d = )([xyz]index) // ", r"\1(\2 + 1) // ")),
    "cse_ignores_masks": Mutant("indexing", "loads of one address under different masks are taken for one",
                                _masks_forgotten),
    # -- reductions
    "zero_default_for_max": Mutant("reductions", "padding of max and min is 0",
                                   _sub(rf"^(\s*_?tmp\w+ = .*?tl\.full\({_SHAPE}, )"
                                        r"(float\(\"-?inf\"\)|-\d+|127|32767|2147483647|9223372036854775807|255|65535"
                                        rf"|4294967295|18446744073709551615)(, {_TYPES}\)\)?)$", r"\g<1>0\3")),
    "tie_to_larger_index": Mutant("reductions", "equal extremes give the last position", imports=_WRONG_TIES),
    "index_starts_below": Mutant("reductions", "position accumulators and padding start at -1, which wins ties",
                                 _sub(rf"(tl\.full\({_SHAPE}, )9223372036854775807, tl\.int64\)",
                                      r"\g<1>-1, tl.int64)")),
    "mean_over_block": Mutant("reductions", "the mean is taken over the padded block",
                              _sub(rf"(_weight = tl\.full\({_SHAPE}, )\w+,", r"\1RBLOCK,")),
    "all_is_any": Mutant("reductions", "`all` gives the negated truth of its first step",
                         _sub(r"(\bany\(.*) == 0$", r"\1 != 0")),
    # -- scans
    "carry_on_right": Mutant("scans", "what lies to the left is combined on the right", _sides_swapped),
    "carry_in_first_tile": Mutant("scans", "the first tile combines with a carry that nobody wrote",
                                  _sub(r"= tl\.where\((?:roffset|tl\.program_id\(0\)) == \w+, \w+, (\w+_joined)\)$",
                                       r"= \1")),
    "carry_of_first_column": Mutant("scans", "the carry is the first element of a tile, not the last",
                                    _sub(r"rbase == RBLOCK - 1", "rbase == 0")),
    "combine_functions_merged": Mutant("scans", "different combine functions share one name", _helpers_merged),
    "stale_scratch": Mutant("scans", "all rows of a split scan use the same words, which rows before left filled",
                            _sub(r" \+ xoffset\.to\(tl\.int64\) \* \(tl\.num_programs\(0\) \* \d\)", "")),
    # -- sort and search
    "stability_dropped": Mutant("sort", "equal keys come in any order", _sub(r"stable=True", "stable=False")),
    "descending_ignored": Mutant("sort", "descending sorts ascend", _sub(r"descending=True", "descending=False")),
    "padding_sorted": Mutant("sort", "padding lanes take part in the sort",
                             _sub(r"(sort_with_index\(\w+, \w+, )\w+,", r"\1None,")),
    "boundary_above": Mutant("sort", "`>` for `>=` in the search", _other_side),
    # -- random numbers
    "next_seed": Mutant("random", "the seed of the next slot is taken",
                        _numbers(r"(^\s*seed\d+ = .* \+ )(\d+)(\))", lambda n: n + 1)),
    "offset_truncated": Mutant("random", "offsets are cut to 8 bits",
                               _sub(r"((?:rand|randn|randint64)\(.*)\.to\(tl\.uint32\)", r"\1.to(tl.uint8)")),
    "high_included": Mutant("random", "the upper end of randint64 can be drawn",
                            _numbers(r"(= randint64\(.*, )(-?\d+)(\))$", lambda n: n + 1)),
    # -- stores
    "missing_barrier": Mutant("stores", "no barrier before overwriting what others still read",
                              _sub(r"^\s*(tl\.debug_barrier\(\)|x_grid_barrier\(.*\))\n", "")),
    "atomic_as_store": Mutant("stores", "an addition overwrites",
                              _sub(r'tl\.atomic_add\((.*), sem="relaxed"\)$', r"tl.store(\1)")),
    "stored_by_all": Mutant("stores", "every program of a row makes the store or addition that one should make",
                            _sub(r"( & |, )first_program\b", "")),
    # -- launch geometry
    "grid_off_by_one": Mutant("geometry", "the last program is not launched", fewer_programs=True),
    "spread_ignored": Mutant("geometry", "programs along z repeat those along y",
                             _sub(r" \+ tl\.program_id\(2\) \* tl\.num_programs\(1\)", "")),
    "tail_unmasked": Mutant("geometry", "the last block of an outer axis is not cut off",
                            _sub(r"^(\s*[xyz]mask = [xyz]index) < \w+$", r"\1 >= 0")),
    "short_persistent_block": Mutant("geometry", "a persistent block holds half of the axis",
                                     _numbers(r"(RBLOCK: tl\.constexpr = )(\d+)($)", lambda n: max(n // 2, 1))),
    # -- the hook of codegen.md §13: a broken relu
    "compile_error": Mutant("hook", "relu is an unknown name", _sub(r"pointwise\.relu\(", "planted_undefined_name(")),
    "runtime_error": Mutant("hook", "relu asserts that its operand is 0",
                            _sub(r"^(\s*)(tmp\d+) = pointwise\.relu\((\w+)\)$",
                                 r'\1tl.device_assert(\3 == 0, "planted runtime error: an input is not 0")' "\n"
                                 r"\1\2 = pointwise.relu(\3)")),
    "accuracy": Mutant("hook", "relu adds one", _sub(r"pointwise\.relu\((\w+)\)$", r"\1 + 1")),
}
"""Name -> fault."""


def check_faults(faults: Iterable[str]) -> tuple[str, ...]:
    """The names, sorted; ValueError for an unknown one."""
    given = sorted(set(faults))
    unknown = [name for name in given if name not in FAULTS]
    if unknown:
        raise ValueError(f"unknown fault {unknown[0]!r}; tridiff.kernels.codegen.mutants.FAULTS lists them")
    return tuple(given)


def planted(source: str, faults: Iterable[str]) -> str:
    """The source with these faults in it; unchanged where they have nothing to break."""
    for name in faults:
        mutant = FAULTS[name]
        source = mutant.rewrite(source)
        wanted = [line for line in mutant.imports.splitlines(keepends=True)
                  if re.search(rf"\b{line.split()[-1]}\b", source)]
        if wanted:
            # After the right imports, so that the wrong ones win.
            head, separator, body = source.partition("\n\n\n")
            source = head.rstrip("\n") + "\n" + "".join(wanted).rstrip("\n") + separator + body
    return source
