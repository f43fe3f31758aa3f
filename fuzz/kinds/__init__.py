"""Kinds of programs that a case may carry: how each is drawn, computed by the references, launched and made smaller."""
