"""Configurations: defaults here, overrides in YAML files, more overrides as `key=value` on the command line.

    config = load_config(PpoConfig, "configs/ppo/draw1.yaml", ["frames=2e6", "env.reward=win"])

Unknown keys and values that are not allowed raise a `ConfigError` that names the file, the key, the
value and what is allowed.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from klondike_env.agents.base import PLAY_MODES, PlayMode, Talon
from klondike_env.agents.tuned.network import CLOSE
from klondike_env.deals import TEST_DEALS, VALIDATION_DEALS
from klondike_env.rules import ALIASES, DISTINCT_PRESETS, PRESETS, RULE_FIELDS, Rules, preset
from train.files import write_atomically

Network = Literal["taught", "ppo"]
TAUGHT: Network = "taught"  # PPO with a teacher
PPO: Network = "ppo"  # without
NETWORKS: tuple[Network, ...] = (TAUGHT, PPO)


CONFIG_FILE = "config.yaml"  # in the directory of a run


class ConfigError(ValueError):
    """A configuration that cannot be used; the message is for the user and needs no traceback."""


def _whole_number(value: Any) -> Any:
    """Let 2e6 stand for 2000000, which YAML reads as text, but not true for 1."""
    if isinstance(value, bool):
        raise ValueError(f"is {value!r}; allowed: a whole number")
    try:
        number = float(value)
    except (TypeError, ValueError):
        return value
    return int(number) if number.is_integer() else value


Count = Annotated[PositiveInt, BeforeValidator(_whole_number)]
Share = Annotated[float, Field(ge=0, le=1)]
NonNegativeFloat = Annotated[float, Field(ge=0)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]


def _check_variant(variant: str) -> str:
    if variant not in PRESETS:
        raise ValueError(f"no such variant: {variant!r}; allowed: {', '.join(PRESETS)}")
    return variant


Variant = Annotated[str, AfterValidator(_check_variant)]


class Config(BaseModel):
    """Base of all configurations: immutable, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class EnvConfig(Config):
    """Options of the environment in training.

    Attributes:
        talon: "draw", "reach", or "auto": reach where redeals are unlimited, draw elsewhere.
        no_repeats: mask actions that lead back to a position visited since the last progress.
        auto_finish: end a game as won once it is decided.
        stall_limit: steps in a row without progress that end a game in training. It is far below the
            environment's default, with which four of five frames are spent in games that are already
            lost. Evaluation plays on to 250, which adds two points to the win rate of a draw-1 policy.
        reward: reward scheme.
    """

    talon: Literal["auto", "draw", "reach"] = "auto"
    no_repeats: bool = True
    auto_finish: bool = True
    stall_limit: Count = 25
    reward: Literal["win", "progress", "standard", "vegas"] = "progress"


class ValidationConfig(Config):
    """Evaluation during training: on this many validation deals (`deals`), after every `interval` frames."""

    deals: Annotated[Count, Field(le=len(VALIDATION_DEALS))] = 2000
    interval: Count = 1_000_000


class TeachingConfig(Config):
    """The weight of the teacher's loss, from 1 at the start of the budget to `end_weight`; PPO's has the rest.

    Attributes:
        fade_start: the share of the budget at which the weight begins to fall.
        fade_end: the share at which it has fallen, linearly, to `end_weight`.
        end_weight: what remains of it.
    """

    fade_start: Share = 0.5
    fade_end: Share = 0.9
    end_weight: Share = 0.1

    @model_validator(mode="after")
    def _check_together(self) -> TeachingConfig:
        if self.fade_end < self.fade_start:
            raise ValueError(
                f"teaching.fade_end is {self.fade_end}; allowed: teaching.fade_start = {self.fade_start} or more"
            )
        return self

    def weight(self, spent: float) -> float:
        """The weight once this share of the budget is spent."""
        if spent <= self.fade_start:
            return 1.0
        if spent >= self.fade_end:
            return self.end_weight
        faded = (spent - self.fade_start) / (self.fade_end - self.fade_start)
        return 1.0 + faded * (self.end_weight - 1.0)


