"""Training, from the first rollout to a policy that plays; small enough for a test, but nothing left out."""

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from klondike_env.agents.match import play_games
from klondike_env.agents.network.agent import PolicyAgent, load_policy, pack_policy
from klondike_env.agents.network.network import PolicyNetwork, useful_values
from klondike_env.agents.registry import load
from klondike_env.games import Games
from klondike_env.observation import N_CARD_VALUES, N_VALUES, Observer, table_start
from klondike_env.rules import PRESETS, Rules
from klondike_env.sb3 import KlondikeVecEnv
from train.config import ConfigError, PpoConfig, load_config
from train.evaluate import evaluate
from train.ppo import Budget, Trained, app, make_env, make_model, train
from train.statistics import count_pairs, mcnemar_p_value

SMALL = [
    "variant=thumb_and_pouch",
    "n_games=16",
    "n_steps=32",
    "batch_size=256",
    "hidden_sizes=[32]",
    "frames=1024",
    "validation.deals=20",
    "validation.interval=512",
]


def small_config(tmp_path, *overrides):
    return load_config(PpoConfig, None, [*SMALL, f"run_dir={tmp_path / 'run'}", *overrides])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    config = small_config(tmp_path_factory.mktemp("ppo"))
    return config, train(config)


def test_a_run_leaves_weights_checkpoint_config_and_curve(run):
    config, result = run
    names = {path.name.split(".")[0] for path in config.directory.iterdir()}
    assert names == {"config", "policy", "checkpoint", "training", "events"}
    assert load_config(PpoConfig, config.directory / "config.yaml") == config
    assert [point.frames for point in result.curve] == [512, 1024, 1024]
    assert result.frames == 1024
    assert json.loads((config.directory / "training.json").read_text())["frames"] == 1024


def test_a_trained_policy_plays_by_name_in_both_modes(run):
    _, result = run
    names = [f"policy:{result.weights}@{play}" for play in ("argmax", "sampled")]
    evaluation = evaluate([*names, "random"], "thumb_and_pouch", range(50), progress=False)
    assert [evaluation.agents[name].settings.play for name in names] == ["argmax", "sampled"]
    assert load(f"policy:{result.weights}").play == "argmax"


def test_training_makes_a_policy_that_beats_random_play(tmp_path):
    """A few seconds suffice under these rules, where random play wins one deal in five and the policy three.

    Actions are sampled, because then an untrained policy plays at random; its likeliest actions may happen to be good.
    """
    overrides = ["n_games=64", "batch_size=512", "hidden_sizes=[64]", "learning_rate=2e-3", "frames=32768"]
    rare = ["validation.deals=1", "validation.interval=1e9"]
    config = small_config(tmp_path, "variant=thumb_and_pouch_whole", *overrides, *rare)
    result, deals = train(config), np.arange(1000)
    policy = play_games(load(f"policy:{result.weights}@sampled"), config.game, deals)
    at_random = play_games(load("random"), config.game, deals)
    pairs = count_pairs(policy.won, at_random.won)
    assert pairs.difference > 0.2
    assert mcnemar_p_value(pairs) < 1e-6


def test_a_run_is_never_overwritten_and_can_be_resumed(run):
    config, result = run
    with pytest.raises(FileExistsError, match="holds an earlier run; resume that run"):
        train(config)
    longer = load_config(PpoConfig, config.directory / "config.yaml", ["frames=2048"])
    resumed = train(longer, resume=True)
    assert resumed.frames == 2048
    assert [point.frames for point in resumed.curve] == [512, 1024, 1024, 1536, 2048, 2048]
    assert resumed.seconds > result.seconds


def test_runs_of_other_seeds_and_resumed_runs_meet_other_deals(tmp_path, monkeypatch):
    started = []

    class Watched(KlondikeVecEnv):
        def reset(self):
            observations = super().reset()
            started.append(set(self.games.deals.tolist()))
            return observations

    monkeypatch.setattr("train.ppo.KlondikeVecEnv", Watched)
    for seed in (1, 2):
        config = small_config(tmp_path / str(seed), f"seed={seed}", "frames=512", "validation.interval=1e6")
        train(config)
    train(load_config(PpoConfig, config.directory / "config.yaml", ["frames=1024"]), resume=True)
    assert [len(deals) for deals in started] == [16] * 3
    assert len(set.union(*started)) == 3 * 16


def test_there_must_be_something_to_resume(tmp_path):
    with pytest.raises(ConfigError, match=r"holds no training\.json"):
        train(small_config(tmp_path), resume=True)
    shown = CliRunner().invoke(app, ["--resume", str(tmp_path / "none")])
    assert shown.exit_code == 2
    assert "cannot read" in shown.output


def test_the_command_line_refuses_unknown_keys_without_a_traceback():
    shown = CliRunner().invoke(app, ["frame=10"])
    assert shown.exit_code == 2
    assert "no such key: frame; did you mean frames?" in shown.output


