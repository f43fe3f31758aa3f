"""Scenes: each drives one part of Triton and returns what was observed, by name."""
