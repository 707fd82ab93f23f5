"""What second marks are made of."""

from __future__ import annotations

import numpy as np
import pytest

from agents.playout import GAME, LAYOUT, index_talon, read_game, read_layout
from agents.tuned_facts import (
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
from agents.tuned_marks import KINDS, MAX_PLAYS, PLAY, RUN, SPLIT, TALON_DOWN, TALON_UP, UP, find_reach, look
from agents.tuned_weights import table_for
from klondike_env.cards import parse_card
from klondike_env.rules import PRESETS
from tests.boards import board

KINGS = ("KS", "KH", "KD")


def facts_of(variant: str, kind: int, what: str | int, *columns: str, **others: str) -> dict[str, int]:
    """The facts of a play in a position; `what` is a column, or a card."""
    rules = PRESETS[variant].params()
    records = np.array([board(*columns, **others)[()]])
    games, layouts = np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT)
    read_layout(records, 0, layouts)
    read_game(records, 0, games, 0)
    index_talon(records, 0, layouts, games, 0)
    find_reach(games, 0, layouts, rules)
    facts = np.zeros(1, dtype=FACTS)
    scene, seen = look(games, 0, layouts, rules), seen_talon(games, 0, layouts, rules)
    note_position(games, 0, seen, scene, rules, facts)
    card = parse_card(what) if isinstance(what, str) else what
    note_play(games, 0, kind, card, seen, 0, scene, layouts, rules, facts)
    return dict(zip(FACTS.names or (), facts[0].tolist(), strict=True))


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
