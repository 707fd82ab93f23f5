"""The study of winnability: shares, intervals and the need for worrying back, and what comes with the package."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import permutations
from math import sqrt

import numpy as np
import pytest
from typer.testing import CliRunner

from klondike_env.cli import app
from klondike_env.intervals import interval_with_unknown
from klondike_env.rules import PRESETS, Rules
from klondike_env.solver import Limits
from klondike_env.solver.study import labels
from klondike_env.solver.study.labels import Labels, kept_labels, pack, read_labels
from klondike_env.solver.study.labels.__main__ import pack_file
from klondike_env.solver.study.many import Solved, solve_many
from klondike_env.solver.study.report import percent
from klondike_env.solver.study.winnability import (
    PUBLISHED_NECESSITY,
    PUBLISHED_WINNABLE,
    Share,
    Verdicts,
    name_of,
    study,
    summary_of,
    with_twins,
)
from klondike_env.solver.verdicts import SOLVED, UNDECIDED, UNSOLVABLE, VERDICTS

DRAW3, DRAW3_WITHOUT = Rules(draw_count=3), Rules(draw_count=3, worry_back=False)
LIMITS = Limits(nodes=2000, seconds=None)
Z = 1.959964


def wilson(wins: int, games: int, sign: int) -> float:
    """A bound of the interval by the formula in the textbooks."""
    share = wins / games
    half = Z * sqrt(share * (1 - share) / games + Z**2 / (4 * games**2))
    return (share + Z**2 / (2 * games) + sign * half) / (1 + Z**2 / games)


def verdicts(rules, first, text):
    """Verdicts from a text such as "sun?": solved, unsolvable, undecided by their letters."""
    return Verdicts(rules, first, np.array(["su?".index(letter) for letter in text], dtype=np.uint8))


# --- figures -----------------------------------------------------------------------------------------


def test_the_lower_bound_counts_undecided_deals_as_lost_and_the_upper_as_won():
    assert interval_with_unknown(80, 5, 100) == pytest.approx((wilson(80, 100, -1), wilson(85, 100, 1)), abs=1e-6)
    assert interval_with_unknown(80, 0, 100) == pytest.approx((0.71117, 0.86664), abs=1e-5)


def test_an_interval_of_the_published_study():
    """Draw 3: 819,371 of a million deals won, 157 undecided; printed as 81.945 ± 0.084."""
    low, high = interval_with_unknown(819_371, 157, 1_000_000)
    assert (50 * (low + high), 50 * (high - low)) == pytest.approx((81.945, 0.084), abs=1e-3)
    assert PUBLISHED_WINNABLE[DRAW3].percent == 81.945
    assert percent(Share(819_371, 157, 1_000_000)) == "81.94 ± 0.08"


def test_worrying_back_is_needed_where_a_deal_that_is_won_with_it_is_unsolvable_without():
    with_it = verdicts(DRAW3, 100, "sssssu?s")
    without = verdicts(DRAW3_WITHOUT, 101, "su?ssuss")  # deals 101 to 108
    summary = summary_of(with_it, without)
    assert summary.winnable == Share(yes=6, unknown=1, total=8)
    assert summary.necessity == Share(yes=1, unknown=1, total=5)  # of 101, 102, 103, 104 and 107; 102 and 103
    assert summary_of(without, with_it).necessity is None
    assert summary_of(with_it, None).necessity is None
    assert summary_of(verdicts(DRAW3, 0, "u"), verdicts(DRAW3_WITHOUT, 0, "u")).necessity is None


def test_published_figures_are_of_games_that_can_be():
    assert len(PUBLISHED_WINNABLE) == 13 + 13 + 7
    for rules, figure in PUBLISHED_NECESSITY.items():
        with_it, without = PUBLISHED_WINNABLE[rules], PUBLISHED_WINNABLE[replace(rules, worry_back=False)]
        # Apart from undecided deals the need is the difference of the shares.
        assert 100 * (1 - without.percent / with_it.percent) == pytest.approx(figure.percent, abs=0.2)


def test_games_have_short_names():
    assert [name_of(rules) for rules in PRESETS.values()] == [name.replace("deal1", "draw1") for name in PRESETS]
    assert name_of(Rules(draw_count=2)) == "draw2"
    assert name_of(Rules(draw_count=2, worry_back=False)) == "draw2-no-worrying-back"
    assert name_of(replace(PRESETS["classic"], worry_back=False)) == "classic-no-worrying-back"
    assert name_of(Rules("same_suit", draw_count=3, redeals=1)) == "draw3-build-same_suit-redeals-1"


def test_twins_are_added_where_worrying_back_is_allowed():
    thumb = PRESETS["thumb_and_pouch"]
    assert with_twins([DRAW3, thumb, DRAW3_WITHOUT]) == [DRAW3, DRAW3_WITHOUT, thumb]


# --- the study ---------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Made-up labels of draw 3 that come with the package: deals 50 to 59 are all undecided."""
    rows = [Solved(deal, UNDECIDED, 0, 1, 0.0) for deal in range(50, 60)]
    (tmp_path / "labels").mkdir()
    pack(rows, DRAW3, LIMITS, tmp_path / "labels" / "draw3.npz")
    monkeypatch.setattr(labels, "FOLDER", tmp_path / "labels")
    kept_labels.cache_clear()
    yield tmp_path / "labels"
    kept_labels.cache_clear()


