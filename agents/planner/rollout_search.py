"""The search behind `klondike_env.agents.planner.rollout`: what each action is worth, by games played to their end
from it.

A search compares candidates in one position. A sample lays the unseen cards at random, once for all
candidates, and plays each candidate and then Collins' list to the end. The first candidate is what the
list itself plays; of every other one it is counted how often it wins where the first loses (`gained`) and
loses where the first wins (`lost`), for only these samples tell the two apart.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from klondike_env.agents.chance import visible_word
from klondike_env.agents.lists.collins import choose
from klondike_env.agents.lists.greedy import priority
from klondike_env.agents.lists.list_player import (
    determinize,
    lay_single,
    move_tail,
    move_whole,
    pass_home,
    play_out,
    put_up_top,
    read_game,
    read_layout,
    stock_of,
    take_waste,
    tap_stock,
)
from klondike_env.agents.tuned.agent import Marking, play_out_tuned
from klondike_env.engine.actions import (
    N_ACTIONS,
    N_DESTINATIONS,
    RESIGN,
    STOCK_ACTION,
    TO_FOUNDATION,
)
from klondike_env.engine.apply import target_column
from klondike_env.engine.card_sets import count_cards
from klondike_env.engine.determinize import gather_unplaced
from klondike_env.engine.jit import kernel
from klondike_env.engine.mixer import GOLDEN_GAMMA, mix
from klondike_env.engine.state import FOUNDATION, TALON
from klondike_env.engine.talon import draw_or_redeal
from klondike_env.rules import RuleParams

# At most 28 plays onto seven tops, four cards onto each; 52 to a gap; 4 to foundations; the stock; and RESIGN.
MAX_CANDIDATES = 88
# Steps without progress before a position is given up in which no sample was ever won.
_PATIENCE = 8
# Samples, all won or all lost, after which no more are drawn; the latter grow with what is allowed, within bounds.
_ENOUGH_WON, _ENOUGH_LOST, _MOST_LOST = 48, 64, 500

SEARCH = np.dtype(
    [
        ("n_candidates", np.int32),
        ("n_samples", np.int32),  # samples so far
        ("n_won", np.int32),  # samples that the first candidate won
        ("over", np.bool_),  # whether more samples are not worth it
        ("action", np.int16, (MAX_CANDIDATES,)),  # the candidates; the first is RESIGN where the list gives up
        ("alive", np.uint8, (MAX_CANDIDATES,)),  # whether it is still sampled
        ("gained", np.int32, (MAX_CANDIDATES,)),
        ("lost", np.int32, (MAX_CANDIDATES,)),
    ],
    align=True,
)


class Confidence(NamedTuple):
    """When evidence is enough, in standard deviations."""

    leave: float  # to play another candidate than the first
    drop: float = 2.0  # to sample a candidate no more
    stop: float = 3.0  # to end a search, because the only candidate left is so much better than the first
    trifle: float = 0.01  # an advantage that is not worth more samples, as a part of the most it could be


# --- the first candidate -----------------------------------------------------------------------------


@kernel
def first_play(views: np.ndarray, i: int, rules: RuleParams, reach: int, scratch: np.ndarray, moved: np.ndarray) -> int:
    """What Collins' list plays, or RESIGN; with `reach` the first card it plays when it taps through the seen stock.

    scratch: STATE[1]; moved: uint8[1]; both overwritten.
    """
    scratch[0] = views[i]
    moved[0] = 1
    action = choose(scratch, 0, rules, moved)
    while reach and action == STOCK_ACTION and not draw_or_redeal(scratch, 0, rules):
        action = choose(scratch, 0, rules, moved)
    return action


@kernel
def first_plays(
    views: np.ndarray,
    rows: np.ndarray,
    rules: RuleParams,
    reach: int,
    firsts: np.ndarray,
    scratch: np.ndarray,
    moved: np.ndarray,
) -> None:
    """What Collins' list plays in each of some rows. rows: int64[m]; firsts: int64[n], overwritten there."""
    for k in range(len(rows)):
        firsts[rows[k]] = first_play(views, rows[k], rules, reach, scratch, moved)


# --- candidates --------------------------------------------------------------------------------------


@kernel
def add_candidate(searches: np.ndarray, k: int, action: int) -> None:
    """Add a candidate."""
    c = int(searches[k]["n_candidates"])
    searches[k]["action"][c] = action
    searches[k]["alive"][c] = 1
    searches[k]["gained"][c] = 0
    searches[k]["lost"][c] = 0
    searches[k]["n_candidates"] = c + 1


@kernel
def begin_search(masks: np.ndarray, i: int, first: int, searches: np.ndarray, k: int) -> None:
    """Begin a search in row `i`: its candidates are the legal actions, with `first` in front if it is one."""
    searches[k]["n_candidates"] = 0
    searches[k]["n_samples"] = 0
    searches[k]["n_won"] = 0
    add_candidate(searches, k, first if first != RESIGN and masks[i, first] else RESIGN)
    for action in range(N_ACTIONS):
        if masks[i, action] and action != first:
            add_candidate(searches, k, action)
    searches[k]["over"] = int(searches[k]["n_candidates"]) == 1


