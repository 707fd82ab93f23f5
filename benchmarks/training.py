"""Measure how fast networks are trained, beside plain MaskablePPO: `python -m benchmarks.training`, in a checkout."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated

import torch
import typer
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.utils import get_device

from benchmarks.clock import Play, rates
from klondike_env.machine import processor
from train.budget import Budget, Trained
from train.config import ConfigError, PpoConfig, load_config
from train.lean_ppo import pick_dtype
from train.ppo import make_env, make_model, model_keywords

app = typer.Typer(add_completion=False)
_ENDLESS = "frames=1e15"
_NEVER = 10**9
_CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "processor": time.process_time}


@app.command()
def main(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value of a training, such as epochs=4", metavar="[KEY=VALUE]...")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.01, help="time spent on each of the two")] = 30.0,
    threads: Annotated[int | None, typer.Option(min=1, help="threads of torch; its own choice by default")] = None,
    clock: Annotated[str, typer.Option(help="wall, or processor: less disturbed by other work")] = "wall",
) -> None:
    """Print the frames per second of `train.ppo` and of MaskablePPO on `KlondikeVecEnv`, and their ratio.

    Both train the same network on the same observations with the same batches and epochs, and take turns, a rollout
    and its update at a time.
    """
    try:
        config = load_config(PpoConfig, None, [_ENDLESS, *(overrides or [])])
        if clock not in _CLOCKS:
            raise ConfigError(f"clock is {clock!r}; allowed: {', '.join(_CLOCKS)}")
    except ConfigError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None
    if threads is not None:
        torch.set_num_threads(threads)
    plain, lean = rates([plain_training(config), lean_training(config)], seconds, _CLOCKS[clock])
    dtype = str(pick_dtype(config.precision, get_device(config.device))).removeprefix("torch.")
    typer.echo(
        f"{config.variant}, network {list(config.hidden_sizes)}, batch {config.batch_size}, epochs {config.epochs}; "
        f"{processor()}, {torch.get_num_threads()} threads, {clock} time"
    )
    typer.echo(f"MaskablePPO  {plain:8,.0f} frames/s")
    typer.echo(f"train.ppo    {lean:8,.0f} frames/s, {dtype}")
    typer.echo(f"ratio        {lean / plain:8.2f}")


def plain_training(config: PpoConfig) -> Play:
    """Training by sb3-contrib as it is, a rollout at a time."""
    return _rollouts(MaskablePPO(MaskableActorCriticPolicy, make_env(config), **model_keywords(config)), config)


def lean_training(config: PpoConfig) -> Play:
    """Training by `train.ppo`, a rollout at a time."""
    model = make_model(config, make_env(config))
    model.budget = Budget(config, Trained())
    return _rollouts(model, config)


def _rollouts(model: MaskablePPO, config: PpoConfig) -> Play:
    def play() -> int:
        model.learn(config.rollout, reset_num_timesteps=False, log_interval=_NEVER)
        return config.rollout

    return play


if __name__ == "__main__":
    app(prog_name="python -m benchmarks.training")
