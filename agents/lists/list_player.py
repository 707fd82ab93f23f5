"""Playing a game to its end by Collins' list, as fast as we can: some hundred thousand games a second.

The moves are those of `klondike_env.agents.lists.collins`, one for one; a game holds only what the list asks for. For
each card it holds what it lies on, so a run moves as one. Sets of cards are kept up to date, not found anew. And the
stock is not drawn step by step. A draw changes only the waste's top, so once the steps that do not look at it have
failed, they fail until a card comes up that one of the other steps can use. The set of these cards is known, and the
first of them that drawing brings to the top is played.

The rules are those of the engine. Where a kernel here restates one of them in terms of its own games, it names its
authority in the engine; `tests/agents/test_list_player.py` compares the two in random positions.
"""

from __future__ import annotations

import numpy as np

from klondike_env.agents.lists.board import fitting
from klondike_env.cards import N_CARDS, N_SUITS, UNSEEN
from klondike_env.engine.card_arithmetic import rank_of, suit_of
from klondike_env.engine.card_sets import (
    BUILD_SETS,
    FULL_SUIT,
    GAP_SETS,
    SUIT_WIDTH,
    bit_of,
    card_of_bit,
    count_cards,
    lowest_bit,
)
from klondike_env.engine.jit import kernel
from klondike_env.engine.state import N_COLUMNS, TALON_SIZE
from klondike_env.engine.talon import comes_up, redeal_is_left, talon_is_free
from klondike_env.rules import BUILDS, RuleParams

NO_CARD = N_CARDS
NOWHERE = -1
NEVER = -1  # fewer face-down cards than there can be
_MOST_FACE_DOWN = N_COLUMNS - 1
# Far more moves than a game by the list has. A custom game in which it ran in circles would end here.
_MOST_MOVES = 400

# What is the same in all games from one determinization.
LAYOUT = np.dtype(
    [
        ("face_down", np.uint8, (N_COLUMNS, _MOST_FACE_DOWN)),  # the face-down cards of each column, from the bottom up
        ("talon", np.uint8, (TALON_SIZE,)),  # the talon's cards at the start
        ("index", np.uint8, (N_CARDS,)),  # where in the talon a card was at the start
    ],
    align=True,
)

# A game in play. Sets of cards are those of `klondike_env.engine.card_sets`.
GAME = np.dtype(
    [
        ("tops", np.int64),  # the columns' last cards
        ("heads", np.int64),  # the columns' first face-up cards
        ("face_up", np.int64),  # the face-up cards of the columns
        ("next", np.int64),  # the cards that the foundations take next; the bit above the king for a full one
        ("talon", np.int64),  # the talon's cards
        ("reach", np.int64),  # the talon cards that can be played, kept up to date only for the agent `tuned`
        ("left", np.int64),  # the talon's cards by their index at the start: a bit for each that is still there
        ("waste", np.int64),  # index of the waste's top, NOWHERE if there is none
        ("redeals_used", np.int64),
        ("moved", np.int64),  # whether a card was moved since the last redeal
        ("returned", np.int64),  # cards worried back, or split off a run, since the last irreversible move
        ("n_face_down", np.int64),
        ("n_gaps", np.int64),  # empty columns
        ("top", np.uint8, (8,)),  # the last card of each column, or NO_CARD
        ("head", np.uint8, (8,)),  # its first face-up card, or NO_CARD
        ("n_down", np.uint8, (8,)),  # its face-down cards
        ("below", np.uint8, (56,)),  # what a face-up card lies on; meaningless for heads
        ("above", np.uint8, (56,)),  # what lies on a face-up card; meaningless for tops
    ],
    align=True,
)

# _HOST_SUITS[build, suit]: the aces of the suits on which a card of `suit` may lie.
_HOST_SUITS = np.array(
    [
        [
            sum(
                1 << SUIT_WIDTH * below for below in range(N_SUITS) if BUILD_SETS[build, below] >> SUIT_WIDTH * suit & 1
            )
            for suit in range(N_SUITS)
        ]
        for build in range(len(BUILDS))
    ],
    dtype=np.int64,
)
CARDS = sum(FULL_SUIT << SUIT_WIDTH * suit for suit in range(N_SUITS))


@kernel
def hosts_of(card: int, rules: RuleParams) -> int:
    """The set of cards on which a card may be built; above the kings there is none."""
    return (int(_HOST_SUITS[rules.build, suit_of(card)]) << (rank_of(card) + 1)) & CARDS


