"""Sets of deals that `reset()` draws from, and decks as text in its options."""

from __future__ import annotations

import copy
import json
import pickle
import re

import gymnasium as gym
import numpy as np
import pytest

from klondike_env.deal_sets import draw_deal, read_deal_set
from klondike_env.deals import TRAINING_DEALS, deck_of, format_deck, parse

N = 5


def drawn(env, times, seed=0):
    """The deal numbers of some resets."""
    _, info = env.reset(seed=seed)
    return [info["deal"], *(env.reset()[1]["deal"] for _ in range(times - 1))]


@pytest.fixture
def deal_file(tmp_path):
    path = tmp_path / "hard.txt"
    path.write_text("# deals that are hard\n17\n\n  4 # the hardest\n2000000\n")
    return str(path)


def test_a_list_a_range_and_a_file_name_deals(deal_file):
    assert read_deal_set(None) == TRAINING_DEALS
    assert list(read_deal_set([17, 4, 17])) == [17, 4, 17]
    assert list(read_deal_set(np.array([17, 4]))) == [17, 4]
    assert read_deal_set("2000000-2009999") == range(2_000_000, 2_010_000)
    assert read_deal_set(" 5 - 5 ") == range(5, 6)
    assert read_deal_set(TRAINING_DEALS) == TRAINING_DEALS
    assert list(read_deal_set(deal_file)) == [17, 4, 2_000_000]


def test_reset_draws_from_the_set_and_every_deal_comes():
    env = gym.make("Klondike/Draw1-v0", deals=[3, 14, 15])
    deals = drawn(env, 200)
    assert set(deals) == {3, 14, 15}
    assert min(deals.count(deal) for deal in (3, 14, 15)) > 40
    assert drawn(env, 200) == deals
    assert drawn(env, 200, seed=1) != deals


def test_a_file_is_read_once_and_its_deals_are_dealt(deal_file, tmp_path):
    env = gym.make("Klondike/Draw1-v0", deals=deal_file)
    (tmp_path / "hard.txt").unlink()
    assert set(drawn(env, 50)) == {17, 4, 2_000_000}
    observation, info = env.reset()
    expected, _ = env.reset(options={"deal": info["deal"]})
    np.testing.assert_array_equal(observation, expected)


def test_without_a_set_seeds_deal_what_they_dealt_before():
    generator = np.random.default_rng(3)
    expected = [int(generator.integers(TRAINING_DEALS.start, TRAINING_DEALS.stop)) for _ in range(4)]
    assert [
        draw_deal(generator, TRAINING_DEALS) for generator in [np.random.default_rng(3)] for _ in range(4)
    ] == expected


def test_a_deal_that_is_named_need_not_be_in_the_set():
    env = gym.make("Klondike/Draw1-v0", deals=[3])
    assert env.reset(options={"deal": 4})[1]["deal"] == 4
    assert env.reset()[1]["deal"] == 3


def test_every_game_of_a_batch_draws_as_it_would_alone():
    batch = gym.make_vec("Klondike/Draw1-v0", num_envs=N, deals="40-60", step_limit=1)
    together = [batch.reset(seed=9)[1]["deal"].tolist()]
    for _ in range(4):  # each odd step ends all games, each even one deals anew
        batch.step(np.full(N, 312))
        together.append(batch.step(np.full(N, 312))[-1]["deal"].tolist())
    alone = [drawn(gym.make("Klondike/Draw1-v0", deals="40-60"), 5, seed=9 + game) for game in range(N)]
    assert together == np.transpose(alone).tolist()
    assert all(40 <= deal <= 60 for deals in together for deal in deals)


