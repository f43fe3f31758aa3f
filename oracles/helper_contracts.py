"""Which references judge which helper: one row per helper of helpers.md. Imports neither torch nor Triton.

Functions are named by import path ("package.module:name") and resolved where they are called.
"""

from dataclasses import dataclass, field

from tridiff.oracles.dtypes import FLOATS, INTEGERS, NAMES
from tridiff.oracles.errors import OracleError
from tridiff.oracles.rules import BIT, NUM, NUM0, SET, SUM, Rule

_SUM4 = "oracles.md §4"


@dataclass(frozen=True, slots=True)
class References:
    """Import paths of one helper's references; `exact` is empty where plain Python adds nothing."""

    numpy: str
    torch: str
    exact: str = ""


@dataclass(frozen=True, slots=True)
class Contract:
    """One helper: its types, its references, and per output the rule for integers and the one for floats.

    defined: torch function that is True where the contract fixes the result. bound: tolerance formula of SUM
    rules.
    """

    helper: str
    section: str
    dtypes: tuple[str, ...]
    outputs: tuple[str, ...]
    rules: tuple[Rule, ...]
    references: References
    defined: str = ""
    bound: str = ""
    float_rules: tuple[Rule, ...] = field(default=())

    def rules_for(self, dtype: str) -> tuple[Rule, ...]:
        """One rule per output for arguments of type `dtype`; OracleError if the contract does not cover
        it.
        """
        if dtype not in self.dtypes:
            raise OracleError(f"{self.helper} is not specified for {dtype}; use one of {' '.join(self.dtypes)}")
        return self.float_rules if self.float_rules and dtype in FLOATS else self.rules


def _three(family: str, name: str, exact: str) -> References:
    return References(
        f"tridiff.oracles.by_numpy.{family}:{name}", f"tridiff.oracles.by_torch.{family}:{name}",
        f"tridiff.oracles.by_exact.{exact}:{name}",
    )


def _two(family: str, name: str) -> References:
    return References(f"tridiff.oracles.by_numpy.{family}:{name}", f"tridiff.oracles.by_torch.{family}:{name}")


def _division(name: str) -> Contract:
    return Contract(
        name, "§4", INTEGERS, ("out",), (BIT,), _three("integer", name, "pointwise"),
        defined="tridiff.oracles.by_torch.integer:division_defined",
    )


_ORDERED = ("i1", *INTEGERS, *FLOATS)


def _extremum(name: str, exact: str) -> Contract:
    return Contract(name, "§5", _ORDERED, ("out",), (NUM0,), _three("extrema", name, exact))


def _with_index(name: str) -> Contract:
    return Contract(name, "§5", _ORDERED, ("value", "index"), (BIT, BIT), _three("extrema", name, "folds"))


_WELFORD_RULES = (SET(SUM("welford_mean_bound", origin=_SUM4)), SUM("welford_m2_bound", origin=_SUM4), NUM)


def _welford(name: str, exact: str = "") -> Contract:
    return Contract(
        name, "§7", ("fp32", "fp64"), ("mean", "m2", "weight"), _WELFORD_RULES,
        References(f"tridiff.oracles.by_numpy.welford:{name}", f"tridiff.oracles.by_torch.welford:{name}", exact),
        bound="tridiff.oracles.tolerances:welford_m2_bound",
    )


