"""Setups are passed to kernels packed: unpacking gives back every field."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from klondike_env.engine.setup import Options, Scheme, Setup, pack, unpack, unpacker
from klondike_env.rules import RuleParams


class Inner(NamedTuple):
    number: int
    weight: float


class Outer(NamedTuple):
    first: int
    inner: Inner
    share: float
    last: Inner


def test_every_field_of_a_setup_comes_back_in_its_place() -> None:
    numbers = iter(range(100))
    rules = RuleParams(*(next(numbers) for _ in RuleParams._fields))
    options = Options(*(next(numbers) for _ in Options._fields))
    scheme = Scheme(*(next(numbers) + 0.25 for _ in Scheme._fields))
    back = unpack(pack(Setup(rules, options, scheme)))
    assert back == (rules, options, scheme)
    assert all(type(value) is int for value in (*back.rules, *back.options))
    assert all(type(value) is float for value in back.scheme)


def test_named_tuples_within_named_tuples_come_back() -> None:
    value = Outer(1, Inner(2, 0.5), 3.5, Inner(-4, 1e-9))
    packed = pack(value)
    assert packed.dtype == np.float64
    assert packed.tolist() == [1, 2, 0.5, 3.5, -4, 1e-9]
    assert unpacker(Outer)(packed) == value