# --- reading a position ------------------------------------------------------------------------------


@kernel
def read_column(states: np.ndarray, i: int, column: int, games: np.ndarray, g: int) -> None:
    """Read the face-up cards of one column."""
    height, n_down = int(states[i]["height"][column]), int(states[i]["face_down"][column])
    games[g]["n_down"][column] = n_down
    games[g]["n_face_down"] += n_down
    games[g]["head"][column] = NO_CARD
    games[g]["top"][column] = NO_CARD
    if height == 0:
        games[g]["n_gaps"] += 1
        return
    card = int(states[i]["columns"][column, n_down])
    games[g]["head"][column] = card
    games[g]["heads"] |= bit_of(card)
    for row in range(n_down + 1, height):
        upper = int(states[i]["columns"][column, row])
        games[g]["below"][upper] = card
        games[g]["above"][card] = upper
        card = upper
    games[g]["top"][column] = card
    games[g]["tops"] |= bit_of(card)


@kernel
def read_game(states: np.ndarray, i: int, games: np.ndarray, g: int) -> None:
    """Make game `g` that of record `i`, but for the talon's cards, see `index_talon`."""
    games[g]["tops"] = 0
    games[g]["heads"] = 0
    games[g]["n_face_down"] = 0
    games[g]["n_gaps"] = 0
    for column in range(N_COLUMNS):
        read_column(states, i, column, games, g)
    games[g]["face_up"] = states[i]["face_up"]
    games[g]["next"] = 0
    for suit in range(N_SUITS):
        games[g]["next"] |= (1 << int(states[i]["foundation"][suit])) << (SUIT_WIDTH * suit)
    games[g]["talon"] = 0
    games[g]["left"] = (1 << int(states[i]["talon_size"])) - 1
    games[g]["waste"] = int(states[i]["waste_size"]) - 1
    games[g]["redeals_used"] = states[i]["redeals_used"]
    games[g]["moved"] = 1
    games[g]["returned"] = 0


@kernel
def read_layout(states: np.ndarray, i: int, layouts: np.ndarray) -> None:
    """Make the only layout that of record `i`; unseen cards stay UNSEEN."""
    for column in range(N_COLUMNS):
        for row in range(int(states[i]["face_down"][column])):
            layouts[0]["face_down"][column, row] = states[i]["columns"][column, row]
    for index in range(int(states[i]["talon_size"])):
        layouts[0]["talon"][index] = states[i]["talon"][index]


@kernel
def index_talon(states: np.ndarray, i: int, layouts: np.ndarray, games: np.ndarray, g: int) -> None:
    """Record the place of each known talon card."""
    cards = 0
    for index in range(int(states[i]["talon_size"])):
        card = int(layouts[0]["talon"][index])
        if card != UNSEEN:
            layouts[0]["index"][card] = index
            cards |= bit_of(card)
    games[g]["talon"] = cards


@kernel
def read_position(states: np.ndarray, i: int, games: np.ndarray, layouts: np.ndarray) -> None:
    """Make the first game, and the layout, that of record `i`."""
    read_layout(states, i, layouts)
    read_game(states, i, games, 0)
    index_talon(states, i, layouts, games, 0)


# --- moving cards ------------------------------------------------------------------------------------


@kernel
def place_run(games: np.ndarray, g: int, card: int, last: int, column: int) -> None:
    """Place a run, `card` to `last`, on a column; the sets of face-up cards and of tops have these cards already."""
    below = int(games[g]["top"][column])
    if below == NO_CARD:
        games[g]["head"][column] = card
        games[g]["heads"] |= bit_of(card)
        games[g]["n_gaps"] -= 1
    else:
        games[g]["above"][below] = card
        games[g]["below"][card] = below
        games[g]["tops"] &= ~bit_of(below)
    games[g]["top"][column] = last


@kernel
def turn_up(games: np.ndarray, g: int, column: int, layouts: np.ndarray) -> None:
    """Turn a card up in a column that has lost all its face-up cards, or leave a gap."""
    n_down = int(games[g]["n_down"][column])
    if n_down == 0:
        games[g]["head"][column] = NO_CARD
        games[g]["top"][column] = NO_CARD
        games[g]["n_gaps"] += 1
        return
    card = int(layouts[0]["face_down"][column, n_down - 1])
    bit = bit_of(card)
    games[g]["n_down"][column] = n_down - 1
    games[g]["n_face_down"] -= 1
    games[g]["head"][column] = card
    games[g]["top"][column] = card
    games[g]["heads"] |= bit
    games[g]["tops"] |= bit
    games[g]["face_up"] |= bit


