"""The command `klondike`, also `python -m klondike_env`, which says what to install if packages are missing."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command, or end with one line that names the extra to install."""
    if not all(map(find_spec, ("rich", "typer"))):
        sys.exit("klondike: the command needs typer and rich; run: pip install 'klondike-env[cli]'")
    from klondike_env.cli import app

    app(prog_name="klondike")


if __name__ == "__main__":
    main()
