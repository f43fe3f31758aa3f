"""One entry again: rerun it, describe it, write it as a standalone script."""