@kernel
def move_run(games: np.ndarray, g: int, source: int, target: int, layouts: np.ndarray) -> None:
    """Move all face-up cards of a column to another."""
    card = int(games[g]["head"][source])
    games[g]["heads"] &= ~bit_of(card)
    place_run(games, g, card, int(games[g]["top"][source]), target)
    turn_up(games, g, source, layouts)


@kernel
def move_tail(games: np.ndarray, g: int, card: int, source: int, target: int) -> None:
    """Move a card that lies on a face-up one, with all that lies on it, to another column."""
    below, last = int(games[g]["below"][card]), int(games[g]["top"][source])
    games[g]["top"][source] = below
    games[g]["tops"] |= bit_of(below)
    place_run(games, g, card, last, target)


@kernel
def place_single(games: np.ndarray, g: int, card: int, target: int) -> None:
    """Place a card from the talon or a foundation on a column."""
    games[g]["tops"] |= bit_of(card)
    games[g]["face_up"] |= bit_of(card)
    place_run(games, g, card, card, target)


@kernel
def shift_foundation(games: np.ndarray, g: int, card: int) -> None:
    """Put a card on its foundation, or take it off, whichever is possible."""
    bit = bit_of(card)
    games[g]["next"] ^= bit | bit << 1


@kernel
def send_to_foundation(games: np.ndarray, g: int, column: int, layouts: np.ndarray) -> None:
    """Send the last card of a column to its foundation."""
    card = int(games[g]["top"][column])
    bit = bit_of(card)
    shift_foundation(games, g, card)
    games[g]["tops"] &= ~bit
    games[g]["face_up"] &= ~bit
    if int(games[g]["head"][column]) == card:
        games[g]["heads"] &= ~bit
        turn_up(games, g, column, layouts)
    else:
        below = int(games[g]["below"][card])
        games[g]["top"][column] = below
        games[g]["tops"] |= bit_of(below)


@kernel
def highest_index(indices: int) -> int:
    """The highest of a set of talon indices, or NOWHERE."""
    indices |= indices >> 1
    indices |= indices >> 2
    indices |= indices >> 4
    indices |= indices >> 8
    indices |= indices >> 16
    return count_cards(indices) - 1


@kernel
def take_waste(games: np.ndarray, g: int, card: int) -> None:
    """Take the top card off the waste."""
    index = int(games[g]["waste"])
    games[g]["left"] ^= 1 << index
    games[g]["talon"] &= ~bit_of(card)
    games[g]["waste"] = highest_index(int(games[g]["left"]) & ((1 << index) - 1))


# --- the talon ---------------------------------------------------------------------------------------


@kernel
def waste_card(games: np.ndarray, g: int, layouts: np.ndarray) -> int:
    """The waste's top card, or NO_CARD."""
    index = int(games[g]["waste"])
    return int(layouts[0]["talon"][index]) if index >= 0 else NO_CARD


@kernel
def set_of(card: int) -> int:
    """The set that holds one card, or the empty set for NO_CARD."""
    return bit_of(card) if card != NO_CARD else 0


@kernel
def stock_of(left: int, waste: int) -> int:
    """The stock as talon indices, of those left in the talon. waste: index of the waste's top, or NOWHERE."""
    return left & -(1 << (waste + 1))


@kernel
def waste_of(left: int, waste: int) -> int:
    """The waste as talon indices; arguments as for `stock_of`."""
    return left & ~stock_of(left, waste)


@kernel
def draw_end(stock: int, draw_count: int) -> int:
    """The card that a draw from a stock that is not empty brings to the waste's top; both as talon indices.

    The authority is `klondike_env.engine.talon.draw_or_redeal`.
    """
    for _ in range(draw_count - 1):
        rest = stock & (stock - 1)
        stock = rest if rest != 0 else stock
    return lowest_bit(stock)


@kernel
def comes_up_at(stock: int, index: int, draw_count: int) -> bool:
    """Whether drawing from a stock, given as talon indices, brings one of its cards to the waste's top."""
    return draw_count == 1 or comes_up(count_cards(stock & ((2 << index) - 1)), count_cards(stock), draw_count)


