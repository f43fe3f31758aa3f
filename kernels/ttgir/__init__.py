"""Kernels written as TritonGPU IR, for operations that no front end emits.

forms.py    templates with parameters: one function per form
passes.py   single compiler passes on IR text, for operations that live inside a pass
"""
