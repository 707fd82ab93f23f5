from __future__ import annotations

from pathlib import Path

import pytest

from klondike_env.agents import BASELINES, load
from klondike_env.agents.lists.collins import CollinsAgent

GREEDY_FACTORY = "klondike_env.agents.lists.greedy:GreedyAgent"


def test_baselines_by_name() -> None:
    assert list(BASELINES) == ["random", "greedy", "collins", "tuned", "net"]
    for name in BASELINES:
        assert load(name).name == name


def test_each_load_is_a_new_agent() -> None:
    assert load("collins") is not load("collins")


def test_a_factory_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_agents.py").write_text(
        "from klondike_env.agents.lists.collins import CollinsAgent\n"
        "def careful():\n"
        "    return CollinsAgent()\n"
        "def nothing():\n"
        "    return 7\n"
        "number = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert isinstance(load("my_agents:careful"), CollinsAgent)
    with pytest.raises(ValueError, match="'my_agents:nothing': nothing returned 7; it must return"):
        load("my_agents:nothing")
    for missing in ("number", "absent"):
        with pytest.raises(ValueError, match=f"module 'my_agents' has nothing callable named '{missing}'"):
            load(f"my_agents:{missing}")


def test_a_class_is_a_factory() -> None:
    assert load(GREEDY_FACTORY).name == "greedy"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("colins", "no such agent: 'colins'; known: random, greedy, collins, tuned, net, net:PATH, policy:PATH"),
        ("", "no such agent: ''"),
        (":factory", "no such agent: ':factory'"),
        ("no_such_package.module:factory", "cannot import 'no_such_package.module': No module named 'no_such_package'"),
        ("policy:", "agent 'policy:': there is no file ''"),
        ("policy:gone.safetensors@sampled", "there is no file 'gone.safetensors'"),
        ("policy:gone.safetensors@both", "there is no file 'gone.safetensors@both'"),
    ],
)
def test_what_cannot_be_loaded(spec: str, message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is compared below
        load(spec)
    assert message in str(caught.value)
