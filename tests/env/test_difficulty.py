"""Deals that are known to be winnable, and grades of difficulty: what `reset()` then draws."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import asdict

import gymnasium as gym
import numpy as np
import pytest

from klondike_env.deals import TRAINING_DEALS
from klondike_env.difficulty import GRADES, bounds_of, graded_source
from klondike_env.rules import DISTINCT_PRESETS, GYM_IDS, PRESETS, Rules
from klondike_env.settings import Settings
from klondike_env.solver import Limits, solve
from klondike_env.solver.study import labels
from klondike_env.solver.verdicts import VERDICTS

DRAW3 = GYM_IDS["draw3"]
FIRST = 2_000_000
# Verdict and nodes of the labelled deals FIRST, FIRST + 1, ...
LABELLED = [
    ("solved", 100),
    ("solved", 101),
    ("solved", 1_000),
    ("solved", 1_001),
    ("solved", 30_000_000),
    ("unsolvable", 7),
    ("undecided", 40_000_000),
]
GRADED = {"easy": [0], "medium": [1, 2], "hard": [3, 4], "unsolvable": [5]}


@pytest.fixture
def without_labels(monkeypatch):
    monkeypatch.setattr(labels, "kept_labels", dict)


@pytest.fixture
def with_labels(monkeypatch):
    names, nodes = zip(*LABELLED, strict=True)
    codes = np.array([VERDICTS.index(name) for name in names], dtype=np.uint8)
    kept = labels.Labels(PRESETS["draw3"], Limits(), FIRST, codes, np.array(nodes, dtype=np.uint32))
    monkeypatch.setattr(labels, "kept_labels", lambda: {kept.rules: kept})


def drawn(env, times, seed=0):
    _, info = env.reset(seed=seed)
    return [info["deal"], *(env.reset()[1]["deal"] for _ in range(times - 1))]


@pytest.mark.usefixtures("with_labels")
@pytest.mark.parametrize("grade", GRADES)
def test_without_a_set_of_deals_those_that_come_with_the_package_are_dealt(grade):
    env = gym.make(DRAW3, difficulty=grade)
    assert set(drawn(env, 40)) == {FIRST + place for place in GRADED[grade]}


@pytest.mark.usefixtures("with_labels")
def test_winnable_deals_are_those_of_all_grades_but_one():
    winnable = {FIRST + place for place in range(5)}
    assert set(drawn(gym.make(DRAW3, winnable_only=True), 60)) == winnable
    assert set(drawn(gym.make(DRAW3, winnable_only=True, difficulty="easy"), 10)) == {FIRST}
    envs = gym.make_vec(DRAW3, num_envs=60, winnable_only=True)
    assert set(envs.reset(seed=0)[1]["deal"].tolist()) == winnable


@pytest.mark.usefixtures("with_labels")
def test_deals_of_ones_own_are_solved_when_they_are_drawn():
    source = graded_source(range(200), None, PRESETS["draw3"])
    rng = np.random.default_rng(0)
    assert all(solve(source.draw(rng), "draw3").verdict == "solved" for _ in range(10))


@pytest.mark.usefixtures("without_labels")
@pytest.mark.parametrize("rules", [Rules(draw_count=2), PRESETS["classic"]])
@pytest.mark.parametrize("grade", GRADES)
def test_deals_of_other_rules_are_of_the_grade_that_a_search_gives(grade, rules):
    bounds = bounds_of(rules)
    least, most = {
        "easy": (1, bounds.easy),
        "medium": (bounds.easy + 1, bounds.medium),
        "hard": (bounds.medium + 1, bounds.hard),
        "unsolvable": (0, bounds.hard),
    }[grade]
    env = gym.make("Klondike/Custom-v0", difficulty=grade, **asdict(rules))
    for deal in drawn(env, 3):
        assert deal in TRAINING_DEALS
        solution = solve(deal, rules, Limits(nodes=bounds.hard, seconds=None))
        assert solution.verdict == ("unsolvable" if grade == "unsolvable" else "solved")
        assert least <= solution.nodes <= most


@pytest.mark.usefixtures("without_labels")
def test_only_winnable_deals_of_a_set_are_dealt_and_each_of_them():
    deals = range(30)
    winnable = {deal for deal in deals if solve(deal, "draw3", Limits(nodes=100_000)).verdict == "solved"}
    assert len(winnable) < len(deals)
    assert set(drawn(gym.make(DRAW3, winnable_only=True, deals="0-29"), 300)) == winnable


@pytest.mark.parametrize("labelled", ["with_labels", "without_labels"])
@pytest.mark.parametrize("keywords", [{"winnable_only": True}, {"difficulty": "medium"}])
def test_seeds_deal_the_same_alone_and_in_a_batch(keywords, labelled, request):
    request.getfixturevalue(labelled)
    batch = gym.make_vec(DRAW3, num_envs=4, step_limit=1, **keywords)
    together = [batch.reset(seed=9)[1]["deal"].tolist()]
    for _ in range(2):  # each odd step ends all games, each even one deals anew
        batch.step(np.full(4, 312))
        together.append(batch.step(np.full(4, 312))[-1]["deal"].tolist())
    alone = [drawn(gym.make(DRAW3, **keywords), 3, seed=9 + game) for game in range(4)]
    assert together == np.transpose(alone).tolist()


@pytest.mark.usefixtures("without_labels")
def test_specs_pickles_and_copies_deal_the_same():
    env = gym.make(DRAW3, difficulty="easy", deals="0-99")
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert json.loads(env.spec.to_json())["kwargs"]["difficulty"] == "easy"
    for twin in (again, pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert drawn(twin, 10) == drawn(env, 10)


@pytest.mark.usefixtures("with_labels")
def test_neither_observation_nor_information_tells_the_grade():
    _, graded = gym.make(DRAW3, difficulty="hard").reset(seed=0)
    plain = gym.make(DRAW3, observation="dict")
    shown, known = plain.reset(options={"deal": graded["deal"]})
    hidden, told = gym.make(DRAW3, difficulty="hard", observation="dict").reset(seed=0)
    assert told.keys() == known.keys()
    np.testing.assert_equal(told, known)
    np.testing.assert_equal(hidden, shown)


@pytest.mark.usefixtures("with_labels")
def test_a_deal_that_is_named_may_be_of_any_grade():
    assert gym.make(DRAW3, difficulty="easy").reset(options={"deal": FIRST + 5})[1]["deal"] == FIRST + 5


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"winnable_only": 1}, "winnable_only is 1; allowed: True or False"),
        ({"difficulty": "fun"}, "difficulty is 'fun'; allowed: easy, medium, hard, unsolvable"),
        (
            {"difficulty": "unsolvable", "winnable_only": True},
            "difficulty is 'unsolvable', of which no deal is winnable; drop winnable_only",
        ),
    ],
)
def test_grades_that_are_none_are_refused_when_the_environment_is_made(keywords, message):
    for make in (gym.make, gym.make_vec):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            make(DRAW3, **keywords)


@pytest.mark.usefixtures("without_labels")
def test_a_set_without_such_a_deal_is_found_out():
    unsolvable = next(deal for deal in range(100) if solve(deal, "draw3").verdict == "unsolvable")
    env = gym.make(DRAW3, deals=[unsolvable], winnable_only=True)
    message = (
        "none of 10,000 deals drawn is winnable, as far as searches of 100,000 positions tell; "
        "name other deals, or leave out winnable_only and difficulty"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        env.reset(seed=0)


def test_labels_without_a_deal_of_the_grade_are_found_out(monkeypatch):
    kept = labels.Labels(PRESETS["draw3"], Limits(), FIRST, np.zeros(3, np.uint8), np.ones(3, np.uint32))
    monkeypatch.setattr(labels, "kept_labels", lambda: {kept.rules: kept})
    with pytest.raises(ValueError, match=r"^none of the 3 deals that were solved under these rules is unsolvable$"):
        gym.make(DRAW3, difficulty="unsolvable")


def test_a_source_is_shared_by_copies_of_its_environment():
    source = Settings(deals=list(range(1000))).deal_source(PRESETS["draw3"])
    assert copy.deepcopy(source) is source


@pytest.mark.parametrize("variant", DISTINCT_PRESETS)
def test_the_labels_that_come_with_the_package_have_deals_of_every_grade(variant):
    kept = labels.labels_of(PRESETS[variant])
    if kept is None:
        pytest.skip("no labels come with the package")
    sizes = [len(graded_source(None, grade, PRESETS[variant]).deals) for grade in ("easy", "medium", "hard")]
    assert min(sizes) > len(kept.deals) / 100
    assert sum(sizes) == len(graded_source(None, None, PRESETS[variant]).deals)
