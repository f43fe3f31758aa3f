"""Generated programs as torch functions, for torch.compile as subject."""