@pytest.mark.parametrize("deals", [[3, 14, 15], "40-60"])
def test_specs_pickles_and_copies_keep_the_set(deals):
    env = gym.make("Klondike/Draw1-v0", deals=deals)
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert json.loads(env.spec.to_json())["kwargs"]["deals"] == deals
    for twin in (again, pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        assert drawn(twin, 20) == drawn(env, 20)


@pytest.mark.parametrize(
    ("deals", "message"),
    [
        ([], "deals: there is no deal number; give at least one"),
        ([1, -1], f"deal is -1; allowed: a whole number from 0 to {2**53 - 1}"),
        ([1.5], f"deal is 1.5; allowed: a whole number from 0 to {2**53 - 1}"),
        (7, "deals is 7; allowed: a list of deal numbers, a range as text, or a file's path"),
        (range(0, 2**53 + 1), f"deal is {2**53}; allowed: a whole number from 0 to {2**53 - 1}"),
        ("9-3", f"deals are '9-3'; allowed: two numbers from 0 to {2**53 - 1} in order"),
        (f"0-{2**53}", f"deals are '0-{2**53}'; allowed: two numbers from 0 to {2**53 - 1} in order"),
        (
            "no.txt",
            (
                "deals are 'no.txt', and that file cannot be read (No such file or directory); "
                "name a text file with one deal number a line, or a range such as '2000000-2009999'"
            ),
        ),
    ],
)
def test_a_set_that_is_none_is_refused_when_the_environment_is_made(deals, message):
    for make in (gym.make, gym.make_vec):
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            make("Klondike/Draw1-v0", deals=deals)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": there is no deal number; give at least one"),
        (b"# none\n\n", ": there is no deal number; give at least one"),
        (b"1\n# two\n12x\n", f", line 3: '12x' is not a deal number; allowed: 0 to {2**53 - 1}"),
        (b"1\n-2\n", f", line 2: '-2' is not a deal number; allowed: 0 to {2**53 - 1}"),
        (b"1 2\n", f", line 1: '1 2' is not a deal number; allowed: 0 to {2**53 - 1}"),
        (b"9007199254740992\n", f", line 1: '{2**53}' is not a deal number; allowed: 0 to {2**53 - 1}"),
        (b"9" * 5000, f"' is not a deal number; allowed: 0 to {2**53 - 1}"),
        (b"\xff\xfe", "(it is not text)"),
    ],
)
def test_a_file_that_is_no_list_of_deals_is_refused_with_the_line(content, message, tmp_path):
    path = tmp_path / "deals.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        read_deal_set(str(path))
    assert str(path) in str(error.value)


def test_a_deck_may_be_text_of_any_format():
    env = gym.make("Klondike/Draw3-v0", observation="cards", thoughtful=True)
    expected, _ = env.reset(options={"deal": 5})
    deck = deck_of(5)
    texts = [format_deck(deck, format) for format in ("rows", "solvitaire", "shootme")]
    for option in (deck.tolist(), *texts, {"text": format_deck(deck, "columns"), "format": "columns"}):
        observation, info = env.reset(options={"deck": option})
        assert info["deal"] == -1
        for name, part in expected.items():
            np.testing.assert_array_equal(observation[name], part)


def test_a_batch_takes_one_deck_or_one_for_each_game():
    batch = gym.make_vec("Klondike/Draw1-v0", num_envs=3)
    single = gym.make("Klondike/Draw1-v0")
    decks = [deck_of(deal) for deal in range(3)]
    expected = np.stack([single.reset(options={"deal": deal})[0] for deal in range(3)])
    mixed = [format_deck(decks[0]), {"text": format_deck(decks[1], "columns"), "format": "columns"}, decks[2]]
    for option in (decks, np.stack(decks), mixed):
        np.testing.assert_array_equal(batch.reset(options={"deck": option})[0], expected)
    for option in (decks[1], decks[1].tolist(), *mixed[1:2], format_deck(decks[1], "shootme")):
        np.testing.assert_array_equal(batch.reset(options={"deck": option})[0], np.stack([expected[1]] * 3))


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        ("AS 2S", "cannot tell the format of 'AS 2S'"),
        ({"text": "AS 2S", "format": "rows"}, "2 cards; AC, 2C, 3C, 4C, 5C, ... are missing"),
        ({"deck": "AS 2S"}, "the deck has the keys ['deck']; allowed: 'text', and 'format' where it is not plain"),
        ([], "a deck has 52 cards; this one has shape (0,)"),
        ([1, 2], "a deck has 52 cards; this one has shape (2,)"),
    ],
)
def test_a_deck_that_is_none_is_refused(deck, message):
    for make in (gym.make, gym.make_vec):
        with pytest.raises(ValueError, match=re.escape(message)):
            make("Klondike/Draw1-v0").reset(options={"deck": deck})


def test_a_batch_refuses_more_or_fewer_decks_than_games():
    with pytest.raises(ValueError, match=r"^reset option 'deck' has length 2; allowed: one for all, or 3$"):
        gym.make_vec("Klondike/Draw1-v0", num_envs=3).reset(options={"deck": [format_deck(deck_of(0))] * 2})


def test_the_text_of_a_deck_is_parsed_as_the_function_does():
    env = gym.make("Klondike/Draw1-v0")
    env.reset(options={"deck": format_deck(deck_of(8))})
    assert env.unwrapped.games.states[0]["talon"].tolist() == parse(format_deck(deck_of(8)))[28:].tolist()
