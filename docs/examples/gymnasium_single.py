"""One game at a time in Gymnasium: the mask limits sampling to legal actions, a wrapper keeps statistics."""

import gymnasium as gym
from gymnasium.wrappers import RecordEpisodeStatistics

import klondike_env  # noqa: F401 - registers Klondike/*-v0


def main(games: int = 10) -> None:
    """Play random games and print how they ended."""
    env = RecordEpisodeStatistics(gym.make("Klondike/Draw3-v0", talon="reach", auto_finish=True))
    env.action_space.seed(0)
    _, info = env.reset(seed=0)
    for _ in range(games):
        over = False
        while not over:
            action = env.action_space.sample(info["action_mask"])
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        print(f"deal {info['deal']}: {info['outcome']} after {info['episode']['l']} steps")
        _, info = env.reset()


if __name__ == "__main__":
    main()
