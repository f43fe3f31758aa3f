"""Device helpers: `@triton.jit` functions called from inside kernels, one module per family.

Every module `<family>.py` states its contract and has a sibling `mutants_<family>.py` with its faults, which are
edits of the module's source; its `MUTANTS` table maps a helper name to deliberately broken variants of it.
"""
