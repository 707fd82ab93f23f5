"""Deal numbers: the same deck for ever."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from klondike_env.cards import card_text
from klondike_env.deals import TEST_DEALS, TRAINING_DEALS, VALIDATION_DEALS, check_deck, deck_of, decks_of

SOME_DEALS = np.array([0, 1, 2, 39_999, 999_999, 1_000_000, 1_999_999, 2_000_000, 123_456_789, 2**32, 2**53 - 1])
WORD = 2**64

GOLDEN = {  # the cards dealt row by row, then the stock
    0: (
        "KC TH 9C TS 3C JS KS QC 3H KD 6D AD JD 3S 4C QS 4H 2D JH AC 5C 5H KH 6S 8H 5S 8S QD "
        "TC 4S AS 7H 2H 7C QH 5D 7D AH 9D 8D 6H 4D 2S JC 9H 8C 3D 6C 9S 2C TD 7S"
    ),
    1: (
        "4D 4C 7H 2D AC 2S 6S 5H QC TS 2H TD AH KC 6H JD 4H QS KS 7C 9S 5S TH 8H 5C AS QD 2C "
        "7D KD JC 4S 3D 9H 5D 3C 7S 6C 8C JH 3S JS QH AD 9C 8D 3H TC 8S 9D 6D KH"
    ),
    39999: (
        "AH 6D TC 5H 2H KD 3D 9D 4D AC QD 7H 4S QS 3S QH AS AD JH JS 7C TH 3C 4C 9H KC 8S TD "
        "9C 5S 6C 6H 8D 6S KS 8H 9S QC 2S TS JD 4H 8C 7S 5C 3H 5D 7D KH 2C 2D JC"
    ),
    1000000: (
        "3D QC AH 4C 2S KD TD 8H KH JC 9C 3H JS 6S 2D 6D AD 9S 6H 4H 5S 9D AS TS 7C 7H 4D 6C "
        "3S 9H 5C 8C JH TC JD QS 8D QH 2H QD 5H AC 4S TH 7D 7S KC 8S 2C KS 5D 3C"
    ),
    2000000: (
        "5D 5C KD JS TD 3C 7D 2C TS 9S 8S 6C 4H 2S 8C 4S 5H KC JH 7S 4C 9D 3D KH JD 7H 3H 8D "
        "AS QD 4D AD AC TH QS 5S 6H 9H 9C 7C QH KS JC 2H AH 6D TC 3S 8H QC 6S 2D"
    ),
    9007199254740991: (
        "9C 8D 5H QH KH 8H TS TC 5C 6H JH 3H 9H AC QD 7S 4S 3S 9S 2C AD TD QS JC KC AS 4D KD "
        "7H 2D 8S 7C JS 4C TH 6D 5D JD 5S 6C 3C QC KS 4H 2H 9D 6S 7D 3D 2S AH 8C"
    ),
}


def splitmix(value: int) -> int:
    """The finalizer of splitmix64, in unbounded integers."""
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB % WORD
    return value ^ (value >> 31)


def plain_deck(deal: int) -> list[int]:
    """Fisher-Yates on the splitmix64 sequence that starts at the mixed deal number."""
    deck = list(range(52))
    sequence = splitmix(deal)
    for i in range(51, 0, -1):
        sequence = (sequence + 0x9E3779B97F4A7C15) % WORD
        j = (splitmix(sequence) // 2**32) * (i + 1) // 2**32
        deck[i], deck[j] = deck[j], deck[i]
    return deck


@pytest.mark.parametrize("deal", GOLDEN)
def test_golden_deals(deal: int) -> None:
    assert " ".join(card_text(int(card)) for card in deck_of(deal)) == GOLDEN[deal]


def test_decks_agree_with_plain_integers() -> None:
    chance = np.random.default_rng(0)
    deals = np.concatenate([SOME_DEALS, np.arange(100), chance.integers(0, 2**53, 200)])
    assert decks_of(deals).tolist() == [plain_deck(deal) for deal in deals.tolist()]


def test_the_mixer_is_splitmix64() -> None:
    # The first values of the published generator when seeded with 0.
    state, values = 0, []
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) % WORD
        values.append(splitmix(state))
    assert values == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_every_deck_holds_every_card_once() -> None:
    decks = decks_of(np.arange(1000))
    assert decks.dtype == np.uint8
    assert (np.sort(decks, axis=1) == np.arange(52)).all()


def test_a_deck_alone_is_the_deck_among_others() -> None:
    assert (decks_of(SOME_DEALS)[4] == deck_of(int(SOME_DEALS[4]))).all()


def test_different_deals_have_different_decks() -> None:
    assert len({deck.tobytes() for deck in decks_of(np.arange(5000))}) == 5000


def test_every_card_comes_to_every_place_equally_often() -> None:
    n = 20_000
    decks = decks_of(np.arange(n) + TRAINING_DEALS.start)
    counts = np.array([np.bincount(decks[:, place], minlength=52) for place in range(52)])
    expected = n / 52
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_square - 51 * 51) < 5 * (2 * 51 * 51) ** 0.5


def test_ranges_of_deals_do_not_meet() -> None:
    limits = [(deals.start, deals.stop) for deals in (TEST_DEALS, VALIDATION_DEALS, TRAINING_DEALS)]
    assert limits == [(0, 1_000_000), (1_000_000, 2_000_000), (2_000_000, 2**53)]


@pytest.mark.parametrize("deal", [-1, 2**53, 2**70, 1.0, "x", None, True])
def test_what_is_no_deal_number_is_refused(deal: int) -> None:
    with pytest.raises(ValueError, match=f"^deal is {deal!r}; allowed: a whole number from 0 to {2**53 - 1}$"):
        deck_of(deal)
    with pytest.raises(ValueError, match=f"^deal is {deal!r};"):
        decks_of([0, deal])


@pytest.mark.parametrize("deals", [np.array([0, -1]), np.array([2**53], dtype=np.uint64), np.array([0.5])])
def test_an_array_with_what_is_no_deal_number_is_refused(deals: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"^deal is .*; allowed: a whole number from 0 to 9007199254740991$"):
        decks_of(deals)


def test_deals_must_be_a_list() -> None:
    with pytest.raises(ValueError, match=r"^deals are 5; allowed: a list of deal numbers$"):
        decks_of(5)


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (range(51), "a deck has 52 cards; this one has shape (51,)"),
        ([*range(51), 52], "card 51 of the deck is 52; allowed: 0 to 51"),
        ([-1, *range(1, 52)], "card 0 of the deck is -1; allowed: 0 to 51"),
        ([*range(51), 51.0], "card 51 of the deck is 51.0; allowed: 0 to 51"),
        ([False, *range(1, 52)], "card 0 of the deck is False; allowed: 0 to 51"),
        (None, "deck is None; allowed: a list of 52 card ids"),
        (7, "deck is 7; allowed: a list of 52 card ids"),
        ([[0, 1], [2]], "a deck has 52 cards; this one has shape (2,)"),
        ([*range(51), 7], "card 51 of the deck is 7, which is there already"),
    ],
)
def test_a_deck_with_wrong_cards_is_refused(deck: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check_deck(deck)


def test_a_right_deck_passes_the_check() -> None:
    deck = check_deck(np.arange(51, -1, -1))
    assert deck.dtype == np.uint8
    assert deck.tolist() == list(range(51, -1, -1))
