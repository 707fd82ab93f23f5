"""The Gymnasium environment of one game."""

from __future__ import annotations

import copy
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium import spaces

from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.state import OUTCOME_NAMES, PLAYING, TRUNCATED
from klondike_env.formats import read_deck
from klondike_env.games import check_legal
from klondike_env.position import read_position
from klondike_env.render import RENDER_FPS, RENDER_MODES, check_render_mode, render_games
from klondike_env.settings import check_reset_options, read_action, split_keywords


class KlondikeEnv(gymnasium.Env[Any, Any]):
    """Klondike solitaire and its relatives.

    ## Description
    Seven columns are dealt, with 21 cards face down; the other 24 cards are the stock. Build the four
    suits up from ace to king on the foundations. The variant (or the rule keywords) says how columns
    are built, what empty columns take, how many cards are drawn and how often the waste is redealt.

    ## Action space
    `Discrete(313)`: `card * 6 + destination` (0 its foundation, 1 to 4 onto the next higher card of
    clubs, diamonds, hearts, spades, 5 an empty column), and 312 for the stock (draw, or redeal when
    it is empty). `klondike_env.engine.actions` encodes, decodes and names actions.

    ## Observation space
    The information state in one of three forms, see `klondike_env.observation`.

    ## Rewards
    `reward="win"` (1 for a win), "progress", "standard" or "vegas", see `klondike_env.reward`.

    ## Starting state
    A deal: `reset(seed=...)` draws one with `np_random`, from the training deals (2,000,000 to
    2**53 - 1) or as the arguments `deals`, `winnable_only` and `difficulty` say. `options={"deal": number}`
    names a deal. `options={"deck": deck}` gives a deck, as 52 card ids in dealing order or as text, see
    `klondike_env.formats.read_deck`. `options={"position": position}` gives a position to play on from, as
    text, see `klondike_env.position`, or as a STATE record; unknown cards are filled in at random.

    ## Episode end
    1. Termination: won (52 cards on the foundations; with `auto_finish` once the game is decided).
    2. Termination: lost (no card can be moved, now or with any card that drawing can reach).
    3. Termination: stalled (`stall_limit` steps in a row without progress).
    4. Truncation: `step_limit` steps, where one is set.

    ## Information
    `action_mask` (int8[313]; all ones once the game is over), `deal` (the deal number, -1 for a custom
    deck, a position or a determinized game; it determines the hidden cards, so never show it to an
    agent), `moves`, `foundation` (cards on the foundations), `outcome` ("playing", "won", "lost",
    "stalled", "truncated"), `illegal_action` (whether the last action was refused).

    ## Arguments
    `variant` names a preset; without it the fields of `klondike_env.rules.Rules` are keywords. All
    others are the fields of `klondike_env.settings.Settings`; `render_mode` is None, "ansi" (text) or
    "rgb_array" (pictures, uint8[600, 800, 3], which need Pillow).

    ## Version history
    v0: first version.
    """

    metadata = {"render_modes": list(RENDER_MODES), "render_fps": RENDER_FPS}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(self, variant: str | None = None, *, render_mode: str | None = None, **keywords: Any) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.rules, self.settings = split_keywords(variant, keywords, ("render_mode",))
        self.games = self.settings.games(1, self.rules)
        self.deal_source = self.settings.deal_source(self.rules)
        self.observer = self.settings.observer(self.games)
        self.observation_space = self.observer.space
        self.action_space = spaces.Discrete(N_ACTIONS)
        self._row = np.zeros(1, dtype=np.int64)
        self._actions = np.zeros(1, dtype=np.int64)
        self._dealt = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start a game; options are "deal", "deck" or "position".

        Raises:
            ValueError: an option is unknown or has a value that is not allowed.
        """
        options = check_reset_options(options)
        super().reset(seed=seed)
        if "deck" in options:
            self.games.deal_decks([read_deck(options["deck"])])
        elif "deal" in options:
            self.games.deal([options["deal"]])
        elif "position" in options:
            self.games.start_positions(read_position(options["position"], self.rules, self.np_random))
        else:
            self.games.deal([self.deal_source.draw(self.np_random)])
        self._dealt = True
        return self.observe()

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """The observation and information of the game as it stands, as `reset` returns them.

        Raises:
            gymnasium.error.ResetNeeded: no game was started.
        """
        self._need_game()
        return self.observer.single(self.games), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Play one action.

        Raises:
            gymnasium.error.ResetNeeded: no game is being played.
            ValueError: the action is not a whole number from 0 to 312, or it is illegal and `illegal_action` is
                "raise".
        """
        games = self.games
        if not self._dealt or games.outcomes.item(0) != PLAYING:
            raise gymnasium.error.ResetNeeded("no game is being played; call reset() first")
        self._actions[0] = read_action(action)
        if self.settings.illegal_action == "raise":
            check_legal(games, self._actions, self._row)
        games.step(self._actions)
        if self.settings.illegal_action == "terminate" and games.illegal[0]:
            games.forfeit(self._row)
        outcome = games.outcomes.item(0)
        terminated = outcome not in (PLAYING, TRUNCATED)
        observation = self.observer.single(games)
        return observation, games.rewards.item(0), terminated, outcome == TRUNCATED, self._info()

    def get_state(self) -> bytes:
        """The game as bytes for `set_state`: the position, what was seen, positions visited, score, last reward.

        The random generator is not included, so `set_state` does not change which deals an environment draws next.
        `clone` and pickle do copy it. The bytes hold the hidden cards. They are safe to load from any source.

        Raises:
            gymnasium.error.ResetNeeded: no game was started.
        """
        self._need_game()
        return self.games.get_state()

    def set_state(self, state: bytes) -> None:
        """Restore a game from the bytes of `get_state`; `observe` then shows it.

        Raises:
            ValueError: the bytes are damaged, or the game was saved under other rules or options.
        """
        self.games.set_state(state)
        self._dealt = True

    def clone(self) -> Self:
        """An independent copy that plays on in the same way: the game, its history and the random generator."""
        return copy.deepcopy(self)

    def determinize(self, rng: Any) -> Self:
        """A copy for looking ahead fairly: its unseen cards are shuffled uniformly over the unseen places.

        The player cannot tell it from this game: observation and legal moves are the same. Its deal number is -1.

        Args:
            rng: a numpy Generator, or a whole number as a seed.

        Raises:
            gymnasium.error.ResetNeeded: no game was started.
            ValueError: `rng` is neither a numpy Generator nor a whole number from 0.
        """
        self._need_game()
        copied = self.clone()
        copied.games.shuffle_unseen(rng)
        return copied

    def action_masks(self) -> np.ndarray:
        """The legal actions as bool[313], the form that sb3-contrib expects.

        Raises:
            gymnasium.error.ResetNeeded: no game was started.
        """
        self._need_game()
        return self.games.masks[0].astype(bool)

    def close(self) -> None:
        """End the game; another can be started by `reset`."""
        self._dealt = False

    def _need_game(self) -> None:
        if not self._dealt:
            raise gymnasium.error.ResetNeeded("no game was started; call reset() first")

    def render(self) -> Any:
        """The board as text ("ansi") or as a fresh uint8[600, 800, 3] ("rgb_array"); None without a mode.

        Raises:
            gymnasium.error.ResetNeeded: no game was started.
        """
        self._need_game()
        boards = render_games(self.games, self.render_mode, thoughtful=self.settings.thoughtful)
        return None if boards is None else boards[0]

    def _info(self) -> dict[str, Any]:
        games = self.games
        return {
            "action_mask": games.masks[0].copy(),
            "deal": games.deals.item(0),
            "moves": games.moves.item(0),
            "foundation": sum(games.foundations[0].tolist()),
            "outcome": OUTCOME_NAMES[games.outcomes.item(0)],
            "illegal_action": games.illegal.item(0),
        }
