"""`klondike bench`: the form of its figures; how high they are is for people to judge."""

import json

from typer.testing import CliRunner

from klondike_env.cli import app
from klondike_env.rules import PRESETS


def test_bench_writes_the_figures_of_every_variant(tmp_path):
    file = tmp_path / "figures.json"
    shown = CliRunner().invoke(app, ["bench", "--seconds", "0.01", "--json", str(file)])
    assert shown.exit_code == 0, shown.output
    figures = json.loads(file.read_text())
    for kind in ("batched", "single"):
        assert set(figures["klondike"][kind]) == set(PRESETS)
        assert all(rate["steps_per_second"] > 0 for rate in figures["klondike"][kind].values())
    assert figures["machine"]["versions"]["numpy"]
    again = CliRunner().invoke(app, ["bench", "--json", str(file)])
    assert again.exit_code == 2
    assert "exists; remove it or name another file" in again.output
