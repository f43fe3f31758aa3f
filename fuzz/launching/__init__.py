"""What lies between a kernel's source and its launch, driven as users drive it and judged by what can be observed."""
