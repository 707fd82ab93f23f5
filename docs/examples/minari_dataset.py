"""Minari: record the games of a rule-based agent as a data set, and read them back."""

import gymnasium as gym
import minari
import numpy as np

import klondike_env  # noqa: F401 - registers Klondike/*-v0
from klondike_env.agents import load
from klondike_env.engine.actions import RESIGN

DATASET = "klondike/draw1/collins-v0"


def record(games: int) -> minari.MinariDataset:
    """Record games on training deals: observations, actions, rewards, and masks among the infos."""
    env = minari.DataCollector(gym.make("Klondike/Draw1-v0", auto_finish=True), record_infos=True)
    game = env.unwrapped
    agent = load("collins")
    for seed in range(games):
        _, info = env.reset(seed=seed)
        agent.start(1, game.rules, seed=seed)
        over = False
        while not over:
            action = int(agent.act(game.games.views(), info["action_mask"][np.newaxis])[0])
            if action == RESIGN:
                break  # the next reset marks the episode as truncated
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
    return env.create_dataset(DATASET, algorithm_name="collins", author="me", description="Klondike, draw 1")


def main(games: int = 20) -> None:
    """Record a data set in Minari's folder unless it is there, read it back and print what is in it."""
    if DATASET not in minari.list_local_datasets():
        record(games)
    dataset = minari.load_dataset(DATASET)
    episodes = list(dataset.iterate_episodes())
    won = sum(episode.rewards.sum() > 0 for episode in episodes)
    print(f"{won} of {len(episodes)} games won, {dataset.total_steps} steps")
    first = episodes[0]
    masks = first.infos["action_mask"]  # one more than actions: the last belongs to the end
    print(f"all actions legal: {bool(masks[np.arange(len(first.actions)), first.actions].all())}")
    print(f"made for {dataset.recover_environment().spec.id}")


if __name__ == "__main__":
    main()
