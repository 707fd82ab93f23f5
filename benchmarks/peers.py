"""Random play of other packages' games, each measured in a process of its own that is held to one core.

`python -m benchmarks.peers NAME SECONDS` measures one and prints its figures as JSON.

Each play is the fastest way that the package offers to play random legal actions with an observation at every step.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.clock import Play, steps_per_second
from benchmarks.process import answer_of

BATCH = 1024  # games at once, for packages that can
_CHUNK = 100  # steps between two looks at the clock
_TIMEOUT = 600.0  # seconds for imports, compilation and the first steps
_ONE_THREAD = {
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def open_spiel_play() -> Play:
    """OpenSpiel writes observations into one array; a mask is filled from the legal actions."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("solitaire")
    observation = make_observation(game)
    mask = np.zeros(game.num_distinct_actions(), dtype=bool)
    chance = random.Random(0)
    state = game.new_initial_state()

    def play() -> int:
        nonlocal state
        decisions = 0
        while decisions < _CHUNK:
            if state.is_terminal():
                state = game.new_initial_state()
            legal = state.legal_actions()
            if not state.is_chance_node():
                observation.set_from(state, 0)
                mask[:] = False
                mask[legal] = True
                decisions += 1
            state.apply_action(legal[chance.randrange(len(legal))])
        return decisions

    return play


def pgx_play() -> Play:
    """Pgx samples legal actions and resets ended games within one compiled loop."""
    import jax
    import pgx
    from pgx.experimental import auto_reset

    env = pgx.make("2048")
    step = jax.vmap(auto_reset(env.step, env.init))

    def advance(carry: Any, _: None) -> tuple[Any, None]:
        state, key = carry
        key, choice, chance = jax.random.split(key, 3)
        actions = jax.random.categorical(choice, jax.numpy.log(state.legal_action_mask))
        return (step(state, actions, jax.random.split(chance, BATCH)), key), None

    keys = jax.random.split(jax.random.key(0), BATCH)
    return _play_scan(advance, (jax.vmap(env.init)(keys), jax.random.key(1)))


def jumanji_play() -> Play:
    """Jumanji samples legal actions and resets ended games within one compiled loop."""
    import jax
    import jumanji
    from jumanji.wrappers import VmapAutoResetWrapper

    env = VmapAutoResetWrapper(jumanji.make("Game2048-v1"))

    def advance(carry: Any, _: None) -> tuple[Any, None]:
        state, timestep, key = carry
        key, choice = jax.random.split(key)
        actions = jax.random.categorical(choice, jax.numpy.log(timestep.observation.action_mask))
        return (*env.step(state, actions), key), None

    keys = jax.random.split(jax.random.key(0), BATCH)
    return _play_scan(advance, (*env.reset(keys), jax.random.key(1)))


def _play_scan(advance: Callable[[Any, None], tuple[Any, None]], carry: Any) -> Play:
    """Play on with a step of JAX, many steps in one compiled call."""
    import jax

    advance_chunk = jax.jit(lambda carry: jax.lax.scan(advance, carry, None, length=_CHUNK)[0])

    def play() -> int:
        nonlocal carry
        carry = jax.block_until_ready(advance_chunk(carry))
        return _CHUNK * BATCH

    return play


def envpool_play() -> Play:
    """EnvPool has no masks. Both actions of Blackjack are always legal, so actions are drawn beforehand."""
    import envpool

    envs = envpool.make("Blackjack-v1", env_type="gymnasium", num_envs=BATCH, num_threads=1)
    envs.reset()
    actions = np.random.default_rng(0).integers(0, 2, (_CHUNK, BATCH))

    def play() -> int:
        for chosen in actions:
            envs.step(chosen)
        return _CHUNK * BATCH

    return play


def rlcard_play() -> Play:
    """RLCard gives each player's observation together with its legal actions."""
    import rlcard

    env = rlcard.make("gin-rummy", config={"seed": 0})
    chance = random.Random(0)
    state, _ = env.reset()

    def play() -> int:
        nonlocal state
        for _ in range(_CHUNK):
            state, _ = env.step(chance.choice(list(state["legal_actions"])))
            if env.is_over():
                state, _ = env.reset()
        return _CHUNK

    return play


@dataclass(frozen=True)
class Peer:
    """A package to compare with.

    Attributes:
        module: what is imported.
        what: what exactly is played, for readers.
        play: makes the play that is timed.
    """

    module: str
    what: str
    play: Callable[[], Play]


PEERS: dict[str, Peer] = {
    "open_spiel": Peer("pyspiel", "OpenSpiel solitaire, one game, observation and mask", open_spiel_play),
    "pgx": Peer("pgx", f"Pgx 2048, {BATCH} games, jit and scan, observation and mask", pgx_play),
    "jumanji": Peer("jumanji", f"Jumanji Game2048-v1, {BATCH} games, jit and scan, observation and mask", jumanji_play),
    "envpool": Peer("envpool", f"EnvPool Blackjack-v1, {BATCH} games, observation without mask", envpool_play),
    "rlcard": Peer("rlcard", "RLCard gin rummy, one game, observation and legal actions", rlcard_play),
}


def is_installed(name: str) -> bool:
    """Whether a peer is installed."""
    return find_spec(PEERS[name].module) is not None


def measure_peer(name: str, seconds: float) -> dict[str, Any]:
    """Measure a peer: `what` is played, and `steps_per_second` of processor time or the `error` that ended it."""
    figures: dict[str, Any] = {"what": PEERS[name].what}
    try:
        arguments = ["-m", __name__, name, str(seconds)]
        return figures | answer_of(arguments, timeout=_TIMEOUT + 10 * seconds, **_ONE_THREAD)
    except (RuntimeError, ValueError) as error:
        return figures | {"error": str(error)}


def hold_to_one_core() -> None:
    """Hold this process to one core, if the system can. Call this before anything counts the cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def main(name: str, seconds: float) -> None:
    """Measure one peer in this process."""
    hold_to_one_core()
    print(json.dumps({"steps_per_second": steps_per_second(PEERS[name].play(), seconds)}))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
