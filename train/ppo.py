"""Train a masked PPO policy on one variant.

    python -m train.ppo --config configs/ppo/draw1.yaml
    python -m train.ppo --config configs/ppo/draw1.yaml frames=2e6 seed=2 run_dir=runs/short
    python -m train.ppo --resume runs/ppo_draw1

PPO is sb3-contrib's MaskablePPO (Huang and Ontanon 2022 for the masks) on a native batch of games.
The run directory holds `config.yaml` (every setting), `policy.safetensors` (which `policy` agents
load), `checkpoint.zip` and `training.json` (which `--resume` needs) and TensorBoard's event files. The
weights, the checkpoint and `training.json` are written at each validation, whole or not at all.
"""

from __future__ import annotations

import io
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from pydantic import BaseModel
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

from klondike_env.agents.match import play_games
from klondike_env.agents.network.agent import PolicyAgent, pack_policy
from klondike_env.agents.network.network import PolicyNetwork, Trunk, useful_values
from klondike_env.deals import VALIDATION_DEALS
from klondike_env.sb3 import KlondikeVecEnv
from train.config import ConfigError, PpoConfig, load_config, save_config
from train.files import claim_run_dir, write_atomically
from train.results import CurvePoint, RunResult

CONFIG_FILE = "config.yaml"
WEIGHTS_FILE = "policy.safetensors"
CHECKPOINT_FILE = "checkpoint.zip"
TRAINING_FILE = "training.json"
_BAR = 1000  # steps of the progress bar
_RECENT_GAMES = 2000  # the progress bar shows the win rate over these


class Trained(BaseModel):
    """How far a run has come."""

    frames: int = 0
    seconds: float = 0.0
    games: int = 0
    curve: list[CurvePoint] = []


@dataclass
class Budget:
    """Frames and wall time of a run, and how much of them is spent; earlier parts of a resumed run count."""

    config: PpoConfig
    trained: Trained
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self._earlier = self.trained.seconds

    @property
    def seconds(self) -> float:
        """Wall time spent."""
        return self._earlier + time.perf_counter() - self.started

    @property
    def spent(self) -> float:
        """The share of the budget that is spent, 0 to 1: that of the frames or of the time, whichever is larger."""
        of_time = self.seconds / (60 * self.config.minutes) if self.config.minutes else 0.0
        return min(max(self.trained.frames / self.config.frames, of_time), 1.0)

    def scaled(self, start: float, end: float) -> float:
        """The value between `start` and `end`, interpolated by the share of the budget that is spent."""
        return start + (end - start) * self.spent


class TrunkExtractor(BaseFeaturesExtractor):
    """The trunk in the form that Stable-Baselines3 expects; policy and value share it."""

    def __init__(self, observation_space: Any, useful: list[int], hidden_sizes: list[int]) -> None:
        super().__init__(observation_space, features_dim=hidden_sizes[-1])
        self.trunk = Trunk(useful, hidden_sizes)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """float32[n, N_VALUES] -> float32[n, features_dim]."""
        return self.trunk(observations)


