"""The bandit agent, and the small searches it asks."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable

import numpy as np
import pytest

from agents import load
from agents.arms import Base
from agents.bandit import BanditAgent
from agents.race import Field, Judge, arrange, drop_out, is_out, lay_unseen, line_up, n_determinizations, race, winner
from klondike_env.engine import actions
from klondike_env.engine.actions import RESIGN
from klondike_env.engine.games import Games
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import HIDDEN_PLACE, PLAYING, WON
from klondike_env.rules import PRESETS, RuleParams, Rules
from klondike_env.solver import columns, free
from klondike_env.solver.solve import Limits, solve
from klondike_env.solver.verdicts import OPEN, SOLVED, UNSOLVABLE
from klondike_env.solver.verdicts import WON as SOLVER_WON
from tests.agents.players import DRAW1, GIVE_UP, decide, decisions
from tests.agents.test_all_agents import permute_unseen, random_rules
from tests.boards import board
from tests.solver.small_positions import random_position, record
from tests.solver.small_positions import random_rules as small_rules
from train.play import play_games
from train.statistics import count_pairs, mcnemar_p_value

VARIANTS = ["draw1", "draw3", "classic", "thumb_and_pouch"]
VALIDATION = 1_000_000


@kernel
def judge_free(states: np.ndarray, draw_count: int, buffers: free.SmallSearch, verdicts: np.ndarray) -> None:
    for i in range(len(states)):
        verdicts[i] = free.judge(states, i, draw_count, buffers)


@kernel
def judge_columns(states: np.ndarray, rules: RuleParams, buffers: columns.SmallSearch, verdicts: np.ndarray) -> None:
    for i in range(len(states)):
        verdicts[i] = columns.judge(states, i, rules, buffers)


def assert_judged(states: np.ndarray, rules: Rules, verdicts: np.ndarray) -> int:
    """Compare verdicts with those of the solver; how many are certain."""
    for state, verdict in zip(states, verdicts, strict=True):
        expected = solve(state, rules, Limits(seconds=None, visits=100_000)).verdict
        if verdict == 0:
            assert expected == UNSOLVABLE
        if verdict == 2:
            assert expected == SOLVED
    return int(np.count_nonzero(verdicts != 1))


# --- small searches ----------------------------------------------------------------------------------


@pytest.mark.parametrize("draw_count", [1, 3])
def test_small_free_searches_say_what_the_solver_says(draw_count: int) -> None:
    rules = Rules(draw_count=draw_count)
    games = Games(100, rules, talon="reach")
    games.deal(np.arange(100))
    verdicts = np.zeros(100, dtype=np.int64)
    judge_free(games.states, draw_count, free.SmallSearch.of(1000), verdicts)
    assert assert_judged(games.states, rules, verdicts) > 50


def test_small_column_searches_say_what_the_solver_says_under_any_rules() -> None:
    chance, certain = random.Random(3), 0
    for _ in range(50):
        rules = small_rules(chance)
        states = np.array([record(random_position(chance, rules, chance.randint(2, 5)), rules) for _ in range(3)])
        states = states[states["outcome"] == PLAYING]
        verdicts = np.zeros(len(states), dtype=np.int64)
        judge_columns(states, rules.params(), columns.SmallSearch.of(1000, rules), verdicts)
        certain += assert_judged(states, rules, verdicts)
    assert certain > 90


# --- the race ----------------------------------------------------------------------------------------


def test_numbers_of_orders_give_each_order_once() -> None:
    orders = set()
    for number in range(120):
        cards = np.arange(5, dtype=np.uint8)
        arrange(cards, 5, number)
        orders.add(tuple(cards.tolist()))
    assert len(orders) == 120


def test_there_are_as_many_determinizations_as_orders_of_few_cards() -> None:
    assert [n_determinizations(n) for n in range(8)] == [*map(math.factorial, range(7)), math.inf]


def determinizations(view: np.void, n: int, seed: int = 1) -> set[bytes]:
    """The different states that `n` determinizations make of a view."""
    states, cards = np.array([view]), np.zeros(52, dtype=np.uint8)
    found = set()
    for sample in range(n):
        states[0] = view
        lay_unseen(states, 0, np.uint64(seed), sample, cards)
        found.add(states.tobytes())
    return found


@pytest.mark.parametrize(
    ("stock", "foundations"),
    [("KC KD KH", "QC QD QH KS"), ("KC KD KH KS", "QC QD QH QS"), ("KC KD KH KS QC QD", "JC JD QH QS")],
)
def test_of_few_unseen_cards_every_order_is_tried_once(stock: str, foundations: str) -> None:
    games, n_unseen = Games(1, Rules(redeals=0)), len(stock.split())
    games.resume(board(foundations=foundations, stock=stock))
    view = games.views()[0]
    assert len(determinizations(view, math.factorial(n_unseen))) == math.factorial(n_unseen)


def test_of_many_unseen_cards_each_determinization_is_another_one() -> None:
    games = Games(1, PRESETS["classic"])
    games.deal([0])
    view = games.views()[0]
    one, other = (determinizations(view, 50, seed) for seed in (1, 1000))
    assert len(one | other) == 100


def race_of_kings(n_arms: int, base: int, blind: float = 0.5, base_name: str = "tuned") -> tuple[int, int, Field]:
    """A race of arms that all win by the last king: the winner, the determinizations tried, and the field."""
    rules = Rules(redeals=0)
    views = np.array([board("KS", foundations="KC KD KH QS")] * n_arms)
    field = Field.of(100)
    line_up(views, np.array([[k, actions.parse("KS to foundation")] for k in range(n_arms)]), n_arms, field)
    judge = Judge.of(rules, Base.of(base_name, rules), 100, blind)
    tried = race(field, n_arms, base, 0, 100, np.uint64(1), judge, rules.params())
    return winner(field, n_arms, base, tried, 1.5, judge.values), tried, field


def test_of_equal_arms_that_of_the_base_wins() -> None:
    for base in range(3):
        assert race_of_kings(3, base)[0] == base


@pytest.mark.parametrize("base", ["tuned", "collins"])
def test_arms_that_win_alike_end_the_race_early(base: str) -> None:
    best, tried, field = race_of_kings(3, -1, base_name=base)
    assert (best, tried) == (0, 20)
    assert np.all(field.verdicts[:3, :tried] == 3)


def test_only_the_judge_that_counts_is_asked() -> None:
    _, tried, field = race_of_kings(2, -1, blind=0.0)
    assert np.all(field.verdicts[:2, :tried] == SOLVER_WON)
    _, tried, field = race_of_kings(2, -1, blind=1.0)
    assert np.all(field.verdicts[:2, :tried] == 3)


def field_of(*rows: str) -> Field:
    """A field with these verdicts."""
    field = Field.of(100)
    for k, row in enumerate(rows):
        field.verdicts[k, : len(row)] = [int(verdict) for verdict in row]
        field.alive[k] = True
    return field


def test_the_base_is_left_only_on_evidence() -> None:
    values = np.array([0.0, 0.25, 0.5, 1.0])
    little, much = field_of("00003333", "00033333"), field_of("00003333", "33333333")
    assert winner(little, 2, 0, 8, 1.5, values) == 0
    assert winner(much, 2, 0, 8, 1.5, values) == 1
    assert winner(field_of("000000000", "333333333"), 2, 0, 9, 3.0, values) == 1  # 9 wins more lead by 9 / sqrt(9)
    assert winner(field_of("00003333", "00033333"), 2, 0, 8, 0.0, values) == 1
    assert winner(field_of("00003333", "00033333"), 2, -1, 8, 1.5, values) == 1


VALUES = np.array([0.0, 0.125, 0.25, 1.0])


def scores(field: Field, n_arms: int, n: int) -> np.ndarray:
    """What each arm's verdicts are worth: float64[n_arms, n]."""
    return VALUES[field.verdicts[:n_arms, :n]]


