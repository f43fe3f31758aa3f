"""Smaller cases with the same signature: `order` says what smaller means, `explicit` gets there."""
