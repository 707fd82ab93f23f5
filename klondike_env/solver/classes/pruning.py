"""Which of the moves of `klondike_env.solver.classes.moves` need not be tried, with the proofs."""

from __future__ import annotations

from enum import IntFlag
from typing import NamedTuple

import numpy as np

from klondike_env.engine.card_arithmetic import suit_of
from klondike_env.engine.card_sets import lowest_bit
from klondike_env.engine.jit import kernel
from klondike_env.solver.classes.card_numbering import (
    CARDS,
    KINGS,
    RANK_WIDTH,
    fitting_on_pair,
    next_in_suit,
    number_of,
    one_rank_lower,
    pair_of,
    safe_cards,
)
from klondike_env.solver.classes.moves import (
    COLUMN_TO_FOUNDATION,
    EMPTY_COLUMN,
    NO_MOVE,
    PENDING_SHIFT,
    TALON_MASK,
    TALON_TO_COLUMN,
    TALON_TO_FOUNDATION,
    WASTE_SHIFT,
    WORRY_BACK,
    MoveSets,
    Node,
    Situation,
    in_talon,
    last_locked,
    move_of,
    placed_cards,
    talon_bit,
    talon_index,
)


class ClassPruning(IntFlag):
    """Rules by which the class search leaves out moves. Each holds for every draw count unless it says otherwise.

    Two ideas underlie them. A card that goes up without unlocking another can come back at once, so it may always go up
    first. And a card is put on a column for the sake of something that follows, so it may be put there last, just
    before that.

    Below, each rule is proved by itself. That they lose nothing together is argued, not proved in full: a solution can
    be brought into the order of one rule without leaving that of another. It is also checked: on a hundred thousand
    positions of all draw counts the verdicts are those of an exhaustive search over ordinary positions, or of this
    search without the rules or with any subset of them.
    """

    SAFE_CARDS = 1
    """A safe card goes up at once and never comes back.

    Proof: let c be safe. Call *low* the cards of c's suit up to c, those of the other suit of its colour up to two
    ranks below it, and those of the other colour up to one rank below it. Only low cards can lie on low cards, and c is
    safe if all low cards but the highest of each suit are up. Follow any solution, but let no low card come down, and
    let each that is not up yet go up when it would first be moved. (Blake and Gent, appendix B.)
    """
    SAFE_TALON = 2
    """A safe card of the talon goes up at once: at draw 1 any, else only the last card of the talon.

    In the latter case the same cards must be in reach as from an empty waste.

    Proof: as for SAFE_CARDS; besides, the other talon cards must be as easy to reach without it. At draw 1 they
    are. Otherwise, of the groups drawn from an empty waste only the last changes. Where nothing is locked and the draw
    count is 1, the game is won, and every card counts as safe.
    """
    FOUNDATION_FIRST = 4
    """A placed card that can go up goes up at once, unless a card was just put on a column and is yet to be used.

    Proof: what it lay on, or its gap, is then free, so it can come back: each of the two positions can be reached
    from the other. Nothing that such cards make possible while they are down is lost: brought down one by one, higher
    ranks first, they stay down until they are used.
    """
    WORRY_BACK_LATE = 8
    """A card brought down from its foundation is used by what follows.

    That is: something lands on it that could land nowhere else; its twin, uncovered by it, goes up; or the next
    lower card of its suit comes down. Proof: in a solution, let it come down just before its first such use, or
    not at all if it goes up again before. Nothing in between needs it, and its place stays free. Cards that come down
    for the same purpose may do so from the highest to the lowest, since each is used by one of the next lower
    rank. Only a card that comes down uses two others: the next higher one of its suit, and the one on which it lands.
    So only for the sake of such a card may others come in between.
    """
    TALON_LATE = 16
    """At draw 1, a card put on a column from the talon is used by what follows.

    Proof: as for WORRY_BACK_LATE, since it can be taken from the talon at any time. If it is first used by going up, it
    can go up from the talon.
    """
    GAPS_FOR_KINGS = 32
    """The last locked card of a column moves away only if no column is empty, and a king must fill the gap next.

    Proof: delay the move until just before the king's. Its place stays free until then, and if the card goes up first,
    it can go up from its old column.
    """
    TALON_TO_FOUNDATION_SORTED = 64
    """At draw 1, if a card went up from the talon and nothing was forced by that, what follows uses it, or is
    a card of a higher number going up from the talon.

    Proof: only the next card of its suit uses it. What does not lead to that can be done before. And of two talon cards
    that do not depend on each other either can go up first.
    """


ALL = ClassPruning(127)

# The same for kernels.
_SAFE_CARDS = int(ClassPruning.SAFE_CARDS)
_SAFE_TALON = int(ClassPruning.SAFE_TALON)
_FOUNDATION_FIRST = int(ClassPruning.FOUNDATION_FIRST)
_WORRY_BACK_LATE = int(ClassPruning.WORRY_BACK_LATE)
_TALON_LATE = int(ClassPruning.TALON_LATE)
_GAPS_FOR_KINGS = int(ClassPruning.GAPS_FOR_KINGS)
_TALON_TO_FOUNDATION_SORTED = int(ClassPruning.TALON_TO_FOUNDATION_SORTED)

