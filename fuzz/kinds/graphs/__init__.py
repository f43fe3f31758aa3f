"""Random programs as graphs: how they are drawn (`draw`), what they compute (`by_numpy`, `by_torch`), how they are
launched (`launching`) and which simpler ones are tried when one fails (`steps`).

`draw` and `steps` belong to the process that draws cases: they import neither torch nor Triton.
"""
