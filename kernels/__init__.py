"""The Triton kernel stack under test; importable and usable without the fuzzer."""
