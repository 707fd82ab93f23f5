"""Positions as text: written by hand, read back exactly, refused with reasons."""

from __future__ import annotations

import re

import gymnasium as gym
import numpy as np
import pytest

from klondike_env import PRESETS
from klondike_env.cards import UNSEEN, card_text
from klondike_env.engine.actions import STOCK_ACTION, parse
from klondike_env.engine.state import HIDDEN_PLACE, STATE, TALON
from klondike_env.games import Games
from klondike_env.position import format_position, parse_position
from klondike_env.rules import DISTINCT_PRESETS, Rules
from klondike_env.vector_env import KlondikeVectorEnv
from tests.boards import board

BY_HAND = """
# A game in progress. Ten may be written 10 or T, letters small or large.
foundations: 2C - AH
1: 9C 8H
2: 4D | QS
3: 7D TC | JS  # a comment after a line
4: ?? ## ?? | 6C

5: kd 10D | 6D 5S 4H 3S 2D
7: ?? ?? ?? ?? ?? ?? | 3H
stock: ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ??
waste: 7C 4C 5C
moves: 30
"""
# The same deal to the end of its hidden cards.
COMPLETE = """\
foundations: -C -D -H -S
1: 3H
2: 7H | 4C
3: 9S 2C | JS TD
4: 8C JD 9C | 8H
5: TC 6S 5S 6H | 8S
6: QC 3D 4D 9D QS | 5C
7: 9H 3C 4H 2H KS KD | 5H
waste: AC AD
stock: 2D TS 7S TH KC 3S 8D JC AS 6D 7C QD AH 7D KH 4S QH JH 6C 2S 5D
moves: 3
"""


@pytest.mark.parametrize("variant", DISTINCT_PRESETS)
@pytest.mark.parametrize("talon", ["draw", "reach"])
def test_every_position_that_play_reaches_is_read_back_exactly(variant, talon):
    games = Games(12, PRESETS[variant], talon=talon, reward="standard", stall_limit=60)
    games.deal(np.arange(12))
    generator = np.random.default_rng(1)
    for step in range(150):
        if step % 6 == 0:
            for record, view in zip(games.states, games.views(), strict=True):
                assert parse_position(format_position(record), games.rules) == record
                assert parse_position(format_position(view)) == view
        games.step(games.random_actions(generator))
    assert set(games.outcomes.tolist()) > {0}  # ends of games were among them


def test_a_position_written_by_hand_says_what_lies_where():
    record = parse_position(BY_HAND)
    assert record["foundation"].tolist() == [2, 0, 1, 0]
    assert [card_text(card) for card in record["columns"][4, :5]] == ["KD", "TD", "6D", "5S", "4H"]
    assert record["height"].tolist() == [2, 2, 3, 4, 7, 0, 7]
    assert record["face_down"].tolist() == [0, 1, 2, 3, 2, 0, 6]
    assert (record["columns"][3, :3] == UNSEEN).all()
    assert [card_text(card) for card in record["talon"][:4]] == ["7C", "4C", "5C", "??"]
    assert (record["talon_size"], record["waste_size"], record["seen_size"]) == (24, 3, 3)
    assert (record["place"] == TALON).sum() == 3
    assert (record["place"] == HIDDEN_PLACE).sum() == 30
    assert (record["moves"], record["steps"], record["best_foundation"]) == (30, 0, 3)


def test_text_is_laid_out_as_a_player_would_write_it():
    assert format_position(parse_position(COMPLETE)) == COMPLETE


def test_after_a_redeal_the_player_has_seen_the_stock():
    record = parse_position(COMPLETE + "redeals: 1\n")
    assert record["seen_size"] == record["talon_size"] == 23
    assert record["redeals_used"] == 1


def test_a_line_of_a_board_that_misses_cards_is_still_written():
    text = format_position(board("9D", "TS | TC", foundations="3H", waste="AC", since_progress=4, outcome=2))
    assert text.splitlines()[:3] == ["foundations: -C -D 3H -S", "1: 9D", "2: TS | TC"]
    assert text.splitlines()[-4:] == ["waste: AC", "stock:", "since_progress: 4", "outcome: lost"]


