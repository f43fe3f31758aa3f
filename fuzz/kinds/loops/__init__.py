"""Ordinary kernels with pipelined or specialised loops and with tensor descriptors."""
