"""Which moves need not be tried in the positions of `klondike_env.solver.classes.moves`."""

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
    RANK_BITS,
    fitting_on_pair,
    next_in_suit,
    number_of,
    one_rank_lower,
    pair_of,
    safe_cards,
)
from klondike_env.solver.classes.moves import (
    DOWN,
    EMPTY,
    MARK_SHIFT,
    NO_MOVE,
    TALON_DOWN,
    TALON_MASK,
    TALON_UP,
    UP,
    WASTE_SHIFT,
    Moves,
    Position,
    Scene,
    in_talon,
    last_locked,
    move_of,
    placed_cards,
    talon_bit,
    talon_index,
)


class Pruning(IntFlag):
    """Rules that leave out moves. Each holds for every draw count unless it says otherwise.

    Two ideas carry them. A card that goes up without unlocking another can come back at once, so it may always go up
    first. And a card is put on a column for the sake of something that follows, so it may be put there last, just
    before that.

    The arguments below are proofs for each rule alone. That the rules lose nothing together is argued (a solution can
    be brought into the order of one without leaving that of another), not proved in full; and checked: on a hundred
    thousand positions of all draw counts the verdicts are those of an exhaustive search over ordinary positions,
    or of this search without the rules or with any subset of them.
    """

    SAFE_CARDS = 1
    """A safe card goes up at once and never comes back.

    Proof: let c be safe, and *low* the cards of c's suit up to c, of the other suit of its colour up to two ranks
    below it, and of the other colour up to one rank below. Only low cards can lie on low cards, and c is safe if all
    low cards but the highest of each suit are up. Follow any solution, but let no low card come down, and let each
    that is out go up when it would first be moved. (Blake and Gent, appendix B.)
    """
    SAFE_TALON = 2
    """A safe card of the talon goes up at once: at draw 1 any, else only the talon's last, and only where the waste
    reaches no other cards than an empty one.

    Proof: as for SAFE_CARDS; besides, the other talon cards must be as easy to reach without it. At draw 1 they
    are. Else no group of a draw from an empty waste changes but the last. Where nothing is locked and the draw
    count is 1, the game is won, and every card counts as safe.
    """
    UPS_FIRST = 4
    """A placed card that can go up goes up at once, unless a card was just put on a column and is yet to be used.

    Proof: what it lay on, or its gap, is then free, so that it can come back: each of the two positions can be reached
    from the other. What can be done while such cards are down is not lost: brought down one by one, higher ranks
    first, they stay down until they are used.
    """
    DOWNS_LATE = 8
    """A card brought down from its foundation is used by what follows.

    That is: something lands on it that could land nowhere else; its twin, uncovered by it, goes up; or the next
    lower card of its suit comes down. Proof: in a solution, let it come down just before its first such use, or
    not at all if it goes up again before. Nothing in between needs it, and its place stays free. Cards that come down
    for the same purpose may do so from the highest to the lowest, since each is used by one of the next lower
    rank. Only a card that comes down uses two others, that of its suit and that on which it lands, so only for such a
    card's sake may others come in between.
    """
    TALON_LATE = 16
    """At draw 1, a card put on a column from the talon is used by what follows.

    Proof: as for DOWNS_LATE, since it can be had from the talon at any time. If its first use is to go up, it can go up
    from the talon.
    """
    GAPS_FOR_KINGS = 32
    """The last locked card of a column moves away only if no column is empty, and a king comes there next.

    Proof: delay the move until just before the king's. Its place stays free until then, and if the card goes up first,
    it can go up from its old column.
    """
    TALON_UPS_SORTED = 64
    """At draw 1, if a card went up from the talon and nothing was forced by that, what follows uses it, or is
    a card of a higher number going up from the talon.

    Proof: only the next card of its suit uses it. What does not lead to that can be done before, and of two cards from
    the talon that do not depend on each other either can go up first.
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
_NOT_ZERO = np.uint64(1 << 63)


class Mode(NamedTuple):
    """What a search keeps to."""

    draw_count: int
    pruning: int


class Last(NamedTuple):
    """The move that was chosen last, and what the position waits for since then."""

    kind: int
    card: int
    mark: int


@kernel
def safe_now(position: Position, mode: Mode) -> int:
    """The cards that may go up at once, all of them where the game is won anyway."""
    if mode.pruning & _SAFE_TALON and mode.draw_count == 1 and position.open == 0:
        return -1
    return safe_cards(position.wanted)


@kernel
def forced_up(position: Position, free: int, safe: int, mode: Mode) -> int:
    """The cards of the columns that go up without a choice."""
    for_good = safe if mode.pruning & _SAFE_CARDS else 0
    for_now = ~position.open if mode.pruning & _UPS_FIRST else 0
    return position.visible & free & position.wanted & (for_good | for_now)


@kernel
def forced_talon_up(position: Position, safe: int, deal: np.ndarray, mode: Mode) -> int:
    """The talon cards that go up without a choice; if the draw count is not 1, one at most."""
    if not mode.pruning & _SAFE_TALON or (mode.draw_count > 1 and position.code >> WASTE_SHIFT != 0):
        return 0
    cards = in_talon(position, position.wanted & safe, deal)
    if mode.draw_count == 1:
        return cards
    last = 0
    while cards != 0:
        card = lowest_bit(cards)
        cards ^= card
        if (position.code & TALON_MASK) < 2 * talon_bit(deal, number_of(card)):
            last = card
    return last


@kernel
def forced_move(position: Position, free: int, deal: np.ndarray, mode: Mode) -> int:
    """A move that is made without a choice, or NO_MOVE."""
    safe = safe_now(position, mode)
    ups = forced_up(position, free, safe, mode)
    if ups != 0:
        return move_of(UP, number_of(lowest_bit(ups)))
    ups = forced_talon_up(position, safe, deal, mode)
    return move_of(TALON_UP, number_of(lowest_bit(ups))) if ups != 0 else NO_MOVE


@kernel
def mark_after(kind: int, card: int, deal: np.ndarray, mode: Mode) -> int:
    """The mark after a move that was chosen. Where there is one, nothing is forced."""
    if kind == DOWN and mode.pruning & (_UPS_FIRST | _DOWNS_LATE):
        return _AFTER_DOWN + int(suit_of(int(CARDS[card])))
    if kind == TALON_DOWN and mode.draw_count == 1 and mode.pruning & _TALON_LATE:
        return _AFTER_TALON_DOWN + talon_index(deal, card)
    return _FOR_KING if kind == EMPTY else NO_MARK


@kernel
def late_mark_after(kind: int, card: int, deal: np.ndarray, mode: Mode) -> int:
    """The mark after a move that was chosen and forced nothing."""
    if kind == TALON_UP and mode.draw_count == 1 and mode.pruning & _TALON_UPS_SORTED:
        return _AFTER_TALON_UP + talon_index(deal, card)
    return NO_MARK


@kernel
def key_of(position: Position, mark: int) -> np.uint64:
    """The key under which a position is noted as visited; never 0."""
    return np.uint64(position.code | (mark << MARK_SHIFT)) | _NOT_ZERO


@kernel
def without_safe(moves: Moves, position: Position, safe: int) -> Moves:
    """Safe cards do not come down, and do not leave the talon for a column when they can go up."""
    talon_downs = moves.talon_downs & ~(position.wanted & safe)
    return Moves(moves.unlocks, moves.ups, talon_downs, moves.talon_ups, moves.empties, moves.downs & ~safe)


@kernel
def with_empties(moves: Moves, scene: Scene, deal: np.ndarray) -> Moves:
    """Columns are emptied only where there is no gap, and a king for it."""
    last = last_locked(deal)
    kings = (scene.position.open | scene.playable | one_rank_lower(scene.position.wanted)) & KINGS
    empties = moves.unlocks & last if kings != 0 and not scene.gap else 0
    return Moves(moves.unlocks & ~last, moves.ups, moves.talon_downs, moves.talon_ups, empties, moves.downs)


@kernel
def kings_only(moves: Moves) -> Moves:
    """What fills the gap just made."""
    return Moves(moves.unlocks & KINGS, 0, moves.talon_downs & KINGS, 0, 0, moves.downs & KINGS)


@kernel
def is_needed(scene: Scene, pair: int) -> bool:
    """Whether one card of a pair, and only one, is free for something to land on."""
    both_visible = (scene.position.visible & pair) == pair
    covered = (placed_cards(scene.position) << RANK_BITS) & pair
    return scene.free & pair != 0 and not (both_visible and covered == 0)


@kernel
def others_between(position: Position, card: int, playable: int, safe: int, next_down: int) -> int:
    """Cards that may be put on columns after `card` and before what uses it, for the same purpose.

    They are lower by number and at most one rank lower, because what uses `card` is. There are none unless a card can
    yet come down that uses two of those put down, and unless a card that can be put down may use `card`.

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
    using_card = ((playable | tops | after_tops) & fitting_on_pair(pair_of(card))) | (next_down & tops)
    return lower & (same_rank | (same_rank >> RANK_BITS)) if using_two != 0 and using_card != 0 else 0


