"""What second marks are made of."""

from __future__ import annotations

import random

import numpy as np
import pytest

from klondike_env.agents.lists.list_player import GAME, LAYOUT, index_talon, read_game, read_layout
from klondike_env.agents.tuned.agent import TunedAgent
from klondike_env.agents.tuned.features import (
    FACTS,
    MARGIN,
    N_CELLS,
    N_FACTS,
    PAIRS,
    SIZES,
    cell_of,
    keep_close,
    note_play,
    note_position,
    seen_talon,
)
from klondike_env.agents.tuned.scores import (
    KINDS,
    MAX_PLAYS,
    PLAY,
    RUN,
    SPLIT,
    TALON_DOWN,
    TALON_UP,
    UP,
    find_reach,
    list_plays,
    look,
)
from klondike_env.agents.tuned.weights import table_for, weights_for
from klondike_env.cards import parse_card
from klondike_env.engine.actions import STOCK_ACTION
from klondike_env.engine.card_sets import bit_of
from klondike_env.games import Games
from klondike_env.rules import PRESETS, Rules
from tests.agents.test_all_agents import random_rules
from tests.boards import board

KINGS = ("KS", "KH", "KD")


class Table:
    """A position as the list sees it."""

    def __init__(self, records: np.ndarray, rules: Rules) -> None:
        self.rules = rules.params()
        self.games, self.layouts = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)
        read_layout(records, 0, self.layouts)
        read_game(records, 0, self.games, 0)
        index_talon(records, 0, self.layouts, self.games, 0)
        find_reach(self.games, 0, self.layouts, self.rules)
        self.scene = look(self.games, 0, self.layouts, self.rules)

    def facts(self, kind: int, what: int) -> dict[str, int]:
        """The facts of a play."""
        facts = np.zeros(1, dtype=FACTS)
        seen = seen_talon(self.games, 0, self.layouts, self.rules)
        note_position(self.games, 0, seen, self.scene, self.rules, facts)
        note_play(self.games, 0, kind, what, seen, 0, self.scene, self.layouts, self.rules, facts)
        return dict(zip(FACTS.names or (), facts[0].tolist(), strict=True))

    def plays(self, weights: np.ndarray) -> np.ndarray:
        """All plays, PLAY[n]."""
        plays = np.zeros(MAX_PLAYS, dtype=PLAY)
        return plays[: list_plays(self.games, 0, self.scene, self.layouts, self.rules, weights, plays)]


def facts_of(variant: str, kind: int, what: str | int, *columns: str, **others: str) -> dict[str, int]:
    """The facts of a play in a position; `what` is a column, or a card."""
    table = Table(np.array([board(*columns, **others)[()]]), PRESETS[variant])
    return table.facts(kind, parse_card(what) if isinstance(what, str) else what)


def test_a_run_that_turns_a_card_up() -> None:
    facts = facts_of("draw1", RUN, 0, "2C 3C | 7H 6S", "9D | 8S", "8C", *KINGS, "", foundations="3H", waste="7D 9C")
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
    assert expected.items() <= facts.items()


def test_a_card_that_goes_to_its_foundation() -> None:
    facts = facts_of("draw1", UP, 0, "2C | 4H", "5H 4C", "6S | 3S", foundations="3H 2S", waste="9C")
    expected = {"rank": 3, "under": 1, "place": 3, "ahead": 0, "follower": 2, "hosted": 1, "hosted_ahead": 1, "home": 1}
    assert expected.items() <= facts.items()  # 5H is covered; 3S, the next of its suit, could lie on it
    assert facts["wanted"] == 2


def test_a_talon_card_that_lets_another_play() -> None:
    facts = facts_of("draw1", TALON_DOWN, "8D", "2C | 9S", "2H 3H | 7C", waste="8D 7S QC")
    expected = {"rank": 7, "place": 1, "hosted": 2, "hosts_talon": 1, "freed": 1, "playable": 1, "beneath": 0}
    assert expected.items() <= facts.items()


