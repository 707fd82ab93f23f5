"""Many games in Gymnasium: one batch on compiled code, with the same games as SyncVectorEnv and AsyncVectorEnv."""

import gymnasium as gym
import numpy as np
from gymnasium.wrappers.vector import RecordEpisodeStatistics

import klondike_env  # noqa: F401 - registers Klondike/*-v0


def main(games: int = 64, steps: int = 400) -> None:
    """Play random games side by side and print how many were won."""
    # vectorization_mode="sync" or "async" plays the same games in a Python loop or in processes.
    envs = RecordEpisodeStatistics(gym.make_vec("Klondike/Draw1-v0", num_envs=games, stall_limit=50))
    generator = np.random.default_rng(0)
    _, infos = envs.reset(seed=0)
    won = ended = 0
    for _ in range(steps):
        masks = infos["action_mask"]  # int8[games, 313]; each row has a legal action
        actions = (generator.random(masks.shape) * masks).argmax(axis=1)
        _, _, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        ended += int(over.sum())
        won += int((infos["outcome"][over] == "won").sum())
    print(f"{won} of {ended} games won")
    print(f"mean length of the last {len(envs.length_queue)}: {np.mean(envs.length_queue):.0f} steps")


if __name__ == "__main__":
    main()