class Watch(BaseCallback):
    """Follows a training: entropy schedule, progress bar, validation and checkpoints."""

    def __init__(self, config: PpoConfig, trained: Trained, budget: Budget, progress: Progress) -> None:
        super().__init__()
        self.config, self.trained, self.budget, self.progress = config, trained, budget, progress
        self._recent: list[bool] = []
        self._next_validation = trained.frames + config.validation.interval
        self._bar = progress.add_task("", total=_BAR)

    def _on_rollout_start(self) -> None:
        self.model.ent_coef = self.budget.scaled(self.config.entropy_start, self.config.entropy_end)  # type: ignore[attr-defined]

    def _on_step(self) -> bool:
        for row in np.flatnonzero(self.locals["dones"]):
            self.trained.games += 1
            self._recent.append(self.locals["infos"][row]["is_success"])
        return True

    def _on_rollout_end(self) -> None:
        self.trained.frames += self.config.rollout
        self._recent = self._recent[-_RECENT_GAMES:]
        self._show()
        self.logger.record("rollout/win_rate", float(np.mean(self._recent)) if self._recent else 0.0)
        self.logger.record("rollout/games", self.trained.games)
        self.logger.record("train/entropy_coefficient", self.model.ent_coef)  # type: ignore[attr-defined]
        if self.trained.frames >= self._next_validation:
            self._next_validation += self.config.validation.interval
            self.validate()

    def _show(self) -> None:
        spent, seconds = self.budget.spent, self.budget.seconds
        left = seconds * (1 - spent) / max(spent, 1e-9)
        rate = float(np.mean(self._recent)) if self._recent else 0.0
        validated = f", validation {self.trained.curve[-1].win_rate:.1%}" if self.trained.curve else ""
        text = (
            f"{self.config.variant}: {self.trained.frames / 1e6:.2f} M frames, {self.trained.games} games, "
            f"{rate:.1%} won{validated}, {self.trained.frames / seconds:,.0f} frames/s, {left / 60:.1f} min left"
        )
        self.progress.update(self._bar, completed=int(_BAR * spent), description=text)

    def validate(self) -> None:
        """Measure the policy on validation deals and save the run."""
        agent = policy_agent(self.model, self.config)  # type: ignore[arg-type]
        deals = np.arange(VALIDATION_DEALS.start, VALIDATION_DEALS.start + self.config.validation.deals)
        played = play_games(agent, self.config.game, deals, seed=self.config.seed)
        win_rate = float(played.won.mean())
        self.trained.seconds = self.budget.seconds
        self.trained.curve.append(
            CurvePoint(frames=self.trained.frames, seconds=self.trained.seconds, win_rate=win_rate, deals=len(deals))
        )
        self.logger.record("validation/win_rate", win_rate)
        save_run(self.model, self.config, self.trained)  # type: ignore[arg-type]


class TimedPPO(MaskablePPO):
    """MaskablePPO that also ends when the wall time is spent, after a whole rollout and its update."""

    budget: Budget

    def collect_rollouts(self, *args: Any, **kwargs: Any) -> bool:
        """A rollout as the base class collects it, unless the budget is spent."""
        return self.budget.spent < 1.0 and super().collect_rollouts(*args, **kwargs)


def train(config: PpoConfig, *, resume: bool = False, console: Console | None = None) -> RunResult:
    """Train a policy; the run is stored in `config.directory`.

    Args:
        config: what to train.
        resume: resume the run in `config.directory` instead of starting one there.
        console: where the progress bar goes.

    Raises:
        FileExistsError: the directory holds a run and `resume` is False.
        ConfigError: the directory holds nothing to resume.
    """
    if config.device.startswith("cuda") and not torch.cuda.is_available():
        raise ConfigError(f"device is {config.device!r}, but torch finds no GPU; use device=auto or device=cpu")
    torch.distributions.Distribution.set_default_validate_args(False)
    trained = _load_trained(config.directory) if resume else Trained()
    if not resume:
        claim_run_dir(config.directory)
        save_config(config, config.directory / CONFIG_FILE)
    budget = Budget(config, trained)
    env = make_env(config)
    model = _load_model(config, env) if resume else make_model(config, env)
    env.seed(_deal_seed(config.seed, trained.frames))  # last, because making or loading a model seeds its environment
    model.budget = budget
    start, end = config.learning_rate, 0.0 if config.schedule == "linear" else config.learning_rate
    model.lr_schedule = lambda _: budget.scaled(start, end)
    model.set_logger(configure(str(config.directory), ["tensorboard"]))
    bar = (TextColumn("{task.description}"), BarColumn(bar_width=20), TimeElapsedColumn())
    with Progress(*bar, console=console) as progress:
        watch = Watch(config, trained, budget, progress)
        if budget.spent < 1.0:
            _learn(model, watch, resume=resume)
        watch.model = model
        watch.validate()
    model.logger.dump(trained.frames)
    return RunResult(
        weights=config.directory / WEIGHTS_FILE, frames=trained.frames, seconds=trained.seconds, curve=trained.curve
    )


def make_env(config: PpoConfig) -> KlondikeVecEnv:
    """The games that are trained on."""
    return KlondikeVecEnv(
        config.n_games,
        **config.game.to_dict(),
        talon=config.talon,
        no_repeats=config.env.no_repeats,
        auto_finish=config.env.auto_finish,
        stall_limit=config.env.stall_limit,
        reward=config.env.reward,
    )


def _deal_seed(seed: int, frames: int) -> int:
    """A seed of the deals that no other run, and no other part of a resumed run, shares.

    Game i takes this seed + i. So if runs with neighbouring seeds used these directly, they would share most deals.
    """
    return int(np.random.SeedSequence([seed, frames]).generate_state(1, np.uint64)[0])


