"""A bank of recursive least squares: many settings on one stream, and their mixture.

Inner loop of learners/experts.py where every expert is recursive least squares. A chunk
of rounds is played by every expert, then mixed round by round. Experts are played by
kernels/rls.py one after the other, or eight of them side by side in SIMD lanes. Either
way the same operations are done on the same numbers in the same order: results agree to
the last bit, and the choice is free. docs/decisions/compiled-kernels.md
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from thalweg.kernels.compiler.jit import kernel
from thalweg.kernels.compiler.simd import WIDTH, broadcast, load, store
from thalweg.kernels.rls import rls
from thalweg.kernels.rls_bank.exponential_weights import (
    mix_rounds,
    mixture_loss,
    padded_log_weights,
)
from thalweg.kernels.rls_bank.lane_state import (
    allocate_groups,
    gather,
    lane_rows,
    scatter,
)
from thalweg.kernels.rls_bank.lane_update import (
    LARGEST_FLOAT,
    MAX_COEFFICIENT,
    MIN_GAMMA,
    clip,
    update,
    update_input_scale,
)
from thalweg.kernels.rls_bank.lane_windup import cap_covariance, needs_cap
from thalweg.kernels.ud_factor import drop_all_overflow

Array = npt.NDArray[Any]
CHUNK = 64
"""Rounds that one expert plays before the next does: its matrix stays in the cache."""
LANE_THRESHOLDS = (8, 2, 1), (32, 3, 8), (128, 4, 8), (np.inf, 5, 8)
"""(features, experts, rounds): with at most this number of features, lanes are faster
from this number of experts and of rounds on."""


def play_bank(
    theta: Array,
    factor: Array,
    log_weights: Array,
    settings: tuple[Array, Array, Array],
    mixing_rate: float,
    data: tuple[Array, Array, Array, Array],
    trace: tuple[Array, Array, Array, Array],
) -> None:
    """Play T rounds with N experts, updating their states in place.

    States: theta (N, n, k), factor (N, n+3, n), log_weights (N,). Settings: gamma,
    floor, leaky (N,). Data: x (T, n), y (T, k), weight and elapsed (T,) or empty for
    all ones. The trace, to be filled: out (T, k), loss (T,), played (T, n, k) or empty,
    weights (T, N) or empty.
    """
    in_lanes = choose_groups(theta, settings[1], len(data[1]))
    # Array by array: to hand over tuples takes longer than a round.
    play(
        theta, factor, log_weights, *settings, mixing_rate, *data, *trace, in_lanes
    )  # fmt: skip


def choose_groups(
    theta: Array, floor: Array, rounds: int
) -> npt.NDArray[np.bool_] | None:
    """Which groups of eight experts are played in lanes: (⌈N/8⌉,), or None: no group.

    Shapes: theta (N, n, k), floor (N,). Lanes compute in float64, and a retained ridge
    is added to one coordinate at a time, another one for each expert.
    """
    if theta.dtype != np.float64:
        return None
    experts, n, _ = theta.shape
    min_experts, min_rounds = lane_thresholds(n)
    in_lanes = np.full(-(-experts // WIDTH), rounds >= min_rounds)
    if (experts - 1) % WIDTH + 1 < min_experts:
        in_lanes[-1] = False
    for expert in np.flatnonzero(floor):
        in_lanes[expert // WIDTH] = False
    return in_lanes


def lane_thresholds(n: int) -> tuple[int, int]:
    """From how many experts, and rounds, lanes are faster with n features."""
    return next(
        (experts, rounds) for limit, experts, rounds in LANE_THRESHOLDS if n <= limit
    )


@kernel(ieee_division=True, nogil=True)
def play(
    theta, factor, log_weights, gamma, floor, leaky, mixing_rate,
    x, y, weight, elapsed, out, loss, played, weights, in_lanes,
):  # fmt: skip
    """``play_bank`` with a given choice of the groups of eight that are in lanes.

    That is (⌈N/8⌉,), or None without such groups: the code for lanes is not compiled
    then.
    """
    settings, data = (gamma, floor, leaky), (x, y, weight, elapsed)
    trace = out, played, weights
    experts, n, targets = theta.shape
    rounds = len(y)
    chunk = min(CHUNK, rounds)
    at, padded = lane_rows(n, targets), padded_log_weights(log_weights)
    # Predictions and losses of the experts in a chunk, and the points they play if
    # asked for.
    results = np.empty((chunk, targets, padded.size)), np.empty((chunk, padded.size))
    points = np.empty((experts, min(chunk, len(played)), n, targets), theta.dtype)
    if in_lanes is not None:
        groups = allocate_groups(in_lanes.size if in_lanes.any() else 0, at.end)
        gather(theta, factor, groups, at, in_lanes)
    for start in range(0, rounds, chunk):
        span = start, min(start + chunk, rounds)
        for first in range(0, experts, WIDTH):
            shared = settings, data, span, first, results, points
            if in_lanes is None or not in_lanes[first // WIDTH]:
                _play_one_by_one(theta, factor, *shared)
            else:
                _play_in_lanes(groups[first // WIDTH], at, *shared)
        mix_rounds(padded, mixing_rate, results, points, span, trace)
        for t in range(*span):
            loss[t] = mixture_loss(y, weight, out, t)
    if in_lanes is not None:
        scatter(groups, at, theta, factor, in_lanes)
    for i in range(experts):
        drop_all_overflow(factor[i])
        log_weights[i] = padded[i]


@kernel(ieee_division=True)
def _play_one_by_one(theta, factor, settings, data, span, first, results, points):
    """Play the rounds of ``span`` with up to eight experts, one after the other."""
    gamma, floor, leaky = settings
    x, y, weight, elapsed = data
    expert_predictions, expert_losses = results
    these, rounds = slice(*span), span[1] - span[0]
    out, loss = np.empty((rounds, y.shape[1]), y.dtype), np.empty(rounds, y.dtype)
    for i in range(first, min(first + WIDTH, len(theta))):
        rls(
            theta[i], factor[i], gamma[i], floor[i], leaky[i], x[these], y[these],
            weight[these], elapsed[these], out, loss, points[i],
        )  # fmt: skip
        for t in range(rounds):
            expert_losses[t, i] = loss[t]
            for j in range(y.shape[1]):
                expert_predictions[t, j, i] = out[t, j]


@kernel(ieee_division=True)
def _play_in_lanes(buffer, at, settings, data, span, first, results, points):
    """Play the rounds of ``span`` with up to eight experts from ``first`` on, in lanes.

    Each lane computes what kernels/rls.py does. ``buffer`` (rows, 8) is theirs. Their
    predictions, losses and points go to their places in ``results`` and ``points``.
    """
    t, stop = span
    while t < stop:
        t, cap_due = _play_lane_rounds(
            buffer, at, settings[0], data, span, t, first, results, points
        )
        if cap_due:
            cap_covariance(buffer, at, points.shape[2])


@kernel(ieee_division=True)
def _play_lane_rounds(buffer, at, gamma, data, span, t, first, results, points):
    """Play from round t on; returns the next round, and whether the cap is due."""
    x, y, weight, elapsed = data
    expert_predictions, expert_losses = results
    start, stop = span
    n, members = x.shape[1], min(WIDTH, gamma.size - first)
    passed, cap_due = math.nan, False
    while t < stop and not cap_due:
        row = t - start
        if points.shape[1]:
            _copy_points(buffer, at, points, row, first, members)
        root = math.sqrt(weight[t]) if len(weight) else 1.0
        for i in range(n):
            store(buffer, (at.v + i, 0), root * x[t, i])
        now = elapsed[t] if len(elapsed) else 1.0
        if now != passed:
            passed = now
            for lane in range(members):
                discount = (
                    gamma[first + lane] if now == 1 else gamma[first + lane] ** now
                )
                buffer[at.round_growth, lane] = 1 / max(discount, MIN_GAMMA)
        update_input_scale(buffer, at, n)
        inverse_alpha = update(buffer, at, n)
        _learn(
            buffer, at, inverse_alpha, root, x, y, t,
            expert_predictions, expert_losses, row, first,
        )  # fmt: skip
        cap_due = needs_cap(buffer, at, n)
        t += 1
    return t, cap_due


@kernel(inline=True)
def _copy_points(buffer, at, points, row, first, members):
    """Copy the θ that each expert plays."""
    _, _, n, targets = points.shape
    for lane in range(members):
        for j in range(targets):
            for i in range(n):
                points[first + lane, row, i, j] = buffer[at.theta + j * n + i, lane]


@kernel(inline=True)
def _learn(
    buffer, at, inverse_alpha, root, x, y, t,
    expert_predictions, expert_losses, row, first,
):  # fmt: skip
    """Predict y_t, then θ ← θ + gain · innovation / α, in every lane."""
    n, theta, loss = x.shape[1], at.theta, broadcast(0.0)
    for j in range(y.shape[1]):
        prediction = broadcast(0.0)
        for i in range(n):
            prediction = prediction + x[t, i] * load(buffer, (theta + i, 0))
        store(expert_predictions, (row, j, first), prediction)
        innovation = clip(root * (y[t, j] - prediction), LARGEST_FLOAT)
        error = clip(innovation, MAX_COEFFICIENT)
        loss = loss + 0.5 * error * error
        scale = inverse_alpha * innovation
        for i in range(n):
            step = load(buffer, (at.gain + i, 0)) * scale
            moved = load(buffer, (theta + i, 0)) + step
            moved = clip(moved, MAX_COEFFICIENT)
            store(buffer, (theta + i, 0), moved)
        theta += n
    store(expert_losses, (row, first), loss)
