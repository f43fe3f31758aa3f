"""Sweeps: every input of a finite space, judged where it is computed (issue: prove the finite cases)."""
