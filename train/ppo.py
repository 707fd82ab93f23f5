"""Train a masked PPO policy on one variant, with a teacher if wanted.

    python -m train.ppo --config configs/ppo/draw1_taught.yaml
    python -m train.ppo --config configs/ppo/draw1.yaml frames=2e6 seed=2 run_dir=runs/short
    python -m train.ppo --resume runs/ppo_draw1

PPO is sb3-contrib's MaskablePPO (Huang and Ontanon 2022 for the masks) with the loops of `train.lean_ppo`. The run
directory holds `config.yaml` (every value), `policy.safetensors` (the weights of the best validation, which `policy`
agents load), `checkpoint.zip` and `training.json` (what `--resume` needs) and TensorBoard's event files. All but the
last are written whole or not at all: the weights at a validation that is the best so far, the checkpoint at each.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure
from stable_baselines3.common.utils import get_device

from klondike_env.agents.base import PlayMode
from klondike_env.agents.match import play_games
from klondike_env.agents.network.agent import PolicyAgent, pack_policy
from klondike_env.agents.network.network import PolicyNetwork, useful_values
from klondike_env.deals import VALIDATION_DEALS
from klondike_env.sb3 import KlondikeVecEnv
from train.budget import Budget, Trained
from train.config import CONFIG_FILE, ConfigError, PpoConfig, load_run_config, save_config
from train.console import explain_mistakes, explain_resuming
from train.files import claim_run_dir, write_atomically
from train.lean_ppo import LeanPPO, TrunkExtractor, pick_dtype
from train.results import CurvePoint, RunResult
from train.rollouts import Rollout
from train.teaching import Teacher

WEIGHTS_FILE = "policy.safetensors"
CHECKPOINT_FILE = "checkpoint.zip"
TRAINING_FILE = "training.json"
_BAR = 1000  # steps of the progress bar
_RECENT_GAMES = 2000  # the progress bar shows the win rate over these


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
        won = self.locals["won"]
        self.trained.games += len(won)
        self._recent.extend(won.tolist())
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

    def _win_rate(self, agent: PolicyAgent) -> float:
        """The share of the validation deals that an agent wins."""
        deals = np.arange(VALIDATION_DEALS.start, VALIDATION_DEALS.start + self.config.validation.deals)
        return float(play_games(agent, self.config.game, deals, seed=self.config.seed).won.mean())

    def validate(self) -> None:
        """Measure the policy on validation deals and save the run; its weights if they are the best so far."""
        self.trained.seconds = self.budget.seconds
        agents = [policy_agent(self.model, self.config, play) for play in self.config.play_modes]  # type: ignore[arg-type]
        rates = [self._win_rate(agent) for agent in agents]
        win_rate, agent = max(rates), agents[int(np.argmax(rates))]
        self.trained.curve.append(
            CurvePoint(
                frames=self.trained.frames,
                seconds=self.trained.seconds,
                win_rate=win_rate,
                deals=self.config.validation.deals,
                play=agent.play,
            )
        )
        self.logger.record("validation/win_rate", win_rate)
        if self.trained.curve[-1] is self.trained.best:
            save_weights(agent, self.config, self.trained)
        save_checkpoint(self.model, self.config, self.trained)  # type: ignore[arg-type]


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
    teacher = Teacher(config) if config.teacher else None
    trained = _load_trained(config.directory) if resume else Trained()
    if not resume:
        claim_run_dir(config.directory)
        save_config(config, config.directory / CONFIG_FILE)
    env = make_env(config)
    model = _load_model(config, env) if resume else make_model(config, env)
    _compile_kernels(env, teacher)
    env.seed(_deal_seed(config.seed, trained.frames))  # only now, as making or loading a model seeds its environment
    budget = Budget(config, trained)
    model.budget, model.teacher = budget, teacher
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


def _compile_kernels(env: KlondikeVecEnv, teacher: Teacher | None) -> None:
    """Play a step of a game, so that the time it takes to compile the kernels is not taken from the budget."""
    games = env.games
    games.deal(np.zeros(len(games), dtype=np.int64))
    env.observer.follow(games)
    if teacher is not None:
        teacher.lessons(games)
    games.step(games.masks.argmax(axis=1))


def _deal_seed(seed: int, frames: int) -> int:
    """A seed of the deals that no other run, and no other part of a resumed run, shares.

    Game i takes this seed + i. So if runs with neighbouring seeds used these directly, they would share most deals.
    """
    return int(np.random.SeedSequence([seed, frames]).generate_state(1, np.uint64)[0])


def _learn(model: LeanPPO, watch: Watch, *, resume: bool) -> None:
    """Spend the budget; whoever interrupts it finds the run saved."""
    config, trained = watch.config, watch.trained
    try:
        model.learn(config.frames - trained.frames, callback=watch, reset_num_timesteps=not resume)
    except KeyboardInterrupt:
        trained.seconds = watch.budget.seconds
        save_checkpoint(model, config, trained)
        raise


def policy_agent(model: LeanPPO, config: PpoConfig, play: PlayMode) -> PolicyAgent:
    """The trained policy as an agent that plays in this way, with its own copy of the weights."""
    network = PolicyNetwork(useful_values(config.game, config.talon), config.hidden_sizes).to(model.device)
    weights = model.policy.state_dict()
    network.load_state_dict(
        {
            name: weights[name.replace("trunk", "features_extractor.trunk").replace("action_head", "action_net")]
            for name in network.state_dict()
        }
    )
    return PolicyAgent(network, play=play, talon=config.talon, no_repeats=config.env.no_repeats)


def save_weights(agent: PolicyAgent, config: PpoConfig, trained: Trained) -> None:
    """Write the weights that are the run's result so far."""
    about = {
        "variant": config.variant,
        "rules": config.game.to_dict(),
        "hidden_sizes": list(config.hidden_sizes),
        "talon": config.talon,
        "no_repeats": config.env.no_repeats,
        "play": agent.play,
        "frames": trained.frames,
    }
    write_atomically(config.directory / WEIGHTS_FILE, pack_policy(agent.network, **about))


