"""Step-wise simulation of protocols that synchronise programs through memory.

The interpreter runs the programs of a grid one after the other and never interleaves them, and a GPU
interleaves them as it pleases. Here programs take turns at every access to shared memory, in an order that is
chosen, recorded and reproducible: random from a seed, adversarial, or every order there is.

memory.py         shared words, and loads that may see old values unless acquire meets release
scheduling.py     who goes next, when a program is stuck, what happened
exhaustive.py     every order of a small case
lookback.py       the look-back scans as sequences of accesses, with their faults
grid_barrier.py   the grid barrier likewise
interpreted.py    real kernels, run by the interpreter, under the same scheduler and memory

The protocols in lookback.py and grid_barrier.py make the same accesses in the same order as the Triton
kernels, which the tests show by running both under the same schedule. What is not modelled: the threads of
one program (hence barriers inside a program), and orderings weaker than release and acquire provide.
"""