def random_field(generator: np.random.Generator, n_arms: int, n: int) -> Field:
    """A field whose arms win with different chances, some of them alike in all determinizations."""
    chances = generator.dirichlet(np.ones(4), size=n_arms)
    field = Field.of(100)
    for k in range(n_arms):
        like = generator.integers(k) if k > 0 and generator.random() < 0.3 else k
        row = generator.choice(4, size=n, p=chances[k]) if like == k else field.verdicts[like, :n]
        field.verdicts[k, :n], field.alive[k] = row, True
    return field


@pytest.mark.parametrize(("wins", "losses", "is_behind"), [(9, 0, False), (10, 0, True), (14, 2, False), (15, 2, True)])
def test_an_arm_is_out_by_three_standard_errors(wins: int, losses: int, is_behind: bool) -> None:
    """Behind by w - l after w + l decided determinizations, and one more for caution: w - l >= 3 sqrt(w + l + 1)."""
    assert ((wins - losses) ** 2 >= 9 * (wins + losses + 1)) == is_behind
    field = field_of("3" * wins + "0" * losses, "0" * wins + "3" * losses)
    assert is_out(field, 1, 0, wins + losses, VALUES) == is_behind
    assert not is_out(field, 0, 1, wins + losses, VALUES)


@pytest.mark.parametrize(("verdict", "enough"), [("3", 20), ("2", 80)])
def test_arms_that_fared_the_same_count_as_one_after_twenty_wins(verdict: str, enough: int) -> None:
    """So much do their verdicts add up to: 20 wins of the base, or 80 of the solver at a quarter each."""
    field = field_of(verdict * 100, verdict * 100)
    assert not is_out(field, 1, 0, enough - 1, VALUES)
    assert is_out(field, 1, 0, enough, VALUES)
    assert not is_out(field_of("0" * 100, "0" * 100), 1, 0, 100, VALUES)


