"""Pipelined kernels as cases: drawing plans, launching them, what they must give, and what their IR must hold.

draw.py         Hypothesis strategies of plans, by family
cases.py        the arrays that belong to a plan, which cases are valid, and simpler plans
answers.py      a plan evaluated with the functions of the oracles, in numpy and in torch
launching.py    plan -> text -> launch, under the schedules that judge synchronisation
expected_ir.py  what the compiled IR must contain: operations, register requests
coverage.py     which part of the vocabulary of plans a campaign reached
targets.py      what the targets have in common
"""
