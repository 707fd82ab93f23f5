"""Random play through the engine and through the slow reference, side by side.

Every step compares the whole record, the mask, the reward and whether the action was refused. At least 100,000
positions of each preset are compared; KLONDIKE_POSITIONS=20 in the environment plays twenty times as many.
"""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Sequence

import numpy as np
import pytest

from klondike_env.deals import TRAINING_DEALS, decks_of
from klondike_env.engine import actions
from klondike_env.engine.state import PLAYING, STATE
from klondike_env.games import Games
from klondike_env.reward import SCHEMES
from klondike_env.rules import BUILDS, DISTINCT_PRESETS, GAPS, PRESETS, RUNS, Rules
from tests.reference import Game, Options, differences, new_game, rank

TIMES = float(os.environ.get("KLONDIKE_POSITIONS", "1"))
POSITIONS_PER_SETTING = 12_500  # eight settings of each preset
POSITIONS_PER_CUSTOM_RULES = 400
N_GAMES = 20
ILLEGAL_SHARE = 0.01
KIND_SHARE = 0.5


class SideBySide:
    """A batch of engine games and their twins, each row played in its own style."""

    def __init__(self, rules: Rules, options: Options, seed: str) -> None:
        self.rules, self.options = rules, options
        self.random = random.Random(seed)
        self.games = Games(N_GAMES, rules, **vars(options))
        self.twins: dict[int, Game] = {}
        self.styles = [uniform] * N_GAMES
        self.positions = 0
        self._deal(list(range(N_GAMES)))

    def step(self) -> None:
        """Deal where games have ended, play one action in every game, and compare."""
        self._deal([row for row, twin in self.twins.items() if twin.outcome != PLAYING])
        chosen = [self._choose(row) for row in range(N_GAMES)]
        self.games.step(np.array(chosen))
        for row, action in enumerate(chosen):
            self.twins[row].step(action)
        self._compare(range(N_GAMES), chosen)
        self.positions += N_GAMES

    def _deal(self, rows: list[int]) -> None:
        if not rows:
            return
        deals = np.array([self.random.randrange(TRAINING_DEALS.stop) for _ in rows])
        self.games.deal(deals, rows)
        decks = decks_of(deals)
        for k, row in enumerate(rows):
            if self.random.random() < KIND_SHARE:
                decks[k] = easy_deck(self.random)
                self.games.deal_decks(decks[k : k + 1], [row])
            self.twins[row] = new_game(decks[k], self.rules, self.options)
            self.styles[row] = self.random.choice([uniform, eager, eager, idle])
        self._compare(rows, [None] * N_GAMES)

    def _choose(self, row: int) -> int:
        if self.random.random() < ILLEGAL_SHARE:
            return self.random.randrange(actions.N_ACTIONS)
        return self.styles[row](self.twins[row], self.random)

    def _compare(self, rows: Sequence[int], chosen: Sequence[int | None]) -> None:
        fields = {name: self.games.states[name].tolist() for name in STATE.names or ()}
        rewards, illegal = self.games.rewards.tolist(), self.games.illegal.tolist()
        expected_masks = self.games.masks.copy()
        for row in rows:
            twin = self.twins[row]
            expected_masks[row] = 0
            expected_masks[row, twin.legal] = 1
            assert not (found := differences(twin, {name: fields[name][row] for name in fields})), self._report(
                row, chosen[row]
            ) + "\n".join(found)
            assert illegal[row] == twin.illegal, self._report(row, chosen[row])
            assert abs(rewards[row] - twin.reward) < 1e-5, self._report(row, chosen[row])
        for row, action in np.argwhere(expected_masks != self.games.masks):
            raise AssertionError(f"{self._report(row, chosen[row])}: {actions.name(action)} in one mask only")

    def _report(self, row: int, action: int | None) -> str:
        played = "the deal" if action is None else actions.name(action)
        return f"after {played} under {self.rules} and {self.options}, at {self.twins[row]}\n"


def easy_deck(chance: random.Random) -> list[int]:
    """A deck that is often won: high cards tend to be dealt first, so low ones lie above them."""
    return sorted(range(52), key=lambda card: chance.gauss(-rank(card), 2))


