"""The solver. It knows all cards, which a player does not: it decides whether a game can be won, and how.

    verdicts.py   "solved", "unsolvable", "undecided"
    lengths.py    how many moves a line has, by the engine
    classes/      the class search, for the rules of draw 1 and draw 3 with any draw count: positions that forget
                  where face-up cards lie
    columns/      the column search, for any rules: positions with their columns
    solve.py      `solve`: one position, by the search that fits its rules, within `Limits`; gives a `Solution`
    play.py       `complete` plays a game to its win; `hint` says which actions keep it winnable
    analyse.py    `analyse` says which action of a played game lost it
    shorten/      `shorten` looks for a line with few moves, or proves that none is shorter
    study/        many deals on many cores, verdicts kept as labels, and the study of winnability

A module imports only from lines above its own: the two searches know nothing of each other, and nothing here knows
environments. Begin with solve.py; each folder's `__init__` says in which order to read it.
"""

from klondike_env.solver.analyse import Analysis, PlayedGame, analyse
from klondike_env.solver.play import complete, hint
from klondike_env.solver.shorten import shorten
from klondike_env.solver.solve import Limits, Solution, solve

__all__ = ["Analysis", "Limits", "PlayedGame", "Solution", "analyse", "complete", "hint", "shorten", "solve"]
