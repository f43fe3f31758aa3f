"""The IR ledger: which operations, layouts and element types the compiler has been made to produce."""
