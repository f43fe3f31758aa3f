"""Naive loop: Hypothesis draws one input, one launch, one comparison, in one process. Prints inputs per second."""

import contextlib
import sys
import time


def main() -> None:
    """Argument: when to end, in seconds since 1970."""
    import hypothesis
    import torch
    from hypothesis import HealthCheck, Phase, strategies as st

    from tridiff.kernels.drivers.elementwise import elementwise_binary
    from tridiff.kernels.helpers.extrema import minimum

    until = float(sys.argv[1])
    done = 0
    number = st.floats(width=32)

    @hypothesis.settings(max_examples=10**9, database=None, deadline=None, phases=[Phase.generate],
                         suppress_health_check=list(HealthCheck))
    @hypothesis.given(st.lists(st.tuples(number, number), min_size=1, max_size=16))
    def loop(pairs: list[tuple[float, float]]) -> None:
        nonlocal done
        if time.time() > until:
            raise KeyboardInterrupt
        values = torch.tensor(pairs, dtype=torch.float32, device="cuda").T.contiguous()
        out = torch.empty(len(pairs), device="cuda")
        elementwise_binary.kernel[(1, 1)](
            a_ptr=values[0], a_stride_row=0, a_stride_col=1, b_ptr=values[1], b_stride_row=0, b_stride_col=1,
            out_ptr=out, out_stride_row=0, out_stride_col=1, rows=1, cols=len(pairs), HELPER=minimum, ROW_BLOCK=1,
            COL_BLOCK=16, BOOL=False, FAULT="")
        wanted = torch.minimum(values[0], values[1])
        assert torch.equal(torch.nan_to_num(out), torch.nan_to_num(wanted))
        done += 1

    started = time.perf_counter()
    with contextlib.suppress(KeyboardInterrupt):
        loop()
    print(done / (time.perf_counter() - started))


if __name__ == "__main__":
    main()
