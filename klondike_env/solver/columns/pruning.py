"""How the column search searches fewer positions; and the rules of a game, as its kernels need them."""

from __future__ import annotations

from enum import IntFlag

from klondike_env.rules import RuleParams
from klondike_env.solver.columns.nodes import Game, gap_cards


class ColumnPruning(IntFlag):
    """Ways of the column search to search fewer positions. None can change a verdict; each can be switched off.

    One argument holds for all of them. Count the moves of a line other than draws and exchanges of runs. From every
    position that can be won, some winning line that is shortest by this count begins with a move that is kept, and the
    rest of it is such a line again. So a search that follows all kept moves finds a win if there is one.
    """

    SAFE = 1
    """A card that can never be needed on the columns goes up at once, see `klondike_env.solver.columns.safe`.

    All rules; from the talon only where that changes nothing for its other cards.
    """
    EARLIEST = 2
    """Of two positions that differ only in how far the talon is used up, only the earlier one is searched.

    See `klondike_env.solver.columns.earliest`. All rules; no effect where there are enough redeals.
    """
    LATE_GAPS = 4
    """A run without a card under it is moved onto a card only if there is no gap and one could be filled.

    Proof: take the first move of another kind in a winning line. The moves of such runs before it have only covered
    hosts and made more gaps. So it can come first, and they are as possible after it as before. All rules.
    """
    LATE_PARKING = 8
    """A built card is moved to a gap (*parked*) only if that makes another move possible at once.

    That is: another movable card can then land on what it leaves, or a card that its foundation takes is free. Proof:
    until a move needs it, parking can wait, for all it does is use up a gap. If several such moves together make that
    other move possible, one of them alone does. Only with EXCHANGES, where the card can be parked later from wherever
    its run lies by then.
    """
    EXCHANGES = 16
    """Positions that differ only in which host carries which run count as one.

    See `klondike_env.solver.columns.any_tail`. Any build rule, but only where any tail may be moved.
    """


ALL = ColumnPruning(31)


def make_game(rules: RuleParams, pruning: ColumnPruning) -> Game:
    """The rules of a game and the prunings of its search, for kernels."""
    return Game(
        build=rules.build,
        gap_cards=gap_cards(rules),
        draw_count=rules.draw_count,
        worry_back=rules.worry_back,
        whole_runs=rules.whole_runs,
        by_columns=int(bool(rules.whole_runs) or ColumnPruning.EXCHANGES not in pruning),
        safe=int(ColumnPruning.SAFE in pruning),
        earliest=int(ColumnPruning.EARLIEST in pruning),
        late_gaps=int(ColumnPruning.LATE_GAPS in pruning),
        late_parking=int(ColumnPruning.LATE_PARKING in pruning),
        shuffle=0,
    )
