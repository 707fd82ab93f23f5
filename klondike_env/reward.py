"""Reward schemes as data.

- `win`: 1 for a win, else 0.
- `progress`: `win` plus potential-based shaping (Ng, Harada and Russell 1999) with discount 1: each
  step adds the change of a potential that counts 0.01 for every card on the foundations and 0.02
  for every face-down card that was turned up, and that is 0 once the game has ended. Over an
  episode the shaping adds up to 0, so the return is that of `win`.
- `standard`: points as in the standard scoring of computer Klondike: a card from the waste to a
  column 5, a card to a foundation 10, turning a card up 5, a card taken back from a foundation -15,
  a redeal when cards are drawn one at a time -100; the total never falls below 0. The reward is the
  change of the total.
- `vegas`: -52 for the first accepted action, 5 for each card to a foundation, -5 for each card taken back
  from one.
"""

from __future__ import annotations

from klondike_env.checks import check_choice
from klondike_env.engine.setup import Scheme

SCHEMES: dict[str, Scheme] = {
    "win": Scheme(win=1.0),
    "progress": Scheme(win=1.0, foundation_potential=0.01, face_up_potential=0.02),
    "standard": Scheme(
        waste_to_column=5.0, to_foundation=10.0, turn_up=5.0, worry_back=-15.0, redeal=-100.0, floored=1.0
    ),
    "vegas": Scheme(to_foundation=5.0, worry_back=-5.0, stake=-52.0),
}


def scheme(name: str) -> Scheme:
    """The reward scheme with this name.

    Raises:
        ValueError: there is no such scheme; the message lists them.
    """
    return SCHEMES[check_choice("reward", name, tuple(SCHEMES))]
