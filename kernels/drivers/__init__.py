"""Drivers: kernels that load operands, call one helper, and store what it returns.

The helper is a constexpr argument, so our own helpers, upstream's, and the deliberately broken ones run through the
same code. Each module defines its kernels and one frozen `Driver` record per kernel (see `record.py`).
"""
