"""What a search may say of a position."""

SOLVED, UNSOLVABLE, UNDECIDED = "solved", "unsolvable", "undecided"
VERDICTS = (SOLVED, UNSOLVABLE, UNDECIDED)
