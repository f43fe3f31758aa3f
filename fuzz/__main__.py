"""`python -m tridiff.fuzz` is `tridiff`."""

from tridiff.fuzz.cli.app import main

if __name__ == "__main__":
    main()
