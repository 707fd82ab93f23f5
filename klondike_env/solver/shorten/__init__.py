"""Short lines: what `solve` finds wins, `shorten` looks for a line with few moves."""

from klondike_env.solver.shorten.shortening import shorten

__all__ = ["shorten"]