CONTRACTS: tuple[Contract, ...] = (
    Contract(
        "vector_add", "oracles.md §3", _ORDERED, ("out",), (BIT,), _three("elementwise", "vector_add", "pointwise"),
        float_rules=(NUM,),
    ),
    Contract("promote_to_tensor", "§3", NAMES, ("out",), (BIT,), _two("probes", "promote_to_tensor")),
    _division("div_trunc"),
    _division("rem_trunc"),
    _division("div_floor_integer"),
    _division("remainder_integer"),
    _extremum("minimum", "pointwise"),
    _extremum("maximum", "pointwise"),
    _extremum("min2", "folds"),
    _extremum("max2", "folds"),
    _with_index("minimum_with_index"),
    _with_index("maximum_with_index"),
    _with_index("min_with_index"),
    _with_index("max_with_index"),
    Contract(
        "prod", "§6", (*INTEGERS, *FLOATS), ("out",), (BIT,), _three("reductions", "prod", "folds"),
        bound="tridiff.oracles.tolerances:prod_bound", float_rules=(SUM("prod_bound", origin=_SUM4),),
    ),
    Contract(
        "sum", _SUM4, (*INTEGERS, *FLOATS), ("out",), (BIT,), _three("reductions", "sum", "folds"),
        bound="tridiff.oracles.tolerances:sum_bound", float_rules=(SUM("sum_bound", origin=_SUM4),),
    ),
    Contract("any", "§6", ("i1", *INTEGERS), ("out",), (BIT,), _two("reductions", "any")),
    _welford("welford_reduce"),
    _welford("welford_combine"),
    _welford("welford", "tridiff.oracles.by_exact.folds:welford"),
    Contract("device_assert_then", "§8", NAMES, ("out",), (BIT,), _two("probes", "device_assert_then")),
    Contract(
        "randint64", "§9", ("i64",), ("out",), (BIT,),
        References("tridiff.oracles.philox:randint64", "tridiff.oracles.by_torch.philox:randint64",
                   "tridiff.oracles.by_exact.rows:randint64"),
        defined="tridiff.oracles.by_torch.philox:randint64_defined",
    ),
    Contract(
        "rand", "§9", ("fp32",), ("out",), (BIT,), References("tridiff.oracles.philox:rand",
                                                              "tridiff.oracles.by_torch.philox:rand"),
    ),
    Contract(
        "bucketize_binary_search", "§10", (*INTEGERS, *FLOATS), ("out",), (BIT,), _three("search", "bucketize", "rows"),
        defined="tridiff.oracles.by_torch.search:bucketize_defined",
    ),
    Contract(
        "pack_value_flag", "§11", ("i16", "i32", "u16", "u32", "fp16", "bf16", "fp32"), ("out",), (BIT,),
        _two("scan", "pack_value_flag"),
    ),
    Contract(
        "unpack_value", "§11", ("i16", "i32", "u16", "u32", "fp16", "bf16", "fp32"), ("out",), (BIT,),
        _two("scan", "unpack_value"),
    ),
    Contract("unpack_flag", "§11", ("u32", "u64"), ("out",), (BIT,), _two("scan", "unpack_flag")),
    *(
        Contract(
            name, "§11", types, ("out",), (BIT,), _three("scan", "exclusive_scan", "rows"),
            defined="tridiff.oracles.by_torch.scan:exclusive_scan_defined",
            bound="tridiff.oracles.by_torch.scan:exclusive_sum_bound",
            float_rules=(SUM("prefix_sum_bound", origin=_SUM4),),
        )
        for name, types in (
            ("exclusive_scan_decoupled_lookback", ("i16", "i32", "u16", "u32", "fp16", "bf16", "fp32")),
            ("exclusive_scan_decoupled_lookback_64", ("i64", "u64", "fp64")),
        )
    ),
    Contract(
        "frexp", "§12", ("fp32", "fp64"), ("mantissa", "exponent"), (NUM, BIT), _three("floats", "frexp", "pointwise"),
    ),
    Contract(
        "sort_with_index", "§13", _ORDERED, ("values", "indices"), (BIT, BIT),
        _three("sorting", "sort_with_index", "rows"), defined="tridiff.oracles.by_torch.sorting:sort_defined",
    ),
    Contract(
        "select_one", "§13", NAMES, ("out",), (BIT,), _three("sorting", "select_one", "rows"),
        defined="tridiff.oracles.by_torch.sorting:select_one_defined",
    ),
)

_BY_HELPER = {contract.helper: contract for contract in CONTRACTS}


def contract(helper: str) -> Contract:
    """The row of a helper; OracleError for an unknown one."""
    try:
        return _BY_HELPER[helper]
    except KeyError:
        raise OracleError(f"no contract for {helper!r}; use one of {' '.join(_BY_HELPER)}") from None
