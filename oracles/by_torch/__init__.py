"""References written with torch only, device agnostic: tensors in, tensors out, no synchronisation."""
