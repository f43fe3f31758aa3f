"""References in Python integers and rationals behind the numpy calling convention: small arrays, for
arbitration.
"""
