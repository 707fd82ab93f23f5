"""Which moves need not be tried in the positions of `klondike_env.solver.free_moves`."""

from __future__ import annotations

from enum import IntFlag

import numpy as np

from klondike_env.cards import suit_of
from klondike_env.engine.jit import kernel
from klondike_env.solver.free_moves import (
    DOWN,
    EMPTY,
    MARK_SHIFT,
    TALON_DOWN,
    TALON_MASK,
    TALON_SHIFT,
    TALON_UP,
    WASTE_SHIFT,
    Moves,
    Position,
    in_talon,
    placed_cards,
    talon_bit,
)
from klondike_env.solver.pairs import (
    CARDS,
    KINGS,
    RANK_BITS,
    next_in_suit,
    number_of,
    one_rank_lower,
    pair_of,
    safe_cards,
)


class Pruning(IntFlag):
    """Rules that leave out moves. Each holds for every draw count unless it says otherwise.

    Two ideas carry them. A card that goes up without unlocking anything can come back at once, so it may always go up
    first. And a card is put on a column for something that follows, so it may be put there last, just before that.
    The arguments below are proofs for each rule alone. That they lose nothing together is argued (a solution can be
    brought into the order of one rule without leaving that of another) and checked: verdicts agree with those of an
    exhaustive search over ordinary positions, and of this search with any subset of the rules, on ten thousands
    of positions of all draw counts.
    """

    SAFE_CARDS = 1
    """A safe card goes up at once and never comes back.

    Proof: let c be safe, and *low* all cards that no card but a low one can lie on: of c's suit up to c, of the
    other suit of its colour to two ranks below, of the other colour to one below. All lower ones of these are up. Follow
    any solution, but let no low card come down, and let one go up when it would first be moved: it always can,
    in order of rank. Nothing else is missed, because only low cards can lie on low cards. (Blake and Gent, appendix B.)
    """
    SAFE_TALON = 2
    """A safe card of the talon goes up at once: at draw 1 any, else the last one, and only where an empty waste reaches
    the same cards.

    Proof: as for SAFE_CARDS; besides, the talon without it must serve as well. At draw 1 it does. Else the others
    are reached from an empty waste as before, since no group of a draw changes but the last. Where nothing is locked
    and the draw count is 1, the game is won, and every card counts as safe.
    """
    UPS_FIRST = 4
    """A placed card that can go up goes up at once, unless something was put on a column and waits to be used.

    Proof: what it lay on, or its gap, is then free, so it can come back at once: the two positions can be reached
    from each other, and are both won or both lost. The search loses none of what can be done with such cards down:
    cards brought down one after the other, higher ranks first, stay down until one of them is used.
    """
    DOWNS_LATE = 8
    """A card brought down from its foundation is used by what follows.

    That is: something lands on it which could not land otherwise; its twin, thereby uncovered, goes up; or the next lower
    card of its suit comes down. Proof: in a solution, delay bringing it down until just before its first such use,
    or drop it together with its going up again. Nothing in between needs it, and its place stays free. Cards that
    are brought down for the same purpose can be so in falling order, because each is used by one of the
    next lower rank. Only a card that comes down uses two others at once (the one of its suit, and the one it lands on), so
    a card may wait for others only where that is possible; see `others_between`.
    """
    TALON_LATE = 16
    """At draw 1, a card put on a column from the talon is used by what follows.

    Proof: as for DOWNS_LATE, since it can be taken from the talon at any time; if its first use is to go up, it
    can go up from the talon.
    """
    GAPS_FOR_KINGS = 32
    """The last locked card of a column moves away only if no column is empty, and a king is put there next.

    Proof: delay the move until just before the king's. The card can go up from its column in the meantime as well, and
    until then its place elsewhere stays free.
    """
    TALON_UPS_SORTED = 64
    """At draw 1, what follows a card that goes up from the talon without a need either uses that, or is another card
    of a higher number from the talon to its foundation.

    Proof: what does not use it can be done before it, and two such cards that do not depend on each other go up in
    either order. It is used by the next card of its suit going up.
    """


ALL = Pruning(127)

