"""Pipelined kernels: copies, barriers and tensor cores that overlap, generated from a plan.

plan.py     what a kernel does, as data
legal.py    which plans are legal
steps.py    the steps of one partition: copy, wait, arrive, load, compute, store
build.py    plan -> steps; the only place that decides what waits for what
faults.py   deliberately broken variants: changes of the steps
emit.py, text.py, layouts.py  steps -> Gluon source text
boxes.py, cluster_exchange.py  copies of 1 to 5 axes, stores into other blocks: records that are written as text at
            once; text_faults.py breaks that text
loops.py, copy_lines.py  ordinary kernels, which the compiler pipelines; loop_faults.py breaks them
model.py    steps run one at a time on the CPU, with copies that finish as late or as early as they may

The text that is compiled and the model that proves progress come from the same steps.
"""
