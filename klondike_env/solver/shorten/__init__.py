"""Short lines: `solve` finds any line that wins, `shorten` looks for one with few moves.

Read steps (what a move costs, and the fewest moves that a position still needs), beam (a search that keeps the most
promising positions), best_first (A*, which proves that no line is shorter), and shortening (`shorten` itself).
"""

from klondike_env.solver.shorten.shortening import shorten

__all__ = ["shorten"]
