"""One file for each target, or for targets that differ in a few rows; `tridiff.fuzz.registry` discovers them."""
