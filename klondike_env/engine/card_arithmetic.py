"""The arithmetic of `klondike_env.cards`, compiled for kernels."""

from __future__ import annotations

from klondike_env import cards
from klondike_env.engine.jit import kernel

rank_of = kernel(cards.rank_of)
suit_of = kernel(cards.suit_of)
card_at = kernel(cards.card_at)
