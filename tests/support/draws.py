"""What a campaign draws, without shrinking: the same for the same seed, whatever the process did before."""

from tridiff.fuzz.known.draws import GENERATE, draws

__all__ = ["GENERATE", "draws"]