def test_arms_drop_out_that_fall_behind_the_best() -> None:
    generator, dropped, kept = np.random.default_rng(1), 0, 0
    for _ in range(200):
        n_arms, n = int(generator.integers(2, 6)), int(generator.integers(5, 100))
        field, base = random_field(generator, n_arms, n), int(generator.integers(-1, n_arms))
        worth = scores(field, n_arms, n)
        best = int(worth.sum(axis=1).argmax())
        if base >= 0 and worth[base].sum() == worth[best].sum():
            best = base
        gaps = worth[best] - worth
        same = np.all(gaps == 0, axis=1)
        behind = gaps.sum(axis=1) >= 3 * np.sqrt(np.square(gaps).sum(axis=1) + 1)
        expected = ~np.where(same, worth[best].sum() >= 20, behind)
        expected[best] = True
        assert drop_out(field, n_arms, base, n, VALUES) == np.count_nonzero(expected)
        assert np.array_equal(field.alive[:n_arms], expected)
        dropped, kept = dropped + np.count_nonzero(~expected), kept + np.count_nonzero(expected) - 1
    assert min(dropped, kept) > 100


def test_arms_that_are_out_neither_lead_nor_come_back() -> None:
    field = field_of("3" * 50, "0" * 50, "2" * 50)
    field.alive[0] = False
    assert drop_out(field, 3, -1, 50, VALUES) == 1
    assert field.alive[:3].tolist() == [False, False, True]
    assert winner(field, 3, 0, 50, 1.5, VALUES) == 2


def test_the_winner_leads_the_base_by_enough_standard_errors() -> None:
    generator, left, kept = np.random.default_rng(2), 0, 0
    for _ in range(200):
        n_arms, n, z = (
            int(generator.integers(2, 6)),
            int(generator.integers(5, 100)),
            float(generator.choice([0.0, 1.5, 3])),
        )
        field, base = random_field(generator, n_arms, n), int(generator.integers(n_arms))
        worth = scores(field, n_arms, n)
        ahead = worth - worth[base]
        needed = z * np.sqrt(np.square(ahead).sum(axis=1))
        proven = (ahead.sum(axis=1) > 0) & (ahead.sum(axis=1) >= needed)
        proven[base] = True
        expected = int(np.where(proven, worth.sum(axis=1), -1).argmax())
        assert winner(field, n_arms, base, n, z, VALUES) == expected
        left, kept = left + (expected != base), kept + (expected == base)
    assert min(left, kept) > 50


@pytest.mark.parametrize("blind", [0.0, 0.25, 0.75, 1.0])
def test_a_verdict_is_worth_what_the_two_judges_say(blind: float) -> None:
    """A win of the base is worth 1 and one of the solver 1 - blind; what the solver leaves open is worth half of it."""
    values = Judge.of(DRAW1, Base.of("tuned", DRAW1), 100, blind).values
    solved = 1 - blind
    assert values.tolist() == [0, solved / 2, solved, 1]


