"""The search where any tail of a column may be moved: positions without the places of built cards.

Where any tail may move, runs change hosts freely: two positions that differ only in which of the hosts
of one rank carries which run are won or lost together, for every build rule, so they count as one. Such
a class of positions is known from, for each card, whether it is face down, a head (the first face-up
card above face-down ones), on the floor, built on some other card, in the talon or up on its foundation.

Proof. Call a move from one built place to another free, and count the others. `BETWEEN_RANKS` says what
can be done after free moves: which hosts can be uncovered and which cards can land; a test tries all
arrangements of all sets of hosts and built cards under all build rules and finds that what the free moves
reach does not depend on the arrangement. So every counted move of one member of the class, a run moving
with whatever lies on it, can be made by every other member after free moves, and leads to the same class.
By induction the fewest counted moves to a win are the same for all members.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.cards import N_RANKS, N_SUITS
from klondike_env.engine.jit import kernel
from klondike_env.engine.lanes import count_cards, lowest_bit
from klondike_env.engine.mixer import mix
from klondike_env.engine.state import N_COLUMNS
from klondike_env.rules import BUILDS
from klondike_env.solver.sets import ALL_CARDS, BETWEEN_RANKS, BUILDERS, KINGS, RANK_BITS, index_of

# The words of a position: int64[N_WORDS].
FACE_UP = 0  # the set of face-up column cards
HEADS = 1  # those that lie on a face-down card
FLOOR = 2  # those that lie on nothing
NEXT = 3  # for each suit the card that its foundation takes next; a finished suit's bit is past the kings
DEPTHS = 4  # face-down cards of each column, three bits a column
LEFT = 5  # the talon as bits of its first order
TALON = 6  # the same as a set of cards
BORDER = 7  # the waste is the part of the talon before this place of its first order
REDEALS = 8  # redeals left, or ENOUGH
MOVE = 9  # the move that led here
MARK = 10  # where its own moves begin on the stack of moves
N_WORDS = 11

ENOUGH = 255  # as many redeals as talon cards: each card needs one at most, so there is no limit

# What becomes of the card of a move; the move is `card index * 4 + target`.
UP, BUILT, GAP = 0, 1, 2

# The words of a search: int64[N_COUNTERS].
DEPTH, TOP, VISITS, STORED, LIMIT = 0, 1, 2, 3, 4
N_COUNTERS = 5

# How a call of the search ends.
SOLVED, UNSOLVABLE, PAUSED, MORE_FRAMES, MORE_MOVES, MORE_SLOTS = 0, 1, 2, 3, 4, 5

MOST_MOVES = 160  # of one position: 52 cards to a host or a gap, four up, and some more


class Game(NamedTuple):
    """What stays fixed in a search, as plain integers."""

    build: int
    gap_cards: int  # the set of cards that a gap takes
    draw_count: int
    worry_back: int
    redeals: int  # left at the start, or ENOUGH
    time_bits: int  # of a slot, see `probe`
    safe: int  # prunings, 0 or 1
    idle: int
    parking: int
    whole_runs: int


@kernel
def unpack(packed: np.ndarray) -> Game:
    """The game of a packed array, int64[10]."""
    return Game(packed[0], packed[1], packed[2], packed[3], packed[4], packed[5], packed[6], packed[7], packed[8], packed[9])


@kernel
def between(words: np.ndarray, build: int) -> tuple[int, int]:
    """The column cards that can be uncovered, and all cards that could be built on a column."""
    face_up = words[FACE_UP]
    built = face_up & ~(words[HEADS] | words[FLOOR])
    bare, land = face_up & RANK_BITS, 0
    for rank in range(1, N_RANKS):
        shift = N_SUITS * rank
        hosts, on_them = (face_up >> shift) & RANK_BITS, (built >> (shift - N_SUITS)) & RANK_BITS
        entry = BETWEEN_RANKS[build, (hosts << N_SUITS) | on_them]
        bare |= (entry & RANK_BITS) << shift
        land |= (entry >> N_SUITS) << (shift - N_SUITS)
    return bare, land


@kernel
def reach_now(words: np.ndarray, draw_count: int) -> int:
    """The places of the talon that drawing brings to the top of the waste before the next redeal."""
    left = words[LEFT]
    stock = left >> words[BORDER] << words[BORDER]
    waste = left ^ stock
    if draw_count == 1:
        reached = stock
    else:
        reached, turned, place = 0, 0, 0
        while stock != 0:
            place = lowest_bit(stock)
            stock ^= place
            turned += 1
            if turned == draw_count or stock == 0:
                reached |= place
                turned = 0
    if waste != 0:
        waste |= waste >> 1
        waste |= waste >> 2
        waste |= waste >> 4
        waste |= waste >> 8
        waste |= waste >> 16
        reached |= waste ^ (waste >> 1)
    return reached


@kernel
def reach_later(words: np.ndarray, draw_count: int) -> int:
    """The places of the talon that a pass from its start brings to the top of the waste; none without a redeal."""
    if words[REDEALS] == 0:
        return 0
    if draw_count == 1:
        return words[LEFT]
    reached, turned, stock = 0, 0, words[LEFT]
    while stock != 0:
        place = lowest_bit(stock)
        stock ^= place
        turned += 1
        if turned == draw_count or stock == 0:
            reached |= place
            turned = 0
    return reached


@kernel
def waste_size(words: np.ndarray) -> int:
    """Cards in the waste."""
    return count_cards(words[LEFT] & ((1 << words[BORDER]) - 1))


@kernel
def is_pure(words: np.ndarray, draw_count: int) -> bool:
    """Whether the waste is as one that whole draws from the start of a pass make."""
    waste = waste_size(words)
    return waste % draw_count == 0 or waste == count_cards(words[LEFT])


@kernel
def settle_talon(words: np.ndarray, draw_count: int) -> None:
    """Make one of all talons that are alike: with enough redeals a pure waste may be turned over at once."""
    if words[REDEALS] >= count_cards(words[LEFT]):
        words[REDEALS] = ENOUGH
        if draw_count == 1 or is_pure(words, draw_count):
            words[BORDER] = 0


@kernel
def leave_talon(words: np.ndarray, index: int, cards: np.ndarray, draw_count: int) -> None:
    """Draw, and redeal if need be, until a card is on top of the waste, and take it."""
    place = cards[0, index]
    if words[REDEALS] != ENOUGH and not (reach_now(words, draw_count) >> place) & 1:
        words[REDEALS] -= 1
    words[TALON] ^= 1 << index
    words[LEFT] ^= 1 << place
    words[BORDER] = place
    settle_talon(words, draw_count)


@kernel
def play_move(words: np.ndarray, move: int, cards: np.ndarray, draw_count: int) -> None:
    """Make a move. cards: int64[2, 64], see `ColumnSearch`."""
    index, target = move >> 2, move & 3
    bit = 1 << index
    if words[TALON] & bit:
        leave_talon(words, index, cards, draw_count)
        words[FACE_UP] |= bit
    elif words[HEADS] & bit:
        words[HEADS] ^= bit
        turn_up(words, index, cards)
    elif words[FLOOR] & bit:
        words[FLOOR] ^= bit
    elif not words[FACE_UP] & bit:
        words[NEXT] ^= bit | (bit << N_SUITS)
        words[FACE_UP] |= bit
    if target == UP:
        words[FACE_UP] ^= bit
        words[NEXT] ^= bit | (bit << N_SUITS)
    elif target == GAP:
        words[FLOOR] |= bit


@kernel
def turn_up(words: np.ndarray, index: int, cards: np.ndarray) -> None:
    """Turn up the card under a head that leaves."""
    column = cards[1, index]
    words[DEPTHS] -= 1 << (3 * column)
    under = 1 << cards[2, index]
    words[FACE_UP] |= under
    if (words[DEPTHS] >> (3 * column)) & 7:
        words[HEADS] |= under
    else:
        words[FLOOR] |= under


@kernel
def next_or_up(words: np.ndarray) -> int:
    """The cards on the foundations and those that these take next."""
    up = words[NEXT] | (words[NEXT] >> 4)
    up |= up >> 8
    up |= up >> 16
    return up | (up >> 32)


@kernel
def builders_of(suits: int, build: int) -> int:
    """The suits that may lie on any of `suits`, as four bits."""
    builders = 0
    for suit in range(N_SUITS):
        if (suits >> suit) & 1:
            builders |= BUILDERS[build, suit]
    return builders


@kernel
def is_safe(words: np.ndarray, index: int, game: Game) -> bool:
    """Whether a card that its foundation takes next may go up at once without losing a win.

    Call the card and all that could ever be needed to lie on it, directly or not, its followers: one rank
    lower the suits that may lie on it, one rank lower those that may lie on these, and so on; without
    worrying back only those that are not up yet. If each follower is up or next on its foundation, play a
    winning line with one change: whenever it moves a follower, put that up instead, where it stays. No
    other card ever lies on a follower, so the rest of the line can be played as it is.
    """
    rank, suits = index // N_SUITS, 1 << (index % N_SUITS)
    ready = next_or_up(words)
    up = ready & ~words[NEXT]
    for below in range(rank - 1, max(rank - 3, -1), -1):
        suits = builders_of(suits, game.build)
        if not game.worry_back:
            suits &= ~(up >> (N_SUITS * below))
        if suits & ~(ready >> (N_SUITS * below)):
            return False
    return True


@kernel
def safe_move(words: np.ndarray, bare: int, game: Game) -> int:
    """The index of a column card that may safely go up, or -1.

    A column card may always go. A talon card may if its leaving changes nothing for the others: with draw
    1 the waste's top, or any card where redeals are enough; without a redeal the waste's top; and with
    enough redeals the last card of the talon while the waste is pure, for then no group changes.
    """
    candidates = words[NEXT] & words[FACE_UP] & bare
    while candidates != 0:
        bit = lowest_bit(candidates)
        candidates ^= bit
        if is_safe(words, index_of(bit), game):
            return index_of(bit)
    return -1


@kernel
def safe_talon_move(words: np.ndarray, cards: np.ndarray, game: Game) -> int:
    """The index of a talon card that may safely go up, or -1; see `safe_move`."""
    candidates = words[NEXT] & words[TALON]
    while candidates != 0:
        bit = lowest_bit(candidates)
        candidates ^= bit
        index = index_of(bit)
        place = cards[0, index]
        on_top = words[LEFT] & ((1 << words[BORDER]) - 1) & (-1 << place) == 1 << place
        if words[REDEALS] == ENOUGH:
            last = words[LEFT] >> place == 1
            harmless = game.draw_count == 1 or (last and is_pure(words, game.draw_count))
        else:
            harmless = on_top and (game.draw_count == 1 or words[REDEALS] == 0)
        if harmless and is_safe(words, index, game):
            return index
    return -1


@kernel
def push_all(bits: int, target: int, moves: np.ndarray, top: int) -> int:
    """Put one move for each card of a set on the stack of moves; the new top."""
    while bits != 0:
        bit = lowest_bit(bits)
        bits ^= bit
        moves[top] = index_of(bit) * 4 + target
        top += 1
    return top


@kernel
def push_talon(
    places: int, wanted: int, land: int, gap_cards: int, words: np.ndarray, cards: np.ndarray, moves: np.ndarray, top: int
) -> int:
    """Put the moves of talon cards on the stack, the last place first, so that the first is tried first."""
    for place in range(23, -1, -1):
        if (places >> place) & 1:
            index = cards[3, place]
            bit = 1 << index
            if gap_cards & bit:
                moves[top] = index * 4 + GAP
                top += 1
            if wanted & bit:
                moves[top] = index * 4 + UP
                top += 1
            if land & bit:
                moves[top] = index * 4 + BUILT
                top += 1
    return top


@kernel
def worth_parking(words: np.ndarray, built: int, movable: int, build: int) -> int:
    """The built cards whose leaving lets another card land, or uncovers one that a foundation takes next.

    Until it does, a move of a built card to a gap can wait.
    """
    worth = 0
    for rank in range(N_RANKS - 1):
        shift = N_SUITS * rank
        on_hosts = (built >> shift) & RANK_BITS
        if on_hosts != 0:
            hosts = (words[FACE_UP] >> (shift + N_SUITS)) & RANK_BITS
            useful = ((words[NEXT] >> (shift + N_SUITS)) & RANK_BITS) | (((movable >> shift) & RANK_BITS) << N_SUITS)
            before = BETWEEN_RANKS[build, (hosts << N_SUITS) | on_hosts]
            useful &= ~before
            for suit in range(N_SUITS):
                card = 1 << suit
                after = BETWEEN_RANKS[build, (hosts << N_SUITS) | (on_hosts & ~card)]
                if on_hosts & card and after & useful & ~(card << N_SUITS):
                    worth |= card << shift
    return worth


@kernel
def push_moves(words: np.ndarray, bare: int, land: int, cards: np.ndarray, game: Game, moves: np.ndarray, top: int) -> int:
    """Put all moves worth trying on the stack, the best last; the new top."""
    face_up, heads, floor, wanted = words[FACE_UP], words[HEADS], words[FLOOR], words[NEXT]
    built = face_up & ~(heads | floor)
    gaps = N_COLUMNS - count_cards(heads | floor)
    gap_cards = game.gap_cards if gaps > 0 else 0
    now = reach_now(words, game.draw_count)
    later = reach_later(words, game.draw_count) & ~now
    tops = (wanted >> N_SUITS) & ALL_CARDS if game.worry_back else 0
    if game.worry_back:
        top = push_all(tops & gap_cards, GAP, moves, top)
        top = push_all(tops & land, BUILT, moves, top)
    parked = built & gap_cards
    if parked != 0 and game.parking:
        parked &= worth_parking(words, built, heads | floor | words[TALON] | tops, game.build)
    top = push_all(parked, GAP, moves, top)
    fillers = (heads | built | words[TALON] | tops) & game.gap_cards
    if (gaps == 0 and fillers != 0) or not game.idle:
        top = push_all(floor & land, BUILT, moves, top)
    top = push_talon(later, wanted, land, gap_cards, words, cards, moves, top)
    top = push_all(heads & gap_cards, GAP, moves, top)
    top = push_talon(now, wanted, land, gap_cards, words, cards, moves, top)
    top = push_all(wanted & bare & (built | floor), UP, moves, top)
    top = push_all(heads & land, BUILT, moves, top)
    return push_all(wanted & bare & heads, UP, moves, top)


@kernel
def key_of(words: np.ndarray, game: Game) -> tuple[np.uint64, int]:
    """The key of a position and how late it is, 1 or more.

    Of two positions with one key, all that the later one can do the earlier one can do too, after some
    draws and redeals: an earlier waste of the same pass, or any of an earlier pass if it is pure.
    """
    place, late = 0, 1
    if words[REDEALS] == ENOUGH:
        place = words[BORDER]
        if game.draw_count > 1 and place > 0:
            place = waste_size(words)
    elif game.draw_count == 1 or is_pure(words, game.draw_count):
        late = 2 + (game.redeals - words[REDEALS]) * 25 + waste_size(words)
    else:
        place = (words[REDEALS] << 5) + 32 + waste_size(words)
    key = mix(np.uint64(words[LEFT] | (words[DEPTHS] << 24)) + (np.uint64(place) << np.uint64(48)))
    key = mix(key ^ np.uint64(words[FLOOR]))
    return mix(key ^ np.uint64(words[FACE_UP])), late


@kernel
def is_new(key: np.uint64, late: int, slots: np.ndarray, time_bits: int) -> int:
    """Look a key up and enter it: 0 if it was there and not later, 1 if it was there but later, 2 if it is new.

    A slot holds the upper bits of a key and how late it is in the lower `time_bits`; 0 if it is free.
    slots: uint64[a power of two], at least one of them free.
    """
    shift = np.uint64(time_bits)
    entry = key >> shift << shift
    last = len(slots) - 1
    slot = np.int64(key >> shift) & last
    while slots[slot] != 0 and (slots[slot] >> shift << shift) != entry:
        slot = (slot + 1) & last
    found = slots[slot]
    if found == 0:
        slots[slot] = entry | np.uint64(late)
        return 2
    if np.int64(found ^ entry) <= late:
        return 0
    slots[slot] = entry | np.uint64(late)
    return 1


@kernel
def enter(
    frames: np.ndarray, moves: np.ndarray, slots: np.ndarray, counters: np.ndarray, cards: np.ndarray, game: Game
) -> None:
    """Visit the position of the frame above the top one, unless that was done before."""
    depth, top = counters[DEPTH] + 1, counters[TOP]
    words = frames[depth]
    bare, land = between(words, game.build)
    forced = -1
    if game.safe:
        forced = safe_move(words, bare, game)
        if forced < 0:
            forced = safe_talon_move(words, cards, game)
    if forced < 0:
        key, late = key_of(words, game)
        fresh = is_new(key, late, slots, game.time_bits)
        if fresh == 0:
            return
        counters[STORED] += fresh >> 1
    counters[VISITS] += 1
    words[MARK] = top
    if forced >= 0:
        moves[top] = forced * 4 + UP
        top += 1
    else:
        top = push_moves(words, bare, land, cards, game, moves, top)
    counters[TOP] = top
    counters[DEPTH] = depth


@kernel
def search_tails(
    frames: np.ndarray,
    moves: np.ndarray,
    slots: np.ndarray,
    counters: np.ndarray,
    cards: np.ndarray,
    packed: np.ndarray,
) -> int:
    """Go on with a depth-first search until it is decided, its limit of visits is reached or room is lacking.

    frames: int64[m, N_WORDS], the positions of the line now tried; moves: int64[k], a stack of the moves
    not tried yet; slots: uint64[a power of two], the positions visited; counters: int64[N_COUNTERS];
    cards: int64[4, 64], see `ColumnSearch`; packed: int64[10], the `Game`.
    """
    game = unpack(packed)
    room = len(frames) - 1
    if counters[DEPTH] < 0:
        enter(frames, moves, slots, counters, cards, game)
    while counters[DEPTH] >= 0:
        depth = counters[DEPTH]
        if frames[depth, NEXT] == RANK_BITS << (N_SUITS * N_RANKS):
            return SOLVED
        if counters[VISITS] >= counters[LIMIT]:
            return PAUSED
        if depth >= room:
            return MORE_FRAMES
        if counters[TOP] + MOST_MOVES > len(moves):
            return MORE_MOVES
        if counters[STORED] * 4 >= len(slots) * 3:
            return MORE_SLOTS
        if counters[TOP] == frames[depth, MARK]:
            counters[DEPTH] = depth - 1
            continue
        counters[TOP] -= 1
        move = moves[counters[TOP]]
        for word in range(N_WORDS):
            frames[depth + 1, word] = frames[depth, word]
        play_move(frames[depth + 1], move, cards, game.draw_count)
        frames[depth + 1, MOVE] = move
        enter(frames, moves, slots, counters, cards, game)
    return UNSOLVABLE


@kernel
def enter_all(old: np.ndarray, slots: np.ndarray, time_bits: int) -> None:
    """Enter all slots of a table into a larger one. old: uint64[k]; slots: uint64[2 * k], all 0 before."""
    last = len(slots) - 1
    for entry in old:
        if entry != 0:
            slot = np.int64(entry >> np.uint64(time_bits)) & last
            while slots[slot] != 0:
                slot = (slot + 1) & last
            slots[slot] = entry
