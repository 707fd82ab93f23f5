"""What is not a position under the rules is refused with the reasons, by functions and on the command line."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from klondike_env.cards import UNSEEN, parse_card
from klondike_env.cli import app
from klondike_env.deals import deck_of, format_deck
from klondike_env.position import parse_position
from klondike_env.rules import Rules
from klondike_env.solver import PlayedGame, analyse, complete, hint, solve

SOUND = "foundations: JC QD KH KS\n1: KC QC\n2: KD\n"  # the queen lies on a king of its colour
OTHER_SUIT, SAME_COLOUR = Rules(), Rules(build="same_colour")

ASKERS = {
    "solve": solve,
    "hint": hint,
    "complete": complete,
    "analyse": lambda position, rules: analyse(PlayedGame(position, []), rules),
}
TEXTS = [
    (SOUND, "the position is not possible: QC lies on KC in column 1, which the rules do not allow"),
    (SOUND.replace("2: KD", "2: KH"), "line 3 of the position, '2: KH': KH is in line 1 already"),
    (SOUND.replace("2: KD", "2: KD KD"), "line 3 of the position, '2: KD KD': KD is in line 3 already"),
    (
        SOUND.replace("2: KD\n", ""),
        "the position has 51 cards, 0 of them unknown (??); a deck has 52, and not named are: KD",
    ),
    (SOUND.replace("2: KD", "2: ?? | QC").replace("KC QC", "KC"), "cards of the position are unknown; a solver has"),
    (SOUND.replace("KC QC", "KC |"), "line 2 of the position, '1: KC |': its last card is face down"),
    (SOUND + "redeals: -1", "line 4 of the position, 'redeals: -1': '-1' is not a whole number"),
]
DECK = format_deck(deck_of(5))
DECKS = [
    (" ".join(DECK.split()[:-1]), "51 cards; 9D is missing"),
    (DECK.replace(DECK.split()[0], DECK.split()[1]), "card 2 (AC) was card 1 already"),
]


def record_with(**fields):
    record = parse_position(SOUND).copy()
    for name, (place, value) in fields.items():
        record[name][place] = value
    return record


RECORDS = [
    (record_with(columns=((1, 0), parse_card("KC"))), "KC is there twice; KD is missing"),
    (record_with(height=(1, 0)), "KD is missing"),
    (record_with(foundation=(2, 12)), "KH is missing"),
    (record_with(height=(1, 20)), "column 2 has 20 cards; at most 19 can lie there"),
    (record_with(columns=((1, 0), 60)), "column 2 holds card 60; allowed: 0 to 51"),
]


@pytest.mark.parametrize("ask", ASKERS.values(), ids=ASKERS)
@pytest.mark.parametrize(("text", "message"), TEXTS)
def test_a_text_that_is_no_position_is_refused(ask, text, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        ask(text, OTHER_SUIT)


@pytest.mark.parametrize("ask", ASKERS.values(), ids=ASKERS)
@pytest.mark.parametrize(("record", "message"), RECORDS)
def test_a_record_that_is_no_position_is_refused(ask, record, message):
    with pytest.raises(ValueError, match=f"^the position is not possible: {re.escape(message)}"):
        ask(record, SAME_COLOUR)


@pytest.mark.parametrize("ask", ASKERS.values(), ids=ASKERS)
def test_a_record_with_unknown_cards_is_refused(ask):
    with pytest.raises(ValueError, match=r"^cards of the position are unknown; a solver has to know all of them$"):
        ask(record_with(columns=((1, 0), UNSEEN)), SAME_COLOUR)


def test_the_same_position_is_taken_where_the_rules_allow_it():
    assert solve(SOUND, SAME_COLOUR).verdict == complete(SOUND, SAME_COLOUR).verdict == "solved"
    assert set(hint(SOUND, SAME_COLOUR).values()) == {"solved"}
    assert analyse(PlayedGame(SOUND, []), SAME_COLOUR).start == "solved"


@pytest.mark.parametrize("command", ["solve", "hint", "complete"])
@pytest.mark.parametrize(("text", "message"), [*TEXTS, *DECKS])
def test_the_command_line_refuses_it_in_one_line(command, text, message):
    format = [] if ":" in text else ["--from-format", "rows"]
    told_in_one_line(CliRunner().invoke(app, [command, "--from", text, *format]), message)


@pytest.mark.parametrize(("text", "message"), TEXTS)
def test_a_game_that_begins_so_is_refused_in_one_line(text, message):
    game = json.dumps({"position": text, "actions": []})
    told_in_one_line(CliRunner().invoke(app, ["analyse", "-"], input=game), message)


def told_in_one_line(shown, message):
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith(f"klondike: {message}")
    assert shown.stderr.count("\n") == 1
