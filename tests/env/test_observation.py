"""The observation: every field against a slow twin, and no leak of hidden cards."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import klondike_env
from klondike_env.cards import N_CARDS, SUIT_NAMES, UNSEEN, card_text, suit_of
from klondike_env.deals import decks_of
from klondike_env.engine.state import FOUNDATION, N_COLUMNS, TALON
from klondike_env.games import Games
from klondike_env.observation import (
    CARD_FIELDS,
    FORMS,
    HIGHS,
    N_CARD_FIELDS,
    N_CARD_VALUES,
    N_VALUES,
    TABLE_FIELDS,
    Observer,
    describe,
    table_start,
)
from klondike_env.rules import BUILDS, DISTINCT_PRESETS, GAPS, PRESETS, Rules

CUSTOM = Rules(build="any_suit", gaps="any", draw_count=5, redeals=2, runs="whole_or_last")
ALL_RULES = [*DISTINCT_PRESETS.values(), CUSTOM]


def expected_cards(view, rules):
    """The card fields of a view, in plain Python: a list of 52 dicts without zeros."""
    values = [{"unseen": 1} for _ in range(N_CARDS)]
    for card in range(N_CARDS):
        place = int(view["place"][card])
        if place == FOUNDATION:
            values[card] = {"foundation": 1}
        elif place < N_COLUMNS:
            values[card] = expected_column_card(view, card, place)
    for card, fields in expected_talon(view, rules).items():
        values[card] = fields
    return [{name: value for name, value in fields.items() if value} for fields in values]


def expected_column_card(view, card, column):
    height, face_down = int(view["height"][column]), int(view["face_down"][column])
    row = int(view["row"][card])
    fields = {"tableau": 1, "cards_above": height - 1 - row}
    if row == 0:
        fields["on_floor"] = 1
    elif row == face_down:
        fields["on_face_down"] = row
    else:
        below = int(view["columns"][column][row - 1])
        fields[f"on_{SUIT_NAMES[suit_of(below)]}"] = 1
        fields["under"] = below + 1
    return fields


def expected_talon(view, rules):
    size, waste, seen = (int(view[name]) for name in ("talon_size", "waste_size", "seen_size"))
    cards = [int(card) for card in view["talon"][:seen]]
    fields = {
        card: {
            "talon": 1,
            "talon_index": index + 1,
            "phase": 1 + index % rules.draw_count,
            "under": cards[index - 1] + 1 if index else 0,
            "waste_top": int(index == waste - 1),
        }
        for index, card in enumerate(cards)
    }
    draws, position = 0, waste
    if waste:
        fields[cards[waste - 1]]["before_redeal"] = 1
    while position < size and min(position + rules.draw_count, size) <= seen:
        position, draws = min(position + rules.draw_count, size), draws + 1
        fields[cards[position - 1]].update(before_redeal=1, draws=draws)
    redeal_left = rules.redeals is None or int(view["redeals_used"]) < rules.redeals
    if seen == size and waste and redeal_left:
        draws, position = draws + 1, 0
        while position < size:
            position, draws = min(position + rules.draw_count, size), draws + 1
            if "before_redeal" not in fields[cards[position - 1]]:
                fields[cards[position - 1]].update(after_redeal=1, draws=draws)
    return fields


def expected_table(view, rules):
    size, waste = int(view["talon_size"]), int(view["waste_size"])
    return {
        "stock": [size - waste],
        "waste": [waste],
        "unseen_stock": [size - int(view["seen_size"])],
        "redeals_left": [0 if rules.redeals is None else rules.redeals - int(view["redeals_used"])],
        "face_down": sorted(view["face_down"].tolist(), reverse=True),
        "empty_columns": [view["height"].tolist().count(0)],
        "foundations": view["foundation"].tolist(),
        "best_foundation": [int(view["best_foundation"])],
        "since_progress": [min(int(view["since_progress"]), 255)],
        "score": [0],
        "draw_count": [rules.draw_count],
        "unlimited_redeals": [int(rules.redeals is None)],
        "worry_back": [int(rules.worry_back)],
        "whole_runs": [int(rules.runs == "whole_or_last")],
        "build": [int(build == rules.build) for build in BUILDS],
        "gaps": [int(gaps == rules.gaps) for gaps in GAPS],
    }


def positions(rules, n_games, n_steps, seed, **options):
    """Games in play, yielded after every random step; games that end are dealt again."""
    games = Games(n_games, rules, **options)
    games.deal(np.arange(n_games) + 1000 * seed)
    generator = np.random.default_rng(seed)
    for _ in range(n_steps):
        yield games
        games.step(games.random_actions(generator))
        ended = np.flatnonzero(games.over)
        if len(ended):
            games.deal(generator.integers(0, 1000, len(ended)), ended)


@pytest.mark.parametrize("talon", ["draw", "reach"])
@pytest.mark.parametrize("rules", ALL_RULES, ids=[*DISTINCT_PRESETS, "custom"])
def test_every_field_equals_its_slow_twin(rules, talon):
    for games in positions(rules, 8, 120, seed=1, talon=talon):
        values = Observer("cards", games.setup).values(games.states)
        for i, view in enumerate(games.views().copy()):
            cards = values[i, :N_CARD_VALUES].reshape(N_CARDS, N_CARD_FIELDS)
            found = [
                {field.name: int(value) for field, value in zip(CARD_FIELDS, row, strict=True) if value}
                for row in cards
            ]
            assert found == expected_cards(view, rules)
            for field in TABLE_FIELDS:
                start = N_CARD_VALUES + table_start(field.name)
                assert values[i, start : start + field.size].tolist() == expected_table(view, rules)[field.name]


@pytest.mark.parametrize("rules", ALL_RULES, ids=[*DISTINCT_PRESETS, "custom"])
def test_values_stay_in_their_ranges_and_the_flat_form_is_the_values_divided_by_them(rules):
    for games in positions(rules, 32, 100, seed=2, stall_limit=None):
        observer = Observer("flat", games.setup)
        values, flat = observer.values(games.states), observer.flat(games.states)
        assert (values <= HIGHS).all()
        np.testing.assert_allclose(flat, values / HIGHS, rtol=1e-6)
        assert flat.dtype == np.float32
        assert observer.space.contains(flat[0])


@pytest.mark.parametrize("form", FORMS)
def test_observations_lie_in_their_space_until_the_end(form):
    env = gym.make("Klondike/Draw3-v0", observation=form, stall_limit=300)
    observation, info = env.reset(seed=1)
    over = False
    while not over:
        assert env.observation_space.contains(observation)
        observation, _, terminated, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        over = terminated or truncated
    assert env.observation_space.contains(observation)


def test_forms_hold_the_same_values():
    parts = {form: gym.make("Klondike/Draw3-v0", observation=form).reset(seed=4) for form in FORMS}
    cards = parts["cards"][0]
    values = np.concatenate([cards["cards"].ravel(), cards["table"]])
    assert len(values) == N_VALUES
    np.testing.assert_allclose(parts["flat"][0], values / HIGHS, rtol=1e-6)
    np.testing.assert_array_equal(parts["dict"][0]["cards"], cards["cards"])
    np.testing.assert_array_equal(parts["dict"][0]["action_mask"], parts["dict"][1]["action_mask"])


def test_the_score_is_shown_where_the_reward_depends_on_it():
    k = N_CARD_VALUES + table_start("score")
    for reward, shown in (("standard", 3), ("win", 0), ("vegas", 0)):
        games = Games(1, PRESETS["draw1"], reward=reward)
        games.deal([0])
        games.states["score"] = 15
        assert Observer("flat", games.setup).values(games.states)[0, k] == shown


def record_play(games, deck, actions_of):
    """What a player meets in one game: observation, mask, reward, outcome, moves, step for step."""
    games.deal_decks([deck])
    observer = Observer("flat", games.setup)
    seen = []
    for step in range(60):
        seen.append(
            (
                observer.values(games.states)[0].tobytes(),
                games.masks[0].tobytes(),
                float(games.rewards[0]),
                games.views()[0].tobytes(),
            )
        )
        if games.over[0]:
            break
        games.step(np.array([actions_of(games, step)]))
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("reward", ["progress", "standard"])
@pytest.mark.parametrize("options", [{}, {"talon": "reach", "no_repeats": True, "auto_finish": True}])
@pytest.mark.parametrize("rules", ALL_RULES, ids=[*DISTINCT_PRESETS, "custom"])
def test_permuting_unseen_cards_changes_nothing_a_player_meets(rules, options, reward):
    generator = np.random.default_rng(3)
    games, other = Games(1, rules, reward=reward, **options), Games(1, rules, reward=reward, **options)
    permuted = 0
    for deck in decks_of(np.arange(25)):
        actions = []

        def act(games, step, actions=actions):
            actions.append(int(games.random_actions(generator)[0]))
            return actions[step]

        met = record_play(games, deck, act)
        unseen = np.isin(deck, np.setdiff1d(deck, seen_cards(games.views()[0])))
        twin = deck.copy()
        twin[unseen] = generator.permutation(deck[unseen])
        permuted += np.count_nonzero(twin != deck)
        assert record_play(other, twin, lambda _, step, actions=actions: actions[step]) == met
    assert permuted > 100


def seen_cards(view):
    return np.flatnonzero(view["place"] <= TALON)


def test_views_and_observations_hide_what_the_state_knows():
    games = Games(1, PRESETS["draw1"])
    games.deal([7])
    view = games.views()[0]
    assert (view["place"] > TALON).sum() == 21 + 24
    assert (view["talon"] == UNSEEN).all()
    assert (view["columns"][6][:6] == UNSEEN).all()
    assert Observer("flat", games.setup).values(games.states)[0].reshape(-1)[:N_CARD_VALUES:N_CARD_FIELDS].sum() == 45


def test_thoughtful_shows_every_card_and_changes_no_mask():
    plain, open_cards = (gym.make("Klondike/Draw3-v0", observation="dict", thoughtful=t) for t in (False, True))
    (hidden, info), (shown, open_info) = plain.reset(seed=9), open_cards.reset(seed=9)
    names = [field.name for field in CARD_FIELDS]
    for _ in range(200):
        np.testing.assert_array_equal(info["action_mask"], open_info["action_mask"])
        assert shown["cards"][:, names.index("unseen")].sum() == 0
        known = hidden["cards"][:, names.index("unseen")] == 0
        for name in ("tableau", "foundation", "cards_above", "draws", "before_redeal", "after_redeal", "phase"):
            k = names.index(name)
            np.testing.assert_array_equal(hidden["cards"][known, k], shown["cards"][known, k])
        action = int(np.flatnonzero(info["action_mask"])[0])
        hidden, _, over, _, info = plain.step(action)
        shown, _, _, _, open_info = open_cards.step(action)
        if over:
            break


def test_thoughtful_tells_the_order_of_face_down_cards():
    env = gym.make("Klondike/Draw1-v0", observation="cards", thoughtful=True)
    observation, _ = env.reset(options={"deal": 3})
    names = [field.name for field in CARD_FIELDS]
    state = env.unwrapped.games.states[0]
    for column in range(N_COLUMNS):
        for row in range(1, column + 1):
            card, below = int(state["columns"][column][row]), int(state["columns"][column][row - 1])
            assert observation["cards"][card, names.index("under")] == below + 1
            assert observation["cards"][card, names.index("on_face_down")] == row


def test_the_default_observation_is_flat_and_documented():
    space = gym.make(klondike_env.GYM_IDS["draw1"]).observation_space
    assert space.shape == (N_VALUES,)
    assert len({field.name for field in CARD_FIELDS}) == len(CARD_FIELDS)
    assert all(field.meaning for field in (*CARD_FIELDS, *TABLE_FIELDS))


def afresh(observer, games):
    return observer.flat(games.states) if observer.form == "flat" else observer.values(games.states)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "thoughtful"), [("flat", False), ("cards", True)])
@pytest.mark.parametrize("options", [{}, {"talon": "reach", "no_repeats": True, "auto_finish": True}])
@pytest.mark.parametrize("rules", ALL_RULES, ids=[*DISTINCT_PRESETS, "custom"])
def test_following_games_gives_the_same_as_observing_them_afresh(rules, options, form, thoughtful):
    observer = None
    for step, games in enumerate(positions(rules, 32, 400, seed=4, stall_limit=40, reward="standard", **options)):
        observer = observer or Observer(form, games.setup, thoughtful=thoughtful)
        if step % 7 != 3:  # a follower may miss steps
            np.testing.assert_array_equal(observer.follow(games), afresh(observer, games))


CHANGES = {
    "a deal": lambda games, other: games.deal([7, 8], [0, 2]),
    "a deal after another": lambda games, other: (games.deal([7, 8], [0, 2]), games.deal([9, 10], [0, 2])),
    "a record": lambda games, other: games.resume(other.states[1], [0, 2]),
    "a saved game": lambda games, other: games.set_state(other.get_state(1), 2),
    "copies of other games": lambda games, other: games.copy_rows([1, 0], [0, 2], other),
    "copies of its own games": lambda games, other: games.copy_rows([1, 1], [0, 2]),
    "a shuffle of unseen cards": lambda games, other: games.shuffle_unseen(5),
    "a forfeit": lambda games, other: games.forfeit(np.array([1])),
    "nothing": lambda games, other: None,
}


@pytest.mark.parametrize("thoughtful", [False, True])
@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_follower_notices(change, stepped, thoughtful):
    generator = np.random.default_rng(1)
    games, other = (Games(3, PRESETS["draw3"]) for _ in range(2))
    observer = Observer("flat", games.setup, thoughtful=thoughtful)
    for batch, deals in ((games, [1, 2, 3]), (other, [4, 5, 6])):
        batch.deal(deals)
        for _ in range(30):
            batch.step(batch.random_actions(generator))
            observer.follow(batch)
    observer.follow(games)
    change(games, other)
    if stepped:
        games.step(games.random_actions(generator))
    np.testing.assert_array_equal(observer.follow(games), observer.flat(games.states))


def test_every_value_is_described_by_its_card_and_field() -> None:
    for card in range(N_CARDS):
        for k, field in enumerate(CARD_FIELDS):
            index = card * N_CARD_FIELDS + k
            said = f"{index}: {card_text(card)} {field.name}, 0 to {HIGHS[index]}: {field.meaning}"
            assert describe(index) == said
    for field in TABLE_FIELDS:
        for k in range(field.size):
            index = N_CARD_VALUES + table_start(field.name) + k
            name = field.name if field.size == 1 else f"{field.name}[{field.parts[k] if field.parts else k}]"
            assert describe(index) == f"{index}: table {name}, 0 to {HIGHS[index]}: {field.meaning}"


@pytest.mark.parametrize(
    ("index", "description"),
    [
        (10, "10: AC on_floor, 0 to 1: in a column with no card under it"),
        (988, "988: table stock, 0 to 24: cards in the stock"),
        (1000, "1000: table foundations[clubs], 0 to 13: cards on the foundations of clubs, diamonds, hearts, spades"),
        (1018, "1018: table gaps[none], 0 to 1: rule: one-hot of what an empty column takes: kings, any, none"),
    ],
)
def test_values_are_described_at_their_indices(index: int, description: str) -> None:
    assert describe(index) == description


@pytest.mark.parametrize("index", [-1, 1019, 1.5])
def test_there_is_no_description_of_what_is_no_value(index: Any) -> None:
    with pytest.raises(ValueError, match=r"^index is .*; allowed: a whole number from 0 to 1018$"):
        describe(index)
