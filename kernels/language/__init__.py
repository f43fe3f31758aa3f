"""Kernels of one call: a function, operator or method of `triton.language`, written as a user writes it.

call.py     the call as data: operands, options, what is stored
emit.py     the source of its kernel
"""
