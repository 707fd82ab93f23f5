"""Features of moves, and the pair table that they index."""

from __future__ import annotations

import random

import numpy as np
import pytest

from klondike_env.agents.lists.list_player import GAME, LAYOUT, read_position
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.agents.tuned.features import (
    FEATURES,
    N_FEATURES,
    describe_move,
    describe_position,
    recall,
    seen_talon,
)
from klondike_env.agents.tuned.pair_table import (
    MARGIN,
    N_ENTRIES,
    PAIRS,
    SIZES,
    entry_of,
    keep_close,
    table_for,
)
from klondike_env.agents.tuned.scores import (
    COLUMN_TO_FOUNDATION,
    KINDS,
    MAX_MOVES,
    MOVE,
    RUN,
    SPLIT,
    TALON_TO_COLUMN,
    TALON_TO_FOUNDATION,
    Scene,
    Sheet,
    find_reach,
    look,
    score_moves,
)
from klondike_env.agents.tuned.weights import weights_for
from klondike_env.cards import parse_card
from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.engine.card_sets import bit_of
from klondike_env.games import Games
from klondike_env.rules import PRESETS, Rules
from tests.agents.test_all_agents import random_rules
from tests.boards import board

KINGS = ("KS", "KH", "KD")


def scene_of(records: np.ndarray, rules: Rules) -> Scene:
    """The position of the first record as the list sees it."""
    games, layouts = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)
    read_position(records, 0, games, layouts)
    find_reach(games, 0, layouts, rules.params())
    return look(games, 0, layouts, rules.params())


class Table:
    """A position as the list sees it."""

    def __init__(self, records: np.ndarray, rules: Rules) -> None:
        self.scene = scene_of(records, rules)

    def features(self, kind: int, what: int) -> dict[str, int]:
        """The features of a move."""
        features, known = np.zeros(1, dtype=FEATURES), recall(self.scene)
        describe_position(self.scene, known, features)
        describe_move(self.scene, known, kind, what, features)
        return dict(zip(FEATURES.names or (), features[0].tolist(), strict=True))

    def moves(self, weights: np.ndarray) -> np.ndarray:
        """All moves, MOVE[n]."""
        moves = np.zeros(MAX_MOVES, dtype=MOVE)
        return moves[: score_moves(self.scene, Sheet(weights, moves))]


def features_of(variant: str, kind: int, what: str | int, *columns: str, **others: str) -> dict[str, int]:
    """The features of a move in a position; `what` is a column, or a card."""
    table = Table(np.array([board(*columns, **others)[()]]), PRESETS[variant])
    return table.features(kind, parse_card(what) if isinstance(what, str) else what)


def test_a_run_that_turns_a_card_up() -> None:
    features = features_of(
        "draw1", RUN, 0, "2C 3C | 7H 6S", "9D | 8S", "8C", *KINGS, "", foundations="3H", waste="7D 9C"
    )
    expected = {
        "gaps": 1,
        "face_down": 3,
        "talon": 1,
        "movable": 1,  # 7H
        "rank": 6,
        "under": 2,
        "length": 1,
        "place": 2,
        "over": 1,
        "rivals": 2,  # 7D
        "hosted": 8,  # 6S moves with it
        "hosts_unseen": 1,  # 6C
        "ahead": 3,
        "twin": 3,  # 7D, in the talon
        "other_host": 1,  # 8C
    }
    assert expected.items() <= features.items()


def test_a_card_that_goes_to_its_foundation() -> None:
    features = features_of(
        "draw1", COLUMN_TO_FOUNDATION, 0, "2C | 4H", "5H 4C", "6S | 3S", foundations="3H 2S", waste="9C"
    )
    expected = {"rank": 3, "under": 1, "place": 3, "ahead": 0, "follower": 2, "hosted": 1, "hosted_ahead": 1, "home": 1}
    assert expected.items() <= features.items()  # 5H is covered; 3S, the next of its suit, could lie on it
    assert features["wanted"] == 2


def test_a_talon_card_that_lets_another_play() -> None:
    features = features_of("draw1", TALON_TO_COLUMN, "8D", "2C | 9S", "2H 3H | 7C", waste="8D 7S QC")
    expected = {"rank": 7, "place": 1, "hosted": 2, "hosts_talon": 1, "freed": 1, "playable": 1, "beneath": 0}
    assert expected.items() <= features.items()