@pytest.mark.parametrize(("visits", "opened"), [(1, True), (500, False)])
def test_what_the_solver_has_no_time_to_decide_stays_open(visits: int, opened: bool) -> None:
    games = Games(1, DRAW1, talon="reach")
    games.deal([0])
    field, legal = Field.of(10), np.flatnonzero(games.masks[0])
    line_up(games.states, np.array([[0, action] for action in legal]), len(legal), field)
    judge = Judge.of(DRAW1, Base.of("tuned", DRAW1), visits, 0.0)
    race(field, len(legal), -1, 0, 5, np.uint64(1), judge, DRAW1.params())
    assert len(legal) > 1
    assert np.all(field.verdicts[: len(legal), :5] == OPEN) == opened


# --- the agent ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", [*VARIANTS, "thumb_and_pouch_whole"])
def test_never_chooses_an_illegal_action(variant: str) -> None:
    played = play_games(BanditAgent(samples=10), PRESETS[variant], np.arange(12))
    assert np.all(played.outcome != PLAYING)


def test_never_chooses_an_illegal_action_under_random_rules() -> None:
    chance = random.Random(2)
    for k in range(30):
        agent = BanditAgent(samples=5, visits=100, base="collins" if k % 3 == 0 else "tuned")
        played = play_games(agent, random_rules(chance), np.arange(4))
        assert np.all(played.outcome != PLAYING)


def test_wins_more_than_its_base() -> None:
    """The planner wins about 20 of these deals more than the list; with arms dropped too early hardly any."""
    deals, rules = VALIDATION + np.arange(80), PRESETS["draw3"]
    planner = play_games(BanditAgent(samples=40), rules, deals)
    base = play_games(load("tuned"), rules, deals)
    pairs = count_pairs(planner.won, base.won)
    assert pairs.difference > 0
    assert mcnemar_p_value(pairs) < 1e-3


@pytest.mark.parametrize("variant", VARIANTS)
def test_does_not_depend_on_cards_it_has_not_seen(variant: str) -> None:
    rules, rng = PRESETS[variant], np.random.default_rng(3)
    agents = BanditAgent(samples=10), BanditAgent(samples=10)
    games, other = (Games(8, rules, talon=agents[0].talon_for(rules)) for _ in range(2))
    games.deal(np.arange(8))
    for agent in agents:
        agent.start(8, rules, 4)
    changed = 0
    for _ in range(40):
        other.states[:] = games.states
        for row in np.flatnonzero(~games.over):
            permute_unseen(other.states[row], rng)
        changed += np.count_nonzero(other.states != games.states)
        chosen = agents[0].act(games.views(), games.masks)
        assert np.array_equal(chosen, agents[1].act(other.views(), games.masks))
        games.step(chosen, chosen != RESIGN)
    assert changed > 50


@pytest.mark.parametrize("variant", ["draw3", "thumb_and_pouch"])
def test_plays_a_deal_the_same_way_in_any_batch_order_and_number_of_threads(variant: str) -> None:
    deals, rules = np.arange(14), PRESETS[variant]
    once = play_games(BanditAgent(samples=10), rules, deals, batch=14, seed=5)
    again = play_games(BanditAgent(samples=10, threads=2), rules, deals[::-1].copy(), batch=3, seed=5)
    assert np.array_equal(once.outcome, again.outcome[::-1])
    assert np.array_equal(once.moves, again.moves[::-1])


def test_another_seed_plays_otherwise() -> None:
    first, second = (
        play_games(BanditAgent(samples=5), PRESETS["draw3"], np.arange(10), seed=seed).moves for seed in (0, 1)
    )
    assert not np.array_equal(first, second)


def last_games(variant: str, n: int) -> Games:
    """Games in which the player has seen all cards but one at most, as a player by rule of thumb leaves them."""
    rules = PRESETS[variant]
    games = Games(n, rules, talon="reach" if rules.redeals is None else "draw")
    games.deal(np.arange(VALIDATION, VALIDATION + n))
    agent = load("greedy" if rules.redeals is None else "collins")
    agent.start(n, rules, 1)
    done = np.zeros(n, dtype=bool)
    for _ in range(150):
        done |= np.count_nonzero(games.views()["place"] == HIDDEN_PLACE, axis=1) <= 1
        chosen = agent.act(games.views(), games.masks)
        games.step(chosen, ~done & (chosen != RESIGN))
    return games.take(np.flatnonzero(done & ~games.over))