class PpoConfig(Config):
    """One training run of masked PPO. Its result is the network of the best validation, not that of the last.

    Attributes:
        variant: the preset that is learned.
        rules: fields of `Rules` that differ from that preset, such as `{draw_count: 2}`.
        env: environment options.
        teacher: an agent, by a name that `klondike_env.agents.load` knows, whose actions the network learns to
            predict in the positions that it meets itself; None for PPO alone.
        teaching: how the teacher's weight falls.
        n_games: games played side by side.
        n_steps: steps in each game between two updates; n_games * n_steps frames make a rollout.
        batch_size: frames per gradient step; divides a rollout.
        epochs: how often an update goes through the rollout.
        learning_rate: learning rate of Adam, at the start.
        schedule: "linear" lets the learning rate fall to zero at the end of the budget, "constant" keeps it.
        gamma: discount per step.
        gae_lambda: lambda of the generalized advantage estimate.
        clip: how far the ratio of new to old probability may differ from 1.
        entropy_start: entropy coefficient at the start ...
        entropy_end: ... and at the end of the budget, linear in between.
        value_coefficient: weight of the value loss.
        max_grad_norm: gradients are scaled down to this norm.
        hidden_sizes: units of each layer of the shared trunk.
        precision: in which the trunk computes: "float32", "bfloat16", or "auto": bfloat16 where the processor
            or the GPU has units for it, which make training several times as fast.
        frames: the budget, in environment steps of all games together.
        minutes: the budget in wall time; training ends with whichever comes first. None for no limit.
        seed: seed of the weights, the deals and the sampling.
        validation: evaluation during training.
        play_mode: how the trained network plays: its likeliest action ("argmax"), one drawn from its distribution
            ("sampled"), or whichever won more validation deals ("best").
        run_dir: directory of the run; None for `runs/ppo_<variant>`.
        device: "auto" for a GPU if there is one; else a device as torch names it.
    """

    variant: Variant = "draw1"
    rules: dict[str, Any] = {}
    env: EnvConfig = EnvConfig()
    teacher: str | None = None
    teaching: TeachingConfig = TeachingConfig()
    n_games: Count = 256
    n_steps: Count = 64
    batch_size: Count = 2048
    epochs: Count = 2
    learning_rate: PositiveFloat = 1e-3
    schedule: Literal["linear", "constant"] = "linear"
    gamma: Share = 1.0
    gae_lambda: Share = 0.95
    clip: PositiveFloat = 0.2
    entropy_start: NonNegativeFloat = 0.01
    entropy_end: NonNegativeFloat = 0.002
    value_coefficient: NonNegativeFloat = 0.5
    max_grad_norm: PositiveFloat = 0.5
    hidden_sizes: Annotated[tuple[PositiveInt, ...], Field(min_length=1)] = (256, 256)
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    frames: Count = 16_000_000
    minutes: PositiveFloat | None = None
    seed: Seed = 1
    validation: ValidationConfig = ValidationConfig()
    play_mode: Literal["best", "argmax", "sampled"] = "best"
    run_dir: Path | None = None
    device: str = "auto"

    @model_validator(mode="after")
    def _check_together(self) -> PpoConfig:
        _rules_from(self.variant, self.rules)
        if self.rollout % self.batch_size:
            raise ValueError(
                f"batch_size is {self.batch_size}; allowed: a divisor of n_games * n_steps = {self.rollout}"
            )
        return self

    @property
    def rollout(self) -> int:
        """Frames between two updates."""
        return self.n_games * self.n_steps

    @property
    def game(self) -> Rules:
        """The rules of the game that is learned."""
        return _rules_from(self.variant, self.rules)

    @property
    def talon(self) -> Talon:
        """The talon option with "auto" decided."""
        return resolve_talon(self.env.talon, self.game)

    @property
    def play_modes(self) -> tuple[PlayMode, ...]:
        """The ways to play that are validated."""
        return PLAY_MODES if self.play_mode == "best" else (self.play_mode,)

    @property
    def directory(self) -> Path:
        """Where the run is kept."""
        return self.run_dir or Path("runs") / f"ppo_{self.variant}"


class RoundConfig(Config):
    """A round of trying out, after which a network is learned.

    Attributes:
        plays_on: who plays on from the moves that are tried out: "weights", `tuned` without its table, which is the
            fastest; "tuned"; or "net", the network of the round before, which is the slowest.
        decisions: decisions in which moves are tried out.
    """

    plays_on: Literal["weights", "tuned", "net"] = "weights"
    decisions: Count = 1_000_000


class NetConfig(Config):
    """One training of the network of the agent `net`.

    Attributes:
        variant: the preset that is learned.
        rounds: the rounds of trying out and learning.
        margin: moves are tried out whose scores are at most this far below the best.
        samples: determinizations in which the moves of a decision are tried out ...
        first_samples: ... or as few as these if all moves have won equally often by then.
        hidden_sizes: units of the two hidden layers.
        epochs: how often each decision is learned from.
        batch_size: decisions per gradient step.
        learning_rate: learning rate of AdamW, at its highest.
        weight_decay: weight decay of AdamW.
        deals: validation deals by which the networks of the rounds are compared.
        threads: threads that try moves out, and that torch uses.
        seed: seed of the weights, the deals and the order of learning.
        run_dir: directory of the run; None for `runs/net_<variant>`.
    """

    variant: Variant = "draw1"
    rounds: Annotated[tuple[RoundConfig, ...], Field(min_length=1)] = (RoundConfig(),)
    margin: Count = CLOSE
    samples: Count = 16
    first_samples: Count = 6
    hidden_sizes: tuple[PositiveInt, PositiveInt] = (32, 32)
    epochs: Count = 3
    batch_size: Count = 2048
    learning_rate: PositiveFloat = 2e-3
    weight_decay: NonNegativeFloat = 0.1
    deals: Annotated[Count, Field(le=len(VALIDATION_DEALS))] = 100_000
    threads: Count = 2
    seed: Seed = 1
    run_dir: Path | None = None

    @field_validator("rounds")
    @classmethod
    def _no_network_at_first(cls, rounds: tuple[RoundConfig, ...]) -> tuple[RoundConfig, ...]:
        if rounds[0].plays_on == "net":
            raise ValueError("rounds.0.plays_on is 'net'; allowed: weights or tuned, as there is no network yet")
        return rounds

    @property
    def game(self) -> Rules:
        """The rules of the game that is learned."""
        return PRESETS[self.variant]

    @property
    def directory(self) -> Path:
        """Where the run is kept."""
        return self.run_dir or Path("runs") / f"net_{self.variant}"


