# triton.mod (int gather), own on cuda: 1 of 2 rows of out are wrong (value)
# found with Triton 3.9.0, torch 2.11.0+cu130 on NVIDIA H200
import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(table_ptr, out_ptr):
    position = tl.program_id(0) * 256 + tl.arange(0, 256)
    mask = position < 2
    numerator = position + -2
    index = numerator % 2
    element = tl.load(table_ptr + 6 + index, mask=mask, other=0)
    tl.store(out_ptr + position, element, mask=mask)


table = torch.tensor([-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5], dtype=torch.int32, device="cuda")
out = torch.full((2,), 77, dtype=torch.int32, device="cuda")
kernel[(1,)](table, out)
expected = np.array([0, -1], dtype=np.int32)  # by torch and numpy
print("out:", out.cpu().numpy().tolist(), "expected:", expected.tolist())
print("OK" if np.array_equal(out.cpu().numpy(), expected) else "BUG")