@kernel
def first_up(games: np.ndarray, g: int, cards: int, start: int, layouts: np.ndarray, draw_count: int) -> int:
    """The talon index of the first of a set of talon cards that drawing brings up, or NOWHERE.

    start: index of the waste's top before the first draw.
    """
    stock = stock_of(int(games[g]["left"]), start)
    first = TALON_SIZE
    while cards != 0:
        bit = lowest_bit(cards)
        cards ^= bit
        index = int(layouts[0]["index"][card_of_bit(bit)])
        if start < index < first and comes_up_at(stock, index, draw_count):
            first = index
    return first if first < TALON_SIZE else NOWHERE


@kernel
def may_redeal(games: np.ndarray, g: int, rules: RuleParams) -> bool:
    """Whether a redeal is left."""
    return redeal_is_left(int(games[g]["redeals_used"]), rules.redeals)


@kernel
def redeal(games: np.ndarray, g: int) -> None:
    """Turn the waste over."""
    games[g]["waste"] = NOWHERE
    games[g]["redeals_used"] += 1
    games[g]["moved"] = 0


@kernel
def draw_to(games: np.ndarray, g: int, useful: int, layouts: np.ndarray, rules: RuleParams) -> bool:
    """Steps 5 to 7: draw and redeal until one of the useful talon cards is the waste's top; return whether one is."""
    index = first_up(games, g, useful, int(games[g]["waste"]), layouts, rules.draw_count)
    if index == NOWHERE and int(games[g]["moved"]) and may_redeal(games, g, rules):
        redeal(games, g)
        index = first_up(games, g, useful, NOWHERE, layouts, rules.draw_count)
    games[g]["waste"] = index
    return index != NOWHERE


@kernel
def draw_or_redeal(games: np.ndarray, g: int, rules: RuleParams) -> None:
    """Draw, or redeal when the stock is empty."""
    stock = stock_of(int(games[g]["left"]), int(games[g]["waste"]))
    if stock == 0:
        redeal(games, g)
    else:
        games[g]["waste"] = count_cards(draw_end(stock, rules.draw_count) - 1)


# --- Collins' list -----------------------------------------------------------------------------------


@kernel
def gap_takes(games: np.ndarray, g: int, rules: RuleParams) -> int:
    """The set of cards that an empty column takes, if there is one.

    The authority is `klondike_env.engine.queries.gap_takes`.
    """
    return int(GAP_SETS[rules.gaps]) if int(games[g]["n_gaps"]) > 0 else 0


@kernel
def find_column(games: np.ndarray, g: int, card: int, gaps: int, rules: RuleParams) -> int:
    """The first column from the left that takes a card, or NOWHERE. gaps: the cards that an empty column takes."""
    hosts, fills = hosts_of(card, rules), gaps & bit_of(card) != 0
    for column in range(N_COLUMNS):
        below = int(games[g]["top"][column])
        if (fills and below == NO_CARD) or (hosts & set_of(below)) != 0:
            return column
    return NOWHERE


@kernel
def find_run(games: np.ndarray, g: int, room: int, gaps: int) -> int:
    """The column whose run step 1 moves, or NOWHERE."""
    if int(games[g]["heads"]) & (room | gaps) == 0:
        return NOWHERE
    best = -1
    for column in range(N_COLUMNS):
        n_down = int(games[g]["n_down"][column])
        allowed = room | (gaps if n_down > 0 else 0)
        movable = set_of(int(games[g]["head"][column])) & allowed != 0
        best = max(best, n_down * N_COLUMNS + column if movable else -1)  # of equals the rightmost
    return best % N_COLUMNS if best >= 0 else NOWHERE


@kernel
def play_run(games: np.ndarray, g: int, source: int, gaps: int, layouts: np.ndarray, rules: RuleParams) -> None:
    """Step 1, columns: the run of a column to the first column that takes it."""
    allowed = gaps if int(games[g]["n_down"][source]) > 0 else 0
    move_run(games, g, source, find_column(games, g, int(games[g]["head"][source]), allowed, rules), layouts)


