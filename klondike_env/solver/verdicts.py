"""What a search may say of a position."""

SOLVED, UNSOLVABLE, UNDECIDED = "solved", "unsolvable", "undecided"
VERDICTS = (SOLVED, UNSOLVABLE, UNDECIDED)

# The same for kernels.
LOST, OPEN, WON = 0, 1, 2