WRONG = [
    ("wast: 4C", "it must begin with one of foundations, 1, 2, 3, 4, 5, 6, 7, waste, stock, redeals, moves, "),
    ("4C 5D", "it must begin with one of foundations"),
    ("8: 4C", "it must begin with one of foundations"),
    ("moves: 4", "line 11 begins with 'moves' already"),
    ("1: 3H", "line 2 begins with '1' already"),
    ("steps: many", "'many' is not a whole number from 0 to 2147483647"),
    ("redeals: -1", "'-1' is not a whole number from 0 to 65535"),
    ("score: 1.5", "'1.5' is not a whole number from -2147483648 to 2147483647"),
    ("redeals: 65536", "'65536' is not a whole number from 0 to 65535"),
    ("outcome: draw", "outcome is 'draw'; allowed: playing, won, lost, stalled, truncated"),
]
CHANGED = [
    ("3H", "3X", "line 2 of the position, '1: 3X': no such card: '3X'; write a rank of "),
    (
        "3H",
        "2D",
        "line 10 of the position, 'stock: 2D TS 7S TH KC 3S 8D JC AS 6D 7C QD AH 7D KH 4S QH JH 6C 2S 5D': 2D",
    ),
    ("3H", "??", "line 2 of the position, '1: ??': a card that is face up is unknown; name it"),
    ("AC AD", "?? AD", "line 9 of the position, 'waste: ?? AD': a card that is in the waste is unknown; name it"),
    ("7H | 4C", "7H 4C |", "line 3 of the position, '2: 7H 4C |': its last card is face down; a column's last card is"),
    ("3H", "", "the position has 51 cards, 0 of them unknown (??); a deck has 52, and not named are: 3H"),
    ("-C", "AC", "line 9 of the position, 'waste: AC AD': AC is in line 1 already"),
    (
        "| JS TD",
        "?? | JS TD",
        "the position has 53 cards, 1 of them unknown (??); a deck has 52, and not named are:",
    ),
    ("2: 7H | 4C\n", "2: 7H |\n", "line 3 of the position, '2: 7H |': its last card is face down"),
    (
        "5D\n",
        "??\nredeals: 1\n",
        "the position's stock has been redealt, so the player has seen it",
    ),
    ("3H", f"3H{18 * ' ??'}", "line 2 of the position"),
    (
        "3H\n2: 7H | 4C",
        "4C\n2:",
        "the position has 50 cards, 0 of them unknown (??); a deck has 52, and not named are: 3H,",
    ),
    ("3H\n2: 7H | 4C\n3: 9S 2C | JS", "4C\n2: \n3: JS", "the position has 48 cards, 0 of them unknown"),
    ("AC AD\n", "AC AD 5C\n", "line 9 of the position, 'waste: AC AD 5C': 5C is in line 7 already"),
]


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_a_line_that_cannot_be_read_is_quoted(line, message):
    with pytest.raises(ValueError, match=f"^{re.escape(f'line 12 of the position, {line!r}: {message}')}"):
        parse_position(COMPLETE + line + "\n")


@pytest.mark.parametrize(("old", "new", "message"), CHANGED)
def test_cards_that_do_not_fit_are_named(old, new, message):
    assert old in COMPLETE
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        parse_position(COMPLETE.replace(old, new, 1))


def test_piles_that_are_too_high_are_refused():
    with pytest.raises(ValueError, match=r"^line 1 of the position, '1: .*': it has 20 cards; at most 19 can lie in a"):
        parse_position(f"1: {19 * '?? '} | 3H")
    with pytest.raises(ValueError, match=r"^waste and stock of the position have 25 cards; at most 24 fit$"):
        parse_position(f"stock: {25 * '?? '}")


@pytest.mark.parametrize("text", [None, 7, b"1: 3H"])
def test_what_is_no_text_is_refused(text):
    with pytest.raises(ValueError, match=r"^position is .*; allowed: a text$"):
        parse_position(text)


def test_rules_are_checked_where_they_are_given():
    assert parse_position(COMPLETE, Rules())["moves"] == 3
    with pytest.raises(ValueError, match=r"^the position is not possible: TD lies on JS in column 3, which the rules"):
        parse_position(COMPLETE, Rules(build="same_suit"))
    with pytest.raises(ValueError, match=r"^the position is not possible: 1 redeals were used; the rules allow 0$"):
        parse_position(COMPLETE + "redeals: 1\n", PRESETS["classic"])
    assert parse_position(BY_HAND, Rules())["moves"] == 30


@pytest.mark.parametrize("position", [COMPLETE, parse_position(COMPLETE)], ids=["text", "record"])
def test_a_game_starts_from_a_position(position):
    env = gym.make("Klondike/Draw1-v0")
    _, info = env.reset(options={"position": position})
    assert (info["deal"], info["moves"], info["outcome"]) == (-1, 3, "playing")
    assert format_position(env.unwrapped.games.states[0]) == COMPLETE
    *_, info = env.step(parse("AD to foundation"))
    *_, info = env.step(parse("AC to foundation"))
    assert (info["moves"], info["foundation"], info["illegal_action"]) == (5, 2, False)


@pytest.mark.parametrize("position", [BY_HAND, parse_position(BY_HAND)], ids=["text", "view"])
def test_unknown_cards_are_drawn_from_the_generator_of_the_environment(position):
    env = gym.make("Klondike/Draw1-v0")
    boards = []
    for seed in (1, 1, 2):
        env.reset(seed=seed, options={"position": position})
        boards.append(format_position(env.unwrapped.games.states[0]))
        shown = env.unwrapped.games.views()[0]
        assert shown["columns"][1, 0] == UNSEEN  # the 4 of diamonds was named, but lies face down
        assert boards[-1].splitlines()[2] == "2: 4D | QS"
    assert boards[0] == boards[1] != boards[2]


