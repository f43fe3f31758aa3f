"""Faults planted into copies of Triton's Python layer: the measure of how much of it a run of ours would notice."""
