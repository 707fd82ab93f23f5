"""Sets of deals that `reset()` draws from: lists, ranges and files of deal numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from klondike_env.deals import TRAINING_DEALS, check_deals

MOST_DRAWS = 10_000  # a source gives up when none of this many deals fits

_NUMBER = re.compile(r"[0-9]{1,16}")
_RANGE = re.compile(r"(\d+)\s*-\s*(\d+)")


def read_deal_set(deals: str | Sequence[int] | None) -> Sequence[int]:
    """The deal numbers that the setting `deals` names; a number that occurs twice is dealt twice as often.

    Args:
        deals: None for all training deals; a list of deal numbers; a range, both ends included, such as
            "2000000-2009999"; or the path of a text file with one number a line, where # starts a comment.

    Raises:
        ValueError: the file cannot be read, a line is not a deal number, a number is out of range, or there
            are no deals at all.
    """
    if deals is None:
        return TRAINING_DEALS
    if not isinstance(deals, str):
        if not isinstance(deals, range) and np.ndim(deals) != 1:
            raise ValueError(f"deals is {deals!r}; allowed: a list of deal numbers, a range as text, or a file's path")
        return _checked("deals", deals)
    ends = _RANGE.fullmatch(deals.strip())
    return _range_of(int(ends[1]), int(ends[2])) if ends else _read_file(Path(deals))


def draw_deal(generator: np.random.Generator, deal_set: Sequence[int] | np.ndarray) -> int:
    """Draw a deal number of the set, every entry equally likely."""
    return int(deal_set[int(generator.integers(len(deal_set)))])


@dataclass(frozen=True, eq=False)
class DealSource:
    """What `reset()` draws deals from.

    Attributes:
        deals: a set of deals, or int64[n].
        fits: tells whether a deal may be dealt; None if all may. For a deal that may not, another is drawn.
        nothing_fits: the error message if none of `MOST_DRAWS` deals fits.
    """

    deals: Sequence[int] | np.ndarray
    fits: Callable[[int], bool] | None = None
    nothing_fits: str = ""

    def draw(self, generator: np.random.Generator) -> int:
        """Draw the number of a deal that fits, all such entries of the set equally likely.

        Raises:
            ValueError: none of `MOST_DRAWS` deals fits.
        """
        for _ in range(MOST_DRAWS):
            deal = draw_deal(generator, self.deals)
            if self.fits is None or self.fits(deal):
                return deal
        raise ValueError(self.nothing_fits)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # it never changes, and copies of environments are made often


def _range_of(first: int, last: int) -> range:
    if not first <= last < TRAINING_DEALS.stop:
        raise ValueError(
            f"deals are '{first}-{last}'; allowed: two numbers from 0 to {TRAINING_DEALS.stop - 1} in order"
        )
    return range(first, last + 1)


def _read_file(path: Path) -> Sequence[int]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ValueError(
            f"deals are {str(path)!r}, and that file cannot be read ({reason}); "
            "name a text file with one deal number a line, or a range such as '2000000-2009999'"
        ) from None
    numbers = []
    for line_number, line in enumerate(lines, start=1):
        word = line.partition("#")[0].strip()
        if word:
            numbers.append(_number_of(word, f"{path}, line {line_number}"))
    return _checked(str(path), numbers)


def _number_of(word: str, place: str) -> int:
    if not _NUMBER.fullmatch(word) or int(word) >= TRAINING_DEALS.stop:
        raise ValueError(f"{place}: {word!r} is not a deal number; allowed: 0 to {TRAINING_DEALS.stop - 1}")
    return int(word)


def _checked(name: str, deals: Sequence[int]) -> Sequence[int]:
    if len(deals) == 0:
        raise ValueError(f"{name}: there is no deal number; give at least one")
    if isinstance(deals, range):  # may be very long, so only its ends are checked
        check_deals([deals[0], deals[-1]])
        return deals
    return check_deals(deals).tolist()
