"""Pictures of boards: what they show, what they hide, and that they are right for video."""

import numpy as np
import pytest

from klondike_env.cards import N_CARDS, UNSEEN, parse_card
from klondike_env.engine.state import LOST, MAX_HEIGHT, OUTCOME_NAMES, PLAYING, WON
from klondike_env.games import Games
from klondike_env.render.image import (
    _CHIPS,
    _FLOOR,
    _STOCK_LINE,
    _TABLEAU,
    _TOP,
    HEIGHT,
    WIDTH,
    _left,
    _tops,
    draw_picture,
)
from klondike_env.render.pieces import CARD_HEIGHT, CARD_WIDTH, CHIP_HEIGHT, card_back, card_face, card_place, chip
from klondike_env.rules import Rules, preset
from tests.boards import board

RULES = Rules()


def differs(left, right, rules=RULES):
    """Where the pictures of two records differ: the least box of pixels (left, top, right, bottom), or None."""
    rows, columns = np.nonzero((draw_picture(left, rules) != draw_picture(right, rules)).any(axis=2))
    return (columns.min(), rows.min(), columns.max(), rows.max()) if len(rows) else None


def holds(record, left, top, piece, rules=RULES):
    """Whether a piece lies at a place of the picture, whole and in its own colours."""
    face = np.asarray(piece)
    opaque = face[..., 3] == 255
    part = draw_picture(record, rules)[top : top + face.shape[0], left : left + face.shape[1]]
    return bool((part[opaque] == face[opaque][:, :3]).all())


def test_a_picture_is_a_fresh_array_that_video_codecs_take():
    record = board("KH QC", stock="AS")
    picture, again = draw_picture(record, RULES), draw_picture(record, RULES)
    assert picture.shape == (HEIGHT, WIDTH, 3)
    assert picture.dtype == np.uint8
    assert HEIGHT % 2 == WIDTH % 2 == 0
    np.testing.assert_array_equal(picture, again)
    picture[:] = 0
    np.testing.assert_array_equal(draw_picture(record, RULES), again)


def test_all_cards_look_different_open_and_lying_face_down():
    pieces = [card_face(card, face_down).tobytes() for card in range(N_CARDS) for face_down in (False, True)]
    pieces += [card_back().tobytes(), card_place().tobytes(), card_place("ring").tobytes()]
    pieces += [card_place("cross").tobytes(), *(card_place(suit=suit).tobytes() for suit in range(4))]
    assert len(set(pieces)) == len(pieces)
    chips = [chip(card, face_down).tobytes() for card in range(N_CARDS) for face_down in (False, True)]
    assert len({*chips, chip(None).tobytes()}) == len(chips) + 1


@pytest.mark.parametrize("card", [0, 9, 24, 51])
def test_the_last_card_of_a_column_the_waste_and_the_foundations_show_their_faces(card):
    record = board()
    record["columns"][3, 0], record["height"][3] = card, 1
    assert holds(record, _left(3), _TABLEAU, card_face(card))
    assert not holds(board(), _left(3), _TABLEAU, card_face(card))
    waste = board()
    waste["talon"][0], waste["talon_size"], waste["waste_size"], waste["seen_size"] = card, 1, 1, 1
    assert holds(waste, _left(1), _TOP, card_face(card))
    suit, rank = divmod(card, 13)
    foundation = board()
    foundation["foundation"][suit] = rank + 1
    assert holds(foundation, _left(3 + suit), _TOP, card_face(card))


def test_the_picture_of_a_view_does_not_depend_on_hidden_cards():
    rules = preset("draw3")
    games = Games(2, rules)
    games.deal([0, 1])
    hidden = np.flatnonzero(games.views()["place"][0] == 9)
    swapped = games.states[0].copy()
    swap = dict(zip(hidden.tolist(), np.roll(hidden, 1).tolist(), strict=True))
    for field in ("columns", "talon"):
        swapped[field] = np.vectorize(lambda card: swap.get(card, card))(swapped[field])
    games.states[1] = swapped
    assert (games.states["talon"][0] != games.states["talon"][1]).any()
    one, two = (draw_picture(view, rules) for view in games.views())
    np.testing.assert_array_equal(one, two)
    assert (draw_picture(games.states[0], rules) != draw_picture(games.states[1], rules)).any()


