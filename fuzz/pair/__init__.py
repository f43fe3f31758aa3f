"""One case on two builds: each is the other's oracle."""