class BenchmarkConfig(Config):
    """The benchmark: train networks on each variant, evaluate them and the baselines on the same deals.

    Attributes:
        name: name of the run, which is stored in `runs/<name>`.
        variants: presets, in the order of the table; no aliases, whose games would be trained twice.
        agents: baselines, by the names that `train.evaluate` knows.
        deals: test deals that every agent plays, from number 0 on.
        planners: agents that plan, by name.
        planner_deals: test deals that planners and baselines play together, from number 0 on.
        networks: the kinds of training, in the order of the table: "taught" with a teacher, "ppo" without.
        ppo_configs: directory whose `<variant>_taught.yaml` and `<variant>.yaml` the trainings start from, or from the
            defaults without one.
        ppo: overrides of those files, for all trainings.
        taught: further overrides for those with a teacher.
        per_variant: variant -> further overrides for it alone.
    """

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")] = "quick"
    variants: Annotated[tuple[str, ...], Field(min_length=1)] = tuple(DISTINCT_PRESETS)
    agents: Annotated[tuple[str, ...], Field(min_length=1)] = ("random", "greedy", "collins", "tuned", "net")
    deals: Annotated[Count, Field(le=len(TEST_DEALS))] = 40_000
    planners: tuple[str, ...] = ("rollout:samples=30,base=tuned", "bandit:samples=10", "bandit")
    planner_deals: Annotated[Count, Field(le=len(TEST_DEALS))] = 2_000
    networks: Annotated[tuple[Network, ...], Field(min_length=1)] = NETWORKS
    ppo_configs: Path = Path("configs/ppo")
    ppo: dict[str, Any] = {}
    taught: dict[str, Any] = {}
    per_variant: dict[str, dict[str, Any]] = {}

    @field_validator("variants", "agents", "planners", "networks")
    @classmethod
    def _no_doubles(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        doubles = {name for name in names if names.count(name) > 1}
        if doubles:
            raise ValueError(f"is {list(names)}; allowed: each name once, not {', '.join(sorted(doubles))} again")
        return names

    @model_validator(mode="after")
    def _known_variants(self) -> BenchmarkConfig:
        for variant in (*self.variants, *self.per_variant):
            if variant in ALIASES:
                raise ValueError(f"{variant} is {ALIASES[variant]} under another name; name that")
            _check_variant(variant)
        return self

    @property
    def directory(self) -> Path:
        """Where the run is kept."""
        return Path("runs") / self.name

    def training(self, variant: str, network: Network, directory: Path) -> PpoConfig:
        """A training: its file, overridden by `ppo`, by `taught` if it has a teacher, then by `per_variant`.

        Args:
            variant: the preset to be learned.
            network: the kind of training.
            directory: of the benchmark; the training is kept in `<network>_<variant>` there.

        Raises:
            ConfigError: the file or one of the overrides cannot be used.
        """
        if not self.ppo_configs.is_dir():
            raise ConfigError(f"there is no directory {self.ppo_configs}; ppo_configs names one with YAML files")
        taught = network == TAUGHT
        file = self.ppo_configs / (f"{variant}_taught.yaml" if taught else f"{variant}.yaml")
        start = _read_yaml(file) if file.exists() else {"teacher": "tuned"} if taught else {}
        own = {"variant": variant, "run_dir": str(directory / f"{network}_{variant}")}
        values: dict[str, Any] = {}
        for layer in (start, self.ppo, self.taught if taught else {}, self.per_variant.get(variant, {}), own):
            values = _merge(values, layer)
        source = f"benchmark {self.name}, {network} of {variant}"
        config = _validate(PpoConfig, values, source)
        if config.game != PRESETS[variant]:
            raise ConfigError(f"{source}: rules is {config.rules!r}; allowed: none, a benchmark plays presets")
        return config


def resolve_talon(talon: Literal["auto", "draw", "reach"], rules: Rules) -> Talon:
    """Decide "auto": reach where redeals are unlimited, since looking through the stock is free there; else draw."""
    if talon == "auto":
        return rules.auto_talon
    return talon


AnyConfig = TypeVar("AnyConfig", bound=Config)


def load_config(kind: type[AnyConfig], path: str | Path | None = None, overrides: Sequence[str] = ()) -> AnyConfig:
    """Read a configuration.

    Args:
        kind: `PpoConfig` or `BenchmarkConfig`.
        path: YAML file of overrides; None for the defaults.
        overrides: "key=value" texts, with dots for nested keys and values as YAML writes them.

    Raises:
        ConfigError: something in it cannot be used.
    """
    values = {} if path is None else _read_yaml(Path(path))
    for override in overrides:
        values = _merge(values, _parse_override(override))
    return _validate(kind, values, "command line" if path is None else str(path))


def load_run_config(
    kind: type[AnyConfig], path: Path | None, overrides: Sequence[str], resume: Path | None
) -> AnyConfig:
    """Read the configuration of a new run, or of the run in the directory `resume`; arguments of `load_config`.

    Raises:
        ConfigError: something in it cannot be used.
    """
    if resume is None:
        return load_config(kind, path, overrides)
    return load_config(kind, resume / CONFIG_FILE, [*overrides, f"run_dir={resume}"])


def save_config(config: Config, path: Path) -> None:
    """Write a configuration with every default spelled out, as YAML that `load_config` reads back."""
    write_atomically(path, yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False))


