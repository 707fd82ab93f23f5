from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from klondike_env.agents import Agent, load
from klondike_env.agents.match import AgentError, play_games
from klondike_env.engine.actions import RESIGN, STOCK_ACTION
from klondike_env.engine.state import LOST, WON
from klondike_env.rules import PRESETS, Rules
from train.evaluate import app, evaluate

DRAW1 = PRESETS["draw1"]


class FirstLegal(Agent):
    name = "first legal"

    def act(self, views, masks):
        return masks.argmax(axis=1)


class Resigner(FirstLegal):
    name, talon = "resigner", "draw"
    needs_masks = False

    def act(self, views, masks):
        assert masks.shape == (0, 313)
        return np.full(len(views), RESIGN)


def test_an_agent_of_five_lines_is_evaluated() -> None:
    evaluation = evaluate(FirstLegal(), "thumb_and_pouch", 300, progress=False)
    result = evaluation.agents["first legal"]
    assert result.games == 300
    assert result.wins > 0
    assert result.interval.low < result.win_rate < result.interval.high
    assert result.settings.talon == "draw"
    assert result.settings.no_repeats


# (agent, variant, deals, lowest and highest win rate that is plausible)
FIGURES = [
    ("collins", "draw1", 4000, 0.51, 0.565),
    ("collins", "draw3", 4000, 0.145, 0.19),
    ("collins", "classic", 4000, 0.028, 0.051),
    ("collins", "thumb_and_pouch", 4000, 0.81, 0.87),
    ("greedy", "draw1", 2000, 0.40, 0.475),
    ("greedy", "draw3", 2000, 0.115, 0.17),
    ("random", "draw1", 2000, 0.07, 0.125),
    ("random", "draw3", 2000, 0.02, 0.05),
]


@pytest.mark.parametrize(("agent", "variant", "deals", "low", "high"), FIGURES)
def test_baselines_win_as_often_as_they_should(agent: str, variant: str, deals: int, low: float, high: float) -> None:
    assert low < evaluate(agent, variant, deals, progress=False).agents[agent].win_rate < high


# --- playing -----------------------------------------------------------------------------------------


def test_every_deal_is_played_once_whatever_the_batch() -> None:
    deals = np.array([5, 17, 3, 1_000_000, 2_000_000])
    whole = play_games(load("collins"), DRAW1, deals, batch=100)
    for index, deal in enumerate(deals):
        alone = play_games(load("collins"), DRAW1, np.array([deal]))
        assert alone.outcome[0] == whole.outcome[index]
        assert alone.moves[0] == whole.moves[index]
        assert alone.foundation_cards[0] == whole.foundation_cards[index]
    assert play_games(load("collins"), DRAW1, deals, batch=2).moves.tolist() == whole.moves.tolist()


def test_a_resigned_game_is_lost() -> None:
    games = play_games(Resigner(), DRAW1, np.arange(10), batch=3)
    assert set(games.outcome) == {LOST}
    assert set(games.moves) == {0}
    assert set(games.foundation_cards) == {0}


def test_a_won_game_has_all_cards_up() -> None:
    games = play_games(load("collins"), DRAW1, np.arange(50))
    assert games.won.any()
    assert np.array_equal(games.won, games.foundation_cards == 52)


def test_the_watcher_hears_of_every_game() -> None:
    heard: list[int] = []
    games = play_games(load("collins"), DRAW1, np.arange(50), batch=20, watch=lambda outcome: heard.extend(outcome))
    assert sorted(heard) == sorted(games.outcome)


class Drawer(FirstLegal):
    """Draws even when no card is left to draw."""

    name, talon, needs_masks = "drawer", "draw", False

    def act(self, views, masks):
        return np.full(len(views), STOCK_ACTION)


class Halfway(FirstLegal):
    name = "halfway"

    def act(self, views, masks):
        return masks.argmax(axis=1)[:1]


class Unsure(FirstLegal):
    name = "unsure"

    def act(self, views, masks):
        return masks.argmax(axis=1) / 2


