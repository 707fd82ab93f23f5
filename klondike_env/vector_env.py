"""The native vector environment: many games on the kernels of the single one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from klondike_env.deals import TRAINING_DEALS
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.state import OUTCOME_NAMES, PLAYING, TRUNCATED
from klondike_env.settings import check_legal, check_reset_options, legible_actions, split_keywords

_OUTCOMES = np.array(OUTCOME_NAMES, dtype=object)


class KlondikeVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` games stepped together, equal step for step to single environments with the same seeds.

    Args:
        num_envs: number of games.
        variant: as for `klondike_env.env.KlondikeEnv`.
        autoreset_mode: `AutoresetMode.NEXT_STEP` (default), `SAME_STEP` or `DISABLED`, or its value.
        max_episode_steps: the step limit that `gymnasium.make_vec` passes; the same as `step_limit`.
        render_mode: None; boards are drawn by the single environment.
        **keywords: as for `klondike_env.env.KlondikeEnv`.

    `reset` takes the options "deal" (a number, or one for each game), "deck" (one for each game) and
    "reset_mask" (bool[num_envs], which games to reset).

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    def __init__(
        self,
        num_envs: int = 1,
        variant: str | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        **keywords: Any,
    ) -> None:
        if num_envs < 1:
            raise ValueError(f"num_envs is {num_envs!r}; allowed: a whole number from 1")
        if render_mode is not None:
            raise ValueError(f"render_mode is {render_mode!r}; the vector environment draws no boards, use None")
        if max_episode_steps is not None:
            keywords.setdefault("step_limit", max_episode_steps)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.rules, self.settings = split_keywords(variant, keywords)
        self.games = self.settings.games(num_envs, self.rules)
        self.observer = self.settings.observer(self.games)
        self.single_observation_space = self.observer.space
        self.single_action_space = spaces.Discrete(N_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._ended = np.zeros(num_envs, dtype=bool)
        self._dealt = False

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start games; a whole number as seed gives game i the seed `seed + i`.

        Raises:
            ValueError: seeds or options do not fit.
        """
        options = check_reset_options(options, also=("reset_mask",))
        rows = self._rows_to_reset(options.pop("reset_mask", None))
        self._seed(seed, rows)
        self.deal(rows, options)
        self._ended[rows] = False
        self._dealt = True
        here = np.zeros(self.num_envs, dtype=bool)
        here[rows] = True
        return self._observe(), self._infos(here)

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one action in each game; what happens to a game that has ended says the autoreset mode.

        Raises:
            gymnasium.error.ResetNeeded: no games are being played.
            ValueError: an action is no whole number, or it is illegal and the policy is to raise.
        """
        chosen = legible_actions(actions)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {chosen.shape}; allowed: ({self.num_envs},)")
        waiting = self._ended.copy()
        if self.autoreset_mode is AutoresetMode.DISABLED and waiting.any():
            raise gymnasium.error.ResetNeeded("a game that is over was not reset; call reset() with a reset_mask")
        self.play(chosen, ~waiting)
        if waiting.any():  # only in NEXT_STEP mode: their action was ignored
            self.deal(np.flatnonzero(waiting), {})
        outcome = self.games.outcomes
        rewards = self.games.rewards.astype(np.float64)
        truncated = outcome == TRUNCATED
        terminated = (outcome != PLAYING) & ~truncated
        self._ended = terminated | truncated
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and self._ended.any():
            infos = self._finals(self._ended)
            self.deal(np.flatnonzero(self._ended), {})
            self._ended = np.zeros(self.num_envs, dtype=bool)
        return self._observe(), rewards, terminated, truncated, infos | self._infos(np.ones(self.num_envs, dtype=bool))

    def action_masks(self) -> np.ndarray:
        """The legal actions as bool[num_envs, 313]."""
        return self.games.masks.astype(bool)

    def play(self, chosen: np.ndarray, active: np.ndarray) -> None:
        """Step the active games under the policy for illegal actions; `step` without what it returns.

        chosen: int64[num_envs]; active: bool[num_envs].

        Raises:
            gymnasium.error.ResetNeeded: no games are being played.
            ValueError: an action is illegal and the policy is to raise.
        """
        if not self._dealt:
            raise gymnasium.error.ResetNeeded("no games are being played; call reset() first")
        if self.settings.illegal_action == "raise":
            check_legal(self.games, chosen, np.flatnonzero(active))
        self.games.step(chosen, None if active.all() else active)
        if self.settings.illegal_action == "terminate":
            self.games.forfeit(np.flatnonzero(self.games.illegal & active))

    def _rows_to_reset(self, reset_mask: Any) -> np.ndarray:
        if reset_mask is None:
            return np.arange(self.num_envs)
        mask = np.asarray(reset_mask)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(f"reset_mask must be bool[{self.num_envs}] with a True in it; it is {reset_mask!r}")
        return np.flatnonzero(mask)

    def _seed(self, seed: int | list[int | None] | None, rows: np.ndarray) -> None:
        """Give each of the rows a fresh generator where a seed is given, or where it has none yet."""
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise ValueError(f"seed has length {len(seeds)}; allowed: {self.num_envs}, one for each game")
        for row in rows:
            own = None if seeds is None else seeds[row]
            if own is not None or self._generators[row] is None:
                self._generators[row], _ = seeding.np_random(own)

    def deal(self, rows: np.ndarray, options: dict[str, Any]) -> None:
        """Start games in these rows, each on its own generator's next deal unless options name the games.

        rows: int64[m]; options: those of `reset` but "reset_mask".
        """
        if "deck" in options:
            self.games.deal_decks(np.broadcast_to(options["deck"], (self.num_envs, 52))[rows], rows)
        elif "deal" in options:
            self.games.deal(np.broadcast_to(options["deal"], self.num_envs)[rows], rows)
        else:
            self.games.deal([self._draw_deal(row) for row in rows], rows)

    def _draw_deal(self, row: int) -> int:
        generator = self._generators[row]
        assert generator is not None  # reset() came first
        return int(generator.integers(TRAINING_DEALS.start, TRAINING_DEALS.stop))

    def _observe(self) -> Any:
        return self.observer.batch(self.games.states, self.games.masks)

    def _infos(self, here: np.ndarray) -> dict[str, Any]:
        """The information of the games marked in `here`: bool[num_envs]; zeros and None elsewhere."""
        infos = {
            "action_mask": self.games.masks.copy(),
            "deal": self.games.deals.copy(),
            "moves": self.games.moves.astype(np.int64),
            "foundation": self.games.foundations.sum(axis=1, dtype=np.int64),
            "outcome": _OUTCOMES[self.games.outcomes],
            "illegal_action": self.games.illegal.copy(),
        }
        absent = ~here
        for name, values in list(infos.items()):
            if absent.any():
                values[absent] = None if values.dtype == object else 0
            infos[f"_{name}"] = here.copy()
        return infos

    def _finals(self, ended: np.ndarray) -> dict[str, Any]:
        """What SAME_STEP adds: last observation and information of the games that have just ended."""
        rows = np.flatnonzero(ended)
        final_obs = np.full(self.num_envs, None, dtype=object)
        observations = self.observer.each(self.games.states[rows], self.games.masks[rows])
        for row, observation in zip(rows, observations, strict=True):
            final_obs[row] = observation
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": self._infos(ended),
            "_final_info": ended.copy(),
        }
