"""Training, from the first rollout to a policy that plays; small enough for a test, but nothing left out."""

import json
from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors import safe_open
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from typer.testing import CliRunner

from klondike_env.agents.match import play_games
from klondike_env.agents.network.agent import PolicyAgent, load_policy, pack_policy
from klondike_env.agents.network.network import PolicyNetwork, useful_values
from klondike_env.agents.registry import load
from klondike_env.games import Games
from klondike_env.observation import N_VALUES, Observer
from klondike_env.rules import PRESETS, Rules
from klondike_env.sb3 import KlondikeVecEnv
from train.budget import Budget, Trained
from train.config import ConfigError, PpoConfig, load_config
from train.distributions import Distributions, list_legal
from train.evaluate import evaluate
from train.lean_ppo import LeanPPO, pick_dtype
from train.ppo import app, make_env, make_model, policy_agent, train
from train.rollouts import NO_LESSON
from train.statistics import count_pairs, mcnemar_p_value
from train.teaching import Teacher, teaching_loss

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
    assert load(f"policy:{result.weights}").play == result.best.play


def test_a_checkpoint_is_a_model_of_stable_baselines(run):
    config, _ = run
    model, env = MaskablePPO.load(config.directory / "checkpoint.zip"), make_env(config)
    env.seed(3)
    observations, masks = env.reset(), env.action_masks()
    actions, _ = model.predict(observations, action_masks=masks, deterministic=True)
    agent = policy_agent(model, config, "argmax")
    agent.start(config.n_games, config.game, seed=0)
    np.testing.assert_array_equal(actions, agent.act(env.games.views(), env.games.masks))


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


@pytest.fixture(scope="module")
def rollout(tmp_path_factory):
    """A model with the rollout that it has just collected, and the configuration; no weights were changed since."""
    overrides = ["env.stall_limit=3", "n_steps=64", "precision=float32", "gamma=0.9", "gae_lambda=0.8", "teacher=tuned"]
    config = small_config(tmp_path_factory.mktemp("rollout"), *overrides)
    model = make_model(config, make_env(config))
    model.budget, model.teacher = Budget(config, Trained()), Teacher(config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LeanPPO, "train", lambda self: None)
        model.learn(config.rollout)
    return config, model


def played_again(config, model):
    """The rollout once more, played step by step in the environment of Stable-Baselines3, in its buffer."""
    env, lean = make_env(config), model.rollout_buffer
    env.seed(config.seed)
    size = (config.n_steps, env.observation_space, env.action_space)
    buffer = MaskableRolloutBuffer(*size, gamma=config.gamma, gae_lambda=config.gae_lambda, n_envs=config.n_games)
    observations, starts = env.reset(), np.ones(config.n_games, dtype=bool)
    for step in range(config.n_steps):
        masks, actions = env.action_masks(), lean.actions[step]
        with torch.no_grad():
            values, log_probs, _ = model.policy.evaluate_actions(torch.from_numpy(observations), actions, masks)
        fresh, rewards, dones, _ = env.step(actions.numpy())
        buffer.add(observations, actions.numpy(), rewards, starts, values, log_probs, action_masks=masks)
        observations, starts = fresh, dones
    with torch.no_grad():
        last_values = model.policy.predict_values(torch.from_numpy(observations))
    buffer.compute_returns_and_advantage(last_values, dones)
    return buffer, dones


def test_a_rollout_equals_one_by_stable_baselines(rollout):
    config, model = rollout
    lean, (plain, dones) = model.rollout_buffer, played_again(config, model)
    useful = useful_values(config.game, config.talon)
    np.testing.assert_array_equal(lean.observations, plain.observations[..., useful])
    np.testing.assert_array_equal(lean.masks, plain.action_masks)
    np.testing.assert_array_equal(lean.rewards, plain.rewards)
    np.testing.assert_array_equal(lean.ended[:-1], plain.episode_starts[1:])
    np.testing.assert_array_equal(lean.ended[-1], dones)
    assert lean.ended.sum() > 10
    for name in ("log_probs", "values", "advantages", "returns"):
        np.testing.assert_allclose(getattr(lean, name), getattr(plain, name), atol=1e-5)


