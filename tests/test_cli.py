"""`klondike deal`: boards, formats, conversions, and mistakes in one line."""

from __future__ import annotations

import gymnasium as gym
import pytest
from typer.testing import CliRunner

from klondike_env.cli import app
from klondike_env.deals import deck_of, format_deck

BOARD = """\
-C -D -H -S    stock 24, waste 0: --

 1   2   3   4   5   6   7
8H  ##  ##  ##  ##  ##  ##
    JC  ##  ##  ##  ##  ##
        9C  ##  ##  ##  ##
            8D  ##  ##  ##
                TC  ##  ##
                    7H  ##
                        6C

moves 0, foundations 0 of 52, playing
"""


def klondike(*arguments: str, stdin: str | None = None):
    return CliRunner().invoke(app, list(arguments), input=stdin)


def output_of(*arguments: str, stdin: str | None = None) -> str:
    shown = klondike(*arguments, stdin=stdin)
    assert shown.exit_code == 0, shown.output
    return shown.stdout


def test_a_deal_is_shown_as_a_player_sees_it():
    assert output_of("deal", "123456") == f"deal 123456\n\n{BOARD}"


def test_open_shows_every_card():
    shown = output_of("deal", "123456", "--open")
    assert "##" not in shown
    assert "8H  2H  JS  3S  5C  8S  2S\n    JC  QH  KS  3C  AS  2D\n" in shown
    assert shown.endswith("\nstock in order of drawing: " + " ".join(format_deck(deck_of(123456)).split()[28:]) + "\n")


@pytest.mark.parametrize("format", ["rows", "columns", "solvitaire", "shootme"])
def test_a_deal_is_written_in_every_format_and_read_again_through_a_pipe(format):
    written = output_of("deal", "123456", "--format", format)
    assert written == format_deck(deck_of(123456), format) + "\n"
    assert output_of("deal", "--from", "-", "--from-format", format, stdin=written) == BOARD


MID_GAME = """\
foundations: AC -D -H -S
1: 2S
2: ?? | QS JD
3: ?? ?? | JS
4: ?? ?? ?? | 6C 5H
5: ?? ?? ?? ?? | 6D
6: ?? ?? ?? ?? ?? | 3H
7: ?? ?? ?? ?? ?? ?? | KS
waste: 7C 4C
stock: ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ?? ??
"""


def test_a_position_is_written_edited_and_shown(tmp_path):
    written = output_of("deal", "123456", "--format", "position")
    assert written.startswith("foundations: -C -D -H -S\n1: 8H\n2: 2H | JC\n")
    file = tmp_path / "start.txt"
    file.write_text(written)
    assert output_of("deal", "--from", str(file)) == BOARD
    assert output_of("deal", "--from", str(file), "--format", "rows") == format_deck(deck_of(123456)) + "\n"
    assert output_of("deal", "--from", MID_GAME, "--format", "position") == MID_GAME
    assert "AC -D -H -S    stock 19, waste 2: 4C\n" in output_of("deal", "--from", "-", stdin=MID_GAME)


@pytest.mark.parametrize(
    ("edited", "message"),
    [
        (MID_GAME, "cards of this position are unknown, which columns cannot hold; use board or position"),
        (
            "foundations: KC KD KH QS\n1: KS\n",
            "this position is not a fresh deal, and columns holds nothing else; use board or position",
        ),
    ],
)
def test_only_a_fresh_deal_is_written_as_a_deck(edited, message):
    shown = klondike("deal", "--from", edited, "--format", "columns")
    assert shown.exit_code == 2
    assert shown.stderr == f"klondike: {message}\n"


def test_a_deck_comes_from_a_file_or_from_the_command_line_itself(tmp_path):
    file = tmp_path / "deal.json"
    file.write_text(format_deck(deck_of(5), "solvitaire"))
    rows = format_deck(deck_of(5))
    assert output_of("deal", "--from", str(file), "--format", "rows") == rows + "\n"
    assert output_of("deal", "--from", rows, "--format", "rows") == rows + "\n"


def test_a_number_of_pysolfc_is_converted():
    pytest.importorskip("pysol_cards")
    shown = output_of("deal", "--from", "24", "--from-format", "pysolfc", "--format", "rows")
    assert shown.startswith("5C 7H 2D 5D QC 5H 4C 9H ")


def test_a_seed_shows_the_deal_that_reset_draws():
    _, info = gym.make("Klondike/Draw1-v0").reset(seed=7)
    assert output_of("deal", "--seed", "7").startswith(f"deal {info['deal']}\n")


def test_without_a_number_each_deal_is_another():
    first, second = output_of("deal"), output_of("deal")
    assert first != second
    number = first.split()[1]
    assert output_of("deal", number) == first


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["abc"], "deal is 'abc'; allowed: 0 to 9007199254740991; decks are given with --from"),
        (["9007199254740992"], "deal is 9007199254740992; allowed: a whole number from 0 to 9007199254740991"),
        (["9" * 30], f"deal is {'9' * 30}; allowed: a whole number from 0 to 9007199254740991"),
        (["1", "--format", "png"], "no such format: 'png'; known: board, position, rows, columns, solvitaire, shootme"),
        (
            ["1", "--format", "pysolfc"],
            "a PySolFC number is the seed of a shuffle, and hardly any deck has one; it can only be read",
        ),
        (["1", "--seed", "2"], "give a deal number, --from or --seed, and only one of them"),
        (["--from", "no.json"], "cannot read the file 'no.json': No such file or directory"),
        (["--from", "AS KD", "--from-format", "rows"], "2 cards; AC, 2C, 3C, 4C, 5C, ... are missing"),
        (
            ["--from", "AS", "--from-format", "x"],
            "no such format: 'x'; known: auto, rows, columns, solvitaire, shootme",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, message):
    shown = klondike("deal", *arguments)
    assert shown.exit_code == 2
    assert shown.stdout == ""
    assert shown.stderr.startswith(f"klondike: {message}")
    assert shown.stderr.count("\n") == 1


def test_a_file_that_is_no_text_is_told_in_one_line(tmp_path):
    file = tmp_path / "deal.bin"
    file.write_bytes(b"\xff\xfe\xff")
    shown = klondike("deal", "--from", str(file))
    assert (shown.exit_code, shown.stderr) == (2, f"klondike: cannot read the file '{file}': it is not text\n")


def test_help_names_the_formats():
    shown = output_of("deal", "--help")
    assert all(word in shown for word in ("solvitaire", "shootme", "pysolfc", "--open", "--from"))