def read_rules(variant: str, text: str) -> Rules:
    """The rules of a preset with some of them changed, given as text such as "draw_count=2,redeals=3".

    Raises:
        ValueError: there is no such preset or rule, or a value is not allowed.
    """
    preset(variant)
    changes: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        changes = _merge(changes, _parse_override(part))
    return _rules_from(variant, changes)


def _rules_from(variant: str, changes: Mapping[str, Any]) -> Rules:
    for key in changes:
        if key not in RULE_FIELDS:
            raise ValueError(_unknown_key(f"rules.{key}", key, RULE_FIELDS))
    try:
        return Rules(**{**PRESETS[variant].to_dict(), **changes})
    except ValueError as error:
        raise ValueError(f"rules.{error}") from error


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not YAML: {error}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"{path} holds {values!r}; allowed: lines of 'key: value'")
    return values


def _parse_override(text: str) -> dict[str, Any]:
    key, equals, value_text = text.partition("=")
    if not equals or not all(key.split(".")):
        raise ConfigError(f"no such option: {text!r}; write key=value, such as seed=2 or env.reward=win")
    try:
        value: Any = yaml.safe_load(value_text)
    except yaml.YAMLError as error:
        raise ConfigError(
            f"{key} is {value_text!r}; allowed: a value as YAML writes it, such as 3, true or [1, 2]"
        ) from error
    for part in reversed(key.split(".")):
        value = {part: value}
    return dict(value)


def _merge(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for key, value in changes.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def _validate(kind: type[AnyConfig], values: Mapping[str, Any], source: str) -> AnyConfig:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        lines = [f"{source}: {_explain(kind, detail)}" for detail in error.errors()]
        raise ConfigError("\n".join(lines)) from error


def _explain(kind: type[Config], detail: ErrorDetails) -> str:
    """One line for the user: the key, its value and what is allowed."""
    path = [str(part) for part in detail["loc"]]
    key = ".".join(path)
    if detail["type"] == "extra_forbidden":
        return _unknown_key(key, path[-1], _fields_at(kind, path[:-1]))
    if detail["type"] == "value_error":  # raised by the checks above, whose messages are complete
        message = str(detail["ctx"]["error"])
        return f"{key} {message}" if message.startswith("is ") else message
    allowed = _ALLOWED.get(detail["type"], detail["msg"].removeprefix("Input should be "))
    return f"{key} is {detail['input']!r}; allowed: {allowed}"


# In place of messages of pydantic that a user would not understand: type of error -> what is allowed.
_ALLOWED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "keys and values",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "model_type": "keys and values",
    "path_type": "a path",
    "string_pattern_mismatch": "letters, digits, dots, dashes and underscores, a letter or digit first",
    "string_type": "text",
    "too_short": "a list of at least one",
    "tuple_type": "a list",
}


def _fields_at(kind: type[Config], path: Sequence[str]) -> tuple[str, ...]:
    for part in path:
        kind = kind.model_fields[part].annotation  # type: ignore[assignment]
    return tuple(kind.model_fields)


def _unknown_key(full_key: str, key: str, allowed: Sequence[str]) -> str:
    close = difflib.get_close_matches(key, allowed, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"no such key: {full_key}{hint}; allowed: {', '.join(allowed)}"
