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
from thalweg.kernels.ud_factor import INPUT_SCALE

MIN_FEATURES = 16
"""Minimum number of features for which blocks are faster
(docs/decisions/compiled-kernels.md)."""
MIN_ROUNDS = 64
"""Minimum number of rounds that pay for the conversion to another form and back."""
MAX_WAIT = 32
"""Upper limit of the single rounds before blocks are tried again, over n. They double
with every attempt in vain, which takes as long as n rounds or more."""
MAX_CANCELLATION = 1e4
"""Upper limit of Σ_k |x_k θ_k| over the largest label: rounding grows with the sum."""

Array = npt.NDArray[Any]


def rls_blocked(
    theta: Array, factor: Array, gamma: float, floor: float, leaky: bool, *arrays: Array
) -> int:
    """``rls``, to 1e-9; returns how many of the rounds were played in blocks.

    Shapes and order as there, without ``played``, and in float64. Where blocks are not
    safe up to the end, all of them are played again one by one, and some rounds more:
    their rounding is another than that of single rounds, and what follows might
    multiply it. From there on, with the bits of single rounds, blocks are tried again.
    This loop is Python, since compiling all of it in one piece takes longer than the
    rest together.
    """
    rounds, unplayed = RecordedRounds(*arrays), np.empty((0, *theta.shape))
    n, t, count = len(theta), 0, len(rounds.y)
    single_rounds = max(n, MIN_ROUNDS) if n >= MIN_FEATURES else count
    largest_label = np.abs(rounds.y).max()
    while t < count:
        before, end, certain = (theta.copy(), factor.copy()), t, True
        if not _cancels(theta, factor, largest_label):
            end, certain = _play_blocks(theta, factor, gamma, floor, leaky, rounds, t)
        if end == count and certain:
            return count - t
        if end > t:
            theta[:], factor[:] = before
        end += single_rounds
        single = (array[t:end] for array in rounds)
        rls(theta, factor, gamma, floor, leaky, *single, unplayed)
        t, single_rounds = end, min(2 * single_rounds, MAX_WAIT * n)
    return 0


def _play_blocks(
    theta: Array, factor: Array, gamma: float, floor: float, leaky: bool,
    rounds: RecordedRounds, t: int,
) -> tuple[int, bool]:  # fmt: skip
    """Play blocks in either form from round t on.

    Returned are where they end and whether they equal single rounds.
    """
    n, start, certain = len(theta), t, True
    if n < MIN_FEATURES or len(rounds.y) - t < MIN_ROUNDS:
        return t, True
    min_ridge = floor * max_target_ratio(n, gamma)
    while t < len(rounds.y) and certain and is_representable(factor):
        start = t
        t = int(play_information_blocks(theta, factor, gamma, min_ridge, rounds, t))
        if t == start and floor > 0:
            t, certain = play_covariance_blocks(
                theta, factor, gamma, floor, leaky, rounds, t
            )
        if t == start:
            break
    return int(t), bool(certain)


def _cancels(theta: Array, factor: Array, largest_label: float) -> bool:
    """Whether terms of x·θ are too large beside the labels for predictions to 1e-9.

    So they are after a change of the labels' scale, and in a direction without data
    where ``ridge`` is 0.
    """
    with np.errstate(all="ignore"):
        terms = np.abs(theta).T @ factor[INPUT_SCALE]
    # Written so that NaN cancels too.
    return not (terms <= MAX_CANCELLATION * largest_label).all()
