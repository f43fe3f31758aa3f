"""From content terms to bits: `text` (values as text), `generate` (terms to tensors), `place` (memory)."""
