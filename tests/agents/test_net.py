"""The agent `net`: inputs of its network, the network, and its files."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from klondike_env.agents import load
from klondike_env.agents.lists.list_player import GAME, LAYOUT
from klondike_env.agents.match import play_games
from klondike_env.agents.tuned import inputs as numbers
from klondike_env.agents.tuned.agent import Scoring, find_moves
from klondike_env.agents.tuned.features import recall
from klondike_env.agents.tuned.inputs import N_ACTIVE, N_INPUTS, Inputs, begin_inputs, list_inputs
from klondike_env.agents.tuned.net import PRETRAINED, NetAgent, load_network, pack_network, pretrained_for
from klondike_env.agents.tuned.network import SCORE_UNIT, Weights
from klondike_env.agents.tuned.scores import (
    DRAW,
    RUN,
    TALON_TO_COLUMN,
    TALON_TO_FOUNDATION,
)
from klondike_env.agents.tuned.weights import weights_for
from klondike_env.cards import N_CARDS, N_RANKS, parse_card
from klondike_env.engine.state import FOUNDATION
from klondike_env.games import Games
from klondike_env.rules import DISTINCT_PRESETS, PRESETS, Rules
from tests.agents.test_all_agents import random_rules
from tests.agents.test_features import Table, scene_of
from tests.agents.test_tuned import play_out_all
from tests.boards import board


def random_weights(seed: int, first: int = 8, second: int = 8) -> Weights:
    rng, blank = np.random.default_rng(seed), Weights.zeros(N_INPUTS, first, second)
    return Weights(*(rng.normal(0, 0.2, array.shape).astype(np.float32) for array in blank))


class Reader:
    """The moves of a position and their active inputs."""

    def __init__(self, records: np.ndarray, rules: Rules) -> None:
        table = Table(records, rules)
        self.scene, self.known, self.inputs = table.scene, recall(table.scene), Inputs.of(rules)
        begin_inputs(self.scene, self.known, self.inputs)
        self.moves = [(kind, what) for _, kind, what in table.moves(weights_for(rules)).tolist()]

    def active(self, kind: int, what: int) -> list[int]:
        """The active inputs of a move."""
        list_inputs(self.scene, self.known, kind, what, self.inputs)
        return [int(number) for number in self.inputs.active]


def place_of(reader: Reader, card: str) -> int:
    """Where the inputs of the last move say that a card is."""
    return int(reader.inputs.places[parse_card(card)])


def test_every_input_is_in_range_and_most_are_active_in_some_position() -> None:
    chance, generator, seen = random.Random(6), np.random.default_rng(6), np.zeros(N_INPUTS, dtype=bool)
    for _ in range(40):
        rules = random_rules(chance)
        games = Games(8, rules)
        games.deal(np.arange(8))
        for _ in range(60):
            games.step(games.random_actions(generator))
            k = chance.randrange(8)
            reader = Reader(games.views()[k : k + 1], rules)
            for move in reader.moves:
                active = reader.active(*move)
                assert len(active) == N_ACTIVE
                assert min(active) >= 0
                assert max(active) < N_INPUTS
                seen[active] = True
    assert seen.mean() > 0.5


def relabelled(deck: np.ndarray, suits: list[int]) -> np.ndarray:
    """The deck with its suits renamed."""
    return np.array(suits)[deck // N_RANKS] * N_RANKS + deck % N_RANKS


@pytest.mark.parametrize(
    ("variant", "suits"),
    [("draw1", [3, 2, 1, 0]), ("draw3", [1, 0, 3, 2]), ("classic", [0, 2, 1, 3]), ("thumb_and_pouch", [2, 0, 3, 1])],
)
def test_suits_have_no_names(variant: str, suits: list[int]) -> None:
    """Games that differ in the names of suits alone have the same inputs, move by move."""
    rules, chance, count = PRESETS[variant], random.Random(3), 0
    for deal in range(6):
        cards = np.random.default_rng(deal).permutation(N_CARDS)
        games, others = Games(1, rules), Games(1, rules)
        games.deal_decks([cards])
        others.deal_decks([relabelled(cards, suits)])
        for _ in range(80):
            reader, other = Reader(games.views(), rules), Reader(others.views(), rules)
            assert sorted(sorted(reader.active(*move)) for move in reader.moves) == sorted(
                sorted(other.active(*move)) for move in other.moves
            )
            count += len(reader.moves)
            action = chance.choice(np.flatnonzero(games.masks[0]).tolist())
            games.step(np.array([action]))
            others.step(np.array([renamed_action(action, suits)]))
            if games.over[0]:
                break
    assert count > 200


def renamed_action(action: int, suits: list[int]) -> int:
    """The action with the suits of its cards renamed."""
    card, destination = divmod(action, 6)
    if card == N_CARDS:
        return action
    if 1 <= destination <= 4:
        destination = 1 + suits[destination - 1]
    return (suits[card // N_RANKS] * N_RANKS + card % N_RANKS) * 6 + destination


def test_where_cards_are_before_a_run_moves() -> None:
    position = board("2C 3C | 7H 6S", "9D | 8S", "KS", "KH", "KD", "KC", "", foundations="3H", waste="7D 9C")
    reader = Reader(np.array([position[()]]), PRESETS["draw1"])
    reader.active(RUN, 0)
    places = {"AH": numbers.HOME, "7H": numbers.MOVING, "6S": numbers.MOVING, "8S": numbers.HIDING_TOP}
    places |= {"KS": numbers.TOP, "7D": numbers.IN_REACH, "9C": numbers.IN_REACH, "2C": numbers.UNSEEN}
    assert {card: place_of(reader, card) for card in places} == places
    reader.active(TALON_TO_COLUMN, parse_card("7D"))
    places = {"7D": numbers.MOVING, "7H": numbers.HIDING_COVERED, "6S": numbers.TOP, "3H": numbers.HOME}
    assert {card: place_of(reader, card) for card in places} == places


def test_which_talon_cards_are_in_reach_before_and_after() -> None:
    # AS, QC and 2D come up, the third, the sixth and the last. Without AS, 3C is the waste's top, QC and 2D come up as
    # before, and after a redeal 5S and 9H do.
    position = board("KS", waste="2S 3C AS", stock="5S 6D QC 9H 2D")
    reader = Reader(np.array([position[()]]), PRESETS["draw3"])
    reader.active(TALON_TO_FOUNDATION, parse_card("AS"))
    places = {"AS": numbers.MOVING, "3C": numbers.IN_REACH_AFTER, "2S": numbers.OUT_OF_REACH}
    places |= {"QC": numbers.IN_REACH, "2D": numbers.IN_REACH, "9H": numbers.IN_REACH_AFTER, "6D": numbers.OUT_OF_REACH}
    assert {card: place_of(reader, card) for card in places} == places


def test_the_waste_where_redeals_are_limited() -> None:
    position = board("4C", "3S", waste="2S 3C 8D", stock="5S 6D")
    reader = Reader(np.array([position[()]]), PRESETS["classic"])
    reader.active(DRAW, N_CARDS)
    places = {"8D": numbers.IN_REACH, "3C": numbers.NEXT, "2S": numbers.OUT_OF_REACH, "5S": numbers.UNSEEN}
    assert {card: place_of(reader, card) for card in places} == places


def test_cards_are_where_the_state_says() -> None:
    """Foundations, columns and hidden cards, compared with the record."""
    chance, generator, count = random.Random(8), np.random.default_rng(8), 0
    for _ in range(30):
        rules = random_rules(chance)
        games = Games(4, rules)
        games.deal(np.arange(4))
        for _ in range(40):
            games.step(games.random_actions(generator))
            record = games.views()[:1]
            reader = Reader(record, rules)
            for kind, what in reader.moves[:3]:
                reader.active(kind, what)
                for card in range(N_CARDS):
                    place, where = reader.inputs.places[card], record[0]["place"][card]
                    if place == numbers.MOVING:
                        continue
                    in_column = where < 7
                    assert (place == numbers.HOME) == (where == FOUNDATION)
                    is_top = in_column and record[0]["height"][where] == record[0]["row"][card] + 1
                    assert (place in (numbers.TOP, numbers.HIDING_TOP)) == is_top
                    assert (place in (numbers.COVERED, numbers.HIDING_COVERED)) == (in_column and not is_top)
                count += 1
    assert count > 500


def output_in_numpy(weights: Weights, active: list[int]) -> float:
    first = np.maximum(weights.first_bias + weights.rows[active].sum(axis=0), 0)
    second = np.maximum(weights.second_bias + first @ weights.second, 0)
    return float(second @ weights.last)


def scores_by(weights: Weights, record: np.ndarray, rules: Rules) -> dict[tuple[int, int], int]:
    """The moves of a position that are close, and their scores."""
    scene, scoring = scene_of(record, rules), Scoring.by_network(weights, rules)
    n = find_moves(scene.games, 0, scene.layouts, rules.params(), scoring)
    return {(kind, what): score for score, kind, what in scoring.sheet.moves[:n].tolist()}


@pytest.mark.parametrize(("first", "second"), [(8, 8), (7, 5)])
def test_a_move_gets_the_networks_output(first: int, second: int) -> None:
    weights, rules, count = random_weights(1, first, second), PRESETS["draw3"], 0
    games, generator = Games(20, rules), np.random.default_rng(3)
    games.deal(np.arange(20))
    for _ in range(25):
        games.step(games.random_actions(generator))
        for k in range(20):
            record = games.views()[k : k + 1]
            reader, scores = Reader(record, rules), scores_by(weights, record, rules)
            plain = scores_by(Weights.zeros(N_INPUTS, 8, 8), record, rules)
            for move, score in scores.items():
                expected = SCORE_UNIT * output_in_numpy(weights, reader.active(*move)) if len(scores) > 1 else 0
                assert score - plain[move] == pytest.approx(expected, abs=0.6)
            count += len(scores) > 1
    assert count > 50


@pytest.mark.parametrize("variant", DISTINCT_PRESETS)
def test_a_playout_is_the_game_that_the_agent_plays(variant: str, tmp_path: Path) -> None:
    rules, n = PRESETS[variant], 300
    file = tmp_path / "net.safetensors"
    file.write_bytes(pack_network(random_weights(2)))
    played = play_games(load(f"net:{file}"), rules, np.arange(n))
    games = Games(n, rules)
    games.deal(np.arange(n))
    won, scratch = np.zeros(n, dtype=bool), (np.zeros(1, dtype=GAME), np.zeros(1, dtype=LAYOUT))
    play_out_all(games.states, rules.params(), Scoring.by_network(load_network(file), rules), *scratch, won)
    assert np.array_equal(won, played.won)


@pytest.mark.slow
@pytest.mark.parametrize("variant", [variant for variant in DISTINCT_PRESETS if variant != "thumb_and_pouch"])
def test_a_variant_has_a_network_of_its_own_that_beats_tuned(variant: str) -> None:
    rules, deals = PRESETS[variant], np.arange(4000)
    assert file_for(rules).name == f"{variant}.safetensors"
    net, tuned = (play_games(load(name), rules, deals).won for name in ("net", "tuned"))
    assert np.count_nonzero(net & ~tuned) > np.count_nonzero(tuned & ~net)


def test_without_a_network_it_plays_as_tuned() -> None:
    rules, deals = PRESETS["thumb_and_pouch"], np.arange(200)
    assert pretrained_for(rules) is None
    net, tuned = (play_games(load(name), rules, deals) for name in ("net", "tuned"))
    assert np.array_equal(net.moves, tuned.moves)
    assert np.array_equal(net.outcome, tuned.outcome)


def file_for(rules: Rules) -> Path:
    """The file of the network for a game that has one."""
    file = pretrained_for(rules)
    assert file is not None
    return file


def test_other_rules_use_the_network_of_the_variant_most_like_them() -> None:
    assert file_for(Rules(draw_count=2)).name == "draw3.safetensors"
    assert file_for(Rules(redeals=2)).name == "classic.safetensors"
    assert file_for(PRESETS["deal1"]).name == "draw1.safetensors"
    assert pretrained_for(Rules(redeals=2, gaps="any")) is None


def test_a_network_is_small() -> None:
    files = list(PRETRAINED.glob("*.safetensors"))
    assert len(files) == 4
    assert all(file.stat().st_size < 5e6 for file in files)


def test_a_network_survives_its_file(tmp_path: Path) -> None:
    file, weights = tmp_path / "net.safetensors", random_weights(3)
    file.write_bytes(pack_network(weights, variant="draw1"))
    assert all(np.array_equal(*pair) for pair in zip(load_network(file), weights, strict=True))


def test_a_file_that_was_replaced_is_read_again(tmp_path: Path) -> None:
    file, rules, deals = tmp_path / "net.safetensors", PRESETS["draw1"], np.arange(50)
    moves = []
    for seed in (1, 2, 1):
        file.write_bytes(pack_network(random_weights(seed)))
        moves.append(play_games(load(f"net:{file}"), rules, deals).moves)
    assert not np.array_equal(moves[0], moves[1])
    assert np.array_equal(moves[0], moves[2])


@pytest.mark.parametrize("name", ["net", "bandit:samples=2,base=net"])
def test_plays_in_a_planner_and_alone(name: str) -> None:
    assert play_games(load(name), PRESETS["draw1"], np.arange(20)).won.sum() > 5


def test_what_is_no_network(tmp_path: Path) -> None:
    file = tmp_path / "net.safetensors"
    file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is no safetensors file"):
        NetAgent(file)
    other = tmp_path / "other.safetensors"
    save_file({"rows": np.zeros(3, dtype=np.float32)}, other)
    with pytest.raises(ValueError, match="has format None; this version reads 'klondike_env move network 1'"):
        NetAgent(other)
    wrong = tmp_path / "wrong.safetensors"
    wrong.write_bytes(pack_network(random_weights(1)._replace(rows=np.zeros((5, 8), dtype=np.float32))))
    with pytest.raises(ValueError, match=r"rows is float32\(5, 8\); needed: float32"):
        NetAgent(wrong)
    with pytest.raises(ValueError, match=r"agent 'net:gone.safetensors': there is no file 'gone.safetensors'"):
        load("net:gone.safetensors")
