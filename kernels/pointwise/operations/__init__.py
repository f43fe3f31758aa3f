"""The pointwise operations of codegen.md §3, a topic a file; a new one is a row here and its values in the oracles."""
