"""The rules of a game as data: one frozen value, the presets, and their validation."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, NamedTuple

from klondike_env.checks import check_choice, check_flag, check_whole_number

BUILDS = ("alternating_colour", "other_suit", "same_suit", "same_colour", "any_suit")
GAPS = ("kings", "any", "none")
RUNS = ("any_tail", "whole_or_last")
MAX_DRAW_COUNT = 24
MAX_REDEALS = 99
UNLIMITED = -1  # `RuleParams.redeals` where there is no limit


class RuleParams(NamedTuple):
    """The rules as plain integers, for kernels."""

    build: int  # index into BUILDS
    gaps: int  # index into GAPS
    draw_count: int  # 1 to 24
    redeals: int  # 0 to 99, or UNLIMITED
    worry_back: int  # 0 or 1
    whole_runs: int  # 0 or 1


@dataclass(frozen=True)
class Rules:
    """The rules of one game of the Klondike family.

    Attributes:
        build: which cards may lie on a column card one rank higher: "alternating_colour",
            "other_suit" (any suit but the same), "same_suit", "same_colour" or "any_suit".
        gaps: what an empty column takes: "kings" (or a run from a king), "any" or "none".
        draw_count: cards turned from the stock at once, 1 to 24.
        redeals: how often the waste may be turned over, 0 to 99; None for no limit.
        worry_back: whether a foundation's top card may return to a column.
        runs: which face-up cards move together: "any_tail" of a column, or "whole_or_last"
            (the whole face-up run or its last card).

    Raises:
        ValueError: a field has a value that is not allowed; the message gives field, value and what is allowed.
    """

    build: str = "alternating_colour"
    gaps: str = "kings"
    draw_count: int = 1
    redeals: int | None = None
    worry_back: bool = True
    runs: str = "any_tail"

    def __post_init__(self) -> None:
        check_choice("build", self.build, BUILDS)
        check_choice("gaps", self.gaps, GAPS)
        check_choice("runs", self.runs, RUNS)
        plain = {
            "draw_count": check_whole_number("draw_count", self.draw_count, 1, MAX_DRAW_COUNT),
            "worry_back": check_flag("worry_back", self.worry_back),
        }
        if self.redeals is not None:
            plain["redeals"] = check_whole_number("redeals", self.redeals, 0, MAX_REDEALS, " or None for unlimited")
        for field, value in plain.items():  # as Python types, which JSON can hold
            object.__setattr__(self, field, value)

    def params(self) -> RuleParams:
        """The same rules as integers, for kernels."""
        return RuleParams(
            build=BUILDS.index(self.build),
            gaps=GAPS.index(self.gaps),
            draw_count=self.draw_count,
            redeals=UNLIMITED if self.redeals is None else self.redeals,
            worry_back=int(self.worry_back),
            whole_runs=int(self.runs == "whole_or_last"),
        )

    @property
    def auto_talon(self) -> Literal["draw", "reach"]:
        """The talon mode that "auto" stands for: "reach" where redeals are unlimited, else "draw".

        With unlimited redeals, looking through the talon costs nothing but moves, so "reach" changes nothing else.
        """
        return "reach" if self.redeals is None else "draw"

    def redeals_left(self, used: int) -> int | None:
        """How often the waste may still be turned over after `used` redeals; None for no limit."""
        return None if self.redeals is None else self.redeals - used

    def to_dict(self) -> dict[str, Any]:
        """The fields as a JSON-able dict; `Rules(**fields)` makes the same rules again."""
        return asdict(self)


RULE_FIELDS = tuple(field.name for field in fields(Rules))

_THUMB_AND_POUCH = Rules(build="other_suit", gaps="any", redeals=0, worry_back=False)

PRESETS: dict[str, Rules] = {
    "draw1": Rules(),
    "draw3": Rules(draw_count=3),
    "deal1": Rules(),
    "classic": Rules(redeals=0),
    "thumb_and_pouch": _THUMB_AND_POUCH,
    "thumb_and_pouch_whole": Rules(**{**_THUMB_AND_POUCH.to_dict(), "runs": "whole_or_last"}),
}

# Other names of presets. An alias is registered and listed like any preset, but not trained or evaluated separately.
ALIASES: dict[str, str] = {"deal1": "draw1"}

# "thumb_and_pouch" is the preset of "Klondike/ThumbAndPouch-v0".
GYM_IDS: dict[str, str] = {name: f"Klondike/{name.title().replace('_', '')}-v0" for name in PRESETS}


# The presets without aliases, for work that is done once for each game: training, evaluation, long tests.
DISTINCT_PRESETS: dict[str, Rules] = {name: rules for name, rules in PRESETS.items() if name not in ALIASES}


def aliases_of(name: str) -> list[str]:
    """The other names of a preset."""
    return [alias for alias, meant in ALIASES.items() if meant == name]


def preset(name: str) -> Rules:
    """The rules of a preset by name.

    Raises:
        ValueError: there is no such preset; the message lists them.
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"no such variant: {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name]


def rules_of(rules: Rules | str) -> Rules:
    """The rules that a user gives as a `Rules` value or as the name of a preset.

    Raises:
        ValueError: there is no such preset; the message lists them.
    """
    return rules if isinstance(rules, Rules) else preset(rules)
