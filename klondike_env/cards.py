"""Cards: the arithmetic of card ids, which `klondike_env.engine.card_arithmetic` compiles for kernels.

A card is an integer 0 to 51: `suit * 13 + rank`, rank 0 (ace) to 12 (king), suits in the order
clubs, diamonds, hearts, spades. As text a card is its rank and its suit: "AC", "TH", "KS".
"""

from __future__ import annotations

N_RANKS = 13
N_SUITS = 4
N_CARDS = 52
ACE, KING = 0, 12
UNSEEN = 52  # stands for a card whose face the player has not seen

RANK_LETTERS = "A23456789TJQK"
SUIT_LETTERS = "CDHS"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")


def rank_of(card: int) -> int:
    """Rank 0 (ace) to 12 (king) of a card 0 to 51."""
    return card % N_RANKS


def suit_of(card: int) -> int:
    """Suit 0 to 3 (clubs, diamonds, hearts, spades) of a card 0 to 51."""
    return card // N_RANKS


def card_at(rank: int, suit: int) -> int:
    """Card id 0 to 51 of a rank 0 to 12 and a suit 0 to 3."""
    return suit * N_RANKS + rank


def is_red(card: int) -> bool:
    """Whether the card is a diamond or a heart."""
    return suit_of(card) in (1, 2)


def card_text(card: int) -> str:
    """Two letters for a card ("TH"), "??" for an unseen one."""
    if card == UNSEEN:
        return "??"
    return RANK_LETTERS[rank_of(card)] + SUIT_LETTERS[suit_of(card)]


def parse_card(text: str) -> int:
    """The card id of a text such as "TH", "10h" or "as".

    Raises:
        ValueError: the text does not name a card.
    """
    letters = text.strip().upper().replace("10", "T")
    if len(letters) != 2 or letters[0] not in RANK_LETTERS or letters[1] not in SUIT_LETTERS:
        raise ValueError(
            f"no such card: {text!r}; write a rank of {RANK_LETTERS} and a suit of {SUIT_LETTERS}, such as 'TH'"
        )
    return card_at(RANK_LETTERS.index(letters[0]), SUIT_LETTERS.index(letters[1]))
