"""Boards for people to look at, drawn from views, so that hidden cards stay hidden.

Render modes: "ansi" gives text, "rgb_array" gives pictures, uint8[600, 800, 3]. In thoughtful mode the
hidden cards are shown too, marked as face down.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import gymnasium
from gymnasium.error import DependencyNotInstalled

from klondike_env.games import Games
from klondike_env.render.text import draw_board

RENDER_MODES = ("ansi", "rgb_array")
RENDER_FPS = 4  # boards a second, slow enough to follow a game


def check_render_mode(mode: str | None) -> None:
    """Make sure that a render mode can be used.

    Raises:
        ValueError: there is no such mode.
        DependencyNotInstalled: the mode needs Pillow, which is not installed.
    """
    if mode not in (None, *RENDER_MODES):
        raise ValueError(f"render_mode is {mode!r}; allowed: None, {', '.join(map(repr, RENDER_MODES))}")
    if mode == "rgb_array" and importlib.util.find_spec("PIL") is None:
        raise DependencyNotInstalled('pictures need Pillow; run `pip install "klondike-env[render]"`')


def render_games(games: Games, mode: str | None, *, thoughtful: bool) -> tuple[Any, ...] | None:
    """The board of each game as text or as a fresh uint8[600, 800, 3]; None if the mode is None.

    Args:
        games: the games.
        mode: a mode that `check_render_mode` has accepted.
        thoughtful: whether hidden cards are shown.
    """
    if mode is None:
        gymnasium.logger.warn('render() was called without a render mode; name one, such as render_mode="ansi"')
        return None
    records = games.states if thoughtful else games.views()
    if mode == "ansi":
        return tuple(draw_board(record, games.rules, thoughtful=thoughtful) for record in records)
    from klondike_env.render.image import draw_picture  # Pillow is optional

    return tuple(draw_picture(record, games.rules) for record in records)
