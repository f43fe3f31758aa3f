"""What became of one kernel: its source, what a launch told the compiler, every stage down to machine code, what each
program did to memory, and how one element came about.

The process that asks imports neither torch nor Triton (`explain.explain`); two children answer: one compiles
(`compiled`), one interprets (`traced`). What they found is plain data (`model`), shown as text (`text`), JSON, or one
page (`page`). Contract: `explain.md` beside this file.
"""
