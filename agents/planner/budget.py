"""What planning agents may spend on a decision: checks of what users pass in."""

from __future__ import annotations

from klondike_env.checks import check_whole_number


def check_budget(
    samples: int | None, seconds_per_move: float | None, default: int, most: int, *, with_limit: bool = True
) -> int:
    """The most samples for each decision: `default` if neither is given, `most` if only a time is.

    Args:
        samples: what the user passed, None for the default.
        seconds_per_move: what the user passed, None for no limit.
        default: samples where nothing is given.
        most: samples where only a time is given.
        with_limit: whether more than `most` samples are refused.

    Raises:
        ValueError: one of the first two is not allowed.
    """
    if seconds_per_move is not None and not seconds_per_move > 0:
        raise ValueError(f"seconds_per_move is {seconds_per_move!r}; allowed: a positive number, or None for no limit")
    if samples is None:
        return default if seconds_per_move is None else most
    return check_whole_number("samples", samples, 0, most if with_limit else None, also=" or None for the default")


def check_z(z: float) -> float:
    """The standard deviations of evidence that it takes to leave the base's play.

    Raises:
        ValueError: it is no number from 0.
    """
    if not z >= 0:
        raise ValueError(f"z is {z!r}; allowed: a number from 0")
    return z