@kernel
def users_of(moves: Moves, scene: Scene, last: Last, safe: int, mode: Mode) -> Moves:
    """What uses the card that was just put on a column, or leads to that."""
    pair, bit = pair_of(last.card), 1 << last.card
    needed = is_needed(scene, pair)
    landing = fitting_on_pair(pair) if needed else 0
    late_talon = scene.playable if mode.draw_count == 1 and mode.pruning & _TALON_LATE else 0
    next_down = one_rank_lower(bit) if last.kind == DOWN else 0
    others = others_between(scene.position, last.card, late_talon, safe, next_down)
    return Moves(
        unlocks=moves.unlocks & landing,
        ups=moves.ups & (pair ^ bit) if needed else 0,
        talon_downs=moves.talon_downs & (landing | (others if late_talon != 0 else 0)),
        talon_ups=0,
        empties=moves.empties if bit & KINGS else moves.empties & landing,
        downs=moves.downs & (landing | next_down | others if mode.pruning & _DOWNS_LATE else -1),
    )


@kernel
def users_of_talon_up(moves: Moves, scene: Scene, card: int, mode: Mode) -> Moves:
    """What uses the card that just went up from the talon, or leads to that; and higher cards going up from there.

    Putting cards down can only lead to that by uncovering the next card of the suit.
    """
    bit, following = 1 << card, 1 << next_in_suit(card)
    covered = following & scene.position.visible & ~scene.free
    all_late = mode.pruning & _DOWNS_LATE and mode.pruning & _TALON_LATE
    may_put_down = covered != 0 or not all_late
    return Moves(
        unlocks=0,
        ups=moves.ups & following,
        talon_downs=moves.talon_downs if may_put_down else 0,
        talon_ups=moves.talon_ups & -bit,
        empties=0,
        downs=moves.downs & ~bit if may_put_down else 0,
    )


@kernel
def prune(moves: Moves, scene: Scene, last: Last, deal: np.ndarray, mode: Mode) -> Moves:
    """The moves to try."""
    safe = safe_now(scene.position, mode) if mode.pruning & _SAFE_CARDS else 0
    if mode.pruning & _SAFE_CARDS:
        moves = without_safe(moves, scene.position, safe)
    if mode.pruning & _GAPS_FOR_KINGS:
        moves = with_empties(moves, scene, deal)
    if last.mark == _FOR_KING:
        return kings_only(moves)
    if last.mark >= _AFTER_TALON_UP:
        return users_of_talon_up(moves, scene, last.card, mode)
    if last.mark >= _AFTER_TALON_DOWN or (last.mark != NO_MARK and mode.pruning & _DOWNS_LATE):
        return users_of(moves, scene, last, safe, mode)
    return moves
