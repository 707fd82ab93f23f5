"""The command `klondike`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from gymnasium.error import DependencyNotInstalled
from rich.console import Console

from klondike_env.rules import PRESETS
from klondike_env.tables import Table, table_console
from klondike_env.work import WorkerDied

app = typer.Typer(add_completion=False, no_args_is_help=True)

Variant = Annotated[str, typer.Option(help=", ".join(PRESETS))]
Number = Annotated[str | None, typer.Argument(help="deal number")]
Source = Annotated[
    str | None, typer.Option("--from", help="a deck or position instead of a number: text, a file, or - for stdin")
]
SourceFormat = Annotated[
    str, typer.Option(help="its format: auto, position, rows, columns, solvitaire, shootme or pysolfc")
]
Seconds = Annotated[float, typer.Option(min=0.001, help="time after which the search gives up")]


@app.callback()
def main() -> None:
    """Klondike solitaire and its relatives for reinforcement learning."""


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Report a mistake of the user in one line, and exit with code 2."""
    try:
        yield
    except (ValueError, DependencyNotInstalled, WorkerDied) as error:
        typer.echo(f"klondike: {error}", err=True)
        raise typer.Exit(2) from None


@app.command()
def deal(
    number: Annotated[str | None, typer.Argument(help="deal number; a random training deal without one")] = None,
    to_format: Annotated[
        str, typer.Option("--format", help="board, position, or a deck as rows, columns, solvitaire or shootme")
    ] = "board",
    open_cards: Annotated[bool, typer.Option("--open", help="show the face-down cards and the stock too")] = False,
    source: Source = None,
    from_format: SourceFormat = "auto",
    seed: Annotated[int | None, typer.Option(min=0, help="the random deal that reset(seed=...) draws")] = None,
) -> None:
    """Show a deal or position, or convert it from one format to another.

    The board is what a player sees, unless --open is given.
    All other formats name every card, hidden ones too.
    klondike_env/formats.py and klondike_env/position.py describe them.

    klondike deal 123456

    klondike deal 123456 --format solvitaire > deal.json

    klondike deal --from deal.json --format shootme
    """
    from klondike_env.deal_text import deal_text, read_deal  # imports what compiles

    with errors_in_one_line():
        label, states = read_deal(number, _read_source(source), from_format, seed)
        typer.echo(deal_text(label, states, to_format, open_cards))


@app.command()
def solve(
    number: Number = None,
    variant: Variant = "draw1",
    source: Source = None,
    from_format: SourceFormat = "auto",
    seconds: Seconds = 60.0,
    nodes: Annotated[int | None, typer.Option(min=1, help="positions after which the search gives up")] = None,
    short: Annotated[bool, typer.Option("--short", help="shorten the line, for up to two seconds more")] = False,
    minimal: Annotated[
        bool, typer.Option("--minimal", help="look for the fewest moves and prove it, for up to --seconds more")
    ] = False,
) -> None:
    """Tell whether a deal or position can be won with all cards known, and by which actions.

    klondike solve 123456 --variant draw3

    klondike solve 123456 --variant thumb_and_pouch --short

    klondike solve --from position.txt
    """
    from klondike_env.engine.actions import name  # imports what compiles, as the next ones do
    from klondike_env.solver.shorten.shortening import DEFAULT_SECONDS, shorten
    from klondike_env.solver.solve import Limits
    from klondike_env.solver.solve import solve as search

    with errors_in_one_line():
        solution = search(_position(number, source, from_format), variant, Limits(nodes=nodes, seconds=seconds))
    if solution.actions and (short or minimal):
        shortening = Limits(nodes=nodes, seconds=seconds if minimal else min(seconds, DEFAULT_SECONDS))
        solution = shorten(solution, minimal=minimal, limits=shortening)
    typer.echo(f"{solution.verdict}, {solution.nodes:,} positions, {solution.seconds:.3f} s")
    if solution.actions:
        typer.echo(f"{len(solution.actions)} actions: {', '.join(map(name, solution.actions))}")
    if solution.actions and (short or minimal):
        typer.echo(f"{solution.moves} moves, redeals not counted{': the fewest possible' if solution.minimal else ''}")