def codes(rules, deals):
    return [VERDICTS.index(row.verdict) for row in solve_many(deals, rules, limits=LIMITS, show_progress=False)]


def test_a_study_of_a_few_deals(tmp_path):
    games = with_twins([Rules(draw_count=4)])
    lines = study(games, 60, first=300, limits=LIMITS, fresh=True, folder=tmp_path, show_progress=False)
    assert [summary.verdicts.rules for summary in lines] == games
    for summary in lines:
        assert summary.verdicts.indices.tolist() == codes(summary.verdicts.rules, range(300, 360))
        assert summary.winnable.total == 60
        assert summary.winnable.yes > 0
    assert lines[0].necessity.total == lines[0].winnable.yes
    assert {path.name for path in tmp_path.iterdir()} == {"draw4.csv", "draw4-no-worrying-back.csv"}
    files = {path: path.read_text() for path in tmp_path.iterdir()}
    study(games, 60, first=300, limits=LIMITS, fresh=True, folder=tmp_path, show_progress=False)
    assert files == {path: path.read_text() for path in tmp_path.iterdir()}


def test_kept_verdicts_are_used_unless_all_is_to_be_solved_anew(kept):
    common = {"first": 55, "limits": LIMITS, "show_progress": False}
    true = codes(DRAW3, range(55, 75))
    assert [summary.verdicts.indices.tolist() for summary in study(first=55, show_progress=False)] == [[2] * 5]
    assert study([DRAW3], 20, **common)[0].verdicts.indices.tolist() == [2] * 5 + true[5:]
    assert study([DRAW3], 20, fresh=True, **common)[0].verdicts.indices.tolist() == true
    assert study([DRAW3], fresh=True, **common)[0].verdicts.indices.tolist() == true[:5]


def klondike(*arguments):
    return CliRunner(env={"COLUMNS": "150"}).invoke(app, ["study", *arguments])


def test_the_command_shows_kept_verdicts_at_once(kept):
    shown = klondike("--first", "50")
    assert shown.exit_code == 0, shown.output
    row = next(summary for summary in shown.stdout.splitlines() if "draw3" in summary)
    assert [cell.strip() for cell in row.strip("│").split("│")] == [
        "draw3", "10", "0", "0", "10", "50.00 ± 50.00", "81.94 ± 0.08", "", "", "0.52 ± 0.04"
    ]  # fmt: skip


def test_the_command_solves_what_is_not_kept_and_draws_it(kept, tmp_path):
    folder, plot = tmp_path / "new" / "folder", tmp_path / "study.png"
    arguments = ("--draw", "3", "--variant", "classic", "--deals", "12", "--first", "50", "--nodes", "2000")
    shown = klondike(*arguments, "--folder", str(folder), "--plot", str(plot))
    assert shown.exit_code == 0, shown.output
    assert "solving 2 deals of draw3\n" in shown.stderr
    assert "solving 12 deals of draw3-no-worrying-back\n" in shown.stderr
    assert {path.stem for path in folder.iterdir()} == {
        "draw3", "draw3-no-worrying-back", "classic", "classic-no-worrying-back"
    }  # fmt: skip
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "no-worrying-back" not in klondike(*arguments, "--folder", str(folder), "--only-named").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--variant", "draw9"), "no such variant: 'draw9'; known: draw1"),
        (("--draw", "25"), "draw_count is 25; allowed: a whole number from 1 to 24"),
        (("--backend", "threads", "--draw", "4", "--deals", "1"), "backend is 'threads'; allowed: processes, ray"),
        (("--draw", "4", "--folder", __file__), "test_study.py is a file; name a folder for results"),
        (("--plot", "study.txt"), "the picture is 'study.txt'; its name must end in one of "),
        (("--plot", "nowhere/study.png"), "there is no folder nowhere to write study.png to; make it first"),
    ],
)
def test_a_mistake_is_told_in_one_line(arguments, message, tmp_path):
    shown = klondike("--folder", str(tmp_path), *arguments)
    assert shown.exit_code == 2
    assert shown.stderr.splitlines()[-1].startswith("klondike: ")
    assert message in shown.stderr


