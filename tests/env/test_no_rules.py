"""The environments contain no rule of the game: they hand actions to the engine and show what it says.

What counts as a rule is decided on the syntax tree of their sources. An environment

- takes from `klondike_env.cards`, the engine, the solver and the agents nothing but the names below, which encode
  actions, name outcomes and make batches of games; so no kernel, no set of cards and no rank or suit;
- looks into a game's record for nothing but the number of steps;
- reads no field of `Rules`;
- neither compares nor reckons with what it passes on: foundations, masks, moves, records;
- takes no number apart (`//`, `%`, shifts), as would be needed to get a card out of an action or a suit out of a card;
- compares with no number but 0 and 1, so with no rank, no suit and no count of cards.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType

import pytest

from klondike_env import env, sb3, settings, vector_env, wrappers
from klondike_env.engine.state import STATE
from klondike_env.rules import RULE_FIELDS

ENVIRONMENTS = (env, vector_env, sb3, wrappers, settings)

PLACES_OF_RULES = ("klondike_env.cards", "klondike_env.engine", "klondike_env.solver", "klondike_env.agents")
ALLOWED_NAMES = {
    *("actions", "N_ACTIONS", "NO_ACTION", "RESIGN", "name"),
    *("OUTCOME_NAMES", "PLAYING", "TRUNCATED", "WON"),
    *("Games", "DEFAULT_STALL_LIMIT", "check_limit"),
}
HIDDEN_FIELDS = set(STATE.names or ()) - {"steps"}  # which are the length of an episode

FACTS = {"states", "turns", "foundations", "masks", "moves"}  # attributes of a batch of games that are passed on
TAKES_APART = (ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift)
RECKONS = (ast.Compare, ast.BinOp, ast.AugAssign)


def rules_in(source: str) -> list[str]:
    """What makes a source contain a rule, as "line: reason"; empty if there is nothing."""
    tree = ast.parse(source)
    facts = names_of_facts(tree)
    found = [(node.lineno, reason) for node in ast.walk(tree) for reason in reasons(node, facts)]
    return [f"{line}: {reason}" for line, reason in sorted(found)]


def reasons(node: ast.AST, facts: set[str]) -> Iterator[str]:
    """Why one node is a rule, if it is. facts: variables that hold facts of a game."""
    match node:
        case ast.Import(names=names):
            yield from (f"imports {alias.name}" for alias in names if is_place_of_rules(alias.name))
        case ast.ImportFrom(module=str(module), names=names) if is_place_of_rules(module):
            yield from (f"imports {alias.name}" for alias in names if alias.name not in ALLOWED_NAMES)
        case ast.ImportFrom(module="klondike_env", names=names):
            modules = [f"klondike_env.{alias.name}" for alias in names]
            yield from (f"imports {module}" for module in modules if is_place_of_rules(module))
        case ast.Attribute(value=ast.Name("actions"), attr=attribute) if attribute not in ALLOWED_NAMES:
            yield f"uses actions.{attribute}"
        case ast.Attribute(attr=attribute) if attribute in RULE_FIELDS:
            yield f"reads the rule {attribute!r}"
        case ast.Subscript(slice=ast.Constant(str(field))) if field in HIDDEN_FIELDS:
            yield f"looks into a record for {field!r}"
    if isinstance(node, RECKONS) and any(is_fact(part, facts) for part in ast.iter_child_nodes(node)):
        yield "reckons with facts of a game"
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, TAKES_APART):
        yield "takes a number apart"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "divmod":
        yield "takes a number apart"
    if isinstance(node, ast.Compare):
        numbers = [part.value for part in (node.left, *node.comparators) if isinstance(part, ast.Constant)]
        yield from (f"compares with {number}" for number in numbers if type(number) is int and number not in (0, 1))


def is_place_of_rules(module: str) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in PLACES_OF_RULES)


def is_fact(node: ast.AST, facts: set[str]) -> bool:
    """Whether an expression is made from facts of a game; a dict that holds them only passes them on."""
    if isinstance(node, ast.Dict):
        return False
    if isinstance(node, ast.Attribute) and node.attr in FACTS:
        return True
    if isinstance(node, ast.Name) and node.id in facts:
        return True
    return any(is_fact(part, facts) for part in ast.iter_child_nodes(node))


def names_of_facts(tree: ast.AST) -> set[str]:
    """Variables that are given facts of a game, by assignments or as those that a loop runs over."""
    facts: set[str] = set()
    while True:
        more = facts | {name for target, value in bindings(tree) if is_fact(value, facts) for name in names_in(target)}
        if more == facts:
            return facts
        facts = more


def bindings(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets, value=value):
                yield from ((target, value) for target in targets)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                yield target, value
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield target, value


def names_in(target: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize("module", ENVIRONMENTS, ids=lambda module: module.__name__)
def test_an_environment_contains_no_rule(module: ModuleType) -> None:
    assert rules_in(inspect.getsource(module)) == []


PASTED = {
    "a king fills a gap": "if card % 13 == 12 and height == 0: legal.append(card)",
    "a king by its number": "if rank == 12: legal.append(card)",
    "colours": "from klondike_env.cards import is_red",
    "ranks, by the module": "from klondike_env import cards",
    "ranks, by the whole name": "import klondike_env.cards",
    "the kernel of legal actions": "from klondike_env.engine.legal import write_mask",
    "the kernel of moves": "import klondike_env.engine.apply",
    "sets of cards": "from klondike_env.engine.card_sets import fitting_on",
    "the solver": "from klondike_env.solver.solve import solve",
    "another agent": "from klondike_env.agents import load",
    "an action taken apart": "card, destination = divmod(action, 6)",
    "an action taken apart by the engine": "card = actions.decode(action)",
    "a suit taken out of a card": "suit = card // 13",
    "a bit of a set": "if cards >> card & 1: return True",
    "cards of a column": "top = self.games.states['columns'][row, 0, height]",
    "cards that are face down": "record['face_down'] = 0",
    "the rule of the game": "if self.rules.worry_back: mask[card] = 1",
    "a won game": "won = self.games.foundations.sum() == 52",
    "a won game by a variable": "up = self.games.foundations.sum()\nwon = up >= total",
    "a suit that is complete": "done = [suit for suit in games.foundations[0].tolist() if suit > most]",
    "a mask made stricter": "mask = self.games.masks[0] * allowed",
    "a mask made stricter in place": "mask = self.games.masks[0]\nmask &= allowed",
    "moves that are not counted": "info = {'moves': games.moves[0] - redeals}",
}


@pytest.mark.parametrize("rule", PASTED)
def test_a_pasted_rule_is_found(rule: str) -> None:
    source = inspect.getsource(env)
    assert rules_in(source + PASTED[rule]), "at the end of an environment"
    assert not rules_in(source)
