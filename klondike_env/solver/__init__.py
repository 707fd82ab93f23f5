"""Solving: everything here knows all cards, which a player does not.

`solve` decides a deal or position, `shorten` makes the line it found short, `complete` plays a game to its end,
`hint` tells which moves keep it winnable, `analyse` which action of a game lost it.
"""

from klondike_env.solver.analyse import Analysis, PlayedGame, analyse
from klondike_env.solver.play import complete, hint
from klondike_env.solver.shorten import shorten
from klondike_env.solver.solve import Limits, Solution, solve

__all__ = ["Analysis", "Limits", "PlayedGame", "Solution", "analyse", "complete", "hint", "shorten", "solve"]