@kernel
def begin_searches(masks: np.ndarray, rows: np.ndarray, firsts: np.ndarray, searches: np.ndarray) -> None:
    """Begin a search for each of some rows.

    masks: int8[n, 313]; rows: int64[m]; firsts: int64[n], what the base plays; searches: SEARCH[m], overwritten.
    """
    for k in range(len(rows)):
        begin_search(masks, rows[k], firsts[rows[k]], searches, k)


# --- playing a candidate -----------------------------------------------------------------------------


@kernel
def reach_card(games: np.ndarray, g: int, card: int, layouts: np.ndarray, rules: RuleParams) -> None:
    """Make a talon card the waste's top, and take it."""
    index, waste = int(layouts[0]["index"][card]), int(games[g]["waste"])
    left = int(games[g]["left"])
    ahead = count_cards(stock_of(left, waste) & ((2 << index) - 1))
    if index < waste or (ahead % rules.draw_count != 0 and left >> (index + 1) != 0):
        games[g]["redeals_used"] += 1
    games[g]["waste"] = index
    take_waste(games, g, card)


@kernel
def play_action(
    views: np.ndarray, i: int, action: int, games: np.ndarray, g: int, layouts: np.ndarray, rules: RuleParams
) -> None:
    """Play a legal action in a game that stands as view `i` does."""
    if action == STOCK_ACTION:
        tap_stock(games, g, rules)
        return
    card, destination = action // N_DESTINATIONS, action % N_DESTINATIONS
    place = int(views[i]["place"][card])
    if place == TALON:
        reach_card(games, g, card, layouts, rules)
    if destination == TO_FOUNDATION:
        if place == TALON:
            pass_home(games, g, card)
        else:
            put_up_top(games, g, place, layouts)
        return
    target = target_column(views, i, card, destination)
    if place == FOUNDATION:
        pass_home(games, g, card)
    if place in (FOUNDATION, TALON):
        lay_single(games, g, card, target)
    elif int(games[g]["head"][place]) == card:
        move_whole(games, g, place, target, layouts)
    else:
        move_tail(games, g, card, place, target)


# --- sampling ----------------------------------------------------------------------------------------


@kernel
def count_sample(searches: np.ndarray, k: int, c: int, won: bool, first_won: bool) -> None:
    """Count how a sample went for one candidate."""
    if c == 0:
        searches[k]["n_won"] += won
    elif won and not first_won:
        searches[k]["gained"][c] += 1
    elif first_won and not won:
        searches[k]["lost"][c] += 1


@kernel
def sample_once(
    views: np.ndarray,
    i: int,
    rules: RuleParams,
    marking: Marking,
    enough: int,
    searches: np.ndarray,
    k: int,
    games: np.ndarray,
    layouts: np.ndarray,
) -> None:
    """Play every candidate that is alive to the end of the game in one determinization, which is in games[0]."""
    first_won = False
    for c in range(int(searches[k]["n_candidates"])):
        action = int(searches[k]["action"][c])
        if searches[k]["alive"][c] and action != RESIGN:
            games[1] = games[0]
            play_action(views, i, action, games, 1, layouts, rules)
            if len(marking.weights) > 0:
                won = play_out_tuned(games, 1, layouts, rules, enough, marking)
            else:
                won = play_out(games, 1, layouts, rules, enough)
            first_won = first_won or (won and c == 0)
            count_sample(searches, k, c, won, first_won)


@kernel
def advantage(searches: np.ndarray, k: int, c: int) -> int:
    """Samples that a candidate won beyond those that the first won."""
    return int(searches[k]["gained"][c]) - int(searches[k]["lost"][c])


@kernel
def discordant(searches: np.ndarray, k: int, c: int) -> int:
    """Samples that a candidate and the first ended differently."""
    return int(searches[k]["gained"][c]) + int(searches[k]["lost"][c])


@kernel
def find_leader(searches: np.ndarray, k: int) -> int:
    """The candidate of largest advantage among those that are alive, the first included."""
    leader = 0
    for c in range(1, int(searches[k]["n_candidates"])):
        if searches[k]["alive"][c] and advantage(searches, k, c) > advantage(searches, k, leader):
            leader = c
    return leader


@kernel
def is_hopeless(searches: np.ndarray, k: int, c: int, leader: int, confidence: Confidence) -> bool:
    """Whether a candidate will hardly turn out better than the leader, or than the first by more than a trifle."""
    ahead, spread = advantage(searches, k, c), discordant(searches, k, c)
    if leader not in (0, c):
        behind = advantage(searches, k, leader) - ahead
        if behind > confidence.drop * sqrt(spread + discordant(searches, k, leader)):
            return True
    if int(searches[k]["action"][0]) == RESIGN:
        return False
    n, won = int(searches[k]["n_samples"]), int(searches[k]["n_won"])
    share = (won + 1) / (n + 2)
    hope = ahead + confidence.drop * sqrt(spread + confidence.drop**2)
    return hope < confidence.trifle * 4 * share * (1 - share) * n