def test_training_ends_when_its_minutes_are_spent(tmp_path):
    result = train(small_config(tmp_path, "frames=1e9", "minutes=0.0001", "validation.deals=5"))
    assert result.frames <= 512


def test_rollouts_pair_every_observation_with_its_own_mask_and_action(tmp_path):
    config = small_config(tmp_path, "env.stall_limit=5", "env.no_repeats=false")
    model = make_model(config, make_env(config))
    model.budget = Budget(config, Trained())
    model.learn(config.rollout)
    buffer = model.rollout_buffer
    masks = buffer.action_masks.reshape(-1, 313)
    actions = buffer.actions.reshape(-1).astype(int)
    observations = buffer.observations.reshape(-1, N_VALUES)
    assert len(actions) == config.rollout
    assert masks[np.arange(len(actions)), actions].all()
    in_stock = observations[:, N_CARD_VALUES + table_start("stock")] > 0
    np.testing.assert_array_equal(masks[:, 312] == 1, in_stock)  # without redeals it is legal only to draw
    assert buffer.episode_starts[1:].any()  # the pairs hold across the ends of games, too


def test_schedules_follow_frames_or_minutes_whichever_is_further():
    trained = Trained(frames=250, seconds=30.0)
    budget = Budget(load_config(PpoConfig, None, ["frames=1000", "minutes=1"]), trained)
    assert budget.spent == pytest.approx(0.5, abs=0.01)
    assert budget.scaled(1.0, 0.0) == pytest.approx(0.5, abs=0.01)
    assert Budget(load_config(PpoConfig, None, ["frames=1000"]), trained).spent == 0.25


def test_useful_values_keep_everything_that_can_differ_in_play():
    for name, talon in (("draw3", "reach"), ("classic", "draw"), ("thumb_and_pouch", "draw")):
        rules = PRESETS[name]
        games = Games(64, rules, talon=talon)
        games.deal(np.arange(64))
        observer, generator = Observer("flat", games.setup), np.random.default_rng(0)
        lowest, highest = observer.values(games.states).min(axis=0), observer.values(games.states).max(axis=0)
        for _ in range(100):
            games.step(games.random_actions(generator))
            values = observer.values(games.states)
            lowest, highest = np.minimum(lowest, values.min(axis=0)), np.maximum(highest, values.max(axis=0))
        dropped = set(np.flatnonzero(lowest != highest).tolist()) - set(useful_values(rules, talon))
        assert all(index % 19 == 18 for index in dropped), "only `under` may differ and be left out"


def test_sampled_play_follows_the_distribution_of_the_network():
    torch.manual_seed(0)
    rules = Rules()
    network = PolicyNetwork(useful_values(rules, "draw"), [8])
    with torch.no_grad():
        network.action_head.weight.mul_(5)
    games = Games(1, rules)
    games.deal([0])
    views, masks = games.views().repeat(4000), games.masks.repeat(4000, axis=0)
    views["steps"] = np.arange(4000)  # the network does not see them, the random choices depend on them
    agent = PolicyAgent(network, play="sampled", talon="draw", no_repeats=False)
    agent.start(4000, rules, seed=1)
    shares = np.bincount(agent.act(views, masks), minlength=313) / 4000
    observation = torch.from_numpy(Observer("flat", games.setup).flat(games.states))
    logits = network(observation)[0].masked_fill(torch.from_numpy(masks[0] == 0), -torch.inf)
    np.testing.assert_allclose(shares, torch.softmax(logits, 0).detach().numpy(), atol=0.03)
    assert shares[masks[0] == 0].sum() == 0
    assert agent.act(views[50:250], masks[50:250]).tolist() == agent.act(views, masks)[50:250].tolist()
    again = PolicyAgent(network, play="sampled", talon="draw", no_repeats=False)
    again.start(4000, rules, seed=2)
    assert again.act(views, masks).tolist() != agent.act(views, masks).tolist()


def test_files_that_are_no_policy_are_refused(tmp_path):
    path = tmp_path / "policy.safetensors"
    path.write_bytes(b"not weights")
    with pytest.raises(ValueError, match="is no safetensors file"):
        load_policy(path)
    network = PolicyNetwork([0, N_VALUES - 1], [4])
    path.write_bytes(pack_policy(network, hidden_sizes=[4]).replace(b"klondike_env policy 1", b"klondike_env policy 9"))
    with pytest.raises(ValueError, match="this version reads 'klondike_env policy 1'"):
        load_policy(path)


def test_an_interrupted_run_is_saved_and_can_be_resumed(tmp_path, monkeypatch):
    config = small_config(tmp_path, "validation.interval=1e6")

    def interrupt(self):
        self.trained.frames += self.config.rollout
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("train.ppo.Watch._on_rollout_end", interrupt)
        with pytest.raises(KeyboardInterrupt):
            train(config)
    assert train(config, resume=True).frames == 1024


def test_a_gpu_that_is_not_there_is_not_silently_done_without(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ConfigError, match="device is 'cuda', but torch finds no GPU"):
        train(small_config(tmp_path, "device=cuda"))
