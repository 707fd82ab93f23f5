"""Masked PPO in one file, in the style of CleanRL, on the vector environment of Gymnasium.

Three things are easy to get wrong; the numbers mark where the code handles them:
- the mask is stored with the observation that it came with, and used again in the update (1);
- in the default autoreset mode the step after a game's end ignores the action and returns the start of the
  next game: such a step is no experience, and is left out of returns and update (2);
- a truncated game could have gone on, so its value is bootstrapped; the value of a finished game is not (3).
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import klondike_env  # noqa: F401 - registers Klondike/*-v0


@dataclass
class Args:
    """Hyperparameters."""

    env_id: str = "Klondike/ThumbAndPouch-v0"
    total_frames: int = 500_000
    num_envs: int = 128
    num_steps: int = 64
    learning_rate: float = 1e-3
    gamma: float = 1.0
    gae_lambda: float = 0.95
    minibatch_size: int = 2048
    epochs: int = 2
    clip: float = 0.2
    entropy_coefficient: float = 0.01
    value_coefficient: float = 0.5
    max_grad_norm: float = 0.5
    seed: int = 1


class Agent(nn.Module):
    """Policy and value on a shared trunk."""

    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
        self.policy, self.value = nn.Linear(256, actions), nn.Linear(256, 1)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        """The distribution over legal actions, and the values."""
        hidden = self.trunk(observations)
        logits = self.policy(hidden).masked_fill(~masks, torch.finfo(torch.float32).min)
        return Categorical(logits=logits, validate_args=False), self.value(hidden).squeeze(-1)


def train(args: Args) -> float:
    """Train, print progress, and return the share of games won in the last rollout."""
    torch.manual_seed(args.seed)
    envs = gym.make_vec(args.env_id, num_envs=args.num_envs, reward="progress", talon="reach", stall_limit=25)
    inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)
    agent = Agent(inputs, actions)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)

    shape = (args.num_steps, args.num_envs)
    observations = torch.zeros((*shape, inputs))
    masks = torch.zeros((*shape, actions), dtype=torch.bool)
    chosen = torch.zeros(shape, dtype=torch.long)
    log_probs, rewards, values, next_values = (torch.zeros(shape) for _ in range(4))
    ended, is_reset = (torch.zeros(shape, dtype=torch.bool) for _ in range(2))

    observation, info = envs.reset(seed=args.seed)
    just_ended = np.zeros(args.num_envs, dtype=bool)
    win_rate = 0.0
    for rollout in range(args.total_frames // (args.num_steps * args.num_envs)):
        outcomes: list[str] = []
        for step in range(args.num_steps):
            observations[step] = torch.from_numpy(observation)
            masks[step] = torch.from_numpy(info["action_mask"]).bool()  # (1) before the environment steps on
            is_reset[step] = torch.from_numpy(just_ended)  # (2) this step will only reset these games
            with torch.no_grad():
                distribution, values[step] = agent(observations[step], masks[step])
            chosen[step] = distribution.sample()
            log_probs[step] = distribution.log_prob(chosen[step])
            observation, reward, terminated, truncated, info = envs.step(chosen[step].numpy())
            just_ended = terminated | truncated
            rewards[step] = torch.from_numpy(reward)
            ended[step] = torch.from_numpy(just_ended)
            outcomes += list(info["outcome"][just_ended])
            with torch.no_grad():  # `observation` is still that of the game that was played, even at its end
                _, following = agent(torch.from_numpy(observation), torch.from_numpy(info["action_mask"]).bool())
            next_values[step] = following * torch.from_numpy(~terminated)  # (3)

        advantages = torch.zeros(shape)
        running = torch.zeros(args.num_envs)
        for step in reversed(range(args.num_steps)):
            delta = rewards[step] + args.gamma * next_values[step] - values[step]
            running = delta + args.gamma * args.gae_lambda * running * ~ended[step]
            advantages[step] = running
        returns = advantages + values

        played = (~is_reset).flatten().nonzero().squeeze(-1)  # (2)
        flat = [part.flatten(0, 1) for part in (observations, masks, chosen, log_probs, advantages, returns)]
        for _ in range(args.epochs):
            for rows in played[torch.randperm(len(played))].split(args.minibatch_size):
                observed, legal, taken, old_log_probs, advantage, target = (part[rows] for part in flat)
                distribution, value = agent(observed, legal)
                ratio = (distribution.log_prob(taken) - old_log_probs).exp()
                advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
                clipped = ratio.clamp(1 - args.clip, 1 + args.clip)
                policy_loss = -torch.min(advantage * ratio, advantage * clipped).mean()
                value_loss = 0.5 * (value - target).square().mean()
                entropy = distribution.entropy().mean()
                loss = policy_loss + args.value_coefficient * value_loss - args.entropy_coefficient * entropy
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
                optimizer.step()
        if outcomes:
            win_rate = outcomes.count("won") / len(outcomes)
            print(f"rollout {rollout}: {len(outcomes)} games, {win_rate:.0%} won")
    envs.close()
    return win_rate


if __name__ == "__main__":
    train(Args())
