"""Device helpers: `@triton.jit` functions called from inside kernels, one module per family.

Every module `<family>.py` states its contract and has a sibling `mutants_<family>.py` whose `MUTANTS` table maps a
helper name to deliberately broken variants of it.
"""
