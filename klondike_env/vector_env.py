"""The vector environment: many games, stepped by the same kernels as a single game."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from klondike_env.checks import check_choice, check_whole_number, whole_number
from klondike_env.engine.actions import N_ACTIONS
from klondike_env.engine.state import OUTCOME_NAMES, PLAYING, TRUNCATED
from klondike_env.formats import read_deck
from klondike_env.games import check_legal
from klondike_env.position import read_position
from klondike_env.render import RENDER_FPS, RENDER_MODES, check_render_mode, render_games
from klondike_env.settings import check_reset_options, read_actions, split_keywords

_OUTCOMES = np.array(OUTCOME_NAMES, dtype=object)
_ARGUMENTS = ("autoreset_mode", "render_mode", "threads")


def _autoreset_mode(mode: AutoresetMode | str) -> AutoresetMode:
    """The mode that a user names.

    Raises:
        ValueError: there is no such mode.
    """
    modes = {known.value: known for known in AutoresetMode}
    return mode if isinstance(mode, AutoresetMode) else modes[check_choice("autoreset_mode", mode, tuple(modes))]


class KlondikeVectorEnv(VectorEnv[Any, Any, Any]):
    """`num_envs` games stepped together, equal step for step to single environments with the same seeds.

    Args:
        num_envs: number of games.
        variant: as for `klondike_env.env.KlondikeEnv`.
        autoreset_mode: `AutoresetMode.NEXT_STEP` (default), `SAME_STEP` or `DISABLED`, or its value.
        max_episode_steps: the step limit as `gymnasium.make_vec` passes it; the same as `step_limit`.
        render_mode: as for `klondike_env.env.KlondikeEnv`.
        threads: threads that share the work of a step, worth their cost from a few thousand games on.
        **keywords: as for `klondike_env.env.KlondikeEnv`.

    `reset` takes the options "deal", "deck" and "position", whose value is for all games or a list with one for each,
    and "reset_mask" (bool[num_envs], which games to reset).

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    _dealt = np.zeros(0, dtype=bool)  # Gymnasium also closes environments whose constructor failed

    def __init__(
        self,
        num_envs: int = 1,
        variant: str | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        threads: int = 1,
        **keywords: Any,
    ) -> None:
        num_envs = check_whole_number("num_envs", num_envs, 1)
        check_render_mode(render_mode)
        if max_episode_steps is not None:
            keywords.setdefault("step_limit", max_episode_steps)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.autoreset_mode = _autoreset_mode(autoreset_mode)
        self.metadata = {
            "render_modes": list(RENDER_MODES),
            "render_fps": RENDER_FPS,
            "autoreset_mode": self.autoreset_mode,
        }
        self.rules, self.settings = split_keywords(variant, keywords, _ARGUMENTS)
        self.games = self.settings.games(num_envs, self.rules, threads)
        self.deal_source = self.settings.deal_source(self.rules)
        self.observer = self.settings.observer(self.games)
        self.single_observation_space = self.observer.space
        self.single_action_space = spaces.Discrete(N_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self._dealt = np.zeros(num_envs, dtype=bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start games; a whole number as seed gives game i the seed `seed + i`.

        Raises:
            ValueError: a seed or an option is not allowed.
        """
        options = check_reset_options(options, also=("reset_mask",))
        rows = self._rows_to_reset(options.pop("reset_mask", None))
        self._seed(seed, rows)
        self.deal(rows, options)
        self._dealt[rows] = True
        here = np.zeros(self.num_envs, dtype=bool)
        here[rows] = True
        return self._observe(), self._infos(here)

    def observe(self) -> tuple[Any, dict[str, Any]]:
        """The observations and information of all games as they stand, as `reset` returns them.

        Raises:
            gymnasium.error.ResetNeeded: a game was not started.
        """
        self._need_games()
        return self._observe(), self._infos(np.ones(self.num_envs, dtype=bool))

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one action in each game. The autoreset mode says what happens to a game that has ended.

        Raises:
            gymnasium.error.ResetNeeded: no games are being played.
            ValueError: an action is not a whole number from 0 to 312, or it is illegal and `illegal_action` is "raise".
        """
        chosen = read_actions(actions)
        if chosen.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {chosen.shape}; allowed: ({self.num_envs},)")
        waiting = self.games.over
        if self.autoreset_mode is AutoresetMode.DISABLED and waiting.any():
            raise gymnasium.error.ResetNeeded("a game that is over was not reset; call reset() with a reset_mask")
        self.play(chosen, ~waiting)
        if waiting.any():  # only in NEXT_STEP mode: their action was ignored
            self.deal(np.flatnonzero(waiting), {})
        outcome = self.games.outcomes
        rewards = self.games.rewards.astype(np.float64)
        truncated = outcome == TRUNCATED
        terminated = (outcome != PLAYING) & ~truncated
        ended = terminated | truncated
        infos: dict[str, Any] = {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP and ended.any():
            infos = self._finals(ended)
            self.deal(np.flatnonzero(ended), {})
        return self._observe(), rewards, terminated, truncated, infos | self._infos(np.ones(self.num_envs, dtype=bool))

    def get_state(self, row: int) -> bytes:
        """One game as bytes for `set_state`, here or in a single environment; see `KlondikeEnv.get_state`.

        Raises:
            gymnasium.error.ResetNeeded: a game was not started.
            ValueError: there is no such row.
        """
        self._need_games()
        return self.games.get_state(row)

    def set_state(self, row: int, state: bytes) -> None:
        """Restore one game from the bytes of `get_state`; `observe` then shows it.

        Each row keeps its own random generator.

        Raises:
            ValueError: there is no such row, the bytes are damaged, or the game was saved under other
                rules or options.
        """
        self.games.set_state(state, row)
        self._dealt[row] = True

    def copy_rows(self, sources: Any, targets: Any) -> None:
        """Overwrite games with copies of other games and their history; each row keeps its own random generator.

        Args:
            sources: int[m], or one row for all targets.
            targets: int[m].

        Raises:
            gymnasium.error.ResetNeeded: a game was not started.
            ValueError: a row is out of range, or the numbers of sources and targets differ.
        """
        self._need_games()
        self.games.copy_rows(sources, targets)

    def clone(self) -> Self:
        """An independent copy that plays on in the same way: the games, their history and the random generators."""
        return copy.deepcopy(self)

    def determinize(self, rng: Any, rows: Any = None) -> Self:
        """A copy in which unseen cards are shuffled uniformly over the unseen places, each game by itself.

        Args:
            rng: a numpy Generator, or a whole number as a seed.
            rows: int[m], the games to shuffle; all by default.

        Raises:
            gymnasium.error.ResetNeeded: a game was not started.
            ValueError: a row is out of range, or `rng` is neither a Generator nor a seed.
        """
        self._need_games()
        copied = self.clone()
        copied.games.shuffle_unseen(rng, rows)
        return copied

    def close_extras(self, **kwargs: Any) -> None:
        """End the games; others can be started by `reset`."""
        self._dealt[:] = False

    def action_masks(self) -> np.ndarray:
        """The legal actions as bool[num_envs, 313].

        Raises:
            gymnasium.error.ResetNeeded: a game was not started.
        """
        self._need_games()
        return self.games.masks.astype(bool)

    def _need_games(self) -> None:
        if not self._dealt.all():
            raise gymnasium.error.ResetNeeded("a game was not started; call reset() first")

    def render(self) -> tuple[Any, ...] | None:
        """The board of each game, as the single environment renders it; None without a mode.

        Raises:
            gymnasium.error.ResetNeeded: a game was not started.
        """
        self._need_games()
        return render_games(self.games, self.render_mode, thoughtful=self.settings.thoughtful)

    def play(self, chosen: np.ndarray, active: np.ndarray) -> None:
        """Step the active games, treating illegal actions as `illegal_action` says; return no observations or infos.

        chosen: int64[num_envs]; active: bool[num_envs].

        Raises:
            gymnasium.error.ResetNeeded: a game was not started.
            ValueError: an action is illegal and `illegal_action` is "raise".
        """
        self._need_games()
        if self.settings.illegal_action == "raise":
            check_legal(self.games, chosen, np.flatnonzero(active))
        self.games.step(chosen, None if active.all() else active, self.observer.follower(self.games))
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
        """Give each row that has a seed a fresh generator."""
        first = whole_number(seed)
        seeds: Any = seed if first is None else [first + i for i in range(self.num_envs)]
        if seeds is not None and not isinstance(seeds, Sequence | np.ndarray):
            raise ValueError(f"seed is {seed!r}; allowed: a whole number, or one for each of {self.num_envs} games")
        if seeds is not None and len(seeds) != self.num_envs:
            raise ValueError(f"seed has length {len(seeds)}; allowed: {self.num_envs}, one for each game")
        for row in rows:
            own = None if seeds is None else seeds[row]
            if own is not None:
                self._generators[row], _ = seeding.np_random(own)

    def deal(self, rows: np.ndarray, options: dict[str, Any]) -> None:
        """Start games in these rows. Each row draws its deal from its own generator unless options name the games.

        rows: int64[m]; options: those of `reset` except "reset_mask".
        """
        if "deck" in options:
            deck = options["deck"]
            is_one = isinstance(deck, str | Mapping) or not np.iterable(deck) or not any(map(np.iterable, deck))
            self.games.deal_decks([read_deck(own) for own in self._for_each("deck", deck, is_one, rows)], rows)
        elif "deal" in options:
            deal = options["deal"]
            self.games.deal(self._for_each("deal", deal, isinstance(deal, str) or not np.iterable(deal), rows), rows)
        elif "position" in options:
            position = options["position"]
            positions = self._for_each("position", position, isinstance(position, str | np.void), rows)
            records = [
                read_position(own, self.rules, self._generator(row)) for own, row in zip(positions, rows, strict=True)
            ]
            self.games.start_positions(np.concatenate(records), rows)
        else:
            self.games.deal([self._draw_deal(row) for row in rows], rows)

    def _for_each(self, name: str, value: Any, is_one: bool, rows: np.ndarray) -> list[Any]:
        """The value of a reset option for each of the rows: `value` itself if `is_one`, else its entry for the row.

        Raises:
            ValueError: it is neither one value nor one for each game.
        """
        if is_one:
            return [value] * len(rows)
        if not np.iterable(value):
            raise ValueError(f"reset option {name!r} is {value!r}; allowed: one for all, or {self.num_envs}")
        each = list(value)
        if len(each) != self.num_envs:
            raise ValueError(f"reset option {name!r} has length {len(each)}; allowed: one for all, or {self.num_envs}")
        return [each[row] for row in rows]

    def _draw_deal(self, row: int) -> int:
        return self.deal_source.draw(self._generator(row))

    def _generator(self, row: int) -> np.random.Generator:
        """The random generator of a row, made from fresh entropy if it was never seeded."""
        generator = self._generators[row]
        if generator is None:
            generator, _ = seeding.np_random()
            self._generators[row] = generator
        return generator

    def _observe(self) -> Any:
        return self.observer.batch(self.games)

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
        for row, observation in zip(rows, self.observer.each(self.games, rows), strict=True):
            final_obs[row] = observation
        return {
            "final_obs": final_obs,
            "_final_obs": ended.copy(),
            "final_info": self._infos(ended),
            "_final_info": ended.copy(),
        }