def _learn(model: TimedPPO, watch: Watch, *, resume: bool) -> None:
    """Spend the budget; on an interrupt, save the run first."""
    config, trained = watch.config, watch.trained
    try:
        model.learn(config.frames - trained.frames, callback=watch, reset_num_timesteps=not resume)
    except KeyboardInterrupt:
        trained.seconds = watch.budget.seconds
        save_run(model, config, trained)
        raise


def policy_agent(model: MaskablePPO, config: PpoConfig) -> PolicyAgent:
    """The trained policy as an agent, with its own copy of the weights."""
    network = PolicyNetwork(useful_values(config.game, config.talon), config.hidden_sizes).to(model.device)
    weights = model.policy.state_dict()
    network.load_state_dict(
        {
            name: weights[name.replace("trunk", "features_extractor.trunk").replace("action_head", "action_net")]
            for name in network.state_dict()
        }
    )
    return PolicyAgent(network, play=config.play_mode, talon=config.talon, no_repeats=config.env.no_repeats)


def save_run(model: MaskablePPO, config: PpoConfig, trained: Trained) -> None:
    """Write weights, checkpoint and progress."""
    directory = config.directory
    about = {
        "variant": config.variant,
        "rules": config.game.to_dict(),
        "hidden_sizes": list(config.hidden_sizes),
        "talon": config.talon,
        "no_repeats": config.env.no_repeats,
        "play": config.play_mode,
        "frames": trained.frames,
    }
    write_atomically(directory / WEIGHTS_FILE, pack_policy(policy_agent(model, config).network, **about))
    checkpoint = io.BytesIO()
    model.save(checkpoint, exclude=["budget", "lr_schedule"])
    write_atomically(directory / CHECKPOINT_FILE, checkpoint.getvalue())
    write_atomically(directory / TRAINING_FILE, trained.model_dump_json(indent=2) + "\n")


def make_model(config: PpoConfig, env: KlondikeVecEnv) -> TimedPPO:
    """An untrained model; its `budget` must be set before it learns."""
    extractor = {
        "useful": useful_values(config.game, config.talon),
        "hidden_sizes": list(config.hidden_sizes),
    }
    return TimedPPO(
        MaskableActorCriticPolicy,
        env,
        learning_rate=config.learning_rate,
        n_steps=config.n_steps,
        batch_size=config.batch_size,
        n_epochs=config.epochs,
        gamma=config.gamma,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy_start,
        vf_coef=config.value_coefficient,
        max_grad_norm=config.max_grad_norm,
        policy_kwargs={
            "net_arch": [],
            "features_extractor_class": TrunkExtractor,
            "features_extractor_kwargs": extractor,
        },
        seed=config.seed,
        device=config.device,
    )


def _load_trained(directory: Path) -> Trained:
    file = directory / TRAINING_FILE
    if not file.exists():
        raise ConfigError(f"{directory} holds no {TRAINING_FILE}; a run can be resumed after its first validation")
    return Trained.model_validate_json(file.read_text())


def _load_model(config: PpoConfig, env: KlondikeVecEnv) -> TimedPPO:
    return TimedPPO.load(config.directory / CHECKPOINT_FILE, env=env, device=config.device)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    overrides: Annotated[
        list[str] | None, typer.Argument(help="key=value, such as frames=2e6", metavar="[KEY=VALUE]...")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file of overrides")] = None,
    resume: Annotated[Path | None, typer.Option(help="directory of a run to resume")] = None,
) -> None:
    """Train a masked PPO policy."""
    console = Console()
    try:
        if resume is not None:
            settings = load_config(PpoConfig, resume / CONFIG_FILE, [*(overrides or []), f"run_dir={resume}"])
        else:
            settings = load_config(PpoConfig, config, overrides or [])
        result = train(settings, resume=resume is not None, console=console)
    except KeyboardInterrupt:
        console.print(f"Stopped and saved; resume with: python -m train.ppo --resume {settings.directory}")
        raise typer.Exit(130) from None
    except (ConfigError, OSError) as error:
        console.print(str(error), style="red", markup=False, highlight=False)
        raise typer.Exit(2) from None
    console.print(
        f"{result.curve[-1].win_rate:.1%} of {result.curve[-1].deals} validation deals won after {result.frames} "
        f"frames in {result.seconds / 60:.1f} minutes; weights in {result.weights}"
    )


if __name__ == "__main__":
    app()