@app.command()
def hint(
    number: Number = None,
    variant: Variant = "draw1",
    source: Source = None,
    from_format: SourceFormat = "auto",
    seconds: Seconds = 10.0,
) -> None:
    """Tell for each legal action whether the game can still be won after it, with all cards known.

    klondike hint --from position.txt --variant draw3
    """
    from klondike_env.engine.actions import name  # imports what compiles, as the next ones do
    from klondike_env.solver.play import hint as verdicts
    from klondike_env.solver.solve import Limits

    with errors_in_one_line():
        told = verdicts(_position(number, source, from_format), variant, Limits(seconds=seconds))
    for action, verdict in told.items():
        typer.echo(f"{name(action)}: {verdict}")


@app.command()
def study(
    variant: Annotated[list[str] | None, typer.Option(help="a game by name; may be repeated")] = None,
    draw: Annotated[list[int] | None, typer.Option(help="Klondike with so many cards drawn; may be repeated")] = None,
    only_named: Annotated[
        bool, typer.Option("--only-named", help="do not add the same games without worrying back")
    ] = False,
    deals: Annotated[
        int | None, typer.Option(min=1, help="how many; all with a kept verdict by default, or 1,000")
    ] = None,
    first: Annotated[int | None, typer.Option(min=0, help="the first deal; by default the first training deal")] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="positions after which a search gives up; 20 or 40 million by default")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="solve again the deals whose verdicts are kept")] = False,
    folder: Annotated[Path, typer.Option(help="where results are kept as they come")] = Path("klondike-study"),
    workers: Annotated[int, typer.Option(min=1, help="how many workers share the work")] = 1,
    backend: Annotated[str, typer.Option(help="processes, or ray for the machines of a Ray cluster")] = "processes",
    plot: Annotated[Path | None, typer.Option(help="plot the shares of winnable deals into this file")] = None,
) -> None:
    """Tell how many deals can be won with all cards known, and how many need worrying back, next to published figures.

    Verdicts on many deals come with the package. Other deals are solved, and the results are saved in a folder, so
    that a stopped study resumes. Without --variant and --draw, all games with kept verdicts are shown.

    klondike study

    klondike study --variant classic --draw 4 --deals 5000 --workers 8 --plot study.png
    """
    from klondike_env.intervals import check_scipy
    from klondike_env.rules import Rules, preset
    from klondike_env.solver.solve import Limits
    from klondike_env.solver.study import winnability  # imports what compiles, as the next one does
    from klondike_env.solver.study.report import CAPTION, check_plot, plot_of, table_of

    progress = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    with errors_in_one_line():
        named = [*map(preset, variant or ()), *(Rules(draw_count=count) for count in draw or ())]
        check_scipy()
        if plot is not None:
            check_plot(plot)
        lines = winnability.study(
            (named if only_named else winnability.with_twins(named)) if named else None,
            deals,
            first=winnability.FIRST_DEAL if first is None else first,
            limits=Limits(nodes=nodes, seconds=None) if nodes is not None else None,
            fresh=fresh,
            folder=folder,
            workers=workers,
            backend=backend,
            say=progress.print,
        )
        table = table_of(lines)
        if plot is not None:
            plot_of(lines).savefig(plot, dpi=150)
    table_console().print(table.rich(CAPTION))


@app.command()
def complete(
    number: Number = None,
    variant: Variant = "draw1",
    source: Source = None,
    from_format: SourceFormat = "auto",
    seconds: Seconds = 60.0,
) -> None:
    """Play a deal or position to its end with all cards known: show the actions and the final board.

    If it finds no win, it says that the game is lost, or that time or memory were not enough to tell.

    klondike complete --from position.txt --variant draw3
    """
    from klondike_env.engine.actions import name  # imports what compiles, as the next ones do
    from klondike_env.render.text import draw_board
    from klondike_env.rules import preset
    from klondike_env.solver.play import complete as play_on
    from klondike_env.solver.play import end_of
    from klondike_env.solver.solve import Limits
    from klondike_env.solver.verdicts import SOLVED, UNSOLVABLE

    with errors_in_one_line():
        position, rules = _position(number, source, from_format), preset(variant)
        solution = play_on(position, rules, Limits(seconds=seconds))
    if solution.verdict == SOLVED:
        typer.echo(f"{len(solution.actions)} actions: {', '.join(map(name, solution.actions))}\n")
        typer.echo(draw_board(end_of(position, rules, solution.actions), rules))
    elif solution.verdict == UNSOLVABLE:
        typer.echo("lost: no way of playing on wins this game")
    else:
        spent = f"{solution.nodes:,} positions in {solution.seconds:.3g} s"
        typer.echo(f"undecided: {spent} showed neither a win nor that there is none")


