"""Random programs: how they are drawn (`draw`), what they compute (`by_numpy`, `by_torch`), how they are launched
(`own`, `upstream`) and how a failing one becomes small (`reductions`).

`draw` and `reductions` belong to the process that draws cases: they import neither torch nor Triton.
"""
