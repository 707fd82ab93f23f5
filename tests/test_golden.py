"""Games and their observations are as written down in tests/golden."""

from pathlib import Path

import pytest

from klondike_env.rules import PRESETS
from tests.golden.playthroughs import PLAYTHROUGHS, file_of, play_through, write_playthroughs

FOLDER = Path(__file__).parent / "golden" / "playthroughs"
HOW = "if the change is meant, run `make golden` and read the difference that git shows"


def first_difference(left: str, right: str) -> str:
    ours, theirs = left.splitlines(), right.splitlines()
    for number, pair in enumerate(zip(ours, theirs, strict=False), start=1):
        if pair[0] != pair[1]:
            return f"line {number} is {pair[1]!r}, written down as {pair[0]!r}"
    return f"there are {len(theirs)} lines, {len(ours)} are written down"


@pytest.mark.parametrize("playthrough", PLAYTHROUGHS, ids=lambda playthrough: playthrough.name)
def test_a_game_goes_as_it_is_written_down(playthrough):
    file = file_of(playthrough, FOLDER)
    assert file.exists(), f"{file.name} is missing; run `make golden`"
    kept, played = file.read_text(encoding="ascii"), play_through(playthrough)
    if kept != played:
        pytest.fail(f"{file.name}: {first_difference(kept, played)}; {HOW}")


def test_every_preset_has_a_playthrough_and_no_other_file_is_kept():
    names = {playthrough.name for playthrough in PLAYTHROUGHS}
    assert set(PRESETS) <= names
    assert {file.stem for file in FOLDER.iterdir()} == names


def test_one_call_writes_all_of_them(tmp_path):
    write_playthroughs(tmp_path / "fresh")
    for playthrough in PLAYTHROUGHS:
        assert file_of(playthrough, tmp_path / "fresh").read_bytes() == file_of(playthrough, FOLDER).read_bytes()


@pytest.mark.parametrize(
    "sight",
    [
        "outcome won",
        "outcome lost",
        "outcome stalled",
        "outcome truncated",
        "illegal_action True",  # a refused action
        "unseen: -",  # a card turned up or drawn
        "foundation: -",  # worrying back
        "KH to empty column, reward",
        "QC to empty column, reward",  # where gaps take any card
        "redeals_left 0",
        "stock: ts 3c",  # open cards
    ],
)
def test_together_they_show(sight):
    assert any(sight in file.read_text(encoding="ascii") for file in FOLDER.iterdir())


def test_the_message_names_the_first_line_that_differs():
    assert first_difference("a\nb", "a\nc\nd") == "line 2 is 'c', written down as 'b'"
    assert first_difference("a", "a\nb") == "there are 2 lines, 1 are written down"
