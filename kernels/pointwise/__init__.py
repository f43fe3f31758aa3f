"""Pointwise operations: what each is called, which types it takes, and how it is written in Triton (`table`)."""