# What is pending: the purpose of the last move, if that is yet to come. It decides which moves are left out, so a
# position is searched once for each thing that may be pending.
NOTHING_PENDING = 0
_AFTER_WORRY_BACK = 1  # plus the suit of the card that came down
_FOR_KING = 5
_AFTER_TALON_TO_COLUMN = 6  # plus the index of the card in the talon
_AFTER_TALON_TO_FOUNDATION = 32  # likewise
_NOT_ZERO = np.uint64(1 << 63)


class Mode(NamedTuple):
    """What a search has to know of the rules."""

    draw_count: int
    pruning: int  # a ClassPruning


class Last(NamedTuple):
    """The move that was chosen last, and what is pending since then."""

    kind: int
    card: int
    pending: int


@kernel
def safe_now(node: Node, mode: Mode) -> int:
    """The safe cards; all of them where the game is won anyway."""
    if mode.pruning & _SAFE_TALON and mode.draw_count == 1 and node.open == 0:
        return -1
    return safe_cards(node.wanted)


@kernel
def forced_to_foundation(node: Node, free: int, safe: int, mode: Mode) -> int:
    """The column cards that are forced to go up."""
    for_good = safe if mode.pruning & _SAFE_CARDS else 0
    for_now = ~node.open if mode.pruning & _FOUNDATION_FIRST else 0
    return node.visible & free & node.wanted & (for_good | for_now)


@kernel
def forced_from_talon(node: Node, safe: int, deal: np.ndarray, mode: Mode) -> int:
    """The talon cards that are forced to go up; if the draw count is not 1, one at most."""
    if not mode.pruning & _SAFE_TALON or (mode.draw_count > 1 and node.code >> WASTE_SHIFT != 0):
        return 0
    cards = in_talon(node, node.wanted & safe, deal)
    if mode.draw_count == 1:
        return cards
    last = 0
    while cards != 0:
        card = lowest_bit(cards)
        cards ^= card
        if (node.code & TALON_MASK) < 2 * talon_bit(deal, number_of(card)):
            last = card
    return last


@kernel
def forced_move(node: Node, free: int, deal: np.ndarray, mode: Mode) -> int:
    """A forced move, which is made without trying others, or NO_MOVE."""
    safe = safe_now(node, mode)
    cards = forced_to_foundation(node, free, safe, mode)
    if cards != 0:
        return move_of(COLUMN_TO_FOUNDATION, number_of(lowest_bit(cards)))
    cards = forced_from_talon(node, safe, deal, mode)
    return move_of(TALON_TO_FOUNDATION, number_of(lowest_bit(cards))) if cards != 0 else NO_MOVE


@kernel
def pending_after(kind: int, card: int, deal: np.ndarray, mode: Mode) -> int:
    """What is pending after a chosen move. Where something is, no move is forced."""
    if kind == WORRY_BACK and mode.pruning & (_FOUNDATION_FIRST | _WORRY_BACK_LATE):
        return _AFTER_WORRY_BACK + int(suit_of(int(CARDS[card])))
    if kind == TALON_TO_COLUMN and mode.draw_count == 1 and mode.pruning & _TALON_LATE:
        return _AFTER_TALON_TO_COLUMN + talon_index(deal, card)
    return _FOR_KING if kind == EMPTY_COLUMN else NOTHING_PENDING


@kernel
def late_pending_after(kind: int, card: int, deal: np.ndarray, mode: Mode) -> int:
    """What is pending after a chosen move that forced no other."""
    if kind == TALON_TO_FOUNDATION and mode.draw_count == 1 and mode.pruning & _TALON_TO_FOUNDATION_SORTED:
        return _AFTER_TALON_TO_FOUNDATION + talon_index(deal, card)
    return NOTHING_PENDING


@kernel
def key_of(node: Node, pending: int) -> np.uint64:
    """The key under which a position is recorded as searched; never 0."""
    return np.uint64(node.code | (pending << PENDING_SHIFT)) | _NOT_ZERO


@kernel
def without_safe(moves: MoveSets, node: Node, safe: int) -> MoveSets:
    """Leave out safe cards that come down, and those that leave the talon for a column though they can go up."""
    talon_to_column = moves.talon_to_column & ~(node.wanted & safe)
    return MoveSets(
        unlock=moves.unlock,
        column_to_foundation=moves.column_to_foundation,
        talon_to_column=talon_to_column,
        talon_to_foundation=moves.talon_to_foundation,
        empty_column=moves.empty_column,
        worry_back=moves.worry_back & ~safe,
    )


@kernel
def with_empties(moves: MoveSets, situation: Situation, deal: np.ndarray) -> MoveSets:
    """Leave out moves that empty a column, unless there is no gap yet and a king could fill the new one."""
    last = last_locked(deal)
    kings = (situation.node.open | situation.playable | one_rank_lower(situation.node.wanted)) & KINGS
    empty_column = moves.unlock & last if kings != 0 and not situation.gap else 0
    return MoveSets(
        unlock=moves.unlock & ~last,
        column_to_foundation=moves.column_to_foundation,
        talon_to_column=moves.talon_to_column,
        talon_to_foundation=moves.talon_to_foundation,
        empty_column=empty_column,
        worry_back=moves.worry_back,
    )


