# triton.floordiv (int ramp), own on cuda: 1 of 2 rows of out are wrong (value)
# found with Triton 3.6.0, torch 2.11.0+cu130 on NVIDIA H200
import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(out_ptr):
    position = tl.program_id(0) * 64 + tl.arange(0, 64)
    mask = position < 2
    numerator = (position + -2).to(tl.int32)
    denominator = tl.full([], 2, tl.int32)
    result = numerator // denominator
    tl.store(out_ptr + position, result, mask=mask)


out = torch.full((2,), 77, dtype=torch.int32, device="cuda")
kernel[(1,)](out, num_warps=1)
expected = np.array([-1, 0], dtype=np.int32)  # by torch and numpy
print("out:", out.cpu().numpy().tolist(), "expected:", expected.tolist())
print("OK" if np.array_equal(out.cpu().numpy(), expected) else "BUG")