# The same for kernels.
_SAFE_CARDS, _SAFE_TALON, _UPS_FIRST, _DOWNS_LATE, _TALON_LATE, _GAPS_FOR_KINGS, _TALON_UPS_SORTED = map(int, Pruning)

# Marks: what a position waits for. With another mark a position is visited anew, as other moves are left out.
NO_MARK = 0
_AFTER_DOWN = 1  # plus the suit of the card that came down
_FOR_KING = 5
_AFTER_TALON_DOWN = 6  # plus the index of the card in the talon
_AFTER_TALON_UP = 32  # likewise


@kernel
def safe_now(position: Position, draw_count: int, pruning: int) -> int:
    """The cards that may go up at once, all of them where the game is won anyway."""
    if pruning & _SAFE_TALON and draw_count == 1 and position.open == 0:
        return -1
    return safe_cards(position.wanted)


@kernel
def forced_up(position: Position, free: int, safe: int, pruning: int) -> int:
    """The cards of the columns that go up without a choice."""
    up_for_good = safe if pruning & _SAFE_CARDS else 0
    up_for_now = ~position.open if pruning & _UPS_FIRST else 0
    return position.visible & free & position.wanted & (up_for_good | up_for_now)


@kernel
def forced_talon_up(position: Position, safe: int, deal: np.ndarray, draw_count: int, pruning: int) -> int:
    """A talon card that goes up without a choice, as a set, or the empty set."""
    if not pruning & _SAFE_TALON or (draw_count > 1 and position.code >> WASTE_SHIFT != 0):
        return 0
    cards = in_talon(position, position.wanted & safe, deal)
    while cards != 0 and draw_count > 1:
        is_last = (position.code & TALON_MASK) < 2 * talon_bit(deal, number_of(cards & -cards))
        if is_last:
            break
        cards &= cards - 1
    return cards & -cards


@kernel
def mark_after(kind: int, card: int, deal: np.ndarray, draw_count: int, pruning: int) -> int:
    """The mark after a move that was chosen, before any that are forced; those are made only where there is none."""
    if kind == DOWN and pruning & (_UPS_FIRST | _DOWNS_LATE):
        return _AFTER_DOWN + int(suit_of(int(CARDS[card])))
    if kind == TALON_DOWN and draw_count == 1 and pruning & _TALON_LATE:
        return _AFTER_TALON_DOWN + number_of(talon_bit(deal, card) >> TALON_SHIFT)
    return _FOR_KING if kind == EMPTY else NO_MARK


@kernel
def late_mark_after(kind: int, card: int, deal: np.ndarray, draw_count: int, pruning: int) -> int:
    """The mark after a move that led to nothing forced."""
    if kind == TALON_UP and draw_count == 1 and pruning & _TALON_UPS_SORTED:
        return _AFTER_TALON_UP + number_of(talon_bit(deal, card) >> TALON_SHIFT)
    return NO_MARK


@kernel
def key_of(position: Position, mark: int) -> np.uint64:
    """The key under which a position is noted as visited; never 0."""
    return np.uint64(position.code | (mark << MARK_SHIFT)) | np.uint64(1 << 63)


@kernel
def without_safe(moves: Moves, position: Position, safe: int) -> Moves:
    """Safe cards do not come down, and do not leave the talon for a column when they can go up."""
    return Moves(
        moves.unlocks,
        moves.ups,
        moves.talon_downs & ~(position.wanted & safe),
        moves.talon_ups,
        moves.empties,
        moves.downs & ~safe,
    )


@kernel
def with_empties(moves: Moves, position: Position, playable: int, gap: bool, last_locked: int) -> Moves:
    """Columns are emptied only where there is no gap and a king for it."""
    kings = (position.open | playable | one_rank_lower(position.wanted)) & KINGS
    empties = moves.unlocks & last_locked if kings and not gap else 0
    return Moves(moves.unlocks & ~last_locked, moves.ups, moves.talon_downs, moves.talon_ups, empties, moves.downs)


@kernel
def kings_only(moves: Moves) -> Moves:
    """What fills the gap just made."""
    return Moves(moves.unlocks & KINGS, 0, moves.talon_downs & KINGS, 0, 0, moves.downs & KINGS)


