"""Looking back on a game: verdicts after each action, the action that lost it, and games as JSON."""

from __future__ import annotations

import json
import re

import gymnasium as gym
import numpy as np
import pytest
from typer.testing import CliRunner

from klondike_env.cli import app
from klondike_env.deals import deck_of, format_deck
from klondike_env.engine.actions import STOCK_ACTION, name, parse
from klondike_env.position import format_position
from klondike_env.rules import GYM_IDS, PRESETS, Rules
from klondike_env.solver import Analysis, Limits, PlayedGame, analyse, solve
from klondike_env.solver.analyse import format_game, parse_game

LIMITS = Limits(nodes=200_000, seconds=None)
ENDING = "foundations: QC KD KH QS\n1: KS\n2: KC\n"


def played_at_random(variant, deal, talon="draw", n_actions=40, seed=0):
    """The actions of a game, and its states from the start to the end: STATE[actions + 1]."""
    env = gym.make(GYM_IDS[variant], talon=talon).unwrapped
    _, info = env.reset(options={"deal": deal})
    rng = np.random.default_rng(seed)
    actions, states, over = [], [env.games.states[0].copy()], False
    while not over and len(actions) < n_actions:
        actions.append(int(rng.choice(np.flatnonzero(info["action_mask"]))))
        _, _, terminated, truncated, info = env.step(actions[-1])
        states.append(env.games.states[0].copy())
        over = terminated or truncated
    return actions, states


@pytest.mark.parametrize("talon", ["draw", "reach"])
@pytest.mark.parametrize("variant", ["draw1", "draw3", "thumb_and_pouch"])
def test_every_verdict_is_that_of_a_search_of_its_own(variant, talon):
    lost = set()
    for deal in range(4):
        actions, states = played_at_random(variant, deal, talon, n_actions=200)
        analysis = analyse(PlayedGame(deal, actions, talon), variant, LIMITS)
        alone = [solve(state, variant, LIMITS).verdict for state in states]
        told = [analysis.start, *analysis.verdicts]
        for one, other in zip(told, alone, strict=True):
            assert one == other or "undecided" in (one, other)
        if analysis.losing is not None:
            assert told[: analysis.losing + 2] == ["solved"] * (analysis.losing + 1) + ["unsolvable"]
            assert set(told[analysis.losing + 1 :]) == {"unsolvable"}
        lost.add(analysis.losing)
    assert lost - {None}


def test_a_won_game_needs_no_search_and_an_unfinished_line_of_the_solver_one():
    line = solve(123456, "draw3").actions
    won = analyse(PlayedGame(123456, line), "draw3")
    assert (won.start, set(won.verdicts), won.losing, won.searches) == ("solved", {"solved"}, None, 0)
    # The first search, half way, finds a line; where the actions played follow it there is no other.
    half = solve(123456, "draw3").actions[:-1]
    assert analyse(PlayedGame(123456, half), "draw3").searches < np.log2(len(half))


def test_a_long_lost_game_needs_few_searches():
    actions, _ = played_at_random("draw3", 5, n_actions=2000)
    analysis = analyse(PlayedGame(5, actions), "draw3", LIMITS)
    assert len(actions) > 200
    assert analysis.losing is not None
    assert analysis.searches <= np.ceil(np.log2(len(actions) + 2))
    assert analysis.nodes > 0


def test_the_end_of_a_lost_game_is_known_without_a_search():
    rules = Rules(gaps="none", worry_back=False, redeals=0, build="same_suit")
    hopeless = "foundations: KC KD -H KS\n6: 7H 8H 9H TH JH | KH\n7: AH 2H 3H 4H 5H 6H | QH\n"
    lost = analyse(PlayedGame(hopeless, [parse("QH onto KH")]), rules)
    assert (lost.start, lost.verdicts, lost.losing, lost.searches) == ("unsolvable", ("unsolvable",), None, 1)


@pytest.mark.parametrize(
    ("start", "verdicts", "losing", "summary"),
    [
        ("solved", ("solved", "unsolvable"), 1, "action 2 (KS to empty column) lost the game"),
        ("unsolvable", ("unsolvable", "unsolvable"), None, "the game could not be won from its start"),
        ("solved", ("solved", "solved"), None, "no action lost the game"),
        ("solved", (), None, "no action lost the game"),
        ("solved", ("undecided", "unsolvable"), None, "one of the undecided actions lost the game; longer"),
        ("solved", ("solved", "undecided"), None, "it is undecided whether an action lost the game; longer"),
        ("undecided", ("undecided", "unsolvable"), None, "it is undecided whether an action lost the game; longer"),
    ],
)
def test_an_analysis_is_summed_up_in_a_line(start, verdicts, losing, summary):
    played = PlayedGame(1, [STOCK_ACTION, parse("KS to empty column")])
    assert Analysis(start, verdicts, losing, 1, 1).summary(played).startswith(summary)


def test_without_time_to_decide_nothing_is_claimed():
    actions, _ = played_at_random("classic", 1)
    analysis = analyse(PlayedGame(1, actions), "classic", Limits(nodes=1, seconds=None))
    assert analysis.start == "undecided"
    assert "solved" not in analysis.verdicts
    assert analysis.losing is None
    assert analysis.searches <= len(actions) + 1


def test_every_way_to_name_the_start_gives_the_same():
    actions, states = played_at_random("draw3", 7)
    deck = deck_of(7)
    for start in (7, deck, deck.tolist(), format_deck(deck), states[0], format_position(states[0])):
        analysis = analyse(PlayedGame(start, actions), "draw3", LIMITS)
        assert analysis == analyse(PlayedGame(7, actions), PRESETS["draw3"], LIMITS)