@pytest.mark.parametrize(
    ("waste", "beneath"),
    [("8D", 0), ("3D 8D", 1), ("TD 8D", 2), ("7S 8D", 3)],
)
def test_what_lies_beneath_the_top_of_the_waste(waste: str, beneath: int) -> None:
    features = features_of("classic", TALON_TO_COLUMN, "8D", "2C | 9S", "JC", "4D", waste=waste, stock="2D 5S 6H")
    assert features["beneath"] == beneath
    assert features["stock"] == 1


def test_what_drawing_three_brings_within_reach() -> None:
    # Left are 2S 3C 5S 6D QC, of which the third and the last come up, and the one before the card that went.
    features = features_of("draw3", TALON_TO_FOUNDATION, "AS", "KS", waste="2S 3C AS", stock="5S 6D QC")
    assert features["reach_after"] == 1  # 3C, 5S and QC: half of three
    assert features["freed"] == 0


def test_a_split_is_wanted_for_the_card_that_it_frees() -> None:
    features = features_of("thumb_and_pouch", SPLIT, "4C", "5D 4C", "5H", "2C 3C | 4H", *KINGS, waste="QD")
    expected = {"rank": 3, "length": 0, "place": 1, "hosted": 2, "under": 0}
    assert expected.items() <= features.items()


def test_every_entry_belongs_to_one_kind_of_move_and_one_pair_of_values() -> None:
    names = FEATURES.names or ()
    entries, values = set(), np.zeros(N_FEATURES, dtype=np.int64)
    for pair, (first, second) in enumerate(PAIRS):
        places = [names.index(first), names.index(second)]
        for kind in KINDS:
            for pair_of_values in np.ndindex(*SIZES[places]):
                values[places] = pair_of_values
                entries.add(entry_of(pair, kind, values))
    assert entries == set(range(N_ENTRIES))


def test_features_have_no_values_without_an_entry() -> None:
    chance, generator, count = random.Random(4), np.random.default_rng(4), 0
    for _ in range(30):
        rules = random_rules(chance)
        games = Games(8, rules)
        games.deal(np.arange(8))
        for _ in range(60):
            games.step(games.random_actions(generator))
            k = chance.randrange(8)
            table = Table(games.views()[k : k + 1], rules)
            for move in table.moves(weights_for(rules)):
                values = table.features(int(move["kind"]), int(move["what"])).values()
                assert all(0 <= value < size for value, size in zip(values, SIZES.tolist(), strict=True))
                count += 1
    assert count > 1000


def test_features_know_no_card_that_the_player_has_not_seen() -> None:
    chance, generator, count = random.Random(5), np.random.default_rng(5), 0
    for _ in range(20):
        rules = random_rules(chance)
        games = Games(8, rules, talon=TunedAgent().talon_for(rules))
        games.deal(np.arange(8))
        for _ in range(40):
            others = games.take(np.arange(8))
            others.shuffle_unseen(generator)
            k = chance.randrange(8)
            table, other = (Table(batch.states[k : k + 1], rules) for batch in (games, others))
            for move in table.moves(weights_for(rules)):
                kind, what = int(move["kind"]), int(move["what"])
                assert table.features(kind, what) == other.features(kind, what)
                count += 1
            games.step(games.random_actions(generator))
    assert count > 1000


def test_without_a_waste_no_talon_card_is_seen_where_redeals_are_limited() -> None:
    games = Games(1, PRESETS["classic"])
    games.deal([0])
    for n_drawn in range(4):
        table = Table(games.states, PRESETS["classic"])
        seen = seen_talon(table.scene)
        assert seen == sum(bit_of(int(card)) for card in games.states[0]["talon"][:n_drawn])
        games.step(np.array([STOCK_ACTION]))


def test_moves_far_behind_are_left_alone() -> None:
    moves = np.zeros(MAX_MOVES, dtype=MOVE)
    moves["score"][:4] = 100, 100 + MARGIN, 99, 101
    moves["what"][:4] = range(4)
    assert keep_close(moves, 4, MARGIN) == 3
    assert moves["what"][:3].tolist() == [0, 1, 3]


@pytest.mark.parametrize("variant", PRESETS)
def test_tables_have_the_right_size(variant: str) -> None:
    table = table_for(PRESETS[variant])
    assert table.dtype == np.int16
    assert len(table) in (0, N_ENTRIES)
