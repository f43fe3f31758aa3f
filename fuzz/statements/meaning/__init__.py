"""Kernels run as Python over arrays of the oracles.

values.py   tensors of one program: operators with implicit conversion and broadcasting
rewrite.py  Python's statements where Triton means something else by them: assignment, `and`, `or`, loops, branches
names.py    what a kernel calls `tl`
run.py      a program from its arrays to what it stores
"""
