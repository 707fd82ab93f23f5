"""The solver. It sees every card, which a player does not, and decides whether a game can be won, and how.

    verdicts.py   "solved", "unsolvable", "undecided"
    lengths.py    how many moves a line has, counted by the engine
    classes/      the class search, fast, for the rules of draw 1 with any draw count: positions that differ only in
                  where face-up cards lie count as one
    columns/      the column search, for any rules
    solve.py      `solve`: one position, by the search that fits its rules, within `Limits`; gives a `Solution`
    play.py       `complete` plays a game to its win; `hint` says which actions keep it winnable
    analyse.py    `analyse` says which action of a played game lost it
    shorten/      `shorten` looks for a line with few moves, or proves that none is shorter
    study/        many deals on many cores, verdicts kept as labels, and the study of winnability

A line is a sequence of actions. A card goes up when it moves to its foundation, and comes down when it is worried back.

A module imports only from lines above its own. The two searches do not import each other, and nothing here imports
environments. Begin with solve.py; each folder's `__init__` says in which order to read it.
"""

from klondike_env.solver.analyse import Analysis, PlayedGame, analyse
from klondike_env.solver.play import complete, hint
from klondike_env.solver.shorten import shorten
from klondike_env.solver.solve import Limits, Solution, solve

__all__ = ["Analysis", "Limits", "PlayedGame", "Solution", "analyse", "complete", "hint", "shorten", "solve"]
