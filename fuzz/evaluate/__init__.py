"""An evaluator of Triton's IR as text: TTIR and TTGIR, in front of any pass and behind it, over numpy arrays.

`parse` reads the text, `machine` runs a function of it once for each program, `table` maps the name of an operation to
its meaning (one file for each kind: `integers`, `floats`, `conversions`, `shapes`, ...). Text and numpy alone: neither
MLIR nor Triton's interpreter takes part.

What it does not know it refuses by name (`NotEvaluated`). What it does not model: time (copies are done where they are
issued, so that a missing wait does not show), the order of sums (a tree of halves), contraction to fused
multiply-adds, and layouts, which say where values live and not what they are.
"""