@kernel
def play_to_foundation(games: np.ndarray, g: int, wanted: int, card: int, layouts: np.ndarray) -> None:
    """Step 2: a card to its foundation, from the columns left to right, then from the waste, where it is `card`."""
    if wanted & int(games[g]["tops"]) == 0:
        shift_foundation(games, g, card)
        take_waste(games, g, card)
        return
    column = 0
    while wanted & set_of(int(games[g]["top"][column])) == 0:
        column += 1
    send_to_foundation(games, g, column, layouts)


@kernel
def worry_back(games: np.ndarray, g: int, candidates: int, followers: int, rules: RuleParams) -> None:
    """Step 3: put on a column the first of the candidates, foundation cards, on which one of the followers fits."""
    bit = lowest_bit(candidates)
    while fitting(bit, rules) & followers == 0:
        candidates ^= bit
        bit = lowest_bit(candidates)
    card = card_of_bit(bit)
    shift_foundation(games, g, card)
    place_single(games, g, card, find_column(games, g, card, 0, rules))


@kernel
def find_cover(games: np.ndarray, g: int, buried: int, room: int, rules: RuleParams) -> int:
    """Step 4: the first card of what is split off one of the buried cards, or NO_CARD."""
    room &= int(games[g]["tops"]) if rules.whole_runs else -1
    while buried != 0:
        bit = lowest_bit(buried)
        buried ^= bit
        cover = int(games[g]["above"][card_of_bit(bit)])
        if bit_of(cover) & room != 0:
            return cover
    return NO_CARD


@kernel
def column_of(games: np.ndarray, g: int, card: int) -> int:
    """The column that holds a face-up card."""
    while bit_of(card) & int(games[g]["tops"]) == 0:
        card = int(games[g]["above"][card])
    column = 0
    while int(games[g]["top"][column]) != card:
        column += 1
    return column


@kernel
def play_next(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams) -> bool:
    """Make the next move of a card by Collins' list, with all draws before it; return False if it gives up."""
    tops = int(games[g]["tops"])
    room = fitting(tops, rules)
    gaps = gap_takes(games, g, rules)
    source = find_run(games, g, room, gaps)
    if source != NOWHERE:
        play_run(games, g, source, gaps, layouts, rules)
        games[g]["moved"] = 1
        return True
    wanted = int(games[g]["next"]) & CARDS
    candidates = room & (int(games[g]["next"]) >> 1) & CARDS if rules.worry_back else 0
    returning = fitting(candidates, rules) if candidates != 0 else 0
    buried = wanted & int(games[g]["face_up"]) & ~tops
    cover = NO_CARD
    useful = room | gaps | wanted | returning
    bit = set_of(waste_card(games, g, layouts))
    if bit & useful == 0 and wanted & tops == 0 and returning & int(games[g]["heads"]) == 0:
        cover = find_cover(games, g, buried, room, rules)
        if cover == NO_CARD and not draw_to(games, g, useful & int(games[g]["talon"]), layouts, rules):
            return False
    card = waste_card(games, g, layouts)
    bit = set_of(card)
    games[g]["moved"] = 1
    if cover != NO_CARD:
        source = column_of(games, g, cover)
        move_tail(games, g, cover, source, find_column(games, g, cover, 0, rules))
    elif bit & (room | gaps) != 0:
        target = find_column(games, g, card, gaps, rules)
        take_waste(games, g, card)
        place_single(games, g, card, target)
    elif wanted & (tops | bit) != 0:
        play_to_foundation(games, g, wanted, card, layouts)
    else:
        worry_back(games, g, candidates, int(games[g]["heads"]) | bit, rules)
    return True


@kernel
def is_decided(games: np.ndarray, g: int, rules: RuleParams, enough: int) -> bool:
    """Whether at most `enough` cards are face down, or the win is certain.

    The authority on the latter is `klondike_env.engine.queries.is_decided`.
    """
    if int(games[g]["n_face_down"]) <= enough:
        return True
    return int(games[g]["n_face_down"]) == 0 and talon_is_free(count_cards(int(games[g]["left"])), rules)


@kernel
def play_out(games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams, enough: int) -> bool:
    """Play a game to its end by Collins' list; return whether it is won.

    games: GAME[n]; layouts: LAYOUT[1]; enough: at most this many face-down cards count as a win, NEVER for no such
    rule.
    """
    for _ in range(_MOST_MOVES):
        if is_decided(games, g, rules, enough):
            return True
        if not play_next(games, g, layouts, rules):
            return False
    return False
