"""Expendable processes that own the device.

`pool` (driver side) talks to a `zygote` (torch and Triton imported, no CUDA context) that forks `child`
processes; a child materialises, launches and judges (`execute`). `protocol` is every message there is.
"""
