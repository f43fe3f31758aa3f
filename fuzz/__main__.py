"""`python -m fuzz` is `tridiff`."""

from fuzz.cli.app import main

if __name__ == "__main__":
    main()
