"""RLlib: PPO with the action masking module that comes with its examples."""

import gymnasium as gym
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import klondike_env  # noqa: F401 - registers Klondike/*-v0
from klondike_env.wrappers import RLlibObservation


def make_env(config: dict) -> gym.Env:
    """One game with the keys that the module looks for; it raises an error if an action is illegal."""
    return RLlibObservation(gym.make("Klondike/ThumbAndPouch-v0", illegal_action="raise", **config))


def main(iterations: int = 5, frames: int = 4000) -> None:
    """Train for some iterations and print the mean return of each."""
    register_env("klondike", make_env)
    config = (
        PPOConfig()
        .environment("klondike", env_config={"stall_limit": 50, "reward": "progress"})
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(train_batch_size_per_learner=frames, minibatch_size=min(frames, 512), num_epochs=2, gamma=1.0)
    )
    algorithm = config.build_algo()
    for iteration in range(iterations):
        result = algorithm.train()
        print(f"iteration {iteration}: mean return {result['env_runners'].get('episode_return_mean', 0.0):.3f}")
    algorithm.stop()


if __name__ == "__main__":
    main()
