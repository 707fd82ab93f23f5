"""Record a game as a video: `python docs/examples/record_video.py [folder]` writes it as MP4.

Needs `pip install "klondike-env[render]"`. Any environment keyword works here; with `thoughtful=True`
the hidden cards are shown too.
"""

import sys

import gymnasium as gym
from gymnasium.wrappers import RecordVideo

import klondike_env  # noqa: F401 - importing registers the environments

folder = sys.argv[1] if len(sys.argv) > 1 else "videos"
env = gym.make("Klondike/Draw3-v0", render_mode="rgb_array", no_repeats=True, step_limit=40)
env = RecordVideo(env, folder, episode_trigger=lambda episode: True, name_prefix="klondike")
env.action_space.seed(0)
_, info = env.reset(options={"deal": 119})
terminated = truncated = False
while not (terminated or truncated):
    action = env.action_space.sample(info["action_mask"])
    _, _, terminated, truncated, info = env.step(action)
env.close()
print(f"wrote a video of {info['moves']} moves to {folder}")