def save_checkpoint(model: LeanPPO, config: PpoConfig, trained: Trained) -> None:
    """Write what `--resume` needs."""
    checkpoint = io.BytesIO()
    model.save(checkpoint, exclude=["budget", "teacher", "lr_schedule"])
    write_atomically(config.directory / CHECKPOINT_FILE, checkpoint.getvalue())
    write_atomically(config.directory / TRAINING_FILE, trained.model_dump_json(indent=2) + "\n")


def make_model(config: PpoConfig, env: KlondikeVecEnv) -> LeanPPO:
    """An untrained model; its `budget` must be set before it learns."""
    keywords = model_keywords(config)
    keywords["policy_kwargs"]["optimizer_kwargs"] = {"eps": 1e-5, "fused": True}  # eps as in Stable-Baselines3
    buffer: dict[str, Any] = {
        "rollout_buffer_class": Rollout.buffer,
        "rollout_buffer_kwargs": _rollout_keywords(config),
    }
    return LeanPPO(MaskableActorCriticPolicy, env, **keywords, **buffer)


def model_keywords(config: PpoConfig) -> dict[str, Any]:
    """What MaskablePPO is told besides the policy, the environment and the buffer."""
    return {
        "learning_rate": config.learning_rate,
        "n_steps": config.n_steps,
        "batch_size": config.batch_size,
        "n_epochs": config.epochs,
        "gamma": config.gamma,
        "gae_lambda": config.gae_lambda,
        "clip_range": config.clip,
        "ent_coef": config.entropy_start,
        "vf_coef": config.value_coefficient,
        "max_grad_norm": config.max_grad_norm,
        "policy_kwargs": {
            "net_arch": [],
            "features_extractor_class": TrunkExtractor,
            "features_extractor_kwargs": {
                "useful": useful_values(config.game, config.talon),
                "hidden_sizes": list(config.hidden_sizes),
            },
        },
        "seed": config.seed,
        "device": config.device,
    }


def _load_trained(directory: Path) -> Trained:
    file = directory / TRAINING_FILE
    if not file.exists():
        raise ConfigError(f"{directory} holds no {TRAINING_FILE}; a run can be resumed after its first validation")
    return Trained.model_validate_json(file.read_text())


def _load_model(config: PpoConfig, env: KlondikeVecEnv) -> LeanPPO:
    file, keywords = config.directory / CHECKPOINT_FILE, _rollout_keywords(config)
    return LeanPPO.load(file, env=env, device=config.device, rollout_buffer_kwargs=keywords)


def _rollout_keywords(config: PpoConfig) -> dict[str, Any]:
    """What a `Rollout` needs to know besides what MaskablePPO tells it."""
    n_values = len(useful_values(config.game, config.talon))
    return {"n_values": n_values, "dtype": pick_dtype(config.precision, get_device(config.device))}


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
    with explain_mistakes(console):
        settings = load_run_config(PpoConfig, config, overrides or [], resume)
        with explain_resuming(console, "train.ppo", settings.directory):
            result = train(settings, resume=resume is not None, console=console)
    best = result.best
    console.print(
        f"{result.frames} frames in {result.seconds / 60:.1f} minutes; the best weights, of frame {best.frames}, won "
        f"{best.win_rate:.1%} of {best.deals} validation deals ({best.play}) and are in {result.weights}"
    )


if __name__ == "__main__":
    app()
