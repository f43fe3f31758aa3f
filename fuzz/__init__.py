"""How differences are found: cases, strategies, targets, backends, workers, campaigns, shrinking, corpus.

Nothing imported here touches torch or triton: the process that draws cases never owns a GPU.
"""
