"""Tianshou: DQN, which honours the mask in `{"obs", "mask"}`, both when it explores and when it is greedy."""

import gymnasium as gym
from tianshou.algorithm.modelfree.dqn import DQN, DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import klondike_env  # noqa: F401 - registers Klondike/*-v0
from klondike_env.wrappers import TianshouObservation


def make_env() -> gym.Env:
    """One game with the keys that Tianshou looks for."""
    return TianshouObservation(gym.make("Klondike/ThumbAndPouch-v0", stall_limit=50, reward="progress"))


def main(steps: int = 20_000, games: int = 8) -> None:
    """Train for some steps and print the illegal actions of a final test."""
    env = make_env()
    observations, actions = env.observation_space["obs"].shape, env.action_space.n
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=observations, action_shape=actions, hidden_sizes=[128]),
        action_space=env.action_space,
        eps_training=0.1,
        eps_inference=0.0,
    )
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, target_update_freq=500)
    training = Collector(
        algorithm, DummyVectorEnv([make_env] * games), VectorReplayBuffer(20_000, games), exploration_noise=True
    )
    testing = Collector(algorithm, DummyVectorEnv([make_env] * games), VectorReplayBuffer(20_000, games))
    training.reset()
    testing.reset()
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=training,
            test_collector=testing,
            max_epochs=1,
            epoch_num_steps=steps,
            collection_step_num_env_steps=100 * games,
            update_step_num_gradient_steps_per_sample=0.05,
            batch_size=64,
            test_step_num_episodes=games,
            show_progress=False,
        )
    )
    testing.reset(reset_buffer=True)
    testing.collect(n_episode=2 * games)
    played = testing.buffer.sample(0)[0]
    print(f"{int(played.info.illegal_action.sum())} of {len(played)} actions were illegal")


if __name__ == "__main__":
    main()
