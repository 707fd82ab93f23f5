"""TorchRL: an observation with its mask, and the ActionMask transform, which keeps actions legal.

The policy samples from a masked categorical distribution.
"""

import torch
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs import ActionMask, CatTensors, Compose, DTypeCastTransform, FlattenObservation, GymEnv, TransformedEnv
from torchrl.modules import MaskedCategorical

import klondike_env  # noqa: F401 - registers Klondike/*-v0


def make_env() -> TransformedEnv:
    """One game whose observation is a vector and a mask."""
    env = GymEnv("Klondike/Draw1-v0", observation="dict", stall_limit=50, categorical_action_encoding=True)
    return TransformedEnv(
        env,
        Compose(
            DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"]),
            ActionMask(),
            FlattenObservation(-2, -1, in_keys=["cards"]),
            CatTensors(in_keys=["cards", "table"], out_key="values", del_keys=False),
            DTypeCastTransform(torch.uint8, torch.float32, in_keys=["values"], out_keys=["observation"]),
        ),
    )


def make_policy(env: TransformedEnv) -> ProbabilisticTensorDictSequential:
    """An untrained policy."""
    inputs, actions = env.observation_spec["observation"].shape[-1], env.action_spec.space.n
    network = torch.nn.Sequential(torch.nn.Linear(inputs, 64), torch.nn.Tanh(), torch.nn.Linear(64, actions))
    return ProbabilisticTensorDictSequential(
        TensorDictModule(network, in_keys=["observation"], out_keys=["logits"]),
        ProbabilisticTensorDictModule(
            in_keys={"logits": "logits", "mask": "action_mask"},
            out_keys=["action"],
            distribution_class=MaskedCategorical,
            return_log_prob=True,
        ),
    )


def main(frames: int = 2000) -> None:
    """Collect frames and count the illegal actions among them."""
    env = make_env()
    random_play = env.rollout(200)  # ActionMask keeps random actions legal, too
    collector = Collector(
        env, make_policy(env), frames_per_batch=frames, total_frames=frames, auto_register_policy_transforms=False
    )
    for name, frames_played in (("random", random_play), ("policy", next(iter(collector)))):
        chosen = frames_played["action_mask"].gather(-1, frames_played["action"].unsqueeze(-1))
        print(f"{name}: {int((~chosen.bool()).sum())} of {chosen.numel()} actions were illegal")
    collector.shutdown()


if __name__ == "__main__":
    main()
