"""The rows of the language, by topic: each file ends with `ROWS`."""