def test_a_game_may_begin_in_the_middle_of_another():
    actions, states = played_at_random("draw3", 5, n_actions=100)
    whole = analyse(PlayedGame(5, actions), "draw3", LIMITS)
    rest = analyse(PlayedGame(states[3], actions[3:]), "draw3", LIMITS)
    assert (rest.start, rest.verdicts) == (whole.verdicts[2], whole.verdicts[3:])


@pytest.mark.parametrize("talon", ["draw", "reach"])
@pytest.mark.parametrize("start", [7, deck_of(7).tolist(), ENDING])
def test_a_game_is_written_as_json_and_read_again(start, talon):
    actions = [STOCK_ACTION, 3] if start != ENDING else [parse("KS to foundation")]
    written = format_game(PlayedGame(start, actions, talon), "classic")
    played, rules = parse_game(written)
    assert (list(played.actions), played.talon, rules) == (actions, talon, PRESETS["classic"])
    assert format_game(played, rules) == written


def test_actions_may_be_numbers_or_names_and_the_rules_a_variant_or_fields():
    game = {"position": ENDING, "variant": "draw3", "actions": ["KS to foundation", parse("KC to foundation")]}
    played, rules = parse_game(json.dumps(game))
    assert [name(action) for action in played.actions] == ["KS to foundation", "KC to foundation"]
    assert (rules, played.talon) == (PRESETS["draw3"], "draw")
    assert parse_game('{"deal": 1, "actions": [], "rules": {"draw_count": 2}}')[1] == Rules(draw_count=2)
    assert parse_game('{"deal": 1, "actions": []}') == (PlayedGame(1, []), PRESETS["draw1"])


MISTAKES = [
    ("{", "the game is no JSON: "),
    ("[]", "the game is []; allowed: a JSON object with the keys deal, deck, position, variant, rules, talon, actions"),
    ('{"deal": 1, "action": []}', "the game has the key 'action'; known: deal, "),
    ('{"actions": []}', "the game has 0 of the keys deal, deck, position; give one of them"),
    ('{"deal": 1, "deck": [], "actions": []}', "the game has 2 of the keys deal, deck, position; give one of them"),
    ('{"deal": 1}', "the game has no list 'actions'; give the actions that were played"),
    ('{"deal": -1, "actions": []}', "deal is -1; allowed: "),
    ('{"deck": [1, 2], "actions": []}', "a deck has 52 cards; this one has shape (2,)"),
    ('{"position": "AS", "actions": []}', "position is 'AS'; allowed: a text with lines such as '1: QS JD'"),
    ('{"position": "foundations: KC KD KH QS\\n1: QS", "actions": []}', "line 2"),
    ('{"deal": 1, "actions": [313]}', "action 1 is 313; allowed: a whole number from 0 to 312 or a name"),
    ('{"deal": 1, "actions": ["stock", "QS"]}', "action 2: no such action: 'QS'"),
    ('{"deal": 1, "actions": [312, 311]}', "action 2 of 2: illegal action 311 (KS to empty column); legal: "),
    ('{"deal": 1, "actions": [], "talon": "tap"}', "talon is 'tap'; allowed: draw, reach"),
    ('{"deal": 1, "actions": [], "variant": "draw9"}', "no such variant: 'draw9'; known: "),
    ('{"deal": 1, "actions": [], "variant": "draw1", "rules": {}}', "the game has a variant and rules; give one"),
    ('{"deal": 1, "actions": [], "rules": {"draw": 3}}', "rules are {'draw': 3}; allowed: an object with any of"),
    (
        '{"position": "foundations: KC KD KH QS\\n1: KS", "actions": ["KS to foundation", "stock"]}',
        "the game is over (won) before action 2 of 2",
    ),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_an_invalid_game_is_refused_here_and_on_the_command_line(text, message, tmp_path):
    file = tmp_path / "game.json"
    file.write_text(text)
    shown = CliRunner().invoke(app, ["analyse", str(file)])
    assert shown.exit_code == 2
    assert shown.stderr.startswith(f"klondike: {message}")
    assert shown.stderr.count("\n") == 1
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        analyse(*parse_game(text))


def test_the_command_names_the_action_that_lost_the_game(tmp_path):
    actions, _ = played_at_random("draw3", 3, n_actions=60, seed=3)
    played = PlayedGame(3, actions)
    analysis = analyse(played, "draw3")
    file = tmp_path / "game.json"
    file.write_text(format_game(played, "draw3"))
    shown = CliRunner().invoke(app, ["analyse", str(file)])
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert lines[0] == f"start: {analysis.start}"
    assert lines[1:-1] == [
        f"{place}. {name(action)}: {verdict}"
        for place, (action, verdict) in enumerate(zip(actions, analysis.verdicts, strict=True), 1)
    ]
    losing = actions[analysis.losing]
    assert lines[-1] == f"action {analysis.losing + 1} ({name(losing)}) lost the game"
    through_pipe = CliRunner().invoke(app, ["analyse", "-"], input=format_game(played, "draw3"))
    assert through_pipe.stdout == shown.stdout


def test_a_file_that_is_not_there_is_told_in_one_line():
    shown = CliRunner().invoke(app, ["analyse", "game"])
    assert (shown.exit_code, shown.stderr) == (
        2,
        "klondike: cannot read the file 'game': No such file or directory\n",
    )
