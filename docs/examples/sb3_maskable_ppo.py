"""MaskablePPO of sb3-contrib on the native batch of games, with masked evaluation during training.

Train and evaluate with masks. The callbacks and functions of sb3-contrib ask for them. Those of
stable-baselines3 itself do not, so nearly all of their actions are illegal.
"""

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.callbacks import MaskableEvalCallback
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecMonitor

from klondike_env.sb3 import KlondikeVecEnv

GAME = {"variant": "thumb_and_pouch", "talon": "reach", "no_repeats": True, "auto_finish": True}


def main(frames: int = 200_000, games: int = 64, evaluation_games: int = 200) -> None:
    """Train for some frames and print the win rate."""
    env = VecMonitor(KlondikeVecEnv(games, reward="progress", stall_limit=25, **GAME))
    eval_env = VecMonitor(KlondikeVecEnv(games, seed=1_000_000, **GAME))
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=1024,  # large batches and few epochs: the update is what takes the time
        n_epochs=2,
        gamma=1.0,
        seed=0,
    )
    evaluation = MaskableEvalCallback(
        eval_env, n_eval_episodes=evaluation_games, eval_freq=max(frames // games // 4, 1), verbose=0
    )
    model.learn(frames, callback=evaluation)
    win_rate, _ = evaluate_policy(model, eval_env, n_eval_episodes=evaluation_games)
    print(f"{win_rate:.0%} of {evaluation_games} games won")  # the reward "win" is 1 for a win


if __name__ == "__main__":
    main()
