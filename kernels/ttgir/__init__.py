"""Kernels written as TritonGPU IR, for operations that no front end emits.

text.py     what such a kernel is, as data
forms.py    templates with parameters: one function per form
faults.py   deliberately broken variants: changes of that text
passes.py   single compiler passes on IR text, for operations that live inside a pass
"""