@pytest.mark.parametrize(
    ("waste", "beneath"),
    [("8D", 0), ("3D 8D", 1), ("TD 8D", 2), ("7S 8D", 3)],
)
def test_what_lies_beneath_the_top_of_the_waste(waste: str, beneath: int) -> None:
    facts = facts_of("classic", TALON_DOWN, "8D", "2C | 9S", "JC", "4D", waste=waste, stock="2D 5S 6H")
    assert facts["beneath"] == beneath
    assert facts["stock"] == 1


def test_what_drawing_three_brings_within_reach() -> None:
    # Left are 2S 3C 5S 6D QC, of which the third and the last come up, and the one before the card that went.
    facts = facts_of("draw3", TALON_UP, "AS", "KS", waste="2S 3C AS", stock="5S 6D QC")
    assert facts["reach_after"] == 1  # 3C, 5S and QC: half of three
    assert facts["freed"] == 0


def test_a_split_is_wanted_for_the_card_that_it_frees() -> None:
    facts = facts_of("thumb_and_pouch", SPLIT, "4C", "5D 4C", "5H", "2C 3C | 4H", *KINGS, waste="QD")
    expected = {"rank": 3, "length": 0, "place": 1, "hosted": 2, "under": 0}
    assert expected.items() <= facts.items()


def test_every_cell_belongs_to_one_kind_of_play_and_one_pair_of_values() -> None:
    names = FACTS.names or ()
    cells, values = set(), np.zeros(N_FACTS, dtype=np.int64)
    for pair, (first, second) in enumerate(PAIRS):
        places = [names.index(first), names.index(second)]
        for kind in KINDS:
            for pair_of_values in np.ndindex(*SIZES[places]):
                values[places] = pair_of_values
                cells.add(cell_of(pair, kind, values))
    assert cells == set(range(N_CELLS))


def test_facts_have_no_values_without_a_cell() -> None:
    chance, generator, count = random.Random(4), np.random.default_rng(4), 0
    for _ in range(30):
        rules = random_rules(chance)
        games = Games(8, rules)
        games.deal(np.arange(8))
        for _ in range(60):
            games.step(games.random_actions(generator))
            k = chance.randrange(8)
            table = Table(games.views()[k : k + 1], rules)
            for play in table.plays(weights_for(rules)):
                values = table.facts(int(play["kind"]), int(play["what"])).values()
                assert all(0 <= value < size for value, size in zip(values, SIZES.tolist(), strict=True))
                count += 1
    assert count > 1000


def test_facts_know_no_card_that_the_player_has_not_seen() -> None:
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
            for play in table.plays(weights_for(rules)):
                kind, what = int(play["kind"]), int(play["what"])
                assert table.facts(kind, what) == other.facts(kind, what)
                count += 1
            games.step(games.random_actions(generator))
    assert count > 1000


def test_without_a_waste_no_talon_card_is_seen_where_redeals_are_limited() -> None:
    games = Games(1, PRESETS["classic"])
    games.deal([0])
    for n_drawn in range(4):
        table = Table(games.states, PRESETS["classic"])
        seen = seen_talon(table.games, 0, table.layouts, table.rules)
        assert seen == sum(bit_of(int(card)) for card in games.states[0]["talon"][:n_drawn])
        games.step(np.array([STOCK_ACTION]))


def test_plays_far_behind_are_not_looked_at_again() -> None:
    plays = np.zeros(MAX_PLAYS, dtype=PLAY)
    plays["mark"][:4] = 100, 100 + MARGIN, 99, 101
    plays["what"][:4] = range(4)
    assert keep_close(plays, 4) == 3
    assert plays["what"][:3].tolist() == [0, 1, 3]


@pytest.mark.parametrize("variant", PRESETS)
def test_tables_have_the_right_size(variant: str) -> None:
    table = table_for(PRESETS[variant])
    assert table.dtype == np.int16
    assert len(table) in (0, N_CELLS)
