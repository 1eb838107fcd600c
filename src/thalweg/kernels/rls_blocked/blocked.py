"""RLS over recorded rounds: blocks where they are safe, single rounds elsewhere."""

from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.kernels.rls import rls
from thalweg.kernels.rls_blocked.block_limits import RecordedRounds, is_representable
from thalweg.kernels.rls_blocked.covariance_form import (
    max_target_ratio,
    play_covariance_blocks,
)
from thalweg.kernels.rls_blocked.information_form import play_information_blocks

MIN_FEATURES = 16
"""Blocks are faster from so many features on: docs/decisions/004-blocked-rls.md."""
MIN_ROUNDS = 64
"""The conversion to another form and back pays from so many rounds on, at any n."""

Array = npt.NDArray[Any]


def rls_blocked(
    theta: Array, factor: Array, gamma: float, floor: float, leaky: bool, *arrays: Array
) -> int:
    """``rls``, to rounding; returns how many of the rounds were played in blocks.

    Shapes and order as there, without ``played``, and in float64. Where a block is not
    safe, some rounds are played one by one before the next is tried. This loop is
    Python, since compiling all of it in one piece takes longer than the rest together.
    """
    rounds, unplayed = RecordedRounds(*arrays), np.empty((0, *theta.shape))
    n, t, in_blocks = len(theta), 0, 0
    while t < len(rounds.y):
        end = _play_blocks(theta, factor, gamma, floor, leaky, rounds, t)
        in_blocks += end - t
        if end == t:
            end = t + max(n, MIN_ROUNDS) if n >= MIN_FEATURES else len(rounds.y)
            single = (array[t:end] for array in rounds)
            rls(theta, factor, gamma, floor, leaky, *single, unplayed)
        t = end
    return in_blocks


def _play_blocks(
    theta: Array, factor: Array, gamma: float, floor: float, leaky: bool,
    rounds: RecordedRounds, t: int,
) -> int:  # fmt: skip
    """Play blocks in either form from round t on; returns where they end."""
    n = len(theta)
    worthwhile = n >= MIN_FEATURES and len(rounds.y) - t >= MIN_ROUNDS
    if not (worthwhile and is_representable(factor)):
        return t
    min_ridge = floor * max_target_ratio(n, gamma)
    end = int(play_information_blocks(theta, factor, gamma, min_ridge, rounds, t))
    if end == t and floor > 0:
        end = int(play_covariance_blocks(theta, factor, gamma, floor, leaky, rounds, t))
    return end
