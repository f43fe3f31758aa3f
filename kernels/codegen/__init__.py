"""From a program graph to one readable Triton kernel (contract: codegen.md)."""
