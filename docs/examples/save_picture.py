"""Save a board as a picture: `python docs/examples/save_picture.py [file]`; docs/images/board.png is one."""

import sys

import gymnasium as gym
from PIL import Image

import klondike_env  # noqa: F401 - importing registers the environments

file = sys.argv[1] if len(sys.argv) > 1 else "board.png"
env = gym.make("Klondike/Draw3-v0", render_mode="rgb_array")
_, info = env.reset(options={"deal": 119})
for step in range(30):  # every third step draws, the others play the first legal action
    action = 312 if step % 3 == 0 else int(info["action_mask"].argmax())
    _, _, _, _, info = env.step(action)
Image.fromarray(env.render()).quantize(256, dither=Image.Dither.NONE).save(file, optimize=True)
print(f"wrote {file}")
