"""A batch of games: the arrays and the one thin shell around the kernels.

The Gymnasium environments, evaluation and training all play through `Games`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from klondike_env.deals import CUSTOM_DEAL, check_deck, decks_of
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.batch import NO_ACTION, TURN, deal_games, step_games
from klondike_env.engine.outcome import NO_LIMIT, Options, Setup
from klondike_env.engine.sampling import sample_actions
from klondike_env.engine.state import LOST, PLAYING, new_states
from klondike_env.engine.views import write_views
from klondike_env.reward import scheme
from klondike_env.rules import Rules

DEFAULT_STALL_LIMIT = 250
TALON_MODES = ("draw", "reach")
_FIRST_CAPACITY = 64


class Games:
    """A batch of `n` games under the same rules, played in step.

    Args:
        n: number of games, 1 or more.
        rules: the rules of all of them.
        talon: "draw" (play the waste's top card only) or "reach" (also every seen talon card that
            drawing can reach, the implied draws being made and counted).
        no_repeats: mask actions that lead back to a position visited since the last progress.
        auto_finish: end a game as won once nothing is face down and the talon is free.
        stall_limit: steps in a row without progress that end a game as stalled; None for no limit.
        step_limit: steps that end a game as truncated; None for no limit.
        reward: a scheme of `klondike_env.reward`.
        masks: whether to keep action masks; without them `masks` has no rows and steps are faster.

    Attributes:
        states: STATE[n], the games; see `klondike_env.engine.state`.
        turns: TURN[n], what their last steps did; see `klondike_env.engine.batch`.
        outcomes: uint8[n], how each stands, see `klondike_env.engine.state`; a view into the states.
        moves: int32[n], the move counters; a view into the states.
        foundations: uint8[n, 4], cards on each foundation; a view into the states.
        masks: int8[n, 313], 1 where an action is legal; all ones once a game has ended.
        rewards: float32[n], of the last step.
        illegal: bool[n], whether the last step's action was refused.
        deals: int64[n], the deal numbers, -1 for custom decks. They determine the hidden cards.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    def __init__(
        self,
        n: int,
        rules: Rules,
        *,
        talon: str = "draw",
        no_repeats: bool = False,
        auto_finish: bool = False,
        stall_limit: int | None = DEFAULT_STALL_LIMIT,
        step_limit: int | None = None,
        reward: str = "win",
        masks: bool = True,
    ) -> None:
        if talon not in TALON_MODES:
            raise ValueError(f"talon is {talon!r}; allowed: {', '.join(TALON_MODES)}")
        self.rules = rules
        self.setup = Setup(
            rules=rules.params(),
            options=Options(
                reach=int(talon == "reach"),
                no_repeats=int(no_repeats),
                auto_finish=int(auto_finish),
                stall_limit=_limit("stall_limit", stall_limit),
                step_limit=_limit("step_limit", step_limit),
            ),
            scheme=scheme(reward),
        )
        self._packed = self.setup.packed()
        self.states = new_states(n)
        self.deals = np.full(n, CUSTOM_DEAL, dtype=np.int64)
        self.masks = np.ones((n if masks else 0, N_ACTIONS), dtype=np.int8)
        self.turns = np.zeros(n, dtype=TURN)
        self._visited = np.zeros((n, _FIRST_CAPACITY if no_repeats else 0), dtype=np.uint64)
        self._views = new_states(n)
        self._name_fields()

    def _name_fields(self) -> None:
        """Give names to fields of the records, as views that change with them."""
        self.outcomes = self.states["outcome"]
        self.moves = self.states["moves"]
        self.foundations = self.states["foundation"]
        self.rewards = self.turns["reward"]
        self.illegal = self.turns["illegal"]
        self._visited_counts = self.turns["visited_count"]

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Restore a pickled or copied batch; views of other arrays would come back as arrays of their own."""
        self.__dict__.update(attributes)
        self._name_fields()

    def __len__(self) -> int:
        return len(self.states)

    @property
    def over(self) -> np.ndarray:
        """Which games have ended: bool[n]."""
        return self.outcomes != PLAYING

    def deal(self, deals: Any, rows: Any = None) -> None:
        """Start games of the given deal numbers. deals: int[m]; rows: int[m], all rows by default.

        Raises:
            ValueError: a deal number is not 0 to 2**53 - 1.
        """
        self._start(decks_of(deals), deals, rows)

    def deal_decks(self, decks: Any, rows: Any = None) -> None:
        """Start games of custom decks. decks: int[m, 52] in dealing order; rows: int[m], all by default.

        Raises:
            ValueError: a deck does not hold every card once.
        """
        self._start(np.stack([check_deck(deck) for deck in decks]), np.full(len(decks), CUSTOM_DEAL), rows)

    def _start(self, decks: np.ndarray, deals: Any, rows: Any) -> None:
        rows = np.arange(len(self)) if rows is None else np.asarray(rows, dtype=np.int64)
        deal_games(self.states, self.turns, self._visited, self.masks, rows, decks, self._packed)
        self.deals[rows] = deals

    def step(self, actions: np.ndarray, active: np.ndarray | None = None) -> int:
        """Play one action in each game. Games that have ended are left alone.

        Args:
            actions: int64[n], each 0 to 312; any other number is refused like an illegal action.
            active: bool[n]; where False the game is left alone. All are active by default.

        Returns:
            How many games ended with this step.
        """
        if active is not None:
            actions = np.where(active, actions, NO_ACTION)
        self._make_room()
        return step_games(self.states, self.turns, self._visited, self.masks, actions, self._packed)

    def random_actions(self, generator: np.random.Generator) -> np.ndarray:
        """A uniformly random legal action for each game: int64[n]; meaningless where a game has ended."""
        actions = np.empty(len(self), dtype=np.int64)
        sample_actions(self.turns, generator.random(len(self)), actions)
        return actions

    def forfeit(self, rows: np.ndarray) -> None:
        """End the games of some rows as lost. rows: int[m]."""
        self.outcomes[rows] = LOST
        if len(self.masks):
            self.masks[rows] = 1

    def _make_room(self) -> None:
        """Double the room for visited positions when a game may fill it with its next step."""
        n, capacity = self._visited.shape
        if capacity and int(self._visited_counts.max()) >= capacity:
            self._visited = np.concatenate([self._visited, np.zeros((n, capacity), dtype=np.uint64)], axis=1)

    def views(self) -> np.ndarray:
        """What a player knows of each game: STATE[n] with unseen cards overwritten, in a buffer used again."""
        write_views(self.states, self._views)
        return self._views


def _limit(field: str, value: int | None) -> int:
    """A limit as the kernels take it.

    Raises:
        ValueError: the limit is neither None nor a positive whole number.
    """
    if value is None:
        return NO_LIMIT
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{field} is {value!r}; allowed: a whole number from 1, or None for no limit")
    return value