OVER = [
    ("foundations: KC KD KH KS", {}, r"\(won\): all cards are on the foundations"),
    ("foundations: KC KD QH KS\nstock:\n1: KH\n", {"stall_limit": 1}, None),
    (COMPLETE + "since_progress: 9", {"stall_limit": 9}, r"\(stalled\): its steps without progress have reached the "),
    (COMPLETE + "steps: 9", {"step_limit": 9}, r"\(truncated\): its steps have reached the step limit"),
    (COMPLETE + "outcome: stalled", {}, None),
]


@pytest.mark.parametrize(("text", "options", "message"), OVER)
def test_a_position_that_is_over_is_refused_with_the_reason(text, options, message):
    env = gym.make("Klondike/Draw1-v0", **options)
    if message is None:  # how a game stands is decided by the rules and limits it is played under
        assert env.reset(options={"position": text})[1]["outcome"] == "playing"
    else:
        with pytest.raises(ValueError, match=f"^the position is over {message}"):
            env.reset(options={"position": text})


def test_a_lost_position_is_refused():
    games = Games(200, PRESETS["classic"])
    games.deal(np.arange(200))
    while not games.over.all():
        games.step(games.random_actions(np.random.default_rng(0)))
    lost = games.states[np.flatnonzero(games.outcomes == 2)[0]]
    with pytest.raises(ValueError, match=r"^the position is over \(lost\): no card can be moved, now or with any card"):
        gym.make("Klondike/Classic-v0").reset(options={"position": lost})


def test_a_view_that_is_no_view_is_refused():
    env = gym.make("Klondike/Draw1-v0")
    env.reset(seed=0)
    for column, row in ((3, 3), (2, 0)):
        record = env.unwrapped.games.states[0].copy()
        record["columns"][column, row] = UNSEEN
        if row == 0:  # a card that is unknown, and another that lies in its place
            record["columns"][2, 1] = record["columns"][0, 0]
        with pytest.raises(ValueError, match=r"^the position is not possible: .*(unknown|is there twice)"):
            env.reset(options={"position": record})
    generator = np.random.default_rng(1)
    for _ in range(100):
        record = np.frombuffer(generator.integers(0, 53, STATE.itemsize, dtype=np.uint8).tobytes(), STATE)
        with pytest.raises(ValueError, match=r"^the position is not possible: "):
            env.reset(options={"position": record})


def test_a_position_that_is_refused_leaves_the_game_as_it_was():
    env = gym.make("Klondike/Classic-v0")
    env.reset(options={"deal": 5})
    env.step(STOCK_ACTION)
    for position in (COMPLETE.replace("TD", "2S", 1), "nonsense", 5, None, np.zeros(3), COMPLETE + "redeals: 3"):
        with pytest.raises(ValueError, match=r"position"):
            env.reset(options={"position": position})
        assert (env.unwrapped.observe()[1]["deal"], env.unwrapped.observe()[1]["moves"]) == (5, 1)


def test_a_batch_starts_from_one_position_or_from_one_for_each_game():
    envs = KlondikeVectorEnv(3, "draw1")
    _, info = envs.reset(options={"position": COMPLETE})
    assert info["deal"].tolist() == [-1, -1, -1]
    assert [format_position(record) for record in envs.games.states] == [COMPLETE] * 3
    _, info = envs.reset(options={"position": [COMPLETE, BY_HAND, parse_position(COMPLETE + "steps: 8")]}, seed=0)
    assert info["moves"].tolist() == [3, 30, 3]
    assert envs.games.states["steps"].tolist() == [0, 0, 8]
    envs.reset(options={"position": envs.games.states[::-1].copy(), "reset_mask": np.array([True, False, False])})
    assert envs.games.states["steps"].tolist() == [8, 0, 8]
    envs.reset(options={"position": BY_HAND}, seed=4)
    hidden = [format_position(record) for record in envs.games.states]
    assert len(set(hidden)) == 3
    env = gym.make("Klondike/Draw1-v0")
    env.reset(options={"position": BY_HAND}, seed=5)
    assert format_position(env.unwrapped.games.states[0]) == hidden[1]
    with pytest.raises(ValueError, match=r"^reset option 'position' has length 2; allowed: one for all, or 3$"):
        envs.reset(options={"position": [COMPLETE, COMPLETE]})


def test_the_mark_that_some_editors_write_first_is_no_part_of_a_position():
    text = "foundations: KC KD KH QS\n1: KS\n"
    assert parse_position("\ufeff" + text) == parse_position(text)
