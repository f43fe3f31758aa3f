"""Boxes of tensor maps and exchanges in a cluster."""
