"""Bare loop: launch `minimum` on 2^20 rows of 128, compare with torch.minimum. Prints rows per second."""

import sys
import time


def main() -> None:
    """Argument: when to end, in seconds since 1970."""
    import torch

    from tridiff.kernels.drivers.elementwise import elementwise_binary
    from tridiff.kernels.helpers.extrema import minimum

    rows, columns = 1 << 20, 128
    a = torch.randn(rows, columns, device="cuda")
    b = torch.randn(rows, columns, device="cuda")
    out = torch.empty_like(a)

    def once() -> bool:
        elementwise_binary.kernel[(rows // 4, 1)](
            a_ptr=a, a_stride_row=columns, a_stride_col=1, b_ptr=b, b_stride_row=columns, b_stride_col=1,
            out_ptr=out, out_stride_row=columns, out_stride_col=1, rows=rows, cols=columns, HELPER=minimum,
            ROW_BLOCK=4, COL_BLOCK=columns, BOOL=False, FAULT="")
        return bool((out == torch.minimum(a, b)).all())

    assert once()
    started, done = time.perf_counter(), 0
    while time.time() < float(sys.argv[1]):
        assert once()
        done += rows
    print(done / (time.perf_counter() - started))


if __name__ == "__main__":
    main()
