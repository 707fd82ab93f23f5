"""Every configuration in the repository loads, and every mistake in one is explained."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import yaml

from klondike_env.rules import DISTINCT_PRESETS, PRESETS, Rules
from train.config import (
    BenchmarkConfig,
    Config,
    ConfigError,
    NetConfig,
    PpoConfig,
    load_config,
    read_rules,
    resolve_talon,
    save_config,
)

CONFIGS = Path(__file__).parents[2] / "configs"
FILES = sorted(CONFIGS.rglob("*.yaml"))
KINDS = {"ppo": PpoConfig, "benchmark": BenchmarkConfig, "net": NetConfig}


def kind_of(file: Path) -> type[Config]:
    return KINDS[file.parent.name]


@pytest.fixture(autouse=True)
def _run_from_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CONFIGS.parent)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_file_loads_says_what_it_is_for_and_survives_saving(file: Path, tmp_path: Path) -> None:
    assert file.read_text().startswith("# ")
    config = load_config(kind_of(file), file)
    save_config(config, tmp_path / "saved.yaml")
    assert load_config(kind_of(file), tmp_path / "saved.yaml") == config


TRAINED = sorted({file.stem.removesuffix("_taught") for file in (CONFIGS / "ppo").glob("*.yaml")})


@pytest.mark.parametrize("variant", TRAINED)
def test_a_variant_has_a_training_with_a_teacher_and_one_without(variant: str) -> None:
    assert variant in DISTINCT_PRESETS  # an alias would be trained twice
    alone, taught = (load_config(PpoConfig, CONFIGS / "ppo" / f"{variant}{kind}.yaml") for kind in ("", "_taught"))
    assert alone.variant == taught.variant == variant
    assert (alone.teacher, taught.teacher) == (None, "tuned")


def test_a_variant_without_a_file_is_trained_with_the_defaults(tmp_path: Path) -> None:
    benchmark = load_config(BenchmarkConfig, None, [f"ppo_configs={tmp_path}", "ppo.seed=5"])
    alone, taught = (benchmark.training("classic", network, tmp_path) for network in ("ppo", "taught"))
    assert alone == PpoConfig(variant="classic", seed=5, run_dir=tmp_path / "ppo_classic")
    assert taught == PpoConfig(variant="classic", seed=5, run_dir=tmp_path / "taught_classic", teacher="tuned")


@pytest.mark.parametrize("file", sorted((CONFIGS / "benchmark").glob("*.yaml")), ids=lambda file: file.stem)
def test_every_benchmark_has_usable_trainings(file: Path, tmp_path: Path) -> None:
    benchmark = load_config(BenchmarkConfig, file)
    assert benchmark.name == file.stem
    for variant, network in product(benchmark.variants, benchmark.networks):
        training = benchmark.training(variant, network, tmp_path)
        assert training.variant == variant
        assert training.directory == tmp_path / f"{network}_{variant}"
        assert (training.teacher is None) == (network == "ppo")


def test_quick_benchmark_trains_all_variants_in_ten_minutes(tmp_path: Path) -> None:
    benchmark = load_config(BenchmarkConfig, CONFIGS / "benchmark" / "quick.yaml")
    assert {PRESETS[variant] for variant in benchmark.variants} == set(PRESETS.values())
    kinds = product(benchmark.variants, benchmark.networks)
    trainings = [benchmark.training(variant, network, tmp_path) for variant, network in kinds]
    assert len({(training.game, training.teacher) for training in trainings}) == len(trainings)
    assert sum(training.minutes or 1000 for training in trainings) <= 10


def test_overrides_win_over_the_file_and_keep_its_other_keys() -> None:
    overrides = ["frames=2e6", "env.reward=win", "hidden_sizes=[64, 64]", "minutes=null", "learning_rate=3e-4"]
    config = load_config(PpoConfig, CONFIGS / "ppo" / "draw3.yaml", overrides)
    assert config.variant == "draw3"
    assert config.frames == 2_000_000
    assert config.env.reward == "win"
    assert config.env.no_repeats
    assert config.hidden_sizes == (64, 64)
    assert config.minutes is None
    assert config.learning_rate == 3e-4


def test_rules_change_the_preset() -> None:
    config = load_config(PpoConfig, None, ["variant=classic", "rules.draw_count=2", "rules.worry_back=false"])
    assert config.game == Rules(draw_count=2, redeals=0, worry_back=False)
    assert load_config(PpoConfig, None, ["variant=classic", "rules.redeals=null"]).game == PRESETS["draw1"]


@pytest.mark.parametrize(
    ("variant", "talon"), [("draw1", "reach"), ("draw3", "reach"), ("classic", "draw"), ("thumb_and_pouch", "draw")]
)
def test_auto_talon_is_reach_where_redeals_are_unlimited(variant: str, talon: str) -> None:
    assert load_config(PpoConfig, None, [f"variant={variant}"]).talon == talon


def test_a_named_talon_is_kept() -> None:
    assert resolve_talon("draw", PRESETS["draw1"]) == "draw"
    assert load_config(PpoConfig, None, ["variant=classic", "env.talon=reach"]).talon == "reach"


def test_directory_is_named_after_the_variant_unless_given() -> None:
    assert load_config(PpoConfig, None, ["variant=draw3"]).directory == Path("runs/ppo_draw3")
    assert load_config(PpoConfig, None, ["run_dir=runs/mine"]).directory == Path("runs/mine")


PPO_ERRORS = {
    "n_games=-3": "n_games is -3; allowed: greater than 0",
    "n_games=many": "n_games is 'many'; allowed: a whole number",
    "n_games=2.5": "n_games is 2.5; allowed: a whole number",
    "n_games=true": "n_games is True; allowed: a whole number",
    "learning_rate=fast": "learning_rate is 'fast'; allowed: a number",
    "learning_rate=nan": "learning_rate is 'nan'; allowed: a finite number",
    "gamma=1.5": "gamma is 1.5; allowed: less than or equal to 1",
    "minutes=0": "minutes is 0; allowed: greater than 0",
    "batch_size=1000": "batch_size is 1000; allowed: a divisor of n_games * n_steps = 16384",
    "hidden_sizes=[]": "hidden_sizes is []; allowed: a list of at least one",
    "hidden_sizes=64": "hidden_sizes is 64; allowed: a list",
    "hidden_sizes=[64, -1]": "hidden_sizes.1 is -1; allowed: greater than 0",
    "precision=float16": "precision is 'float16'; allowed: 'auto', 'float32' or 'bfloat16'",
    "teacher=3": "teacher is 3; allowed: text",
    "teaching.end_weight=2": "teaching.end_weight is 2; allowed: less than or equal to 1",
    "teaching.fade_end=0.1": "teaching.fade_end is 0.1; allowed: teaching.fade_start = 0.5 or more",
    "teaching.fade=1": "no such key: teaching.fade; did you mean fade_end?; allowed: fade_start, fade_end, end_weight",
    "play_mode=greedy": "play_mode is 'greedy'; allowed: 'best', 'argmax' or 'sampled'",
    "env=3": "env is 3; allowed: keys and values",
    "env.reward=score": "env.reward is 'score'; allowed: 'win', 'progress', 'standard' or 'vegas'",
    "env.no_repeats=perhaps": "env.no_repeats is 'perhaps'; allowed: true or false",
    "env.talons=draw": "no such key: env.talons; did you mean talon?; allowed: talon, no_repeats, auto_finish, "
    "stall_limit, reward",
    "validation.deals=2e6": "validation.deals is '2e6'; allowed: less than or equal to 1000000",
    "variant=draw2": f"no such variant: 'draw2'; allowed: {', '.join(PRESETS)}",
    "rules.draw_count=30": "rules.draw_count is 30; allowed: a whole number from 1 to 24",
    "rules.draws=3": "no such key: rules.draws; allowed: build, gaps, draw_count, redeals, worry_back, runs",
}


@pytest.mark.parametrize("override", PPO_ERRORS)
def test_a_wrong_value_is_explained(override: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(PpoConfig, None, [override])
    assert str(error.value) == f"command line: {PPO_ERRORS[override]}"


def test_an_unknown_key_is_explained() -> None:
    with pytest.raises(
        ConfigError, match="command line: no such key: learnin_rate; did you mean learning_rate"
    ) as error:
        load_config(PpoConfig, None, ["learnin_rate=1"])
    assert str(error.value).endswith(f"allowed: {', '.join(PpoConfig.model_fields)}")


BENCHMARK_ERRORS = {
    "variants=[draw1, draw1]": "variants is ['draw1', 'draw1']; allowed: each name once, not draw1 again",
    "variants=[draw1, deal1]": "deal1 is draw1 under another name; name that",
    "networks=[ppo, dqn]": "networks.1 is 'dqn'; allowed: 'taught' or 'ppo'",
    "variants=[]": "variants is []; allowed: a list of at least one",
    "variants=[spider]": f"no such variant: 'spider'; allowed: {', '.join(PRESETS)}",
    "per_variant.spider.seed=2": f"no such variant: 'spider'; allowed: {', '.join(PRESETS)}",
    "name=../other": "name is '../other'; allowed: letters, digits, dots, dashes and underscores, "
    "a letter or digit first",
    "deals=2e6": "deals is '2e6'; allowed: less than or equal to 1000000",
}


@pytest.mark.parametrize("override", BENCHMARK_ERRORS)
def test_a_wrong_value_of_a_benchmark_is_explained(override: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(BenchmarkConfig, None, [override])
    assert str(error.value) == f"command line: {BENCHMARK_ERRORS[override]}"


@pytest.mark.parametrize("override", ["frames", "=3", "env..reward=win", ".seed=1"])
def test_an_override_needs_a_key_and_a_value(override: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(PpoConfig, None, [override])
    assert str(error.value) == f"no such option: {override!r}; write key=value, such as seed=2 or env.reward=win"


def test_an_override_that_is_not_yaml_is_explained() -> None:
    with pytest.raises(ConfigError, match=r"hidden_sizes is '\[64'; allowed: a value as YAML writes it"):
        load_config(PpoConfig, None, ["hidden_sizes=[64"])


def test_errors_name_the_file_and_all_of_its_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("seed: -1\nepochs: 0\n")
    with pytest.raises(ConfigError) as error:
        load_config(PpoConfig, file)
    assert str(error.value).splitlines() == [
        f"{file}: epochs is 0; allowed: greater than 0",
        f"{file}: seed is -1; allowed: greater than or equal to 0",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [("[1, 2]", "allowed: lines of 'key: value'"), ("a: [1", "is not YAML: ")],
)
def test_a_file_that_is_no_mapping_is_explained(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        load_config(PpoConfig, file)


def test_an_empty_file_means_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    assert load_config(PpoConfig, tmp_path / "empty.yaml") == PpoConfig()


def test_a_missing_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*none\.yaml: No such file or directory"):
        load_config(PpoConfig, tmp_path / "none.yaml")


def test_layers_of_a_benchmark(tmp_path: Path) -> None:
    overrides = ["ppo.seed=5", "ppo.env.stall_limit=99", "per_variant.draw3.seed=6", "per_variant.draw3.minutes=2"]
    benchmark = load_config(BenchmarkConfig, None, [*overrides, "taught.minutes=3", "taught.clip=0.3"])
    draw3, classic = (benchmark.training(name, "ppo", tmp_path) for name in ("draw3", "classic"))
    assert (draw3.seed, draw3.minutes, draw3.env.stall_limit) == (6, 2, 99)
    assert draw3.frames == load_config(PpoConfig, CONFIGS / "ppo" / "draw3.yaml").frames
    assert (classic.seed, classic.env.stall_limit, classic.minutes, classic.clip) == (5, 99, 60, 0.2)
    taught = benchmark.training("draw3", "taught", tmp_path)
    assert (taught.seed, taught.minutes, taught.clip, taught.teacher) == (6, 2, 0.3, "tuned")


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("ppo.sed=5", "benchmark quick, ppo of draw1: no such key: sed; did you mean seed"),
        ("per_variant.draw1.seed=x", "benchmark quick, ppo of draw1: seed is 'x'; allowed: a whole number"),
        (
            "ppo.rules.draw_count=2",
            "ppo of draw1: rules is .*; allowed: none, a benchmark plays presets",
        ),
        ("ppo_configs=nowhere", "there is no directory nowhere; ppo_configs names one with YAML files"),
    ],
)
def test_a_benchmark_with_an_unusable_training_is_explained(override: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(BenchmarkConfig, None, [override]).training("draw1", "ppo", tmp_path)


def test_a_saved_configuration_spells_out_every_default(tmp_path: Path) -> None:
    save_config(PpoConfig(), tmp_path / "config.yaml")
    assert set(yaml.safe_load((tmp_path / "config.yaml").read_text())) == set(PpoConfig.model_fields)


def test_rules_as_text_change_a_preset() -> None:
    assert read_rules("draw1", "") == PRESETS["draw1"]
    assert read_rules("classic", "draw_count=2,redeals=3") == Rules(draw_count=2, redeals=3)
    assert read_rules("classic", "redeals=null") == PRESETS["draw1"]
    with pytest.raises(ValueError, match=r"no such key: rules\.draws; allowed: build"):
        read_rules("draw1", "draws=2")
    with pytest.raises(ValueError, match=r"rules\.draw_count is 30; allowed: a whole number from 1 to 24"):
        read_rules("draw1", "draw_count=30")
    with pytest.raises(ValueError, match="no such variant: 'draw9'"):
        read_rules("draw9", "")