@kernel
def kings_only(moves: MoveSets) -> MoveSets:
    """The moves that fill the gap just made."""
    return MoveSets(
        unlock=moves.unlock & KINGS,
        column_to_foundation=0,
        talon_to_column=moves.talon_to_column & KINGS,
        talon_to_foundation=0,
        empty_column=0,
        worry_back=moves.worry_back & KINGS,
    )


@kernel
def is_needed(situation: Situation, pair: int) -> bool:
    """Whether one card of a pair, and only one, is free for something to land on."""
    both_visible = (situation.node.visible & pair) == pair
    covered = (placed_cards(situation.node) << RANK_WIDTH) & pair
    return situation.free & pair != 0 and not (both_visible and covered == 0)


@kernel
def others_between(node: Node, card: int, playable: int, safe: int, next_down: int) -> int:
    """Cards that may be put on columns after `card` and before what uses it, for the same purpose.

    They have lower numbers and are at most one rank lower, as what uses `card` is one rank lower. There are none unless
    both of these hold: a card can still come down that uses two of those put down, and a card that can be put down may
    use `card`.

    Args:
        node: the position.
        card: the card that was just put on a column.
        playable: cards of the talon that may be put down too.
        safe: cards that do not come down.
        next_down: the next lower card of its suit, if `card` came down.
    """
    lower = (1 << card) - 1
    same_rank = 15 << (card & -RANK_WIDTH)
    tops = one_rank_lower(node.wanted) & ~safe
    after_tops = one_rank_lower(tops & lower) & ~safe
    already_down = node.wanted & placed_cards(node) & same_rank
    using_two = (one_rank_lower(already_down) & tops) | after_tops
    using_card = ((playable | tops | after_tops) & fitting_on_pair(pair_of(card))) | (next_down & tops)
    return lower & (same_rank | (same_rank >> RANK_WIDTH)) if using_two != 0 and using_card != 0 else 0


@kernel
def users_of(moves: MoveSets, situation: Situation, last: Last, safe: int, mode: Mode) -> MoveSets:
    """The moves that use the card just put on a column, or lead to that."""
    pair, bit = pair_of(last.card), 1 << last.card
    needed = is_needed(situation, pair)
    landing = fitting_on_pair(pair) if needed else 0
    late_talon = situation.playable if mode.draw_count == 1 and mode.pruning & _TALON_LATE else 0
    next_down = one_rank_lower(bit) if last.kind == WORRY_BACK else 0
    others = others_between(situation.node, last.card, late_talon, safe, next_down)
    return MoveSets(
        unlock=moves.unlock & landing,
        column_to_foundation=moves.column_to_foundation & (pair ^ bit) if needed else 0,
        talon_to_column=moves.talon_to_column & (landing | (others if late_talon != 0 else 0)),
        talon_to_foundation=0,
        empty_column=moves.empty_column if bit & KINGS else moves.empty_column & landing,
        worry_back=moves.worry_back & (landing | next_down | others if mode.pruning & _WORRY_BACK_LATE else -1),
    )


@kernel
def users_of_talon_card(moves: MoveSets, situation: Situation, card: int, mode: Mode) -> MoveSets:
    """The moves that use the card that just went up from the talon or lead to that, or send up higher talon cards.

    Putting cards on columns can lead to a use only by uncovering the next card of the suit.
    """
    bit, following = 1 << card, 1 << next_in_suit(card)
    covered = following & situation.node.visible & ~situation.free
    all_late = mode.pruning & _WORRY_BACK_LATE and mode.pruning & _TALON_LATE
    may_put_down = covered != 0 or not all_late
    return MoveSets(
        unlock=0,
        column_to_foundation=moves.column_to_foundation & following,
        talon_to_column=moves.talon_to_column if may_put_down else 0,
        talon_to_foundation=moves.talon_to_foundation & -bit,
        empty_column=0,
        worry_back=moves.worry_back & ~bit if may_put_down else 0,
    )


@kernel
def prune(moves: MoveSets, situation: Situation, last: Last, deal: np.ndarray, mode: Mode) -> MoveSets:
    """The moves to try."""
    safe = safe_now(situation.node, mode) if mode.pruning & _SAFE_CARDS else 0
    if mode.pruning & _SAFE_CARDS:
        moves = without_safe(moves, situation.node, safe)
    if mode.pruning & _GAPS_FOR_KINGS:
        moves = with_empties(moves, situation, deal)
    if last.pending == _FOR_KING:
        return kings_only(moves)
    if last.pending >= _AFTER_TALON_TO_FOUNDATION:
        return users_of_talon_card(moves, situation, last.card, mode)
    if last.pending >= _AFTER_TALON_TO_COLUMN or (last.pending != NOTHING_PENDING and mode.pruning & _WORRY_BACK_LATE):
        return users_of(moves, situation, last, safe, mode)
    return moves
