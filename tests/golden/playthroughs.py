"""Games written down step by step, so that a change of rules, rewards or observations shows as a change of text.

Nothing depends on numpy's random streams: actions are chosen with the mixer behind deal numbers.
"""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np

import klondike_env
from klondike_env.cards import card_text
from klondike_env.deals import deck_of
from klondike_env.engine import actions
from klondike_env.engine.mixer import GOLDEN_GAMMA, mix
from klondike_env.observation import CARD_FIELDS, TABLE_FIELDS, Field, table_start
from klondike_env.rules import GYM_IDS

_WIDTH = 120
_BOARD_EVERY = 4  # steps; in between, the changes of the observation tell what moved
_N_TABLEAU = 28  # cards dealt to the columns
_REFUSED_STEP = 7  # where a playthrough tries an illegal action


class Playthrough(NamedTuple):
    """Which game is written down, and how its actions are chosen."""

    name: str
    gym_id: str
    deal: int
    seed: int
    keywords: dict[str, Any]


# Of the many deals and seeds tried, the short games of these show most of the rules.
_CHOSEN = (
    Playthrough("draw1", GYM_IDS["draw1"], 5824, 2, {"reward": "progress", "auto_finish": True}),
    Playthrough("draw3", GYM_IDS["draw3"], 2064, 1, {"step_limit": 45}),
    Playthrough("deal1", GYM_IDS["deal1"], 2945, 1, {"reward": "vegas", "stall_limit": 12}),
    Playthrough("classic", GYM_IDS["classic"], 4895, 1, {}),
    Playthrough("thumb_and_pouch", GYM_IDS["thumb_and_pouch"], 14515, 3, {}),
    Playthrough("thumb_and_pouch_whole", GYM_IDS["thumb_and_pouch_whole"], 14170, 3, {}),
    Playthrough(
        "custom",
        klondike_env.CUSTOM_ID,
        6167,
        1,
        {
            "build": "same_colour",
            "gaps": "any",
            "draw_count": 2,
            "redeals": 1,
            "runs": "whole_or_last",
            "thoughtful": True,
        },
    ),
    Playthrough(
        "reach",
        GYM_IDS["draw1"],
        2780,
        3,
        {"talon": "reach", "no_repeats": True, "auto_finish": True, "reward": "standard"},
    ),
)

_OTHER_PRESETS = GYM_IDS.keys() - {game.name for game in _CHOSEN}
PLAYTHROUGHS = (*_CHOSEN, *(Playthrough(name, GYM_IDS[name], 0, 1, {}) for name in sorted(_OTHER_PRESETS)))


def play_through(playthrough: Playthrough) -> str:
    """Play a game to its end; return every step of it as text."""
    env = gym.make(playthrough.gym_id, render_mode="ansi", observation="cards", **playthrough.keywords)
    observation, info = env.reset(options={"deal": playthrough.deal})
    mask = info.pop("action_mask")
    blank = {name: np.zeros_like(values) for name, values in observation.items()}
    parts = [_header(playthrough), _section("start", info, mask, _changes(blank, observation), env.render())]
    step, over = 0, False
    while not over:
        step += 1
        action = _pick(mask, playthrough.seed, step)
        before, known = observation, info
        observation, reward, terminated, truncated, info = env.step(action)
        mask = info.pop("action_mask")
        over = terminated or truncated
        title = f"step {step}: {actions.name(action)}, reward {reward:g}"
        title += ", terminated" * terminated + ", truncated" * truncated
        news = {name: value for name, value in info.items() if value != known[name]}
        board = env.render() if over or step % _BOARD_EVERY == 0 else env.render().splitlines()[0]
        parts.append(_section(title, news, mask, _changes(before, observation), board))
    return "\n".join(parts)


def _header(playthrough: Playthrough) -> str:
    keywords = "".join(f"{name} = {value!r}\n" for name, value in playthrough.keywords.items())
    cards = [card_text(int(card)) for card in deck_of(playthrough.deal)]
    return (
        f"{playthrough.gym_id}\n{keywords}"
        f"actions picked with seed {playthrough.seed}\n"
        f"deal {playthrough.deal}\n"
        f"columns, row by row: {' '.join(cards[:_N_TABLEAU])}\n"
        f"stock: {' '.join(cards[_N_TABLEAU:])}\n"
    )


def _pick(mask: np.ndarray, seed: int, step: int) -> int:
    """A random legal action, or at step `_REFUSED_STEP` the first illegal action."""
    choices = np.flatnonzero(mask == 0)[:1] if step == _REFUSED_STEP else np.flatnonzero(mask)
    place = (int(mix(np.uint64(seed))) + step * int(GOLDEN_GAMMA)) % 2**64
    chance = int(mix(np.uint64(place))) >> 32
    return int(choices[chance * len(choices) >> 32])


def _section(title: str, info: dict[str, Any], mask: np.ndarray, changes: list[str], board: str) -> str:
    told = ", ".join(f"{name} {value}" for name, value in info.items())
    legal = "all" if mask.all() else ", ".join(map(actions.name, np.flatnonzero(mask)))
    lines = [f"== {title}", f"info: {told}", f"legal: {legal}", *changes]
    return "\n".join([*(row for line in lines for row in _wrap(line)), board, ""])


def _changes(before: dict[str, np.ndarray], after: dict[str, np.ndarray]) -> list[str]:
    """The new values where two observations differ, by field: + and - for 1 and 0, `under` as a card."""
    changes = []
    for k, field in enumerate(CARD_FIELDS):
        cards = np.flatnonzero(before["cards"][:, k] != after["cards"][:, k])
        values = after["cards"][cards, k]
        if len(cards):
            words = [_written(field, int(card), int(value)) for card, value in zip(cards, values, strict=True)]
            changes.append(f"{field.name}: {', '.join(words)}")
    tables = []
    for field in TABLE_FIELDS:
        places = slice(table_start(field.name), table_start(field.name) + field.size)
        if (before["table"][places] != after["table"][places]).any():
            tables.append(f"{field.name} {' '.join(map(str, after['table'][places]))}")
    return [*changes, f"table: {', '.join(tables)}"] if tables else changes


def _written(field: Field, card: int, value: int) -> str:
    if field.high == 1:
        return f"{'+' if value else '-'}{card_text(card)}"
    if field.name == "under":
        return f"{card_text(card)} {card_text(value - 1) if value else '-'}"
    return f"{card_text(card)} {value}"


def _wrap(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ")
