"""How results are put into words: numbers, settings, and where networks stand against the baselines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from klondike_env.agents.base import PLAY_MODES
from klondike_env.agents.match import Settings
from train.config import NETWORKS, PPO, TAUGHT
from train.results import AgentResult, Comparison, Evaluation, VariantResult

# A network's bare name means the play mode of its best validation; these are the same network in the other mode.
OTHER_MODES = tuple(f"{network} {mode}" for network in NETWORKS for mode in PLAY_MODES)
_TITLES: dict[str, str] = {TAUGHT: "taught PPO", PPO: "PPO"}
TARGET = "collins"  # the baseline that the headline compares with
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


def describe_time(milliseconds: float) -> str:
    """A time with two or three digits and the unit that suits it: "0.35 ms", "28.7 s"."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s" if milliseconds < 1e6 else f"{milliseconds / 1000:.0f} s"
    return f"{milliseconds:.2g} ms" if milliseconds < 10 else f"{milliseconds:.0f} ms"


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


def network_sentences(evaluation: Evaluation) -> list[str]:
    """Where each network stands against each baseline, one plain sentence each, the baselines it is below first."""
    sentences = []
    for network in networks_of(evaluation):
        comparisons = [evaluation.compare(network, name) for name in baselines_of(evaluation)]
        comparisons.sort(key=lambda comparison: ("below", "apart", "above").index(verdict(comparison)))
        sentences += [_sentence(evaluation, comparison) for comparison in comparisons]
    return sentences


def _sentence(evaluation: Evaluation, comparison: Comparison) -> str:
    variant, network, other = title_of(evaluation.variant), title_of_network(comparison.first), comparison.second
    ours = f"{percent(evaluation.agents[comparison.first].win_rate)} %"
    theirs = f"{percent(evaluation.agents[other].win_rate)} %"
    points = f"{percent(abs(comparison.difference))} points"
    p_value = describe_p_value(comparison.p_value)
    if verdict(comparison) == "apart":
        return f"On {variant}, {network} ({ours}) and {other} ({theirs}) cannot be told apart ({p_value})."
    if verdict(comparison) == "below":
        return f"On {variant}, {network} is BELOW {other}: {ours} against {theirs}, {points} less ({p_value})."
    return f"On {variant}, {network} is above {other}: {ours} against {theirs}, {points} more ({p_value})."


def headline(variants: Sequence[VariantResult]) -> str:
    """Where the first network stands against `collins`, or, where that did not play, against the last baseline."""
    first = variants[0].evaluation
    network = networks_of(first)[0]
    target = TARGET if TARGET in baselines_of(first) else baselines_of(first)[-1]
    groups: dict[str, list[str]] = {"above": [], "below": [], "apart": []}
    for result in variants:
        groups[verdict(result.evaluation.compare(network, target))].append(title_of(result.variant))
    sentence = f"{title_of_network(network)} is above {target} on {len(groups['above'])} of {len(variants)} variants"
    if groups["below"]:
        sentence += f", BELOW it on {', '.join(groups['below'])}"
    if groups["apart"]:
        sentence += f", level with it on {', '.join(groups['apart'])}"
    return f"{sentence[0].upper()}{sentence[1:]}."


def title_of_network(network: str) -> str:
    """A network's name for readers: "taught PPO"."""
    return _TITLES[network]


def networks_of(evaluation: Evaluation) -> list[str]:
    """The networks that played, in the order of `NETWORKS`."""
    return [network for network in NETWORKS if network in evaluation.agents]


def baselines_of(evaluation: Evaluation) -> list[str]:
    """The agents that networks are measured against."""
    return [name for name in main_agents(evaluation) if name not in NETWORKS]


def main_agents(evaluation: Evaluation) -> list[str]:
    """All but the networks' other play modes, which only the details show."""
    return [name for name in evaluation.agents if name not in OTHER_MODES]


def groups_of(evaluation: Evaluation, network: str) -> dict[str, list[str]]:
    """Verdict on a network -> the baselines it holds against."""
    groups: dict[str, list[str]] = {}
    for name in baselines_of(evaluation):
        groups.setdefault(verdict(evaluation.compare(network, name)), []).append(name)
    return groups


def minutes(seconds: float) -> str:
    """A duration for readers: "1.4 min", or hours from one hour on."""
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
