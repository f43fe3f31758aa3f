"""Chains of data movements: drawn, launched, and computed by the references."""
