"""What is right: references, special-value tables, tolerances and comparison.

Importing this package, `oracles.dtypes`, `oracles.rules` or `oracles.special_values` loads neither torch nor
Triton, so that a parent process without a GPU library can use them.
"""