@kernel
def is_one_sided(searches: np.ndarray, k: int, limit: int) -> bool:
    """Whether enough samples were all won by the first candidate, or all lost by all candidates."""
    n, won = int(searches[k]["n_samples"]), int(searches[k]["n_won"])
    best = won + advantage(searches, k, find_leader(searches, k))
    return (won == n and n >= _ENOUGH_WON) or (best == 0 and n >= max(_ENOUGH_LOST, min(limit // 4, _MOST_LOST)))


@kernel
def judge(searches: np.ndarray, k: int, limit: int, confidence: Confidence) -> None:
    """Drop hopeless candidates, and end the search where nothing is left to find out. limit: samples at most."""
    leader, n_alive = find_leader(searches, k), 0
    for c in range(1, int(searches[k]["n_candidates"])):
        if searches[k]["alive"][c] and is_hopeless(searches, k, c, leader, confidence):
            searches[k]["alive"][c] = 0
        n_alive += int(searches[k]["alive"][c])
    clear = advantage(searches, k, leader) > confidence.stop * sqrt(discordant(searches, k, leader))
    searches[k]["over"] = n_alive == 0 or (n_alive == 1 and clear) or is_one_sided(searches, k, limit)


@kernel
def judge_all(searches: np.ndarray, limit: int, confidence: Confidence) -> None:
    """Judge every search that is not over. searches: SEARCH[m]; limit: samples at most for each."""
    for k in range(len(searches)):
        if not searches[k]["over"]:
            judge(searches, k, limit, confidence)


@kernel
def sample_seed(word: np.uint64, sample: int) -> np.uint64:
    """The seed of a determinization: `word` is that of the view, `sample` counts from 0."""
    return mix(word + np.uint64(sample + 1) * GOLDEN_GAMMA)


@kernel
def seed_samples(views: np.ndarray, i: int, seed: int, start: int, seeds: np.ndarray) -> None:
    """Write the seeds of the samples of view `i` from sample `start` on. seeds: uint64[m], overwritten."""
    word = visible_word(views, i, seed)
    for k in range(len(seeds)):
        seeds[k] = sample_seed(word, start + k)


@kernel
def sample_all(
    views: np.ndarray,
    rows: np.ndarray,
    rules: RuleParams,
    marking: Marking,
    enough: int,
    seed: int,
    until: int,
    searches: np.ndarray,
    games: np.ndarray,
    layouts: np.ndarray,
    cards: np.ndarray,
) -> None:
    """Sample in each row whose search is not over until it has `until` samples.

    rows: int64[m]; marking: that of `tuned`, or none for Collins' list; enough: as for
    `klondike_env.agents.lists.list_player.play_out`; searches: SEARCH[m]; scratch are games: GAME[2], layouts:
    LAYOUT[1] and cards: uint8[2, 52].
    """
    for k in range(len(rows)):
        i = rows[k]
        if not searches[k]["over"]:
            word = visible_word(views, i, seed)
            n_unseen = gather_unplaced(views, i, cards[0])
            read_layout(views, i, layouts)
            read_game(views, i, games, 0)
            for sample in range(int(searches[k]["n_samples"]), until):
                determinize(views, i, sample_seed(word, sample), cards[0], n_unseen, cards[1], layouts, games, 0)
                sample_once(views, i, rules, marking, enough, searches, k, games, layouts)
            searches[k]["n_samples"] = until


# --- deciding ----------------------------------------------------------------------------------------


@kernel
def find_last_resort(views: np.ndarray, i: int, searches: np.ndarray, k: int) -> int:
    """A play where no sample was won and the list gives up: the most promising kind, or RESIGN after a while."""
    best = RESIGN
    if int(views[i]["since_progress"]) < _PATIENCE:
        for c in range(1, int(searches[k]["n_candidates"])):
            action = int(searches[k]["action"][c])
            if best == RESIGN or priority(views, i, action) < priority(views, i, best):
                best = action
    return best


@kernel
def decide(views: np.ndarray, i: int, searches: np.ndarray, k: int, confidence: Confidence) -> int:
    """The action to play after a search."""
    leader = 0
    for c in range(1, int(searches[k]["n_candidates"])):
        ahead = advantage(searches, k, c)
        proven = ahead >= confidence.leave * sqrt(discordant(searches, k, c)) or int(searches[k]["action"][0]) == RESIGN
        if proven and ahead > advantage(searches, k, leader):
            leader = c
    if int(searches[k]["action"][leader]) == RESIGN:
        return find_last_resort(views, i, searches, k)
    return int(searches[k]["action"][leader])


@kernel
def decide_all(
    views: np.ndarray, rows: np.ndarray, searches: np.ndarray, confidence: Confidence, actions: np.ndarray
) -> None:
    """Decide in each of some rows. rows: int64[m]; searches: SEARCH[m]; actions: int64[n], overwritten there."""
    for k in range(len(rows)):
        actions[rows[k]] = decide(views, rows[k], searches, k, confidence)