class Offside(FirstLegal):
    name = "offside"

    def act(self, views, masks):
        return np.full(len(views), 313)


@pytest.mark.parametrize(
    ("agent", "message"),
    [
        (
            Drawer(),
            r"agent 'drawer' chose illegal action 312 \(stock\) in deal \d, step 25; legal",
        ),
        (Offside(), "agent 'offside' chose illegal action 313 in deal 0, step 1; legal"),
        (Halfway(), r"agent 'halfway' returned int64\[1\]; it must return one integer action for each of 4 rows"),
        (Unsure(), r"agent 'unsure' returned float64\[4\]; it must return one integer"),
    ],
    ids=["illegal", "no action", "shape", "type"],
)
def test_an_agent_that_breaks_the_protocol_is_told_so(agent: Agent, message: str) -> None:
    with pytest.raises(AgentError, match=message):
        play_games(agent, PRESETS["classic"], np.arange(4))


# --- comparing ---------------------------------------------------------------------------------------


def test_agents_are_compared_on_the_same_deals() -> None:
    deals = range(100, 300)
    evaluation = evaluate(["collins", "greedy", Resigner()], "draw1", deals, progress=False)
    assert evaluation.deal_numbers == "100 to 299"
    collins, greedy = (play_games(load(name), DRAW1, np.array(deals)).outcome == WON for name in ("collins", "greedy"))
    comparison = evaluation.compare("collins", "greedy")
    assert comparison.only_first == np.count_nonzero(collins & ~greedy)
    assert comparison.only_second == np.count_nonzero(~collins & greedy)
    assert [(pair.first, pair.second) for pair in evaluation.comparisons] == [
        ("collins", "greedy"),
        ("collins", "resigner"),
        ("greedy", "resigner"),
    ]


def test_evaluation_is_reproducible() -> None:
    first, second = (evaluate("random", "draw3", 200, seed=3, progress=False).agents["random"] for _ in range(2))
    assert first.model_copy(update={"ms_per_game": 0}) == second.model_copy(update={"ms_per_game": 0})


