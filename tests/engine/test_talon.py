"""The kernels that compute draws against drawing card by card, for every talon and every draw count."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from klondike_env.engine.state import TALON_SIZE
from klondike_env.engine.talon import (
    comes_up,
    draw_stops,
    draws_for,
    draws_to,
    needs_redeal,
    reachable_places,
    redeal_is_left,
)
from klondike_env.rules import MAX_DRAW_COUNT, UNLIMITED

DRAW_COUNTS = range(1, MAX_DRAW_COUNT + 1)


def talons() -> Iterator[tuple[int, int]]:
    """Every size of the talon with every size of its waste."""
    yield from ((size, waste) for size in range(TALON_SIZE + 1) for waste in range(size + 1))


def stops_of_pass(size: int, waste: int, draw_count: int) -> list[int]:
    """The places that come to the waste's top, in order, when cards are drawn until the stock is empty."""
    stock, stops = list(range(waste, size)), []
    while stock:
        turned, stock = stock[:draw_count], stock[draw_count:]
        stops.append(turned[-1])
    return stops


def as_set(places: list[int]) -> int:
    return sum(1 << place for place in places)


@pytest.mark.parametrize("draw_count", DRAW_COUNTS)
def test_draws_stop_where_cards_drawn_one_by_one_do(draw_count: int) -> None:
    for size, waste in talons():
        stops = stops_of_pass(size, waste, draw_count)
        assert draw_stops(size, waste, draw_count) == as_set(stops)
        assert draws_for(size - waste, draw_count) == len(stops)
        up = [place for place in range(waste, size) if comes_up(place + 1 - waste, size - waste, draw_count)]
        assert up == stops


@pytest.mark.parametrize("draw_count", DRAW_COUNTS)
def test_cards_are_reached_in_as_many_draws_as_are_made(draw_count: int) -> None:
    for size, waste in talons():
        tops: list[int | None] = [waste - 1 if waste else None]
        tops += stops_of_pass(size, waste, draw_count)
        before_redeal = len(tops)
        tops += [None, *stops_of_pass(size, 0, draw_count)]
        for place in {top for top in tops if top is not None}:
            assert draws_to(size, waste, place, draw_count) == tops.index(place)
            assert needs_redeal(size, waste, place, draw_count) == (tops.index(place) >= before_redeal)


@pytest.mark.parametrize("draw_count", DRAW_COUNTS)
def test_only_seen_cards_are_reached(draw_count: int) -> None:
    for size, waste in talons():
        for seen in range(waste, size + 1):
            for may_redeal in (False, True):
                reached = [waste - 1] * (waste > 0)
                reached += [stop for stop in stops_of_pass(size, waste, draw_count) if stop < seen]
                if seen == size and may_redeal:
                    reached += stops_of_pass(size, 0, draw_count)
                assert reachable_places(size, waste, seen, draw_count, may_redeal) == as_set(sorted(set(reached)))


@pytest.mark.parametrize(
    ("used", "redeals", "left"), [(0, 0, False), (0, 1, True), (1, 1, False), (9, UNLIMITED, True)]
)
def test_redeals_are_left_until_the_rules_allow_no_more(used: int, redeals: int, left: bool) -> None:
    assert redeal_is_left(used, redeals) == left
