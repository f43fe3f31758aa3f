"""Statements and expressions of the language: whole kernels of nested constructs, judged by running the same Python.

rows/         constructs: how each is written, and how one is drawn
scope.py      what a drawn program may name, with the types of it
text.py       program -> source of its kernel
meaning/      the source run as Python over arrays of the oracles: what Triton's front end must make of it
cases.py      the arrays that belong to a program, which cases are valid, simpler programs
draw.py       Hypothesis strategies
answers.py    what a program must store
launching.py  program -> launch
"""