def test_rules_of_ones_own() -> None:
    evaluation = evaluate("collins", Rules(draw_count=2), [4, 9], progress=False)
    assert evaluation.variant == "custom"
    assert evaluation.rules["draw_count"] == 2
    assert evaluation.deals == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("collins", "draw9", 10), "no such variant: 'draw9'; known: draw1"),
        (("colins", "draw1", 10), "no such agent: 'colins'"),
        ((["collins", "collins"], "draw1", 10), "two agents are called 'collins'"),
        (([], "draw1", 10), "no agent was named"),
        (("collins", "draw1", 0), "deals is 0; allowed: 1 to 1000000"),
        (("collins", "draw1", []), "deals is no list of deal numbers"),
        (("collins", "draw1", [-1]), "deal is -1; allowed: a whole number from 0 to"),
    ],
)
def test_what_cannot_be_evaluated(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        evaluate(*arguments, progress=False)
    assert message in str(caught.value)


# --- sharing and keeping -----------------------------------------------------------------------------


def figures(evaluation):
    """An evaluation without its times."""
    agents = {name: result.model_copy(update={"ms_per_game": 0}) for name, result in evaluation.agents.items()}
    return evaluation.model_copy(update={"agents": agents})


def test_figures_are_the_same_for_any_batch_number_of_workers_and_file(tmp_path: Path) -> None:
    call = (["random", "greedy", FirstLegal()], "draw3", 60)
    alone = figures(evaluate(*call, progress=False))
    assert 0 < alone.agents["greedy"].wins < 60
    assert figures(evaluate(*call, batch=3, file=tmp_path / "a.csv", progress=False)) == alone
    assert figures(evaluate(*call, workers=2, batch=20, file=tmp_path / "b.csv", progress=False)) == alone
    for name in ("a.csv", "b.csv"):
        assert (tmp_path / name).read_text().count("\n") == 2 + 3 * 60


def test_games_that_are_kept_are_not_played_again(tmp_path: Path) -> None:
    file = tmp_path / "games.csv"
    first = evaluate("greedy", "draw1", 30, file=file, progress=False)
    evaluate("random", "draw1", range(10, 20), file=file, progress=False)
    text = file.read_text()
    assert text.splitlines()[1] == "agent,deal,outcome,moves,foundation_cards,seconds"
    again = evaluate("greedy", "draw1", 30, file=file, progress=False)
    assert figures(again) == figures(first)
    assert again.agents["greedy"].ms_per_game == pytest.approx(first.agents["greedy"].ms_per_game)
    assert file.read_text() == text
    lines = text.splitlines(keepends=True)
    file.write_text("".join(lines[:12]) + lines[12][:7])  # as a killed process may leave it
    assert figures(evaluate("greedy", "draw1", 30, file=file, progress=False)) == figures(first)


def test_a_file_of_other_games_is_not_mixed_with(tmp_path: Path) -> None:
    evaluate("random", "draw1", 3, file=tmp_path / "games.csv", progress=False)
    for variant, seed in (("draw3", 0), ("draw1", 1)):
        with pytest.raises(ValueError, match="holds results of other rules or seed, or something else"):
            evaluate("random", variant, 3, seed=seed, file=tmp_path / "games.csv", progress=False)


class Locked(FirstLegal):
    name = "locked"

    def __init__(self) -> None:
        self.lock = threading.Lock()


def test_an_agent_that_cannot_be_sent_is_named_and_plays_alone() -> None:
    assert evaluate(Locked(), "draw1", 3, progress=False).agents["locked"].games == 3
    with pytest.raises(ValueError, match=r"agent 'locked' cannot be sent to other processes: .*; use one worker"):
        evaluate(Locked(), "draw1", 3, workers=2, progress=False)


def test_an_error_of_an_agent_comes_back_from_a_worker() -> None:
    with pytest.raises(AgentError, match="agent 'offside' chose illegal action 313 in deal"):
        evaluate(Offside(), "draw1", 3, workers=2, progress=False)


SLOW = """
import time
from klondike_env.agents.lists.random_agent import RandomAgent

class Slow(RandomAgent):
    name = "slow"

    def act(self, views, masks):
        time.sleep(0.002)
        return super().act(views, masks)
"""


def test_an_evaluation_that_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    target, kept = tmp_path / "result.json", tmp_path / "result.json.games.csv"
    agents = ["--agent", "slow:Slow", "--agent", "random"]
    call = [*agents, "--variant", "draw1", "--deals", "40", "--batch", "2", "--json", str(target)]
    program = subprocess.Popen(
        [sys.executable, "-m", "train.evaluate", *call, "--workers", "2"],
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": f"{Path(__file__).parents[2]}:{tmp_path}"},
    )
    end = time.monotonic() + 120
    while not kept.exists() or kept.read_bytes().count(b"\n") < 10:
        assert time.monotonic() < end
        time.sleep(0.01)
    program.kill()
    program.wait()
    assert not target.exists()
    lines = kept.read_text().splitlines()
    assert 10 <= len(lines) < 82
    sys.path.insert(0, str(tmp_path))
    try:
        result = command(*call)
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("slow", None)
    assert result.exit_code == 0, result.output
    assert not kept.exists()
    random = evaluate("random", "draw1", 40, progress=False).agents["random"].model_copy(update={"ms_per_game": 0})
    for played in json.loads(target.read_text())["agents"].values():
        assert type(random).model_validate({**played, "ms_per_game": 0}) == random


# --- command line ------------------------------------------------------------------------------------


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_command_line(tmp_path: Path) -> None:
    file = tmp_path / "new" / "result.json"
    agents = ("--agent", "collins", "--agent", "random")
    result = command("--variant", "draw1", *agents, "--deals", "200", "--json", str(file))
    assert result.exit_code == 0, result.output
    for text in ("collins", "random", "talon draw", "talon reach, no repeats", "collins - random", "0 to 199"):
        assert text in result.stdout
    written = json.loads(file.read_text())
    assert 0 < written["agents"]["random"]["win_rate"] < written["agents"]["collins"]["win_rate"] < 1
    assert written["comparisons"][0]["first"] == "collins"
    assert written["variant"] == "draw1"


def test_deals_and_rules_of_ones_own_choice(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    chosen = ("--split", "validation", "--first", "50", "--deals", "100", "--rules", "draw_count=2,redeals=3")
    result = command("--variant", "draw1", "--agent", "collins", *chosen, "--json", str(file))
    assert result.exit_code == 0, result.output
    written = json.loads(file.read_text())
    assert (written["variant"], written["deal_numbers"]) == ("custom", "1000050 to 1000149")
    assert Rules(**written["rules"]) == Rules(draw_count=2, redeals=3)
    played = play_games(load("collins"), Rules(draw_count=2, redeals=3), np.arange(1_000_050, 1_000_150))
    assert written["agents"]["collins"]["wins"] == played.won.sum()


def test_draws_win_rates_over_time(tmp_path: Path) -> None:
    file = tmp_path / "new" / "strength.png"
    result = command("--variant", "draw1", "--agent", "collins", "--deals", "20", "--picture", str(file))
    assert result.exit_code == 0, result.output
    assert file.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("option", ["--json", "--picture"])
def test_a_result_is_never_overwritten_by_accident(option: str, tmp_path: Path) -> None:
    file = tmp_path / "result"
    file.write_text("precious")
    call = ("--variant", "draw1", "--agent", "collins", "--deals", "20", option, str(file))
    refused = command(*call)
    assert refused.exit_code == 2
    assert "exists; name another file, or pass --force to replace it" in refused.stderr
    assert file.read_text() == "precious"
    assert command(*call, "--force").exit_code == 0
    assert json.loads(file.read_text())["deals"] == 20 if option == "--json" else file.read_bytes() != b"precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--variant", "draw9", "--agent", "collins"), "no such variant: 'draw9'; known: draw1, draw3"),
        (("--variant", "draw1", "--agent", "colins"), "no such agent: 'colins'; known: random, greedy, collins"),
        (("--variant", "draw1", "--agent", "gone:factory"), "cannot import 'gone': No module named 'gone'"),
        (("--variant", "draw1", "--agent", "policy:gone"), "there is no file 'gone'"),
        (("--variant", "draw1", "--agent", "collins", "--backend", "x"), "backend is 'x'; allowed: processes, ray"),
        (
            ("--variant", "draw1", "--agent", f"{__name__}:Locked", "--workers", "2"),
            "cannot be sent to other processes",
        ),
        (
            ("--variant", "draw1", "--agent", "collins", "--deals", "2000000"),
            "deals is 2000000; allowed: a whole number",
        ),
        (("--variant", "draw1", "--agent", "collins", "--first", "999990"), "deals is 40000; allowed: a whole number"),
        (("--variant", "draw1", "--agent", "collins", "--split", "x"), "split is 'x'; allowed: test, validation"),
        (
            ("--variant", "draw1", "--agent", "collins", "--rules", "draws=2"),
            "no such key: rules.draws; allowed: build",
        ),
        (
            ("--variant", "draw1", "--agent", f"{__name__}:Offside", "--deals", "5"),
            "chose illegal action 313 in deal 0",
        ),
    ],
)
def test_command_line_errors_are_one_line(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = command(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("action", [-2, -3, 313])
def test_numbers_that_are_no_action_are_illegal_choices(action: int) -> None:
    class Odd(FirstLegal):
        name = "odd"

        def act(self, views, masks):
            return np.full(len(views), action)

    with pytest.raises(AgentError, match=f"agent 'odd' chose illegal action {action} "):
        evaluate(Odd(), "draw1", 3, progress=False)


@pytest.mark.parametrize("option", ["--json", "--picture"])
def test_a_result_that_could_not_be_written_is_refused_before_playing(option: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for target in (tmp_path, tmp_path / "file" / "result.json"):
        arguments = ["--variant", "draw1", "--agent", "collins", "--deals", "5", option, str(target), "--force"]
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert "cannot be written" in result.output.replace("\n", " ")
