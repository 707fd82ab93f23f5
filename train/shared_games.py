"""The games of several agents on the same deals, shared by workers and saved in a file as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from klondike_env.agents import Agent
from klondike_env.agents.match import PlayedGames, Watch, play_games
from klondike_env.result_file import ResultFile
from klondike_env.rules import Rules
from klondike_env.work import is_here, packed, share

# Work is handed out in chunks of deals: first a few, to see how long a game takes, then as many as take some seconds.
# Towards the end of a chunk the batch runs empty. So if nothing is saved or shared, there is only one chunk.
_FIRST_CHUNK, _SECONDS_PER_CHUNK = 8, 20.0


class KeptGame(NamedTuple):
    """One line of a file of games."""

    agent: str
    deal: int
    outcome: int
    moves: int
    foundation_cards: int
    seconds: float


class Sheet:
    """The games that one agent has played so far, one entry per deal; entries that are not `done` are 0."""

    def __init__(self, n_deals: int) -> None:
        self.done = np.zeros(n_deals, dtype=bool)
        self.outcome = np.zeros(n_deals, dtype=np.uint8)
        self.moves = np.zeros(n_deals, dtype=np.int64)
        self.foundation_cards = np.zeros(n_deals, dtype=np.int64)
        self.seconds = 0.0

    def enter(self, entries: np.ndarray, games: PlayedGames) -> None:
        """Write down games; entries: int64[m], the index of each game in the list of deals."""
        self.done[entries] = True
        self.outcome[entries] = games.outcome
        self.moves[entries] = games.moves
        self.foundation_cards[entries] = games.foundation_cards
        self.seconds += games.seconds

    def games(self) -> PlayedGames:
        """All games, once they are done."""
        return PlayedGames(self.outcome, self.moves, self.foundation_cards, self.seconds)


class SharedGames:
    """Every agent plays every deal, as `klondike_env.agents.match.play_games` does.

    Args:
        players: name -> agent.
        rules: the rules of all games.
        deals: int64[n], deal numbers, n at least 1.
        batch: how many games a worker plays side by side.
        seed: seed of the agents' random choices.
        workers: how many workers share the games; see `klondike_env.work.share`.
        backend: where the workers are, see there.
        file: where games are saved as they come. Games that it holds are not played again.
        watch: for an agent's name, returns the function to call with the outcomes, uint8[m], of its games as they end.

    Raises:
        ValueError: the file holds games of other rules or another seed, an agent cannot be sent to other
            processes, or workers or backend is not allowed.
        DependencyNotInstalled: Ray is not installed.
    """

    def __init__(
        self,
        players: dict[str, Agent],
        rules: Rules,
        deals: np.ndarray,
        *,
        batch: int,
        seed: int,
        workers: int = 1,
        backend: str = "processes",
        file: Path | None = None,
        watch: Callable[[str], Watch] = lambda name: lambda outcomes: None,
    ) -> None:
        here = is_here(workers, backend)
        if not here:
            for name, agent in players.items():
                packed(f"agent {name!r}", agent)
        self._deals = deals
        self._sheets = {name: Sheet(len(deals)) for name in players}
        self._file = _file(file, rules, seed) if file is not None else None
        if self._file:
            _enter_kept(self._file.read(), self._sheets, deals)
        self._watches = {name: watch(name) for name in players}
        for name, sheet in self._sheets.items():
            if sheet.done.any():
                self._watches[name](sheet.outcome[sheet.done])
        play = _Play(players, rules, deals, batch, seed, self._watches if here else {})
        chunks = _chunks(self._sheets, workers, whole=here and self._file is None)
        self._results = share(play, chunks, workers=workers, backend=backend)
        self._is_watched = here  # then `play` reports each game as it ends

    def play(self) -> dict[str, PlayedGames]:
        """Play all games; name -> games, whose `seconds` are those of all workers added up.

        Raises:
            AgentError: an agent returned something else than legal actions.
            WorkerDied: a worker was killed; what is in the file is kept.
        """
        for name, entries, games in self._results:
            self._sheets[name].enter(entries, games)
            if self._file:
                self._file.append(_rows(name, self._deals[entries], games))
            if not self._is_watched:
                self._watches[name](games.outcome)
        return {name: sheet.games() for name, sheet in self._sheets.items()}


def _chunks(sheets: dict[str, Sheet], workers: int, whole: bool) -> Iterator[tuple[str, np.ndarray]]:
    """Agents' names, each with indices of deals to play next; how many depends on the time of the games so far."""
    for name, sheet in sheets.items():
        left = np.flatnonzero(~sheet.done)
        while len(left) > 0:
            size = len(left) if whole else min(_chunk_size(sheet), ceil(len(left) / workers))
            yield name, left[:size]
            left = left[size:]


def _chunk_size(sheet: Sheet) -> int:
    n_done = np.count_nonzero(sheet.done)
    if n_done == 0 or sheet.seconds == 0:
        return _FIRST_CHUNK
    return max(1, int(_SECONDS_PER_CHUNK * n_done / sheet.seconds))


@dataclass
class _Play:
    """Plays a chunk; before an agent's first chunk, it plays one untimed game, so that compilation is not timed."""

    players: dict[str, Agent]
    rules: Rules
    deals: np.ndarray
    batch: int
    seed: int
    watches: dict[str, Watch]
    ready: set[str] = field(default_factory=set)

    def __call__(self, chunk: tuple[str, np.ndarray]) -> tuple[str, np.ndarray, PlayedGames]:
        name, entries = chunk
        agent, deals = self.players[name], self.deals[entries]
        if name not in self.ready:
            play_games(agent, self.rules, deals[:1], batch=self.batch, seed=self.seed)
            self.ready.add(name)
        watch = self.watches.get(name)
        return name, entries, play_games(agent, self.rules, deals, batch=self.batch, seed=self.seed, watch=watch)


def _file(path: Path, rules: Rules, seed: int) -> ResultFile[KeptGame]:
    return ResultFile(path, {"rules": rules.to_dict(), "seed": seed}, KeptGame._fields, _kept_game)


def _kept_game(fields: list[str]) -> KeptGame:
    agent, deal, outcome, moves, foundation_cards, seconds = fields
    return KeptGame(agent, int(deal), int(outcome), int(moves), int(foundation_cards), float(seconds))


def _rows(name: str, deals: np.ndarray, games: PlayedGames) -> list[KeptGame]:
    columns = (deals.tolist(), games.outcome.tolist(), games.moves.tolist(), games.foundation_cards.tolist())
    return [KeptGame(name, *cells, games.seconds / len(games)) for cells in zip(*columns, strict=True)]


def _enter_kept(rows: list[KeptGame], sheets: dict[str, Sheet], deals: np.ndarray) -> None:
    place = {deal: entry for entry, deal in enumerate(deals.tolist())}
    for name, sheet in sheets.items():
        found = [row for row in rows if row.agent == name and row.deal in place]
        if found:
            _, _, outcomes, moves, cards, seconds = (np.array(column) for column in zip(*found, strict=True))
            entries = np.array([place[row.deal] for row in found])
            sheet.enter(entries, PlayedGames(outcomes, moves, cards, float(seconds.sum())))
