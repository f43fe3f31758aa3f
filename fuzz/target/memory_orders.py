"""Memory orders that a target may ask of the compiled code of its kernels; `fuzz.judge.ptx_orders` reads them."""

from typing import Literal, get_args

_Products = Literal["at most 0 products", "at most 1 products", "at most 2 products", "at most 3 products"]
MemoryOrder = Literal["release", "acquire", "completion", "fence", "fence of reads", "fence of writes"] | _Products
PRODUCTS: tuple[MemoryOrder, ...] = get_args(_Products)
"""By how many multiplications a kernel may have under way behind a wait for some."""