@kernel
def is_needed(position: Position, free: int, pair: int) -> bool:
    """Whether one card of the pair, and only one, is free for something to land on."""
    both_free = (position.visible & pair) == pair and (placed_cards(position) << RANK_BITS) & pair == 0
    return free & pair != 0 and not both_free


@kernel
def others_between(position: Position, card: int, playable: int, safe: int, next_down: int) -> int:
    """Cards that may be put on columns after `card` and before what uses it, for the same purpose.

    They are lower by number and at most one rank lower, because what uses `card` is. There are none unless a card can
    come down yet that uses two of those put down, and unless another card that can be put down uses `card`.

    Args:
        position: the position.
        card: the card that was just put on a column.
        playable: cards of the talon that may be put down too.
        safe: cards that do not come down.
        next_down: the next lower card of its suit, if `card` came down.
    """
    lower = (1 << card) - 1
    same_rank = 15 << (card & -RANK_BITS)
    tops = one_rank_lower(position.wanted) & ~safe
    after_tops = one_rank_lower(tops & lower) & ~safe
    already_down = position.wanted & placed_cards(position) & same_rank
    using_two = (one_rank_lower(already_down) & tops) | after_tops
    may_use = playable | tops | after_tops
    using_card = (may_use & (pair_of(card) >> RANK_BITS)) | (next_down & tops)
    return lower & (same_rank | (same_rank >> RANK_BITS)) if using_two and using_card else 0


@kernel
def users_of(
    moves: Moves,
    position: Position,
    free: int,
    kind: int,
    card: int,
    playable: int,
    safe: int,
    draw_count: int,
    pruning: int,
) -> Moves:
    """What uses a card that was just put on a column, or leads to that."""
    pair = pair_of(card)
    needed = is_needed(position, free, pair)
    landing = pair >> RANK_BITS if needed else 0
    late_talon = playable if draw_count == 1 and pruning & _TALON_LATE else 0
    next_down = one_rank_lower(1 << card) if kind == DOWN else 0
    others = others_between(position, card, late_talon, safe, next_down)
    return Moves(
        moves.unlocks & landing,
        moves.ups & (pair ^ (1 << card)) if needed else 0,
        moves.talon_downs & (landing | (others if late_talon else 0)),
        0,
        moves.empties if (1 << card) & KINGS else moves.empties & landing,
        moves.downs & (landing | next_down | others if pruning & _DOWNS_LATE else -1),
    )


@kernel
def users_of_talon_up(moves: Moves, position: Position, free: int, card: int, pruning: int) -> Moves:
    """What uses a card that just went up from the talon, or goes up from there by a higher number."""
    following = 1 << next_in_suit(card)
    covered = following & position.visible & ~free
    may_put_down = covered != 0 or not (pruning & _DOWNS_LATE and pruning & _TALON_LATE)
    return Moves(
        0,
        moves.ups & following,
        moves.talon_downs if may_put_down else 0,
        moves.talon_ups & -(1 << card),
        0,
        moves.downs & ~(1 << card) if may_put_down else 0,
    )


@kernel
def prune(
    moves: Moves,
    position: Position,
    free: int,
    playable: int,
    gap: bool,
    last_locked: int,
    kind: int,
    card: int,
    mark: int,
    draw_count: int,
    pruning: int,
) -> Moves:
    """The moves to try."""
    safe = safe_now(position, draw_count, pruning) if pruning & _SAFE_CARDS else 0
    if pruning & _SAFE_CARDS:
        moves = without_safe(moves, position, safe)
    if pruning & _GAPS_FOR_KINGS:
        moves = with_empties(moves, position, playable, gap, last_locked)
    if mark == _FOR_KING:
        return kings_only(moves)
    if mark >= _AFTER_TALON_UP:
        return users_of_talon_up(moves, position, free, card, pruning)
    if mark >= _AFTER_TALON_DOWN or (mark != NO_MARK and pruning & _DOWNS_LATE):
        return users_of(moves, position, free, kind, card, playable, safe, draw_count, pruning)
    return moves
