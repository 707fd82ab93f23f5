"""Write every golden file anew: `make golden`."""

from pathlib import Path

from tests.golden.playthroughs import write_playthroughs

HERE = Path(__file__).parent

write_playthroughs(HERE / "playthroughs")