@pytest.mark.parametrize(("variant", "n"), [("draw1", 60), ("draw3", 300), ("classic", 2000), ("thumb_and_pouch", 100)])
def test_wins_whatever_can_be_won_once_one_card_is_unseen_at_most(variant: str, n: int) -> None:
    games = last_games(variant, n)
    limits = Limits(seconds=None, visits=100_000)
    verdicts = [solve(state, PRESETS[variant], limits).verdict for state in games.states]
    winnable = np.array([verdict == SOLVED for verdict in verdicts])
    assert winnable.any()
    agent = BanditAgent(samples=5)
    agent.start(len(games), PRESETS[variant], 0)
    for _ in range(300):
        chosen = agent.act(games.views(), games.masks)
        games.forfeit(np.flatnonzero(~games.over & (chosen == RESIGN)))
        games.step(chosen)
        assert not games.illegal.any()
    assert np.array_equal(games.outcomes == WON, winnable)


@pytest.mark.parametrize("variant", ["draw1", "classic"])
@pytest.mark.parametrize("base", ["collins", "tuned"])
def test_without_a_budget_it_is_its_base(base: str, variant: str) -> None:
    rules, deals = PRESETS[variant], np.arange(200)
    first = play_games(load(f"bandit:samples=0,base={base}"), rules, deals)
    second = play_games(load(base), rules, deals)
    assert np.array_equal(first.outcome, second.outcome)
    assert np.array_equal(first.moves, second.moves)


def test_gives_up_where_nothing_can_be_won() -> None:
    lost = board("KS 2C | QS", "KC", foundations="", waste="", stock="")
    assert decide(BanditAgent(samples=5), lost, Rules(redeals=0)) == GIVE_UP


def test_finishes_a_game_whose_cards_are_all_seen() -> None:
    names = decisions(BanditAgent(samples=5), board("KS QH", "QS", "KH", foundations="KC KD JH JS"), DRAW1)
    assert names[-1] != GIVE_UP
    assert len(names) == 4


def test_a_limit_of_time_is_kept() -> None:
    agent = BanditAgent(seconds_per_move=0.01)
    games = Games(4, PRESETS["draw3"], talon="reach")
    games.deal(np.arange(4))
    agent.start(4, PRESETS["draw3"], 0)
    agent.act(games.views(), games.masks)
    games.deal(np.arange(4, 8))
    start = time.perf_counter()
    agent.act(games.views(), games.masks)
    assert time.perf_counter() - start < 2


def test_rows_that_are_used_again_do_not_follow_the_plan_of_the_game_before() -> None:
    rules = PRESETS["draw3"]
    agent, fresh = BanditAgent(samples=5), BanditAgent(samples=5)
    games = Games(1, rules, talon="reach")
    agent.start(1, rules, 0)
    for deal in range(6):
        games.deal([deal])
        first = agent.act(games.views(), games.masks).copy()
        fresh.start(1, rules, 0)
        assert np.array_equal(first, fresh.act(games.views(), games.masks))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: BanditAgent(samples=-1),
            "samples is -1; allowed: a whole number from 0 to 20000",
        ),
        (lambda: BanditAgent(seconds_per_move=0), "seconds_per_move is 0; allowed: a positive number"),
        (lambda: BanditAgent(visits=0), "visits is 0"),
        (lambda: BanditAgent(blind=2), "blind is 2; allowed: a number from 0 to 1"),
        (lambda: BanditAgent(z=-1), "z is -1; allowed: a number from 0"),
        (lambda: load("bandit:base=random"), "base is 'random'"),
        (lambda: load("bandit:colour=2"), "no such option: 'colour'; known: samples, seconds_per_move, visits"),
        (lambda: load("bandit:samples=many"), "samples is 'many'; write a number, as in samples=2"),
        (lambda: load("bandit:blind=3"), "agent 'bandit:blind=3': blind is 3.0; allowed"),
    ],
)
def test_what_cannot_be_made(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        make()
    assert message in str(caught.value)


def test_options_by_name() -> None:
    agent = load("bandit:samples=40,visits=200,blind=0.25,threads=2,seconds_per_move=0.5")
    assert isinstance(agent, BanditAgent)
    assert (agent.samples, agent.visits, agent.blind, agent.threads) == (40, 200, 0.25, 2)
    assert agent.seconds_per_move == 0.5
    assert agent.name.startswith("bandit:samples=40")
