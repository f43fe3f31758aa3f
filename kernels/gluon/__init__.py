"""Gluon kernels made from chains of data movements: layouts, the chain record, and the text of the kernel."""
