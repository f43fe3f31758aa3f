# triton.mod (int gather), own on cuda: 1 of 16 rows of out are wrong (value)
# found with Triton 3.6.0, torch 2.11.0+cu130 on NVIDIA H200
import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(table_ptr, out_ptr):
    position = tl.program_id(0) * 256 + tl.arange(0, 256)
    mask = position < 16
    numerator = position + -2
    index = numerator % 2
    element = tl.load(table_ptr + 16 + index, mask=mask, other=0)
    tl.store(out_ptr + position, element, mask=mask)


table = torch.arange(-16, 6, 1, dtype=torch.int32, device="cuda")
out = torch.full((16,), 77, dtype=torch.int32, device="cuda")
kernel[(1,)](table, out)
expected = np.array([0, -1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1], dtype=np.int32)  # by torch and numpy
print("out:", out.cpu().numpy().tolist(), "expected:", expected.tolist())
print("OK" if np.array_equal(out.cpu().numpy(), expected) else "BUG")
