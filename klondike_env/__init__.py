"""The Klondike solitaire family as Gymnasium environments: the variants in `PRESETS`, and any rules of your own.

Importing this package registers an id for each variant, such as `Klondike/Draw1-v0`, and `Klondike/Custom-v0`. It
does not import any module that compiles code.
"""

from gymnasium.envs.registration import register, registry

from klondike_env.rules import GYM_IDS, PRESETS, Rules, preset

__version__ = "0.1.0"
__all__ = ["CUSTOM_ID", "GYM_IDS", "PRESETS", "Rules", "__version__", "preset"]

CUSTOM_ID = "Klondike/Custom-v0"


def _register() -> None:
    """Register every id that is not registered yet."""
    kwargs_of = {gym_id: {"variant": variant} for variant, gym_id in GYM_IDS.items()} | {CUSTOM_ID: {}}
    for gym_id, kwargs in kwargs_of.items():
        if gym_id not in registry:
            register(
                id=gym_id,
                entry_point="klondike_env.env:KlondikeEnv",
                vector_entry_point="klondike_env.vector_env:KlondikeVectorEnv",
                kwargs=kwargs,
            )


_register()
