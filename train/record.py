"""Record the decisions of any agent, for learning from them: imitation, offline training, values of actions.

    python -m train.record --variant draw1 --agent tuned --games 10000 --out runs/recorded/tuned
    python -m train.record --variant draw3 --agent bandit --games 100 --samples 50 --out runs/recorded/bandit

The agent plays training deals. Every decision is kept as the player saw it: the observation, the legal actions and what
was played; hidden cards are not recorded. With `--samples`, all legal actions of each decision are also tried in that
many determinizations, in which `tuned` plays on, and the share of wins of each is kept.

The directory holds `about.json` and blocks of games as .npz files, each written whole or not at all. The same command
goes on where it was interrupted. `load` reads the directory.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress

from klondike_env import __version__
from klondike_env.agents import Agent
from klondike_env.agents import load as load_agent
from klondike_env.agents.advice import rollout_planner
from klondike_env.agents.match import play_games, settings_of
from klondike_env.deals import TRAINING_DEALS
from klondike_env.engine.actions import N_ACTIONS, RESIGN
from klondike_env.engine.state import PLAYING
from klondike_env.games import Games
from klondike_env.observation import Observer
from klondike_env.rules import PRESETS, Rules, preset
from train.console import fail
from train.files import packed_arrays, write_atomically

ABOUT_FILE = "about.json"
BLOCK = 200  # games in a file


@dataclass(frozen=True)
class Decisions:
    """Recorded decisions, in the order of their games.

    Attributes:
        observations: uint8[n, 1019], the values that the flat observation scales to 0 to 1, see `Observer.values`.
        packed_masks: uint8[n, 40], the legal actions, a bit for each; see `masks`.
        actions: int16[n], what was played; -1 for giving the game up.
        deals: int64[n], the deal of the game; it determines the hidden cards, so do not learn from it.
        won: bool[n], whether the game was won in the end.
        values: float32[n, 313], the share of determinizations won after each action, NaN for actions that were not
            tried; float32[n, 0] without `--samples`.
    """

    observations: np.ndarray
    packed_masks: np.ndarray
    actions: np.ndarray
    deals: np.ndarray
    won: np.ndarray
    values: np.ndarray

    @property
    def masks(self) -> np.ndarray:
        """The legal actions: bool[n, 313]."""
        return np.unpackbits(self.packed_masks, axis=1, count=N_ACTIONS).astype(bool)

    @classmethod
    def together(cls, blocks: list[Decisions]) -> Decisions:
        """The decisions of several blocks, joined."""
        return cls(*(np.concatenate([getattr(block, name) for block in blocks]) for name in cls.__annotations__))


def load(directory: Path | str) -> Decisions:
    """All decisions recorded in a directory.

    Raises:
        FileNotFoundError: it holds none.
    """
    files = sorted(Path(directory).glob("*.npz"))
    if not files:
        raise FileNotFoundError(f"{directory} holds no recorded decisions; record some with python -m train.record")
    blocks = []
    for file in files:
        with np.load(file) as arrays:
            blocks.append(Decisions(**arrays))
    return Decisions.together(blocks)


# --- recording ---------------------------------------------------------------------------------------


class Recorder(Agent):
    """Plays as another agent does, and keeps what it decides; row i must be the game of the deal i.

    Args:
        agent: the agent.
        samples: determinizations in which all legal actions are tried; 0 for none.
    """

    def __init__(self, agent: Agent, samples: int) -> None:
        self.name, self.talon, self.no_repeats, self.play = agent.name, agent.talon, agent.no_repeats, agent.play
        self._agent, self._samples = agent, samples

    def start(self, n_games: int, rules: Rules, seed: int) -> None:
        """See `Agent.start`."""
        self._agent.start(n_games, rules, seed)
        self._observer = Observer("flat", Games(1, rules).setup)
        self._planner = rollout_planner(rules, self._samples, self.talon_for(rules) == "reach", seed)
        self._turns: list[tuple[np.ndarray, ...]] = []

    def act(self, views: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """See `Agent.act`."""
        actions = np.array(self._agent.act(views, masks))
        rows = np.flatnonzero(views["outcome"] == PLAYING)
        observations, packed = self._observer.values(views[rows]), np.packbits(masks[rows].astype(bool), axis=1)
        self._turns.append(
            (rows, observations, packed, actions[rows].astype(np.int16), self._values(views, masks, rows))
        )
        return actions

    def _values(self, views: np.ndarray, masks: np.ndarray, rows: np.ndarray) -> np.ndarray:
        values = np.full((len(rows), N_ACTIONS if self._samples else 0), np.nan, dtype=np.float32)
        if self._samples:
            for k, row in enumerate(rows.tolist()):
                won, n = self._planner.wins(views[row : row + 1], masks[row])
                for action, wins in won.items():
                    if action != RESIGN:
                        values[k, action] = wins / n
        return values

    def decisions(self, deals: np.ndarray, won: np.ndarray) -> Decisions:
        """What was decided in games of these deals, int64[n], of which some were won, bool[n]."""
        rows, *columns = (np.concatenate(parts) for parts in zip(*self._turns, strict=True))
        order = np.argsort(rows, kind="stable")
        observations, packed, actions, values = (column[order] for column in columns)
        rows = rows[order]
        return Decisions(observations, packed, actions, deals[rows], won[rows], values)


def record(agent: Agent, rules: Rules, deals: np.ndarray, samples: int = 0, seed: int = 0) -> Decisions:
    """Let an agent play each deal once and return its decisions.

    Args:
        agent: the agent.
        rules: the rules of all games.
        deals: int64[n], deal numbers.
        samples: determinizations in which all legal actions are tried; 0 for none.
        seed: of the agent's chance and of the determinizations.
    """
    recorder = Recorder(agent, samples)
    played = play_games(recorder, rules, deals, batch=len(deals), seed=seed)
    return recorder.decisions(deals, played.won)


def claim(directory: Path, about: dict[str, Any]) -> None:
    """Write what is recorded in a directory, or make sure that it is the same.

    Raises:
        ValueError: something else is there.
    """
    file = directory / ABOUT_FILE
    if file.exists():
        if json.loads(file.read_text()) != about:
            raise ValueError(f"{directory} holds other decisions, see {file}; name another directory")
    elif directory.exists() and any(directory.iterdir()):
        raise ValueError(f"{directory} holds other files; name another directory")
    else:
        write_atomically(file, json.dumps(about, indent=2) + "\n")


app = typer.Typer(add_completion=False)


@app.command()
def main(
    variant: Annotated[str, typer.Option(help=", ".join(PRESETS))],
    agent: Annotated[str, typer.Option(help="an agent by name, such as tuned, bandit, policy:PATH")],
    out: Annotated[Path, typer.Option(help="directory for the decisions")],
    games: Annotated[int, typer.Option(min=1, help="games to record")] = 1000,
    first: Annotated[int, typer.Option(min=0, help="the first of the training deals, counted from 0")] = 0,
    samples: Annotated[int, typer.Option(min=0, help="determinizations in which all legal actions are tried")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="seed of the agent's random choices")] = 0,
) -> None:
    """Record the decisions of an agent; the same command goes on where it was interrupted."""
    try:
        player, rules = load_agent(agent), preset(variant)
        about = {
            "variant": variant,
            "rules": rules.to_dict(),
            "agent": agent,
            "settings": asdict(settings_of(player, rules)),
            "games": games,
            "first": first,
            "samples": samples,
            "seed": seed,
            "version": __version__,
        }
        claim(out, about)
    except (OSError, ValueError) as error:
        fail(error)
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task(f"{agent}, games", total=games)
        for start in range(0, games, BLOCK):
            file = out / f"{start // BLOCK:06}.npz"
            deals = TRAINING_DEALS.start + first + np.arange(start, min(start + BLOCK, games))
            if not file.exists():
                write_atomically(file, packed_arrays(vars(record(player, rules, deals, samples, seed))))
            progress.advance(bar, len(deals))


if __name__ == "__main__":
    app()