def test_lessons_are_what_the_teacher_would_play_where_that_is_legal(rollout):
    config, model = rollout
    lean, env, tuned = model.rollout_buffer, make_env(config), load("tuned")
    env.seed(config.seed)
    env.reset()
    tuned.start(config.n_games, config.game, config.seed)
    for step in range(config.n_steps):
        wanted = tuned.act(env.games.views(), env.games.masks)
        playable = (wanted >= 0) & env.action_masks()[np.arange(config.n_games), wanted]
        np.testing.assert_array_equal(lean.lessons[step], np.where(playable, wanted, NO_LESSON))
        env.step(lean.actions[step].numpy())
    assert 0 < (lean.lessons == NO_LESSON).sum() < lean.lessons.numel() / 2


def test_frames_without_a_lesson_add_nothing_to_the_teaching_loss():
    logits = torch.randn(3, 313, requires_grad=True)
    distributions = Distributions.of(logits, torch.tensor([[7, 8], [5, -1], [9, 2]]))
    loss = teaching_loss(distributions, torch.tensor([7, NO_LESSON, 9]))
    expected = -(logits[0, [7, 8]].log_softmax(0)[0] + logits[2, [9, 2]].log_softmax(0)[0]) / 3
    assert loss.item() == pytest.approx(expected.item())
    loss.backward()
    assert not logits.grad[1].any()
    assert teaching_loss(distributions, torch.full((3,), NO_LESSON)).item() == 0


def test_lists_of_legal_actions_are_filled_up():
    masks = torch.zeros(3, 313, dtype=torch.bool)
    masks[0, [2, 5, 312]] = masks[1, 0] = masks[2, [0, 311]] = True
    assert list_legal(masks).tolist() == [[2, 5, 312], [0, -1, -1], [0, 311, -1]]


def test_the_loss_is_that_of_maskable_ppo(rollout):
    """Gradients of one batch, by `LeanPPO` and by the code of sb3-contrib on the same frames."""
    config, model = rollout
    frames = next(model.rollout_buffer.frames().minibatches(config.batch_size))
    model.budget = Budget(config.model_copy(update={"teacher": None}), Trained())
    model.policy.zero_grad()
    model._loss(frames, defaultdict(list)).backward()
    ours = [parameter.grad.clone() for parameter in model.policy.parameters()]
    observations = torch.zeros(len(frames.actions), N_VALUES)
    observations[:, useful_values(config.game, config.talon)] = frames.observations
    masks = torch.zeros(len(frames.actions), 314, dtype=torch.bool).scatter_(1, frames.legal % 314, True)[:, :313]
    values, log_probs, entropy = model.policy.evaluate_actions(observations, frames.actions, masks)
    advantages = (frames.advantages - frames.advantages.mean()) / (frames.advantages.std() + 1e-8)
    ratio = (log_probs - frames.log_probs).exp()
    surrogate = torch.min(advantages * ratio, advantages * ratio.clamp(1 - config.clip, 1 + config.clip)).mean()
    value_loss = (values.flatten() - frames.returns).square().mean()
    model.policy.zero_grad()
    (-surrogate - config.entropy_start * entropy.mean() + config.value_coefficient * value_loss).backward()
    for own, parameter in zip(ours, model.policy.parameters(), strict=True):
        torch.testing.assert_close(own, parameter.grad, atol=1e-6, rtol=1e-4)


def test_minibatches_hold_every_frame_once(rollout):
    config, model = rollout
    lean = model.rollout_buffer
    batches = list(lean.frames().minibatches(config.batch_size))
    assert [len(frames.actions) for frames in batches] == [config.batch_size] * 4
    for name in ("returns", "observations"):
        found = torch.cat([getattr(frames, name).flatten(1 if name == "observations" else 0) for frames in batches])
        everything = getattr(lean, name).flatten(0, 1)
        np.testing.assert_allclose(np.sort(found, axis=0), np.sort(everything, axis=0))


