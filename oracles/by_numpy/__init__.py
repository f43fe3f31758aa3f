"""References written with numpy only: arrays in, arrays out."""