@app.command()
def advise(
    number: Number = None,
    variant: Variant = "draw1",
    source: Source = None,
    from_format: SourceFormat = "auto",
    samples: Annotated[int, typer.Option(min=1, help="games that each action is tried out in")] = 1000,
    reach: Annotated[bool, typer.Option("--reach", help="play talon cards directly instead of drawing")] = False,
    seed: Annotated[int, typer.Option(min=0, help="random seed")] = 0,
) -> None:
    """Tell how likely a win is after each legal action, given what the player knows, with 95 % intervals.

    Cards that the player has not seen are ignored; a position may write them as ??.

    klondike advise --from position.txt --variant draw3
    """
    from klondike_env.agents.advice import Advice  # imports what compiles, as the next ones do
    from klondike_env.agents.advice import advise as advice_on
    from klondike_env.engine.actions import name
    from klondike_env.intervals import check_scipy

    def row(advice: Advice) -> tuple[str, ...]:
        low, high = advice.interval
        return name(advice.action), f"{advice.chance:.1%}", f"{low:.1%} to {high:.1%}"

    with errors_in_one_line():
        check_scipy()
        position = _position(number, source, from_format)
        advice = advice_on(position, variant, samples=samples, talon="reach" if reach else "draw", seed=seed)
    table_console().print(Table(("action", "win rate", "95 % interval"), tuple(map(row, advice))).rich())


@app.command()
def analyse(
    file: Annotated[str, typer.Argument(help="a game as JSON: a file, or - for standard input")],
    seconds: Annotated[float, typer.Option(min=0.001, help="time after which each search gives up")] = 10.0,
) -> None:
    """Tell for each action of a game whether the game could still be won after it, and which action lost it.

    The file is JSON such as {"deal": 123456, "variant": "draw3", "actions": ["6C onto 7H", "stock"]}.
    klondike_env/solver/analyse.py describes it.

    klondike analyse game.json
    """
    from klondike_env.engine.actions import name  # imports what compiles, as the next ones do
    from klondike_env.solver.analyse import analyse as look_back
    from klondike_env.solver.analyse import parse_game
    from klondike_env.solver.solve import Limits

    with errors_in_one_line():
        played, rules = parse_game(_read_file(file))
        analysis = look_back(played, rules, Limits(seconds=seconds))
    typer.echo(f"start: {analysis.start}")
    for place, (action, verdict) in enumerate(zip(played.actions, analysis.verdicts, strict=True), 1):
        typer.echo(f"{place}. {name(action)}: {verdict}")
    typer.echo(analysis.summary(played))


def _position(number: str | None, source: str | None, format: str) -> Any:
    """The position that a user names, as a record."""
    from klondike_env.deal_text import read_deal

    if number is None and source is None:
        raise ValueError("name a deal by its number, or give a deck or position with --from")
    return read_deal(number, _read_source(source), format, None)[1][0]


def _read_source(source: str | None) -> str | None:
    """The text of standard input or of a file, or `source` itself.

    Raises:
        ValueError: `source` looks like the name of a file, and the file cannot be read.
    """
    if source is None:
        return None
    try:
        return _read_file(source)
    except ValueError:
        # No text of a deck or position has "." or "/" in it without a ":".
        if ("." in source or "/" in source) and ":" not in source:
            raise
        return source


def _read_file(name: str) -> str:
    """The text of a file, or of standard input for "-".

    Raises:
        ValueError: the file cannot be read.
    """
    if name == "-":
        return sys.stdin.read()
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read the file {name!r}: {getattr(error, 'strerror', 'it is not text')}") from None
