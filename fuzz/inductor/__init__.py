"""torch.compile as a subject: how it is run here, and what single operations are asked of it (contract: codegen.md §0).

On a GPU Inductor is run as it is. Without one its Triton code runs in Triton's interpreter: Inductor is told that the
CPU is a device with a Triton backend, and a stand-in for Triton's driver says what device that is.
"""