def test_a_state_shows_its_hidden_cards_marked_as_face_down():
    record = board("7D | 2C", stock="AS")
    view = record.copy()
    view["columns"][0, 0] = view["talon"][0] = UNSEEN
    edge = (0, 0, CARD_WIDTH, 20)  # what the card above leaves free
    assert holds(record, _left(0), _TABLEAU, card_face(parse_card("7D"), face_down=True).crop(edge))
    assert holds(view, _left(0), _TABLEAU, card_back().crop((0, 0, CARD_WIDTH, 8)))
    assert holds(record, _CHIPS, _STOCK_LINE - CHIP_HEIGHT // 2, chip(parse_card("AS"), face_down=True))
    assert holds(view, _CHIPS, _STOCK_LINE - CHIP_HEIGHT // 2, chip(None))


@pytest.mark.parametrize("face_down", range(7))
def test_the_longest_columns_stay_above_the_bar_and_show_every_card(face_down):
    cards = [UNSEEN] * face_down + list(range(12, -1, -1))
    for column in (cards, [0] * (MAX_HEIGHT - 1)):
        tops = _tops(column)
        assert len(tops) == len(column)
        assert tops[-1] + CARD_HEIGHT <= _FLOOR
        assert min(np.diff(tops)) >= (7 if UNSEEN in column[:-1] else 15)


def test_short_columns_are_not_squeezed():
    assert np.diff(_tops([UNSEEN, UNSEEN, 12, 11])).tolist() == [10, 10, 24]


@pytest.mark.parametrize("draw_count", [1, 3, 24])
def test_the_waste_is_a_fan_of_as_many_cards_as_are_drawn(draw_count):
    cards = "AC 2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AS 2S 3S 4S 5S 6S 7S 8S 9S TS JS"
    record, other = board(waste=cards), board(waste=cards)
    other["talon"][24 - draw_count] = 51  # the first card of the fan
    assert differs(record, other, Rules(draw_count=draw_count)) is not None
    if draw_count < 24:
        other = board(waste=cards)
        other["talon"][23 - draw_count] = 51  # lies under the fan
        assert differs(record, other, Rules(draw_count=draw_count)) is None
    box = differs(record, board(), Rules(draw_count=draw_count))
    assert box[2] < _left(3)  # the foundations begin there


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"stock": "AS"}, RULES),
        ({"moves": 1}, RULES),
        ({"foundations": "AS"}, RULES),
        ({"redeals_used": 1}, Rules(redeals=3)),
        *(({"outcome": outcome}, RULES) for outcome in range(1, len(OUTCOME_NAMES))),
    ],
)
def test_counts_and_outcomes_are_written(change, rules):
    assert differs(board(), board(**change), rules) is not None


def test_the_stock_is_a_back_or_says_whether_a_redeal_is_left():
    once = Rules(redeals=1)
    assert holds(board(stock="AS"), _left(0), _TOP, card_back(), once)
    left, top, right, _ = differs(board(), board(redeals_used=1), once)
    assert _left(0) < left < _left(0) + CARD_WIDTH < right  # the mark on the stock, and the number
    assert _TOP < top < _TOP + CARD_HEIGHT


def test_a_seen_stock_is_shown_in_order_of_drawing():
    one, other = (board(stock=stock, stock_seen=True) for stock in ("AS KD 5C", "KD AS 5C"))
    _, top, _, _ = differs(one, other)
    assert top > _FLOOR  # in the bar only; the stock itself is a back
    assert holds(one, _CHIPS, _STOCK_LINE - CHIP_HEIGHT // 2, chip(parse_card("AS")))


def test_every_outcome_looks_different():
    pictures = {draw_picture(board(outcome=outcome), RULES).tobytes() for outcome in (PLAYING, WON, LOST, 3, 4)}
    assert len(pictures) == len(OUTCOME_NAMES)
