"""Kernels written as TTGIR text."""
