"""Tianshou; run in .venv-others by `make test-libraries`."""

import re

from tests.libraries.examples import load_example


def test_dqn_trains_and_plays_no_illegal_action(capsys):
    load_example("tianshou_dqn").main(steps=800, games=2)
    played = re.search(r"^(\d+) of (\d+) actions were illegal$", capsys.readouterr().out, re.MULTILINE)
    assert int(played.group(1)) == 0
    assert int(played.group(2)) > 50
