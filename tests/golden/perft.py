"""Perft: in how many ways a number of actions can be played from the start of a deal.

A position is counted once for every way of reaching it. A game that has ended has no actions. Talon cards are
played from the top of the waste, and no game stalls.
"""

from __future__ import annotations

import numpy as np

from klondike_env.games import Games
from klondike_env.rules import PRESETS, Rules

DEALS = (0, 1, 123_456, 2_000_000, 2**53 - 1)
DEPTHS = {"thumb_and_pouch": 6, "thumb_and_pouch_whole": 6}  # less deep, because there are more legal actions
DEFAULT_DEPTH = 10


def perft(deal: int, depth: int, rules: Rules) -> list[int]:
    """The counts for depths 1 to `depth`."""
    games = Games(1, rules, stall_limit=None)
    games.deal([deal])
    counts = [_count_actions(games)]
    while len(counts) < depth:
        games = _play_every_action(games)
        counts.append(_count_actions(games))
    return counts


def _count_actions(games: Games) -> int:
    return int(games.masks[~games.over].sum(dtype=np.int64))


def _play_every_action(games: Games) -> Games:
    """A batch of the games that every legal action of every game leads to."""
    rows, actions = np.nonzero(games.masks & ~games.over[:, None])
    after = games.take(rows)
    after.step(actions)
    assert not after.illegal.any()
    return after


def table() -> str:
    """The counts of every preset as CSV."""
    lines = ["preset,deal,depth,nodes"]
    for preset, rules in PRESETS.items():
        for deal in DEALS:
            counts = enumerate(perft(deal, DEPTHS.get(preset, DEFAULT_DEPTH), rules), start=1)
            lines += [f"{preset},{deal},{depth},{nodes}" for depth, nodes in counts]
    return "\n".join(lines) + "\n"
