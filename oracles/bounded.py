"""Rules of outputs that need only lie within an error bound. Imports neither torch nor Triton: whoever draws cases asks
for them; the bounds themselves are computed by `tolerances`."""

from tridiff.oracles.rules import ABS, SUM, Rule

_SECTION = "oracles.md §4"

RULES: dict[str, Rule] = {
    name: SUM(name, origin=f"{_SECTION}, {row}")
    for name, row in (
        ("sum_bound", "sum: N*eps*S|x|"), ("mean_bound", "mean: sum bound / N"),
        ("prefix_sum_bound", "prefix sum: sum over the first i+1"),
        ("prod_bound", "prod: N*eps relative inside the range condition"),
        ("prefix_product_bound", "prefix product: prod over the first i+1"), ("dot_bound", "dot: K terms"),
        ("welford_mean_bound", "mean of a Welford tree"), ("welford_m2_bound", "variance (Welford tree)"),
        ("two_pass_variance_bound", "variance (two-pass)"),
        ("softmax_bound", "softmax: exp at the shifted argument + sum bound"),
        ("approximation_bound", "approximate instructions: published absolute errors and ulps"),
        ("lgamma_bound", "and §3, lgamma near its roots"),
    )
}

RANDN_RULE = ABS(
    2e-5, origin="|z| <= 5.68 times the fp32 errors of the angle (2 roundings at 2 pi) and of cos, plus that of r",
)