def uniform(game: Game, chance: random.Random) -> int:
    """Any legal action."""
    return chance.choice(game.legal)


def eager(game: Game, chance: random.Random) -> int:
    """Mostly the first legal action of these kinds: to a foundation, turn a card up, out of the talon, the stock."""
    turning, talon = _turning_cards(game), set(game.position.talon)
    groups = [
        [action for action in game.legal if action < actions.STOCK_ACTION and action % 6 == actions.TO_FOUNDATION],
        [action for action in game.legal if action // 6 in turning],
        [action for action in game.legal if action // 6 in talon],
        [action for action in game.legal if action == actions.STOCK_ACTION],
    ]
    for group in groups:
        if group and chance.random() < 0.9:
            return chance.choice(group)
    return chance.choice(game.legal)


def idle(game: Game, chance: random.Random) -> int:
    """Mostly the stock action and moves between columns, so that games stall."""
    on_columns = set(itertools.chain(*game.position.columns)) - _turning_cards(game)
    wanted = [action for action in game.legal if action // 6 in on_columns and action % 6 != actions.TO_FOUNDATION]
    wanted += [action for action in game.legal if action == actions.STOCK_ACTION]
    return chance.choice(wanted if wanted and chance.random() < 0.9 else game.legal)


def _turning_cards(game: Game) -> set[int]:
    return {
        column[face_down]
        for column, face_down in zip(game.position.columns, game.position.face_down, strict=True)
        if face_down > 0
    }


def play(side_by_side: SideBySide, positions: int) -> None:
    """Play that many positions."""
    while side_by_side.positions < positions * TIMES:
        side_by_side.step()


settings = pytest.mark.parametrize(
    ("talon", "no_repeats", "auto_finish"), list(itertools.product(["draw", "reach"], [False, True], [False, True]))
)


@settings
@pytest.mark.parametrize("name", DISTINCT_PRESETS)
def test_presets_agree(name: str, talon: str, no_repeats: bool, auto_finish: bool) -> None:
    reward = list(SCHEMES)[(2 * no_repeats + auto_finish + (talon == "reach")) % len(SCHEMES)]
    stall_limit = 120 if auto_finish else 40
    options = Options(talon, no_repeats, auto_finish, stall_limit, reward=reward)
    play(SideBySide(PRESETS[name], options, seed=f"{name} {options}"), POSITIONS_PER_SETTING)


def random_rules(chance: random.Random) -> Rules:
    """Any rules, with small draw counts and few redeals more often than large ones."""
    return Rules(
        build=chance.choice(BUILDS),
        gaps=chance.choice(GAPS),
        draw_count=chance.choice([1, 2, 3, chance.randint(1, 24)]),
        redeals=chance.choice([0, 1, 2, 3, None, None]),
        worry_back=chance.random() < 0.5,
        runs=chance.choice(RUNS),
    )


def random_options(chance: random.Random) -> Options:
    """Any options, limits included."""
    return Options(
        talon=chance.choice(["draw", "reach"]),
        no_repeats=chance.random() < 0.5,
        auto_finish=chance.random() < 0.5,
        stall_limit=chance.choice([None, 1, 10, 250]),
        step_limit=chance.choice([None, 150]),
        reward=chance.choice(list(SCHEMES)),
    )


@pytest.mark.parametrize("group", range(8))
def test_custom_rules_agree(group: int) -> None:
    chance = random.Random(group)
    for i in range(25):
        options = random_options(chance)
        play(SideBySide(random_rules(chance), options, f"{group} {i}"), POSITIONS_PER_CUSTOM_RULES)


@pytest.mark.parametrize("draw_count", range(1, 25))
def test_every_draw_count_agrees(draw_count: int) -> None:
    for talon, redeals in itertools.product(["draw", "reach"], [None, 1]):
        options = Options(talon, stall_limit=60)
        play(SideBySide(Rules(draw_count=draw_count, redeals=redeals), options, f"{draw_count} {redeals}"), 400)
