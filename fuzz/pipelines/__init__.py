"""Pipelined kernels as cases: drawing plans, launching them, what they must give, and what their IR must hold.

strategies.py  Hypothesis strategies of plans, by family
cases.py       the arrays that belong to a plan, which cases are valid, how plans shrink
answers.py     a plan interpreted with the oracles' functions, in numpy and in torch
launching.py   plan -> text -> launch, under the schedules that judge synchronisation
contents_of_ir.py  what the compiled IR must contain: operations, register requests
loop_cases.py, text_cases.py  ordinary kernels with loops or tensor descriptors, kernels as TTGIR text
cells.py       what of a plan's vocabulary a campaign counts
transfers.py   boxes of tensor maps and exchanges in a cluster, from records instead of plans
targets.py     what the targets have in common
"""
