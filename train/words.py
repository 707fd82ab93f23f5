"""Results in words: numbers, settings, and how PPO compares with the baselines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from klondike_env.agents.match import Settings
from train.results import AgentResult, Comparison, Evaluation, VariantResult

PPO = "ppo"  # the network in the play mode that its configuration names
OTHER_MODES = ("ppo argmax", "ppo sampled")  # the same network in the other mode
SIGNIFICANCE = 0.05


def percent(share: float) -> str:
    """A share 0 to 1 in percent, with more digits where it is small: "53.6", "3.91", "0.04"."""
    return f"{100 * share:.{digits_of(share)}f}"


def rate_with_margin(result: AgentResult) -> str:
    """A win rate in percent with half of its interval: "66.7 ± 0.5"."""
    margin = 100 * (result.interval.high - result.interval.low) / 2
    return f"{percent(result.win_rate)} ± {margin:.{digits_of(result.win_rate)}f}"


def digits_of(share: float) -> int:
    """How many digits a share in percent gets after the point."""
    return 1 if share >= 0.0995 or share == 0 else 2


def title_of(variant: str) -> str:
    """A variant's name for readers: "draw 1", "thumb and pouch"."""
    return re.sub(r"(?<=[a-z])(?=\d)", " ", variant.replace("_", " "))


def describe_settings(settings: Settings) -> str:
    """How an agent played, in words: "argmax, talon reach, no repeats"."""
    words = [settings.play or "", f"talon {settings.talon}", "no repeats" if settings.no_repeats else ""]
    if not settings.auto_finish:
        words.append("no auto-finish")
    if settings.stall_limit != Settings().stall_limit:
        words.append(f"stall limit {settings.stall_limit or 'none'}")
    return ", ".join(word for word in words if word)


def describe_p_value(p_value: float) -> str:
    """A p-value for readers: "p = 0.012" or "p < 0.001"."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def verdict(comparison: Comparison) -> str:
    """Whether the first agent is "below" or "above" the second, or the deals cannot tell them "apart"."""
    if comparison.p_value >= SIGNIFICANCE:
        return "apart"
    return "below" if comparison.difference < 0 else "above"


def ppo_sentences(evaluation: Evaluation) -> list[str]:
    """How PPO compares with each baseline, one sentence each; the baselines that beat it come first."""
    comparisons = [evaluation.compare(PPO, name) for name in baselines_of(evaluation)]
    comparisons.sort(key=lambda comparison: ("below", "apart", "above").index(verdict(comparison)))
    return [_sentence(evaluation, comparison) for comparison in comparisons]


def _sentence(evaluation: Evaluation, comparison: Comparison) -> str:
    name, other = title_of(evaluation.variant), comparison.second
    ours = f"{percent(evaluation.agents[comparison.first].win_rate)} %"
    theirs = f"{percent(evaluation.agents[other].win_rate)} %"
    points = f"{percent(abs(comparison.difference))} points"
    p_value = describe_p_value(comparison.p_value)
    if verdict(comparison) == "apart":
        return f"On {name}, PPO ({ours}) and {other} ({theirs}) cannot be told apart ({p_value})."
    if verdict(comparison) == "below":
        return f"On {name}, PPO is BELOW {other}: {ours} against {theirs}, {points} less ({p_value})."
    return f"On {name}, PPO is above {other}: {ours} against {theirs}, {points} more ({p_value})."


def headline(variants: Sequence[VariantResult]) -> str:
    """One sentence naming every variant where PPO is below a baseline."""
    losses = []
    for result in variants:
        better = groups_of(result.evaluation).get("below")
        if better:
            losses.append(f"{title_of(result.variant)} ({', '.join(better)})")
    if not losses:
        return "PPO is below no baseline on any variant."
    return f"PPO is BELOW a baseline on {len(losses)} of {len(variants)} variants: {', '.join(losses)}."


def baselines_of(evaluation: Evaluation) -> list[str]:
    """The agents that PPO is measured against."""
    return [name for name in evaluation.agents if name != PPO and name not in OTHER_MODES]


def main_agents(evaluation: Evaluation) -> list[str]:
    """All but the network's other play mode, which only the details show."""
    return [name for name in evaluation.agents if name not in OTHER_MODES]


def groups_of(evaluation: Evaluation) -> dict[str, list[str]]:
    """Verdict on PPO -> the baselines for which it holds."""
    groups: dict[str, list[str]] = {}
    for name in baselines_of(evaluation):
        groups.setdefault(verdict(evaluation.compare(PPO, name)), []).append(name)
    return groups


def minutes(seconds: float) -> str:
    """A duration for readers: "1.4 min", or hours from one hour on."""
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
