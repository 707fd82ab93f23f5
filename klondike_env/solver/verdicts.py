"""What a search says of a position: whether a player who knows all cards can win it."""

SOLVED, UNSOLVABLE, UNDECIDED = VERDICTS = ("solved", "unsolvable", "undecided")

# A verdict as a number, in kernels and in files: its index in VERDICTS.
SOLVED_INDEX, UNSOLVABLE_INDEX, UNDECIDED_INDEX = range(len(VERDICTS))


def verdict_of(status: int) -> str:
    """The verdict for the status with which a kernel ended: the index of a verdict; higher ones mean undecided."""
    return VERDICTS[min(status, UNDECIDED_INDEX)]