@pytest.mark.parametrize(
    ("package", "what", "extra"),
    [("scipy", "intervals need SciPy", "cli"), ("matplotlib", "plots need matplotlib", "study")],
)
def test_a_missing_package_is_named_before_anything_is_solved(package, what, extra, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    shown = klondike("--draw", "4", "--folder", str(tmp_path), "--plot", str(tmp_path / "study.png"))
    assert shown.exit_code == 2
    assert shown.stderr == f"klondike: {what}; run: pip install 'klondike-env[{extra}]'\n"
    assert not list(tmp_path.iterdir())


def test_results_are_packed_under_the_name_of_their_game(tmp_path):
    file = tmp_path / "any.csv"
    solve_many([*range(40, 50), 60], "draw3", limits=LIMITS, file=file, show_progress=False)
    said = pack_file(file, tmp_path)
    assert said == f"{file}: 10 deals in {tmp_path / 'draw3.npz'}, 1 after a gap left out"
    read = read_labels(tmp_path / "draw3.npz")
    assert (read.rules, read.limits, read.deals) == (DRAW3, LIMITS, range(40, 50))
    assert read.verdicts.tolist() == codes(DRAW3, range(40, 50))
    (tmp_path / "other.csv").write_text("deal\n1\n")
    with pytest.raises(ValueError, match=r"other\.csv is not a file of results"):
        pack_file(tmp_path / "other.csv", tmp_path)


# --- what comes with the package ---------------------------------------------------------------------

KEPT = list(kept_labels().values())


def share_of(kept):
    return summary_of(Verdicts(kept.rules, kept.first, kept.verdicts), None).winnable


def test_every_kept_file_has_the_name_of_its_game():
    assert {path.stem for path in labels.FOLDER.glob("*.npz")} == {name_of(kept.rules) for kept in KEPT}


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: name_of(kept.rules))
def test_kept_verdicts_agree_with_published_shares(kept):
    """With 99.9 % intervals: of a dozen at 95 % one would often miss by chance."""
    share, published = share_of(kept), PUBLISHED_WINNABLE.get(kept.rules)
    low, high = share.interval()
    if published is None or high - low > 0.015:
        pytest.skip("nothing published, or too few deals to compare")
    low, high = share.interval(0.999)
    assert low <= published.percent / 100 <= high


# What may lie on a card under one rule may under these too.
FREER = {
    "build": {
        "alternating_colour": ("alternating_colour", "other_suit", "any_suit"),
        "other_suit": ("other_suit", "any_suit"),
        "same_suit": ("same_suit", "same_colour", "any_suit"),
        "same_colour": ("same_colour", "any_suit"),
        "any_suit": ("any_suit",),
    },
    "gaps": {"none": ("none", "kings", "any"), "kings": ("kings", "any"), "any": ("any",)},
    "worry_back": {False: (False, True), True: (True,)},
    "runs": {"whole_or_last": ("whole_or_last", "any_tail"), "any_tail": ("any_tail",)},
}


def leaves_more_freedom(rules: Rules, than: Rules) -> bool:
    """Whether every game that is won under `than` can be won under `rules`."""
    redeals, fewer = (99 if game.redeals is None else game.redeals for game in (rules, than))
    return (
        all(getattr(rules, name) in freer[getattr(than, name)] for name, freer in FREER.items())
        and than.draw_count % rules.draw_count == 0
        and redeals >= fewer
    )


def test_what_leaves_more_freedom():
    assert leaves_more_freedom(PRESETS["draw1"], PRESETS["draw3"])
    assert leaves_more_freedom(PRESETS["draw1"], PRESETS["classic"])
    assert leaves_more_freedom(PRESETS["thumb_and_pouch"], PRESETS["thumb_and_pouch_whole"])
    assert leaves_more_freedom(DRAW3, DRAW3_WITHOUT)
    assert not leaves_more_freedom(Rules(draw_count=2), DRAW3)
    assert not leaves_more_freedom(PRESETS["classic"], PRESETS["draw1"])


def lost_wins(freer: Labels, stricter: Labels) -> set[int]:
    """Deals that are won under the stricter rules and not under the freer ones, which cannot be."""
    return set(stricter.deals_with(SOLVED).tolist()) & set(freer.deals_with(UNSOLVABLE).tolist())


def test_a_win_is_kept_with_more_freedom():
    pairs = [pair for pair in permutations(KEPT, 2) if leaves_more_freedom(pair[0].rules, pair[1].rules)]
    assert [(freer.rules, stricter.rules) for freer, stricter in pairs if lost_wins(freer, stricter)] == []


def test_a_win_that_is_lost_would_be_noticed():
    freer, stricter = (
        Labels(rules, LIMITS, first, verdicts(rules, first, text).indices, np.zeros(4, np.uint32))
        for rules, first, text in ((DRAW3, 0, "suu?"), (DRAW3_WITHOUT, 1, "sus?"))
    )
    assert lost_wins(freer, stricter) == {1}
