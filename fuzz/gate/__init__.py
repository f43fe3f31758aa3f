"""The gate: whether one build of Triton can take the place of another, with the evidence."""
