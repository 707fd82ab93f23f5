"""One test for each rule of the game, named for it, on boards laid by hand.

Every test plays at the compiled engine and at the slow reference.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from klondike_env.cards import SUIT_LETTERS
from klondike_env.deals import deck_of
from klondike_env.engine import actions
from klondike_env.rules import GYM_IDS, PRESETS, Rules
from tests.boards import Table, board

DRAW1, DRAW3, CLASSIC = PRESETS["draw1"], PRESETS["draw3"], PRESETS["classic"]
POUCH, POUCH_WHOLE = PRESETS["thumb_and_pouch"], PRESETS["thumb_and_pouch_whole"]
ORDERED_DECK = np.arange(52, dtype=np.uint8)
ALL_ACTIONS = set(range(actions.N_ACTIONS))


def foundation_actions(legal: set[str]) -> set[str]:
    return {name for name in legal if name.endswith("to foundation")}


# The layout.


def test_cards_are_dealt_row_by_row(table: type[Table]) -> None:
    record = table(ORDERED_DECK, DRAW1).record
    lowest_cards = [int(column[0]) for column in record["columns"]]
    assert lowest_cards == [0, 1, 2, 3, 4, 5, 6]
    assert record["columns"][6, :7].tolist() == [6, 12, 17, 21, 24, 26, 27]


def test_column_c_has_c_cards_with_the_last_face_up(table: type[Table]) -> None:
    record = table(ORDERED_DECK, DRAW1).record
    assert record["height"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert record["face_down"].tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert record["face_down"].sum() == 21


def test_cards_29_to_52_are_the_stock_and_card_29_is_drawn_first(table: type[Table]) -> None:
    game = table(ORDERED_DECK, CLASSIC)
    assert game.record["talon"].tolist() == list(range(28, 52))
    assert (game["waste_size"], game["seen_size"], game["talon_size"]) == (0, 0, 24)
    assert game.play("stock").waste == "3H"  # card 28


def test_a_game_starts_with_all_counters_at_zero(table: type[Table]) -> None:
    game = table(ORDERED_DECK, DRAW1)
    names = ("moves", "steps", "since_progress", "best_foundation", "redeals_used", "score", "outcome")
    assert {name: game[name] for name in names} == dict.fromkeys(names, 0)


# Foundations.


def test_foundations_are_built_in_suit_from_the_ace(table: type[Table]) -> None:
    game = table(board("AC", "2C", "2D", "3D", "KS", stock="4S", foundations="AD"), DRAW1)
    assert foundation_actions(game.legal) == {"AC to foundation", "2D to foundation"}
    game.play("AC to foundation", "2D to foundation")
    assert game.foundations == "AC 2D"
    assert foundation_actions(game.legal) == {"2C to foundation", "3D to foundation"}


def test_only_the_last_card_of_a_column_goes_to_a_foundation(table: type[Table]) -> None:
    game = table(board("3C 2D", "AH", stock="4S", foundations="2C"), DRAW1)
    assert "3C to foundation" not in game.legal


def test_a_foundation_ends_with_its_king(table: type[Table]) -> None:
    game = table(board("KC", "AH", stock="4S", foundations="QC"), DRAW1).play("KC to foundation")
    assert game.foundations == "KC"
    assert game.columns[0] == ""


def test_the_game_is_won_when_all_52_cards_are_on_the_foundations(table: type[Table]) -> None:
    game = table(board("KS", "KH", foundations="KC KD QH QS"), DRAW1).play("KS to foundation")
    assert (game.outcome, game.reward) == ("playing", 0.0)
    game.play("KH to foundation")
    assert (game.outcome, game.reward) == ("won", 1.0)
    assert game["best_foundation"] == 52


# Turning over.


def test_the_last_face_up_card_leaving_for_a_column_turns_the_next_card(table: type[Table]) -> None:
    game = table(board("9C TD | 5H", "6S", stock="2S"), DRAW1).play("5H onto 6S")
    assert game.columns[:2] == ["9C | TD", "6S 5H"]
    assert game["moves"] == 1


def test_the_last_face_up_card_leaving_for_its_foundation_turns_the_next_card(table: type[Table]) -> None:
    game = table(board("9C TD | AH", stock="2S"), DRAW1).play("AH to foundation")
    assert game.columns[0] == "9C | TD"
    assert game["moves"] == 1


def test_the_last_face_up_card_leaving_for_an_empty_column_turns_the_next_card(table: type[Table]) -> None:
    game = table(board("9C TD | KH QS", stock="2S"), DRAW1).play("KH to empty column")
    assert game.columns[:2] == ["9C | TD", "KH QS"]


def test_a_card_leaving_a_face_up_card_turns_nothing(table: type[Table]) -> None:
    game = table(board("9C | 6D 5S", "6H", stock="2S"), DRAW1).play("5S onto 6H")
    assert game.columns[:2] == ["9C | 6D", "6H 5S"]
    assert game["since_progress"] == 1


def test_a_card_turned_up_can_be_played(table: type[Table]) -> None:
    game = table(board("5S | 5H", "6C", "6D", stock="2S"), DRAW1)
    assert "5S onto 6D" not in game.legal
    assert "5S onto 6D" in game.play("5H onto 6C").legal


# Waste, stock and redeal.


def test_only_the_top_card_of_the_waste_can_be_played(table: type[Table]) -> None:
    game = table(board("KS", waste="AH AS", stock="9S 9H"), DRAW1)
    assert foundation_actions(game.legal) == {"AS to foundation"}
    assert foundation_actions(game.play("AS to foundation").legal) == {"AH to foundation"}


def test_the_waste_top_goes_onto_a_column(table: type[Table]) -> None:
    game = table(board("6S", waste="2D 5H", stock="9S"), DRAW1).play("5H onto 6S")
    assert (game.columns[0], game.waste, game.stock) == ("6S 5H", "2D", "9S")


def test_nothing_goes_to_the_waste_and_no_card_of_the_stock_can_be_played(table: type[Table]) -> None:
    game = table(board("6S", "AD", stock="5H AH"), DRAW1)
    assert game.legal == {"AD to foundation", "stock"}


@pytest.mark.parametrize("draw_count", range(1, 25))
def test_a_draw_takes_the_draw_count_or_what_is_left(table: type[Table], draw_count: int) -> None:
    game = table(ORDERED_DECK, Rules(draw_count=draw_count))
    for draws in range(1, -(-24 // draw_count) + 1):
        game.play("stock")
        assert game["waste_size"] == min(draws * draw_count, 24)


def test_a_last_short_draw_is_legal_and_shows_the_last_card(table: type[Table]) -> None:
    game = table(board("6S", waste="2C 9D 9H", stock="7C 5H"), DRAW3).play("stock")
    assert (game.waste, game.stock) == ("2C 9D 9H 7C 5H", "")
    assert "5H onto 6S" in game.legal


@pytest.mark.parametrize("draw_count", [1, 2, 3, 7, 24])
def test_every_card_of_a_draw_is_seen(table: type[Table], draw_count: int) -> None:
    game = table(ORDERED_DECK, Rules(draw_count=draw_count)).play("stock")
    assert game["seen_size"] == draw_count


def test_cards_stay_seen_after_a_redeal(table: type[Table]) -> None:
    game = table(board("6S", waste="2C", stock="5H"), DRAW1).play("stock", "stock")
    assert (game["waste_size"], game["seen_size"]) == (0, 2)


def test_a_seen_card_that_is_played_is_no_longer_counted_as_seen(table: type[Table]) -> None:
    game = table(board("6S", "KH", waste="2C 5H", stock="7H 9C"), DRAW1).play("5H onto 6S")
    assert (game["waste_size"], game["seen_size"], game["talon_size"]) == (1, 1, 3)


def test_a_redeal_turns_the_whole_waste_over_unshuffled(table: type[Table]) -> None:
    game = table(ORDERED_DECK, DRAW1).play(*["stock"] * 24)
    first_pass = game.waste
    game.play("stock")
    assert (game.waste, game.stock, game["redeals_used"]) == ("", first_pass, 1)
    assert game.play(*["stock"] * 24).waste == first_pass


def test_a_redeal_needs_an_empty_stock(table: type[Table]) -> None:
    game = table(board("6S", waste="2C", stock="7H"), DRAW1).play("stock")
    assert (game.waste, game["redeals_used"]) == ("2C 7H", 0)


def test_a_redeal_needs_a_waste(table: type[Table]) -> None:
    game = table(board("6S 5H", "6C"), DRAW1)
    assert game.legal == {"5H onto 6C"}


@pytest.mark.parametrize("redeals", [0, 1, 2, 3, 99])
def test_a_redeal_must_be_left(table: type[Table], redeals: int) -> None:
    start = board("6S 5H", "6C", waste="2C", redeals_used=redeals)
    assert "stock" not in table(start, Rules(redeals=redeals)).legal
    start["redeals_used"] = max(redeals - 1, 0)
    assert ("stock" in table(start, Rules(redeals=redeals)).legal) == (redeals > 0)


def test_each_redeal_is_counted_until_none_is_left(table: type[Table]) -> None:
    game = table(board("6S 5H", "6C", waste="2C"), Rules(redeals=3))
    for redeals in (1, 2, 3):
        assert game.play("stock")["redeals_used"] == redeals
        game.play("stock")
    assert game.legal == {"5H onto 6C"}


def test_unlimited_redeals_never_run_out(table: type[Table]) -> None:
    game = table(board("6S 5H", "6C", waste="2C", redeals_used=65534), DRAW1, stall_limit=None)
    game.play(*["stock"] * 6)
    assert game["redeals_used"] == 65535  # where the counter stays
    assert "stock" in game.legal


def test_in_draw_three_the_groups_change_as_cards_leave(table: type[Table]) -> None:
    game = table(board("6S", "9H", stock="2C 9D 5H 7C TC 8S"), DRAW3).play("stock", "5H onto 6S")
    game.play("stock", "stock", "stock")
    assert game.waste == "2C 9D 7C"  # once 5H was the third card


# Runs.


@pytest.mark.parametrize("head", ["9C", "8H", "7C", "6D", "5S"])
def test_any_face_up_tail_of_a_column_is_a_run_that_may_move(table: type[Table], head: str) -> None:
    column = ["9C", "8H", "7C", "6D", "5S"]
    onto = {"9C": "TD", "8H": "9S", "7C": "8D", "6D": "7S", "5S": "6H"}[head]
    game = table(board("2H | " + " ".join(column), onto, stock="KH"), DRAW1).play(f"{head} onto {onto}")
    cut = column.index(head)
    assert game.columns[1] == " ".join([onto, *column[cut:]])
    assert game.columns[0] == (" ".join(["2H |", *column[:cut]]) if cut else "2H")
    assert game["moves"] == 1


def test_a_face_down_card_does_not_move(table: type[Table]) -> None:
    game = table(board("8H | 5S", "9S", "KD", stock="2H"), POUCH)
    assert not any(name.startswith("8H") for name in game.legal)


def test_a_run_goes_onto_the_last_card_of_a_column_only(table: type[Table]) -> None:
    game = table(board("5H", "6S 5D", stock="KH"), DRAW1)
    assert "5H onto 6S" not in game.legal


def test_a_whole_column_with_no_card_under_it_does_not_move_to_an_empty_column(table: type[Table]) -> None:
    game = table(board("KS QH", "9C | KD QC", stock="2H"), DRAW1)
    assert game.legal == {"KD to empty column", "stock"}
    pouch = table(board("9H 8S", "2C", stock="2H"), POUCH)
    assert pouch.legal == {"8S to empty column", "stock"}


def test_an_ace_that_lies_on_a_card_may_move_to_an_empty_column(table: type[Table]) -> None:
    game = table(board("2H AC", stock="KH"), POUCH)
    assert game.legal == {"AC to foundation", "AC to empty column", "stock"}


def test_a_whole_column_may_move_onto_another_column(table: type[Table]) -> None:
    game = table(board("9H 8S", "TC", stock="2H"), DRAW1).play("9H onto TC")
    assert game.columns[:2] == ["", "TC 9H 8S"]


def test_empty_columns_are_alike_and_the_leftmost_is_used(table: type[Table]) -> None:
    game = table(board("5C", "", "9C | KD", "", stock="2H"), DRAW1).play("KD to empty column")
    assert game.columns == ["5C", "KD", "9C", "", "", "", ""]


def test_a_run_keeps_its_order_when_it_moves_to_an_empty_column(table: type[Table]) -> None:
    game = table(board("9C | KD QC JH", stock="2H"), DRAW1).play("KD to empty column")
    assert game.columns[:2] == ["9C", "KD QC JH"]


# Worrying back.


def test_worrying_back_takes_the_top_card_of_a_foundation_to_a_column(table: type[Table]) -> None:
    game = table(board("6S", "KH", foundations="5H", stock="2S"), DRAW1)
    assert game.legal == {"5H onto 6S", "stock"}
    game.play("5H onto 6S")
    assert (game.columns[0], game.foundations) == ("6S 5H", "4H")


def test_an_ace_may_be_worried_back_onto_a_two(table: type[Table]) -> None:
    game = table(board("2S", "KH", foundations="AH", stock="9S"), DRAW1).play("AH onto 2S")
    assert (game.columns[0], game.foundations) == ("2S AH", "")


def test_worrying_back_follows_the_building_rule(table: type[Table]) -> None:
    start = board("6S", "6H", "6D", foundations="5C", stock="2S")
    assert {name for name in table(start, DRAW1).legal if name.startswith("5C")} == {"5C onto 6H", "5C onto 6D"}
    same_colour = Rules(build="same_colour")
    assert {name for name in table(start, same_colour).legal if name.startswith("5C")} == {"5C onto 6S"}


@pytest.mark.parametrize(
    ("gaps", "expected"),
    [("kings", {"KC to empty column"}), ("any", {"KC to empty column", "5D to empty column"}), ("none", set())],
)
def test_worrying_back_into_a_gap_follows_the_rule_for_gaps(table: type[Table], gaps: str, expected: set[str]) -> None:
    legal = table(board("2S", foundations="KC 5D", stock="2H"), Rules(gaps=gaps)).legal
    assert {name for name in legal if name.endswith("to empty column")} == expected


def test_without_worrying_back_cards_never_leave_the_foundations(table: type[Table]) -> None:
    game = table(board("6S", "AC", foundations="5H KC", stock="2S"), Rules(worry_back=False))
    assert game.legal == {"stock"}


def test_a_card_may_return_to_the_column_it_has_just_left(table: type[Table]) -> None:
    game = table(board("2C | 6S 5H", foundations="4H", stock="2S"), DRAW1).play("5H to foundation", "5H onto 6S")
    assert game.columns[0] == "2C | 6S 5H"


# The move counter.


def test_the_move_counter_counts_every_action_draws_and_redeals_included(table: type[Table]) -> None:
    game = table(board("4C | 5H", "6S", waste="2C", stock="7H"), DRAW1)
    game.play("stock")
    assert game["moves"] == 1
    game.play("stock")
    assert game["moves"] == 2  # the redeal
    game.play("5H onto 6S")
    assert game["moves"] == 3  # the card it turned up is none
    game.play("4C onto 5H")
    assert game["moves"] == 4
    assert game["steps"] == 4


# The table of variants.

VARIANTS: dict[str, tuple[Any, ...]] = {
    "draw1": ("Klondike/Draw1-v0", "alternating_colour", "kings", 1, None, True, "any_tail"),
    "draw3": ("Klondike/Draw3-v0", "alternating_colour", "kings", 3, None, True, "any_tail"),
    "deal1": ("Klondike/Deal1-v0", "alternating_colour", "kings", 1, None, True, "any_tail"),
    "classic": ("Klondike/Classic-v0", "alternating_colour", "kings", 1, 0, True, "any_tail"),
    "thumb_and_pouch": ("Klondike/ThumbAndPouch-v0", "other_suit", "any", 1, 0, False, "any_tail"),
    "thumb_and_pouch_whole": ("Klondike/ThumbAndPouchWhole-v0", "other_suit", "any", 1, 0, False, "whole_or_last"),
}
variants = pytest.mark.parametrize("name", VARIANTS)


def test_every_preset_is_stated_here() -> None:
    assert set(PRESETS) == set(VARIANTS) == set(GYM_IDS)


@variants
def test_the_fields_of_each_variant(name: str) -> None:
    gym_id, *values = VARIANTS[name]
    assert GYM_IDS[name] == gym_id
    build, gaps, draw_count, redeals, worry_back, runs = values
    assert PRESETS[name] == Rules(build, gaps, draw_count, redeals, worry_back, runs)


@variants
def test_each_variant_builds_by_its_rule(table: type[Table], name: str) -> None:
    legal = table(board("7C", "7D", "7H", "7S", "6C", "6H", stock="2S"), PRESETS[name]).legal
    built = {action for action in legal if " onto " in action}
    if name.startswith("thumb"):
        assert built == {"6C onto 7D", "6C onto 7H", "6C onto 7S", "6H onto 7C", "6H onto 7D", "6H onto 7S"}
    else:
        assert built == {"6C onto 7D", "6C onto 7H", "6H onto 7C", "6H onto 7S"}


@variants
def test_each_variant_fills_gaps_by_its_rule(table: type[Table], name: str) -> None:
    legal = table(board("2C | KD", "2D | 9H", waste="KS", stock="2S"), PRESETS[name]).legal
    any_card = {"9H to empty column"} if name.startswith("thumb") else set()
    assert {action for action in legal if "empty" in action} == {"KD to empty column", "KS to empty column"} | any_card


@variants
def test_each_variant_draws_by_its_count(table: type[Table], name: str) -> None:
    assert table(ORDERED_DECK, PRESETS[name]).play("stock")["waste_size"] == (3 if name == "draw3" else 1)


@variants
def test_each_variant_redeals_by_its_rule(table: type[Table], name: str) -> None:
    legal = table(board("2C | 5D", "6S", waste="2H 9S"), PRESETS[name]).legal
    assert ("stock" in legal) == (name in ("draw1", "draw3", "deal1"))


@variants
def test_each_variant_worries_back_by_its_rule(table: type[Table], name: str) -> None:
    legal = table(board("6S", "2C", foundations="5H", stock="9S"), PRESETS[name]).legal
    assert ("5H onto 6S" in legal) == (not name.startswith("thumb"))


@variants
def test_each_variant_moves_runs_by_its_rule(table: type[Table], name: str) -> None:
    legal = table(board("2C | 8S 7H 6C", "9D", "8C", "7D", stock="KS"), PRESETS[name]).legal
    runs = {"8S onto 9D", "7H onto 8C", "6C onto 7D"}
    if name == "thumb_and_pouch_whole":
        runs -= {"7H onto 8C"}
    assert runs <= legal
    assert ("7H onto 8C" in legal) == (name != "thumb_and_pouch_whole")


def test_a_variant_without_a_name_can_be_made_and_played(table: type[Table]) -> None:
    rules = Rules(build="same_suit", gaps="none", draw_count=5, redeals=2, worry_back=False, runs="whole_or_last")
    game = table(ORDERED_DECK, rules, stall_limit=None)
    while game.outcome == "playing":
        game.step(min(game.legal_ids))
    assert game["redeals_used"] <= 2


SUIT_PAIRS = list(itertools.product(SUIT_LETTERS, SUIT_LETTERS))
RED = "DH"
BUILDS_BY_NAME: dict[str, Callable[[str, str], bool]] = {
    "alternating_colour": lambda upper, lower: (upper in RED) != (lower in RED),
    "other_suit": lambda upper, lower: upper != lower,
    "same_suit": lambda upper, lower: upper == lower,
    "same_colour": lambda upper, lower: (upper in RED) == (lower in RED),
    "any_suit": lambda upper, lower: True,
}


@pytest.mark.parametrize("build", BUILDS_BY_NAME)
def test_each_building_rule_for_every_pair_of_suits(table: type[Table], build: str) -> None:
    for upper, lower in SUIT_PAIRS:
        legal = table(board(f"3C | 6{upper}", f"7{lower}", stock="2S"), Rules(build=build)).legal
        assert (f"6{upper} onto 7{lower}" in legal) == BUILDS_BY_NAME[build](upper, lower)


@pytest.mark.parametrize("build", BUILDS_BY_NAME)
def test_columns_are_built_down_by_one_rank_never_up(table: type[Table], build: str) -> None:
    start = board("6C 8D 8H", "7C 7D 7H 7S", "6D", "9S", "5H", "KC", "AS", stock="2S")
    built = {name for name in table(start, Rules(build=build)).legal if " onto " in name}
    ranks = {(name[0], name[-2]) for name in built}
    assert ranks <= {("8", "9"), ("7", "8"), ("6", "7"), ("5", "6")}


@pytest.mark.parametrize(
    ("gaps", "expected"), [("kings", {"KD", "KS"}), ("any", {"KD", "QS", "9H", "8C", "KS"}), ("none", set())]
)
def test_each_rule_for_gaps(table: type[Table], gaps: str, expected: set[str]) -> None:
    legal = table(board("2C | KD QS", "9H 8C", waste="KS", stock="2S"), Rules(gaps=gaps)).legal
    filled = {name.split()[0] for name in legal if name.endswith("to empty column")}
    assert filled == expected - {"9H"}  # 9H is a whole column: moving it would change nothing


def test_no_gap_no_move_to_an_empty_column(table: type[Table]) -> None:
    start = board("2C | KD", *["3C", "3D", "3H", "3S", "4C", "4D"], stock="2S")
    assert not any("empty" in name for name in table(start, Rules(gaps="any")).legal)


# Decisions where sources disagree.


def test_decision_1_deal_1_has_unlimited_redeals_and_classic_has_none() -> None:
    assert PRESETS["deal1"].redeals is None
    assert PRESETS["deal1"] == PRESETS["draw1"]
    assert PRESETS["classic"] == Rules(redeals=0)


@pytest.mark.parametrize("rules", [POUCH, POUCH_WHOLE], ids=["thumb_and_pouch", "thumb_and_pouch_whole"])
def test_decision_2_in_thumb_and_pouch_cards_never_leave_the_foundations(table: type[Table], rules: Rules) -> None:
    game = table(board("6S", foundations="5H KD", stock="9S"), rules)
    assert game.legal == {"stock"}


@pytest.mark.parametrize("lower", SUIT_LETTERS)
def test_decision_3_a_six_goes_on_any_seven_but_the_seven_of_its_own_suit(table: type[Table], lower: str) -> None:
    legal = table(board("2C | 6S", f"7{lower}", stock="2H"), POUCH).legal
    assert ("6S onto 7" + lower in legal) == (lower != "S")
    assert not any(name.startswith("7") and "onto" in name for name in legal)


def test_decision_4_thumb_and_pouch_moves_any_tail_the_other_a_whole_run_or_its_last_card(table: type[Table]) -> None:
    start = board("2C | 8S 7S 6C 5D", "9D", "8C", "7D", "6H", stock="KS")
    every_tail = {"8S onto 9D", "7S onto 8C", "6C onto 7D", "5D onto 6H"}
    assert every_tail <= table(start, POUCH).legal
    whole = table(start, POUCH_WHOLE).legal
    assert every_tail & whole == {"8S onto 9D", "5D onto 6H"}
    assert {name for name in whole if "8S" in name[:2] or "5D" in name[:2]} >= {
        "8S to empty column",
        "5D to empty column",
    }
    assert not any(name[:2] in ("7S", "6C") for name in whole)


def test_decision_4_a_column_with_one_face_up_card_has_one_move(table: type[Table]) -> None:
    game = table(board("2C | 8S", "9D", stock="KS", foundations="KH"), Rules(gaps="none", runs="whole_or_last"))
    assert game.legal == {"8S onto 9D", "stock"}
    assert game.play("8S onto 9D").columns[:2] == ["2C", "9D 8S"]


def test_decision_4_the_last_card_of_a_run_goes_to_its_foundation(table: type[Table]) -> None:
    game = table(board("2C | 3D 2S", foundations="AS", stock="KS"), POUCH_WHOLE).play("2S to foundation")
    assert game.columns[0] == "2C | 3D"


@pytest.mark.parametrize("rules", [DRAW1, DRAW3], ids=["draw1", "draw3"])
def test_decision_5_any_tail_of_the_face_up_cards_may_move(table: type[Table], rules: Rules) -> None:
    legal = table(board("2C | 8S 7H 6C", "9D", "8C", "7D", stock="KS"), rules).legal
    assert {"8S onto 9D", "7H onto 8C", "6C onto 7D"} <= legal


# Decision 8: how an episode ends.


def test_lost_when_all_is_seen_and_no_card_can_be_played(table: type[Table]) -> None:
    game = table(board("5D", "6S", "9C", waste="2H"), CLASSIC).play("5D onto 6S")
    assert (game.outcome, game.reward) == ("lost", 0.0)


def test_not_lost_while_an_unseen_card_can_be_drawn(table: type[Table]) -> None:
    game = table(board("5D", "6S", "9C", stock="2H 3H"), CLASSIC).play("5D onto 6S", "stock")
    assert game.outcome == "playing"
    assert game.legal == {"stock"}
    assert game.play("stock").outcome == "lost"


def test_the_test_for_lost_does_not_read_unseen_cards(table: type[Table]) -> None:
    for useless_or_not in ("2H 3H", "AH 3H", "3H KD"):
        game = table(board("5D", "6S", "9C", stock=useless_or_not), DRAW1).play("5D onto 6S")
        assert game.outcome == "playing"


def test_not_lost_while_a_reversible_card_action_is_legal(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S"), CLASSIC).play("5D onto 6S")
    assert game.outcome == "playing"
    assert game.legal == {"5D onto 6C"}


def test_not_lost_while_one_card_has_a_column_and_a_gap_to_go_to(table: type[Table]) -> None:
    game = table(board("9H", "9D 8S", "2C"), POUCH).play("8S onto 9H")
    assert game.outcome == "playing"
    assert game.legal == {"8S onto 9D", "8S to empty column"}


def test_not_lost_while_a_card_can_be_worried_back(table: type[Table]) -> None:
    start = board("4S 3D", "9C", waste="2H", foundations="2D")
    assert table(start, CLASSIC).play("3D to foundation").outcome == "playing"
    assert table(start, Rules(redeals=0, worry_back=False)).play("3D to foundation").outcome == "lost"


def test_not_lost_while_a_redeal_brings_a_card_that_can_be_played(table: type[Table]) -> None:
    start = board("5D", "6S", "9C", waste="8H 2H")
    assert table(start, DRAW1).play("5D onto 6S").legal == {"stock"}
    assert table(start, Rules(redeals=1)).play("5D onto 6S").outcome == "playing"
    assert table(start, Rules(redeals=0)).play("5D onto 6S").outcome == "lost"
    start["redeals_used"] = 1
    assert table(start, Rules(redeals=1)).play("5D onto 6S").outcome == "lost"


def test_not_lost_while_drawing_brings_a_seen_card_that_can_be_played(table: type[Table]) -> None:
    start = board("5D", "6S", "9C", waste="2H", stock="3H 8H 2D", stock_seen=True, redeals_used=1)
    assert table(start, Rules(redeals=1)).play("5D onto 6S").outcome == "playing"
    # Drawing three at a time shows 2D as the only card that can be played.
    assert table(start, Rules(redeals=1, draw_count=3)).play("5D onto 6S").outcome == "lost"


@pytest.mark.parametrize(("talon", "outcome"), [("8H 3H 2H", "lost"), ("3H 2H 8H", "playing"), ("3H 8H", "playing")])
def test_at_draw_three_a_card_that_never_comes_to_the_top_does_not_count(
    table: type[Table], talon: str, outcome: str
) -> None:
    game = table(board("5D", "6S", "9C", waste=talon), DRAW3).play("5D onto 6S")
    assert game.outcome == outcome


def test_lost_by_drawing_past_the_last_card_that_could_be_played(table: type[Table]) -> None:
    # Only now is 8H on top; later draws of three show 2D alone.
    start = board("9S", "4C", waste="2C 8H", stock="2D", stock_seen=True)
    assert table(start, DRAW3).play("stock").outcome == "lost"
    assert table(start, DRAW1).play("stock").outcome == "playing"


@pytest.mark.parametrize("talon", ["draw", "reach"])
def test_lost_does_not_depend_on_the_talon_mode(table: type[Table], talon: str) -> None:
    start = board("5D", "6S", "9C", waste="3H 8H 2H", stock="2D", stock_seen=True)
    for rules, outcome in [(DRAW1, "playing"), (Rules(redeals=0), "lost"), (DRAW3, "lost")]:
        assert table(start, rules, talon=talon).play("5D onto 6S").outcome == outcome


def test_stalled_after_stall_limit_steps_without_progress(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1, stall_limit=3)
    game.play("5D onto 6S", "5D onto 6C")
    assert (game.outcome, game["since_progress"]) == ("playing", 2)
    assert game.play("5D onto 6S").outcome == "stalled"


def test_the_stall_limit_is_250_unless_said_otherwise(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1).play(*["5D onto 6S", "5D onto 6C"] * 124, "5D onto 6S")
    assert (game.outcome, game["since_progress"]) == ("playing", 249)
    assert game.play("5D onto 6C").outcome == "stalled"


def test_without_a_stall_limit_no_game_stalls(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1, stall_limit=None)
    assert game.play(*["5D onto 6S", "5D onto 6C"] * 150).outcome == "playing"


@pytest.mark.parametrize(
    ("action", "progress"),
    [
        ("5H onto 6S", True),  # turns a card up
        ("8H onto 9C", True),  # leaves the talon for a column
        ("AS to foundation", True),  # a foundation total never reached before
        ("stock", True),  # an unseen card
        ("7D onto 8C", False),
        ("3D onto 4S", False),  # worried back
    ],
)
def test_what_progress_is(table: type[Table], action: str, progress: bool) -> None:
    start = board("2C | 5H", "6S", "9C", "8S 7D", "8C", "4S", "2D AS", waste="8H", stock="9S", foundations="3D")
    start["since_progress"] = 7
    assert table(start, DRAW1).play(action)["since_progress"] == (0 if progress else 8)


def test_a_card_of_the_talon_to_its_foundation_is_progress_even_below_the_highest_total(table: type[Table]) -> None:
    game = table(board("6S", waste="3C", stock="9S", foundations="5H 2C", since_progress=7, best_foundation=20), DRAW1)
    assert game.play("3C to foundation")["since_progress"] == 0


def test_regaining_a_foundation_total_is_no_progress(table: type[Table]) -> None:
    game = table(board("6S 5H", "KH", foundations="4H", stock="2S"), DRAW1)
    assert game.play("5H to foundation")["since_progress"] == 0
    assert game.play("5H onto 6S")["since_progress"] == 1
    assert game.play("5H to foundation")["since_progress"] == 2
    assert game["best_foundation"] == 5


def test_drawing_a_seen_card_and_redealing_are_no_progress(table: type[Table]) -> None:
    game = table(board("6S 5H", "6C", waste="2C", stock="9D"), DRAW1)
    assert [game.play("stock")["since_progress"] for _ in range(4)] == [0, 1, 2, 3]


def test_truncated_only_by_a_step_limit(table: type[Table]) -> None:
    start = board("6C 5D", "6S", stock="2S")
    game = table(start, DRAW1, step_limit=2).play("5D onto 6S")
    assert game.outcome == "playing"
    assert game.play("5D onto 6C").outcome == "truncated"


def test_won_comes_before_every_other_ending(table: type[Table]) -> None:
    start = board("KS", foundations="KC KD KH QS", since_progress=249, best_foundation=52)
    assert table(start, DRAW1, stall_limit=250, step_limit=1).play("KS to foundation").outcome == "won"


def test_lost_comes_before_stalled_and_stalled_before_truncated(table: type[Table]) -> None:
    lost = board("5D", "6S", "9C", waste="2H")
    assert table(lost, CLASSIC, stall_limit=1, step_limit=1).play("5D onto 6S").outcome == "lost"
    stalled = board("6C 5D", "6S", stock="2S")
    assert table(stalled, DRAW1, stall_limit=1, step_limit=1).play("5D onto 6S").outcome == "stalled"


def test_after_the_end_every_action_is_in_the_mask(table: type[Table]) -> None:
    game = table(board("KS", foundations="KC KD KH QS"), DRAW1).play("KS to foundation")
    assert game.legal_ids == ALL_ACTIONS


# Decision 9: finishing by itself.


def test_decision_9_the_game_ends_as_won_once_nothing_is_face_down_and_the_talon_is_empty(table: type[Table]) -> None:
    start = board("KC QD", "KD QC", "KH QS", "KS QH", foundations="JC JD JH JS")
    for rules in (DRAW1, DRAW3, CLASSIC, POUCH, Rules(draw_count=5, redeals=2)):
        game = table(start, rules, auto_finish=True).play("QS to foundation")
        assert (game.outcome, game.reward, game.foundations) == ("won", 1.0, "KC KD KH KS")
        assert game["moves"] == 8
        assert game["steps"] == 1


def test_decision_9_the_talon_may_hold_cards_at_draw_one_with_unlimited_redeals_only(table: type[Table]) -> None:
    start = board("KC", "KD", "KH", waste="KS", stock="QS", foundations="QC QD QH JS", stock_seen=True)
    others = (CLASSIC, DRAW3, Rules(draw_count=2), Rules(redeals=3), Rules(redeals=99))
    assert table(start, DRAW1, auto_finish=True).play("KC to foundation").outcome == "won"
    assert {table(start, r, auto_finish=True).play("KC to foundation").outcome for r in others} == {"playing"}


def test_decision_9_not_while_a_card_is_face_down(table: type[Table]) -> None:
    start = board("KC | QD", "KD | QC", "KH QS", "KS QH", foundations="JC JD JH JS")
    game = table(start, DRAW1, auto_finish=True).play("QD to foundation")
    assert game.outcome == "playing"
    assert game.play("QC to foundation").outcome == "won"
    assert game["moves"] == 8


def test_decision_9_is_off_unless_asked_for(table: type[Table]) -> None:
    start = board("KC QD", "KD QC", "KH QS", "KS QH", foundations="JC JD JH JS")
    assert table(start, DRAW1).play("QS to foundation").outcome == "playing"


def test_decision_9_the_draws_to_cards_of_the_talon_are_counted(table: type[Table]) -> None:
    # KC, KD and KH; a draw to QS; QS and KS, which is then the waste top.
    start = board("KC", "KD", "KH", waste="KS", stock="QS", foundations="QC QD QH JS", stock_seen=True)
    game = table(start, DRAW1, auto_finish=True).play("KC to foundation")
    assert (game["moves"], game["redeals_used"]) == (6, 0)


def test_decision_9_redeals_on_the_way_are_counted(table: type[Table]) -> None:
    # KC, KD and KH; a redeal, a draw and QS; a draw and KS.
    start = board("KC", "KD", "KH", waste="QS KS", foundations="QC QD QH JS")
    game = table(start, DRAW1, auto_finish=True).play("KC to foundation")
    assert (game["moves"], game["redeals_used"]) == (8, 1)


def test_decision_9_free_cards_go_before_any_tap(table: type[Table]) -> None:
    # QS; then KD and KS from the columns, KC and KH from the waste.
    start = board("KD", "KS QS", waste="KH KC", foundations="QC QD QH JS")
    game = table(start, DRAW1, auto_finish=True).play("QS to foundation")
    assert game["moves"] == 5


def test_decision_9_the_nearest_card_of_the_talon_goes_first(table: type[Table]) -> None:
    # KH; a draw and KC; a draw and QS; KS and KD, each then the waste top. KD first would take a redeal.
    start = board("KH", waste="KD KS", stock="KC QS", foundations="QC QD QH JS", stock_seen=True)
    game = table(start, DRAW1, auto_finish=True).play("KH to foundation")
    assert (game["moves"], game["redeals_used"]) == (7, 0)


def test_decision_9_leaves_an_orderly_table(table: type[Table]) -> None:
    start = board("KC", "KD", "KH", waste="QS KS", foundations="QC QD QH JS")
    game = table(start, DRAW1, auto_finish=True).play("KC to foundation")
    record = game.record
    assert record["foundation"].tolist() == [13] * 4
    assert not record["height"].any()
    assert not record["row"].any()
    assert (record["place"] == 7).all()
    assert (game["talon_size"], game["waste_size"], game["seen_size"]) == (0, 0, 0)
    assert (game["best_foundation"], game["since_progress"]) == (52, 0)


def test_decision_9_an_unseen_stock_does_not_matter(table: type[Table]) -> None:
    start = board("KC", "KD", "KH", stock="QS KS", foundations="QC QD QH JS")
    game = table(start, DRAW1, auto_finish=True).play("KC to foundation")
    assert (game.outcome, game["moves"]) == ("won", 7)
    assert (game["talon_size"], game["waste_size"], game["seen_size"]) == (0, 0, 0)


# Direct plays of talon cards: talon="reach".


@pytest.mark.parametrize(("draw_count", "moves"), [(1, 25), (2, 13), (3, 9), (5, 6), (23, 3), (24, 2)])
def test_reach_with_unlimited_redeals_starts_after_one_full_pass_and_redeal(
    table: type[Table], draw_count: int, moves: int
) -> None:
    game = table(ORDERED_DECK, Rules(draw_count=draw_count), talon="reach")
    assert (game["moves"], game["redeals_used"], game["steps"], game["since_progress"]) == (moves, 1, 0, 0)
    assert (game["waste_size"], game["seen_size"], game["talon_size"]) == (0, 24, 24)
    assert "stock" not in game.legal


@pytest.mark.parametrize("redeals", [0, 1, 5])
def test_reach_with_limited_redeals_starts_like_any_game(table: type[Table], redeals: int) -> None:
    game = table(ORDERED_DECK, Rules(redeals=redeals), talon="reach")
    assert (game["moves"], game["redeals_used"], game["seen_size"]) == (0, 0, 0)
    assert "stock" in game.legal


def test_reach_at_draw_one_offers_every_card_of_the_talon(table: type[Table]) -> None:
    start = board("9S", "9C", "6S", waste="8H 5D 8D", stock="5H", stock_seen=True)
    legal = table(start, DRAW1, talon="reach").legal
    assert legal == {f"{card} onto {nine}" for card in ("8H", "8D") for nine in ("9S", "9C")} | {
        "5D onto 6S",
        "5H onto 6S",
    }


@pytest.mark.parametrize(
    ("waste", "stock", "reached"),
    [
        ("", "2C 2D 2H 2S 3C 3D 3H", {"2H", "3D", "3H"}),  # the last draw is short
        ("2C 2D", "2H 2S 3C 3D 3H", {"2D", "3C", "3H", "2H", "3D"}),  # a card has left: another phase until the redeal
        ("2C 2D 2H 2S 3C 3D 3H", "", {"3H", "2H", "3D"}),
    ],
)
def test_reach_at_draw_three_offers_the_cards_that_come_to_the_top(
    table: type[Table], waste: str, stock: str, reached: set[str]
) -> None:
    start = board("9S", waste=waste, stock=stock, stock_seen=True)
    legal = table(start, Rules(draw_count=3, gaps="any"), talon="reach").legal
    assert {name.split()[0] for name in legal if "empty" in name} == reached


def test_reach_makes_and_counts_the_draws_it_implies(table: type[Table]) -> None:
    start = board("9S", "KD", waste="2C", stock="2D 2H 8H 2S", stock_seen=True)
    game = table(start, DRAW1, talon="reach").play("8H onto 9S")
    assert (game["moves"], game["steps"], game["redeals_used"]) == (4, 1, 0)
    assert (game.waste, game.stock) == ("2C 2D 2H", "2S")


def test_reach_makes_and_counts_the_redeal_it_implies(table: type[Table]) -> None:
    # Drawing 2S, the redeal, two draws, the play.
    start = board("9S", "KD", waste="2C 8H 2D", stock="2S", stock_seen=True, redeals_used=4)
    game = table(start, DRAW1, talon="reach").play("8H onto 9S")
    assert (game["moves"], game["redeals_used"]) == (5, 5)
    assert (game.waste, game.stock) == ("2C", "2D 2S")


def test_reach_takes_the_route_with_the_fewest_draws(table: type[Table]) -> None:
    # 8H is the next draw, and would be met again after the redeal.
    start = board("9S", "KD", waste="2C 2D 2S", stock="2H 3C 8H 3D 3S", stock_seen=True)
    game = table(start, DRAW3, talon="reach").play("8H onto 9S")
    assert (game["moves"], game["redeals_used"], game.waste) == (2, 0, "2C 2D 2S 2H 3C")


@pytest.mark.parametrize(
    ("waste", "stock", "moves", "redeals"),
    [
        ("2C 2D 8H", "2H 2S 3C 3D", 1, 0),  # the waste top
        ("2C", "2D 2H 8H 2S 3C", 2, 0),  # a draw
        ("2C 2D 2H", "2S 3C 3D 8H", 3, 0),  # two draws, the second short
        ("2C 2D", "8H 2H 2S 3C", 5, 1),  # past it by two draws, the second short; the redeal, a draw
        ("2C 2D 8H 2H", "2S 3C 3D", 4, 1),  # a draw, the redeal, a draw
        ("2C 2D 2H 2S 3C", "8H 3D 3S", 5, 1),  # a draw, the redeal, two draws
    ],
)
def test_reach_counts_the_draws_at_draw_three(
    table: type[Table], waste: str, stock: str, moves: int, redeals: int
) -> None:
    start = board("9S", "KD", waste=waste, stock=stock, stock_seen=True)
    game = table(start, DRAW3, talon="reach").play("8H onto 9S")
    assert (game["moves"], game["redeals_used"]) == (moves, redeals)


def test_reach_plays_the_waste_top_without_a_tap(table: type[Table]) -> None:
    start = board("9S", "KD", waste="2C 8H", stock="2H", stock_seen=True)
    assert table(start, DRAW1, talon="reach").play("8H onto 9S")["moves"] == 1


def test_reach_with_limited_redeals_passes_over_seen_cards_only(table: type[Table]) -> None:
    start = board("9S", "8S 7D", "8C", waste="2C", stock="8H 2H")
    game = table(start, Rules(redeals=1), talon="reach")
    assert game.legal == {"7D onto 8C", "stock"}
    assert game.play("stock").legal == {"7D onto 8C", "8H onto 9S", "stock"}
    assert game.play("stock").legal == {"7D onto 8C", "8H onto 9S", "stock"}  # 8H: the redeal and two draws
    game.play("8H onto 9S")
    assert (game["moves"], game["redeals_used"]) == (6, 1)
    assert (game.waste, game.stock) == ("2C", "2H")


def test_reach_does_not_go_round_through_unseen_cards(table: type[Table]) -> None:
    start = board("9S", "8S 7D", "8C", waste="8H 2H", stock="9D")
    game = table(start, Rules(redeals=1), talon="reach")
    assert game.legal == {"7D onto 8C", "stock"}
    assert game.play("stock").legal == {"7D onto 8C", "8H onto 9S", "stock"}


def test_reach_without_a_redeal_left_does_not_go_back(table: type[Table]) -> None:
    start = board("9S", "8S 7D", "8C", waste="8H 2H", stock="9D", stock_seen=True, redeals_used=1)
    assert table(start, Rules(redeals=1), talon="reach").legal == {"7D onto 8C", "stock"}
    assert "8H onto 9S" in table(start, Rules(redeals=2), talon="reach").legal


def test_reach_with_limited_redeals_keeps_the_stock_action(table: type[Table]) -> None:
    start = board("9S", "8S 7D", "8C", waste="2H 2D", redeals_used=0)
    game = table(start, Rules(redeals=1), talon="reach")
    assert "stock" in game.legal
    assert game.play("stock").stock == "2H 2D"


def test_reach_at_a_limited_draw_does_not_look_at_a_short_unseen_rest(table: type[Table]) -> None:
    start = board("9S", "8S 7D", "8C", waste="2C 2D 2H", stock="8H")
    assert table(start, Rules(draw_count=3, redeals=1), talon="reach").legal == {"7D onto 8C", "stock"}


DEAD_DEAL = 120  # a draw-3 deal on which no card can ever be played


def test_reach_offers_the_stock_alone_where_no_card_can_be_played_and_it_loses(
    table: type[Table],
) -> None:
    game = table(deck_of(DEAD_DEAL), DRAW3, talon="reach")
    assert game.outcome == "playing"
    assert game.legal == {"stock"}
    game.play("stock")
    assert (game.outcome, game["moves"]) == ("lost", 10)


def test_a_dead_deal_in_draw_mode_is_lost_once_everything_is_seen(table: type[Table]) -> None:
    game = table(deck_of(DEAD_DEAL), DRAW3).play(*["stock"] * 7)
    assert game.outcome == "playing"
    assert game.play("stock").outcome == "lost"


# No repeated positions: no_repeats.


def test_no_repeats_masks_the_way_back(table: type[Table]) -> None:
    start = board("6C 5D", "6S", stock="2S")
    assert table(start, DRAW1).play("5D onto 6S").legal == {"5D onto 6C", "stock"}
    assert table(start, DRAW1, no_repeats=True).play("5D onto 6S").legal == {"stock"}


def test_no_repeats_forgets_at_every_progress(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1, no_repeats=True).play("5D onto 6S", "stock")
    assert game.legal == {"5D onto 6C", "stock"}


def test_no_repeats_refuses_a_masked_action(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1, no_repeats=True).play("5D onto 6S").refuse("5D onto 6C")
    assert game.columns[:2] == ["6C", "6S 5D"]


def test_no_repeats_unmasks_all_where_every_action_repeats(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S"), DRAW1, no_repeats=True).play("5D onto 6S")
    assert game.legal == {"5D onto 6C"}
    game.play("5D onto 6C")
    assert game.outcome == "playing"
    assert game.legal == {"5D onto 6S"}


def test_no_repeats_takes_the_columns_as_a_set(table: type[Table]) -> None:
    start = board("6S 5D", "", "7D", "6C", *["9C", "9D", "9H"], stock="2S")
    game = table(start, Rules(gaps="any", redeals=0), no_repeats=True)
    game.play("5D to empty column", "6S onto 7D", "5D onto 6C")
    assert "5D to empty column" not in game.legal  # 5D would lie alone in another column than before


def test_no_repeats_the_stock_action_can_repeat_too(table: type[Table]) -> None:
    start = board("6C 5D", "6S", waste="2S", stock="3S", stock_seen=True)
    game = table(start, DRAW1, no_repeats=True).play("stock", "stock")
    assert game.legal == {"5D onto 6S"}  # another draw would show the start again


def test_no_repeats_counts_redeals_where_they_are_limited(table: type[Table]) -> None:
    start = board("6C 5D", "6S", waste="2S", stock="3S", stock_seen=True)
    game = table(start, Rules(redeals=5), no_repeats=True).play("stock", "stock")
    assert game.legal == {"5D onto 6S", "stock"}


def test_no_repeats_tells_waste_sizes_apart(table: type[Table]) -> None:
    start = board("6C 5D", "6S", waste="2S", stock="3S 4S", stock_seen=True)
    game = table(start, DRAW1, no_repeats=True).play("5D onto 6S", "stock")
    assert game.legal == {"5D onto 6C", "stock"}


def test_no_repeats_covers_moves_to_the_foundations_and_back(table: type[Table]) -> None:
    start = board("6S 5H", foundations="4H", stock="2S", best_foundation=20)
    game = table(start, DRAW1, no_repeats=True).play("5H to foundation")
    assert game.legal == {"stock"}


def test_no_repeats_does_not_change_what_lost_means(table: type[Table]) -> None:
    game = table(board("5D", "6S", "9C", waste="2H"), CLASSIC, no_repeats=True).play("5D onto 6S")
    assert game.outcome == "lost"


def test_no_repeats_in_reach_mode_does_not_bring_the_stock_action_back(table: type[Table]) -> None:
    start = board("6C 5D", "6S", "9C", waste="2H", stock="2C", stock_seen=True)
    game = table(start, DRAW1, talon="reach", no_repeats=True).play("5D onto 6S")
    assert game.legal == {"5D onto 6C"}


# Refused actions.


@pytest.mark.parametrize("reward", ["win", "progress", "standard", "vegas"])
def test_a_refused_action_changes_nothing_but_the_steps(table: type[Table], reward: str) -> None:
    start = board("2C | 6C 5D", "6S", stock="2S", moves=9, steps=4, since_progress=3, score=40)
    game = table(start, DRAW1, reward=reward)
    before = game.record.copy()
    game.refuse("6C onto 7D")
    after = game.record.copy()
    assert game.reward == 0.0
    assert (game["steps"], game["since_progress"], game["moves"]) == (5, 4, 9)
    after["steps"], after["since_progress"] = before["steps"], before["since_progress"]
    assert after == before
    assert game.legal == {"5D onto 6S", "stock"}


def test_the_stock_action_is_refused_where_there_is_nothing_to_draw(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S"), CLASSIC)
    assert game.legal == {"5D onto 6S"}
    game.refuse("stock")


def test_an_accepted_action_clears_the_sign_of_a_refused_one(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1).refuse("6C onto 7D").play("5D onto 6S")
    assert not game.illegal


def test_refused_actions_alone_end_a_game_as_stalled(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1, stall_limit=5)
    for _ in range(4):
        game.refuse("6C onto 7D")
    assert game.outcome == "playing"
    assert game.refuse("6C onto 7D").outcome == "stalled"


def test_refused_actions_count_towards_the_step_limit(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", stock="2S"), DRAW1, step_limit=1)
    assert game.refuse("6C onto 7D").outcome == "truncated"


@pytest.mark.parametrize("card", ["KC", "KD", "KH", "KS"])
def test_nothing_lies_on_an_ace_and_a_king_on_no_card(table: type[Table], card: str) -> None:
    start = board("2C | KC", "2D | KD", "2H | KH", "2S | KS", "AC", stock="3S")
    legal = table(start, Rules(build="any_suit", gaps="none")).legal
    assert not any(name.startswith(card) for name in legal)


# Rewards.


@pytest.mark.parametrize(
    ("action", "points"),
    [
        ("8H onto 9C", 5),  # waste to column
        ("2H onto 3S", 0),  # column to column
        ("5S onto 6H", 5),  # turns a card up
        ("2H to foundation", 10),
        ("4D to foundation", 15),  # and turns a card up
        ("3D onto 4C", -15),  # worried back
        ("stock", 0),
    ],
)
def test_standard_scoring(table: type[Table], action: str, points: int) -> None:
    columns = ("JC | 5S", "6H", "9C", "3C 2H", "3S", "4C", "JD | 4D")
    start = board(*columns, waste="8H", stock="9S", foundations="3D AH", score=200)
    game = table(start, DRAW1, reward="standard").play(action)
    assert (game.reward, game["score"]) == (points, 200 + points)


def test_standard_scoring_waste_to_foundation(table: type[Table]) -> None:
    game = table(board("6S", waste="AS", stock="9H"), DRAW1, reward="standard").play("AS to foundation")
    assert game.reward == 10


@pytest.mark.parametrize(("rules", "points"), [(DRAW1, -100), (DRAW3, 0), (Rules(redeals=2), -100)])
def test_standard_scoring_of_a_redeal(table: type[Table], rules: Rules, points: int) -> None:
    game = table(board("6C 5D", "6S", waste="2S", score=250), rules, reward="standard").play("stock")
    assert game.reward == points


def test_standard_scoring_never_falls_below_zero(table: type[Table]) -> None:
    game = table(board("6C 5D", "6S", waste="2S", score=70), DRAW1, reward="standard").play("stock")
    assert (game.reward, game["score"]) == (-70, 0)
    game = table(board("6S", "KH", foundations="5H", stock="2S", score=10), DRAW1, reward="standard")
    game.play("5H onto 6S")
    assert (game.reward, game["score"]) == (-10, 0)


def test_standard_scoring_books_implied_redeals_before_the_play(table: type[Table]) -> None:
    start = board("9S", "KD", waste="8H 2D", score=60)
    game = table(start, DRAW1, reward="standard", talon="reach").play("8H onto 9S")
    assert (game.reward, game["score"]) == (-55, 5)


def test_standard_scoring_of_finishing(table: type[Table]) -> None:
    # KC 10; redeal -100 leaves 0 of 40; then QS and KS.
    start = board("KC", waste="QS KS", foundations="QC KD KH JS", score=30)
    game = table(start, DRAW1, reward="standard", auto_finish=True).play("KC to foundation")
    assert (game.reward, game["score"]) == (-10, 20)


def test_standard_scoring_starts_at_zero_after_the_first_pass_of_reach(table: type[Table]) -> None:
    assert table(ORDERED_DECK, DRAW1, reward="standard", talon="reach")["score"] == 0


def test_vegas_pays_the_stake_with_the_first_accepted_action(table: type[Table]) -> None:
    game = table(ORDERED_DECK, CLASSIC, reward="vegas").refuse("KS to foundation")
    assert game.reward == 0
    assert game.play("stock").reward == -52
    assert game.play("stock").reward == 0


@pytest.mark.parametrize(
    ("action", "points"), [("5H to foundation", 5), ("4D onto 5S", -5), ("3S to foundation", 5), ("stock", 0)]
)
def test_vegas_pays_five_for_each_card_on_a_foundation(table: type[Table], action: str, points: int) -> None:
    start = board("6S 5H", "5S", "9D 8S", "9H", waste="3S", stock="TH", foundations="4D 4H 2S")
    game = table(start, CLASSIC, reward="vegas").play("8S onto 9H")
    assert (game.reward, game.play(action).reward) == (-52, points)


@pytest.mark.parametrize("action", ["5H onto 6S", "3S onto 4D", "stock"])
def test_vegas_pays_nothing_for_turning_up_for_leaving_the_waste_or_for_a_redeal(
    table: type[Table], action: str
) -> None:
    start = board("2C | 5H", "6S", "9D 8S", "9H", "4D", waste="3S")
    game = table(start, DRAW1, reward="vegas").play("8S onto 9H")
    assert (game.reward, game.play(action).reward) == (-52, 0)


def test_vegas_pays_for_finishing(table: type[Table]) -> None:
    start = board("KC QD", "KD QC", "KH QS", "KS QH", foundations="JC JD JH JS")
    game = table(start, CLASSIC, reward="vegas", auto_finish=True).play("QS to foundation")
    assert game.reward == 8 * 5 - 52


def test_win_pays_one_for_a_win_and_nothing_else(table: type[Table]) -> None:
    game = table(board("KS QS", foundations="KC KD KH JS"), DRAW1, reward="win").play("QS to foundation")
    assert game.reward == 0
    assert game.play("KS to foundation").reward == 1


def test_progress_pays_the_win_and_the_change_of_a_potential_that_ends_at_zero(table: type[Table]) -> None:
    start = board("2C | 5H", "6S", waste="3C", stock="9S", foundations="2C")
    game = table(start, DRAW1, reward="progress")
    assert game.play("3C to foundation").reward == pytest.approx(0.01)
    assert game.play("5H onto 6S").reward == pytest.approx(0.02)
    assert game.play("stock").outcome == "lost"
    assert game.reward == pytest.approx(-0.01 * 3 - 0.02 * 21)


@pytest.mark.parametrize("deal", range(3))
@pytest.mark.parametrize("auto_finish", [False, True])
def test_the_return_of_progress_is_that_of_win(table: type[Table], deal: int, auto_finish: bool) -> None:
    game = table(deck_of(deal), POUCH, reward="progress", auto_finish=auto_finish)
    total = 0.0
    while game.outcome == "playing":
        game.step(min(game.legal_ids, key=lambda action: (action % 6 != 0, action)))
        total += game.reward
    assert total == pytest.approx(float(game.outcome == "won"), abs=1e-5)
