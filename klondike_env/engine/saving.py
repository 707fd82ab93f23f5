"""Games as bytes: exact, checked, and safe to load from any source.

    b"KLONDIKE"  format  conditions' length  conditions  game  visited positions  checksum
    8 bytes      uint16  uint16              JSON        SAVED uint64 each        CRC-32

All numbers are little-endian. The conditions are the rules and options of the game. A game can be
restored only under the same conditions.
"""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

import numpy as np

from klondike_env.engine.state import STATE

FORMAT = 1  # of the bytes; raised with every change that would misread older bytes
_MAGIC = b"KLONDIKE"
_NUMBER = np.dtype("<u2")
_KEY = np.dtype("<u8")
_CHECKSUM = np.dtype("<u4")

# Fields of a record that follow from the others.
DERIVED_FIELDS = ("place", "row", "face_up")
SAVED_FIELDS = [name for name in STATE.names or () if name not in DERIVED_FIELDS]

SAVED = np.dtype(
    [
        ("deal", "<i8"),  # the deal number, -1 for custom decks and positions
        *((name, STATE[name].newbyteorder("<")) for name in SAVED_FIELDS),
        ("reward", "<f4"),  # of the last step
        ("illegal", "?"),  # whether the last step's action was refused
        ("visited_count", "<u4"),  # positions visited since the last progress, whose keys follow
    ]
)


class SavedGame(NamedTuple):
    """A game as it was saved."""

    record: np.ndarray  # STATE[1], without the derived fields
    visited: np.ndarray  # uint64[k], keys of the positions visited since the last progress
    deal: int
    reward: float
    illegal: bool


def write_header(conditions: dict[str, Any]) -> bytes:
    """The first bytes of every saved game under these conditions."""
    text = json.dumps(conditions).encode()
    return _MAGIC + _NUMBER.type(FORMAT).tobytes() + _NUMBER.type(len(text)).tobytes() + text


def write_game(game: SavedGame, header: bytes) -> bytes:
    """The bytes of a game."""
    saved = np.zeros(1, dtype=SAVED)
    saved["deal"] = game.deal
    saved[SAVED_FIELDS] = game.record[SAVED_FIELDS]
    saved["reward"] = game.reward
    saved["illegal"] = game.illegal
    saved["visited_count"] = len(game.visited)
    content = header + saved.tobytes() + game.visited.astype(_KEY).tobytes()
    return content + _checksum(content)


def read_game(state: Any, header: bytes) -> SavedGame:
    """The game that some bytes hold.

    Raises:
        ValueError: the bytes are damaged, or were saved in another format or under other conditions.
    """
    if not isinstance(state, bytes | bytearray | memoryview):
        raise ValueError(f"state is {state!r}; allowed: the bytes of get_state")
    content, checksum = bytes(state)[: -_CHECKSUM.itemsize], bytes(state)[-_CHECKSUM.itemsize :]
    if not content.startswith(_MAGIC):
        raise ValueError(f"state begins with {content[: len(_MAGIC)]!r}; allowed: the bytes of get_state")
    if _checksum(content) != checksum:
        raise ValueError(f"state is damaged: the checksum of its {len(state)} bytes is wrong")
    if not content.startswith(header):
        raise ValueError(_difference(content, header))
    body = content[len(header) :]
    if len(body) < SAVED.itemsize:
        raise ValueError(f"state is damaged: it ends after {len(state)} bytes")
    saved = np.frombuffer(body, SAVED, count=1)
    keys = body[SAVED.itemsize :]
    deal, reward, illegal, count = (saved[name][0] for name in ("deal", "reward", "illegal", "visited_count"))
    if len(keys) != int(count) * _KEY.itemsize:
        raise ValueError(f"state is damaged: {count} visited positions do not fit {len(keys)} bytes")
    record = np.zeros(1, dtype=STATE)
    record[SAVED_FIELDS] = saved[SAVED_FIELDS]
    return SavedGame(record, np.frombuffer(keys, _KEY).astype(np.uint64), int(deal), float(reward), bool(illegal))


def _checksum(content: bytes) -> bytes:
    return zlib.crc32(content).to_bytes(_CHECKSUM.itemsize, "little")


def _difference(content: bytes, header: bytes) -> str:
    """How the beginning of a saved game differs from the expected header."""
    start = len(_MAGIC)
    saved_format = int.from_bytes(content[start : start + 2], "little")
    if saved_format != FORMAT:
        return f"state has format {saved_format}; this version of klondike_env reads format {FORMAT}"
    saved, here = _conditions(content), _conditions(header)
    names = [name for name in here if saved.get(name) != here[name]]
    differences = "; ".join(f"{name} was {saved.get(name)!r} and is {here[name]!r} here" for name in names)
    return f"state was saved under other rules or options: {differences}"


def _conditions(content: bytes) -> dict[str, Any]:
    start = len(_MAGIC) + 2 * _NUMBER.itemsize
    length = int.from_bytes(content[start - _NUMBER.itemsize : start], "little")
    conditions: dict[str, Any] = json.loads(content[start : start + length])
    return conditions