@pytest.mark.parametrize(("precision", "dtype"), [("float32", torch.float32), ("bfloat16", torch.bfloat16)])
def test_the_precision_can_be_chosen(precision, dtype, tmp_path, rollout):
    config = small_config(tmp_path, f"precision={precision}")
    model = make_model(config, make_env(config))
    assert model.rollout_buffer.observations.dtype == dtype
    values = rollout[1].rollout_buffer.observations[0]
    exact, rounded = model._features(values), model._features(values.to(dtype))
    assert rounded.dtype == torch.float32
    assert torch.equal(exact, rounded) == (precision == "float32")
    torch.testing.assert_close(exact, rounded, atol=0.02, rtol=0.02)


def test_auto_precision_is_bfloat16_where_the_processor_has_units_for_it(monkeypatch):
    cpu = torch.device("cpu")
    for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
        monkeypatch.setattr(torch.cpu, name, lambda: False, raising=False)
    assert pick_dtype("auto", cpu) == torch.float32
    monkeypatch.setattr(torch.cpu, "_is_amx_tile_supported", lambda: True, raising=False)
    assert pick_dtype("auto", cpu) == torch.bfloat16
    assert pick_dtype("float32", cpu) == torch.float32


def test_teaching_takes_a_tiny_run_further(tmp_path):
    overrides = ["n_games=64", "batch_size=256", "hidden_sizes=[64]", "learning_rate=2e-3", "frames=32768"]
    few = ["validation.deals=500", "validation.interval=1e9"]
    taught, alone = (
        train(small_config(tmp_path / name, "variant=thumb_and_pouch_whole", *overrides, *few, *teacher))
        for name, teacher in (("taught", ["teacher=tuned"]), ("alone", []))
    )
    assert taught.best.win_rate > alone.best.win_rate + 0.08


def test_the_teachers_weight_falls_as_the_budget_is_spent(tmp_path):
    teaching = small_config(
        tmp_path, "teaching.fade_start=0.2", "teaching.fade_end=0.6", "teaching.end_weight=0.5"
    ).teaching
    assert [teaching.weight(spent) for spent in (0.0, 0.2, 0.4, 0.6, 1.0)] == pytest.approx([1, 1, 0.75, 0.5, 0.5])
    assert Budget(small_config(tmp_path), Trained()).teaching_weight == 0
    assert Budget(small_config(tmp_path, "teacher=tuned"), Trained()).teaching_weight == 1


def test_a_teacher_that_cannot_teach_is_explained(tmp_path):
    with pytest.raises(ConfigError, match="teacher is 'nobody'; no such agent: 'nobody'"):
        train(small_config(tmp_path, "teacher=nobody"))
    with pytest.raises(ConfigError, match=r"teacher collins plays with talon draw; set env\.talon=draw"):
        train(small_config(tmp_path, "variant=draw1", "teacher=collins"))
    assert not (tmp_path / "run").exists()


def test_the_best_weights_are_kept(tmp_path, monkeypatch):
    rates = iter([4, 9, 3, 2, 5, 1])  # argmax and sampled, three times
    monkeypatch.setattr("train.ppo.play_games", lambda *_, **__: SimpleNamespace(won=np.arange(10) < next(rates)))
    result = train(small_config(tmp_path))
    assert [(point.win_rate, point.play) for point in result.curve] == [
        (0.9, "sampled"),
        (0.3, "argmax"),
        (0.5, "argmax"),
    ]
    assert load(f"policy:{result.weights}").play == "sampled"
    assert (result.best.frames, result.frames) == (512, 1024)
    with safe_open(result.weights, framework="pt") as file:
        assert json.loads(file.metadata()["about"])["frames"] == 512


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
    config = small_config(tmp_path, "validation.interval=1e6", "teacher=tuned")

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
